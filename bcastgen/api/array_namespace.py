"""The element-wise part of the array API standard, as a namespace whose functions are kernels.

In: nothing.  Out: an object to be called `xp`.

    xp = bg.array_namespace(); xp.acos(x), xp.astype(x, xp.float32), xp.pi
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from ..ops.table import find_op

__all__ = ["ArrayNamespace", "array_namespace"]

# The standard's other names, which are NumPy's own: dtypes, constants, functions that make arrays.
_NUMPYS = frozenset(
    "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64 complex64 complex128 e inf nan newaxis pi "
    "arange asarray empty empty_like eye full full_like linspace ones ones_like zeros zeros_like astype can_cast finfo "
    "iinfo isdtype result_type broadcast_arrays broadcast_to".split()
)


class ArrayNamespace:
    """A namespace of the array API whose element-wise functions are kernels; see :func:`array_namespace`."""

    __array_api_version__ = np.__array_api_version__  # whose functions are here as far as NumPy has them

    def __getattr__(self, name: str) -> Any:
        if name in _NUMPYS:
            found = getattr(np, name)
        elif not name.startswith("_") and find_op(name) is not None and hasattr(np, name):
            found = getattr(sys.modules["bcastgen"], name)
        else:
            raise AttributeError(
                f"the element-wise part of the array API has no {name!r}; for other parts of it use numpy.{name}"
            )
        setattr(self, name, found)
        return found

    def __dir__(self) -> list[str]:
        functions = (name for name in dir(np) if not name.startswith("_") and find_op(name) is not None)
        return sorted({"__array_api_version__", *_NUMPYS, *functions})

    def __repr__(self) -> str:
        return "<array API of bcastgen, element-wise>"


def array_namespace() -> ArrayNamespace:
    """Return the element-wise part of the array API standard as a namespace whose functions are kernels.

    Dtypes, constants and functions that make or convert arrays are NumPy's; functions that reduce, sort or move
    elements are not there. Arrays are those that kernels take.

    Examples
    --------
    >>> import numpy as np
    >>> xp = array_namespace()
    >>> xp.atan2(np.ones(2), xp.asarray([1.0, 0.0])) * 4 / xp.pi
    array([1., 2.])
    """
    return _NAMESPACE


_NAMESPACE = ArrayNamespace()
