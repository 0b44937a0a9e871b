"""The slow path of a call: it binds and cleans arguments that the fast path declines, and raises all errors.

In: a kernel and the arguments of a call.  Out: its results, by `kernel._call_clean` with *clean* operands (aligned,
native ndarrays of a supported dtype, and exact Python numbers) and clean outs (ndarrays the kernel may write to).

    call_slow(add, ([1, 2], x.astype(">f8")), {}) -> add._call_clean((array([1, 2]), x), None)

Both implementations of `KernelBase` come here: the extension with arguments it does not know, the Python one always.

The file is long because all that an argument may be, and what is said of it, is here.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, NoReturn, Protocol

import numpy as np

from ..core import errors
from ..core.dtypes import DTYPES, WEAK_INT, WEAK_UINT, dtype, in_wider
from ..core.subclasses import own_meaning
from .argument_errors import missing_arguments, too_many, unexpected
from .foreign import instead_of, integration_of, unseen_by_dynamo
from .keys import NO_CODE, Array, Limit, has_code, operand_code, register_dtype
from .outs import Inferring, bind_outs, call_with_outs

if TYPE_CHECKING:
    from .named import Named

__all__ = [
    "CleanCall",
    "StrictDims",
    "bind",
    "call_bound",
    "call_clean",
    "call_slow",
    "clean_operand",
    "deliver",
    "overrides_numpy",
    "raise_limit",
    "raise_no_binary",
    "raise_status",
    "without_strict",
]

StrictDims = dict[int, tuple[int, ...]]


class CleanCall(Inferring, Protocol):
    """The part of a kernel that the slow path uses, of either implementation."""

    @property
    def _defaults(self) -> tuple[object, ...]: ...
    @property
    def scalars(self) -> bool:
        """Whether results without dims become NumPy scalars."""


@unseen_by_dynamo
def call_slow(kernel: CleanCall, args: tuple[object, ...], by_name: dict[str, object]) -> Any:
    """Call a kernel with any arguments a user may pass.

    A subclass may have `_call_sized(args, by_name)`, which completes the operands that stand for extents, and
    `_call_as_ufunc(args, by_name)`, which knows the other arguments and operands that NumPy's ufuncs take.
    """
    as_ufunc = getattr(kernel, "_call_as_ufunc", None)
    if as_ufunc is not None and _is_special(kernel, args, by_name):
        return as_ufunc(args, by_name)
    sized = getattr(kernel, "_call_sized", None)
    return call_bound(kernel, args, by_name) if sized is None else sized(args, by_name)


def _is_special(kernel: CleanCall, args: tuple[object, ...], by_name: dict[str, object]) -> bool:
    """Whether a call gives more than operands and `out`, or an object that is more than an array."""
    known = len(args) <= len(kernel.operands) and by_name.keys() <= {*kernel.operands, "out"}
    few = len(args) + len(by_name) < len(kernel.operands) - len(kernel._defaults)
    if not known or few or getattr(kernel, "_observed", False) or getattr(kernel, "_takes_more", False):
        return True
    outs = by_name.get("out")
    given = (*args, *by_name.values(), *(outs if isinstance(outs, tuple) else ()))
    return any(
        type(value) is not np.ndarray
        and (issubclass(type(value), np.ndarray) or overrides_numpy(type(value)) or integration_of(type(value)))
        for value in given
    )


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
    try:
        operands = tuple([clean_operand(name, value) for name, value in zip(names, values, strict=True)])
    except errors.BcastgenError as error:
        raise errors.placed(error, f"in {kernel._name}()") from error.__cause__
    outs = bind_outs(kernel, by_name.get("out"))
    if strict:
        _check_strict(kernel, operands, strict)
    scalars = kernel.scalars and by_name.get("out") is not ...
    values = call_clean(kernel, operands, outs)
    return deliver(
        tuple(
            value[()] if scalars and value.ndim == 0 and out is None else value if out is None else out
            for value, out in zip(values, outs, strict=True)
        )
    )


def call_clean(
    kernel: CleanCall,
    operands: tuple[object, ...],
    outs: tuple[Array | None, ...],
    *,
    casting: str = "same_kind",
    order: str = "K",
) -> tuple[Array, ...]:
    """Call a kernel with clean operands and any outs, and return its results as arrays.

    Parameters
    ----------
    kernel : it computes; a subclass may have `_stretches_to_outs`, whether results stretch to outs that are larger.
    operands : one each, clean.
    outs : for each result the array to write to, or None.
    casting : NumPy's rule for an out of another dtype than its result.
    order : the memory order of results without an out, as NumPy names it.
    """
    first = _stand_in(kernel, operands)
    try:
        return _computed(kernel, first, operands, outs, casting, order)
    except TypeError:
        # The extension has asked for a binary, and there is none: NumPy answers from now on.
        now = _stand_in(kernel, operands)
        if now is first:
            raise
        return _computed(kernel, now, operands, outs, casting, order)


def _computed(
    kernel: CleanCall,
    computes: CleanCall,
    operands: tuple[object, ...],
    outs: tuple[Array | None, ...],
    casting: str,
    order: str,
) -> tuple[Array, ...]:
    targets = tuple(
        None if out is None else _as_array(f"out of result '{name}'", out)
        for name, out in zip(computes.results, outs, strict=True)
    )
    if order != "K":
        targets = _in_order(computes, operands, targets, order)
    if all(target is None for target in targets):
        made = computes._call_clean(operands, None)
        return made if len(targets) > 1 else (made,)
    stretches = getattr(kernel, "_stretches_to_outs", False)
    return call_with_outs(computes, operands, targets, casting=casting, stretches=stretches)


def _in_order(
    kernel: CleanCall, operands: tuple[object, ...], targets: tuple[Array | None, ...], order: str
) -> tuple[Array | None, ...]:
    """Return the targets, and new arrays of this memory order for the results that have none."""
    given = (*operands, *targets)
    if order == "A":
        order = "F" if all(not isinstance(item, np.ndarray) or item.flags.f_contiguous for item in given) else "C"
    shapes, codes, _ = kernel._infer(operands)
    return tuple(
        np.empty(shape, DTYPES[code].np, order=order) if target is None else target  # type: ignore[call-overload]
        for target, shape, code in zip(targets, shapes, codes, strict=True)
    )


def deliver(results: tuple[Any, ...]) -> Any:
    """Return a call's results: one, or a tuple of several."""
    return results if len(results) > 1 else results[0]


