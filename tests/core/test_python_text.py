"""Texts of Python are parsed, whatever else the process parses meanwhile."""

from __future__ import annotations

import ast

import pytest

from bcastgen.core import python_text
from bcastgen.core.python_text import parse_expression, parse_module


def test_trees_are_those_of_python() -> None:
    assert ast.dump(parse_expression("a + b")) == ast.dump(ast.parse("a + b", mode="eval").body)
    assert ast.dump(parse_module("a = 1\nb = 2")) == ast.dump(ast.parse("a = 1\nb = 2"))
    with pytest.raises(SyntaxError):
        parse_expression("a +")


def test_what_another_parser_disturbed_is_parsed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    parse, disturbed = ast.parse, [True, True]

    def disturbed_parse(*arguments: str) -> ast.AST:
        if disturbed:
            disturbed.pop()
            raise SystemError("AST constructor recursion depth mismatch (before=24, after=20)")
        return parse(*arguments)

    monkeypatch.setattr(python_text.ast, "parse", disturbed_parse)
    assert isinstance(parse_expression("a"), ast.Name)
    monkeypatch.setattr(python_text, "_TRIES", 0)
    disturbed.append(True)
    with pytest.raises(SystemError):
        parse_expression("a")
