"""Writes the lines of a TOSA function: makes ranks equal, infers types, and adds constants where they are used.

In: ops and their operands.  Out: lines in a block, and a value with its type.

    text.op("add", [a, two], F32) with a : f32[?, 4]
        ->  %c2.0 = "tosa.const"() {values = dense<2.0> : tensor<1x1xf32>} : () -> tensor<1x1xf32>
            %v0 = tosa.add %a, %c2.0 : (tensor<?x4xf32>, tensor<1x1xf32>) -> tensor<?x4xf32>
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...core.dtypes import DType, dtype
from ...core.errors import BcastgenError, BroadcastError
from ...core.frozen import dataclass
from ...shape.inference.broadcast import broadcast
from ...shape.types.dim import DYNAMIC, Dim
from ...shape.types.tensor_type import TensorType
from ..linalg.block import TextBlock, number
from .table import TosaOp, find_tosa

if TYPE_CHECKING:
    import numpy as np

__all__ = ["FunctionPrinter", "Scalar", "Tensor", "TextValue", "dtype_of", "plain"]


@dataclass(frozen=True, slots=True)
class Tensor:
    """A tensor in the text: its name and its type."""

    name: str
    type: TensorType


@dataclass(frozen=True, slots=True)
class Scalar:
    """A constant number; it is written as a tensor with the rank of the operands beside it."""

    value: bool | int | float
    dtype: DType


TextValue = Tensor | Scalar


class FunctionPrinter:
    """The lines of a function, each of which defines a value."""

    def __init__(self) -> None:
        self.block = TextBlock(2)
        self._made = 0

    def op(
        self,
        name: str,
        operands: list[TextValue],
        element: DType,
        attributes: str = "",
        wanted: TensorType | None = None,
    ) -> Tensor:
        """Write a TOSA op: operands that broadcast are given one rank, one-element operands follow them."""
        row = find_tosa(name)
        assert row is not None
        rank = max((len(value.type.dims) for value in operands[: row.arity] if isinstance(value, Tensor)), default=0)
        given = [self.ranked(value, rank) for value in operands[: row.arity]]
        shape = broadcast([(str(number), value.type) for number, value in enumerate(given)]).dims
        type_ = TensorType(element, tuple(Dim(dim.extent) if dim.is_static else DYNAMIC for dim in shape))
        if wanted is not None and wanted.rank == rank:
            type_ = _merged(type_, wanted.dims)
        given += self._extra(row, operands[row.arity :], given[0])
        names, types = ", ".join(value.name for value in given), ", ".join(value.type.mlir for value in given)
        return self.line(f"tosa.{name} {names}{attributes} : ({types}) -> {type_.mlir}", type_)

    def _extra(self, row: TosaOp, values: list[TextValue], first: Tensor) -> list[Tensor]:
        """Return the one-element operands, which are zero by default."""
        found = []
        for index, name in enumerate(row.extra):
            zero = Scalar(0, dtype("i8") if name == "shift" else dtype_of(first))
            value = values[index] if values else zero
            dims = () if isinstance(value, Scalar) else value.type.dims
            if len(dims) > 1 or any(not dim.is_one for dim in dims):
                raise BcastgenError(f"tosa.{row.name} takes one {name} for all elements, and here it varies")
            found.append(self.ranked(value, 1))
        return found

    def narrowed(self, value: Tensor, dims: tuple[Dim, ...]) -> Tensor:
        """Return a value cast to a type that also has these known extents."""
        type_ = _merged(value.type, dims)
        if type_ == value.type:
            return value
        text = f"tensor.cast {value.name} : {value.type.mlir} to {type_.mlir}"
        return Tensor(self.block.op(f"{value.name[1:]}_cast", text), type_)

    def ranked(self, value: TextValue, rank: int) -> Tensor:
        """Return a value of a rank, with dims of extent 1 added in front."""
        ones = (Dim(1),) * (rank if isinstance(value, Scalar) else rank - len(value.type.dims))
        return self.constant(value, ones) if isinstance(value, Scalar) else self.reshaped(value, ones + value.type.dims)

    def reshaped(self, value: Tensor, dims: tuple[Dim, ...]) -> Tensor:
        """Return a value with dims of extent 1 added or dropped."""
        if dims == value.type.dims:
            return value
        if sum(dim.extent is None for dim in dims) > 1:
            raise BroadcastError(
                f"'{value.name[1:]}' is {value.type} and meets rank {len(dims)}: TOSA reshapes one dim of unknown "
                "extent at most; declare the others, or give operands one rank"
            )
        type_ = TensorType(value.type.dtype, dims)
        extents = [-1 if dim.extent is None else dim.extent for dim in dims]
        shape = self.block.op(
            "shape",
            f"tosa.const_shape {{values = dense<{extents}> : tensor<{len(dims)}xindex>}} : () -> "
            f"!tosa.shape<{len(dims)}>",
        )
        text = f"tosa.reshape {value.name}, {shape} : ({value.type.mlir}, !tosa.shape<{len(dims)}>) -> {type_.mlir}"
        return Tensor(self.block.op(f"{value.name[1:]}_shaped", text), type_)

    def dense(self, name: str, type_: TensorType, values: np.ndarray[Any, Any]) -> Tensor:
        """Return a constant tensor of these values."""
        said = type_.mlir
        text = f'"tosa.const"() {{values = dense<{_elements(values.tolist(), type_)}> : {said}}} : () -> {said}'
        return Tensor(self.block.op(name, text), type_)

    def constant(self, value: Scalar, dims: tuple[Dim, ...]) -> Tensor:
        """Return a constant tensor whose elements all have one value."""
        type_ = TensorType(value.dtype, dims)
        text = number(value.value, value.dtype.mlir)
        made = self.block.op(
            f"c{text.replace('+', '')}",
            f'"tosa.const"() {{values = dense<{text}> : {type_.mlir}}} : () -> {type_.mlir}',
        )
        return Tensor(made, type_)

    def line(self, text: str, type_: TensorType) -> Tensor:
        """Write an operation with a result of this type."""
        found = self.block.op(f"v{self._made}", text)
        self._made += 1
        return Tensor(found, type_)


def _elements(values: Any, type_: TensorType) -> str:
    if isinstance(values, list):
        return f"[{', '.join(_elements(value, type_) for value in values)}]"
    assert type_.dtype is not None
    return number(values, type_.dtype.mlir)


def dtype_of(value: TextValue) -> DType:
    """Return the dtype of a value's elements."""
    found = value.dtype if isinstance(value, Scalar) else value.type.dtype
    assert found is not None
    return found


def plain(type_: TensorType, name: str) -> TensorType:
    """Return a type without the facts that TOSA cannot express."""
    if type_.unranked:
        raise BroadcastError(f"{name} is {type_}, but TOSA needs ranks; declare them")
    if any(dim.extent == 0 for dim in type_.dims):
        raise BroadcastError(f"{name} is {type_}, but TOSA has no extents of 0")
    return TensorType(type_.dtype, tuple(Dim(dim.extent) if dim.is_static else DYNAMIC for dim in type_.dims))


def _merged(type_: TensorType, dims: tuple[Dim, ...]) -> TensorType:
    """Return a type with every extent that is known in it or in these dims."""
    known = (own if own.extent is not None else other for own, other in zip(type_.dims, dims, strict=True))
    return TensorType(type_.dtype, tuple(Dim(dim.extent) if dim.extent is not None else DYNAMIC for dim in known))
