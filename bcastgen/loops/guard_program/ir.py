"""The guard program of a kernel: checks the operands' extents and computes those of the results.

In: the decisions of lowering.  Out: a :class:`GuardProgram`, which prints; C, the shape dialect's program and linalg's
assertions are printed from it, and :mod:`.interpret` runs it.

    guards of (f32[?, 4] a, f32[?] b) -> a + b
      a.rank = 2
      b.rank = 1
      d1 := 4
      meet a.0 at d0
      a.1 = 4 or EXTENT
      meet b.0 at d1

Steps run in order. A dim of the domain is 1 until it is defined (`:=`) or until an extent that is not 1 meets it; every
extent that meets it later must be 1 or equal to it. Operands, results and claims share one numbering: operands first,
then results, then claims, as in a diagnostic.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import TYPE_CHECKING, Literal, TypeAlias, TypeVar

from ...core.frozen import dataclass

if TYPE_CHECKING:
    from ...shape.types.computed import Calculation

__all__ = [
    "Calc",
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
    "ReducedShape",
    "ResultHasRank",
    "Step",
    "Term",
    "Test",
    "Widen",
]

# PTRDIFF_MAX on machines with 32-bit addresses: the largest object there.
_MOST_BYTES = 2**31 - 1

T = TypeVar("T")


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


@dataclass(frozen=True, slots=True)
class Calc:
    """An extent that a type computes from names (shape/types/computed.py); `places` are the extents of its names.

    There is none where 64 bits do not hold it. One below 0 is that of no dim.
    """

    text: str
    places: tuple[tuple[str, Own], ...]

    def compute(
        self, own: Callable[[Own], T], number: Callable[[int], T], apply: Callable[[Calculation, T, T], T]
    ) -> T:
        """Compute it step by step, given what an operand's extent and a number are, and one step of two of these."""
        from ...shape.types.computed import calculate, expression  # noqa: PLC0415 - few types have computed extents

        places = dict(self.places)
        return calculate(expression(self.text), lambda name: own(places[name]), number, apply)

    def __str__(self) -> str:
        return f"({self.text})"


Term: TypeAlias = Const | Own | DomainDim | Calc
# The relation between an actual extent and the expected one; "multiple": the expected one divides the actual one;
# "countable": 64 bits hold the expected one, which is computed, whatever the actual one is.
Test: TypeAlias = Literal["eq", "one_or_eq", "ge", "le", "multiple", "countable"]
# How the front of an operand of unknown rank takes part. "meet": extents of 1 stretch; "match": none stretches, and
# they are compared; "take": none stretches, and they are trusted without a comparison.
Front: TypeAlias = Literal["meet", "match", "take"]


@dataclass(frozen=True, slots=True)
class HasRank:
    """The operand has exactly this rank, or at least this rank."""

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
    """The extent is not negative: only an array descriptor that a foreign caller made can have a negative one."""

    term: Own

    def __str__(self) -> str:
        return f"{self.term} >= 0"


@dataclass(frozen=True, slots=True)
class Define:
    """A dim of the domain has this extent; `setter` is the operand that a mismatch names, or -1 for none."""

    at: int
    term: Const | Own
    setter: int

    def __str__(self) -> str:
        return f"{DomainDim(0, self.at)} := {self.term}"


@dataclass(frozen=True, slots=True)
class Meet:
    """An operand's dim is 1 or has the extent of a dim of the domain, which, if 1 so far, takes the operand's extent.

    `aligned` is True if the operand is read without a view, so that adjacent dims are adjacent in the domain, too.
    `says` is the constraint as text.
    """

    term: Own
    at: int
    aligned: bool
    says: str

    def __str__(self) -> str:
        return f"meet {self.term} at {DomainDim(0, self.at)}"


@dataclass(frozen=True, slots=True)
class Widen:
    """A dim of the domain that is 1 so far takes the extent of an operand's dim, which is known to fit."""

    term: Own
    at: int

    def __str__(self) -> str:
        return f"widen {DomainDim(0, self.at)} to {self.term}"


@dataclass(frozen=True, slots=True)
class MeetFront:
    """The front dims of an operand of unknown rank, all but its last `known` ones, take part, aligned on the right.

    `says` is the constraint as text, or empty if types prove that they fit.
    """

    operand: int
    known: int
    how: Front
    says: str

    def __str__(self) -> str:
        return f"{self.how} the front of %{self.operand}, all but {self.known}"


