"""C without a library: what it is spelled with, that it calls nothing, and that its values are those of the library."""

from __future__ import annotations

import re
import subprocess

import pytest

import bcastgen as bg
from bcastgen.core.c_flags import C_LANGUAGE, CHECKED, FREESTANDING_FLAGS, LIBRARIES, RESULT_FLAGS, WARNING_FLAGS
from bcastgen.core.errors import BcastgenError
from bcastgen.core.resources import csrc_file, folder
from bcastgen.emit.c_text.helpers import helper_names, helper_text
from bcastgen.emit.standalone import CForm
from bcastgen.emit.standalone.freestanding import refuse_library, without_library
from bcastgen.ops.table import OPS
from c_harness import compiler
from compile_flags import CONTRACT, QUICK
from csrc_includes import CSRC_FLAGS
from long_runs import some
from value_programs import ValueProgram, differences, rows

OURS = sorted(path.name for path in folder("csrc").rglob("bcg_*.h"))
RESULTS = (*C_LANGUAGE, *WARNING_FLAGS, *(flag.text for flag in RESULT_FLAGS))
CHECK = r"""
#include <stdio.h>
#include "bcg_freestanding_math.h"
#define SMALL 0x801fffffffffffffu
static const double special[] = {0,    4.9e-324, 2.2250738585072014e-308, 0.5,              1,          1.5, 3,
                                 1e30, 1e300,    1.7976931348623157e308,  (double)INFINITY, (double)NAN};
enum { SPECIAL = sizeof special / sizeof *special };

static uint64_t state = UINT64_C(88172645463325252);
static uint64_t next(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state * UINT64_C(0x2545f4914f6cdd1d);
}
static int same32(float x, float y) { return bcg_bits_f32(x) == bcg_bits_f32(y) || (x != x && y != y); }
static int same64(double x, double y) { return bcg_bits_f64(x) == bcg_bits_f64(y) || (x != x && y != y); }

int main(void)
{
    long wrong[9] = {0};
    for (uint64_t bits = 0; bits <= UINT32_MAX; bits += STEP) {
        const float x = bcg_from_bits_f32((uint32_t)bits);
        wrong[0] += !same32(bcg_floor_f32(x), floorf(x));
        wrong[1] += !same32(bcg_ceil_f32(x), ceilf(x));
        wrong[2] += !same32(bcg_trunc_f32(x), truncf(x));
        wrong[3] += !same32(bcg_rint_f32(x), rintf(x));
        wrong[4] += !same32(bcg_sqrt_f32(x), sqrtf(x));
        wrong[5] += !same32(bcg_fabs_f32(x), fabsf(x));
    }
    for (int at = 0; at < 4 * SPECIAL * SPECIAL; at++) {
        const double x = special[at / 4 / SPECIAL] * (at & 1 ? -1 : 1);
        const double y = special[at / 4 % SPECIAL] * (at & 2 ? -1 : 1);
        wrong[6] += !same64(bcg_copysign_f64(x, y), copysign(x, y));
        wrong[7] += !same64(bcg_fmod_f64(x, y), fmod(x, y));
        wrong[8] += !same32(bcg_fmod_f32((float)x, (float)y), fmodf((float)x, (float)y));
    }
    for (int at = 0; at < COUNT; at++) {
        const uint64_t one = next(), two = next(), near = (uint64_t)(1020 + at % 60) << 52;
        double x = bcg_from_bits_f64(one), y = bcg_from_bits_f64(two);
        if (at % 4 == 1) x = bcg_from_bits_f64((one & 0x800fffffffffffffu) | near);
        if (at % 4 == 2) x = (double)(int64_t)(one >> 40) * 0.5, y = (double)(two >> 50);
        if (at % 4 == 3) x = bcg_from_bits_f64(one & SMALL), y = bcg_from_bits_f64(two & SMALL);
        const double square = x * x, above = bcg_from_bits_f64(bcg_bits_f64(square) + 1);
        wrong[0] += !same64(bcg_floor_f64(x), floor(x));
        wrong[1] += !same64(bcg_ceil_f64(x), ceil(x));
        wrong[2] += !same64(bcg_trunc_f64(x), trunc(x));
        wrong[3] += !same64(bcg_rint_f64(x), rint(x));
        wrong[4] += !same64(bcg_sqrt_f64(fabs(x)), sqrt(fabs(x))) + !same64(bcg_sqrt_f64(above), sqrt(above));
        wrong[5] += !same64(bcg_fabs_f64(x), fabs(x));
        wrong[6] += !same64(bcg_copysign_f64(x, y), copysign(x, y));
        if (at % 8 > 3) wrong[7] += !same64(bcg_fmod_f64(x, y), fmod(x, y));
        wrong[8] += !same32(bcg_fmod_f32((float)x, (float)y), fmodf((float)x, (float)y));
    }
    for (int at = 0; at < 9; at++) printf("%ld ", wrong[at]);
    return 0;
}
"""


@pytest.mark.parametrize("name", [name for name in OURS if "freestanding" not in name])
def test_no_helper_calls_the_library(name):
    text = without_library(csrc_file(name).read_text(encoding="utf-8"))
    refuse_library(re.sub(r"(?m)^#include.*$", "", text))
    assert not re.search(r"\b(?:NAN|INFINITY)\b|\bmem\w+\(", re.sub(r"(?s)/\*.*?\*/", "", text))


