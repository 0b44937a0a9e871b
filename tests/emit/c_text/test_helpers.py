"""The helpers a kernel needs: all of them, none twice, and in the form in which its loops are vectorised."""

from __future__ import annotations

import re

import pytest

from bcastgen.api.functions import from_text, jit
from bcastgen.core.resources import folder
from bcastgen.emit.c_text.helpers import for_loops, helper_text


def test_a_helper_brings_what_it_uses():
    text = helper_text("status = bcg_meet(&operands[0]);")
    assert text.index("bcg_fail(") < text.index("bcg_meet(")
    assert "bcg_status bcg_fail(" not in helper_text("bcg_meet(x);", "bcg_fail")
    assert helper_text("no_helper(x)") == ""


def test_types_of_functions_are_found():
    assert "typedef void (*bcg_loop)" in helper_text("bcg_variant")


def spelled(text, name):
    return re.search(rf"^static (\w+) [\w ]*\b{name}\(", text, re.MULTILINE)[1]


def test_functions_of_elements_are_part_of_the_loops_that_call_them():
    loops = "bcg_log_f32(a0); bcg_fail(why);"
    text = for_loops(helper_text(loops), loops, once=False)
    assert spelled(text, "bcg_log_f32") == "BCG_INLINE"
    assert spelled(text, "bcg_bits_f32") == "BCG_INLINE"
    assert spelled(text, "bcg_fail") == "inline"


def test_a_function_that_is_compiled_once_keeps_its_own_parts():
    loops = "bcg_log_f32(a0);"
    text = for_loops(helper_text(loops), loops, once=True)
    assert spelled(text, "bcg_log_f32") == "BCG_CALLED"
    assert spelled(text, "bcg_bits_f32") == "BCG_INLINE"


@pytest.mark.parametrize("calls", [2, 12])
def test_a_kernel_defines_what_it_says(calls, compile_strictly, tmp_path):
    """Few calls are inlined, many are shared; both are strict C."""
    text = " + ".join(f"exp(a * {at})" for at in range(2, 2 + calls))
    source = from_text(f"(f32[*] a, f32[*] b) -> ({text}) * log(b) * log(b + 1) * log(b + 2) * log(b + 3)").source
    assert ("#define BCG_CALLED" in source) == (calls > 2)
    compile_strictly({"kernel.c": source}, tmp_path)


def test_a_kernel_without_functions_has_no_word_for_them():
    source = jit(lambda a, b: a + b, name="add").source
    assert "BCG_INLINE" not in source and "BCG_CALLED" not in source


@pytest.mark.parametrize("language", ["c", "c++"])
def test_plain_c_says_the_same(language, emit, compile_strictly, tmp_path):
    few = emit("few", "(f32[?, ?] a, f64[?, ?] b) -> log(a) * sin(b)")
    many = emit("many", "(f32[*] a, f32[*] b) -> log(a) * tanh(b) + exp(a - b) * sin(a + b) + cos(a)")
    assert "#define FEW_INLINE" in few.text and "#define MANY_CALLED" in many.text
    compile_strictly(few.files | many.files, tmp_path, "gcc", language, ("-O2",))
    plain = emit("plain", "(f16[?] a, f16[?] b) -> a + b").text
    assert "PLAIN_INLINE" not in plain


def test_what_is_called_on_some_machines_only_may_stay_uncalled():
    """Without FMA `bcg_prod_low_f64` calls it, with FMA nothing does."""
    definitions = helper_text("bcg_prod_low_f64(x, y, z); bcg_fail(why);")
    text = for_loops(definitions, "bcg_prod_low_f64(x, y, z); bcg_fail(why);", once=False, all=False)
    assert spelled(text, "bcg_upper_f64") == "BCG_INLINE"
    assert spelled(text, "bcg_prod_low_f64") == spelled(text, "bcg_fail") == "inline"


HEADERS = sorted(path for room in ("helpers", "vmath") for path in (folder("csrc") / room).glob("*.h"))


@pytest.mark.parametrize("header", HEADERS, ids=lambda path: path.name)
def test_a_comment_is_understood_without_the_one_above_it(header):
    """A definition is copied without what stands above it, and without this repository."""
    comments = re.findall(r"/\*.*?\*/", header.read_text(encoding="utf-8").split("*/", 1)[1], re.DOTALL)
    assert [text for text in comments if re.search(r"/\* (?:the same|likewise)\b|, likewise|\.py\b", text, re.I)] == []
