"""Tables and small facts that every other room may use: errors, dtypes, resource folders, C text."""
