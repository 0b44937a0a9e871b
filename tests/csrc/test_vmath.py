"""The vector functions in builds of every kind: within their bounds, exact at their limits, and vectorised.

What a kernel of the JIT computes is tests/behaviour/test_accuracy.py's affair; here the headers are compiled with other
flags and by another compiler: where the machine is x86-64 without FMA and for a plain one, and everywhere with
contraction as ``math="fast"`` has it.
"""

from __future__ import annotations

import functools
import math
import re
import shutil

import mpmath
import numpy as np
import pytest

import vmath
from bcastgen.core.dtypes import F32, F64
from bcastgen.core.resources import bench_module
from bcastgen.ops.table import OPS
from long_runs import many

truth = bench_module("truth")

# Those that have functions of their own: float_power has power's.
FUNCTIONS = [op for op in OPS.values() if op.ulp and f"{op.name}_f64" in vmath.functions()]
CONTRACTED = ("-ffp-contract=fast",)
# On x86-64 the slow tests have the build without further flags.
ROUNDINGS = {name: flags for name, flags in vmath.ROUNDINGS.items() if flags or not vmath.X86}
BUILDS = {**ROUNDINGS, "contracted": CONTRACTED}
SLOW_BUILDS = {"plain": ((), "gcc"), "portable": (vmath.PORTABLE, "gcc"), "clang": ((), "clang-19")}


def forms(op, dtype):
    """Names in the headers, with their bounds."""
    yield f"{op.name}_{dtype}", op.ulp
    if op.forms.fast is not None:
        yield f"{op.name}_fast_{dtype}", op.forms.fast_ulp


@functools.cache
def operands(name, dtype, count):
    return truth.operands_of(OPS[name], dtype, count, 7)


@functools.cache
def truths(name, dtype, count):
    """The true results: most of a test's time, and the same for every build and form."""
    return truth.truths_of(OPS[name], operands(name, dtype, count))


@pytest.fixture
def check_bound():
    """Call ``check_bound(library, op, dtype, count)``."""

    def check(library, op, dtype, count):
        values = operands(op.name, dtype, count)
        for name, bound in forms(op, dtype):
            errors = truth.errors_of(op, dtype, values, library.call(name, *values), truths(op.name, dtype, count))
            at = int(errors.argmax())
            assert errors[at] <= bound, f"{name}{tuple(x[at] for x in values)} is {errors[at]:.2f} ULP off"

    return check


@pytest.mark.parametrize("build", BUILDS)
@pytest.mark.parametrize("dtype", [F32, F64], ids=str)
@pytest.mark.parametrize("op", FUNCTIONS, ids=lambda op: op.name)
def test_errors_are_within_the_bound(op, dtype, build, check_bound):
    check_bound(vmath.library(*BUILDS[build]), op, dtype, 300)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [F32, F64], ids=str)
@pytest.mark.parametrize("op", FUNCTIONS, ids=lambda op: op.name)
def test_errors_of_every_build_are_within_the_bound(op, dtype, check_bound):
    for flags, compiler in SLOW_BUILDS.values():
        if shutil.which(compiler) is None:
            pytest.skip(f"no {compiler}")
        check_bound(vmath.library(*flags, compiler=compiler), op, dtype, many(1000, 3000))


@pytest.mark.parametrize("op", [op for op in FUNCTIONS if op.arity == 1], ids=lambda op: op.name)
def test_f32_values_of_all_magnitudes(op):
    """Every so-many-th bit pattern, against f64, whose error does not count here."""
    values = np.arange(0, 2**32, 39_989, np.uint32).view(np.float32)
    with np.errstate(all="ignore"):
        close = op.evaluate(values.astype(np.float64))
    for name, bound in forms(op, F32):
        errors = vmath.errors(vmath.library().call(name, values), np.asarray(close))
        at = int(errors.argmax())
        assert errors[at] <= bound + 1e-6, f"{name}({values[at]!r}) is {errors[at]:.3f} ULP off"


# Functions and arguments between which results reach an infinity, or 0.
LIMITS = [
    *((name, math.inf, 1.0, 1e4) for name in ("exp", "exp2", "expm1", "sinh", "cosh")),
    *((name, 0.0, -1.0, -1e4) for name in ("exp", "exp2", "sigmoid")),
]


@pytest.mark.parametrize("dtype", [F32, F64], ids=str)
@pytest.mark.parametrize(("name", "limit", "inside", "outside"), LIMITS)
@pytest.mark.parametrize("flags", vmath.ROUNDINGS.values(), ids=vmath.ROUNDINGS)
def test_results_overflow_and_underflow_where_true_values_do(name, limit, inside, outside, dtype, flags):
    function = truth.truth_of(OPS[name])
    info = np.finfo(dtype.np)
    with mpmath.workdps(50):
        # What rounds to an infinity is half a unit past the largest number; what rounds to 0, at most half the least.
        least = mpmath.mpf(float(info.smallest_subnormal)) / 2
        bound = mpmath.ldexp(2 - mpmath.ldexp(1, -info.nmant - 1), info.maxexp - 1) if limit else least
        start = mpmath.mpf(dtype.np.type(math.log(info.max) if limit else math.log(info.smallest_subnormal)).item())
        start = start / mpmath.ln2 if name == "exp2" else start
        start += mpmath.ln2 if name in ("sinh", "cosh") else 0
        true = float(mpmath.findroot(lambda x: mpmath.log(function(x)) - mpmath.log(bound), start))
    around = np.nextafter(np.array([true], dtype.np), np.array([inside, outside], dtype.np), dtype=dtype.np)
    arguments = np.array([np.nextafter(around[0], dtype.np.type(inside)), *around, np.nextafter(around[1], outside)])
    results = vmath.library(*flags).call(f"{name}_{dtype}", arguments.astype(dtype.np))
    with mpmath.workdps(50):
        beyond = [
            function(mpmath.mpf(x.item())) >= bound if limit else function(mpmath.mpf(x.item())) <= bound
            for x in arguments.astype(dtype.np)
        ]
    assert (results[[0, -1]] == limit).tolist() == [False, True]
    assert (results == limit).tolist() == beyond


@pytest.mark.skipif(not vmath.X86, reason="reads instructions of x86-64")
def test_loops_are_vectorised_without_calls():
    """For AVX2, every loop works on whole registers, but those of full forms, whose largest operands take a slow path:
    they have near forms, which the loops of kernels are made of."""
    text = vmath.assembly("-march=x86-64-v3", "-mno-avx512f", "-mtune=generic", "-fno-ipa-icf")
    bodies = dict(re.findall(r"^(loop_(?!is_usual)\w+):\n(.*?)^\s\.size\s", text, re.MULTILINE | re.DOTALL))
    assert len(bodies) == len(vmath.functions())
    branching = re.compile(rf"loop_({'|'.join(op.name for op in FUNCTIONS if op.forms.scalar)})(_fast)?_f\d\d")
    looped = {name: body for name, body in bodies.items() if not branching.fullmatch(name)}
    assert [name for name, body in looped.items() if re.search(r"\bcall\s", body)] == []
    forms = re.compile(rf"loop_({'|'.join(op.name for op in FUNCTIONS)})(_fast|_common|_fast_common)?_f\d\d")
    packed = re.compile(r"v(mul|fn?madd|fn?msub)\w*p[sd]\s.*ymm")
    # gammaln reads tables, and gcc, tuned for any CPU, gathers with AVX-512 only: with AVX2 its loops go one by one.
    assert [name for name, body in looped.items() if forms.fullmatch(name) and not packed.search(body)] == [
        *("loop_gammaln_f64", "loop_gammaln_f32"),
    ]
