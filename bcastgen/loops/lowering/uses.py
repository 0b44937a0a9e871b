"""Uses: which elements of which operands a result reads, view by view.

In: the results of a typed expression, and the operands' types.  Out: one :class:`Use` for each indexing map that an
operand is read through, and the values of the expression in the order in which they are computed.

    a + transpose(a) over f32[?, ?]  ->  uses a at (d0, d1) and a at (d1, d0); t0 = add of both

A view computes nothing, so lowering drops it: one value seen through two maps becomes two values with different loads.
Without views, operands align on the right whatever their rank, and `positions` is None.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...core.errors import BroadcastError
from ...core.frozen import dataclass, replace
from ...expr.free_extents import free_extents_of
from ...expr.nodes import Apply, Constant, Expression, Node, Operand, Reduce, Remap, children, has_views, topological
from ...expr.views import Broadcast, Collapse, Resolved
from ...shape.inference.operand_use import Target, Use
from ...shape.types.dim import DYNAMIC, Dim
from ...shape.types.tensor_type import TensorType

__all__ = [
    "Reads",
    "Seen",
    "Spanned",
    "broadcast_values",
    "checked_units",
    "ranks_of",
    "reads_of",
    "resolve",
    "spans_of",
]

Positions = tuple[int | None, ...]


@dataclass(frozen=True, slots=True)
class Seen:
    """A node of the expression, seen through the views on one path from the result to it.

    Attributes
    ----------
    node : the node.
    positions : for each of its dims the position in the domain, counted from the end, or None for a dim that a view
        drops; None in place of all if it is aligned on the right.
    targets : for each of its dims the target of the explicit broadcast around it, or None.
    """

    node: Node
    positions: Positions | None = None
    targets: tuple[Target, ...] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Reads:
    """The operands and values that a result is computed from.

    Attributes
    ----------
    result : the result itself.
    rank : its rank where views make it known, else None.
    below : every value it is computed from, operands before their users, each with its own operands.
    uses : how each operand among these is read.
    shapes : the uses that give extents only.
    slots : (slot, position) of each dim whose extent the caller gives where no operand determines it.
    """

    result: Seen
    rank: int | None
    below: dict[Seen, tuple[Seen, ...]]
    uses: dict[Seen, Use]
    shapes: tuple[Use, ...] = ()
    slots: tuple[tuple[int, int], ...] = ()

    @property
    def all_uses(self) -> tuple[Use, ...]:
        """All uses: loads first, then those that only give a shape."""
        return (*self.uses.values(), *self.shapes)


@dataclass(frozen=True, slots=True)
class Spanned:
    """The uses that span a value that is not stored, and its rank, as in :class:`Reads`."""

    rank: int | None
    all_uses: tuple[Use, ...]


def spans_of(
    expression: Expression, nodes: tuple[Node, ...], types: tuple[TensorType, ...], rank_expansion: bool = True
) -> tuple[Spanned, ...]:
    """Return the uses that span each of several values of an expression.

    Raises
    ------
    BroadcastError
        As :func:`reads_of`.
    """
    # One pass finds the operands below each node; None where a view is below it.
    read: dict[Node, frozenset[int] | None] = {}
    for node in topological(nodes):
        below = [read[child] for child in children(node)]
        if isinstance(node, Remap) or None in below:
            read[node] = None
        else:
            own = frozenset((node.index,)) if isinstance(node, Operand) else frozenset()
            read[node] = own.union(*(places for places in below if places is not None))
    found = []
    for node in nodes:
        places = read[node]
        if places is None:
            reads = reads_of(expression, node, types, rank_expansion)
            found.append(Spanned(reads.rank, reads.all_uses))
        else:
            uses = (Use(expression.operands[at].name, types[at]) for at in sorted(places))
            found.append(Spanned(None, tuple(uses)))
    return tuple(found)


def broadcast_values(expression: Expression) -> tuple[Node, ...]:
    """Return the computed values that are broadcast explicitly: several operands may meet in them."""
    roots = (*expression.results, *(claim.node for claim in expression.type_assertions))
    found = (
        node.operand
        for node in topological(roots)
        if isinstance(node, Remap) and (node.like is not None or isinstance(node.view, Broadcast))
    )
    return tuple(dict.fromkeys(value for value in found if not isinstance(value, (Operand, Constant))))


def ranks_of(results: tuple[Node, ...], types: tuple[TensorType, ...]) -> dict[Node, int | None]:
    """Return the rank of every node; None for an unknown one."""
    ranks: dict[Node, int | None] = {}
    for node in topological(results):
        match node:
            case Operand():
                ranks[node] = types[node.index].rank
            case Constant():
                ranks[node] = 0
            case Apply():
                known = [ranks[child] for child in node.operands]
                ranks[node] = None if None in known else max((rank or 0 for rank in known), default=0)
            case Remap():
                ranks[node] = resolve(node, ranks).rank
            case Reduce(operand=operand, keepdims=keepdims):
                from ...expr.axes import normal_axes  # noqa: PLC0415 - most kernels have none

                rank = ranks[operand]
                ranks[node] = rank if rank is None or keepdims else rank - len(normal_axes(node, rank))
    return ranks


def resolve(node: Remap, ranks: dict[Node, int | None]) -> Resolved:
    """Return which dims of a view the dims of its value are.

    Raises
    ------
    BroadcastError
        If the rank of the value or of the operand that gives the shape is unknown, or the view does not fit the value.
    """
    rank = ranks[node.operand]
    like = None if node.like is None else ranks[node.like]
    if rank is None or (node.like is not None and like is None):
        raise BroadcastError(
            f"{node.view} needs operands of known rank; declare them, as in "
            "bcastgen.jit(lambda a: kernel(a), signature='(f32[?, ?] a)')"
        )
    return node.view.resolve(rank, like)


def reads_of(expression: Expression, result: Node, types: tuple[TensorType, ...], rank_expansion: bool = True) -> Reads:
    """Return which operands one result reads, and through which maps.

    Raises
    ------
    BroadcastError
        If a view does not fit, or values of different ranks meet although `rank_expansion` is off.
    """
    if not has_views((result,)):
        below = {Seen(node): tuple(map(Seen, children(node))) for node in topological((result,))}
        uses = {seen: Use(seen.node.name, types[seen.node.index]) for seen in below if isinstance(seen.node, Operand)}
        return Reads(Seen(result), None, below, uses)
    return _Walk(expression, types, ranks_of((result,), types), rank_expansion).run(result)


def checked_units(expression: Expression, types: tuple[TensorType, ...]) -> tuple[TensorType, ...]:
    """Return the operands' types, with extent 1 in place of each ``?`` that a checked view drops: calls check it."""
    found = list(types)
    for node in topological(expression.roots):
        if not (isinstance(node, Remap) and isinstance(node.view, Collapse) and node.view.checked):
            continue
        ranks = ranks_of((node,), types)
        rank = resolve(node, ranks).rank
        top = Seen(node, tuple(range(rank, 0, -1)), (None,) * rank)
        for seen in _Walk(expression, types, ranks, True).everything(top):
            if isinstance(seen.node, Operand):
                type_, places = found[seen.node.index], seen.positions or ()
                dims = tuple(
                    Dim(1) if at is None and dim == DYNAMIC else dim for dim, at in zip(type_.dims, places, strict=True)
                )
                found[seen.node.index] = replace(type_, dims=dims)
    return tuple(found)


