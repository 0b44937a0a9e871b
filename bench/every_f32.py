"""Every function of one operand over all 2**32 numbers of f32: ``python -m bench.every_f32 [NAME ...]``.

In: names of functions, or none for all.  Out: a line for each, `bench/data/every_f32.json`, and status 1 if an error
passes its row's bound.

    exp: at most 0.90 ULP, at 0x1.6c9e0ep+3; 4.1 % are not the nearest number

What kernels give is held against double precision, of glibc or composed of its functions, whose own errors are about
2**-28 ULP of f32. A run that is stopped goes on where it was; one function takes a minute to some minutes of a core.
With ``--jobs`` several are measured at a time. A function whose C has changed since is measured anew. ``--fast`` is for
the forms of math="fast".
"""

from __future__ import annotations

import argparse
import ctypes
import hashlib
import json
import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np

import bcastgen
from bcastgen.core.c_flags import LIBRARIES, OPTIMISED, RESULT_FLAGS
from bcastgen.core.dtypes import F32
from bcastgen.emit.c_text.helpers import helper_text
from bcastgen.ops.row import Op
from bcastgen.ops.table import OPS

__all__ = ["REFERENCES", "Swept", "main", "recorded", "swept"]

RECORD = Path(__file__).resolve().parent / "data" / "every_f32.json"
COUNT = 1 << 32
_CHUNK, _SAVED = 1 << 20, 1 << 26

# C of double precision for each function, of the double x; `got` is the kernel's result, from which a step of Newton's
# leads where there is only the inverse.
REFERENCES = {
    **{
        name: f"{name}(x)"
        for name in "exp exp2 expm1 log log2 log10 log1p sin cos tan tanh sinh cosh cbrt erf erfc".split()
    },
    **{f"arc{name}": f"a{name}(x)" for name in "sin cos tan sinh cosh tanh".split()},
    "sigmoid": "1 / (1 + exp(-x))",
    "rsqrt": "1 / sqrt(x)",
    "rad2deg": "x * (180 / 3.141592653589793)",
    "deg2rad": "x * (3.141592653589793 / 180)",
    "softplus": "x > 0 ? x + log1p(exp(-x)) : log1p(exp(x))",
    "silu": "x == -INFINITY ? -0.0 : x / (1 + exp(-x))",
    "mish": "x == -INFINITY ? -0.0 : x > 40 ? x : x * (exp(x) * (exp(x) + 2) / (exp(x) * (exp(x) + 2) + 2))",
    "gelu": "x == -INFINITY ? -0.0 : x * (erfc(-x * M_SQRT1_2) / 2)",
    "ndtr": "erfc(-x * M_SQRT1_2) / 2",
    "log_ndtr": "x > 0 ? log1p(-erfc(x * M_SQRT1_2) / 2) : x > -30 ? log(erfc(-x * M_SQRT1_2) / 2) : log_tail(x)",
    "ndtri": "x > 0 && x < 1 ? quantile(got, x < 0.5 ? x : 1 - x, x < 0.5 ? -1 : 1) : 2 * log(x / (1 - x))",
    "erfinv": "x == 0 ? x : fabs(x) < 1 ? inverse(got, x) : 2 * atanh(x)",
    "gammaln": "lgamma(x)",
    "i0": "bessel_i0(fabs(x))",
    "logit": "x < 0.25 ? log(x) - log1p(-x) : 2 * atanh(2 * x - 1)",
}

