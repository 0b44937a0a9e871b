"""Calls as NumPy's ufuncs take them: `where=`, `casting=`, `order=`, `dtype=`, `signature=`, subclasses of ndarray.

In: a kernel, and a call that gives more than operands and `out`.  Out: its results.

    call(add, (a, b), {"where": mask, "out": r})     computes where(mask, a + b, r) into r
    call(add, (series, b), {})                       pandas takes over, with numpy.add
    call(gelu, (series,), {})                        pandas takes over, with the kernel

Plain calls never come here. A mask, and operands that are converted first, are part of a second kernel
(`ufunc_variants`), which is made once and kept: no operand is copied for them.

The file is long because each argument of NumPy's ufuncs has its checks and its messages.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn

import numpy as np

from ..core.errors import ArgumentError, BroadcastError, DTypeError, TraceError
from ..core.forks import undivided
from ..core.frozen import dataclass
from ..expr.build import CASTINGS
from ..expr.trace import is_tracer
from ..runtime.argument_errors import too_many, unexpected
from ..runtime.float_errors import report
from ..runtime.foreign import integration_of
from ..runtime.keys import Array, operand_code
from ..runtime.outs import bind_outs, check_writeable
from ..runtime.slow_path import bind, call_bound, call_clean, clean_operand, deliver, overrides_numpy, without_strict
from ..runtime.strict import Strict, plain
from .ufunc_errors import raised_by
from .ufunc_keywords import KEYWORDS
from .ufunc_loops import loop_dtypes, signature_dtypes
from .ufunc_variants import conditional, may_refuse, variant_of

__all__ = ["call"]


@dataclass(frozen=True, slots=True)
class _Call:
    """What a call asks for, beside its operands."""

    where: Array | None
    casting: str
    order: str
    dtype: object
    signature: object
    subok: bool
    out: object

    @property
    def is_plain(self) -> bool:
        """Whether nothing is asked for but what plain calls do."""
        converts = self.dtype is not None or self.signature is not None or self.casting != "same_kind"
        return self.where is None and self.order == "K" and not converts


def call(kernel: Any, args: tuple[object, ...], by_name: dict[str, object]) -> Any:
    """Call a kernel with any arguments that NumPy's ufuncs take.

    Raises
    ------
    TypeError
        If arguments do not bind.
    ArgumentError
        If `casting`, `order` or a number of outs is none that there is.
    DTypeError
        If dtypes do not convert by the rule `casting`, or an operand is more than its numbers.
    """
    args, named, keywords = _split(kernel, args, by_name)
    values = (*args, *(value for name, value in named.items() if name not in ("out", "extents")))
    if any(map(is_tracer, values)):
        _refuse_in_trace(kernel, keywords)
        return _plain_call(kernel, args, named)
    outs = named.get("out")
    given = (*values, *(outs if isinstance(outs, tuple) else (outs,)), keywords.get("where"))
    if any(map(_takes_over, given)):
        with undivided:
            from .handed_over import handed_over  # noqa: PLC0415 - most calls have ndarrays only
        made = handed_over(kernel, args, named, keywords)
        return _plain_call(kernel, args, named) if made is NotImplemented else made
    asked = _read(kernel, keywords, outs)
    owner = _owner(values) if asked.subok else None
    if kernel._observed or (kernel._reports_errors and not asked.is_plain):
        return _observed_call(kernel, args, named, asked, values, owner)
    if asked.is_plain and owner is None:
        return _plain_call(kernel, args, named)
    if asked.is_plain:
        results = _plain_call(kernel, args, {**named, "out": ...} if outs is None else named)
        results = tuple(map(np.asarray, results if isinstance(results, tuple) else (results,)))
    elif hasattr(kernel, "_call_sized"):
        results = _sized_call(kernel, args, named, asked)
    else:
        results = _special_call(kernel, args, named, asked)
    return _wrapped(kernel, results, asked, values, owner)


def _plain_call(kernel: Any, args: tuple[object, ...], named: dict[str, object]) -> Any:
    """Make a call without keywords of ufuncs; the kernel itself knows what it takes."""
    sized = getattr(kernel, "_call_sized", None)
    return call_bound(kernel, args, named) if sized is None else sized(args, named)


# ---- arguments -------------------------------------------------------------------------------------------------------


def _split(
    kernel: Any, args: tuple[object, ...], by_name: dict[str, object]
) -> tuple[tuple[object, ...], dict[str, object], dict[str, object]]:
    """Return operands by position, operands and outs by name, and the keywords of ufuncs; raise for what is wrong."""
    own, call = kernel._positional_operands, f"{kernel._name}()"
    named, keywords = dict[str, object](), dict[str, object]()
    for name, value in by_name.items():
        if name in own or name in ("out", "extents"):
            named[name] = value
        elif name == "sig" and "signature" in by_name:
            raise ArgumentError(f"{call}: cannot specify both 'sig' and 'signature'")
        elif name in KEYWORDS or name == "sig":
            keywords["signature" if name == "sig" else name] = value
        elif name not in kernel.operands:
            raise unexpected(call, name)
        else:
            named[name] = value
    if not kernel._outs_by_position:
        return args, named, keywords
    count, results = len(own), len(kernel.results)
    if len(args) > count + results or (len(args) < count and not named.keys() - {"out", "extents"}):
        raise too_many(call, count, count + results, len(args), with_out=False)
    if len(args) > count:
        if "out" in named:
            raise ArgumentError(f"{call}: cannot specify 'out' as both a positional and keyword argument")
        if any(value is ... for value in args[count:]):
            raise ArgumentError(f"{call}: out=... is only allowed as a keyword argument")
        named["out"] = (*args[count:], *(None,) * (count + results - len(args)))
    return args[:count], named, keywords


def _read(kernel: Any, keywords: Mapping[str, object], out: object) -> _Call:
    """Return what the keywords ask for, each checked."""
    found = {**KEYWORDS, **keywords}
    casting, order, subok = found["casting"], found["order"], found["subok"]
    if not isinstance(casting, str) or casting not in CASTINGS:
        raise ArgumentError(
            f"{kernel._name}(): casting is {casting!r}, expected one of {', '.join(map(repr, CASTINGS))}"
        )
    order = "K" if order is None else order
    if not isinstance(order, str) or order.upper() not in ("K", "A", "C", "F"):
        raise ArgumentError(f"{kernel._name}(): order is {order!r}, expected 'K', 'A', 'C' or 'F'")
    if not isinstance(subok, (bool, np.bool_)):
        raise ArgumentError(f"{kernel._name}(): subok is {subok!r}, expected True or False")
    if found["dtype"] is not None and found["signature"] is not None:
        raise ArgumentError(f"{kernel._name}(): cannot specify both 'signature' and 'dtype'")
    mask = _mask(kernel, found["where"])
    return _Call(mask, casting, order.upper(), found["dtype"], found["signature"], bool(subok), out)


def _mask(kernel: Any, where: object) -> Array | None:
    """Return the mask of a call as an ndarray of bool; None if every element is computed."""
    if where is True:
        return None
    try:
        mask = np.asarray(where) if isinstance(where, np.ndarray) else np.array(where, dtype=np.bool_)
    except ValueError as error:
        raise DTypeError(f"{kernel._name}(): where is no array of bool: {error}") from error
    if mask.dtype != np.bool_:
        raise DTypeError(
            f"{kernel._name}(): where has dtype {mask.dtype}, which is no mask: pass an array of bool, as in x != 0"
        )
    # A view would keep the memory of a mask that an operand's own code makes smaller.
    return mask if type(mask) is np.ndarray else mask.view(np.ndarray)


def _refuse_in_trace(kernel: Any, keywords: Mapping[str, object]) -> None:
    name = next((name for name, value in keywords.items() if value is not KEYWORDS[name]), None)
    if name is not None:
        raise TraceError(f"{kernel._name}(): {name}= has no meaning inside a kernel; leave it out")


# ---- objects that are more than arrays -------------------------------------------------------------------------------


def _takes_over(value: object) -> bool:
    """Whether NumPy would let an object, or its class, decide what a ufunc of it is, or another library made it."""
    if integration_of(type(value)) is not None or isinstance(value, np.ma.MaskedArray):
        return True
    return overrides_numpy(type(value)) and not isinstance(value, Strict)


def _owner(values: tuple[object, ...]) -> Any:
    """Return the operand whose subclass of ndarray results are of; None if all are plain arrays."""
    given = map(plain, values)
    wraps = [value for value in given if isinstance(value, np.ndarray) and type(value) is not np.ndarray]
    return max(wraps, key=lambda value: float(value.__array_priority__), default=None)


def _wrapped(kernel: Any, results: tuple[Array, ...], asked: _Call, values: tuple[object, ...], owner: Any) -> Any:
    """Return the results as the subclass of an operand, if one is, or as scalars where they have no dims."""
    outs = bind_outs(kernel, asked.out)
    scalars = kernel.scalars and asked.out is not ...
    made: list[Any] = []
    for at, (result, out) in enumerate(zip(results, outs, strict=True)):
        scalar = scalars and result.ndim == 0
        if out is not None:
            made.append(out)
        elif owner is not None:
            made.append(owner.__array_wrap__(result, (kernel.ufunc or kernel, values, at), scalar))
        else:
            made.append(result[()] if scalar else result)
    return deliver(tuple(made))


# ---- calls -----------------------------------------------------------------------------------------------------------


def _special_call(kernel: Any, args: tuple[object, ...], named: dict[str, object], asked: _Call) -> tuple[Array, ...]:
    """Convert operands, compute under the mask, in the order asked for."""
    operands_named = {name: value for name, value in named.items() if name != "out"}
    values, strict = without_strict(bind(kernel, args, operands_named))
    names = (*kernel.operands, *kernel._constants)
    for name, value in zip(names, values, strict=True):
        if asked.casting == "no" and isinstance(value, np.ndarray) and not value.dtype.isnative:
            raise DTypeError(
                f"{kernel._name}(): operand '{name}' of dtype {value.dtype.str} cannot be cast to the machine's byte "
                "order by the rule 'no'; pass casting='equiv'"
            )
    operands = tuple([clean_operand(name, value) for name, value in zip(names, values, strict=True)])
    outs = bind_outs(kernel, asked.out)
    if strict:
        kernel._check_strict(tuple(map(np.shape, operands)), strict)  # type: ignore[arg-type]
    given = signature_dtypes(kernel, asked.dtype, asked.signature)
    loops = None
    if given is not None or asked.casting != "same_kind":
        loops = loop_dtypes(kernel, operands, outs, given, asked.casting)
    if loops is not None:
        kernel, operands = variant_of(kernel).converted(operands, loops)
    if asked.where is None:
        return call_clean(kernel, operands, outs, casting=asked.casting, order=asked.order)
    return _masked_call(kernel, operands, outs, asked)


def _observed_call(
    kernel: Any,
    args: tuple[object, ...],
    named: dict[str, object],
    asked: _Call,
    values: tuple[object, ...],
    owner: Any,
) -> Any:
    """Make a call, and report floating-point errors that the values of all ops tell: of selected elements only."""
    if hasattr(kernel, "_call_sized"):
        raise DTypeError(
            f"{kernel._name}(): errors='numpy' is for kernels that broadcast; set kernel.errors = 'ignore'"
        )
    raised = raised_by(kernel, args, named, asked)
    results = _special_call(kernel, args, named, asked)
    if raised:
        report(kernel, raised)
    return _wrapped(kernel, results, asked, values, owner)


def _masked_call(
    kernel: Any, operands: tuple[object, ...], outs: tuple[Array | None, ...], asked: _Call
) -> tuple[Array, ...]:
    assert asked.where is not None
    floats = all(np.asarray(operand).dtype.kind == "f" for operand in operands)
    if not floats and may_refuse(kernel):
        shapes, is_aligned = _shapes_of(kernel, operands)
        if is_aligned:
            return _selected_call(kernel, operands, outs, asked, shapes)
    codes = variant_of(kernel).result_codes(bytes(map(operand_code, operands)))
    made = None
    # Elements that share memory are written where the mask selects them, and only there.
    if codes is not None and all(
        out is None or (operand_code(out) == code and all(out.strides)) for out, code in zip(outs, codes, strict=True)
    ):
        made = conditional(kernel, codes, tuple(out is not None for out in outs))
    if made is None:
        return _copied(kernel, call_clean(kernel, operands, (None,) * len(outs)), outs, asked)
    olds = tuple([clean_operand("out", out) for out in outs if out is not None])
    mask = _whole_mask(asked.where, outs)
    if asked.order == "K":
        # The dtypes are the outs' own, so the usual call will do.
        results = made(*operands, mask, *olds, out=... if not olds else outs)
        return results if isinstance(results, tuple) else (results,)
    return call_clean(made, (*operands, mask, *olds), outs, casting=asked.casting, order=asked.order)


def _whole_mask(mask: Array, outs: tuple[Array | None, ...]) -> Array:
    """Return the mask, stretched over outs, so that results without one have their shape, too."""
    shapes = [out.shape for out in outs if out is not None]
    if len(outs) == 1 or not shapes:
        return mask
    try:
        return np.broadcast_to(mask, np.broadcast_shapes(mask.shape, *shapes))
    except ValueError:
        return mask


def _copied(kernel: Any, results: tuple[Array, ...], outs: tuple[Array | None, ...], asked: _Call) -> tuple[Array, ...]:
    """Copy results, under the mask, to outs or to new arrays."""
    mask = np.array(True) if asked.where is None else asked.where
    whole = _whole_shape(kernel, mask, *(value.shape for value in results))
    made = []
    for name, value, out in zip(kernel.results, results, outs, strict=True):
        target = _zeros(value.dtype, whole, asked.order, (mask, *results)) if out is None else out
        check_writeable(kernel, name, target)
        if not np.can_cast(value.dtype, target.dtype, asked.casting):  # type: ignore[arg-type]
            _refuse_out(kernel, name, value.dtype, target.dtype, asked.casting)
        chosen = mask.copy() if out is not None and np.may_share_memory(mask, out) else mask
        if out is not None and _whole_shape(kernel, mask, whole, out.shape) != out.shape:
            raise BroadcastError(
                f"{kernel._name}(): result '{name}' has shape {whole}, and out {out.shape}; outs do not broadcast"
            )
        np.copyto(np.asarray(target), value, casting=asked.casting, where=chosen)  # type: ignore[arg-type]
        made.append(target)
    return tuple(made)


def _shapes_of(kernel: Any, operands: tuple[object, ...]) -> tuple[tuple[tuple[int, ...], ...], bool]:
    """Return the results' shapes, and whether operands align with them; nothing is computed."""
    try:
        shapes, _, is_aligned = kernel._infer(operands)
    except TypeError:
        # There is no binary, and NumPy answers.
        found = kernel.result_shape(*(np.asarray(operand).shape for operand in operands))
        shapes, is_aligned = found if kernel.nout > 1 else (found,), not kernel._is_ranked
    return shapes, is_aligned


