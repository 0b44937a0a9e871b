"""The accuracy of every function, measured: ``python -m bench.accuracy [NAME ...]`` writes docs/functions.md.

In: the table of ops, this machine's compiler; names, or none for all functions.  Out: ``bench/data/accuracy.json``, in
which functions that are not named keep what was measured before, and the page: the largest and mean error in ULPs of
each function in f32 and f64, with and without an instruction that multiplies and adds with one rounding, what it gives
for special operands, where its results overflow and underflow, and what ``bench.every_f32`` found over all numbers of
f32.

    | exp | f64 | 1 | 0.96 (0.24) | 0.95 (0.24) | |

The largest error is that of many samples: a wider dtype finds the worst of them, which mpmath then measures; a hard
case may lie between them. The bounds are the rows'; tests/behaviour/test_accuracy.py holds every function to its own.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import bcastgen
from bcastgen.core.dtypes import F32, F64, DType, dtype
from bcastgen.core.progress import Progress
from bcastgen.ops.row import Op
from bcastgen.ops.table import OPS

from . import every_f32
from .truth import Array, errors_of, operands_of

__all__ = ["Measured", "edges", "main", "measured", "page"]

PAGE = Path(__file__).resolve().parent.parent / "docs" / "functions.md"
RECORD = Path(__file__).resolve().parent / "data" / "accuracy.json"
FUNCTIONS = tuple(op for op in OPS.values() if op.ulp)
# What an x86 compiler must be told to do without FMA; elsewhere there is no such choice.
_NO_FMA = {"x86_64": "-mno-fma -mno-avx512f", "AMD64": "-mno-fma -mno-avx512f"}.get(platform.machine(), "")
_MEAN_SAMPLES, _WORST_SAMPLES = 2000, 200
_ARGUMENTS = (-np.inf, -1e300, -2.0, -1.0, -1e-310, -0.0, 0.0, 1e-310, 1.0, 2.0, 1e300, np.inf, np.nan)
# Functions that overflow or underflow between these arguments.
_OVERFLOWS = {"exp": (1, 1e4), "exp2": (1, 1e4), "expm1": (1, 1e4), "sinh": (1, 1e4), "cosh": (1, 1e4)}
_UNDERFLOWS = {"exp": (-1, -1e4), "exp2": (-1, -1e4), "sigmoid": (-1, -1e4), "erfc": (1, 1e3)}

_PAGE = """\
# Functions: accuracy and special values

`python -m bench.accuracy` measures the errors and writes this page; `tests/behaviour/test_accuracy.py` checks that each
function keeps its bound. The functions are in `csrc/vmath`: plain C without branches, so that compilers vectorise it.
`csrc/vmath/fit.py` computes their polynomials.

## Errors

Errors are in units in the last place (ULP), against mpmath: the largest, and in parentheses the mean, over samples of
every magnitude and near zeros, poles and limits. The FMA columns are for machines with a fused multiply-add. `bound` is
that of the row in the table of ops, for `math="accurate"`; functions with a different form under `math="fast"` have a
second bound. f16 and bf16 are computed in f32 and rounded once. The results of logaddexp and logaddexp2 below 1/2,
where terms cancel, are measured in the units of 1/2.

{errors}

## Every number of f32

`python -m bench.every_f32` measures functions of one operand over all 2**32 numbers of f32, against double precision:
the largest error in ULP, where it is, and how many results are not the nearest number. It takes a minute of a core for
each function, and goes on where it was stopped. The others have not been run to the end.

{every}

## Special values

Results in f64; f32 has the same special values, within its own range. They follow C99's Annex F, as NumPy's do.

{special}

`power(x, y)`:

{power}

## Where results overflow and underflow

