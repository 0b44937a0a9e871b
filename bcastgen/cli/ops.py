"""``bcastgen ops``: lists the table of ops.

In: nothing.  Out: a line per op on stdout.
"""

from __future__ import annotations

import argparse

from ..ops.table import known_ops

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add no arguments: the command takes none."""


def run(_options: argparse.Namespace) -> int:
    """List the ops."""
    rows = [
        (op.name, str(op.arity), op.dunder or "", "exact" if op.ulp == 0 else f"{op.ulp} ULP", op.doc)
        for op in known_ops()
    ]
    header = ("op", "operands", "operator", "accuracy", "meaning")
    widths = [max(len(row[at]) for row in (header, *rows)) for at in range(4)]
    for row in (header, *rows):
        print("  ".join([*(text.ljust(width) for text, width in zip(row, widths, strict=False)), row[-1]]).rstrip())
    return 0
