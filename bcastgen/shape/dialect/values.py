"""The values of shape programs: sizes, shapes and witnesses that may be unknown or invalid.

In: Python numbers, or nothing for what is unknown.  Out: frozen values that print as the dialect's text does.

    Shape.of(None, 2) -> [?, 2]      UNRANKED -> [*]      Shape(error="") -> [invalid]      Size() -> ?
    Shape((named("n", Range(0, 64)), 4)) -> [n<=64, 4]

The order. A value met at compile time promises what the run gives: ``[?, 2]`` promises a shape of rank 2 whose last
extent is 2, *unless the computation fails*: an operation on unknown extents may prove invalid at run time. So invalid
is an instance of every size and shape, an invalid promise admits nothing else, and unknown admits all. Numbers
(``index``), predicates (``i1``), extent tensors and witnesses cannot be invalid: a known one is promised outright.
``index`` is an int, ``i1`` a bool, an extent tensor a tuple of ints; None, in it or instead of it, is unknown.
An extent that is not known may be computed from names (types/extent_expr.py): ``[n, 2*n]`` promises shapes whose last
extent is twice the first. A name is one extent in all values of a program.
"""

from __future__ import annotations

import operator
from typing import Any, TypeAlias

import numpy as np

from ...core.dtypes import DType
from ...core.errors import BroadcastError
from ...core.frozen import dataclass
from ..types.dim import MAX_EXTENT
from ..types.extent_expr import Extent, ExtentExpr
from ..types.extent_ops import substitute
from ..types.extent_span import is_same, span
from ..types.facts import MAX_RANK

__all__ = [
    "MAX_RANK",
    "UNKNOWN",
    "UNRANKED",
    "ElementType",
    "LatticeValue",
    "Shape",
    "Size",
    "ValueShape",
    "Witness",
    "instance_of",
    "show",
]


def _extent(what: str, value: Any) -> Extent:
    if isinstance(value, ExtentExpr):
        return value
    if isinstance(value, (bool, str)) or not hasattr(value, "__index__"):
        raise BroadcastError(f"{what} {value!r} is no extent; use an integer of 0 or more, or None where it is unknown")
    extent = operator.index(value)
    if not 0 <= extent <= MAX_EXTENT:
        raise BroadcastError(f"{what} {extent} is no extent, expected 0 to {MAX_EXTENT}; use None where it is unknown")
    return extent


def _admits(promise: Extent | None, value: Extent | None) -> bool:
    """Tell whether an extent, which may itself be a promise, is an instance of a promised one."""
    if promise is None or promise == value:
        return True
    if value is None or isinstance(promise, int):
        return False
    if isinstance(value, int):
        return span(promise).has(value)
    return is_same(promise, value) is True or (promise.name is not None and span(promise).contains(span(value)))


def _admit(promises: tuple[Extent | None, ...], values: tuple[Extent | None, ...]) -> bool:
    """Tell whether extents are instances of promised ones, in all of which a name is one extent."""
    if len(promises) != len(values):
        return False
    names: dict[str, Extent] = {}
    for promise, value in zip(promises, values, strict=True):
        if isinstance(promise, ExtentExpr) and promise.name is not None and isinstance(value, int):
            names.setdefault(promise.name.text, value)
    pairs = zip(promises, values, strict=True)
    return all(_admits(promise, value) and _admits(substitute(promise, names), value) for promise, value in pairs)


@dataclass(frozen=True, slots=True)
class Size:
    """A ``!shape.size``: known, unknown, or invalid.

    Attributes
    ----------
    value : the number, an expression of names, or None if it is unknown or invalid.
    error : None unless it is invalid; then the message of the op that found it, ``""`` if there is none.

    Raises
    ------
    BroadcastError
        For a negative value, one that 64 bits do not hold, and an invalid size with a value.

    Examples
    --------
    >>> str(Size(3)), str(Size()), str(Size(error="ranks differ"))
    ('3', '?', 'invalid')
    """

    value: Extent | None = None
    error: str | None = None

    def __post_init__(self) -> None:
        if self.value is None:
            return
        if self.error is not None:
            raise BroadcastError(f"an invalid size has no value, this one has {self.value}; leave one of them out")
        object.__setattr__(self, "value", _extent("size", self.value))

    @property
    def is_invalid(self) -> bool:
        """True if it is an error."""
        return self.error is not None

    @property
    def is_known(self) -> bool:
        """True if nothing about it is left open: it is a number, or invalid."""
        return isinstance(self.value, int) or self.error is not None

    def instance_of(self, promise: Size) -> bool:
        """Tell whether the promise admits this value (module docstring)."""
        return self.is_invalid or (not promise.is_invalid and _admits(promise.value, self.value))

    def __str__(self) -> str:
        return "invalid" if self.is_invalid else "?" if self.value is None else str(self.value)


