"""The ops that take complex numbers apart and make them.

In: nothing.  Out: their rows.

    OPS["real"].doc  ->  "The real part; a real number itself."

What they are for complex numbers is in :mod:`..complex_forms`, as for all ops.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.dtypes import BOOL, C64, C128, F32, F64
from .. import dtype_rules as rules
from ..facts import UNCHANGED, IntegerFacts, Mlir
from ..row import Op

__all__ = ["COMPLEX_PARTS"]


def _of_parts(re: Any, im: Any) -> Any:
    # The parts have the dtype that NumPy gives a function of two floats.
    with np.errstate(all="ignore"):
        kind = np.result_type(np.arctan2(re, im), np.complex64)
    made = np.empty(np.broadcast(re, im).shape, kind)
    made.real, made.imag = re, im
    return made


def _angle(z: Any) -> Any:
    z = np.asarray(z)
    z = z.astype(np.float64) if z.dtype == np.bool_ else z
    return np.arctan2(np.imag(z), np.real(z))


def _angle_rule(op: str, operands: rules.Types) -> rules.Converted:
    """Compute in the dtype of functions; bools in f64, beside numpy.angle's integer 0."""
    return ((F64,), F64) if operands[0] is BOOL else rules.floating(op, operands)


def _part(
    name: str,
    doc: str,
    real: str,
    mlir: Mlir,
    rule: rules.Rule = rules.arithmetic,
    aliases: tuple[str, ...] = (),
    reference: Callable[..., Any] | None = None,
    integers: IntegerFacts | None = None,
) -> Op:
    """Return the row of an op that takes complex numbers apart; `real` is its C for real numbers."""
    return Op(
        name,
        1,
        rule,
        real,
        doc,
        aliases=aliases,
        reference=reference,
        # The angle of a negative number is pi, which has to be rounded to 16 bits.
        representable=name != "angle",
        integers=integers or IntegerFacts(),
        mlir=mlir,
    )


def _two_floats(op: str, operands: rules.Types) -> rules.Converted:
    """Take two real numbers as floats; the result has them as its parts."""
    loops, loop = rules.floating(op, operands)
    if loop.is_complex:
        return loops, loop
    part = F64 if loop is F64 else F32
    return (part,) * len(loops), C128 if part is F64 else C64


_ITSELF = Mlir(dict.fromkeys(("bool", "integer", "float"), "{0}"))
_NOTHING = Mlir(
    {
        kind: f"%no = arith.constant false\narith.select %no, {{0}}, #{zero} : {{t}}"
        for kind, zero in (("bool", "false"), ("integer", "0"), ("float", "0.0"))
    }
)
COMPLEX_PARTS: tuple[Op, ...] = (
    _part(
        "conjugate",
        "The number with the other sign of its imaginary part; a real number itself.",
        "{0}",
        _ITSELF,
        rule=rules.bool_as_i8,
        aliases=("conj",),
        integers=UNCHANGED,
    ),
    _part(
        "real",
        "The real part; a real number itself.",
        "{0}",
        _ITSELF,
        integers=UNCHANGED,
    ),
    _part(
        "imag",
        "The imaginary part; 0 of a real number.",
        "((void){0}, ({T})0)",
        _NOTHING,
    ),
    _part(
        "angle",
        "The angle of a complex number in radians, in [-pi, pi]; that of a negative real number is pi.",
        "bcg_arctan2_{t}(0, {0})",
        Mlir({"float": "math.atan2 #0.0, {0} : {t}"}),
        rule=_angle_rule,
        reference=_angle,
    ),
    Op(
        "make_complex",
        2,
        _two_floats,
        lambda _operands, result: f"bcg_make_{result.name}({{0}}, {{1}})",
        "The complex number of a real and an imaginary part; those of f16 and bf16 are taken as f32.",
        reference=_of_parts,
        mlir=Mlir({"float": "complex.create {0}, {1} : {T}"}),
    ),
)
