"""Gives MLIR types for values of nests: tensors of signless integers and floats.

In: a dtype, or a declared type.  Out: text.

    u8 -> i8        f32[?, 4] -> tensor<?x4xf32>
"""

from __future__ import annotations

from ...core.dtypes import DType
from ...shape.types.tensor_type import TensorType
from ..facts import facts_of
from .block import quoted

__all__ = ["compute_type", "declared_type", "facts_text", "signless", "tensor_type"]


def signless(dtype: DType) -> str:
    """Return the MLIR type of a dtype, integers without their sign.

    Examples
    --------
    >>> from bcastgen.core.dtypes import dtype
    >>> [signless(dtype(name)) for name in ("bool", "u8", "f32")]
    ['i1', 'i8', 'f32']
    """
    return dtype.mlir.removeprefix("u") if dtype.is_integer else dtype.mlir


def compute_type(dtype: DType) -> str:
    """Return the MLIR type that an op computes values of a dtype in."""
    return signless(dtype.computed_in)


def tensor_type(extents: tuple[int | None, ...], element: str) -> str:
    """Return the type of a tensor; None is an unknown extent."""
    dims = "".join("?x" if extent is None else f"{extent}x" for extent in extents)
    return f"tensor<{dims}{element}>"


def declared_type(type_: TensorType) -> str:
    """Return the type of an operand or result; a vector becomes a tensor."""
    assert type_.dtype is not None
    return tensor_type(tuple(dim.extent for dim in type_.dims), signless(type_.dtype))


def facts_text(type_: TensorType) -> str:
    """Return the facts on an argument or a result that MLIR's type lacks, as attributes behind it, or an empty text.

    Examples
    --------
    >>> from bcastgen.shape.types.tensor_type import parse_type
    >>> facts_text(parse_type("f32[n>=2, 4]")), facts_text(parse_type("f32[?, 4]"))
    (' {bcastgen.dims = ["n>=2", "4"]}', '')
    """
    said = (f"{name} = [{', '.join(map(quoted, texts))}]" for name, texts in facts_of(type_).items())
    return "".join(f" {{{one}}}" for one in said)
