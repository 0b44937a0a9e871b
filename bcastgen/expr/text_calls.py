"""Reads calls in text that give more than operands: numbers by name, None, axes; and what arrays have as methods.

In: a node of Python's tree.  Out: a function, and its arguments: values, which are expressions, and literals.

    clip(a, None, 1)    round(a, decimals=2)    swapaxes(a, 0, 1)    a.clip(min=b)    a.real    select([a > 1], [b], c)

The functions are those of traced functions. Arguments are literals or expressions; nothing is evaluated.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..core.dtypes import DType
from ..core.errors import BcastgenError, ParseError
from .nodes import Node
from .trace import Tracer, is_tracer

__all__ = ["FunctionCall", "function_call", "is_candidate"]

Refusal = Callable[[ast.expr, str], ParseError]

_ATTRIBUTES = ("real", "imag", "mT")
_METHODS = ("clip", "round", "conj", "conjugate", "swapaxes", "squeeze", "transpose", "copy")
# The arguments of ufuncs; most of them are refused by name.
_OF_UFUNCS = ("dtype", "casting", "order", "subok", "signature", "where", "out", None)
# Functions of NumPy's that take a value and axes.
_OF_AXES = ("swapaxes", "moveaxis", "expand_dims", "squeeze", "matrix_transpose", "permute_dims")


class FunctionCall:
    """A call of a function, or of a method of the first argument; values are trees, literals are in `Literal`."""

    __slots__ = ("args", "function", "keywords", "name")

    def __init__(self, name: str, function: Callable[..., Any], args: list[Any], keywords: dict[str, Any]) -> None:
        self.name, self.function, self.args, self.keywords = name, function, args, keywords

    def values(self) -> Iterator[ast.expr]:
        """Yield the arguments that are expressions, in order."""
        yield from _values([*self.args, *self.keywords.values()])

    def result(self, tree: ast.expr, tracer_of: Callable[[ast.expr], Tracer], refuse: Refusal) -> Node:
        """Return the node of the call, where `tracer_of` gives what stands for an expression that has been read."""
        args = [_taken(given, tracer_of) for given in self.args]
        keywords = {name: _taken(given, tracer_of) for name, given in self.keywords.items()}
        try:
            found = self.function(*args, **keywords)
        except BcastgenError:
            raise
        except (TypeError, ValueError, AttributeError, LookupError, ArithmeticError) as error:
            raise refuse(tree, f"{self.name}: {str(error).replace('Tracer.', '')}") from None
        if not is_tracer(found):
            raise refuse(tree, f"{self.name} is no element-wise function of an operand here")
        node: Node = found.node
        return node


class Literal:
    """An argument that is known: a number, None, text, a tuple of these, a dtype."""

    __slots__ = ("value",)

    def __init__(self, value: object) -> None:
        self.value = value


def is_candidate(tree: ast.expr, is_module: Callable[[ast.expr], bool]) -> bool:
    """Whether a node of Python's tree may be such a call: a plain call of operands is none."""
    match tree:
        case ast.Attribute(value=value, attr=attr):
            return attr in _ATTRIBUTES and not is_module(value)
        case ast.Call(func=ast.Attribute(value=value, attr=attr)) if not is_module(value):
            return attr in _METHODS
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=args, keywords=keywords):
            return bool(keywords) or name in _OF_AXES or any(map(_is_no_operand, args))
    return False


def function_call(
    tree: ast.expr, is_module: Callable[[ast.expr], bool], dtype: Callable[[ast.expr], DType], refuse: Refusal
) -> FunctionCall | None:
    """Return the call that a candidate is; None if it is of no such function.

    Raises
    ------
    ParseError
        If arguments are spread by ``*``.
    """
    match tree:
        case ast.Attribute(value=value, attr=attr):
            return FunctionCall(attr, lambda x: getattr(x, attr), [value], {})
        case ast.Call(func=ast.Attribute(value=value, attr=attr)) if not is_module(value):
            name, first = attr, [value]

            def function(x: Any, *args: Any, **keywords: Any) -> Any:
                return getattr(x, attr)(*args, **keywords)
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
            found, first = _function(name), []
            if found is None:
                return None
            function = found
            if isinstance(found, np.ufunc) and any(keyword.arg not in _OF_UFUNCS for keyword in tree.keywords):
                raise refuse(tree, f"{name} takes operands by position, and nothing else by name but {_OF_UFUNCS[0]}=")
        case _:
            return None
    given = [argument for argument in tree.args if isinstance(argument, ast.Starred)]
    if given or any(keyword.arg is None for keyword in tree.keywords):
        raise refuse(tree, f"{name}: write the arguments out, without *")
    args = [*first, *(_argument(argument) for argument in tree.args)]
    keywords = {
        str(keyword.arg): Literal(dtype(keyword.value)) if keyword.arg == "dtype" else _argument(keyword.value)
        for keyword in tree.keywords
    }
    return FunctionCall(name, function, args, keywords)


def _function(name: str) -> Callable[..., Any] | None:
    """Return the function of NumPy's that a traced function may call by this name."""
    from .compositions import NUMPY_FUNCTIONS  # noqa: PLC0415 - most texts have operands only

    found = getattr(np, name, None)
    known = isinstance(found, np.ufunc) or (callable(found) and found in NUMPY_FUNCTIONS)
    return found if known else None


def _is_no_operand(tree: ast.expr) -> bool:
    """Whether an argument is known and no number."""
    return isinstance(tree, (ast.Tuple, ast.List)) or (
        isinstance(tree, ast.Constant) and (tree.value is None or isinstance(tree.value, (bool, str)))
    )


def _argument(tree: ast.expr) -> Any:
    try:
        return Literal(ast.literal_eval(tree))
    except (ValueError, TypeError):
        return list(map(_argument, tree.elts)) if isinstance(tree, (ast.Tuple, ast.List)) else tree


def _values(given: list[Any]) -> Iterator[ast.expr]:
    for one in given:
        if isinstance(one, list):
            yield from _values(one)
        elif isinstance(one, ast.expr):
            yield one


def _taken(given: Any, tracer_of: Callable[[ast.expr], Tracer]) -> Any:
    if isinstance(given, Literal):
        return given.value
    return [_taken(one, tracer_of) for one in given] if isinstance(given, list) else tracer_of(given)
