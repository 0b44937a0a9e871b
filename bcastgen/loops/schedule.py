"""Scheduling: which inner loops a nest has.

In: a nest.  Out: its variants, most specific first; the last one, `any`, serves every call.

    a, b -> r   ->  unit (all contiguous), zero_a, zero_b (that operand is one value along the loop), any (strides)

The plan made at run time picks the first variant whose classes match the strides at hand.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise, product

from .nest import Access, Nest

__all__ = ["ANY", "UNIT", "ZERO", "Schedule", "Variant", "schedule"]

UNIT, ZERO, ANY = "unit", "zero", "any"

# More inner loops cost compile time for strides that hardly occur; beyond this many, `any` serves.
MAX_VARIANTS = 8


@dataclass(frozen=True, slots=True)
class Variant:
    """One inner loop: a stride class for each of the nest's operands, and one for all results."""

    name: str
    operands: tuple[str, ...]
    results: str

    def __str__(self) -> str:
        return f"{self.name}: operands ({', '.join(self.operands)}), results {self.results}"


@dataclass(frozen=True, slots=True)
class Schedule:
    """The inner loops of one nest."""

    variants: tuple[Variant, ...]

    def __str__(self) -> str:
        if not self.variants:
            return "schedule\n  nothing is computed"
        return "schedule\n" + "\n".join(f"  {variant}" for variant in self.variants)


def schedule(nest: Nest, variants: int | None = None, ranked: bool = False) -> Schedule:
    """Choose the inner loops of a nest.

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
    possible = [_classes(access, ranked) for access in nest.operands]
    likely = sorted(product(*possible), key=_unlikeliness)
    specialised = tuple(_variant(nest, classes) for classes in likely if UNIT in classes or not count)[:limit]
    return Schedule((*specialised, Variant(ANY, (ANY,) * count, ANY)))


def _unlikeliness(classes: tuple[str, ...]) -> tuple[int, int]:
    """Order what several operands do together: few that stand still, and those side by side, as (x1, y1, x2, y2) do."""
    groups = sum(one != other for one, other in pairwise(classes))
    zeros = classes.count(ZERO)
    return (zeros, groups) if len(classes) < 4 else (groups, zeros)


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


def _variant(nest: Nest, classes: tuple[str, ...]) -> Variant:
    names = [access.name for access, kind in zip(nest.operands, classes, strict=True) if kind == ZERO]
    return Variant("_".join((ZERO, *names)) if names else UNIT, classes, UNIT)
