"""Shape programs as data: SSA values, operations, blocks, and a program that is these and nothing more.

In: pieces.  Out: the same, frozen and comparable.

    Operation("shape.concat", (a, a), (r,))        Block((a,), (operation,)).terminator -> operation

Nothing here depends on the table of ops: code that needs the meaning of an op looks up its row by name. Users get
:class:`~.program.Program`, which verifies, prints, evaluates, folds and runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

from ...core.frozen import dataclass, field
from .types import Type

__all__ = ["MAX_DEPTH", "Attribute", "Block", "Operation", "PlainProgram", "Value", "print_operations_by"]

# How deep regions, and in text attributes and types, may nest: the code that walks them recurses, and this is far below
# Python's limit.
MAX_DEPTH = 100

Attribute: TypeAlias = int | bool | str | tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Value:
    """An SSA value: a name, without the ``%``, that one operation or block defines, and its type."""

    name: str
    type: Type

    def __str__(self) -> str:
        return f"%{self.name}"


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation.

    Attributes
    ----------
    name : of its row in the table, with the dialect: ``"shape.add"``, ``"arith.addi"``.
    operands, results : values.
    attributes : names and values, in the row's order: ``(("error", "batch sizes differ"),)``.
    regions : a block for each, which ends in a yield; most ops have none.
    location : where it comes from, for messages; "" if unknown. Equal operations may come from different places.
    """

    name: str
    operands: tuple[Value, ...] = ()
    results: tuple[Value, ...] = ()
    attributes: tuple[tuple[str, Attribute], ...] = ()
    regions: tuple[Block, ...] = ()
    location: str = field(default="", compare=False)

    def attribute(self, name: str, default: Any = None) -> Any:
        """Return the value of an attribute, or the default if it is not there."""
        return dict(self.attributes).get(name, default)

    def __str__(self) -> str:
        return _printers[0](self) if _printers else repr(self)


# One printer, once its module is imported.
_printers: list[Callable[[Operation], str]] = []


def print_operations_by(printer: Callable[[Operation], str]) -> None:
    """Make ``str(operation)`` call this printer, which knows how each op is written."""
    _printers[:] = [printer]


@dataclass(frozen=True, slots=True)
class Block:
    """Operations in order, and the arguments whose values are given when they run."""

    arguments: tuple[Value, ...] = ()
    operations: tuple[Operation, ...] = ()

    @property
    def terminator(self) -> Operation | None:
        """The last operation, which yields a region's results, or None if there is none."""
        return self.operations[-1] if self.operations else None

    @property
    def yielded(self) -> tuple[Value, ...]:
        """The values that a region gives its operation; none without a terminator."""
        return self.terminator.operands if self.terminator is not None else ()

    def walk(self) -> Iterator[Operation]:
        """Yield every operation, each before those of its regions."""
        for operation in self.operations:
            yield operation
            for region in operation.regions:
                yield from region.walk()


@dataclass(frozen=True, slots=True)
class PlainProgram:
    """A function of shapes.

    Attributes
    ----------
    name : an identifier.
    body : its arguments are the program's operands; no terminator.
    results : values that the body defines or takes.
    """

    name: str
    body: Block
    results: tuple[Value, ...]

    @property
    def operands(self) -> tuple[Value, ...]:
        """The operands, in order."""
        return self.body.arguments
