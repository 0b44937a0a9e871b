"""Reductions: what combines the elements along some dims into one.

In: a name.  Out: its :class:`Reduction`: the step that combines two values, its dtype rule, its reference.

    REDUCTIONS["sum"].types(I8)  ->  values are i64, as are their sum and the result

The value of no elements is the identity of the step; a row without an identity refuses dims of extent 0. The run time's
C of a step is in csrc/runtime/run_steps.inc, under the name in `step`; all other forms are those of the op `combines`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.dtypes import BOOL, F32, F64, I64, U64, DType, in_numpy_code
from ...core.errors import DTypeError
from ...core.frozen import dataclass

__all__ = ["REDUCTIONS", "Reduction"]

# From the name of a reduction and the dtype of its values: the dtype they are combined in, and the result's dtype.
_Rule = Callable[[str, DType], tuple[DType, DType]]


@dataclass(frozen=True, slots=True)
class Reduction:
    """One row.

    Attributes
    ----------
    name : NumPy's name of the reduction.
    step : the name of the step in C: ``BCG_STEP_<step>``.
    rule : the dtype of values -> the dtype they are combined in, and the result's.
    doc : one sentence.
    reference : NumPy's function, of an array, `axis`, and `keepdims`.
    identity : the value of no elements; None if there is none.
    divides : whether the result is divided by the number of elements, less `ddof`.
    combines : the op that combines two values; empty for an index.
    """

    name: str
    step: str
    rule: _Rule
    doc: str
    reference: Callable[..., Any]
    identity: bool | int | None = None
    divides: bool = False
    combines: str = ""

    def types(self, values: DType) -> tuple[DType, DType, DType]:
        """Return three dtypes: of values while they are combined, of the combined value, and of the result.

        Raises
        ------
        DTypeError
            If the reduction is not defined for values of this dtype.

        Examples
        --------
        >>> from bcastgen.core.dtypes import F16
        >>> [str(one) for one in REDUCTIONS["mean"].types(F16)]
        ['f32', 'f32', 'f16']
        """
        if values.is_storage:
            raise DTypeError(f"{self.name}({values}): {values.cure}")
        loop, result = self.rule(self.name, values)
        # An index does not have the dtype of the values.
        return loop, result if self.gives_index else loop, result

    def neutral(self, values: DType) -> bool | float:
        """Return a value that changes none it is combined with.

        Examples
        --------
        >>> REDUCTIONS["min"].neutral(F32), REDUCTIONS["max"].neutral(I64), REDUCTIONS["prod"].neutral(F64)
        (inf, -9223372036854775808, 1)
        """
        if self.identity is not None:
            return self.identity
        if values.is_float:
            return float("inf") if self.is_least else float("-inf")
        if values.kind == "bool":
            return self.is_least
        return values.max if self.is_least else values.min

    def in_any_order(self, combined: DType) -> bool:
        """Whether values that are combined in a dtype give the same in any order.

        Examples
        --------
        >>> REDUCTIONS["sum"].in_any_order(I64), REDUCTIONS["sum"].in_any_order(F64)
        (True, False)
        """
        return not self.gives_index and not combined.is_inexact

    @property
    def is_least(self) -> bool:
        """Whether it looks for the least of the values, or its index."""
        return self.step in ("MIN", "ARGMIN")

    @property
    def gives_index(self) -> bool:
        """Whether it gives where a value is, not a value."""
        return not self.combines


def _wide(_name: str, values: DType) -> tuple[DType, DType]:
    """Integers are combined in 64 bits, 16-bit floats in f32, which is rounded once."""
    if values.kind in ("bool", "signed"):
        return I64, I64
    if values.kind == "unsigned":
        return U64, U64
    return (F32, values) if values.is_float16 else (values, values)


def _mean(_name: str, values: DType) -> tuple[DType, DType]:
    if values.kind == "bool" or values.is_integer:
        return F64, F64
    return (F32, values) if values.is_float16 else (values, values)


def _own(name: str, values: DType) -> tuple[DType, DType]:
    if values.is_complex:
        raise DTypeError(f"{name}({values}): complex numbers have no order here; use .real, .imag or absolute")
    return (F32, values) if values.is_float16 else (values, values)


def _index(name: str, values: DType) -> tuple[DType, DType]:
    return _own(name, values)[0], I64


def _truth(_name: str, _values: DType) -> tuple[DType, DType]:
    return BOOL, BOOL


def _mean_of(x: Any, axis: Any, keepdims: bool, ddof: int = 0) -> Any:
    total = np.sum(x, axis=axis, keepdims=keepdims)
    count = x.size // max(total.size, 1) if x.size else _count(x.shape, axis)
    divisor = np.asarray(max(count - ddof, 0), in_numpy_code(x.dtype).part.np)
    with np.errstate(all="ignore"):
        if total.dtype.kind != "c":
            return np.asarray(total / divisor)
        return np.asarray(total / np.asarray(divisor, np.complex128), total.dtype)


def _count(shape: tuple[int, ...], axis: tuple[int, ...] | None) -> int:
    count = 1
    for dim in range(len(shape)) if axis is None else axis:
        count *= shape[dim]
    return count


def _at(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the reference of argmin or argmax: NumPy's function takes one axis, or None for all."""

    def reference(x: Any, axis: Any, keepdims: bool) -> Any:
        return function(x, axis=None if axis is None else axis[0], keepdims=keepdims)

    return reference


REDUCTIONS: dict[str, Reduction] = {
    row.name: row
    for row in (
        Reduction("sum", "ADD", _wide, "Sum; integers wrap in 64 bits.", np.sum, 0, combines="add"),
        Reduction("prod", "MULTIPLY", _wide, "Product; integers wrap in 64 bits.", np.prod, 1, combines="multiply"),
        Reduction("mean", "ADD", _mean, "Sum, divided by how many elements there are.", _mean_of, 0, True, "add"),
        Reduction("min", "MIN", _own, "Least element; NaN where one is NaN.", np.min, combines="minimum"),
        Reduction("max", "MAX", _own, "Largest element; NaN where one is NaN.", np.max, combines="maximum"),
        Reduction("any", "MAX", _truth, "Whether an element is true.", np.any, False, combines="logical_or"),
        Reduction("all", "MIN", _truth, "Whether all elements are true.", np.all, True, combines="logical_and"),
        Reduction("argmin", "ARGMIN", _index, "Index of the least element, of the first NaN.", _at(np.argmin)),
        Reduction("argmax", "ARGMAX", _index, "Index of the largest element, of the first NaN.", _at(np.argmax)),
    )
}
