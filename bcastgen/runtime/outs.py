"""The ``out=`` of a call: which arrays a kernel may write to directly, and which get a copy afterwards.

In: clean operands, and for each result the array to write to, or None.  Out: the results, as if all operands were read
before anything is written.

    call_with_outs(add, (x[1:], 1.0), (x[:-1],))     x[:-1] overlaps an operand: it gets a copy of the result
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from ..core import errors
from ..core.dtypes import DTYPES
from .keys import Array, operand_code
from .named import Named

__all__ = ["Inferring", "bind_outs", "call_with_outs", "check_writeable"]

Shape = tuple[int, ...]

# The most candidate solutions that deciding whether two arrays share memory may try; most strided pairs need a few.
_MAX_OVERLAP_CANDIDATES = 1000


class Inferring(Named, Protocol):
    """The part of a kernel that outs need, of either implementation."""

    def _infer(self, operands: tuple[object, ...]) -> tuple[tuple[Shape, ...], bytes, bool]: ...
    def _call_clean(self, operands: tuple[object, ...], outs: tuple[Array | None, ...] | None) -> Any: ...


def bind_outs(kernel: Named, out: object) -> tuple[Array | None, ...]:
    """Return one array or None for each result; `out` is what a call gives: an array, a tuple, None or Ellipsis.

    Raises
    ------
    TypeError
        If an item is neither an ndarray nor None.
    ArgumentError
        If a tuple has not one item a result.
    """
    count = len(kernel.results)
    if out is None or out is ...:
        return (None,) * count
    outs = out if isinstance(out, tuple) else (out,)
    if len(outs) != count or (count > 1 and not isinstance(out, tuple)):
        wanted = "an ndarray" if count == 1 else f"a tuple of {count} ndarrays (or None), one a result"
        given = f"a tuple of {len(outs)}" if isinstance(out, tuple) else type(out).__name__
        raise errors.ArgumentError(f"{kernel._name}() takes out as {wanted}, not {given}")
    for name, item in zip(kernel.results, outs, strict=True):
        if item is ...:
            raise errors.ArgumentError(f"{kernel._name}() takes ... as out=..., not for one result (result '{name}')")
        if item is not None and not isinstance(item, np.ndarray):
            raise errors.ArgumentError(
                f"{kernel._name}() takes out as an ndarray, not {type(item).__name__} (result '{name}')"
            )
    return outs


def call_with_outs(
    kernel: Inferring,
    operands: tuple[object, ...],
    targets: tuple[Array | None, ...],
    *,
    casting: str = "same_kind",
    stretches: bool = False,
) -> tuple[Array, ...]:
    """Compute into the targets that can be written to directly, and copy the others' results afterwards.

    Parameters
    ----------
    kernel : it computes.
    operands : clean ones.
    targets : for each result the exact ndarray to write to, or None.
    casting : NumPy's rule for a target of another dtype than its result.
    stretches : whether results that are smaller than the targets stretch to them, as NumPy's do.
    """
    shapes, codes, aligned = kernel._infer(operands)
    wanted = _stretched(shapes, targets) if stretches else shapes
    for result_index, target in enumerate(targets):
        if target is not None:
            facts = wanted[result_index], codes[result_index]
            try:
                _check_target(kernel, result_index, target, *facts, operands if aligned else (), casting)
            except errors.BcastgenError as error:
                shown = f"out: an array of shape {target.shape} and dtype {target.dtype}"
                raise errors.placed(error, f"in {kernel._name}() ({shown})") from None
    arrays = tuple(operand for operand in operands if isinstance(operand, np.ndarray))
    direct = tuple(
        target
        if target is not None
        and target.shape == shapes[result_index]
        and _is_separate(result_index, targets, codes, arrays, aligned)
        else None
        for result_index, target in enumerate(targets)
    )
    made = kernel._call_clean(operands, direct)
    values = made if len(targets) > 1 else (made,)
    for target, value in zip(targets, values, strict=True):
        if target is not None and target is not value:
            np.copyto(target, value, casting=casting)  # type: ignore[arg-type]
    return tuple(
        target if target is not None else value if value.shape == shape else np.array(np.broadcast_to(value, shape))
        for target, value, shape in zip(targets, values, wanted, strict=True)
    )


def _stretched(shapes: tuple[Shape, ...], targets: tuple[Array | None, ...]) -> tuple[Shape, ...]:
    """Return the shape that results and targets broadcast to, for each result, if every target has it."""
    given = [target.shape for target in targets if target is not None]
    try:
        whole = np.broadcast_shapes(*shapes, *given)
    except ValueError:
        return shapes
    return (whole,) * len(shapes) if all(shape == whole for shape in given) else shapes


def check_writeable(kernel: Named, name: str, target: Array) -> None:
    """Raise an ArgumentError if a result's out is read-only."""
    if not target.flags.writeable:
        raise errors.ArgumentError(
            f"{kernel._name}(): output array is read-only (result '{name}'); pass one that can be written to"
        )


def _check_target(
    kernel: Named,
    result_index: int,
    target: Array,
    shape: Shape,
    code: int,
    operands: tuple[object, ...],
    casting: str,
) -> None:
    """Refuse an out that is read-only, or whose rank, extents or dtype do not fit its result."""
    name, row = kernel.results[result_index], DTYPES[code]
    check_writeable(kernel, name, target)
    if not np.can_cast(row.np, target.dtype, casting):  # type: ignore[arg-type]
        raise errors.DTypeError(
            f"result '{name}' has dtype {row} and cannot be cast to out's {target.dtype} by the rule '{casting}'; "
            f"pass an out of {row.np}, or cast in the expression"
        )
    if target.ndim != len(shape):
        raise errors.result_rank_mismatch(name, target.ndim, len(shape))
    for dim, (actual, expected) in enumerate(zip(target.shape, shape, strict=True)):
        if actual != expected:
            against = _origin(kernel, operands, len(shape) - dim, expected)
            raise errors.result_mismatch(name, dim, actual, expected, against)


def _origin(kernel: Named, operands: tuple[object, ...], from_right: int, extent: int) -> str | None:
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
