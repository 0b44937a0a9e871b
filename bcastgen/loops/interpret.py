"""The Python interpreter of loop nests: a second test oracle, independent of any C.

In: a loop program and NumPy arrays.  Out: its results, or the error that the C would raise.

    interpret(program, (a, b))  ->  one ndarray a result

It runs the kernel's guards and follows the printed maps element by element, so tests cover exactly what `explain`
shows. Values come from the op rows' references, which are NumPy's own functions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.errors import BroadcastError, DomainError
from ..expr.nodes import Constant
from .guard_program.interpret import Failure, domains, results_of
from .nest import Let, Load, LoopProgram, Nest, Value

__all__ = ["interpret", "result_extents"]

Array = np.ndarray[Any, Any]
Extents = tuple[int, ...]


def interpret(program: LoopProgram, operands: Sequence[Array]) -> tuple[Array, ...]:
    """Return the results of a loop program run over arrays.

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
    spanned = _domains(program, [np.shape(operand) for operand in operands])
    for nest, domain in zip(program.nests, spanned, strict=True):
        arrays = [np.asarray(operands[access.number]) for access in nest.operands]
        if not nest.results:
            continue
        outs = [np.empty(domain, access.dtype.np) for access in nest.results]
        for point in np.ndindex(domain):
            read = [
                array[access.map.evaluate(point, array.shape)]
                for array, access in zip(arrays, nest.operands, strict=True)
            ]
            values = _values(nest, read)
            for out, value in zip(outs, nest.stores, strict=True):
                out[point] = _value(value, read, values)
        results.update((access.number, out) for access, out in zip(nest.results, outs, strict=True))
    return tuple(results[at] for at in range(len(program.results)))


def result_extents(program: LoopProgram, shapes: Sequence[Extents]) -> tuple[Extents, ...]:
    """Return the extents of the results for operands of these extents; reads no data.

    Parameters
    ----------
    program : its nests.
    shapes : the extents of each of the program's operands.

    Raises
    ------
    BroadcastError
        If a checked or trusted constraint does not hold; the message is the constraint.
    """
    spanned = _domains(program, shapes)
    known: dict[str, Extents] = {name: shape for (name, _), shape in zip(program.operands, shapes, strict=True)}
    for nest, domain in zip(program.nests, spanned, strict=True):
        extents = {access.name: domain for access in nest.named} | known
        for decision in nest.domain.decisions:
            if decision.fate == "trusted" and not decision.constraint.holds(extents, domain):
                raise BroadcastError(f"{decision.constraint} does not hold")
    return results_of(program.guards, spanned)


def _domains(program: LoopProgram, shapes: Sequence[Extents]) -> tuple[Extents, ...]:
    """Return the extents of the nests' domains; raise a BroadcastError if a check of the guards fails."""
    found = domains(program.guards, shapes)
    if isinstance(found, Failure):
        raise BroadcastError(f"{found.says} does not hold")
    return found


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
