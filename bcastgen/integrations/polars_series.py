"""Series of Polars without missing values: read without a copy.

In: a Series.  Out: an ndarray over its memory; and a Series of an array.

    as_ndarray("operand 'x' of k()", pl.Series([1, 2]))  ->  array([1, 2])

Polars has an `__array_ufunc__`, which picks one dtype for operands and result: a kernel's own may differ.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from ..core.errors import DTypeError

__all__ = ["as_ndarray", "as_own"]


def as_ndarray(what: str, series: Any, is_out: bool = False) -> np.ndarray[Any, Any]:
    """Return a read-only ndarray over a Series' memory; bools are bits there, and several chunks are joined.

    Raises
    ------
    DTypeError
        If values are missing or are no numbers, or the Series is to be written to.
    """
    if is_out:
        raise DTypeError(f"{what} is a Series of Polars, which is never written to; pass an ndarray")
    dtype = series.dtype
    if dtype != pl.Boolean and not (dtype.is_integer() or dtype.is_float()):
        raise DTypeError(f"{what} is a Series of {dtype}, which are no numbers; pass {_cure(dtype)}")
    missing = series.null_count()
    if missing:
        raise DTypeError(
            f"{what} is a Series with {missing} missing value{'s' * (missing != 1)}, which arrays have not; pass "
            "x.fill_null(value), or x.drop_nulls()"
        )
    return series.to_numpy()  # type: ignore[no-any-return]


def _cure(dtype: Any) -> str:
    """Return what to pass for a Series of a dtype that is none of numbers."""
    match dtype:
        case pl.Array():
            return "x.to_numpy(), which has a dim more"
        case pl.List():
            return "x.list.to_array(n).to_numpy() if each has n elements, or x.explode() for all of them"
        case pl.Struct():
            return "a field of it, x.struct.field(name)"
        case pl.Categorical() | pl.Enum():
            return "x.to_physical() for its codes"
        case pl.Object() | pl.Binary():
            return "a Series of numbers, made of its elements"
        case _:
            return "x.cast(polars.Float64)"


def as_own(array: np.ndarray[Any, Any], like: Any) -> Any:
    """Return a Series of an array of one dim, named like an operand; other arrays as they are."""
    return pl.Series(like.name, array) if array.ndim == 1 else array
