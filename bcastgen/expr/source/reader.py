"""Reader: follows the statements of a function of scalars, all branches of them, and builds its expression.

In: a function.  Out: its :class:`Expression`.

    def f(x):                          t0 = less(x, 0)
        if x < 0:                      t1 = negative(x)
            return -x           ->     t2 = where(t0, t1, x)
        return x                       return t2

A block of statements is followed once. What it does is a :class:`Flow`: the values of names for elements that reach
its end, the condition under which they do, and for each way out (return, break, continue) the condition of the elements
that take it, with their names. An element leaves a block once, so the first condition that holds counts: what is
computed for an element behind that is never chosen.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from ...core.dtypes import DType
from ...core.errors import TraceError, with_article
from ...core.frozen import dataclass
from ...ops.internal_rows import ENDED
from ...ops.table import OPS
from ..build import Builder
from ..constants import constant_from
from ..nodes import Expression, Node, Reduce, topological
from .calls import called
from .expressions import INNER_FUNCTION, Scope, parts_of
from .frames import Frames
from .function_text import FunctionText, text_of
from .values import SHAPE, Condition, Env, Missing, Static, Value

__all__ = ["read"]

# A loop that needs more than these was not meant to be unrolled.
_MOST_NODES = 20_000
_MOST_STATEMENTS = 200_000

_ONE_ELEMENT = (
    "in a function of scalars each operand is one element; bcastgen.jit reads functions of whole arrays, and what is "
    "computed of an array outside is passed in as an operand"
)

_RETURN, _BREAK, _CONTINUE, _END = "return", "break", "continue", "end"

# The ways out of a block: for each the elements that take it, and their names.
Exits = dict[str, tuple[Condition, Env]]


@dataclass(frozen=True, slots=True, eq=False)
class Flow:
    """What a block does: names at its end, which elements reach it, and the ways out of it."""

    env: Env
    falls: Condition = True
    exits: Exits | None = None

    @property
    def ways(self) -> Exits:
        """The ways out; none by default."""
        return {} if self.exits is None else self.exits


def read(
    function: Callable[..., Any],
    names: tuple[str, ...],
    given: Mapping[str, object] | None = None,
    max_iterations: int | None = None,
) -> Expression:
    """Return the expression of a function of scalars.

    Parameters
    ----------
    function : takes one number for each name, and returns a number or a tuple of numbers.
    names : its parameters that are operands.
    given : the values of its other parameters, which are known.
    max_iterations : how often a loop runs at most whose condition differs from element to element.

    Raises
    ------
    TraceError
        If the source is not to be found, or has what cannot be read; shows the line.

    Examples
    --------
    >>> from bcastgen.expr.source import reader
    >>> def clamped(x, low):
    ...     return low if x < low else x
    >>> print(read(clamped, ("x", "low")))  # doctest: +SKIP
    expr (x, low)
      t0 = less(x, low)
      t1 = where(t0, low, x, branches=True)
      return t1
    """
    builder = _OfNumbers(names)
    reader = _Reader(builder, max_iterations)
    text = text_of(function)
    operands: dict[str, Value] = {operand.name: operand for operand in builder.operands}
    known = {name: Static(value) for name, value in (given or {}).items()}
    returned = reader.call(None, text, operands | known)
    values = returned if isinstance(returned, tuple) else parts_of(returned) or (returned,)
    if not values:
        raise text.error(text.tree, "it returns an empty tuple; return at least one number")
    nodes = tuple(_result(builder, text, value) for value in values)
    return builder.finish(tuple(map(reader.ended, nodes)))


class _OfNumbers(Builder):
    """A builder of expressions whose operands are one element each, of which nothing is reduced or moved."""

    def reduce(self, like: Reduce, node: Node, dtype: DType | None = None) -> NoReturn:
        """Refuse a reduction."""
        raise TraceError(f"{like.op.name} has nothing to reduce: {_ONE_ELEMENT}")

    def remap(self, node: Node, view: object, like: Node | None = None, dtype: object = None) -> NoReturn:
        """Refuse another indexing map."""
        raise TraceError(f"there are no dims to move or add: {_ONE_ELEMENT}")


def _result(builder: Builder, text: FunctionText, value: Value) -> Node:
    """Return a result as a node that depends on every operand, since its shape is that of all of them."""
    if isinstance(value, Static):
        made = constant_from(value.value)
        if made is None:
            raise text.error(text.tree, f"it returns {_kind(value.value)}; return numbers")
        value = builder.keep(made)
    if isinstance(value, Missing):
        raise text.error(text.tree, f"what it returns {value.why}")
    if isinstance(value, tuple):
        raise text.error(text.tree, "it returns a tuple in a tuple; return one tuple of numbers")
    reached = set(topological((value,)))
    for operand in builder.operands:
        if operand not in reached:
            value = builder.apply(OPS["where"], (builder.constant(True), value, operand), notes=SHAPE)
    return value


def _kind(value: object) -> str:
    return "None for some or all elements" if value is None else with_article(type(value).__name__)


class _Reader(Frames):
    def __init__(self, builder: Builder, max_iterations: int | None) -> None:
        super().__init__(builder)
        self._max_iterations = max_iterations
        self._statements = 0
        # The elements whose loop has not ended after all of its unrolled rounds.
        self._goes_on: Condition = False

    def ended(self, result: Node) -> Node:
        """Return a result that demands of every element that its loops have ended."""
        if self._goes_on is False:
            return result
        return self.builder.apply(ENDED, (result, self.logic.node(self._goes_on)))

    def called(self, scope: Scope, tree: ast.Call) -> Value:
        """Return what a call gives."""
        return called(scope, tree)

    def returned(self, function: FunctionText, env: Env) -> Value:
        """Return what a function returns for these values of its parameters."""
        flow = self._block(function.body, env)
        if _RETURN not in flow.ways:
            self.fail(function.tree, "it returns nothing; end it with a return")
        if flow.falls is not False:
            self.fail(
                function.body[-1],
                "elements may come to the end of the function behind this and would be None; return a number there",
            )
        return flow.ways[_RETURN][1][_RETURN]

    def _block(self, statements: list[ast.stmt], env: Env) -> Flow:
        falls: Condition = True
        exits: Exits = {}
        for statement in statements:
            if falls is False:
                break
            with self.assuming(falls):
                one = self._statement(statement, env)
            env, exits = one.env, self._joined(exits, one.ways, falls)
            falls = self.logic.both(falls, one.falls)
        return Flow(env, falls, exits)

    def _joined(self, first: Exits, then: Exits, falls: Condition) -> Exits:
        """Return the ways out of two blocks in a row; `falls` are the elements that come to the second one."""
        made = dict(first)
        for kind, (condition, env) in then.items():
            # An element that left the first block did not reach the second: it keeps its way out and its names.
            mine = self.logic.both(falls, condition) if any(other != kind for other in first) else condition
            if kind in first:
                known, names = first[kind]
                made[kind] = self.logic.either(known, mine), self.logic.choose_all(known, names, env)
            else:
                made[kind] = mine, env
        return made

    def _statement(self, tree: ast.stmt, env: Env) -> Flow:  # noqa: PLR0911
        self._statements += 1
        if self._statements > _MOST_STATEMENTS or self.builder.size > _MOST_NODES:
            self.fail(tree, "its loops are too long to be unrolled; give them fewer rounds, or compute this in NumPy")
        match tree:
            case ast.If():
                return self._if(tree, env)
            case ast.For():
                return self._for(tree, env)
            case ast.While():
                return self._while(tree, env)
            case ast.Return(value=value):
                returned = Static(None) if value is None else self._value(value, env)[0]
                return Flow(env, False, {_RETURN: (True, {_RETURN: returned})})
            case ast.Break():
                return Flow(env, False, {_BREAK: (True, env)})
            case ast.Continue():
                return Flow(env, False, {_CONTINUE: (True, env)})
            case ast.Pass() | ast.Expr(value=ast.Constant()) | ast.AnnAssign(value=None):
                return Flow(env)
            case ast.Assign(targets=targets, value=value):
                found, env = self._value(value, env)
                for target in targets:
                    env = self._bound(target, found, env)
                return Flow(env)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                found, env = self._value(value, env)
                return Flow(self._bound(target, found, env))
            case ast.AugAssign(target=ast.Name(id=name) as target, op=op, value=value):
                read_name = ast.copy_location(ast.Name(name, ast.Load()), target)
                found, env = self._value(ast.copy_location(ast.BinOp(read_name, op, value), tree), env)
                return Flow({**env, name: found})
        return self.fail(tree, _cure(tree))

    def _value(self, tree: ast.expr, env: Env) -> tuple[Value, Env]:
        """Return what an expression gives, and the names behind it."""
        scope = Scope(self, dict(env))
        return scope.value(tree), scope.env

    def _bound(self, target: ast.expr, value: Value, env: Env) -> Env:
        """Return the names behind an assignment."""
        match target:
            case ast.Name(id=name):
                return {**env, name: value}
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                values = parts_of(value)
                if values is None or len(values) != len(parts) or any(isinstance(part, ast.Starred) for part in parts):
                    self.fail(target, f"these are {len(parts)} names, and the right side is not {len(parts)} values")
                for part, one in zip(parts, values, strict=True):
                    env = self._bound(part, one, env)
                return env
        return self.fail(target, "a function of scalars assigns to names only; return its results instead")

    def _if(self, tree: ast.If, env: Env) -> Flow:
        scope = Scope(self, dict(env))
        condition = scope.condition(tree.test)
        env = scope.env
        if isinstance(condition, bool):
            return self._block(tree.body if condition else tree.orelse, env)
        with self.assuming(condition):
            yes = self._block(tree.body, env)
        with self.assuming(self.logic.negated(condition)):
            no = self._block(tree.orelse, env)
        never: tuple[Condition, None] = (False, None)
        exits: Exits = {}
        for kind in dict.fromkeys((*yes.ways, *no.ways)):
            (in_yes, yes_env), (in_no, no_env) = yes.ways.get(kind, never), no.ways.get(kind, never)
            exits[kind] = (
                self.logic.by(condition, in_yes, in_no),
                self._merged(condition, yes_env, no_env),
            )
        ends = [None if flow.falls is False else flow.env for flow in (yes, no)]
        after = env if ends == [None, None] else self._merged(condition, *ends)
        return Flow(after, self.logic.by(condition, yes.falls, no.falls), exits)

    def _merged(self, condition: Condition, yes: Env | None, no: Env | None) -> Env:
        """Return the names behind two branches, of which one may end before."""
        if yes is None or no is None:
            found = no if yes is None else yes
            assert found is not None
            return found
        return self.logic.choose_all(condition, yes, no)

    # ---- loops -------------------------------------------------------------------------------------------------------

    def _for(self, tree: ast.For, env: Env) -> Flow:
        over, env = self._value(tree.iter, env)
        values = parts_of(over)
        if values is None:
            self.fail(
                tree.iter,
                "a loop is unrolled, so what it runs over has to be known: a range of constants or of parameters that "
                "static= names, or a tuple",
            )

        def start(count: int, env: Env) -> tuple[Condition, Env]:
            return (False, env) if count == len(values) else (True, self._bound(tree.target, values[count], env))

        return self._loop(tree, env, start)

    def _while(self, tree: ast.While, env: Env) -> Flow:
        def start(_: int, env: Env) -> tuple[Condition, Env]:
            scope = Scope(self, dict(env))
            return scope.condition(tree.test), scope.env

        return self._loop(tree, env, start)

    def _loop(self, tree: ast.For | ast.While, env: Env, start: Callable[[int, Env], tuple[Condition, Env]]) -> Flow:
        """Unroll a loop; `start` says for the number of a round which elements begin it, and with which names."""
        falls: Condition = True
        exits: Exits = {}
        count = 0
        while falls is not False:
            with self.assuming(falls):
                goes, env = start(count, env)
            if goes is False:
                break
            if isinstance(tree, ast.While) and self.logic.both(falls, goes) is not True:
                if self._max_iterations is None:
                    self.fail(
                        tree.test,
                        "how often this loop runs differs from element to element, and it is unrolled; bound it, as in "
                        "@bcastgen.vectorize(max_iterations=100), or write `for _ in range(100)` with a break",
                    )
                if count >= self._max_iterations:
                    cut = self.logic.both(self.here, self.logic.both(falls, goes))
                    self._goes_on = self.logic.either(self._goes_on, cut)
                    break
            count += 1
            with self.assuming(self.logic.both(falls, goes)):
                body = self._block(tree.body, env)
            ways = self._joined({} if goes is True else {_END: (self.logic.negated(goes), env)}, body.ways, goes)
            end, left = body.env, body.falls
            if _CONTINUE in ways:
                condition, names = ways.pop(_CONTINUE)
                end = names if left is False else self.logic.choose_all(condition, names, end)
                left = self.logic.either(condition, left)
            exits = self._joined(exits, ways, falls)
            env, falls = end, self.logic.both(falls, self.logic.both(goes, left))
        return self._after_loop(tree, env, falls, exits)

    def _after_loop(self, tree: ast.For | ast.While, env: Env, falls: Condition, exits: Exits) -> Flow:
        """Return a loop's flow, from the elements that are in it to the last, and the ways out of its rounds."""
        if _END in exits:
            condition, names = exits.pop(_END)
            env = names if falls is False else self.logic.choose_all(condition, names, env)
            falls = self.logic.either(condition, falls) if exits else True
        broken = exits.pop(_BREAK, None)
        only_broken = not exits
        if falls is not False:
            with self.assuming(falls):
                after = self._block(tree.orelse, env)
            # Elements that broke out of the loop take none of the ways out of its else.
            ways = {kind: (self.logic.both(falls, condition), names) for kind, (condition, names) in after.ways.items()}
            exits = self._joined(exits, ways, falls)
            only_broken = only_broken and after.falls is True
            env, falls = after.env, self.logic.both(falls, after.falls)
        if broken is not None:
            env = broken[1] if falls is False else self.logic.choose_all(*broken, env)
            falls = True if only_broken else self.logic.either(broken[0], falls)
        return Flow(env, falls, exits)


_CURES: dict[type[ast.stmt], str] = {
    ast.Raise: "raise has no meaning for an element among others; return numpy.nan, and look for it in the result",
    ast.Assert: "assert has no meaning for an element among others; check the arrays before the call",
    ast.Try: "try has no meaning here, since nothing raises: x / 0 is inf, and math.sqrt(-1.0) is nan; write if",
    ast.With: "with has no meaning in a function of scalars; put it around the call",
    ast.Global: "global names are read and not assigned to; return the value",
    ast.Nonlocal: "names of outer functions are read and not assigned to; return the value",
    ast.FunctionDef: INNER_FUNCTION,
    ast.Import: "import modules outside of the function",
    ast.ImportFrom: "import modules outside of the function",
    ast.Delete: "del has no meaning for scalars; leave it out",
    ast.Match: "match is not read; write if and elif",
    ast.AugAssign: "a function of scalars assigns to names only; return its results instead",
    ast.Expr: "what this gives is used by nothing, and a function of scalars has no other effect; leave it out",
}


def _cure(tree: ast.stmt) -> str:
    return _CURES.get(type(tree), f"{type(tree).__name__} is not read; use assignments, if, for, while and return")
