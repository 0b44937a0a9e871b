"""Builds nodes: one for each distinct value, with constants folded as Python or NumPy would.

In: ops applied to nodes and scalars.  Out: shared nodes.

    builder.apply(OPS["add"], (builder.constant(1), builder.constant(2)))  ->  Constant(3, int)
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from bcastgen.core.subclasses import own_meaning

from ..core.dtypes import (
    BF16,
    BOOL,
    C128,
    F32,
    F64,
    I32,
    WEAK_COMPLEX,
    WEAK_FLOAT,
    WEAK_HUGE,
    WEAK_INT,
    WEAK_UINT,
    DType,
    Weak,
    dtype,
)
from ..core.errors import DomainError, DTypeError, RangeError, TraceError
from ..ops.row import Op
from ..ops.table import CAST
from .nodes import (
    Apply,
    Constant,
    Expression,
    Node,
    Operand,
    Params,
    Place,
    Reduce,
    Remap,
    Sizing,
    TypeAssertion,
    topological,
)

if TYPE_CHECKING:
    from ..shape.types.tensor_type import TensorType
    from .views import View

__all__ = ["Builder", "constant_from"]

# Python evaluates an operator between its own scalars, and the result stays weak. Python's ints have no bounds, so text
# from outside could ask for a huge one: refuse more bits than this.
_MAX_FOLDED_BITS = 4096
# From here on a Python int is no float, which Python says, too.
_FLOAT_ENDS = 2**1024 - 2**970
_CASTINGS = ("no", "equiv", "safe", "same_kind", "unsafe")

# For bools numpy.power(x, 2) gives an int64, but x**2 is a square and gives an int8.
_NO_SQUARE: Params = (("square", False),)


def constant_from(value: object) -> Constant | None:
    """Return the constant for a Python scalar (weak), a NumPy scalar or 0-d array (typed), else None.

    Raises
    ------
    DTypeError
        If a NumPy scalar's dtype is not supported, or a 0-d array is more than its number, as a masked one is.
    RangeError
        If a Python int is beyond every float.
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
            # For NumPy a value of a subclass, such as an enum's member, is not weak.
            return Constant(float(value), WEAK_FLOAT if type(value) is float else F64)
        case complex():
            return Constant(complex(value), WEAK_COMPLEX if type(value) is complex else C128)
        case int():
            weak = _weak_int(int(value))
            return Constant(int(value), weak if type(value) is int else weak.default)
    return None


def _weak_int(value: int) -> Weak:
    for weak in (WEAK_INT, WEAK_UINT):
        if weak.default.min <= value <= weak.default.max:
            return weak
    if abs(value) >= _FLOAT_ENDS:
        raise RangeError(f"Python integer {_shorten(value)} is out of bounds for every dtype; use numpy.inf")
    return WEAK_HUGE


def _shorten(value: int) -> str:
    return str(value) if value.bit_length() < 256 else f"of {value.bit_length()} bits"