{limits}
"""


@dataclass(frozen=True, slots=True)
class Measured:
    """Errors of a function in a dtype, in ULPs, and where the largest one is."""

    function: str
    dtype: str
    math: str
    worst: float
    mean: float
    at: tuple[float, ...]
    fma: bool = True


@cache
def _fast(name: str) -> bcastgen.Kernel:
    function = getattr(bcastgen, name)

    def one(a: Any) -> Any:
        return function(a)

    def two(a: Any, b: Any) -> Any:
        return function(a, b)

    return bcastgen.jit(one if OPS[name].arity == 1 else two, math="fast")


def _call(op: Op, math: str, operands: Sequence[Array]) -> Array:
    kernel = _fast(op.name) if math == "fast" else getattr(bcastgen, op.name)
    result: Array = kernel(*operands)
    return result


def _suspects(op: Op, operands: tuple[Array, ...], results: Array) -> Array:
    """Places of the largest errors against a wider dtype."""
    wide = np.longdouble if results.dtype == np.float64 else np.float64
    with np.errstate(all="ignore"):
        close = np.asarray(op.evaluate(*(x.astype(wide) for x in operands)))
        unit = np.spacing(np.abs(close).astype(results.dtype)).astype(wide)
        errors = np.abs(results - close) / unit
    return np.argsort(np.where(np.isfinite(errors), errors, -1))[-_WORST_SAMPLES:]


def _many(op: Op, kind: DType, count: int) -> tuple[Array, ...]:
    """Samples of every magnitude, and as many between 1/8 and 8, where functions bend."""
    random = np.random.default_rng(3)
    wide = operands_of(op, kind, count // 2, 2)
    bends = (np.exp2(random.uniform(-3, 3, x.size)) * random.choice([-1, 1], x.size) for x in wide)
    return tuple(np.concatenate([x, bend.astype(kind.np)]) for x, bend in zip(wide, bends, strict=True))


def measured(op: Op, kind: DType, math: str, count: int) -> Measured:
    """Return the errors of a function over about so many samples."""
    few, many = operands_of(op, kind, _MEAN_SAMPLES, 1), _many(op, kind, count)
    errors = errors_of(op, kind, few, _call(op, math, few))
    results = _call(op, math, many)
    places = _suspects(op, many, results)
    worst = tuple(x[places] for x in many)
    largest = errors_of(op, kind, worst, results[places])
    everything, operands = np.concatenate([errors, largest]), [np.concatenate(x) for x in zip(few, worst, strict=True)]
    at = int(everything.argmax())
    return Measured(
        op.name, kind.name, math, float(everything[at]), float(errors.mean()), tuple(x[at].item() for x in operands)
    )


def _all(names: Sequence[str], count: int, fma: bool) -> Iterator[Measured]:
    rows = [
        (op, kind)
        for op in FUNCTIONS
        for kind in (F32, F64)
        if op.name in names and op.types((kind,) * op.arity)[1] is kind
    ]
    with Progress("accuracy" if fma else "accuracy without FMA", len(rows)) as progress:
        for op, kind in rows:
            progress.step(f"{op.name} {kind.name}")
            for math in ("accurate", "fast") if op.forms.fast is not None else ("accurate",):
                yield replace(measured(op, kind, math, count), fma=fma)


def _without_fma(names: Sequence[str], count: int) -> list[Measured]:
    """The same in a process that compiles without FMA."""
    command = [sys.executable, "-m", "bench.accuracy", "--json", f"--count={count}", *names]
    environment = os.environ | {"BCASTGEN_CFLAGS": _NO_FMA}
    done = subprocess.run(command, env=environment, cwd=PAGE.parent.parent, check=True, capture_output=True, text=True)
    return [Measured(**row) for row in json.loads(done.stdout)]


def recorded() -> list[Measured]:
    """Return what has been measured."""
    return [Measured(**row) for row in json.loads(RECORD.read_text(encoding="utf-8"))] if RECORD.exists() else []


def _record(found: Sequence[Measured]) -> list[Measured]:
    """Keep what was found in place of what was there, in the order of the table; return all."""
    rows = {(row.function, row.dtype, row.math, row.fma): row for row in (*recorded(), *found)}
    order = {op.name: at for at, op in enumerate(FUNCTIONS)}
    kept = sorted((row for row in rows.values() if row.function in order), key=lambda row: order[row.function])
    lines = ",\n".join(json.dumps(asdict(row)) for row in kept)
    RECORD.write_text(f"[\n{lines}\n]\n", encoding="utf-8")
    return kept


def edges(op: Op, kind: DType, inside: float, outside: float, limit: float) -> tuple[float, float]:
    """Return two neighbours between which a function's results reach the limit, an infinity or 0."""
    bits = np.dtype(f"i{kind.bytes}")

    def value(at: int) -> Any:
        return np.array([at], bits).view(kind.np)

    low, high = (int(np.array([x], kind.np).view(bits)[0]) for x in (inside, outside))
    while abs(high - low) > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _call(op, "accurate", (value(middle),))[0] == limit else (middle, high)
    return value(low)[0].item(), value(high)[0].item()


