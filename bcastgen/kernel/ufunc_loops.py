"""The dtypes that a call computes in, where it says so by `dtype=`, `signature=` or `casting=`.

In: a kernel, the types of a call's operands and outs, and what the call asks for.  Out: a dtype for each operand.

    loop_dtypes(add, (i32, f64), (None,), (None, None, f32), "unsafe") -> (f32, f32)

NumPy itself resolves the loops of its ufuncs. Of other kernels `dtype=` is what every operand is converted to: the
results then have to have that dtype.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.dtypes import DTYPES, DType, dtype, from_key, in_numpy_code, resolve_weak
from ..core.errors import ArgumentError, BcastgenError, DTypeError, RangeError
from ..runtime.keys import Array, operand_code

__all__ = ["Given", "loop_dtypes", "loop_types", "signature_dtypes"]

# For each operand, then each result: the dtype that a call gives, or None.
Given = tuple[DType | None, ...]


def signature_dtypes(kernel: Any, target: object, signature: object) -> Given | None:
    """Return what `dtype=` or `signature=` give, or None if a call has neither.

    Raises
    ------
    ArgumentError
        If the signature has another number of dtypes.
    TypeError
        If it is no signature.
    DTypeError
        For a dtype that is not supported.
    """
    nin, nout = len(kernel._positional_operands), len(kernel.results)
    if target is not None:
        return (None,) * nin + (in_numpy_code(target),) * nout
    if signature is None:
        return None
    items = _items(kernel, signature)
    if len(items) != nin + nout:
        raise ArgumentError(
            f"{kernel._name}(): the signature has {len(items)} dtypes, expected {nin + nout}: "
            f"{nin} of operands and {nout} of results, as in '{'d' * nin}->{'d' * nout}'"
        )
    if all(item is None for item in items):
        return None
    return tuple(None if item is None else in_numpy_code(item) for item in items)


def _items(kernel: Any, signature: object) -> tuple[object, ...]:
    if isinstance(signature, str):
        operands, arrow, results = signature.partition("->")
        if arrow:
            return (*operands, *results)
        raise ArgumentError(
            f"{kernel._name}(): signature {signature!r} has no '->'; for one dtype of results pass dtype="
        )
    if isinstance(signature, tuple):
        return signature
    raise ArgumentError(f"{kernel._name}(): signature is {signature!r}, expected text such as 'dd->d', or a tuple")


def loop_dtypes(
    kernel: Any,
    operands: tuple[object, ...],
    outs: tuple[Array | None, ...],
    given: Given | None,
    casting: str,
) -> tuple[DType, ...] | None:
    """Return the dtypes that operands are converted to before the kernel computes; None if that changes nothing.

    Raises
    ------
    DTypeError
        If there is no such loop, or operands or results do not convert by the rule `casting`.
    """
    count = len(operands)
    known = kernel.ufunc is not None and not any(
        operand_code(value) in _ADDED for value in (*operands, *outs) if value is not None
    )
    if known and not any(row is not None and row.is_added for row in given or ()):
        found = _numpy_loop(kernel, operands, outs, given, casting)
        loops = found[:count]
        # Without a dtype that the call gives, the kernel's own rule finds the same loop.
        return None if given is None else loops
    loops = _own_loop(kernel, operands, given)
    for name, value, loop in zip(kernel.operands, operands, loops, strict=True):
        if not _converts(value, loop, casting):
            raise DTypeError(
                f"{kernel._name}(): operand '{name}' of dtype {_shown(value)} cannot be cast to {loop.np} by the rule "
                f"'{casting}'; convert it by .astype, or pass casting='unsafe'"
            )
    return None if given is None else loops


_ADDED = frozenset(code for code, row in enumerate(DTYPES) if row.is_added)


def _numpy_loop(
    kernel: Any,
    operands: tuple[object, ...],
    outs: tuple[Array | None, ...],
    given: Given | None,
    casting: str,
) -> tuple[DType, ...]:
    """Return the dtypes of the loop that NumPy takes for these operands; the ufunc judges a call without elements."""
    weak = tuple(type(value) in (int, float) for value in operands)
    types = tuple(
        type(value) if is_weak else np.asarray(value).dtype for value, is_weak in zip(operands, weak, strict=True)
    )
    wanted = tuple(None if out is None else out.dtype for out in outs)
    asked = {} if given is None else {"signature": tuple(None if row is None else row.np for row in given)}
    probes = (
        value if is_weak else np.empty(0, type_) for value, is_weak, type_ in zip(operands, weak, types, strict=True)
    )
    try:
        with np.errstate(all="ignore"):
            made = tuple(None if row is None else np.empty(0, row) for row in wanted)
            kernel.ufunc(*probes, out=made, casting=casting, **asked)
    except TypeError as error:
        raise DTypeError(f"{kernel._name}(): {error}") from None
    except OverflowError as error:
        raise RangeError(f"{kernel._name}(): {error}") from None
    except ValueError:
        # Python numbers alone are computed with; the kernel refuses them itself.
        pass
    # With casting that refuses nothing: NumPy 2.4 crashes where it would refuse a Python number here.
    found = kernel.ufunc.resolve_dtypes((*types, *wanted), casting="unsafe", **asked)
    return tuple(dtype(one) for one in found)


def _own_loop(kernel: Any, operands: tuple[object, ...], given: Given | None) -> tuple[DType, ...]:
    """Return what the operands of a kernel that is no ufunc of NumPy's are converted to."""
    count, types = len(operands), tuple(from_key(operand_code(value)) for value in operands)
    own = resolve_weak(types)
    if given is None:
        return loop_types(kernel, own)[0]
    wanted = given[count:]
    if all(row is None for row in given[:count]):
        rows = {row for row in wanted if row is not None}
        if len(rows) != 1:
            raise DTypeError(
                f"{kernel._name}(): the signature gives results of several dtypes; give the operands', too"
            )
        chosen = (*rows,) * count
    else:
        chosen = tuple(row or one for row, one in zip(given, own, strict=False))
    loops, results = loop_types(kernel, chosen)
    for name, row, result in zip(kernel.results, wanted, results, strict=True):
        if row is not None and row is not result:
            shown = ", ".join(str(one.np) for one in chosen)
            raise DTypeError(
                f"{kernel._name}(): no loop gives result '{name}' as {row.np}: of operands of dtype {shown} it is "
                f"{result.np}; convert the result by .astype, or pass an out= of {row.np}"
            )
    return loops


