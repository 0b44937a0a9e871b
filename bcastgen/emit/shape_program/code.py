"""Flattens shape programs to numbers that csrc/runtime/shape_code.c runs, so that a call need not interpret them.

In: a program from shapes to one shape.  Out: int64 numbers, or None for one that only Python runs.

    %0 = shape.concat %a, %b : ...  ->  bcg_shape_concat, 2, 0, 1

Steps are those of csrc/runtime/shape_steps.def, which call what a compiled program calls. A run that does not succeed
ends there and is run again in Python, for its error; so is a program with too many values, or one that prints.
"""

from __future__ import annotations

import re
from functools import cache

from ...core.errors import BroadcastError
from ...core.resources import csrc_file
from ...shape.dialect.ir import Block, Operation, Program, Value
from ...shape.dialect.ops import find_row
from ...shape.dialect.row import Failed
from ...shape.dialect.values import Shape, Size, Witness
from .calls import PASSED, c_type, check_values, function, takes_sizes

__all__ = ["program_code"]

_LISTS = (
    "bcg_shape_broadcast",
    "bcg_shape_any",
    "bcg_shape_from_extents",
    "bcg_shape_is_broadcastable",
    "bcg_shape_shape_eq",
    "bcg_shape_cstr_broadcastable",
    "bcg_shape_cstr_eq",
)
# The registers of a step's results and operands, n of numbers and s of shapes, by its kind or of itself.
_REGISTERS = {
    **dict.fromkeys(("SHAPE_NUMBERS", "SHAPE_PARTIAL"), "nnn"),
    **{"SHAPE_PAIR": "sss", "SHAPE_OF": "ns", "SHAPE_AT": "nsn", "SHAPE_SPLIT": "sssn"},
    **{"SHAPE_VERDICT": "ns*", "SHAPE_WITNESS": "s*"},
    **dict.fromkeys(("bcg_shape_broadcast", "bcg_shape_any"), "ss*"),
    **{"bcg_shape_from_extents": "sn*", "bcg_shape_join": "sss", "bcg_size_join": "nnn"},
    **dict.fromkeys(("bcg_arith_andi", "bcg_arith_ori", "bcg_arith_xori"), "nnn"),
    **{"bcg_arith_select": "nnnn", "select_shape": "snss"},
}


@cache
def _numbers() -> dict[str, int]:
    """Return step -> number."""
    return {name: at for at, name in enumerate(_kinds())}


@cache
def _kinds() -> dict[str, str]:
    """Return step -> kind, in order."""
    text = csrc_file("shape_steps.def").read_text(encoding="utf-8")
    return {name: kind for kind, name in re.findall(r"^(SHAPE_\w+)\((\w+)\)", text, re.MULTILINE)}


@cache
def _most() -> tuple[int, int]:
    """Return how many shapes, and how many numbers, a code may have."""
    text = csrc_file("shape_code.h").read_text(encoding="utf-8")
    shapes, numbers = re.findall(r"SHAPE_CODE_\w+ = (\d+)", text)
    return int(shapes), int(numbers)


class _Unfit(Exception):
    """Only Python runs this program."""


def program_code(program: Program, rank: int) -> tuple[int, ...] | None:
    """Return the numbers of a program whose result has to have a rank; None if only Python runs it.

    Examples
    --------
    >>> from bcastgen.shape.dialect.trace import op, program
    >>> outer = program("outer", lambda a, b: op("concat")(a, b), a="!shape.shape", b="!shape.shape")
    >>> program_code(outer, 2)[:4]
    (2, 2, 2, 4)
    """
    try:
        check_values(program)
        flat = _Flat(program)
    except (_Unfit, BroadcastError):  # element types and values have no form in C
        return None
    if flat.shapes > _most()[0] or flat.numbers > _most()[1]:
        return None
    return len(program.operands), flat.of(program.results[0]), rank, len(flat.steps), *flat.steps


