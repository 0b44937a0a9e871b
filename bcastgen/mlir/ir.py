"""MLIR as data: the contents of a module, with every operation in its generic form.

In: a text, by way of :mod:`.read.parser`.  Out: a :class:`Module` of functions, whose operations know their location.

    %0 = tosa.add %a, %b : (tensor<4xf32>, tensor<1xf32>) -> tensor<4xf32>
        -> Operation("tosa.add", (a, b), (Value("0", tensor<4xf32>),), {}, (), Location(1, 6))

This module does not decide whether a type or an op can be compiled: a text may hold functions that are not used.
Values compare by identity.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from ..core.dtypes import DType
from ..core.errors import BcastgenError
from ..core.frozen import dataclass, field
from ..shape.types.tensor_type import TensorType

if TYPE_CHECKING:
    import numpy as np

__all__ = [
    "Attribute",
    "Block",
    "Dense",
    "DialectAttribute",
    "Function",
    "FunctionType",
    "Keyword",
    "Location",
    "Module",
    "Number",
    "Operation",
    "Source",
    "Symbol",
    "Type",
    "Value",
]

Error = TypeVar("Error", bound=BcastgenError)

# Messages show at most this much of a source line.
_MAX_SHOWN_CHARACTERS = 300


@dataclass(frozen=True, slots=True)
class Location:
    """A line and column of a source text, both counted from 1.

    Attributes
    ----------
    called_from : the call in whose place the operation stands, if its function was inlined.
    """

    line: int
    column: int
    called_from: Location | None = None

    def of(self, name: str) -> str:
        """Return the place in a text of this name, in one line.

        Examples
        --------
        >>> Location(3, 8, Location(9, 10)).of("m.mlir")
        'm.mlir:3:8, called from m.mlir:9:10'
        """
        calls = "" if self.called_from is None else f", called from {self.called_from.of(name)}"
        return f"{name}:{self.line}:{self.column}{calls}"


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """A text, and its name in messages."""

    name: str
    text: str = field(repr=False)

    def message(self, location: Location, text: str) -> str:
        """Return a message as compilers print it: location, text, the source line, a caret under the column.

        Examples
        --------
        >>> print(Source("m.mlir", "%0 = foo").message(Location(1, 6), "'foo' is no op"))
        m.mlir:1:6: error: 'foo' is no op
        %0 = foo
             ^
        """
        lines = self.text.split("\n")
        line = lines[location.line - 1].rstrip("\r") if location.line <= len(lines) else ""
        column = location.column - 1
        if len(line) > _MAX_SHOWN_CHARACTERS:
            # A module may be one long line; the part around the column is enough.
            start = max(0, min(column - _MAX_SHOWN_CHARACTERS // 2, len(line) - _MAX_SHOWN_CHARACTERS))
            line, column = line[start : start + _MAX_SHOWN_CHARACTERS], column - start
        blank = "".join("\t" if character == "\t" else " " for character in line[:column])
        head = f"{self.name}:{location.line}:{location.column}: error: {text}"
        shown = f"{head}\n{line}\n{blank}^" if line.strip() else head
        calls = "" if location.called_from is None else f"\nnote: called from {location.called_from.of(self.name)}"
        return f"{shown}{calls}"

    def locate(self, error: Error, location: Location, what: str = "") -> Error:
        """Return an error with its location before its message, and `what` (``'tosa.add' op``) between the two.

        Its class and its attributes (operand, dim, sizes) stay.
        """
        error.args = (self.message(location, f"{what} {error.args[0]}".lstrip()), *error.args[1:])
        return error


@dataclass(frozen=True, slots=True)
class Type:
    """A type.

    Attributes
    ----------
    text : its canonical spelling, ``"tensor<?x3xf32>"``, ``"!shape.shape"``, ``"index"``, ``"tensor<3xf8E4M3FN>"``.
    tensor : the parsed type of a tensor or vector, if its element type is in the table of dtypes; else None.
    element : the dtype of a scalar type (``i8``, ``f32``), if it is in the table; else None.
    """

    text: str
    tensor: TensorType | None = None
    element: DType | None = None

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class FunctionType:
    """``(tensor<4xf32>, index) -> (tensor<4xf32>)``."""

    operands: tuple[Type, ...]
    results: tuple[Type, ...]

    def __str__(self) -> str:
        results = ", ".join(map(str, self.results))
        return f"({', '.join(map(str, self.operands))}) -> {results if len(self.results) == 1 else f'({results})'}"


@dataclass(frozen=True, slots=True)
class Number:
    """``6.0 : f32``, ``3 : i8``, ``0x7F800000 : f32``, ``true``: a number and its type (None if it has none).

    A hexadecimal literal gives a float's bits, and `value` is that float; ``true`` and ``false`` are bools of type i1.
    """

    value: bool | int | float
    type: Type | None = None


@dataclass(frozen=True, slots=True)
class Symbol:
    """``@name``; for a nested one, ``@a::@b``, the name is the whole text without the first @."""

    name: str


@dataclass(frozen=True, slots=True)
class Keyword:
    """A bare word as a value: ``nan_mode = IGNORE``."""

    name: str


@dataclass(frozen=True, slots=True)
class DialectAttribute:
    """``#tosa.nan_mode<IGNORE>``: name ``"tosa.nan_mode"``, body ``"IGNORE"`` (or None)."""

    name: str
    body: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Dense:
    """``dense<[1, 2]> : tensor<2xi8>``.

    Attributes
    ----------
    type : the tensor's type.
    values : of NumPy dtype bool, int8 ... int64, uint8 ..., float16, float32, float64; bf16 is kept as float32, index
        as int64. The array has the type's shape, or the shape () if all elements are one value (a splat).
    """

    type: Type
    values: np.ndarray[Any, Any]

    @property
    def is_splat(self) -> bool:
        """Whether all elements are one value."""
        return self.values.ndim == 0


