"""Compare the casts of all float32 values to storage types with those of ml_dtypes: a command, some minutes long.

In: names of dtypes, or none for all.  Out: a line for each, and status 1 if any value differs.

    python tests/support/every_f32.py f8e4m3fn
"""

from __future__ import annotations

import sys

import numpy as np

import bcastgen as bg
from bcastgen.core.dtypes import DTYPES, dtype

CHUNK = 1 << 24


def differing(name: str, step: int = 1) -> int:
    """Return how many float32 values become another code than in ml_dtypes, of every so many.

    Floats that are no 32-bit integers are left out for integers: there NumPy's conversion is the machine's.
    """
    row = dtype(name)
    cast = bg.jit(lambda x: x.astype(row.np))
    count = 0
    for first in range(0, 1 << 32, CHUNK * step):
        last = min(first + CHUNK * step, 1 << 32)
        x = np.arange(first, last, step, dtype=np.uint64).astype(np.uint32).view(np.float32)
        if row.is_integer:
            x = x[np.abs(x) < 2.0**31]
        with np.errstate(all="ignore"):
            wanted = x.astype(row.np)
        count += int(np.count_nonzero(cast(x).view(np.uint8) != wanted.view(np.uint8)))
    return count


def main(names: list[str]) -> int:
    """Print the number of differences for each dtype; return whether there are any."""
    failed = False
    for name in names or [row.name for row in DTYPES if row.is_storage]:
        found = differing(name)
        failed |= found > 0
        print(f"{name}: {found} of {1 << 32} values differ from ml_dtypes", flush=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