def loop_types(kernel: Any, types: tuple[DType, ...]) -> tuple[tuple[DType, ...], tuple[DType, ...]]:
    """Return the dtypes that a kernel converts operands of these dtypes to, and those of its results.

    Only a kernel of one op converts its operands as a whole.

    Raises
    ------
    DTypeError
        If it does not take such operands.
    """
    if kernel.op is not None:
        loops, result = kernel.op.types(types)
        return loops, (result,)
    try:
        return types, kernel._compilation((*types, *_constant_types(kernel))).typed.result_dtypes
    except BcastgenError as error:
        raise DTypeError(f"{kernel._name}(): {error}") from None


def _constant_types(kernel: Any) -> tuple[DType, ...]:
    return tuple(dtype(value.dtype) for value in kernel.constant_values)


def _converts(value: object, loop: DType, casting: str) -> bool:
    if type(value) is int:
        return loop.is_integer or loop.is_float or loop.is_complex or casting == "unsafe"
    if type(value) is float:
        return loop.is_float or loop.is_complex or casting == "unsafe"
    if type(value) is complex:
        return loop.is_complex or casting == "unsafe"
    return np.can_cast(np.asarray(value).dtype, loop.np, casting)  # type: ignore[arg-type]


def _shown(value: object) -> str:
    return type(value).__name__ if type(value) in (int, float) else str(np.asarray(value).dtype)
