"""Sparse arrays of SciPy: refused, since a kernel computes the elements that they leave out, too.

In: a sparse array.  Out: an error that says what to pass.
"""

from __future__ import annotations

from typing import Any, NoReturn

from ..core.errors import DTypeError

__all__ = ["as_ndarray", "as_own"]


def as_ndarray(what: str, array: Any, is_out: bool = False) -> NoReturn:
    """Refuse a sparse array."""
    raise DTypeError(
        f"{what} is a sparse {type(array).__name__}, which does not hold its zeros, and a kernel need not map 0 to 0; "
        "pass x.toarray(), or x.data for the elements that it holds"
    )


def as_own(array: Any, _like: object) -> Any:
    """Return an array as it is."""
    return array
