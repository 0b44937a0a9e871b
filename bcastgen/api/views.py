"""Views as users call them: another indexing map over the same elements, in a kernel and outside of one.

In: an array, or an operand of a kernel that is being traced.  Out: a view of it; nothing is computed or copied.

    broadcast_in_dim(a, (2, 3, 4), dims=(2, 0))[i, j, k]  is  a[k, i]

All six maps of a matrix into three dims are kernels. A broadcast that has to be in memory is
``broadcast_to(x, shape).copy()``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.errors import BroadcastError, DTypeError, with_article
from ..core.options import whole
from ..expr import trace
from ..expr.views import Broadcast, Transpose, dims_of

__all__ = ["broadcast_in_dim", "broadcast_to", "transpose"]


def transpose(x: Any, axes: Sequence[int] | None = None) -> Any:
    """Return x with its dims in another order: dim i of the view is dim ``axes[i]`` of x.

    Parameters
    ----------
    x : an array, or an operand while a kernel is traced.
    axes : the order, every dim once; reversed by default.

    Raises
    ------
    BroadcastError
        If the axes are not each dim once.

    Examples
    --------
    >>> transpose(np.zeros((2, 3))).shape
    (3, 2)
    """
    if trace.is_tracer(x):
        return trace.transpose(x, axes)
    array = _array(x)
    view = Transpose(None if axes is None else _numbers("axes", axes)).resolve(array.ndim)
    return array.transpose(np.argsort(_all(view.dims)))


def broadcast_in_dim(x: Any, shape_or_like: Any, dims: Sequence[int] | None = None) -> Any:
    """Return x broadcast to a shape, its own dims at the places that `dims` says.

    Parameters
    ----------
    x : an array, an operand or value while a kernel is traced, or a number.
    shape_or_like : the extents of the result, or an operand (outside of a kernel: an array) that has them. In a kernel
        an extent may be a name (:class:`bcastgen.Dim`: an operand's, or else the caller's to give) or None: that of
        what the dim meets, or the caller's.
    dims : for each dim of x, the dim of the result that it is; by default the last ones, in order.

    Returns
    -------
    ndarray or traced value
        A view of stride 0 along the dims that x does not have; read-only.

    Raises
    ------
    BroadcastError
        If an extent of x is neither 1 nor that of the result, or `dims` does not have one dim for each of x.

    Notes
    -----
    The map is static. As in XLA's ``broadcast_in_dim``, an extent of `x` may also be 1 and stretch;
    ``bcastgen.jit(stretch=False)`` forbids that.

    Examples
    --------
    >>> a = np.array([[1, 2], [3, 4]])
    >>> bool(broadcast_in_dim(a, (2, 3, 2), (2, 0))[1, 2, 0] == a[0, 1])
    True
    """
    if trace.is_tracer(x) or trace.is_tracer(shape_or_like):
        return trace.broadcast_in_dim(x, shape_or_like, dims)
    array = _array(x)
    shape = np.shape(shape_or_like) if isinstance(shape_or_like, np.ndarray) else shape_or_like
    places = None if dims is None else _numbers("dims", dims)
    view = Broadcast(places, dims_of(shape)).resolve(array.ndim)
    extents = [None if dim is None else dim.extent for dim in view.shape]
    if None in extents:
        raise BroadcastError(f"the extent of dim {extents.index(None)} is not known; give a number outside of a kernel")
    return _expanded(array, _all(view.dims), tuple(extent for extent in extents if extent is not None))


def _array(x: Any) -> np.ndarray[Any, Any]:
    try:
        return np.asarray(x)
    except ValueError as error:
        raise DTypeError(f"operand 'x' is {with_article(type(x).__name__)} that is not an array: {error}") from error


def _numbers(what: str, given: Sequence[int]) -> tuple[int, ...]:
    try:
        numbers = [*map(whole, given)]
    except TypeError:  # an int, or an array without dims
        numbers = [None]
    if None in numbers:
        raise BroadcastError(f"{what}={given!r} are no dims; give a tuple of integers")
    return tuple(number for number in numbers if number is not None)


def _all(dims: tuple[int | None, ...]) -> tuple[int, ...]:
    """Return the dims of a view that drops no dim of its value, typed without None."""
    return tuple(dim for dim in dims if dim is not None)


def _expanded(array: np.ndarray[Any, Any], dims: tuple[int, ...], shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    for own, (at, extent) in enumerate(zip(dims, array.shape, strict=True)):
        if extent not in (1, shape[at]):
            raise BroadcastError(
                f"operand 'x' dim {own} has extent {extent}, expected 1 or {shape[at]} (dim {at} of the shape)",
                operand="x",
                dim=own,
                actual=extent,
                expected=shape[at],
            )
    ordered = array.transpose(sorted(range(array.ndim), key=dims.__getitem__))
    spread = ordered[tuple(slice(None) if at in dims else None for at in range(len(shape)))]
    return np.broadcast_to(spread, shape)


def broadcast_to(x: Any, shape_or_like: Any) -> Any:
    """Return x broadcast to a shape, its dims aligned on the right; its ``.copy()`` has the broadcast in memory.

    Parameters
    ----------
    x, shape_or_like : as for :func:`broadcast_in_dim`.

    Examples
    --------
    >>> broadcast_to(np.array([1, 2]), (2, 2)).copy()
    array([[1, 2],
           [1, 2]])
    """
    return broadcast_in_dim(x, shape_or_like)
