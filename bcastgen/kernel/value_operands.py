"""Operands whose values decide a result's extents: which these are, and how a call reads them, once.

In: an expression; an argument of a call.  Out: its value operands; an array of int64 that nobody else holds.

    read_values("n", ValueOperand("count", "copies", "index"), np.uint8(3))  ->  array(3)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..core.errors import BroadcastError, DTypeError
from ..core.frozen import dataclass
from ..expr.nodes import Expression, Node, Operand, Sizing
from ..ops.maps import value_types
from ..shape.dialect.values import MAX_RANK

__all__ = ["ValueOperand", "read_values", "role_of", "value_operands", "values_of"]


@dataclass(frozen=True, slots=True)
class ValueOperand:
    """An operand of a kernel whose values an op's shape function takes: its name there, the op, the values' type."""

    name: str
    op: str
    type: str

    @property
    def rank(self) -> int | None:
        """The rank that such an operand has, None for any."""
        return {"index": 0, "!shape.value_shape": None}.get(self.type, 1)

    @property
    def unknown(self) -> np.ndarray[Any, Any]:
        """Values that stand for unknown ones, which nothing looks at."""
        digits = "".join(filter(str.isdigit, self.type))
        return np.zeros(() if self.rank == 0 else int(digits or 0), np.int64)

    def given(self, values: np.ndarray[Any, Any]) -> Any:
        """Return the values of a call as the program takes them."""
        if self.rank is None:
            return values
        return int(values) if self.rank == 0 else tuple(map(int, values))


def role_of(op: str) -> str:
    """Return what errors say of an operand whose values an op's shape function reads."""
    return f"its values decide extents of the result of {op}"


def value_operands(expression: Expression) -> dict[Operand, ValueOperand]:
    """Return the operands of a kernel whose values its ops' shape functions take.

    Raises
    ------
    BroadcastError
        If two of these functions take the values of one operand as different types.
    """
    found: dict[Operand, ValueOperand] = {}
    for sizing in expression.sizings:
        for name, node, type_ in values_of(sizing):
            if type_ is None or not isinstance(node, Operand):
                continue
            one = found.setdefault(node, ValueOperand(name, sizing.op.name, type_))
            if one.type != type_:
                raise BroadcastError(
                    f"operand '{node.name}' is of type {one.type} for {one.op}, and of type {type_} for "
                    f"{sizing.op.name}; give each an operand of its own",
                    operand=node.name,
                )
    return found


def values_of(sizing: Sizing) -> Iterator[tuple[str, Node, str | None]]:
    """Yield each operand of an op: its name, its value in the expression, the type of values that are read of it."""
    definition = sizing.op.definition
    assert definition is not None and definition.maps is not None
    yield from zip(definition.operands, sizing.operands, value_types(definition.maps), strict=True)


def read_values(name: str, one: ValueOperand, value: object) -> np.ndarray[Any, Any]:
    """Return a copy of an operand's values, as int64.

    Raises
    ------
    DTypeError
        If they are no integers.
    BroadcastError
        If there are more or fewer dims than the shape function takes, too many values, or one of more than 63 bits.

    Examples
    --------
    >>> read_values("n", ValueOperand("count", "copies", "index"), 3)
    array(3)
    """
    role = role_of(one.op)
    values = np.array(value)
    if values.dtype.kind not in "iu" and values.size:  # an empty list has no integers, and NumPy's dtype for it is f64
        raise DTypeError(f"operand '{name}' has dtype {values.dtype}, expected integers: {role}")
    if one.rank is not None and values.ndim != one.rank:
        wanted = "an integer" if one.rank == 0 else "a list of integers"
        raise BroadcastError(
            f"operand '{name}' has rank {values.ndim}, expected {wanted}: {role}",
            operand=name,
            expected=one.rank,
            actual=values.ndim,
        )
    if values.size > MAX_RANK:
        raise BroadcastError(
            f"operand '{name}' has {values.size} values, expected at most {MAX_RANK}: {role}", operand=name
        )
    for each in values.flat:
        if not -(2**63) <= int(each) < 2**63:
            raise BroadcastError(f"operand '{name}' has the value {each}, of more than 63 bits: {role}", operand=name)
        if one.rank == 1 and each < 0:
            raise BroadcastError(f"operand '{name}' has the value {each}, expected 0 or more: {role}", operand=name)
    return values.astype(np.int64)
