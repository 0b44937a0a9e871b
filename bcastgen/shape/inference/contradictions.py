"""The errors for what no extents at run time could do.

In: claims that contradict each other.  Out: an error with the operand, its dim, both sizes and the cure.

    a: f32[n>=8], b: f32[m<=4!] -> "operand 'b' dim 0 has an extent <=4, expected an extent >=8 (from 'a'); ..."
"""

from __future__ import annotations

from collections.abc import Sequence

from ...core.errors import BroadcastError, broadcast_mismatch
from ..types.dim import Dim
from ..types.facts import ANY_EXTENT, Facts, Range
from .dim_uses import Claim
from .obligations import Candidate, Scene

__all__ = ["check_extents", "check_targets", "refuted"]


def check_extents(claims: Sequence[Sequence[Claim]]) -> None:
    """Raise where known extents can never broadcast."""
    setters: dict[int, Claim] = {}
    for claim in (claim for row in claims for claim in row if _is_said(claim)):
        first = setters.setdefault(claim.position, claim)
        actual, expected = claim.dim.extent or 0, first.dim.extent or 0
        if actual == expected:
            continue
        if claim.phantom or first.phantom:
            raise _target_mismatch(claim, first)
        strict = next((one for one in (claim, first) if one.way != "numpy" and one.dim.extent == 1), None)
        if strict is None:
            raise broadcast_mismatch(claim.name, claim.own, actual, expected, first.name)
        why = f"operand '{claim.name}' dim {claim.own} has extent {actual}, expected {expected} (from '{first.name}')"
        raise BroadcastError(
            f"{why}; the 1 does not stretch here: declare it as bcast, or allow it to stretch",
            operand=claim.name,
            dim=claim.own,
            expected=expected,
            actual=actual,
            against=first.name,
        )


def _target_mismatch(claim: Claim, first: Claim) -> BroadcastError:
    """Return the error for extents that cannot meet, one of which is that of no array, but of an explicit broadcast."""
    target, met = (claim, first) if claim.phantom else (first, claim)
    wanted, actual = target.dim.extent or 0, met.dim.extent or 0
    if met.phantom:
        return BroadcastError(
            f"values broadcast to extents {actual} and {wanted} meet, {claim.position} from the last dim; "
            "broadcast both to one extent",
            expected=wanted,
            actual=actual,
        )
    return BroadcastError(
        f"operand '{met.name}' dim {met.own} has extent {actual}, expected {_one_or(wanted)} to meet a value that is "
        f"broadcast to {wanted}; broadcast that to {actual}, or give another shape",
        operand=met.name,
        dim=met.own,
        expected=wanted,
        actual=actual,
    )


def _is_said(claim: Claim) -> bool:
    return claim.dim.is_static and not (claim.is_silent or claim.is_aside)


def check_targets(claims: Sequence[Sequence[Claim]]) -> None:
    """Raise where a known extent can never be broadcast explicitly to another one."""
    for claim in (claim for row in claims for claim in row if isinstance(claim.target, Dim)):
        actual, wanted = claim.dim.extent, claim.target.extent if isinstance(claim.target, Dim) else None
        if actual is not None and wanted is not None and actual not in (1, wanted):
            raise BroadcastError(
                f"operand '{claim.name}' dim {claim.own} has extent {actual}, expected {_one_or(wanted)} to be "
                f"broadcast to {wanted}; give a shape with that extent, or another dim",
                operand=claim.name,
                dim=claim.own,
                expected=wanted,
                actual=actual,
            )


def _one_or(extent: int) -> str:
    return "1" if extent == 1 else f"1 or {extent}"


def refuted(candidate: Candidate, scene: Scene, facts: Facts) -> BroadcastError:
    """Return the error for the first thing asked that contradicts what else is, by then known as `facts`."""
    claim = candidate.claim
    if claim is None:
        return BroadcastError(f"{candidate.constraint} cannot hold for any extents; widen what types declare")
    setter = scene.meetings[claim.position].setter
    own, domain = facts.range(claim.node), facts.range(claim.position)
    origin = ""
    if claim.target is not None and not candidate.meets:
        origin = ", which it is broadcast to"
        domain = _target_range(claim, scene, facts)
        setter = None
    elif setter is not None:
        origin = f" (from '{setter.name}')"
        domain = domain.meet(facts.range(setter.node)) or domain
    loose = "extent 1 or " if claim.way == "numpy" and facts.can_be(claim.node, 1) else ""
    return BroadcastError(
        f"operand '{claim.name}' dim {claim.own} has {_shown(own)}, expected {loose}{_shown(domain)}{origin}; "
        f"no extents make {candidate.constraint} hold: widen what the types declare, or let the dim stretch",
        operand=claim.name,
        dim=claim.own,
        expected=domain.only,
        actual=own.only,
        against=setter.name if setter is not None else None,
    )


def _target_range(claim: Claim, scene: Scene, facts: Facts) -> Range:
    match claim.target:
        case Dim(value=int(extent)):
            return Range(extent, extent)
        case Dim(value=str(symbol)):
            return facts.range(scene.symbols[symbol])
        case place:
            return facts.range(place)


def _shown(range_: Range) -> str:
    if range_.only is not None:
        return f"extent {range_.only}"
    return "any extent" if range_ == ANY_EXTENT else f"an extent {range_}"
