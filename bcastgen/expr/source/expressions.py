"""Expressions: what an expression of a function of scalars gives, by Python's rules.

In: a syntax tree, and what its names stand for.  Out: a value, or a condition.

    -x if x < 0 else x       ->   where(less(x, 0), negative(x), x)
    0 <= x < n and y         ->   where(logical_and(greater_equal(x, 0), less(x, n)), y, False)

What is known is computed by Python itself. An operand of `and`, `or` and of a conditional expression is read under the
condition that Python would evaluate it.
"""

from __future__ import annotations

import ast
import builtins
import operator
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ...core.errors import BcastgenError, with_article
from ...ops.row import Op
from ..constants import constant_from
from ..folding import bits_beyond
from ..nodes import Constant, Node
from ..text import not_elementwise, row_of
from .frames import Frames
from .values import Condition, Missing, Static, Value, is_node

__all__ = ["INNER_FUNCTION", "Scope", "parts_of"]

_MOST_PARTS = 100_000

_BY_PYTHON: dict[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
    ast.Invert: operator.invert,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
    ast.In: lambda a, b: a in b,
    ast.NotIn: lambda a, b: a not in b,
}


def parts_of(value: Value) -> tuple[Value, ...] | None:
    """Return the values in a tuple, or in a Python object that can be run through; else None."""
    if isinstance(value, tuple):
        return value
    if not isinstance(value, Static) or not isinstance(value.value, (tuple, list, range, np.ndarray)):
        return None
    if len(value.value) > _MOST_PARTS if np.ndim(value.value) or not isinstance(value.value, np.ndarray) else True:
        return None
    return tuple(map(Static, value.value))


