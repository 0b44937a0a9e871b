"""Arrays of Dask: a call of a kernel becomes one layer of blocks, and each chain of element-wise layers one kernel.

In: a kernel and Dask arrays.  Out: a Dask array of the result's dtype; nothing is computed.

    call(gelu, (x,), {}, {})       ->  a layer of gelu's blocks, named by what is computed
    fused(bg.exp(x) * 2 + y)       ->  a layer of one kernel: exp(x) * 2 + y

Kernels travel to other processes as expressions; each machine compiles one once, into its cache. A block is computed by
one thread, since Dask has threads and processes of its own.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping
from functools import lru_cache
from graphlib import TopologicalSorter
from typing import Any

import dask.array as da
import numpy as np
from dask.array import chunk
from dask.array.core import _enforce_dtype
from dask.base import is_dask_collection, tokenize
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


def fused(*given: Any) -> Any:
    """Return Dask arrays whose runs of element-wise layers are one kernel each; see :func:`bcastgen.fuse`."""
    arrays = [array for each in given for array in _arrays_of(each)]
    joined = iter(_joined(arrays))
    made = tuple(_with_arrays(each, joined) for each in given)
    return made if len(made) > 1 else made[0]


def _arrays_of(given: Any) -> list[Any]:
    """Return the Dask arrays that an argument is or holds."""
    if isinstance(given, da.Array):
        return [given]
    if hasattr(given, "data_vars"):
        return [held.data for held in given.data_vars.values() if is_dask_collection(held)]
    inner = None if isinstance(given, np.ndarray) else getattr(given, "data", None)
    if not isinstance(inner, da.Array):
        kind = with_article(type(given).__name__)
        raise DTypeError(f"fuse() takes Dask arrays, or xarray objects of some, not {kind}")
    return [inner]


def _with_arrays(given: Any, joined: Iterator[Any]) -> Any:
    """Return an argument with the next arrays in place of those that it is or holds."""
    if isinstance(given, da.Array):
        return next(joined)
    if hasattr(given, "data_vars"):
        held = {name: one for name, one in given.data_vars.items() if is_dask_collection(one)}
        return given.assign({name: one.copy(data=next(joined)) for name, one in held.items()})
    return given.copy(data=next(joined))


def _joined(arrays: list[Any]) -> list[Any]:
    """Return arrays of one graph in which each run of layers that are an expression together is one layer.

    A layer that is read by others than those of its run keeps its name, and so its keys: these others stay as they are.
    """
    if not arrays:
        return []
    names = {array.name for array in arrays}
    graph = HighLevelGraph.merge(*(array.dask for array in arrays)).cull_layers(names)
    layers, needs = dict(graph.layers), dict(graph.dependencies)
    read = {below for above in needs.values() for below in above}
    renamed: dict[str, str] = {}
    for last, members in _runs(graph, names).items():
        chain = _Chain(graph.layers, members, last)
        kernel = chain.kernel() if len(members) > 1 else None
        if kernel is None:
            continue
        name = last
        if last not in read:
            renamed[last] = name = f"fused-{tokenize(kernel, *chain.leaves)}"
        for member in members:
            del layers[member], needs[member]
        layers[name], needs[name] = chain.layer(name, kernel), set(chain.leaves)
    whole, made = HighLevelGraph(layers, needs), []
    for array in arrays:
        name = renamed.get(array.name, array.name)
        own = whole.cull_layers({name})
        same = all(array.dask.layers.get(key) is layer for key, layer in own.layers.items())
        made.append(array if same else da.Array(own, name, array.chunks, meta=array._meta))
    return made


def _runs(graph: HighLevelGraph, wanted: set[str]) -> dict[str, set[str]]:
    """Return the layers that are an expression together, by the one whose result others read or the caller wants."""
    order = list(TopologicalSorter(graph.dependencies).static_order())[::-1]
    users: dict[str, list[str]] = {name: [] for name in order}
    for name, needs in graph.dependencies.items():
        for below in needs:
            users[below].append(name)
    parts = {name for name in order if _is_part(graph, name)}
    while True:
        last: dict[str, str] = {}
        for name in order:
            if name in parts:
                above = {last.get(user) for user in users[name]}
                found = above.pop() if len(above) == 1 and name not in wanted else None
                alike = found is not None and graph.layers[found].annotations == graph.layers[name].annotations
                last[name] = found if found is not None and alike else name
        # A layer that takes one result out of a tuple of results cannot be an expression alone.
        apart = {name for name in last if _takes_one(graph.layers[name]) and _is_parted(graph.layers[name], name, last)}
        if not apart:
            break
        parts -= apart
    runs: dict[str, set[str]] = {}
    for name, end in last.items():
        runs.setdefault(end, set()).add(name)
    return runs


def _takes_one(layer: Any) -> bool:
    return isinstance(layer.task.func, operator.itemgetter)


def _is_parted(layer: Any, name: str, last: dict[str, str]) -> bool:
    return any(last[name] != last.get(key) for key, index in layer.indices if index is not None)


def _is_part(graph: HighLevelGraph, name: str) -> bool:
    """Whether a layer computes each element from those at its place, by a function that can be traced."""
    layer = graph.layers[name]
    if not isinstance(layer, Blockwise) or layer.output != name:
        return False
    if layer.new_axes or layer.io_deps or layer.output_blocks is not None:
        return False
    out, task = layer.output_indices, layer.task
    refs = [blockwise_token(at) for at in range(len(layer.indices))]
    takes = [getattr(argument, "key", None) for argument in task.args] == refs
    for key, index in layer.indices:
        aligned = index is not None and tuple(index) == tuple(out[len(out) - len(index) :])
        takes &= (aligned and key in graph.dependencies[name]) or (index is None and isinstance(key, _SCALARS))
    if not takes:
        return False
    function, options = task.func, set(task.kwargs)
    if isinstance(function, KernelBlock | operator.itemgetter):
        return not options
    if function is chunk.astype:
        return options <= {"astype_dtype"}
    if function is _enforce_dtype:
        function = task.kwargs["enforce_dtype_function"]
        options -= {"enforce_dtype", "enforce_dtype_function"}
    known = function in _FUNCTIONS or (isinstance(function, np.ufunc) and function.signature is None)
    return known and not options and _traced(_Chain(graph.layers, {name}, name)) is not None


def _traced(chain: _Chain) -> Any:
    """Return what a chain computes as an expression, or None if it has a function that kernels have not."""
    try:
        return trace(chain.value, chain.operands)
    except BcastgenError:
        return None


class _Chain:
    """Layers that are an expression together, and the layers that they read."""

    def __init__(self, layers: Mapping[str, Any], members: set[str], last: str) -> None:
        self.layers, self.last = layers, last
        # The members, each after what it reads.
        self.order: list[str] = []
        # What they read, with how many blocks each has along its dims; in the order in which the expression names it.
        self.leaves: dict[str, tuple[int, ...]] = {}
        seen, path = set(), [last]
        while path:
            layer = layers[path[-1]]
            below = (key for key, index in layer.indices if index is not None and key not in seen)
            key = next(below, None)
            if key is None:
                self.order.append(path.pop())
                seen.add(self.order[-1])
            elif key in members:
                path.append(key)
            else:
                seen.add(key)
                self.leaves[key] = tuple(layer.numblocks[key])
        self.operands = tuple(f"x{at}" for at in range(len(self.leaves)))

    def value(self, *given: Any) -> Any:
        """Return what the layers compute from stand-ins for the leaves; each layer once."""
        known: dict[str, Any] = dict(zip(self.leaves, given, strict=True))
        for name in self.order:
            layer = self.layers[name]
            values = [key if index is None else known[key] for key, index in layer.indices]
            function = layer.task.func
            if isinstance(function, KernelBlock):
                known[name] = function.kernel(*values)
            elif function is chunk.astype:
                known[name] = values[0].astype(layer.task.kwargs["astype_dtype"])
            elif function is _enforce_dtype:
                made = layer.task.kwargs["enforce_dtype_function"](*values)
                known[name] = made.astype(layer.task.kwargs["enforce_dtype"])
            else:
                known[name] = function(*values)
        return known[self.last]

    def kernel(self) -> Kernel | None:
        """Return the kernel of the layers; None if kernels lack their functions, or dtypes of the leaves."""
        expression = _traced(self)
        described = [self.layers[leaf].collection_annotations or {} for leaf in self.leaves]
        if expression is None or any(one.get("chunk_type") != "numpy.ndarray" for one in described):
            return None
        kernel = Kernel(expression, "fused", self.operands, len(expression.results))
        try:
            blocks = [clean_operand("x", np.empty(0, one["dtype"])) for one in described]
            kernel._compilation(tuple(from_key(operand_code(block)) for block in blocks))
        except BcastgenError:
            return None
        return kernel

    def layer(self, name: str, kernel: Kernel) -> Blockwise:
        """Return the layer of this name that calls the kernel on the blocks of the leaves."""
        last = self.layers[self.last]
        index = tuple(range(len(last.output_indices)))
        pairs: list[Any] = []
        for leaf, counts in self.leaves.items():
            pairs += [leaf, index[len(index) - len(counts) :]]
        dtype = (last.collection_annotations or {}).get("dtype") if len(kernel.results) == 1 else None
        made = blockwise(KernelBlock(kernel, dtype), name, index, *pairs, numblocks=self.leaves)
        made.annotations, made.collection_annotations = last.annotations, last.collection_annotations
        return made
