"""Random programs of NumPy's ops, as functions of arrays, and what they come to by NumPy and by the rows' references.

In: a random generator.  Out: a :class:`Program`: a list of steps, each an operator or a NumPy function of operands,
earlier steps and scalars. It can be run on arrays, traced, and compiled.

    program = make_program(random.Random(0), exact=True, steps=5)
    program.kernel(*operands), program.run(operands, by_numpy)
"""

from __future__ import annotations

import operator
from dataclasses import dataclass

import ml_dtypes
import numpy as np

from bcastgen.api.functions import jit
from bcastgen.api.op_kernels import op_kernel
from bcastgen.core.dtypes import BF16, COMPUTED, DType
from bcastgen.core.errors import BcastgenError
from bcastgen.expr.constants import constant_from
from bcastgen.expr.infer import Typed, infer
from bcastgen.expr.nodes import Apply, Constant, topological
from bcastgen.expr.trace import converted, trace
from bcastgen.ops.row import Op
from bcastgen.ops.table import OPS

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
        return self.op.ulp_for(self.result, operands=(self.loop,)) if self.result.is_inexact else 0


@dataclass(frozen=True)
class Value:
    """The place of an operand or of an earlier step."""

    at: int


@dataclass(frozen=True)
class Program:
    """Operands' dtypes, then steps; its results are all steps, or those that no other step reads."""

    call_types: tuple[DType, ...]
    steps: tuple[Step, ...]
    keep_all: bool

    def __str__(self):
        lines = [f"v{at} : {kind}" for at, kind in enumerate(self.call_types)]
        for at, step in enumerate(self.steps, len(self.call_types)):
            shown = (f"v{x.at}" if isinstance(x, Value) else repr(x) for x in step.operands)
            lines.append(f"v{at} = {step.op.name}({', '.join(shown)}) : {step.result}")
        return "\n".join((*lines, f"results {self.results}"))

    @property
    def results(self):
        read = {x.at for step in self.steps for x in step.operands if isinstance(x, Value)}
        every = range(len(self.call_types), len(self.call_types) + len(self.steps))
        return [at for at in every if self.keep_all or at not in read]

    def run(self, operands, apply):
        """The results, with `apply` saying what a step does to its operands' values."""
        values = list(operands)
        for step in self.steps:
            values.append(apply(step, [values[x.at] if isinstance(x, Value) else x for x in step.operands]))
        return tuple(values[at] for at in self.results)

    def written(self, operands):
        """What a function that an author writes returns: several results as a tuple, one as it is."""
        results = self.run(operands, as_written)
        return results if len(results) > 1 else results[0]

    @property
    def names(self):
        return NAMES[: len(self.call_types)]

    @property
    def expression(self):
        return trace(lambda *operands: self.written(operands), self.names)

    @property
    def kernel(self):
        functions = (
            lambda a: self.written((a,)),
            lambda a, b: self.written((a, b)),
            lambda a, b, c: self.written((a, b, c)),
            lambda a, b, c, d: self.written((a, b, c, d)),
        )
        return jit(functions[len(self.call_types) - 1], name="program")


def as_written(step, operands):
    """Return a step as an author writes it: an operator, .astype, a NumPy function, or a kernel if NumPy has none."""
    if step.target is not None:
        return converted(operands[0], step.target, step.op)
    if step.op.dunder is not None:
        return getattr(operator, f"__{step.op.dunder}__")(*operands)
    # numpy.full_like makes an array, and asks nobody.
    named = None if step.op.name == "full_like" else getattr(np, step.op.name, None)
    return (named or op_kernel(step.op))(*operands)


def by_numpy(step, operands):
    """The same on arrays; where the semantics are not NumPy's, the row has a reference of its own."""
    # ml_dtypes has its own way with Python floats beside a bf16 and with the sign of -0.0, and none with some dtypes.
    dtypes = {getattr(x, "dtype", None) for x in operands}
    differs = BF16.np in dtypes and (len(dtypes) > 1 or step.op.name == "sign")
    own = step.loop.is_complex and step.op.complex is not None and step.op.complex.reference is not None
    if step.op.reference is None and not own and not differs:
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
    call_types = tuple(chance.choice(COMPUTED) for _ in range(chance.randint(1, 4)))
    program, depths = Program(call_types, (), not exact), [0] * len(call_types)
    for _ in range(steps):
        step = make_step(chance, program, exact)
        if step is None:
            continue
        depth = 1 + max(depths[x.at] for x in step.operands if isinstance(x, Value))
        grown = Program(call_types, (*program.steps, step), not exact)
        if depth <= MAX_DEPTH and is_typed(grown):
            program, depths = grown, [*depths, depth]
    return program


def is_typed(program):
    # What is refused while it is traced is no program of ours, and an error of these tests.
    expression = program.expression
    try:
        infer(expression, program.call_types)
    except BcastgenError:
        return False  # A scalar out of range; what raises, and what, is for the tests of values.
    return True


def make_step(chance, program, exact):
    op = chance.choice(list(OPS.values()))
    types = [*program.call_types, *(step.result for step in program.steps)]
    readable = len(program.call_types) if op.name in SHOW_SIGNS else len(types)
    operands = [Value(chance.randrange(readable)) for _ in range(op.arity)]
    if op.arity > 1 and chance.random() < 0.4:
        operands[chance.randrange(op.arity)] = chance.choice(SCALARS + TYPED)
    call_types = tuple(types[x.at] if isinstance(x, Value) else constant_from(x).dtype for x in operands)
    if op.params:
        target = chance.choice(COMPUTED)
        return Step(op, tuple(operands), target, call_types[0], target)
    try:
        loops, result = op.types(call_types)
    except BcastgenError:
        return None
    step = Step(op, tuple(operands), None, loops[0], result)
    if step.ulp and any(loop.is_complex for loop in loops):
        return None  # test_complex.py has these, whose bounds are of both parts.
    inexact = step.ulp or (op.name in EITHER_ZERO and result.is_inexact)
    return None if exact and inexact else step


def make_operands(chance, call_types, shape, samples, layouts):
    """Arrays that broadcast to a shape, each stretched in some dims, without some leading ones, in some layout."""
    arrays = []
    for kind in call_types:
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