class Scope:
    """The expressions of one statement; `env` are the names at hand, which `:=` adds to."""

    def __init__(self, frames: Frames, env: dict[str, Value]) -> None:
        self.frames = frames
        self.logic = frames.logic
        self.env = env

    # ---- values ------------------------------------------------------------------------------------------------------

    def value(self, tree: ast.expr) -> Value:
        """Return what an expression gives."""
        with self.frames.at(tree):
            return self._value(tree)

    def node(self, tree: ast.expr, value: Value | None = None) -> Node:
        """Return what an expression gives as a node: a number."""
        found = self.value(tree) if value is None else value
        if isinstance(found, Missing):
            self.frames.fail(tree, f"{ast.unparse(tree)} {found.why}")
        if isinstance(found, tuple):
            self.frames.fail(tree, "a tuple is no number; name one of its parts")
        if not isinstance(found, Static):
            return found
        made = constant_from(found.value)
        if made is not None:
            return self.frames.builder.keep(made)
        if isinstance(found.value, np.ndarray):
            self.frames.fail(
                tree,
                f"an array of shape {found.value.shape} is no number; make it an operand, as by a default w=w",
            )
        return self.frames.fail(tree, f"{_shown(found.value)} is no number")

    def condition(self, tree: ast.expr) -> Condition:
        """Return for which elements an expression is true."""
        with self.frames.at(tree):
            match tree:
                case ast.BoolOp(op=op, values=values):
                    return self._connected(isinstance(op, ast.And), values)
                case ast.UnaryOp(op=ast.Not(), operand=operand):
                    return self.logic.negated(self.condition(operand))
            return self._truth(tree, self.value(tree))

    def _truth(self, tree: ast.expr, value: Value) -> Condition:
        if isinstance(value, tuple):
            return bool(value)
        if isinstance(value, Static):
            try:
                return bool(value.value)
            except (TypeError, ValueError) as error:
                self.frames.fail(tree, str(error))
        return self.logic.truth(self.node(tree, value))

    def _connected(self, is_and: bool, trees: list[ast.expr]) -> Condition:
        join = self.logic.both if is_and else self.logic.either
        made: Condition = is_and
        for tree in trees:
            if made is not is_and and isinstance(made, bool):
                break
            with self.frames.assuming(made if is_and else self.logic.negated(made)):
                made = join(made, self.condition(tree))
        return made

    def _value(self, tree: ast.expr) -> Value:  # noqa: PLR0911, PLR0912
        match tree:
            case ast.Constant(value=value):
                return Static(value)
            case ast.Name(id=name):
                return self._named(tree, name)
            case ast.Tuple(elts=parts) | ast.List(elts=parts) if not any(isinstance(x, ast.Starred) for x in parts):
                return tuple(map(self.value, parts))
            case ast.BinOp(left=left, op=op, right=right):
                return self.binary(tree, op, (left, right), (self.value(left), self.value(right)))
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return _static(self.logic.negated(self.condition(operand)))
            case ast.UnaryOp(op=op, operand=operand):
                return self.binary(tree, op, (operand,), (self.value(operand),))
            case ast.BoolOp(op=op, values=values):
                return self._operand_of(isinstance(op, ast.And), values)
            case ast.Compare():
                return _static(self._compared(tree))
            case ast.IfExp(test=test, body=body, orelse=orelse):
                condition = self.condition(test)
                if isinstance(condition, bool):
                    return self.value(body if condition else orelse)
                with self.frames.assuming(condition):
                    yes = self.value(body)
                with self.frames.assuming(self.logic.negated(condition)):
                    no = self.value(orelse)
                return self.logic.choose(condition, yes, no)
            case ast.NamedExpr(target=ast.Name(id=name), value=value):
                self.env[name] = self.value(value)
                return self.env[name]
            case ast.Attribute(value=value, attr=attribute):
                return self._attribute(tree, self.value(value), attribute)
            case ast.Subscript(value=value, slice=index):
                return self._item(tree, self.value(value), self.value(index))
            case ast.Call():
                return self.frames.called(self, tree)
        return self.frames.fail(tree, _CURES.get(type(tree), f"{type(tree).__name__} is not read here; use numbers"))

    def _named(self, tree: ast.expr, name: str) -> Value:
        if name in self.env:
            found = self.env[name]
            if isinstance(found, Missing):
                self.frames.fail(tree, f"{name} {found.why}")
            return found
        function = self.frames.function
        code = function.function.__code__
        closure = function.closure
        if name in closure:
            return Static(closure[name])
        if name in code.co_varnames or name in code.co_cellvars:
            self.frames.fail(tree, f"{name} is not set on every way to here; give it a value first")
        names: Iterable[dict[str, Any]] = (function.function.__globals__, vars(builtins))
        for known in names:
            if name in known:
                return Static(known[name])
        if name == code.co_name:
            self.frames.fail(tree, f"{name}() calls itself, how often differs from element to element; write a loop")
        return self.frames.fail(tree, f"the name {name} is not known, neither here nor in the module")

    # ---- operators ---------------------------------------------------------------------------------------------------

    def binary(self, tree: ast.expr, op: ast.AST, trees: tuple[ast.expr, ...], values: tuple[Value, ...]) -> Value:
        """Return an operator of one or two values: computed by Python where they are known."""
        known = [value.value for value in values if isinstance(value, Static)]
        if len(known) == len(values):
            return Static(self._computed(tree, _BY_PYTHON[type(op)], known))
        if isinstance(op, ast.Add) and all(isinstance(value, tuple) for value in values):
            return tuple(part for value in values if isinstance(value, tuple) for part in value)
        row = row_of(op)
        if row is None:
            self.frames.fail(tree, not_elementwise(op))
        return self.applied(row, tuple(map(self.node, trees, values)))

    def applied(self, row: Op, nodes: tuple[Node, ...]) -> Node:
        """Return an op of nodes; for elements that do not come here its operands are in its domain."""
        if row.demand is not None and not isinstance(nodes[-1], Constant):
            nodes = (*nodes[:-1], self.frames.guarded(nodes[-1], row))
        return self.frames.builder.apply(row, nodes)

    def _computed(self, tree: ast.expr, function: Callable[..., Any], values: list[Any]) -> Any:
        if function in (operator.pow, operator.lshift) and bits_beyond(function.__name__, *values):
            self.frames.fail(tree, "this number has too many bits; use a float")
        try:
            with np.errstate(all="ignore"):
                return function(*values)
        except BcastgenError:
            raise
        except Exception as error:
            return self.frames.fail(tree, f"{type(error).__name__} for what is known here: {error}")

    def _operand_of(self, is_and: bool, trees: list[ast.expr]) -> Value:
        """Return what `and` and `or` return: one of their operands."""
        *before, last = trees
        found = self.value(before[0])
        for tree, then in zip(before, (*before[1:], last), strict=True):
            truth = self._truth(tree, found)
            if isinstance(truth, bool):
                if truth is is_and:
                    found = self.value(then)
                    continue
                return found
            with self.frames.assuming(truth if is_and else self.logic.negated(truth)):
                other = self.value(then)
            found = self._chosen_operand(is_and, truth, found, other)
        return found

    def _chosen_operand(self, is_and: bool, truth: Node, found: Value, other: Value) -> Value:
        both = [self._as_condition(value) for value in (found, other)]
        if both[0] is not None and both[1] is not None:
            return _static((self.logic.both if is_and else self.logic.either)(both[0], both[1]))
        return self.logic.choose(truth, other, found) if is_and else self.logic.choose(truth, found, other)

    def _as_condition(self, value: Value) -> Condition | None:
        if isinstance(value, Static):
            return value.value if isinstance(value.value, bool) else None
        if isinstance(value, (tuple, Missing)):
            return None
        return value if self.logic.is_bool(value) else None

    def _compared(self, tree: ast.Compare) -> Condition:
        made: Condition = True
        left, value = tree.left, self.value(tree.left)
        for op, right in zip(tree.ops, tree.comparators, strict=True):
            if made is False:
                break
            with self.frames.assuming(made):
                other = self.value(right)
                made = self.logic.both(made, self._one_comparison(tree, op, (left, right), (value, other)))
            left, value = right, other
        return made

    def _one_comparison(
        self, tree: ast.Compare, op: ast.cmpop, trees: tuple[ast.expr, ast.expr], values: tuple[Value, Value]
    ) -> Condition:
        a, b = values
        if isinstance(a, Static) and isinstance(b, Static):
            return self._truth(tree, Static(self._computed(tree, _BY_PYTHON[type(op)], [a.value, b.value])))
        if isinstance(op, (ast.In, ast.NotIn)):
            parts = parts_of(b)
            if parts is None:
                self.frames.fail(trees[1], "what an element is looked for in has to be known: a tuple of numbers")
            found: Condition = False
            for part in parts:
                equal = self._one_comparison(tree, ast.Eq(), trees, (a, part))
                found = self.logic.either(found, equal)
            return self.logic.negated(found) if isinstance(op, ast.NotIn) else found
        if isinstance(op, (ast.Is, ast.IsNot)):
            if any(isinstance(value, Static) and value.value is None for value in values):
                return isinstance(op, ast.IsNot)
            self.frames.fail(tree, "numbers have no identity to compare; use ==")
        made = self.binary(tree, op, trees, values)
        assert is_node(made)
        return self._truth(tree, made)

    # ---- parts -------------------------------------------------------------------------------------------------------

    def _attribute(self, tree: ast.expr, value: Value, name: str) -> Value:
        if not isinstance(value, Static):
            self.frames.fail(
                tree, f"a number has no .{name} here; in a function of scalars each operand is one element"
            )
        try:
            return Static(getattr(value.value, name))
        except AttributeError as error:
            return self.frames.fail(tree, str(error))

    def _item(self, tree: ast.expr, value: Value, index: Value) -> Value:
        if isinstance(value, tuple) and isinstance(index, Static) and isinstance(index.value, (int, np.integer)):
            if not -len(value) <= index.value < len(value):
                self.frames.fail(tree, f"the tuple has {len(value)} parts")
            found: Value = value[index.value]
            return found
        if isinstance(value, Static) and isinstance(index, Static):
            return Static(self._computed(tree, operator.getitem, [value.value, index.value]))
        if isinstance(value, Static):
            self.frames.fail(
                tree, "which part is meant differs from element to element; write if, or index the array before"
            )
        return self.frames.fail(
            tree, "an operand is one element here, and has no parts; index the array before the call"
        )


def _static(condition: Condition) -> Value:
    return Static(condition) if isinstance(condition, bool) else condition


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 40 else with_article(type(value).__name__)


INNER_FUNCTION = "a function inside is not read; define it outside, and call it here"
_CURES: dict[type[ast.expr], str] = {
    ast.Lambda: INNER_FUNCTION,
    ast.ListComp: "a comprehension makes a list; write a for loop over numbers",
    ast.GeneratorExp: "a generator is not read; write a for loop over numbers",
    ast.SetComp: "a comprehension makes a set; write a for loop over numbers",
    ast.DictComp: "a comprehension makes a dict; write a for loop over numbers",
    ast.Dict: "a dict is made outside of the function; here it may be read by what is known",
    ast.Set: "write a tuple",
    ast.JoinedStr: "text is no number",
    ast.Await: "a function of scalars waits for nothing",
    ast.Yield: "a function of scalars returns its results",
    ast.YieldFrom: "a function of scalars returns its results",
}
