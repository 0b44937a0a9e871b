"""Columns: the extents that meet in one dim, from which an extent that the caller leaves out is inferred.

In: the uses of each result.  Out: the extents, known ones or operands' dims, of one dim, or an extent and its target.

    (f64[?] a, f64[?] b) -> broadcast_to(a, (k,)) + b    ->   (k.0, b.0), (a.0, k.0)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from ...shape.inference.operand_use import OperandDim, Target, Use
from ...shape.types.dim import Dim
from .uses import Reads

__all__ = ["Column", "columns_of"]

Column = tuple[int | OperandDim, ...]


def columns_of(reads: Iterable[Reads], homes: Mapping[str, OperandDim]) -> tuple[Column, ...]:
    """Return the columns of all results; `homes` maps each symbol to the operand's dim that binds it."""
    found: dict[Column, None] = {}
    for read in reads:
        met: dict[int, dict[int | OperandDim, None]] = {}
        for use in read.all_uses:
            for position, item, target in _items(use, homes):
                if target is None:
                    met.setdefault(position, {})[item] = None
                else:
                    found[item, target] = None
        found.update(dict.fromkeys(map(tuple, met.values())))
    return tuple(found)


def _items(
    use: Use, homes: Mapping[str, OperandDim]
) -> Iterator[tuple[int, int | OperandDim, int | OperandDim | None]]:
    """Yield the position, the extent and the target of each dim of a use, except dropped dims."""
    for position, own, dim in use.aligned:
        item = _item(dim, homes) if use.is_target_shape else None
        known = (use.name, own) if dim.extent is None else dim.extent
        yield position, known if item is None else item, _item(use.target(own), homes)


def _item(target: Target, homes: Mapping[str, OperandDim]) -> int | OperandDim | None:
    match target:
        case Dim(value=int(extent)):
            return extent
        case Dim(value=str(symbol)):
            return homes[symbol]
        case Dim():
            return None
    return target
