"""Kernels: an expression and the binaries it has been compiled to."""
