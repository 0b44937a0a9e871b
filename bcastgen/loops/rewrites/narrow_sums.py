"""Narrow sums: leave it to the sum to widen the values that it adds.

In: a nest.  Out: one of the same sums, bit for bit, whose values take fewer bytes until they are added.

    sum((x > y).astype(i64))   ->   sum(x > y): the values are bytes, and 64 bits only in the sum
"""

from __future__ import annotations

from ...core.dtypes import DType
from ...core.frozen import replace
from ...ops.rows.conversions import CAST
from ..nest import Let, Nest, Value
from .rebuilt import rebuilt

__all__ = ["narrow_sums"]


def narrow_sums(nest: Nest) -> tuple[Nest, tuple[str, ...]]:
    """Return a nest in which sums of integers have the values from before they are widened, and a line for each.

    Examples
    --------
    >>> from bcastgen import from_text
    >>> kernel = from_text("(f32[?] x, f32[?] y) -> sum(x > y)")
    >>> print(narrow_sums(kernel.compilation.program.nests[0])[0].results[0].dtype)
    bool
    """
    results, stores, notes = list(nest.results), list(nest.stores), []
    for at, (one, access) in enumerate(zip(nest.reduced, nest.results, strict=False)):
        value, dtype = _unwidened(nest, nest.stores[at], access.dtype)
        if one.op.step == "ADD" and access.dtype.is_integer and dtype is not access.dtype:
            results[at] = replace(access, type=replace(access.type, dtype=dtype))
            stores[at] = value
            notes.append(
                f"t{_number(nest.stores[at])} is left to {one.name}, which adds values of {dtype} in {access.dtype}"
            )
    if not notes:
        return nest, ()
    return rebuilt(replace(nest, results=tuple(results), stores=tuple(stores)), {}), tuple(notes)


def _unwidened(nest: Nest, value: Value, dtype: DType) -> tuple[Value, DType]:
    """Return the value that others are cast from, each time to a dtype that holds it, and its dtype."""
    while isinstance(value, Let) and (cast := nest.body[value.index]).op is CAST:
        (before,) = cast.operand_dtypes
        loses_sign = before.kind == "signed" and dtype.kind != "signed"
        if not _is_whole(before) or before.bits >= dtype.bits or loses_sign:
            break
        (value,), dtype = cast.operands, before
    return value, dtype


def _number(value: Value) -> int:
    assert isinstance(value, Let)  # only what a cast gives is widened
    return value.index


def _is_whole(dtype: DType) -> bool:
    return dtype.kind in ("bool", "signed", "unsigned") and not dtype.is_storage
