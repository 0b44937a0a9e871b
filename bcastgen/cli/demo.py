"""``bcastgen demo``: great-circle distances between the world's capitals.

In: nothing.  Out: a table on stdout, and an exit code.
"""

from __future__ import annotations

import argparse

from ..core.resources import bench_module

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add no arguments: the command takes none."""


def run(_options: argparse.Namespace) -> int:
    """Run the demo."""
    result: int = bench_module("demo").run()
    return result
