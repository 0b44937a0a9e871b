"""Arrays of Arrow without missing values: read without a copy.

In: a pyarrow Array or ChunkedArray.  Out: an ndarray over its memory; and an Array over an ndarray's.

    as_ndarray("operand 'x' of k()", pa.array([1, 2]))  ->  array([1, 2])
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from ..core.errors import DTypeError

__all__ = ["as_ndarray", "as_own"]


def as_ndarray(what: str, array: Any, is_out: bool = False) -> np.ndarray[Any, Any]:
    """Return a read-only ndarray over an array's memory; bools are bits there, and several chunks are joined.

    Raises
    ------
    DTypeError
        If values are missing or are no numbers, or the array is to be written to.
    """
    if is_out:
        raise DTypeError(f"{what} is an array of Arrow, which is never written to; pass an ndarray")
    kind, types = array.type, pa.types
    if not (types.is_boolean(kind) or types.is_integer(kind) or types.is_floating(kind)):
        raise DTypeError(f"{what} is an array of {kind}, and kernels compute with numbers; pass {_cure(kind)}")
    missing = array.null_count
    if missing:
        raise DTypeError(
            f"{what} is an array with {missing} missing value{'s' * (missing != 1)}, which NumPy's have not; pass "
            "pyarrow.compute.fill_null(x, value), or x.drop_null()"
        )
    if isinstance(array, pa.ChunkedArray):
        array = array.chunk(0) if array.num_chunks == 1 else array.combine_chunks()
    return array.to_numpy(zero_copy_only=not types.is_boolean(kind))  # type: ignore[no-any-return]


def _cure(kind: Any) -> str:
    """Return what to pass for an array of a type that is none of numbers."""
    types = pa.types
    if types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
        return "pyarrow.compute.list_flatten(x) for all its elements"
    if types.is_struct(kind):
        return "a field of it, pyarrow.compute.struct_field(x, name)"
    if types.is_dictionary(kind):
        return "pyarrow.compute.dictionary_decode(x)"
    if types.is_temporal(kind):
        return f"x.cast('int{kind.bit_width}')"
    return "x.cast('float64')"


def as_own(array: np.ndarray[Any, Any], like: Any) -> Any:
    """Return an Array over the memory of an array of one dim, or a ChunkedArray of it; other arrays as they are."""
    if array.ndim != 1:
        return array
    made = pa.array(array)
    return pa.chunked_array([made]) if isinstance(like, pa.ChunkedArray) else made
