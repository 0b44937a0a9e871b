"""Kinds of arguments: a stand-in has none, since a kernel serves arrays and numbers alike, so asking is refused.

In: a test of a stand-in's kind in a function that is being traced.  Out: an error that names the cure.

    isinstance(x, np.ndarray)    type(x) is float    np.isscalar(x)    ->   TraceError

A branch on it would be taken once, for every later call. Python asks a stand-in's `__class__` in `isinstance`, and its
type's `__eq__` where types are compared; for ``type(x) is float`` a function that names `type` is run with another one.
"""

from __future__ import annotations

import builtins
import sys
from collections.abc import Callable, Sequence
from math import prod
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from ..core.errors import BcastgenError, TraceError, placed
from ..core.source_lines import is_ours, package_of, users_line
from .nodes import Operand

if TYPE_CHECKING:
    from ..shape.types.tensor_type import TensorType
    from .build import Builder
    from .nodes import Node

__all__ = ["AskedError", "Declared", "Kind", "OpenShape", "asked", "asking", "forget", "setting", "unknown"]


def setting(name: str | None) -> str:
    """Return the advice for a parameter that was taken for an operand and may be none; "" if the parameter is unknown.

    Examples
    --------
    >>> setting("axis")
    "; if 'axis' is no array, decorate with static='axis'"
    """
    return "" if name is None else f"; if '{name}' is no array, decorate with static='{name}'"


def asked(name: str | None = None) -> TraceError:
    """Return the error of a test of a stand-in's kind; `name` is the parameter that the stand-in was passed for."""
    which = "an operand" if name is None else f"'{name}'"
    return TraceError(
        f"whether {which} is an array or a number is not known while tracing: the kernel serves both, and a branch "
        f"would be taken once for all calls{setting(name)}; leave a test of it out (numpy's functions take both), or "
        "test before the call"
    )


def _asked_by(package: str) -> TraceError:
    """Return the error of another package's function that asks what kind of argument a stand-in is."""
    return TraceError(
        f"a function of {package} asks which kind of array an operand is, and so cannot be recorded; write NumPy's "
        f"function of that name, or call {package} outside the kernel"
    )


class AskedError(TraceError, AttributeError):
    """A stand-in's class was asked for: `isinstance` takes this error for "no", and the expression remembers it.

    So does NumPy where it orders the arguments of its functions. These hand the stand-in over next, in the same
    instruction, and :func:`forget` then drops the error.
    """

    def __init__(self, message: str = "", at: object = None) -> None:
        super().__init__(message)
        self.at = at


# Tracebacks show the public name.
AskedError.__name__, AskedError.__qualname__, AskedError.__module__ = "TraceError", "TraceError", "bcastgen"


def _instruction(depth: int) -> object:
    """Return which instruction the caller at a depth runs."""
    frame = sys._getframe(depth + 1)
    return id(frame), frame.f_code, frame.f_lasti


def forget(refused: list[BcastgenError]) -> None:
    """Drop the errors of a stand-in whose class was asked for by the function of NumPy that hands it over."""
    # The frames between are those of the stand-in's method, and of what notes its errors.
    now = _instruction(3)
    while refused and isinstance(refused[-1], AskedError) and refused[-1].at == now:
        refused.pop()


class Kind(type):
    """The type of the class of stand-ins: comparing that class with another one is refused."""

    __hash__ = type.__hash__

    def __eq__(cls, other: object) -> bool:
        if cls is other:
            return True
        if isinstance(other, type):
            raise asked()
        return NotImplemented

    def __ne__(cls, other: object) -> bool:
        return not cls == other


class _Type(type):
    """The `type` of traced functions: that of a stand-in is not told."""

    def __call__(cls, *args: Any, **options: Any) -> Any:
        if len(args) == 1 and builtins.type(builtins.type(args[0])) is Kind:
            raise asked(args[0]._parameter)
        return builtins.type(*args, **options)

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, builtins.type)

    def __eq__(cls, other: object) -> bool:
        return other is cls or other is builtins.type

    __hash__ = type.__hash__