def without_strict(values: tuple[object, ...]) -> tuple[tuple[object, ...], StrictDims]:
    """Return operands or shapes as plain ones, and by operand the dims that were marked as not stretching.

    See :func:`bcastgen.strict`.
    """
    # No import: a caller with a strict array has imported its module already.
    module = sys.modules.get("bcastgen.runtime.strict")
    if module is None:
        return values, {}
    found: StrictDims = {}
    for at, value in enumerate(values):
        # Not isinstance, since a stand-in of a trace tells nobody what it is.
        if type(value) is module.Strict:
            found[at] = value.dims  # type: ignore[attr-defined]
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
    names = (*names, *getattr(kernel, "_computed_texts", ()))
    named = getattr(kernel, "_named", None)
    if named is not None:
        names = named(shapes) or names
    extents = getattr(kernel, "slots", ())
    error = errors.from_status(status, names, operand, dim, against, expected, actual, extents)
    locate = getattr(kernel, "_located", None)
    raise error if locate is None else locate(error, shapes)


def raise_limit(kernel: Named, operand: int, value: int, limit: Limit) -> NoReturn:
    """Raise the error for a Python int that does not fit the dtype beside it."""
    name, (low, high) = kernel.operands[operand], limit
    met = next((row for row in DTYPES if row.is_integer and (row.min, row.max) == limit), None)
    raise errors.RangeError(
        f"Python integer {value} out of bounds for {met.numpy if met else 'the dtype it meets'} (operand '{name}' "
        f"takes {low} to {high}); pass {in_wider(value, met)} to compute in a wider dtype, in {kernel._name}()"
    )


def raise_no_binary(kernel: Named, key: bytes) -> NoReturn:
    """Raise the error for a subclass whose ``_compile`` returned without ``_add_binary``."""
    raise errors.CompileError(f"_compile({key!r}) of kernel '{kernel._name}' added no binary for this key")


def _call_traced(kernel: CleanCall, values: tuple[object, ...]) -> Any:
    """Offer the call to the subclass if an operand redefines NumPy's functions, as the stand-ins of a trace do.

    A subclass may have `_call_traced(operands)`, which returns NotImplemented for objects it does not know.
    """
    hook = getattr(kernel, "_call_traced", None)
    if hook is None or not any(overrides_numpy(type(value)) for value in values):
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
        raise errors.ArgumentError(f"{kernel._name}() does not take strict arrays; pass their .array")
    hook(tuple(np.asarray(value).shape for value in operands), strict)


