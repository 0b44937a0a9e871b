"""Rows of ops of the dialects `arith` and `scf` that programs of the shape dialect may hold: integers, and a branch.

In: nothing.  Out: the rows, which :mod:`.ops` has in its table; its docstring says what rows hold.

    arith.addi of two indices; arith.select; scf.if
"""

from __future__ import annotations

import operator
from typing import Any

from ..types import extent_expr, extent_ops
from . import arithmetic, canonical, rules
from .row import ANY, Certain, Parameter, Row, Setting
from .types import I1, INDEX, KINDS

__all__ = ["ARITH_ROWS", "SCF_ROWS"]


def _index_row(
    name: str,
    doc: str,
    function: arithmetic.Function,
    canonicalise: Any = None,
    partial: Certain | None = None,
    of_extents: arithmetic.OfExtents | None = None,
) -> Row:
    return Row(
        f"arith.{name}",
        doc,
        rules.two(("index",)),
        (("index",),),
        rules.fixed(INDEX),
        arithmetic.binary(function, of_extents),
        partial or rules.always,
        canonicalise,
        syntax="first",
    )


def _bitwise_row(name: str, doc: str, function: Any, canonicalise: Any) -> Row:
    return Row(
        f"arith.{name}",
        doc,
        rules.two(("index", "i1")),
        (("index", "i1"),),
        rules.same_type,
        arithmetic.bitwise(function),
        rules.always,
        canonicalise,
        syntax="first",
        fault=rules.one_type,
    )


