"""From nests to the inner loops that there will be."""
