"""Arrays of Zarr: read, and written, by blocks of whole chunks, so that memory holds one block of each.

In: a kernel, and arrays of which some are Zarr's.  Out: ndarrays, or the arrays of `out`.

    call(gelu, (source,), {"out": target}, {})  ->  target, computed block by block

A kernel that reduces, moves or declares dims sees whole operands: these are read at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

import numpy as np

from ..core.errors import ArgumentError, BroadcastError
from ..kernel.handed_over import is_elementwise
from ..runtime.foreign import integration_of
from ..runtime.slow_path import clean_operand

__all__ = ["call"]

Shape = tuple[int, ...]
Block = tuple[slice, ...]

# Small chunks are computed together, up to so many elements: each read costs Zarr a fraction of a millisecond.
_BLOCK_ELEMENTS = 1 << 20


def call(kernel: Any, values: tuple[object, ...], named: Mapping[str, object], keywords: Mapping[str, object]) -> Any:
    """Return a kernel's results; of each Zarr array a block is in memory at a time, if the kernel is element-wise.

    Raises
    ------
    BroadcastError
        If operands do not fit, or an `out` has another shape than the result.
    DTypeError
        If operands have no dtype of a kernel's, or an `out` has one that the result's does not convert to.
    ArgumentError
        If outs are too few or too many, or results have several shapes.
    """
    pairs = zip(kernel.operands, values, strict=True)
    operands = [value if _is_zarr(value) else clean_operand(name, value) for name, value in pairs]
    where = keywords.get("where", True)
    where = where if where is True or _is_zarr(where) else np.asarray(where)
    results = _outs(kernel, named.get("out"))
    whole = not is_elementwise(kernel) or "extents" in named
    if whole:
        blocks: Iterator[Block | None] = iter([None])
        keywords = {**keywords, **{name: named[name] for name in ("extents",) if name in named}}
    else:
        shape = _domain(kernel, operands, where, results)
        blocks = _blocks(shape, _step(shape, (*results, *operands)))
        # Results of earlier blocks are not to be read by later ones.
        arrays = [out for out in results if isinstance(out, np.ndarray)]
        operands = [_apart(value, arrays) for value in operands]
    for block in blocks:
        given = {**keywords, "where": where if where is True else _part(where, block)}
        into = tuple(_buffer(out, block, where is True) for out in results)
        made = kernel(*(_part(value, block) for value in operands), out=into, **given)
        made = made if isinstance(made, tuple) else (made,)
        for at, (value, out) in enumerate(zip(made, results, strict=True)):
            if out is None and not whole:
                results[at] = np.empty(shape, np.asarray(value).dtype)
                results[at][block] = value
            elif out is None:
                results[at] = value
            elif _is_zarr(out):
                out[... if block is None else block] = value
    return results[0] if len(results) == 1 else tuple(results)


def _is_zarr(value: object) -> bool:
    return integration_of(type(value)) == "zarr_arrays"


def _outs(kernel: Any, out: Any) -> list[Any]:
    """Return an array of NumPy's or Zarr's, or None, for each result."""
    count, name = len(kernel.results), f"{kernel._name}()"
    outs = [None] * count if out is None or out is ... else [*out] if isinstance(out, tuple) else [out]
    if len(outs) != count:
        raise ArgumentError(
            f"{name} takes out as a tuple of {count} arrays (or None), one a result, not of {len(outs)}"
        )
    for result, one in zip(kernel.results, outs, strict=True):
        if one is not None and not isinstance(one, np.ndarray) and not _is_zarr(one):
            raise ArgumentError(f"{name} takes out as an array, not {type(one).__name__} (result '{result}')")
    return outs


def _domain(kernel: Any, operands: list[Any], where: Any, outs: list[Any]) -> Shape:
    """Return the shape that all results have."""
    found = kernel.result_shape(*(np.shape(value) for value in operands))
    shapes: set[Shape] = {found} if len(kernel.results) == 1 else set(found)
    if len(shapes) > 1:
        raise ArgumentError(
            f"{kernel._name}() has results of the shapes {' and '.join(map(str, sorted(shapes)))}, and Zarr arrays are "
            "computed by blocks of one shape; write a kernel for each, or pass x[...]"
        )
    shape = np.broadcast_shapes(shapes.pop(), np.shape(where))
    for name, out in zip(kernel.results, outs, strict=True):
        if out is not None and out.shape != shape:
            raise BroadcastError(f"{kernel._name}(): out of result '{name}' has shape {out.shape}, expected {shape}")
    return shape


def _apart(value: Any, outs: list[Any]) -> Any:
    """Return an operand, copied if an out shares its memory at other places."""
    if isinstance(value, np.ndarray):
        place = value.__array_interface__["data"], value.shape, value.strides
        for out in outs:
            if np.may_share_memory(value, out):
                same = place == (out.__array_interface__["data"], out.shape, out.strides)
                value = value if same else value.copy()
    return value


def _step(shape: Shape, arrays: tuple[Any, ...]) -> Shape:
    """Return the extents of a block: whole chunks of the first Zarr array that has the results' shape."""
    stored = [array for array in arrays if _is_zarr(array) and array.shape == shape]
    if not stored:
        stored = sorted(filter(_is_zarr, arrays), key=lambda array: -array.size)[:1]
    chunks = [(getattr(array, "shards", None) or array.chunks) for array in stored[:1]]
    missing = len(shape) - len(chunks[0]) if chunks else 0
    step = [*shape[:missing], *(chunks[0] if chunks else ())]
    sizes = [max(extent if given == 1 else given, 1) for extent, given in zip(shape, step, strict=True)]
    # Later dims first: neighbours there are neighbours in memory.
    for at in reversed(range(len(shape))):
        rest = int(np.prod(sizes))
        fits = max(_BLOCK_ELEMENTS // rest, 1)
        sizes[at] = min(sizes[at] * fits, max(shape[at], 1))
    return tuple(sizes)


def _blocks(shape: Shape, step: Shape) -> Iterator[Block | None]:
    ranges = [range(0, max(extent, 1), size) for extent, size in zip(shape, step, strict=True)]
    for starts in product(*ranges):
        yield tuple(slice(a, min(a + size, n)) for a, size, n in zip(starts, step, shape, strict=True))


def _part(value: Any, block: Block | None) -> Any:
    """Return the elements of an operand that a block reads; dims of extent 1 stretch over all blocks."""
    if block is None:
        return value[...] if _is_zarr(value) else value
    if not hasattr(value, "shape"):
        return value
    own = block[len(block) - len(value.shape) :]
    parts = [slice(None) if n == 1 else part for n, part in zip(value.shape, own, strict=True)]
    index = (..., *parts)
    return value[index]


def _buffer(out: Any, block: Block | None, is_new: bool) -> Any:
    """Return the ndarray that a block's result is written to: what a mask leaves out keeps its value."""
    if out is None:
        return None
    if not (_is_zarr(out) and is_new):
        index = (..., *(block or ()))
        return out[index]
    extents = out.shape if block is None else tuple(part.stop - part.start for part in block)
    return np.empty(extents, out.dtype)
