"""Tables and small facts that every other room may use: errors, dtypes, where resources lie, what C text is."""
