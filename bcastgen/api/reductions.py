"""Reductions as functions: ``bcastgen.sum(x, axis=1)``, in a kernel and outside of one.

In: an array, or a traced value, and NumPy's arguments.  Out: what NumPy's function of that name gives.

    mean(a, axis=0, keepdims=True)   ->   the kernel of these arguments, called with a

Each combination of arguments is one kernel, made at its first call.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from inspect import signature
from typing import Any

import numpy as np

from ..core.dtypes import in_numpy_code
from ..core.errors import ArgumentError
from ..core.options import is_hashable
from ..core.source_lines import with_short_tracebacks
from ..expr.build import Builder
from ..expr.reductions import FUNCTIONS
from ..expr.text_reductions import CHOICE
from ..expr.trace import Tracer, is_tracer
from ..kernel.kernel import Kernel
from ..pipeline.options import Options

__all__ = ["reduction_function"]

# The arguments that may be operands of the kernel.
ARRAYS = (CHOICE, "mean")


def reduction_function(name: str) -> Callable[..., Any] | None:
    """Return the function of a reduction; None if there is none of the name.

    Examples
    --------
    >>> import numpy as np
    >>> reduction_function("sum")(np.ones((2, 3)), axis=1)
    array([3., 3.])
    """
    function = FUNCTIONS.get(name)
    if function is None:
        return None

    @with_short_tracebacks
    @wraps(function)
    def reduce(x: Any, *args: Any, out: Any = None, **options: Any) -> Any:
        axis = args[0] if args else options.get("axis")
        has_more = len(args) > 1 or len(options) > (not args and "axis" in options)
        if not has_more and out is None and (axis is None or type(axis) is int) and not is_tracer(x):
            return _kernel(name, (), (("axis", axis),), "")(x)  # the usual call, which costs least
        given = _by_name(name, args, options) if args else options
        out = given.pop("out", out)
        if any(map(is_tracer, (x, *given.values()))):
            return function(x, **given)
        if given.get("dtype") is not None:
            given["dtype"] = in_numpy_code(given["dtype"])
        arrays = tuple(one for one in ARRAYS if _is_array(given.get(one)))
        operands = [given.pop(one) for one in arrays]
        for option, value in given.items():
            if isinstance(value, np.ndarray) and value.ndim == 0:
                given[option] = value[()]
            elif not is_hashable(value):
                raise ArgumentError(f"{name}(): {option}={value!r} is no value that it takes")
        settings = tuple(sorted(given.items()))
        # Values that are equal may differ: 1, 1.0 and True do, as 0.0 and -0.0. The text is never that of a usual call.
        return _kernel(name, arrays, settings, repr(settings))(x, *operands, out=out)

    reduce.__name__ = reduce.__qualname__ = name
    reduce.__module__ = "bcastgen"
    return reduce


def _by_name(name: str, args: tuple[Any, ...], options: dict[str, Any]) -> dict[str, Any]:
    """Return arguments by name, which NumPy's function takes in the same places."""
    places = [
        one.name for one in signature(FUNCTIONS[name]).parameters.values() if one.kind == one.POSITIONAL_OR_KEYWORD
    ]
    given = dict(zip(places[1:], args, strict=False))
    twice = [one for one in given if one in options]
    if len(given) < len(args) or twice:
        what = f"it was given {twice[0]} twice" if twice else f"{len(args) + 1} were given"
        raise ArgumentError(f"{name}() takes {', '.join(places)} by position, and {what}; name the others")
    return given | options


def _is_array(value: Any) -> bool:
    """Whether an argument is an operand of the kernel: what has elements, or a number of NumPy's."""
    return value is not None and value is not True and not isinstance(value, (bool, int, float, str, type))


class _Reduction(Kernel):
    """A kernel whose result is not broadcast to an `out` that is larger: NumPy's reductions are not."""

    _stretches_to_outs = False


@lru_cache(maxsize=1024)
def _kernel(name: str, arrays: tuple[str, ...], options: tuple[tuple[str, Any], ...], shown: str) -> Kernel:
    builder = Builder(("a", *arrays))
    a, *others = (Tracer(builder, operand) for operand in builder.operands)
    made = FUNCTIONS[name](a, **dict(options), **dict(zip(arrays, others, strict=True)))
    return _Reduction(builder.finish((made.node,)), name, ("a", *arrays), options=Options(name))
