"""Loop nests: an iteration domain, one indexing map an operand, and a scalar body."""
