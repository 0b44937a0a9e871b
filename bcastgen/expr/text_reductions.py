"""Reads reductions in text: `sum(a*b, axis=1)`, `np.mean(a, axis=(0, 1), keepdims=True)`, `a.max()`.

In: a node of Python's tree.  Out: the values in it, and how the first one is reduced.

    sum(a, axis=1, where=m)  ->  values (a, m), {"axis": 1}

Arguments are literals, but for `where` and the value. Nothing is evaluated.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from ..core.errors import ParseError

__all__ = ["CHOICE", "ReductionCall", "reduction_call"]

Refusal = Callable[[ast.expr, str], ParseError]

# By name, as `reductions.FUNCTIONS` spells them, the arguments after the value, in NumPy's order without `out`.
# The argument that is a value.
CHOICE = "where"
_TOTALS = ("axis", "dtype", "keepdims", "initial", CHOICE)
_EXTREMA = ("axis", "keepdims", "initial", CHOICE)
_ARGUMENTS = {
    "sum": _TOTALS,
    "prod": _TOTALS,
    "mean": ("axis", "dtype", "keepdims"),
    "var": ("axis", "dtype", "ddof", "keepdims"),
    "std": ("axis", "dtype", "ddof", "keepdims"),
    "min": _EXTREMA,
    "max": _EXTREMA,
    "amin": _EXTREMA,
    "amax": _EXTREMA,
    "any": ("axis", "keepdims", CHOICE),
    "all": ("axis", "keepdims", CHOICE),
    "argmin": ("axis", "keepdims"),
    "argmax": ("axis", "keepdims"),
    "count_nonzero": ("axis", "keepdims"),
    "logsumexp": ("axis", "keepdims"),
}


class ReductionCall:
    """A reduction of `value`, of the elements that `where` chooses if there is one, with literal arguments."""

    __slots__ = ("name", "options", "value", "where")

    def __init__(self, name: str, value: ast.expr, options: dict[str, Any], where: ast.expr | None) -> None:
        self.name, self.value, self.options, self.where = name, value, options, where


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
        case ast.Call(func=ast.Name(id=name), args=[value, *args]) if name in _ARGUMENTS:
            pass
        case ast.Call(func=ast.Attribute(value=module, attr=name), args=[value, *args]) if (
            name in _ARGUMENTS and is_module(module)
        ):
            pass
        case ast.Call(func=ast.Attribute(value=value, attr=name), args=args) if name in _ARGUMENTS and not is_module(
            value
        ):
            pass
        case _:
            return None
    assert isinstance(tree, ast.Call)
    known = _ARGUMENTS[name]
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
        raise refuse(tree, f"{name} is a literal, as in axis=1 or keepdims=True") from None
    kinds: dict[str, tuple[type, ...]] = {
        "axis": (int, tuple, list, type(None)),
        "keepdims": (bool,),
        "ddof": (int,),
        "initial": (bool, int, float, complex, type(None)),
    }
    if not isinstance(value, kinds[name]) or (name in ("axis", "ddof") and isinstance(value, bool)):
        raise refuse(tree, f"{name} is a literal, as in axis=1 or keepdims=True")
    return value