@dataclass(frozen=True, slots=True)
class Check:
    """A test of an extent, with the diagnostic of its failure.

    Attributes
    ----------
    actual, expected : the extents.
    status : the diagnostic's status.
    subject, dim : the operand, result or claim that the diagnostic names, and its dim.
    against : the number of the operand, result or claim that sets the expected extent, or of the text that computes it,
        -1 for none, or a dim of the domain, for the operand that set it.
    symbol : the symbol that makes the two one extent, or "".
    says : the constraint as text.
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
        """Whether the diagnostic swaps both: the type's extent is reported as actual, the domain's as expected."""
        return self.status == "RESULT" and isinstance(self.expected, Const)

    def __str__(self) -> str:
        shown = {
            "eq": f"{self.actual} = {self.expected}",
            "one_or_eq": f"{self.actual} in {{1, {self.expected}}}",
            "ge": f"{self.actual} >= {self.expected}",
            "le": f"{self.actual} <= {self.expected}",
            "multiple": f"{self.actual} % {self.expected} = 0",
            "countable": f"{self.expected} is countable",
        }
        return f"{shown[self.test]} or {self.status} of %{self.subject}"


@dataclass(frozen=True, slots=True)
class ResultHasRank:
    """The domain has exactly the rank that a result's or claim's type declares, or at least that rank."""

    subject: int
    rank: int
    exact: bool

    def __str__(self) -> str:
        return f"d.rank {'=' if self.exact else '>='} {self.rank} of %{self.subject}"


@dataclass(frozen=True, slots=True)
class Overflow:
    """The result, with elements of `size` bytes, has at most as many bytes as an object can have."""

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
    least_rank : the number of known dims of its domain, which is the domain's rank unless it is `open`.
    operands : the numbers of the operands whose extents it reads; `spanning` are those that determine an open rank.
    whole : the operands, if all of them meet as wholes, aligned on the right; empty where they meet dim by dim.
    entry : the checks that come before any dim is defined.
    defines : the dims of the domain that are defined from the start.
    steps : the checks of operands, and how they meet.
    results : the checks of the domain's extents.
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
        """All steps, in order."""
        return (*self.entry, *self.defines, *self.steps, *self.results)

    @property
    def known(self) -> dict[int, int]:
        """The dims of the domain whose extents types know, with these."""
        return {define.at: define.term.extent for define in self.defines if isinstance(define.term, Const)}

    def may_overflow(self, size: int) -> bool:
        """Whether types leave open that elements of `size` bytes are more than an object of any machine can have."""
        least = prod(self.known.values()) * size
        is_known = not self.open and len(self.known) == self.least_rank
        return self.open or (least != 0 and not (is_known and least <= _MOST_BYTES))


@dataclass(frozen=True, slots=True)
class ReducedShape:
    """The shape of an operand that a reduction gives: that of a nest's domain without some dims, or with 1 there."""

    operand: int
    nest: int
    axes: tuple[int, ...]
    keepdims: bool

    def of(self, domain: Sequence[int]) -> tuple[int, ...]:
        """Return the shape, given the domain's."""
        kept = ((at, extent) for at, extent in enumerate(domain) if self.keepdims or at not in self.axes)
        return tuple(1 if at in self.axes else extent for at, extent in kept)

    def __str__(self) -> str:
        return f"%{self.operand} := nest {self.nest} without {list(self.axes)}{', keepdims' * self.keepdims}"


@dataclass(frozen=True, slots=True)
class GuardProgram:
    """The guards of all nests in order, and then, in `ties`, the checks between their domains.

    `named` are the names of operands, results and claims, and the texts of computed extents, by number; `stored` is the
    nest of each result; `constants` are the numbers of the kernel's own operands, which are not checked. `reduced` are
    the last operands' shapes, where reductions give these; the first results are then the values that are reduced.
    """

    named: tuple[str, ...]
    operands: int
    stored: tuple[int, ...]
    constants: frozenset[int]
    nests: tuple[NestGuards, ...]
    ties: tuple[Check, ...]
    reduced: tuple[ReducedShape, ...] = ()

    def checked(self, at: int) -> tuple[str, ...]:
        """Return the constraints that a nest's steps check, as text, in order; those of foreign descriptors left out.

        The ties that end in the nest are the last.
        """
        ties = [tie for tie in self.ties if isinstance(tie.actual, DomainDim) and tie.actual.nest == at]
        texts = (self.says(step) for step in (*self.nests[at].all_steps, *ties))
        return tuple(dict.fromkeys(text for text in texts if text))

    def says(self, step: Step) -> str:
        """Return the constraint that a step checks, as text; empty if it checks none."""
        match step:
            case Meet(says=says) | MeetFront(says=says) | Check(says=says):
                return says
            case HasRank(operand=operand, rank=rank, exact=exact) if exact or rank:
                return f"{self.named[operand]}.rank {'=' if exact else '>='} {rank}"
            case HasDomainRank(operand=operand):
                return f"{self.named[operand]}.rank = d.rank"
            case ResultHasRank(subject=subject, rank=rank, exact=exact):
                name = self.named[subject]
                return f"{name}.rank = {rank} = d.rank" if exact else f"{name}.rank = d.rank >= {rank}"
        return ""

    def __str__(self) -> str:
        lines = []
        for at, nest in enumerate(self.nests):
            lines.append(f"guards of nest {at}, {', '.join(self.named[operand] for operand in nest.operands)}")
            lines += [f"  {step}" for step in nest.all_steps]
        return "\n".join([*lines, *map(str, self.reduced), *(f"tie {tie}" for tie in self.ties)])
