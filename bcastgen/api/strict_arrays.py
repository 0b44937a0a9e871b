"""Arrays that say, for one call, which of their dims may not stretch.

In: an array, and the numbers of some of its dims.  Out: an argument for kernels.

    bg.add(bg.strict(x, dims=0), b)

A type forbids stretching in every call (``f32[n!]``), an option for every operand (``dynamic="strict"``); this forbids
it for one array in one call.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.errors import AxisError, BroadcastError, DTypeError, TraceError
from ..expr.trace import is_tracer
from ..runtime.strict import Strict

__all__ = ["strict"]


def strict(array: np.ndarray[Any, Any], dims: int | Sequence[int] | None = None) -> Strict:
    """Return an argument for kernels: the array, with some dims that may not stretch.

    Every kernel takes it in place of the array, by position or by name, and so do ``kernel.result_shape`` and
    ``bg.evaluate``. If one of `dims` has extent 1, and its dim of the iteration domain has another extent, the call
    raises an error. Dims whose extent is not 1, to which other operands stretch, are not affected, and neither are the
    dims that rank expansion adds in front of the array's own. As for ``!`` in types, an explicit broadcast does not
    stretch such a dim either.

    Parameters
    ----------
    array : any that kernels take; it is not copied.
    dims : the dims that do not stretch, counted from the end where negative, as in NumPy; all by default.

    Returns
    -------
    Strict
        It has the attributes ``array``, ``dims`` and ``shape``. It is no array: NumPy's functions and operators, which
        would stretch its dims, refuse it.

    Raises
    ------
    TraceError
        Inside a function that is traced, where ``!`` in the signature does this for an operand.
    DTypeError
        If `array` is no array.
    AxisError
        If a dim is out of range.
    BroadcastError
        If a dim is named twice.

    Examples
    --------
    >>> import bcastgen as bg, numpy as np
    >>> x, b = np.ones((1, 3)), np.ones((4, 3))
    >>> bg.add(x, b).shape
    (4, 3)
    >>> bg.add(bg.strict(x, dims=1), b).shape
    (4, 3)
    >>> bg.add(bg.strict(x), b)
    Traceback (most recent call last):
      ...
    bcastgen.BroadcastError: operand 'a' dim 0 has extent 1, expected 4 (from 'b'); it does not stretch, as \
bcastgen.strict says; pass the whole extent, or leave dim 0 out of dims=
    """
    if is_tracer(array):
        raise TraceError(
            "strict(...) is for arguments of a call; of an operand of this kernel its signature says it, by !: f32[n!]"
        )
    if not isinstance(array, np.ndarray):
        raise DTypeError(f"strict(...) takes an array, not {type(array).__name__}; pass numpy.asarray(x)")
    rank = array.ndim
    given = range(rank) if dims is None else dims if isinstance(dims, Sequence) else (dims,)
    found: set[int] = set()
    for dim in given:
        number = _index(dim)
        if not -rank <= number < rank:
            cure = f"use {-rank} to {rank - 1}" if rank else "name none"
            raise AxisError(f"strict: dim {number} is out of range for rank {rank}; {cure}", axis=number, ndim=rank)
        if number % rank in found:
            raise BroadcastError(f"strict: dim {number % rank} is named twice in {dims}; name each once", dim=number)
        found.add(number % rank)
    return Strict(array, tuple(sorted(found)))


def _index(dim: object) -> int:
    try:
        return operator.index(dim)  # type: ignore[arg-type]
    except TypeError:
        raise BroadcastError(f"strict: {dim!r} is no dim; give integers, or leave dims out for all") from None
