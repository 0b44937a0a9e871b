"""Prints the shape functions of ops in MLIR of arith, tensor and cf: the extents that no operand determines.

In: a program of the shape dialect, and the extents of its operands.  Out: lines of a block, and the results' extents.

    %0 = shape.concat %a, %b : ...  ->  no line: the extents of %a, then those of %b
    %1 = shape.cstr_eq %a, %b       ->  %holds = arith.cmpi eq, %a_0, %b_0 : index;   cf.assert %holds, "..."

Ranks are known, so a shape is a tuple of extents here, and a loop over its dims is written out. What a run refuses is
an assertion. It stands where the value is computed, so a value that nothing asks for may end a call, too.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from ...core.errors import BcastgenError
from ...core.frozen import dataclass
from ...shape.dialect.ir import Block, Operation, PlainProgram, Value
from ...shape.dialect.ops import find_row
from ...shape.dialect.values import Shape, Size, Witness
from .block import TextBlock, quoted

__all__ = ["SizesProgram", "write_sizes"]

Number: TypeAlias = int | str
Predicate: TypeAlias = bool | str

_PASSED = ("shape.shape_of", "shape.from_extent_tensor", "shape.to_extent_tensor", "shape.size_to_index")
_BINARY = ("addi", "subi", "muli", "minsi", "maxsi", "minui", "maxui")
_FOLDED: dict[str, Callable[[int, int], int]] = {
    "addi": operator.add,
    "subi": operator.sub,
    "muli": operator.mul,
    "minsi": min,
    "maxsi": max,
}
_DIVISIONS = ("divsi", "divui", "remsi", "remui")


@dataclass(frozen=True, slots=True)
class SizesProgram:
    """The shape functions of a kernel's ops: a program, and for each result the operand that each extent stands for."""

    program: PlainProgram
    slots: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class _Asked:
    """A witness: the predicates that have to hold where it is relied on, each with what an assertion says."""

    checks: tuple[tuple[Predicate, str], ...] = ()


def write_sizes(block: TextBlock, program: PlainProgram, operands: Sequence[Any]) -> list[tuple[Number, ...]]:
    """Write a program into a block; return the extents of its results.

    Parameters
    ----------
    block : the block of the function.
    program : from shapes, or values of type index, to shapes.
    operands : for each operand a tuple of extents, or the number: integers, or names of values of type index.

    Raises
    ------
    BcastgenError
        If the program has an op that is not written, or refuses operands of these ranks.
    """
    writer = _Writer(block, dict(zip(program.operands, operands, strict=True)))
    for value, given in zip(program.operands, operands, strict=True):
        writer.demand(value, given)
    writer.block_of(program.body)
    return [writer.values[value] for value in program.results]


