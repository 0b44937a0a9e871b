"""The shape functions of the ops in an expression, as one program: from the operands' shapes to the free extents.

In: an expression with ops that have shape functions, and its operands' ranks.  Out: a :class:`Program`, from shapes
and, for operands that decide extents, from values.

    outer(a + b, c) * 2  ->  %0 = shape.broadcast %a, %b; %1 = shape.concat %0, %c; ... assuming { %1 }

Broadcasting and views give the shapes of intermediate values. The program checks each extent of an op's operand against
the dim of the result that its map names; a dim mapped as `d|0` may also be 1.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ..core.dtypes import dtype
from ..core.errors import BroadcastError
from ..expr.nodes import (
    Apply,
    Constant,
    Expression,
    Node,
    Operand,
    Reduce,
    Remap,
    Sizing,
    children,
    has_views,
    topological,
)
from ..loops.lowering.uses import ranks_of, resolve
from ..ops.maps import read_maps, value_types
from ..ops.row import Op
from ..shape.dialect.program import Program
from ..shape.dialect.splice import spliced
from ..shape.dialect.trace import op, program
from ..shape.types.dim import DYNAMIC, Dim
from ..shape.types.tensor_type import TensorType
from .map_checks import Asked, above_bound, asked_of, other_rank
from .value_operands import ValueOperand, role_of, value_operands, values_of

__all__ = ["own_operands", "ranks_by_maps", "shape_of_values", "size_program"]


def size_program(
    name: str,
    expression: Expression,
    types: Sequence[TensorType],
    checked: bool = True,
    arrays: bool = False,
    bounds: bool = False,
    first: int | None = None,
) -> Program:
    """Return the program that computes the shapes of the ops' results.

    Parameters
    ----------
    name : of the program.
    expression : the expression whose sizings are computed, in order.
    types : types of the expression's operands, whose ranks are known where views need them.
    arrays : whether the program takes the arrays instead of their shapes; their dtypes do not count.
    checked : whether the program checks extents against the maps. If not, it also returns the shapes of each op's
        operands, in front of its result's.
    bounds : whether the program gives the bounds of the ops that have one, for which it needs no values.
    first : how many of the expression's sizings are computed; None for all.

    Returns
    -------
    Program
        Its operands are the shapes of a call's operands. It returns an extent tensor for each result of an op.

    Raises
    ------
    BroadcastError
        If an operand has another rank than its map, or a shape depends on an extent that the caller gives.
    """
    given, taken = own_operands(expression), value_operands(expression)
    ranks: dict[Node, int | None] = {}
    for operand, one in taken.items():
        _check_value_rank(operand, one, types[operand.index].rank)
    for sizing in expression.sizings:
        # In order: an operand of one may be the result of another.
        ranks |= ranks_of(sizing.operands, tuple(types))
        _check_ranks(sizing, ranks)

    def body(**values: Any) -> Any:
        by_operand = dict(zip(given, values.values(), strict=True))
        shapes: dict[Node, Any] = {
            operand: shape_of_values(value)
            if operand in taken
            else op("from_extent_tensor")(op("shape_of")(value))
            if arrays
            else value
            for operand, value in by_operand.items()
        }
        values_read: dict[Node, Any] = {operand: by_operand[operand] for operand in taken}
        writer = _Writer(expression, types, ranks, shapes, values_read)
        made: list[Any] = []
        for sizing in expression.sizings[:first]:
            made += writer.sized(sizing, checked, bounds)
        return tuple(made)

    kinds = (
        taken[operand].type if operand in taken else _array_type(operand, types) if arrays else "!shape.shape"
        for operand in given
    )
    return program(name, body, **dict(zip((operand.name for operand in given), kinds, strict=True)))


def _check_value_rank(operand: Operand, one: ValueOperand, rank: int | None) -> None:
    if rank is not None and one.rank is not None and rank != one.rank:
        wanted = "an integer" if one.rank == 0 else "a list of integers"
        raise BroadcastError(
            f"operand '{operand.name}' has rank {rank}, expected {wanted}: {role_of(one.op)}",
            operand=operand.name,
            expected=one.rank,
            actual=rank,
        )


def shape_of_values(value: Any) -> Any:
    """Write the shape of an operand whose values the program takes."""
    match value.type.kind:
        case "index":
            return op("const_shape")((), type="!shape.shape")
        case "extents":
            return op("from_extents")(op("rank")(value))
    return op("shape_of")(value)


def _array_type(operand: Operand, types: Sequence[TensorType]) -> str:
    rank = types[operand.index].rank
    if rank is None:
        raise BroadcastError(
            f"operand '{operand.name}' has no known rank, which C with shape functions needs; declare it as f32[?, ?]",
            operand=operand.name,
        )
    return str(TensorType(dtype("u8"), (DYNAMIC,) * rank))


def own_operands(expression: Expression) -> tuple[Operand, ...]:
    """Return the operands that a call gives: all but the free extents."""
    return expression.operands[: len(expression.operands) - len(expression.free_extents)]


def ranks_by_maps(sizing: Sizing) -> dict[int, int]:
    """Return the ranks that an op's maps say of the kernel's operands, by their numbers, where no other one decides."""
    found: dict[int, int] = {}
    definition = sizing.op.definition
    assert definition is not None and definition.maps is not None
    _, maps = read_maps(sizing.op.name, definition.maps, sizing.op.arity)
    for (_, node, type_), places in zip(values_of(sizing), maps, strict=True):
        read = [one for one in topological((node,)) if isinstance(one, Operand)]
        if type_ is None and len(read) == 1 and not has_views((node,)):
            found[read[0].index] = len(places)
    return found


def _check_ranks(sizing: Sizing, ranks: dict[Node, int | None]) -> None:
    definition = sizing.op.definition
    assert definition is not None and definition.maps is not None
    _, maps = read_maps(sizing.op.name, definition.maps, sizing.op.arity)
    of_values = value_types(definition.maps)
    for name, text, node, places, values in zip(
        definition.operands, definition.maps, sizing.operands, maps, of_values, strict=True
    ):
        if not values and ranks[node] is not None and ranks[node] != len(places):
            raise BroadcastError(
                f"operand '{name}' of {sizing.op.name} has rank {ranks[node]}, expected {len(places)} by "
                f"its map {text}",
                operand=name,
                expected=len(places),
                actual=ranks[node],
            )


class _Writer:
    """Writes the shapes of nodes.

    Attributes
    ----------
    shapes : the shapes written so far, by node.
    values : the values of the operands that the program takes instead of their shapes.
    extents : the extents of ops' results, by their names.
    places : the operand's dim that a symbol of a declared type names, by symbol.
    """

    def __init__(
        self,
        expression: Expression,
        types: Sequence[TensorType],
        ranks: dict[Node, int | None],
        given: dict[Node, Any],
        values: dict[Node, Any],
    ) -> None:
        self.ranks = ranks
        self.values = values
        self.shapes = given
        self.extents: dict[str, Any] = {}
        self.places: dict[str, tuple[Operand, int]] = {}
        for operand, type_ in zip(expression.operands, types, strict=True):
            for own, dim in enumerate(type_.dims if operand in given and not type_.unranked else ()):
                if dim.symbol is not None:
                    self.places.setdefault(dim.symbol, (operand, own))

    def sized(self, sizing: Sizing, checked: bool, bounds: bool) -> list[Any]:
        """Write the shape of an op's result, or its bound, which the checks of its maps guard if `checked`.

        Return the extent tensors that the program returns for it: the result's, after the operands' if not `checked`.
        """
        operator = sizing.op
        assert operator.definition is not None and operator.definition.shape is not None
        values, bound = [_whole(self._shape(node)) for node in sizing.operands], operator.definition.bound
        kept = zip(values_of(sizing), values, strict=True)
        elements = [shape for (_, _, type_), shape in kept if type_ is None]
        if bounds and bound is not None:
            result = _called(bound, elements)
        else:
            kept = zip(values_of(sizing), values, strict=True)
            given = [self._value(node) if type_ is not None else shape for (_, node, type_), shape in kept]
            result = _called(operator.definition.shape, given)
        rank = len(sizing.extents)
        says = other_rank(operator.name, rank)
        asked = [op("cstr_require")(op("cmpi")(op("rank")(result), rank, predicate="eq"), msg=says)]
        if checked:
            asked += [self._witness(one, values, result) for one in asked_of(sizing)]
        if checked and bound is not None and not bounds:
            asked += self._within(operator, result, _called(bound, elements), rank)
        witness = op("assuming_all")(*asked) if len(asked) > 1 else asked[0]
        extents = op("assuming")(witness, lambda: result)
        for at, name in enumerate(sizing.extents):
            self.extents[name] = op("get_extent")(extents, at)
        self.shapes[sizing.result] = op("from_extent_tensor")(extents)
        return [extents] if checked else [*map(op("to_extent_tensor"), values), extents]

    def _value(self, node: Node) -> Any:
        """Return the value that a shape function takes of an operand of the kernel, or of a number."""
        return op("constant")(node.value) if isinstance(node, Constant) else self.values[node]

    def _within(self, operator: Op, result: Any, limit: Any, rank: int) -> Iterator[Any]:
        """Write for each dim of an op's result that it does not exceed its bound."""
        for dim in range(rank):
            extent, most = (op("get_extent")(shape, dim) for shape in (result, limit))
            says = above_bound(operator.name, dim)
            yield op("cstr_require")(op("cmpi")(extent, most, predicate="sle"), msg=says)

    def _witness(self, asked: Asked, values: Sequence[Any], result: Any) -> Any:
        extent = op("size_to_index")(op("get_extent")(values[asked.operand], asked.dim))
        is_one = op("cmpi")(extent, 1, predicate="eq")
        if asked.place.at is None:
            return op("cstr_require")(is_one, msg=str(asked))
        holds = op("cmpi")(extent, op("get_extent")(result, asked.place.at), predicate="eq")
        if asked.place.stretches:
            holds = op("select")(is_one, is_one, holds)
        return op("cstr_require")(holds, msg=str(asked))

    def _shape(self, root: Node) -> Any:
        """Write the shape of a value and of every value it depends on; return it."""
        stack = [root]
        while stack:
            node = stack[-1]
            below = [child for child in children(node) if child not in self.shapes]
            if node in self.shapes:
                stack.pop()
            elif below:
                stack += below
            else:
                self.shapes[stack.pop()] = self._shape_of(node)
        return self.shapes[root]

    def _shape_of(self, node: Node) -> Any:
        match node:
            case Apply(op=operator, operands=operands):
                read = [self.shapes[one] for one in operands if not isinstance(one, Constant)]
                given = list(dict.fromkeys(read)) or [self.shapes[operands[0]]]
                if len(given) > 1:
                    given = [_whole(shape) for shape in given]
                says = f"operands of {operator.name} do not broadcast"
                return op("broadcast")(*given, error=says) if len(given) > 1 else given[0]
            case Remap(like=like) if like is not None:
                return self.shapes[like]
            case Remap():
                return self._viewed(node)
            case Reduce():
                return self._reduced(node)
            case Operand(name=name):
                raise BroadcastError(f"{name!r} is an extent that the caller gives, and has no shape")
        return op("const_shape")((), type="!shape.shape")

    def _reduced(self, node: Reduce) -> Any:
        from ..expr.axes import normal_axes  # noqa: PLC0415 - most kernels have none

        rank = self.ranks[node.operand]
        if rank is None:
            raise BroadcastError(f"{node.op.name} needs a value of known rank; declare it, as in f32[?, ?]")
        axes, own = normal_axes(node, rank), self.shapes[node.operand]
        dims = [dim for dim in range(rank) if node.keepdims or dim not in axes]
        return _from_extents([op("const_size")(1) if dim in axes else _extent(own, dim) for dim in dims], own)

    def _viewed(self, node: Remap) -> Any:
        view, own = resolve(node, self.ranks), self.shapes[node.operand]
        extents = [None if dim is None else self._declared(dim) for dim in view.shape]
        for dim, at in enumerate(view.dims):
            if at is not None and view.shape[at] is None:
                extents[at] = _extent(own, dim)
        return _from_extents(extents, own if isinstance(own, _Partly) else node)

    def _declared(self, dim: Dim) -> Any:
        if dim.is_static:
            return op("const_size")(dim.extent)
        if dim.symbol in self.extents:
            return self.extents[dim.symbol]
        if dim.symbol not in self.places:
            return None
        operand, own = self.places[dim.symbol]
        return op("get_extent")(self.shapes[operand], own)


