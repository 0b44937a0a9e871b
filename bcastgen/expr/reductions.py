"""Reductions as users call them.

In: a traced value and NumPy's arguments.  Out: a traced value.

    std(x, axis=1)   ->   sqrt(mean(square(x - mean(x, axis=1, keepdims)), axis=1))

Those that skip NaN (`nansum`) choose by a mask what the others combine.
"""

from __future__ import annotations

import numbers
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.errors import ArgumentError, TraceError
from ..core.frozen import dataclass
from ..ops.rows.reductions import REDUCTIONS, Reduction
from . import refusals
from .compositions import apart_from, both, chosen, in_dtype_of, initial_of, ones_like
from .nodes import Apply, Node, Operand, Reduce, Remap, children, topological
from .views import NewAxes

__all__ = ["BY_NUMPY", "FUNCTIONS"]

# The largest `ddof` that the loops' reductions subtract; a larger one is subtracted by ops of the expression.
_LARGEST_COUNT = 2**31 - 1
# The stand-in of an array, of `trace.Tracer`, which calls what is here.
Tracer = Any


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
    return x.reduced(Reduce(_row(name), x.node, axes, bool(keepdims), initial, ddof))


def _skips_nan(name: str) -> bool:
    return name.startswith("nan")


def _row(name: str) -> Reduction:
    """Return the row that combines the elements of a reduction of this name."""
    return REDUCTIONS[name.removeprefix("nan")]


def _doc(name: str) -> str:
    return f"{_row(name).doc.removesuffix('.')} that are not NaN." if _skips_nan(name) else _row(name).doc


def _axes(name: str, axis: Any) -> tuple[int, ...]:
    try:
        given = axis if isinstance(axis, tuple) else (axis,)
        if any(isinstance(one, (bool, np.bool_)) for one in given):
            raise TypeError
        return tuple(map(operator.index, given))
    except TypeError:
        raise TraceError(f"{name}: axis={axis!r} is neither an integer nor a tuple of integers") from None


def _chosen(name: str, x: Tracer, where: Any, other: Any) -> Tracer:
    """Return the elements that `where` chooses, and another value in place of those it leaves out."""
    return x if where is True else chosen(_mask(name, x, where), x, other, name)


def _mask(name: str, x: Tracer, where: Any) -> Any:
    """Return the mask of a value's elements, which is broadcast to the value, as in NumPy: it does not stretch it."""
    if type(where) is _Fitted:
        return where.mask
    if not hasattr(where, "reduced"):
        if isinstance(where, (bool, np.bool_)):
            return where
        raise TraceError(
            f"{name}: where={where!r} is neither an operand of the kernel nor True or False; pass the mask in as an "
            "operand"
        )
    own, mask = _broadcast_from(x.node), _broadcast_from(where.node)
    if own is not None and mask is not None and mask.most <= own.least:
        return where
    if own is None or own.least != own.most or len(own.most) != 1:
        return where.shaped_as(x)
    (operand,) = own.most
    return where.shaped_as(type(x)(x.builder, operand))


@dataclass(frozen=True, slots=True)
class _Fitted:
    """A mask that is broadcast to a value already."""

    mask: Any


@dataclass(frozen=True, slots=True)
class _Shape:
    """The shape of a value: at least that to which the operands in `least` broadcast, at most that of those in `most`.

    A dim that a reduction keeps has extent 1, whatever its operand's.
    """

    least: frozenset[Operand]
    most: frozenset[Operand]


def _broadcast_from(node: Node) -> _Shape | None:
    """Return the operands whose shapes are broadcast to a value's; None if a view or a reduction has another shape."""
    found: dict[Node, _Shape | None] = {}
    none: frozenset[Operand] = frozenset()
    for one in topological((node,)):
        # An operand that gives its dtype alone has no part in the shape.
        is_like = isinstance(one, Apply) and one.notes.dtype_only
        below = [found[child] for child in children(one)[1 if is_like else 0 :]]
        known = [each for each in below if each is not None]
        match one:
            case Operand():
                found[one] = _Shape(frozenset((one,)), frozenset((one,)))
            case Remap(like=like) if like is not None:
                found[one] = found[like]
            case Reduce(axes=None, keepdims=False):
                found[one] = _Shape(none, none)
            case Reduce(keepdims=True):
                found[one] = None if len(known) < len(below) else _Shape(none, known[0].most)
            case Reduce():
                found[one] = None
            case Remap(view=view) if not (isinstance(view, NewAxes) and "new" not in view.pattern):
                found[one] = None
            case _ if len(known) < len(below):
                found[one] = None
            case _:
                found[one] = _Shape(none.union(*(s.least for s in known)), none.union(*(s.most for s in known)))
    return found[node]


def _in(x: Tracer, dtype: Any) -> Tracer:
    return x if dtype is None else x.astype(dtype)


def _initial(name: str, like: Tracer, value: Any) -> Tracer:
    """Return an initial value, which NumPy converts to the dtype of what it is combined with, whatever it was."""
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if not (hasattr(value, "reduced") or isinstance(value, (numbers.Number, np.bool_))):
        raise ArgumentError(f"{name}: initial={value!r} is no number; give one")
    return initial_of(like, value, name)


