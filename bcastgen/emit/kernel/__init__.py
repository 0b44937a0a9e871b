"""The C of a kernel: what its templates show, all decided."""
