"""One function, other namespaces: what ``np`` means to each peer.

In: a workload's function and a namespace.  Out: the same code, with that namespace in the place of ``np``.

    rebound(lambda x: np.exp(x) + 1, torch_namespace)(tensor) -> tensor

A peer that lacks a name has no form of the function: :class:`NoForm` is raised, and its cell is a dash.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import CellType, FunctionType
from typing import Any

__all__ = ["Namespace", "NoForm", "as_they_are", "names", "rebound"]


class NoForm(Exception):  # noqa: N818: it is no error, but an answer
    """A peer cannot say this."""


class Namespace:
    """A module, with some names of its own before the module's.

    Examples
    --------
    >>> import math
    >>> Namespace(math, double=lambda x: 2 * x).double(math.tau / math.tau)
    2.0
    """

    def __init__(self, module: Any, **more: Any) -> None:
        self._module = module
        vars(self).update(more)

    def __getattr__(self, name: str) -> Any:
        try:
            return getattr(self._module, name)
        except AttributeError:
            raise NoForm(f"{self._module.__name__} has no {name}") from None


def as_they_are(value: Any) -> Any:
    """Return the value: what is done with constants where a peer takes NumPy's scalars."""
    return value


def names(function: Callable[..., Any]) -> tuple[str, ...]:
    """Return the names of the attributes and globals that a function uses.

    Examples
    --------
    >>> names(lambda x: x.real)
    ('real',)
    """
    assert isinstance(function, FunctionType)
    return function.__code__.co_names


def rebound(
    function: Callable[..., Any], namespace: Any, convert: Callable[[Any], Any] = as_they_are
) -> Callable[..., Any]:
    """Return a function with the same code and another ``np``; each time with a code object of its own.

    Parameters
    ----------
    convert : applied to the globals and the variables of enclosing functions that it uses: its constants.
    """
    assert isinstance(function, FunctionType)
    held: Mapping[str, Any] = function.__globals__
    used = {name: convert(held[name]) for name in names(function) if name in held}
    cells = tuple(CellType(convert(cell.cell_contents)) for cell in function.__closure__ or ())
    # torch.compile remembers by code object what it has compiled, for every shape in turn.
    code = function.__code__.replace(co_name=function.__name__)
    return FunctionType(code, {**used, "np": namespace}, function.__name__, None, cells)
