"""The ranges of integers in a nest: the least and the largest number each value can be, for all operands.

In: a nest.  Out: for each statement the least and the largest value, or None where it is no integer or bool.

    a, b, w : u8;  t0 = cast(a) : i32;  t1 = multiply(t0, cast(w)) : i32   ->   t0 in [0, 255], t1 in [0, 65025]

Ranges hold the values after wrapping: where an operation may wrap, its range is that of the dtype. Sums of products are
bounded as a whole: ``a*w + b*(255 - w)`` is at most ``255*255``.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from math import prod

from ...core.dtypes import DType
from ...expr.nodes import Constant
from ...ops.ranges import Range, range_of
from ..nest import Let, Load, Nest, Statement, Value

__all__ = ["fits", "ranges_of", "whole"]

# A sum of products of independent values: the coefficient of each product of different values.
Polynomial = Mapping[frozenset[int], int]

# The most values and products of a polynomial: its bounds take a look at 2 ** values corners of the box.
_VALUES, _PRODUCTS = 4, 8


def whole(dtype: DType) -> Range:
    """Return the range of a dtype."""
    return dtype.min, dtype.max


def fits(range_: Range, dtype: DType) -> bool:
    """Whether a dtype holds all of a range."""
    return dtype.min <= range_[0] and range_[1] <= dtype.max


def _counted(dtype: DType) -> bool:
    return not dtype.is_inexact


def ranges_of(nest: Nest) -> list[Range | None]:
    """Return the range of each statement's value; None for floats.

    Examples
    --------
    >>> from bcastgen.pipeline.compilation import Compilation
    >>> from bcastgen import from_text
    >>> ranges_of(from_text("(u8[?] a) -> a.astype(i32) * 3 - 5").compilation.program.nests[0])
    [(0, 255), (0, 765), (-5, 760)]
    """
    return _Ranges(nest).run()


class _Ranges:
    """One run over a nest: the ranges so far, and each value as a polynomial, if it is one, in values called atoms.

    Attributes
    ----------
    found : the range of each statement so far.
    sums : the polynomial of each statement so far, or None.
    atoms : the range of each atom, by its number.
    numbers : the number of each value that is an atom.
    """

    def __init__(self, nest: Nest) -> None:
        self.nest = nest
        self.found: list[Range | None] = []
        self.sums: list[Polynomial | None] = []
        self.atoms: list[Range] = []
        self.numbers: dict[Value, int] = {}

    def run(self) -> list[Range | None]:
        for at, statement in enumerate(self.nest.body):
            range_, sum_ = (None, None) if not _counted(statement.dtype) else self._range(statement)
            self.found.append(range_)
            self.sums.append(sum_ if sum_ is not None or range_ is None else self._atom(Let(at), range_))
        return self.found

    def _range(self, statement: Statement) -> tuple[Range | None, Polynomial | None]:
        """Return the range of a statement's value, by its op's rule and from its polynomial, and that polynomial."""
        function = range_of(statement.op.integers.range)
        unknown = whole(statement.dtype)
        known = all(map(_counted, statement.operand_dtypes)) and statement.dtype.is_integer
        if function is None or not known:
            return unknown, None
        pairs = tuple(zip(statement.operands, statement.operand_dtypes, strict=True))
        range_ = function(*(self._of(value, dtype) for value, dtype in pairs))
        sum_ = self._sum(statement, [self._sum_of(value, dtype) for value, dtype in pairs])
        if sum_ is not None:
            low, high = self._bounds(sum_)
            range_ = (low, high) if range_ is None else (max(low, range_[0]), min(high, range_[1]))
        if range_ is None or not fits(range_, statement.dtype):
            return unknown, None
        return range_, sum_

    def _of(self, value: Value, dtype: DType) -> Range:
        match value:
            case Constant():
                return int(value.value), int(value.value)
            case Let():
                range_ = self.found[value.index]
                assert range_ is not None
                return range_
        return whole(dtype)

    def _atom(self, value: Value, range_: Range) -> Polynomial:
        if value not in self.numbers:
            self.numbers[value] = len(self.atoms)
            self.atoms.append(range_)
        return {frozenset((self.numbers[value],)): 1}

    def _sum_of(self, value: Value, dtype: DType) -> Polynomial | None:
        match value:
            case Constant():
                return {frozenset(): int(value.value)}
            case Load():
                return self._atom(value, whole(dtype))
        return self.sums[value.index]

    def _sum(self, statement: Statement, given: list[Polynomial | None]) -> Polynomial | None:
        """Return the value as a sum of products; None if it is none, or if it is too large."""
        sums = [one for one in given if one is not None]
        if len(sums) < len(given):
            return None
        made: Polynomial | None
        match statement.op.integers.sum, sums:
            case "same", [x]:
                return x
            case "plus", [x, y]:
                made = _plus(x, y, 1)
            case "minus", [x, y]:
                made = _plus(x, y, -1)
            case "negated", [x]:
                made = _plus({}, x, -1)
            case "times", [x, y]:
                made = _times(x, y)
            case _:
                return None
        small = made is not None and len(made) <= _PRODUCTS and len(frozenset().union(*made)) <= _VALUES
        return made if small else None

    def _bounds(self, sum_: Polynomial) -> Range:
        """Return the least and the largest value; they are at corners, as each product has a value at most once."""
        values = sorted(frozenset().union(*sum_))
        found = []
        for corner in product(*(self.atoms[value] for value in values)):
            at = dict(zip(values, corner, strict=True))
            found.append(sum(prod((at[f] for f in factors), start=by) for factors, by in sum_.items()))
        return min(found), max(found)


def _plus(x: Polynomial, y: Polynomial, sign: int) -> Polynomial:
    made = dict(x)
    for factors, coefficient in y.items():
        made[factors] = made.get(factors, 0) + sign * coefficient
    return {factors: coefficient for factors, coefficient in made.items() if coefficient} or {frozenset(): 0}


def _times(x: Polynomial, y: Polynomial) -> Polynomial | None:
    """Return a product; None where a value would be squared."""
    made: dict[frozenset[int], int] = {}
    for one, by in x.items():
        for other, times in y.items():
            if one & other:
                return None
            made[one | other] = made.get(one | other, 0) + by * times
    return made
