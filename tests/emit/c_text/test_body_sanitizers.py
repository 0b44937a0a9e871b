"""Every op in emitted C, and random programs, under address and undefined-behaviour sanitizers, against references.

Kernels, many to a program, are called with every value of their operands' dtypes against every other: bools of bytes
other than 0 and 1, the ends of the integers, shifts out of range, NaN, infinities and subnormals.
"""

from __future__ import annotations

import random

import numpy as np
import pytest

from bcastgen.core.c_flags import OPTIMISED
from bcastgen.core.dtypes import COMPUTED, dtype
from bcastgen.core.errors import DomainError, DTypeError, RangeError
from bcastgen.expr.build import Builder
from bcastgen.expr.constants import constant_from
from bcastgen.expr.nodes import Operand, topological
from bcastgen.ops.table import OPS
from compile_flags import QUICK
from expression_programs import EITHER_ZERO
from long_runs import many, some
from op_rows import ALIKE, MIXED, applications, apply, batches, several

# Beside the row's bound, since NumPy's own functions are not exact either.
SLACK = 4


@pytest.fixture(scope="module")
def op_kernels(emit):
    """Call ``op_kernels(kinds, variants)`` for (kernel, rows) of all rows that accept operands of these dtypes."""

    def kernels(kinds, variants):
        types = [f"{kind}[{', '.join('?' * len(kinds))}]" for kind in kinds]
        made = []
        for at, rows in enumerate(batches(kinds)):
            name = "_".join(["ops", *map(str, kinds), str(at)])
            made.append(
                (
                    emit(
                        name, lambda *xs, rows=rows: several(apply(*row, xs) for row in rows), types, variants=variants
                    ),
                    rows,
                )
            )
        return made

    return kernels


def spread(values):
    """Operands of as many dims as there are operands, each with its values along its own: all meet all."""
    return [x.reshape([-1 if at == axis else 1 for at in range(len(values))]) for axis, x in enumerate(values)]


def raw(x):
    """Bools as bytes, since NumPy would turn odd ones into 1."""
    return x.view("u1") if x.dtype == bool else x


def sparse(x):
    """The same values in every other place, backwards."""
    room = np.zeros((*x.shape[:-1], 2 * x.shape[-1]), raw(x).dtype)
    room[..., ::-2] = raw(x)
    return room[..., ::-2].view(x.dtype)


def laid_out(operands):
    """The same values stretched, written out, and written out in odd places: through every kind of inner loop."""
    shape = np.broadcast_shapes(*(x.shape for x in operands))
    whole = [np.broadcast_to(raw(x), shape).copy().view(x.dtype) for x in operands]
    return operands, whole, [sparse(x) for x in whole]


def blank(shape, kind):
    return np.full(int(np.prod(shape)) * kind.bytes, 0xA5, np.uint8).view(kind.np).reshape(shape)


@pytest.fixture(scope="module")
def case_of(new_case):
    """Call ``case_of(kernel, operands)`` for a case with results to be written."""

    def case(kernel, operands):
        made = new_case(kernel)
        shape = np.broadcast_shapes(*(x.shape for x in operands))
        for array in (*operands, *(blank(shape, kind) for kind in kernel.results)):
            made.array(array)
        return made

    return case


