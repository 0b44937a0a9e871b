"""Dense literals: ``dense<[[1, 2], [3, 4]]> : tensor<2x2xi8>``, ``dense<0.5> : ...``, ``dense<"0x0102"> : ...``.

In: a lexer at ``dense``.  Out: a :class:`~..ir.Dense`; the lexer is behind the type.

    dense<[1, 2]> : tensor<2xi8> -> Dense(tensor<2xi8>, int8 [1, 2])        dense<[3, 3]> : ... -> int8 3, for all

The numbers between two brackets are read at once, so that weights of some megabytes are read fast.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...shape.types.facts import MAX_RANK
from ..ir import Dense, Type
from .lexer import Lexer, shown
from .numbers import ElementKind, element_kind, float_values, from_bytes, integer_values
from .types import Types, extents_of

__all__ = ["parse_dense"]

_BLANK = " \t\r\n"
_PIECE = re.compile(r'[ \t\r\n]+|//[^\n]*|[\[\]>"(<]|(?:[^\[\]<>"()/]|/(?!/))+|.|\Z', re.DOTALL)
_HEX = re.compile(r'"0x([0-9a-fA-F]*)"')
_LONG = 1000
_IN_NUMBERS = b"0123456789.+-eExabcdfABCDFtrulsn" + _BLANK.encode()
_BLANKED = bytes.maketrans(b"[]", b"  ")
_MAX_EMPTY = 1 << 40


@dataclass(slots=True)
class _Literal:
    """The contents between ``<`` and ``>``.

    Attributes
    ----------
    start : the offset of ``dense``.
    rows : runs of numbers as texts, each with the offset of its first number.
    extents : depth -> the number of elements in brackets of this depth.
    open : the number of elements in each open bracket so far.
    leaf : the depth of the numbers, once it is known.
    data : the bytes of a hexadecimal literal.
    """

    start: int
    rows: list[tuple[int, list[str]]] = field(default_factory=list)
    extents: dict[int, int] = field(default_factory=dict)
    open: list[int] = field(default_factory=list)
    leaf: int | None = None
    data: bytes | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.extents[depth] for depth in sorted(self.extents))

    def offset(self, index: int) -> int:
        """Return the offset of a number, by its index."""
        for offset, texts in self.rows:
            if index < len(texts):
                text = texts[index]
                blanks = min(len(text) - len(text.lstrip(_BLANK)), max(len(text) - 1, 0))
                return offset + sum(map(len, texts[:index])) + index + blanks
            index -= len(texts)
        return self.start


def parse_dense(lexer: Lexer, types: Types) -> Dense:
    """Return the dense literal at hand.

    Examples
    --------
    >>> from bcastgen.mlir.ir import Source
    >>> lexer = Lexer(Source("t", "dense<[[1], [255]]> : tensor<2x1xi8>"))
    >>> parse_dense(lexer, Types(lexer)).values.tolist()
    [[1], [-1]]
    """
    literal = _Literal(lexer.start)
    lexer.advance()
    if lexer.kind != "<":
        raise lexer.unexpected("'<' behind 'dense'")
    if not _read_regular(lexer, literal):
        _read(lexer, literal)
    lexer.expect(":")
    extents, kind = _type_of(lexer, lexer.start, type_ := types.parse())
    return Dense(type_, _values(lexer, literal, type_, extents, kind))


def _type_of(lexer: Lexer, start: int, type_: Type) -> tuple[tuple[int, ...], ElementKind]:
    shaped = extents_of(type_.text)
    if shaped is None:
        raise lexer.fail(f"a dense literal is a tensor or a vector of numbers, not {shown(type_.text)}", start)
    extents, element = shaped
    if extents is None:
        raise lexer.fail(f"a dense literal has extents that are known, unlike {shown(type_.text)}", start)
    kind = element_kind(element)
    if kind is None:
        raise lexer.fail(f"dense literals of element type {shown(element)} are not read here", start)
    if len(extents) > MAX_RANK:
        raise lexer.fail(f"a dense literal has rank {len(extents)}, expected at most {MAX_RANK}", start)
    return extents, kind


def _values(
    lexer: Lexer, literal: _Literal, type_: Type, extents: tuple[int, ...], kind: ElementKind
) -> np.ndarray[Any, Any]:
    count = math.prod(extents)
    if literal.data is not None:
        values = from_bytes(literal.data, count, kind)
        if values is None:
            raise lexer.fail(f"{len(literal.data)} bytes are not the elements of {shown(type_.text)}", literal.start)
    else:
        values = _numbers(lexer, literal, kind)
        shape = literal.shape
        if not shape and not literal.rows and count:
            raise lexer.fail(f"there are no elements, but {shown(type_.text)} has {count}", literal.start)
        if shape and shape != extents:
            raise lexer.fail(f"the literal has extents {_text(shape)}, its type {_text(extents)}", literal.start)
    if values.size == 0:
        if math.prod(extent for extent in extents if extent) > _MAX_EMPTY:
            raise lexer.fail(f"a dense literal of type {shown(type_.text)} is not read here", literal.start)
        return np.empty(extents, kind.dtype)
    raw = values.view(f"u{values.itemsize}")
    return values[:1].reshape(()) if (raw == raw[0]).all() else values.reshape(extents)


def _numbers(lexer: Lexer, literal: _Literal, kind: ElementKind) -> np.ndarray[Any, Any]:
    rows = literal.rows
    texts = rows[0][1] if len(rows) == 1 else [text for _, row in rows for text in row]
    read = float_values if kind.is_float else integer_values
    return read(texts, kind, lambda index, message: lexer.fail(message, literal.offset(index)))


def _text(extents: tuple[int, ...]) -> str:
    return f"[{', '.join(map(str, extents))}]"


def _read_regular(lexer: Lexer, literal: _Literal) -> bool:
    """Read a long literal at once if it has only numbers, in brackets of one rank; tell whether it has."""
    start = lexer.end
    end = lexer.source.text.find(">", start)
    body = lexer.source.text[start : max(end, start)]
    if len(body) < _LONG or not body.isascii():
        return False
    raw = body.encode()
    shape = _regular_shape(raw.translate(None, _IN_NUMBERS))
    if shape is None or b"[]" in raw.translate(None, _BLANK.encode()):
        return False
    # Blanks replace brackets, so that each number keeps its offset.
    literal.rows.append((start, raw.translate(_BLANKED).decode().split(",")))
    literal.extents = {depth + 1: extent for depth, extent in enumerate(shape)}
    lexer.jump(end + 1)
    return True


def _regular_shape(skeleton: bytes) -> tuple[int, ...] | None:
    """Return the extents that brackets and commas give, or None if rows differ.

    Examples
    --------
    >>> _regular_shape(b"[[,,],[,,]]"), _regular_shape(b"[[,],[,,]]")
    ((2, 3), None)
    """
    rank = len(skeleton) - len(skeleton.lstrip(b"["))
    if not 1 <= rank <= MAX_RANK:
        return None
    extents: list[int] = []
    unit = b""
    for depth in range(rank, 0, -1):
        end = skeleton.find(b"]" * (rank - depth + 1))
        # The first bracket of this depth holds `extent` units with commas between.
        extent = (end + rank - 2 * depth + 1) // (len(unit) + 1)
        if end < 0 or extent * (len(unit) + 1) > len(skeleton):
            return None
        unit = b"[" + b",".join([unit] * extent) + b"]"
        extents.append(extent)
    return tuple(reversed(extents)) if unit == skeleton else None


def _read(lexer: Lexer, literal: _Literal) -> None:
    text, offset = lexer.source.text, lexer.end
    # Whether an element has just ended, so that a comma or a bracket has to follow.
    after = False
    while True:
        match = _PIECE.match(text, offset)
        assert match is not None
        piece = match[0]
        if piece == "[":
            _open(lexer, literal, offset, after)
            after = False
        elif piece == "]":
            _close(lexer, literal, offset, after)
            after = True
        elif piece == ">" and not literal.open:
            lexer.jump(offset + 1)
            return
        elif piece == '"' and not (literal.extents or literal.rows or literal.open or literal.data):
            offset = _hexadecimal(lexer, literal, offset)
            after = True
            continue
        elif piece in ('"', "(", "<", ">", ")", ""):
            raise _unexpected(lexer, offset, piece)
        elif piece[0] not in _BLANK and not piece.startswith("//"):
            after = _row(lexer, literal, offset, piece, after)
        offset = match.end()


def _unexpected(lexer: Lexer, offset: int, piece: str) -> Exception:
    match piece:
        case "(":
            return lexer.fail("a dense literal of complex numbers is not read here", offset)
        case '"':
            return lexer.fail("a dense literal of strings is not read here", offset)
    found = shown(piece) if piece else "the end of the text"
    return lexer.fail(f"expected an element or a bracket of the dense literal, found {found}", offset)


def _hexadecimal(lexer: Lexer, literal: _Literal, offset: int) -> int:
    match = _HEX.match(lexer.source.text, offset)
    if match is None or len(match[1]) % 2:
        raise lexer.fail("a string in a dense literal is 0x and two hexadecimal digits for each byte", offset)
    literal.data = bytes.fromhex(match[1])
    literal.leaf = 0
    return match.end()


def _open(lexer: Lexer, literal: _Literal, offset: int, after: bool) -> None:
    depth = len(literal.open)
    if after:
        raise lexer.fail("expected ',' or ']'" if depth else "expected '>'", offset)
    if depth == literal.leaf:
        raise lexer.fail("the brackets of the literal are not of one rank", offset)
    if depth >= MAX_RANK:
        raise lexer.fail(f"a dense literal nests deeper than {MAX_RANK} brackets", offset)
    literal.open.append(0)


def _close(lexer: Lexer, literal: _Literal, offset: int, after: bool) -> None:
    depth = len(literal.open)
    if not depth or not (after or literal.open[-1] == 0):
        raise lexer.fail("expected an element" if depth else "expected '>'", offset)
    count = literal.open.pop()
    if literal.extents.setdefault(depth, count) != count:
        raise lexer.fail(f"expected {literal.extents[depth]} elements as before, found {count}", offset)
    if count == 0 and literal.leaf not in (None, depth):
        raise lexer.fail("the brackets of the literal are not of one rank", offset)
    if literal.open:
        literal.open[-1] += 1


def _row(lexer: Lexer, literal: _Literal, offset: int, piece: str, after: bool) -> bool:
    """Take a run of numbers and commas; tell whether it ends in a number."""
    body = piece.rstrip(_BLANK)
    depth = len(literal.open)
    if body[0] == ",":
        if not after or not depth:
            raise lexer.fail("expected an element, found ','", offset)
        stripped = body[1:].lstrip(_BLANK)
        offset += len(body) - len(stripped)
        body, after = stripped, False
        if not body:
            return False
    if after:
        raise lexer.fail("expected ',' or ']'" if depth else "expected '>'", offset)
    ends = body[-1] != ","
    texts = (body if ends else body[:-1]).split(",")
    if literal.leaf is None and depth + 1 not in literal.extents:
        literal.leaf = depth
    if literal.leaf != depth:
        raise lexer.fail("the brackets of the literal are not of one rank", offset)
    if depth:
        literal.open[-1] += len(texts)
    elif len(texts) > 1 or not ends:
        raise lexer.fail("several elements stand in brackets: dense<[1, 2]>", offset)
    literal.rows.append((offset, texts))
    return ends
