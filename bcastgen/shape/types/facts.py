"""Facts about extents: which are equal, which differ, in which range each lies.

In: statements about nodes (an operand's dim, a symbol, a dim of the domain: anything that hashes).  Out: what follows.

    n >= 2, a.0 = n, b.0 = a.0  ->  b.0 >= 2, and b.0 is never 1

Nothing else in the package compares ranges. :class:`Facts` never changes: each statement returns new ones, or None
where it contradicts what is known.
"""

from __future__ import annotations

from collections.abc import Hashable
from math import lcm

from ...core.frozen import dataclass

__all__ = ["ANY_EXTENT", "MAX_EXTENT", "MAX_RANK", "Facts", "Range"]

# Extents are int64_t in the C of every kernel.
MAX_EXTENT = 2**63 - 1
# BCG_MAX_RANK of csrc/abi/bcg_abi.h, which sizes the arrays of extents there; a test compares them.
MAX_RANK = 64


@dataclass(frozen=True, slots=True)
class Range:
    """The multiples of `step` from `low` to `high`, both of which are multiples; never empty.

    Examples
    --------
    >>> str(Range(8, 64, 8)), Range(8, 64, 8).has(12), Range(0, 10).meet(Range(12, 20))
    ('>=8<=64%8', False, None)
    """

    low: int = 0
    high: int = MAX_EXTENT
    step: int = 1

    @staticmethod
    def of(low: int, high: int, step: int = 1) -> Range | None:
        """Return the range with both ends moved to multiples, or None if nothing is in it."""
        low, high = -(-low // step) * step, high // step * step
        return Range(low, high, step if low < high else 1) if low <= high else None

    @property
    def only(self) -> int | None:
        """The extent if there is but one."""
        return self.low if self.low == self.high else None

    def has(self, extent: int) -> bool:
        """Tell whether an extent is in the range."""
        return self.low <= extent <= self.high and extent % self.step == 0

    def meet(self, other: Range) -> Range | None:
        """Return what is in both ranges, or None."""
        if self == other or other == ANY_EXTENT:
            return self
        both = Range.of(max(self.low, other.low), min(self.high, other.high), lcm(self.step, other.step))
        if both is None or both.only is None:
            return both
        return both if self.has(both.low) and other.has(both.low) else None

    def hull(self, other: Range) -> Range:
        """Return the least range of step 1 that holds both ranges."""
        return Range(min(self.low, other.low), max(self.high, other.high))

    def without(self, extent: int) -> Range | None:
        """Return the range without an extent that is one of its ends (else the range), or None if nothing is left."""
        if extent == self.low:
            return Range.of(self.low + self.step, self.high, self.step)
        return Range.of(self.low, self.high - self.step, self.step) if extent == self.high else self

    def not_multiple(self, divisor: int) -> Range | None:
        """Return the range without multiples of the divisor at its ends, or None if nothing is left."""
        if self.step % divisor == 0:
            return None if self.low % divisor == 0 else self
        low, high = self.low, self.high
        low += self.step * (low % divisor == 0)
        high -= self.step * (high % divisor == 0)
        return Range.of(low, high, self.step)

    def __str__(self) -> str:
        low = f">={self.low}" if self.low > 0 else ""
        high = f"<={self.high}" if self.high < MAX_EXTENT // self.step * self.step else ""
        return low + high + (f"%{self.step}" if self.step > 1 else "")


ANY_EXTENT = Range()


class Facts:
    """What is known of nodes: classes of equal ones, each with a range; which differ; which no divisor divides.

    Examples
    --------
    >>> facts = Facts().within("n", Range(2))
    >>> facts = facts and facts.meet("n", ("a", 0))
    >>> str(facts), facts and facts.can_be(("a", 0), 1), facts and facts.equals("n", 1)
    ('n = a.0: >=2', False, None)
    """

    __slots__ = ("_apart", "_odd", "_parents", "_ranges")

    def __init__(self) -> None:
        self._parents: dict[Hashable, Hashable] = {}
        self._ranges: dict[Hashable, Range] = {}
        # Pairs of nodes that differ, and (node, k) where k does not divide the node's extent.
        self._apart: tuple[tuple[Hashable, Hashable], ...] = ()
        self._odd: tuple[tuple[Hashable, int], ...] = ()

    def _copy(self) -> Facts:
        facts = Facts()
        facts._parents, facts._ranges = dict(self._parents), dict(self._ranges)
        facts._apart, facts._odd = self._apart, self._odd
        return facts

    def root(self, node: Hashable) -> Hashable:
        """Return the node that stands for all nodes which certainly have one extent with this one."""
        while node in self._parents:
            node = self._parents[node]
        return node

    @property
    def size(self) -> int:
        """The number of stored facts; the cost of a copy grows with it."""
        return len(self._parents) + len(self._ranges) + len(self._apart) + len(self._odd)

    def range(self, node: Hashable) -> Range:
        """Return the range that a node's extent lies in; a range is a node as well, and lies in itself."""
        return node if isinstance(node, Range) else self._ranges.get(self.root(node), ANY_EXTENT)

    def extent(self, node: Hashable) -> int | None:
        """Return a node's extent if it is known."""
        return self.range(node).only

    def same(self, a: Hashable, b: Hashable) -> bool:
        """Tell whether two nodes certainly have one extent."""
        only = self.extent(a)
        return self.root(a) == self.root(b) or (only is not None and only == self.extent(b))

    def can_be(self, node: Hashable, extent: int) -> bool:
        """Tell whether a node may have an extent."""
        return self.range(node).has(extent)

    def meet(self, a: Hashable, b: Hashable) -> Facts | None:
        """Return these facts plus that two nodes have one extent; None if they cannot."""
        if self.same(a, b):
            return self
        kept, gone = self.root(a), self.root(b)
        both = self.range(kept).meet(self.range(gone))
        if both is None:
            return None
        facts = self._copy()
        facts._parents[gone] = kept
        facts._ranges[kept] = both
        facts._ranges.pop(gone, None)
        return facts._settled()

    def within(self, node: Hashable, range_: Range) -> Facts | None:
        """Return these facts plus that a node's extent lies in a range; None if it cannot."""
        known = self.range(node)
        both = known.meet(range_)
        if both is None:
            return None
        if both == known:
            return self
        facts = self._copy()
        facts._ranges[self.root(node)] = both
        return facts._settled()

    def equals(self, node: Hashable, extent: int) -> Facts | None:
        """Return these facts plus that a node has an extent; None if it cannot."""
        return self.within(node, Range(extent, extent))

    def differ(self, a: Hashable, b: Hashable) -> Facts | None:
        """Return these facts plus that two nodes have different extents; None if they cannot."""
        if self.range(a).meet(self.range(b)) is None:
            return self
        facts = self._copy()
        facts._apart = (*self._apart, (a, b))
        return facts._settled()

    def indivisible(self, node: Hashable, step: int) -> Facts | None:
        """Return these facts plus that a node's extent is no multiple of `step`; None if it has to be one."""
        facts = self._copy()
        facts._odd = (*self._odd, (node, step))
        return facts._settled()

    def _settled(self) -> Facts | None:
        """Return these facts with excluded extents removed from the ends of ranges; None if they are contradictory."""
        changed = bool(self._apart or self._odd)
        while changed:
            changed = False
            for a, b in self._apart:
                one, two = self.root(a), self.root(b)
                if one == two:
                    return None
                for root, other in ((one, two), (two, one)):
                    only = self.range(other).only
                    if only is not None and not isinstance(root, Range):
                        after = self.range(root).without(only)
                        if after is None:
                            return None
                        changed |= after != self.range(root)
                        self._ranges[root] = after
            for node, step in self._odd:
                after = self.range(node).not_multiple(step)
                if after is None:
                    return None
                changed |= after != self.range(node)
                self._ranges[self.root(node)] = after
        return self

    def __str__(self) -> str:
        classes: dict[Hashable, list[str]] = {}
        for node in dict.fromkeys([*self._ranges, *self._parents]):
            classes.setdefault(self.root(node), []).append(_text(node))
        lines = []
        for root, members in classes.items():
            known = self.range(root)
            shown = f" = {known.only}" if known.only is not None else f": {known}" if str(known) else ""
            lines.append(" = ".join(sorted(members, key=lambda member: ("." in member, member))) + shown)
        return "; ".join(lines)


def _text(node: Hashable) -> str:
    match node:
        case (name, dim):
            return f"{name}.{dim}"
        case int():
            return f"d[{-node}]"
        case _:
            return str(node)
