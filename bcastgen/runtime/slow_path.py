"""The slow path of a call: it binds and cleans arguments that the fast path declines, and raises all errors.

In: a kernel and the arguments of a call.  Out: its results, by `kernel._call_clean` with *clean* operands (aligned,
native ndarrays of a supported dtype, and exact Python numbers) and clean outs (ndarrays the kernel may write to).

    call_slow(add, ([1, 2], x.astype(">f8")), {}) -> add._call_clean((array([1, 2]), x), None)

Both implementations of `KernelBase` come here: the extension with arguments it does not know, the Python one always.
"""

from __future__ import annotations

import sys
from typing import Any, NoReturn, Protocol

import numpy as np

from bcastgen.core.subclasses import own_meaning

from ..core import errors
from ..core.dtypes import DTYPES, WEAK_INT, WEAK_UINT, dtype
from .keys import NO_CODE, Array, Limit, Named, has_code, operand_code, register_dtype

__all__ = [
    "CleanCall",
    "StrictDims",
    "bind",
    "call_bound",
    "call_slow",
    "clean_operand",
    "raise_limit",
    "raise_no_binary",
    "raise_status",
    "without_strict",
]

# The most candidate solutions that deciding whether two arrays share memory may try; most strided pairs need a few.
_MAX_OVERLAP_CANDIDATES = 1000

StrictDims = dict[int, tuple[int, ...]]


class CleanCall(Named, Protocol):
    """The part of a kernel that the slow path uses, of either implementation."""

    @property
    def _defaults(self) -> tuple[object, ...]: ...
    def _infer(self, operands: tuple[object, ...]) -> tuple[tuple[tuple[int, ...], ...], bytes, bool]: ...
    def _call_clean(self, operands: tuple[object, ...], outs: tuple[Array | None, ...] | None) -> Any: ...


def call_slow(kernel: CleanCall, args: tuple[object, ...], by_name: dict[str, object]) -> Any:
    """Call a kernel with any arguments a user may pass.

    A subclass may have `_call_sized(args, by_name)`, which completes the operands that stand for extents.
    """
    sized = getattr(kernel, "_call_sized", None)
    return call_bound(kernel, args, by_name) if sized is None else sized(args, by_name)


def call_bound(kernel: CleanCall, args: tuple[object, ...], by_name: dict[str, object]) -> Any:
    """Call a kernel with any arguments, among them one for each operand.

    Raises
    ------
    TypeError
        If arguments do not bind, or an ``out`` is no ndarray.
    BroadcastError, DTypeError, RangeError, ValueError
        If shapes, dtypes or values do not fit, or an ``out`` is read-only.
    """
    values, strict = without_strict(bind(kernel, args, by_name))
    taken = _call_traced(kernel, values)
    if taken is not NotImplemented:
        if by_name.get("out") is not None:
            raise errors.TraceError(f"{kernel._name}(): out= has no meaning inside a kernel; leave it out")
        return taken
    hook = None if all(map(has_code, values)) else getattr(kernel, "_with_huge", None)
    fixed = None if hook is None else hook(values, has_code)
    if fixed is not None:
        return fixed[0](*fixed[1], out=by_name.get("out"))
    names = (*kernel.operands, *kernel._constants)
    operands = tuple(clean_operand(name, value) for name, value in zip(names, values, strict=True))
    outs = _bind_outs(kernel, by_name.get("out"))
    if strict:
        _check_strict(kernel, operands, strict)
    kernel = _stand_in(kernel, operands)
    if all(out is None for out in outs):
        return kernel._call_clean(operands, None)
    return _call_with_outs(kernel, operands, outs)


def without_strict(values: tuple[object, ...]) -> tuple[tuple[object, ...], StrictDims]:
    """Return operands or shapes without what they say of their dims, and that: those that do not stretch, by operand.

    See :func:`bcastgen.strict`.
    """
    # No import: a caller with a strict array has imported its module already.
    module = sys.modules.get("bcastgen.runtime.strict")
    if module is None:
        return values, {}
    found: StrictDims = {at: value.dims for at, value in enumerate(values) if isinstance(value, module.Strict)}
    return tuple(map(module.plain, values)) if found else values, found