class _Writer:
    """Writes operations; `values` has for each value a number, a predicate or a tuple of extents."""

    def __init__(self, block: TextBlock, values: dict[Value, Any]) -> None:
        self.block = block
        self.values = values

    def block_of(self, block: Block) -> None:
        """Write the operations of a block."""
        for operation in block.operations:
            if not find_row(operation.name).terminator:
                self._operation(operation)

    def demand(self, value: Value, given: Any) -> None:
        """Refuse a list of extents that has not the length of its type."""
        if value.type.kind == "extents" and value.type.length not in (None, len(given)):
            raise BcastgenError(
                f"linalg: '{value.name}' of the shape function has {len(given)} extents, expected {value.type.length}"
            )

    def _operation(self, operation: Operation) -> None:
        given = [self.values[value] for value in operation.operands]
        made = self._results(operation, given)
        results = made if isinstance(made, list) else [made]
        for value, result in zip(operation.results, results, strict=True):
            self.demand(value, result)
            self.values[value] = result

    def _results(self, operation: Operation, given: list[Any]) -> Any:
        name = operation.name
        if not operation.operands and find_row(name).evaluate is not None:
            return self._constant(operation)
        if name in _PASSED:
            return given[0]
        if name.startswith("arith."):
            return self._arithmetic(operation, given)
        method: Callable[..., Any] | None = getattr(self, f"_{name.partition('.')[2]}", None)
        if method is None or not name.startswith("shape."):
            raise _unwritten(operation)
        return method(operation, *given)

    # ---- pieces

    def _index(self, number: Number) -> str:
        return number if isinstance(number, str) else self.block.constant(number, "index")

    def _flag(self, predicate: Predicate) -> str:
        return predicate if isinstance(predicate, str) else self.block.constant(predicate, "i1")

    def _op(self, wanted: str, name: str, x: Number, y: Number) -> str:
        return self.block.op(wanted, f"arith.{name} {self._index(x)}, {self._index(y)} : index")

    def _compare(self, predicate: str, x: Number, y: Number) -> Predicate:
        if isinstance(x, int) and isinstance(y, int):
            return {"eq": x == y, "ne": x != y, "slt": x < y, "sle": x <= y, "sgt": x > y, "sge": x >= y}[predicate]
        if x == y and predicate in ("eq", "sle", "sge"):
            return True
        return self.block.op("holds", f"arith.cmpi {predicate}, {self._index(x)}, {self._index(y)} : index")

    def _and(self, one: Predicate, other: Predicate) -> Predicate:
        if isinstance(one, bool):
            return other if one else False
        if isinstance(other, bool):
            return one if other else False
        return self.block.op("both", f"arith.andi {one}, {other} : i1")

    def _or(self, one: Predicate, other: Predicate) -> Predicate:
        if isinstance(one, bool):
            return True if one else other
        if isinstance(other, bool):
            return True if other else one
        return self.block.op("either", f"arith.ori {one}, {other} : i1")

    def _choose(self, condition: Predicate, x: Number, y: Number) -> Number:
        if isinstance(condition, bool):
            return x if condition else y
        if x == y:
            return x
        return self.block.op("chosen", f"arith.select {condition}, {self._index(x)}, {self._index(y)} : index")

    def _assert(self, operation: Operation, predicate: Predicate) -> None:
        self._line(predicate, _said(operation, "is invalid"))

    def _line(self, predicate: Predicate, says: str) -> None:
        if predicate is not True:
            self.block.once(f"cf.assert {self._flag(predicate)}, {quoted(says)}")

    # ---- constants and predicates

    def _constant(self, operation: Operation) -> Any:
        match find_row(operation.name).apply(operation, ())[0]:
            case Witness(passing=bool(passing)):
                return _Asked() if passing else _Asked(((False, "a witness fails"),))
            case Shape(extents=tuple(extents)) | tuple(extents) if all(isinstance(one, int) for one in extents):
                return extents
            case Size(value=int(number)) | int(number):
                return number
        raise _unwritten(operation)

    def _meets(self, shapes: Sequence[tuple[Number, ...]]) -> tuple[Predicate, tuple[Number, ...]]:
        """Return whether shapes broadcast, and the extents that this gives: in each dim the first that is not 1."""
        rank, met = max(map(len, shapes)), list[Number]()
        holds: Predicate = True
        for dim in range(rank):
            column = [shape[dim - rank + len(shape)] for shape in shapes if dim - rank + len(shape) >= 0]
            result = column[0]
            for extent in column[1:]:
                result = self._choose(self._compare("eq", result, 1), extent, result)
            for extent in column:
                one = self._or(self._compare("eq", extent, 1), self._compare("eq", extent, result))
                holds = self._and(holds, one)
            met.append(result)
        return holds, tuple(met)

    def _equal(self, shapes: Sequence[tuple[Number, ...]]) -> Predicate:
        if len(set(map(len, shapes))) > 1:
            return False
        pairs = ((x, y) for one in shapes[1:] for x, y in zip(shapes[0], one, strict=True))
        equal: Predicate = True
        for x, y in pairs:
            equal = self._and(equal, self._compare("eq", x, y))
        return equal

    # ---- operations of the shape dialect, by their names

    def _concat(self, _: Operation, x: tuple[Number, ...], y: tuple[Number, ...]) -> tuple[Number, ...]:
        return x + y

    def _rank(self, _: Operation, shape: tuple[Number, ...]) -> int:
        return len(shape)

    def _get_extent(self, operation: Operation, shape: tuple[Number, ...], dim: Number) -> Number:
        if not isinstance(dim, int):
            raise _unwritten(operation, "its dim is no number that is known")
        if not 0 <= dim < len(shape):
            raise _unwritten(operation, f"there is no dim {dim} in rank {len(shape)}")
        return shape[dim]

    _dim = _get_extent

    def _split_at(self, operation: Operation, shape: tuple[Number, ...], at: Number) -> list[tuple[Number, ...]]:
        if not isinstance(at, int) or not -len(shape) <= at <= len(shape):
            raise _unwritten(operation, "its index is no number that is known and in the rank")
        at += len(shape) if at < 0 else 0
        return [shape[:at], shape[at:]]

    def _from_extents(self, operation: Operation, *extents: Number) -> tuple[Number, ...]:
        for extent, value in zip(extents, operation.operands, strict=True):
            if value.type.kind == "index":
                self._assert(operation, self._compare("sge", extent, 0))
        return extents

    def _index_to_size(self, operation: Operation, number: Number) -> Number:
        self._assert(operation, self._compare("sge", number, 0))
        return number

    def _broadcast(self, operation: Operation, *shapes: tuple[Number, ...]) -> tuple[Number, ...]:
        holds, met = self._meets(shapes)
        self._assert(operation, holds)
        return met

    def _is_broadcastable(self, _: Operation, *shapes: tuple[Number, ...]) -> Predicate:
        return self._meets(shapes)[0]

    def _cstr_broadcastable(self, operation: Operation, *shapes: tuple[Number, ...]) -> _Asked:
        return self._witness(operation, self._meets(shapes)[0])

    def _shape_eq(self, _: Operation, *shapes: tuple[Number, ...]) -> Predicate:
        return self._equal(shapes)

    def _cstr_eq(self, operation: Operation, *shapes: tuple[Number, ...]) -> _Asked:
        return self._witness(operation, self._equal(shapes))

    def _cstr_require(self, operation: Operation, holds: Predicate) -> _Asked:
        return self._witness(operation, holds)

    def _witness(self, operation: Operation, holds: Predicate) -> _Asked:
        return _Asked(((holds, _said(operation, "does not hold")),))

    def _assuming_all(self, _: Operation, *witnesses: _Asked) -> _Asked:
        return _Asked(tuple(check for one in witnesses for check in one.checks))

    def _join(self, operation: Operation, x: Any, y: Any) -> Any:
        shapes = [one if isinstance(one, tuple) else (one,) for one in (x, y)]
        self._assert(operation, self._equal(shapes))
        return x

    def _any(self, _: Operation, *shapes: tuple[Number, ...]) -> tuple[Number, ...]:
        return shapes[0]

    def _add(self, operation: Operation, x: Number, y: Number) -> Number:
        if isinstance(x, int) and isinstance(y, int):
            return x + y
        total = self._op("sum", "addi", x, y)
        # A sum has another sign than both numbers only if 64 bits do not hold it.
        flips = self._op("flips", "andi", self._op("flip", "xori", x, total), self._op("flip", "xori", y, total))
        self._assert(operation, self._compare("sge", flips, 0))
        return total

    def _mul(self, operation: Operation, x: Number, y: Number) -> Number:
        product, fits = self._product(x, y)
        self._assert(operation, fits)
        return product

    def _product(self, x: Number, y: Number) -> tuple[Number, Predicate]:
        """Return a product and whether 63 bits and a sign hold it."""
        if isinstance(x, int) and isinstance(y, int) and abs(x * y) < 2**63:
            return x * y, True
        if 1 in (x, y):
            return (y if x == 1 else x), True
        low, high = self.block.name("product"), self.block.name("high")
        self.block.line(f"{low}, {high} = arith.mulsi_extended {self._index(x)}, {self._index(y)} : index")
        top = self._op("top_bit", "shrsi", low, 63)
        return low, self._compare("eq", high, top)

    def _num_elements(self, operation: Operation, shape: tuple[Number, ...]) -> Number:
        product: Number = 1
        fits: Predicate = True
        none: Predicate = False
        for extent in shape:
            product, holds = self._product(product, extent)
            fits = self._and(fits, holds)
            none = self._or(none, self._compare("eq", extent, 0))
        # Where an extent is 0, so is the product, whatever the others are.
        if fits is not True:
            self._assert(operation, self._or(fits, none))
        return product

    def _div(self, operation: Operation, x: Number, y: Number) -> Number:
        if operation.results[0].type.kind == "index" and not (isinstance(y, int) and y > 0):
            raise _unwritten(operation, "its divisor is an index, and no number that is known")
        if isinstance(x, int) and isinstance(y, int) and y > 0:
            return x // y
        if operation.results[0].type.kind == "index":
            return self._op("quotient", "floordivsi", x, y)
        self._assert(operation, self._compare("ne", y, 0))
        return self._op("quotient", "divui", x, y)

    def _max(self, _: Operation, x: Any, y: Any) -> Any:
        return self._each("maxsi", x, y)

    def _min(self, _: Operation, x: Any, y: Any) -> Any:
        return self._each("minsi", x, y)

    def _each(self, name: str, x: Any, y: Any) -> Any:
        if isinstance(x, tuple):
            if len(x) != len(y):
                raise BcastgenError(f"linalg: the shape function takes {name} of shapes of ranks {len(x)} and {len(y)}")
            return tuple(self._each(name, one, other) for one, other in zip(x, y, strict=True))
        if isinstance(x, int) and isinstance(y, int):
            return max(x, y) if name == "maxsi" else min(x, y)
        return self._op(name[:3], name, x, y)

    # ---- regions

    def _assuming(self, operation: Operation, witness: _Asked) -> list[Any]:
        for holds, says in witness.checks:
            self._line(holds, says)
        return self._region(operation.regions[0], ())

    def _reduce(self, operation: Operation, shape: tuple[Number, ...], *state: Any) -> list[Any]:
        kept = list(state)
        for at, extent in enumerate(shape):
            kept = self._region(operation.regions[0], (at, extent, *kept))
        return kept

    def _region(self, region: Block, arguments: Sequence[Any]) -> list[Any]:
        self.values.update(zip(region.arguments, arguments, strict=True))
        self.block_of(region)
        assert region.terminator is not None
        return [self.values[value] for value in region.terminator.operands]

    # ---- arith

    def _arithmetic(self, operation: Operation, given: list[Any]) -> Any:
        short, kind = operation.name.removeprefix("arith."), operation.results[0].type.kind
        if short == "cmpi":
            return self._cmpi(str(operation.attribute("predicate")), *given)
        if kind == "i1" and short in ("andi", "ori"):
            return (self._and if short == "andi" else self._or)(*given)
        if short == "select" and kind in ("i1", "index"):
            return self._choose(*given) if kind == "index" else self._chosen(*given)
        divides = short in _DIVISIONS and isinstance(given[1], int) and given[1] > 0
        if kind != "index" or not (divides or short in _BINARY):
            raise _unwritten(operation)
        found = _FOLDED[short](*given) if short in _FOLDED and all(isinstance(one, int) for one in given) else None
        return found if found is not None and -(2**63) <= found < 2**63 else self._op(short, short, *given)

    def _cmpi(self, predicate: str, x: Number, y: Number) -> Predicate:
        if predicate.startswith("u"):
            return self.block.op("holds", f"arith.cmpi {predicate}, {self._index(x)}, {self._index(y)} : index")
        return self._compare(predicate, x, y)

    def _chosen(self, condition: Predicate, x: Predicate, y: Predicate) -> Predicate:
        if isinstance(condition, bool):
            return x if condition else y
        return self.block.op("chosen", f"arith.select {condition}, {self._flag(x)}, {self._flag(y)} : i1")


def _said(operation: Operation, outcome: str) -> str:
    """Return what an assertion says: the author's message, or the op, and its place in the author's file."""
    said = next((str(text) for key in ("error", "msg") if (text := operation.attribute(key, ""))), "")
    place = f" (at {operation.location})" if operation.location else ""
    return said or f"{operation.name} {outcome}{place}"


def _unwritten(operation: Operation, why: str = "") -> BcastgenError:
    place = f" (at {operation.location})" if operation.location else ""
    return BcastgenError(
        f"linalg has no form of {operation.name}{place} in a shape function{f': {why}' if why else ''}; take its "
        "program by kernel.shape_function, or C by emit_c"
    )
