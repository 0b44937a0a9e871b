"""Ops: rows, the table of rows, dtype rules, and ops that users define."""
