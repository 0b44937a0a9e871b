"""Values: what a name may stand for while a function of scalars is read, and conditions on elements.

In: values of two branches, and the condition between them.  Out: one value.

    choose(c, x + 1, x)   ->   where(c, t0, x)            choose(c, 2, 2)   ->   2

A value is a node of the expression (it differs from element to element), a :class:`Static` Python object, a tuple of
values, or :class:`Missing`. A condition is a bool where it is known, else a node of bools.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...core.dtypes import BOOL, F64, DType
from ...core.errors import DTypeError
from ...core.frozen import dataclass
from ...ops.row import Op
from ...ops.rows.conversions import CAST
from ...ops.table import OPS
from ..build import Builder
from ..constants import constant_from
from ..nodes import Apply, Constant, Node, Notes, Operand, Remap

__all__ = ["BRANCHES", "SHAPE", "Condition", "Conditions", "Env", "Missing", "Static", "Value", "is_node"]

# Notes for typing. A selection between branches is weak if both of its values are. A selection that only gives a value
# the shape of another operand has the type of the value.
BRANCHES = Notes(branches=True)
SHAPE = Notes(guards="any")


@dataclass(frozen=True, slots=True, eq=False)
class Static:
    """A Python object that is known while the function is read."""

    value: Any


@dataclass(frozen=True, slots=True)
class Missing:
    """No value, or none that an expression can hold; `why` is said where it is used."""

    why: str


# Tuples hold values, to any depth.
Value = Node | Static | Missing | tuple[Any, ...]
Env = Mapping[str, Value]
Condition = bool | Node


def is_node(value: object) -> bool:
    """Whether a value differs from element to element."""
    return isinstance(value, (Operand, Constant, Apply, Remap))


class Conditions:
    """The logic of conditions, and choices by them, in one expression."""

    def __init__(self, builder: Builder) -> None:
        self.builder = builder
        self._bools: dict[Node, bool] = {}

    def node(self, condition: Condition) -> Node:
        """Return a condition as a node."""
        return self.builder.constant(condition) if isinstance(condition, bool) else condition

    def truth(self, value: Node) -> Condition:
        """Return where a value is not zero."""
        return value if self.is_bool(value) else self.builder.convert(value, BOOL)

    def is_bool(self, value: Node) -> bool:
        """Whether a node's elements are bools, whatever the operands of the function are."""
        known, stack = self._bools, [value]
        while stack:
            node = stack[-1]
            asked = _of_bools(node)
            below = asked if isinstance(asked, tuple) else ()
            open_ = [other for other in below if other not in known]
            if open_:
                stack += open_
                continue
            known[node] = asked if isinstance(asked, bool) else all(known[other] for other in below)
            stack.pop()
        return known[value]

    def both(self, a: Condition, b: Condition) -> Condition:
        """Return where two conditions hold."""
        if isinstance(a, bool):
            return b if a else False
        if isinstance(b, bool):
            return a if b else False
        return a if a is b else self.builder.apply(OPS["logical_and"], (a, b))

    def either(self, a: Condition, b: Condition) -> Condition:
        """Return where one of two conditions holds."""
        if isinstance(a, bool):
            return True if a else b
        if isinstance(b, bool):
            return True if b else a
        return a if a is b else self.builder.apply(OPS["logical_or"], (a, b))

    def negated(self, a: Condition) -> Condition:
        """Return where a condition does not hold."""
        if isinstance(a, bool):
            return not a
        negation = OPS["logical_not"]
        if isinstance(a, Apply) and a.op is negation and self.is_bool(a.operands[0]):
            return a.operands[0]
        return self.builder.apply(negation, (a,))

    def by(self, condition: Condition, a: Condition, b: Condition) -> Condition:
        """Return where the one of two conditions holds that another one picks."""
        if a is b:
            return a
        return self.either(self.both(condition, a), self.both(self.negated(condition), b))

    def choose(self, condition: Condition, a: Value, b: Value) -> Value:  # noqa: PLR0911
        """Return the value that is `a` where the condition holds, and else `b`."""
        if isinstance(condition, bool):
            return a if condition else b
        if a is b or isinstance(a, Missing):
            return a
        if isinstance(b, Missing):
            return b
        if isinstance(a, Static) and isinstance(b, Static) and _same(a.value, b.value):
            return a
        if isinstance(a, tuple) and isinstance(b, tuple) and len(a) == len(b):
            return tuple(self.choose(condition, *pair) for pair in zip(a, b, strict=True))
        nodes = self._number(a), self._number(b)
        if nodes[0] is None or nodes[1] is None:
            return Missing(f"is {_shown(a)} in one branch and {_shown(b)} in the other, and no selection holds both")
        if nodes[0] is nodes[1]:
            return nodes[0]
        return self.builder.apply(OPS["where"], (condition, nodes[0], nodes[1]), notes=BRANCHES)

    def choose_all(self, condition: Condition, a: Env, b: Env) -> Env:
        """Return the names of two branches, each with the value that :meth:`choose` gives."""
        if isinstance(condition, bool):
            return a if condition else b
        unset = Missing("is not set on every way to here; give it a value first")
        return {
            name: self.choose(condition, a.get(name, unset), b.get(name, unset)) for name in dict.fromkeys((*a, *b))
        }

    def _number(self, value: Value) -> Node | None:
        if isinstance(value, Static):
            made = constant_from(value.value)
            return None if made is None else self.builder.keep(made)
        return None if isinstance(value, (Missing, tuple)) else value


def _of_bools(node: Node) -> bool | tuple[Node, ...]:
    """Return whether a node's elements are bools whatever its operands are, or the operands that have to be."""
    if isinstance(node, Constant):
        return node.dtype is BOOL
    if not isinstance(node, Apply):
        return False
    if node.op is CAST:
        return dict(node.params)["dtype"] is BOOL
    if node.op.selects:
        return node.operands[1:]
    if _gives_bools(node.op, F64):
        return True
    return _gives_bools(node.op, BOOL) and node.operands


def _gives_bools(op: Op, of: DType) -> bool:
    """Return whether an op gives bools for operands of a dtype."""
    try:
        return op.rule(op.name, (of,) * op.arity)[1] is BOOL
    except DTypeError:
        return False


def _same(a: Any, b: Any) -> bool:
    """Whether two objects are one, or equal numbers of one type; 0.0 and -0.0 differ."""
    return a is b or (type(a) is type(b) and isinstance(a, (bool, int, float, str)) and repr(a) == repr(b))


def _shown(value: Value) -> str:
    if isinstance(value, Static):
        return repr(value.value)
    if isinstance(value, tuple):
        return f"a tuple of {len(value)}"
    return "a number"