def _no_out(name: str, out: Any) -> None:
    if out is not None:
        raise TraceError(f"{name}: out= has no meaning inside a kernel; leave it out")


def _total(name: str, none: int, combine: Callable[[Any, Any], Any]) -> Callable[..., Tracer]:
    """Return the function of a sum or a product; `none`, the identity, takes the place of elements not chosen."""

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
        values = chosen(_is_number(name, a), a, none, name) if _skips_nan(name) else a
        made = _in(_reduced(name, _chosen(name, _in(values, dtype), where, none), axis, keepdims), dtype)
        return made if initial is None else combine(made, _initial(name, made, initial))

    function.__doc__ = _doc(name)
    return function


def _extreme(name: str, pick: Callable[[Any, Any], Any], worst: float) -> Callable[..., Tracer]:
    """Return the function of an extreme; one that skips NaN gives NaN where all elements are NaN, as fmax does."""

    def function(
        a: Tracer, axis: Any = None, out: Any = None, keepdims: bool = False, initial: Any = None, where: Any = True
    ) -> Tracer:
        _no_out(name, out)
        if where is not True and initial is None:
            raise ArgumentError(f"{name}: where= needs initial=, the value of no elements; give one")
        values = chosen(_is_number(name, a), a, in_dtype_of(a, worst), name) if _skips_nan(name) else a
        if where is not True:
            values = _chosen(name, values, where, _initial(name, a, initial))
        best = _reduced(name, values, axis, keepdims, initial is not None)
        best = best if initial is None else pick(best, _initial(name, best, initial))
        if not _skips_nan(name) or (initial is not None and initial == initial):
            return best
        some = _reduced("any", _is_number(name, a, where), axis, keepdims)
        return np.where(some, best, in_dtype_of(best, np.nan))

    function.__doc__ = f"{_doc(name).removesuffix('.')}; NaN where all are." if _skips_nan(name) else _doc(name)
    return function


def _truth(name: str, other: bool) -> Callable[..., Tracer]:
    def function(a: Tracer, axis: Any = None, out: Any = None, keepdims: bool = False, *, where: Any = True) -> Tracer:
        _no_out(name, out)
        return _reduced(name, _chosen(name, a != 0, where, other), axis, keepdims)

    function.__doc__ = _doc(name)
    return function


def _index(name: str) -> Callable[..., Tracer]:
    def function(a: Tracer, axis: Any = None, out: Any = None, *, keepdims: bool = False) -> Tracer:
        _no_out(name, out)
        return _reduced(name, a, axis, keepdims)

    function.__doc__ = _doc(name)
    return function


def mean(
    a: Tracer, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False, *, where: Any = True
) -> Tracer:
    """Sum of elements, divided by their number."""
    _no_out("mean", out)
    x = _in(a, dtype)
    return _in(_mean("mean", x, axis, keepdims, where), dtype)


def _mean(
    name: str, x: Tracer, axis: Any, keepdims: bool, where: Any, ddof: float = 0, counted: Tracer | None = None
) -> Tracer:
    """Return a mean of the elements that `where` chooses; their number is that of another value, if one is given."""
    if where is True and counted is None and isinstance(ddof, int) and ddof >= 0:
        return _reduced("mean", x, axis, keepdims, ddof=ddof)
    counted = x if counted is None else counted
    # The result has the dtype of x / 1, and the sum is computed in f32 at least.
    like = x / 1
    total = _reduced("sum", _chosen(name, like * np.float32(1), where, 0), axis, keepdims)
    ones = ones_like(counted) != 0
    count = _reduced("sum", _chosen(name, ones, where, False), axis, keepdims)
    ratio = total / (np.maximum(count - ddof, 0) if ddof else count)
    return in_dtype_of(like, ratio)


def _spread(name: str, doc: str) -> Callable[..., Tracer]:
    """Return a variance, or its square root, of all elements or of those that are not NaN."""
    of_numbers, root = _skips_nan(name), name.endswith("std")

    def function(
        a: Tracer,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        ddof: Any = 0,
        keepdims: bool = False,
        *,
        where: Any = True,
        mean: Any = None,
        correction: Any = None,
    ) -> Tracer:
        _no_out(name, out)
        count = _correction(name, ddof, correction)
        mask = where
        if of_numbers or where is not True:
            mask = _Fitted(_is_number(name, a, where) if of_numbers else _mask(name, a, where))
        made = _variance(name, a, axis, dtype, keepdims, mask, mean, count)
        if of_numbers:
            more = _reduced("sum", mask.mask, axis, keepdims) > count
            # As in NumPy, values that cannot be NaN have the variance that `var` gives them.
            never = np.logical_not(np.isnan(in_dtype_of(a, np.nan)))
            made = np.where(np.logical_or(more, never), made, in_dtype_of(made, np.nan))
        return np.sqrt(made) if root else made

    function.__doc__ = doc
    return function


