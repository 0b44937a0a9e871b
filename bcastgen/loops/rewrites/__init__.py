"""Nests to nests of the same results, one rewrite a file."""
