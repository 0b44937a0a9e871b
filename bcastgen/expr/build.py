"""Making nodes: each distinct value once, constants folded as Python or NumPy would.

In: ops applied to nodes and scalars.  Out: shared nodes.

    builder.apply(OPS["add"], (builder.constant(1), builder.constant(2)))  ->  Constant(3, int)
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from bcastgen.core.subclasses import own_meaning

from ..core.dtypes import BF16, BOOL, F32, F64, WEAK_FLOAT, WEAK_INT, WEAK_UINT, DType, Weak, dtype
from ..core.errors import DomainError, DTypeError, RangeError, TraceError
from ..ops.row import Op
from ..ops.table import CAST
from .nodes import Apply, Claim, Constant, Expression, Node, Operand, Params, Remap, topological
from .views import check_view

if TYPE_CHECKING:
    from .views import View

__all__ = ["Builder", "constant_from"]

# Python evaluates an operator between its own scalars, and the result stays weak. Its ints have no bounds: refuse
# growth that only a denial of service would ask for.
_MAX_FOLDED_BITS = 4096
_CASTINGS = ("no", "equiv", "safe", "same_kind", "unsafe")

# numpy.power(x, 2) of bools is an int64, and x**2, which is a square, an int8.
_NO_SQUARE: Params = (("square", False),)


def constant_from(value: object) -> Constant | None:
    """Return the constant for a Python scalar (weak), a NumPy scalar or 0-d array (typed), else None.

    Raises
    ------
    DTypeError
        For a NumPy scalar of a dtype that is not supported, and a 0-d array that is more than its number: a mask.
    RangeError
        For a Python int beyond 64 bits.
    """
    if isinstance(value, np.ndarray) and (own := own_meaning(type(value))) is not None:
        raise DTypeError(f"a {type(value).__name__} gives {own}; write numpy.asarray(x) if plain numbers are meant")
    if isinstance(value, np.generic) or (isinstance(value, np.ndarray) and value.ndim == 0):
        kind = dtype(value.dtype)
        return Constant(float(value) if kind.is_float else value.item(), kind)
    match value:
        case bool():
            return Constant(value, BOOL)
        case float():
            # What is of a subclass, as an enum's member, is not weak for NumPy.
            return Constant(float(value), WEAK_FLOAT if type(value) is float else F64)
        case int():
            weak = _weak_int(int(value))
            return Constant(int(value), weak if type(value) is int else weak.default)
    return None


def _weak_int(value: int) -> Weak:
    for weak in (WEAK_INT, WEAK_UINT):
        if weak.default.min <= value <= weak.default.max:
            return weak
    raise RangeError(f"Python integer {_shorten(value)} is out of bounds for i64 and u64; use a float")


def _shorten(value: int) -> str:
    return str(value) if value.bit_length() < 256 else f"of {value.bit_length()} bits"


class Builder:
    """Makes the nodes of one expression; equal values are one node."""

    def __init__(self, names: tuple[str, ...] = ()) -> None:
        self._made: dict[object, Node] = {}
        self._defined: dict[str, Op] = {}
        self._claims: list[Claim] = []
        self.operands: list[Operand] = []
        for name in names:
            self.operand(name)

    def operand(self, name: str, type_: DType | Weak | None = None) -> Operand:
        """Add an operand after those there are."""
        self.operands.append(Operand(len(self.operands), name, type_))
        return self.operands[-1]

    def constant(self, value: object) -> Constant:
        """Return the node of a scalar."""
        made = constant_from(value)
        if made is None:
            raise DTypeError(f"{type(value).__name__} is not a number an expression can hold")
        return self.keep(made)

    def keep(self, node: Constant) -> Constant:
        """Return the one node equal to a constant; 0.0 and -0.0 differ, as do 1 and True."""
        key = (type(node.value), repr(node.value), node.dtype)
        kept = self._made.setdefault(key, node)
        assert isinstance(kept, Constant)
        return kept

    def apply(self, op: Op, operands: tuple[Node, ...], params: Params = (), dtype: DType | None = None) -> Node:
        """Return the node of an op applied to nodes, folded where every operand is a constant."""
        if len(operands) != op.arity:
            raise DTypeError(f"{op.name} takes {op.arity} operands, got {len(operands)}")
        constants = [node for node in operands if isinstance(node, Constant)]
        # What is left to typing beside the row's own parameters is decided there first.
        if len(constants) == len(operands) and len(params) == len(op.params):
            folded = _fold(op, constants, params) if op.definition is None else _fold_defined(op, constants, dtype)
            if folded is not None:
                return self.keep(folded)
        if op.definition is not None:
            self._one_definition(op)
        if dtype is not None:
            params += op.identity(tuple(node.dtype for node in operands if isinstance(node.dtype, DType)), dtype)
        key = (op.name, operands, params, dtype)
        return self._made.setdefault(key, Apply(op, operands, params, dtype))

    def call(self, op: Op, operands: tuple[Node, ...]) -> Node:
        """Return the node of an op that is called by its name, where NumPy has its operator mean something else."""
        if op.dunder != "pow" or all(isinstance(node, Constant) for node in operands):
            return self.apply(op, operands)
        other = isinstance(operands[-1], Constant) and operands[-1].value != 2
        return self.apply(op, operands, () if other else _NO_SQUARE)

    def remap(self, node: Node, view: View, like: Operand | None = None, dtype: DType | Weak | None = None) -> Node:
        """Return the node of a value seen through another indexing map."""
        check_view(view)
        key = (view, node, like, dtype)
        return self._made.setdefault(key, Remap(node, view, like, dtype))

    def _one_definition(self, op: Op) -> None:
        if op.definition is not None and op.definition.shape is not None:
            raise TraceError(f"{op.name} has a shape function of its own; call it outside of the kernel")
        if self._defined.setdefault(op.name, op) is not op:
            raise TraceError(
                f"{op.name} was replaced after a kernel that this expression uses was traced, and cannot mean both; "
                "make that kernel again, or give the new op another name"
            )

    def convert(self, node: Node, target: DType, op: Op = CAST, casting: str = "unsafe") -> Node:
        """Return the node of a conversion that is written, which typing checks by NumPy's rule for it."""
        if casting not in _CASTINGS:
            raise TraceError(f"casting={casting!r} is none of {', '.join(_CASTINGS)}")
        note = () if casting == "unsafe" else (("casting", casting),)
        return self.apply(op, (node,), (("dtype", target), *note))

    def cast(self, node: Node, target: DType) -> Node:
        """Return the node converted to a dtype."""
        return self.apply(CAST, (node,), (("dtype", target),), target)

    def inline(self, expression: Expression, operands: tuple[Node, ...]) -> tuple[Node, ...]:
        """Copy another expression's results, and its claims, with these nodes in the place of its operands."""
        here: dict[Node, Node] = dict(zip(expression.operands, operands, strict=True))
        for node in topological(expression.roots):
            match node:
                case Constant():
                    here[node] = self.keep(node)
                case Apply():
                    here[node] = self.apply(node.op, tuple(here[child] for child in node.operands), node.params)
                case Remap(like=like):
                    here[node] = self.remap(
                        here[node.operand], node.view, None if like is None else _shaped(here[like])
                    )
        self._claims += (Claim(here[claim.node], claim.name, claim.type) for claim in expression.claims)
        return tuple(here[node] for node in expression.results)

    def finish(
        self, results: tuple[Node, ...], slots: tuple[int, ...] = (), claims: tuple[Claim, ...] = ()
    ) -> Expression:
        """Return the expression of these results, with these claims and those of what was copied in."""
        return Expression(tuple(self.operands), results, slots, (*self._claims, *claims))


