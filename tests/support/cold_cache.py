"""Many processes that want the same kernels from one cold cache, while some of them are killed at random instants.

In: a place of the cache, and numbers.  Out: a line a round, and exit status 1 if anything is wrong in one.

    python tests/support/cold_cache.py --rounds 20                 # 64 processes, 20 kernels, 32 kills; each place
    python tests/support/cold_cache.py --place noexec --rounds 20 --seed 7

A round is right if every process that was not killed found each kernel's values right; if `bcastgen cache verify` then
finds nothing; and if, after one more process, nothing is left of the killed ones: no file, no directory aside, no
compiler that still runs. The places are file systems of a mount namespace of the round's own, so that nothing outlives
it; where the system allows none, all but `usual` and `removed` are refused.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

__all__ = ["PLACES", "mounts", "play"]

# What the cache lies on, as options of a mount of tmpfs; None is no mount. A full one has room for some of the kernels.
PLACES = {"usual": None, "removed": None, "full": "size=%dk", "noexec": "noexec", "read-only": "ro"}
TIMEOUT = 600.0

WORKER = """
import random, sys, warnings
import numpy as np
import bcastgen as bg
from bcastgen.core.errors import CacheWarning

warnings.simplefilter("error")
# That kernels are not kept, and where, is said once.
warnings.simplefilter("always", CacheWarning)
count, seed = map(int, sys.argv[1:])
chance = random.Random(seed)
a, b = np.arange(12.0).reshape(3, 4), np.array([[0.5], [2.0], [-3.0]])
texts = [f"a * {n} + b / {n + 1}" if n % 2 else f"(a - {n}) * (b + {n})" for n in range(count)]
print("begun", flush=True)
for text in chance.sample(texts, count):
    assert np.array_equal(bg.from_text(text)(a, b), eval(text)), text
print("right")
"""


def mounts() -> bool:
    """Return whether file systems can be mounted here, in a namespace of their own."""
    command = ["unshare", "--map-root-user", "--mount", "sh", "-c", "mount -t tmpfs none /mnt"]
    return shutil.which("unshare") is not None and subprocess.run(command, capture_output=True).returncode == 0


def play(place: str, processes: int, kernels: int, kills: int, seed: int) -> str:
    """Play a round; return what happened in a line.

    Raises
    ------
    AssertionError
        If anything was wrong.
    """
    if PLACES[place] is None:
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
            return _round(place, Path(scratch) / "cache", processes, kernels, kills, seed)
    numbers = map(str, (processes, kernels, kills, seed))
    inside = [sys.executable, __file__, "--inside", *numbers, "--place", place]
    command = ["unshare", "--map-root-user", "--mount", *inside]
    done = subprocess.run(command, capture_output=True, text=True, timeout=2 * TIMEOUT)
    assert done.returncode == 0, done.stderr or done.stdout
    return done.stdout.strip()


def _mounted(place: str, kernels: int) -> Path:
    """Mount the cache of a place; one that can only be read has half of the kernels."""
    cache = Path(tempfile.mkdtemp(prefix="cold-"))
    options = PLACES[place]
    options = options % (24 * kernels) if "%" in options else options
    first = "mode=700" if place == "read-only" else f"mode=700,{options}"
    subprocess.run(["mount", "-t", "tmpfs", "-o", first, "none", str(cache)], check=True)
    if place == "read-only":
        _finish([_start(cache, kernels // 2, 0)])
        subprocess.run(["mount", "-o", f"remount,{options}", str(cache)], check=True)
    return cache


def _round(place: str, cache: Path, processes: int, kernels: int, kills: int, seed: int) -> str:
    chance, begun = random.Random(seed), time.perf_counter()
    started = [_start(cache, kernels, chance.getrandbits(30)) for _ in range(processes)]
    doomed = chance.sample(started, kills)
    over = threading.Event()
    remover = threading.Thread(target=_remove_now_and_then, args=(cache, random.Random(seed), over))
    if place == "removed":
        remover.start()
    # From before the first import to after the last build.
    lasting = 0.15 * processes + 0.1 * kernels
    for process in doomed:
        time.sleep(chance.expovariate(kills / lasting))
        process.send_signal(signal.SIGKILL)
    killed = _finish(started)
    over.set()
    if place == "removed":
        remover.join()
    warnings = _finish([_start(cache, kernels, 0)], "said")
    found = subprocess.run(_cache("verify", cache), capture_output=True, text=True, env=_environment(cache))
    assert found.returncode == 0, f"cache verify: {found.stdout}{found.stderr}"
    left = [*_compilers(cache), *_litter(cache)]
    assert not left, f"left over: {left}"
    spoken = f", {warnings} warned" if place in ("full", "noexec", "read-only") else ""
    return f"{place}: {processes} processes, {killed} killed{spoken}, {time.perf_counter() - begun:.1f} s"


def _cache(command: str, cache: Path) -> list[str]:
    return [sys.executable, "-m", "bcastgen", "cache", command]


def _environment(cache: Path) -> dict[str, str]:
    return {**os.environ, "BCASTGEN_CACHE_DIR": str(cache)}


def _start(cache: Path, kernels: int, seed: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", WORKER, str(kernels), str(seed)]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, env=_environment(cache))


def _finish(processes: list[subprocess.Popen[str]], count: str = "killed") -> int:
    """Wait for all; return how many were killed, or how many warned."""
    killed = warned = 0
    for process in processes:
        output, errors = process.communicate(timeout=TIMEOUT)
        if process.returncode == -signal.SIGKILL:
            killed += 1
        else:
            assert process.returncode == 0 and output.endswith("right\n"), f"{output}{errors}"
            warned += "CacheWarning" in errors
    return killed if count == "killed" else warned


def _remove_now_and_then(cache: Path, chance: random.Random, over: threading.Event) -> None:
    while not over.wait(chance.uniform(0.05, 1.0)):
        shutil.rmtree(cache, ignore_errors=True)


def _compilers(cache: Path) -> Iterator[str]:
    """Yield the command lines of processes that still work for this cache."""
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes()
            environment = (process / "environ").read_bytes()
        except OSError:
            continue
        if os.fsencode(f"BCASTGEN_CACHE_DIR={cache}\0") in environment and process.name != str(os.getpid()):
            yield words.replace(b"\0", b" ").decode(errors="replace")


def _litter(cache: Path) -> Iterator[str]:
    for pattern in ("*/tmp.*", "*/failed.*", "used.*"):
        yield from map(str, cache.glob(pattern))


def main() -> int:
    """Play rounds; print each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--place", choices=PLACES, action="append")
    for name, number in (("processes", 64), ("kernels", 20), ("kills", 32), ("rounds", 1), ("seed", 0)):
        parser.add_argument(f"--{name}", type=int, default=number)
    parser.add_argument("--inside", type=int, nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.inside:
        processes, kernels, kills, seed = options.inside
        place = options.place[0]
        print(_round(place, _mounted(place, kernels), processes, kernels, kills, seed))
        return 0
    wrong = 0
    for place in options.place or PLACES:
        for number in range(options.rounds):
            try:
                print(play(place, options.processes, options.kernels, options.kills, options.seed + number), flush=True)
            except AssertionError as error:
                wrong += 1
                print(f"{place}, seed {options.seed + number}: WRONG: {error}", flush=True)
    return min(wrong, 1)


if __name__ == "__main__":
    sys.exit(main())
