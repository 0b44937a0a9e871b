"""Random expressions, computed in four ways that must agree: by the compiled kernel, by the interpreter of its nests,
by the rows' references over the typed expression, and by plain NumPy.

A program is a Python function of arrays: a list of steps, each an operator or a NumPy function of operands, earlier
steps and scalars. Where all its ops are exact, so is the agreement. Where some are not, every step is a result, and
each is compared with NumPy's function of the values that the steps before it came to.
"""

from __future__ import annotations

import operator
import random
from dataclasses import dataclass

import ml_dtypes
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bcastgen.api import jit, op_kernel
from bcastgen.dtypes import BF16, DTYPES, DType
from bcastgen.errors import BcastgenError, DomainError
from bcastgen.expr.build import constant_from
from bcastgen.expr.infer import Typed, infer
from bcastgen.expr.nodes import Apply, Constant, topological
from bcastgen.expr.trace import converted, trace
from bcastgen.loops.interpret import interpret
from bcastgen.op import Op
from bcastgen.ops import OPS

MAX_DEPTH = 6
SCALARS = (True, 0, 1, 2, 3, 7, -1, -2, 100, 0.0, -0.0, 0.5, 1.0, 2.0, -1.5, 0.1, 1e20, float("inf"), float("nan"))
TYPED = (np.bool_(True), np.int8(-3), np.uint8(200), np.int32(5), np.uint64(2**63), np.float32(0.1), np.float64(0.1))
TYPED += (np.float16(0.1), ml_dtypes.bfloat16(0.1))
NAMES = ("a", "b", "c", "d")
# Which zero comes out of (0.0, -0.0) is free, and so is the sign of a NaN, which these would show.
EITHER_ZERO = {"minimum", "maximum", "fmin", "fmax", "clip"}
SHOW_SIGNS = {"signbit", "copysign"}


@dataclass(frozen=True)
class Step:
    """An op applied to earlier values, given by their number, and to scalars."""

    op: Op
    operands: tuple[object, ...]
    target: DType | None
    loop: DType
    result: DType

    @property
    def ulp(self):
        return self.op.ulp_for(self.result) if self.result.is_float else 0


@dataclass(frozen=True)
class Value:
    """The place of an operand or of an earlier step."""

    at: int


@dataclass(frozen=True)
class Program:
    """Operands' dtypes, then steps; its results are all steps, or those that no other step reads."""

    kinds: tuple[DType, ...]
    steps: tuple[Step, ...]
    keep_all: bool

    def __str__(self):
        lines = [f"v{at} : {kind}" for at, kind in enumerate(self.kinds)]
        for at, step in enumerate(self.steps, len(self.kinds)):
            shown = (f"v{x.at}" if isinstance(x, Value) else repr(x) for x in step.operands)
            lines.append(f"v{at} = {step.op.name}({', '.join(shown)}) : {step.result}")
        return "\n".join((*lines, f"results {self.results}"))

    @property
    def results(self):
        read = {x.at for step in self.steps for x in step.operands if isinstance(x, Value)}
        every = range(len(self.kinds), len(self.kinds) + len(self.steps))
        return [at for at in every if self.keep_all or at not in read]

    def run(self, operands, apply):
        """The results, with `apply` saying what a step does to its operands' values."""
        values = list(operands)
        for step in self.steps:
            values.append(apply(step, [values[x.at] if isinstance(x, Value) else x for x in step.operands]))
        return tuple(values[at] for at in self.results)

    @property
    def names(self):
        return NAMES[: len(self.kinds)]

    @property
    def expression(self):
        return trace(lambda *operands: self.run(operands, as_written), self.names)

    @property
    def kernel(self):
        functions = (
            lambda a: self.run((a,), as_written),
            lambda a, b: self.run((a, b), as_written),
            lambda a, b, c: self.run((a, b, c), as_written),
            lambda a, b, c, d: self.run((a, b, c, d), as_written),
        )
        return jit(functions[len(self.kinds) - 1], name="program")


