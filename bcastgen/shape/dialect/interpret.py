"""Evaluates shape programs: at compile time on what is known of operands, at run time on their values.

In: a program and the values of its operands.  Out: the values of its results, what cannot succeed, what is undecided.

    evaluate(outer, ([*], [3]))  -> ([*],)         run(outer, ((2, 5), (3,))) -> ([2, 5, 3],)

Both walk the operations once, with the same rows. `run` raises where a compiled program returns a status. `evaluate`
raises nothing and promises only what holds in every run: it follows which values are certain, that is valid in every
run, and leaves a predicate or witness on any other value undecided, since an invalid shape would decide it.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ...core.errors import BroadcastError
from .coerce import coerce_all
from .either import either
from .extent_names import shown
from .ir import Block, Operation, PlainProgram, Value
from .ops import find_row
from .row import Failed, Outcome, lift
from .values import LatticeValue, Shape, Size, Witness, show

__all__ = ["Known", "Machine", "check", "evaluate", "run"]


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of a value.

    Attributes
    ----------
    value : its lattice value.
    certain : True if it is valid in every run that reaches it.
    cause : where it became invalid, or its witness fails, for messages; "" if it did not.
    loose : True if it comes from an op whose result the text leaves undefined, so that a run may give another value.
    """

    value: LatticeValue
    certain: bool = True
    cause: str = ""
    loose: bool = False


Environment = dict[Value, Known]


