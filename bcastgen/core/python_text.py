"""Python's own parser, in programs of many threads.

In: a text of Python.  Out: its tree.

    parse_expression("a + b").op  ->  <ast.Add object>

CPython before 3.11.8 and 3.12.2 counts the depth of all trees that are under way in one place, so that parsing fails by
a SystemError where a signal handler, a finaliser or another thread parses meanwhile (python/cpython issue 106905).
"""

from __future__ import annotations

import ast
from typing import Any

__all__ = ["parse_expression", "parse_module"]

# Where all threads do nothing but parse, a few texts in a thousand fail once.
_TRIES = 20


def parse_expression(text: str) -> ast.expr:
    """Return the tree of an expression; raises what :func:`ast.parse` raises for a text that is none.

    Examples
    --------
    >>> ast.dump(parse_expression("1"))
    'Constant(value=1)'
    """
    body: ast.expr = _parsed(text, "<expr>", "eval").body
    return body


def parse_module(text: str) -> ast.Module:
    """Return the tree of a file; raises what :func:`ast.parse` raises for a text that is none."""
    tree: ast.Module = _parsed(text, "<unknown>", "exec")
    return tree


def _parsed(text: str, name: str, mode: str) -> Any:
    for _ in range(_TRIES):
        try:
            return ast.parse(text, name, mode)
        except SystemError:
            pass
    return ast.parse(text, name, mode)