@pytest.mark.parametrize("name", sorted(OPS))
def test_what_rows_call_is_a_helper(name):
    op = OPS[name]
    rare = {
        key: " ".join(excess.number for excess in excesses) for key, excesses in (op.forms.range_tests or {}).items()
    }
    for template in filter(None, (op.c, op.forms.fast, op.forms.common_case, op.forms.fast_common_case, rare)):
        texts = {"": template} if isinstance(template, str) else template if hasattr(template, "items") else {}
        for key, text in texts.items():
            for suffix, dtype in (("f", "f32"), ("", "f64")):
                if key in ("f32", "f64") and key != dtype:
                    continue
                spelled = without_library(text.replace("{f}", suffix).replace("{t}", dtype))
                refuse_library(spelled)
                assert {word[4:] for word in re.findall(r"\b(bcg_\w+)\(", spelled)} <= set(helper_names()) | {
                    word[4:] for word in re.findall(r"\b(bcg_\w+)\(", text)
                }


def test_definitions_stand_above_their_uses():
    text = helper_text("bcg_power_f64 bcg_power_f32 bcg_floor_divide_f64 bcg_truncate_i32_f64", spell=without_library)
    code = re.sub(r"(?s)/\*.*?\*/", "", text)
    for found in re.finditer(r"(?m)^static inline [\w ]+?[ *](bcg_\w+)\(", code):
        assert re.search(rf"\b{found[1]}\b", code).start() > found.start(), found[1]


def test_comments_stay():
    assert without_library("/* tan(pi / 8) */ sqrt(x)") == "/* tan(pi / 8) */ bcg_sqrt_f64(x)"


def test_files_include_no_library(tmp_path):
    kernel = bg.from_text("(f32[?] a, f64[?] b) -> where(isnan(a), floor(b), exp(a) % b)")
    for path in kernel.emit_c(tmp_path, "lone", freestanding=True):
        included = re.findall(r"#include <(\w+\.h)>", path.read_text())
        assert set(included) <= {"stdint.h", "stddef.h", "stdbool.h"}, path
    assert "needs no library" in (tmp_path / "lone.h").read_text().lower()


def test_users_c_takes_our_functions(tmp_path):
    op = bg.define_op("soft_twice", ("x",), c="asin{f}(x) + rint{f}(x) * INFINITY", dtypes="same float")
    bg.jit(lambda a: op(a), signature="(f64[?] a) -> f64[?]").emit_c(tmp_path, "ours", freestanding=True)
    assert "ours_arcsin_f64(a0) + ours_rint_f64(a0) * OURS_INFINITY" in (tmp_path / "ours.c").read_text()


def test_users_c_that_needs_the_library_is_refused(tmp_path):
    op = bg.define_op("gamma_of", ("x",), c="tgamma{f}(x)", dtypes="same float")
    kernel = bg.jit(lambda a: op(a), signature="(f32[?] a) -> f32[?]")
    with pytest.raises(BcastgenError, match="freestanding C has no tgammaf"):
        kernel.emit_c(tmp_path, "refused", freestanding=True)
    assert not list(tmp_path.iterdir())


FEW, MANY = ("-DSTEP=99991", "-DCOUNT=20000"), ("-DSTEP=97", "-DCOUNT=2000000")
INSTRUCTIONS = ("-msse4.1", "-fno-math-errno")


@pytest.mark.parametrize(
    "flags",
    [FEW, pytest.param(MANY, marks=pytest.mark.slow), pytest.param((*MANY, *INSTRUCTIONS), marks=pytest.mark.slow)],
    ids=["few", "own", "instructions"],
)
def test_values_are_the_librarys(tmp_path, flags):
    (tmp_path / "check.c").write_text(CHECK)
    command = [compiler("gcc"), *C_LANGUAGE, CHECKED, CONTRACT, *CSRC_FLAGS, *flags]
    subprocess.run([*command, "check.c", "-o", "check", *LIBRARIES], cwd=tmp_path, check=True)
    done = subprocess.run([tmp_path / "check"], check=True, capture_output=True, text=True)
    assert done.stdout.split() == ["0"] * 9


@pytest.fixture(scope="module")
def programs():
    every = rows()
    chosen = some(every, len(every) // 3)
    return ValueProgram(chosen), ValueProgram(chosen, CForm(freestanding=True))


def undefined(kind, directory, *flags):
    command = [compiler(kind), *RESULTS, *FREESTANDING_FLAGS, *flags, "-c", "m.c", "-o", "m.o"]
    subprocess.run(command, cwd=directory, check=True)
    listed = subprocess.run(["nm", "-u", "m.o"], cwd=directory, check=True, capture_output=True, text=True)
    return set(listed.stdout.split()) - {"U"}


@pytest.mark.slow
def test_every_op_calls_nothing_and_gives_the_same_values(programs, tmp_path):
    hosted, freestanding = programs
    expected = hosted.run([hosted.build(tmp_path / "hosted", [compiler("gcc"), QUICK, *RESULTS], *LIBRARIES)])
    freestanding.write(tmp_path)
    assert not undefined("gcc", tmp_path, "-O1")
    subprocess.run([compiler("gcc"), "m.o", "main.c", "-o", "program"], cwd=tmp_path, check=True)
    assert not differences(expected, freestanding.run([tmp_path / "program"]))
    # With any flags, and for a machine that has the instructions.
    assert not undefined("gcc", tmp_path, QUICK, "-fmath-errno")
    assert undefined("clang", tmp_path, QUICK, "-march=x86-64-v3", "-fmath-errno") <= {"memset"}
