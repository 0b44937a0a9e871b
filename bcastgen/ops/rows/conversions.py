"""The row of conversions to a dtype, which analyses, rewrites and front ends insert.

In: nothing.  Out: the row, and the family that it is.

    CAST.c_for((F32,), F64)  ->  "(double){0}"
"""

from __future__ import annotations

from .. import dtype_rules as rules
from ..casts import cast_c, cast_reference
from ..facts import UNCHANGED, Mlir
from ..row import Op, Param

__all__ = ["CAST", "CONVERSIONS"]

CAST = Op(
    "cast",
    1,
    rules.by_parameter,
    cast_c,
    "Conversion to `dtype`: floats truncate, NaN to integer is 0, other floats saturate; integers wrap.",
    reference=cast_reference,
    params=(Param("dtype", "the dtype to convert to"),),
    integers=UNCHANGED,
    mlir=Mlir("@cast_lines"),
)
CONVERSIONS: tuple[Op, ...] = (CAST,)
