"""Tensors of PyTorch on the CPU: read and written without copies.

In: a tensor.  Out: an ndarray over its memory; and a tensor over an ndarray's.

    as_ndarray("operand 'x' of k()", tensor)  ->  array(...)          as_own(array, tensor)  ->  tensor(...)
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch._C._functorch import is_functorch_wrapped_tensor

from ..core import dtypes
from ..core.errors import DTypeError, TraceError, with_article

__all__ = ["as_ndarray", "as_own", "written"]

# Dtypes that NumPy has only through ml_dtypes: torch's and ours, by name. Their bits travel as integers.
_BY_BITS = {
    "bfloat16": ("bf16", "int16"),
    "float8_e4m3fn": ("f8e4m3fn", "uint8"),
    "float8_e4m3fnuz": ("f8e4m3fnuz", "uint8"),
    "float8_e5m2": ("f8e5m2", "uint8"),
    "float8_e5m2fnuz": ("f8e5m2fnuz", "uint8"),
}


def as_ndarray(what: str, tensor: Any, is_out: bool = False) -> np.ndarray[Any, Any]:
    """Return an ndarray over a tensor's memory.

    Raises
    ------
    DTypeError
        If the tensor is on another device, sparse or quantised, or records gradients; says how to convert it.
    TraceError
        If torch is tracing a function, or maps it over a dim.
    """
    if torch.jit.is_tracing():
        raise TraceError(
            f"{what} is traced by torch.jit, which would keep the result for a constant; register the kernel "
            "(torch.library, docs/arrays.md), or call it outside of the traced function"
        )
    if tensor.is_nested:
        raise DTypeError(
            f"{what} is a nested tensor, whose parts have shapes of their own; call the kernel on each of x.unbind(), "
            "or pass torch.nested.to_padded_tensor(x, value)"
        )
    if type(tensor) not in (torch.Tensor, torch.nn.Parameter):
        raise DTypeError(f"{what} is {with_article(type(tensor).__name__)}, which may mean more; pass a plain tensor")
    if tensor.device.type != "cpu":
        raise DTypeError(f"{what} is a tensor on {tensor.device}, and kernels compute on the CPU; pass x.cpu()")
    if tensor.layout is not torch.strided or tensor.is_quantized:
        dense = "x.dequantize()" if tensor.is_quantized else "x.to_dense()"
        raise DTypeError(f"{what} is a tensor whose elements are not stored one by one; pass {dense}")
    if tensor.requires_grad and torch.is_grad_enabled():
        raise DTypeError(
            f"{what} is a tensor that requires grad, and kernels have no gradients; pass x.detach(), call the kernel "
            "under torch.no_grad(), or register it with its gradient (torch.library, docs/arrays.md)"
        )
    if is_out and (tensor.is_conj() or tensor.is_neg()):
        raise DTypeError(f"{what} is a conjugated or negated view; pass a tensor of its own")
    if is_functorch_wrapped_tensor(tensor):
        raise TraceError(
            f"{what} is seen by a transform of torch (vmap, torch.func), which cannot look into a kernel; call it with "
            "the whole tensor, since kernels broadcast, or register it (torch.library, docs/arrays.md)"
        )
    plain = tensor.detach().resolve_conj().resolve_neg()
    name = str(plain.dtype).removeprefix("torch.")
    if name in _BY_BITS:
        ours, bits = _BY_BITS[name]
        found: np.ndarray[Any, Any] = plain.view(getattr(torch, bits)).numpy().view(dtypes.dtype(ours).np)
        return found
    try:
        return plain.numpy()  # type: ignore[no-any-return]
    except TypeError as error:
        raise DTypeError(f"{what} is a tensor of {plain.dtype}, which NumPy has not; pass x.float()") from error


def as_own(array: np.ndarray[Any, Any], _like: object) -> Any:
    """Return a tensor over an array's memory."""
    for name, (ours, bits) in _BY_BITS.items():
        # Those of ml_dtypes are no dtypes of NumPy's own.
        if array.dtype.isbuiltin != 1 and array.dtype == dtypes.dtype(ours).np:
            return torch.from_numpy(array.view(bits)).view(getattr(torch, name))
    return torch.from_numpy(array)


def written(tensor: Any) -> None:
    """Tell torch that an out has changed, so that gradients that need its old values are refused."""
    torch.autograd.graph.increment_version(tensor)
