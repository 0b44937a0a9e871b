"""The C text of ops that users define: what it may hold, and what is made of it.

In: an expression over operands' names, and definitions it calls.  Out: text for a row, or an error that names the op.

    "x < low ? low : x", operands (x, low)               ->  "{0} < {1} ? {1} : {0}"
    prelude of `sq`: "static float twice(float x) {...}" ->  bcg_user_sq_twice, and its text under that name

Every word has to be an operand, a definition of the prelude, a type, or a function of <math.h>. A word that is none of
these could be a variable of the generated C around it, or a function that C takes to return an int. Other errors in
the C are left to its compiler.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator

from ..core.c_library import MATHEMATICS
from ..core.errors import ParseError

__all__ = ["Prelude", "check_text", "check_words", "placed", "read_prelude", "unknown_words"]

# Name in C and definition of each function and table, in order.
Prelude = tuple[tuple[str, str], ...]

_FIELD = r"\{(?:T|t|W|h|bits|f|huge)\}"
_WORD = re.compile(rf"(?<![\w.}}])(?:[A-Za-z_]|{_FIELD})(?:\w|{_FIELD})*")
_NUMBER = re.compile(rf"(?<![\w.}}])\.?\d(?:[eEpP][+-]|[\w.]|{_FIELD})*")
_FOREIGN = (
    (r";", "a semicolon; give one expression, and what needs statements as a function in prelude="),
    (r"[\n\r]", "a line break; write the expression on one line"),
    (r"//|/\*|\*/", "a comment; say it in doc="),
    (r"#|%:", "a preprocessor directive; write the expression out"),
    (r"\\|\?\?[=/'()!<>-]", "a backslash or trigraph; C would splice or replace text there"),
    (r"<:|:>|<%|%>", "a digraph; put a space between the two characters"),
    (r"[\"'@`$]|[^ -~]", "a character that has no place in an expression over numbers"),
    (r"\+\+|--|(?<![=<>!])=(?!=)|<<=|>>=", "an assignment; operands are constants"),
)
_FOREIGN_DEFINITIONS = (
    (r"#|%:", "a preprocessor directive; <math.h>, <stdint.h> and <stdbool.h> are included where they are needed"),
    (r"\\|\?\?[=/'()!<>-]", "a backslash or trigraph; C would splice or replace text there"),
    (r"<:|:>|<%|%>", "a digraph; put a space between the two characters"),
    (r"[\"'@`$]|[^ -~\s]", "a character that has no place in functions of numbers"),
    (r"\b_\w*|\w*__\w*", "a name that C reserves: it begins with an underscore or holds two in a row"),
    (r"\b(?:asm|extern|typedef|goto|register|volatile|restrict)\b", "a word that functions of numbers do without"),
)
_FUNCTION = re.compile(r"static\s+(?:inline\s+)?(?P<rest>[a-z][\w \n]*?\b(?P<name>[A-Za-z]\w*)\s*\([^()]*\)\s*\{)")
_TABLE = re.compile(r"static\s+(?P<rest>const\s[\w\s]*?\b(?P<name>[A-Za-z]\w*)\s*(?:\[[^][{}]*\]\s*)*=)")
_CONTROL = frozenset("if for while switch return else do case".split())
# Values that fields may have, to look at the words that hold them.
_SAMPLES = {"{T}": "int32_t", "{W}": "uint32_t", "{t}": "f32", "{h}": "i32", "{bits}": "32", "{f}": "", "{huge}": "NAN"}
_TYPES = frozenset("bool char const double float int long short signed unsigned true false sizeof".split())
_INTEGERS = re.compile(r"u?int(?:8|16|32|64)_t|U?INT(?:8|16|32|64)_(?:MAX|MIN|C)|NAN|INFINITY")


def check_text(op: str, text: object) -> None:
    """Refuse what is not one expression, whatever its words."""
    if not isinstance(text, str) or not text.strip():
        raise ParseError(f"{op}: {text!r} is no C expression")
    for pattern, why in _FOREIGN:
        found = re.search(pattern, text)
        if found:
            raise ParseError(f"{op}: column {found.start() + 1} of its C is {why}: {text!r}")
    opened: list[str] = []
    for at, character in enumerate(re.sub(_FIELD, lambda field: "x" * len(field[0]), text), 1):
        if character in "([":
            opened.append(character)
        elif character in ")]" and (not opened or opened.pop() != {")": "(", "]": "["}[character]):
            raise ParseError(f"{op}: column {at} of its C closes a bracket that is not open: {text!r}")
        elif character in "{}":
            raise ParseError(
                f"{op}: column {at} of its C is a brace; only {{T}}, {{t}}, {{f}} have a meaning: {text!r}"
            )
        elif character == "," and not opened:
            raise ParseError(f"{op}: column {at} of its C is a comma; give one expression: {text!r}")
    if opened:
        raise ParseError(f"{op}: its C leaves {opened[-1]!r} open: {text!r}")


def _sample(word: str) -> str:
    """Return a word with every field filled by a sample value."""
    for field, text in _SAMPLES.items():
        word = word.replace(field, text)
    return word


def _words(text: str) -> Iterator[tuple[str, bool]]:
    """Yield the words of a C text, and whether each is called."""
    blank = _NUMBER.sub(lambda number: "0" * len(number[0]), text)
    for match in _WORD.finditer(blank):
        yield match[0], blank[match.end() :].lstrip().startswith("(")


def unknown_words(text: str, known: Iterable[str]) -> Iterator[str]:
    """Yield the words of a text that are neither known nor C's own, and are not called."""
    for word, called in _words(text):
        plain = _sample(word)
        if not (called or word in known or plain in _TYPES or _INTEGERS.fullmatch(plain)):
            yield word


