"""Guard programs: the checks of extents as values, which are run, flattened and printed; nests hold them."""
