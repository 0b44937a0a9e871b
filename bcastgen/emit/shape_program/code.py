"""Flattens shape programs to numbers that csrc/runtime/shape_code.c runs, so that a call need not interpret them.

In: a program from shapes to shapes.  Out: int64 numbers, or None for one that only Python runs.

    %0 = shape.concat %a, %b : ...  ->  bcg_shape_concat, 2, 0, 1

Steps are those of csrc/runtime/shape_steps.def: they call the functions that a compiled program calls, and check what
that checks. A run that fails stops there, and Python runs the program again, for its error. Only Python runs a program
that prints.
"""

from __future__ import annotations

import re
from collections.abc import Container, Sequence
from functools import cache

from ...core.errors import BroadcastError
from ...core.resources import csrc_file
from ...shape.dialect.ir import Block, Operation, PlainProgram, Value
from ...shape.dialect.ops import find_row
from ...shape.dialect.values import Shape, Size, Witness
from .calls import PASSED, c_type, check_values, function, refuses, takes_sizes

__all__ = ["program_code"]

# The first numbers of a code, in front of its results: see shape_code.h.
_HEAD = 5
# The name of a kind in shape_steps.def: a letter for each register of results, then of operands; N and S are lists.
_KIND = re.compile(r"(?P<results>[ns]+)_(?P<operands>[nsNS]+)(?P<partial>_or_end)?(_said)?")


@cache
def _kinds() -> dict[str, str]:
    """Return step -> kind, in order."""
    text = csrc_file("shape_steps.def").read_text(encoding="utf-8")
    return {name: kind for kind, name in re.findall(r"^SHAPE_STEP\((\w+), (\w+)\)", text, re.MULTILINE)}


@cache
def _numbers() -> dict[str, int]:
    """Return step -> number."""
    return {name: at for at, name in enumerate(_kinds())}


class _Unfit(Exception):
    """Only Python runs this program."""


def program_code(
    program: PlainProgram, results: Sequence[Sequence[int]], values: Container[int] = ()
) -> tuple[int, ...] | None:
    """Return the numbers of a program; None if only Python runs it.

    Parameters
    ----------
    program : from shapes, or extent tensors.
    results : for each result, one index a dim: where in its output a run writes the extent of that dim.
    values : the numbers of the operands that are values, and not shapes.

    Examples
    --------
    >>> from bcastgen.shape.dialect.trace import op, program
    >>> outer = program("outer", lambda a, b: op("concat")(a, b), a="!shape.shape", b="!shape.shape")
    >>> operands, shapes, numbers, results, _, register, rank, *_ = program_code(outer, [(0, 1)])
    >>> operands, shapes, numbers, results, register, rank
    (2, 3, 0, 1, 2, 2)
    """
    try:
        check_values(program)
        flat = _Flat(program, values)
        written = [
            number
            for value, dims in zip(program.results, results, strict=True)
            for number in (flat.of(value), len(dims), *dims)
        ]
    except (_Unfit, BroadcastError):  # element types and values have no form in C
        return None
    head = (len(program.operands), max(flat.shapes, flat.listed), flat.numbers, len(results), _HEAD + len(written))
    return (*head, *written, *flat.steps)


