"""Types of operands and results, and the text they are written in.

In: text in our spelling or in MLIR's.  Out: a :class:`TensorType`, or a whole :class:`Signature`; both print back.

    "tensor<?x4xf32>" -> TensorType(F32, (?, 4)) -> "f32[?, 4]"
    "(f32[?, 4] a, f32[n, 1] b) -> a + b*2" -> operands a and b, expression "a + b*2"

    type      = [element] "[" dims "]" | element | "tensor<" ... ">" | "vector<" ... ">"
    dims      = nothing | dim ("," dim)* | "*" ("," dim)*        dim: see dim_text.py
    signature = "(" [type [name] ("," type [name])*] ")" ["->" [type | "(" type ("," type)* ")" | expression]]
"""

from __future__ import annotations

import keyword
import re

from ...core.dtypes import DTYPES, DType, dtype
from ...core.errors import BroadcastError, DTypeError, ParseError
from ...core.frozen import dataclass
from ...core.options import is_switch
from .cursor import Cursor, parse_extent
from .dim import DYNAMIC, Dim
from .dim_text import DIM_CURE, parse_dim

__all__ = ["Signature", "TensorType", "parse_signature", "parse_type"]

_CONTAINERS = ("tensor", "vector")


@dataclass(frozen=True, slots=True)
class TensorType:
    """The type of an operand or result: its element type and what is known of its shape.

    Attributes
    ----------
    dtype : the element type, or None where only the shape matters.
    dims : the dims, outermost first.
    unranked : True if any number of further dims may precede `dims`: ``f32[*]``, ``f32[*, 4]``.
    container : ``"tensor"`` or ``"vector"``; a vector is static, of rank 1 or more, with extents of 1 or more.

    Raises
    ------
    DTypeError
        If the dtype is neither None nor a :class:`DType`.
    BroadcastError
        If dims are not :class:`Dim`, the container is unknown, or a vector breaks its rules or has no element type.

    Examples
    --------
    >>> t = TensorType(dtype("f32"), (Dim(), Dim(4)))
    >>> str(t), t.mlir, t.rank
    ('f32[?, 4]', 'tensor<?x4xf32>', 2)
    """

    dtype: DType | None
    dims: tuple[Dim, ...]
    unranked: bool = False
    container: str = "tensor"

    def __post_init__(self) -> None:
        if self.dtype is not None and not isinstance(self.dtype, DType):
            raise DTypeError(f"dtype {self.dtype!r} is no DType; write bcastgen.dtype('f32'), or None for any")
        if not isinstance(self.dims, tuple) or not all(isinstance(dim, Dim) for dim in self.dims):
            raise BroadcastError(f"dims {self.dims!r} are not a tuple of Dim; write (Dim(), Dim(4)) or 'f32[?, 4]'")
        if not is_switch(self.unranked):
            raise BroadcastError(f"unranked={self.unranked!r} is no switch; use True or False")
        if not isinstance(self.container, str) or self.container not in _CONTAINERS:
            raise BroadcastError(f"container {self.container!r} is unknown; use one of {', '.join(_CONTAINERS)}")
        if self.container != "vector":
            return
        fault = _vector_fault(self.dims, self.unranked)
        if fault is None and self.dtype is None:
            fault = "has an element type"
        if fault is not None:
            raise BroadcastError(f"a vector {fault}; use a tensor")

    @property
    def rank(self) -> int | None:
        """The number of dims, or None if it is not known."""
        return None if self.unranked else len(self.dims)

    @property
    def aligned(self) -> tuple[tuple[int, int, Dim], ...]:
        """Each dim, outermost first: position counted from the end, own number, dim.

        Shapes of different ranks meet at equal positions. Own numbers count from 0, or are negative (from the end) if
        the rank is not known.

        Examples
        --------
        >>> [(position, own, str(dim)) for position, own, dim in parse_type("f32[n, 4]").aligned]
        [(2, 0, 'n'), (1, 1, '4')]
        """
        count = len(self.dims)
        start = -count if self.unranked else 0
        return tuple((count - index, start + index, dim) for index, dim in enumerate(self.dims))

    @property
    def mlir(self) -> str:
        """The type in MLIR's spelling, which drops names, facts and flags, and all dims of an unranked tensor."""
        if self.dtype is None:
            raise DTypeError(f"the type {self} has no element type, which MLIR requires; write f32{self}")
        dims = "*x" if self.unranked else "".join(f"{dim.extent if dim.is_static else '?'}x" for dim in self.dims)
        return f"{self.container}<{dims}{self.dtype.mlir}>"

    def __str__(self) -> str:
        if self.container == "vector":
            return self.mlir
        dims = ["*"] * self.unranked + [str(dim) for dim in self.dims]
        return f"{self.dtype or ''}[{', '.join(dims)}]"


