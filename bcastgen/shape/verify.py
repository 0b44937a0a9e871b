"""Verification: does a declared result type fit what its operands broadcast to.

In: operand types and a result type.  Out: the constraints that run time still has to check, or the error.

    (f32[?], f32[4]) -> f32[4]    a.0 in {1, 4}
    (f32[?], f32[?]) -> f32[4]    a.0 in {1, d0}, b.0 in {1, d0}, r.0 = 4 = d0    (mode "document": an error)
    (f32[1], f32[1]) -> f32[4]    BroadcastError("result 'r' dim 0 has extent 4, expected 1 (from 'a'); ...")

Source: the Broadcastable trait (seed 000). Mode "sound" reports only what is certain to fail; mode "document" is the
letter of the trait's pseudo-code. Neither has rules on element types or on mixing tensors with vectors.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import BroadcastError, result_mismatch, result_rank_mismatch
from .broadcast import BroadcastInfo, Mode, broadcast, operand_names
from .constraints import Constraint, ResultExtent, ResultRank, ResultRankAtLeast, ResultSame
from .dim import Dim
from .tensor_type import TensorType, parse_type

__all__ = ["verify_broadcast", "verify_result"]


def verify_broadcast(
    operand_types: Sequence[TensorType | str] | TensorType, result_type: TensorType | str, mode: Mode = "sound"
) -> tuple[Constraint, ...]:
    """Check that operands of these types can broadcast to a result of this type.

    Parameters
    ----------
    operand_types : the operands' types (or the only one's), as :class:`TensorType` or text; errors and constraints call
        them a, b, c, ...
    result_type : the declared type of the result, called r. Its dims never stretch.
    mode : ``"sound"``: an error is what cannot hold at run time; what may hold is returned as a constraint.
        ``"document"``: a known extent in the result where none is inferred is an error too, and operands of unknown
        rank are ignored.

    Returns
    -------
    tuple of Constraint
        What must hold at run time, in the order in which to check it; empty if the types prove all of it.

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
    types = [operand_types] if isinstance(operand_types, (str, TensorType)) else list(operand_types)
    names = operand_names(len(types))
    info = broadcast(list(zip(names, types, strict=True)), mode)
    return (*info.constraints, *verify_result(info, "result" if "r" in names else "r", parse_type(result_type)))


def verify_result(info: BroadcastInfo, name: str, result: TensorType) -> tuple[Constraint, ...]:
    """Check a result's type against the domain that operands span, in the mode it was inferred in.

    Parameters
    ----------
    info : what :func:`broadcast` inferred.
    name : what errors and constraints call the result; no operand's name.
    result : its declared type.

    Returns
    -------
    tuple of Constraint
        What must hold at run time beside ``info.constraints``.

    Raises
    ------
    BroadcastError
        If its rank or an extent differs from what is inferred.

    Examples
    --------
    >>> info = broadcast([("x", "f32[n]"), ("y", "f32[?]")])
    >>> [str(constraint) for constraint in verify_result(info, "z", parse_type("f32[n]"))]
    ['z.0 = x.0 (n)']
    """
    if info.mode == "document" and (result.unranked or info.unranked):
        return ()
    constraints: list[Constraint] = list(_rank_constraints(info, name, result))
    bound = {symbol: (operand, dim, Dim(symbol)) for symbol, operand, dim in info.symbols}
    for position, own, declared in result.aligned:
        if declared.extent is not None:
            constraints += _extent_constraints(info, name, own, position, declared.extent)
        if declared.symbol is not None:
            first = bound.setdefault(declared.symbol, (name, own, info.at(position)))
            place = (name, own, info.domain_dim(position))
            constraints += _symbol_constraints(declared.symbol, info.at(position), place, first)
    return tuple(constraints)


def _rank_constraints(info: BroadcastInfo, name: str, result: TensorType) -> tuple[ResultRank | ResultRankAtLeast, ...]:
    declared, inferred = len(result.dims), len(info.dims)
    # The number of its known dims is the rank of what is ranked, and a lower bound otherwise.
    too_low = declared < inferred and not result.unranked
    too_high = declared > inferred and not info.unranked
    if too_low or too_high:
        raise result_rank_mismatch(name, declared, inferred)
    if not info.unranked:
        return ()
    if not result.unranked:
        return (ResultRank(name, declared),)
    return (ResultRankAtLeast(name, declared),) if declared > inferred else ()


def _extent_constraints(
    info: BroadcastInfo, name: str, dim: int, position: int, declared: int
) -> tuple[ResultExtent, ...]:
    inferred = info.at(position)
    if inferred.extent == declared:
        return ()
    if inferred.extent is not None:
        raise result_mismatch(name, dim, declared, inferred.extent, info.setters[-position])
    if info.mode == "sound":
        return (ResultExtent(name, dim, info.domain_dim(position), declared),)
    raise BroadcastError(
        f"result '{name}' dim {dim} has extent {declared}, expected {inferred} (inferred from the operands); "
        "declare it as ?, or verify in mode 'sound', which checks it at run time",
        operand=name,
        dim=dim,
        actual=declared,
    )


def _symbol_constraints(
    symbol: str, inferred: Dim, place: tuple[str, int, int], first: tuple[str, int, Dim]
) -> tuple[ResultSame, ...]:
    """Compare what is inferred for a dim with its symbol's first occurrence: name, dim, and what is known there."""
    name, dim, domain_dim = place
    other, other_dim, expected = first
    if (name, dim) == (other, other_dim) or (inferred == expected and inferred.value is not None):
        return ()
    if inferred.extent is not None and expected.extent is not None:
        raise result_mismatch(name, dim, inferred.extent, expected.extent, other)
    return (ResultSame(name, dim, domain_dim, other, other_dim, symbol),)
