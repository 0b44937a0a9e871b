"""The guard program of a kernel: the checks of its operands' extents, which C, messages and texts are printed from."""
