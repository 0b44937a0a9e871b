"""Arrays of Dask: a call of a kernel becomes one layer of blocks, and chains of element-wise layers one kernel.

In: a kernel and Dask arrays.  Out: a Dask array of the result's dtype; nothing is computed.

    call(gelu, (x,), {}, {})       ->  a layer of gelu's blocks, named by what is computed
    fused(bg.exp(x) * 2 + y)       ->  a layer of one kernel: exp(x) * 2 + y

Kernels travel to other processes as expressions; each machine compiles one once, into its cache. A block is computed by
one thread, since Dask has threads and processes of its own.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import dask.array as da
import numpy as np
from dask.array import chunk
from dask.base import tokenize
from dask.blockwise import Blockwise, blockwise, blockwise_token
from dask.highlevelgraph import HighLevelGraph

from ..core.dtypes import from_key
from ..core.errors import BcastgenError, DTypeError, placed, with_article
from ..expr.trace import trace
from ..kernel.handed_over import is_elementwise
from ..kernel.identity import single_threaded
from ..kernel.kernel import Kernel
from ..kernel.ufunc_keywords import KEYWORDS
from ..runtime.keys import operand_code
from ..runtime.slow_path import clean_operand

__all__ = ["KernelBlock", "call", "fused"]

# Functions of blocks that are an expression: Python's operators and some of NumPy's, beside its ufuncs.
_FUNCTIONS = {getattr(operator, name) for name in operator.__all__ if not name.startswith(("i", "get", "set"))}
_FUNCTIONS |= {np.where, np.clip, np.round}
_SCALARS = (bool, int, float, complex, np.generic)


@lru_cache(maxsize=256)
def _single(kernel: Kernel) -> Kernel:
    """Return the kernel of this process that computes blocks: with one thread."""
    found: Kernel = single_threaded(kernel)
    return found


class KernelBlock:
    """What Dask calls on each block: a kernel, and the dtype of its result if there is one."""

    def __init__(self, kernel: Kernel, dtype: np.dtype[Any] | None) -> None:
        self.kernel, self.dtype = kernel, dtype
        self.__name__ = kernel._name

    def __call__(self, *blocks: Any) -> Any:
        """Return the kernel's result for a block of each operand."""
        made = _single(self.kernel)(*blocks, out=...)
        return made if self.dtype is None or made.dtype == self.dtype else made.astype(self.dtype)

    def __dask_tokenize__(self) -> Any:
        return self.kernel.__dask_tokenize__(), str(self.dtype)


def call(
    kernel: Kernel, values: tuple[object, ...], named: Mapping[str, object], keywords: Mapping[str, object]
) -> Any:
    """Return the Dask array, or the tuple of them, that a call of a kernel computes block by block.

    Raises
    ------
    DTypeError
        If the kernel is not element-wise, or the call has arguments that no block has.
    BroadcastError
        If the shapes do not fit.
    """
    if not is_elementwise(kernel):
        raise DTypeError(
            f"{kernel._name}() reduces, moves or declares dims, and sees one block of a Dask array; reduce with "
            "Dask and pass the results to an element-wise kernel, or use dask.array.map_blocks"
        )
    taken = [name for name, value in keywords.items() if value is not KEYWORDS[name]]
    out = named.get("out")
    taken += ["out"] if out is not None and out is not ... else []
    if taken:
        cure = {"where": "numpy.where", "out": "dask.array.store"}.get(taken[0], ".astype")
        raise DTypeError(f"{kernel._name}(): {taken[0]}= is not taken with Dask arrays; use {cure}")
    operands = [_operand(name, value) for name, value in zip(kernel.operands, values, strict=True)]
    shapes = [value.shape if isinstance(value, da.Array) else () for value in operands]
    if not any(np.isnan(extent) for shape in shapes for extent in shape):
        kernel.result_shape(*shapes)
    dtypes = _result_dtypes(kernel, operands)
    rank = max(map(len, shapes))
    index = tuple(range(rank))
    pairs: list[Any] = []
    for value, shape in zip(operands, shapes, strict=True):
        pairs += [value, index[rank - len(shape) :] if isinstance(value, da.Array) else None]
    name = f"{kernel._name}-{tokenize(kernel, *operands)}"
    metas = [np.empty((0,) * rank, dtype) for dtype in dtypes]
    if len(dtypes) == 1:
        block = KernelBlock(kernel, dtypes[0])
        return da.blockwise(block, index, *pairs, name=name, dtype=dtypes[0], meta=metas[0])
    whole = da.blockwise(KernelBlock(kernel, None), index, *pairs, name=f"{name}-all", dtype=object, meta=metas[0])
    return tuple(
        da.blockwise(operator.itemgetter(at), index, whole, index, name=f"{name}-{at}", dtype=dtype, meta=meta)
        for at, (dtype, meta) in enumerate(zip(dtypes, metas, strict=True))
    )