@dataclass(frozen=True, slots=True)
class Shape:
    """A ``!shape.shape``: ranked with known and unknown extents, unranked, or invalid.

    Attributes
    ----------
    extents : outermost first: numbers, expressions of names, None where unknown. Empty if the shape is unranked or
        invalid.
    unranked : True if not even the rank is known.
    error : None unless it is invalid; then the message of the op that found it, ``""`` if there is none.

    Raises
    ------
    BroadcastError
        For an extent that is none, and an unranked or invalid shape with extents.

    Examples
    --------
    >>> [str(shape) for shape in (UNRANKED, Shape.of(None, 2), Shape.of(3, 4), Shape(), Shape.of(1), Shape(error=""))]
    ['[*]', '[?, 2]', '[3, 4]', '[]', '[1]', '[invalid]']
    """

    extents: tuple[Extent | None, ...] = ()
    unranked: bool = False
    error: str | None = None

    def __post_init__(self) -> None:
        if (self.unranked and self.error is not None) or (self.extents and (self.unranked or self.error is not None)):
            kind = "invalid" if self.error is not None else "unranked"
            raise BroadcastError(f"a shape that is {kind} has extents {self.extents}; leave one of them out")
        extents = tuple(
            value if value is None else _extent(f"dim {dim} of a shape,", value)
            for dim, value in enumerate(self.extents)
        )
        object.__setattr__(self, "extents", extents)

    @staticmethod
    def of(*extents: Extent | None) -> Shape:
        """Return the ranked shape of these extents."""
        return Shape(extents)

    @property
    def rank(self) -> int | None:
        """The number of extents, or None if it is unknown or the shape is invalid."""
        return None if self.unranked or self.is_invalid else len(self.extents)

    @property
    def is_invalid(self) -> bool:
        """True if it is an error."""
        return self.error is not None

    @property
    def is_known(self) -> bool:
        """True if nothing about it is left open: every extent is known, or it is invalid."""
        return not self.unranked and all(isinstance(extent, int) for extent in self.extents)

    def instance_of(self, promise: Shape) -> bool:
        """Tell whether the promise admits this value (module docstring)."""
        if self.is_invalid or promise.unranked:
            return True
        return not (promise.is_invalid or self.unranked) and _admit(promise.extents, self.extents)

    def __str__(self) -> str:
        if self.is_invalid:
            return "[invalid]"
        if self.unranked:
            return "[*]"
        return f"[{', '.join('?' if extent is None else str(extent) for extent in self.extents)}]"


UNKNOWN = Size()
UNRANKED = Shape(unranked=True)


@dataclass(frozen=True, slots=True, eq=False)
class ValueShape:
    """A ``!shape.value_shape``: a value, which may be unknown, and its shape.

    Attributes
    ----------
    value : an array or a scalar, or None if it is unknown.
    shape : its shape; taken from the value where that is known.

    Raises
    ------
    BroadcastError
        If both are known and the value does not have that shape.

    Examples
    --------
    >>> str(ValueShape([[1, 2]])), str(ValueShape(None, Shape.of(None, 2)))
    ('(known, [1, 2])', '(?, [?, 2])')
    """

    value: Any = None
    shape: Shape = UNRANKED

    def __post_init__(self) -> None:
        if self.value is None:
            return
        own = Shape(np.shape(self.value))
        if self.shape.is_invalid or not own.instance_of(self.shape):
            raise BroadcastError(f"a value of shape {own} does not conform to the shape {self.shape} given with it")
        object.__setattr__(self, "shape", own)

    @property
    def is_invalid(self) -> bool:
        """True if its shape is an error."""
        return self.shape.is_invalid

    @property
    def is_known(self) -> bool:
        """True if its shape is known; nothing here computes with the value."""
        return self.shape.is_known

    def instance_of(self, promise: ValueShape) -> bool:
        """Tell whether the promise admits this value."""
        if promise.value is not None and (self.value is None or not np.array_equal(self.value, promise.value)):
            return self.is_invalid
        return self.shape.instance_of(promise.shape)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ValueShape):
            return NotImplemented
        if (self.value is None) != (other.value is None):
            return False
        return self.shape == other.shape and (self.value is None or bool(np.array_equal(self.value, other.value)))

    def __hash__(self) -> int:
        return hash((self.value is None, self.shape))

    def __str__(self) -> str:
        return f"({'?' if self.value is None else 'known'}, {self.shape})"