def _vector_fault(dims: tuple[Dim, ...], unranked: bool) -> str | None:
    if unranked:
        return "has a rank"
    if not dims:
        return "has at least one dim"
    if any(not dim.is_static or dim.value == 0 for dim in dims):
        return "has extents that are known and 1 or more"
    return None


@dataclass(frozen=True, slots=True)
class Signature:
    """The operands and results of a kernel.

    Attributes
    ----------
    operands : name (None if it has none) and type of each operand.
    results : types of the results, or None if they are inferred.
    expression : the expression after the arrow, or None.
    """

    operands: tuple[tuple[str | None, TensorType], ...]
    results: tuple[TensorType, ...] | None = None
    expression: str | None = None

    def __str__(self) -> str:
        operands = ", ".join(str(type_) if name is None else f"{type_} {name}" for name, type_ in self.operands)
        if self.expression is not None:
            return f"({operands}) -> {self.expression}"
        if self.results is None:
            return f"({operands})"
        results = ", ".join(map(str, self.results))
        return f"({operands}) -> {results}" if len(self.results) == 1 else f"({operands}) -> ({results})"


# Only these, not all that numpy.dtype takes: NumPy's "i4" has 4 bytes, MLIR's has 4 bits.
_ELEMENTS = tuple(dict.fromkeys(spelling for row in DTYPES for spelling in (row.name, row.mlir, row.numpy)))
_WORD = re.compile(r"complex<\w+>|[^\W\d]\w*")
_MLIR_DIM = re.compile(r"[0-9?]")
# A text that is compiled when a signature has an arrow, since that takes longer than to read one.
_TYPE_START = rf"\(?\s*(?:\[|(?:{'|'.join(_CONTAINERS)})\s*<|(?:{'|'.join(_ELEMENTS)})\s*(?:[\[,)]|\Z))"

_TYPE_CURE = "write f32[?, 4], f32[*], f32[] or tensor<?x4xf32>"
_SIGNATURE_CURE = "write (f32[?, 4] a, f32[n, 1] b) -> f32[n, 4], or an expression after the arrow"


def parse_type(text_or_type: str | TensorType) -> TensorType:
    """Return the type that a text spells, or the type itself.

    Parameters
    ----------
    text_or_type : ``f32[?, 4]``, ``f32[n, 4]`` (a named dim), ``f32[n>=2, ?%8, m!, bcast]`` (see dim_text.py),
        ``f32[*]`` or plain ``f32`` (any rank), ``f32[*, 4]`` (rank 1 or more, ending in a 4), ``f32[]``, ``[?, 4]``
        (any element type), or MLIR's ``tensor<?x4xf32>``, ``tensor<*xf32>``, ``tensor<f32>``, ``vector<4xf32>``.

    Raises
    ------
    ParseError
        If the text is no type; the message has the column and the cure.

    Examples
    --------
    >>> str(parse_type("tensor<?x4xf32>")), parse_type("f32[*, n]").mlir
    ('f32[?, 4]', 'tensor<*xf32>')
    """
    if isinstance(text_or_type, TensorType):
        return text_or_type
    if not isinstance(text_or_type, str):
        raise ParseError(f"a type is a text or a TensorType, not {type(text_or_type).__name__}; {_TYPE_CURE}")
    cursor = Cursor(text_or_type, "type")
    parsed = _type(cursor)
    if not cursor.at_end:
        raise cursor.fail("the end", _TYPE_CURE)
    return parsed


