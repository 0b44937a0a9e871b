"""Shape programs as values: SSA values, operations, blocks, programs.

In: pieces, built by `trace`, by hand, or by a reader of MLIR.  Out: a :class:`Program`, which verifies, prints,
evaluates, folds and runs.

    Program("twice", Block((a,), (Operation("shape.concat", (a, a), (r,)),)), (r,))
        -> func.func @twice(%a: !shape.shape) -> !shape.shape { %0 = shape.concat %a, %a : ... }

Nothing here checks anything by itself: who builds pieces by hand calls `Program.verify`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from typing import TYPE_CHECKING, Any, TypeAlias

from ...core.frozen import dataclass
from .types import Type

if TYPE_CHECKING:
    from .row import Row
    from .values import LatticeValue

__all__ = ["MAX_DEPTH", "Attribute", "Block", "Operation", "Program", "Value"]

# How deep regions, and in text attributes and types, may nest: who walks them recurses, and this is far below Python's
# stack.
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
    regions : of `shape.reduce` and `shape.assuming`: one block, which ends in a yield.
    location : where it comes from, for messages; "" if unknown. Equal operations may come from different places.
    """

    name: str
    operands: tuple[Value, ...] = ()
    results: tuple[Value, ...] = ()
    attributes: tuple[tuple[str, Attribute], ...] = ()
    regions: tuple[Block, ...] = ()
    location: str = field(default="", compare=False)

    @property
    def row(self) -> Row:
        """Its row in the table of ops."""
        from .ops import find_row

        return find_row(self.name)

    def attribute(self, name: str, default: Any = None) -> Any:
        """Return the value of an attribute, or the default if it is not there."""
        return dict(self.attributes).get(name, default)

    def __str__(self) -> str:
        from .printer import print_operation

        return print_operation(self)


@dataclass(frozen=True, slots=True)
class Block:
    """Operations in order, and the values that whoever runs them provides."""

    arguments: tuple[Value, ...] = ()
    operations: tuple[Operation, ...] = ()

    @property
    def terminator(self) -> Operation | None:
        """The last operation, which yields a region's results, or None if there is none."""
        return self.operations[-1] if self.operations else None

    def walk(self) -> Iterator[Operation]:
        """Yield every operation, each before those of its regions."""
        for operation in self.operations:
            yield operation
            for region in operation.regions:
                yield from region.walk()


@dataclass(frozen=True, slots=True)
class Program:
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
        """What it takes, in order."""
        return self.body.arguments

    def verify(self) -> Program:
        """Return the program if it is well formed.

        Raises
        ------
        BroadcastError
            Naming the operation and the operand at fault: a value used before its definition or by its own definition,
            a wrong type, a region that yields the wrong types, an unknown op or attribute.
        """
        from .verify import verify

        verify(self)
        return self

    def evaluate(self, *operands: Any) -> Any:
        """Return what is known of the results when this is known of the operands, at compile time.

        Parameters
        ----------
        operands : for each operand a lattice value, or what stands for one: an int, a tuple of extents, an array or the
            text of a type for a tensor, None where nothing is known. A valid one is taken at its word: the run's will
            be valid.

        Returns
        -------
        LatticeValue or tuple of them
            The result, or the tuple of results if there is not exactly one. What a run with such operands returns is an
            instance of it (`values.instance_of`). Nothing is raised for a shape that proves invalid.

        Raises
        ------
        BroadcastError
            If there are more or fewer operands than the program has, or one is not of its type.
        """
        from .interpret import evaluate

        return _results(evaluate(self, operands))

    def run(self, *operands: Any) -> Any:
        """Return the results as the compiled program would.

        Raises
        ------
        BroadcastError
            As `evaluate`, and: where a witness fails, with its message, and nothing of its `assuming` region has run;
            where an invalid size or shape reaches an op whose result cannot be invalid (`to_extent_tensor`,
            `size_to_index`); where such an op or an `assuming` meets something that is still unknown.
        """
        from .interpret import run

        return _results(run(self, operands))

    def check(self, *operands: Any) -> bool | None:
        """Tell whether a run with such operands is valid, raising nothing; None where only the run can tell.

        Valid means: no constraint (``cstr_...``) fails, used or not; no result is invalid or a failing witness; `run`
        raises nothing.
        """
        from .interpret import check

        return check(self, operands)

    def fold(self) -> Program:
        """Return a program with the same runs and less in it: constants folded, proved constraints, dead code gone."""
        from .fold import fold

        return fold(self)

    def __str__(self) -> str:
        from .printer import print_program

        return print_program(self)


def _results(values: tuple[LatticeValue, ...]) -> LatticeValue | tuple[LatticeValue, ...]:
    return values[0] if len(values) == 1 else values