def check_words(op: str, text: str, operands: tuple[str, ...], prelude: Prelude = ()) -> None:
    """Refuse an expression that names or calls something unknown."""
    own = tuple(_short(op, name) for name, _ in prelude)
    for word in unknown_words(text, (*operands, *own)):
        raise ParseError(
            f"{op}: its C names {word!r}, which is neither an operand ({', '.join(operands)}) nor in the prelude nor a "
            f"type or constant of C: {text!r}"
        )
    for word, called in _words(text):
        if word in operands and word in own:
            raise ParseError(f"{op}: {word!r} is an operand, and defined in the prelude; give one another name")
        if called and word in operands:
            raise ParseError(f"{op}: its C calls {word!r}, which is an operand: {text!r}")
    _check_calls(op, text, own)


def _check_calls(op: str, text: str, own: Iterable[str]) -> None:
    for word, called in _words(text):
        plain = _sample(word)
        known = word in own or plain in MATHEMATICS or plain in _TYPES or plain in _CONTROL or plain.startswith("bcg_")
        if called and not known and not _INTEGERS.fullmatch(plain):
            raise ParseError(
                f"{op}: its C calls {word!r}, which is neither in the prelude nor a function of <math.h> on numbers; "
                "define it in prelude="
            )


def placed(op: str, text: str, operands: tuple[str, ...], prelude: Prelude = ()) -> str:
    """Return an expression with operands by their place and definitions of the prelude by their names in C."""
    names = {name: f"{{{at}}}" for at, name in enumerate(operands)} | {_short(op, name): name for name, _ in prelude}
    return _WORD.sub(lambda word: names.get(word[0], word[0]), text)


# ---- definitions that expressions call -------------------------------------------------------------------------------


def _long(op: str, name: str) -> str:
    """Name a definition of an op's prelude in C: no other op's is called so, whatever underscores there are."""
    words = op.count("_") + 1
    return f"bcg_user{'' if words == 1 else words}_{op}_{name}"


def _short(op: str, name: str) -> str:
    return name[len(_long(op, "")) :]


def read_prelude(op: str, text: object) -> Prelude:
    """Read C definitions: functions and constants, each ``static``.

    Raises
    ------
    ParseError
        If a definition is neither, or could change the C around it.
    """
    if not isinstance(text, str):
        raise ParseError(f"{op}: prelude={text!r} is no text; give C definitions")
    text = re.sub(r"/\*.*?\*/|//[^\n]*", " ", text, flags=re.DOTALL)
    for pattern, why in _FOREIGN_DEFINITIONS:
        found = re.search(pattern, text)
        if found:
            raise ParseError(f"{op}: line {text.count(chr(10), 0, found.start()) + 1} of its prelude has {why}")
    parts = [_definition(op, part) for part in _parts(op, text)]
    names = [name for name, _ in parts]
    for at, name in enumerate(names):
        if name in names[:at] or name in MATHEMATICS or name in _TYPES:
            raise ParseError(f"{op}: its prelude defines {name!r}, which is taken; choose another name")
    for _, part in parts:
        _check_calls(op, part, names)
    long = {name: _long(op, name) for name in names}
    return tuple((long[name], _WORD.sub(lambda word: long.get(word[0], word[0]), part)) for name, part in parts)


def _parts(op: str, text: str) -> Iterator[str]:
    """Yield the definitions; each ends in a semicolon, or in the brace of a function, outside all brackets."""
    opened: list[str] = []
    start = 0
    for at, character in enumerate(text):
        if character in "([{":
            opened.append(character)
        elif character in ")]}" and (not opened or opened.pop() != {")": "(", "]": "[", "}": "{"}[character]):
            line = text.count("\n", 0, at) + 1
            raise ParseError(f"{op}: line {line} of its prelude closes a bracket that is not open")
        ends = character == ";" or (character == "}" and "=" not in text[start:at].partition("{")[0])
        if ends and not opened:
            yield textwrap.dedent(text[start : at + 1].strip("\n")).strip()
            start = at + 1
    if opened:
        raise ParseError(f"{op}: its prelude leaves {opened[-1]!r} open")
    if text[start:].strip():
        raise ParseError(f"{op}: its prelude ends in {text[start:].strip()!r}, which is no whole definition")


def _definition(op: str, text: str) -> tuple[str, str]:
    """Return name and text of a function or table of a prelude; refuse what is neither."""
    found = _FUNCTION.match(text) or _TABLE.match(text)
    if found is None:
        raise ParseError(
            f"{op}: its prelude has {textwrap.shorten(text, 60)!r}; write functions, `static float f(float x) {{...}}` "
            "and constants, `static const float k[] = {...};`"
        )
    if found["name"].startswith("bcg_"):
        raise ParseError(f"{op}: its prelude defines {found['name']!r}; names that begin with bcg_ are bcastgen's own")
    if re.search(r"\bstatic\b", text[found.start("rest") :]):
        raise ParseError(
            f"{op}: {found['name']} of its prelude keeps a value between calls (static); write it const, outside"
        )
    # inline, so that compilers do not warn of a function in kernels that do not call it.
    start = "static inline " if found.re is _FUNCTION else "static "
    return found["name"], start + text[found.start("rest") :]
