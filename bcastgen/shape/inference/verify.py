"""Verification: whether a declared result type fits the domain that its operands span.

In: operand types and a result type.  Out: the constraints that run time still has to check, or the error.

    (f32[?], f32[4]) -> f32[4]    a.0 in {1, 4}
    (f32[?], f32[?]) -> f32[4]    a.0 in {1, d0}, b.0 in {1, d0}, r.0 = 4 = d0    (mode "document": an error)
    (f32[1], f32[1]) -> f32[4]    BroadcastError("result 'r' dim 0 has extent 4, expected 1 (from 'a'); ...")

Source: MLIR's Broadcastable trait. Mode "sound" reports only what is certain to fail; mode "document" is the
letter of the trait's pseudo-code. Neither has rules on element types or on mixing tensors with vectors.
"""

from __future__ import annotations

from collections.abc import Iterable, MutableMapping, Sequence
from itertools import islice
from typing import TypeAlias

from ...core.errors import BroadcastError, result_mismatch, result_rank_mismatch
from ...core.frozen import dataclass
from ...core.operand_names import operand_names
from ..constraints import (
    Constraint,
    ResultAtLeast,
    ResultAtMost,
    ResultComputed,
    ResultExtent,
    ResultMultipleOf,
    ResultRank,
    ResultRankAtLeast,
    ResultSame,
)
from ..decision import Decision, Fate
from ..types.dim import Dim
from ..types.facts import MAX_EXTENT, Range
from ..types.tensor_type import TensorType, parse_type
from .broadcast import BroadcastInfo, Mode, broadcast
from .joint import Joint
from .name_places import name_places
from .operand_use import OperandDim

__all__ = ["Bound", "decide_result", "verify_broadcast", "verify_result"]

_MOST_TYPES = 10_000

# Symbol -> where it occurs first: operand or result, its dim, and what is known there.
Bound: TypeAlias = MutableMapping[str, tuple[str, int, Dim]]


def verify_broadcast(
    operand_types: Sequence[TensorType | str] | TensorType, result_type: TensorType | str, mode: Mode = "sound"
) -> tuple[Constraint, ...]:
    """Check that operands of these types can broadcast to a result of this type.

    Parameters
    ----------
    operand_types : the operands' types (or the only one's), as :class:`TensorType` or text; errors and constraints call
        them a, b, c, ...
    result_type : the declared type of the result, called r. Its dims never stretch.
    mode : ``"sound"``: a type that cannot hold at run time is an error; one that may hold is returned as constraints.
        ``"document"``: a known extent in the result where none is inferred is an error too, and operands of unknown
        rank are ignored.

    Returns
    -------
    tuple of Constraint
        The constraints left to run time, in the order in which to check them; empty if the types prove them all.

    Raises
    ------
    BroadcastError
        If the operands cannot broadcast, or not to this result.
    ParseError
        If a text is no type.

    Examples
    --------
    >>> [str(constraint) for constraint in verify_broadcast(["f32[?]", "f32[?]"], "f32[4]")]
    ['a.0 in {1, d0}', 'b.0 in {1, d0}', 'r.0 = 4 = d0']
    >>> verify_broadcast(["f32[2, 1]", "f32[3]"], "f32[2, ?]")
    ()
    """
    is_one = isinstance(operand_types, (str, TensorType)) or not isinstance(operand_types, Iterable)
    try:
        types = [parse_type(operand_types)] if is_one else list(islice(operand_types, _MOST_TYPES + 1))  # type: ignore[arg-type]
    except TypeError:  # of an array without dims
        raise BroadcastError(f"operand types are {operand_types!r}; give a list of types") from None
    if len(types) > _MOST_TYPES:
        raise BroadcastError(f"there are more than {_MOST_TYPES} types of operands, which is the limit")
    names = operand_names(len(types))
    operands = [(name, parse_type(type_)) for name, type_ in zip(names, types, strict=True)]
    info = broadcast(operands, mode)
    name, result = "result" if "r" in names else "r", parse_type(result_type)
    constraints = (*info.constraints, *verify_result(info, name, result))
    if mode == "sound":
        # Names make one extent of several dims, and each dim of the result is compared alone above.
        joint = Joint(operands)
        joint.add(info, [(name, result)])
        joint.check()
    return constraints


