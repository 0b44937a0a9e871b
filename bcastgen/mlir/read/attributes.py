"""Reads attributes from text as the values that :mod:`..ir` defines.

In: a lexer at an attribute.  Out: the attribute; the lexer is behind it.

    -1.0 : f32 -> Number(-1.0, f32)        #tosa.nan_mode<IGNORE> -> DialectAttribute("tosa.nan_mode", "IGNORE")

An attribute that is not known here is kept as a :class:`~..ir.DialectAttribute`, unread.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from ..ir import Attribute, Dense, DialectAttribute, FunctionType, Keyword, Number, Symbol, Type
from .aliases import Aliases
from .dense import parse_dense
from .lexer import Lexer, shown
from .numbers import ElementKind, element_kind, scalar
from .types import Types

__all__ = ["Attributes", "string_value"]

_ESCAPE = re.compile(rb'\\(?:(?P<hex>[0-9a-fA-F]{2})|(?P<char>["\\nt])|(?P<bad>.))', re.DOTALL)
_CHARS = {b'"': b'"', b"\\": b"\\", b"n": b"\n", b"t": b"\t"}
_INDEX = ElementKind("index", False, 64, "", np.dtype(np.int64))


class Attributes:
    r"""The attributes of one text.

    Examples
    --------
    >>> from bcastgen.mlir.ir import Source
    >>> lexer = Lexer(Source("t", "{round = true, shift = 3 : i8, name = \"x\", unit}"))
    >>> found = Attributes(lexer, Types(lexer)).dictionary()
    >>> found["round"].value, found["shift"].value, found["name"], found["unit"]
    (True, 3, 'x', True)
    """

    __slots__ = ("_aliases", "_lexer", "_types")

    def __init__(self, lexer: Lexer, types: Types) -> None:
        self._lexer, self._types = lexer, types
        self._aliases: Aliases[Attribute] = Aliases(lexer, self.parse)

    def parse(self, words: bool = False) -> Attribute:
        """Return the attribute at hand; with `words` a bare word is one, too."""
        kind = self._lexer.kind
        if kind == "word":
            return self._word(words)
        read = _READERS.get(kind)
        if read is None:
            raise self._lexer.unexpected("an attribute's value")
        return read(self)

    def dictionary(self, words: bool = False) -> dict[str, Attribute]:
        """Return the attributes in braces; a name without a value is a unit attribute."""
        lexer = self._lexer
        lexer.enter()
        lexer.expect("{")
        found: dict[str, Attribute] = {}
        while lexer.kind != "}" or found:
            name = string_value(lexer) if lexer.kind == "string" else lexer.text
            if lexer.kind not in ("string", "word") or not name:
                raise lexer.unexpected("an attribute's name")
            if name in found:
                raise lexer.fail(f"the attribute {shown(name)} is there twice")
            lexer.advance()
            found[name] = self.parse(words) if lexer.take("=") else True
            if not lexer.take(","):
                break
        lexer.expect("}")
        lexer.leave()
        return found

    def string(self) -> str:
        """Return the string at hand, its escapes resolved."""
        text = string_value(self._lexer)
        self._lexer.advance()
        return text

    def symbol_name(self) -> str:
        """Return the symbol name at hand, without the @."""
        lexer = self._lexer
        if lexer.kind != "symbol":
            raise lexer.unexpected("a symbol name such as @main")
        name = string_value(lexer) if lexer.text.endswith('"') else lexer.text[1:]
        lexer.advance()
        return name

    def alias(self) -> None:
        """Read ``#name = attribute``."""
        self._aliases.define()

    def integer(self) -> int:
        """Return the integer at hand, one that an index holds."""
        text, start = self._literal()
        return int(self._scalar(text, start, _INDEX))

    def _text(self) -> str:
        text = self.string()
        if self._lexer.take(":"):
            self._types.parse()
        return text

    def _number(self) -> Number:
        text, start = self._literal()
        type_ = self._types.parse() if self._lexer.take(":") else None
        # Without a type an integer is one of 64 bits, any other number a double.
        name = type_.text if type_ is not None else "f64" if "." in text else "i64"
        kind = element_kind(name)
        if kind is None:
            raise self._lexer.fail(f"a number of type {shown(name)} is not read here", start)
        return Number(self._scalar(text, start, kind), type_)

    def _literal(self) -> tuple[str, int]:
        lexer = self._lexer
        start = lexer.start
        minus = "-" if lexer.take("-") else ""
        text = minus + lexer.text
        if lexer.kind not in ("integer", "float") and (minus or lexer.text not in ("true", "false")):
            raise lexer.unexpected("a number")
        lexer.advance()
        return text, start

    def _scalar(self, text: str, start: int, kind: ElementKind) -> bool | int | float:
        return scalar(text, kind, lambda _, message: self._lexer.fail(message, start))

    def _symbol(self) -> Symbol:
        names = [self.symbol_name()]
        while self._lexer.take("::"):
            names.append(self.symbol_name())
        return Symbol("::@".join(names))

    def _hash(self) -> Attribute:
        lexer = self._lexer
        name, start = lexer.text, lexer.start
        lexer.advance()
        if lexer.kind == "<":
            return DialectAttribute(name[1:], lexer.balanced())
        return DialectAttribute(name[1:]) if "." in name else self._aliases.find(name, start)

    def _array(self) -> tuple[Attribute, ...]:
        lexer = self._lexer
        lexer.enter()
        lexer.expect("[")
        found: list[Attribute] = []
        if lexer.kind != "]":
            found.append(self.parse())
            while lexer.take(","):
                found.append(self.parse())
        lexer.expect("]")
        lexer.leave()
        return tuple(found)

    def _word(self, words: bool) -> Attribute:
        lexer = self._lexer
        word = lexer.text
        if word in ("true", "false"):
            lexer.advance()
            return Number(word == "true", self._types.i1)
        if word in _WORDS:
            return _WORDS[word](self)
        if self._types.at_type():
            return self._type()
        if not words:
            raise lexer.unexpected("an attribute's value")
        lexer.advance()
        return Keyword(word)

    def _unit(self) -> bool:
        self._lexer.advance()
        return True

    def _dense(self) -> Dense:
        return parse_dense(self._lexer, self._types)

    def _refused(self) -> Attribute:
        raise self._lexer.fail(f"'{self._lexer.text}' is not read here; the elements have to stand in a dense<...>")

    def _in_brackets(self) -> DialectAttribute:
        # Do not read past the brackets: operands may follow, as in affine.apply affine_map<...>(%i).
        word = self._lexer.text
        self._lexer.advance()
        if self._lexer.kind != "<":
            raise self._lexer.unexpected(f"'<' behind '{word}'")
        return DialectAttribute(word, self._lexer.balanced())

    def _opaque(self) -> DialectAttribute:
        lexer = self._lexer
        word, body = lexer.text, []
        lexer.advance()
        while lexer.kind in ("<", "[", "("):
            body.append(lexer.balanced())
        if not body:
            raise lexer.unexpected(f"'<' behind '{word}'")
        return DialectAttribute(word, "".join(body))

    def _type(self) -> Type | FunctionType:
        return self._types.function() if self._lexer.kind == "(" else self._types.parse()

    def _dense_array(self) -> tuple[Any, ...]:
        lexer = self._lexer
        lexer.advance()
        lexer.expect("<")
        start = lexer.start
        type_ = self._types.parse()
        kind = element_kind(type_.text)
        if kind is None:
            raise lexer.fail(f"an array of type {shown(type_.text)} is not read here", start)
        found: list[Any] = []
        if lexer.take(":"):
            found.append(self._scalar(*self._literal(), kind))
            while lexer.take(","):
                found.append(self._scalar(*self._literal(), kind))
        lexer.expect(">")
        return tuple(found)


