"""Arrays that are no ndarrays, and whose library bcastgen knows: which module of `integrations` reads them, if any.

In: the class of an operand.  Out: the name of a module, or what to pass in place of the object, or None.

    integration_of(torch.Tensor)  ->  "torch_tensors"          integration_of(list)  ->  None
    instead_of(polars.LazyFrame)  ->  "x.collect()"

Nothing is imported to find out: an object's library has been imported by its owner. And a decorator that keeps
torch.compile out of bcastgen's own functions.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Any, TypeVar

__all__ = ["instead_of", "integration_of", "unseen_by_dynamo"]

_Function = TypeVar("_Function", bound=Callable[..., Any])

# By the package and the name of a class or of one of its bases.
_MODULES = {
    ("torch", "Tensor"): "torch_tensors",
    ("jax", "Tracer"): "jax_arrays",
    ("jax", "Array"): "jax_arrays",
    ("jaxlib", "Array"): "jax_arrays",
    ("jaxlib", "ArrayImpl"): "jax_arrays",
    ("dask", "Array"): "dask_arrays",
    ("polars", "Series"): "polars_series",
    ("pyarrow", "Array"): "arrow_arrays",
    ("pyarrow", "ChunkedArray"): "arrow_arrays",
    ("zarr", "Array"): "zarr_arrays",
    ("scipy", "SparseABC"): "sparse_arrays",
    ("scipy", "_spbase"): "sparse_arrays",
}
# What is passed in place of objects that are no arrays, though NumPy would make some of them.
_INSTEAD = {
    ("polars", "LazyFrame"): "x.collect()",
    ("pyarrow", "Scalar"): "x.as_py()",
    ("zarr", "Group"): "one of its arrays, as x['name']",
    ("h5py", "Group"): "one of its arrays, as x['name']",
}


def integration_of(kind: type) -> str | None:
    """Return the module of `integrations` that reads objects of a class; None if it is of no library known here."""
    return _found(kind)[0]


def instead_of(kind: type) -> str | None:
    """Return what to pass in place of an object of a class that is no array; None if it may be one."""
    return _found(kind)[1]


@lru_cache(maxsize=1024)
def _found(kind: Any) -> tuple[str | None, str | None]:
    rows = [(base.__module__.partition(".")[0], base.__name__) for base in kind.__mro__]
    module = next((_MODULES[row] for row in rows if row in _MODULES), None)
    return module, next((_INSTEAD[row] for row in rows if row in _INSTEAD), None)


def unseen_by_dynamo(function: _Function) -> _Function:
    """Decorate a function that torch.compile must not look into, nor into what it calls.

    A function that torch compiles goes on in plain Python where it calls a kernel, but torch then compiles each frame
    of Python that it comes to, and cannot do so with bcastgen's.
    """
    hidden: Callable[..., Any] | None = None

    @wraps(function)
    def call(*given: Any) -> Any:
        nonlocal hidden
        if "torch._dynamo" not in sys.modules:
            return function(*given)
        if hidden is None:
            hidden = sys.modules["torch"].compiler.disable(function)
        return hidden(*given)

    return call  # type: ignore[return-value]
