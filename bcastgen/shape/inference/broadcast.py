"""Shape inference: which iteration domain the operands' types span.

In: operand types.  Out: the domain's dims, the operands that set them, and the constraints that types leave undecided.

    a: f32[?, 4], b: f32[5, 1] -> [5, 4] with a.0 in {1, 5}
    a: f32[n, 3], b: f32[2]    -> BroadcastError("operand 'b' dim 0 has extent 2, expected 1 or 3 (from 'a')")

Source: MLIR's Broadcastable trait, with NumPy's rules for extents of 0 and the sound reading of unranked
operands (docs/architecture.md).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias, get_args

from ...core.errors import BcastgenError, BroadcastError
from ...core.frozen import dataclass, field
from ...core.operand_names import operand_names
from ..constraints import Constraint
from ..decision import Decision
from ..range_constraints import Extents, extent_of
from ..types.dim import DYNAMIC, Dim
from ..types.facts import Facts
from ..types.tensor_type import TensorType, parse_type
from .dim_uses import AlignedDims, domain_index
from .entailment import Clause
from .obligations import Problem
from .operand_use import OperandDim, Use
from .solve import check_ranks, solve
from .stretch_rules import Rules

__all__ = ["BroadcastInfo", "Mode", "broadcast", "infer_broadcast"]

Mode: TypeAlias = Literal["sound", "document"]

_ONE = Dim(1)


@dataclass(frozen=True, slots=True)
class BroadcastInfo:
    """What types alone tell of a broadcast.

    Attributes
    ----------
    dims : the iteration domain, outermost first.
    unranked : True if the domain may have further dims before `dims`.
    setters : for each of `dims`, an operand that fixes its extent: one whose dim cannot be a 1 that stretches, or, if
        types know the extent, the first one; None where it depends on the call.
    places : for each of `dims` of unknown extent, the operand and its dim that have its extent in every legal call, or
        None where they differ from call to call.
    unknown_places : for each of `dims` the operands' dims of unknown extent that meet there, each once; no fronts.
    constraints : what must hold at run time: ranks first, the rest in operand, then dim order.
    stretching : the dims (operand, own dim) of unknown extent that stretch if it proves to be 1 at run time. An operand
        of unknown rank may stretch its further dims, too, where there is a `StretchesAll` for it.
    stretching_at : `stretching` with the position as a third, for an operand that has several uses.
    operands : names of the operands that were considered.
    uses : how each of them is used.
    symbols : where each symbol occurs first: its name, the operand, the operand's dim.
    mode : the mode it was inferred in.
    decisions : the fate of every constraint on the operands, in the order of `constraints`.
    facts : facts on operands' dims and the domain's (by position) that hold if all these constraints do.
    clauses : the clauses of all these constraints, for proofs, and the axioms on the domain's extents.
    """

    dims: tuple[Dim, ...]
    unranked: bool
    setters: tuple[str | None, ...]
    constraints: tuple[Constraint, ...]
    stretching: frozenset[tuple[str, int]]
    operands: tuple[str, ...]
    symbols: tuple[tuple[str, str, int], ...]
    mode: Mode
    uses: tuple[Use, ...] = ()
    stretching_at: frozenset[tuple[str, int, int]] = frozenset()
    places: tuple[OperandDim | None, ...] = ()
    unknown_places: tuple[tuple[OperandDim, ...], ...] = ()
    decisions: tuple[Decision, ...] = ()
    facts: Facts = field(default_factory=Facts, compare=False, repr=False)
    clauses: tuple[Clause, ...] = field(default=(), compare=False, repr=False)

    def at(self, position: int) -> Dim:
        """Return the domain's dim at a position counted from the end, from 1; past the known ones it is ``?``."""
        return self.dims[-position] if position <= len(self.dims) else DYNAMIC

    def domain_index(self, position: int) -> int:
        """Return the number of the domain's dim at a position; see `dim_uses.domain_index`."""
        return domain_index(position, len(self.dims), self.unranked)

    def domain(self, extents: Mapping[str, Extents]) -> Extents:
        """Return the domain that actual extents span, legal or not: only `constraints` tell whether they are.

        Examples
        --------
        >>> info = broadcast([("a", "f32[?, 4]"), ("b", "f32[?]")])
        >>> info.domain({"a": (3, 4), "b": (1,)})
        (3, 4)
        """
        rank = len(self.dims)
        if self.unranked:
            rank = max(
                [
                    rank,
                    *(len(extents[use.name]) for use in self.uses if use.positions is None and not use.is_target_shape),
                ]
            )
        return tuple(self._extent(extents, position) for position in range(rank, 0, -1))

    def _extent(self, extents: Mapping[str, Extents], position: int) -> int:
        known = self.at(position).extent
        if known is not None:
            return known
        place = self.places[-position] if position <= len(self.dims) else None
        if place is not None:
            return extent_of(extents[place[0]], place[1]) or 0
        # Never the maximum: (0, 1) spans 0.
        met = (self._extent_of(use, extents, position) for use in self.uses)
        return next((extent for extent in met if extent != 1), 1)

    def _extent_of(self, use: Use, extents: Mapping[str, Extents], position: int) -> int:
        """Return the extent of a use at a position; 1 if it has no such dim."""
        own = next((own for at, own, _ in use.aligned if at == position), -position)
        if use.is_target_shape:
            dim = next((dim for at, _, dim in use.aligned if at == position), _ONE)
            places = {symbol: (operand, dim) for symbol, operand, dim in self.symbols}
            if dim.extent is not None:
                return dim.extent
            operand, own = places[dim.symbol or ""]
            return extents[operand][own]
        shape = extents[use.name]
        has = use.positions is None and position <= len(shape) if own < 0 else own < len(shape)
        return shape[own] if has else 1

    def __str__(self) -> str:
        checks = ", ".join(map(str, self.constraints))
        return f"{TensorType(None, self.dims, self.unranked)}{' with ' if checks else ''}{checks}"


