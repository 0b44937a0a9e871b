"""Folds constants, as Python or NumPy would.

In: an op and the constants it is applied to.  Out: one constant.

    fold(OPS["add"], [Constant(1, int), Constant(2, int)], ())  ->  Constant(3, int)
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.dtypes import BF16, F32, I32, DType, Weak
from ..core.errors import DomainError, DTypeError, RangeError
from ..ops.row import Op
from ..ops.rows.conversions import CAST
from .constants import constant_from
from .nodes import Constant, Params

__all__ = ["bits_beyond", "fold", "fold_defined"]

# Python evaluates an operator between its own scalars, and the result stays weak. Python's ints have no bounds, so text
# from outside could ask for a huge one: refuse more bits than this.
_MOST_BITS = 4096


def bits_beyond(operator: str, left: object, right: object) -> int:
    """Return how many bits Python's `pow` or `lshift` of two integers has at most, if these are too many; else 0.

    Examples
    --------
    >>> bits_beyond("pow", 2, 10), bits_beyond("pow", 10, 2000), bits_beyond("lshift", 1.0, 5000)
    (0, 8000, 0)
    """
    if not (isinstance(left, int) and isinstance(right, int)):
        return 0
    bits = right * max(left.bit_length(), 1) if operator == "pow" else right + left.bit_length()
    return bits if bits > _MOST_BITS else 0


def fold(op: Op, operands: list[Constant], params: Params) -> Constant:
    """Return what an op gives for constants; between Python's own numbers what Python gives."""
    if op.dunder is not None and all(isinstance(node.dtype, Weak) for node in operands):
        return _fold_python(op, [node.value for node in operands])
    if any(_is_added(dtype) for dtype in (*(node.dtype for node in operands), *dict(params).values())):
        return _fold_added(op, operands, params)
    values = [n.dtype.np.type(n.value) if isinstance(n.dtype, DType) else n.value for n in operands]
    return _evaluated(op, values, params)


def _is_added(dtype: object) -> bool:
    return isinstance(dtype, DType) and dtype.is_added


def _fold_added(op: Op, operands: list[Constant], params: Params) -> Constant:
    """Fold in f32 and round the result once, as C does; the package of these dtypes may not be installed."""
    for target in filter(_is_added, dict(params).values()):
        (given,) = operands
        if target.is_float:
            return Constant(target.nearest(given.value), target)
        if isinstance(given.value, int):
            return Constant(target.wrapped(given.value), target)
        # A float becomes an i32, and saturates there; then CAST keeps the low bits, and TOSA's cast saturates again.
        whole = int(_evaluated(op, [given.value], ((params[0][0], I32),)).value)
        value = target.wrapped(whole) if op is CAST else min(max(whole, target.min), target.max)
        return Constant(value, target)
    if params:
        known = operands[0].dtype
        wide = F32 if isinstance(known, DType) and known.is_float else I32
        return _evaluated(op, [wide.np.type(operands[0].value)], params)
    loops, result = op.types(tuple(node.dtype for node in operands if node.dtype is not None))
    values = [
        loop.computed_in.np.type(loop.nearest(node.value) if loop.is_float16 else node.value)
        for node, loop in zip(operands, loops, strict=True)
    ]
    made = _evaluated(op, values, params)
    return Constant(BF16.nearest(made.value), BF16) if result is BF16 else made


def _evaluated(op: Op, values: list[Any], params: Params) -> Constant:
    try:
        value = op.evaluate(*values, *(value for _, value in params))
    except ValueError as error:
        raise DomainError(f"{op.name}: {error}") from None
    except OverflowError as error:
        raise RangeError(f"{op.name}: {error}") from None
    except TypeError as error:
        raise DTypeError(f"{op.name}: {error}") from None
    made = constant_from(np.asarray(value))
    assert made is not None
    return made


def fold_defined(op: Op, operands: list[Constant], result: DType | None) -> Constant | None:
    """Fold an op that a user defined; return None to leave it to its C, as when its reference raises.

    Its result depends on its dtype rule, so it is folded only once its result is typed.
    """
    if op.reference is None or result is None:
        return None
    try:
        value = op.evaluate(*(n.dtype.computed_in.np.type(n.value) for n in operands if isinstance(n.dtype, DType)))
    except (ArithmeticError, ValueError):
        return None
    if np.ndim(value) != 0:
        raise DTypeError(f"{op.name}: its reference gives an array of shape {np.shape(value)} for scalars; return one")
    try:
        with np.errstate(all="ignore"):
            number = np.asarray(value).item()
            return Constant(result.nearest(number) if result.is_float16 else result.np.type(value).item(), result)
    except OverflowError:
        return None
    except (TypeError, ValueError):
        raise DTypeError(f"{op.name}: its reference gives {value!r}, which is no {result}") from None


def _fold_python(op: Op, values: list[Any]) -> Constant:
    function: Callable[..., Any] = getattr(operator, f"__{op.dunder}__")
    if op.dunder in ("pow", "lshift") and bits_beyond(op.dunder, *values):
        raise RangeError(
            f"{op.name} of the Python integers {values} is out of bounds for int64 and uint64; use a float"
        )
    try:
        value = function(*values)
    except (ZeroDivisionError, ValueError) as error:
        raise DomainError(f"{op.name} of the constants {values}: {error}") from None
    except OverflowError as error:
        raise RangeError(f"{op.name} of the constants {values}: {error}") from None
    except TypeError as error:
        raise DTypeError(f"{op.name} of the constants {values}: {error}") from None
    made = constant_from(value)
    if made is None:
        raise DTypeError(f"{op.name} of the constants {values} is {type(value).__name__}, which is not supported")
    return made
