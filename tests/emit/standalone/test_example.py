"""The example call of a header compiles as it is there, runs, and comes to no error, in every form."""

from __future__ import annotations

import re
import subprocess

import pytest

import bcastgen as bg
from c_harness import has_32_bits
from compile_flags import CONTRACT, LANGUAGES, WARNED, WARNING_FLAGS

KERNELS = {
    "axpb": "(f32[?,?] a, f32[?,?] b) -> a + b*2",
    "ranks": "(f64[*] a, i8[*, 4] b) -> a - b",
    "facts": "(f32[n>=2, ?%4] a, f32[n, 1] b) -> exp(a) + b",
    "scalars": "(f16[] a, c64[3] b) -> a * b",
    "shapes": "(i32[?, 1] base, i32[?] exponent) -> base ** exponent",
    "total": "(f32[?,?] a, f32[?] b) -> sum(a*b, axis=1)",
    "clashes": "(f32[?] a, f32[?] a_data, f32[?] r_extents, f32[?] text, f32[?] status, f32[?] why, f32[?] bytes) -> "
    "a * a_data * r_extents * text * status * why * bytes",
    "spread": "(u8[n] a) -> broadcast_to(a, (k, n))",
}


def code_of(header):
    """The example in a header, without the comment's stars."""
    (found,) = re.findall(r"@code\{\.c\}\n(.*?)\n \* @endcode", header, re.DOTALL)
    return re.sub(r"^ \*", "", found, flags=re.MULTILINE)


def ran(paths, directory, language="c", flags=()):
    """Compile the example beside its module, strictly, and run it; returns what the message says."""
    name = paths[0].stem
    code = code_of(paths[1].read_text())
    text = re.search(r"char (text\w*)\[", code)
    says = f"puts({text[1]});" if text else ""
    status = "(int)status" if "status =" in code else "0"
    includes = f'#include <stdio.h>\n#include <stdlib.h>\n#include "{name}.h"\n'
    (directory / "example.c").write_text(f"{includes}\nint main(void)\n{{\n{code}\n{says}return {status};\n}}\n")
    command = ["gcc" if language == "c" else "g++", *LANGUAGES[language], WARNED, *WARNING_FLAGS, CONTRACT, *flags]
    sources = [directory / "example.c", paths[0]]
    subprocess.run([*command, *sources, "-lm", "-o", directory / "example"], check=True, cwd=paths[0].parent)
    return subprocess.run([directory / "example"], check=True, capture_output=True, text=True).stdout


@pytest.mark.parametrize("name", KERNELS)
def test_of_descriptors(name, tmp_path):
    assert ran(bg.from_text(KERNELS[name]).emit_c(tmp_path, name), tmp_path) == "no error\n"


@pytest.mark.parametrize(
    "form",
    [{"single_file": True}, {"unchecked": True}, {"freestanding": True}, {"variants": 0}, {"alignment": 32}],
    ids=str,
)
def test_of_other_forms(form, tmp_path):
    assert ran(bg.from_text(KERNELS["axpb"]).emit_c(tmp_path, "axpb", **form), tmp_path) == "no error\n"


def test_of_memory_of_the_caller(tmp_path):
    kernel = bg.jit(lambda x: x - x.mean(axis=0) - x.mean(axis=1, keepdims=True), signature="(f64[?,?] x)")
    paths = kernel.emit_c(tmp_path, "centred")
    assert "malloc(bytes)" in paths[1].read_text()
    assert ran(paths, tmp_path) == "no error\n"


@pytest.mark.parametrize(
    "text",
    [
        "(f32[2,3] a, f32[3] b) -> a + b",
        "(c128[2] a, bool[100,2] b) -> where(b, a, 1)",
        "(i32[4] a, i32[4] b) -> a ** b",
        "(f32[3] a, f32[100,100,3] b) -> a * b",
    ],
)
def test_of_known_extents(text, tmp_path):
    ran(bg.from_text(text).emit_c(tmp_path, "static_form", static=True), tmp_path)


def test_of_known_extents_with_memory_of_the_caller(tmp_path):
    kernel = bg.jit(lambda x: x - x.mean(axis=0) - x.mean(axis=1, keepdims=True), signature="(f64[4,5] x)")
    ran(kernel.emit_c(tmp_path, "centred", static=True), tmp_path)


@pytest.mark.parametrize("form", [{}, {"alignment": 64}, {"alignment": 64, "pointers": True}], ids=str)
def test_in_cxx(form, tmp_path):
    paths = bg.from_text("(f32[m,n] a, f32[n] b) -> a + b*2").emit_c(tmp_path, "flat", **form)
    ran(paths, tmp_path, "c++")


def test_where_a_stack_is_aligned_to_four_bytes(tmp_path):
    paths = bg.from_text("(c64[?,n] x, c128[n] y) -> x*y + x").emit_c(tmp_path, "wave")
    if not has_32_bits():
        pytest.skip("gcc has no C library of 32 bits")
    assert ran(paths, tmp_path, flags=("-m32", "-msse2", "-mfpmath=sse")) == "no error\n"


def test_of_pointers(tmp_path):
    kernel = bg.from_text("(f32[m,n] a, f32[n] b) -> a + b*2")
    ran(kernel.emit_c(tmp_path, "flat", pointers=True), tmp_path)
    ran(kernel.emit_c(tmp_path, "flat", pointers=True, alignment=16), tmp_path)
