"""Reductions as users call them, and the element-wise expressions between them.

In: a traced value and NumPy's arguments.  Out: a traced value.

    std(x, axis=1)   ->   sqrt(mean(square(x - mean(x, axis=1, keepdims)), axis=1))

`split` takes an expression with reductions apart: what is reduced becomes a result, and what a reduction gives becomes
an operand, so that all between is element-wise.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

import numpy as np

from ..core.errors import AxisError, BroadcastError, TraceError
from ..core.frozen import dataclass
from ..ops.rows.reductions import REDUCTIONS
from . import refusals
from .compositions import apart_from, chosen, in_dtype_of, ones_like
from .nodes import Apply, Constant, Expression, Node, Operand, Reduce, Remap, topological
from .views import NewAxes

__all__ = ["BY_NUMPY", "FUNCTIONS", "Split", "check_axes", "normal_axes", "split"]

# The stand-in of an array, of `trace.Tracer`, which calls what is here.
Tracer = Any


# ---- what users call


def _reduced(
    name: str, x: Tracer, axis: Any = None, keepdims: bool = False, initial: bool = False, ddof: int = 0
) -> Tracer:
    """Return a value reduced by a row of the table."""
    axes = None if axis is None else _axes(name, axis)
    if axes is not None and len(axes) != 1 and name.startswith("arg"):
        raise TraceError(f"{name} takes one axis, or None for all, not {axis!r}")
    # NumPy takes integers of Python's alone here.
    if not (isinstance(keepdims, int) and keepdims in (0, 1)):
        raise TraceError(f"{name}: keepdims={keepdims!r} is neither True nor False; write bool(...)")
    return x.reduced(Reduce(REDUCTIONS[name], x.node, axes, bool(keepdims), initial, ddof))


def _axes(name: str, axis: Any) -> tuple[int, ...]:
    try:
        return tuple(map(operator.index, axis)) if isinstance(axis, (tuple, list)) else (operator.index(axis),)
    except TypeError:
        raise TraceError(f"{name}: axis={axis!r} is neither an integer nor a tuple of integers") from None


def _chosen(name: str, x: Tracer, where: Any, other: Any) -> Tracer:
    """Return the elements that `where` chooses, and another value in place of those it leaves out."""
    return x if where is True else chosen(_mask(name, x, where), x, other, name)


def _mask(name: str, x: Tracer, where: Any) -> Any:
    """Return the mask of a value's elements, which is broadcast to the value, as in NumPy: it does not stretch it."""
    if not hasattr(where, "reduced"):
        if isinstance(where, (bool, np.bool_)):
            return where
        raise TraceError(
            f"{name}: where={where!r} is neither an operand of the kernel nor True or False; pass the mask in as an "
            "operand"
        )
    own, others = _broadcast_from(x.node), _broadcast_from(where.node)
    if others is not None and own is not None and others <= own:
        return where
    if own is not None and len(own) == 1:
        (like,) = own
        return where.broadcast(type(x)(x.builder, like))
    raise TraceError(
        f"{name}: the mask may stretch a value that is computed from several operands, which NumPy refuses; write "
        "where=numpy.broadcast_to(mask, x), with x for an operand of the value's shape"
    )


def _broadcast_from(node: Node) -> set[Operand] | None:
    """Return the operands whose shapes are broadcast to a value's; None if a view or a reduction has another shape."""
    found: dict[Node, set[Operand] | None] = {}
    for one in topological((node,)):
        match one:
            case Operand():
                found[one] = {one}
            case Remap(like=Operand() as like):
                found[one] = {like}
            case Reduce(axes=None, keepdims=False):
                found[one] = set()
            case Reduce(keepdims=False):
                found[one] = None
            case Remap(view=view) if not (isinstance(view, NewAxes) and "new" not in view.pattern):
                found[one] = None
            case _:
                # A dim that a reduction keeps has extent 1, and stretches nothing.
                below = [found[child] for child in _below(one)]
                found[one] = None if None in below else {each for some in below for each in some or ()}
    return found[node]


