"""The type of the rows in the table of ops, how a row is applied, and helpers that rows share.

In: an operation and the lattice values of its operands.  Out: those of its results, or the fact that it fails.

    find_row("shape.add").apply(operation, (Size(2), Size())) -> (Size(),)

A row gets extent tensors as shapes (a negative extent makes the shape invalid), and a shape that it returns becomes an
extent tensor again where the result's type says so. A value that this type cannot express is `Failed`: an invalid shape
as an extent tensor, an invalid size as an index.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from keyword import iskeyword
from typing import Any, Literal, Protocol, TypeAlias

from ...core.frozen import dataclass
from ..types.extent_expr import Extent, ExtentExpr
from ..types.extent_span import span
from .ir import Attribute, Operation, Value
from .types import EXTENTS, INDEX, SHAPE, SIZE, Kind, Type
from .values import MAX_RANK, LatticeValue, Shape, Size

__all__ = [
    "ANY",
    "Certain",
    "Failed",
    "FoldingContext",
    "Parameter",
    "Rewrite",
    "Row",
    "Setting",
    "Syntax",
    "as_size",
    "lift",
    "number",
    "shape_like",
    "size_like",
    "stated",
]

Syntax: TypeAlias = Literal["types", "arrow", "first", "result", "bare", "generic", "value", "custom"]
ANY: tuple[Kind, ...] = ()


@dataclass(frozen=True, slots=True)
class Failed:
    """A result that its type cannot express: a run ends here."""

    error: str = ""


Outcome: TypeAlias = LatticeValue | Failed
Evaluate: TypeAlias = Callable[..., Any]
Infer: TypeAlias = Callable[[tuple[Type, ...], dict[str, Attribute]], tuple[Type, ...]]
Rewrite: TypeAlias = tuple[Value, ...] | Operation | None
Certain: TypeAlias = Callable[[Operation, tuple[Any, ...]], bool]


class FoldingContext(Protocol):
    """What folding knows of the values in sight."""

    def defining(self, value: Value) -> Operation | None:
        """Return the operation that defines a value, or None if it is an argument."""

    def known(self, value: Value) -> LatticeValue:
        """Return what is known of a value."""

    def certain(self, value: Value) -> bool:
        """Tell whether a value is valid in every run."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """An operand of a row: its name, the kinds of types it takes (none: all), and how many there are if variadic."""

    name: str
    kinds: tuple[Kind, ...]
    variadic: bool = False
    least: int = 1


@dataclass(frozen=True, slots=True)
class Setting:
    """An attribute of a row: its name, its Python type, whether it has to be there, and the values it may have."""

    name: str
    type: type[Any]
    required: bool = False
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Row:
    """One op.

    Attributes
    ----------
    name : with the dialect; what the dialect's documentation calls it.
    doc : what the op does, the sentence of the text that it follows, and our choice where that leaves room.
    parameters : its operands.
    results : the kinds of types each result may have; None for ops with regions, which decide that.
    infer : operand types and attributes -> types of the results, if the author gives none.
    evaluate : operation and operands -> the result, or a tuple of results; None for ops with regions and terminators.
    certain : operation and valid operands -> True if no run with instances of these can fail or be invalid. None: only
        if they are all known.
    canonicalise : operation and facts -> values that replace its results, an operation that replaces it, or None.
    settings : its attributes.
    syntax : how MLIR writes it; see `printer`.
    mlir : LLVM's name, if that is another one; "" if LLVM no longer has it.
    fault : operation -> what else is wrong with it, as the end of a sentence, or None.
    regions : how many it has.
    yields : the op that ends them.
    terminator : True if it ends a region.
    constraint : True if it makes a witness that a run has to check unless it is proved.
    loose : True if the text leaves some results undefined, so that a run may not keep what a known value promises.
    effect : True if a run may differ without the operation although nothing uses its results.
    example : a line of the dialect's text with the outcome.
    """

    name: str
    doc: str
    parameters: tuple[Parameter, ...] = ()
    results: tuple[tuple[Kind, ...], ...] | None = ()
    infer: Infer | None = None
    evaluate: Evaluate | None = None
    certain: Certain | None = None
    canonicalise: Callable[[Operation, FoldingContext], Rewrite] | None = None
    settings: tuple[Setting, ...] = ()
    syntax: Syntax = "arrow"
    mlir: str | None = None
    fault: Callable[[Operation], str | None] | None = None
    regions: int = 0
    yields: str = ""
    terminator: bool = False
    constraint: bool = False
    loose: bool = False
    effect: bool = False
    example: str = ""

    @property
    def python(self) -> str:
        """Its name in `bcastgen.shape`; a Python keyword gets a _ at its end."""
        name = self.name.partition(".")[2]
        return f"{name}_" if iskeyword(name) and not self.terminator else name

    @property
    def region(self) -> bool:
        """Whether it has regions."""
        return self.regions > 0

    @property
    def c(self) -> str:
        """The C function that computes it."""
        return "bcg_" + self.name.replace(".", "_")

    def parameter(self, position: int) -> Parameter:
        """Return the parameter of the operand at a position."""
        return self.parameters[min(position, len(self.parameters) - 1)]

    def apply(self, operation: Operation, operands: Sequence[LatticeValue]) -> tuple[Outcome, ...]:
        """Return the results of an operation; `Failed` for one that its type cannot express."""
        raw = self._raw(operation, lift(operation, operands))
        return tuple(_lower(value, result.type) for value, result in zip(raw, operation.results, strict=True))

    def _raw(self, operation: Operation, lifted: tuple[Any, ...]) -> tuple[Any, ...]:
        if self.evaluate is None:
            raise AssertionError(self.name)
        results = self.evaluate(operation, *lifted)
        return results if isinstance(results, tuple) and len(operation.results) != 1 else (results,)

    def is_certain(self, operation: Operation, operands: Sequence[LatticeValue]) -> bool:
        """Tell whether no run can fail or be invalid here, given that its operands are valid instances of these."""
        lifted = lift(operation, operands)
        if any(getattr(value, "is_invalid", False) for value in lifted):
            return False
        if self.certain is not None and not self.certain(operation, lifted):
            return False
        if self.certain is None and not all(_is_known(value) for value in lifted):
            return False
        raw = self._raw(operation, lifted)
        return all(_is_sound(value, result.type) for value, result in zip(raw, operation.results, strict=True))


def _is_sound(value: Any, type_: Type) -> bool:
    lowered = _lower(value, type_)
    if isinstance(lowered, Failed) or getattr(lowered, "is_invalid", False):
        return False
    # A shape of unknown rank may prove to have more or fewer extents than the tensor's type says.
    return type_.kind != "extents" or type_.length is None or not isinstance(value, Shape) or not value.unranked


def _is_known(value: Any) -> bool:
    return value is not None and not isinstance(value, ExtentExpr) and getattr(value, "is_known", True)


def lift(operation: Operation, operands: Sequence[LatticeValue]) -> tuple[Any, ...]:
    """Return operands with extent tensors as shapes; the rest as they are."""
    return tuple(
        _as_shape(value, operand.type) if operand.type.kind == "extents" else value
        for value, operand in zip(operands, operation.operands, strict=True)
    )


def _as_shape(value: Any, type_: Type) -> Shape:
    extents: Any = type_.unknown() if value is None else value
    if extents is None:
        return Shape(unranked=True)
    if len(extents) > MAX_RANK:
        return Shape(error="")
    if all(isinstance(extent, int) and extent >= 0 for extent in extents):
        return Shape(extents)
    if any(extent is not None and span(extent).high < 0 for extent in extents):
        return Shape(error="")
    return Shape(tuple(extent if extent is not None and span(extent).low >= 0 else None for extent in extents))


def _lower(value: Any, type_: Type) -> Outcome:
    if isinstance(value, Failed):
        return value
    if type_.kind == "extents" and isinstance(value, Shape):
        if value.error is not None:
            return Failed(value.error)
        if value.unranked:
            return type_.unknown()
        return value.extents if type_.length in (None, len(value.extents)) else Failed()
    if type_.kind == "index" and isinstance(value, Size):
        return value.value if value.error is None else Failed(value.error)
    return value  # type: ignore[no-any-return]


def as_size(value: Any) -> Size:
    """Return an index as a size: a negative one is invalid."""
    if value is None or isinstance(value, Size):
        return value or Size()
    if isinstance(value, int):
        return Size(value) if value >= 0 else Size(error="")
    where = span(value)
    return Size(value) if where.low >= 0 else Size() if where.high >= 0 else Size(error="")


def stated(value: Any) -> Extent | None:
    """Return a valid size or an index as a number or an expression of names; None if it is unknown."""
    return value.value if isinstance(value, Size) else value


def number(value: Any) -> int | None:
    """Return a valid size or an index as a number, which may be negative, or None if it is unknown."""
    extent = stated(value)
    return extent if isinstance(extent, int) else None


def shape_like(*types: Type) -> Type:
    """Return the type of a shape computed from these: an extent tensor only if no operand can be invalid."""
    return SHAPE if any(type_.can_fail for type_ in types) else EXTENTS


def size_like(*types: Type) -> Type:
    """Return the type of a size computed from these: an index only if no operand can be invalid."""
    return SIZE if any(type_.can_fail for type_ in types) else INDEX
