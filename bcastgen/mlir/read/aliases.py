"""Names for types and attributes: ``!t = tensor<4xf32>``, ``#map = affine_map<(d0) -> (d0)>``.

In: a name where it is used, or a definition.  Out: the type or attribute that it stands for.

    "#a = 1 : i8" ... find("#a") -> Number(1, i8)

A name may be used before its definition: the first such use makes one search of the text, for the definitions of all
names.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Generic, TypeVar

from .lexer import Lexer, shown

__all__ = ["Aliases"]

Meaning = TypeVar("Meaning")
_DEFINITION = re.compile(r"^[ \t\r]*([!#][A-Za-z_](?:[A-Za-z0-9_$]|-(?!>))*)[ \t\r]*=", re.MULTILINE)


class Aliases(Generic[Meaning]):
    """The names of types, or of attributes, in one text.

    Parameters
    ----------
    lexer : of the text.
    parse : reads what a name stands for.
    """

    __slots__ = ("_lexer", "_meanings", "_offsets", "_parse", "_places")

    def __init__(self, lexer: Lexer, parse: Callable[[], Meaning]) -> None:
        self._lexer, self._parse = lexer, parse
        # The meaning of a name is None while its definition is being read.
        self._meanings: dict[str, Meaning | None] = {}
        self._places: dict[str, int] = {}
        self._offsets: dict[str, int] | None = None

    def define(self) -> None:
        """Read a definition, the lexer at its name."""
        lexer = self._lexer
        name, start = lexer.text, lexer.start
        if self._places.setdefault(name, start) != start:
            raise lexer.fail(f"redefinition of the alias {shown(name)}")
        if "." in name:
            raise lexer.fail(f"the alias {shown(name)} has a '.', which only a dialect's names have")
        self._meanings[name] = None
        lexer.advance()
        lexer.expect("=")
        self._meanings[name] = self._parse()

    def find(self, name: str, start: int) -> Meaning:
        """Return what a name at an offset stands for; the lexer is behind it and stays there."""
        meaning = self._meanings.get(name)
        if meaning is not None:
            return meaning
        lexer = self._lexer
        here = lexer.kind, lexer.text, lexer.end
        if name in self._meanings:
            raise lexer.fail(f"the alias {shown(name)} stands for itself", start)
        if self._offsets is None:
            self._offsets = {}
            for match in _DEFINITION.finditer(lexer.source.text):
                self._offsets.setdefault(match[1], match.start(1))
        if name not in self._offsets:
            raise lexer.fail(f"undefined alias {shown(name)}", start)
        lexer.enter()
        lexer.jump(self._offsets[name])
        self.define()
        lexer.leave()
        lexer.kind, lexer.text, lexer.end = here
        found = self._meanings[name]
        assert found is not None
        return found
