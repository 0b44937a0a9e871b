"""Free extents: those of a view's dims that no operand determines, so that the caller gives them.

In: an expression with explicit broadcasts.  Out: a number for each free extent.

    broadcast[shape=[_, 5, k], dims=[1]](x)  ->  free extent 0 is that of dim 0, free extent 1 is k

Each becomes an operand of rank 1 without data, whose extent is the one the caller gives. Seed 004: the operand of
``t = broadcast a : ? x ? -> ? x ? x ?`` alone does not tell the shape of t.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..core.errors import BroadcastError
from .nodes import Expression, Node, Reduce, Remap, topological

__all__ = ["free_extent_names", "free_extents_again", "free_extents_of", "has_views"]


def has_views(results: tuple[Node, ...]) -> bool:
    """True if a result needs an indexing map that aligning on the right does not give, as where dims are reduced."""
    return any(isinstance(node, (Reduce, Remap)) for node in topological(results))


def free_extents_of(results: tuple[Node, ...], bound: set[str | None]) -> dict[tuple[Remap, int], int]:
    """Number the free extents: return (view, dim) -> number. Dims of one name have one number, others one each.

    Parameters
    ----------
    results : of an expression.
    bound : the names that operands' types give an extent to.

    Raises
    ------
    BroadcastError
        For an extent that is computed from names, unless an operand's type has the same: a caller gives names.
    """
    from .views import Broadcast, is_free  # noqa: PLC0415 - most kernels have no views

    numbers: dict[tuple[Remap, int], int] = {}
    by_name: dict[str, int] = {}
    count = 0
    for node in topological(results):
        if not isinstance(node, Remap) or not isinstance(node.view, Broadcast) or node.view.shape is None:
            continue
        mapped = set(node.view.dims or ())
        for view_dim, dim in enumerate(node.view.shape):
            if not is_free(dim) or (dim is None and view_dim in mapped) or (dim is not None and dim.symbol in bound):
                continue
            symbol = None if dim is None else dim.symbol
            if dim is not None and dim.is_computed:
                raise BroadcastError(
                    f"dim {view_dim} of {node.view} is {dim}, which no operand's type says; "
                    "declare a dim of an operand so, or write a name"
                )
            if symbol is not None and symbol in by_name:
                numbers[(node, view_dim)] = by_name[symbol]
                continue
            numbers[(node, view_dim)] = count
            if symbol is not None:
                by_name[symbol] = count
            count += 1
    return numbers


def free_extents_again(
    results: tuple[Node, ...], whole: Expression, views: Mapping[Node, Node], bound: set[str | None]
) -> tuple[int, ...]:
    """Return `free_extents` of an expression that was made from some or all values of another one.

    Parameters
    ----------
    results : of the new expression.
    whole : the other one.
    views : the view in `whole` that each view of the new expression was.
    bound : the names that operands' types give an extent to.
    """
    if not whole.free_extents:
        return ()
    before = free_extents_of(whole.results, bound)
    found: dict[int, int] = {}
    for (node, dim), number in free_extents_of(results, bound).items():
        view = views[node]
        assert isinstance(view, Remap)
        found[number] = whole.free_extents[before[(view, dim)]]
    return tuple(found[number] for number in range(len(found)))


def free_extent_names(results: tuple[Node, ...], bound: set[str | None]) -> tuple[str | None, ...]:
    """Return the name of each free extent, by its number; None where it has no name."""
    from .views import Broadcast  # noqa: PLC0415 - most kernels have no views

    names: dict[int, str | None] = {}
    for (node, view_dim), number in free_extents_of(results, bound).items():
        assert isinstance(node.view, Broadcast) and node.view.shape is not None
        dim = node.view.shape[view_dim]
        names[number] = None if dim is None else dim.symbol
    return tuple(names[number] for number in range(len(names)))