def _shaped(node: Node) -> Operand:
    """Return a node whose shape is taken; it has to be an operand, whose extents are there before anything runs."""
    if isinstance(node, Operand):
        return node
    raise TraceError("a shape is taken from an operand of the kernel, not from a computed value; pass that operand")


def _fold(op: Op, operands: list[Constant], params: Params) -> Constant:
    if op.dunder is not None and all(isinstance(node.dtype, Weak) for node in operands):
        return _fold_python(op, [node.value for node in operands])
    if any(node.dtype is BF16 for node in operands) or BF16 in dict(params).values():
        return _fold_bf16(op, operands, params)
    values = [n.dtype.np.type(n.value) if isinstance(n.dtype, DType) else n.value for n in operands]
    return _evaluated(op, values, params)


def _fold_bf16(op: Op, operands: list[Constant], params: Params) -> Constant:
    """Fold without NumPy's bf16, which may not be there: in f32, with the result rounded once, as C computes."""
    if BF16 in dict(params).values():
        return Constant(BF16.nearest(operands[0].value), BF16)
    if params:
        return _evaluated(op, [F32.np.type(operands[0].value)], params)
    loops, result = op.types(tuple(node.dtype for node in operands if node.dtype is not None))
    values = [
        loop.computed_in.np.type(loop.nearest(node.value) if loop.is_half else node.value)
        for node, loop in zip(operands, loops, strict=True)
    ]
    made = _evaluated(op, values, params)
    return Constant(BF16.nearest(made.value), BF16) if result is BF16 else made


