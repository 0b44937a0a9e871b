"""``bcastgen bench``: runs the folder bench, which compares bcastgen with NumPy and its peers.

In: arguments, which the code in that folder parses itself.  Out: tables on stdout, and an exit code.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..core.resources import bench_module

__all__ = ["run"]


def run(arguments: Sequence[str]) -> int:
    """Run the benchmark."""
    result: int = bench_module("runner").main(arguments)
    return result
