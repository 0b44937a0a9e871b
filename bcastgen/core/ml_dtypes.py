"""The NumPy dtypes that the package ml_dtypes adds: that of bf16, and those of storage types.

In: their names.  Out: dtypes.

    numpy_dtype("bfloat16", "bf16") -> dtype(bfloat16)

The package is imported only where an array of such a dtype is made, since types, shapes and C do without.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .errors import DTypeError

if TYPE_CHECKING:
    import numpy as np

__all__ = ["numpy_dtype"]


def numpy_dtype(numpy: str, name: str) -> np.dtype[Any]:
    """Return a dtype by its name in ml_dtypes; `name` is ours, for messages.

    Raises
    ------
    DTypeError
        If ml_dtypes is not installed, or too old; the message says how to install it.
    """
    import numpy as np  # noqa: PLC0415 - the build reads dtypes without NumPy

    try:
        found: np.dtype[Any] = np.dtype(getattr(import_module("ml_dtypes"), numpy))
    except ImportError:
        raise DTypeError(
            f'arrays of {name} need the package ml_dtypes, which is not installed: pip install "bcastgen[bf16]"'
        ) from None
    except AttributeError:
        raise DTypeError(
            f"arrays of {name} need a package ml_dtypes that has {numpy}: pip install --upgrade ml_dtypes"
        ) from None
    return found
