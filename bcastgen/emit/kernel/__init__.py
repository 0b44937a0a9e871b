"""The views that a kernel's templates print, with every name, type and line of its C decided."""
