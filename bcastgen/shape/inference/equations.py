"""Whether extents that types compute from names can be what facts say of them.

In: facts, and equations: a node has the extent that an expression of other nodes' extents has.  Out: a verdict.

    d0 = n, d0 = n + 1           ->  cannot hold
    n = 3, m = 3, n + m = 7      ->  cannot hold
    2*n = m, m = k + 1           ->  may hold

Ranges and multiples decide, term by term, so that some contradictions are not seen; none is claimed that is not one.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import field
from itertools import pairwise

from ...core.frozen import dataclass
from ..types.extent_expr import Extent, ExtentExpr, Name, made, multiply, named, names_of, subtract, terms_of
from ..types.extent_ops import substitute
from ..types.extent_span import span
from ..types.facts import ANY_EXTENT, MAX_EXTENT, Facts, Range

__all__ = ["Equation", "solvable"]

# How often ranges that follow from each other are narrowed.
_ROUNDS = 4


@dataclass(frozen=True, slots=True)
class Equation:
    """A node, the expression of its extent, and the node that each name of the expression stands for."""

    node: Hashable
    extent: ExtentExpr
    nodes: Mapping[str, Hashable] = field(hash=False)


def solvable(facts: Facts, equations: Sequence[Equation]) -> bool:
    """Tell whether equations may hold where `facts` do: False only if they certainly cannot.

    Examples
    --------
    >>> from bcastgen.shape.types.computed import expression
    >>> next_one = Equation("d0", expression("n + 1"), {"n": "n"})
    >>> solvable(Facts(), [next_one]), solvable(Facts().meet("d0", "n"), [next_one])
    (True, False)
    """
    for _ in range(_ROUNDS):
        before = facts
        for equation in equations:
            value = _value(equation, facts)
            range_ = ANY_EXTENT if value is None else _range(value)
            after = None if range_ is None else facts.within(equation.node, range_)
            if after is None:
                return False
            facts = after
        if facts is before:
            break
    return _agree(facts, equations)


def _range(value: Extent) -> Range | None:
    """Return where an extent lies, or None if it is none: below 0, or above what 64 bits hold."""
    where = span(value)
    return Range.of(max(where.low, 0), min(where.high, MAX_EXTENT), max(where.divisor, 1))


def _agree(facts: Facts, equations: Sequence[Equation]) -> bool:
    """Tell whether all expressions of one extent may be equal: names that are sums of others are eliminated."""
    values: dict[Hashable, list[Extent]] = {}
    for equation in equations:
        root = facts.root(equation.node)
        value = _value(equation, facts)
        if value is not None:
            values.setdefault(root, [_variable(facts, root)]).append(value)
    zeros = [subtract(one, other) for same in values.values() for one, other in pairwise(same)]
    bounded: list[tuple[Extent | None, Range]] = []
    while all(_may_be(zero, Range(0, 0)) for zero in zeros):
        solved = next((found for zero in zeros if zero is not None and (found := _solved(zero)) is not None), None)
        if solved is None:
            return all(_may_be(*pair) for pair in bounded)
        name, value = solved
        zeros = [substitute(other, {name.text: value}) for other in zeros]
        bounded = [(substitute(other, {name.text: value}), where) for other, where in [*bounded, (value, name.range)]]
    return False


def _may_be(extent: Extent | None, range_: Range) -> bool:
    """Tell whether an extent may lie in a range."""
    if extent is None:
        return True
    where = span(extent)
    ends = max(where.low, range_.low) <= min(where.high, range_.high)
    return ends and (where.step != 0 or range_.has(where.rest)) and (range_.only is None or where.has(range_.low))


def _solved(zero: Extent) -> tuple[Name, Extent] | None:
    """Return a name and what it is where a sum is 0, if the sum has the name alone, once, in one of its terms."""
    terms = terms_of(zero)
    for factors, count in terms.items():
        if len(factors) != 1 or not isinstance(factors[0], Name):
            continue
        rest = subtract(zero, made({factors: count}))
        is_once = rest is not None and factors[0].text not in names_of(rest)
        if is_once and abs(count) == 1:
            value = multiply(rest, -count)
            return None if value is None else (factors[0], value)
        if isinstance(rest, int) and rest % count == 0:
            return factors[0], -rest // count
    return None


def _value(equation: Equation, facts: Facts) -> Extent | None:
    return substitute(equation.extent, {name: _variable(facts, node) for name, node in equation.nodes.items()})


def _variable(facts: Facts, node: Hashable) -> Extent:
    """Return the extent of a node as a name that all nodes of one extent share."""
    root = facts.root(node)
    return named(repr(root), facts.range(root))
