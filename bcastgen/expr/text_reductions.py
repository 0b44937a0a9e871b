"""Reads reductions in text: `sum(a*b, axis=1)`, `np.mean(a, axis=(0, 1), keepdims=True)`, `a.max()`.

In: a node of Python's tree.  Out: the values in it, and how the first one is reduced.

    sum(a, axis=1, where=m)  ->  values (a, m), {"axis": 1}

Arguments are literals, but for `where` and the value; which ones a reduction takes, the signature of its function in
`reductions` says. Nothing is evaluated.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from inspect import signature
from typing import Any

from ..core.errors import ParseError
from ..core.forks import undivided
from ..ops.table import find_op

__all__ = ["CHOICE", "ReductionCall", "reduction_call"]

Refusal = Callable[[ast.expr, str], ParseError]

# The argument that is a value.
CHOICE = "where"
# The other arguments of NumPy's reductions that text can say, and what their literals are.
_LITERALS: dict[str, tuple[type, ...]] = {
    "axis": (int, tuple, list, type(None)),
    "dtype": (),
    "ddof": (int,),
    "keepdims": (bool,),
    "initial": (bool, int, float, complex, type(None)),
}


class ReductionCall:
    """A reduction of `value`, of the elements that `where` chooses if there is one, with literal arguments."""

    __slots__ = ("name", "options", "value", "where")

    def __init__(self, name: str, value: ast.expr, options: dict[str, Any], where: ast.expr | None) -> None:
        self.name, self.value, self.options, self.where = name, value, options, where


def _arguments(name: str) -> tuple[str, ...] | None:
    """Return the arguments after the value that the reduction of a name takes in text; None if there is none."""
    if find_op(name) is not None:
        return None
    with undivided:
        from .reductions import FUNCTIONS  # noqa: PLC0415 - most kernels reduce nothing

    function = FUNCTIONS.get(name)
    if function is None:
        return None
    return tuple(one for one in signature(function).parameters if one in _LITERALS or one == CHOICE)


def reduction_call(
    tree: ast.expr, is_module: Callable[[ast.expr], bool], dtype: Callable[[ast.expr], Any], refuse: Refusal
) -> ReductionCall | None:
    """Return the reduction that a node of Python's tree describes; None if the node is none.

    Raises
    ------
    ParseError
        If the node is a reduction, but its arguments are wrong.
    """
    match tree:
        case ast.Call(func=ast.Name(id=name), args=[value, *args]):
            pass
        case ast.Call(func=ast.Attribute(value=module, attr=name), args=[value, *args]) if is_module(module):
            pass
        case ast.Call(func=ast.Attribute(value=value, attr=name), args=args) if not is_module(value):
            pass
        case _:
            return None
    known = _arguments(name)
    if known is None:
        return None
    assert isinstance(tree, ast.Call)
    takes = f"{name} takes a value, axis by position, and {', '.join(known)}"
    # As in NumPy the places after the axis are not those of these names, so that they are given by name.
    if len(args) > 1:
        raise refuse(args[1], takes)
    given = dict(zip(known, args, strict=False))
    for keyword in tree.keywords:
        if keyword.arg not in known or keyword.arg in given:
            raise refuse(keyword.value, takes)
        given[str(keyword.arg)] = keyword.value
    where = given.pop(CHOICE, None)
    if isinstance(where, ast.Constant) and where.value is True:
        where = None
    options = {one: dtype(text) if one == "dtype" else _literal(one, text, refuse) for one, text in given.items()}
    return ReductionCall(name, value, options, where)


def _literal(name: str, tree: ast.expr, refuse: Refusal) -> Any:
    try:
        value = ast.literal_eval(tree)
    except ValueError:
        if name == "axis":
            raise refuse(tree, "axis is a literal, as in axis=1; of two arrays, write maximum(a, b) or minimum(a, b)") from None
        raise refuse(tree, f"{name} is a literal, as in axis=1 or keepdims=True") from None
    if not isinstance(value, _LITERALS[name]) or (name in ("axis", "ddof") and isinstance(value, bool)):
        raise refuse(tree, f"{name} is a literal, as in axis=1 or keepdims=True")
    return value