def _variance(
    name: str, a: Tracer, axis: Any, dtype: Any, keepdims: bool, where: Any, mean: Any, ddof: float
) -> Tracer:
    # As in NumPy the mean is subtracted from the unconverted operand: `dtype` may hold fewer of its digits.
    middle = _in(_mean(name, _in(a, dtype), axis, True, where), dtype) if mean is None else mean
    apart = np.subtract(a, middle) if mean is None else apart_from(a, middle)
    if mean is not None and _skips_nan(name):
        # NumPy stores the distances in its array of the values, and so in the dtype of that.
        apart = in_dtype_of(a / 1, apart)
    # The product with its conjugate is real.
    squares = _in(np.real(apart * np.conjugate(apart)), dtype)
    if mean is not None and dtype is None:
        # NumPy's own mean of integers is a float64, so the dtype of the mean that is given does not count.
        squares = squares * ones_like(np.real(a) / 1)
    return _in(_mean(name, squares, axis, keepdims, where, ddof, None if mean is None else a), dtype)


def _correction(name: str, ddof: Any, correction: Any) -> int | float:
    """Return the number that is subtracted from the number of elements."""
    if correction is not None and ddof != 0:
        raise ArgumentError(f"{name}: ddof= and correction= are two names of one number; give one of them")
    given = ddof if correction is None else correction
    count = given.item() if isinstance(given, np.generic) else given
    if not isinstance(count, (int, float)):
        raise ArgumentError(f"{name}: ddof={given!r} is no real number")
    if abs(count) <= _LARGEST_COUNT and count == int(count):
        return int(count)
    # Any other number is a float; an integer is cut to 2**1023 in magnitude.
    return float(max(min(count, 1 << 1023), -(1 << 1023))) if isinstance(count, int) else count


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
    # As in SciPy, integers are float64s; their differences could wrap.
    a = a / 1
    most = _reduced("max", a, axis, True)
    # Infinities cancel nothing: exp(-inf - -inf) is no number.
    shift = np.where(np.isfinite(most), most, 0)
    total = np.log(_reduced("sum", np.exp(a - shift), axis, True)) + shift
    return total if keepdims else _reduced("sum", total, axis, False)


def count_nonzero(a: Tracer, axis: Any = None, *, keepdims: bool = False) -> Tracer:
    """Count the elements that are not 0."""
    return _reduced("sum", a != 0, axis, keepdims)


def _is_number(name: str, x: Tracer, where: Any = True) -> Any:
    """Return the mask of the elements that are not NaN, of those that `where` chooses."""
    numbers = np.logical_not(np.isnan(x))
    return numbers if where is True else both(_mask(name, x, where), numbers, name)


def nanmean(
    a: Tracer, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False, *, where: Any = True
) -> Tracer:
    """Mean of the elements that are not NaN; NaN where all are."""
    return mean(a, axis, dtype, out, keepdims, where=_is_number("nanmean", a, where))


# By the name that users know; `amin` and `amax` are NumPy's older names.
FUNCTIONS: dict[str, Callable[..., Tracer]] = {
    "sum": _total("sum", 0, np.add),
    "prod": _total("prod", 1, np.multiply),
    "mean": mean,
    "var": _spread("var", "Mean of the squared distances from the mean."),
    "std": _spread("std", "Square root of the variance."),
    "min": _extreme("min", np.minimum, np.inf),
    "max": _extreme("max", np.maximum, -np.inf),
    "ptp": ptp,
    "any": _truth("any", False),
    "all": _truth("all", True),
    "argmin": _index("argmin"),
    "argmax": _index("argmax"),
    "count_nonzero": count_nonzero,
    "logsumexp": logsumexp,
    "nansum": _total("nansum", 0, np.add),
    "nanprod": _total("nanprod", 1, np.multiply),
    "nanmin": _extreme("nanmin", np.fmin, np.inf),
    "nanmax": _extreme("nanmax", np.fmax, -np.inf),
    "nanmean": nanmean,
    "nanvar": _spread("nanvar", "Variance of the elements that are not NaN; NaN where there are no more than `ddof`."),
    "nanstd": _spread("nanstd", "Square root of the variance of the elements that are not NaN."),
}
for _name, _function in FUNCTIONS.items():
    # Python shows this name in errors about arguments.
    _function.__name__ = _function.__qualname__ = _name
FUNCTIONS |= {"amin": FUNCTIONS["min"], "amax": FUNCTIONS["max"]}
_METHODS = "sum prod mean var std min max any all argmin argmax".split()
_UFUNCS = "add sum, multiply prod, minimum min, maximum max, fmin nanmin, fmax nanmax, logical_or any, logical_and all"
# By NumPy's function, by the ufunc whose `reduce` it is, and by the name of the method of arrays.
BY_NUMPY: dict[object, Callable[..., Tracer]] = {
    **{getattr(np, name): function for name, function in FUNCTIONS.items() if hasattr(np, name)},
    np.average: average,
    **{getattr(np, ufunc): FUNCTIONS[name] for ufunc, name in map(str.split, _UFUNCS.split(","))},
    **{name: FUNCTIONS[name] for name in _METHODS},
}
