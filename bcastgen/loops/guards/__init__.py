"""What a kernel asks of its operands' extents, as one program that everything else is printed from, or runs."""
