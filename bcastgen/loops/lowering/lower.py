"""Lowering: a typed expression becomes loop nests.

In: a typed expression and a type for each operand.  Out: a :class:`LoopProgram`.

    a + b * 2 over f32[?, ?], f32[?, ?]  ->  one nest (d0, d1), t0 = multiply(b, 2.0), t1 = add(a, t0), r = t1

Results that read the same operands through the same maps share one domain and so one nest; a result that reads fewer
operands may be smaller than the others and gets a nest of its own (`fuse` groups them). Views become the accesses'
indexing maps (`uses` follows them). A claim on a value is checked in the nest that has the value's domain, or else in a
nest that computes nothing; a claim that types prove is dropped.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ...core.dtypes import DType
from ...core.errors import BcastgenError, BroadcastError, DTypeError
from ...core.frozen import replace
from ...expr.free_extents import free_extent_names
from ...expr.infer import Typed
from ...expr.nodes import Apply, Constant, Remap, concrete, has_reductions
from ...shape.constraints import OF_RESULTS, Equals, ExtentIs, RankIs, ResultSame, Stretches, StretchesAll
from ...shape.decision import Decision
from ...shape.inference.joint import Joint
from ...shape.inference.name_places import name_places
from ...shape.inference.operand_use import OperandDim, Use
from ...shape.inference.stretch_rules import Rules
from ...shape.inference.verify import Bound
from ...shape.types.dim import DYNAMIC, Dim, check_rank
from ...shape.types.tensor_type import TensorType
from ..affine import AffineMap, identity_map, use_map
from ..guards.build import build_guards
from ..nest import Access, Domain, Let, Load, LoopProgram, Nest, Slot, Statement, Value
from .columns import columns_of
from .domain import iteration_domain
from .fuse import DomainGroup, groups_of
from .shared_symbols import first_places, tie
from .uses import Reads, Seen, broadcast_values, checked_units, reads_of, spans_of
from .value_shapes import with_claimed_shapes

__all__ = ["lower"]

_NUMPY = Rules()

Named = tuple[tuple[str, TensorType], ...]
Homes = tuple[tuple[str, OperandDim], ...]
Types = tuple[TensorType, ...]
Declared = tuple[TensorType | None, ...] | None


def lower(
    typed: Typed,
    operand_types: tuple[TensorType, ...],
    result_types: tuple[TensorType, ...] | None = None,
    result_names: tuple[str, ...] = ("r",),
    rules: Rules = _NUMPY,
    constants: int = 0,
) -> LoopProgram:
    """Return the loop nests of a typed expression.

    Parameters
    ----------
    typed : the expression.
    operand_types : one type for each operand; its dtype, where given, must be the expression's.
    result_types : declared types of the results, verified against the inferred ones; None declares nothing.
    result_names : one name for each result.
    rules : how dims meet.
    constants : how many of the last operands are the kernel's own arrays, of exactly the types given.

    Raises
    ------
    BroadcastError
        If the operands, a declared result type or a claim cannot fit.
    """
    count = len(typed.expression.operands)
    own = range(count - constants, count)
    if has_reductions(typed.expression):
        from .reductions import lower_reductions  # noqa: PLC0415 - most kernels have none

        def flat(
            part: Typed, types: Types, declared: Declared, names: tuple[str, ...], apart: tuple[object, ...]
        ) -> LoopProgram:
            return _lower(part, types, declared, names, rules, own, apart)

        return lower_reductions(typed, operand_types, result_types, result_names, flat)
    return _lower(typed, operand_types, result_types, result_names, rules, own)


def _lower(
    typed: Typed,
    operand_types: Types,
    result_types: Declared,
    result_names: tuple[str, ...],
    rules: Rules,
    constants: range,
    apart: tuple[object, ...] = (),
) -> LoopProgram:
    typed = replace(typed, expression=with_claimed_shapes(typed.expression, operand_types))
    expression = typed.expression
    operand_types = checked_units(expression, operand_types)
    operands = tuple(
        (node.name, _with_dtype(type_, dtype, node.name))
        for node, type_, dtype in zip(expression.operands, operand_types, typed.operand_dtypes, strict=True)
    )
    if result_types is not None and len(result_types) != len(expression.results):
        raise BroadcastError(f"{len(expression.results)} results, but {len(result_types)} result types are declared")
    declared = tuple(
        None if type_ is None else _with_dtype(type_, dtype, name)
        for type_, dtype, name in zip(
            result_types or (None,) * len(result_names), typed.result_dtypes, result_names, strict=True
        )
    )
    types = tuple(type_ for _, type_ in operands)
    reads = tuple(reads_of(expression, result, types, rules.rank_expansion) for result in expression.results)
    claims = tuple(
        (claim.name, _with_dtype(claim.type, concrete(claim.node), claim.name)) for claim in expression.type_assertions
    )
    spans = spans_of(expression, tuple(claim.node for claim in expression.type_assertions), types, rules.rank_expansion)
    # Where every extent of 1 stretches, operands that each fit an explicit broadcast's target fit each other, too.
    inner = () if rules.stretch and rules.dynamic == "numpy" else broadcast_values(expression)
    groups = groups_of(reads, spans, spans_of(expression, inner, types, rules.rank_expansion), apart)
    bound, places = _bound(operands, groups), first_places(operands)
    for at, name in zip(expression.free_extents, free_extent_names(expression.results, _symbols(types)), strict=True):
        if name is not None:
            bound.setdefault(name, (operands[at][0], 0, DYNAMIC))
            places.setdefault(name, (operands[at][0], 0))
    _check_names((("operand", *operand) for operand in operands), places)
    _check_names((("result", *result) for result in (*zip(result_names, declared, strict=True), *claims)), places)
    homes, joint = tuple(places.items()), Joint(operands)
    nests = tuple(
        _lower_group(
            typed,
            operands,
            declared,
            result_names,
            group,
            [reads[at] for at in group.results],
            claims,
            rules,
            bound,
            joint,
            homes,
        )
        if group.results
        else _lower_checks(operands, group, claims, rules, bound, joint, homes)
        for group in groups
    )
    joint.check()
    nests, dropped = _keep_checked_claims(nests, groups)
    own = frozenset(operands[at][0] for at in constants)
    nests = tie(tuple(_drop_constant_checks(nest, own) for nest in nests), operands, rules, own, places)
    by_number = {access.number: (access.name, access.type) for nest in nests for access in nest.results}
    results = tuple(by_number[at] for at in range(len(expression.results)))
    guards = build_guards(operands, results, claims, nests, constants)
    slots = _slots(typed, nests, reads)
    free = tuple(expression.free_extents)
    columns = columns_of(reads, dict(homes)) if slots else ()
    program = LoopProgram(operands, results, nests, guards, slots, claims, dropped, len(constants), columns, free)
    if len(nests) > 1 and not apart:
        # With reductions, `lower_reductions` does this later, when the shapes of reduced values are known.
        from ..guards.earlier import without_implied  # noqa: PLC0415 - few kernels have several nests

        program = without_implied(program)
    if rules.debug:
        _verify(program)
    return program


def _verify(program: LoopProgram) -> None:
    """Raise a BcastgenError if the guards let a nest read out of bounds, or if the reason of a proof does not hold."""
    from ..guards.listing import unproved  # noqa: PLC0415 - only BCASTGEN_DEBUG needs it
    from ..guards.verify import unguarded  # noqa: PLC0415 - only BCASTGEN_DEBUG needs it

    unfounded = (*unguarded(program), *unproved(program))
    if unfounded:
        raise BcastgenError(f"internal error: {'; '.join(unfounded)}")


def _with_dtype(type_: TensorType, dtype: DType, name: str) -> TensorType:
    check_rank(f"'{name}'", len(type_.dims), name)
    if type_.dtype is not None and type_.dtype is not dtype:
        raise DTypeError(f"'{name}' is declared as {type_}, but its dtype is {dtype}; declare {dtype}, or cast")
    return TensorType(dtype, type_.dims, type_.unranked, type_.container)


def _bound(operands: Named, groups: Sequence[DomainGroup]) -> Bound:
    """Return the operand's dim that binds each symbol; operands that some nest reads come before those that none reads.

    If there is only one nest, the symbols of the operands it reads are left out: the nest binds them and knows more.
    """
    read = {use.name for group in groups for use in group.uses}
    known = [operand for operand in operands if operand[0] in read]
    unread = [operand for operand in operands if operand[0] not in read]
    first = {dim.symbol for _, type_ in known for dim in type_.dims} if len(groups) == 1 else set()
    bound: Bound = {}
    for name, type_ in (*known, *unread):
        for _, own, dim in type_.aligned:
            if dim.symbol is not None and dim.symbol not in first:
                bound.setdefault(dim.symbol, (name, own, Dim.within(dim.symbol, dim.range)))
    return bound


def _symbols(types: tuple[TensorType, ...]) -> set[str | None]:
    return {dim.symbol for type_ in types for dim in type_.dims}


def _check_names(types: Iterable[tuple[str, str, TensorType | None]], homes: dict[str, OperandDim]) -> None:
    """Raise if a computed extent in types, each with what it is of and a name, has a name that no operand binds."""
    for kind, name, type_ in types:
        for _, own, dim in () if type_ is None else type_.aligned:
            if dim.is_computed:
                name_places(dim.symbol or "", homes, name, own, kind)


def _lower_checks(
    operands: Named, group: DomainGroup, claims: Named, rules: Rules, bound: Bound, joint: Joint, homes: Homes
) -> Nest:
    """Return a nest that only checks: it has claims and shapes, and computes nothing."""
    indices = {name: at for at, (name, _) in enumerate(operands)}
    uses = _in_order(group.uses, indices)
    domain = iteration_domain(uses, group.rank, tuple(claims[at] for at in group.claims), rules, bound, joint, homes)
    shapes = _accesses([use for use in uses if not use.is_target_shape], indices, domain)
    return Nest(domain, (), (), (), (), shapes, _claimed(group, claims, domain))


def _claimed(group: DomainGroup, claims: Named, domain: Domain) -> tuple[Access, ...]:
    made = ((at, *claims[at]) for at in group.claims)
    return tuple(_result_access(at, name, type_.dtype, domain.dims, domain.open, type_) for at, name, type_ in made)


def _keep_checked_claims(
    nests: Sequence[Nest], groups: Sequence[DomainGroup]
) -> tuple[tuple[Nest, ...], tuple[Nest, ...]]:
    """Return the nests to keep, each with only those claims that calls still check, and the other nests.

    A nest is kept if it has results or such claims, or if it checks a value that is broadcast explicitly.
    """
    constraints = [c for nest in nests for c in nest.domain.constraints]
    named = {c.other for c in constraints if isinstance(c, ResultSame)}
    named |= {c.result for c in constraints if isinstance(c, OF_RESULTS)}
    kept: list[Nest] = []
    dropped: list[Nest] = []
    for nest, group in zip(nests, groups, strict=True):
        claims = tuple(claim for claim in nest.claims if claim.name in named)
        if nest.results or claims or (group.is_broadcast and _is_strict(nest)):
            kept.append(replace(nest, claims=claims))
        else:
            dropped.append(nest)
    return tuple(kept), tuple(dropped)


def _is_strict(nest: Nest) -> bool:
    """Whether an operand that does not stretch takes part, and a check of operands' extents is left."""
    strict = any(isinstance(decision.constraint, Equals) for decision in nest.domain.decisions)
    return strict and any(isinstance(c, (Equals, Stretches)) for c in nest.domain.constraints)


