"""``bcastgen cache``: shows or clears the kernels kept on disk.

In: ``info`` or ``clear``.  Out: a line on stdout.
"""

from __future__ import annotations

import argparse

from ..runtime.cache import clear, info

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments to its parser."""
    parser.add_argument("action", choices=("info", "clear"), help="show how much there is, or remove it")


def run(options: argparse.Namespace) -> int:
    """Show the cache's size, or clear the cache."""
    print(info() if options.action == "info" else f"removed {clear()} kernels")
    return 0
