"""Reads NumExpr's texts: by Python's grammar and an allowlist of its nodes; Python never runs them.

In: a text, kinds of its variables.  Out: an :class:`ExpressionNode`.

    read("2*a + 1", {"a": "float"})  ->  add(mul(a, 2), 1), a float

NumExpr runs a text by Python's ``eval``, so that an operator between two numbers is Python's. That is kept, and so are
the types of its errors.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping
from typing import Any

from ..core.python_text import parse_expression
from ..expr.folding import bits_beyond
from .expressions import ConstantNode, ExpressionNode, VariableNode, context, default_kind, functions, is_constant

__all__ = ["check_text", "read"]

_BINARY: dict[type[ast.AST], Callable[[Any, Any], Any]] = {
    **{ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv},
    **{ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.Pow: operator.pow},
    **{ast.LShift: operator.lshift, ast.RShift: operator.rshift},
    **{ast.BitAnd: operator.and_, ast.BitOr: operator.or_, ast.BitXor: operator.xor},
    **{ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le},
    **{ast.Gt: operator.gt, ast.GtE: operator.ge},
}
_UNARY: dict[type[ast.AST], Callable[[Any], Any]] = {
    **{ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Invert: operator.invert, ast.Not: operator.not_},
}
# Statements and slices, names of Python's own, and attributes but parts of numbers; a number may begin or end with ".".
_FORBIDDEN = re.compile(
    r"[;:\[]"
    r"|(?:^|\W)__\w+__(?:$|\W)"
    r"|\.\b(?!(?:real|imag|\d*[eE]?[+-]?\d+j?|\d*j)\b)"
)


def check_text(text: str) -> None:
    """Refuse what cannot be part of an expression, as NumExpr's `sanitize` does.

    Raises
    ------
    ValueError
        For ``; : [``, names such as ``__builtins__``, and attributes other than ``.real`` and ``.imag``.
    """
    bare = re.sub(r"'[^']*'", "", re.sub(r"\s+", "", text))
    if _FORBIDDEN.search(bare) is not None:
        raise ValueError(
            f"Expression {text} has forbidden control characters: it may have names, numbers, operators and functions"
        )


def read(text: str, kinds: Mapping[str, str], optimization: str = "none") -> ExpressionNode:
    """Return the expression of a text; variables without a kind are doubles.

    Raises
    ------
    SyntaxError
        If it is no expression of Python.
    TypeError, ValueError
        If it is one that no array can be computed by.

    Examples
    --------
    >>> read("2*a + 1", {"a": "float"}).astKind
    'float'
    """
    before, context.optimization = context.optimization, optimization
    try:
        # Before Python 3.13 its parser refuses what is nested as deeply as this reader cannot follow.
        value = _Reader(kinds).value(parse_expression(text.lstrip(" \t")))
    except (RecursionError, MemoryError) as error:
        raise ValueError(f"the expression cannot be read: {str(error) or 'it is nested too deeply'}") from None
    finally:
        context.optimization = before
    if is_constant(value):
        return ConstantNode(value)
    if not isinstance(value, ExpressionNode):
        raise TypeError(f"unsupported expression type: {type(value)}")
    return value


class _Reader:
    """Computes the value of each part of a text: a number of Python's, or a node."""

    def __init__(self, kinds: Mapping[str, str]) -> None:
        self.kinds = kinds
        self.variables: dict[str, VariableNode] = {}

    def value(self, tree: ast.AST) -> Any:  # noqa: PLR0911
        match tree:
            case ast.Constant(value=value):
                if value is None or is_constant(value):
                    return value
            case ast.Name(id=name):
                return self._name(name)
            case ast.BinOp(left=left, op=op, right=right):
                return self._applied(op, self.value(left), self.value(right))
            case ast.UnaryOp(op=op, operand=operand):
                return _UNARY[type(op)](self.value(operand))
            case ast.Compare():
                return self._comparison(tree)
            case ast.BoolOp(op=op, values=values):
                return self._logic(isinstance(op, ast.And), values)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return self.value(body if self.value(test) else orelse)
            case ast.Attribute(value=value, attr="real" | "imag" as name):
                return getattr(self.value(value), name)
            case ast.Call():
                return self._call(tree)
            case ast.List() | ast.Tuple() | ast.Set() | ast.Dict():
                raise TypeError(f"unsupported expression type: {type(tree).__name__}; pass an array by its name")
        raise ValueError(
            f"{type(tree).__name__} is not allowed; use names, numbers, operators, comparisons and functions"
        )

    def _name(self, name: str) -> Any:
        if name in functions:
            return functions[name]
        if name not in self.variables:
            self.variables[name] = VariableNode(name, self.kinds.get(name, default_kind))
        return self.variables[name]

    def _applied(self, op: ast.AST, left: Any, right: Any) -> Any:
        """Apply an operator; two numbers are Python's, and so are their errors."""
        if isinstance(op, (ast.Mult, ast.Mod)) and any(isinstance(one, (str, bytes)) for one in (left, right)):
            # Python's would repeat text, or format values: any length, from few characters.
            sign = "*" if isinstance(op, ast.Mult) else "%"
            raise TypeError(f"text has no operator '{sign}'; write the text as it is")
        if isinstance(op, (ast.Pow, ast.LShift)):
            bits = bits_beyond("pow" if isinstance(op, ast.Pow) else "lshift", left, right)
            if bits:
                raise OverflowError(f"an integer of {bits} bits is out of bounds; use a float")
        if type(op) not in _BINARY:
            raise TypeError(f"{type(op).__name__} is no operator of elements")
        return _BINARY[type(op)](left, right)

    def _comparison(self, tree: ast.Compare) -> Any:
        """Return a comparison; a chain of several asks whether the first is true, as in Python."""
        left, result = self.value(tree.left), None
        for op, right_tree in zip(tree.ops, tree.comparators, strict=True):
            if result is not None and not result:
                return result
            right = self.value(right_tree)
            result, left = self._applied(op, left, right), right
        return result

    def _logic(self, every: bool, trees: list[ast.expr]) -> Any:
        """Return what ``and`` or ``or`` gives for numbers; nodes have no truth value and raise TypeError."""
        value = self.value(trees[0])
        for tree in trees[1:]:
            if bool(value) is not every:
                return value
            value = self.value(tree)
        return value

    def _call(self, tree: ast.Call) -> Any:
        if not isinstance(tree.func, ast.Name):
            raise ValueError("only functions can be called, by their names")
        function = functions.get(tree.func.id)
        if function is None:
            raise TypeError(f"'{tree.func.id}' is no function; there are {', '.join(sorted(functions))}")
        keywords = {}
        for keyword in tree.keywords:
            if keyword.arg is None:
                raise ValueError("** is not allowed; give arguments one by one")
            keywords[keyword.arg] = self.value(keyword.value)
        return function(*map(self.value, tree.args), **keywords)
