"""The base class of kernels, which handles calls: the C extension where it was built, else Python over cffi.

In: nothing.  Out: :class:`KernelBase`, and `implementation`, which names the one in use.

    class Kernel(KernelBase): def _compile(self, key): ... self._add_binary(key, ...)
    Kernel("add", ("a", "b"), ("r",))(x, y, out=z) -> z
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import update_wrapper
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar

from ..core.dtypes import DTYPES, WEAK_COMPLEX, WEAK_FLOAT, WEAK_INT, WEAK_UINT
from ..core.errors import BcastgenError
from ..core.forks import undivided
from ..core.resources import bare_source_tree
from ..core.source_lines import short_traceback
from . import keys, settings

__all__ = ["KernelBase", "implementation", "remembering"]

implementation: str

_Function = TypeVar("_Function", bound=Callable[..., Any])
_dispatch: Any = None


def _late(module: str, name: str) -> Callable[..., Any]:
    """Return a function of another module, which is imported when it is first called: calls of arrays need none."""
    found: Callable[..., Any] | None = None

    def call(*given: Any) -> Any:
        nonlocal found
        if found is None:
            with undivided:
                found = getattr(import_module(f".{module}", __package__), name)
        return found(*given)

    return call


if TYPE_CHECKING:
    from .fallback import KernelBase
else:
    try:
        _dispatch = import_module("bcastgen._dispatch")
    except ImportError:
        from .fallback import KernelBase

        implementation = "cffi"
        checkout = bare_source_tree()
        if checkout is not None:
            warnings.warn(
                f"bcastgen is imported from its source tree {checkout}, where its call path is not compiled: calls "
                "take about 200 times as long; start Python in another folder to use an installed package, or run pip "
                "install -e . there",
                RuntimeWarning,
                stacklevel=2,
            )
    else:
        _dispatch.configure(
            keys.TYPE_CODES,
            keys.SCALAR_CODES,
            tuple(None if row.is_added else row.np for row in DTYPES),
            (WEAK_INT.key, WEAK_UINT.key, WEAK_FLOAT.key, WEAK_COMPLEX.key),
            (
                _late("slow_path", "call_slow"),
                keys.check_binary,
                keys.check_signature,
                _late("slow_path", "raise_limit"),
                _late("slow_path", "raise_no_binary"),
                _late("slow_path", "raise_status"),
                settings.check_threads,
                settings.start,
                _late("float_errors", "report"),
                short_traceback,
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
