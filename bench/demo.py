"""``bcastgen demo``: the great-circle distance between all capitals of the world, as one broadcast expression.

In: ``data/capitals.csv``.  Out: on the terminal, the nearest and farthest pairs, the check against NumPy, both times,
what compiling took, and the inner loop of the generated C.

    haversine(lat[n, 1], lon[n, 1], lat[1, n], lon[1, n]) -> f64[n, n] in kilometres

Capitals are those of the members and observers of the United Nations; where the seat of government is another city, the
constitutional one; for Palestine, Ramallah.
"""

from __future__ import annotations

import csv
import re
import sys
import textwrap
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

import numpy as np

import bcastgen as bg
from bcastgen.kernel.uncompiled import why_uncompiled
from bcastgen.ops.table import OPS

from .check import ulps
from .measure import call, interleave
from .report import time_text
from .workloads import Array

__all__ = ["Capital", "capitals", "haversine", "inner_loop", "rounding_bound", "run"]

EARTH_RADIUS_KM = 6371.0088
WIDTH = 100


@dataclass(frozen=True, slots=True)
class Capital:
    """One row of the file; degrees, north and east positive."""

    country: str
    name: str
    latitude: float
    longitude: float


def capitals() -> tuple[Capital, ...]:
    """Return the rows of ``data/capitals.csv``."""
    path = Path(__file__).parent / "data" / "capitals.csv"
    with path.open(encoding="utf-8", newline="") as file:
        return tuple(
            Capital(row["country"], row["capital"], float(row["latitude"]), float(row["longitude"]))
            for row in csv.DictReader(file)
        )


def haversine(lat1: Any, lon1: Any, lat2: Any, lon2: Any) -> Any:
    """Return kilometres along the sphere between points given in radians."""
    a = np.square(np.sin((lat2 - lat1) / 2))
    b = np.square(np.sin((lon2 - lon1) / 2))
    h = a + np.cos(lat1) * np.cos(lat2) * b
    return 2 * EARTH_RADIUS_KM * np.arcsin(np.sqrt(np.minimum(h, 1.0)))


def rounding_bound(distance: Array) -> Array:
    """Return how far, in kilometres, two implementations of :func:`haversine` may be apart.

    Each may be off by the ULP bounds of the rows it uses and half a unit for each rounded operation. Near the antipodes
    the arcsine magnifies an error e of h by tan(angle)/2, yet never beyond sqrt(e).

    Examples
    --------
    >>> bool(rounding_bound(np.array([1000.0]))[0] < 1e-10)
    True
    """
    sin, cos, arcsin = (OPS[name].ulp for name in ("sin", "cos", "arcsin"))
    unit = float(np.finfo(distance.dtype).eps)
    angle = distance / (2 * EARTH_RADIUS_KM)
    # h: two sines, squared; two cosines; three products, one square, one sum.
    h = (2 * sin + 2 * cos + 3) * unit
    magnified = np.minimum(np.tan(angle), 1 / np.sqrt(h)) * (h + unit) / 2
    each: Array = 2 * EARTH_RADIUS_KM * (magnified + angle * (arcsin + 1) * unit)
    return 2 * each


def inner_loop(source: str) -> list[str]:
    r"""Return the lines of the innermost ``for`` loop that computes most: the one with most SSA values ``tN``.

    Examples
    --------
    >>> inner_loop("for (;;) {\n  for (;;) {\n    const float t0 = 1;\n  }\n}")
    ['for (;;) {', '  const float t0 = 1;', '}']
    """
    lines = source.splitlines()
    best: list[str] = []
    for start, line in enumerate(lines):
        if not re.match(r"\s*for \(.*\{$", line):
            continue
        indent = line[: len(line) - len(line.lstrip())]
        end = next((i for i in range(start + 1, len(lines)) if lines[i].startswith(indent + "}")), start)
        block = lines[start : end + 1]
        if not any(re.match(r"\s*for \(", inner) for inner in block[1:]) and _values(block) > _values(best):
            best = [each.removeprefix(indent) for each in block]
    return best


def _values(lines: list[str]) -> int:
    return sum(bool(re.match(r"\s*const \w+ t\d+ = ", line)) for line in lines)


# ---- what is printed ---------------------------------------------------------------------------------------------


