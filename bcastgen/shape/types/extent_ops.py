"""Functions of extents beyond polynomials: min, max, quotients, broadcasting, and the substitution of names.

In: extents (extent_expr.py).  Out: their normal forms, as far as ranges and multiples allow, or None where nothing is
known or a result would be too large.

    min(n, n + 1) -> n        broadcast([n, 1]) -> n        (4*n + 2*m) // 2 -> 2*n + m        (n*m) // m -> n if m >= 1
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from .extent_expr import (
    Atom,
    Call,
    Extent,
    ExtentExpr,
    Kind,
    Name,
    add,
    called,
    made,
    multiply,
    named,
    sort_key,
    terms_of,
)
from .extent_span import is_at_most, is_same, span

__all__ = ["broadcast", "floor_divide", "maximum", "minimum", "substitute"]


def minimum(a: Extent | None, b: Extent | None) -> Extent | None:
    """Return the smaller extent."""
    return _extreme("min", a, b, is_at_most)


def maximum(a: Extent | None, b: Extent | None) -> Extent | None:
    """Return the larger extent."""
    return _extreme("max", a, b, lambda one, other: is_at_most(other, one))


def _extreme(
    kind: Kind, a: Extent | None, b: Extent | None, wins: Callable[[Extent, Extent], bool | None]
) -> Extent | None:
    if a is None or b is None:
        return None
    kept: list[Extent] = []
    for one in (*_operands(kind, a), *_operands(kind, b)):
        if any(wins(other, one) for other in kept):
            continue
        kept = [other for other in kept if not wins(one, other)] + [one]
    return kept[0] if len(kept) == 1 else called(kind, tuple(sorted(kept, key=sort_key)))


def _operands(kind: Kind, extent: Extent) -> tuple[Extent, ...]:
    """Return the operands of an extent that is one call of this kind, else the extent itself."""
    if isinstance(extent, int) or len(extent.terms) != 1:
        return (extent,)
    factors, coefficient = extent.terms[0]
    atom = factors[0]
    is_call = coefficient == 1 and len(factors) == 1 and isinstance(atom, Call) and atom.kind == kind
    return atom.operands if is_call and isinstance(atom, Call) else (extent,)


def broadcast(extents: Iterable[Extent]) -> Extent | None:
    """Return the extent that extents broadcast to, on the assumption that they do.

    Examples
    --------
    >>> from bcastgen.shape.types.facts import Range
    >>> n, m = named("n"), named("m", Range(2))
    >>> print(broadcast([n, 1]), broadcast([n, m]), broadcast([n, 4, m]), broadcast([n, add(n, 1)]))
    n m>=2 4 broadcast(n + 1, n)
    """
    flat = dict.fromkeys(one for extent in extents for one in _operands("broadcast", extent) if one != 1)
    wide = [extent for extent in flat if is_same(extent, 1) is False]
    known = next((extent for extent in wide if isinstance(extent, int)), wide[0] if wide else None)
    if known is not None or len(flat) <= 1:
        return known if known is not None else next(iter(flat), 1)
    return called("broadcast", tuple(sorted(flat, key=sort_key)))


def floor_divide(a: Extent | None, b: Extent | None) -> Extent | None:
    """Return the quotient, rounded down; None for a division by 0."""
    if a is None or b is None or b == 0:
        return None
    if isinstance(a, int) and isinstance(b, int):
        return a // b
    if isinstance(b, int):
        return _divide_by(a, b) if b > 0 else None
    divisor = span(b)
    if divisor.low < 1:
        return None
    exact = _cancelled(a, b)
    if exact is not None:
        return exact
    dividend = span(a)
    return 0 if dividend.low >= 0 and dividend.high < divisor.low else called("floordiv", (a, b))


def _divide_by(a: Extent, k: int) -> Extent | None:
    """Return the quotient by a number: dividing each coefficient leaves a small rest, whose quotient is often 0."""
    outside = made({factors: coefficient // k for factors, coefficient in terms_of(a).items()})
    inside = made({factors: coefficient % k for factors, coefficient in terms_of(a).items()})
    if inside is None or isinstance(inside, int):
        return outside if inside is not None else None
    rest = span(inside)
    if rest.low // k == rest.high // k:
        return add(outside, rest.low // k)
    return add(outside, called("exact" if rest.divisor % k == 0 else "floordiv", (inside, k)))


def _cancelled(a: Extent, b: ExtentExpr) -> Extent | None:
    """Return the quotient if the divisor equals the dividend, or is one term that divides all of its; else None."""
    if len(b.terms) != 1:
        return 1 if a == b else None
    (divisor, coefficient), terms = b.terms[0], dict[tuple[Atom, ...], int]()
    for factors, count in terms_of(a).items():
        left = list(factors)
        for atom in divisor:
            if atom not in left:
                return None
            left.remove(atom)
        if count % coefficient:
            return None
        terms[tuple(left)] = count // coefficient
    return made(terms)


_FUNCTIONS: dict[Kind, Callable[..., Extent | None]] = {
    "min": minimum,
    "max": maximum,
    "floordiv": floor_divide,
    "exact": floor_divide,
}


def substitute(extent: Extent | None, extents: Mapping[str, Extent]) -> Extent | None:
    """Return an extent with names replaced by extents.

    Examples
    --------
    >>> n, m = named("n"), named("m")
    >>> print(substitute(add(n, m), {"n": 3}), substitute(floor_divide(n, 2), {"n": add(m, m)}))
    m + 3 m
    """
    if extent is None or isinstance(extent, int):
        return extent
    total: Extent | None = 0
    for factors, coefficient in extent.terms:
        term: Extent | None = coefficient
        for atom in factors:
            term = multiply(term, _substituted(atom, extents))
        total = add(total, term)
    return total


def _substituted(atom: Atom, extents: Mapping[str, Extent]) -> Extent | None:
    if isinstance(atom, Name):
        return extents.get(atom.text, named(atom.text, atom.range, atom.is_shown))
    operands = [substitute(operand, extents) for operand in atom.operands]
    if atom.kind == "broadcast":
        return broadcast([operand for operand in operands if operand is not None]) if None not in operands else None
    made = operands[0]
    for operand in operands[1:]:
        made = _FUNCTIONS[atom.kind](made, operand)
    return made
