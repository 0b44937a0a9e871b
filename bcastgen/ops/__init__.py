"""What an op is: its row, the table of rows, dtype rules, and ops that users define."""
