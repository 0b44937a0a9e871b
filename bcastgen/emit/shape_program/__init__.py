"""The C of a program of the shape dialect."""
