"""Unswitching: a selection whose condition is one value along a loop becomes two loops, one for each side.

In: a nest, and a variant of its loop.  Out: :class:`.Sides`, or None where no selection has such a condition.

    where(m, a, b * c), m one value along the loop   ->   if (m): the loop r = a; else: the loop r = b * c

Neither loop reads or computes what only the other side needs.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...core.dtypes import BOOL
from ...core.frozen import replace
from ..nest import Let, Load, Nest, Statement, Value
from .costs import costs_of, total
from .function_loops import block_loops
from .inner_loops import InnerLoop, Side, Sides
from .staging import reads_of, statements_of
from .variants import ZERO, Variant

__all__ = ["masks", "two_sided"]

# The sides are one more loop to compile: only the likeliest variant of a loop has them.
_MAX_TWO_SIDED = 1


def masks(nest: Nest, possible: tuple[tuple[str, ...], ...]) -> tuple[frozenset[int], ...]:
    """Return, for each condition of a selection that is likely to be one value along a row, its operands.

    These are conditions made of bools, such as a mask of rows, and of what types prove to be stationary. A comparison
    of elements hardly ever decides for a whole row.

    Examples
    --------
    >>> from bcastgen import from_text
    >>> nest = from_text("(bool[*] m, f32[*] a, f32[*] b) -> where(m, a, b)").compilation.program.nests[0]
    >>> masks(nest, (("unit", "zero"),) * 3)
    (frozenset({0}),)
    """
    likely = frozenset(
        at
        for at, (access, own) in enumerate(zip(nest.operands, possible, strict=True))
        if own == (ZERO,) or (access.dtype is BOOL and ZERO in own)
    )
    found = (_operands_of(nest, condition) for condition in _decisive(nest))
    return tuple(operands for operands in found if operands <= likely)


def two_sided(
    nest: Nest, variants: tuple[Variant, ...], found: tuple[frozenset[int], ...], fast: bool
) -> tuple[Sides, ...]:
    """Return the sides of the first variant along which the operands of one of the `found` masks are stationary."""
    stationary = ({at for at, kind in enumerate(variant.operands) if kind == ZERO} for variant in variants)
    chosen = [variant for variant, own in zip(variants, stationary, strict=True) if any(one <= own for one in found)]
    return tuple(sides for variant in chosen[:_MAX_TWO_SIDED] if (sides := _sides(nest, variant, fast)) is not None)


def _sides(nest: Nest, variant: Variant, fast: bool) -> Sides | None:
    """Return the sides of the first selection whose condition is one value along a variant's loop, or None."""
    stationary = {at for at, kind in enumerate(variant.operands) if kind == ZERO}
    for condition in _decisive(nest):
        if _operands_of(nest, condition) <= stationary:
            holds, fails = (_side(_decided(nest, condition, place), variant, fast) for place in (1, 2))
            return Sides(variant, condition, statements_of(nest, (condition,), frozenset()), holds, fails)
    return None


def _side(nest: Nest, variant: Variant, fast: bool) -> Side:
    """Return the loop that computes a nest without its superfluous statements."""
    costs = costs_of(nest)
    statements = statements_of(nest, nest.stores, frozenset())
    reads = reads_of(nest, nest.stores, statements, frozenset())
    classes = tuple(variant.operands[read.access] for read in reads if isinstance(read, Load))
    blocks = block_loops(nest, statements, nest.stores, costs, fast, 1)
    own = Variant(variant.name, classes, variant.results)
    return Side(nest, InnerLoop(reads, statements, nest.stores, (own,), total(costs, statements), blocks))


def _decisive(nest: Nest) -> Iterator[Value]:
    """Yield the conditions of a nest's selections, each once, that may be decided before a loop."""
    seen = set()
    for at, statement in enumerate(nest.body):
        condition = statement.operands[0] if statement.op.selects else None
        if isinstance(condition, Load | Let) and condition not in seen and _is_value_kept(nest, at):
            seen.add(condition)
            yield condition


def _is_value_kept(nest: Nest, at: int) -> bool:
    """Whether the users of a selection compute the same with either of its sides in its place.

    An op may have other C where its last operand is a constant, so a side that is a constant may not become a last
    operand, except of a selection, whose C is the same.
    """
    statement = nest.body[at]
    if set(statement.operand_dtypes[1:]) != {statement.dtype}:
        return False
    is_last = any(user.operands[-1] == Let(at) and not user.op.selects for user in nest.body)
    return not is_last or all(isinstance(value, Load | Let) for value in statement.operands[1:])


def _operands_of(nest: Nest, value: Value) -> frozenset[int]:
    """Return the operands that a value is made of."""
    statements = statements_of(nest, (value,), frozenset())
    read = {value, *(operand for at in statements for operand in nest.body[at].operands)}
    return frozenset(each.access for each in read if isinstance(each, Load))


def _decided(nest: Nest, condition: Value, side: int) -> Nest:
    """Return the nest with one side of each selection by this condition in the selection's place.

    It is no rewrite, since a rewrite's nest has the same results at all points: this one has them only at those where
    the condition has this value, and so needs the variant that decides it. :func:`.verify_schedule` verifies it.
    """
    instead: dict[Value, Value] = {}
    body: list[Statement] = []
    for at, statement in enumerate(nest.body):
        operands = tuple(instead.get(value, value) for value in statement.operands)
        if statement.op.selects and statement.operands[0] == condition and _is_value_kept(nest, at):
            instead[Let(at)] = operands[side]
        body.append(replace(statement, operands=operands))
    return replace(nest, body=tuple(body), stores=tuple(instead.get(value, value) for value in nest.stores))
