"""Folding: a program with the same runs and less in it.

In: a verified program.  Out: one whose runs give the same results, raise the same way, and check no more than before.
A run on unknown operands that ends at an undecided witness may go on, where the witness passes for every shape.

    %0 = shape.const_size 2; %1 = shape.const_size 3; %2 = shape.add %0, %1   ->   %2 = shape.const_size 5
    %w = shape.cstr_broadcastable %a, %a; shape.assuming %w { ... }           ->   what is in the region

Three steps repeat until nothing changes: known and certain values become constants, each row's `canonicalise` applies,
and unused operations that cannot fail are removed. A constraint that is known to fail stays, since the run has to say
so; so does every operation that may end a run.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TypeVar

from .canonical import is_decided
from .extent_names import name_unknown
from .interpret import Environment, Known, Machine
from .ir import Attribute, Block, Operation, PlainProgram, Value
from .ops import find_row
from .row import Rewrite
from .types import Type
from .values import LatticeValue, Shape, Size, Witness

__all__ = ["fold"]

AnyProgram = TypeVar("AnyProgram", bound=PlainProgram)

_CONSTANTS = ("shape.const_shape", "shape.const_size", "shape.const_witness", "arith.constant")


@dataclass(slots=True)
class _Folder:
    """One round: what is known of the values in sight, the operations that define them, and what replaces them."""

    known_: Environment
    definitions: dict[Value, Operation]
    replaced: dict[Value, Value]
    names: set[str]

    def defining(self, value: Value) -> Operation | None:
        """Return the operation that defines a value, or None if it is an argument."""
        return self.definitions.get(value)

    def known(self, value: Value) -> LatticeValue:
        """Return what is known of a value."""
        return self.known_[value].value

    def certain(self, value: Value) -> bool:
        """Tell whether a value is valid in every run."""
        return self.known_[value].certain

    def now(self, values: Iterable[Value]) -> tuple[Value, ...]:
        """Return values, each one as this round has replaced it."""
        return tuple(self.replaced.get(value, value) for value in values)

    def fresh(self, value: Value) -> Value:
        """Return a value of the same type with a name of its own."""
        # MLIR's names are numbers, or start with a letter.
        stem = "" if value.name.isdecimal() else f"{value.name}_"
        name = next(name for name in (f"{stem}{count}" for count in itertools.count()) if name not in self.names)
        self.names.add(name)
        return replace(value, name=name)

    def block(self, block: Block) -> Block:
        """Return a block with its operations folded."""
        for value in block.arguments:
            self.known_[value] = Known(name_unknown(value, value.type.unknown()), not value.type.can_fail)
        operations: list[Operation] = []
        for operation in block.operations:
            operations.extend(self.operation(replace(operation, operands=self.now(operation.operands))))
        return replace(block, operations=tuple(operations))

    def operation(self, operation: Operation) -> list[Operation]:
        """Return what an operation becomes."""
        if find_row(operation.name).terminator:
            return [operation]
        if operation.name == "shape.assuming" and self.known(operation.operands[0]) == Witness(True):
            return self._inline(operation.regions[0], operation.results)
        if operation.name == "scf.if" and self.known(operation.operands[0]) is not None:
            return self._inline(operation.regions[0 if self.known(operation.operands[0]) else 1], operation.results)
        operation = replace(operation, regions=tuple(self.block(region) for region in operation.regions))
        return self._plain(operation)

    def _inline(self, region: Block, results: tuple[Value, ...]) -> list[Operation]:
        block = self.block(region)
        end = block.terminator
        if end is None:
            raise AssertionError(region)
        self.replaced.update(zip(results, self.now(end.operands), strict=True))
        return list(block.operations[:-1])

    def _plain(self, operation: Operation) -> list[Operation]:
        results = Machine().step(operation, self.known_)
        self.known_.update(zip(operation.results, results, strict=True))
        self.definitions.update(dict.fromkeys(operation.results, operation))
        if operation.name in _CONSTANTS:
            return [operation]
        rewrite = self._constants(operation, results) or self._rewrite(operation)
        if rewrite is None:
            return [operation]
        if isinstance(rewrite, Operation):
            return self._plain(rewrite)
        constants, values = rewrite
        self.replaced.update(zip(operation.results, values, strict=True))
        # The operation stays until its results are unused, and for good if a run would differ without it.
        return [*constants, operation]

    def _rewrite(self, operation: Operation) -> tuple[list[Operation], tuple[Value, ...]] | Operation | None:
        row = find_row(operation.name)
        rewrite: Rewrite = row.canonicalise(operation, self) if row.canonicalise is not None else None
        if rewrite is None or isinstance(rewrite, Operation):
            return rewrite
        return [], self.now(rewrite)

    def _constants(
        self, operation: Operation, results: tuple[Known, ...]
    ) -> tuple[list[Operation], tuple[Value, ...]] | None:
        """Return constants for the results of an operation if all are known for certain."""
        constants: list[Operation] = []
        for value, known in zip(operation.results, results, strict=True):
            made = _constant(self, value, known)
            if made is None:
                return None
            constants.append(made)
        if not constants:
            return None
        self.known_.update({made.results[0]: known for made, known in zip(constants, results, strict=True)})
        self.definitions.update({made.results[0]: made for made in constants})
        return constants, tuple(made.results[0] for made in constants)


def _constant(folder: _Folder, value: Value, known: Known) -> Operation | None:
    text = _literal(known.value, value.type) if known.certain else None
    if text is None:
        return None
    name, attribute = text
    return Operation(name, (), (folder.fresh(value),), (attribute,))


def _literal(known: LatticeValue, type_: Type) -> tuple[str, tuple[str, Attribute]] | None:
    """Return the constant op and attribute that stand for a value, or None if none does."""
    if isinstance(known, Witness):
        # A constant could not hold the message of a failing witness.
        return ("shape.const_witness", ("passing", True)) if known.passing else None
    if isinstance(known, Size):
        return ("shape.const_size", ("value", known.value)) if isinstance(known.value, int) else None
    if isinstance(known, (Shape, tuple)) and type_.kind != "tensor":
        extents = known.extents if isinstance(known, Shape) else known
        if not Shape(extents).is_known or (isinstance(known, Shape) and not (known.is_known and not known.is_invalid)):
            return None
        return "shape.const_shape", ("shape", tuple(extent for extent in extents if isinstance(extent, int)))
    if isinstance(known, int):
        return "arith.constant", ("value", known)
    return None


def fold(program: AnyProgram) -> AnyProgram:
    """Return a folded program; see `Program.fold`.

    Examples
    --------
    >>> from bcastgen.shape.dialect.trace import op, program
    >>> print(program("five", lambda: op("add")(2, 3)).fold())
    func.func @five() -> !shape.size {
      %3 = shape.const_size 5
      return %3 : !shape.size
    }
    """
    while True:
        names = {value.name for value in program.operands}
        for operation in program.body.walk():
            names.update(value.name for value in operation.results)
            names.update(value.name for region in operation.regions for value in region.arguments)
        folder = _Folder({}, {}, {}, names)
        body = folder.block(program.body)
        results = folder.now(program.results)
        body = _without_dead(body, set(results), folder.known_)
        if (body, results) == (program.body, program.results):
            return program
        program = replace(program, body=body, results=results)


def _without_dead(block: Block, used: set[Value], known: Environment) -> Block:
    """Return a block without unused operations that no run would miss; add the values that the rest uses to `used`."""
    kept: list[Operation] = []
    for operation in reversed(block.operations):
        if (
            not find_row(operation.name).terminator
            and used.isdisjoint(operation.results)
            and not _tells(operation, known)
        ):
            continue
        inner: set[Value] = set()
        regions = tuple(_without_dead(region, inner, known) for region in operation.regions)
        used |= inner
        used.update(operation.operands)
        kept.append(replace(operation, regions=regions))
    return replace(block, operations=tuple(reversed(kept)))


def _tells(operation: Operation, known: Environment) -> bool:
    """Tell whether a run could differ without an operation although nothing uses its results."""
    row = find_row(operation.name)
    if row.constraint:
        verdict = known[operation.results[0]].value
        return not (isinstance(verdict, Witness) and verdict.passing)
    if row.effect:
        if row.name == "shape.reduce":
            return _reduce_tells(operation, known)
        return row.name != "scf.if" or any(_region_tells(region, known) for region in operation.regions)
    operands = [known[value] for value in operation.operands]
    if any(value.type.kind == "i1" for value in operation.results):
        # A run ends at a predicate that it does not decide, so one of sizes or shapes that may be unknown stays.
        return not all(is_decided(value, known[value].value) for value in operation.operands)
    if all(value.type.can_fail or value.type.kind == "witness" for value in operation.results):
        return False
    valid = all(operand.certain for operand in operands)
    return not (valid and row.is_certain(operation, tuple(operand.value for operand in operands)))


def _reduce_tells(operation: Operation, known: Environment) -> bool:
    if not all(value.type.can_fail for value in operation.results) and not known[operation.operands[0]].certain:
        return True
    return _region_tells(operation.regions[0], known)


def _region_tells(region: Block, known: Environment) -> bool:
    return any(_tells(inner, known) for inner in region.operations if not find_row(inner.name).terminator)
