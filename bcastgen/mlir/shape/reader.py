"""Reading shape programs: a function of the shape dialect as a :class:`~...shape.dialect.program.Program`.

In: a parsed function.  Out: a verified program, whose operations know their place in the text.

    func.func @twice(%a: !shape.shape) -> !shape.shape {
      %0 = shape.concat %a, %a : !shape.shape, !shape.shape -> !shape.shape
      return %0 : !shape.shape
    }                                        -> Program("twice", ...).run((2,)) == Shape.of(2, 2)

What other dialects call an op of ours is read as that op (`SPELLINGS`): `tensor.dim` of an operand is `shape.dim`, a
`tensor.cast` of an extent tensor is `to_extent_tensor`, and that of a constant the constant of that type, which is how
programs print. Every other op, type and attribute is refused by its name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from ...core.errors import BroadcastError, ParseError
from ...shape.dialect.ir import Attribute, Block, Operation, Value
from ...shape.dialect.ops import find_row
from ...shape.dialect.program import Program
from ...shape.dialect.types import EXTENTS, Type
from ...shape.dialect.values import MAX_RANK
from ...shape.dialect.verify import verify_operation
from .. import ir
from .spellings import SPELLINGS
from .values import Settings, program_type, settings

__all__ = ["Reader", "read_program"]

_TYPES = """!shape.shape, !shape.size, !shape.witness, !shape.value_shape, !shape.element_type, index, i1, \
tensor<?xindex> or a tensor of numbers"""


def read_program(function: ir.Function, source: ir.Source) -> Program:
    """Return the shape program that a function is.

    Parameters
    ----------
    function : of one block, which ends in ``func.return``. A name that is no identifier gets underscores.
    source : the text it stands in, for messages.

    Raises
    ------
    ParseError
        For an op that is none of the shape dialect's, and a type that its programs do not have.
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
    return Reader(source, _only_cast(function.body)).program(function, function.body)


def _only_cast(body: ir.Block) -> frozenset[ir.Value]:
    """Return the values that casts to an extent tensor of unknown length use, and nothing else does."""
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


