"""Canonicalisations of single operations that hold in every run, invalid operands included.

In: an operation, and facts on its operands.  Out: values that replace its results, another operation, or None.

    shape.broadcast %a, %a, [] -> %a        shape.assuming_all %true, %w -> %w        shape.add %a, 0 -> %a

Fully known values become constants elsewhere (`fold`); these rules hold although operands are unknown.
"""

from __future__ import annotations

from collections.abc import Callable

from ...core.frozen import replace
from .ir import Operation, Value
from .row import FoldingContext, Rewrite, stated
from .types import WITNESS
from .values import LatticeValue, Shape, Witness

__all__ = [
    "assuming_all",
    "broadcast",
    "concat",
    "distinct",
    "idempotent",
    "inverse",
    "is_decided",
    "neutral",
    "predicate",
    "select",
    "size_to_index",
]

Canonicalise = Callable[[Operation, FoldingContext], Rewrite]


def _forward(operation: Operation, value: Value) -> Rewrite:
    """Return the value instead of the operation's only result, converted where the types allow that."""
    wanted = operation.results[0].type
    if value.type == wanted:
        return (value,)
    if value.type.kind == "extents" and wanted.kind == "shape":
        return Operation("shape.from_extent_tensor", (value,), operation.results, location=operation.location)
    return None


def _narrowed(operation: Operation, operands: tuple[Value, ...], least: int) -> Rewrite:
    if operands == operation.operands or len(operands) < least:
        return None
    return replace(operation, operands=operands)


def neutral(number: int, both: bool = True) -> Canonicalise:
    """Return the rule that drops an operand of this number: x + 0 is x. Without `both` it drops the second one only."""

    def rule(operation: Operation, facts: FoldingContext) -> Rewrite:
        a, b = operation.operands
        if stated(facts.known(b)) == number and facts.certain(b):
            return _forward(operation, a)
        return _forward(operation, b) if both and stated(facts.known(a)) == number and facts.certain(a) else None

    return rule


def distinct(least: int = 1) -> Canonicalise:
    """Return the rule that drops repeated operands if at least `least` remain; a single one is the result."""

    def rule(operation: Operation, facts: FoldingContext) -> Rewrite:
        operands = tuple(dict.fromkeys(operation.operands))
        if len(operands) == 1 and least == 1:
            return _forward(operation, operands[0])
        return _narrowed(operation, operands, least)

    return rule


def predicate(least: int, reflexive: bool) -> Canonicalise:
    """Return the rule for constraints and predicates: repeated operands say nothing new.

    On a single value they hold if it is valid, or in any case if an invalid shape equals itself (`reflexive`). A run
    ends at a predicate that it does not decide, so that one of values which it may not know stays as it is.
    """

    def rule(operation: Operation, facts: FoldingContext) -> Rewrite:
        operands = tuple(dict.fromkeys(operation.operands))
        if operation.results[0].type.kind == "i1" and not all(is_decided(one, facts.known(one)) for one in operands):
            return None
        if len(operands) == 1 and (reflexive or facts.certain(operands[0])):
            constraint = operation.results[0].type == WITNESS
            name, setting = ("shape.const_witness", "passing") if constraint else ("arith.constant", "value")
            return Operation(name, (), operation.results, ((setting, True),), location=operation.location)
        return _narrowed(operation, operands, least)

    return rule


def is_decided(value: Value, known: LatticeValue) -> bool:
    """Tell whether every run knows a value: those of these types have no unknown values, or folding knows it."""
    return value.type.kind in ("index", "i1", "extents") or bool(getattr(known, "is_known", False))


def broadcast(operation: Operation, facts: FoldingContext) -> Rewrite:
    """Drop repeated operands and scalars; forward a single operand."""
    operands = tuple(dict.fromkeys(operation.operands))
    wide = tuple(value for value in operands if not (_is_scalar(facts.known(value)) and facts.certain(value)))
    operands = wide or operands[:1]
    return _forward(operation, operands[0]) if len(operands) == 1 else _narrowed(operation, operands, 1)


def _is_scalar(value: LatticeValue) -> bool:
    return value == () or value == Shape()


def concat(operation: Operation, facts: FoldingContext) -> Rewrite:
    """Forward one operand if the other one is a scalar's shape."""
    a, b = operation.operands
    if _is_scalar(facts.known(b)) and facts.certain(b):
        return _forward(operation, a)
    return _forward(operation, b) if _is_scalar(facts.known(a)) and facts.certain(a) else None


def idempotent(operation: Operation, facts: FoldingContext) -> Rewrite:
    """Forward the operand of join, min and max if both are the same value."""
    a, b = operation.operands
    return _forward(operation, a) if a == b else None


def inverse(name: str) -> Canonicalise:
    """Return the rule that cancels an operation and the inverse it is applied to, if the types agree.

    If the inner operation fails in a run, it still does: fold keeps operations that may fail.
    """

    def rule(operation: Operation, facts: FoldingContext) -> Rewrite:
        inner = facts.defining(operation.operands[0])
        if inner is None or inner.name != name or inner.operands[0].type != operation.results[0].type:
            return None
        return inner.operands

    return rule


def size_to_index(operation: Operation, facts: FoldingContext) -> Rewrite:
    """Forward an operand that is an index already."""
    return _forward(operation, operation.operands[0])


def assuming_all(operation: Operation, facts: FoldingContext) -> Rewrite:
    """Merge nested operations, drop passing and repeated witnesses; forward a single one."""
    flat: list[Value] = []
    for value in operation.operands:
        inner = facts.defining(value)
        nested = inner is not None and inner.name == operation.name
        flat.extend(inner.operands if inner is not None and nested else (value,))
    open_ = tuple(dict.fromkeys(value for value in flat if facts.known(value) != Witness(True)))
    if not open_:
        return None
    return (open_[0],) if len(open_) == 1 else _narrowed(operation, open_, 1)


def select(operation: Operation, facts: FoldingContext) -> Rewrite:
    """Forward the chosen operand if the condition is known, or both are the same."""
    condition, a, b = operation.operands
    chosen = facts.known(condition)
    if a == b:
        return (a,)
    return None if chosen is None else ((a,) if chosen else (b,))
