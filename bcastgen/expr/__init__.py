"""Expressions: immutable DAGs of ops over operands, built from Python functions and from text, then typed."""
