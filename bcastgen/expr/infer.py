"""Typing: each node gets the dtype NumPy 2 would give it, and each conversion becomes a visible cast.

In: an untyped expression and a type for each operand.  Out: a :class:`Typed` expression, and the range of each operand
that is a Python integer at run time.

    add(a, 1) with a : u8   ->  t0 = add(a, 1:u8) : u8
    add(a, b) with a : f32, b : i32  ->  t0 = cast(a, dtype=f64); t1 = cast(b, dtype=f64); t2 = add(t0, t1) : f64

Result dtypes are a pure function of operand dtypes and Python scalars (NEP 50).

The file is long because NumPy has rules of its own for power, round, clip and comparisons beside Python scalars.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from ..core.dtypes import (
    BOOL,
    F64,
    WEAK_COMPLEX,
    WEAK_FLOAT,
    WEAK_HUGE,
    WEAK_INT,
    WEAK_UINT,
    DType,
    Weak,
    in_numpy_code,
)
from ..core.errors import BcastgenError, DTypeError, placed
from ..core.frozen import dataclass
from ..ops.dtype_rules import compare, refuse
from ..ops.row import Op
from ..ops.table import OPS
from .build import Builder
from .constants import (
    OF_NUMBERS,
    check_casting,
    check_initial,
    check_mask,
    check_mean,
    converted,
    is_scalar,
    is_weak_int,
    power_of_ten,
    refuse_negative_exponent,
    weak_of,
)
from .nodes import Apply, Constant, Expression, Node, Operand, Reduce, Remap, TypeAssertion, concrete, topological

__all__ = ["Limits", "Typed", "infer"]

Limits = tuple[int, int] | None


@dataclass(frozen=True, slots=True, eq=False)
class Typed:
    """A typed expression.

    Attributes
    ----------
    expression : each node has a dtype; an operand that is a Python scalar has the dtype that the kernel gets it in.
    limits : for each operand that is a Python int, the range that fits the dtypes it is combined with; else None.
    """

    expression: Expression
    limits: tuple[Limits, ...]

    @property
    def operand_dtypes(self) -> tuple[DType, ...]:
        """The dtype each operand is read in."""
        return tuple(concrete(node) for node in self.expression.operands)

    @property
    def result_dtypes(self) -> tuple[DType, ...]:
        """The dtype of each result."""
        return tuple(concrete(node) for node in self.expression.results)

    def __str__(self) -> str:
        return str(self.expression)


def infer(
    expression: Expression, types: tuple[DType | Weak, ...], declared: tuple[DType | None, ...] | None = None
) -> Typed:
    """Type an expression for operands of these types.

    Parameters
    ----------
    expression : untyped.
    types : one for each operand; a weak one is that of a Python scalar.
    declared : dtypes that a signature gives the operands; a Python scalar takes the declared one.

    Raises
    ------
    DTypeError
        If an op does not support its operands' dtypes, or an operand has another dtype than declared.
    RangeError
        If a Python integer constant does not fit the dtype of the operand beside it.
    """
    return _Inference(expression, types, declared or (None,) * len(types)).run()


def _may_hold(target: DType, kind: Weak) -> bool:
    """Whether a ufunc converts a Python number of this kind to a loop's dtype, if it fits."""
    if target.kind == "bool" or kind is WEAK_COMPLEX:
        return target.is_complex
    return kind is not WEAK_FLOAT or target.is_inexact


