"""Extents that are computed from named ones: sums of products of names, min, max, quotients, what names broadcast to.

In: names with the ranges of their extents, and numbers.  Out: a normal form; a number where only one is possible.

    n + 0 -> n        n + m - n -> m        min(n, n + 1) -> n        (4*n + 2*m) // 2 -> 2*n + m

Expressions that are equal as polynomials of their names compare equal, so equality needs no proof; all other verdicts
come from ranges and multiples (extent_span.py). Every function takes None for an unknown extent, and returns None where
a result would exceed the limits below, so nothing here can grow without end.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from math import prod
from typing import Literal, TypeAlias

from ...core.frozen import dataclass, field
from .facts import ANY_EXTENT, Range

__all__ = [
    "Atom",
    "Call",
    "Extent",
    "ExtentExpr",
    "Factors",
    "Kind",
    "Name",
    "add",
    "called",
    "evaluate",
    "made",
    "multiply",
    "named",
    "names_of",
    "sort_key",
    "subtract",
    "terms_of",
]

# The limits of a sum: the number of terms, of factors in one term, of names in all, and the size of a coefficient.
_MOST_TERMS, _MOST_FACTORS, _MOST_NAMES, _HIGHEST = 12, 4, 24, 2**64


@dataclass(frozen=True, slots=True)
class Name:
    """The extent that a name stands for.

    Attributes
    ----------
    text : the name.
    range : where its extent lies.
    is_shown : False for an extent that no user has named: it prints as ``?``, as does every extent computed from it.
    """

    text: str
    range: Range = ANY_EXTENT
    is_shown: bool = True

    def __str__(self) -> str:
        return f"{self.text if self.is_shown else '?'}{self.range}"


# "broadcast": the operand that is not 1, or 1 if all are; its operands are taken to broadcast. "exact": a quotient by a
# number that is known to divide the dividend.
Kind: TypeAlias = Literal["min", "max", "broadcast", "floordiv", "exact"]


@dataclass(frozen=True, slots=True)
class Call:
    """A function of extents that is no polynomial; the operands are sorted and distinct, except those of a quotient.

    `key` spells the whole call, ranges of names included, so calls compare by it and not operand by operand.
    """

    kind: Kind = field(compare=False)
    operands: tuple[Extent, ...] = field(compare=False)
    key: str

    @property
    def is_quotient(self) -> bool:
        """True if it is the first operand divided by the second one, rounded down."""
        return self.kind in ("floordiv", "exact")

    def __str__(self) -> str:
        if self.is_quotient:
            return " // ".join(
                f"({operand})" if _needs_parentheses(operand) else _bare(operand) for operand in self.operands
            )
        return f"{self.kind}({', '.join(map(_bare, self.operands))})"


Atom: TypeAlias = Name | Call
Factors: TypeAlias = tuple[Atom, ...]


@dataclass(frozen=True, slots=True)
class ExtentExpr:
    """A sum that contains names, in normal form; the functions of this module make it.

    Attributes
    ----------
    terms : pairs of sorted factors and a coefficient other than 0, sorted by factors; the constant has no factors.

    Examples
    --------
    >>> n, m = named("n", Range(0, 64)), named("m")
    >>> print(n, "|", add(multiply(n, 2), m), "|", multiply(add(n, 1), m), "|", subtract(add(n, m), n))
    n<=64 | m + 2*n | m + m*n | m
    """

    terms: tuple[tuple[Factors, int], ...]

    @property
    def name(self) -> Name | None:
        """The name if the sum is a single name, else None."""
        (factors, coefficient), *rest = self.terms
        alone = not rest and coefficient == 1 and len(factors) == 1
        return factors[0] if alone and isinstance(factors[0], Name) else None

    @property
    def is_shown(self) -> bool:
        """True if users have named every extent in it."""
        return all(name.is_shown for name in _names(self))

    def __str__(self) -> str:
        return str(self.name) if self.name is not None else _bare(self)

    # A tuple of extents prints each by its repr.
    __repr__ = __str__


Extent: TypeAlias = int | ExtentExpr


def _bare(extent: Extent) -> str:
    """Return an extent as it is written inside of another one: names without their ranges."""
    if isinstance(extent, int):
        return str(extent)
    if not extent.is_shown:
        return "?"
    if len(extent.terms) == 1 and extent.terms[0][1] == 1 and len(extent.terms[0][0]) == 1:
        atom = extent.terms[0][0][0]
        return atom.text if isinstance(atom, Name) else str(atom)
    # Terms with names come first, the added ones before the subtracted ones; the constant comes last.
    terms = sorted(extent.terms, key=lambda term: (not term[0], term[1] < 0))
    text = ""
    for factors, coefficient in terms:
        count = abs(coefficient)
        parts = [str(count)] * (count != 1 or not factors) + [_factor(atom) for atom in factors]
        sign = "-" if coefficient < 0 else "+"
        text += (f" {sign} " if text else "-" if coefficient < 0 else "") + "*".join(parts)
    return text


def _factor(atom: Atom) -> str:
    if isinstance(atom, Name):
        return atom.text
    return f"({atom})" if atom.is_quotient else str(atom)


def _needs_parentheses(extent: Extent) -> bool:
    return isinstance(extent, ExtentExpr) and extent.name is None


def sort_key(value: Extent | Atom) -> str:
    """Return the text that atoms and operands are sorted by."""
    match value:
        case int():
            return f"{value:+}"
        case Name():
            return f"{value.text}{value.range}"
        case Call():
            return value.key
    return "+".join(f"{coefficient}*{'*'.join(map(sort_key, factors))}" for factors, coefficient in value.terms)


def named(text: str, range_: Range = ANY_EXTENT, is_shown: bool = True) -> Extent:
    """Return the extent of a name; a number if its range has only one extent."""
    if range_.only is not None:
        return range_.only
    return ExtentExpr((((Name(text, range_, is_shown),), 1),))


def terms_of(extent: Extent) -> Mapping[Factors, int]:
    """Return the coefficient of each product of factors in an extent."""
    return {(): extent} if isinstance(extent, int) else dict(extent.terms)


def made(terms: Mapping[Factors, int]) -> Extent | None:
    """Return the sum of terms, or None if it would exceed the limits of a sum."""
    for factors, coefficient in terms.items():
        for at, atom in enumerate(factors):
            if coefficient and isinstance(atom, Call) and atom.kind == "exact" and coefficient % _divisor(atom) == 0:
                # An exact quotient times a multiple of its divisor is a multiple of its dividend.
                left = {(*factors[:at], *factors[at + 1 :]): coefficient // _divisor(atom)}
                rest = made({other: count for other, count in terms.items() if other != factors})
                return add(rest, multiply(made(left), atom.operands[0]))
    kept = [(factors, coefficient) for factors, coefficient in terms.items() if coefficient]
    if all(not factors for factors, _ in kept):
        return sum(coefficient for _, coefficient in kept)
    if len(kept) > _MOST_TERMS or any(
        len(factors) > _MOST_FACTORS or abs(coefficient) > _HIGHEST for factors, coefficient in kept
    ):
        return None
    extent = ExtentExpr(tuple(sorted(kept, key=lambda term: tuple(map(sort_key, term[0])))))
    return extent if _fits(_names(extent), _MOST_NAMES) else None


def _fits(items: Iterator[Name], most: int) -> bool:
    return all(count < most for count, _ in enumerate(items))


def _divisor(exact: Call) -> int:
    divisor = exact.operands[1]
    assert isinstance(divisor, int)
    return divisor


def called(kind: Kind, operands: tuple[Extent, ...]) -> Extent | None:
    """Return the extent that consists of a single call."""
    return made({(Call(kind, operands, f"~{kind}({','.join(map(sort_key, operands))})"),): 1})


def add(a: Extent | None, b: Extent | None) -> Extent | None:
    """Return the sum."""
    if a is None or b is None:
        return None
    if isinstance(a, int) and isinstance(b, int):
        return a + b
    terms = dict(terms_of(a))
    for factors, coefficient in terms_of(b).items():
        terms[factors] = terms.get(factors, 0) + coefficient
    return made(terms)


def subtract(a: Extent | None, b: Extent | None) -> Extent | None:
    """Return the difference, which may be below 0."""
    return add(a, multiply(b, -1))


def multiply(a: Extent | None, b: Extent | None) -> Extent | None:
    """Return the product."""
    if a is None or b is None:
        return None
    if isinstance(a, int) and isinstance(b, int):
        return a * b
    one, two = terms_of(a), terms_of(b)
    if len(one) * len(two) > _MOST_TERMS**2:
        return None
    terms: dict[Factors, int] = {}
    for (left, x), (right, y) in product(one.items(), two.items()):
        factors = tuple(sorted((*left, *right), key=sort_key))
        terms[factors] = terms.get(factors, 0) + x * y
    return made(terms)


def _names(extent: Extent) -> Iterator[Name]:
    """Return the names in an extent, each as often as it occurs."""
    for factors, _ in () if isinstance(extent, int) else extent.terms:
        for atom in factors:
            if isinstance(atom, Name):
                yield atom
            else:
                yield from (name for operand in atom.operands for name in _names(operand))


def names_of(extent: Extent) -> dict[str, Name]:
    """Return the names in an extent."""
    return {name.text: name for name in _names(extent)}


def evaluate(extent: Extent, extents: Mapping[str, int]) -> int:
    """Return the value of an extent for these extents of its names.

    Raises
    ------
    KeyError
        For a name without an extent.
    ZeroDivisionError
        For a division by 0.
    """
    if isinstance(extent, int):
        return extent
    return sum(
        coefficient * prod(_evaluated(atom, extents) for atom in factors) for factors, coefficient in extent.terms
    )


def _evaluated(atom: Atom, extents: Mapping[str, int]) -> int:
    if isinstance(atom, Name):
        return extents[atom.text]
    numbers = [evaluate(operand, extents) for operand in atom.operands]
    if atom.is_quotient:
        return numbers[0] // numbers[1]
    if atom.kind == "broadcast":
        return next((number for number in numbers if number != 1), 1)
    return min(numbers) if atom.kind == "min" else max(numbers)