def _selected_call(
    kernel: Any,
    operands: tuple[object, ...],
    outs: tuple[Array | None, ...],
    asked: _Call,
    shapes: tuple[tuple[int, ...], ...],
) -> tuple[Array, ...]:
    """Compute the selected elements alone: the others may be refused, or raise flags."""
    assert asked.where is not None
    given = tuple(out.shape for out in outs if out is not None)
    whole = _whole_shape(kernel, asked.where, *shapes, *given)
    mask = np.broadcast_to(asked.where, whole)
    chosen = tuple(
        np.broadcast_to(operand, whole)[mask] if isinstance(operand, np.ndarray) and operand.ndim else operand
        for operand in operands
    )
    results = call_clean(kernel, chosen, (None,) * len(outs))
    made = []
    for result in results:
        full = _zeros(result.dtype, whole, asked.order, (asked.where, *operands))
        full[mask] = result
        made.append(full)
    if all(out is None for out in outs):
        return tuple(made)
    return _copied(kernel, tuple(made), outs, asked)


def _whole_shape(kernel: Any, mask: Array, *shapes: tuple[int, ...]) -> tuple[int, ...]:
    """Return the shape that a mask and others broadcast to."""
    try:
        return np.broadcast_shapes(mask.shape, *shapes)
    except ValueError:
        shown = ", ".join(map(str, shapes))
        raise BroadcastError(
            f"{kernel._name}(): where has shape {mask.shape}, which does not broadcast with {shown}", operand="where"
        ) from None