@dataclass(slots=True)
class Machine:
    """Walks operations.

    Attributes
    ----------
    running : raise what a run raises; nothing is uncertain then.
    refuted : True once something cannot succeed in any run.
    undecided : True once something may fail in a run.
    """

    running: bool = False
    refuted: bool = False
    undecided: bool = False
    trace: list[tuple[Operation, tuple[LatticeValue, ...], tuple[LatticeValue, ...]]] = field(default_factory=list)

    def execute(self, program: PlainProgram, operands: Sequence[Any]) -> tuple[Known, ...]:
        """Run a program on what the caller gave for its operands, and return its results."""
        given = coerce_all(program, operands, self.running)
        if self.running:
            _check_numbers(program, given)
        values: Environment = {
            value: Known(known, not getattr(known, "is_invalid", False), _given(value, known))
            for value, known in zip(program.operands, given, strict=True)
        }
        self.operations(program.body, values)
        return tuple(values[value] for value in program.results)

    def block(self, block: Block, arguments: Sequence[Known], around: Environment) -> tuple[Known, ...]:
        """Run a region and return what it yields."""
        values = {**around, **dict(zip(block.arguments, arguments, strict=True))}
        self.operations(block, values)
        return tuple(values[value] for value in block.yielded)

    def operations(self, block: Block, values: Environment) -> None:
        """Run a block's operations, adding their results to the values."""
        for operation in block.operations:
            if not find_row(operation.name).terminator:
                values.update(zip(operation.results, self.step(operation, values), strict=True))

    def step(self, operation: Operation, values: Environment) -> tuple[Known, ...]:
        """Return the results of one operation."""
        operands = tuple(values[value] for value in operation.operands)
        if operation.name == "shape.assuming":
            results = self._assuming(operation, operands[0], values)
        elif operation.name == "shape.reduce":
            results = self._reduce(operation, operands, values)
        elif operation.name == "scf.if":
            results = self._if(operation, operands[0], values)
        else:
            results = self._plain(operation, operands)
        if self.running:
            self.trace.append((operation, _values(operands), _values(results)))
        return results

    def _plain(self, operation: Operation, operands: tuple[Known, ...]) -> tuple[Known, ...]:
        row, given = find_row(operation.name), _values(operands)
        outcomes = row.apply(operation, given)
        valid = all(operand.certain for operand in operands)
        certain = self.running or (valid and row.is_certain(operation, given))
        results = tuple(
            self._result(operation, position, outcome, operands, certain) for position, outcome in enumerate(outcomes)
        )
        if row.constraint:
            self.constrain(results[0].value)
        if row.name == "shape.debug_print" and self.running:
            print(show(given[0]), file=sys.stderr)
        return results

    def _result(
        self, operation: Operation, position: int, outcome: Outcome, operands: tuple[Known, ...], certain: bool
    ) -> Known:
        """Return what is known of a result, given what its row makes of the operands."""
        type_ = operation.results[position].type
        if isinstance(outcome, Failed):
            self._fail(operation, operands, outcome.error)
            return Known(type_.unknown())
        invalid = getattr(outcome, "is_invalid", False)
        failing = isinstance(outcome, Witness) and outcome.passing is False
        cause = _cause(operation, operands, failing) if invalid or failing else ""
        if self.running and type_.kind in ("index", "i1", "extents") and _is_open(outcome):
            raise _undecided(operation, operands)
        loose = not certain and (find_row(operation.name).loose or any(operand.loose for operand in operands))
        if type_.can_fail or certain:
            return Known(outcome, certain and not invalid, cause, loose)
        if type_.kind in ("i1", "witness"):
            # An uncertain operand may prove invalid, which fails every constraint, so only a failing one is decided.
            open_ = not failing and not all(operand.certain or _is_invalid(operand) for operand in operands)
            return Known(type_.unknown() if open_ else outcome, True, cause)
        self.undecided = True
        # A run that gets past here has this value, unless the text leaves it undefined.
        return Known(outcome, not loose, loose=loose)

    def constrain(self, witness: Any) -> None:
        """Set `refuted` if a witness fails, `undecided` if it is undecided."""
        self.refuted |= witness.passing is False
        self.undecided |= witness.passing is None

    def _fail(self, operation: Operation, operands: tuple[Known, ...], message: str) -> None:
        self.refuted = True
        if self.running:
            raise _failure(operation, operands, message)

    def _assuming(self, operation: Operation, witness: Known, values: Environment) -> tuple[Known, ...]:
        verdict = witness.value
        if not isinstance(verdict, Witness):
            raise AssertionError(verdict)
        self.constrain(verdict)
        if verdict.passing is False:
            if self.running:
                raise _broken(operation, witness)
            return tuple(Known(value.type.invalid(verdict.error), False, witness.cause) for value in operation.results)
        if verdict.passing is None and self.running:
            raise _undecided(operation, (witness,))
        return self.block(operation.regions[0], (), values)

    def _if(self, operation: Operation, condition: Known, values: Environment) -> tuple[Known, ...]:
        if condition.value is not None:
            return self.block(operation.regions[0 if condition.value else 1], (), values)
        if self.running:
            raise _undecided(operation, (condition,))
        branches = [Machine(), Machine()]
        first, second = (
            machine.block(region, (), values) for machine, region in zip(branches, operation.regions, strict=True)
        )
        # A run takes one branch only, so it may never begin the one that cannot succeed.
        self.refuted |= all(machine.refuted for machine in branches)
        self.undecided |= any(machine.refuted or machine.undecided for machine in branches)
        return tuple(_either(a, b) for a, b in zip(first, second, strict=True))

    def _reduce(self, operation: Operation, operands: tuple[Known, ...], values: Environment) -> tuple[Known, ...]:
        """Return what is known of the results of a reduction: its body runs for each extent of a known shape."""
        given, *state = operands
        shape = lift(operation, _values(operands))[0]
        if shape.is_invalid:
            cause = given.cause or _cause(operation, operands, False)
            if not all(value.type.can_fail for value in operation.results):
                self._fail(operation, (given,), shape.error)
            return tuple(Known(value.type.invalid(shape.error), False, cause) for value in operation.results)
        if shape.unranked:
            if self.running and any(value.type.kind in ("index", "extents", "i1") for value in operation.results):
                raise _undecided(operation, operands)
            # The body may fail in a run, which a result of a fallible type shows as invalid.
            self.undecided = True
            return tuple(Known(value.type.unknown(), not value.type.can_fail) for value in operation.results)
        sized = operation.regions[0].arguments[1].type.kind == "size"
        for index, extent in enumerate(shape.extents):
            dim = Size(extent) if sized else extent
            arguments = (Known(index), Known(dim, given.certain), *state)
            state = list(self.block(operation.regions[0], arguments, values))
        # If the shape proves invalid, the body never runs, and the results found here do not count; a result that
        # cannot be invalid then ends the run.
        self.undecided |= not (given.certain or all(value.type.can_fail for value in operation.results))
        return tuple(
            known if given.certain or not value.type.can_fail else replace(known, certain=False)
            for value, known in zip(operation.results, state, strict=True)
        )


