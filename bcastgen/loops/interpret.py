"""The Python interpreter of loop nests: the second oracle, independent of any C.

In: a loop program and NumPy arrays.  Out: its results, or the error that the C would end in.

    interpret(program, (a, b))  ->  one ndarray a result

It checks the printed constraints and follows the printed maps element by element, so what `explain` shows is what is
tested. Values come from the rows' references, which are NumPy's own functions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import BroadcastError, DomainError
from ..expr.nodes import Constant
from .nest import Let, Load, LoopProgram, Nest, Value

__all__ = ["interpret"]

Array = np.ndarray[Any, Any]


def interpret(program: LoopProgram, operands: Sequence[Array]) -> tuple[Array, ...]:
    """Run a loop program over arrays.

    Parameters
    ----------
    program : its nests.
    operands : one array for each of the program's operands, of the declared dtypes.

    Raises
    ------
    BroadcastError
        If a constraint does not hold; the message is the constraint.
    DomainError
        If an element is outside the domain of an operation.
    """
    results: dict[int, Array] = {}
    for nest in program.nests:
        arrays = [np.asarray(operands[access.position]) for access in nest.operands]
        domain = _domain(nest, arrays)
        outs = [np.empty(domain, access.dtype.np) for access in nest.results]
        for point in np.ndindex(domain):
            read = [
                array[access.map.evaluate(point, array.shape)]
                for array, access in zip(arrays, nest.operands, strict=True)
            ]
            values = _values(nest, read)
            for out, value in zip(outs, nest.stores, strict=True):
                out[point] = _value(value, read, values)
        results.update((access.position, out) for access, out in zip(nest.results, outs, strict=True))
    return tuple(results[at] for at in range(len(program.results)))


def _domain(nest: Nest, arrays: Sequence[Array]) -> tuple[int, ...]:
    extents = {access.name: array.shape for access, array in zip(nest.operands, arrays, strict=True)}
    rank = max([len(nest.domain.dims), *(array.ndim for array in arrays)])
    domain = [1] * (rank - len(nest.domain.dims)) + [
        1 if dim.extent is None else dim.extent for dim in nest.domain.dims
    ]
    for array in arrays:
        for at, extent in enumerate(reversed(array.shape), 1):
            if domain[-at] == 1:
                domain[-at] = extent
    for constraint in nest.domain.constraints:
        if not constraint.holds(extents, tuple(domain)):
            raise BroadcastError(f"{constraint} does not hold")
    return tuple(domain)


def _values(nest: Nest, read: Sequence[Any]) -> list[Any]:
    values: list[Any] = []
    for statement in nest.body:
        operands = [
            dtype.np.type(_value(value, read, values))
            for value, dtype in zip(statement.operands, statement.operand_dtypes, strict=True)
        ]
        try:
            value = statement.op.evaluate(*operands, *(parameter for _, parameter in statement.params))
        except ValueError as error:
            raise DomainError(str(error)) from None
        values.append(statement.dtype.np.type(value))
    return values


def _value(value: Value, read: Sequence[Any], values: Sequence[Any]) -> Any:
    match value:
        case Load():
            return read[value.access]
        case Let():
            return values[value.index]
        case Constant():
            return value.value
