"""The fate of a constraint: proved by types and facts, checked at run time, or trusted.

In: a constraint.  Out: a :class:`Decision`, which prints.

    str(Decision(Stretches("a", 0, 0, None), "proved", "a.0 sets d0")) -> "a.0 in {1, d0}: proved, a.0 sets d0"

A refuted constraint has no decision: inference raises an error.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from ..core.frozen import dataclass
from .constraints import Constraint

__all__ = ["Decision", "Fate"]

Fate: TypeAlias = Literal["proved", "checked", "trusted"]


@dataclass(frozen=True, slots=True)
class Decision:
    """What became of a constraint that the semantics ask for, and why."""

    constraint: Constraint
    fate: Fate
    reason: str

    def __str__(self) -> str:
        return f"{self.constraint}: {self.fate}, {self.reason}"
