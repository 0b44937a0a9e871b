"""The rewrites in order: every transformation of a nest.

In: a program.  Out: a :class:`Rewritten`: the program that C is generated from, and the changes of each rewrite.

    u8[?] a;  a.astype(i32) // 8   ->   strength_reduction: a shift; narrow: of u8; the others: unchanged

A rewrite is a function from a nest to one of the same results, bit for bit, with a line for each statement it changed.
Under BCASTGEN_DEBUG every nest is verified before the first rewrite and after each that changed one.
"""

from __future__ import annotations

from collections.abc import Callable

from ...core.errors import BcastgenError
from ...core.frozen import dataclass, replace
from ...core.sizes import is_on
from ..nest import LoopProgram, Nest
from .drop_guards import drop_guards
from .exact_floats import exact_floats
from .integer_sums import integer_sums
from .narrow import narrow
from .narrow_sums import narrow_sums
from .saturating_sums import saturating_sums
from .strength_reduction import strength_reduction

__all__ = ["REWRITES", "Rewrite", "RewriteStep", "Rewritten", "rewrite", "verifies"]


@dataclass(frozen=True, slots=True)
class Rewrite:
    """A rewrite: its name, its function, and the reason for it in one sentence."""

    name: str
    function: Callable[[Nest], tuple[Nest, tuple[str, ...]]]
    reason: str


REWRITES = (
    Rewrite(
        "strength_reduction",
        strength_reduction,
        "Shift and mask integers instead of dividing them by powers of two: gcc divides one element at a time.",
    ),
    Rewrite("integer_sums", integer_sums, "Add integers before they become floats, so that one conversion is saved."),
    Rewrite(
        "saturating_sums",
        saturating_sums,
        "Use saturating sums instead of widening and clipping: the lanes stay narrow.",
    ),
    Rewrite(
        "exact_floats",
        exact_floats,
        "Compute doubles in f32 where it holds each of them exactly: half the bits give a vector twice the lanes.",
    ),
    Rewrite(
        "narrow",
        narrow,
        "Compute integers in the narrowest dtype that changes no result: half the bits give a vector twice the lanes.",
    ),
    Rewrite(
        "narrow_sums",
        narrow_sums,
        "Leave it to sums to widen integers as they are added: values in the cache take an eighth of the bytes.",
    ),
    Rewrite(
        "drop_guards",
        drop_guards,
        "Let conversions of floats to integers clip them; drop checks of ranges and for NaN that no value can fail.",
    ),
)


@dataclass(frozen=True, slots=True)
class RewriteStep:
    """One rewrite's work: a line for each change, and the program after it; `changed` is False if there is none.

    The lines name values as the nest before the rewrite does: a value may become several, or none.
    """

    rewrite: Rewrite
    notes: tuple[str, ...]
    program: LoopProgram
    changed: bool

    def __str__(self) -> str:
        if not self.changed:
            return f"{self.rewrite.name} (unchanged)"
        return "\n".join((self.rewrite.reason, *(f"  {note}" for note in self.notes), str(self.program)))


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A program after all rewrites, with one step for each rewrite."""

    program: LoopProgram
    steps: tuple[RewriteStep, ...]

    def __str__(self) -> str:
        return "\n".join(f"{step.rewrite.name}: {step}" if step.changed else f"{step}" for step in self.steps)


def verifies() -> bool:
    """Whether nests are verified: if BCASTGEN_DEBUG is set; this package's tests replace it by one that says yes."""
    return is_on("BCASTGEN_DEBUG")


def rewrite(program: LoopProgram) -> Rewritten:
    """Return a program with every rewrite applied in order to every nest, and the steps.

    Raises
    ------
    BcastgenError
        Under BCASTGEN_DEBUG, if lowering or a rewrite made a wrong nest; the message names the pass.
    """
    checked = verifies()
    if checked:
        _verify(program, "lowering")
    steps = []
    for one in REWRITES:
        made = [one.function(nest) for nest in program.nests]
        changed = any(nest is not before for (nest, _), before in zip(made, program.nests, strict=True))
        if changed:
            program = replace(program, nests=tuple(nest for nest, _ in made))
            if checked:
                _verify(program, one.name)
        nests = [f"nest {at}: " if len(made) > 1 else "" for at in range(len(made))]
        notes = tuple(f"{nest}{note}" for nest, (_, found) in zip(nests, made, strict=True) for note in found)
        steps.append(RewriteStep(one, notes, program, changed))
    return Rewritten(program, tuple(steps))


def _verify(program: LoopProgram, name: str) -> None:
    from ..verify import verify  # noqa: PLC0415 - only BCASTGEN_DEBUG needs it

    for nest in program.nests:
        try:
            verify(nest)
        except BcastgenError as error:
            raise BcastgenError(f"{name} made a wrong nest, which is a defect of bcastgen: {error}") from None
