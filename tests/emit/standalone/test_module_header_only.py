"""Modules that are one header: any number of them in one source, and one of them in any number of sources."""

from __future__ import annotations

import itertools
import platform
import re
import subprocess

import pytest

import bcastgen as bg
from bcastgen.cli.check_emitted import check_files
from bcastgen.emit.standalone import CForm
from c_harness import ADDRESS, LANGUAGES, STRICT, compiler

SCALED = bg.from_text("(f32[?,?] a, f32[?] b) -> a * b + 1")
TOTAL = bg.from_text("(f32[*] x) -> exp(x - x) + x")
ROW = bg.from_text("(f32[n] x) -> 2*x")
# Two sources, each of which includes all three; the headers' functions are private to each.
FIRST = """
#include "row.h"
#include "scaled.h"
#include "total.h"
#include "scaled.h"

bcastgen_status other(const bcastgen_array *x, const bcastgen_result *r);

int main(void)
{
    static const float image[2][3] = {{1, 2, 3}, {4, 5, 6}}, gain[3] = {10, 100, 1000};
    float made[2][3], twice[2][3];
    const int64_t extents[] = {2, 3}, three[] = {3};
    int64_t image_strides[2], gain_strides[1], made_strides[2], twice_strides[2];
    const bcastgen_array a = bcastgen_dense(image, extents, 2, image_strides, sizeof(float));
    const bcastgen_array b = bcastgen_dense(gain, three, 1, gain_strides, sizeof(float));
    const bcastgen_result r = bcastgen_dense_result(made, extents, 2, made_strides, sizeof(float));
    const bcastgen_result s = bcastgen_dense_result(twice, extents, 2, twice_strides, sizeof(float));
    const bcastgen_array x = bcastgen_operand(&r);
    if (scaled(&a, &b, &r, NULL) != BCASTGEN_OK || total(&x, &s, NULL) != BCASTGEN_OK) return 1;
    if (made[1][2] != 6001 || twice[1][2] != 6002) return 2;
    if (other(&x, &s) != BCASTGEN_OK || twice[0][0] != 12) return 3;
    row(gain, made[0], 3);
    return made[0][2] == 2000 ? 0 : 4;
}
"""
SECOND = """
#include "total.h"
#include "row.h"

bcastgen_status other(const bcastgen_array *x, const bcastgen_result *r);
bcastgen_status other(const bcastgen_array *x, const bcastgen_result *r)
{
    return total(x, r, NULL);
}
"""


def built(directory, kind, language, single=()):
    for name, kernel in (("scaled", SCALED), ("total", TOTAL)):
        files = kernel.emit_c(directory, name, header_only=True, single_file=name in single)
        assert not [path for path in files if path.suffix == ".c"]
    ROW.emit_c(directory, "row", header_only=True, pointers=True)
    (directory / "first.c").write_text(FIRST)
    (directory / "second.c").write_text(SECOND)
    command = [compiler(kind, language), *LANGUAGES[language], *STRICT, *ADDRESS, "first.c", "second.c", "-o", "main"]
    done = subprocess.run([*command, "-lm"], cwd=directory, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    subprocess.run([directory / "main"], check=True)


def test_several_headers_in_one_source_and_one_in_several(tmp_path):
    built(tmp_path, "gcc", "c", ("total",))


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "language"), tuple(itertools.product(("gcc", "clang"), ("c", "c++"))))
@pytest.mark.parametrize("single", [(), ("scaled", "total")], ids=["included", "copies"])
def test_headers_in_every_language(kind, language, single, tmp_path):
    built(tmp_path, kind, language, single)


def test_a_program_checks_a_header(tmp_path):
    SCALED.emit_c(tmp_path, "scaled", header_only=True, main=True)
    command = [compiler("gcc"), *LANGUAGES["c"], *STRICT, "scaled_main.c", "-lm", "-o", "main"]
    subprocess.run(command, cwd=tmp_path, check=True)
    subprocess.run([tmp_path / "main"], check=True, capture_output=True)


@pytest.mark.slow
def test_what_clang_is_told_ends_with_the_header(tmp_path):
    """The header's own products are rounded before they are added, those of the source are not."""
    if platform.machine() != "x86_64":
        pytest.skip("reads instructions of x86-64")
    SCALED.emit_c(tmp_path, "scaled", header_only=True)
    prototype = "bcastgen_status call(const bcastgen_array *a, const bcastgen_array *b, const bcastgen_result *r)"
    (tmp_path / "main.c").write_text(
        '#include "scaled.h"\nfloat own(float a, float b, float c);\n'
        f"float own(float a, float b, float c) {{ return a * b + c; }}\n{prototype};\n{prototype}\n"
        "{ return scaled(a, b, r, 0); }\n"
    )
    command = [compiler("clang"), "-std=c11", "-O2", "-mfma", "-ffp-contract=on", "-S", "main.c", "-o", "-"]
    text = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    own, call = (re.search(rf"^{name}:.*?^\.Lfunc_end", text, re.DOTALL | re.MULTILINE)[0] for name in ("own", "call"))
    assert "vfmadd" in own and "vfmadd" not in call and "mulps" in call


@pytest.mark.parametrize("level", ["-O1", "-O2", "-Os"])
def test_callers_get_no_warning_of_loops_in_the_header(level, tmp_path):
    """clang names the caller's line for a loop that becomes part of it."""
    bg.from_text("(f32[?] a) -> sin(a)").emit_c(tmp_path, "wave", header_only=True)
    prototype = "bcastgen_status call(const bcastgen_array *a, const bcastgen_result *r)"
    (tmp_path / "main.c").write_text(f'#include "wave.h"\n{prototype};\n{prototype}\n{{ return wave(a, r, 0); }}\n')
    for kind in ("gcc", "clang"):
        command = [compiler(kind), *LANGUAGES["c"], *STRICT, level, "-c", "main.c"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")


def test_the_check_compiles_what_includes_it(tmp_path):
    files = {path.name: path.read_text() for path in SCALED.emit_c(tmp_path, "scaled", header_only=True, main=True)}
    found = list(check_files(files, CForm(header_only=True)))
    assert all(one.ok for one in found)
    assert {one.files for one in found} == {("scaled_included.c",), ("scaled_main.c",)}
    assert any(one.how == "run" for one in found)
    files["scaled.h"] = files["scaled.h"].replace("#endif\n", "int unused(void) { return 1.5; }\n#endif\n", 1)
    assert not all(one.ok for one in check_files(files, CForm(header_only=True)))


@pytest.mark.parametrize("options", [{"export": True}, {"helper_file": True}, {"build": ("cmake",)}], ids=str)
def test_options_of_libraries_are_refused(options, tmp_path):
    with pytest.raises(bg.BcastgenError, match="header_only= has no library and no other header"):
        SCALED.emit_c(tmp_path, "scaled", header_only=True, **options)