def raise_status(
    kernel: Named,
    status: int,
    operand: int,
    dim: int,
    against: int,
    expected: int,
    actual: int,
    shapes: tuple[tuple[int, ...], ...],
) -> NoReturn:
    """Raise the exception for a kernel's status and diagnostic, in a call with operands of these shapes."""
    # A subclass need not have type assertions, nor results of other names, nor know where in a text it comes from.
    results = getattr(kernel, "_shown_results", kernel.results)
    names = (*kernel.operands, *kernel._constants, *results, *getattr(kernel, "_type_assertions", ()))
    error = errors.from_status(status, names, operand, dim, against, expected, actual)
    locate = getattr(kernel, "_located", None)
    raise error if locate is None else locate(error, shapes)


def raise_limit(kernel: Named, operand: int, value: int, limit: Limit) -> NoReturn:
    """Raise the error for a Python int that does not fit the dtype beside it."""
    name, (low, high) = kernel.operands[operand], limit
    dtype_name = next(
        (row.name for row in DTYPES if row.is_integer and (row.min, row.max) == limit), "the dtype it meets"
    )
    raise errors.RangeError(
        f"Python integer {value} out of bounds for {dtype_name} (operand '{name}' takes {low} to {high})"
    )


def raise_no_binary(kernel: Named, key: bytes) -> NoReturn:
    """Raise the error for a subclass whose ``_compile`` returned without ``_add_binary``."""
    raise errors.CompileError(f"_compile({key!r}) of kernel '{kernel._name}' added no binary for this key")


def _call_traced(kernel: CleanCall, values: tuple[object, ...]) -> Any:
    """Offer the call to the subclass if an operand redefines NumPy's functions, as the stand-ins of a trace do.

    A subclass may have `_call_traced(operands)`, which returns NotImplemented for objects it does not know.
    """
    hook = getattr(kernel, "_call_traced", None)
    if hook is None or not any(_overrides_numpy(type(value)) for value in values):
        return NotImplemented
    return hook(values)


def _stand_in(kernel: CleanCall, operands: tuple[object, ...]) -> CleanCall:
    """Return the kernel that answers this call: itself, or the subclass's substitute while its binary is compiled."""
    hook = getattr(kernel, "_stand_in", None)
    answers: CleanCall = kernel if hook is None else hook(operands)
    return answers


def _check_strict(kernel: CleanCall, operands: tuple[object, ...], strict: StrictDims) -> None:
    """Let the subclass refuse a call in which a dim would stretch that may not."""
    hook = getattr(kernel, "_check_strict", None)
    if hook is None:
        raise TypeError(f"{kernel._name}() does not take strict arrays; pass their .array")
    hook(tuple(np.asarray(value).shape for value in operands), strict)


def _overrides_numpy(kind: type) -> bool:
    return getattr(kind, "__array_ufunc__", np.ndarray.__array_ufunc__) is not np.ndarray.__array_ufunc__


# ---- operands --------------------------------------------------------------------------------------------------------


def bind(kernel: CleanCall, args: tuple[object, ...], by_name: dict[str, object]) -> tuple[object, ...]:
    """Return one value for each operand, as a Python function with these parameters binds a call; constants last.

    Raises
    ------
    TypeError
        If the arguments do not bind; the message has the words of Python's own functions.
    """
    names, defaults, call = kernel.operands, kernel._defaults, f"{kernel._name}()"
    every = (*names, *kernel._constants)
    required = len(every) - len(defaults)
    bound = dict(zip(names, args, strict=False))
    for name, value in by_name.items():
        if name == "out":
            continue
        if name not in names:
            raise TypeError(f"{call} got an unexpected keyword argument '{name}'")
        if name in bound:
            raise TypeError(f"{call} got multiple values for argument '{name}'")
        bound[name] = value
    if len(args) > len(names):
        _raise_too_many(call, required, len(names), len(args), "out" in by_name)
    missing = [f"'{name}'" for name in names[:required] if name not in bound]
    if missing:
        _raise_missing(call, missing)
    return tuple(bound[name] if name in bound else defaults[index - required] for index, name in enumerate(every))


def _raise_too_many(call: str, required: int, most: int, given: int, with_out: bool) -> NoReturn:
    takes, plural = (f"from {required} to {most}", "s") if required < most else (f"{most}", "s" * (most != 1))
    note = f" positional argument{'s' * (given != 1)} (and 1 keyword-only argument)" if with_out else ""
    were = "were" if with_out or given != 1 else "was"
    raise TypeError(f"{call} takes {takes} positional argument{plural} but {given}{note} {were} given")


