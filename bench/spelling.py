"""One function, other namespaces: what ``np`` means to each peer.

In: a workload's function and a namespace.  Out: the same code, with that namespace in the place of ``np``.

    rebound(lambda x: np.exp(x) + 1, torch_namespace)(tensor) -> tensor

A peer that lacks a name has no form of the function: :class:`NoForm` is raised, and its cell is a dash.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Mapping
from dis import get_instructions
from itertools import pairwise
from types import CellType, FunctionType, ModuleType
from typing import Any

import numpy as np

__all__ = ["COMPOSED", "Namespace", "NoForm", "as_they_are", "names", "rebound"]


class NoForm(Exception):
    """A peer cannot say this: no error, but an answer."""


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
            whose = getattr(self._module, "__name__", "it")
            raise NoForm(f"{whose} has no {name}") from None


def _sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def _rsqrt(x: Any) -> Any:
    return 1 / np.sqrt(x)


# NumPy, with the functions that it lacks and its users write in one line.
COMPOSED = Namespace(np, sigmoid=_sigmoid, rsqrt=_rsqrt)


def as_they_are(value: Any) -> Any:
    """Return the value: what is done with constants where a peer takes NumPy's scalars."""
    return value


def names(function: Callable[..., Any]) -> tuple[str, ...]:
    """Return the names that a function takes from ``np``, each once.

    Examples
    --------
    >>> names(lambda x: np.exp(x.real))
    ('exp',)
    """
    pairs = pairwise(get_instructions(function))
    return tuple(dict.fromkeys(str(then.argval) for one, then in pairs if one.argval == "np"))


def rebound(
    function: Callable[..., Any], namespace: Any, convert: Callable[[Any], Any] = as_they_are
) -> Callable[..., Any]:
    """Return a function with the same code and another ``np``; each time with a code object of its own.

    Parameters
    ----------
    convert : applied to the globals and the variables of enclosing functions that it uses: its constants.

    Raises
    ------
    NoForm
        If the namespace lacks a name that the function takes from it.
    """
    assert isinstance(function, FunctionType)
    # A module, with no more than is needed: compilers of Python resolve its names when they compile.
    spelled = ModuleType("np")
    vars(spelled).update({name: getattr(namespace, name) for name in names(function)})
    held: Mapping[str, Any] = function.__globals__
    used = {name: convert(held[name]) for name in function.__code__.co_names if name in held and name != "np"}
    cells = tuple(CellType(convert(cell.cell_contents)) for cell in function.__closure__ or ())
    # torch.compile remembers by code object what it has compiled, for every shape in turn.
    code = function.__code__.replace(co_name=function.__name__)
    variables = {**used, "np": spelled, "__builtins__": builtins}
    return FunctionType(code, variables, function.__name__, None, cells)
