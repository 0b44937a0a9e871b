"""Shape programs for users: data with methods that verify, print, evaluate, fold and run.

In: pieces, built by `trace`, by hand, or by a reader of MLIR.  Out: a :class:`Program`, which verifies, prints,
evaluates, folds and runs.

    Program("twice", Block((a,), (Operation("shape.concat", (a, a), (r,)),)), (r,))
        -> func.func @twice(%a: !shape.shape) -> !shape.shape { %0 = shape.concat %a, %a : ... }

Constructors check nothing: call `Program.verify` on a program that is built by hand.
"""

from __future__ import annotations

from typing import Any

from ...core.frozen import dataclass
from . import fold as folding
from . import interpret, ir, printer, verify
from .ir import Block, Operation, Value
from .values import LatticeValue

__all__ = ["Block", "Operation", "Program", "Value"]


@dataclass(frozen=True, slots=True)
class Program(ir.PlainProgram):
    """A function of shapes.

    Attributes
    ----------
    name : an identifier.
    body : its arguments are the program's operands; no terminator.
    results : values that the body defines or takes.
    """

    def verify(self) -> Program:
        """Return the program if it is well formed.

        Raises
        ------
        BroadcastError
            Naming the operation and the operand at fault: a value used before its definition or by its own definition,
            a wrong type, a region that yields the wrong types, an unknown op or attribute.
        """
        verify.verify(self)
        return self

    def evaluate(self, *operands: Any) -> Any:
        """Return what is known of the results at compile time, given what is known of the operands.

        Parameters
        ----------
        operands : for each operand a lattice value, or what stands for one: an int, a tuple of extents, an array or the
            text of a type for a tensor, None where nothing is known. A valid value promises that the run's operand will
            be valid.

        Returns
        -------
        LatticeValue or tuple of them
            The result, or the tuple of results if there is not exactly one. A run with such operands returns an
            instance of it (`values.instance_of`). Nothing is raised for a shape that proves invalid.

        Raises
        ------
        BroadcastError
            If there are more or fewer operands than the program has, or one is not of its type.
        """
        return _results(interpret.evaluate(self, operands))

    def run(self, *operands: Any) -> Any:
        """Return the results as the compiled program would.

        Raises
        ------
        BroadcastError
            As `evaluate`, and: where a witness fails, with its message, and nothing of its `assuming` region has run;
            where an invalid size or shape reaches an op whose result cannot be invalid (`to_extent_tensor`,
            `size_to_index`); where such an op or an `assuming` meets something that is still unknown.
        """
        return _results(interpret.run(self, operands))

    def check(self, *operands: Any) -> bool | None:
        """Tell whether a run with such operands is valid, raising nothing; None where only the run can tell.

        Valid means: no constraint (``cstr_...``) fails, used or not; no result is invalid or a failing witness; `run`
        raises nothing.
        """
        return interpret.check(self, operands)

    def fold(self) -> Program:
        """Return a program with the same runs: constants are folded, proved constraints and dead code are removed."""
        return folding.fold(self)

    def __str__(self) -> str:
        return printer.print_program(self)


def _results(values: tuple[LatticeValue, ...]) -> LatticeValue | tuple[LatticeValue, ...]:
    return values[0] if len(values) == 1 else values