class _Walk:
    """Follows the maps from a result down to the operands."""

    def __init__(
        self,
        expression: Expression,
        types: tuple[TensorType, ...],
        ranks: dict[Node, int | None],
        rank_expansion: bool,
    ) -> None:
        self.rank_expansion = rank_expansion
        self.types = types
        self.ranks = ranks
        self.bound = {dim.symbol for type_ in types for dim in type_.dims}
        self.slots = free_extents_of(expression.results, self.bound)
        self.operands = [expression.operands[at] for at in expression.free_extents]
        self.shapes: dict[Use, None] = {}
        self.free: dict[tuple[int, int, Target], bool] = {}

    def run(self, result: Node) -> Reads:
        rank = self._rank(result)
        top = Seen(result, tuple(range(rank, 0, -1)), (None,) * rank)
        below = self.everything(top)
        uses = {
            seen: Use(seen.node.name, self.types[seen.node.index], seen.positions, seen.targets)
            for seen in below
            if isinstance(seen.node, Operand)
        }
        known = (*uses.values(), *self.shapes)
        claimed = {position for use in known for position, _, dim in use.aligned if not dim.is_one}
        for use in known:
            _check_dropped(use)
        for (slot, position, target), is_named in self.free.items():
            if position in claimed and not is_named:
                continue  # The dim takes the extent of the operands that it meets.
            operand = self.operands[slot]
            use = Use(operand.name, self.types[operand.index], (position,), (target,), shape_only=True)
            self.shapes[use] = None
        slots = tuple(dict.fromkeys((slot, position) for slot, position, _ in self.free))
        return Reads(top, rank, below, uses, tuple(self.shapes), slots)

    def everything(self, top: Seen) -> dict[Seen, tuple[Seen, ...]]:
        """Return every value that a node is computed from, operands before their users, each with its own operands."""
        made: dict[Seen, tuple[Seen, ...]] = {}
        opened: dict[Seen, tuple[Seen, ...]] = {}
        stack = [top]
        while stack:
            seen = stack[-1]
            if seen not in opened:
                opened[seen] = tuple(self.below(seen))
                stack.extend(child for child in reversed(opened[seen]) if child not in opened)
                continue
            made.setdefault(stack.pop(), opened[seen])
        return made

    def _rank(self, node: Node) -> int:
        rank = self.ranks[node]
        if rank is None:
            raise BroadcastError("a kernel with views needs operands of known rank; declare them in a signature")
        return rank

    def below(self, seen: Seen) -> Iterator[Seen]:
        """Yield a node's operands, each with its positions and targets as seen through the node."""
        node, positions, targets = seen.node, seen.positions or (), seen.targets or ()
        if isinstance(node, Remap):
            yield self._through(node, resolve(node, self.ranks), positions, targets)
            return
        for child in children(node):
            rank = self._rank(child)
            lead = len(positions) - rank
            if lead > 0 and rank > 0 and not self.rank_expansion:
                raise BroadcastError(
                    f"values of rank {rank} and {len(positions)} meet, and rank expansion is off; write x[:, None]"
                )
            yield Seen(child, positions[lead:], targets[lead:])

    def _through(self, node: Remap, view: Resolved, positions: Positions, targets: tuple[Target, ...]) -> Seen:
        said = self._said(node, view, positions, targets)
        return Seen(
            node.operand,
            tuple(None if at is None else positions[at] for at in view.dims),
            tuple(None if at is None else said[at] or targets[at] for at in view.dims),
        )

    def _said(
        self, node: Remap, view: Resolved, positions: Positions, targets: tuple[Target, ...]
    ) -> tuple[Target, ...]:
        """Record the shapes and free extents that a view names, and return the target of each of its dims."""
        if node.like is not None:
            return self._shape_of(node.like, positions, targets)
        if not isinstance(node.view, Broadcast):
            return (None,) * view.rank
        for at, dim in enumerate(view.shape):
            slot, position = self.slots.get((node, at)), positions[at]
            if position is None:
                if dim is not None or at not in view.dims:
                    _check_unit(node, at, dim)
            elif slot is not None and slot < len(self.operands) and (dim is not None or at not in view.dims):
                self.free[slot, position, targets[at]] = dim is not None
        known = [
            at
            for at, dim in enumerate(view.shape)
            if dim is not None and self._is_known(dim) and positions[at] is not None
        ]
        if known:
            type_ = TensorType(None, tuple(dim for at in known if (dim := view.shape[at]) is not None))
            places = tuple(positions[at] for at in known)
            outer = tuple(targets[at] for at in known)
            self.shapes[Use("shape", type_, places, outer, is_target_shape=True)] = None
        return tuple(self._aim(node, at, dim) for at, dim in enumerate(view.shape))

    def _shape_of(self, like: Node, positions: Positions, targets: tuple[Target, ...]) -> tuple[Target, ...]:
        """Record the uses that a value's shape comes from, and return what gives each dim its extent.

        Raises
        ------
        BroadcastError
            If several extents that may differ meet in a dim: which one it has is known at the call only.
        """
        rank = len(positions)
        own = Seen(like, tuple(range(rank, 0, -1)), (None,) * rank)
        found: list[dict[Target, Target]] = [{} for _ in positions]
        for seen in self.everything(own):
            if not isinstance(seen.node, Operand):
                continue
            type_, places = self.types[seen.node.index], seen.positions or ()
            inside = [None if at is None else rank - at for at in places]
            for dim, (at, aim) in enumerate(zip(inside, seen.targets or (), strict=True)):
                if at is not None and (aim is not None or not type_.dims[dim].is_one):
                    given = aim or (seen.node.name, dim)
                    # Dims of one name, or of one known extent, are the same.
                    found[at].setdefault(given if type_.dims[dim].value is None else type_.dims[dim], given)
            outer = tuple(None if at is None else positions[at] for at in inside)
            aims = tuple(None if at is None else targets[at] for at in inside)
            self.shapes[Use(seen.node.name, type_, outer, aims, shape_only=True)] = None
        if any(len(each) > 1 for each in found):
            names = dict.fromkeys(one.name for one in topological((like,)) if isinstance(one, Operand))
            raise BroadcastError(
                f"a shape is taken from a value that is computed from {', '.join(map(repr, names))}, which may stretch "
                "each other; take it from one of them, as numpy.broadcast_to(mask, x) does, or declare equal extents"
            )
        return tuple(next(iter(each.values()), Dim(1)) for each in found)

    def _aim(self, node: Remap, at: int, dim: Dim | None) -> Target:
        """Return a dim's target: the extent its view names, or the operand that stands for the caller's extent."""
        if dim is None:
            return None
        slot = self.slots.get((node, at))
        if not self._is_known(dim) and slot is not None and slot < len(self.operands):
            return self.operands[slot].name, 0
        return dim if self._is_known(dim) else None

    def _is_known(self, dim: Dim) -> bool:
        return dim.is_static or (dim.symbol is not None and dim.symbol in self.bound)


def _check_dropped(use: Use) -> None:
    """Raise if a view drops an operand's dim that may have an extent other than 1."""
    for own in use.dropped:
        dim = use.type.dims[own]
        if not dim.is_one:
            raise BroadcastError(
                f"operand '{use.name}' dim {own} has extent {dim}, expected 1 to be collapsed; declare it as 1",
                operand=use.name,
                dim=own,
                expected=1,
                actual=dim.extent,
            )


def _check_unit(node: Remap, at: int, dim: Dim | None) -> None:
    """Raise if a view drops a dim of an explicit broadcast that may have an extent other than 1."""
    if dim is None or not dim.is_one:
        extent = "?" if dim is None else dim
        why = f"{node.view} dim {at} has extent {extent}, expected 1 to be collapsed; write its extent as 1"
        raise BroadcastError(why, dim=at, expected=1)
