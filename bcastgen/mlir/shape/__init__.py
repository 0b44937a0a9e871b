"""Functions of the shape dialect read as programs."""