def _pairs(rows: tuple[Capital, ...], distance: Array) -> list[str]:
    first, second = np.triu_indices(len(rows), 1)
    order = np.argsort(distance[first, second], kind="stable")
    lines = []
    for title, chosen in (("nearest", order[:4]), ("farthest", order[: -4 - 1 : -1])):
        for place, pair in enumerate(chosen):
            i, j = int(first[pair]), int(second[pair])
            names = f"{rows[i].name} - {rows[j].name}"
            lines.append(f"{title if place == 0 else '':<10}{names:<40}{distance[i, j]:>10,.1f} km")
    return lines


def _verdict(expected: Array, actual: Array) -> tuple[bool, str]:
    """Return whether the kernel agrees with NumPy, and the line that says so."""
    if actual.shape != expected.shape or actual.dtype != expected.dtype:
        found, wanted = f"{actual.dtype}{list(actual.shape)}", f"{expected.dtype}{list(expected.shape)}"
        return False, f"FAILED: the kernel gave {found}, NumPy {wanted}"
    off, bound = np.abs(actual - expected), rounding_bound(expected)
    figures = f"largest difference {off.max():.1e} km, {ulps(expected, actual):.3g} ULP"
    if (off <= bound).all():
        return True, f"{figures}; every pair within its bound (largest: {bound.max():.1e} km)"
    i, j = np.unravel_index(int(np.argmax(np.nan_to_num(off - bound, nan=np.inf))), off.shape)
    return False, f"FAILED: {figures}; pair [{i}, {j}] is off by {off[i, j]:.1e} km, allowed {bound[i, j]:.1e} km"


def _first_call(operands: tuple[Array, ...]) -> tuple[Any, Array, str]:
    """Return a new kernel, its first result, and what getting it took."""
    kernel = bg.jit(haversine)
    began = time.perf_counter()
    result = kernel(*operands)
    took = time.perf_counter() - began
    built = "built by the C compiler" if kernel.compilations else "found on disk"
    return kernel, result, f"{time_text(took)}, {built} (kernel.compilations = {kernel.compilations})"


def _clipped(lines: list[str], most: int) -> list[str]:
    if len(lines) > most:
        keep = most - 4
        lines = [*lines[:keep], f"    ... {len(lines) - most + 1} more lines ...", *lines[-3:]]
    return [f"    {line}"[: WIDTH - 1] for line in lines]


def run(stream: TextIO | None = None) -> int:
    """Run the demo.

    Parameters
    ----------
    stream : where the text goes; standard output by default.

    Returns
    -------
    int
        0, or 1 if the kernel disagrees with NumPy by more than its functions' bounds allow.
    """
    stream = stream or sys.stdout
    rows = capitals()
    lat, lon = np.radians([row.latitude for row in rows]), np.radians([row.longitude for row in rows])
    operands = (lat[:, None], lon[:, None], lat[None, :], lon[None, :])
    expected = haversine(*operands)
    uncompiled = why_uncompiled()
    kernel, actual, first = _first_call(operands)
    _, _, second = _first_call(operands)
    agrees, verdict = _verdict(expected, actual)
    n = len(rows)

    def say(*lines: str) -> None:
        print(*lines, sep="\n", file=stream)

    nest = ", one loop nest" if uncompiled is None else ""
    say(f"Great-circle distances between {n} capitals: [{n},1] x [1,{n}] -> {actual.size:,} float64{nest}", "")
    say(*_pairs(rows, actual if agrees else expected), "")
    say(f"check     {verdict}")
    if not agrees:
        say("          please report this with the output of: bcastgen doctor")
        return 1
    if uncompiled is not None:
        told = f"kernel    none, so NumPy has computed all of this: {uncompiled}"
        say(textwrap.fill(told, WIDTH - 1, subsequent_indent=" " * 10))
        return 0
    times = interleave({"numpy": call(haversine, operands), "ours": call(kernel, operands)}, rounds=25, budget=1.0)
    numpy, ours = times["numpy"].min, times["ours"].min
    say(f"times     NumPy {time_text(numpy)}, bcastgen {time_text(ours)}, ratio {numpy / ours:.2f} (best of 25 rounds)")
    say(f"compile   first call {first}", f"          again, as a new kernel: {second}", "")
    lines = kernel.source.splitlines()
    say(f"The inner loop, of {len(lines)} lines of C (all of them: print(kernel.source)):", "")
    say(*_clipped(inner_loop(kernel.source), 24))
    return 0
