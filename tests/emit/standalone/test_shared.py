"""bcastgen.h: modules pass each other's arrays, whether they include the header or have a copy of it."""

from __future__ import annotations

import itertools
import re
import shutil
import subprocess
from pathlib import Path

import pytest

import bcastgen as bg
from bcastgen.core.errors import statuses
from bcastgen.emit.standalone.shared import shared_functions, shared_header, spelled
from c_harness import ADDRESS, LANGUAGES, STRICT, compiler, said_by_main
from foreign import zig

SCALED = bg.from_text("(f32[?,?] a, f32[?] b) -> a * b + 1")
TOTAL = bg.from_text("(f32[*] x) -> x + x")

# An operand of constants, a result of one module that is the other's operand, and what both say of a wrong one.
PROGRAM = """
#include <stdio.h>
%(includes)s

int main(void)
{
    static const float image[2][3] = {{1, 2, 3}, {4, 5, 6}}, gain[3] = {10, 100, 1000};
    float made[2][3], twice[2][3];
    const int64_t extents[] = {2, 3}, row[] = {3}, wrong[] = {4};
    int64_t image_strides[2], gain_strides[1], made_strides[2], twice_strides[2], found[BCASTGEN_MAX_RANK];
    const bcastgen_array a = bcastgen_dense(image, extents, 2, image_strides, sizeof(float));
    bcastgen_array b = bcastgen_dense(gain, row, 1, gain_strides, sizeof(float));
    const bcastgen_result r = bcastgen_dense_result(made, extents, 2, made_strides, sizeof(float));
    const bcastgen_result s = bcastgen_dense_result(twice, extents, 2, twice_strides, sizeof(float));
    const bcastgen_array x = bcastgen_operand(&r), y = bcastgen_operand(&s);
    bcastgen_diagnostic why;
    int32_t rank = 0;
    char text[120];
    bcastgen_status status = scaled(&a, &b, &r, &why);
    if (status == BCASTGEN_OK) status = total(&x, &s, &why);
    if (status != BCASTGEN_OK) return 1;
    if (total_shape(&y, &rank, found, NULL) != BCASTGEN_OK || rank != 2 || found[0] != 2 || found[1] != 3) return 2;
    printf("%%g %%g\\n", (double)twice[0][0], (double)twice[1][2]);
    b.extents = wrong;
    status = scaled(&a, &b, &r, &why);
    (void)scaled_message(status, &why, text, sizeof text);
    printf("%%d %%s\\n", (int)status, text);
    (void)total_message(status, &why, text, sizeof text);
    printf("%%s\\n", text);
    return 0;
}
"""
SAID = """\
22 12002
3 operand 'b' dim 0 has extent 4, expected 1 or 3 (from 'a')
operand 'r' dim 0 has extent 4, expected 1 or 3 (from 'x')
"""


def built(directory, kind, language, order, single):
    """Run a program of two modules, and return what it prints."""
    sources = [
        kernel.emit_c(directory, name, single_file=name in single)[0].name
        for name, kernel in (("scaled", SCALED), ("total", TOTAL))
    ]
    includes = "".join(f'#include "{name}.h"\n' for name in order)
    (directory / "main.c").write_text(PROGRAM % {"includes": includes})
    return said_by_main(directory, kind, language, *sources)


def test_two_modules_take_each_other_s_arrays(tmp_path):
    assert built(tmp_path, "gcc", "c", ("scaled", "total"), ("total",)) == SAID


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "language"), tuple(itertools.product(("gcc", "clang"), ("c", "c++"))))
@pytest.mark.parametrize("single", [(), ("scaled",), ("scaled", "total")], ids=["included", "one copy", "two copies"])
def test_two_modules_agree_in_any_order_and_language(kind, language, single, tmp_path):
    for at, order in enumerate((("scaled", "total"), ("total", "scaled"))):
        assert built(tmp_path / str(at), kind, language, order, single) == SAID


def test_a_header_of_an_older_version_is_refused(tmp_path):
    source, _, shared = SCALED.emit_c(tmp_path, "scaled")
    older = re.sub(r"(?m)^#define BCASTGEN_H \d+$", "#define BCASTGEN_H 0", shared.read_text())
    shared.write_text(older)
    done = subprocess.run(["gcc", "-c", source, "-o", "/dev/null"], capture_output=True, text=True, check=False)
    assert done.returncode != 0 and "emit all modules of a program with one version of bcastgen" in done.stderr


def test_a_copy_is_the_headers_own_text(tmp_path):
    files = SCALED.emit_c(tmp_path, "scaled", single_file=True)
    assert [path.name for path in files] == ["scaled.c", "scaled.h"]
    source, header = (path.read_text() for path in files)
    first = shared_header().partition("#ifndef BCASTGEN_H")[2].partition("#if defined(BCASTGEN_CHECKS)")[0].strip()
    assert first in header and "bcastgen.h" not in source
    assert "static bcastgen_status scaled_fail(" in source and "bcastgen_fail" not in source


