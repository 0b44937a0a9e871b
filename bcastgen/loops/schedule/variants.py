"""Variants: the inner loops of one body, which differ in the operands that are one value along the loop.

In: the stride classes that operands may have.  Out: a few likely combinations, each a :class:`Variant`.

    a, b -> r   ->  unit (all move), zero_a, zero_b (that operand is one value along the loop)

Every call has a loop that serves it: the run time copies arrays into tiles if they are not adjacent, or if they are
stationary (one value along the loop) and no variant is made for that. Standalone C copies nothing; its last variant,
`any`, takes any strides. Where types say every stride of arrays, there is one variant, `dense`.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice, pairwise, product

from ...core.c_names import spelled
from ...core.frozen import dataclass
from ..nest import Access, Nest

__all__ = [
    "ANY",
    "DENSE",
    "MAX_VARIANTS",
    "NARROW",
    "UNIT",
    "ZERO",
    "Variant",
    "classes_of",
    "named",
    "planned",
    "shown_by_types",
    "specialised",
    "usual_count",
]

UNIT, ZERO, ANY, DENSE = "unit", "zero", "any", "dense"

# More inner loops cost compile time for strides that hardly occur; beyond this many, tiles or `any` serve the calls.
MAX_VARIANTS, MAX_LIKELY = 8, 8
# Costs of a body in tenths of a nanosecond a point, which bound the number of its variants (see usual_count): the
# cheaper the body, the more time the copy into a tile takes beside it.
_CHEAP, _MIDDLING, _DEAR = 5.0, 12.0, 20.0
_FEW = 3
# From so many operands on, the likeliest variants have half of them stationary.
_HALVES_OF, _HALVES = 6, 2
# With more operands than this of several classes, not every combination is looked at.
_MANY = 8
# The run time joins rows of fewer points with their neighbours, so that operands repeat instead of being stationary:
# NARROW of csrc/runtime/run_source.inc.
NARROW = 16
# The number of arrays that a variant can mark as stationary: bcg_variant has one bit for each array.
_IN_MASK = 64


@dataclass(frozen=True, slots=True)
class Variant:
    """One inner loop: a stride class for each of its operands, and one for all results.

    Attributes
    ----------
    name : ASCII, and no other variant's of the loop, so that C functions are called by it.
    operands, results : the classes.
    lanes : how many of the loop's widest values a vector of the target machine holds; 0 if the loop does not say.
    hinted : whether the loop says that its iterations are independent.
    aligned : of the loop's arrays, those that it takes to be aligned where it begins, as callers promise.
    """

    name: str
    operands: tuple[str, ...]
    results: str
    lanes: int = 0
    hinted: bool = True
    aligned: tuple[int, ...] = ()

    def classes(self, count: int) -> tuple[str, ...]:
        """Return the class of each of a loop's arrays, of which there are so many: operands, then results."""
        return (*self.operands, *((self.results,) * (count - len(self.operands))))

    @property
    def moves(self) -> bool:
        """Whether no operand is one value along the loop, so that it may compute points in pairs."""
        return ZERO not in self.operands

    def __str__(self) -> str:
        lanes = f", {self.lanes} values a vector" if self.lanes else ""
        return f"{self.name}: operands ({', '.join(self.operands)}), results {self.results}{lanes}"


def usual_count(
    cost: float,
    possible: tuple[tuple[str, ...], ...],
    has_stages: bool = False,
    decides: bool = False,
    is_shown: bool = False,
) -> int:
    """Return how many variants to make beside the one in which all arrays move, which reads stationary ones from tiles.

    Parameters
    ----------
    cost : of a point, in tenths of a nanosecond.
    possible : the classes that each operand can have.
    has_stages : whether expensive sub-expressions are computed apart.
    decides : whether operands decide a selection: a variant in which they are stationary computes one side of it only.
    is_shown : whether types show which operands are stationary along the last dim.
    """
    # Expensive work on a stride-0 operand is staged, so it needs no variant.
    if cost <= _MIDDLING and not has_stages:
        return MAX_LIKELY - 1 if cost <= _CHEAP else _FEW
    # With so many operands, filling tiles for half of them takes as long as computing a square root.
    if len(possible) >= _HALVES_OF and cost <= _DEAR:
        return _HALVES
    # An operand that is stationary by its type, such as a Python number, has a variant even where the body costs more.
    return 1 if ((is_shown or (ZERO,) in possible) and cost <= _DEAR) or decides else 0


def specialised(names: tuple[str, ...], possible: tuple[tuple[str, ...], ...], limit: int) -> tuple[Variant, ...]:
    """Return at most `limit` likely variants in which at least one operand moves, if any can."""
    moves = any(UNIT in classes for classes in possible)
    likely = (classes for classes in _likely(possible) if UNIT in classes or not moves)
    return named(names, islice(likely, limit))