def as_written(step, operands):
    """What the function's author writes: an operator, .astype, a NumPy function, or a kernel where NumPy has none."""
    if step.target is not None:
        return converted(operands[0], step.target, step.op)
    if step.op.dunder is not None:
        return getattr(operator, f"__{step.op.dunder}__")(*operands)
    return getattr(np, step.op.name, op_kernel(step.op))(*operands)


def by_numpy(step, operands):
    """The same on arrays; where the semantics are not NumPy's, the row has a reference of its own."""
    # ml_dtypes has its own way with Python floats beside a bf16 and with the sign of -0.0, and none with some dtypes.
    dtypes = {getattr(x, "dtype", None) for x in operands}
    differs = BF16.np in dtypes and (len(dtypes) > 1 or step.op.name == "sign")
    if step.op.reference is None and not differs:
        with np.errstate(all="ignore"):
            return as_written(step, operands)
    return step.op.evaluate(*operands, *([step.target] if step.target else []))


def by_references(typed: Typed, operands):
    """The results of a typed expression, node by node."""
    values = dict(zip(typed.expression.operands, operands, strict=True))
    for node in topological(typed.expression.results):
        match node:
            case Constant():
                values[node] = node.dtype.np.type(node.value)
            case Apply():
                given = (values[x] for x in node.operands)
                values[node] = node.op.evaluate(*given, *(value for _, value in node.params))
    return tuple(values[node] for node in typed.expression.results)


# ---- making programs -------------------------------------------------------------------------------------------------


def make_program(chance, exact, steps):
    """A program of up to so many steps, of exact ops or of any."""
    kinds = tuple(chance.choice(DTYPES) for _ in range(chance.randint(1, 4)))
    program, depths = Program(kinds, (), not exact), [0] * len(kinds)
    for _ in range(steps):
        step = make_step(chance, program, exact)
        if step is None:
            continue
        depth = 1 + max(depths[x.at] for x in step.operands if isinstance(x, Value))
        grown = Program(kinds, (*program.steps, step), not exact)
        if depth <= MAX_DEPTH and is_typed(grown):
            program, depths = grown, [*depths, depth]
    return program


def is_typed(program):
    try:
        infer(program.expression, program.kinds)
    except BcastgenError:
        return False  # A scalar out of range; what raises, and what, is for the tests of values.
    return True


def make_step(chance, program, exact):
    op = chance.choice(list(OPS.values()))
    types = [*program.kinds, *(step.result for step in program.steps)]
    readable = len(program.kinds) if op.name in SHOW_SIGNS else len(types)
    operands = [Value(chance.randrange(readable)) for _ in range(op.arity)]
    if op.arity > 1 and chance.random() < 0.4:
        operands[chance.randrange(op.arity)] = chance.choice(SCALARS + TYPED)
    kinds = tuple(types[x.at] if isinstance(x, Value) else constant_from(x).dtype for x in operands)
    if op.params:
        target = chance.choice(DTYPES)
        return Step(op, tuple(operands), target, kinds[0], target)
    try:
        loops, result = op.types(kinds)
    except BcastgenError:
        return None
    step = Step(op, tuple(operands), None, loops[0], result)
    inexact = step.ulp or (op.name in EITHER_ZERO and result.is_float)
    return None if exact and inexact else step


def make_operands(chance, kinds, shape, samples, layouts):
    """Arrays that broadcast to a shape, each stretched in some dims, without some leading ones, in some layout."""
    arrays = []
    for kind in kinds:
        dropped = chance.choice((0, 0, chance.randint(0, len(shape))))
        own = [chance.choice((1, extent, extent)) for extent in shape[dropped:]]
        values = np.random.default_rng(chance.randrange(2**32)).choice(samples(kind, 30), own)
        if kind.kind == "bool":
            values = values.view(np.uint8) != 0
        array = np.asarray(values, kind.np)
        if array.ndim:
            array = layouts[chance.choice(sorted(layouts))](array)
        if chance.random() < 0.2:
            array = np.broadcast_to(array, shape)
        arrays.append(array)
    return arrays