def _evaluated(op: Op, values: list[Any], params: Params) -> Constant:
    try:
        value = op.evaluate(*values, *(value for _, value in params))
    except ValueError as error:
        raise DomainError(f"{op.name}: {error}") from None
    except OverflowError as error:
        raise RangeError(f"{op.name}: {error}") from None
    except TypeError as error:
        raise DTypeError(f"{op.name}: {error}") from None
    made = constant_from(np.asarray(value))
    assert made is not None
    return made


def _fold_defined(op: Op, operands: list[Constant], result: DType | None) -> Constant | None:
    """Fold an op that a user defined; None leaves it to its C, as where its reference raises.

    What it gives depends on its dtype rule, so it is folded where it is typed only.
    """
    if op.reference is None or result is None:
        return None
    try:
        value = op.evaluate(*(n.dtype.computed_in.np.type(n.value) for n in operands if isinstance(n.dtype, DType)))
    except (ArithmeticError, ValueError):
        return None
    if np.ndim(value) != 0:
        raise DTypeError(f"{op.name}: its reference gives an array of shape {np.shape(value)} for scalars; return one")
    try:
        with np.errstate(all="ignore"):
            number = np.asarray(value).item()
            return Constant(result.nearest(number) if result.is_half else result.np.type(value).item(), result)
    except OverflowError:
        return None
    except (TypeError, ValueError):
        raise DTypeError(f"{op.name}: its reference gives {value!r}, which is no {result}") from None


def _fold_python(op: Op, values: list[Any]) -> Constant:
    function: Callable[..., Any] = getattr(operator, f"__{op.dunder}__")
    if op.dunder in ("pow", "lshift") and all(isinstance(value, int) for value in values):
        growth = values[1] if op.dunder == "lshift" else values[1] * max(values[0].bit_length(), 1)
        if growth > _MAX_FOLDED_BITS:
            raise RangeError(f"{op.name} of the Python integers {values} is out of bounds for i64 and u64; use a float")
    try:
        value = function(*values)
    except (ZeroDivisionError, ValueError) as error:
        raise DomainError(f"{op.name} of the constants {values}: {error}") from None
    except OverflowError as error:
        raise RangeError(f"{op.name} of the constants {values}: {error}") from None
    except TypeError as error:
        raise DTypeError(f"{op.name} of the constants {values}: {error}") from None
    made = constant_from(value)
    if made is None:
        raise DTypeError(f"{op.name} of the constants {values} is {type(value).__name__}, which is not supported")
    return made
