"""Reads a function of the shape dialect as a :class:`~...shape.dialect.program.Program`.

In: a parsed function.  Out: a verified program, whose operations know their place in the text.

    func.func @twice(%a: !shape.shape) -> !shape.shape {
      %0 = shape.concat %a, %a : !shape.shape, !shape.shape -> !shape.shape
      return %0 : !shape.shape
    }                                        -> Program("twice", ...).run((2,)) == Shape.of(2, 2)

Ops of other dialects that mean the same as an op of ours are read as that op (`SPELLINGS`): `tensor.dim` of an operand
is `shape.dim`; a `tensor.cast` of an extent tensor is `to_extent_tensor`, or, if it casts a constant, the constant of
the new type, since programs print so. Every other op, type and attribute is refused by its name.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...core.errors import BroadcastError, ParseError
from ...shape.dialect.ir import Operation
from ...shape.dialect.ops import find_row
from ...shape.dialect.program import Program
from ...shape.dialect.types import EXTENTS
from .. import ir
from ..calls import choose, inlined
from ..read.parser import parse_module
from .reader import Reader
from .spellings import SPELLINGS
from .values import settings

__all__ = ["program_from_text", "read_program"]


def read_program(function: ir.Function, source: ir.Source) -> Program:
    """Return a function as a shape program.

    Parameters
    ----------
    function : of one block, which ends in ``func.return``. A name that is no identifier gets underscores.
    source : the text of the function, for messages.

    Raises
    ------
    ParseError
        For an op or a type that shape programs do not have.
    BroadcastError
        For an operation that is not as its row says. All errors begin with the place in the text.

    Examples
    --------
    >>> from bcastgen.mlir.read.parser import parse_module
    >>> module = parse_module("func.func @same(%s: !shape.shape) -> !shape.shape { return %s : !shape.shape }")
    >>> str(read_program(module.functions[0], module.source).run((2, 3)))
    '[2, 3]'
    """
    if function.body is None:
        error = ParseError(f"function '{function.name}' has no body; a shape program has one")
        raise source.locate(error, function.location)
    return Reader(source, _only_cast(function.body), _read).program(function, function.body)


def program_from_text(text: str, name: str, function: str | None = None) -> Program:
    """Return the shape program of a function in a text.

    Parameters
    ----------
    text : a module.
    name : what messages call the text.
    function : its name; by default the only one, or else ``main``.

    Raises
    ------
    ParseError, BroadcastError
        As `read_program`; also if the text is no MLIR, or does not have the function.

    Examples
    --------
    >>> text = "func.func @same(%s: !shape.shape) -> !shape.shape { return %s : !shape.shape }"
    >>> program_from_text(text, "same.mlir").name
    'same'
    """
    module = parse_module(text, name)
    return read_program(inlined(choose(module, function), module), module.source)


def _only_cast(body: ir.Block) -> frozenset[ir.Value]:
    """Return the values whose only uses are casts to an extent tensor of unknown length."""
    cast: set[ir.Value] = set()
    used: set[ir.Value] = set()
    for operation in _walk(body):
        forgets = operation.name == "tensor.cast" and [str(value.type) for value in operation.results] == [str(EXTENTS)]
        (cast if forgets else used).update(operation.operands)
    return frozenset(cast - used)


def _walk(block: ir.Block) -> Iterator[ir.Operation]:
    for operation in block.operations:
        yield operation
        for region in operation.regions:
            yield from _walk(region)


def _read(reader: Reader, operation: ir.Operation) -> None:
    """Read any operation of a program."""
    SPELLINGS.get(operation.name, _read_row)(reader, operation)


def _read_row(reader: Reader, operation: ir.Operation) -> None:
    """Read an operation that has a row."""
    try:
        # find_row also takes short names, which MLIR does not have; the "?" keeps it from finding one.
        row = find_row(operation.name if "." in operation.name else f"?{operation.name}")
    except BroadcastError:
        others = ", ".join(name for name in SPELLINGS if name.startswith("tensor."))
        text = f"'{operation.name}' is no op of a shape program; use the shape dialect's, arith's on indices, {others}"
        raise reader.error(text, operation.location) from None
    operands = reader.operands(operation)
    # In generic form a missing branch is an empty region.
    empty = ir.Block((), (ir.Operation(row.yields, (), (), {}, (), operation.location),))
    bodies = (region if region.operations else empty for region in operation.regions)
    regions = tuple(reader.region(region, operation.location) for region in bodies)
    reader.add(Operation(row.name, operands, reader.results(operation), settings(operation), regions), operation)
