"""Constraints: statements that must hold at run time, because types alone do not decide them.

In: names of operands, their own dims, dims of the iteration domain.  Out: statements that print and can be evaluated.

    str(Stretches("a", 1, 1, None)) -> "a.1 in {1, d1}"
    Stretches("a", 1, 1, None).holds({"a": (7, 3)}, (7, 5)) -> False

Dims count from 0, outermost first. Where a rank is not known, a dim counts from the end: ``a.-1`` is a's last dim and
``d[-1]`` the innermost of the domain. `Result...` constraints test the domain, whose extents a result has to have, so
they can be checked before there is a result. All others are about operands. Constraints that compare one extent with
numbers are in range_constraints.py, those with computed extents in computed_constraints.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from ..core.frozen import dataclass
from .computed_constraints import Computed, ResultComputed
from .range_constraints import AtLeast, AtMost, Extents, MultipleOf, ResultAtLeast, ResultAtMost, ResultMultipleOf
from .range_constraints import extent_of as _extent

__all__ = [
    "OF_RESULTS",
    "AtLeast",
    "AtMost",
    "Computed",
    "Constraint",
    "Equals",
    "EqualsAll",
    "EqualsExtent",
    "ExtentIs",
    "Fits",
    "MultipleOf",
    "RankAtLeast",
    "RankIs",
    "ResultAtLeast",
    "ResultAtMost",
    "ResultComputed",
    "ResultExtent",
    "ResultMultipleOf",
    "ResultRank",
    "ResultRankAtLeast",
    "ResultSame",
    "SameExtent",
    "SameRank",
    "Stretches",
    "StretchesAll",
    "shown_domain_dim",
]


def shown_domain_dim(dim: int) -> str:
    """Return the name of a domain dim, which counts from the end where it is negative."""
    return f"d{dim}" if dim >= 0 else f"d[{dim}]"


@dataclass(frozen=True, slots=True)
class RankIs:
    """The operand has the rank of its type."""

    operand: str
    rank: int

    def holds(self, extents: Mapping[str, Extents], domain: Extents) -> bool:
        """Evaluate on actual extents."""
        return len(extents[self.operand]) == self.rank

    def __str__(self) -> str:
        return f"{self.operand}.rank = {self.rank}"


@dataclass(frozen=True, slots=True)
class RankAtLeast:
    """The operand has at least the dims of its unranked type."""

    operand: str
    rank: int

    def holds(self, extents: Mapping[str, Extents], domain: Extents) -> bool:
        """Evaluate on actual extents."""
        return len(extents[self.operand]) >= self.rank

    def __str__(self) -> str:
        return f"{self.operand}.rank >= {self.rank}"


@dataclass(frozen=True, slots=True)
class SameRank:
    """An operand has the rank of another, where rank expansion is off."""

    operand: str
    other: str

    def holds(self, extents: Mapping[str, Extents], domain: Extents) -> bool:
        """Evaluate on actual extents."""
        # Scalars go with every rank.
        return all(len(extents[name]) in (0, len(domain)) for name in (self.operand, self.other))

    def __str__(self) -> str:
        return f"{self.operand}.rank = {self.other}.rank"


@dataclass(frozen=True, slots=True)
class ExtentIs:
    """The operand's dim has the extent of its type."""

    operand: str
    dim: int
    extent: int

    def holds(self, extents: Mapping[str, Extents], domain: Extents) -> bool:
        """Evaluate on actual extents."""
        return _extent(extents[self.operand], self.dim) == self.extent

    def __str__(self) -> str:
        return f"{self.operand}.{self.dim} = {self.extent}"


@dataclass(frozen=True, slots=True)
class Stretches:
    """The operand's dim is 1 or the extent of its domain dim, which is `extent` where types decide it."""

    operand: str
    dim: int
    domain_dim: int
    extent: int | None

    def holds(self, extents: Mapping[str, Extents], domain: Extents) -> bool:
        """Evaluate on actual extents."""
        actual = _extent(extents[self.operand], self.dim)
        expected = self.extent if self.extent is not None else _extent(domain, self.domain_dim)
        return actual is not None and actual in (1, expected)

    def __str__(self) -> str:
        expected = shown_domain_dim(self.domain_dim) if self.extent is None else self.extent
        return f"{self.operand}.{self.dim} in {{1, {expected}}}"


@dataclass(frozen=True, slots=True)
class StretchesAll:
    """Every dim of an operand of unknown rank is 1 or the extent of its domain dim."""

    operand: str

    def holds(self, extents: Mapping[str, Extents], domain: Extents) -> bool:
        """Evaluate on actual extents."""
        actual = extents[self.operand]
        if len(actual) > len(domain):
            return False
        return all(extent in (1, domain[-position]) for position, extent in enumerate(reversed(actual), 1))

    def __str__(self) -> str:
        return f"{self.operand}.* in {{1, d*}}"


@dataclass(frozen=True, slots=True)
class Equals:
    """The operand's dim has the extent of its domain dim, 1 or not; `extent` where types decide it."""

    operand: str
    dim: int
    domain_dim: int
    extent: int | None

    def holds(self, extents: Mapping[str, Extents], domain: Extents) -> bool:
        """Evaluate on actual extents."""
        actual = _extent(extents[self.operand], self.dim)
        expected = self.extent if self.extent is not None else _extent(domain, self.domain_dim)
        return actual is not None and actual == expected

    def __str__(self) -> str:
        return (
            f"{self.operand}.{self.dim} = {shown_domain_dim(self.domain_dim) if self.extent is None else self.extent}"
        )


