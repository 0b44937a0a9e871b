"""A shared library of a module shows the functions of its header, and nothing else."""

from __future__ import annotations

import itertools
import re
import subprocess

import pytest

import bcastgen as bg
from bcastgen.core.c_flags import LIBRARIES
from c_harness import LANGUAGES, STRICT, compiler
from compile_flags import CONTRACT, QUICK, SHARED
from foreign import zig

KERNELS = {"sums": bg.from_text("(f32[?,?] a, f32[?] b) -> a + b"), "waves": bg.from_text("(f64[*] x) -> sin(x)")}
FIXED = {"f": bg.from_text("(f32[3] a) -> -a"), "g": bg.from_text("(i32[3] a, i32[3] b) -> a ** b")}
HIDDEN = "-fvisibility=hidden"


def shown(library):
    """The names that a shared library shows."""
    table = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout
    return {line.split()[-1] for line in table.splitlines()}


def built(directory, export):
    source, *_ = bg.emit_c(KERNELS, directory, "m", unchecked=True, export=export)
    library = directory / "m.so"
    subprocess.run(["gcc", QUICK, CONTRACT, *SHARED, HIDDEN, source, *LIBRARIES, "-o", library], check=True)
    return shown(library)


def test_a_library_shows_the_functions_of_the_header(tmp_path):
    assert built(tmp_path / "export", True) >= {
        f"m_{name}{what}" for name in KERNELS for what in ("", "_shape", "_unchecked", "_message")
    }
    assert not any(name.startswith("m_") for name in built(tmp_path / "hidden", False))


def test_every_function_of_a_header_is_marked(tmp_path):
    for at, (kernels, form) in enumerate(((KERNELS, {"single_file": True}), (FIXED, {"static": True}))):
        _, header, *_ = bg.emit_c(kernels, tmp_path / str(at), "m", export=True, **form)
        text = header.read_text()
        assert text.count("\nM_API ") == len(re.findall(r"\bm_\w+\(", re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)))


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "language"), tuple(itertools.product(("gcc", "clang"), ("c", "c++"))))
def test_no_compiler_warns(kind, language, tmp_path):
    for at, (kernels, form) in enumerate(((KERNELS, {}), (FIXED, {"static": True}))):
        source, *_ = bg.emit_c(kernels, tmp_path / str(at), "m", export=True, **form)
        command = [
            compiler(kind, language),
            *LANGUAGES[language],
            *STRICT,
            HIDDEN,
            "-c",
            source,
            "-o",
            tmp_path / "m.o",
        ]
        subprocess.run(command, check=True)


@pytest.mark.slow
def test_windows_exports_and_imports_them(tmp_path):
    """In assembly: linking a DLL would have zig build a C library first."""
    bg.emit_c(KERNELS, tmp_path, "m", export=True)
    (tmp_path / "main.c").write_text(
        '#include "m.h"\nint main(void) { return m_sums(NULL, NULL, NULL, NULL) == BCASTGEN_OK; }\n'
    )
    texts = []
    for define, source in (("M_EXPORTS", "m.c"), ("M_SHARED", "main.c")):
        command = [*zig("x86_64-windows-gnu"), "-Wall", "-O1", f"-D{define}", "-S", source, "-o", "out.s"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        texts.append((tmp_path / "out.s").read_text())
    assert {f"m_{name}{what}" for name in KERNELS for what in ("", "_shape", "_message")} == set(
        re.findall(r"-export:(\w+)", texts[0])
    )
    assert "__imp_m_sums" in texts[1]
