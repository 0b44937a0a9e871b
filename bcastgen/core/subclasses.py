"""Subclasses of ndarray whose operators differ from NumPy's: matrices, masked arrays, units.

In: the type of an array.  Out: which operators or NumPy functions it redefines, if any.

    np.matrix -> "operators its own meaning (__mul__)"        np.memmap -> None
"""

from __future__ import annotations

import operator

import numpy as np

__all__ = ["own_meaning"]

# These read or write elements, so they take no part in an expression; in-place operators take none either.
_NO_PART = ("__getitem__", "__setitem__", "__delitem__", "__contains__", "__index__")
_SPECIAL = frozenset(dir(operator))
_WORDS = tuple(word.rstrip("_") for word in operator.__all__ if f"__{word[1:].rstrip('_')}__" not in _SPECIAL)
_OPERATORS = tuple(
    name
    for word in _WORDS
    for name in (f"__{word}__", f"__r{word}__")
    if name in vars(np.ndarray) and name not in _NO_PART
)


def own_meaning(kind: type) -> str | None:
    """Return which functions or operators a subclass of ndarray redefines; None if it redefines none.

    Examples
    --------
    >>> own_meaning(np.recarray), own_meaning(np.matrix)
    (None, 'operators its own meaning (__mul__)')
    """
    for name in ("__array_ufunc__", "__array_function__"):
        if getattr(kind, name) is not getattr(np.ndarray, name):
            return f"NumPy's functions its own meaning ({name})"
    own = next((name for name in _OPERATORS if getattr(kind, name) is not getattr(np.ndarray, name)), None)
    return None if own is None else f"operators its own meaning ({own})"