@dataclass(frozen=True, slots=True)
class Witness:
    """A ``!shape.witness``: evidence that a constraint holds.

    Attributes
    ----------
    passing : True or False once it is decided, None while only the run can tell.
    error : the message of the constraint that fails, ``""`` if there is none.

    Examples
    --------
    >>> str(Witness(True)), str(Witness(False, "batch sizes differ")), str(Witness())
    ('passing', 'failing', 'undecided')
    """

    passing: bool | None = None
    error: str = ""

    @property
    def is_invalid(self) -> bool:
        """Always False: a failing witness is a value like any other."""
        return False

    @property
    def is_known(self) -> bool:
        """True if it is decided."""
        return self.passing is not None

    def instance_of(self, promise: Witness) -> bool:
        """Tell whether the promise admits this value."""
        return promise.passing in (None, self.passing)

    def __str__(self) -> str:
        return {True: "passing", False: "failing", None: "undecided"}[self.passing]


@dataclass(frozen=True, slots=True)
class ElementType:
    """A ``!shape.element_type``: known, unknown or invalid.

    Attributes
    ----------
    dtype : the dtype, or None if it is unknown or invalid.
    error : None unless it is invalid; then the message of the op that found it, ``""`` if there is none.
    """

    dtype: DType | None = None
    error: str | None = None

    def __post_init__(self) -> None:
        if self.dtype is not None and self.error is not None:
            raise BroadcastError(f"an invalid element type has no dtype, this one has {self.dtype}; leave one out")

    @property
    def is_invalid(self) -> bool:
        """True if it is an error."""
        return self.error is not None

    @property
    def is_known(self) -> bool:
        """True if it is a dtype, or invalid."""
        return self.dtype is not None or self.error is not None

    def instance_of(self, promise: ElementType) -> bool:
        """Tell whether the promise admits this value."""
        return self.is_invalid or (not promise.is_invalid and promise.dtype in (None, self.dtype))

    def __str__(self) -> str:
        return "invalid" if self.is_invalid else "?" if self.dtype is None else str(self.dtype)


# index: int, i1: bool, extent tensor: tuple; None is an unknown one of these.
LatticeValue: TypeAlias = (
    Size | Shape | ValueShape | Witness | ElementType | Extent | bool | tuple[Extent | None, ...] | None
)


def instance_of(value: LatticeValue, promise: LatticeValue) -> bool:
    """Tell whether what a run gave is an instance of what was promised, for values of any one type.

    Examples
    --------
    >>> instance_of(Shape.of(3, 2), Shape.of(None, 2)), instance_of((3, 2), (None, 2)), instance_of(4, 5)
    (True, True, False)
    >>> instance_of(Size(error=""), Size(3)), instance_of(Size(3), Size(error=""))
    (True, False)
    """
    if promise is None:
        return True
    if isinstance(promise, tuple):
        return isinstance(value, tuple) and Shape(value).instance_of(Shape(promise))
    if isinstance(promise, ExtentExpr):
        return isinstance(value, (int, ExtentExpr)) and _admits(promise, value)
    if isinstance(promise, int):
        return type(value) is type(promise) and value == promise
    return type(value) is type(promise) and value.instance_of(promise)  # type: ignore[arg-type]


def show(value: LatticeValue) -> str:
    """Return a value as the dialect writes it; an unknown number, predicate or extent tensor is ``?``."""
    if value is None:
        return "?"
    if isinstance(value, tuple):
        return f"[{', '.join('?' if extent is None else str(extent) for extent in value)}]"
    return str(value).lower() if isinstance(value, bool) else str(value)
