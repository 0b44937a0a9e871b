"""Expressions evaluated at once, over the caller's variables.

In: a text, and where its names are looked up.  Out: an array.

    a, b = numpy.arange(3.0), 2.0; bg.evaluate("a*b + exp(a)")
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar, overload

from ..core.errors import ArgumentError, ParseError
from ..ops.table import DEFINED
from ..pipeline.options import OPTIONS
from ..runtime.base import remembering
from .functions import from_text

if TYPE_CHECKING:
    from types import EllipsisType

    from numpy.typing import NDArray

    from ..kernel.kernel import Kernel

__all__ = ["evaluate"]

Out = TypeVar("Out")


@lru_cache(maxsize=1024)
def _evaluated(text: str, _replacements: int) -> Kernel:
    """Return the kernel of a text; `_replacements` is in the memo's key, since replacing an op changes the meaning."""
    return from_text(text)


@lru_cache(maxsize=1024)
def _reporting(text: str, _replacements: int, errors: str) -> Kernel:
    """Return the kernel of a text whose calls report floating-point errors."""
    return from_text(text, errors=errors)


@overload
def evaluate(
    expression: str,
    /,
    local_dict: Mapping[str, Any] | None = None,
    global_dict: Mapping[str, Any] | None = None,
    *,
    out: EllipsisType | None = None,
    errors: str = "ignore",
    **keywords: Any,
) -> NDArray[Any]: ...
@overload
def evaluate(
    expression: str,
    /,
    local_dict: Mapping[str, Any] | None = None,
    global_dict: Mapping[str, Any] | None = None,
    *,
    out: Out,
    errors: str = "ignore",
    **keywords: Any,
) -> Out: ...
@remembering(_evaluated, DEFINED)
def evaluate(
    expression: str,
    /,
    local_dict: Mapping[str, Any] | None = None,
    global_dict: Mapping[str, Any] | None = None,
    *,
    out: Any = None,
    errors: str = "ignore",
    **keywords: Any,
) -> Any:
    """Evaluate an expression over arrays by name, in NumExpr's calling convention.

    Parameters
    ----------
    expression : as in ``"a*b + exp(c)"``; parsed against an allowlist, never run by Python.
    local_dict, global_dict : where names are looked up; by default the caller's variables.
    out : the array to write to; ``...`` asks for an array even if the result is 0-d.
    errors : ``"numpy"`` reports floating-point errors as ``numpy.errstate`` says; see :func:`bcastgen.jit`.
    **keywords : those of NumPy's ufuncs that every kernel takes: ``where``, ``casting``, ``order``, ``dtype``, ...

    Returns
    -------
    ndarray
        An array of the broadcast shape, with NumPy's result dtype; a NumPy scalar where the result is 0-d, and a tuple
        where the text is one.

    Raises
    ------
    ParseError
        If the text is not an expression, or a name in it has no value.
    BroadcastError, DTypeError
        If the operands do not fit.

    Examples
    --------
    >>> import numpy as np
    >>> a, b = np.arange(3.0), np.ones((2, 1))
    >>> evaluate("2*a + b")
    array([[1., 3., 5.],
           [1., 3., 5.]])
    """
    if not isinstance(expression, str):
        raise ParseError(f"an expression is text, not {type(expression).__name__}")
    OPTIONS["errors"].check(errors)
    generation = DEFINED.replacements
    kernel = _evaluated(expression, generation) if errors == "ignore" else _reporting(expression, generation, errors)
    if local_dict is None:
        frame = sys._getframe(1)
        local_dict = frame.f_locals
        global_dict = frame.f_globals if global_dict is None else global_dict
    for variables in (local_dict, global_dict):
        if variables is not None and not hasattr(type(variables), "keys"):
            raise ArgumentError(f"evaluate() takes variables as a dict, not {type(variables).__name__}")
    operands = [_look_up(name, local_dict, global_dict) for name in kernel._positional_operands]
    return kernel(*operands, out=out, **keywords)


def _look_up(name: str, local_dict: Mapping[str, Any], global_dict: Mapping[str, Any] | None) -> Any:
    if name in local_dict:
        return local_dict[name]
    if global_dict is not None and name in global_dict:
        return global_dict[name]
    cure = f"write np.{name}" if name in ("pi", "e", "inf", "nan") else "pass it in local_dict"
    raise ParseError(f"name '{name}' has no value: it is no variable of the caller; {cure}")
