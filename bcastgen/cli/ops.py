"""``bcastgen ops``: lists the table of ops.

In: words, or nothing.  Out: a line per op on stdout; with words those whose name or meaning has one of them.

    bcastgen ops exp  ->  exp, exp2, expm1, ...
"""

from __future__ import annotations

import argparse
import sys

from ..core.near_names import did_you_mean
from ..ops.table import known_ops

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the words to look for."""
    parser.add_argument("word", nargs="*", help="list only ops whose name or meaning has one of these words")


def run(options: argparse.Namespace) -> int:
    """List the ops; return 1 if none has the words."""
    words = [word.lower() for word in options.word]
    rows = [
        (op.name, str(op.arity), op.dunder or "", "exact" if op.ulp == 0 else f"{op.ulp} ULP", op.doc)
        for op in known_ops()
        if not words or any(word in f"{op.name} {op.doc}".lower() for word in words)
    ]
    if not rows:
        meant = did_you_mean(words, [op.name for op in known_ops()], most=2)
        asked = " or ".join(map(repr, options.word))
        print(f"bcastgen ops: no op has {asked} in its name or meaning{meant}", file=sys.stderr)
        return 1
    header = ("op", "operands", "operator", "accuracy", "meaning")
    widths = [max(len(row[at]) for row in (header, *rows)) for at in range(4)]
    for row in (header, *rows):
        print("  ".join([*(text.ljust(width) for text, width in zip(row, widths, strict=False)), row[-1]]).rstrip())
    return 0
