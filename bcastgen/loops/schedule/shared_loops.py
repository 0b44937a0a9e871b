"""Shared loops: which nests of a kernel with reductions run inside the same outer loops, one point of these at a time.

In: a loop program with reductions.  Out: a :class:`LoopGroup` for each set of loops, in order, with the nests inside.

    e / sum(e, axis=1), e = exp(x - max(x, axis=1))   ->   for d0: max over d1; sum over d1; quotient over d1

What a reduction gives is then one value inside the shared loops, and needs no memory. It does need some where a nest
reads it elsewhere: `in_memory` has these. Shared loops are the dims that reductions keep. Another nest joins them if it
reads what they give at the loops' own point, and if its dims are known to have the same extents: those of the same
operands' dims. Where elements that are computed from reduced values may be refused, nests share no loops: the reduced
values of all points are made before the first result is written.

Standalone C has shared loops. The run time, which finds out at a call whether a row fits in a cache, lets nests share
passes over some rows instead: see `shared_rows`.
"""

from __future__ import annotations

from typing import TypeAlias

from ...core.frozen import dataclass, replace
from ..analysis.demands import demanding_statements, demands_reduced
from ..nest import Access, LoopProgram, Nest, Reducing

__all__ = ["LoopGroup", "Member", "Sharing", "extent_keys", "kept_dims", "shared_loops"]

# Equal keys mean equal extents: the number itself, or the places (operand, own dim) that meet there; None if unknown.
ExtentKey: TypeAlias = "int | frozenset[tuple[int, int]] | None"


@dataclass(frozen=True, slots=True)
class Member:
    """A nest inside shared loops: its number, and its dim for each of the loops.

    `from_memory` are the operands that reductions give and that it reads from memory, not from a loop's variable.
    """

    nest: int
    dims: tuple[int, ...]
    from_memory: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class LoopGroup:
    """Shared loops, outermost first, and the nests that run at each of their points, in order.

    A group without loops holds what is computed once.

    Attributes
    ----------
    members : the nests.
    asks : the nests whose elements are looked at before these loops, and whose condition reads reduced values.
    inside : (nest, dim) of the extents inside the loops without which these have nothing to write: if one is 0, the
        outermost loop does not run, for 10^12 loops over nothing take minutes.
    is_empty : whether types show that the loops have no points.
    """

    members: tuple[Member, ...]
    asks: tuple[int, ...] = ()
    inside: tuple[tuple[int, int], ...] = ()
    is_empty: bool = False

    @property
    def depth(self) -> int:
        """How many loops are shared."""
        return len(self.members[0].dims)


@dataclass(frozen=True, slots=True)
class Sharing:
    """The groups of a program in order, and the numbers of the operands that reductions give and that need memory.

    `asks` are the nests whose elements are looked at before all loops.
    """

    groups: tuple[LoopGroup, ...]
    in_memory: frozenset[int]
    asks: tuple[int, ...] = ()

    def describe(self, program: LoopProgram) -> str:
        """Return a line for each group."""
        lines = []
        for group in self.groups:
            first = group.members[0]
            dims = ", ".join(f"d{dim}" for dim in first.dims)
            nests = ", ".join(str(member.nest) for member in group.members)
            where = f"at each point of ({dims}) of nest {first.nest}" if dims else "once"
            lines += [f"elements of nest {at} are looked at first" for at in group.asks]
            lines.append(f"{where}: nests {nests}")
        kept = [program.operands[at][0] for at in sorted(self.in_memory)]
        return "\n".join((*lines, *([f"in memory: {', '.join(kept)}"] if kept else ())))


def kept_dims(nest: Nest) -> tuple[int, ...]:
    """Return the dims of a domain that its reductions keep, but for those that are known to have one point."""
    axes = nest.reduced[0].axes
    return tuple(at for at, dim in enumerate(nest.domain.dims) if at not in axes and dim.extent != 1)


def extent_keys(program: LoopProgram) -> tuple[tuple[ExtentKey, ...], ...]:
    """Return the key of the extent of each dim of each nest."""
    reductions = {one.operand: (at, one) for at, nest in enumerate(program.nests) for one in nest.reduced}
    keys: list[tuple[ExtentKey, ...]] = []
    for nest in program.nests:
        places: list[set[tuple[int, int]]] = [set() for _ in nest.domain.dims]
        for access in (*nest.operands, *nest.shapes):
            for own, index in enumerate(access.map.indices):
                if index.dim is None or access.type.dims[own].extent == 1:
                    continue
                key: ExtentKey = frozenset({(access.number, own)})
                if access.number in reductions:
                    source, one = reductions[access.number]
                    key = keys[source][one.sources(len(program.nests[source].domain.dims))[own]]
                places[index.dim] |= key if isinstance(key, frozenset) else set()
        keys.append(
            tuple(
                (frozenset(found) or None) if dim.extent is None else dim.extent
                for dim, found in zip(nest.domain.dims, places, strict=True)
            )
        )
    return tuple(keys)