def _zeros(row: np.dtype[Any], shape: tuple[int, ...], order: str, beside: tuple[object, ...]) -> Array:
    """Return a new array, in the order that NumPy would give a result beside these arrays."""
    arrays = tuple(value for value in beside if isinstance(value, np.ndarray))
    if np.broadcast_shapes(*(array.shape for array in arrays)) != shape:
        arrays = (*arrays, np.broadcast_to(np.True_, shape))
    make: Any = np.nditer
    walk = make(
        (*arrays, None),
        ["zerosize_ok"],
        [["readonly"]] * len(arrays) + [["writeonly", "allocate"]],
        op_dtypes=[None] * len(arrays) + [row],
        order=order,
    )
    made: Array = walk.operands[-1]
    made[...] = 0
    return made


def _sized_call(kernel: Any, args: tuple[object, ...], named: dict[str, object], asked: _Call) -> tuple[Array, ...]:
    """Make a call whose caller gives extents: computed aside, then copied as asked."""
    if asked.dtype is not None or asked.signature is not None:
        raise DTypeError(
            f"{kernel._name}(): dtype= and signature= are for kernels that broadcast; write .astype inside"
        )
    outs = bind_outs(kernel, asked.out)
    if all(out is None for out in outs):
        named = {**named, "out": ...}
        results = kernel._call_sized(args, named)
    else:
        fresh = tuple(None if out is None else np.empty_like(out) for out in outs)
        results = kernel._call_sized(args, {**named, "out": fresh})
    return _copied(kernel, results if isinstance(results, tuple) else (results,), outs, asked)


def _refuse_out(kernel: Any, name: str, made: np.dtype[Any], out: np.dtype[Any], casting: str) -> NoReturn:
    raise DTypeError(
        f"{kernel._name}(): result '{name}' has dtype {made} and cannot be cast to out's {out} by the rule "
        f"'{casting}'; pass an out of {made}, or a wider casting="
    )
