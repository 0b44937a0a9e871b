"""The guard program of a kernel: from the operands' extents to those of the results, or to what forbids them.

In: what lowering decides.  Out: a :class:`GuardProgram`, which prints; C, the shape dialect's program and linalg's
assertions are printed from it, and `interpret` runs it.

    guards of (f32[?, 4] a, f32[?] b) -> a + b
      a.rank = 2
      b.rank = 1
      d1 := 4
      meet a.0 at d0
      a.1 = 4 or EXTENT
      meet b.0 at d1

Steps run in order. A dim of the domain is 1 until it is defined (`:=`) or until an extent that is not 1 meets it; what
meets it later is 1 or has its extent. Operands, results and claims are numbers: operands first, then results, then
claims, as in a diagnostic.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from ..core.frozen import dataclass

__all__ = [
    "Check",
    "Const",
    "Define",
    "DomainDim",
    "Front",
    "GuardProgram",
    "HasDomainRank",
    "HasRank",
    "Meet",
    "MeetFront",
    "NestGuards",
    "NotNegative",
    "Overflow",
    "Own",
    "ResultHasRank",
    "Step",
    "Term",
    "Test",
    "Widen",
]


@dataclass(frozen=True, slots=True)
class Const:
    """An extent that types know."""

    extent: int

    def __str__(self) -> str:
        return str(self.extent)


@dataclass(frozen=True, slots=True)
class Own:
    """The extent of an operand's dim, counted from the end where it is negative."""

    operand: int
    dim: int

    def __str__(self) -> str:
        return f"%{self.operand}.{self.dim}"


@dataclass(frozen=True, slots=True)
class DomainDim:
    """The extent of a dim of a nest's domain, counted from the end where it is negative."""

    nest: int
    at: int

    def __str__(self) -> str:
        return f"d{self.at}" if self.at >= 0 else f"d[{self.at}]"


Term: TypeAlias = Const | Own | DomainDim
# What has to hold of an extent and the one that is expected; "multiple": the expected one divides it.
Test: TypeAlias = Literal["eq", "one_or_eq", "ge", "le", "multiple"]
# How the front of an operand of unknown rank takes part: a 1 stretches; none does; none does, and nothing is compared.
Front: TypeAlias = Literal["meet", "match", "take"]


@dataclass(frozen=True, slots=True)
class HasRank:
    """The operand has this rank, or at least this one."""

    operand: int
    rank: int
    exact: bool

    def __str__(self) -> str:
        return f"%{self.operand}.rank {'=' if self.exact else '>='} {self.rank}"


@dataclass(frozen=True, slots=True)
class HasDomainRank:
    """The operand has the domain's rank, or is a scalar."""

    operand: int

    def __str__(self) -> str:
        return f"%{self.operand}.rank in {{0, d.rank}}"


@dataclass(frozen=True, slots=True)
class NotNegative:
    """The extent is none below 0: only a descriptor of a stranger's can have one."""

    term: Own

    def __str__(self) -> str:
        return f"{self.term} >= 0"


@dataclass(frozen=True, slots=True)
class Define:
    """A dim of the domain has this extent; `setter` is the operand that a mismatch names, -1 if it is none's."""

    at: int
    term: Const | Own
    setter: int

    def __str__(self) -> str:
        return f"{DomainDim(0, self.at)} := {self.term}"


@dataclass(frozen=True, slots=True)
class Meet:
    """An operand's dim is 1 or the extent of a dim of the domain, which is its own if that was 1 so far.

    `aligned` if the operand is read as it is, so that neighbours lie side by side in the domain, too. `says` is the
    constraint, as it is printed.
    """

    term: Own
    at: int
    aligned: bool
    says: str

    def __str__(self) -> str:
        return f"meet {self.term} at {DomainDim(0, self.at)}"


@dataclass(frozen=True, slots=True)
class Widen:
    """A dim that is known to fit: a dim of the domain that was 1 so far has its extent."""

    term: Own
    at: int

    def __str__(self) -> str:
        return f"widen {DomainDim(0, self.at)} to {self.term}"


