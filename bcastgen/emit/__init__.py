"""From loop nests to C text."""