def broadcast(
    operands: Sequence[Use | tuple[str, TensorType | str]],
    mode: Mode = "sound",
    entry: bool = False,
    rules: Rules | None = None,
    homes: tuple[tuple[str, OperandDim], ...] = (),
) -> BroadcastInfo:
    """Infer the iteration domain of operands.

    Parameters
    ----------
    operands : each a :class:`Use`, or its name and type; errors and constraints use the names.
    mode : ``"sound"``: an operand of unknown rank may stretch every dim and add some. ``"document"``: operands of
        unknown rank are ignored if there are others, as in the trait; nothing about them is inferred or checked.
    entry : include constraints that types decide but a caller could break: ranks, known extents and declared facts.
    rules : which forms of broadcasting the operands may use; by default all of NumPy's.
    homes : the places of symbols that only operands not given here name.

    Raises
    ------
    BroadcastError
        If no extents at run time could broadcast, or there is no operand.

    Examples
    --------
    >>> str(broadcast([("a", "f32[?, 4]"), ("b", "f32[5, 1]")]))
    '[5, 4] with a.0 in {1, 5}'
    >>> str(broadcast([("a", parse_type("f32[n]")), ("b", "f32[?]")], rules=Rules(stretch=False)))
    '[n] with b.0 = d0'
    """
    if not isinstance(mode, str) or mode not in get_args(Mode):
        raise BcastgenError(f"mode {mode!r} is unknown; use one of {', '.join(get_args(Mode))}")
    if not operands:
        raise BroadcastError("a broadcast has 0 operands, expected 1 or more; pass the type of at least one")
    rules = rules or Rules()
    uses = tuple(_considered([_as_use(operand) for operand in operands], mode))
    if not rules.rank_expansion:
        check_ranks(uses)
    result = solve(uses, rules, entry, homes)
    problem, decisions = result.problem, result.decisions
    return BroadcastInfo(
        dims=problem.dims,
        unranked=problem.unranked,
        setters=tuple(_setter(problem, position) for position in range(len(problem.dims), 0, -1)),
        constraints=tuple(decision.constraint for decision in decisions if decision.fate == "checked"),
        stretching=frozenset((name, own) for name, own, _ in result.stretching),
        operands=tuple(dict.fromkeys(use.name for use in uses if not use.is_target_shape)),
        symbols=tuple((symbol, name, dim) for symbol, (name, dim) in problem.symbols.items()),
        mode=mode,
        uses=uses,
        stretching_at=result.stretching,
        places=tuple(_place(problem, position) for position in range(len(problem.dims), 0, -1)),
        unknown_places=tuple(_met(problem.domain_dims[position]) for position in range(len(problem.dims), 0, -1)),
        decisions=decisions,
        facts=result.facts,
        clauses=result.clauses,
    )


