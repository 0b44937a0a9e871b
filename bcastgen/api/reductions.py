"""Reductions as functions: ``bcastgen.sum(x, axis=1)``, in a kernel and outside of one.

In: an array, or a traced value, and NumPy's arguments.  Out: what NumPy's function of that name gives.

    mean(a, axis=0, keepdims=True)   ->   the kernel of these arguments, called with a

Each combination of arguments is one kernel, made at its first call.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Any

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
    function.__qualname__ = name  # Python's errors of arguments show it

    @with_short_tracebacks
    @wraps(function)
    def reduce(x: Any, axis: Any = None, *, out: Any = None, **options: Any) -> Any:
        given = {"axis": tuple(axis) if isinstance(axis, list) else axis, **options}
        if any(map(is_tracer, (x, *options.values()))):
            return function(x, **given)
        if given.get("dtype") is not None:
            given["dtype"] = in_numpy_code(given["dtype"])
        for option, value in given.items():
            if option != CHOICE and not is_hashable(value):
                raise ArgumentError(f"{name}(): {option}={value!r} is no value that it takes")
        masks = [] if given.get(CHOICE, True) is True else [given.pop(CHOICE)]
        return _kernel(name, bool(masks), tuple(sorted(given.items())))(x, *masks, out=out)

    reduce.__name__ = reduce.__qualname__ = name
    reduce.__module__ = "bcastgen"
    return reduce


@lru_cache(maxsize=1024)
def _kernel(name: str, has_mask: bool, options: tuple[tuple[str, Any], ...]) -> Kernel:
    builder = Builder(("a", CHOICE)[: 1 + has_mask])
    a, *masks = (Tracer(builder, operand) for operand in builder.operands)
    made = FUNCTIONS[name](a, **dict(options), **({CHOICE: masks[0]} if masks else {}))
    names = tuple(operand.name for operand in builder.operands)
    return Kernel(builder.finish((made.node,)), name, names, options=Options(name))
