"""csrc's complex headers: what is written for c64 and for c128 is one text, so that a change of one is one of both."""

from __future__ import annotations

import re

import pytest

from bcastgen.core.resources import folder

HELPERS = folder("csrc") / "helpers"
DEFINITION = re.compile(r"^static inline [^\n]*?\b(bcg_\w+?)_(c64|c128)\(.*?(?:\}$)(?=\n\n)", re.MULTILINE | re.DOTALL)
# Of each pair the first is of c64 and the second of c128.
SPELLED = (
    ("c64", "c128"),
    ("f32", "f64"),
    ("float", "double"),
    ("fabsf", "fabs"),
    ("copysignf", "copysign"),
    ("rintf", "rint"),
    ("0x1.fffffep+127f", "0x1.fffffffffffffp+1023"),
    ("0x80000000u", "0x8000000000000000u"),
)
TEXT = (HELPERS / "bcg_complex.h").read_text(encoding="utf-8")
FOUND = {(match[1], match[2]): match[0] for match in DEFINITION.finditer(TEXT)}
NAMES = sorted({name for name, _ in FOUND} - {"bcg_c64_to", "bcg_c128_to"})


def test_definitions_are_found():
    assert {"bcg_add", "bcg_divide", "bcg_sign", "bcg_clip", "bcg_isnan"} <= set(NAMES)
    assert len(NAMES) > 30


@pytest.mark.parametrize("name", NAMES)
def test_both_dtypes_have_one_text(name):
    text = FOUND[name, "c64"]
    for single, double in SPELLED:
        text = re.sub(rf"(?<![a-z0-9]){re.escape(single)}(?![a-z0-9])", double, text)
    # NAN is a float, which -Wdouble-promotion has converted by a cast.
    assert text == FOUND[name, "c128"].replace("(double)NAN", "NAN")
