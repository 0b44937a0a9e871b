"""The base class of kernels, which handles calls: the C extension where it was built, else Python over cffi.

In: nothing.  Out: :class:`KernelBase`, and `implementation`, which names the one in use.

    class Kernel(KernelBase): def _compile(self, key): ... self._add_binary(key, ...)
    Kernel("add", ("a", "b"), ("r",))(x, y, out=z) -> z
"""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar

from ..core.dtypes import DTYPES, WEAK_COMPLEX, WEAK_FLOAT, WEAK_INT, WEAK_UINT
from ..core.errors import BcastgenError
from . import float_errors, keys, settings, slow_path

__all__ = ["KernelBase", "implementation", "remembering"]

implementation: str

_Function = TypeVar("_Function", bound=Callable[..., Any])
_dispatch: Any = None

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
            tuple(None if row.is_added else row.np for row in DTYPES),
            (WEAK_INT.key, WEAK_UINT.key, WEAK_FLOAT.key, WEAK_COMPLEX.key),
            (
                slow_path.call_slow,
                keys.check_binary,
                keys.check_signature,
                slow_path.raise_limit,
                slow_path.raise_no_binary,
                slow_path.raise_status,
                settings.check_threads,
                settings.start,
                float_errors.report,
            ),
        )
        keys.ON_REGISTERING.append(_dispatch.register_dtype)
        settings.attach(_dispatch)
        KernelBase = _dispatch.KernelBase
        implementation = "extension"


def remembering(find: Callable[[str, int], KernelBase], table: object) -> Callable[[_Function], _Function]:
    """Return a decorator by which the extension evaluates texts that it has seen before, without calling Python.

    Parameters
    ----------
    find : returns the kernel of a text, ``find(text, table.replacements)``.
    table : its attribute `replacements` changes when a text may mean something else.

    Returns
    -------
    Callable
        Decorates ``function(text, local_dict=None, global_dict=None, *, out=None)``, which is called for new texts.
    """

    def decorate(function: _Function) -> _Function:
        if implementation != "extension":
            return function
        made: Any = _dispatch.Evaluator(function, find, table, BcastgenError)
        update_wrapper(made, function)
        return made  # type: ignore[no-any-return]

    return decorate
