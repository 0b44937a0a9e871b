"""The axes of a reduction, checked against the rank of its value.

In: a reduction and a rank.  Out: the dims that it combines, or an error that says which axes there are.

    sum(x, axis=-1), 2  ->  (1,)
"""

from __future__ import annotations

from ..core.errors import AxisError, BroadcastError
from .nodes import Operand, Reduce, topological

__all__ = ["check_axes", "normal_axes"]


def normal_axes(node: Reduce, rank: int) -> tuple[int, ...]:
    """Return the dims that a reduction of a value of this rank combines, in order.

    A value without dims has an axis 0 for NumPy's reductions, as an array of one element has; for means it has none.

    Raises
    ------
    AxisError
        If an axis is out of range.
    BroadcastError
        If an axis is named twice.
    """
    if node.axes is None:
        return tuple(range(rank))
    if rank == 0 and node.axes in ((0,), (-1,)) and not node.op.divides:
        return ()
    dims = []
    for axis in node.axes:
        if not -rank <= axis < rank:
            cure = f"use {-rank} to {rank - 1}" if rank else "use None"
            found = f"axis {axis} is out of range for a value of rank {rank} ({_origin(node)})"
            raise AxisError(f"{node.op.name}: {found}; {cure}", axis=axis, ndim=rank)
        dims.append(axis % rank)
    if len(set(dims)) != len(dims):
        which = f"axes {list(node.axes)} of a value of rank {rank} ({_origin(node)})"
        raise BroadcastError(f"{node.op.name}: {which} name a dim twice; name each once")
    return tuple(sorted(dims))


def _origin(node: Reduce) -> str:
    """Return which operand a reduction combines, or which ones its value is computed from."""
    if isinstance(node.operand, Operand):
        return f"operand '{node.operand.name}'"
    names = [f"'{one.name}'" for one in topological((node.operand,)) if isinstance(one, Operand)]
    return f"computed from {', '.join(names[:4])}{', ...' * (len(names) > 4)}"


def check_axes(node: Reduce, rank: int) -> None:
    """Raise a BroadcastError if a reduction's axes do not fit a value of this rank."""
    normal_axes(node, rank)
