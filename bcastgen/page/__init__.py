"""The page of a kernel: one HTML file in which a reader follows an expression to its C and assembly."""