@pytest.fixture(scope="module")
def check_ops(build, op_kernels, case_of, references, samples, differences):
    """Call ``check_ops(tuples of dtypes, directory, kind, optimise, variants)``."""

    def expectations(kernel, rows, operands):
        """Results by the references, and whether the call is refused for an element outside an op's domain."""
        try:
            return references(kernel, operands), False
        except ValueError:
            assert rows[0][0].demand is not None
            return None, True

    def check(tuples, directory, kind="gcc", optimise=QUICK, variants=0):
        made = [pair for kinds in tuples for pair in op_kernels(kinds, variants)]
        cases, wanted = [], []
        for kernel, rows in made:
            operands = spread([samples(kind) for kind in kernel.operands])
            tries = [operands]
            if rows[0][0].demand is not None:
                with np.errstate(invalid="ignore"):  # NaNs of bf16
                    tries.append([operands[0], operands[1][operands[1] >= 0].reshape(1, -1)])
            for values in tries:
                expected = expectations(kernel, rows, values)
                for form in laid_out(values):
                    cases.append(case_of(kernel, form))
                    wanted.append((rows, *expected))
        outcomes = build([kernel for kernel, _ in made], directory, kind, optimise).run(*cases)
        for got, (rows, expected, refused) in zip(outcomes, wanted, strict=True):
            assert got.call.status == ("DOMAIN" if refused else "OK"), got.case.kernel.name
            if refused:
                assert got.untouched
                continue
            first = len(got.case.kernel.operands)
            for at, ((op, target), values) in enumerate(zip(rows, expected, strict=True)):
                result = got.case.kernel.results[at]
                if op.complex and op.complex.ulp and any(kind.is_complex for kind in got.case.kernel.operands):
                    continue  # test_complex.py has its values: the bounds are of both parts.
                ulp = op.ulp + SLACK if op.ulp and result.is_float else 0
                found = got.values(first + at, result.np)
                wrong = differences(found, np.broadcast_to(values, found.shape), ulp, op.name in EITHER_ZERO)
                if op.ulp_of:
                    # Where terms cancel, the unit is that of a larger result.
                    with np.errstate(all="ignore"):
                        apart = np.abs(found.astype("f8") - np.asarray(values).astype("f8"))
                    wrong &= ~(apart <= ulp * float(np.spacing(result.np.type(op.ulp_of))))
                assert not wrong.any(), f"{op.name} {target or ''} in {got.case.kernel.name}: {np.argwhere(wrong)[:3]}"

    return check


def kinds_of(text):
    return [tuple(map(dtype, word.split("-"))) for word in text.split()]


SAMPLE = kinds_of(
    "bool i8 u16 i64 f32 f64 bool-bool i8-i8 i32-i32 u64-u64 f32-f32 f64-f64 i64-u64 u8-f32 bool-f32-f32 i16-i16-i16 "
    "i32-i32-i8"
)


def test_a_sample_of_ops_and_dtypes(check_ops, tmp_path):
    assert {op.name for kinds in SAMPLE for op, _ in applications(kinds)} == set(OPS)
    check_ops(SAMPLE, tmp_path)


WIDE = [ALIKE[:11], ALIKE[11:], random.Random(1).sample(MIXED, 10)]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["gcc", "clang"])
@pytest.mark.parametrize("tuples", WIDE, ids=["unary", "alike", "mixed"])
def test_every_op_and_dtype(tuples, kind, check_ops, tmp_path):
    check_ops(some(tuples, 4), tmp_path, kind, variants=1)


# ---- random programs -------------------------------------------------------------------------------------------------

NAMES = ("a", "b", "c", "d")
SCALARS = (True, 0, 1, 2, 3, 7, 100, -1, -2, 40, 0.0, -0.0, 0.5, 2.0, -1.5, 0.1, 1e20, float("inf"), float("nan"))
# The sign of a NaN and of some zeros is free, and these show it.
SHOW_SIGNS = {"signbit", "copysign"}


def exact_step(chance, values):
    """A row, cast's target or None, operands and the result's dtype; None if the row refuses them or is not exact."""
    op = chance.choice(list(OPS.values()))
    operands = [chance.choice(values) for _ in range(op.arity)]
    for at in range(1, op.arity):
        scalar = constant_from(chance.choice(SCALARS))
        operands[at] = (scalar, scalar.dtype) if chance.random() < 0.3 else operands[at]
    kinds = tuple(kind for _, kind in operands)
    target = chance.choice(COMPUTED) if op.params else None
    try:
        loops, result = ((kinds[0],), target) if op.params else op.types(kinds)
    except DTypeError:
        return None
    ulp = op.ulp_for(result, operands=loops) if result.is_inexact else 0
    inexact = ulp or (op.name in EITHER_ZERO and loops[0].is_inexact)
    return None if inexact or op.name in SHOW_SIGNS else (op, target, tuple(node for node, _ in operands), result)


