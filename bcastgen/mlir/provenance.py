"""The place in MLIR's text that a failing call of a kernel comes from: the op, its line and its column.

In: a function, and the extents of a call that its kernel has refused.  Out: the error with the op's place.

    operand 'b' dim 0 has extent 2, expected 1 or 3 (from 'a')
        -> model.mlir:3:10: error: 'tosa.add' op operand 'b' dim 0 has extent 2, expected 1 or 3 (from 'a')

A kernel checks all ops of a function at once, so it cannot tell which of them has failed. The extents of the call are
therefore followed through the function, as types are on import, to the first op that refuses them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from ..core.errors import BcastgenError, BroadcastError
from ..core.frozen import dataclass
from ..shape.types.dim import Dim
from ..shape.types.tensor_type import TensorType
from .extents import Extents
from .importer import live_values
from .ir import Function, Operation, Source
from .options import ReadOptions
from .tosa.meeting import decide, tensor_of

__all__ = ["Provenance"]

Error = TypeVar("Error", bound=BcastgenError)


@dataclass(frozen=True, slots=True, eq=False)
class Provenance:
    """The function that a kernel was made of.

    Attributes
    ----------
    function, source, options : as given to the import.
    results : the names of the returned values in the text.
    """

    function: Function
    source: Source
    options: ReadOptions
    results: tuple[str, ...]

    def located(self, error: Error, shapes: Sequence[tuple[int, ...]]) -> Error:
        """Return the error of a call with the place of the op that refuses its shapes, or of the function if none does.

        Parameters
        ----------
        error : the call's error; its class and attributes stay.
        shapes : the operands' shapes, in order; constants may follow.
        """
        found = self._first_refusal(shapes)
        if found is None:
            return self.source.locate(error, self.function.location, f"'func.func' op @{self.function.name}")
        operation = self._operations[found]
        return self.source.locate(error, operation.location, f"'{operation.name}' op")

    @property
    def _operations(self) -> tuple[Operation, ...]:
        return () if self.function.body is None else self.function.body.operations

    def _first_refusal(self, shapes: Sequence[tuple[int, ...]]) -> int | None:
        """Return the index of the op at which a call fails; None if an argument's type refuses it, or no op does."""
        extents = Extents(self.options)
        arguments = () if self.function.body is None else self.function.body.arguments
        for value, shape in zip(arguments, shapes, strict=False):
            declared = tensor_of(value)
            called = TensorType(declared.dtype, tuple(map(Dim, shape)))
            try:
                decide((called,), declared, True, (str(value),), f"{value} as declared")
            except BroadcastError:
                return None
            extents.types[value] = called
        live = live_values(self.function)
        for at, operation in enumerate(self._operations[:-1]):
            if live.isdisjoint(operation.results):
                continue
            try:
                extents.add(operation)
            except BroadcastError:
                return at
        return None
