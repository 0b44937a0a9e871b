"""The fate of a constraint: proved by types and facts, checked at run time, or trusted.

In: a constraint.  Out: a :class:`Decision`, which prints.

    str(Decision(AtLeast("a", 0, 2), "checked", "types leave it open")) -> "a.0 >= 2: checked, types leave it open"

A refuted constraint has no decision: inference raises an error. Why a constraint is proved is told by the guards that
check the others (`loops/guards/chains.py`), not here.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from ..core.frozen import dataclass
from .constraints import Constraint

__all__ = ["Decision", "Fate"]

Fate: TypeAlias = Literal["proved", "checked", "trusted"]


@dataclass(frozen=True, slots=True)
class Decision:
    """What became of a constraint that the semantics ask for, and, unless it is proved, why."""

    constraint: Constraint
    fate: Fate
    reason: str = ""

    def __str__(self) -> str:
        return f"{self.constraint}: {self.fate}{', ' if self.reason else ''}{self.reason}"
