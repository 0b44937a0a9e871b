"""Constraints on one extent alone: the declared ranges and multiples.

In: an operand and its dim, or a result and the domain dim it has to be, and a bound.  Out: statements as in
constraints.py.

    str(AtLeast("a", 0, 2)) -> "a.0 >= 2"        str(ResultMultipleOf("r", 0, 0, 8)) -> "r.0 % 8 = 0"

`Result...` constraints test the domain, as those of constraints.py do.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from ..core.frozen import dataclass

__all__ = [
    "AtLeast",
    "AtMost",
    "Extents",
    "MultipleOf",
    "ResultAtLeast",
    "ResultAtMost",
    "ResultMultipleOf",
    "extent_of",
]

Extents: TypeAlias = tuple[int, ...]


def extent_of(extents: Extents, dim: int) -> int | None:
    """Return the extent of a dim, or None if there is no such dim; every constraint on it then fails."""
    return extents[dim] if -len(extents) <= dim < len(extents) else None


@dataclass(frozen=True, slots=True)
class AtLeast:
    """The operand's dim has at least the extent that its type declares."""

    operand: str
    dim: int
    bound: int

    def holds(self, extents: Mapping[str, Extents], domain: Extents) -> bool:
        """Evaluate on actual extents."""
        actual = extent_of(extents[self.operand], self.dim)
        return actual is not None and actual >= self.bound

    def __str__(self) -> str:
        return f"{self.operand}.{self.dim} >= {self.bound}"


@dataclass(frozen=True, slots=True)
class ResultAtLeast:
    """The domain dim has at least the extent that the result's type declares."""

    result: str
    dim: int
    domain_dim: int
    bound: int

    def holds(self, extents: Mapping[str, Extents], domain: Extents) -> bool:
        """Evaluate on actual extents."""
        actual = extent_of(domain, self.domain_dim)
        return actual is not None and actual >= self.bound

    def __str__(self) -> str:
        return f"{self.result}.{self.dim} >= {self.bound}"


@dataclass(frozen=True, slots=True)
class AtMost:
    """The operand's dim has at most the extent that its type declares."""

    operand: str
    dim: int
    bound: int

    def holds(self, extents: Mapping[str, Extents], domain: Extents) -> bool:
        """Evaluate on actual extents."""
        actual = extent_of(extents[self.operand], self.dim)
        return actual is not None and actual <= self.bound

    def __str__(self) -> str:
        return f"{self.operand}.{self.dim} <= {self.bound}"


@dataclass(frozen=True, slots=True)
class ResultAtMost:
    """The domain dim has at most the extent that the result's type declares."""

    result: str
    dim: int
    domain_dim: int
    bound: int

    def holds(self, extents: Mapping[str, Extents], domain: Extents) -> bool:
        """Evaluate on actual extents."""
        actual = extent_of(domain, self.domain_dim)
        return actual is not None and actual <= self.bound

    def __str__(self) -> str:
        return f"{self.result}.{self.dim} <= {self.bound}"


@dataclass(frozen=True, slots=True)
class MultipleOf:
    """The operand's dim has an extent that is a multiple of what its type declares."""

    operand: str
    dim: int
    bound: int

    def holds(self, extents: Mapping[str, Extents], domain: Extents) -> bool:
        """Evaluate on actual extents."""
        actual = extent_of(extents[self.operand], self.dim)
        return actual is not None and actual % self.bound == 0

    def __str__(self) -> str:
        return f"{self.operand}.{self.dim} % {self.bound} = 0"


@dataclass(frozen=True, slots=True)
class ResultMultipleOf:
    """The domain dim has an extent that is a multiple of what the result's type declares."""

    result: str
    dim: int
    domain_dim: int
    bound: int

    def holds(self, extents: Mapping[str, Extents], domain: Extents) -> bool:
        """Evaluate on actual extents."""
        actual = extent_of(domain, self.domain_dim)
        return actual is not None and actual % self.bound == 0

    def __str__(self) -> str:
        return f"{self.result}.{self.dim} % {self.bound} = 0"
