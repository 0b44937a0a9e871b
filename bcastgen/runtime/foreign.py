"""Arrays that are no ndarrays, and whose library bcastgen knows: which module of `integrations` reads them.

In: the class of an operand.  Out: the name of a module, or None.

    integration_of(torch.Tensor)  ->  "torch_tensors"          integration_of(list)  ->  None

Nothing is imported to find out: an object's library has been imported by its owner.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

__all__ = ["integration_of"]

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


def integration_of(kind: type) -> str | None:
    """Return the module of `integrations` that reads objects of a class; None if it is of no library known here."""
    return _found(kind)


@lru_cache(maxsize=1024)
def _found(kind: Any) -> str | None:
    rows = ((base.__module__.partition(".")[0], base.__name__) for base in kind.__mro__)
    return next((_MODULES[row] for row in rows if row in _MODULES), None)
