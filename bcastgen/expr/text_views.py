"""Reads views in text: `transpose(a)`, `a.T`, `a[:, None]`, `broadcast_in_dim(a, b, dims=(0, 2))`.

In: a node of Python's tree.  Out: the values in it, and the view.

    broadcast_in_dim(a, (n, None, 4), (0, 2))  ->  values (a,), Broadcast((0, 2), (n, ?, 4))

Extents and dims are literals in the text: integers, names of dims, None, tuples of these. Nothing is evaluated.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from ..core.errors import ParseError
from . import refusals
from .views import Broadcast, NewAxes, Transpose, View, dims_of

__all__ = ["ViewCall", "view_call"]

# Parameters in order; the first is the value.
_PARAMETERS = {
    "transpose": ("x", "axes"),
    "broadcast_to": ("x", "shape"),
    "broadcast_in_dim": ("x", "shape", "dims"),
}

Refusal = Callable[[ast.expr, str], ParseError]


class ViewCall:
    """A view of `value`, with the shape of `like` if there is one."""

    __slots__ = ("like", "value", "view")

    def __init__(self, value: ast.expr, view: View, like: ast.expr | None = None) -> None:
        self.value, self.view, self.like = value, view, like


def view_call(tree: ast.expr, is_module: Callable[[ast.expr], bool], refuse: Refusal) -> ViewCall | None:
    """Return the view that a node of Python's tree describes; None if the node is no view.

    Raises
    ------
    ParseError
        If the node is a view, but its arguments are wrong.
    """
    match tree:
        case ast.Attribute(value=value, attr="T") if not is_module(value):
            return ViewCall(value, Transpose())
        case ast.Subscript(value=value, slice=key):
            return ViewCall(value, _new_axes(key, refuse))
        case ast.Call(func=ast.Name(id=name)) if name in _PARAMETERS:
            return _called(name, tree, refuse)
        case ast.Call(func=ast.Attribute(value=module, attr=name)) if name in _PARAMETERS and is_module(module):
            return _called(name, tree, refuse)
    return None


def _called(name: str, tree: ast.Call, refuse: Refusal) -> ViewCall:
    names = _PARAMETERS[name]
    given: dict[str, ast.expr] = dict(zip(names, tree.args, strict=False))
    for keyword in tree.keywords:
        if keyword.arg not in names[1:] or keyword.arg in given:
            raise refuse(keyword.value, f"{name} takes {', '.join(names)}, each once")
        given[str(keyword.arg)] = keyword.value
    if len(tree.args) > len(names) or "x" not in given or (name != "transpose" and "shape" not in given):
        raise refuse(tree, f"{name} takes {', '.join(names)}")
    axes, shape = given.get("axes"), given.get("shape")
    if name == "transpose":
        return ViewCall(given["x"], Transpose(None if axes is None else _integers(axes, refuse)))
    dims = None if "dims" not in given else _integers(given["dims"], refuse)
    if isinstance(shape, ast.Name):
        return ViewCall(given["x"], Broadcast(dims, None), shape)
    assert shape is not None
    return ViewCall(given["x"], Broadcast(dims, dims_of(tuple(_extent(entry, refuse) for entry in _entries(shape)))))


def _entries(tree: ast.expr) -> list[ast.expr]:
    return tree.elts if isinstance(tree, (ast.Tuple, ast.List)) else [tree]


def _integers(tree: ast.expr, refuse: Refusal) -> tuple[int, ...]:
    return tuple(_integer(entry, refuse) for entry in _entries(tree))


def _integer(tree: ast.expr, refuse: Refusal) -> int:
    match tree:
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(value))):
            return -value
        case ast.Constant(value=int(value)) if not isinstance(value, bool):
            return value
    raise refuse(tree, "a dim is an integer, as in dims=(0, 2)")


def _extent(tree: ast.expr, refuse: Refusal) -> int | str | None:
    match tree:
        case ast.Constant(value=None):
            return None
        case ast.Name(id=name):
            return name
    return _integer(tree, refuse)


# What an index may be that is an array: a mask, indices.
_ARRAYS = (ast.Compare, ast.BinOp, ast.Name, ast.Call, ast.List)


def _new_axes(key: ast.expr, refuse: Refusal) -> NewAxes:
    parts = [_axis(part) for part in _entries(key)]
    if "" in parts or parts.count("rest") > 1:
        raise refuse(key, refusals.index(is_array=isinstance(key, _ARRAYS)))
    return NewAxes(tuple(parts))


def _axis(tree: ast.expr) -> str:
    match tree:
        case ast.Constant(value=None):
            return "new"
        case ast.Constant(value=value) if value is ...:
            return "rest"
        case ast.Slice(lower=None, upper=None, step=None):
            return "dim"
    return ""
