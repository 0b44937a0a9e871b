"""Rendering: the C that the JIT compiles, and both forms under strict compilers."""

from __future__ import annotations

import itertools
import random

import pytest

from bcastgen.api.functions import from_text, jit
from bcastgen.api.op_kernels import op_kernel
from bcastgen.core.dtypes import COMPUTED
from bcastgen.core.errors import DTypeError
from bcastgen.expr.trace import converted, trace
from bcastgen.ops.table import OPS
from bcastgen.pipeline.compilation import Compilation
from bcastgen.pipeline.options import Options
from long_runs import some

# Results of one kernel.
MANY = 120


def rows_of(kinds):
    """(op, cast's target or None) for every row that accepts operands of these dtypes."""
    for op in OPS.values():
        if op.arity != len(kinds):
            continue
        if op.params:
            yield from ((op, target) for target in COMPUTED)
            continue
        try:
            op.types(kinds)
        except DTypeError:
            continue
        yield op, None


def apply(op, target, operands):
    return converted(operands[0], target, op) if op.params else op_kernel(op)(*operands)


def compiled(function, kinds, name="kernel", variants=0):
    """The C of a kernel of any rank."""
    names = tuple(f"x{at}" for at in range(len(kinds)))
    expression = trace(function, names)
    results = tuple(f"r{at}" for at in range(len(expression.results)))
    return str(Compilation(expression, kinds, None, None, results, Options(name, variants)).source)


def all_applications(arity):
    """Every op of so many operands applied to every tuple of dtypes: (op, target, places in COMPUTED)."""
    for places in itertools.product(range(len(COMPUTED)), repeat=arity):
        for op, target in rows_of(tuple(COMPUTED[at] for at in places)):
            yield op, target, places


def applications_of_different_c(arity):
    """Of all applications those that have a statement which no earlier one has.

    The C of an application is a conversion of each operand and the op on the dtypes that it computes in, each a
    statement of its own: every op in every dtype is there, and before each of its operands every conversion.
    """
    seen = set()
    for op, target, places in all_applications(arity):
        kinds = tuple(COMPUTED[at] for at in places)
        loops = (kinds, target) if op.params else op.types(kinds)
        statements = {(op.name, loops, at, kind) for at, kind in enumerate(kinds)}
        if not statements <= seen:
            seen |= statements
            yield op, target, places


def jit_units(applications):
    """Files of kernels over one operand of each dtype, with many applications each as results."""
    applications = list(applications)
    for start in range(0, len(applications), MANY):
        chosen = applications[start : start + MANY]

        def function(*xs, chosen=chosen):
            # All results read all operands of the nest, or each tuple of dtypes would be a nest of its own.
            return tuple(apply(op, target, [xs[at] for at in places]) for op, target, places in chosen)

        yield f"k{start}.c", compiled(function, COMPUTED)


def test_a_sample_of_the_jit_s_c_is_strict(compile_strictly, tmp_path):
    chance = random.Random(0)
    sample = [chance.sample(list(all_applications(arity)), 60) for arity in (1, 2)]
    units = dict(jit_units(itertools.chain(*sample)))
    shown = {
        "axpb.c": from_text("(f32[?,?] a, f32[?,?] b) -> a + b*2").source,
        "open.c": from_text("(f32[*,3] a, i32[*] b) -> where(a > b, a, b)").source,
        "power.c": from_text("(i32[*] a, i32[*] b) -> a**b").source,
        "nests.c": jit(lambda a, b: (a + b, a * 2, 1.5, a**b), name="nests").source,
        "unread.c": jit(lambda a, b: a, name="unread").source,
    }
    compile_strictly(units | shown, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["gcc", "clang"])
@pytest.mark.parametrize("arity", [1, 2, 3])
def test_every_op_and_dtype_is_strict(arity, kind, compile_strictly, tmp_path):
    applications = list(applications_of_different_c(arity))
    compile_strictly(dict(jit_units(some(applications, len(applications) // 4))), tmp_path, kind)
