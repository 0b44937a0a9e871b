"""Frames: the functions that are being read, one calling the other, and which elements come to the place at hand.

In: a place of a function.  Out: errors that show it, and operands that are harmless for elements that do not come here.

    if n >= 0: y = 2 ** n      ->   t1 = where(t0, n, True); t2 = power(2, t1)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

from ...core.errors import BcastgenError, ParseError, TraceError
from ...ops.row import Op
from ...ops.table import OPS
from ..build import Builder
from ..nodes import Node, Notes
from .function_text import FunctionText
from .values import Condition, Conditions, Env, Value

__all__ = ["MOST_CALLS", "Frames"]

MOST_CALLS = 60


class Frames:
    """The functions being read, outermost first, into one expression; a subclass follows their statements."""

    def __init__(self, builder: Builder) -> None:
        self.builder = builder
        self.logic = Conditions(builder)
        self.functions: list[FunctionText] = []
        self._calls: list[ast.AST] = []
        self._assumed: list[Condition] = []

    @property
    def function(self) -> FunctionText:
        """The innermost function."""
        return self.functions[-1]

    def fail(self, tree: ast.AST, message: str, kind: type[Exception] = TraceError) -> NoReturn:
        """Raise an error at a place of the innermost function."""
        raise self.function.error(tree, message, kind) from None

    @contextmanager
    def at(self, tree: ast.AST) -> Iterator[None]:
        """Give an error that the block raises the place that it comes from, unless it has one."""
        try:
            yield
        except BcastgenError as error:
            if "\n  File " in str(error):
                raise
            self.fail(tree, str(error), TraceError if isinstance(error, ParseError) else type(error))

    @contextmanager
    def assuming(self, condition: Condition) -> Iterator[None]:
        """Read code that only the elements for which a condition holds come to."""
        self._assumed.append(condition)
        try:
            yield
        finally:
            self._assumed.pop()

    @property
    def here(self) -> Condition:
        """The elements that come to the place at hand."""
        here: Condition = True
        for condition in self._assumed:
            here = self.logic.both(here, condition)
        return here

    def guarded(self, value: Node, op: Op) -> Node:
        """Return the operand of an op that has a domain: 1 for the elements that do not come here."""
        here = self.here
        if isinstance(here, bool) or op.demand is None:
            return value
        notes = Notes(guards=" ".join(op.demand))
        return self.builder.apply(OPS["where"], (here, value, self.builder.constant(True)), notes=notes)

    def call(self, tree: ast.AST | None, function: FunctionText, env: Env) -> Value:
        """Return what a function returns for these values of its parameters, when it is called from a place."""
        if len(self.functions) >= MOST_CALLS:
            self.fail(
                function.tree,
                f"its calls nest {MOST_CALLS} deep; what ends a recursion may not depend on elements; write a loop",
            )
        self.functions.append(function)
        try:
            return self.returned(function, env)
        except BcastgenError as error:
            caller = self.functions[-2] if len(self.functions) > 1 else None
            if caller is None or tree is None:
                raise
            raise type(error)(f"{error}\n  called from {caller.name}():\n{caller.place(tree)}") from None
        finally:
            self.functions.pop()

    def called(self, scope: Any, tree: ast.Call) -> Value:
        """Return what a call gives, whose arguments are read in a :class:`Scope`."""
        raise NotImplementedError

    def returned(self, function: FunctionText, env: Env) -> Value:
        """Return what the innermost function returns."""
        raise NotImplementedError