def _raise_missing(call: str, quoted: list[str]) -> NoReturn:
    last = f"{',' * (len(quoted) > 2)} and ".join(quoted[-2:])
    plural = "s" * (len(quoted) > 1)
    raise TypeError(
        f"{call} missing {len(quoted)} required positional argument{plural}: {', '.join((*quoted[:-2], last))}"
    )


def clean_operand(name: str, value: object) -> object:
    """Return an operand as an aligned native ndarray of a supported dtype, or as the Python number it is.

    Raises
    ------
    DTypeError
        If a value has no such dtype, or is an array that would lose its meaning: a mask, units, a graph.
    RangeError
        If a Python int is outside int64 and uint64.

    Examples
    --------
    >>> clean_operand("x", [1, 2]), clean_operand("x", 3)
    (array([1, 2]), 3)
    """
    if type(value) in (bool, float):
        return value
    if type(value) is int:
        return _clean_int(name, value)
    array = _as_array(f"operand '{name}'", value)
    if operand_code(array) == NO_CODE:
        try:
            register_dtype(dtype(array.dtype))
        except errors.DTypeError as error:
            raise errors.DTypeError(f"operand '{name}' (a {type(value).__name__}): {error}") from None
    if array.flags.aligned and array.dtype.isnative:
        return array
    return np.array(array, dtype=array.dtype.newbyteorder("="), order="K", copy=True)


def _clean_int(name: str, value: int) -> int:
    low, high = WEAK_INT.default.min, WEAK_UINT.default.max
    if has_code(value):
        return value
    shown = str(value) if value.bit_length() <= 128 else f"of {value.bit_length()} bits"
    raise errors.RangeError(
        f"Python integer {shown} out of bounds (operand '{name}' takes {low} to {high}); pass it as a float"
    )


def _as_array(what: str, value: object) -> Array:
    """View anything array-like as an ndarray; refuse types that redefine NumPy's functions or operators."""
    kind = type(value)
    if kind is np.ndarray:
        return value  # type: ignore[return-value]
    if isinstance(value, np.ndarray) and isinstance(value, np.ma.MaskedArray):
        raise errors.DTypeError(f"{what} is a masked array, and its mask would be lost; pass x.filled(value) or x.data")
    if _overrides_numpy(kind):
        raise errors.DTypeError(
            f"{what} is a {kind.__name__}, which gives NumPy's functions its own meaning (__array_ufunc__); "
            "pass numpy.asarray(x) if its plain numbers are meant"
        )
    if isinstance(value, np.ndarray):
        own = own_meaning(kind)
        if own is not None:
            raise errors.DTypeError(
                f"{what} is a {kind.__name__}, which gives {own}; pass numpy.asarray(x) if its plain numbers are meant"
            )
        return value.view(np.ndarray)
    try:
        return np.asarray(value)
    except ValueError as error:
        raise errors.DTypeError(f"{what} is a {kind.__name__} that is not an array: {error}") from error


# ---- out= ------------------------------------------------------------------------------------------------------------


def _bind_outs(kernel: CleanCall, out: object) -> tuple[Array | None, ...]:
    count = len(kernel.results)
    if out is None:
        return (None,) * count
    outs = out if isinstance(out, tuple) else (out,)
    if len(outs) != count or (count > 1 and not isinstance(out, tuple)):
        wanted = "an ndarray" if count == 1 else f"a tuple of {count} ndarrays (or None), one a result"
        given = f"a tuple of {len(outs)}" if isinstance(out, tuple) else type(out).__name__
        raise TypeError(f"{kernel._name}() takes out as {wanted}, not {given}")
    for name, item in zip(kernel.results, outs, strict=True):
        if item is not None and not isinstance(item, np.ndarray):
            raise TypeError(f"{kernel._name}() takes out as an ndarray, not {type(item).__name__} (result '{name}')")
    return outs