class _TypeOf(metaclass=_Type):
    pass


def asking(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that refuses `type` of a stand-in; the function itself if it names no such function.

    Examples
    --------
    >>> def doubled(x): return x * 2
    >>> asking(doubled) is doubled
    True
    """
    if not isinstance(function, FunctionType) or not _names_type(function.__code__):
        return function
    if function.__globals__.get("type", builtins.type) is not builtins.type:
        return function
    names = {**function.__globals__, "type": _TypeOf}
    made = FunctionType(function.__code__, names, function.__name__, function.__defaults__, function.__closure__)
    made.__kwdefaults__ = function.__kwdefaults__
    return made


def _names_type(code: CodeType) -> bool:
    return "type" in code.co_names or any(isinstance(one, CodeType) and _names_type(one) for one in code.co_consts)


def unknown(what: str) -> NoReturn:
    """Raise the error of an operand's shape or dtype that no signature tells."""
    raise TraceError(
        f"{what} of an operand is not known while tracing: one kernel serves them all; declare it by signature=, as in "
        "signature='(f32[2, 3] x)', or pass it as an operand"
    )


class OpenShape(Sequence[int]):
    """A shape of which a signature declares some extents: those can be asked for, alone or in slices.

    Examples
    --------
    >>> OpenShape((None, 3))[-1]
    3
    """

    def __init__(self, extents: tuple[int | None, ...]) -> None:
        self._extents = extents

    def __len__(self) -> int:
        return len(self._extents)

    def __getitem__(self, at: Any) -> Any:
        found = self._extents[at]
        if isinstance(found, tuple):
            return found if None not in found else OpenShape(found)
        return unknown(f"the extent of dim {range(len(self))[at]}") if found is None else found

    def __eq__(self, other: object) -> bool:
        return tuple(self) == other

    __hash__ = None  # type: ignore[assignment]


class Declared(metaclass=Kind):
    """What an array is asked for beside its values: a stand-in knows what a signature declares of its operand."""

    __slots__ = ()
    builder: Builder
    node: Node

    @property
    def _parameter(self) -> str | None:
        """The name of the parameter that this is the value of; None for what is computed."""
        return self.node.name if isinstance(self.node, Operand) else None

    @property  # type: ignore[misc]
    def __class__(self) -> NoReturn:  # type: ignore[override]
        file, line = users_line()
        asking = sys._getframe(1).f_code.co_filename
        package = package_of(asking)
        # NumPy and this package ask on behalf of the function that calls them.
        known = is_ours(asking) or package in (None, package_of(file))
        error = AskedError(str(asked(self._parameter) if known else _asked_by(str(package))), _instruction(1))
        self.builder.refused.append(placed(error, f"at {file}:{line}") if file else error)
        raise error

    def _declared(self, what: str) -> TensorType:
        """Return the operand's declared type; raise if no signature gives one."""
        declared = self.builder.types.get(self.node)
        return unknown(what) if declared is None else declared

    @property
    def dtype(self) -> np.dtype[Any]:
        """The declared dtype."""
        declared = self._declared("the dtype")
        return unknown("the dtype") if declared.dtype is None else declared.dtype.np

    @property
    def ndim(self) -> int:
        """The declared rank."""
        declared = self._declared("the rank")
        return unknown("the rank") if declared.unranked else len(declared.dims)

    @property
    def shape(self) -> Sequence[int]:
        """The declared shape; an extent that is left open cannot be asked for."""
        declared = self._declared("the shape")
        extents = tuple(dim.extent for dim in declared.dims)
        whole = tuple(extent for extent in extents if extent is not None)
        if declared.unranked:
            return unknown("the shape")
        return whole if len(whole) == len(extents) else OpenShape(extents)

    @property
    def size(self) -> int:
        """The number of elements of the declared shape."""
        return prod(self.shape)

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of an operand without dims")
        return self.shape[0]
