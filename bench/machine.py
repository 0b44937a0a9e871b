"""Where a run takes place: the machine in words, and how many threads everyone may use.

In: peers, a number of threads.  Out: facts for the report; an environment that is put back afterwards.

    describe(("numpy",), 1) -> {"cpu": "...", "cores": "2", "python": "3.11.7", "numpy": "2.4.6", ...}
"""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path

__all__ = ["cache_bytes", "describe", "threads_limited"]

# Each is read when its library is first imported or first run; torch and NumExpr are told by a call as well.
_THREADS = (
    "BCASTGEN_NUM_THREADS",
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "NPROC",  # JAX: the size of XLA's pool
)


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    models = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(models, platform.processor() or platform.machine())


def cache_bytes(level: int) -> int | None:
    """Return the bytes of the first core's cache of a level, or None where the system does not say."""
    for index in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        try:
            facts = [(index / name).read_text(encoding="ascii").strip() for name in ("level", "type", "size")]
        except OSError:
            continue
        if facts[0] == str(level) and facts[1] != "Instruction" and facts[2].endswith("K"):
            return int(facts[2][:-1]) << 10
    return None


def _version(module: str) -> str:
    from importlib import metadata

    try:
        return metadata.version(module)
    except metadata.PackageNotFoundError:
        # A bare checkout.
        return str(getattr(import_module(module), "__version__", "unknown"))


def describe(modules: Iterable[str], threads: int) -> dict[str, str]:
    """Return the facts a reader needs to judge the figures: machine, versions, threads, date."""
    from datetime import datetime, timezone

    return {
        "cpu": _cpu(),
        "cores": str(os.cpu_count()),
        "l2": str(cache_bytes(2) or "unknown"),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "python": platform.python_version(),
        **{module: _version(module) for module in sorted(set(modules))},
        "threads": str(threads),
        "date": datetime.now(timezone.utc).isoformat(timespec="seconds"),
    }


@contextmanager
def threads_limited(threads: int) -> Iterator[None]:
    """Set the environment that limits each peer's threads; put it back afterwards."""
    before = {name: os.environ.get(name) for name in _THREADS}
    os.environ.update(dict.fromkeys(_THREADS, str(threads)))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
