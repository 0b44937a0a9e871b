"""Integer sums: adds integers before they become floats, where the float represents their sum exactly.

In: a nest.  Out: one of the same results, bit for bit, that adds the integers and converts their sum.

    x, z : i8;   x.astype(f32) - z.astype(f32)   ->   (x.astype(i32) - z.astype(i32)).astype(f32)

This saves one of two conversions; :mod:`.narrow` then chooses how narrow the integers are. Products stay: a float 0
times a negative number is -0.0, which no integer product gives, while a sum of converted integers is never -0.0.
"""

from __future__ import annotations

from ...core.dtypes import F32, F64, dtype
from ...core.frozen import replace
from ...expr.nodes import Constant
from ...ops.ranges import Range, range_of
from ...ops.rows.conversions import CAST
from ..analysis.integer_ranges import ranges_of, whole
from ..nest import Let, Nest, Statement, Value, users_of
from .rebuilt import cast_of, rebuilt

__all__ = ["integer_sums"]

_SUMS = ("plus", "minus")
# Floats represent every integer of so many bits. For f64 the limit is that of i32: wider integers convert slower.
_DIGITS = {F32: F32.digits, F64: 31}
_I32 = dtype("i32")


def integer_sums(nest: Nest) -> tuple[Nest, tuple[str, ...]]:
    """Return a nest that adds and subtracts integers before they become floats, and a line for each such sum.

    Examples
    --------
    >>> from bcastgen import from_text
    >>> kernel = from_text("(i8[?] x, i8[?] z) -> x.astype(f32) - z.astype(f32)")
    >>> for statement in integer_sums(kernel.compilation.program.nests[0])[0].body:
    ...     print(statement.op.name, statement.dtype)
    cast i32
    cast i32
    subtract i32
    cast f32
    """
    replacements: dict[int, tuple[Statement, ...]] = {}
    notes: list[str] = []
    for at, (low, high) in _sums(nest).items():
        statement = nest.body[at]
        casts = [nest.body[value.index] for value in statement.operands if isinstance(value, Let)]
        summands = (cast_of(one.operands[0], one.operand_dtypes[0], _I32) for one in casts)
        total = replace(statement, operands=(Let(-2), Let(-1)), operand_dtypes=(_I32, _I32), dtype=_I32)
        replacements[at] = (*summands, total, cast_of(Let(-1), _I32, statement.dtype))
        spelled = ", ".join(nest.show(one.operands[0]) for one in casts)
        exact = f"it is in [{low}, {high}], where {statement.dtype} is exact"
        notes.append(f"t{at} is {statement.op.name}({spelled}) in i32, which becomes {statement.dtype} once: {exact}")
    return (rebuilt(nest, replacements) if replacements else nest), tuple(notes)


def _sums(nest: Nest) -> dict[int, Range]:
    """Return the range of each sum of two casts that nothing else uses, if the float represents all of it exactly."""
    of_floats = [at for at, s in enumerate(nest.body) if s.op.integers.sum in _SUMS and s.dtype in _DIGITS]
    if not of_floats:
        return {}
    users, ranges = users_of(nest), ranges_of(nest)

    def between(value: Value, user: int) -> Range | None:
        """Return the range of the integer that a value is cast from; None if it is no such cast or has other users."""
        if not isinstance(value, Let) or users[value] != {user}:
            return None
        cast = nest.body[value.index]
        source = cast.operands[0]
        if cast.op is not CAST or not cast.operand_dtypes[0].is_integer or isinstance(source, Constant):
            return None
        return (ranges[source.index] if isinstance(source, Let) else None) or whole(cast.operand_dtypes[0])

    def exact(at: int) -> Range | None:
        statement = nest.body[at]
        x, y = (between(value, at) for value in statement.operands)
        if x is None or y is None or statement.operands[0] == statement.operands[1]:
            return None
        function, most = range_of(statement.op.integers.range), (1 << _DIGITS[statement.dtype]) - 1
        total = None if function is None else function(x, y)
        fits = total is not None and all(-most <= low and high <= most for low, high in (x, y, total))
        return total if fits else None

    return {at: range_ for at in of_floats if (range_ := exact(at)) is not None}
