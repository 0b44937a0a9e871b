"""Prints the scalar body of a nest as the region of a linalg.generic, one value per line.

In: a nest and the elements it reads.  Out: lines, and the values that are yielded.

    t0 = multiply(b, 2.0:f32)  ->  %t0 = arith.mulf %in_b, %c2.0_f32 : f32

Statements keep their numbers, so the text reads line by line against the nest's dump.
"""

from __future__ import annotations

import functools
import re
import textwrap
from collections.abc import Mapping

from ...core.dtypes import DType
from ...loops.analysis.demands import demanded_values
from ...loops.nest import Let, Load, Nest, Statement, Value
from .block import TextBlock
from .spelling import demand, moves, spelling
from .types import compute_type, signless

__all__ = ["demanded_reads", "write_body", "write_demands"]

_CONSTANT = re.compile(r"(?<![\w#])#(-?[A-Za-z0-9.]+)(?::(\w+))?")
_LOCAL = re.compile(r"%(\w+)")
_MARKED = re.compile(r"%@(\w+)")
_OPERAND = re.compile(r"\{(\d)\}")


def write_body(block: TextBlock, nest: Nest, loads: Mapping[int, str]) -> list[str]:
    """Write the statements of a nest; return the values of its results.

    Parameters
    ----------
    block : the block of the region.
    nest : has the statements.
    loads : the element of each operand, by operand index.

    Raises
    ------
    BcastgenError
        If arith and math cannot express an op.
    """
    writer = _Writer(block, nest, loads)
    for index, statement in enumerate(nest.body):
        writer.statement(index, statement)
    return [writer.stored(value, access.dtype) for value, access in zip(nest.stores, nest.results, strict=True)]


def demanded_reads(nest: Nest) -> set[int] | None:
    """Return the indices of the operands that decide whether a nest may be computed; None if it always may."""
    if not _demanding(nest):
        return None
    return {value.access for value in demanded_values(nest)[1] if isinstance(value, Load)}


def write_demands(block: TextBlock, nest: Nest, loads: Mapping[int, str]) -> str:
    """Write the test of whether a nest may be computed for an element; return its value."""
    writer, (needed, _) = _Writer(block, nest, loads), demanded_values(nest)
    for index in sorted(needed):
        writer.statement(index, nest.body[index])
    tests = [writer.demand(index, nest.body[index]) for index in _demanding(nest)]
    return functools.reduce(lambda one, other: block.op("both", f"arith.andi {one}, {other} : i1"), tests)


def _demanding(nest: Nest) -> list[int]:
    """Return the indices of the statements that are undefined for some elements; printing refuses others of them."""
    return [index for index, statement in enumerate(nest.body) if demand(statement) is not None]


class _Writer:
    """Writes statements; `lets` holds the names of their values, in the types they are stored in."""

    def __init__(self, block: TextBlock, nest: Nest, loads: Mapping[int, str]) -> None:
        self.block = block
        self.nest = nest
        self.loads = loads
        self.lets: dict[int, str] = {}

    def stored(self, value: Value, dtype: DType) -> str:
        """Return a value in the type it is stored in."""
        match value:
            case Load():
                return self.loads[value.access]
            case Let():
                return self.lets[value.index]
        return self.block.constant(value.value, signless(dtype))

    def computed(self, value: Value, dtype: DType) -> str:
        """Return a value in the type that ops compute in."""
        if dtype.computed_in is dtype:
            return self.stored(value, dtype)
        if not isinstance(value, (Load, Let)):
            return self.block.constant(value.value, "f32")
        narrow = self.stored(value, dtype)
        return self.block.op(f"{narrow[1:]}_f32", f"arith.extf {narrow} : {dtype.mlir} to f32")

    def demand(self, index: int, statement: Statement) -> str:
        """Write the test of whether a statement is defined for its operands."""
        return self._write(demand(statement) or "", statement, f"t{index}_demand")

    def statement(self, index: int, statement: Statement) -> None:
        """Write the lines of a statement."""
        value = self._write(spelling(statement), statement, f"t{index}")
        if statement.dtype.is_float16 and not (statement.op.converts or moves(statement)):
            small = statement.dtype.mlir
            value = self.block.op(f"t{index}_{small}", f"arith.truncf {value} : f32 to {small}")
        self.lets[index] = value

    def _write(self, text: str, statement: Statement, name: str) -> str:
        """Write the lines of a spelling for a statement; return the value of the last line."""
        take = self.stored if moves(statement) else self.computed
        # Write conversions and constants before the first line, since a later line may be inside a loop.
        operands = {
            digit: take(statement.operands[int(digit)], statement.operand_dtypes[int(digit)])
            for digit in sorted(set(_OPERAND.findall(text)))
        }
        text = _LOCAL.sub(r"%@\1", textwrap.dedent(text).strip())
        text = _CONSTANT.sub(lambda found: self._constant(found[1], found[2], statement), text)
        text = _OPERAND.sub(lambda found: operands[found[1]], text)
        names = {word: self.block.name(f"{name}_{word}") for word in dict.fromkeys(_MARKED.findall(text))}
        *lines, last = _MARKED.sub(lambda found: names[found[1]], text).splitlines()
        if lines:
            self.block.line(f"// {name} = {statement.op.name}")
        for line in lines:
            self.block.line(line)
        if re.fullmatch(r"%\S+", last):
            return last
        value = self.block.name(name)
        self.block.line(f"{value} = {last}")
        return value

    def _constant(self, text: str, type_: str | None, statement: Statement) -> str:
        type_ = type_ or compute_type(statement.operand_dtypes[0])
        if type_ == "i1":
            return self.block.constant(text == "true", type_)
        return self.block.constant(float(text) if type_.startswith("f") else int(text), type_)
