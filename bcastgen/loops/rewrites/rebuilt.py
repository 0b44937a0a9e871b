"""Rebuilds bodies: appends statements one by one, and puts others in the place of some.

In: a nest, and the statements that replace others.  Out: a nest whose values are renumbered.

    {1: (x, y)}   ->   t0, x, y, ...: users of t1 read y; values that only t1 used are dropped

An operand that nothing reads any more still has extents that count: it is one of the nest's `shapes` then.
"""

from __future__ import annotations

from collections.abc import Mapping

from ...core.dtypes import DType
from ...core.frozen import replace
from ...ops.rows.conversions import CAST
from ..nest import Let, Load, Nest, Statement, Value, read_operands

__all__ = ["BodyBuilder", "cast_of", "rebuilt"]


def cast_of(value: Value, source: DType, target: DType) -> Statement:
    """Return the statement that casts a value."""
    return Statement(CAST, (value,), (source,), (("dtype", target),), target)


class BodyBuilder:
    """The statements of a body so far."""

    def __init__(self) -> None:
        self.statements: list[Statement] = []
        self._casts: dict[tuple[Value, DType], Value] = {}

    def append(self, statement: Statement) -> Let:
        """Append a statement; return its value."""
        self.statements.append(statement)
        return Let(len(self.statements) - 1)

    def cast(self, value: Value, source: DType, target: DType) -> Value:
        """Return a value cast to another dtype; each pair of value and dtype is cast once."""
        key = value, target
        if key not in self._casts:
            self._casts[key] = self.append(cast_of(value, source, target))
        return self._casts[key]


def rebuilt(nest: Nest, replacements: Mapping[int, tuple[Statement, ...] | Value]) -> Nest:
    """Return a nest in which `replacements` stand for some statements, without those that nothing uses any more.

    A value, or statements of which the last one gives the value, replace a statement. Among them `Let(-1)` is the value
    of the statement before, and `Let(-2)` of the one before that.
    """
    live = {value.index for value in nest.stores if isinstance(value, Let)}
    for at in range(len(nest.body) - 1, -1, -1):
        if at in live:
            new = replacements.get(at, (nest.body[at],))
            read = [value for one in new for value in one.operands] if isinstance(new, tuple) else [new]
            live |= {value.index for value in read if isinstance(value, Let) and value.index >= 0}
    body = BodyBuilder()
    stands: dict[Value, Value] = {}

    def now(value: Value) -> Value:
        if isinstance(value, Let) and value.index < 0:
            return Let(len(body.statements) + value.index)
        return stands.get(value, value)

    for at, statement in enumerate(nest.body):
        if at in live:
            new = replacements.get(at, (statement,))
            if not isinstance(new, tuple):
                stands[Let(at)] = now(new)
                continue
            for one in new:
                stands[Let(at)] = body.append(replace(one, operands=tuple(map(now, one.operands))))
    return _without_unread(replace(nest, body=tuple(body.statements), stores=tuple(map(now, nest.stores))))


def _without_unread(nest: Nest) -> Nest:
    """Return a nest that has operands of which nothing is read but extents among its shapes."""
    read = sorted(read_operands(nest))
    if len(read) == len(nest.operands):
        return nest
    new: dict[Value, Value] = {Load(access): Load(at) for at, access in enumerate(read)}
    body = tuple(replace(one, operands=tuple(new.get(value, value) for value in one.operands)) for one in nest.body)
    unread = (access for at, access in enumerate(nest.operands) if at not in read)
    return replace(
        nest,
        operands=tuple(nest.operands[at] for at in read),
        body=body,
        stores=tuple(new.get(value, value) for value in nest.stores),
        shapes=(*nest.shapes, *unread),
    )
