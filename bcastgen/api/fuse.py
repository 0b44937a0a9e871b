"""Runs of Dask's element-wise layers as one kernel each.

In: Dask arrays, or xarray objects of some.  Out: the same, whose blocks kernels compute.

    bg.fuse(numpy.exp(x) * 2 + y)
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from ..core.errors import BcastgenError

__all__ = ["fuse"]


def fuse(array: Any, *more: Any) -> Any:
    """Return a Dask array whose runs of element-wise layers are one kernel each, so that blocks have no temporaries.

    Layers of kernels, of NumPy's ufuncs and of operators, ``astype`` and ``where`` are joined wherever they are in the
    graph: also below a reduction, a slice or a rechunk, which stay as they are. A layer that is read at several places
    ends a run, so that it is computed once.

    Parameters
    ----------
    array, *more : of Dask, or DataArrays or Datasets of xarray that have such arrays.

    Returns
    -------
    object
        The same kind, and a tuple of them for several, whose common layers stay common; an array itself where there is
        nothing to join. Nothing is computed.

    Raises
    ------
    BcastgenError
        If Dask is not installed, or an object is no such array.

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
    return module.fused(array, *more)
