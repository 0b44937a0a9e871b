"""The golden cases of the shape dialect: tests/cases/shape_dialect.txt says what each line means."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from bcastgen.dtypes import DTYPES, dtype
from bcastgen.errors import BroadcastError
from bcastgen.shape.dialect.ops import ROWS, find_row
from bcastgen.shape.dialect.trace import op, program
from bcastgen.shape.dialect.types import parse_type
from bcastgen.shape.dialect.values import ElementType, Shape, Size, ValueShape, Witness, show

CASES = Path(__file__).parents[2] / "cases" / "shape_dialect.txt"
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


def is_known(value, type_):
    if parse_type(type_).kind == "tensor":
        return parse_type(type_).unknown().is_known
    if isinstance(value, tuple):
        return None not in value
    return value is not None and getattr(value, "is_known", True)


@pytest.mark.parametrize("line", LINES)
def test_case(line):
    built, operands, right = one_op(line)
    known = all(is_known(value, str(operand.type)) for operand, value in zip(built.operands, operands, strict=True))
    if right == "fails":
        assert built.check(*operands) is False
        with pytest.raises(BroadcastError, match=built.body.operations[-1].name.replace(".", r"\.")):
            built.run(*operands)
        return
    wanted, _ = tokens(right)
    results = built.evaluate(*operands)
    results = results if isinstance(results, tuple) and len(built.results) != 1 else (results,)
    types = [str(value.type) for value in built.results if value.type.kind != "extents"]
    assert types == [type_ for type_, _ in wanted if not type_.startswith("tensor")]
    assert [show(value) for value in results] == [show(value) for _, value in wanted]
    assert list(results) == [value for _, value in wanted]
    if known:
        ran = built.run(*operands)
        assert (ran if isinstance(ran, tuple) and len(built.results) != 1 else (ran,)) == results
    # Unknown operands leave the run open only where a result cannot be unknown.
    folded = built.fold()
    assert folded.evaluate(*operands) == built.evaluate(*operands)


@pytest.mark.parametrize("row", [row for row in ROWS.values() if row.example], ids=lambda row: row.python)
def test_the_example_of_a_row_holds(row):
    assert row.example.split()[0] == row.python
    test_case(row.example)


def test_every_op_is_in_a_case():
    without = {"shape.assuming", "shape.assuming_yield", "shape.reduce", "shape.yield"}
    assert {find_row(line.split()[0]).name for line in LINES} == set(ROWS) - without


def test_every_op_of_the_text_has_a_row():
    text = """add any assuming_all assuming assuming_yield broadcast concat const_shape const_size cstr_broadcastable
        cstr_eq debug_print from_extent_tensor from_extents get_extent index_to_size join mul num_elements reduce
        shape_of size_to_index split_at to_extent_tensor yield"""
    assert len(text.split()) == 25
    since = "const_witness cstr_require dim div is_broadcastable max min rank shape_eq"
    assert {row.python for row in ROWS.values() if row.name.startswith("shape.")} == {*text.split(), *since.split()}