class _Flat:
    """The steps of a program, the register of each value, and how many registers there are.

    Attributes
    ----------
    listed : the most registers that one step lists.
    """

    def __init__(self, program: PlainProgram, values: Container[int]) -> None:
        self.steps: list[int] = []
        self.shapes = self.numbers = self.listed = 0
        self._registers: dict[Value, int] = {}
        # Each operand has the register of a shape; one that is a value has its own register besides.
        shapes = [self._fresh(True) for _ in program.operands]
        for at, value in enumerate(program.operands):
            if at in values:
                self._value(value, at)
            else:
                self._registers[value] = shapes[at]
                self._demand(value, shapes[at])
        self._block(program.body)

    def _value(self, value: Value, operand: int) -> None:
        kind = value.type.kind
        if kind not in ("index", "extents"):
            raise _Unfit(value.type)
        self._step("value" if kind == "index" else "values", self._new(value), operand)
        if kind == "extents":
            self._demand(value, self.of(value))

    def of(self, value: Value) -> int:
        """Return the register of a value."""
        return self._registers[value]

    def _new(self, value: Value) -> int:
        self._registers[value] = made = self._fresh(_is_shape(value))
        return made

    def _fresh(self, is_shape: bool) -> int:
        if is_shape:
            self.shapes += 1
            return self.shapes - 1
        self.numbers += 1
        return self.numbers - 1

    def _step(self, name: str, *arguments: int) -> None:
        self.steps += (_numbers()[name], *arguments)

    def _block(self, block: Block) -> None:
        for operation in block.operations:
            if not find_row(operation.name).terminator:
                self._operation(operation)

    def _operation(self, operation: Operation) -> None:
        match operation.name:
            case "shape.assuming":
                self._step("holds", self.of(operation.operands[0]))
                self._block(operation.regions[0])
                for result, value in zip(operation.results, operation.regions[0].yielded, strict=True):
                    self._registers[result] = self.of(value)
            case "shape.reduce":
                self._reduce(operation)
            case "scf.if":
                self._if(operation)
            case "shape.debug_print":
                raise _Unfit(operation.name)
            case _ if not operation.operands and find_row(operation.name).evaluate is not None:
                self._constant(operation)
            case name if name in PASSED:
                self._pass(operation)
            case _:
                self._call(operation)

    def _constant(self, operation: Operation) -> None:
        result = operation.results[0]
        match find_row(operation.name).apply(operation, ())[0]:
            case Witness(passing=passing):
                self._step("number", self._new(result), 1 if passing else _INVALID)
            case Shape(unranked=True):
                self._step("shape", self._new(result), _UNKNOWN)
            case Shape(extents=tuple(extents)) | tuple(extents):
                known = [extent if isinstance(extent, int) else _UNKNOWN for extent in extents]
                self._step("shape", self._new(result), len(known), *known)
            case Size(value=int(number)) | int(number):
                self._step("number", self._new(result), int(number))
            case _:
                raise _Unfit(operation.name)

    def _pass(self, operation: Operation) -> None:
        operand, result = operation.operands[0], operation.results[0]
        is_size = operation.name == "shape.index_to_size"
        self._registers[result] = self._size(operand) if is_size else self.of(operand)
        if refuses(operation) and operand.type.kind != "index":
            self._demand(result, self.of(result))

    def _size(self, value: Value) -> int:
        """Return the register of a value as ops take it that expect a size: an index below 0 is none."""
        if value.type.kind != "index":
            return self.of(value)
        made = self._fresh(False)
        self._step("bcg_size_from_index", made, self.of(value))
        return made

    def _call(self, operation: Operation) -> None:
        """Append the call of a C function; raise `_Unfit` if the code has none of that name for these operands."""
        name = function(operation)
        if name == "bcg_arith_select" and _is_shape(operation.results[0]):
            name = "select_shape"
        kind = _KIND.fullmatch(_kinds().get(name, ""))
        if kind is None or kind["results"] != _letters(operation.results):
            raise _Unfit(name)
        operands = [self._size(value) if takes_sizes(operation) else self.of(value) for value in operation.operands]
        is_list = kind["operands"].isupper()
        if (
            set(_letters(operation.operands)) - {kind["operands"].lower()}
            if is_list
            else (kind["operands"] != _letters(operation.operands))
        ):
            raise _Unfit(name)
        self.listed = max(self.listed, len(operands))
        results = [self._new(value) for value in operation.results]
        self._step(name, *results, *([len(operands)] if is_list else []), *operands)
        if refuses(operation) and not kind["partial"]:
            for value, register in zip(operation.results, results, strict=True):
                self._demand(value, register)

    def _demand(self, value: Value, register: int) -> None:
        """Refuse values that the type of a result cannot express."""
        if value.type.kind in ("index", "i1"):
            self._step("not_negative", register)
        if value.type.kind == "extents":
            self._step("tensor", register, -1 if value.type.length is None else value.type.length)

    def _copy(self, value: Value, to: int, register: int) -> None:
        if to != register:
            self._step("copy_shape" if _is_shape(value) else "copy_number", to, register)

    def _nested(self, block: Block, results: Sequence[tuple[Value, int]]) -> list[int]:
        """Return the steps of a region that end with copies of what it yields to registers, all at once."""
        outside, self.steps = self.steps, []
        self._block(block)
        yielded = [self.of(value) for value in block.yielded]
        targets = {(_is_shape(value), register) for value, register in results}
        for at, (value, _) in enumerate(results):
            if len(results) > 1 and (_is_shape(value), yielded[at]) in targets:
                kept = self._fresh(_is_shape(value))
                self._copy(value, kept, yielded[at])
                yielded[at] = kept
        for (value, register), new in zip(results, yielded, strict=True):
            self._copy(value, register, new)
        made, self.steps = self.steps, outside
        return made

    def _if(self, operation: Operation) -> None:
        results = [(value, self._new(value)) for value in operation.results]
        first, second = (self._nested(region, results) for region in operation.regions)
        self._step("branch", self.of(operation.operands[0]), len(first), len(second), *first, *second)

    def _reduce(self, operation: Operation) -> None:
        shape, *starts = operation.operands
        index, extent, *state = operation.regions[0].arguments
        results = [(value, self._new(value)) for value in state]
        for (value, register), start in zip(results, starts, strict=True):
            self._copy(value, register, self.of(start))
        head = (self._new(index), self._new(extent), self.of(shape))
        body = self._nested(operation.regions[0], results)
        self._step("loop", *head, len(body), *body)
        for result, (_, register) in zip(operation.results, results, strict=True):
            self._registers[result] = register


# As in bcg_shape_value.h.
_UNKNOWN, _INVALID = -1, -2


def _is_shape(value: Value) -> bool:
    return c_type(value.type) == "bcg_shape"


def _letters(values: Sequence[Value]) -> str:
    return "".join("s" if _is_shape(value) else "n" for value in values)
