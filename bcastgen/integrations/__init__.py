"""Arrays of other libraries: how kernels read them, and give results of their kind."""