@dataclass(frozen=True, slots=True)
class EqualsAll:
    """Every dim of an operand of unknown rank, except its `known` last ones, has the extent of its domain dim."""

    operand: str
    known: int = 0

    def holds(self, extents: Mapping[str, Extents], domain: Extents) -> bool:
        """Evaluate on actual extents."""
        actual = extents[self.operand]
        front = actual[: len(actual) - self.known]
        if len(actual) > len(domain):
            return False
        return all(extent == domain[-position] for position, extent in enumerate(reversed(front), self.known + 1))

    def __str__(self) -> str:
        return f"{self.operand}.* = d*"


@dataclass(frozen=True, slots=True)
class Fits:
    """The dim of an operand that is broadcast explicitly is 1 or the extent of another operand's dim.

    `symbol` is the target if it is given by name; the other dim is then where the name occurs first.
    """

    operand: str
    dim: int
    other: str
    other_dim: int
    symbol: str = ""

    def holds(self, extents: Mapping[str, Extents], domain: Extents) -> bool:
        """Evaluate on actual extents."""
        actual = _extent(extents[self.operand], self.dim)
        return actual is not None and actual in (1, _extent(extents[self.other], self.other_dim))

    def __str__(self) -> str:
        return f"{self.operand}.{self.dim} in {{1, {self.other}.{self.other_dim}}}"


@dataclass(frozen=True, slots=True)
class EqualsExtent:
    """As :class:`Fits`, for a dim that does not stretch: it has the extent of another operand's dim."""

    operand: str
    dim: int
    other: str
    other_dim: int
    symbol: str = ""

    def holds(self, extents: Mapping[str, Extents], domain: Extents) -> bool:
        """Evaluate on actual extents."""
        actual = _extent(extents[self.operand], self.dim)
        return actual is not None and actual == _extent(extents[self.other], self.other_dim)

    def __str__(self) -> str:
        return f"{self.operand}.{self.dim} = {self.other}.{self.other_dim}"


@dataclass(frozen=True, slots=True)
class SameExtent:
    """Two dims that carry the same symbol have the same extent; `other` is where the symbol occurs first."""

    operand: str
    dim: int
    other: str
    other_dim: int
    symbol: str

    def holds(self, extents: Mapping[str, Extents], domain: Extents) -> bool:
        """Evaluate on actual extents."""
        actual = _extent(extents[self.operand], self.dim)
        return actual is not None and actual == _extent(extents[self.other], self.other_dim)

    def __str__(self) -> str:
        return f"{self.operand}.{self.dim} = {self.other}.{self.other_dim} ({self.symbol})"


@dataclass(frozen=True, slots=True)
class ResultRank:
    """The domain has the rank that the result's type declares."""

    result: str
    rank: int

    def holds(self, extents: Mapping[str, Extents], domain: Extents) -> bool:
        """Evaluate on actual extents."""
        return len(domain) == self.rank

    def __str__(self) -> str:
        return f"{self.result}.rank = {self.rank} = d.rank"


@dataclass(frozen=True, slots=True)
class ResultRankAtLeast:
    """The domain has at least the dims that the result's unranked type declares."""

    result: str
    rank: int

    def holds(self, extents: Mapping[str, Extents], domain: Extents) -> bool:
        """Evaluate on actual extents."""
        return len(domain) >= self.rank

    def __str__(self) -> str:
        return f"{self.result}.rank = d.rank >= {self.rank}"


@dataclass(frozen=True, slots=True)
class ResultExtent:
    """The domain dim has the result's extent: the one its type declares, or the array's own where `extent` is None."""

    result: str
    dim: int
    domain_dim: int
    extent: int | None

    def holds(self, extents: Mapping[str, Extents], domain: Extents) -> bool:
        """Evaluate on actual extents."""
        declared = self.extent if self.extent is not None else _extent(extents.get(self.result, domain), self.dim)
        return declared is not None and declared == _extent(domain, self.domain_dim)

    def __str__(self) -> str:
        declared = "" if self.extent is None else f" = {self.extent}"
        return f"{self.result}.{self.dim}{declared} = {shown_domain_dim(self.domain_dim)}"


@dataclass(frozen=True, slots=True)
class ResultSame:
    """The domain dim has the extent of its symbol, which occurs first in `other`: an operand, or the result itself."""

    result: str
    dim: int
    domain_dim: int
    other: str
    other_dim: int
    symbol: str

    def holds(self, extents: Mapping[str, Extents], domain: Extents) -> bool:
        """Evaluate on actual extents."""
        actual = _extent(domain, self.domain_dim)
        return actual is not None and actual == _extent(extents.get(self.other, domain), self.other_dim)

    def __str__(self) -> str:
        return f"{self.result}.{self.dim} = {self.other}.{self.other_dim} ({self.symbol})"


Constraint: TypeAlias = (
    RankIs
    | RankAtLeast
    | SameRank
    | ExtentIs
    | AtLeast
    | AtMost
    | MultipleOf
    | Computed
    | Stretches
    | StretchesAll
    | Equals
    | EqualsAll
    | EqualsExtent
    | Fits
    | SameExtent
    | ResultRank
    | ResultRankAtLeast
    | ResultExtent
    | ResultSame
    | ResultAtLeast
    | ResultAtMost
    | ResultMultipleOf
    | ResultComputed
)

# The constraints that a `result`, which is a declared type or a claim, puts on the domain.
OF_RESULTS = (
    ResultRank,
    ResultRankAtLeast,
    ResultExtent,
    ResultSame,
    ResultAtLeast,
    ResultAtMost,
    ResultMultipleOf,
    ResultComputed,
)
