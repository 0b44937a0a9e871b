"""Facts on dims that MLIR's types cannot hold, as an attribute of a function's arguments and results.

In: a type and the attributes beside it.  Out: the type with the facts; and the attribute that a type is written with.

    tensor<?x?xf32> {bcastgen.dims = ["n>=2", "?%8"]}   <->   f32[n>=2, ?%8]

There is one text for each dim, in the syntax of signatures (``shape/types/dim_text.py``); a dim whose extent the type
knows is written as that extent. For a tensor of unknown rank the texts are its last dims, after a ``"*"``. mlir-opt
keeps the attribute unchanged.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..core.errors import BcastgenError, BroadcastError, ParseError
from ..shape.types.cursor import Cursor
from ..shape.types.dim import Dim
from ..shape.types.dim_text import parse_dim
from ..shape.types.tensor_type import TensorType
from .ir import Attribute

__all__ = ["FACTS", "facts_of", "with_facts"]

_PREFIX = "bcastgen."
FACTS = f"{_PREFIX}dims"
_CURE = f'write {FACTS} = ["n>=2", "?%8"], one text for each dim'


def with_facts(type_: TensorType, attributes: Mapping[str, Attribute], what: str) -> TensorType:
    """Return a type with the facts on its dims that attributes hold.

    Parameters
    ----------
    type_ : the type in the function.
    attributes : the attributes beside it; those of other dialects are ignored.
    what : what messages call it: ``"argument '%a'"``.

    Raises
    ------
    ParseError
        If an attribute of bcastgen is unknown, or malformed.
    BroadcastError
        If it contradicts the type.

    Examples
    --------
    >>> from bcastgen.shape.types.tensor_type import parse_type
    >>> str(with_facts(parse_type("tensor<?x4xf32>"), {"bcastgen.dims": ("n>=2", "4")}, "argument '%a'"))
    'f32[n>=2, 4]'
    """
    for name in attributes:
        if name.startswith(_PREFIX) and name != FACTS:
            raise ParseError(f"{what} has the attribute '{name}', which is unknown; {_CURE}")
    if FACTS not in attributes:
        return type_
    texts = attributes[FACTS]
    if not isinstance(texts, tuple) or not all(isinstance(text, str) for text in texts):
        raise ParseError(f"{what} has an attribute '{FACTS}' that is no array of strings; {_CURE}")
    unranked = texts[:1] == ("*",)
    said = tuple(_dim(text, what) for text in texts[unranked:])
    if unranked != type_.unranked or (not unranked and len(said) != len(type_.dims)):
        star = ' behind a "*"' if type_.unranked else ""
        raise BroadcastError(f"{what} has {len(texts)} texts in '{FACTS}' and the type {type_.mlir}; {_CURE}{star}")
    pairs = enumerate(zip(said, (None,) * len(said) if unranked else type_.dims, strict=True))
    dims = tuple(_met(dim, known, f"{what} dim {number}", number) for number, (dim, known) in pairs)
    return TensorType(type_.dtype, dims, unranked, type_.container)


def _met(dim: Dim, known: Dim | None, what: str, number: int) -> Dim:
    """Return a dim with its facts and the extent that its type knows; a name is kept, with that extent as its range."""
    if known is None or known.extent is None or dim.extent == known.extent:
        return dim
    if not dim.range.has(known.extent):
        raise BroadcastError(
            f"{what} has extent {known} in its type, and is {dim} in '{FACTS}'; drop one of both",
            dim=number,
            expected=known.extent,
            actual=dim.extent,
        )
    value = known.extent if dim.symbol is None else dim.symbol
    return Dim(value, min=known.extent, max=known.extent, broadcast=dim.broadcast, stretches=dim.stretches)


def facts_of(type_: TensorType) -> dict[str, tuple[str, ...]]:
    """Return the attribute with the facts that MLIR's type lacks, by its name; an empty dict if there are none.

    Examples
    --------
    >>> from bcastgen.shape.types.tensor_type import parse_type
    >>> facts_of(parse_type("f32[n>=2, 4]")), facts_of(parse_type("f32[?, 4]"))
    ({'bcastgen.dims': ('n>=2', '4')}, {})
    """
    if all(dim.is_plain and dim.symbol is None for dim in type_.dims) and not (type_.unranked and type_.dims):
        return {}
    return {FACTS: (*["*"] * type_.unranked, *map(_text, type_.dims))}


def _text(dim: Dim) -> str:
    """Return a dim as text; no text says that a dim is trusted, so a trusted dim is written as one that is checked."""
    if dim.trusted:
        dim = Dim(dim.value, min=dim.min, max=dim.max, multiple_of=dim.multiple_of, broadcast=False)
    return str(dim)


def _dim(text: str, what: str) -> Dim:
    cursor = Cursor(text, "dim")
    try:
        dim = parse_dim(cursor)
        if not cursor.at_end:
            raise cursor.fail("the end", _CURE)
    except BcastgenError as error:
        raise ParseError(f"{what} has '{FACTS}' with {text[:80]!r}: {error}") from None
    return dim
