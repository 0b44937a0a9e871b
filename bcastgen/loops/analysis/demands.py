"""Demands: the values that decide whether a nest's ops are defined, which is asked before anything is written.

In: a nest, typed.  Out: the statements that ask something of elements, and the values that they ask it of.

    power(add(a, 1), b) of integers   ->  statement 1 asks b for 0 or more; a is not asked
"""

from __future__ import annotations

from ...expr.nodes import Constant
from ..nest import Load, LoopProgram, Nest, Statement, Value, made_of

__all__ = ["demanded_values", "demanding_statements", "demands_reduced", "is_demanding"]


def demanding_statements(nest: Nest) -> list[int]:
    """Return the numbers of the statements that may be undefined for an element."""
    return [at for at, one in enumerate(nest.body) if is_demanding(one)]


def is_demanding(statement: Statement) -> bool:
    """Whether an op asks; a constant was checked when the expression was typed."""
    return any(not isinstance(value, Constant) for value in _asked(statement))


def _asked(statement: Statement) -> list[Value]:
    """Return the values that an op's condition reads."""
    return [statement.operands[at] for at in statement.op.demanded_of(statement.operand_dtypes)]


def demanded_values(nest: Nest) -> tuple[frozenset[int], set[Value]]:
    """Return the statements that compute what is asked for, and all values that these read, loads among them."""
    asked = {value for at in demanding_statements(nest) for value in _asked(nest.body[at])}
    return made_of(nest, asked, frozenset(range(len(nest.body))))


def demands_reduced(program: LoopProgram, nest: Nest) -> bool:
    """Whether what is asked for is computed from what reductions give, so that these are made before it is asked."""
    given = {one.operand for one in program.reduced}
    if not given:
        return False
    read = {nest.operands[value.access].number for value in demanded_values(nest)[1] if isinstance(value, Load)}
    return not given.isdisjoint(read)