class _Inference:
    """Types one expression; `types` holds the type of each typed node, which may still be weak."""

    def __init__(
        self, expression: Expression, types: tuple[DType | Weak, ...], declared: tuple[DType | None, ...]
    ) -> None:
        self.source = expression
        self.operand_types = types
        self.declared = declared
        self.builder = Builder()
        self.types: dict[Node, DType | Weak] = {}
        self.limits: list[Limits] = []
        # For each selection between weak values: its condition, and the values before they were converted.
        self._branches: dict[Node, tuple[Node, ...]] = {}
        self._converted: dict[tuple[Node, DType], Node] = {}

    def run(self) -> Typed:
        here: dict[Node, Node] = {}
        for operand, kind, declared in zip(self.source.operands, self.operand_types, self.declared, strict=True):
            made = self.builder.operand(operand.name, kind.default if isinstance(kind, Weak) else kind)
            self.types[made] = kind
            integer = kind in (WEAK_INT, WEAK_UINT)
            self.limits.append((made.dtype.min, made.dtype.max) if integer and isinstance(made.dtype, DType) else None)
            here[operand] = made if declared is None else self._as_declared(made, kind, declared)
        for node in topological(self.source.roots):
            match node:
                case Constant():
                    here[node] = self._typed(self.builder.keep(node), node.dtype)
                case Apply():
                    try:
                        here[node] = self._apply(node, tuple(here[child] for child in node.operands))
                    except BcastgenError as error:
                        place = self.source.lines.get(node)
                        if place is None:
                            raise
                        where, number = place
                        shown = f"column {number} of the text" if where == "column" else f"{where}:{number}"
                        raise placed(error, f"at {shown}") from None
                case Reduce():
                    here[node] = self._reduced(node, self._resolved(here[node.operand]))
                case Remap(view=view, like=like):
                    # NumPy makes an array of a Python number that it views.
                    child = self._resolved(here[node.operand])
                    strong = concrete(child)
                    given = None if like is None else here[like]
                    seen = self.builder.remap(child, view, given, child.dtype)
                    here[node] = self._typed(seen, strong)
        results = tuple(self._resolved(here[node]) for node in self.source.results)
        type_assertions = tuple(
            TypeAssertion(self._resolved(here[one.node]), one.name, one.type) for one in self.source.type_assertions
        )
        return Typed(self.builder.finish(results, self.source.free_extents, type_assertions), tuple(self.limits))

    def _as_declared(self, operand: Operand, kind: DType | Weak, declared: DType) -> Node:
        if isinstance(kind, DType) and kind is not declared:
            raise DTypeError(
                f"operand '{operand.name}' has dtype {kind}, declared {declared}; use .astype({declared.in_python})"
            )
        if kind is WEAK_COMPLEX and not declared.is_complex:
            raise DTypeError(f"operand '{operand.name}' is a Python complex, declared {declared}; pass a real number")
        if kind is WEAK_FLOAT and not declared.is_inexact:
            raise DTypeError(f"operand '{operand.name}' is a Python float, declared {declared}; pass an integer")
        if isinstance(kind, Weak) and declared.is_integer:
            self._narrow(operand, kind, declared)
        return operand if kind is declared else self._typed(self.builder.cast(operand, declared), declared)

    def _typed(self, node: Node, kind: DType | Weak) -> Node:
        self.types[node] = kind
        return node

    def _resolved(self, node: Node) -> Node:
        kind = self.types[node]
        return self.convert(node, kind.default) if isinstance(kind, Weak) else node

    def _apply(self, node: Apply, operands: tuple[Node, ...]) -> Node:
        if node.op.converts:
            return self._conversion(node, operands[0])
        noted = self._noted(node, operands)
        if noted is not None:
            return noted
        op = node.op
        if op.name == "round":
            decimals = node.notes.decimals
            # Integers stay as they are; later stages know rint only.
            kind = self._resolved(operands[0]).dtype
            if decimals or (isinstance(kind, DType) and kind.is_integer):
                return self._rounded(operands[0], decimals)
            op = OPS["rint"]
        operands = tuple(self._in_loop(node, operand) for operand in operands)
        is_called = node.notes.called
        if op.name == "power":
            op, operands = self._simpler_power(op, operands, not is_called)
        if op.name == "clip" or node.notes.makes_array:
            operands = (self._as_array(operands[0]), *operands[1:])
        if op.name == "clip" or node.notes.makes_array:
            op, operands = self._without_idle_bounds(op, operands)
        if op.rule is compare:
            operands = self._with_infinities(operands)
        call_types = tuple(self.types[operand] for operand in operands)
        loops, result = op.types(call_types)
        converted = tuple(self.convert(o, loop) for o, loop in zip(operands, loops, strict=True))
        if op.name == "power":
            refuse_negative_exponent(loops[0], converted[1])
        kept = weak_of(result)
        if node.notes.branches and all(isinstance(kind, Weak) for kind in call_types[1:]):
            # A new node, not shared by the builder: numpy.where of the same values gives a result that is not weak.
            chosen = Apply(op, converted, (), result)
            self._branches[chosen] = (converted[0], *operands[1:])
            return self._typed(chosen, kept)
        of_numbers = node.op.dunder is not None or node.op.name in OF_NUMBERS
        numbers = of_numbers and result.kind != "bool" and all(isinstance(kind, Weak) for kind in call_types)
        if numbers and is_called:
            # A new node, not shared by the builder: the operator gives a weak result for the same numbers.
            return self._typed(Apply(op, converted, node.params, result), result)
        made = self.builder.apply(op, converted, node.params, result)
        return self._typed(made, kept if numbers else result)

    def _noted(self, node: Apply, operands: tuple[Node, ...]) -> Node | None:
        """Check what an op's notes ask. Return the result if they alone decide it; None if the op's row does."""
        notes = node.notes
        if notes.guards:
            return self._guarded(node, operands, notes.guards)
        if notes.dtype_only:
            return self._as(operands[1], concrete(self._resolved(operands[0])))
        if notes.deviation:
            check_mean(concrete(self._resolved(operands[0])), concrete(self._resolved(operands[1])))
        if notes.initial:
            check_initial(notes.initial, concrete(self._resolved(operands[0])), operands[1])
        if notes.mask:
            check_mask(notes.mask, self.types[operands[0]])
        # The method x.conj() returns a real array unchanged; the function numpy.conj would convert bools to int8.
        is_idle = notes.method and not getattr(self.types[operands[0]], "is_complex", True)
        return operands[0] if is_idle else None

    def _reduced(self, node: Reduce, value: Node) -> Node:
        """Return a reduction: elements in the dtype that they are combined in, the result in NumPy's result dtype."""
        loop, combined, result = node.op.types(concrete(value))
        return self._as(self._typed(self.builder.reduce(node, self._as(value, loop), combined), combined), result)

    def _rounded(self, value: Node, decimals: int) -> Node:
        """Return what NumPy makes of a number of decimals: scaled by a power of ten, rounded, and scaled back."""
        kind = concrete(self._resolved(value))
        if decimals and kind is BOOL:
            raise refuse("round", (kind,), "NumPy rounds no bool to decimals; use .astype(numpy.int8)")
        if kind.is_integer and decimals >= 0:
            return self._typed(self._resolved(value), kind)
        power = self.builder.constant(power_of_ten(abs(decimals)))
        self.types[power] = power.dtype
        there, back = ("multiply", "divide") if decimals > 0 else ("divide", "multiply")
        rows: Mapping[str, Op] = OPS
        if kind.is_complex:
            from ..ops.internal_rows import PARTS  # noqa: PLC0415 - few kernels round complex numbers

            rows = PARTS
        scaled = self._apply(Apply(rows[there], (value, power), (), None), (value, power))
        whole = self._apply(Apply(OPS["rint"], (scaled,), (), None), (scaled,))
        rounded = self._apply(Apply(rows[back], (whole, power), (), None), (whole, power))
        return self._typed(self.convert(rounded, kind), kind) if kind.is_integer else rounded

    def _guarded(self, node: Apply, operands: tuple[Node, ...], kinds: str) -> Node:
        """Return the selection, typed like its second operand; or only that operand, if its kind is none of `kinds`."""
        condition, value, other = operands
        kind = self.types[value]
        row = kind.default if isinstance(kind, Weak) else kind
        if kinds != "any" and row.kind not in kinds.split():
            return value
        given = (self.convert(condition, BOOL), self.convert(value, row), self._as(other, row))
        if not isinstance(kind, Weak):
            return self._typed(self.builder.apply(node.op, given, (), row), kind)
        made = Apply(node.op, given, (), row)
        self._branches[made] = (given[0], value, given[2])
        return self._typed(made, kind)

    def _as(self, node: Node, target: DType) -> Node:
        """Return a value converted to a dtype as `.astype` does, whatever it was."""
        if isinstance(node, Constant):
            return self.convert(self._resolved(node), target)
        return node if node.dtype is target else self._typed(self.builder.cast(node, target), target)

    def _as_array(self, node: Node) -> Node:
        """Return a Python number in the dtype of NumPy's array of it, as a new node: the number itself stays weak."""
        kind = self.types[node]
        if not isinstance(kind, Weak):
            return node
        return self._typed(self.builder.cast(self._resolved(node), kind.default), kind.default)

    def _in_loop(self, node: Apply, operand: Node) -> Node:
        """Return an operand in the dtype of the ufunc loop that NumPy would choose; unchanged if no loops are noted."""
        loops = node.notes.loops
        if not loops:
            return operand
        kind = self.types[operand]
        row = kind.default if isinstance(kind, Weak) else kind
        if loops == "math":
            return self.convert(operand, row if row.is_float else F64)
        given = row.np
        rows = [in_numpy_code(loop) for loop in loops]
        safe = (row for row in rows if np.can_cast(given, row.np, "safe"))
        taken = next((row for row in rows if row.np == given), None) or next(safe, None)
        if taken is None:
            name = node.notes.ufunc or node.op.name
            why = (
                "kernels do not take it of complex numbers; pass .real or .imag"
                if row.is_complex
                else "it has no loop for this dtype; use .astype(numpy.float64)"
            )
            raise refuse(name, (kind,), why)
        return self.convert(operand, taken)

    def _conversion(self, node: Apply, source: Node) -> Node:
        ((_, target),), notes = node.params, node.notes
        kind = self.types[source]
        if notes.meets and isinstance(kind, Weak) and _may_hold(target, kind):
            if isinstance(source, Constant):
                return self.convert(source, target)
            if target.is_integer and isinstance(source, Operand):
                self._narrow(source, kind, target)
        elif notes.casting:
            check_casting(kind, target, notes.casting)
        if notes.weak:
            # A new node, not shared by the builder: `.astype` of the same value gives a result that is not weak.
            weak = Apply(node.op, (self._resolved(source),), node.params, target)
            return self._typed(weak, WEAK_FLOAT if target.is_float else WEAK_INT)
        if isinstance(source, Constant) or not isinstance(self.types[source], Weak):
            source = self._resolved(source)
            if source.dtype is target:
                return source
        # Make a new node even if the dtype stays: the weak value itself must stay weak for its other users.
        return self._typed(self.builder.apply(node.op, (source,), node.params, target), target)

    def _simpler_power(self, op: Op, operands: tuple[Node, ...], is_operator: bool) -> tuple[Op, tuple[Node, ...]]:
        """Return the op that NumPy uses for some Python numbers as exponents: square, sqrt, reciprocal; exp2 for 2**x.

        The power stays where one of these would give another dtype or another value.
        """
        base, exponent = operands
        kind, by = self.types[base], self.types[exponent]
        is_float = isinstance(kind, DType) and kind.is_inexact
        if WEAK_COMPLEX in (exponent.dtype, base.dtype):
            return op, operands
        # A float exponent turns an integer base into a float.
        keeps = exponent.dtype is WEAK_INT or is_float or kind is WEAK_FLOAT
        is_bool = isinstance(kind, DType) and kind.kind == "bool"
        if is_bool and is_operator and isinstance(exponent, Operand) and by in (WEAK_INT, WEAK_UINT):
            why = "NumPy gives an int8 for 2, else an int64; convert the bools by .astype(numpy.int8) or numpy.int64"
            raise refuse(op.name, (BOOL, by), why)
        if is_bool and is_operator and self._is_weak(exponent, 2) and keeps and not is_scalar(base):
            why = "NumPy gives an int8 for arrays, and an int64 for its scalars; convert by .astype(numpy.int8)"
            raise refuse(op.name, (BOOL, by), why)
        # NumPy's shorter form is for arrays; what a reduction of all dims gives is a scalar.
        if self._is_weak(exponent, 2) and keeps and not is_bool:
            return OPS["square"], (base,)
        if is_float and self._is_weak(exponent, 0.5):
            return OPS["sqrt"], (base,)
        if is_float and self._is_weak(exponent, -1):
            return OPS["reciprocal"], (base,)
        if self._is_weak(base, 2) and isinstance(by, DType) and by.is_inexact:
            return OPS["exp2"], (exponent,)
        return op, operands

    @staticmethod
    def _is_weak(node: Node, value: float) -> bool:
        return isinstance(node, Constant) and isinstance(node.dtype, Weak) and node.value == value

    def _without_idle_bounds(self, op: Op, operands: tuple[Node, ...]) -> tuple[Op, tuple[Node, ...]]:
        """Leave out Python ints at or beyond the ends of the first operand's dtype, as numpy.clip does.

        They bound nothing then, but where the other bound is of a wider dtype: its values are not limited, either.
        """
        value, *bounds = operands
        kind = self.types[value]
        if not isinstance(kind, DType) or not kind.is_integer:
            return op, operands
        low = None if op.name in ("minimum", "positive") else bounds[0]
        high = None if op.name in ("maximum", "positive") else bounds[-1]
        has_low = low is not None and not (is_weak_int(low) and low.value <= kind.min)
        has_high = high is not None and not (is_weak_int(high) and high.value >= kind.max)
        if has_low and has_high:
            return op, operands
        if has_low:
            return OPS["maximum"], (value, bounds[0])
        return (OPS["minimum"], (value, bounds[-1])) if has_high else (OPS["positive"], (value,))

    def _with_infinities(self, operands: tuple[Node, ...]) -> tuple[Node, ...]:
        """Replace Python ints beyond 64 bits beside integers by infinities, which compare with these as they do."""
        kinds = [self.types[operand] for operand in operands]
        if WEAK_HUGE not in kinds or any(kind is WEAK_FLOAT or getattr(kind, "is_float", False) for kind in kinds):
            return operands
        replaced = [
            self._weak(math.copysign(math.inf, operand.value))
            if isinstance(operand, Constant) and self.types[operand] is WEAK_HUGE
            else operand
            for operand in operands
        ]
        return tuple(replaced) if len(set(kinds)) > 1 else operands

    def _weak(self, value: float) -> Constant:
        made = self.builder.constant(value)
        self.types[made] = made.dtype
        return made

    def convert(self, node: Node, target: DType) -> Node:
        """Return the node in a dtype, checking that a Python int fits it."""
        kind = self.types[node]
        if isinstance(node, Constant):
            return self._typed(self.builder.keep(converted(node, target)), target)
        if isinstance(kind, Weak) and node in self._branches:
            known = self._converted.get((node, target))
            return self._convert_branches(node, target) if known is None else known
        if isinstance(kind, Weak) and kind in (WEAK_INT, WEAK_UINT) and target.is_integer:
            self._narrow(node, kind, target)
        if node.dtype is target:
            return node
        return self._typed(self.builder.cast(node, target), target)

    def _convert_branches(self, node: Node, target: DType) -> Node:
        """Return a weak selection in a dtype: each of its values is converted, as it would be without the selection."""
        made = self._converted
        stack = [node]
        while stack:
            one = stack[-1]
            condition, *values = self._branches[one]
            below = [value for value in values if value in self._branches and (value, target) not in made]
            stack += below
            if below:
                continue
            stack.pop()
            given = [
                made[value, target] if value in self._branches else self.convert(value, target) for value in values
            ]
            assert isinstance(one, Apply)
            made[one, target] = self._typed(self.builder.apply(one.op, (condition, *given), (), target), target)
        return made[node, target]

    def _narrow(self, node: Node, kind: Weak, target: DType) -> None:
        fits = target.min <= kind.default.min and kind.default.max <= target.max
        if isinstance(node, Operand):
            limits = self.limits[node.index]
            assert limits is not None
            self.limits[node.index] = (max(limits[0], target.min), min(limits[1], target.max))
        elif not fits:
            raise DTypeError(
                f"a value computed from Python ints only meets {target}, and may not fit it; convert one of them, "
                f"as in {target.in_python}(...)"
            )
