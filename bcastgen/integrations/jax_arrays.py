"""Arrays of JAX on the CPU: read without a copy, and made over the memory of results.

In: a JAX array.  Out: an ndarray over its memory; and a JAX array over an ndarray's.

    as_ndarray("operand 'x' of k()", jnp.ones(3))  ->  array([1., 1., 1.], dtype=float32)
"""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

from ..core.errors import DTypeError, TraceError

__all__ = ["as_ndarray", "as_own"]


def as_ndarray(what: str, array: Any, is_out: bool = False) -> np.ndarray[Any, Any]:
    """Return a read-only ndarray over an array's memory.

    Raises
    ------
    DTypeError
        If the array is on another device, or is to be written to.
    TraceError
        If JAX is tracing a function.
    """
    if isinstance(array, jax.core.Tracer):
        raise TraceError(
            f"{what} is traced by JAX (jit, grad, vmap), which cannot look into a kernel; call it through "
            "jax.pure_callback (docs/arrays.md), or outside of the traced function"
        )
    if is_out:
        raise DTypeError(f"{what} is a JAX array, which is never written to; leave out= away")
    if any(device.platform != "cpu" for device in array.devices()):
        raise DTypeError(f"{what} is on {array.device}, and kernels compute on the CPU; pass jax.device_get(x)")
    return np.asarray(array)


def as_own(array: np.ndarray[Any, Any], _like: object) -> Any:
    """Return a JAX array over an array's memory; of the dtype that JAX keeps (`jax_enable_x64`)."""
    kept = jax.dtypes.canonicalize_dtype(array.dtype)
    if array.dtype.kind in "iufc" and kept == array.dtype and array.size:
        # Nobody else holds a new result, so JAX may take its memory for its own.
        return jax.dlpack.from_dlpack(array)
    return jax.numpy.asarray(array)
