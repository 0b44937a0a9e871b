"""Scheduling: which inner loops a nest has.

In: a nest.  Out: a :class:`Schedule`, its variants first.

    a, b -> r   ->  unit (all move), zero_a, zero_b (that operand is one value along the loop)

Every call finds its loop: the run time copies into a tile what is not adjacent, and what stands still where there is no
variant of that. C that stands alone copies nothing; its last variant, `any`, takes any strides.
"""

from __future__ import annotations

from itertools import islice, pairwise, product

from ...core.dtypes import BOOL
from ...core.frozen import dataclass
from ..nest import Access, Let, Load, Nest
from .staging import Staging, costs_of, hoisted, stage

__all__ = ["ANY", "UNIT", "ZERO", "Schedule", "Variant", "is_light", "nested_loops", "schedule"]

UNIT, ZERO, ANY = "unit", "zero", "any"

# More inner loops cost compile time for strides that hardly occur; beyond this many, tiles or `any` serve.
MAX_VARIANTS, MAX_LIKELY = 8, 8
# Tenths of a nanosecond a point: up to which reading a tile shows, and a call of a few points, too.
_CHEAP, _MIDDLING, _DEAR = 5.0, 12.0, 20.0
_FEW = 3
# Up to which vectors of 256 bits are as fast as of 512 in a cache, and 2 to 6% faster beyond.
_LIGHT = 2.0
# Beyond so many operands, not every combination is looked at.
_MANY = 8
# The arrays of which a variant can say that they stand still: bcg_variant has a bit for each.
_IN_MASK = 64


@dataclass(frozen=True, slots=True)
class Variant:
    """One inner loop: a stride class for each of its operands, and one for all results."""

    name: str
    operands: tuple[str, ...]
    results: str

    def __str__(self) -> str:
        return f"{self.name}: operands ({', '.join(self.operands)}), results {self.results}"


@dataclass(frozen=True, slots=True)
class Schedule:
    """The inner loops of one nest.

    Attributes
    ----------
    variants : of the loop that computes all.
    cost : of a point, in tenths of a nanosecond.
    staging, staged : the stages, where there are any, and the variants of the loop behind them.
    notes : what the dump says of the staged form, a line each.
    """

    variants: tuple[Variant, ...]
    cost: float = 0.0
    staging: Staging | None = None
    staged: tuple[Variant, ...] = ()
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        if not self.variants:
            return "schedule\n  nothing is computed"
        lines = ["schedule", *(f"  {variant}" for variant in self.variants), *(f"  {note}" for note in self.notes)]
        return "\n".join((*lines, *(f"    {variant}" for variant in self.staged)))


def schedule(nest: Nest, variants: int | None = None) -> Schedule:
    """Choose the inner loops of a nest that the run time plans.

    Parameters
    ----------
    nest : the nest.
    variants : how many loops to make beside that in which every array moves; None for the usual number.
    """
    if not nest.results:
        return Schedule(())
    costs = costs_of(nest)
    total = sum(costs)
    names = tuple(access.name for access in nest.operands)
    possible = tuple(_classes(access, ranked=False) for access in nest.operands)
    staging = stage(nest, costs)
    usual = _usual(total, possible, staging is not None)
    inline = _variants(names, possible, usual if variants is None else variants)
    if staging is None:
        return Schedule(inline, total)
    names = tuple(
        nest.operands[read.access].name if isinstance(read, Load) else f"t{read.index}" for read in staging.reads
    )
    possible = tuple(possible[read.access] if isinstance(read, Load) else (UNIT, ZERO) for read in staging.reads)
    staged = _variants(names, possible, _usual(staging.cost, possible) if variants is None else variants)
    return Schedule(inline, total, staging, staged, _notes(nest, staging, total))


def is_light(nest: Nest, scheduled: Schedule) -> bool:
    """Whether memory decides how long a nest's loops take: few ops, no conversions, no selects, no 16-bit floats.

    A bool in memory is a byte: gcc makes no vectors of 256 bits of these and doubles together. For a select it compares
    twice and computes under masks, which takes half as long in 512 bits where another thread uses the core, too.
    """
    elements = {access.dtype for access in (*nest.operands, *nest.results)}
    values = {dtype for statement in nest.body for dtype in (*statement.operand_dtypes, statement.dtype)} - {BOOL}
    alike = len({(dtype.bits, dtype.is_float) for dtype in elements | values}) <= 1
    selects = any(statement.op.name == "where" for statement in nest.body)
    return (
        scheduled.cost <= _LIGHT and alike and not selects and not any(dtype.is_float16 for dtype in elements | values)
    )


def _usual(cost: float, possible: tuple[tuple[str, ...], ...], has_stages: bool = False) -> int:
    """Return how many variants to make beside the first, in which what stands still costs a tile."""
    # What is dear in an operand that stands still is a stage.
    if cost <= _MIDDLING and not has_stages:
        return MAX_LIKELY - 1 if cost <= _CHEAP else _FEW
    # An operand that always stands still, as a Python number does, has its loop all the same.
    return 1 if (ZERO,) in possible and cost <= _DEAR else 0


