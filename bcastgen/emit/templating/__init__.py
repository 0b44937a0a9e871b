"""Running the templates."""