def _drop_constant_checks(nest: Nest, constants: frozenset[str]) -> Nest:
    """Return a nest that does not check the shapes of the kernel's own arrays."""
    decisions = tuple(
        Decision(decision.constraint, "proved")
        if isinstance(decision.constraint, (RankIs, ExtentIs)) and decision.constraint.operand in constants
        else decision
        for decision in nest.domain.decisions
    )
    return replace(nest, domain=replace(nest.domain, decisions=decisions)) if constants else nest


def _lower_group(
    typed: Typed,
    operands: Named,
    declared: tuple[TensorType | None, ...],
    names: tuple[str, ...],
    group: DomainGroup,
    reads: Sequence[Reads],
    claims: Named,
    rules: Rules,
    bound: Bound,
    joint: Joint,
    homes: Homes,
) -> Nest:
    indices = {name: at for at, (name, _) in enumerate(operands)}
    uses = _in_order(group.uses, indices)
    said = (*(claims[at] for at in group.claims), *((names[at], declared[at]) for at in group.results))
    domain = iteration_domain(uses, group.rank, said, rules, bound, joint, homes)
    loads = _in_order([use for read in reads for use in read.uses.values()], indices)
    accesses = _accesses(loads, indices, domain)
    stored = tuple(
        _result_access(at, names[at], typed.result_dtypes[at], domain.dims, domain.open, declared[at])
        for at in group.results
    )
    # An operand that only a claim of the group reads gives its shape, not its data, like a shape-only use.
    seen_only = [use for use in uses if use.shape_only or not (use.is_target_shape or use in loads)]
    places = {(access.name, access.positions): at for at, access in enumerate(accesses)}
    values: dict[Seen, Value] = {
        seen: Load(places[use.name, use.positions]) for read in reads for seen, use in read.uses.items()
    }
    body = _body({seen: made for read in reads for seen, made in read.below.items()}, values)
    return Nest(
        domain,
        accesses,
        stored,
        body,
        tuple(values[read.result] for read in reads),
        _accesses(seen_only, indices, domain),
        _claimed(group, claims, domain),
    )