@dataclass(frozen=True, slots=True)
class MeetFront:
    """The dims that an operand of unknown rank has before its `known` last ones take part, aligned on the right.

    `says` is empty where types show that they fit.
    """

    operand: int
    known: int
    how: Front
    says: str

    def __str__(self) -> str:
        return f"{self.how} the front of %{self.operand}, all but {self.known}"


@dataclass(frozen=True, slots=True)
class Check:
    """A test of an extent, and who is told if it fails.

    Attributes
    ----------
    actual, expected : the extents.
    status : of the diagnostic.
    subject, dim : the operand, result or claim it names, and its dim.
    against : who set the extent that is expected: a number, -1 for nobody, or whoever set that dim of the domain.
    symbol : the name that makes the two one extent, if it is a name.
    says : the constraint, as it is printed.
    """

    test: Test
    actual: Term
    expected: Term
    status: str
    subject: int
    dim: int
    against: int | DomainDim
    says: str
    symbol: str = ""

    @property
    def swaps(self) -> bool:
        """Whether it is the extent of a result's type that is wrong: what operands make of it is expected then."""
        return self.status == "RESULT" and isinstance(self.expected, Const)

    def __str__(self) -> str:
        shown = {
            "eq": f"{self.actual} = {self.expected}",
            "one_or_eq": f"{self.actual} in {{1, {self.expected}}}",
            "ge": f"{self.actual} >= {self.expected}",
            "le": f"{self.actual} <= {self.expected}",
            "multiple": f"{self.actual} % {self.expected} = 0",
        }
        return f"{shown[self.test]} or {self.status} of %{self.subject}"


@dataclass(frozen=True, slots=True)
class ResultHasRank:
    """The domain has the rank that a result's or claim's type declares, or at least that."""

    subject: int
    rank: int
    exact: bool

    def __str__(self) -> str:
        return f"d.rank {'=' if self.exact else '>='} {self.rank} of %{self.subject}"


@dataclass(frozen=True, slots=True)
class Overflow:
    """The result, with elements of `size` bytes, has no more bytes than an object can have."""

    subject: int
    size: int

    def __str__(self) -> str:
        return f"the bytes of %{self.subject} are countable"


Step: TypeAlias = (
    HasRank | HasDomainRank | NotNegative | Define | Meet | Widen | MeetFront | Check | ResultHasRank | Overflow
)


@dataclass(frozen=True, slots=True)
class NestGuards:
    """The steps of one nest, in order.

    Attributes
    ----------
    least_rank : how many dims of its domain are known; that is its rank unless it is `open`.
    operands : the numbers of the operands whose extents it looks at; `spanning` are those that a rank comes from.
    whole : the operands that meet as wholes, aligned on the right, if all do and no dim is known to be somebody's.
    entry : what has to hold before an extent can be looked at.
    defines : the dims that are known from the start.
    steps : what is asked of operands, and how they meet.
    results : what is asked of the extents that come of it.
    """

    least_rank: int
    open: bool
    operands: tuple[int, ...]
    spanning: tuple[int, ...]
    whole: tuple[int, ...]
    entry: tuple[HasRank | NotNegative | Check, ...]
    defines: tuple[Define, ...]
    steps: tuple[HasDomainRank | NotNegative | Meet | Widen | MeetFront | Check, ...]
    results: tuple[ResultHasRank | Check | Overflow, ...]

    @property
    def all_steps(self) -> tuple[Step, ...]:
        """All of it, in order."""
        return (*self.entry, *self.defines, *self.steps, *self.results)


@dataclass(frozen=True, slots=True)
class GuardProgram:
    """The guards of all nests, in order, and then what has to hold between their domains.

    `named` are the names of operands, results and claims, by number; `stored` the nest that each result is of;
    `constants` the numbers of operands that are the kernel's own, of which nothing is asked.
    """

    named: tuple[str, ...]
    operands: int
    stored: tuple[int, ...]
    constants: frozenset[int]
    nests: tuple[NestGuards, ...]
    ties: tuple[Check, ...]

    def __str__(self) -> str:
        lines = []
        for at, nest in enumerate(self.nests):
            lines.append(f"guards of nest {at}, {', '.join(self.named[operand] for operand in nest.operands)}")
            lines += [f"  {step}" for step in nest.all_steps]
        return "\n".join([*lines, *(f"tie {tie}" for tie in self.ties)])