_READERS: dict[str, Callable[[Attributes], Attribute]] = {
    **dict.fromkeys(("integer", "float", "-"), Attributes._number),
    **dict.fromkeys(("type", "bang", "("), Attributes._type),
    "string": Attributes._text,
    "symbol": Attributes._symbol,
    "hash": Attributes._hash,
    "[": Attributes._array,
    "{": Attributes.dictionary,
}
_WORDS: dict[str, Callable[[Attributes], Attribute]] = {
    "unit": Attributes._unit,
    "dense": Attributes._dense,
    "array": Attributes._dense_array,
    **dict.fromkeys(("dense_resource", "sparse"), Attributes._refused),
    # The text in their brackets is kept, but not read.
    **dict.fromkeys(("affine_map", "affine_set"), Attributes._in_brackets),
    **dict.fromkeys(("opaque", "strided", "distinct", "loc"), Attributes._opaque),
}


def string_value(lexer: Lexer) -> str:
    """Return the contents of the string at hand, or of the string behind the @ at hand.

    Raises
    ------
    ParseError
        If it has an escape that MLIR does not have.
    """
    body = lexer.text[lexer.text.index('"') + 1 : -1]
    if "\\" not in body:
        return body
    offset = lexer.end - 1 - len(body)

    # An escape is one byte, and several of them may make one character, so decode the bytes afterwards.
    data = body.encode("utf-8", "surrogatepass")

    def unescaped(match: re.Match[bytes]) -> bytes:
        if match["bad"] is not None:
            before = data[: match.start()].decode("utf-8", "surrogatepass")
            raise lexer.fail("unknown escape in a string", offset + len(before))
        return bytes.fromhex(match["hex"].decode()) if match["hex"] is not None else _CHARS[match["char"]]

    return _ESCAPE.sub(unescaped, data).decode("utf-8", "surrogateescape")