def _operand(name: str, value: Any) -> Any:
    """Return an operand as a Dask array, or as the number it is."""
    if isinstance(value, da.Array):
        if type(value._meta) is not np.ndarray:
            raise DTypeError(
                f"operand '{name}' is a Dask array of blocks that are {type(value._meta).__name__}; kernels compute "
                "blocks that are ndarrays: pass x.map_blocks(numpy.asarray)"
            )
        return value
    value = clean_operand(name, value)
    return da.asarray(value) if isinstance(value, np.ndarray) and value.ndim else value


def _result_dtypes(kernel: Kernel, operands: list[Any]) -> list[np.dtype[Any]]:
    """Return the dtypes of a kernel's results; nothing is compiled."""
    blocks = (
        clean_operand(name, np.empty(0, value.dtype)) if isinstance(value, da.Array) else value
        for name, value in zip(kernel.operands, operands, strict=True)
    )
    kinds = tuple(from_key(operand_code(block)) for block in blocks)
    try:
        return [row.np for row in kernel._compilation(kinds).typed.result_dtypes]
    except BcastgenError as error:
        raise placed(error, kernel._shown_call(list(kinds))) from None


# ---- fusion ----------------------------------------------------------------------------------------------------------


def fused(array: Any) -> Any:
    """Return a Dask array whose chain of element-wise layers is one kernel; see :func:`bcastgen.fuse`."""
    if hasattr(array, "data_vars"):
        return array.map(fused, keep_attrs=True)
    if not isinstance(array, da.Array):
        inner = None if isinstance(array, np.ndarray) else getattr(array, "data", None)
        if not isinstance(inner, da.Array):
            kind = with_article(type(array).__name__)
            raise DTypeError(f"fuse() takes a Dask array, or an xarray object of one, not {kind}")
        return array.copy(data=fused(inner))
    layers = array.dask.layers
    chain = _Chain(layers)
    if not chain.is_part(array.name) or len(chain.gather(array.name)) < 2:
        return array
    names = tuple(f"x{at}" for at in range(len(chain.leaves)))
    try:
        expression = trace(lambda *given: chain.value(array.name, dict(zip(chain.leaves, given, strict=True))), names)
    except BcastgenError:
        return array
    kernel = Kernel(expression, "fused", names)
    name = f"fused-{tokenize(kernel, *chain.leaves)}"
    index = tuple(range(array.ndim))
    pairs: list[Any] = []
    for leaf, counts in chain.leaves.items():
        pairs += [leaf, index[array.ndim - len(counts) :]]
    layer = blockwise(KernelBlock(kernel, array.dtype), name, index, *pairs, numblocks=chain.leaves)
    needs, left = {name: set(chain.leaves)}, list(chain.leaves)
    while left:
        below = left.pop()
        if below not in needs:
            needs[below] = array.dask.dependencies[below]
            left += needs[below]
    graph = HighLevelGraph({name: layer} | {below: layers[below] for below in needs if below != name}, needs)
    return da.Array(graph, name, array.chunks, meta=array._meta)


class _Chain:
    """The layers that are an expression together, and the layers that they read."""

    def __init__(self, layers: Mapping[str, Any]) -> None:
        self.layers = layers
        # With how many blocks each has along its dims.
        self.leaves: dict[str, tuple[int, ...]] = {}

    def is_part(self, name: str) -> bool:
        """Whether a layer computes each element from those at its place, by a function that can be traced."""
        layer = self.layers.get(name)
        if not isinstance(layer, Blockwise) or layer.new_axes or layer.io_deps or layer.output != name:
            return False
        out, task = layer.output_indices, layer.task
        for key, index in layer.indices:
            aligned = index is not None and tuple(index) == tuple(out[len(out) - len(index) :])
            if not aligned and not (index is None and isinstance(key, _SCALARS)):
                return False
        refs = [blockwise_token(at) for at in range(len(layer.indices))]
        if [getattr(argument, "key", None) for argument in task.args] != refs:
            return False
        function = task.func
        if function is chunk.astype:
            return set(task.kwargs) <= {"astype_dtype"}
        known = isinstance(function, KernelBlock | operator.itemgetter) or function in _FUNCTIONS
        return not task.kwargs and bool(known or (isinstance(function, np.ufunc) and function.signature is None))

    def gather(self, name: str) -> set[str]:
        """Note the leaves below a layer, and return the layers that are part of the chain."""
        found = {name}
        for key, index in self.layers[name].indices:
            if index is None or key in found:
                continue
            if self.is_part(key):
                found |= self.gather(key)
            else:
                self.leaves[key] = tuple(self.layers[name].numblocks[key])
        return found

    def value(self, name: str, known: dict[str, Any]) -> Any:
        """Return what a layer computes from stand-ins for the leaves; each layer once."""
        if name not in known:
            layer = self.layers[name]
            given = [key if index is None else self.value(key, known) for key, index in layer.indices]
            function = layer.task.func
            if isinstance(function, KernelBlock):
                known[name] = function.kernel(*given)
            elif function is chunk.astype:
                known[name] = given[0].astype(layer.task.kwargs["astype_dtype"])
            else:
                known[name] = function(*given)
        return known[name]
