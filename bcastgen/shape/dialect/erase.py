"""Takes element types out of a program: what is left computes the same shapes, and has a form in C.

In: a program.  Out: one without operands, results and values of type ``!shape.element_type``.

    func.func @f(%a: !shape.shape, %t: !shape.element_type) -> (!shape.shape, !shape.element_type) { return %a, %t }
        ->  func.func @f(%a: !shape.shape) -> !shape.shape { return %a }

No op of the dialect makes anything else of an element type, so that no shape depends on one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...core.errors import BroadcastError
from ...core.frozen import replace
from .ir import Block, Operation, Value
from .ops import find_row
from .program import Program
from .types import ELEMENT_TYPE

__all__ = ["without_element_types"]


def without_element_types(program: Program) -> Program:
    """Return a program without element types.

    Raises
    ------
    BroadcastError
        If an op has no form without them: a reduce of element types alone.

    Examples
    --------
    >>> from bcastgen.shape.dialect.trace import op, program
    >>> types = dict(a="!shape.shape", b="!shape.element_type", c="!shape.element_type")
    >>> made = program("f", lambda a, b, c: (op("rank")(a), op("join")(b, c)), **types)
    >>> erased = without_element_types(made)
    >>> [str(value.type) for value in (*erased.operands, *erased.results)], len(erased.body.operations)
    (['!shape.shape', '!shape.size'], 1)
    """
    return Program(program.name, _block(program.body), _kept(program.results)).verify()


def _block(block: Block) -> Block:
    return Block(_kept(block.arguments), tuple(_operations(block)))


def _operations(block: Block) -> Iterator[Operation]:
    for operation in block.operations:
        operands, results = _kept(operation.operands), _kept(operation.results)
        if operation.results and not results and not operation.regions:
            continue
        has_lost = len(operands) < len(operation.operands)
        row = find_row(operation.name)
        if (has_lost and not operation.regions and not row.terminator) or (row.name == "shape.reduce" and not results):
            at = f" (at {operation.location})" if operation.location else ""
            raise BroadcastError(
                f"{row.name}{at} takes element types, and has no form without them; join them outside of it"
            )
        yield replace(
            operation, operands=operands, results=results, regions=tuple(_block(region) for region in operation.regions)
        )


def _kept(values: Sequence[Value]) -> tuple[Value, ...]:
    return tuple(value for value in values if value.type != ELEMENT_TYPE)
