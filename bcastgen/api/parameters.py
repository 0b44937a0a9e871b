"""Parameters: which parameters of a function are operands, and which are known when its kernel is made.

In: a function, and the names that its decorator says are static.  Out: a kernel, or a function that picks one.

    def f(x, mode="a", *, k=None)   with static=("mode",)   ->   operand x; mode is static; k is, where it is None
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import Parameter, signature
from typing import Any

import numpy as np

from ..core.errors import BcastgenError, TraceError
from ..core.forks import undivided
from ..core.options import names_of
from ..kernel.kernel import Kernel

__all__ = ["Make", "Parameters", "check_names"]

# Makes the kernel of these operands, for these values of the other parameters.
Make = Callable[[tuple[str, ...], tuple[object, ...], Mapping[str, object]], Kernel]


def check_names(names: tuple[str, ...], error: type[BcastgenError]) -> None:
    """Refuse an operand named ``out``, the argument that takes the results' arrays."""
    if "out" in names:
        raise error("no operand can be called 'out', which a call's out= is; give it another name")


class Parameters:
    """The parameters of a function; `static` are those that are Python values and no operands."""

    def __init__(self, function: Callable[..., Any], static: str | tuple[str, ...] = ()) -> None:
        self.name = getattr(function, "__name__", "the function")
        if isinstance(function, classmethod):
            raise TraceError(f"{self.name} is a classmethod, which cannot be called yet; put @classmethod above")
        if isinstance(function, str):
            raise TraceError(
                f"jit takes a function, not the text {function!r:.60}; texts are read by bcastgen.from_text, and "
                "declared types are given as signature=..."
            )
        try:
            self.signature = signature(function)
        except (TypeError, ValueError) as error:
            raise TraceError(f"the parameters of {function!r} cannot be read ({error}); wrap it in a lambda") from None
        if isinstance(function, Kernel):
            raise TraceError(f"{self.name} is a kernel already: call it, or give the options where it is made")
        self.static = names_of("static", static)
        self.all = tuple(self.signature.parameters.values())
        unknown = [name for name in self.static if name not in self.signature.parameters]
        if unknown:
            raise TraceError(f"static={unknown[0]!r} is no parameter of {self.name}{self.signature}")
        self.operands = tuple(parameter for parameter in self.all if parameter.name not in self.static)
        if not self.operands:
            raise TraceError(f"{self.name} takes no operands; give it at least one")
        if "out" in self.signature.parameters:
            raise TraceError(
                f"{self.name} has a parameter 'out', and no operand can be called 'out', which a call's out= is; give "
                "it another name, or wrap the function in a lambda"
            )
        for parameter in self.all:
            if parameter.kind is Parameter.VAR_KEYWORD:
                raise TraceError(f"parameter '{parameter}' has no places and names; name every operand")
        self.is_method = _is_method(function, self.all[0].name)

    @property
    def is_plain(self) -> bool:
        """Whether every call has the same operands, each with a place and a name."""
        kinds = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
        return not (self.static or self.is_method) and all(
            parameter.kind in kinds and parameter.default is not None for parameter in self.all
        )

    def arguments(self, values: Mapping[str, Any]) -> tuple[list[Any], dict[str, Any]]:
        """Return the arguments that call the function with these values, those of ``*args`` by ``args0``, ...."""
        args: list[Any] = []
        keywords: dict[str, Any] = {}
        for parameter in self.all:
            if parameter.kind is Parameter.VAR_POSITIONAL:
                names = [name for name in values if name not in self.signature.parameters]
                args += [values[name] for name in names if name.removeprefix(parameter.name).isdigit()]
            elif parameter.kind is Parameter.KEYWORD_ONLY:
                keywords[parameter.name] = values[parameter.name]
            else:
                args.append(values[parameter.name])
        return args, keywords


def _is_method(function: Callable[..., Any], first: str) -> bool:
    """Whether a function in a class takes the object, or the class, first: by its name, or what is done with it."""
    outer = getattr(function, "__qualname__", "").rpartition(".")[0]
    if not outer or outer.endswith("<locals>"):
        return False
    return first in ("self", "cls") or not _is_array(function, first)


def _is_array(function: Callable[..., Any], name: str) -> bool:
    """Whether a function uses a parameter, and reads nothing from it that arrays do not have."""
    code = getattr(function, "__code__", None)
    if code is None or name in code.co_cellvars:
        return True
    with undivided:
        from dis import get_instructions  # noqa: PLC0415 - most functions are in no class
    steps = list(get_instructions(code))
    # Newer versions load two at a time, the last of which is on top.
    loads = [
        (step.argval if isinstance(step.argval, tuple) else (step.argval,))
        if step.opname.startswith("LOAD_FAST")
        else ()
        for step in steps
    ]
    read = {
        step.argval
        for names, step in zip(loads, steps[1:], strict=False)
        if names[-1:] == (name,) and step.opname in ("LOAD_ATTR", "LOAD_METHOD")
    }
    return read <= {*dir(np.ndarray)} and any(name in names for names in loads)
