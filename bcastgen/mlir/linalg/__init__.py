"""Kernels as text of linalg, arith, math, tensor and cf."""