# A string is str, a unit attribute True, an array (also ``array<i64: 1, 2>``, of ints) a tuple.
Attribute: TypeAlias = (
    "bool | int | float | str | tuple[Any, ...] | dict[str, Any] | Number | Symbol | Keyword | DialectAttribute | Dense"
    " | Type | FunctionType"
)


@dataclass(frozen=True, slots=True, eq=False)
class Value:
    """An SSA value: its name without the ``%`` (``"0"``, ``"arg0"``, ``"0#1"`` of several results) and its type."""

    name: str
    type: Type

    def __str__(self) -> str:
        return f"%{self.name}"


@dataclass(frozen=True, slots=True, eq=False)
class Operation:
    """One operation in generic form.

    Attributes
    ----------
    name : includes the dialect, ``"tosa.add"``.
    operands, results : values.
    attributes : properties and attributes together.
    regions : each has one block.
    location : that of its name in the text.
    """

    name: str
    operands: tuple[Value, ...]
    results: tuple[Value, ...]
    attributes: dict[str, Attribute]
    regions: tuple[Block, ...]
    location: Location


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """Arguments and operations; the last operation is the terminator."""

    arguments: tuple[Value, ...]
    operations: tuple[Operation, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Function:
    """``func.func``.

    Attributes
    ----------
    name : without the @.
    type : the types of its operands and results.
    body : the block; None for a declaration.
    attributes : those of the function itself.
    location : that of its name.
    argument_attributes, result_attributes : one dictionary for each; empty if no argument, or no result, has any.
    """

    name: str
    type: FunctionType
    body: Block | None
    attributes: dict[str, Attribute]
    location: Location
    argument_attributes: tuple[dict[str, Attribute], ...] = ()
    result_attributes: tuple[dict[str, Attribute], ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Module:
    """The functions of a text in order, and the text itself for messages."""

    source: Source
    functions: tuple[Function, ...]
