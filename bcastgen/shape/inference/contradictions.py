"""The errors for types that no extents at run time satisfy.

In: dims that contradict each other.  Out: an error with the operand, its dim, both sizes and the cure.

    a: f32[n>=8], b: f32[m<=4!] -> "operand 'b' dim 0 has an extent <=4, expected an extent >=8 (from 'a'); ..."
"""

from __future__ import annotations

from collections.abc import Sequence

from ...core.errors import BroadcastError, broadcast_mismatch
from ..types.dim import Dim
from ..types.facts import ANY_EXTENT, Facts, Range
from .dim_uses import DimUse
from .obligations import Candidate, Problem

__all__ = ["check_extents", "check_targets", "refuted"]


def check_extents(dim_uses: Sequence[Sequence[DimUse]]) -> None:
    """Raise where known extents can never broadcast."""
    setters: dict[int, DimUse] = {}
    for dim_use in (dim_use for row in dim_uses for dim_use in row if _is_said(dim_use)):
        first = setters.setdefault(dim_use.position, dim_use)
        actual, expected = dim_use.dim.extent or 0, first.dim.extent or 0
        if actual == expected:
            continue
        if dim_use.is_target_shape or first.is_target_shape:
            raise _target_mismatch(dim_use, first)
        strict = next((one for one in (dim_use, first) if one.stretch_mode != "numpy" and one.dim.extent == 1), None)
        if strict is None:
            raise broadcast_mismatch(dim_use.name, dim_use.own, actual, expected, first.name)
        why = (
            f"operand '{dim_use.name}' dim {dim_use.own} has extent {actual}, expected {expected} (from '{first.name}')"
        )
        raise BroadcastError(
            f"{why}; the 1 does not stretch here: declare it as bcast, or allow it to stretch",
            operand=dim_use.name,
            dim=dim_use.own,
            expected=expected,
            actual=actual,
            against=first.name,
        )


def _target_mismatch(dim_use: DimUse, first: DimUse) -> BroadcastError:
    """Return the error for extents that cannot meet, if an explicit broadcast and no array gives one of them."""
    target, met = (dim_use, first) if dim_use.is_target_shape else (first, dim_use)
    wanted, actual = target.dim.extent or 0, met.dim.extent or 0
    if met.is_target_shape:
        return BroadcastError(
            f"values broadcast to extents {actual} and {wanted} meet, {dim_use.position} from the last dim; "
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


def _is_said(dim_use: DimUse) -> bool:
    return dim_use.dim.is_static and not (dim_use.is_silent or dim_use.is_aside)


def check_targets(dim_uses: Sequence[Sequence[DimUse]]) -> None:
    """Raise where a known extent can never be broadcast explicitly to another one."""
    for dim_use in (dim_use for row in dim_uses for dim_use in row if isinstance(dim_use.target, Dim)):
        actual, wanted = dim_use.dim.extent, dim_use.target.extent if isinstance(dim_use.target, Dim) else None
        if actual is not None and wanted is not None and actual not in (1, wanted):
            if dim_use.is_target_shape:
                raise BroadcastError(
                    f"a value of extent {actual} is broadcast to {wanted}, expected {_one_or(wanted)}; "
                    f"broadcast it to {actual}, or give it that extent",
                    expected=wanted,
                    actual=actual,
                )
            raise BroadcastError(
                f"operand '{dim_use.name}' dim {dim_use.own} has extent {actual}, expected {_one_or(wanted)} to be "
                f"broadcast to {wanted}; give a shape with that extent, or another dim",
                operand=dim_use.name,
                dim=dim_use.own,
                expected=wanted,
                actual=actual,
            )


def _one_or(extent: int) -> str:
    return "1" if extent == 1 else f"1 or {extent}"


def refuted(candidate: Candidate, problem: Problem, facts: Facts) -> BroadcastError:
    """Return the error for a candidate that contradicts `facts`, which follow from the candidates before it."""
    dim_use = candidate.dim_use
    if dim_use is None:
        return BroadcastError(f"{candidate.constraint} cannot hold for any extents; widen what types declare")
    setter = problem.domain_dims[dim_use.position].setter
    own, domain = facts.range(dim_use.node), facts.range(dim_use.position)
    against, origin = None, ""
    if dim_use.target is not None and not candidate.meets:
        origin = ", which it is broadcast to"
        domain = _target_range(dim_use, problem, facts)
    elif setter is not None:
        against = _array_of(setter)
        origin = ", which a value is broadcast to" if against is None else f" (from '{against}')"
        domain = domain.meet(facts.range(setter.node)) or domain
    loose = "extent 1 or " if dim_use.stretch_mode == "numpy" and facts.can_be(dim_use.node, 1) else ""
    array, dim = _array_of(dim_use), dim_use.place[1]
    subject = "an explicit broadcast" if array is None else f"operand '{array}' dim {dim}"
    return BroadcastError(
        f"{subject} has {_shown(own)}, expected {loose}{_shown(domain)}{origin}; "
        f"no extents make {candidate.constraint} hold: widen what the types declare, or let the dim stretch",
        operand=array,
        dim=None if array is None else dim,
        expected=domain.only,
        actual=own.only,
        against=against,
    )


def _array_of(dim_use: DimUse) -> str | None:
    """Return the operand that has the dim; for a target shape's symbol the one that binds it, for its extent None."""
    return None if dim_use.is_target_shape and dim_use.dim.is_static else dim_use.place[0]


def _target_range(dim_use: DimUse, problem: Problem, facts: Facts) -> Range:
    match dim_use.target:
        case Dim(value=int(extent)):
            return Range(extent, extent)
        case Dim(value=str(symbol)):
            return facts.range(problem.symbols[symbol])
        case place:
            return facts.range(place)


def _shown(range_: Range) -> str:
    if range_.only is not None:
        return f"extent {range_.only}"
    return "any extent" if range_ == ANY_EXTENT else f"an extent {range_}"