@dataclass(slots=True)
class Reader:
    """One function being read.

    Attributes
    ----------
    source : the text.
    only_cast : values that nothing but casts use: as constants they are read where they are cast.
    scope : what stands for the values in sight, those defined last at its end.
    constants : what constants the values in sight are, if they are any.
    names : those given so far, and how many others begin with each.
    blocks : operations read so far, innermost block last.
    """

    source: ir.Source
    only_cast: frozenset[ir.Value]
    scope: dict[ir.Value, Value] = field(default_factory=dict)
    constants: dict[ir.Value, Attribute] = field(default_factory=dict)
    names: dict[str, int] = field(default_factory=dict)
    blocks: list[list[Operation]] = field(default_factory=list)

    def program(self, function: ir.Function, body: ir.Block) -> Program:
        """Return the program."""
        end = body.operations[-1] if body.operations else None
        if end is None or end.name != "func.return":
            raise self.error(f"function '{function.name}' does not end in a return; add one", function.location)
        block = self.block(body.arguments, body.operations[:-1], function.location)
        results = self.operands(end)
        wanted = tuple(self.type(type_, function.location) for type_ in function.type.results)
        if tuple(value.type for value in results) != wanted:
            given = ", ".join(str(value.type) for value in results) or "nothing"
            expected = ", ".join(map(str, wanted)) or "nothing"
            raise self.error(f"returns {given}, expected {expected} as function '{function.name}' says", end.location)
        name = re.sub(r"^(?=\d)|\W", "_", function.name, flags=re.ASCII) or "_"
        try:
            return Program(name, block, results).verify()
        except BroadcastError as error:
            raise self.source.locate(error, function.location) from None

    def error(self, text: str, location: ir.Location) -> ParseError:
        """Return an error that begins with its place."""
        return self.source.locate(ParseError(text), location)

    def block(self, arguments: Sequence[ir.Value], operations: Sequence[ir.Operation], location: ir.Location) -> Block:
        """Return a block."""
        own = tuple(self.define(value, location) for value in arguments)
        self.blocks.append([])
        for operation in operations:
            SPELLINGS.get(operation.name, _read_row)(self, operation)
        return Block(own, tuple(self.blocks.pop()))

    def region(self, block: ir.Block, location: ir.Location) -> Block:
        """Return the block of a region, after which what it defines is out of sight."""
        outside = len(self.scope)
        made = self.block(block.arguments, block.operations, location)
        while len(self.scope) > outside:
            self.scope.popitem()
        return made

    def type(self, type_: ir.Type, location: ir.Location) -> Type:
        """Return the type of a program's value."""
        known = program_type(type_)
        if known is None:
            raise self.error(f"type {type_} is none of a shape program's; use {_TYPES}", location)
        if known.length is not None and known.length > MAX_RANK:
            raise self.error(f"type {type_} has {known.length} extents, expected at most {MAX_RANK}", location)
        return known

    def define(self, value: ir.Value, location: ir.Location) -> Value:
        """Return what stands for a value from here on."""
        made = Value(self.name(value.name), self.type(value.type, location))
        self.scope[value] = made
        return made

    def name(self, wanted: str) -> str:
        """Return a name that is new; ``0#1`` is none, and those that begin with ``static.`` are the printer's."""
        stem = f"r{wanted.replace('#', '.')}" if "#" in wanted else wanted.replace("static.", "static_")
        chosen = stem
        while chosen in self.names:
            # Of a name that begins with a digit all are digits.
            chosen = f"{'r' if stem[:1].isdigit() else ''}{stem}.{self.names[stem]}"
            self.names[stem] += 1
        self.names[chosen] = 0
        return chosen

    def operands(self, operation: ir.Operation) -> tuple[Value, ...]:
        """Return what stands for the operands of an operation."""
        for value in operation.operands:
            if value not in self.scope:
                text = f"operand '{value.name}' is not defined before '{operation.name}'; define it there, and not in "
                raise self.error(f"{text}a region that has ended", operation.location)
        return tuple(self.scope[value] for value in operation.operands)

    def results(self, operation: ir.Operation) -> tuple[Value, ...]:
        """Return what stands for the results of an operation."""
        return tuple(self.define(value, operation.location) for value in operation.results)

    def verified(self, made: Operation, place: ir.Operation) -> Operation:
        """Return an operation, with its place, that is as its row says."""
        try:
            verify_operation(made)
        except BroadcastError as error:
            raise self.source.locate(error, place.location) from None
        return replace(made, location=f"{self.source.name}:{place.location.line}:{place.location.column}")

    def add(self, made: Operation, place: ir.Operation) -> None:
        """Append an operation that is as its row says."""
        self.blocks[-1].append(self.verified(made, place))

    def insert(self, name: str, place: ir.Operation, operands: Sequence[Value], type_: Type) -> Value:
        """Append one of our operations before one of the text, and return its result."""
        result = Value(self.name(f"shape.{place.results[0].name}"), type_)
        self.add(Operation(name, tuple(operands), (result,)), place)
        return result

    def add_as(self, name: str, place: ir.Operation, operands: Sequence[Value], settings: Settings = ()) -> None:
        """Append one of our operations, for one of the text and with its results."""
        self.add(Operation(name, tuple(operands), self.results(place), settings), place)


def _read_row(reader: Reader, operation: ir.Operation) -> None:
    """Read an operation that has a row."""
    try:
        # Rows answer to short names, too, which MLIR has not.
        row = find_row(operation.name if "." in operation.name else f"?{operation.name}")
    except BroadcastError:
        others = ", ".join(name for name in SPELLINGS if name.startswith("tensor."))
        text = f"'{operation.name}' is no op of a shape program; use the shape dialect's, arith's on indices, {others}"
        raise reader.error(text, operation.location) from None
    operands = reader.operands(operation)
    regions = tuple(reader.region(region, operation.location) for region in operation.regions)
    reader.add(Operation(row.name, operands, reader.results(operation), settings(operation), regions), operation)
