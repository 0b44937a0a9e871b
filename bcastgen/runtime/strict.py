"""Arrays that say which of their dims may not stretch, for one call.

In: an array and the numbers of dims.  Out: what a kernel takes in the array's place; no element is copied.

    Strict(x, (0,))      x.0 has the extent of the dim of the domain that it is, even if it is 1

The slow path unwraps it, so calls of plain arrays know nothing of it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from ..core.errors import DTypeError
from ..core.frozen import dataclass

__all__ = ["Strict", "plain"]


@dataclass(frozen=True, slots=True, eq=False)
class Strict(np.lib.mixins.NDArrayOperatorsMixin):
    """An array some of whose dims do not stretch; made by :func:`bcastgen.strict`.

    It is an argument of kernels and no array: NumPy would stretch its dims, so every use by NumPy is refused.

    Attributes
    ----------
    array : the array itself.
    dims : the numbers of the dims that do not stretch, in order.
    """

    array: np.ndarray[Any, Any]
    dims: tuple[int, ...]

    def __array_ufunc__(self, ufunc: np.ufunc, *_rest: Any, **_options: Any) -> NoReturn:
        raise DTypeError(_refusal(f"numpy.{ufunc.__name__}"))

    def __array_function__(self, function: Callable[..., Any], *_rest: Any) -> NoReturn:
        raise DTypeError(_refusal(f"{function.__module__}.{function.__name__}"))

    def __array__(self, *_args: object, **_options: object) -> NoReturn:
        raise DTypeError(_refusal("NumPy"))

    @property
    def shape(self) -> tuple[int, ...]:
        """The array's."""
        shape: tuple[int, ...] = self.array.shape
        return shape

    def __repr__(self) -> str:
        return f"strict({self.array!r}, dims={self.dims})"


def _refusal(who: str) -> str:
    return (
        f"a strict array is an argument of kernels, and {who} knows nothing of its dims; call a kernel of bcastgen "
        "(bg.add(strict, b) for strict + b), or pass its .array"
    )


def plain(value: Any) -> Any:
    """Return the array of a strict one, and anything else as it is."""
    return value.array if type(value) is Strict else value
