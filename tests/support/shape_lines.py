"""The lines of tests/cases/shape_dialect.txt, which says what they mean, and what they stand for.

In: a line.  Out: the program of its one op, the operands, and the text of the results.

    built, operands, results = one_op("add 2, 3 -> 5")
"""

from __future__ import annotations

import re
from pathlib import Path

from bcastgen.core.dtypes import DTYPES, dtype
from bcastgen.shape.dialect.trace import op, program
from bcastgen.shape.dialect.values import ElementType, Shape, Size, ValueShape, Witness

CASES = Path(__file__).parents[1] / "cases" / "shape_dialect.txt"
LINES = [line for line in CASES.read_text(encoding="utf-8").splitlines() if line and line[0] not in "#="]
TOKEN = re.compile(
    r"""tensor<[^>]*> | (?:tensor)?\[[^\]]*\] | \(\?,\s\[[^\]]*\]\) | (?:index|i1|element)\s\S+?(?=,|$|\s)
    | \w+=(?:"[^"]*"|\[[^\]]*\]|\S+?(?=,|$|\s)) | "[^"]*" | [-\w?]+""",
    re.VERBOSE,
)
ELEMENTS = {row.name for row in DTYPES}


def extents(text):
    """The extents in brackets, or None where the rank is not known."""
    inner = text[1:-1].strip()
    if inner == "*":
        return None
    return tuple(None if item.strip() == "?" else int(item) for item in inner.split(",")) if inner else ()


def shape(text, error=""):
    if text == "[invalid]":
        return Shape(error=error)
    known = extents(text)
    return Shape(unranked=True) if known is None else Shape(known)


def literal(text, error=""):
    """The type and the value that a token of a case stands for."""
    word, _, rest = text.partition(" ")
    if text.startswith("tensor<"):
        return text, None
    if text.startswith("tensor["):
        known = extents(text.removeprefix("tensor"))
        return f"tensor<{'?' if known is None else len(known)}xindex>", known
    if text.startswith("["):
        return "!shape.shape", shape(text, error)
    if text.startswith("("):
        return "!shape.value_shape", ValueShape(None, shape(text[4:-1], error))
    if word in ("index", "i1"):
        return word, None if rest == "?" else int(rest)
    if text in ("true", "false"):
        return "i1", text == "true"
    if text in ("passing", "failing", "undecided"):
        verdict = {"passing": True, "failing": False, "undecided": None}[text]
        return "!shape.witness", Witness(verdict, error)
    if word == "element":
        return "!shape.element_type", ElementType(error=error) if rest == "invalid" else ElementType()
    if text in ELEMENTS:
        return "!shape.element_type", ElementType(dtype(text))
    return "!shape.size", Size(error=error) if text == "invalid" else Size(None if text == "?" else int(text))


def tokens(text):
    """Literals of a comma-separated text, each with the message after it; and the attributes."""
    found, settings = [], {}
    for match in TOKEN.finditer(text):
        token = match.group()
        name, equals, value = token.partition("=")
        if token.startswith('"'):
            found[-1] = (found[-1][0], token[1:-1])
        elif equals and name.isidentifier():
            settings[name] = setting(value)
        else:
            found.append((token, ""))
    return [literal(token, error) for token, error in found], settings


def setting(text):
    if text.startswith('"'):
        return text[1:-1]
    if text.startswith("["):
        return extents(text)
    return text == "true" if text in ("true", "false") else int(text)


def one_op(line):
    """The program of a case's one op, its operands, and the text of the results."""
    left, _, right = line.partition(" -> ")
    if left.endswith(" ->"):
        left = left.removesuffix(" ->")
    name, _, rest = left.partition(" ")
    operands, settings = tokens(rest)
    types = {f"v{index}": type_ for index, (type_, _) in enumerate(operands)}

    def function(**values):
        return op(name)(*values.values(), **settings)

    return program("case", function, **types), [value for _, value in operands], right