def _in(x: Tracer, dtype: Any) -> Tracer:
    return x if dtype is None else x.astype(dtype)


def _initial(like: Tracer, value: Any) -> Tracer:
    """Return an initial value, which NumPy converts to the dtype of what it is combined with, whatever it was."""
    return np.full_like(like, value)


def _no_out(name: str, out: Any) -> None:
    if out is not None:
        raise TraceError(f"{name}: out= has no meaning inside a kernel; leave it out")


def _total(name: str, none: int, combine: Callable[[Any, Any], Any]) -> Callable[..., Tracer]:
    """Return a sum or a product, of which elements that are not chosen are the identity."""

    def function(
        a: Tracer,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        keepdims: bool = False,
        initial: Any = None,
        where: Any = True,
    ) -> Tracer:
        _no_out(name, out)
        made = _in(_reduced(name, _chosen(name, _in(a, dtype), where, none), axis, keepdims), dtype)
        return made if initial is None else combine(made, _initial(made, initial))

    function.__doc__ = REDUCTIONS[name].doc
    return function


def _extreme(name: str, combine: Callable[[Any, Any], Any]) -> Callable[..., Tracer]:
    def function(
        a: Tracer, axis: Any = None, out: Any = None, keepdims: bool = False, initial: Any = None, where: Any = True
    ) -> Tracer:
        _no_out(name, out)
        if where is not True and initial is None:
            raise TraceError(f"{name}: where= needs initial=, the value of no elements; give one")
        values = a if where is True else _chosen(name, a, where, _initial(a, initial))
        made = _reduced(name, values, axis, keepdims, initial is not None)
        return made if initial is None else combine(made, _initial(made, initial))

    function.__doc__ = REDUCTIONS[name].doc
    return function


def _truth(name: str, other: bool) -> Callable[..., Tracer]:
    def function(a: Tracer, axis: Any = None, out: Any = None, keepdims: bool = False, *, where: Any = True) -> Tracer:
        _no_out(name, out)
        return _reduced(name, _chosen(name, a != 0, where, other), axis, keepdims)

    function.__doc__ = REDUCTIONS[name].doc
    return function


def _index(name: str) -> Callable[..., Tracer]:
    def function(a: Tracer, axis: Any = None, out: Any = None, *, keepdims: bool = False) -> Tracer:
        _no_out(name, out)
        return _reduced(name, a, axis, keepdims)

    function.__doc__ = REDUCTIONS[name].doc
    return function


def mean(
    a: Tracer, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False, *, where: Any = True
) -> Tracer:
    """Sum of elements, divided by their number."""
    _no_out("mean", out)
    x = _in(a, dtype)
    return _in(_mean("mean", x, axis, keepdims, where), dtype)


def _mean(
    name: str, x: Tracer, axis: Any, keepdims: bool, where: Any, ddof: int = 0, counted: Tracer | None = None
) -> Tracer:
    """Return a mean of the elements that `where` chooses; their number is that of another value, if one is given."""
    if where is True and counted is None:
        return _reduced("mean", x, axis, keepdims, ddof=ddof)
    counted = x if counted is None else counted
    # The quotient has the dtype of one by a number, and the sum is at least an f32.
    like = x / 1
    total = _reduced("sum", _chosen(name, like * np.float32(1), where, 0), axis, keepdims)
    ones = ones_like(counted) != 0
    count = _reduced("sum", _chosen(name, ones, where, False), axis, keepdims)
    ratio = total / (np.maximum(count - ddof, 0) if ddof else count)
    return in_dtype_of(like, ratio)