def random_expression(chance):
    """An expression of exact ops with one to three results, and its operands' dtypes."""
    kinds = [chance.choice(COMPUTED) for _ in range(chance.randint(1, 4))]
    builder = Builder(NAMES[: len(kinds)])
    values = list(zip(builder.operands, kinds, strict=True))
    length = len(values) + chance.randint(1, 9)
    while len(values) < length:
        step = exact_step(chance, values)
        if step is not None:
            op, target, operands, result = step
            values.append((builder.apply(op, operands, (("dtype", target),) if target else ()), result))
    shown = chance.sample(values[len(kinds) :], min(len(values) - len(kinds), chance.choice((1, 1, 2, 3))))
    return builder.finish(tuple(node for node, _ in shown)), kinds


def random_shapes(chance, count):
    """Shapes that broadcast together, and types for them: any rank, or ranked with some extents known."""
    domain = [chance.choice((0, 1, 2, 3, 5)) if chance.random() < 0.95 else 17 for _ in range(chance.randint(0, 4))]
    shapes, types = [], []
    any_rank = chance.random() < 0.3
    for _ in range(count):
        shape = tuple(1 if chance.random() < 0.3 else extent for extent in domain[chance.randint(0, len(domain)) :])
        dims = [str(extent) if chance.random() < 0.3 else "?" for extent in shape]
        kept = chance.randint(0, len(dims))
        shapes.append(shape)
        types.append(", ".join(["*", *dims[kept:]] if any_rank else dims))
    return shapes, types


def random_operand(chance, shape, values):
    """Values in an array of this shape, in some layout."""
    drawn = raw(values)[[chance.randrange(len(values)) for _ in range(int(np.prod(shape)))]].reshape(shape)
    layouts = [np.array, lambda x: np.array(x, order="F")]
    layouts += [sparse, lambda x: x[::-1].copy()[::-1]] if shape else []
    return chance.choice(layouts)(drawn).view(values.dtype)


@pytest.fixture
def check_programs(emit, build, new_case, references, samples, differences):
    """Call ``check_programs(count, seed, directory, kind, optimise)``."""

    def programs(count, seed):
        chance = random.Random(seed)
        while count:
            expression, kinds = random_expression(chance)
            shapes, types = random_shapes(chance, len(kinds))
            types = [f"{kind}[{dims}]" for kind, dims in zip(kinds, types, strict=True)]
            try:
                kernel = emit(f"p{count}", expression, types, NAMES, variants=chance.choice((None, 0, 1)))
            except (DomainError, RangeError):  # a constant that does not fit, or a negative exponent
                continue
            count -= 1
            yield (
                kernel,
                [random_operand(chance, shape, samples(kind)) for shape, kind in zip(shapes, kinds, strict=True)],
            )

    def check(count, seed, directory, kind="gcc", optimise=QUICK):
        cases, wanted = [], []
        for kernel, operands in programs(count, seed):
            try:
                expected = references(kernel, operands)
            except ValueError:
                expected = None
            case = new_case(kernel)
            for array in operands:
                case.array(array)
            shapes = [x.shape for x in expected or ()] or result_shapes(kernel, operands)
            for shape, dtype_ in zip(shapes, kernel.results, strict=True):
                case.array(blank(shape, dtype_))
            cases.append(case)
            wanted.append(expected)
        for got, expected in zip(
            build([case.kernel for case in cases], directory, kind, optimise).run(*cases), wanted, strict=True
        ):
            shown = f"seed {seed}, {got.case.kernel.name}\n{got.case.kernel.compilation.typed}\n{got.call}"
            assert got.call.status == ("DOMAIN" if expected is None else "OK"), shown
            if expected is None:
                assert got.untouched, shown
                continue
            for at, values in enumerate(expected, len(got.case.kernel.operands)):
                assert not differences(got.values(at, values.dtype), values).any(), f"{shown}\nresult {at}"

    return check


def result_shapes(kernel, operands):
    """The shape of each result: that of the operands it reads."""
    expression = kernel.compilation.typed.expression
    return [
        np.broadcast_shapes(
            *(operands[node.index].shape for node in topological((result,)) if isinstance(node, Operand))
        )
        for result in expression.results
    ]


def test_random_programs(check_programs, tmp_path):
    check_programs(60, 0, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "optimise", "seed"), [("gcc", OPTIMISED, 1), ("clang", QUICK, 2), ("clang", OPTIMISED, 3)]
)
def test_many_random_programs(seed, kind, optimise, check_programs, tmp_path):
    check_programs(many(40, 100), seed, tmp_path, kind, optimise)