def _notes(nest: Nest, staging: Staging, total: float) -> tuple[str, ...]:
    """Say what can be staged."""
    lines = [
        f"{nest.show(Let(stage.value))} from {', '.join(map(nest.show, stage.reads))}: {_nanoseconds(stage.cost)}"
        for stage in staging.stages
    ]
    return (
        f"staged, where that is less work than {_nanoseconds(total)} a point; each of these at its own points:",
        *(f"  {line}" for line in lines),
        f"then from {', '.join(map(nest.show, staging.reads))}: {_nanoseconds(staging.cost)} a point",
    )


def _nanoseconds(cost: float) -> str:
    return f"{cost / 10:.2f} ns"


def nested_loops(nest: Nest, variants: int | None = None, ranked: bool = False) -> Schedule:
    """Choose the inner loops of a nest in C that stands alone; the last one, `any`, serves every call.

    Parameters
    ----------
    nest : the nest.
    variants : how many specialised loops to make beside `any`; 0 for the one plain loop, None for the usual number.
    ranked : whether the innermost loop is the domain's last dim, as in nested loops, or whichever the plan picks.
    """
    if not nest.results:
        return Schedule(())
    count = len(nest.operands)
    limit = MAX_VARIANTS - 1 if variants is None else variants
    possible = tuple(_classes(access, ranked) for access in nest.operands)
    names = tuple(access.name for access in nest.operands)
    plain = Variant(ANY, (ANY,) * count, ANY)
    staging = hoisted(nest, costs_of(nest)) if ranked and limit else None
    if staging is None:
        return Schedule((*_specialised(names, possible, limit), plain))
    # Tiles are adjacent.
    is_load = [isinstance(read, Load) for read in staging.reads]
    names = tuple(names[r.access] if isinstance(r, Load) else f"t{r.index}" for r in staging.reads)
    possible = tuple(possible[r.access] if isinstance(r, Load) else (UNIT,) for r in staging.reads)
    last = Variant(ANY, tuple(ANY if loads else UNIT for loads in is_load), ANY)
    return Schedule((plain,), staging=staging, staged=(*_specialised(names, possible, limit), last))


def _specialised(names: tuple[str, ...], possible: tuple[tuple[str, ...], ...], limit: int) -> tuple[Variant, ...]:
    """Return at most `limit` likely variants in which something moves."""
    likely = (classes for classes in _likely(possible) if UNIT in classes or not names)
    return tuple(_variant(names, classes) for classes in islice(likely, limit))


def _variants(names: tuple[str, ...], possible: tuple[tuple[str, ...], ...], limit: int) -> tuple[Variant, ...]:
    """Return the variant in which every array moves, then at most `limit` likely ones."""
    unit = (UNIT,) * len(names)
    likely = (c for c in _likely(possible) if c != unit and UNIT in c and ZERO not in c[_IN_MASK:])
    return tuple(_variant(names, classes) for classes in (unit, *islice(likely, limit)))


def _likely(possible: tuple[tuple[str, ...], ...]) -> list[tuple[str, ...]]:
    """Return combinations of classes, the likely ones first; all of them, unless the operands are many."""
    free = [at for at, classes in enumerate(possible) if len(classes) > 1]
    if len(free) <= _MANY:
        return sorted(product(*possible), key=_unlikeliness)
    # Of many, a few stand still, side by side at one end.
    ends = [free[:0], *(end for count in range(1, _MANY) for end in (free[-count:], free[:count]))]
    return [tuple(ZERO if at in end else classes[0] for at, classes in enumerate(possible)) for end in ends]


def _unlikeliness(classes: tuple[str, ...]) -> tuple[int, ...]:
    """Order what several operands do together.

    Of two or three, few that stand still come first. Of more, all but the first do, as channels beside an image, or one
    half, as x1, y1, z1 of (x1, y1, z1, x2, y2, z2), or two side by side, those at the ends first, as mean and deviation
    of rows; then one alone.
    """
    zeros = tuple(at for at, kind in enumerate(classes) if kind == ZERO)
    groups = sum(one != other for one, other in pairwise(classes))
    count = len(classes)
    if count < 4 or not zeros:
        return (len(zeros), groups)
    if zeros == tuple(range(1, count)):
        return (1, 0)
    if count == 2 * len(zeros) and groups == 1:
        return (2, -1, zeros[0])
    if len(zeros) == 2 and zeros[1] == zeros[0] + 1:
        return (2, min(zeros[0], count - zeros[1] - 1), zeros[0])
    return (3, -zeros[0]) if len(zeros) == 1 else (3 + groups, len(zeros))


def _classes(access: Access, ranked: bool) -> tuple[str, ...]:
    """Return the stride classes an operand can have along the innermost loop, apart from odd strides."""
    if access.map.open:
        return (UNIT, ZERO)
    last = access.map.domain_rank - 1
    indices = tuple(index for index in access.map.indices if not ranked or index.dim == last)
    moves = any(index.dim is not None for index in indices)
    if not moves:
        return (ZERO,)
    stays = any(index.dim is None or index.stretches for index in indices) or not ranked
    return (UNIT, ZERO) if stays else (UNIT,)


def _variant(names: tuple[str, ...], classes: tuple[str, ...]) -> Variant:
    still = [name for name, kind in zip(names, classes, strict=True) if kind == ZERO]
    return Variant("_".join((ZERO, *still)) if still else UNIT, classes, UNIT)
