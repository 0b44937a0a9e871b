"""The class that a kernel's calls go through: the C extension where it was built, else Python over cffi.

In: nothing.  Out: :class:`KernelBase` and `implementation`, which says what it is.

    class Kernel(KernelBase): def _compile(self, key): ... self._add_binary(key, ...)
    Kernel("add", ("a", "b"), ("r",))(x, y, out=z) -> z
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from ..dtypes import BF16, DTYPES, WEAK_FLOAT, WEAK_INT, WEAK_UINT
from . import arguments, keys, process

__all__ = ["KernelBase", "implementation"]

implementation: str

if TYPE_CHECKING:
    from .fallback import KernelBase
else:
    try:
        _dispatch = import_module("bcastgen._dispatch")
    except ImportError:
        from .fallback import KernelBase

        implementation = "cffi"
    else:
        _dispatch.configure(
            keys.TYPE_CODES,
            keys.SCALAR_CODES,
            tuple(None if row is BF16 else row.np for row in DTYPES),
            (WEAK_INT.key, WEAK_UINT.key, WEAK_FLOAT.key),
            (
                arguments.call_slow,
                keys.check_binary,
                keys.check_signature,
                arguments.raise_limit,
                arguments.raise_no_binary,
                arguments.raise_status,
                process.check_threads,
                process.start,
            ),
        )
        keys.ON_MEETING.append(_dispatch.meet)
        process.attach(_dispatch)
        KernelBase = _dispatch.KernelBase
        implementation = "extension"