_SOURCE = """\
#include <math.h>
#include <stdint.h>
#include <string.h>

/* log(ndtr(x)) far below 0, by its asymptotic series. */
static inline double log_tail(double x)
{
    const double t = 1 / (x * x);
    return -0.5 * x * x - log(-x * sqrt(2 * M_PI)) + log1p(t * (-1 + t * (3 + t * (-15 + t * 105))));
}

/* The number beyond which a normally distributed one is with this probability, times side: Newton's steps from one that
 * is close. */
static inline double quantile(double start, double tail, double side)
{
    double z = side * start;
    for (int i = 0; i < 2; i++) {
        const double p = erfc(z * M_SQRT1_2) / 2;
        z += (p - tail) / (exp(-z * z / 2) / sqrt(2 * M_PI));
    }
    return side * z;
}

/* The number whose erf is x, in the same way: by erfc near 1. */
static inline double inverse(double start, double x)
{
    double y = fabs(start), size = fabs(x);
    for (int i = 0; i < 2; i++) {
        const double rest = size < 0.5 ? size - erf(y) : erfc(y) - (1 - size);
        y += rest / (M_2_SQRTPI * exp(-y * y));
    }
    return copysign(y, x);
}

/* The modified Bessel function of order 0: by its power series, from 25 on by its asymptotic one. */
static inline double bessel_i0(double x)
{
    double sum = 1, term = 1;
    if (x < 25)
        for (int k = 1; k < 90 && term > sum * 0x1p-60; k++)
            sum += term *= (x / (2 * k)) * (x / (2 * k));
    else
        for (int k = 1; k < 30 && x < 800; k++)
            sum += term *= (2.0 * k - 1) * (2 * k - 1) / (8 * k * x);
    return x < 25 ? sum : exp(x) * sum / sqrt(2 * M_PI * x);
}

static inline double reference(double x, double got) { (void)got; return $reference; }

/* The largest error in ULP and where; how many results are not the nearest number. */
void sweep(const float *xs, const float *gots, int64_t count, double *worst, int64_t *at, int64_t *misrounded)
{
    for (int64_t i = 0; i < count; i++) {
        const float got = gots[i];
        double truth = reference(xs[i], got), error;
        const float nearest = (float)truth;
        if (truth != truth || got != got)
            error = truth != truth && got != got ? 0 : INFINITY;
        else if (isinf(truth) || truth == 0)
            error = got == truth ? 0 : truth == 0 ? fabs(got) * 0x1p149 : INFINITY;
        else {
            const double size = fmin(fabs(truth), 0x1p128);
            uint64_t bits;
            memcpy(&bits, &size, sizeof bits);
            int exponent = (int)(bits >> 52) - 1023;
            exponent = exponent < -126 ? -126 : exponent > 127 ? 127 : exponent;
            bits = (uint64_t)(1023 + 23 - exponent) << 52;
            double units;
            memcpy(&units, &bits, sizeof units);
            error = fabs(copysign(size, truth) - (isinf(got) ? copysign(0x1p128, got) : got)) * units;
        }
        *misrounded += !(got == nearest) && got == got;
        if (error > *worst) {
            *worst = error;
            *at = i;
        }
    }
}
"""


@dataclass(frozen=True, slots=True)
class Swept:
    """How far a function has been measured, and what was found."""

    function: str
    math: str
    digest: str
    done: int = 0
    worst: float = 0.0
    at: str = ""
    misrounded: int = 0

    def __str__(self) -> str:
        part = "" if self.done == COUNT else f" of {self.done / COUNT:.0%}"
        share = f"{100 * self.misrounded / max(self.done, 1):.2g} % are not the nearest number"
        fast = ' with math="fast"' * (self.math == "fast")
        return f"{self.function}{fast}{part}: at most {self.worst:.3f} ULP, at {self.at}; {share}"


def functions(fast: bool = False) -> tuple[str, ...]:
    """Return the names of what can be measured."""
    found = (op for op in OPS.values() if op.ulp and op.arity == 1 and op.types((F32,))[1] is F32)
    return tuple(op.name for op in found if not fast or op.forms.fast is not None)


def _digest(op: Op, math: str) -> str:
    """A digest of the C that decides a function's values."""
    fast = math == "fast"
    forms = [op.c_for((F32,), F32, fast)]
    if op.range_tests_for((F32,), F32, fast):
        forms.append(op.c_for((F32,), F32, fast, common_case=True))
    return hashlib.sha256("\n".join((*forms, helper_text(" ".join(forms)))).encode()).hexdigest()[:16]


