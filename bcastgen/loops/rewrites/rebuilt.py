"""Bodies made anew: statements appended one by one, and others put in the place of some.

In: a nest, and what takes the place of which statement.  Out: a nest whose values are numbered again.

    {1: (x, y)}   ->   t0, x, y, ...: what read t1 reads y, and what only t1 read is gone
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ...core.dtypes import DType
from ...ops.table import CAST
from ..nest import Apply, Let, Nest, Value

__all__ = ["Body", "cast_of", "rebuilt"]


def cast_of(value: Value, source: DType, target: DType) -> Apply:
    """Return the statement that casts a value."""
    return Apply(CAST, (value,), (source,), (("dtype", target),), target)


class Body:
    """The statements of a body so far."""

    def __init__(self) -> None:
        self.statements: list[Apply] = []
        self._casts: dict[tuple[Value, DType], Value] = {}

    def append(self, statement: Apply) -> Let:
        """Append a statement, and return its value."""
        self.statements.append(statement)
        return Let(len(self.statements) - 1)

    def cast(self, value: Value, source: DType, target: DType) -> Value:
        """Return a value in another dtype; each is cast once."""
        key = value, target
        if key not in self._casts:
            self._casts[key] = self.append(cast_of(value, source, target))
        return self._casts[key]


def rebuilt(nest: Nest, made: Mapping[int, tuple[Apply, ...]]) -> Nest:
    """Return a nest with others in the place of some statements, and without those that nothing uses any more.

    The last one of several that replace a statement has its value; among them `Let(-1)` is the value of the one before,
    `Let(-2)` of the one before that.
    """
    live = {value.index for value in nest.stores if isinstance(value, Let)}
    for at in range(len(nest.body) - 1, -1, -1):
        if at in live:
            read = (value for one in made.get(at, (nest.body[at],)) for value in one.operands)
            live |= {value.index for value in read if isinstance(value, Let) and value.index >= 0}
    body = Body()
    stands: dict[Value, Value] = {}

    def now(value: Value) -> Value:
        if isinstance(value, Let) and value.index < 0:
            return Let(len(body.statements) + value.index)
        return stands.get(value, value)

    for at, statement in enumerate(nest.body):
        if at in live:
            for one in made.get(at, (statement,)):
                stands[Let(at)] = body.append(replace(one, operands=tuple(map(now, one.operands))))
    return replace(nest, body=tuple(body.statements), stores=tuple(map(now, nest.stores)))