def parse_signature(text: str | Signature) -> Signature:
    """Return the signature that a text spells, or the signature itself.

    Parameters
    ----------
    text : operand types in parentheses, each with a name or without; then, if wanted, an arrow and the result type,
        several of them in parentheses, or an expression, which is kept as it is.

    Raises
    ------
    ParseError
        If the text is no signature; the message has the column and the cure.

    Examples
    --------
    >>> signature = parse_signature("(f32[?, 4] a, tensor<?x1xf32> b) -> a + b*2")
    >>> str(signature), signature.expression
    ('(f32[?, 4] a, f32[?, 1] b) -> a + b*2', 'a + b*2')
    """
    if isinstance(text, Signature):
        return text
    if not isinstance(text, str):
        raise ParseError(f"a signature is a text, not {type(text).__name__}; {_SIGNATURE_CURE}")
    cursor = Cursor(text, "signature")
    operands = _operands(cursor)
    if cursor.at_end:
        return Signature(operands)
    cursor.expect("->", _SIGNATURE_CURE)
    if cursor.at_end:
        return Signature(operands)
    if not cursor.sees(re.compile(_TYPE_START)):
        return Signature(operands, expression=cursor.rest)
    results = _results(cursor)
    if not cursor.at_end:
        raise cursor.fail("the end", "several results stand in parentheses: -> (f32[n], f32[m])")
    return Signature(operands, results)


def _operands(cursor: Cursor) -> tuple[tuple[str | None, TensorType], ...]:
    cursor.expect("(", _SIGNATURE_CURE)
    operands: list[tuple[str | None, TensorType]] = []
    if cursor.take(")"):
        return ()
    names: set[str] = set()
    while True:
        type_ = _type(cursor)
        name = cursor.match(_WORD)
        if name is not None:
            _check_name(cursor, name, names)
            names.add(name)
        operands.append((name, type_))
        if cursor.take(")"):
            return tuple(operands)
        if not cursor.take(","):
            raise cursor.fail("',' or ')'" if name is not None else "a name, ',' or ')'", _SIGNATURE_CURE)


def _check_name(cursor: Cursor, name: str, taken: set[str]) -> None:
    # If an operand could have the name of a type, "-> f32" would be ambiguous.
    if name in _ELEMENTS or name in _CONTAINERS:
        raise cursor.reject(name, f"operand name {name!r} is a type's", "choose another, or put a ',' before the type")
    if keyword.iskeyword(name) or not name.isidentifier():
        raise cursor.reject(name, f"operand name {name!r} cannot stand in an expression", "choose another name")
    if name in taken:
        raise cursor.reject(name, f"operand name {name!r} is there twice", "give each operand its own name")


def _results(cursor: Cursor) -> tuple[TensorType, ...]:
    if not cursor.take("("):
        return (_type(cursor),)
    results = [_type(cursor)]
    while cursor.take(","):
        results.append(_type(cursor))
    cursor.expect(")", _SIGNATURE_CURE)
    return tuple(results)


def _type(cursor: Cursor) -> TensorType:
    if cursor.take("["):
        return TensorType(None, *_dims(cursor))
    word = cursor.match(_WORD)
    if word is None:
        raise cursor.fail("a type", _TYPE_CURE)
    if word in _CONTAINERS:
        cursor.expect("<", _TYPE_CURE)
        return _mlir_type(cursor, word)
    element = _element(cursor, word)
    if cursor.take("["):
        return TensorType(element, *_dims(cursor))
    return TensorType(element, (), unranked=True)


def _element(cursor: Cursor, word: str) -> DType:
    if word not in _ELEMENTS:
        names = ", ".join(row.name for row in DTYPES)
        raise cursor.reject(word, f"{word!r} is not an element type", f"use one of {names}")
    return dtype(word)


def _dims(cursor: Cursor) -> tuple[tuple[Dim, ...], bool]:
    unranked = cursor.take("*")
    if cursor.take("]"):
        return (), unranked
    if unranked:
        cursor.expect(",", DIM_CURE)
    dims = [parse_dim(cursor)]
    while cursor.take(","):
        dims.append(parse_dim(cursor))
    if not cursor.take("]"):
        raise cursor.fail("',' or ']'", DIM_CURE)
    return tuple(dims), unranked


def _mlir_type(cursor: Cursor, container: str) -> TensorType:
    dims: list[Dim] = []
    unranked = cursor.take("*")
    if unranked:
        cursor.expect("x", _TYPE_CURE)
    while not unranked and cursor.sees(_MLIR_DIM):
        dims.append(DYNAMIC if cursor.take("?") else Dim(parse_extent(cursor)))
        cursor.expect("x", _TYPE_CURE)
    word = cursor.match(_WORD)
    if word is None:
        raise cursor.fail("an element type", _TYPE_CURE)
    element = _element(cursor, word)
    fault = _vector_fault(tuple(dims), unranked) if container == "vector" else None
    if fault is not None:
        raise cursor.reject(word, f"a vector {fault}", "use a tensor")
    cursor.expect(">", _TYPE_CURE)
    return TensorType(element, tuple(dims), unranked, container)
