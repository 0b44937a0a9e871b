"""TOSA: the table of its ops, from their text to our rows and back."""
