"""Exact floats: computes doubles in f32 where f32 holds each of them exactly, and no double is read or stored.

In: a nest.  Out: one of the same results, bit for bit, that computes in f32: a vector has twice the lanes.

    x : u8;  (x * 0.5 + 10.0).astype(uint8)   ->   the same in f32: multiples of 0.5 up to 137.5, nine digits

A double is exact in f32 if it is a multiple of a power of two, and at most 2**24 times as large (:mod:`...ops.bounds`).
Sums and products that are exact have no rounding that could differ, and their zeros have the same signs. If one double
of a nest is not exact, all stay, since conversions in between would take what the others save.
"""

from __future__ import annotations

from ...core.dtypes import BOOL, F32, F64, DType
from ...core.frozen import replace
from ...expr.nodes import Constant
from ...ops.bounds import UNKNOWN, Bounds
from ...ops.rows.conversions import CAST
from ..analysis.float_bounds import bounds_of, number_bounds
from ..nest import Let, Nest, Statement, Value
from .rebuilt import BodyBuilder, cast_of

__all__ = ["exact_floats"]

# Far from the ends of f32's exponents.
_LEAST, _MOST = 2.0**-100, 2.0**100


def exact_floats(nest: Nest) -> tuple[Nest, tuple[str, ...]]:
    r"""Return a nest in which f32 takes the place of f64 where it holds every value exactly, and a line for each.

    Examples
    --------
    >>> from bcastgen import from_text
    >>> kernel = from_text("(u8[?] x) -> (x * 0.5 + 10.0).astype(uint8)")
    >>> print(*exact_floats(kernel.compilation.program.nests[0])[1], sep="\n")
    t0 is in f32, not f64: it is a multiple of 1 up to 255, so f32 is exact
    t1 is in f32, not f64: it is a multiple of 0.5 up to 127.5, so f32 is exact
    t2 is in f32, not f64: it is a multiple of 0.5 up to 137.5, so f32 is exact
    """
    of_doubles = [at for at, statement in enumerate(nest.body) if statement.dtype is F64]
    if not of_doubles or any(access.dtype is F64 for access in (*nest.operands, *nest.results)):
        return nest, ()
    bounds = bounds_of(nest)
    if not all(_stays_exact(statement, own, bounds) for statement, own in zip(nest.body, bounds, strict=True)):
        return nest, ()
    multiples = {at: f"a multiple of {bounds[at].grain:g} up to {_most(bounds[at]):g}" for at in of_doubles}
    notes = (f"t{at} is in f32, not f64: it is {multiple}, so f32 is exact" for at, multiple in multiples.items())
    return _in_f32(nest), tuple(notes)


def _most(bounds: Bounds) -> float:
    return max(abs(bounds.low), abs(bounds.high))


def _is_exact(bounds: Bounds) -> bool:
    """Whether f32 holds every number that a value may be."""
    fits = bounds.is_finite and bounds.grain >= _LEAST and _most(bounds) <= _MOST
    return fits and _most(bounds) <= bounds.grain * 2**F32.digits


def _stays_exact(statement: Statement, own: Bounds, bounds: list[Bounds]) -> bool:
    """Whether a statement gives the same in f32: it has no doubles, or exact ones that it computes, tests or casts."""
    if F64 not in (statement.dtype, *statement.operand_dtypes):
        return True
    pairs = zip(statement.operands, statement.operand_dtypes, strict=True)
    if not all(_is_exact(_bounds(value, bounds)) for value, dtype in pairs if dtype is F64):
        return False
    if statement.op is CAST:
        return statement.dtype is not F64 or _is_exact(own)
    if statement.op.definition is not None or statement.params:
        return False
    # What has a grain is computed by sums, products and choices; other ops of doubles would round.
    return statement.dtype is BOOL or (statement.dtype is F64 and _is_exact(own))


def _bounds(value: Value, bounds: list[Bounds]) -> Bounds:
    match value:
        case Constant():
            return number_bounds(value)
        case Let():
            return bounds[value.index]
    return UNKNOWN


def _in_f32(nest: Nest) -> Nest:
    """Return the nest with f32 in the place of f64; casts between the two are left out."""
    body = BodyBuilder()
    stands: dict[Value, Value] = {}

    def now(value: Value, dtype: DType) -> Value:
        if isinstance(value, Constant) and dtype is F64:
            return Constant(value.value, F32)
        return stands.get(value, value)

    for at, statement in enumerate(nest.body):
        values = tuple(now(*pair) for pair in zip(statement.operands, statement.operand_dtypes, strict=True))
        dtypes = tuple(F32 if dtype is F64 else dtype for dtype in statement.operand_dtypes)
        result = F32 if statement.dtype is F64 else statement.dtype
        if statement.op is not CAST:
            stands[Let(at)] = body.append(replace(statement, operands=values, operand_dtypes=dtypes, dtype=result))
        elif dtypes[0] is result:
            stands[Let(at)] = values[0]
        else:
            stands[Let(at)] = body.append(cast_of(values[0], dtypes[0], result))
    stores = tuple(stands.get(value, value) for value in nest.stores)
    return replace(nest, body=tuple(body.statements), stores=stores)