ARITH_ROWS = (
    Row(
        "arith.constant",
        "Creates an index or a predicate.",
        (),
        (("index", "i1"),),
        lambda types, attributes: (I1 if isinstance(attributes["value"], bool) else INDEX,),
        lambda operation: operation.attribute("value"),
        settings=(Setting("value", int, required=True),),
        syntax="value",
        fault=rules.number_fault,
    ),
    _index_row(
        "addi",
        "Adds indices; wraps.",
        lambda a, b: arithmetic.wrap(a + b),
        canonical.neutral(0),
        of_extents=extent_expr.add,
    ),
    _index_row(
        "subi",
        "Subtracts indices; wraps.",
        lambda a, b: arithmetic.wrap(a - b),
        canonical.neutral(0, False),
        of_extents=extent_expr.subtract,
    ),
    _index_row(
        "muli",
        "Multiplies indices; wraps.",
        lambda a, b: arithmetic.wrap(a * b),
        canonical.neutral(1),
        of_extents=extent_expr.multiply,
    ),
    _index_row(
        "divsi",
        "Divides indices, rounding to 0. Chosen: by 0 a run ends (LLVM: undefined); the lowest by -1 is the lowest.",
        arithmetic.divide,
        canonical.neutral(1, False),
        rules.divides,
        arithmetic.natural(extent_ops.floor_divide),
    ),
    _index_row(
        "floordivsi",
        "Divides indices, rounding down; as `divsi`.",
        arithmetic.floor_divide,
        canonical.neutral(1, False),
        rules.divides,
        extent_ops.floor_divide,
    ),
    _index_row(
        "ceildivsi",
        "Divides indices, rounding up; as `divsi`.",
        arithmetic.ceil_divide,
        canonical.neutral(1, False),
        rules.divides,
        arithmetic.ceil_divide_extents,
    ),
    _index_row(
        "remsi",
        "Returns what `divsi` leaves, with the sign of the first index; as `divsi`.",
        arithmetic.remainder,
        None,
        rules.divides,
        arithmetic.natural(arithmetic.remainder_extents),
    ),
    _index_row(
        "divui",
        "Divides indices as numbers without a sign, rounding down. Chosen: by 0 a run ends (LLVM: undefined).",
        arithmetic.unsigned(arithmetic.floor_divide),
        canonical.neutral(1, False),
        rules.divides,
        arithmetic.natural(extent_ops.floor_divide),
    ),
    _index_row(
        "ceildivui",
        "Divides indices as numbers without a sign, rounding up; as `divui`.",
        arithmetic.unsigned(arithmetic.ceil_divide),
        canonical.neutral(1, False),
        rules.divides,
        arithmetic.natural(arithmetic.ceil_divide_extents),
    ),
    _index_row(
        "remui",
        "Returns what `divui` leaves; as `divui`.",
        arithmetic.unsigned(arithmetic.remainder),
        None,
        rules.divides,
        arithmetic.natural(arithmetic.remainder_extents),
    ),
    _index_row("minsi", "Returns the smaller index.", min, canonical.idempotent, of_extents=extent_ops.minimum),
    _index_row("maxsi", "Returns the larger index.", max, canonical.idempotent, of_extents=extent_ops.maximum),
    _index_row(
        "minui",
        "Returns the smaller of two numbers without a sign.",
        arithmetic.unsigned(min),
        canonical.idempotent,
        of_extents=arithmetic.natural(extent_ops.minimum),
    ),
    _index_row(
        "maxui",
        "Returns the larger of two numbers without a sign.",
        arithmetic.unsigned(max),
        canonical.idempotent,
        of_extents=arithmetic.natural(extent_ops.maximum),
    ),
    _index_row(
        "shli",
        "Shifts bits up. Chosen: a run ends at a count outside 0 to 63 (LLVM: undefined).",
        arithmetic.shift(lambda a, b: arithmetic.wrap(a << b)),
        canonical.neutral(0, False),
        rules.shifts,
    ),
    _index_row(
        "shrsi",
        "Shifts bits down and keeps the sign; as `shli`.",
        arithmetic.shift(operator.rshift),
        canonical.neutral(0, False),
        rules.shifts,
    ),
    _index_row(
        "shrui",
        "Shifts bits down and fills with 0s; as `shli`.",
        arithmetic.unsigned(arithmetic.shift(operator.rshift)),
        canonical.neutral(0, False),
        rules.shifts,
    ),
    _bitwise_row("andi", "Ands the bits of two indices, or two predicates.", operator.and_, canonical.idempotent),
    _bitwise_row("ori", "Ors the bits of two indices, or two predicates.", operator.or_, canonical.idempotent),
    _bitwise_row(
        "xori", "Returns the bits in which two indices, or predicates, differ.", operator.xor, canonical.neutral(0)
    ),
    Row(
        "arith.cmpi",
        "Compares indices; a predicate with u compares them as unsigned numbers.",
        rules.two(("index",)),
        (("i1",),),
        rules.fixed(I1),
        arithmetic.compare,
        rules.always,
        settings=(Setting("predicate", str, required=True, choices=tuple(arithmetic.COMPARISONS)),),
        syntax="custom",
    ),
    Row(
        "arith.select",
        "Returns the first of two values of one type if the condition holds, else the second; if it is unknown, only "
        "what both promise is known.",
        (Parameter("condition", ("i1",)), *rules.two(KINDS, "true_value", "false_value")),
        (KINDS,),
        lambda types, attributes: types[1:2],
        arithmetic.select,
        rules.always,
        canonical.select,
        syntax="custom",
        fault=lambda operation: (
            None
            if operation.operands[1].type == operation.operands[2].type == operation.results[0].type
            else "takes two values of one type and returns it"
        ),
    ),
)

SCF_ROWS = (
    Row(
        "scf.if",
        "Runs its first region if the condition holds, else its second one; the results are what that region yields. "
        "If the condition is unknown, only what both regions promise is known.",
        (Parameter("condition", ("i1",)),),
        None,
        syntax="custom",
        regions=2,
        yields="scf.yield",
        effect=True,
    ),
    Row(
        "scf.yield",
        "Ends a region of `if`; its operands are the results there.",
        (Parameter("results", ANY, variadic=True, least=0),),
        syntax="types",
        terminator=True,
    ),
)