class Builder:
    """Builds the nodes of one expression; equal values share one node."""

    def __init__(self, names: tuple[str, ...] = ()) -> None:
        self._made: dict[object, Node] = {}
        self._defined: dict[str, Op] = {}
        self._type_assertions: list[TypeAssertion] = []
        self._sizings: dict[tuple[str, tuple[Node, ...]], Sizing] = {}
        # Declared types, for stand-ins that are asked for what these say.
        self.types: dict[Node, TensorType] = {}
        # Says where in the user's source an op is applied, and what it has said.
        self.place: Callable[[], Place] | None = None
        self._places: dict[Node, Place] = {}
        self.operands: list[Operand] = []
        for name in names:
            self.operand(name)

    @property
    def size(self) -> int:
        """How many nodes were made."""
        return len(self._made)

    def operand(self, name: str, type_: DType | Weak | None = None) -> Operand:
        """Add an operand after the others."""
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
        # Parameters beyond the row's own are notes for typing, which has to decide on them first.
        if len(constants) == len(operands) and len(params) == len(op.params):
            folded = _fold(op, constants, params) if op.definition is None else _fold_defined(op, constants, dtype)
            if folded is not None:
                return self.keep(folded)
        if op.definition is not None and op.definition.shape is not None:
            return self._sized(op, operands)
        if op.definition is not None:
            self._one_definition(op)
        if dtype is not None:
            params += op.identity(tuple(node.dtype for node in operands if isinstance(node.dtype, DType)), dtype)
        key = (op.name, operands, params, dtype)
        node = self._made.setdefault(key, Apply(op, operands, params, dtype))
        if self.place is not None and node not in self._places:
            self._places[node] = self.place()
        return node

    def call(self, op: Op, operands: tuple[Node, ...]) -> Node:
        """Return the node of an op that is called by name; for NumPy power(x, 2) differs from x**2."""
        if op.dunder != "pow" or all(isinstance(node, Constant) for node in operands):
            return self.apply(op, operands)
        other = isinstance(operands[-1], Constant) and operands[-1].value != 2
        return self.apply(op, operands, () if other else _NO_SQUARE)

    def remap(self, node: Node, view: View, like: Operand | None = None, dtype: DType | Weak | None = None) -> Node:
        """Return the node of a value read through another indexing map."""
        from .views import check_view  # noqa: PLC0415 - most kernels have no views

        check_view(view)
        key = (view, node, like, dtype)
        return self._made.setdefault(key, Remap(node, view, like, dtype))

    def reduce(self, like: Reduce, node: Node, dtype: DType | None = None) -> Node:
        """Return the node of a value reduced as `like` is."""
        key = ("reduce", like.op.name, node, like.settings, dtype)
        made = Reduce(like.op, node, like.axes, like.keepdims, like.initial, like.ddof, dtype)
        return self._made.setdefault(key, made)

    def _sized(self, op: Op, operands: tuple[Node, ...]) -> Node:
        """Return the node of an op with a shape function: the op, element by element, of views that are its maps."""
        from ..ops.maps import plain_op, read_maps, value_types  # noqa: PLC0415 - most kernels have no such op
        from .views import Broadcast, Collapse, dims_of  # noqa: PLC0415 - most kernels have no views

        assert op.definition is not None and op.definition.maps is not None
        known = self._sizings.get((op.name, operands))
        if known is not None and known.op is op:
            return known.result
        rank, places = read_maps(op.name, op.definition.maps, op.arity)
        count = sum(one.op.name == op.name for one in self._sizings.values())
        stem = f"{op.name}_{count}" if count else op.name
        extents = tuple(f"{stem}_d{at}" for at in range(rank))
        views = []
        for name, node, own, type_ in zip(
            op.definition.operands, operands, places, value_types(op.definition.maps), strict=True
        ):
            if type_ is not None:
                _check_value(op, name, node)
                continue
            dropped = tuple(at for at, place in enumerate(own) if place.at is None)
            kept = tuple(place.at for place in own if place.at is not None)
            whole = self.remap(node, Collapse(dropped, checked=True)) if dropped else node
            views.append(self.remap(whole, Broadcast(kept, dims_of(extents))))
        result = self.apply(plain_op(op), tuple(views))
        self._sizings[op.name, operands] = Sizing(op, operands, extents, result)
        return result

    def _one_definition(self, op: Op) -> None:
        if self._defined.setdefault(op.name, op) is not op:
            raise TraceError(
                f"{op.name} was replaced after a kernel that this expression uses was traced, and cannot mean both; "
                "make that kernel again, or give the new op another name"
            )

    def convert(self, node: Node, target: DType, op: Op = CAST, casting: str = "unsafe", notes: Params = ()) -> Node:
        """Return the node of a conversion that the user wrote; typing checks it by NumPy's rule `casting`.

        Other `notes` for typing: ``weak``, the value is a Python number; ``meets``, a Python number has to fit.
        """
        if casting not in _CASTINGS:
            raise TraceError(f"casting={casting!r} is none of {', '.join(_CASTINGS)}")
        note = () if casting == "unsafe" else (("casting", casting),)
        return self.apply(op, (node,), (("dtype", target), *note, *notes))

    def cast(self, node: Node, target: DType) -> Node:
        """Return the node converted to a dtype."""
        return self.apply(CAST, (node,), (("dtype", target),), target)

    def inline(self, expression: Expression, operands: tuple[Node, ...]) -> tuple[Node, ...]:
        """Copy another expression's results and type assertions, with these nodes in place of its operands."""
        here: dict[Node, Node] = dict(zip(expression.operands, operands, strict=True))
        sized = {one.result: one for one in expression.sizings}
        for node in topological(expression.roots):
            if node in sized:
                # A constant that only a shape function reads is reached from no result.
                given = (
                    self.keep(child) if isinstance(child, Constant) else here[child] for child in sized[node].operands
                )
                here[node] = self.apply(sized[node].op, tuple(given))
                continue
            match node:
                case Constant():
                    here[node] = self.keep(node)
                case Apply():
                    here[node] = self.apply(node.op, tuple(here[child] for child in node.operands), node.params)
                case Reduce():
                    here[node] = self.reduce(node, here[node.operand])
                case Remap(like=like):
                    here[node] = self.remap(
                        here[node.operand], node.view, None if like is None else _shaped(here[like])
                    )
        self._type_assertions += (
            TypeAssertion(here[one.node], one.name, one.type) for one in expression.type_assertions
        )
        return tuple(here[node] for node in expression.results)

    def finish(
        self,
        results: tuple[Node, ...],
        free_extents: tuple[int, ...] = (),
        type_assertions: tuple[TypeAssertion, ...] = (),
    ) -> Expression:
        """Return the expression of these results, with these type assertions and those that were copied in."""
        claims = (*self._type_assertions, *type_assertions)
        sizings = tuple(self._sizings.values())
        if sizings:
            used = set(topological((*results, *(claim.node for claim in claims))))
            sizings = tuple(one for one in sizings if one.result in used)
        return Expression(tuple(self.operands), results, free_extents, claims, sizings, self._places)


