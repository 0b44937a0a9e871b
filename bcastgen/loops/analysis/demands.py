"""Demands: the values that decide whether a nest's ops are defined; calls check them before anything is written.

In: a nest, typed.  Out: the statements that have a condition on elements, and the values that the conditions read.

    power(add(a, 1), b) of integers   ->  statement 1 demands that b is 0 or more, and nothing of a
"""

from __future__ import annotations

from ...expr.nodes import Constant
from ..nest import Load, LoopProgram, Nest, Statement, Value, made_of

__all__ = ["demanded_values", "demanding_statements", "demands_reduced", "is_demanding"]


def demanding_statements(nest: Nest) -> list[int]:
    """Return the numbers of the statements that may be undefined for an element."""
    return [at for at, one in enumerate(nest.body) if is_demanding(one)]


def is_demanding(statement: Statement) -> bool:
    """Whether an op has a condition on elements; a constant was checked when the expression was typed."""
    return any(not isinstance(value, Constant) for value in _asked(statement))


def _asked(statement: Statement) -> list[Value]:
    """Return the values that an op's condition reads."""
    return [statement.operands[at] for at in statement.op.demanded_of(statement.operand_dtypes)]


def demanded_values(nest: Nest) -> tuple[frozenset[int], set[Value]]:
    """Return the statements that compute the demanded values, and all values that these read, loads among them."""
    asked = {value for at in demanding_statements(nest) for value in _asked(nest.body[at])}
    return made_of(nest, asked, frozenset(range(len(nest.body))))


def demands_reduced(program: LoopProgram, nest: Nest) -> bool:
    """Whether a demanded value is computed from a reduction's result, so that the reduction comes before the check."""
    given = {one.operand for one in program.reduced}
    if not given:
        return False
    read = {nest.operands[value.access].number for value in demanded_values(nest)[1] if isinstance(value, Load)}
    return not given.isdisjoint(read)
