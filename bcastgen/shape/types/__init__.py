"""What a type says: dims with facts, tensor types, and the texts they are read from."""
