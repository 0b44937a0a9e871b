"""Chains of Dask's element-wise layers as one kernel.

In: a Dask array, or an xarray object of one.  Out: the same, whose blocks one kernel computes.

    bg.fuse(numpy.exp(x) * 2 + y)
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from ..core.errors import BcastgenError

__all__ = ["fuse"]


def fuse(array: Any) -> Any:
    """Return a Dask array whose chain of element-wise layers is one kernel, so that blocks have no temporaries.

    Layers of kernels, of NumPy's ufuncs and of operators, ``astype`` and ``where`` are joined, down to what is no such
    layer: data that is read, rechunked, transposed or reduced. A layer that others use, too, is computed twice.

    Parameters
    ----------
    array : of Dask, or a DataArray or Dataset of xarray that has such arrays.

    Returns
    -------
    object
        The same kind; the array itself where there is nothing to join. Nothing is computed.

    Raises
    ------
    BcastgenError
        If Dask is not installed, or the object is no such array.

    Examples
    --------
    >>> import numpy as np, bcastgen as bg, dask.array as da  # doctest: +SKIP
    >>> x = da.from_array(np.arange(4.0), chunks=2)  # doctest: +SKIP
    >>> bg.fuse(np.exp(x) * 2 + 1).compute()  # doctest: +SKIP
    """
    try:
        module = import_module("bcastgen.integrations.dask_arrays")
    except ImportError as error:
        raise BcastgenError(f"fuse() needs Dask ({error}); pip install 'bcastgen[dask]'") from error
    return module.fused(array)
