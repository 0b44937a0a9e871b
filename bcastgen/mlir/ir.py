"""MLIR as data: what a module's text says, every operation in its generic form.

In: pieces, made by :mod:`.read.parser`.  Out: a :class:`Module` of functions, whose operations know where they stand.

    %0 = tosa.add %a, %b : (tensor<4xf32>, tensor<1xf32>) -> tensor<4xf32>
        -> Operation("tosa.add", (a, b), (Value("0", tensor<4xf32>),), {}, (), Location(1, 6))

Whether a type or an op can be compiled is not decided here: a module may hold functions that nobody asks for. Values
compare by identity.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from ..core.dtypes import DType
from ..core.errors import BcastgenError
from ..core.frozen import dataclass
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

# Of a longer line messages show a part of this length.
_SHOWN = 300


@dataclass(frozen=True, slots=True)
class Location:
    """A place in a source text; lines and columns count from 1."""

    line: int
    column: int


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """A text and the name it goes by in messages."""

    name: str
    text: str = field(repr=False)

    def message(self, location: Location, text: str) -> str:
        """Return a message as compilers print it: place, text, the source line, a caret under the place.

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
        if len(line) > _SHOWN:
            # A module may be one line; what is around the place is enough.
            start = max(0, min(column - _SHOWN // 2, len(line) - _SHOWN))
            line, column = line[start : start + _SHOWN], column - start
        blank = "".join("\t" if character == "\t" else " " for character in line[:column])
        head = f"{self.name}:{location.line}:{location.column}: error: {text}"
        return f"{head}\n{line}\n{blank}^" if line.strip() else head

    def locate(self, error: Error, location: Location, what: str = "") -> Error:
        """Return an error with its place in front of its message, and `what` (``'tosa.add' op``) between the two.

        Its class and what it knows (operand, dim, sizes) stay.
        """
        error.args = (self.message(location, f"{what} {error.args[0]}".lstrip()), *error.args[1:])
        return error


@dataclass(frozen=True, slots=True)
class Type:
    """A type.

    Attributes
    ----------
    text : its canonical spelling, ``"tensor<?x3xf32>"``, ``"!shape.shape"``, ``"index"``, ``"tensor<3xf8E4M3FN>"``.
    tensor : of a tensor or vector whose element type is in the table of dtypes, what it says; else None.
    element : of a scalar type that is in the table (``i8``, ``f32``), its row; else None.
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
    """``6.0 : f32``, ``3 : i8``, ``0x7F800000 : f32``, ``true``: a number and its type (None where none stands there).

    A hexadecimal float is its bits, so `value` is the float they are; ``true`` and ``false`` are bools of type i1.
    """

    value: bool | int | float
    type: Type | None = None


@dataclass(frozen=True, slots=True)
class Symbol:
    """``@name``; of a nested one, ``@a::@b``, the whole text without the first @."""

    name: str


@dataclass(frozen=True, slots=True)
class Keyword:
    """A bare word as a value: ``nan_mode = IGNORE``; also what ``#tosa.nan_mode<IGNORE>`` holds (see its text)."""

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
    type : its type.
    values : of NumPy dtype bool, int8 ... int64, uint8 ..., float16, float32, float64; a bf16 is kept as the float32 it
        equals; index as int64. Of the type's shape, or of shape () if one value stands for all (a splat).
    """

    type: Type
    values: np.ndarray[Any, Any]

    @property
    def is_splat(self) -> bool:
        """Whether one value stands for all."""
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
    name : with its dialect, ``"tosa.add"``.
    operands, results : values.
    attributes : properties and attributes together.
    regions : one block each.
    location : of its name in the text.
    """

    name: str
    operands: tuple[Value, ...]
    results: tuple[Value, ...]
    attributes: dict[str, Attribute]
    regions: tuple[Block, ...]
    location: Location


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """Arguments, and operations up to the terminator, which is the last one."""

    arguments: tuple[Value, ...]
    operations: tuple[Operation, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Function:
    """``func.func``.

    Attributes
    ----------
    name : without the @.
    type : of its operands and results.
    body : the block, or None of a declaration.
    attributes : of the function; those of arguments and results are left out.
    location : of its name.
    """

    name: str
    type: FunctionType
    body: Block | None
    attributes: dict[str, Attribute]
    location: Location


@dataclass(frozen=True, slots=True, eq=False)
class Module:
    """A text's functions in order, with the source for messages."""

    source: Source
    functions: tuple[Function, ...]