def overrides_numpy(kind: type) -> bool:
    """Whether a type gives NumPy's ufuncs a meaning of its own."""
    return getattr(kind, "__array_ufunc__", np.ndarray.__array_ufunc__) is not np.ndarray.__array_ufunc__


# ---- operands --------------------------------------------------------------------------------------------------------


def bind(kernel: CleanCall, args: tuple[object, ...], by_name: dict[str, object]) -> tuple[object, ...]:
    """Return one value for each operand, as a Python function with these parameters binds a call; constants last.

    Raises
    ------
    ArgumentError
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
            raise unexpected(call, name)
        if name in bound:
            raise errors.ArgumentError(f"{call} got multiple values for argument '{name}'")
        bound[name] = value
    if len(args) > len(names):
        raise too_many(call, required, len(names), len(args), "out" in by_name)
    missing = [f"'{name}'" for name in names[:required] if name not in bound]
    if missing:
        raise missing_arguments(call, missing)
    return tuple(bound[name] if name in bound else defaults[index - required] for index, name in enumerate(every))


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
    if type(value) in (bool, float, complex):
        return value
    if type(value) is int:
        return _clean_int(name, value)
    array = _as_array(f"operand '{name}'", value)
    if operand_code(array) == NO_CODE:
        try:
            register_dtype(dtype(array.dtype))
        except errors.DTypeError as error:
            raise errors.operand_refused(name, value, error) from None
    if array.flags.aligned and array.dtype.isnative:
        return array
    return np.array(array, dtype=array.dtype.newbyteorder("="), order="K", copy=True)


def _clean_int(name: str, value: int) -> int:
    low, high = WEAK_INT.default.min, WEAK_UINT.default.max
    if has_code(value):
        return value
    shown = str(value) if value.bit_length() <= 128 else f"of {value.bit_length()} bits"
    raise errors.RangeError(
        f"Python integer {shown} out of bounds (operand '{name}' takes {low} to {high}); "
        "pass a float where that will do"
    )


def _shown(value: object) -> str:
    """Return the shape and the dtype of what has both, for a message."""
    shape, kind = getattr(value, "shape", None), getattr(value, "dtype", None)
    return "" if shape is None or kind is None else f" of shape {shape} and dtype {kind}"


def _as_array(what: str, value: object) -> Array:
    """View anything array-like as an ndarray; refuse types that redefine NumPy's functions or operators."""
    kind = type(value)
    if kind is np.ndarray:
        return value  # type: ignore[return-value]
    if isinstance(value, np.ndarray) and isinstance(value, np.ma.MaskedArray):
        raise errors.DTypeError(
            f"{what} is a masked array{_shown(value)}, and its mask would be lost; pass x.filled(value) or x.data"
        )
    if overrides_numpy(kind):
        raise errors.DTypeError(
            f"{what} is {errors.with_article(kind.__name__)}{_shown(value)}, which gives NumPy's functions its own "
            "meaning (__array_ufunc__); pass numpy.asarray(x) if its plain numbers are meant"
        )
    if isinstance(value, np.ndarray):
        own = own_meaning(kind)
        if own is not None:
            raise errors.DTypeError(
                f"{what} is {errors.with_article(kind.__name__)}{_shown(value)}, which gives {own}; pass "
                "numpy.asarray(x) if its plain numbers are meant"
            )
        return value.view(np.ndarray)
    instead = instead_of(kind)
    if instead is not None:
        given = f"{kind.__module__.partition('.')[0]}.{kind.__name__}"
        raise errors.DTypeError(f"{what} is {errors.with_article(given)}, which is no array; pass {instead}")
    try:
        if hasattr(kind, "__dlpack__") and not hasattr(kind, "__array__"):
            return np.from_dlpack(value)  # type: ignore[arg-type]
        return np.asarray(value)
    except (TypeError, ValueError, BufferError) as error:
        if isinstance(error, TypeError) and hasattr(kind, "__array__"):
            raise  # its own
        given = errors.with_article(kind.__name__)
        raise errors.DTypeError(f"{what} is {given} that is not an array: {error}") from error