def verify_result(
    info: BroadcastInfo, name: str, result: TensorType, bound: Bound | None = None
) -> tuple[Constraint, ...]:
    """Check a result's type against the domain that operands span, in the mode it was inferred in.

    Parameters
    ----------
    info : what :func:`broadcast` inferred.
    name : what errors and constraints call the result; no operand's name.
    result : its declared type.
    bound : where symbols occur first. Pass the same dict for all results, so that a symbol is one extent in them all.

    Returns
    -------
    tuple of Constraint
        The constraints left to run time beside ``info.constraints``.

    Raises
    ------
    BroadcastError
        If its rank, an extent or a declared fact differs from what is inferred.

    Examples
    --------
    >>> info = broadcast([("x", "f32[n]"), ("y", "f32[?]")])
    >>> [str(constraint) for constraint in verify_result(info, "z", parse_type("f32[n]"))]
    ['z.0 = x.0 (n)']
    """
    decisions = decide_result(info, name, result, bound)
    return tuple(decision.constraint for decision in decisions if decision.fate == "checked")


def decide_result(
    info: BroadcastInfo, name: str, result: TensorType, bound: Bound | None = None
) -> tuple[Decision, ...]:
    """Return the fate of everything that a result's type asks, as :func:`verify_result` checks it.

    Examples
    --------
    >>> info = broadcast([("x", "f32[n>=2]"), ("y", "f32[?]")])
    >>> [str(decision) for decision in decide_result(info, "z", parse_type("f32[n]"))]
    ['z.rank = 1 = d.rank: proved', 'z.0 = x.0 (n): proved']
    """
    if info.mode == "document" and (result.unranked or info.unranked):
        return ()
    decisions = list(_rank_decisions(info, name, result))
    bound = {} if bound is None else bound
    for symbol, operand, dim in info.symbols:
        bound.setdefault(symbol, (operand, dim, Dim.within(symbol, info.facts.range((operand, dim)))))
    for position, own, declared in result.aligned:
        place = _ResultDim(name, own, info.domain_index(position), info.at(position))
        known = place.inferred.range
        if declared.extent is not None:
            decisions.append(_extent_decision(info, place, declared.extent, position))
            continue
        if declared.symbol is not None:
            met = known.meet(declared.range) or known
            first = bound.setdefault(declared.symbol, (name, own, _narrowed(place.inferred, met)))
            same = info.facts.same(position, first[:2])
            if declared.is_computed and first[:2] == (name, own):
                decisions.append(_computed_decision(declared, place, bound))
            decisions += _symbol_decisions(declared.symbol, place, first, same)
            known = known if first[:2] == (name, own) else known.meet(first[2].range) or known
        decisions += _range_decisions(place, declared, known)
    return tuple(decisions)


@dataclass(frozen=True, slots=True)
class _ResultDim:
    """A dim of a result: the result's name, the dim's number, the domain dim it has to equal, and that one's facts."""

    name: str
    dim: int
    domain_dim: int
    inferred: Dim


def _narrowed(dim: Dim, range_: Range) -> Dim:
    return dim if dim.is_static else Dim.within(dim.symbol, range_)


def _rank_decisions(info: BroadcastInfo, name: str, result: TensorType) -> tuple[Decision, ...]:
    declared, inferred = len(result.dims), len(info.dims)
    # The number of known dims is the rank, or a lower bound on it where a type or the domain is unranked.
    too_low = declared < inferred and not result.unranked
    too_high = declared > inferred and not info.unranked
    if too_low or too_high:
        raise result_rank_mismatch(name, declared, inferred)
    if not result.unranked:
        fate: Fate = "checked" if info.unranked else "proved"
        return (Decision(ResultRank(name, declared), fate, _why(fate)),)
    if declared == 0:
        return ()
    fate = "checked" if info.unranked and declared > inferred else "proved"
    return (Decision(ResultRankAtLeast(name, declared), fate, _why(fate)),)