def _setter(problem: Problem, position: int) -> str | None:
    domain_dim = problem.domain_dims[position]
    if domain_dim.setter is not None:
        return domain_dim.setter.name
    return domain_dim.dim_uses[0].name if problem.extent(position) is not None and domain_dim.dim_uses else None


def _place(problem: Problem, position: int) -> OperandDim | None:
    """Return the array dim that has a domain dim's unknown extent in every call, or None if there is none."""
    domain_dim = problem.domain_dims[position]
    if problem.extent(position) is not None:
        return None
    if domain_dim.setter is not None:
        return domain_dim.setter.place
    live = domain_dim.live
    return (
        live[0].place
        if not domain_dim.is_contested and not any(dim_use.front for dim_use in domain_dim.dim_uses)
        else None
    )


def _met(domain_dim: AlignedDims) -> tuple[OperandDim, ...]:
    return tuple(dict.fromkeys(dim.place for dim in domain_dim.live if not (dim.dim.is_static or dim.front)))


def _as_use(operand: Use | tuple[str, TensorType | str]) -> Use:
    return operand if isinstance(operand, Use) else Use(operand[0], parse_type(operand[1]))


def infer_broadcast(*types: TensorType | str, mode: Mode = "sound") -> TensorType:
    """Return the type that operands of these types broadcast to.

    Parameters
    ----------
    types : the operands' types, as :class:`TensorType` or text; errors call them a, b, c, ...
    mode : see :func:`broadcast`.

    Returns
    -------
    TensorType
        Its dtype is the operands' if they share one, else None.

    Raises
    ------
    BroadcastError
        If no extents at run time could broadcast, or there is no operand.
    ParseError
        If a text is no type.

    Examples
    --------
    >>> str(infer_broadcast("f32[?, 1]", "f32[3]")), str(infer_broadcast("f32[4]", "f32[*]"))
    ('f32[?, 3]', 'f32[*, 4]')
    """
    parsed = [parse_type(type_) for type_ in types]
    info = broadcast(list(zip(operand_names(len(parsed)), parsed, strict=True)), mode)
    element = parsed[0].dtype if len({type_.dtype for type_ in parsed}) == 1 else None
    vectors = element is not None and all(type_.container == "vector" for type_ in parsed)
    return TensorType(element, info.dims, info.unranked, "vector" if vectors else "tensor")


def _considered(uses: list[Use], mode: Mode) -> list[Use]:
    types: dict[str, TensorType] = {}
    for use in uses:
        # Shapes without an array need no names of their own.
        first = use.type if use.is_target_shape else types.setdefault(use.name, use.type)
        if first != use.type:
            why = f"operand '{use.name}' is used as {use.type}, expected {first} as before; give it one type"
            raise BroadcastError(why, operand=use.name)
    if mode == "sound":
        return uses
    ranked = [use for use in uses if not use.type.unranked]
    return ranked or [Use(use.name, TensorType(use.type.dtype, (), unranked=True)) for use in uses]