def _short(x: float) -> str:
    return repr(float(f"{x:.7g}")) if np.isfinite(x) and x != 0 else str(x)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    return [f"| {' | '.join(cells)} |" for cells in (head, ["---"] * len(head), *rows)]


def _error_rows(found: Sequence[Measured]) -> Iterator[list[str]]:
    cells = {(row.function, row.dtype, row.math, row.fma): f"{row.worst:.2f} ({row.mean:.2f})" for row in found}
    for op in FUNCTIONS:
        for name in ("f32", "f64"):
            if op.types((dtype(name),) * op.arity)[1].name != name:
                continue
            bound = str(op.ulp_for(dtype(name)))
            accurate = [cells.get((op.name, name, "accurate", fma), "") for fma in (True, False)]
            fast = [cells.get((op.name, name, "fast", fma), "") for fma in (True, False)]
            yield [op.name, name, bound, *accurate, str(op.forms.fast_ulp) if fast[0] else "", *fast]


def _every_rows() -> Iterator[list[str]]:
    for row in every_f32.recorded().values():
        if row.done == every_f32.COUNT:
            name = f"{row.function}, fast" if row.math == "fast" else row.function
            bound = OPS[row.function].ulp_for(F32, row.math == "fast")
            yield [name, str(bound), f"{row.worst:.3f}", row.at, f"{100 * row.misrounded / row.done:.2g} %"]


def _special_rows() -> Iterator[list[str]]:
    arguments = np.array(_ARGUMENTS)
    for op in FUNCTIONS:
        if op.arity == 1:
            yield [op.name, *map(_short, _call(op, "accurate", (arguments,)))]


def _edge_rows() -> Iterator[list[str]]:
    for table, limit in ((_OVERFLOWS, np.inf), (_UNDERFLOWS, 0.0)):
        for name, (inside, outside) in table.items():
            for kind in (F32, F64):
                low, high = edges(OPS[name], kind, inside, outside, limit)
                last = _call(OPS[name], "accurate", (np.array([low], kind.np),))[0]
                yield [name, kind.name, repr(low), _short(float(last)), repr(high), str(limit)]


def page(found: Sequence[Measured]) -> str:
    """Return the page."""
    ulps = _table(
        ["function", "dtype", "bound", "FMA", "no FMA", "fast bound", "fast, FMA", "fast, no FMA"],
        _error_rows(found),
    )
    every = _table(["function", "bound", "largest error", "at", "not nearest"], _every_rows())
    special = _table(["function", *map(str, _ARGUMENTS)], _special_rows())
    limits = _table(["function", "dtype", "last argument", "its value", "next argument", "its value"], _edge_rows())
    grid = np.array([-np.inf, -2.0, -1.0, -0.5, -0.0, 0.0, 0.5, 1.0, 2.0, np.inf, np.nan])
    powers = _call(OPS["power"], "accurate", (grid[:, None], grid[None, :]))
    power = _table(
        ["x \\ y", *map(str, grid)], ([str(x), *map(_short, row)] for x, row in zip(grid, powers, strict=True))
    )
    tables = {"errors": ulps, "every": every, "special": special, "power": power, "limits": limits}
    return _PAGE.format(**{name: "\n".join(lines) for name, lines in tables.items()})


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("names", nargs="*", metavar="NAME", help="functions; all by default")
    parser.add_argument("--count", type=int, default=1_000_000, help="samples a function, dtype and kind of maths")
    parser.add_argument("--json", action="store_true", help="print the errors, and write nothing")
    parser.add_argument("--page", action="store_true", help="measure nothing: write the page of what is recorded")
    options = parser.parse_args(arguments)
    names = () if options.page else options.names or [op.name for op in FUNCTIONS]
    found = list(_all(names, options.count, not (options.json and _NO_FMA)))
    if options.json:
        print(json.dumps([asdict(row) for row in found]))
        return 0
    without = _without_fma(names, options.count) if names and _NO_FMA else []
    PAGE.write_text(page(_record([*found, *without])), encoding="utf-8")
    print(f"wrote {PAGE.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