class _Grouping:
    """The groups so far, and where each reduction's result is made."""

    def __init__(self, program: LoopProgram) -> None:
        self.program = program
        self.keys = extent_keys(program)
        self.apart = any(demands_reduced(program, nest) for nest in program.nests)
        self.groups: list[list[Member]] = []
        self.sources: dict[int, tuple[int, int, Reducing]] = {}  # operand: its group, nest, and how it is made
        self.in_memory: set[int] = set()

    def add(self, at: int) -> None:
        """Put a nest into the first group that it can join, or into one of its own."""
        nest = self.program.nests[at]
        read = [access for access in nest.operands if access.number in self.sources]
        # The reduced values that it reads have to be complete, so a group before the last that gives one is too early.
        earliest = max((self.sources[access.number][0] for access in read), default=0)
        for group in range(len(self.groups) if self.apart else earliest, len(self.groups)):
            dims = self._dims_in(group, at, nest, read)
            if dims is not None:
                break
        else:
            group, dims = len(self.groups), kept_dims(nest) if nest.reduced else ()
            self.groups.append([])
        self.groups[group].append(Member(at, dims))
        for access in read:
            own, source, _ = self.sources[access.number]
            if own != group and kept_dims(self.program.nests[source]):
                self.in_memory.add(access.number)
        for one in nest.reduced:
            self.sources[one.operand] = (group, at, one)

    def _dims_in(self, group: int, at: int, nest: Nest, read: list[Access]) -> tuple[int, ...] | None:
        """Return the nest's dim for each loop of a group; None if it cannot run inside of them."""
        first = self.groups[group][0]
        loops = [self.keys[first.nest][dim] for dim in first.dims]
        own = [access for access in read if self.sources[access.number][0] == group]
        if nest.reduced:
            dims: tuple[int, ...] = kept_dims(nest)
        elif own:
            dims = self._point(own[0])
        else:
            return () if not loops else None
        fits = [self.keys[at][dim] for dim in dims] == loops and None not in loops
        return dims if fits and all(self._point(access) == dims for access in own) else None

    def _point(self, access: Access) -> tuple[int, ...]:
        """Return the reader's dim for each loop in which what it reads is made; -1 for none."""
        _, source, one = self.sources[access.number]
        nest = self.program.nests[source]
        owns = {dim: own for own, dim in enumerate(one.sources(len(nest.domain.dims)))}
        found = (access.map.indices[owns[dim]].dim for dim in kept_dims(nest))
        return tuple(-1 if dim is None else dim for dim in found)

    def group(self, members: list[Member], asks: tuple[int, ...]) -> LoopGroup:
        """Return a group, with what is known once all nests are in one."""
        nests = [self.program.nests[member.nest] for member in members]
        own = {one.operand for nest in nests for one in nest.reduced}
        elsewhere = self.in_memory - own
        made = tuple(
            replace(member, from_memory=frozenset(access.number for access in nest.operands) & elsewhere)
            for member, nest in zip(members, nests, strict=True)
        )
        is_empty = any(nests[0].domain.dims[dim].extent == 0 for dim in members[0].dims)
        return LoopGroup(made, asks, self._inside(members), is_empty)

    def _inside(self, members: list[Member]) -> tuple[tuple[int, int], ...]:
        """Return the extents inside shared loops without which these have nothing to write."""
        found: list[dict[ExtentKey | tuple[int, int], tuple[int, int]]] = []
        for at, dims in ((member.nest, member.dims) for member in members):
            nest = self.program.nests[at]
            if not nest.reduced:
                places = ((at, dim) for dim in range(len(nest.domain.dims)) if dim not in dims)
                # An extent of which nothing is known equals no other.
                found.append({place if (key := self.keys[at][place[1]]) is None else key: place for place in places})
            elif any(one.operand in self.in_memory for one in nest.reduced):
                return ()
        return tuple(place for key, place in found[0].items() if all(key in one for one in found)) if found else ()


def shared_loops(program: LoopProgram) -> Sharing:
    """Return the groups of a program with reductions.

    Examples
    --------
    >>> from bcastgen import from_text
    >>> program = from_text("(f32[?, ?] x) -> x / sum(x, axis=1, keepdims=True)").compilation.program
    >>> print(shared_loops(program).describe(program))
    at each point of (d0) of nest 0: nests 0, 1
    """
    grouping = _Grouping(program)
    for at, nest in enumerate(program.nests):
        if nest.results:
            grouping.add(at)
    asking = [at for at, nest in enumerate(program.nests) if demanding_statements(nest)]
    reduced = [at for at in asking if demands_reduced(program, program.nests[at])]
    waiting, groups = reduced, []
    for members in grouping.groups:
        # All nests that write results are checked before the first of them writes.
        asks = tuple(at for at in waiting if _is_asked_before(program, members[0].nest, at))
        waiting = [at for at in waiting if at not in asks]
        groups.append(grouping.group(members, asks))
    first = tuple(at for at in asking if at not in reduced)
    return Sharing(tuple(groups), frozenset(grouping.in_memory), first)


def _is_asked_before(program: LoopProgram, first: int, at: int) -> bool:
    """Whether elements of a nest are looked at before the loops of the group that begins with nest `first`."""
    return first == at if program.nests[at].reduced else not program.nests[first].reduced