# ---- comparing -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def check_exact(samples, layouts, differences):
    """Call ``check_exact(chance, steps)`` to make a program of exact ops and compare the four ways to compute it."""

    def agree(results, wanted, way, program):
        for at, got, expected in zip(program.results, results, wanted, strict=True):
            got, expected = np.asarray(got), np.asarray(expected)
            same = got.dtype == expected.dtype and got.shape == expected.shape and not differences(got, expected).any()
            assert same, f"v{at} is {got!r} by {way}, not {expected!r}\n{program}"

    def check(chance, steps):
        program = make_program(chance, True, steps)
        if not program.steps:
            return
        kernel, typed = program.kernel, infer(program.expression, program.kinds)
        for shape in (tuple(chance.randint(1, 3) for _ in range(chance.randint(0, 3))), (3, 43)):
            operands = make_operands(chance, program.kinds, shape, samples, layouts)
            try:
                wanted = by_references(typed, operands)
            except ValueError:
                for call in (kernel, lambda *operands: interpret(kernel.compilation.program, operands)):
                    with pytest.raises(DomainError):
                        call(*operands)
                continue
            results = kernel(*operands)
            agree(results if isinstance(results, tuple) else (results,), wanted, "the kernel", program)
            agree(program.run(operands, by_numpy), wanted, "NumPy", program)
            if shape != (3, 43):
                agree(interpret(kernel.compilation.program, operands), wanted, "the interpreter", program)

    return check


@pytest.fixture(scope="module")
def check_steps(samples, layouts, differences):
    """Call ``check_steps(chance, steps)`` to make a program of any ops and check each step of it on its own."""

    def follow(results, operands, way, program):
        values = [*operands, *map(np.asarray, results)]
        for at, step in enumerate(program.steps, len(operands)):
            expected = by_numpy(step, [values[x.at] if isinstance(x, Value) else x for x in step.operands])
            expected = np.asarray(expected, step.result.np)
            # NumPy's own functions are up to 4 ULP off.
            wrong = differences(values[at], expected, step.ulp and step.ulp + 4, step.op.name in EITHER_ZERO)
            same = values[at].shape == expected.shape and not wrong.any()
            assert same, f"v{at} is {values[at]!r} by {way}, not {expected!r}\n{program}"

    def check(chance, steps):
        program = make_program(chance, False, steps)
        if not program.steps:
            return
        kernel = program.kernel
        for shape in (tuple(chance.randint(1, 3) for _ in range(chance.randint(0, 3))), (3, 43)):
            operands = make_operands(chance, program.kinds, shape, samples, layouts)
            try:
                results = kernel(*operands)
            except DomainError:
                with pytest.raises(ValueError, match="negative integer powers"):
                    program.run(operands, by_numpy)
                continue
            follow(results if isinstance(results, tuple) else (results,), operands, "the kernel", program)
            if shape != (3, 43):
                follow(interpret(kernel.compilation.program, operands), operands, "the interpreter", program)

    return check


fixed = settings(
    max_examples=40, deadline=None, derandomize=True, database=None, suppress_health_check=[HealthCheck.too_slow]
)


@fixed
@given(chance=st.randoms(use_true_random=False))
def test_programs_of_exact_ops(chance, check_exact):
    check_exact(chance, 7)


@fixed
@given(chance=st.randoms(use_true_random=False))
def test_programs_of_any_ops(chance, check_steps):
    check_steps(chance, 5)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(60))
def test_larger_programs(seed, check_exact, check_steps):
    check_exact(random.Random(seed), 40)
    check_steps(random.Random(seed), 20)
