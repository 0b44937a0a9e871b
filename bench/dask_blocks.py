"""Times a chain of six ops over a Zarr array with Dask: plain, with NumExpr, Numba and bcastgen.

In: nothing.  Out: a table: seconds, and the memory that a process took at most beyond what it had before.

    python -m bcastgen.bench.dask_blocks --megabytes 512

Every contestant is a process of its own, with as many threads as there are CPUs, which reads the array from disk, block
by block, and writes the result. All run in turn, several times; the least of each is shown.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

__all__ = ["CONTESTANTS", "main", "measure"]

_COLUMNS = 4096
Chain = Callable[[Any, Any], Any]


def _expression(exp: Callable[[Any], Any]) -> Chain:
    """Return the chain, for values whose exp this is."""

    def chain(x: Any, row: Any) -> Any:
        return exp(-(x * x)) * row + x - row

    return chain


def _plain() -> Chain:
    import numpy as np

    return _expression(np.exp)


def _fused() -> Chain:
    import bcastgen as bg

    chain = _plain()
    return lambda x, row: bg.fuse(chain(x, row))


def _kernel() -> Chain:
    import bcastgen as bg

    return bg.jit(_plain(), name="chain")


def _numexpr() -> Chain:
    import numexpr

    numexpr.set_num_threads(1)

    def block(x: Any, row: Any) -> Any:
        return numexpr.evaluate("exp(-(x * x)) * row + x - row", {"x": x, "row": row})

    return lambda x, row: x.map_blocks(block, row, dtype=x.dtype)


def _numba() -> Chain:
    import math

    import numba

    vectorize: Any = numba.vectorize
    compiled = vectorize(["float32(float32, float32)"])(_expression(math.exp))
    return lambda x, row: x.map_blocks(compiled, row, dtype=x.dtype)


CONTESTANTS: dict[str, Callable[[], Chain]] = {
    "dask.array": _plain,
    "map_blocks of NumExpr": _numexpr,
    "map_blocks of Numba": _numba,
    "bcastgen, a kernel": _kernel,
    "bcastgen, bg.fuse": _fused,
}


def measure(contestant: str, folder: Path) -> tuple[float, float]:
    """Return the seconds that a chain takes from `folder`/in to `folder`/out, and its peak of memory in MB."""
    import dask
    import dask.array as da
    import numpy as np
    import zarr

    source, target = (zarr.open_array(str(folder / name)) for name in ("in", "out"))
    chain = CONTESTANTS[contestant]()
    row = np.linspace(1, 2, source.shape[1], dtype=source.dtype)
    with dask.config.set(scheduler="threads", num_workers=os.cpu_count()):
        x = da.from_zarr(source)
        # Compilation, threads and their memory are there before the clock starts.
        chain(x[: source.chunks[0]], row).compute()
        work = da.store(chain(x, row), target, compute=False, lock=False)
        gc.collect()
        before = _memory("VmRSS")
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
        began = time.perf_counter()
        work.compute()
        return time.perf_counter() - began, _memory("VmHWM") - before


def _memory(name: str) -> float:
    """Return a figure of this process's memory in MB: VmRSS is now, VmHWM the peak since it was last reset."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{name}:")) / 1024


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; an inner process prints its two figures as JSON."""
    parser = argparse.ArgumentParser(prog="python -m bcastgen.bench.dask_blocks", description=__doc__.split("\n")[0])
    parser.add_argument("--megabytes", type=int, default=512, help="size of the array (default: %(default)s)")
    parser.add_argument("--block", type=int, default=16, help="megabytes of a block (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=3, help="runs of each (default: %(default)s)")
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--contestant", choices=CONTESTANTS, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.contestant:
        print(json.dumps(measure(options.contestant, options.folder)))
        return 0
    with tempfile.TemporaryDirectory() as scratch:
        figures = _rounds(Path(scratch), options)
    print(f"{'':24}{'seconds':>8}{'peak MB':>9}")
    for name, runs in figures.items():
        seconds, megabytes = map(min, zip(*runs, strict=True))
        print(f"{name:24}{seconds:8.2f}{megabytes:9.0f}")
    return 0


def _rounds(folder: Path, options: argparse.Namespace) -> dict[str, list[tuple[float, float]]]:
    import numpy as np
    import zarr

    row_bytes = 4 * _COLUMNS
    rows, step = (size * 1_000_000 // row_bytes for size in (options.megabytes, options.block))
    shape = {"shape": (rows, _COLUMNS), "chunks": (step, _COLUMNS), "dtype": "f4", "compressors": None}
    source = zarr.create_array(str(folder / "in"), **shape)
    zarr.create_array(str(folder / "out"), **shape)
    for at in range(0, rows, step):
        numbers = np.arange(at, min(at + step, rows), dtype="f4")[:, None] / rows
        source[at : at + step] = np.linspace(-3, 3, _COLUMNS, dtype="f4") + numbers
    command = [sys.executable, "-m", __spec__.name, "--folder", str(folder), "--contestant"]
    figures: dict[str, list[tuple[float, float]]] = {name: [] for name in CONTESTANTS}
    for _ in range(options.rounds):
        for name, runs in figures.items():
            done = subprocess.run([*command, name], capture_output=True, text=True, check=True)
            runs.append(tuple(json.loads(done.stdout)))
    return figures


if __name__ == "__main__":
    sys.exit(main())
