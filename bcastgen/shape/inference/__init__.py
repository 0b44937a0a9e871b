"""What follows from types: which extents a broadcast has, what is proved, what has to be checked, what cannot be."""
