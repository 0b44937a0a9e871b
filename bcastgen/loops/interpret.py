"""The Python interpreter of loop nests: the second oracle, independent of any C.

In: a loop program and NumPy arrays.  Out: its results, or the error that the C would end in.

    interpret(program, (a, b))  ->  one ndarray a result

It checks the printed constraints and follows the printed maps element by element, so what `explain` shows is what is
tested. Values come from the rows' references, which are NumPy's own functions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..core.errors import BroadcastError, DomainError
from ..expr.nodes import Constant
from ..shape.constraints import RankAtLeast, RankIs
from .nest import Let, Load, LoopProgram, Nest, Value

__all__ = ["interpret", "result_extents"]

Array = np.ndarray[Any, Any]
Extents = tuple[int, ...]


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
    known: dict[str, Extents] = {}
    shapes = [np.shape(operand) for operand in operands]
    for nest in program.nests:
        arrays = [np.asarray(operands[access.position]) for access in nest.operands]
        domain = _domain(nest, shapes, known)
        known.update((access.name, domain) for access in nest.named)
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
        results.update((access.position, out) for access, out in zip(nest.results, outs, strict=True))
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
        If a constraint does not hold, one that is trusted included; the message is the constraint.
    """
    results: dict[int, Extents] = {}
    known: dict[str, Extents] = {}
    for nest in program.nests:
        domain = _domain(nest, shapes, known)
        known.update((access.name, domain) for access in nest.named)
        extents = known | {name: shape for (name, _), shape in zip(program.operands, shapes, strict=True)}
        for decision in nest.domain.decisions:
            if decision.fate == "trusted" and not decision.constraint.holds(extents, domain):
                raise BroadcastError(f"{decision.constraint} does not hold")
        results.update((access.position, domain) for access in nest.results)
    return tuple(results[at] for at in range(len(program.results)))


def _domain(nest: Nest, shapes: Sequence[Extents], known: Mapping[str, Extents]) -> Extents:
    """Return the extents of the domain, having asked everything that is printed; `known` are those of earlier ones."""
    extents = dict(known)
    extents.update((access.name, shapes[access.position]) for access in (*nest.operands, *nest.shapes))
    # Ranks first: dims mean nothing in arrays of other ranks.
    for constraint in nest.domain.constraints:
        if isinstance(constraint, (RankIs, RankAtLeast)) and not constraint.holds(extents, ()):
            raise BroadcastError(f"{constraint} does not hold")
    dims = nest.domain.dims
    aligned = [extents[access.name] for access in (*nest.operands, *nest.shapes) if access.positions is None]
    rank = max([len(dims), *map(len, aligned)]) if nest.domain.open else len(dims)
    domain = [1] * (rank - len(dims)) + [1 if dim.extent is None else dim.extent for dim in dims]
    decided = {position for position, dim in enumerate(reversed(dims), 1) if dim.extent is not None}
    for position, source in enumerate(reversed(nest.domain.sources), 1):
        if source is not None:
            domain[-position] = extents[source[0]][source[1]]
            decided.add(position)
    for access in (*nest.operands, *nest.shapes):
        shape = extents[access.name]
        places: Sequence[int | None] = range(len(shape), 0, -1) if access.positions is None else access.positions
        for place, extent in zip(places, shape, strict=False):
            position = place or 0
            if 0 < position <= rank and position not in decided and domain[-position] == 1:
                domain[-position] = extent
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