def _why(fate: Fate) -> str:
    return "" if fate == "proved" else "types leave it open"


def _extent_decision(info: BroadcastInfo, place: _ResultDim, declared: int, position: int) -> Decision:
    inferred = place.inferred
    constraint = ResultExtent(place.name, place.dim, place.domain_dim, declared)
    if inferred.extent == declared:
        return Decision(constraint, "proved")
    if inferred.extent is not None:
        raise result_mismatch(place.name, place.dim, declared, inferred.extent, info.setters[-position] or None)
    if not inferred.range.has(declared):
        raise _out_of_range(place, f"extent {declared}", declared)
    if info.mode == "sound":
        return Decision(constraint, "checked", _why("checked"))
    raise BroadcastError(
        f"result '{place.name}' dim {place.dim} has extent {declared}, expected {inferred} (inferred from the "
        "operands); declare it as ?, or verify in mode 'sound', which checks it at run time",
        operand=place.name,
        dim=place.dim,
        actual=declared,
    )


def _computed_decision(declared: Dim, place: _ResultDim, bound: Bound) -> Decision:
    """Return the check of a computed extent that no operand's type says."""
    text = declared.symbol or ""
    places: dict[str, OperandDim] = {name: first[:2] for name, first in bound.items() if first[0] != place.name}
    own = name_places(text, places, place.name, place.dim, "result")
    constraint = ResultComputed(place.name, place.dim, place.domain_dim, text, own)
    return Decision(constraint, "checked", "its type declares it")


def _symbol_decisions(symbol: str, place: _ResultDim, first: tuple[str, int, Dim], same: bool) -> tuple[Decision, ...]:
    """Compare what is inferred for a dim with its symbol's first occurrence: name, dim, and what is known there."""
    other, other_dim, expected = first
    inferred = place.inferred
    if (place.name, place.dim) == (other, other_dim):
        return ()
    constraint = ResultSame(place.name, place.dim, place.domain_dim, other, other_dim, symbol)
    extent = inferred.range.only
    if same or (inferred.value == expected.value is not None) or (extent == expected.range.only is not None):
        return (Decision(constraint, "proved"),)
    if inferred.extent is not None and expected.extent is not None:
        raise result_mismatch(place.name, place.dim, inferred.extent, expected.extent, other)
    if inferred.range.meet(expected.range) is None:
        raise _out_of_range(place, f"the extent of '{other}' dim {other_dim}, {expected}", expected.extent)
    return (Decision(constraint, "checked", f"{symbol} is bound where it occurs first"),)


def _range_decisions(place: _ResultDim, declared: Dim, known: Range) -> list[Decision]:
    """Compare the range that is declared for a dim with what is known of it."""
    wanted = declared.range
    if known.meet(wanted) is None:
        raise _out_of_range(place, f"{declared}", None)
    at = (place.name, place.dim, place.domain_dim)
    step, top = wanted.step, MAX_EXTENT // wanted.step * wanted.step
    rows: list[tuple[Constraint, Range]] = []
    if declared.min is not None:
        rows.append((ResultAtLeast(*at, wanted.low), Range(wanted.low)))
    if declared.max is not None:
        rows.append((ResultAtMost(*at, wanted.high), Range(0, wanted.high)))
    if declared.multiple_of is not None:
        rows.append((ResultMultipleOf(*at, step), Range(0, top, step)))
    fates: list[Fate] = ["proved" if known.meet(said) == known else "checked" for _, said in rows]
    return [Decision(constraint, fate, _why(fate)) for (constraint, _), fate in zip(rows, fates, strict=True)]


def _out_of_range(place: _ResultDim, declared: str, actual: int | None) -> BroadcastError:
    return BroadcastError(
        f"result '{place.name}' dim {place.dim} is declared as {declared}, expected {place.inferred} (inferred from "
        "the operands); declare it as ?, or widen what the operands' types declare",
        operand=place.name,
        dim=place.dim,
        actual=actual,
    )
