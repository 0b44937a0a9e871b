"""The bounds of floats in a nest: the least and the largest number each value can be, and whether it may be NaN.

In: a nest.  Out: the :class:`Bounds` of each statement; unknown ones for dtypes other than f32 and f64.

    x : u8;  t0 = cast(x) : f32;  t1 = multiply(t0, 1.2)   ->   t0 in [0, 255], t1 in [0, 306.00003], both numbers

The row of each op names its rule for bounds (:mod:`...ops.bounds`).
"""

from __future__ import annotations

from math import isfinite

from ...core.dtypes import F32, F64, DType
from ...expr.nodes import Constant
from ...ops.bounds import UNKNOWN, Bounds, around, bounds_function, grain_of
from ...ops.ranges import Range
from ...ops.rows.conversions import CAST
from ..nest import Let, Nest, Value
from .integer_ranges import ranges_of, whole

__all__ = ["bounds_of", "number_bounds"]


def bounds_of(nest: Nest) -> list[Bounds]:
    """Return the bounds of each statement's value.

    Examples
    --------
    >>> from bcastgen import from_text
    >>> for bounds in bounds_of(from_text("(u8[?] x) -> x.astype(f32) * 2.0").compilation.program.nests[0]):
    ...     print(bounds)
    Bounds(low=0.0, high=255.0, is_number=True, grain=1.0)
    Bounds(low=0.0, high=510.0000305175781, is_number=True, grain=2.0)
    """
    found: list[Bounds] = []
    ranges = ranges_of(nest)

    def of(value: Value, dtype: DType) -> Bounds:
        match value:
            case Constant() if not dtype.is_complex:
                return number_bounds(value)
            case Let():
                return found[value.index]
        return UNKNOWN

    for statement in nest.body:
        dtype, function = statement.dtype, bounds_function(statement.op.floats.bounds)
        # The condition of a select has no bounds.
        pairs = list(zip(statement.operands, statement.operand_dtypes, strict=True))[statement.op.selects :]
        bounds = UNKNOWN
        if dtype not in (F32, F64):
            pass
        elif statement.op is CAST:
            ((value, source),) = pairs
            if source.is_complex:
                bounds = UNKNOWN
            elif source.is_float:
                bounds = _converted(of(value, source), source, dtype)
            else:
                bounds = _of_integer((ranges[value.index] if isinstance(value, Let) else None) or whole(source), dtype)
        elif function is not None and all(one is dtype for _, one in pairs):
            bounds = function(dtype, *(of(*pair) for pair in pairs))
        found.append(bounds)
    return found


def number_bounds(constant: Constant) -> Bounds:
    """Return the bounds of a real constant: itself."""
    number = float(constant.value)
    if number != number:
        return UNKNOWN
    return Bounds(number, number, True, grain_of(number) if isfinite(number) else 0.0)


def _of_integer(range_: Range, dtype: DType) -> Bounds:
    low, high = (float(dtype.np.type(end)) for end in range_)
    if (low, high) == range_:
        return Bounds(low, high, True, 1.0)
    return around([low, high], dtype, 1.0)


def _converted(x: Bounds, source: DType, dtype: DType) -> Bounds:
    """Return the bounds of a float in another dtype; a finite f64 beyond f32's range becomes an infinity, not NaN."""
    if source not in (F32, F64) or source is dtype or dtype is F64:
        return x
    return around([x.low, x.high], dtype, x.grain) if x.is_finite else UNKNOWN