def test_what_is_shared_is_all_there():
    text = shared_header()
    assert all(f"BCASTGEN_{name} = {value}" in text for value, (name, _) in statuses().items())
    for name in shared_functions():
        assert f"{spelled(name, 'bcastgen', 'BCASTGEN')}(" in text, name
    assert "bcg_" not in text.lower()


def test_names_of_users_are_none_of_the_header_s(tmp_path):
    kernel = bg.from_text("(f32[?] bcastgen_array, f32[?] BCASTGEN_OK) -> bcastgen_array + BCASTGEN_OK", "bcastgen")
    source, header, *_ = kernel.emit_c(tmp_path)
    assert [source.name, header.name] == ["v_bcastgen.c", "v_bcastgen.h"]
    command = ["gcc", *LANGUAGES["c"], *STRICT, "-fsyntax-only", source]
    subprocess.run(command, check=True)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("*(float *)x.data = 1;", "cast"),
        ("total(&x, &x, 0);", "bcastgen_result"),
        ("total(&r, &r, 0);", "bcastgen_array"),
    ],
    ids=["written to", "as a result", "as an operand"],
)
@pytest.mark.parametrize("language", ["c", "c++"])
def test_what_is_const_stays_const(wrong, said, language, tmp_path):
    """An operand of `const` data needs no cast, and neither of the two types passes for the other."""
    TOTAL.emit_c(tmp_path, "total")
    program = (
        "void test(const float *data, float *made, const int64_t *extents, const int64_t *strides)\n"
        "{\n    const bcastgen_array x = {data, extents, strides, 1};\n"
        "    const bcastgen_result r = {made, extents, strides, 1};\n    (void)total(&x, &r, 0);\n    %s\n}\n"
    )
    for statement in ("", wrong):
        (tmp_path / "main.c").write_text(
            '#include "total.h"\nvoid test(const float *, float *, const int64_t *, const int64_t *);\n'
            + program % statement
        )
        command = [compiler("gcc", language), *LANGUAGES[language], *STRICT, "-fsyntax-only", tmp_path / "main.c"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert (done.returncode == 0) == (not statement), done.stderr
        assert said in done.stderr or not statement


PARTS = """
#include <string.h>
#include "sum.h"

enum { ROWS = 7, COLUMNS = 3 };

int main(void)
{
    static const float line[1][COLUMNS] = {{5, 6, 7}}, gain[COLUMNS] = {2, 3, 4};
    static float image[ROWS][COLUMNS];
    static float whole[ROWS][COLUMNS], made[ROWS][COLUMNS];
    const int64_t extents[] = {ROWS, COLUMNS}, one[] = {1, COLUMNS}, row[] = {COLUMNS};
    int64_t strides[2], gain_strides[1], cut[4][2];
    for (int at = 0; at < ROWS * COLUMNS; at++) image[at / COLUMNS][at % COLUMNS] = (float)at;
    const bcastgen_array a = bcastgen_dense(image, extents, 2, strides, sizeof(float));
    const bcastgen_array b = bcastgen_dense(line, one, 2, strides, sizeof(float));
    const bcastgen_array c = bcastgen_dense(gain, row, 1, gain_strides, sizeof(float));
    const bcastgen_result all = bcastgen_dense_result(whole, extents, 2, strides, sizeof(float));
    const bcastgen_result r = bcastgen_dense_result(made, extents, 2, strides, sizeof(float));
    if (sum(&a, &b, &c, &all, NULL) != BCASTGEN_OK) return 1;
    for (int64_t first = 0; first < ROWS; first += 3) {
        const int64_t end = first + 3 < ROWS ? first + 3 : ROWS;
        const bcastgen_array of_a = bcastgen_part(&a, 2, first, end, cut[0]);
        const bcastgen_array of_b = bcastgen_part(&b, 2, first, end, cut[1]);
        const bcastgen_array of_c = bcastgen_part(&c, 2, first, end, cut[2]);
        const bcastgen_result of_r = bcastgen_result_part(&r, 2, first, end, cut[3]);
        if (sum(&of_a, &of_b, &of_c, &of_r, NULL) != BCASTGEN_OK) return 2;
        sum_unchecked(&of_a, &of_b, &of_c, &of_r);
    }
    return memcmp(made, whole, sizeof made) == 0 && whole[6][2] != 0 ? 0 : 3;
}
"""


def test_rows_are_computed_part_by_part(tmp_path):
    """Of an operand of all rows, one whose row stretches, and one without rows; the last part is shorter."""
    kernel = bg.from_text("(f32[?,?] a, f32[?,?] b, f32[?] c) -> a + b * c")
    source, *_ = kernel.emit_c(tmp_path, "sum", unchecked=True)
    (tmp_path / "main.c").write_text(PARTS)
    command = [
        compiler("gcc"),
        *LANGUAGES["c"],
        *STRICT,
        *ADDRESS,
        tmp_path / "main.c",
        source,
        "-o",
        tmp_path / "main",
    ]
    subprocess.run(command, check=True)
    subprocess.run([tmp_path / "main"], check=True)


# The types and functions stand on the page, as users copy them.
RUST_MAIN = """
fn main() {
    let (image, gain) = ([1f32, 2., 3., 4., 5., 6.], [10f32, 100., 1000.]);
    let (mut made, mut twice) = ([0f32; 6], [0f32; 6]);
    let (extents, strides) = ([2i64, 3], [12i64, 4]);
    let (e, s) = (extents.as_ptr(), strides.as_ptr());
    let matrix = |data: *const f32| Operand { data, extents: e, byte_strides: s, rank: 2 };
    let a = matrix(image.as_ptr());
    let b = Operand { data: gain.as_ptr(), extents: &extents[1], byte_strides: &strides[1], rank: 1 };
    let result = |data: *mut f32| Output { data, extents: e, byte_strides: s, rank: 2 };
    let (r, s) = (result(made.as_mut_ptr()), result(twice.as_mut_ptr()));
    let wrong = Operand { data: gain.as_ptr(), extents: &extents[0], byte_strides: &strides[1], rank: 1 };
    unsafe {
        assert_eq!(scaled(&a, &b, &r, null_mut()), 0);
        assert_eq!(total(&matrix(r.data), &s, null_mut()), 0);
        println!("{} {} {}", *s.data, *s.data.add(5), scaled(&a, &wrong, &r, null_mut()));
    }
}
"""


def on_the_page(language):
    """The block of a language on the page about standalone C."""
    text = (Path(__file__).resolve().parents[3] / "docs" / "standalone.md").read_text()
    (block,) = re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return block


@pytest.mark.slow
def test_a_program_in_rust_uses_two_modules(tmp_path):
    if shutil.which("rustc") is None:
        pytest.skip("there is no rustc on the PATH (apt install rustc)")
    objects = []
    for name, kernel in (("scaled", SCALED), ("total", TOTAL)):
        source, *_ = kernel.emit_c(tmp_path, name)
        objects.append(source.with_suffix(".o"))
        subprocess.run(["gcc", *LANGUAGES["c"], *STRICT, "-O1", "-fPIC", "-c", source, "-o", objects[-1]], check=True)
    (tmp_path / "main.rs").write_text(f"use std::ptr::null_mut;\n{on_the_page('rust')}{RUST_MAIN}")
    linked = (word for path in objects for word in ("-C", f"link-arg={path}"))
    command = ["rustc", "--edition", "2021", "main.rs", *linked, "-o", "main"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    said = subprocess.run([tmp_path / "main"], capture_output=True, text=True, check=True).stdout
    assert said == "22 12002 3\n"


ZIG = """
const c = @import("modules.zig");

pub fn main() !void {
    const image = [_]f32{ 1, 2, 3, 4, 5, 6 };
    const gain = [_]f32{ 10, 100, 1000 };
    var made: [6]f32 = undefined;
    var twice: [6]f32 = undefined;
    const extents = [_]i64{ 2, 3 };
    var strides: [4][2]i64 = undefined;
    const a = c.bcastgen_dense(&image, &extents, 2, &strides[0], @sizeOf(f32));
    const b = c.bcastgen_dense(&gain, &extents[1], 1, &strides[1], @sizeOf(f32));
    const wrong = c.bcastgen_dense(&gain, &extents[0], 1, &strides[1], @sizeOf(f32));
    const r = c.bcastgen_dense_result(&made, &extents, 2, &strides[2], @sizeOf(f32));
    const s = c.bcastgen_dense_result(&twice, &extents, 2, &strides[3], @sizeOf(f32));
    const x = c.bcastgen_operand(&r);
    if (c.scaled(&a, &b, &r, null) != c.BCASTGEN_OK) return error.Scaled;
    if (c.total(&x, &s, null) != c.BCASTGEN_OK) return error.Total;
    if (twice[0] != 22 or twice[5] != 12002) return error.Values;
    var why: c.bcastgen_diagnostic = undefined;
    if (c.scaled(&a, &wrong, &r, &why) != c.BCASTGEN_BROADCAST) return error.Accepted;
    if (why.operand != c.SCALED_B or why.dim != 0) return error.Place;
}
"""


@pytest.mark.slow
def test_a_program_in_zig_uses_two_modules(tmp_path):
    """Zig translates the headers whole, their inline functions and constants among them."""
    command = zig()[:3]
    for name, kernel in (("scaled", SCALED), ("total", TOTAL)):
        kernel.emit_c(tmp_path, name)
    (tmp_path / "modules.h").write_text('#include "scaled.h"\n#include "total.h"\n')
    translated = subprocess.run(
        [*command, "translate-c", "-lc", "-I.", "modules.h"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    (tmp_path / "modules.zig").write_text(translated.stdout)
    (tmp_path / "main.zig").write_text(ZIG)
    built = [*command, "build-exe", "main.zig", "scaled.c", "total.c", "-I.", "-lc"]
    done = subprocess.run(built, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    subprocess.run([tmp_path / "main"], check=True)