def _called(shape_function: Program, given: Sequence[Any]) -> Any:
    """Write a call of a shape function that returns one shape; return this as an extent tensor."""
    kinds = [operand.type.kind for operand in shape_function.operands]
    taken = [
        op("to_extent_tensor")(one) if kind == "extents" and one.type.kind == "shape" else one
        for one, kind in zip(given, kinds, strict=True)
    ]
    (result,) = spliced(shape_function, taken)
    return result if result.type.kind == "extents" else op("to_extent_tensor")(result)


class _Partly:
    """A shape with extents that the caller gives, which are None; a reduction over those dims leaves a whole shape.

    Attributes
    ----------
    extents : the written extents, or None.
    by : the view that has such a dim.
    """

    def __init__(self, extents: Sequence[Any], by: Remap) -> None:
        self.extents = extents
        self.by = by


def _from_extents(extents: Sequence[Any], open_by: Any) -> Any:
    """Write the shape of these extents; if one is None, `open_by` is the view with that dim, or another such shape."""
    if None not in extents:
        return op("from_extents")(*extents)
    return _Partly(extents, open_by.by if isinstance(open_by, _Partly) else open_by)


def _extent(shape: Any, dim: int) -> Any:
    """Write an extent of a shape; None if it is the caller's to give."""
    return shape.extents[dim] if isinstance(shape, _Partly) else op("get_extent")(shape, dim)


def _whole(shape: Any) -> Any:
    """Return a shape of which no extent may be missing.

    Raises
    ------
    BroadcastError
        If the caller gives one.
    """
    if isinstance(shape, _Partly):
        raise BroadcastError(
            f"the shape of {shape.by.view} is the caller's to give, and a shape function depends on it; name a dim of "
            "an operand, or compute that value outside of the kernel"
        )
    return shape
