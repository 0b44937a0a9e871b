"""The rows of the table of ops, a family in each file."""
