"""Follows the extents of a function's values from op to op, beyond those in their types.

In: the arguments' types, or the extents of a call.  Out: what is known of each value; the error of an op that fails.

    %0 = tensor.cast %a : tensor<1xf32> to tensor<?xf32>                   %0 has extent 1, and in strict mode stays so
    %1 = tosa.add %0, %b : (tensor<?xf32>, tensor<5xf32>) -> tensor<5xf32>    BroadcastError in strict mode

Import needs this in strict mode, where a dim stretches only if its own type says 1, since a function's expression has
no types of intermediate values. A failing call is followed in the same way, with its extents, to the op that fails.
"""

from __future__ import annotations

from ..core.errors import BroadcastError
from ..ops.rows.reductions import REDUCTIONS
from ..shape.types.dim import DYNAMIC, Dim
from ..shape.types.tensor_type import TensorType
from .ir import Operation, Value
from .options import ReadOptions
from .tosa.attributes import number
from .tosa.meeting import spanned, tensor_of
from .tosa.reductions import reduced_dims
from .tosa.table import find_reduction, find_tosa
from .tosa.transpose import permutation

__all__ = ["Extents"]


class Extents:
    """What is known of the extents of one function's values, in `types`; each op adds its result.

    Parameters
    ----------
    options : whether a dim of unknown extent stretches, and whether ranks may differ.
    """

    def __init__(self, options: ReadOptions) -> None:
        self._options = options
        self.types: dict[Value, TensorType] = {}

    def seen(self, value: Value) -> TensorType:
        """Return a value's type as ops use it: in strict mode a 1 that its declared type lacks never stretches."""
        known, declared = self.types[value], tensor_of(value)
        if known.unranked or not self._options.is_strict:
            return known
        said = declared.dims if not declared.unranked else (DYNAMIC,) * len(known.dims)
        dims = (
            Dim(1, broadcast=False) if dim.extent == 1 and not own.is_static else dim
            for dim, own in zip(known.dims, said, strict=True)
        )
        return TensorType(known.dtype, tuple(dims))

    def add(self, operation: Operation) -> tuple[int, ...]:
        """Add what is known of an op's result.

        Returns
        -------
        tuple of int
            The dims of the result that have to have extent 1, because an operand has it and does not stretch.

        Raises
        ------
        BroadcastError
            If no extents fit; the message has no location.
        """
        if not operation.results:
            return ()
        result = operation.results[0]
        if result.type.tensor is None:
            # The result is a shape, which only tosa.reshape reads.
            return ()
        row = find_tosa(operation.name.removeprefix("tosa.")) if operation.name.startswith("tosa.") else None
        if row is None:
            self.types[result] = self._unchanged(operation)
            return ()
        operands = operation.operands[: row.arity]
        seen = tuple(map(self.seen, operands))
        inferred = spanned(operands, seen, result, self._options.rank_expansion)
        self.types[result] = _merged(tensor_of(result), inferred)
        kept = {position for type_ in seen for position, _, dim in type_.aligned if dim.extent == 1 and not dim.is_one}
        return tuple(sorted(len(inferred.dims) - position for position in kept))

    def _unchanged(self, operation: Operation) -> TensorType:
        """Return what is known of the result of an op that changes no extents but those of 1."""
        result = operation.results[0]
        declared = tensor_of(result)
        reduction = find_reduction(operation.name)
        if reduction is not None:
            known, axis = self.types[operation.operands[0]], number(operation, "axis")
            if known.unranked or axis is None:
                return declared
            if REDUCTIONS[reduction.row].identity is None and known.dims[int(axis.value)].extent == 0:
                raise BroadcastError(
                    f"has no elements along axis {axis.value}, and no value for none; give it one or more"
                )
            dims = reduced_dims(known, int(axis.value), REDUCTIONS[reduction.row].gives_index)
            return _merged(declared, TensorType(known.dtype, dims))
        if operation.name not in ("tensor.cast", "tosa.reshape", "tosa.transpose"):
            return declared
        known, before = self.types[operation.operands[0]], tensor_of(operation.operands[0])
        if operation.name == "tosa.transpose":
            dims = tuple(known.dims[dim] for dim in permutation(operation))
            return _merged(declared, TensorType(known.dtype, dims))
        if operation.name == "tosa.reshape":
            # The reader has verified that the dims that are not 1 keep their order.
            kept = iter([dim for dim, own in zip(known.dims, before.dims, strict=True) if not own.is_one])
            known = TensorType(known.dtype, tuple(dim if dim.is_one else next(kept) for dim in declared.dims))
        spanned(operation.operands[:1], (known,), result, rank_expansion=True)
        return _merged(declared, known)


def _merged(declared: TensorType, known: TensorType) -> TensorType:
    """Return a value's type with all extents that are known of it."""
    if known.unranked or declared.unranked:
        return known if declared.unranked else declared
    if len(known.dims) != len(declared.dims):
        raise BroadcastError(f"a value of rank {len(known.dims)} has the type {declared.mlir}")
    for at, (own, dim) in enumerate(zip(declared.dims, known.dims, strict=True)):
        if None not in (own.extent, dim.extent) and own.extent != dim.extent:
            raise BroadcastError(f"result dim {at} has extent {own.extent}, expected {dim.extent}")
    dims = (own if own.is_static else Dim(dim.extent) for own, dim in zip(declared.dims, known.dims, strict=True))
    return TensorType(declared.dtype, tuple(dims))
