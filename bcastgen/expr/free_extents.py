"""Slots: the dims of views whose extents the caller gives where no operand determines them.

In: an expression with explicit broadcasts.  Out: a number for each dim left open.

    broadcast[shape=[_, 5, k], dims=[1]](x)  ->  slot 0 is dim 0, slot 1 is k

Each slot becomes an operand of rank 1 without data, whose extent is the one the caller gives. Seed 004: of
``t = broadcast a : ? x ? -> ? x ? x ?`` alone, the shape of t is not known.
"""

from __future__ import annotations

from .nodes import Node, Remap, topological

__all__ = ["has_views", "slot_names", "slots_of"]


def has_views(results: tuple[Node, ...]) -> bool:
    """True if an indexing map of a result is not decided by aligning on the right."""
    return any(isinstance(node, Remap) for node in topological(results))


def slots_of(results: tuple[Node, ...], bound: set[str | None]) -> dict[tuple[Remap, int], int]:
    """Number the dims of views that may be the caller's to give: one number a name, one for each dim left open.

    Parameters
    ----------
    results : of an expression.
    bound : the names that operands' types give an extent to.
    """
    from .views import Broadcast, is_free  # noqa: PLC0415 - most kernels have no views

    slots: dict[tuple[Remap, int], int] = {}
    names: dict[str, int] = {}
    count = 0
    for node in topological(results):
        if not isinstance(node, Remap) or not isinstance(node.view, Broadcast) or node.view.shape is None:
            continue
        taken = set(node.view.dims or ())
        for at, dim in enumerate(node.view.shape):
            if not is_free(dim) or (dim is None and at in taken) or (dim is not None and dim.symbol in bound):
                continue
            symbol = None if dim is None else dim.symbol
            if symbol is not None and symbol in names:
                slots[(node, at)] = names[symbol]
                continue
            slots[(node, at)] = count
            if symbol is not None:
                names[symbol] = count
            count += 1
    return slots


def slot_names(results: tuple[Node, ...], bound: set[str | None]) -> tuple[str | None, ...]:
    """Return the name of each slot, None where it has none."""
    from .views import Broadcast  # noqa: PLC0415 - most kernels have no views

    found: dict[int, str | None] = {}
    for (node, at), slot in slots_of(results, bound).items():
        assert isinstance(node.view, Broadcast) and node.view.shape is not None
        dim = node.view.shape[at]
        found[slot] = None if dim is None else dim.symbol
    return tuple(found[slot] for slot in range(len(found)))
