"""From C text to a call: compile, keep, load, and the class that calls go through."""
