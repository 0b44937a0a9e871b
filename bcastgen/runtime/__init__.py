"""From C text to a call: compiler, cache, loading, arguments. Nothing here knows of expressions."""
