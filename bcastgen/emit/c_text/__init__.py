"""The pieces of C text: names, statements, helpers, long lines broken."""
