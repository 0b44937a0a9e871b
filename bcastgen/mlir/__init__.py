"""MLIR text: read into operations, imported as expressions, and printed from what was compiled."""