def _call_with_outs(kernel: CleanCall, operands: tuple[object, ...], outs: tuple[Array | None, ...]) -> Any:
    """Compute into the outs that can be written to directly, and copy the others' results afterwards."""
    targets = tuple(
        None if out is None else _as_array(f"out of result '{name}'", out)
        for name, out in zip(kernel.results, outs, strict=True)
    )
    shapes, codes, aligned = kernel._infer(operands)
    for result_index, target in enumerate(targets):
        if target is not None:
            facts = shapes[result_index], codes[result_index]
            _check_target(kernel, result_index, target, *facts, operands if aligned else ())
    arrays = tuple(operand for operand in operands if isinstance(operand, np.ndarray))
    direct = tuple(
        target if target is not None and _is_separate(result_index, targets, codes, arrays, aligned) else None
        for result_index, target in enumerate(targets)
    )
    made = kernel._call_clean(operands, direct)
    values = made if len(targets) > 1 else (made,)
    for target, value in zip(targets, values, strict=True):
        if target is not None and target is not value:
            np.copyto(target, value, casting="same_kind")
    answers = tuple(value if out is None else out for out, value in zip(outs, values, strict=True))
    return answers if len(answers) > 1 else answers[0]


def _check_target(
    kernel: CleanCall, result_index: int, target: Array, shape: tuple[int, ...], code: int, operands: tuple[object, ...]
) -> None:
    """Refuse an out that is read-only, or whose rank, extents or dtype do not fit its result."""
    name, row = kernel.results[result_index], DTYPES[code]
    if not target.flags.writeable:
        raise ValueError(f"output array is read-only (result '{name}'); pass one that can be written to")
    if target.ndim != len(shape):
        raise errors.result_rank_mismatch(name, target.ndim, len(shape))
    for dim, (actual, expected) in enumerate(zip(target.shape, shape, strict=True)):
        if actual != expected:
            against = _origin(kernel, operands, len(shape) - dim, expected)
            raise errors.result_mismatch(name, dim, actual, expected, against)
    if not np.can_cast(row.np, target.dtype, "same_kind"):
        raise errors.DTypeError(
            f"result '{name}' has dtype {row} and cannot be cast to out's {target.dtype} by the rule 'same_kind'; "
            f"pass an out of {row.np}, or cast in the expression"
        )


def _origin(kernel: CleanCall, operands: tuple[object, ...], from_right: int, extent: int) -> str | None:
    """Return the first operand with this extent in this dim: under plain broadcasting it set the extent.

    No operand sets an extent of 1.
    """
    if extent == 1:
        return None
    for name, operand in zip(kernel.operands, operands, strict=False):
        if isinstance(operand, np.ndarray) and operand.ndim >= from_right and operand.shape[-from_right] == extent:
            return name
    return None


def _is_separate(
    result_index: int, targets: tuple[Array | None, ...], codes: bytes, operands: tuple[Array, ...], aligned: bool
) -> bool:
    """Return whether the kernel may write a result to its out directly: not if it would read an element it wrote."""
    target = targets[result_index]
    if target is None or operand_code(target) != codes[result_index]:
        return False
    if not (target.flags.aligned and target.dtype.isnative) or _overlaps_itself(target):
        return False
    others = (*targets[:result_index], *targets[result_index + 1 :])
    if any(other is not None and _overlap(target, other) for other in others):
        return False
    # A kernel with several results may read an operand again after it has written the first result; a kernel whose
    # indexing maps differ may read another element of the operand.
    in_place = aligned and len(targets) == 1
    return all((in_place and _same_view(target, operand)) or not _overlap(target, operand) for operand in operands)


def _overlap(x: Array, y: Array) -> bool:
    try:
        return np.shares_memory(x, y, max_work=_MAX_OVERLAP_CANDIDATES)  # type: ignore[arg-type]
    except np.exceptions.TooHardError:
        return True


def _same_view(x: Array, y: Array) -> bool:
    """Return whether two arrays are one view of one memory; dtypes too, since C objects of two types may not alias."""
    if operand_code(x) != operand_code(y) or x.shape != y.shape:
        return False
    if x.__array_interface__["data"][0] != y.__array_interface__["data"][0]:
        return False
    return all(s == t for extent, s, t in zip(x.shape, x.strides, y.strides, strict=True) if extent > 1)


def _overlaps_itself(array: Array) -> bool:
    """Return whether two elements may share memory: they do not if each stride exceeds the span of all smaller ones."""
    if array.size == 0:
        return False
    spanned = array.itemsize
    for stride, extent in sorted((abs(s), n) for s, n in zip(array.strides, array.shape, strict=True) if n > 1):
        if stride < spanned:
            return True
        spanned += (extent - 1) * stride
    return False
