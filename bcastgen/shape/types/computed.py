"""Extents in types that are computed from the names of other dims: ``f32[n + m]``, ``f32[2*n]``, ``f32[min(n, m)]``.

In: the text of an expression.  Out: its normal form, the range it lies in, and its value for extents of its names.

    "n+m" -> "m + n"        2*n is a multiple of 2        n*m with n = m = 2**40 -> None

The text of the normal form is the dim's symbol, so dims with equal expressions have one extent, as those with one name
do. The value is computed in 64 bits, in one order: the terms that are added, then those that are subtracted, then the
difference. If one of both sums is above `MAX_EXTENT` there is no value; a value below 0 is no extent, either.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Literal, TypeAlias, TypeVar

from ...core.errors import BcastgenError, BroadcastError
from .cursor import Cursor
from .extent_expr import Atom, Extent, ExtentExpr, Name, terms_of
from .extent_span import span
from .extent_sum import parse_sum
from .facts import ANY_EXTENT, MAX_EXTENT, Range

__all__ = [
    "Calculation",
    "calculate",
    "expression",
    "may_overflow",
    "normal",
    "normal_form",
    "range_of",
    "value_of",
]

_T = TypeVar("_T")
# C says so of an extent that it does not have, and a foreign caller may give it as one.
_NONE = -MAX_EXTENT - 1
# "minus" may be below 0; all others take and give numbers from 0 up, but for the extremes, which take any.
Calculation: TypeAlias = Literal["plus", "times", "minus", "min", "max", "div"]


@cache
def expression(text: str) -> ExtentExpr:
    """Return the expression that a dim's symbol spells.

    Examples
    --------
    >>> expression("n + m") == expression("m + n"), expression("2*n + n")
    (True, 3*n)
    """
    made = _parsed(text)
    assert isinstance(made, ExtentExpr)
    return made


def _parsed(text: str) -> Extent:
    cursor = Cursor(text, "dim")
    made = parse_sum(cursor)
    if not cursor.at_end:
        raise cursor.fail("the end", "write an extent as in n + m, 2*n or min(n, m)")
    return made


@cache
def normal_form(text: str) -> str | int | None:
    """Return the text of an expression's normal form, a name or a number where it is no more; None if it is none.

    Raises
    ------
    BroadcastError
        If types cannot say the expression: it is below 0 for all extents, or a part of it may be.

    Examples
    --------
    >>> normal_form("n+m"), normal_form("n + 0"), normal_form("2 + 3"), normal_form("no name")
    ('m + n', 'n', 5, None)
    """
    try:
        made = None if text.strip().isdecimal() else _parsed(text)
    except BcastgenError:
        return None
    return None if made is None else normal(made)


def normal(extent: Extent) -> str | int:
    """Return the value of a dim that is this extent; see :func:`normal_form`."""
    if isinstance(extent, int):
        return extent
    if extent.name is not None:
        return extent.name.text
    fault = _fault(extent)
    if fault is not None:
        raise BroadcastError(f"dim {extent} {fault}")
    return str(extent)


def _fault(extent: ExtentExpr) -> str | None:
    """Return why a type cannot say an extent, or None."""
    if span(extent).high < 0:
        return "is below 0 for all extents of its names; write one that may be an extent"
    return _unfit(extent)


def _unfit(extent: Extent) -> str | None:
    if isinstance(extent, int):
        return None
    if extent.name is None and any(abs(count) > MAX_EXTENT for _, count in extent.terms):
        return "has a number that 64 bits do not hold; write smaller ones"
    is_atom = len(extent.terms) == 1 and extent.terms[0][1] == 1 and len(extent.terms[0][0]) == 1
    for factors, _ in extent.terms:
        for atom in factors:
            fault = None if isinstance(atom, Name) else _unfit_call(atom, is_atom)
            if fault is not None:
                return fault
    return None


def _unfit_call(atom: Atom, is_alone: bool) -> str | None:
    assert not isinstance(atom, Name)
    if atom.kind == "broadcast":
        return "says what extents broadcast to, which types do not; write min, max, sums and products"
    if not is_alone and span(ExtentExpr((((atom,), 1),))).low < 0:
        return f"computes with {atom}, which may be below 0; write max({atom}, 0)"
    if atom.is_quotient and span(atom.operands[0]).low < 0:
        return f"divides {atom.operands[0]}, which may be below 0; write max({atom.operands[0]}, 0)"
    return next((fault for operand in atom.operands if (fault := _unfit(operand)) is not None), None)


@cache
def range_of(text: str) -> Range:
    """Return where the extent lies, whatever its names are.

    Examples
    --------
    >>> str(range_of("2*n")), str(range_of("n + 1")), str(range_of("m + n"))
    ('%2', '>=1', '')
    """
    where = span(expression(text))
    step = where.divisor
    return Range.of(max(where.low, 0), min(where.high, MAX_EXTENT), max(step, 1)) or ANY_EXTENT


def calculate(
    extent: Extent,
    name: Callable[[str], _T],
    number: Callable[[int], _T],
    apply: Callable[[Calculation, _T, _T], _T],
) -> _T:
    """Compute an extent step by step, in the order in which everything computes it.

    Parameters
    ----------
    extent : of a type.
    name, number : return the operand that a name or a number is.
    apply : computes one step.

    Examples
    --------
    >>> calculate(expression("2*n + m - 1"), str, str, lambda op, x, y: f"{op}({x}, {y})")
    'minus(plus(m, times(2, n)), 1)'
    """

    def of(extent: Extent) -> _T:
        terms = terms_of(extent)
        plus = [(factors, count) for factors, count in _ordered(terms) if count > 0]
        minus = [(factors, -count) for factors, count in _ordered(terms) if count < 0]
        total = _sum(plus) if plus else number(0)
        return apply("minus", total, _sum(minus)) if minus else total

    def _sum(terms: list[tuple[tuple[Atom, ...], int]]) -> _T:
        total = product(*terms[0])
        for factors, count in terms[1:]:
            total = apply("plus", total, product(factors, count))
        return total

    def product(factors: tuple[Atom, ...], count: int) -> _T:
        parts = [number(count)] * (count != 1 or not factors) + [atom_of(atom) for atom in factors]
        made = parts[0]
        for part in parts[1:]:
            made = apply("times", made, part)
        return made

    def atom_of(atom: Atom) -> _T:
        if isinstance(atom, Name):
            return name(atom.text)
        made = of(atom.operands[0])
        for operand in atom.operands[1:]:
            made = apply("div" if atom.is_quotient else "min" if atom.kind == "min" else "max", made, of(operand))
        return made

    return of(extent)


def _ordered(terms: Mapping[tuple[Atom, ...], int]) -> Iterable[tuple[tuple[Atom, ...], int]]:
    """Return the terms as they print: the constant last."""
    return sorted(terms.items(), key=lambda term: not term[0])


def value_of(text: str, extents: Mapping[str, int]) -> int | None:
    """Return the value for extents of the names, which is no extent if it is below 0; None if 64 bits are too few.

    Examples
    --------
    >>> value_of("m + n", {"n": 3, "m": 4}), value_of("n - 1", {"n": 0}), value_of("m*n", {"n": 2**40, "m": 2**40})
    (7, -1, None)
    """
    return calculate(expression(text), extents.__getitem__, lambda number: number, _checked)


def _checked(what: Calculation, x: int | None, y: int | None) -> int | None:
    if x is None or y is None or _NONE in (x, y):
        return None
    if what in ("min", "max"):
        return min(x, y) if what == "min" else max(x, y)
    if x < 0 or y < 0 or (what == "div" and y == 0):
        return None
    made = {"plus": x + y, "times": x * y, "minus": x - y, "div": x // max(y, 1)}[what]
    return made if made <= MAX_EXTENT else None


def may_overflow(text: str) -> bool:
    """Tell whether a step of the computation may have no value.

    Examples
    --------
    >>> may_overflow("n - 1"), may_overflow("min(m, n)"), may_overflow("n + 1")
    (False, False, True)
    """

    def leaf(_: object) -> bool:
        return False

    def step(what: Calculation, x: bool, y: bool) -> bool:
        return what in ("plus", "times") or x or y

    return calculate(expression(text), leaf, leaf, step)