def planned(
    names: tuple[str, ...],
    possible: tuple[tuple[str, ...], ...],
    limit: int,
    decisive: tuple[frozenset[int], ...] = (),
    shown: tuple[str, ...] = (),
) -> tuple[Variant, ...]:
    """Return the variant in which every array moves, then at most `limit` likely ones.

    The first of these are the variants in which only the operands of a selection's condition (`decisive`) are
    stationary. Then comes the combination that types show, if any: every call with C-ordered arrays has it.
    """
    unit = (UNIT,) * len(names)
    # Where types say that an operand is always stationary, or never, it is so in these variants, too.
    deciding = (
        tuple(ZERO if ZERO in own and (at in one or UNIT not in own) else UNIT for at, own in enumerate(possible))
        for one in decisive
        if all(ZERO in possible[at] for at in one)
    )
    each = dict.fromkeys((*deciding, *((shown,) if shown else ()), *_likely(possible)))
    likely = (c for c in each if c != unit and UNIT in c and ZERO not in c[_IN_MASK:])
    return named(names, (unit, *islice(likely, limit)))


def _likely(possible: tuple[tuple[str, ...], ...]) -> list[tuple[str, ...]]:
    """Return combinations of classes, likely ones first; all of them, unless there are many operands."""
    free = [at for at, classes in enumerate(possible) if len(classes) > 1]
    if len(free) <= _MANY:
        return sorted(product(*possible), key=_unlikeliness)
    # With many operands, only combinations with a few stationary ones, side by side at one end, are likely.
    ends = [free[:0], *(end for count in range(1, _MANY) for end in (free[-count:], free[:count]))]
    return [tuple(ZERO if at in end else classes[0] for at, classes in enumerate(possible)) for end in ends]


def _unlikeliness(classes: tuple[str, ...]) -> tuple[int, ...]:
    """Return the sort key of a combination of classes; the likeliest combination has the smallest key.

    With up to three operands, combinations with fewer stationary ones come first. With more, the one without any comes
    first, and then, in this order: one half is stationary (x1, y1, z1 of x1, y1, z1, x2, y2, z2); all but the first are
    (channels beside an image); two neighbours are, those nearest an end first (mean and deviation of rows); one alone
    is, the last first; all others.
    """
    zeros = tuple(at for at, kind in enumerate(classes) if kind == ZERO)
    groups = sum(one != other for one, other in pairwise(classes))
    count = len(classes)
    if count < 4 or not zeros:
        return (len(zeros), groups)
    if zeros == tuple(range(1, count)):
        return (1, 0)
    if count == 2 * len(zeros) and groups == 1:
        return (1, -1, zeros[0])
    if len(zeros) == 2 and zeros[1] == zeros[0] + 1:
        return (2, min(zeros[0], count - zeros[1] - 1), zeros[0])
    return (3, -zeros[0]) if len(zeros) == 1 else (3 + groups, len(zeros))


def classes_of(access: Access, ranked: bool) -> tuple[str, ...]:
    """Return the stride classes, `unit` or `zero`, that an operand can have along the innermost loop."""
    if access.map.open:
        return (UNIT, ZERO)
    last = access.map.domain_rank - 1
    indices = tuple(index for index in access.map.indices if not ranked or index.dim == last)
    moves = any(index.dim is not None for index in indices)
    if not moves:
        return (ZERO,)
    stays = any(index.dim is None or index.stretches for index in indices) or not ranked
    return (UNIT, ZERO) if stays else (UNIT,)


def shown_by_types(nest: Nest) -> tuple[str, ...]:
    """Return the class that each operand has along the last dim by its type: `unit` where this leaves it open.

    Returns an empty tuple if types show of no operand that it is stationary, or show that rows are narrow.

    Examples
    --------
    >>> from bcastgen import from_text
    >>> kernel = from_text("(f32[n, bcast] mean, f32[n, m] a, f32[m] weight) -> (a - mean) * weight")
    >>> nest = kernel.compilation.program.nests[0]
    >>> dict(zip(nest.labels, shown_by_types(nest)))
    {'mean': 'zero', 'a': 'unit', 'weight': 'unit'}
    """
    dims = nest.domain.dims
    extent = dims[-1].extent if dims else None
    stationary = [classes_of(access, ranked=True) == (ZERO,) for access in nest.operands]
    if not any(stationary) or (extent is not None and extent < NARROW):
        return ()
    return tuple(ZERO if one else UNIT for one in stationary)


def named(names: tuple[str, ...], several: Iterable[tuple[str, ...]]) -> tuple[Variant, ...]:
    """Return a variant for each combination of classes, called after the operands that are stationary in it.

    An operand's second map is `a_again`. Names joined by underscores may be equal, such as those of `a` and `b`
    together and of `a_b`; a number then keeps the variants apart.
    """
    own = [spelled(name) + "_again" * (name in names[:at]) for at, name in enumerate(names)]
    made: dict[str, Variant] = {}
    for classes in several:
        stationary = [name for name, kind in zip(own, classes, strict=True) if kind == ZERO]
        base = "_".join((ZERO, *stationary)) if stationary else UNIT
        name, count = base, 2
        while name in made:
            name, count = f"{base}_{count}", count + 1
        made[name] = Variant(name, classes, UNIT)
    return tuple(made.values())
