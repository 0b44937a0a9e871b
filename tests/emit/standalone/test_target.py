"""Targets: what they are called, what they say to whom, and that compilers take the hints."""

from __future__ import annotations

import re
import subprocess

import pytest

import bcastgen as bg
from bcastgen.core.c_flags import WARNING_FLAGS
from bcastgen.core.errors import BcastgenError
from bcastgen.emit.standalone.target import TARGETS, find_target
from c_harness import compiler
from compile_flags import LANGUAGES, USERS


def emitted(directory, text, **form):
    for path in bg.from_text(text).emit_c(directory, "wide", **form):
        yield path.read_text()


def test_a_target_that_there_is_not(tmp_path):
    with pytest.raises(BcastgenError, match="no target 'pdp11'; there are x86-64, "):
        bg.from_text("(f32[?] a) -> -a").emit_c(tmp_path, target="pdp11")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("kind", "bytes"), [("f32", 4), ("f64", 8), ("u8", 1), ("f16", 4)])
def test_a_loop_says_how_many_of_its_widest_values_a_vector_has(tmp_path, kind, bytes):
    source, header, *_ = emitted(tmp_path, f"({kind}[?] a, {kind}[?] b) -> a + b", target="x86-64-v3")
    lanes = re.findall(r"WIDE_VECTORS\((\d+)\)\n", source)
    assert len(lanes) > 1 and set(lanes) == {str(32 // bytes)}
    assert "Meant for x86-64-v3 (AVX2): vectors of 32 bytes" in re.sub(r"\n \* +", " ", header)


def test_a_compiler_takes_the_hints(tmp_path, compile_strictly):
    files = bg.from_text("(f32[?] a, f32[?] b) -> a + b").emit_c(tmp_path, "wide", target="x86-64-v3")
    texts = {path.name: path.read_text() for path in files}
    assert "WIDE_VECTORS(8)\n" in texts["wide.c"]
    compile_strictly(texts, tmp_path / "again")


def test_static_loops_have_the_hint(tmp_path):
    source, _ = emitted(tmp_path, "(f64[64,40] a, f64[40] b) -> a + b", target="x86-64-v4", static=True)
    assert "    WIDE_VECTORS(8)\n        for (ptrdiff_t i1" in source


def test_strided_loops_have_no_hint(tmp_path):
    source, *_ = emitted(tmp_path, "(f32[?] a, f32[?] b) -> a + b", target="x86-64-v4")
    strided = source.partition("static void wide_any(")[2]
    assert strided.index("WIDE_INDEPENDENT") < strided.index("}")
    assert "VECTORS(" not in strided


def test_the_plain_nest_has_no_words_that_it_does_not_use(tmp_path):
    for text in emitted(tmp_path, "(f32[?] a, f32[?] b) -> a + b", target="aarch64", variants=0):
        assert "VECTORS" not in text and "INDEPENDENT" not in text


def test_rows_are_whole():
    assert all(find_target(name) is row and row.flags and row.zig for name, row in TARGETS.items())
    assert all(row.vector_bytes in (16, 32, 64) for row in TARGETS.values())


@pytest.mark.slow
@pytest.mark.parametrize(("name", "register"), [("x86-64", "xmm"), ("x86-64-v3", "ymm"), ("x86-64-v4", "zmm")])
@pytest.mark.parametrize("kind", ["gcc", "clang"])
def test_loops_take_vectors_of_the_target(tmp_path, name, register, kind):
    for _ in emitted(tmp_path, "(f32[?] a, f32[?] b) -> exp(a) * b", target=name):
        pass
    flags = (*LANGUAGES["c"], *USERS, *WARNING_FLAGS, *find_target(name).flags)
    subprocess.run([compiler(kind), *flags, "-S", "wide.c"], cwd=tmp_path, check=True)
    text = (tmp_path / "wide.s").read_text()
    assert len(re.findall(rf"v?mulps\s.*%{register}\d", text)) > 4