def _check_numbers(program: PlainProgram, given: Sequence[LatticeValue]) -> None:
    """Raise for an operand of a type that has no unknown values in C: folding would change where a run meets them."""
    for value, known in zip(program.operands, given, strict=True):
        if value.type.kind in ("index", "i1", "extents", "tensor") and not _is_number(known):
            raise BroadcastError(
                f"operand '{value.name}' of program '{program.name}' is {show(known)}, and a run needs numbers here; "
                "give its value, or ask evaluate or check",
                operand=value.name,
            )


def _is_number(known: LatticeValue) -> bool:
    return known.is_known if isinstance(known, Shape) else not _is_open(known)


def _values(known: Sequence[Known]) -> tuple[LatticeValue, ...]:
    return tuple(one.value for one in known)


def _either(a: Known, b: Known) -> Known:
    value = either(a.value, b.value)
    return Known(value, a.certain and b.certain, a.cause and b.cause and a.cause, a.loose or b.loose)


def _is_invalid(known: Known) -> bool:
    return bool(getattr(known.value, "is_invalid", False))


def _is_open(value: Any) -> bool:
    return not isinstance(value, (int, tuple)) or (
        isinstance(value, tuple) and not all(isinstance(extent, int) for extent in value)
    )


def _described(operation: Operation, values: Sequence[Known]) -> str:
    pairs = zip(operation.operands, values, strict=False)
    operands = ", ".join(f"{value} = {show(known.value)}" for value, known in pairs)
    return f"{operation.name} of {operands}" if operands else operation.name


def _cause(operation: Operation, operands: Sequence[Known], failing: bool) -> str:
    """Return where a result became invalid: here, or where an operand did."""
    earlier = next((known.cause for known in operands if known.cause), "")
    here = f"{_described(operation, operands)} {'does not hold' if failing else 'is invalid'}"
    if operation.location:
        here += f" (at {operation.location})"
    return earlier or here


def _failure(operation: Operation, operands: Sequence[Known], message: str) -> BroadcastError:
    at, known = next(
        ((value, known) for value, known in zip(operation.operands, operands, strict=False) if known.cause),
        (operation.operands[0] if operation.operands else None, None),
    )
    name = at.name if at is not None else None
    if known is None:
        why = f": {message}" if message else ""
        place = f" (at {operation.location})" if operation.location else ""
        return BroadcastError(f"{_described(operation, operands)}{place} has no result of its type{why}", operand=name)
    # The author has not named what has a number as its name.
    needed = f"a valid operand '{name}'" if name and not name.isdigit() else "a valid one"
    return BroadcastError(
        f"{message + ': ' if message else ''}{known.cause}; {operation.name} needs {needed}", operand=name
    )


def _broken(operation: Operation, witness: Known) -> BroadcastError:
    message = witness.value.error if isinstance(witness.value, Witness) else ""
    cause = witness.cause or f"{operation.name}: the witness '{operation.operands[0].name}' fails"
    return BroadcastError(f"{message + ': ' if message else ''}{cause}", operand=operation.operands[0].name)


def _undecided(operation: Operation, operands: Sequence[Known]) -> BroadcastError:
    return BroadcastError(
        f"{_described(operation, operands)} is not decided; give the program operands that are known",
        operand=operation.operands[0].name if operation.operands else None,
    )


def _given(value: Value, known: LatticeValue) -> str:
    failing = isinstance(known, Witness) and known.passing is False
    return f"operand '{value.name}' is {show(known)}" if failing or getattr(known, "is_invalid", False) else ""


def evaluate(program: PlainProgram, operands: Sequence[Any]) -> tuple[LatticeValue, ...]:
    """Return what is known of the results; see `Program.evaluate`."""
    return tuple(shown(value) for value in _values(Machine().execute(program, operands)))


def run(program: PlainProgram, operands: Sequence[Any]) -> tuple[LatticeValue, ...]:
    """Return the results of a run; see `Program.run`."""
    return _values(Machine(running=True).execute(program, operands))


def check(program: PlainProgram, operands: Sequence[Any]) -> bool | None:
    """Tell whether a run is valid; see `Program.check`."""
    machine = Machine()
    for known in machine.execute(program, operands):
        if isinstance(known.value, Witness):
            machine.constrain(known.value)
        machine.refuted |= bool(getattr(known.value, "is_invalid", False))
        machine.undecided |= not known.certain
    return False if machine.refuted else None if machine.undecided else True
