"""Which constraints types leave undecided: exactly those that some run-time extents would break.

In: operand types and the domain they span.  Out: constraints, in operand, then dim order.

    a: f32[?, 4], b: f32[5, 1], domain [5, 4] -> a.0 in {1, 5}
    a: f32[?], b: f32[1], domain [?]          -> nothing: b stretches whatever a is

Of one dim of the domain an operand says nothing (it has a 1 there, or no such dim), a known extent, a named one, or an
unknown one of its own. Where two operands say different things the dim is contested, and each of them whose extent
is not known needs a check.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from .constraints import Constraint, ExtentIs, RankAtLeast, RankIs, SameExtent, Stretches, StretchesAll
from .dim import Dim
from .tensor_type import TensorType

__all__ = ["Operand", "Symbols", "entry_ranks", "stretching", "undecided"]

Operand: TypeAlias = tuple[str, TensorType]
# Symbol -> where it occurs first: operand, its dim.
Symbols: TypeAlias = Mapping[str, tuple[str, int]]


def entry_ranks(operands: Sequence[Operand]) -> list[Constraint]:
    """Return what types say of ranks; to be checked first, since dims mean nothing in arrays of other ranks."""
    ranks: list[Constraint] = []
    for name, type_ in operands:
        if type_.rank is not None:
            ranks.append(RankIs(name, type_.rank))
        elif type_.dims:
            ranks.append(RankAtLeast(name, len(type_.dims)))
    return ranks


def undecided(
    operands: Sequence[Operand], dims: tuple[Dim, ...], symbols: Symbols, entry: bool = False
) -> list[Constraint]:
    """Return the constraints that types leave to run time.

    Parameters
    ----------
    operands : names and types.
    dims : the domain they span.
    symbols : where each symbol occurs first.
    entry : include known extents, which only a caller with an array of another type breaks.
    """
    contested = _contested(operands, len(dims))
    unranked = [name for name, type_ in operands if type_.unranked]
    constraints: list[Constraint] = []
    stretched: set[tuple[str, int]] = set()
    for index, (name, type_) in enumerate(operands):
        for position, own, dim in type_.aligned:
            if dim.extent is not None:
                constraints += [ExtentIs(name, own, dim.extent)] if entry else []
                continue
            implied = False
            if dim.symbol is not None:
                if symbols[dim.symbol] != (name, own):
                    constraints.append(SameExtent(name, own, *symbols[dim.symbol], dim.symbol))
                # The symbol's first occurrence in this domain dim is checked, and this one is equal to it.
                implied = (dim.symbol, position) in stretched
                stretched.add((dim.symbol, position))
            if position in contested and not implied and not type_.unranked:
                domain_dim = -position if unranked else len(dims) - position
                constraints.append(Stretches(name, own, domain_dim, dims[-position].extent))
        if type_.unranked and (len(unranked) > 1 or contested & _open_positions(index, type_, len(dims))):
            constraints.append(StretchesAll(name))
    return constraints


def stretching(operands: Sequence[Operand], dims: tuple[Dim, ...]) -> frozenset[tuple[str, int]]:
    """Return the dims (operand, own dim) of unknown extent that stretch if it proves to be 1 at run time.

    More dims than constraints speak of: of a symbol that occurs twice in a domain dim only the first is checked, and
    both stretch.
    """
    contested = _contested(operands, len(dims))
    return frozenset(
        (name, own)
        for name, type_ in operands
        for position, own, dim in type_.aligned
        if position in contested and not dim.is_static
    )


def _claim(index: int, type_: TensorType, position: int) -> Dim | int | None:
    """What an operand says of a dim: nothing (None), a known or named extent, or one of its own (its index)."""
    if position > len(type_.dims):
        return index if type_.unranked else None
    dim = type_.dims[-position]
    if dim.is_one:
        return None
    return index if dim.value is None else dim


def _contested(operands: Sequence[Operand], rank: int) -> set[int]:
    claims = {p: {_claim(index, type_, p) for index, (_, type_) in enumerate(operands)} for p in range(1, rank + 1)}
    return {position for position, said in claims.items() if len(said - {None}) > 1}


def _open_positions(index: int, type_: TensorType, rank: int) -> set[int]:
    """Return the positions at which the operand's extent is not known."""
    claims = {position: _claim(index, type_, position) for position in range(1, rank + 1)}
    return {p for p, claim in claims.items() if claim is not None and not (isinstance(claim, Dim) and claim.is_static)}