def var(
    a: Tracer,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: int = 0,
    keepdims: bool = False,
    *,
    where: Any = True,
    mean: Any = None,
    correction: Any = None,
) -> Tracer:
    """Mean of the squared distances from the mean."""
    _no_out("var", out)
    if correction is not None and ddof != 0:
        raise TraceError("var: ddof= and correction= are two names of one number; give one of them")
    count = ddof if correction is None else correction
    if isinstance(count, bool) or not isinstance(count, (int, np.integer)) or count < 0:
        raise TraceError(f"var: ddof={count!r} is no integer of 0 or more")
    # As in NumPy the operand keeps its dtype in the difference: that of the mean may hold fewer of its digits.
    middle = _in(_mean("var", _in(a, dtype), axis, True, where), dtype) if mean is None else mean
    apart = apart_from(a, middle)  # the product with its conjugate is real
    squares = _in(np.real(apart * np.conjugate(apart)), dtype)
    if mean is not None and dtype is None:
        # A mean of integers is a float64, whatever dtype the one that is given has.
        squares = squares * ones_like(np.real(a) / 1)
    return _in(_mean("var", squares, axis, keepdims, where, int(count), None if mean is None else a), dtype)


@wraps(var, assigned=())
def std(a: Tracer, *args: Any, **options: Any) -> Tracer:
    """Square root of the variance."""
    return np.sqrt(var(a, *args, **options))


def ptp(a: Tracer, axis: Any = None, out: Any = None, keepdims: bool = False) -> Tracer:
    """Range of values: the largest less the smallest."""
    _no_out("ptp", out)
    return np.subtract(_reduced("max", a, axis, keepdims), _reduced("min", a, axis, keepdims))


def average(
    a: Tracer, axis: Any = None, weights: Any = None, returned: bool = False, *, keepdims: bool = False
) -> Tracer:
    """Sum of elements, divided by their number."""
    if weights is not None or returned:
        raise TraceError(f"numpy.{refusals.function('average')}")
    return mean(a, axis, keepdims=keepdims)


def logsumexp(a: Tracer, axis: Any = None, b: Any = None, keepdims: bool = False) -> Tracer:
    """Logarithm of the sum of exponentials, which do not overflow."""
    if b is not None:
        raise TraceError("logsumexp: b= is not supported in a kernel; write log(sum(b * exp(x)))")
    most = _reduced("max", a, axis, True)
    # Infinities cancel nothing: exp(-inf - -inf) is no number.
    shift = np.where(np.isfinite(most), most, 0)
    total = np.log(_reduced("sum", np.exp(a - shift), axis, True)) + shift
    return total if keepdims else _reduced("sum", total, axis, False)


def count_nonzero(a: Tracer, axis: Any = None, *, keepdims: bool = False) -> Tracer:
    """Count the elements that are not 0."""
    return _reduced("sum", a != 0, axis, keepdims)


# By the name that users know; `amin` and `amax` are NumPy's older names.
FUNCTIONS: dict[str, Callable[..., Tracer]] = {
    "sum": _total("sum", 0, np.add),
    "prod": _total("prod", 1, np.multiply),
    "mean": mean,
    "var": var,
    "std": std,
    "min": _extreme("min", np.minimum),
    "max": _extreme("max", np.maximum),
    "any": _truth("any", False),
    "all": _truth("all", True),
    "argmin": _index("argmin"),
    "argmax": _index("argmax"),
    "count_nonzero": count_nonzero,
    "logsumexp": logsumexp,
}
FUNCTIONS |= {"amin": FUNCTIONS["min"], "amax": FUNCTIONS["max"]}
_METHODS = "sum prod mean var std min max any all argmin argmax".split()
_UFUNCS = ("add sum", "multiply prod", "minimum min", "maximum max", "logical_or any", "logical_and all")
# By NumPy's function, by the ufunc whose `reduce` it is, and by the name of the method of arrays.
BY_NUMPY: dict[object, Callable[..., Tracer]] = {
    **{getattr(np, name): function for name, function in FUNCTIONS.items() if hasattr(np, name)},
    np.ptp: ptp,
    np.average: average,
    **{getattr(np, ufunc): FUNCTIONS[name] for ufunc, name in map(str.split, _UFUNCS)},
    **{name: FUNCTIONS[name] for name in _METHODS},
}


# ---- expressions


