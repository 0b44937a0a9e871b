"""Builds nodes: one for each distinct value, with constants folded as Python or NumPy would.

In: ops applied to nodes and scalars.  Out: shared nodes.

    builder.apply(OPS["add"], (builder.constant(1), builder.constant(2)))  ->  Constant(3, int)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ..core.dtypes import (
    DType,
    Weak,
)
from ..core.errors import BcastgenError, DTypeError, TraceError
from ..core.forks import undivided
from ..core.source_lines import SourceLine
from ..ops.dtype_rules import compare
from ..ops.row import Op
from ..ops.table import cast_row
from .constants import CALLED, OF_NUMBERS, constant_from, may_be_weak, with_dtype
from .nodes import (
    NO_NOTES,
    Apply,
    Constant,
    Expression,
    Node,
    Notes,
    Operand,
    Params,
    Reduce,
    Remap,
    Sizing,
    TypeAssertion,
    topological,
)

if TYPE_CHECKING:
    from ..shape.types.tensor_type import TensorType
    from .views import View

__all__ = ["CASTINGS", "Builder"]

# NumPy's rules of casting, each allows what those before it allow.
CASTINGS = ("no", "equiv", "safe", "same_kind", "unsafe")


class Builder:
    """Builds the nodes of one expression; equal values share one node."""

    def __init__(self, names: tuple[str, ...] = ()) -> None:
        self._nodes: dict[object, Node] = {}
        self._defined: dict[str, Op] = {}
        self._type_assertions: list[TypeAssertion] = []
        self._sizings: dict[tuple[str, tuple[Node, ...]], Sizing] = {}
        # The operands' declared types, from which stand-ins know their shape and dtype.
        self.types: dict[Node, TensorType] = {}
        # A function that returns the place in the user's source where an op is applied; and the place of each node.
        self.line: Callable[[], SourceLine] | None = None
        self._lines: dict[Node, SourceLine] = {}
        # Errors of stand-ins, which the function that is being traced may have caught.
        self.refused: list[BcastgenError] = []
        self.operands: list[Operand] = []
        for name in names:
            self.operand(name)

    @property
    def size(self) -> int:
        """How many nodes were made."""
        return len(self._nodes)

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
        kept = self._nodes.setdefault(key, node)
        assert isinstance(kept, Constant)
        return kept

    def apply(
        self,
        op: Op,
        operands: tuple[Node, ...],
        params: Params = (),
        dtype: DType | None = None,
        notes: Notes = NO_NOTES,
    ) -> Node:
        """Return the node of an op applied to nodes, folded where every operand is a constant."""
        if len(operands) != op.arity:
            raise DTypeError(f"{op.name} takes {op.arity} operand{'s' * (op.arity != 1)}, got {len(operands)}")
        constants = [node for node in operands if isinstance(node, Constant)]
        # Typing has to decide on notes first.
        if len(constants) == len(operands) and notes is NO_NOTES and len(params) == len(op.params):
            with undivided:
                from .folding import fold, fold_defined  # noqa: PLC0415 - most functions have no op of constants only

            folded = fold(op, constants, params) if op.definition is None else fold_defined(op, constants, dtype)
            if folded is not None:
                return self.keep(folded)
        if op.definition is not None and op.definition.shape is not None:
            return self._sized(op, operands)
        if op.definition is not None:
            self._one_definition(op)
        if dtype is not None:
            params += op.identity(tuple(node.dtype for node in operands if isinstance(node.dtype, DType)), dtype)
        key = (op.name, operands, params, dtype, notes)
        node = self._nodes.setdefault(key, Apply(op, operands, params, dtype, notes))
        if self.line is not None and node not in self._lines:
            self._lines[node] = self.line()
        return node

    def call(self, op: Op, operands: tuple[Node, ...]) -> Node:
        """Return the node of an op called by name, which for NumPy may differ from its operator."""
        if (op.dunder is None and op.name not in OF_NUMBERS) or op.rule is compare:
            return self.apply(op, operands)
        if all(isinstance(node, Constant) for node in operands):
            return self.apply(op, tuple(map(with_dtype, operands)))
        squares = op.dunder == "pow" and not (isinstance(operands[-1], Constant) and operands[-1].value != 2)
        return self.apply(op, operands, notes=CALLED if squares or all(map(may_be_weak, operands)) else NO_NOTES)

    def remap(self, node: Node, view: View, like: Node | None = None, dtype: DType | Weak | None = None) -> Node:
        """Return the node of a value read through another indexing map."""
        from .views import check_view  # noqa: PLC0415 - most kernels have no views

        check_view(view)
        key = (view, node, like, dtype)
        return self._nodes.setdefault(key, Remap(node, view, like, dtype))

    def reduce(self, like: Reduce, node: Node, dtype: DType | None = None) -> Node:
        """Return the node of a value reduced as `like` is."""
        key = ("reduce", like.op.name, node, like.settings, dtype)
        made = Reduce(like.op, node, like.axes, like.keepdims, like.initial, like.ddof, dtype)
        return self._nodes.setdefault(key, made)

    def _sized(self, op: Op, operands: tuple[Node, ...]) -> Node:
        """Return the node of an op with a shape function: the op, element by element, of views made from its maps."""
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

    def convert(
        self, node: Node, target: DType, op: Op | None = None, casting: str = "unsafe", meets: bool = False
    ) -> Node:
        """Return the node of a conversion that the user wrote, as NumPy's unless an op for it is given.

        Typing checks it by NumPy's rule `casting`.

        With `meets`, a Python number is not checked by that rule: it has to fit the target.
        """
        if casting not in CASTINGS:
            raise TraceError(f"casting={casting!r} is none of {', '.join(CASTINGS)}")
        is_checked = meets or casting != "unsafe"
        notes = Notes(casting="" if casting == "unsafe" else casting, meets=meets) if is_checked else NO_NOTES
        return self.apply(op or cast_row(), (node,), (("dtype", target),), notes=notes)

    def cast(self, node: Node, target: DType) -> Node:
        """Return the node converted to a dtype."""
        return self.apply(cast_row(), (node,), (("dtype", target),), target)

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
                    here[node] = self.apply(
                        node.op, tuple(here[child] for child in node.operands), node.params, notes=node.notes
                    )
                case Reduce():
                    here[node] = self.reduce(node, here[node.operand])
                case Remap(like=like):
                    here[node] = self.remap(here[node.operand], node.view, None if like is None else here[like])
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
        return Expression(tuple(self.operands), results, free_extents, claims, sizings, self._lines)


def _check_value(op: Op, name: str, node: Node) -> None:
    """Refuse values of an op's shape function that are not known before anything runs, or are no integers."""
    if isinstance(node, (Apply, Remap)):
        raise TraceError(
            f"operand '{name}' of {op.name} decides the extents of its result, and is read before anything is "
            "computed; pass an operand of the kernel as it is, or a number, and compute it outside"
        )
    if isinstance(node, Constant) and (isinstance(node.value, bool) or not isinstance(node.value, int)):
        raise TraceError(f"operand '{name}' of {op.name} is {node.value!r}, expected an integer: it decides extents")