def _in_order(uses: Iterable[Use], indices: dict[str, int]) -> list[Use]:
    """Return the distinct uses in the operands' order; target shapes, which belong to no operand, come last."""
    return sorted(dict.fromkeys(uses), key=lambda use: indices.get(use.name, len(indices)))


def _accesses(uses: list[Use], indices: dict[str, int], domain: Domain) -> tuple[Access, ...]:
    made = {
        (use.name, use.positions): Access(indices[use.name], use.name, use.type, _map_of(use, domain), use.positions)
        for use in uses
    }
    return tuple(made.values())


def _map_of(use: Use, domain: Domain) -> AffineMap:
    own = frozenset((dim, position) for operand, dim, position in domain.stretching if operand == use.name)
    front = any(isinstance(c, StretchesAll) and c.operand == use.name for c in domain.constraints)
    return use_map(use, domain.dims, domain.open, own, front)


def _result_access(
    number: int, name: str, dtype: DType | None, dims: tuple[Dim, ...], open: bool, declared: TensorType | None
) -> Access:
    type_ = declared if declared is not None else TensorType(dtype, dims, open)
    return Access(number, name, type_, identity_map(len(dims), open))


def _body(below: dict[Seen, tuple[Seen, ...]], values: dict[Seen, Value]) -> tuple[Statement, ...]:
    body: list[Statement] = []
    for seen, made_of in below.items():
        match seen.node:
            case Constant():
                values[seen] = seen.node
            case Remap():
                # A view computes nothing: it is its operand's value, read through another map.
                values[seen] = values[made_of[0]]
            case Apply(op=op, operands=operands, params=params, dtype=dtype) if dtype is not None:
                dtypes = tuple(child.dtype for child in operands if isinstance(child.dtype, DType))
                body.append(Statement(op, tuple(values[child] for child in made_of), dtypes, params, dtype))
                values[seen] = Let(len(body) - 1)
    return tuple(body)


def _slots(typed: Typed, nests: tuple[Nest, ...], reads: tuple[Reads, ...]) -> tuple[Slot, ...]:
    """Return the dims of results whose extents the caller may give."""
    found: list[Slot] = []
    own = {typed.expression.operands[at].name for at in typed.expression.free_extents}
    for nest in nests:
        for access in nest.results:
            for number, position in reads[access.number].slots:
                dim = len(nest.domain.dims) - position
                uses = [use for use in reads[access.number].all_uses if use.name not in own]
                claimed = any(at == position and not d.is_one for use in uses for at, _, d in use.aligned)
                found.append(Slot(number, access.number, dim, not claimed))
    return tuple(found)
