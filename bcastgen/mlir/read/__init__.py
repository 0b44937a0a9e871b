"""MLIR's text read: tokens, types, attributes, operations, modules."""
