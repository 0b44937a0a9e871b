"""NumExpr: the function traced to text.

In: a case.  Out: the call of a compiled expression.

    a * 2.0 + b -> NumExpr("((x0 * (2.0)) + x1)")
"""

from __future__ import annotations

from functools import cache, partial
from importlib import import_module
from types import FunctionType
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from ..measure import Call, call
from ..spelling import COMPOSED, NoForm, names, rebound
from ..workloads import Array
from .peer import Case, Peer

__all__ = ["ROWS", "Text"]

_INFIX = {
    "add": "+",
    "subtract": "-",
    "multiply": "*",
    "divide": "/",
    "floor_divide": "//",
    "remainder": "%",
    "power": "**",
    "bitwise_and": "&",
    "bitwise_or": "|",
    "bitwise_xor": "^",
    "left_shift": "<<",
    "right_shift": ">>",
    "equal": "==",
    "less": "<",
    "less_equal": "<=",
    "greater": ">",
    "greater_equal": ">=",
}
_PREFIX = {"negative": "-", "invert": "~"}
_RENAMED = {"absolute": "abs"}
# It has no small integers and no half floats, and no conversions.
_DTYPES = {"bool": "b", "int32": "i", "int64": "l", "float32": "f", "float64": "d"}


class Text(NDArrayOperatorsMixin):
    """An operand that writes down what is done to it; NumPy scalars become further operands, to keep their dtype."""

    def __init__(self, text: str, scalars: list[Array]) -> None:
        self.text, self.scalars = text, scalars

    def _write(self, value: Any) -> str:
        if isinstance(value, Text):
            return value.text
        if isinstance(value, np.generic):
            self.scalars.append(np.asarray(value))
            return f"k{len(self.scalars) - 1}"
        return f"({value!r})"

    def _apply(self, name: str, inputs: tuple[Any, ...]) -> Text:
        parts = [self._write(value) for value in inputs]
        if name in _INFIX:
            return Text(f"({parts[0]} {_INFIX[name]} {parts[1]})", self.scalars)
        if name in _PREFIX:
            return Text(f"({_PREFIX[name]}{parts[0]})", self.scalars)
        return Text(f"{_RENAMED.get(name, name)}({', '.join(parts)})", self.scalars)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        return self._apply(ufunc.__name__, inputs) if method == "__call__" and not options else NotImplemented

    def __array_function__(self, function: Any, types: Any, inputs: tuple[Any, ...], options: Any) -> Any:
        if function is np.sum and options.keys() <= {"axis"}:
            axis = "".join(f", axis={number}" for number in options.values())
            return Text(f"sum({self._write(inputs[0])}{axis})", self.scalars)
        return self._apply(function.__name__, inputs) if not options else NotImplemented


@cache
def _functions() -> frozenset[str]:
    """Names of the functions that it has."""
    return frozenset(import_module("numexpr.expressions").functions)


def _known(name: str) -> bool:
    return name in _functions() or name in _INFIX or name in _PREFIX or name in _RENAMED


def _numexpr(case: Case) -> Call | None:
    function = case.workload.function
    assert isinstance(function, FunctionType)
    if not {*case.dtypes, case.workload.result} <= _DTYPES.keys() or "astype" in function.__code__.co_names:
        return None
    if lacking := [name for name in names(function) if hasattr(np, name) and not _known(name)]:
        raise NoForm(f"numexpr has no {', '.join(lacking)}")
    necompiler = import_module("numexpr.necompiler")
    scalars: list[Array] = []
    text = rebound(function, COMPOSED)(*(Text(f"x{i}", scalars) for i in range(len(case.operands)))).text
    named = {f"x{i}": operand for i, operand in enumerate(case.operands)} | {f"k{i}": k for i, k in enumerate(scalars)}
    signature = [(name, necompiler.getType(array)) for name, array in named.items()]
    # The compiled expression itself: evaluate() would look it up by its text in each call.
    compiled = necompiler.NumExpr(text, signature)
    if _DTYPES[case.workload.result] != chr(compiled.fullsig[0]):
        raise NoForm("numexpr gives another dtype")
    return call(compiled if case.out is None else partial(compiled, ex_uses_vml=False), tuple(named.values()), case.out)


def _limit(threads: int) -> None:
    import_module("numexpr").set_num_threads(threads)


ROWS = (Peer("numexpr", "numexpr", _numexpr, _limit),)
