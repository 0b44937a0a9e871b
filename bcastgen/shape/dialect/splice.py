"""Copies a program of the shape dialect into another one that is being traced.

In: a program, and values of the program under construction.  Out: the values of its results there.

    spliced(outer, (a, b))  ->  %2, where %2 = shape.concat %a, %b has been added
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .ir import Block, Operation, PlainProgram, Value
from .ops import find_row
from .trace import op

__all__ = ["spliced"]


def spliced(program: PlainProgram, values: Sequence[Any]) -> tuple[Any, ...]:
    """Add the operations of a program to the one that is being traced, and return its results.

    Parameters
    ----------
    program : what is copied; errors keep the places in its author's file.
    values : one for each of its operands, of the same types.

    Examples
    --------
    >>> from bcastgen.shape.dialect.trace import op, program
    >>> twice = program("twice", lambda a: op("concat")(a, a), a="!shape.shape")
    >>> four = program("four", lambda a: spliced(twice, spliced(twice, (a,))), a="!shape.shape")
    >>> str(four.run((2,)))
    '[2, 2, 2, 2]'
    """
    here: dict[Value, Any] = dict(zip(program.operands, values, strict=True))
    _copy(program.body, here)
    return tuple(here[value] for value in program.results)


def _copy(block: Block, here: dict[Value, Any]) -> None:
    for operation in block.operations:
        if not find_row(operation.name).terminator:
            _copy_one(operation, here)


def _copy_one(operation: Operation, here: dict[Value, Any]) -> None:
    operands: list[Any] = [here[value] for value in operation.operands]
    for region in operation.regions:
        operands.append(lambda *arguments, region=region: _region(region, arguments, here))
    types = {"type": operation.results[0].type} if operation.results and not operation.regions else {}
    made = op(operation.name)(*operands, location=operation.location, **types, **dict(operation.attributes))
    here.update(zip(operation.results, made if len(operation.results) > 1 else (made,), strict=bool(operation.results)))


def _region(region: Block, arguments: Sequence[Any], around: dict[Value, Any]) -> tuple[Any, ...]:
    here = {**around, **dict(zip(region.arguments, arguments, strict=True))}
    _copy(region, here)
    assert region.terminator is not None
    return tuple(here[value] for value in region.terminator.operands)
