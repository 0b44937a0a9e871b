"""The state of reading one function as a shape program: values in sight, names taken, operations read so far.

In: the values and types of a text, operations of the dialect.  Out: blocks, values, a verified program.

    reader.add_as("shape.rank", operation, (shape,))   ->   %r = shape.rank %shape, its place that of the operation

How an operation is read is not decided here: `read_program` hands that function in.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from ...core.errors import BroadcastError, ParseError
from ...shape.dialect.ir import Attribute, Block, Operation, Value
from ...shape.dialect.program import Program
from ...shape.dialect.types import Type
from ...shape.dialect.values import MAX_RANK
from ...shape.dialect.verify import verify_operation
from .. import ir
from .values import Settings, program_type

__all__ = ["Reader"]

_TYPES = """!shape.shape, !shape.size, !shape.witness, !shape.value_shape, !shape.element_type, index, i1, \
tensor<?xindex> or a tensor of numbers"""


@dataclass(slots=True)
class Reader:
    """One function being read.

    Attributes
    ----------
    source : the text.
    only_cast : values that only casts use; if they are constants, they are read where they are cast.
    read : reads one operation.
    scope : the program's values for the values in sight, those defined last at its end.
    constants : the values of those in sight that are constants.
    names : the names given so far, each with a count of the names made from it.
    blocks : the operations read so far, innermost block last.
    """

    source: ir.Source
    only_cast: frozenset[ir.Value]
    read: Callable[[Reader, ir.Operation], None]
    scope: dict[ir.Value, Value] = field(default_factory=dict)
    constants: dict[ir.Value, Attribute] = field(default_factory=dict)
    names: dict[str, int] = field(default_factory=dict)
    blocks: list[list[Operation]] = field(default_factory=list)

    def program(self, function: ir.Function, body: ir.Block) -> Program:
        """Return the program."""
        end = body.operations[-1] if body.operations else None
        if end is None or end.name not in ("func.return", "shape.return"):
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
            self.read(self, operation)
        return Block(own, tuple(self.blocks.pop()))

    def region(self, block: ir.Block, location: ir.Location) -> Block:
        """Return the block of a region; the values that it defines are out of sight afterwards."""
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
        """Return the program's value for a value of the text, which is in sight from here on."""
        made = Value(self.name(value.name), self.type(value.type, location))
        self.scope[value] = made
        return made

    def name(self, wanted: str) -> str:
        """Return a new name; ``0#1`` is no name, and names that begin with ``static.`` are the printer's."""
        # A result that nobody uses may have no name in the text.
        wanted = wanted or "unused"
        stem = f"r{wanted.replace('#', '.')}" if "#" in wanted else wanted.replace("static.", "static_")
        chosen = stem
        while chosen in self.names:
            # A name that begins with a digit has only digits.
            chosen = f"{'r' if stem[:1].isdigit() else ''}{stem}.{self.names[stem]}"
            self.names[stem] += 1
        self.names[chosen] = 0
        return chosen

    def operands(self, operation: ir.Operation) -> tuple[Value, ...]:
        """Return the program's values for the operands of an operation."""
        for value in operation.operands:
            if value not in self.scope:
                text = f"operand '{value.name}' is not defined before '{operation.name}'; define it there, and not in "
                raise self.error(f"{text}a region that has ended", operation.location)
        return tuple(self.scope[value] for value in operation.operands)

    def results(self, operation: ir.Operation) -> tuple[Value, ...]:
        """Return the program's values for the results of an operation."""
        return tuple(self.define(value, operation.location) for value in operation.results)

    def verified(self, made: Operation, place: ir.Operation) -> Operation:
        """Return an operation with its place, or raise if it is not as its row says."""
        try:
            verify_operation(made)
        except BroadcastError as error:
            raise self.source.locate(error, place.location) from None
        return replace(made, location=place.location.of(self.source.name))

    def add(self, made: Operation, place: ir.Operation) -> None:
        """Append an operation, or raise if it is not as its row says."""
        self.blocks[-1].append(self.verified(made, place))

    def insert(
        self, name: str, place: ir.Operation, operands: Sequence[Value], type_: Type, settings: Settings = ()
    ) -> Value:
        """Append an operation of ours that prepares one of the text, and return its result."""
        result = Value(self.name(f"shape.{place.results[0].name}"), type_)
        self.add(Operation(name, tuple(operands), (result,), settings), place)
        return result

    def add_as(self, name: str, place: ir.Operation, operands: Sequence[Value], settings: Settings = ()) -> None:
        """Append an operation of ours in place of one of the text, with the same results."""
        self.add(Operation(name, tuple(operands), self.results(place), settings), place)
