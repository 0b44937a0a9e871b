"""Kernels of functions that NumPy calls with further numbers: `clip`, `round`, `isclose`, `nan_to_num`, `angle`.

In: a call as NumPy's function takes it.  Out: the call of a kernel that holds what is no operand.

    clip(x, None, 7)            ->  minimum(x, 7)
    clip(x, min=0)              ->  maximum(x, 0)
    round(x, decimals=2)        ->  the kernel of numpy.round(x, 2), which is made once and kept
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from ..expr.trace import is_tracer, trace
from .kernel import Kernel
from .ufunc_keywords import KEYWORDS

__all__ = ["FunctionKernel"]


class FunctionKernel(Kernel):
    """A kernel whose calls may give numbers behind its operands, and leave operands out by None."""

    # The function whose parameters a call takes; None in kernels made from this one, whose calls give operands only.
    _function: Callable[..., Any] | None = None

    def of(self, function: Callable[..., Any]) -> FunctionKernel:
        """Return this kernel, called as a function of `expr.compositions` is."""
        self._function, self._parameters = function, inspect.signature(function)
        self._held: dict[object, Kernel] = {}
        return self

    @property
    def _takes_more(self) -> bool:
        return self._function is not None

    def _call_as_ufunc(self, args: tuple[Any, ...], by_name: dict[str, Any]) -> Any:
        call = self._bound(args, by_name)
        if call is None:
            return super()._call_as_ufunc(args, by_name)
        operands, given, keywords = call
        if any(map(is_tracer, operands.values())):
            assert self._function is not None
            return self._function(**operands, **given)
        key = (tuple(operands), tuple((name, type(value), repr(value)) for name, value in given.items()))
        if key not in self._held:
            self._held[key] = self._with(tuple(operands), given)
        held = self._held[key]
        held.scalars, held.threads = self.scalars, self.threads
        if held.errors != self.errors:
            held.errors = self.errors
        return held(*operands.values(), **keywords)

    def _bound(
        self, args: tuple[Any, ...], by_name: dict[str, Any]
    ) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]] | None:
        """Return the operands of a call, what else it gives, and keywords; None if it gives operands alone."""
        if self._function is None:
            return None
        keywords = {name: value for name, value in by_name.items() if name in KEYWORDS or name in ("out", "sig")}
        named = {name: value for name, value in by_name.items() if name not in keywords}
        if not named.keys() <= self._parameters.parameters.keys():
            return None
        try:
            found = self._parameters.bind(*args, **named).arguments
        except TypeError:
            return None
        plain = len(args) == self.nin and not named and not any(value is None for value in args)
        if plain:
            return None
        arrays = {"min", "max", *tuple(self._parameters.parameters)[: self.nin]}
        given = {name: value for name, value in found.items() if name not in arrays and not _is_array(value)}
        operands = {name: value for name, value in found.items() if name not in given and value is not None}
        return operands, given, keywords

    def _with(self, names: tuple[str, ...], given: dict[str, Any]) -> Kernel:
        """Return the kernel of the function with these numbers."""
        function = self._function
        assert function is not None
        expression = trace(lambda *values: function(**dict(zip(names, values, strict=True)), **given), names)
        made = Kernel(expression, self._name, names, len(expression.results), options=self._options)
        made.__doc__ = self.__doc__
        return made


def _is_array(value: object) -> bool:
    return is_tracer(value) or isinstance(value, np.ndarray)