def _check_value(op: Op, name: str, node: Node) -> None:
    """Refuse values of an op's shape function that are not known before anything runs, or are no integers."""
    if isinstance(node, (Apply, Remap)):
        raise TraceError(
            f"operand '{name}' of {op.name} decides the extents of its result, and is read before anything is "
            "computed; pass an operand of the kernel as it is, or a number, and compute it outside"
        )
    if isinstance(node, Constant) and (isinstance(node.value, bool) or not isinstance(node.value, int)):
        raise TraceError(f"operand '{name}' of {op.name} is {node.value!r}, expected an integer: it decides extents")


def _shaped(node: Node) -> Operand:
    """Return a node whose shape another value takes; only an operand's extents are known before anything runs."""
    if isinstance(node, Operand):
        return node
    raise TraceError("a shape is taken from an operand of the kernel, not from a computed value; pass that operand")


def _fold(op: Op, operands: list[Constant], params: Params) -> Constant:
    if op.dunder is not None and all(isinstance(node.dtype, Weak) for node in operands):
        return _fold_python(op, [node.value for node in operands])
    if any(_is_added(dtype) for dtype in (*(node.dtype for node in operands), *dict(params).values())):
        return _fold_added(op, operands, params)
    values = [n.dtype.np.type(n.value) if isinstance(n.dtype, DType) else n.value for n in operands]
    return _evaluated(op, values, params)


def _is_added(dtype: object) -> bool:
    return isinstance(dtype, DType) and dtype.is_added


def _fold_added(op: Op, operands: list[Constant], params: Params) -> Constant:
    """Fold in f32 and round the result once, as C does; the package of these dtypes may not be installed."""
    for target in filter(_is_added, dict(params).values()):
        (given,) = operands
        if target.is_float:
            return Constant(target.nearest(given.value), target)
        if isinstance(given.value, int):
            return Constant(target.wrapped(given.value), target)
        # Floats saturate as i32, of which the low bits count; those of TOSA as what they become.
        whole = int(_evaluated(op, [given.value], ((params[0][0], I32),)).value)
        value = target.wrapped(whole) if op is CAST else min(max(whole, target.min), target.max)
        return Constant(value, target)
    if params:
        known = operands[0].dtype
        wide = F32 if isinstance(known, DType) and known.is_float else I32
        return _evaluated(op, [wide.np.type(operands[0].value)], params)
    loops, result = op.types(tuple(node.dtype for node in operands if node.dtype is not None))
    values = [
        loop.computed_in.np.type(loop.nearest(node.value) if loop.is_float16 else node.value)
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
    """Fold an op that a user defined; return None to leave it to its C, as when its reference raises.

    Its result depends on its dtype rule, so it is folded only once its result is typed.
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
            return Constant(result.nearest(number) if result.is_float16 else result.np.type(value).item(), result)
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