def normal_axes(node: Reduce, rank: int) -> tuple[int, ...]:
    """Return the dims that a reduction of a value of this rank combines, in order.

    Raises
    ------
    AxisError
        If an axis is out of range.
    BroadcastError
        If an axis is named twice.
    """
    if node.axes is None:
        return tuple(range(rank))
    dims = []
    for axis in node.axes:
        if not -rank <= axis < rank:
            cure = f"use {-rank} to {rank - 1}" if rank else "use None"
            found = f"axis {axis} is out of range for a value of rank {rank} ({_origin(node)})"
            raise AxisError(f"{node.op.name}: {found}; {cure}", axis=axis, ndim=rank)
        dims.append(axis % rank)
    if len(set(dims)) != len(dims):
        which = f"axes {list(node.axes)} of a value of rank {rank} ({_origin(node)})"
        raise BroadcastError(f"{node.op.name}: {which} name a dim twice; name each once")
    return tuple(sorted(dims))


def _origin(node: Reduce) -> str:
    """Return which operand a reduction combines, or which ones its value is computed from."""
    if isinstance(node.operand, Operand):
        return f"operand '{node.operand.name}'"
    names = [f"'{one.name}'" for one in topological((node.operand,)) if isinstance(one, Operand)]
    return f"computed from {', '.join(names[:4])}{', ...' * (len(names) > 4)}"


def check_axes(node: Reduce, rank: int) -> None:
    """Raise a BroadcastError if a reduction's axes do not fit a value of this rank."""
    normal_axes(node, rank)


@dataclass(frozen=True, slots=True, eq=False)
class Split:
    """An expression without reductions, whose first results are the values that `reductions` reduce.

    The last operands are what the reductions give, in the same order, which is that of `depths`: 1 for a
    reduction whose value needs no other, 2 for one that reads such a reduction, and so on. `views` has for each view of
    the expression the one that it was.
    """

    expression: Expression
    reductions: tuple[Reduce, ...]
    depths: tuple[int, ...]
    views: dict[Node, Node]


def split(expression: Expression) -> Split:
    """Take a typed expression with reductions apart."""
    order = topological(expression.roots)
    depth: dict[Node, int] = {}
    for node in order:
        below = max((depth[child] for child in _below(node)), default=0)
        depth[node] = below + isinstance(node, Reduce)
    found = sorted((node for node in order if isinstance(node, Reduce)), key=depth.__getitem__)
    names = _names(expression, found)
    given = len(expression.operands)
    here: dict[Node, Node] = {one: one for one in expression.operands}
    here |= {one: Operand(given + at, names[at], one.dtype) for at, one in enumerate(found)}
    for node in order:
        match node:
            case Constant():
                here[node] = node
            case Apply(operands=operands):
                here[node] = Apply(node.op, tuple(here[child] for child in operands), node.params, node.dtype)
            case Remap(operand=operand):
                here[node] = Remap(here[operand], node.view, node.like, node.dtype)
    temporaries = tuple(one for one in (here[node] for node in found) if isinstance(one, Operand))
    values = tuple(here[node.operand] for node in found)
    results = (*values, *(here[node] for node in expression.results))
    made = Expression((*expression.operands, *temporaries), results, expression.free_extents)
    views: dict[Node, Node] = {here[node]: node for node in order if isinstance(node, Remap)}
    return Split(made, tuple(found), tuple(depth[node] for node in found), views)


def _below(node: Node) -> tuple[Node, ...]:
    match node:
        case Apply(operands=operands):
            return operands
        case Remap(operand=operand) | Reduce(operand=operand):
            return (operand,)
    return ()


def _names(expression: Expression, found: Sequence[Reduce]) -> list[str]:
    """Return a name for what each reduction gives, which no operand has."""
    taken = {operand.name for operand in expression.operands}
    names: list[str] = []
    for node in found:
        stem, count = f"{node.op.name}_of", 0
        if isinstance(node.operand, Operand):
            stem = f"{node.op.name}_of_{node.operand.name}"
        name = stem
        while name in taken:
            count += 1
            name = f"{stem}_{count}"
        taken.add(name)
        names.append(name)
    return names
