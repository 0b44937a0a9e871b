"""TOSA: the table of its ops, the reader of its text, and the printer."""
