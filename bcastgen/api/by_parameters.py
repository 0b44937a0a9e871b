"""The kernel of a function, where all of its parameters are operands; else what picks a kernel by the others' values.

In: a function, its parameters, and what makes a kernel of it.  Out: a kernel, or a :class:`SpecializedKernel`.

    specialized(f, "f", Parameters(f, static="mode"), make)  ->  <kernels of f(x, mode)>
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import Parameter
from typing import Any

from ..core.forks import undivided
from .parameters import Make, Parameters

__all__ = ["specialized"]


def specialized(function: Callable[..., Any], name: str, parameters: Parameters, make: Make) -> Any:
    """Return the kernel of a function, or what picks one by the values of parameters that are no operands."""
    if parameters.is_plain:
        names = tuple(parameter.name for parameter in parameters.all)
        defaults = tuple(p.default for p in parameters.all if p.default is not Parameter.empty)
        return make(names, defaults, {})
    with undivided:
        from .specialized import SpecializedKernel  # noqa: PLC0415 - most functions have operands only
    return SpecializedKernel(function, name, parameters, make)
