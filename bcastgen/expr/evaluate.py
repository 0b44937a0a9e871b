"""Evaluates a typed expression with NumPy, node by node, by the references of its ops.

In: a typed expression and arrays.  Out: an array for each result.

    evaluate(a*b + 1 over f32, (a, b))  ->  (numpy.add(numpy.multiply(a, b), float32(1)),)

Arithmetic gives the bits that C computes. Functions of f32 are computed in f64 and rounded, since NumPy's f32 functions
have larger errors than ours; functions of f64 are NumPy's. Only NumPy checks the shapes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.dtypes import BOOL, F32, F64
from .infer import Typed
from .nodes import Apply, Constant, Node, Reduce, Remap, children, concrete, topological
from .views import Broadcast

__all__ = ["evaluate"]

Array = np.ndarray[Any, Any]


def evaluate(typed: Typed, operands: Sequence[Array]) -> tuple[Array, ...]:
    """Return the results for operands of the expression's dtypes; they may be views of operands.

    Raises
    ------
    ValueError
        If the shapes do not fit, or an element is outside the domain of an operation.

    Examples
    --------
    >>> from bcastgen.expr.infer import infer
    >>> from bcastgen.expr.text import parse
    >>> typed = infer(parse("a + b * 2"), (F32, F32))
    >>> evaluate(typed, (np.float32([1, 2]), np.float32([[3], [4]])))
    (array([[ 7.,  8.],
           [ 9., 10.]], dtype=float32),)
    """
    expression = typed.expression
    order = topological(expression.results)
    users = Counter(child for node in order for child in children(node))
    users.update(expression.results)
    values: dict[Node, Any] = dict(zip(expression.operands, operands, strict=True))
    for node in order:
        match node:
            case Constant():
                values[node] = concrete(node).np.type(node.value)
            case Apply():
                values[node] = _applied(node, [values[child] for child in node.operands])
            case Reduce():
                values[node] = _reduced(node, np.asarray(values[node.operand]))
            case Remap():
                values[node] = _viewed(node, values[node.operand], None if node.like is None else values[node.like])
        # Free values that have no user left, so that a long chain takes the memory of a few arrays.
        for child in children(node):
            users[child] -= 1
            if not users[child]:
                del values[child]
    return tuple(np.asarray(values[result]) for result in expression.results)


def _applied(node: Apply, operands: list[Any]) -> Any:
    result = concrete(node)
    params = (value for _, value in node.params)
    if node.op.ulp and result is F32:
        with np.errstate(all="ignore"):
            return np.asarray(node.op.evaluate(*(value.astype(F64.np) for value in operands), *params)).astype(F32.np)
    return np.asarray(node.op.evaluate(*operands, *params)).astype(result.np, copy=False)


def _reduced(node: Reduce, value: Array) -> Array:
    if node.axes is not None:
        from .axes import check_axes  # noqa: PLC0415 - most expressions have none

        check_axes(node, value.ndim)
    options: dict[str, Any] = {"ddof": node.ddof} if node.op.divides else {}
    if node.initial:
        options["initial"] = _extreme(node)
    # A value without dims may have an axis for us, and has none for NumPy.
    axes = node.axes if value.ndim else None
    with np.errstate(all="ignore"):
        made = node.op.reference(value, axis=axes, keepdims=node.keepdims, **options)
    return np.asarray(made).astype(concrete(node).np, copy=False)


def _extreme(node: Reduce) -> Any:
    """Return the value that no element changes: what a least or largest element is compared with first."""
    dtype, is_least = concrete(node), node.op.name == "min"
    if dtype is BOOL:
        return is_least
    if dtype.is_integer:
        return dtype.max if is_least else dtype.min
    return dtype.np.type(np.inf if is_least else -np.inf)


def _viewed(node: Remap, value: Any, like: Any) -> Array:
    """Return a value under a view, as a view of its array."""
    array = np.asarray(value)
    view = node.view.resolve(array.ndim, None if like is None else np.ndim(like))
    for own_dim in [dim for dim, view_dim in reversed(list(enumerate(view.dims))) if view_dim is None]:
        array = np.squeeze(array, own_dim)
    view_dims = [view_dim for view_dim in view.dims if view_dim is not None]
    array = array.transpose(sorted(range(array.ndim), key=view_dims.__getitem__))
    array = np.expand_dims(array, tuple(dim for dim in range(view.rank) if dim not in view_dims))
    if not isinstance(node.view, Broadcast):
        return array
    if node.view.shape is None:
        return np.broadcast_to(array, np.shape(like))
    pairs = zip(array.shape, view.shape, strict=True)
    return np.broadcast_to(array, [own if dim is None or dim.extent is None else dim.extent for own, dim in pairs])
