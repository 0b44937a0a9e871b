"""Spells computed extents in arithmetic of indices, which wraps: their values, and conditions that nothing has wrapped.

In: a :class:`Calc`, and what writes arithmetic.  Out: what that has written.

    m + n  ->  addi(m, n), on condition of sge(addi(m, n), 0)
    m*n    ->  muli(m, n), on condition of sle(n, divsi(2**63 - 1, maxsi(m, 1)))

C needs no conditions: its helpers return a value that means "there is no such extent" (csrc/helpers/bcg_extent.h).
"""

from __future__ import annotations

from typing import Protocol, TypeVar

from ...shape.types.computed import Calculation
from ...shape.types.facts import MAX_EXTENT
from .ir import Calc, Own

__all__ = ["Arithmetic", "conditions_of", "value_of"]

V = TypeVar("V")

_OPS: dict[Calculation, str] = {"plus": "addi", "times": "muli", "minus": "subi", "min": "minsi", "max": "maxsi"}


class Arithmetic(Protocol[V]):
    """Writes operations of indices, by the names that MLIR's arith dialect has for them."""

    def own(self, own: Own) -> V:
        """Return the extent of an operand's dim."""

    def number(self, number: int) -> V:
        """Return a constant."""

    def binary(self, name: str, x: V, y: V) -> V:
        """Return what an operation gives."""

    def compare(self, predicate: str, x: V, y: V) -> V:
        """Return a comparison's outcome."""


def value_of(calc: Calc, arithmetic: Arithmetic[V]) -> V:
    """Write an extent; it means something only where all of `conditions_of` hold."""
    return _written(calc, arithmetic, [])


def conditions_of(calc: Calc, arithmetic: Arithmetic[V]) -> list[V]:
    """Write the conditions under which 64 bits hold each step of an extent."""
    conditions: list[V] = []
    _written(calc, arithmetic, conditions)
    return conditions


def _written(calc: Calc, arithmetic: Arithmetic[V], conditions: list[V]) -> V:
    def apply(what: Calculation, x: V, y: V) -> V:
        if what == "div":
            # The divisor is at least 1 unless one of its own conditions fails; the quotient then means nothing.
            return arithmetic.binary("divsi", x, arithmetic.binary("maxsi", y, arithmetic.number(1)))
        made = arithmetic.binary(_OPS[what], x, y)
        if what == "plus":
            # Both are 0 or more, so their sum is below 0 if it wraps.
            conditions.append(arithmetic.compare("sge", made, arithmetic.number(0)))
        elif what == "times":
            divisor = arithmetic.binary("maxsi", x, arithmetic.number(1))
            most = arithmetic.binary("divsi", arithmetic.number(MAX_EXTENT), divisor)
            conditions.append(arithmetic.compare("sle", y, most))
        return made

    return calc.compute(arithmetic.own, arithmetic.number, apply)
