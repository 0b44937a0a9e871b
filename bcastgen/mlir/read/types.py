"""Reads types from text as :class:`..ir.Type`, one object for each text.

In: a lexer at a type.  Out: the type; the lexer is behind it.

    tensor<?x4xf32> -> Type("tensor<?x4xf32>", TensorType(F32, (?, 4)))        !shape.shape -> Type("!shape.shape")

A type with an encoding, a scalable vector, or an element type that is not in the table of dtypes has only its text:
whether a function needs more is not known here.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from ...core.dtypes import DTYPES
from ...shape.types.dim import DYNAMIC, MAX_EXTENT, Dim
from ...shape.types.tensor_type import TensorType
from ..ir import FunctionType, Type
from .aliases import Aliases
from .lexer import Lexer, shown

__all__ = ["Types", "extents_of"]

_ROWS = {row.mlir: row for row in DTYPES}
_CONTAINER = re.compile(r"(tensor|vector)<\s*(\*\s*x\s*|(?:(?:[0-9]+|\?)\s*x\s*)*)([a-zA-Z]\w*)\s*>", re.ASCII)
_DIMS = re.compile(r"\s*(\*\s*x\s*|(?:(?:[0-9]+|\?)\s*x\s*)*)", re.ASCII)
_DIM = re.compile(r"[0-9]+|\?")
_SCALAR = re.compile(r"[su]?i(?P<bits>[0-9]+)|index|none|bf16|tf32|f(?:16|32|64|80|128)|f[468]E[0-9]+M[0-9]+[A-Z0-9]*")
_CONTAINERS = ("tensor", "vector")
# The text in their brackets is kept, but not read.
_OPAQUE = ("memref", "complex", "tuple")
_MAX_BITS = 16777215
_MAX_TEXT = 16384
_STRING = re.compile(r'("[^"\\]*(?:\\.[^"\\]*)*")', re.DOTALL)
_BLANKS = re.compile(r"(?:\s|//[^\n]*)+")
_MARK = re.compile(r" ?(->|[<>()\[\]{},:=]) ?")
_SPACED = {",": ", ", "->": " -> ", ":": ": ", "=": " = "}


class Types:
    """The types of one text.

    Examples
    --------
    >>> from bcastgen.mlir.ir import Source
    >>> lexer = Lexer(Source("t", "tensor<?x4xf32>"))
    >>> str(Types(lexer).parse().tensor)
    'f32[?, 4]'
    """

    __slots__ = ("_aliases", "_known", "_lexer")

    def __init__(self, lexer: Lexer) -> None:
        self._lexer = lexer
        # Types by their text as written, and by their canonical text.
        self._known: dict[str, Type] = {}
        self._aliases: Aliases[Type] = Aliases(lexer, self.parse)

    def parse(self) -> Type:
        """Return the type at hand."""
        lexer = self._lexer
        known = self._known.get(lexer.text)
        if known is not None and lexer.kind in ("type", "word"):
            lexer.advance()
            return known
        if lexer.kind == "word":
            return self._word()
        read = _READERS.get(lexer.kind)
        if read is None:
            raise lexer.unexpected("a type")
        return read(self)

    @property
    def i1(self) -> Type:
        """The type of truth values."""
        return self.named("i1")

    def named(self, text: str) -> Type:
        """Return the type whose text is this word."""
        return self._intern(text)

    def extents(self, length: int) -> Type:
        """Return the type of an extent tensor of this length."""
        return self._shaped("tensor", f"{length}x", self.named("index"))

    def truths(self, type_: Type) -> Type:
        """Return the type of a comparison of values of a type: i1, or a tensor or vector of i1 of the same shape."""
        match = _CONTAINER.fullmatch(type_.text)
        return self.i1 if match is None else self._shaped(match[1], match[2], self.i1)

    def at_type(self) -> bool:
        """Tell whether the token at hand starts a type."""
        lexer = self._lexer
        if lexer.kind == "word":
            text = lexer.text
            return text in _CONTAINERS or text in _OPAQUE or _SCALAR.fullmatch(text) is not None
        return lexer.kind in ("type", "bang", "(")

    def several(self) -> list[Type]:
        """Return one type or more with commas between."""
        types = [self.parse()]
        while self._lexer.take(","):
            types.append(self.parse())
        return types

    def parenthesised(self) -> list[Type]:
        """Return the types of ``(T, T)``, which may be none."""
        self._lexer.expect("(")
        if self._lexer.take(")"):
            return []
        types = self.several()
        self._lexer.expect(")")
        return types

    def results(self) -> list[Type]:
        """Return the types behind an arrow: one, or any number in parentheses."""
        return self.parenthesised() if self._lexer.kind == "(" else [self.parse()]

    def function(self) -> FunctionType:
        """Return the function type at hand."""
        lexer = self._lexer
        lexer.enter()
        operands = self.parenthesised()
        lexer.expect("->")
        results = self.results()
        lexer.leave()
        return FunctionType(tuple(operands), tuple(results))

    def alias(self) -> None:
        """Read ``!name = type``."""
        self._aliases.define()

    def _container(self) -> Type:
        # The token is the whole type, with nothing nested.
        raw = self._lexer.text
        match = _CONTAINER.fullmatch(raw)
        if match is None:
            return self._nested()
        made = self._shaped(match[1], match[2], self._element(match[3], self._lexer.start + match.start(3)))
        self._known[raw] = made
        self._lexer.advance()
        return made

    def _element(self, text: str, offset: int) -> Type:
        match = _SCALAR.fullmatch(text)
        if match is None:
            raise self._lexer.fail(f"expected an element type, found {shown(text)}", offset)
        return self._named(text, match["bits"], offset)

    def _named(self, text: str, bits: str | None, offset: int) -> Type:
        if bits is not None and (len(bits) > len(str(_MAX_BITS)) or not 0 < int(bits) <= _MAX_BITS or bits[0] == "0"):
            raise self._lexer.fail(f"{shown(text)} is no integer type: it has 1 to {_MAX_BITS} bits", offset)
        return self._intern(text)

    def _word(self) -> Type:
        word = self._lexer.text
        if word in _CONTAINERS:
            return self._nested()
        if word in _OPAQUE:
            self._lexer.advance()
            return self._bracketed(word)
        if not _SCALAR.fullmatch(word):
            raise self._lexer.unexpected("a type")
        made = self._element(self._lexer.text, self._lexer.start)
        self._lexer.advance()
        return made

    def _nested(self) -> Type:
        """Read a tensor or vector whose brackets hold further brackets or an alias."""
        lexer = self._lexer
        lexer.enter()
        start, container = lexer.start, lexer.text[: len("tensor")]
        lexer.jump(start + len(container))
        if lexer.kind != "<":
            raise lexer.unexpected(f"'<' behind '{container}'")
        match = _DIMS.match(lexer.source.text, lexer.end)
        assert match is not None
        lexer.jump(match.end())
        scalable = container == "vector" and lexer.kind == "["
        element = None if scalable else self.parse()
        if element is None or (container == "tensor" and lexer.kind == ","):
            lexer.jump(start + len(container))
            made = self._bracketed(container)
        else:
            lexer.expect(">")
            made = self._shaped(container, match[1], element, start)
        lexer.leave()
        return made

    def _shaped(self, container: str, dims: str, element: Type, start: int | None = None) -> Type:
        lexer = self._lexer
        start = lexer.start if start is None else start
        unranked = dims.startswith("*")
        extents = [] if unranked else [self._dim(text, start) for text in _DIM.findall(dims)]
        if container == "vector" and (unranked or any(not extent for extent in extents)):
            raise lexer.fail("a vector has extents that are known and 1 or more; use a tensor", start)
        shape = "*x" if unranked else "".join(f"{'?' if extent is None else extent}x" for extent in extents)
        text = f"{container}<{shape}{element}>"
        known = self._known.get(text)
        if known is not None:
            return known
        tensor = None
        if element.element is not None and (container == "tensor" or extents):
            sizes = tuple(DYNAMIC if extent is None else Dim(extent) for extent in extents)
            tensor = TensorType(element.element, sizes, unranked, container)
        made = self._known[text] = Type(text, tensor)
        return made

    def _dim(self, text: str, start: int) -> int | None:
        if text == "?":
            return None
        digits = text.lstrip("0")
        if len(digits) > len(str(MAX_EXTENT)) or int(digits or "0") > MAX_EXTENT:
            raise self._lexer.fail(f"extent {shown(text)} is more than 64 bits hold", start)
        return int(digits or "0")

    def _bracketed(self, word: str) -> Type:
        if self._lexer.kind != "<":
            raise self._lexer.unexpected(f"'<' behind '{word}'")
        return self._intern(f"{word}<{_tidy(self._lexer.balanced())}>")

    def _dialect(self) -> Type:
        lexer = self._lexer
        name, start = lexer.text, lexer.start
        lexer.advance()
        if lexer.kind == "<":
            return self._bracketed(name)
        return self._intern(name) if "." in name else self._aliases.find(name, start)

    def _function(self) -> Type:
        start = self._lexer.start
        function = self.function()
        # Aliases of types can make the text grow exponentially.
        if sum(len(type_.text) for type_ in (*function.operands, *function.results)) > _MAX_TEXT:
            raise self._lexer.fail(f"a type of more than {_MAX_TEXT} characters", start)
        return self._intern(str(function))

    def _intern(self, text: str) -> Type:
        made = self._known.get(text)
        if made is None:
            made = self._known[text] = Type(text, None, _ROWS.get(text))
        return made


_READERS: dict[str, Callable[[Types], Type]] = {
    "type": Types._container,
    "bang": Types._dialect,
    "(": Types._function,
}


def extents_of(text: str) -> tuple[tuple[int, ...] | None, str] | None:
    """Return the static extents (None if one is not known) and the element type of a tensor's or vector's text.

    Examples
    --------
    >>> extents_of("tensor<2x3xi4>"), extents_of("tensor<?xf32>"), extents_of("index")
    (((2, 3), 'i4'), (None, 'f32'), None)
    """
    match = _CONTAINER.fullmatch(text)
    if match is None:
        return None
    dims = _DIM.findall(match[2])
    known = not match[2].startswith("*") and "?" not in dims
    return (tuple(map(int, dims)) if known else None), match[3]


def _tidy(text: str) -> str:
    """Return a text with its blanks as MLIR prints them, so that equal types have equal texts."""
    parts = _STRING.split(text)
    parts[::2] = [
        _MARK.sub(lambda match: _SPACED.get(match[1], match[1]), _BLANKS.sub(" ", part)) for part in parts[::2]
    ]
    return "".join(parts).strip()