class _Flat:
    """The steps of a program, and the register of each value."""

    def __init__(self, program: Program) -> None:
        self.steps: list[int] = []
        self.shapes = self.numbers = 0
        self._registers: dict[Value, int] = {}
        for value in program.operands:
            self._new(value)
            self._demand(value)
        self._block(program.body)

    def of(self, value: Value) -> int:
        """Return the register of a value; witnesses, which all hold, have none, and so nothing may compute with one."""
        if value not in self._registers:
            raise _Unfit(value.type.kind)
        return self._registers[value]

    def _new(self, value: Value) -> int:
        if _is_shape(value):
            self.shapes += 1
            self._registers[value] = self.shapes - 1
        elif value.type.kind != "witness":
            self.numbers += 1
            self._registers[value] = self.numbers - 1
        return self._registers.get(value, -1)

    def _step(self, name: str, *arguments: int) -> None:
        if name not in _numbers():
            raise _Unfit(name)
        self.steps += (_numbers()[name], *arguments)

    def _block(self, block: Block) -> None:
        for operation in block.operations:
            if not find_row(operation.name).terminator:
                self._operation(operation)

    def _operation(self, operation: Operation) -> None:
        row = find_row(operation.name)
        if operation.name == "shape.assuming":
            self._block(operation.regions[0])
            for result, value in zip(operation.results, _yields(operation), strict=True):
                self._same(result, value)
        elif operation.name == "shape.reduce":
            self._reduce(operation)
        elif not operation.operands and row.evaluate is not None:
            self._constant(operation)
        elif operation.name == "shape.debug_print":
            raise _Unfit(operation.name)
        elif operation.name in PASSED:
            if operation.name == "shape.index_to_size":
                self._step("not_negative", self.of(operation.operands[0]))
            self._same(operation.results[0], operation.operands[0])
            self._demand(operation.results[0])
        elif operation.name == "shape.cstr_require":
            self._step("holds", self.of(operation.operands[0]))
        elif operation.name != "shape.assuming_all":
            self._call(operation)

    def _same(self, result: Value, value: Value) -> None:
        if value in self._registers:
            self._registers[result] = self._registers[value]

    def _constant(self, operation: Operation) -> None:
        result = operation.results[0]
        match find_row(operation.name).apply(operation, ())[0]:
            case Witness(passing=True):
                pass
            case Shape(extents=tuple(extents)) | tuple(extents):
                known = [extent for extent in extents if isinstance(extent, int)]
                if len(known) < len(extents):
                    raise _Unfit(operation.name)
                self._step("shape", self._new(result), len(known), *known)
            case Size(value=int(number)) | int(number):
                self._step("number", self._new(result), int(number))
            case Failed() | _:
                raise _Unfit(operation.name)

    def _call(self, operation: Operation) -> None:
        if operation.regions or not operation.results:
            raise _Unfit(operation.name)
        name = function(operation)
        if takes_sizes(operation):
            for value in operation.operands:
                if value.type.kind == "index":
                    self._step("not_negative", self.of(value))
        kept = [value for value in operation.results if value.type.kind != "witness"]
        if name == "bcg_arith_select" and any(map(_is_shape, kept)):
            name = "select_shape"
        registers = "".join("s" if _is_shape(value) else "n" for value in (*kept, *operation.operands))
        if re.fullmatch(_REGISTERS.get(name, _REGISTERS.get(_kinds().get(name, ""), "")), registers) is None:
            raise _Unfit(name)
        results = [self._new(value) for value in kept]
        operands = [self.of(value) for value in operation.operands]
        if len(operands) > _most()[0]:
            raise _Unfit(name)
        self._step(name, *results, *([len(operands)] if name in _LISTS else []), *operands)
        for value in operation.results:
            if _is_shape(value):
                self._demand(value)
            elif value.type.kind != "witness" and not name.startswith(("bcg_index_", "bcg_arith_")):
                self._step("not_negative", self.of(value))

    def _demand(self, value: Value) -> None:
        """Ask for the length that the type of an extent tensor states."""
        if value.type.kind == "extents" and value.type.length is not None:
            self._step("has_rank", self.of(value), value.type.length)

    def _reduce(self, operation: Operation) -> None:
        shape, *starts = operation.operands
        index, extent, *state = operation.regions[0].arguments
        for value, start in zip(state, starts, strict=True):
            self._new(value)
            self._copy(value, start)
        begin = [self._new(index), self._new(extent), self.of(shape)]
        outside, self.steps = self.steps, []
        self._block(operation.regions[0])
        # All at once: what is yielded may be the state itself.
        kept = [self._kept(value) for value in _yields(operation)]
        for value, register in zip(state, kept, strict=True):
            if value.type.kind != "witness":
                self._step("copy_shape" if _is_shape(value) else "copy_number", self.of(value), register)
        body, self.steps = self.steps, outside
        self._step("loop", *begin, len(body), *body)
        for result, value in zip(operation.results, state, strict=True):
            self._same(result, value)

    def _copy(self, to: Value, value: Value) -> None:
        if value.type.kind != "witness":
            self._step("copy_shape" if _is_shape(value) else "copy_number", self.of(to), self.of(value))

    def _kept(self, value: Value) -> int:
        """Return a register of its own for what a value is now."""
        if value.type.kind == "witness":
            return -1
        if _is_shape(value):
            self.shapes += 1
            self._step("copy_shape", self.shapes - 1, self.of(value))
            return self.shapes - 1
        self.numbers += 1
        self._step("copy_number", self.numbers - 1, self.of(value))
        return self.numbers - 1


def _is_shape(value: Value) -> bool:
    return c_type(value.type) == "bcg_shape"


def _yields(operation: Operation) -> tuple[Value, ...]:
    terminator = operation.regions[0].terminator
    return terminator.operands if terminator is not None else ()