@cache
def _sweep(name: str) -> ctypes.CDLL:
    """The comparison with a reference, compiled."""
    with tempfile.TemporaryDirectory() as directory:
        text, made = Path(directory, "sweep.c"), Path(directory, "sweep.so")
        text.write_text(_SOURCE.replace("$reference", REFERENCES[name]), encoding="utf-8")
        command = [os.environ.get("CC", "cc"), OPTIMISED, "-shared", "-fPIC", RESULT_FLAGS[-1].text]
        subprocess.run([*command, "-o", str(made), str(text), *LIBRARIES], check=True)
        return ctypes.CDLL(str(made))


def _short(x: float) -> str:
    digits, _, exponent = x.hex().partition("p")
    return f"{digits.rstrip('0').rstrip('.')}p{exponent}"


def swept(row: Swept, step: int = 1, until: int = COUNT) -> Swept:
    """Go on with a function up to a place, of every so many numbers."""
    op, found, chunk = OPS[row.function], _sweep(row.function), _CHUNK * step
    kernel = bcastgen.from_text(f"{op.name}(x)", math=row.math, threads=1)
    for first in range(row.done, until, chunk):
        last = min(first + chunk, until)
        x = np.arange(first, last, step, dtype=np.uint64).astype(np.uint32).view(np.float32)
        got = np.asarray(kernel(x))
        worst, at, misrounded = ctypes.c_double(row.worst), ctypes.c_int64(-1), ctypes.c_int64(row.misrounded)
        pointers = (ctypes.c_void_p(array.ctypes.data) for array in (x, got))
        found.sweep(*pointers, ctypes.c_int64(x.size), ctypes.byref(worst), ctypes.byref(at), ctypes.byref(misrounded))
        place = row.at if at.value < 0 else _short(float(x[at.value]))
        row = replace(row, done=last, worst=worst.value, at=place, misrounded=misrounded.value)
    return row


def recorded() -> dict[tuple[str, str], Swept]:
    """Return what has been measured."""
    if not RECORD.exists():
        return {}
    rows = (Swept(**row) for row in json.loads(RECORD.read_text(encoding="utf-8")))
    return {(row.function, row.math): row for row in rows}


def _record(row: Swept) -> None:
    """Keep a row beside the others; processes that do so at once each replace the whole file."""
    rows = recorded() | {(row.function, row.math): row}
    order = {name: at for at, name in enumerate(OPS)}
    kept = sorted(rows.values(), key=lambda one: (order.get(one.function, len(order)), one.math))
    lines = ",\n".join(json.dumps(asdict(one)) for one in kept)
    with tempfile.NamedTemporaryFile("w", dir=RECORD.parent, delete=False, encoding="utf-8") as file:
        file.write(f"[\n{lines}\n]\n")
    os.chmod(file.name, 0o644)
    os.replace(file.name, RECORD)


def _measure(name: str, math: str, kept: bool = True) -> Swept:
    """Measure a function to its end, from where its record is."""
    new = Swept(name, math, _digest(OPS[name], math))
    row = recorded().get((name, math), new)
    row = row if row.digest == new.digest else new
    while row.done < COUNT:
        row = swept(row, until=row.done + _SAVED)
        if kept:
            _record(row)
    return row


def _within(row: Swept) -> bool:
    return row.worst <= OPS[row.function].ulp_for(F32, row.math == "fast") and not math.isnan(row.worst)


def _all(names: Sequence[str], math: str, jobs: int) -> Iterator[Swept]:
    if jobs == 1:
        yield from (_measure(name, math) for name in names)
        return
    with ProcessPoolExecutor(jobs) as pool:
        yield from pool.map(_measure, names, [math] * len(names), [False] * len(names))


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, and keep the record."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("names", nargs="*", metavar="NAME", help="functions; all by default")
    parser.add_argument("--fast", action="store_true", help='measure the forms of math="fast"')
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="processes; a run of several saves whole rows")
    options = parser.parse_args(arguments)
    os.nice(19)
    failed = False
    names = options.names or functions(options.fast)
    for row in _all(names, "fast" if options.fast else "accurate", options.jobs):
        _record(row)
        failed |= not _within(row)
        print(f"{row}{'' if _within(row) else ': PAST THE BOUND'}", flush=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
