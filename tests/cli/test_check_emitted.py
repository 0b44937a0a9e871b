"""`bcastgen emit --check`: every compiler there is, as C and as C++, and the program that checks the module."""

from __future__ import annotations

import os
import shutil

import pytest

import bcastgen as bg
from bcastgen.api.standalone_c import module_source
from bcastgen.cli.check_emitted import check_files
from bcastgen.cli.main import main
from bcastgen.core.c_flags import C_LANGUAGE, RESULT_FLAGS, WARNING_FLAGS
from bcastgen.core.errors import CompileError
from bcastgen.emit.standalone import CForm
from bcastgen.runtime import compilers

AXPB = "(f32[?,?] a, f32[?,?] b) -> a + b*2"


@pytest.fixture
def stand_in(tmp_path, monkeypatch):
    """Call ``stand_in(name, version, body)`` to put a compiler on the PATH, where nothing else is then but a shell."""
    place = tmp_path / "bin"
    place.mkdir()
    monkeypatch.setenv("PATH", str(place))
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)

    def made(name, version="", body="exit 0"):
        path = place / name
        say = f'if [ "$1" = --version ]; then echo "{version}"; exit 0; fi'
        path.write_text(f'#!/bin/sh\n{say}\necho "$@" >> {tmp_path / "calls"}\n{body}\n')
        path.chmod(0o755)
        return path

    return made


@pytest.fixture(scope="module")
def files():
    return module_source({"axpb": bg.from_text(AXPB)}, "axpb", CForm()).files


def test_every_warning_of_both_languages_is_asked_for(stand_in, files, tmp_path):
    stand_in("gcc", "gcc 12.2.0")
    stand_in("g++", "g++ 12.2.0")
    findings = list(check_files(files, CForm()))
    assert [(str(f.compiler), f.how, f.files, f.ok) for f in findings] == [
        ("gcc 12.2.0", "-std=c11", ("axpb.c",), True),
        ("gcc 12.2.0", "-std=c++17", ("axpb.c",), True),
    ]
    c, cxx = (tmp_path / "calls").read_text().splitlines()
    result = [flag.text for flag in RESULT_FLAGS]
    assert set(c.split()) >= {*WARNING_FLAGS, *C_LANGUAGE, *result, "-c", "axpb.c"}
    assert set(cxx.split()) >= {*WARNING_FLAGS, *result, "-std=c++17", "c++", "-c", "axpb.c"}


def test_forms_are_compiled_as_they_are_meant(stand_in, files, tmp_path):
    stand_in("gcc", "gcc 12.2.0")
    assert all(finding.ok for finding in check_files(files, CForm(freestanding=True, openmp=True)))
    plain, threaded = (tmp_path / "calls").read_text().splitlines()
    assert ("-ffreestanding" in plain, "-fopenmp" in plain) == (True, False)
    assert ("-ffreestanding" in threaded, "-fopenmp" in threaded) == (True, True)


def test_what_a_compiler_says_is_shown(stand_in, files):
    stand_in("gcc", "gcc 12.2.0", "echo 'axpb.c:1:1: error: no' >&2; exit 1")
    (finding,) = check_files(files, CForm())
    assert not finding.ok
    assert str(finding).splitlines() == [
        f"{'gcc 12.2.0':<14} {'-std=c11':<35} axpb.c       FAILED",
        "    the compiler failed with exit status 1",
        "    axpb.c:1:1: error: no",
    ]


def test_program_that_fails_is_a_failure(stand_in, tmp_path):
    files = module_source({"axpb": bg.from_text(AXPB)}, "axpb", CForm(main=True)).files
    # The "program" it links fails as soon as it is run.
    link = 'while [ $# -gt 0 ]; do if [ "$1" = -o ]; then printf "#!/bin/sh\\necho FAILED; exit 1\\n" > "$2"; '
    stand_in("gcc", "gcc 12.2.0", f'{link} {shutil.which("chmod", path="/usr/bin:/bin")} +x "$2"; fi; shift; done')
    *compiled, ran = check_files(files, CForm(main=True))
    assert [finding.files for finding in compiled] == [("axpb.c",), ("axpb_main.c",)]
    assert all(finding.ok for finding in compiled)
    assert (ran.how, ran.ok, ran.output) == ("run", False, "it failed with exit status 1\nFAILED\n")


def test_compilers_for_other_machines_are_left_out(stand_in, files):
    stand_in("gcc", "gcc 12.2.0")
    findings = check_files(files, CForm(target="wasm32"))
    assert str(next(findings)).endswith("left out: it does not compile for wasm32")
    with pytest.raises(CompileError, match="no compiler here compiles for wasm32; zig does"):
        next(findings)


def test_no_compiler_is_an_error(stand_in, files, capsys, tmp_path):
    with pytest.raises(CompileError, match="neither gcc, clang nor zig is on the PATH"):
        list(check_files(files, CForm()))
    assert main(["emit", AXPB, "-o", str(tmp_path / "out"), "--check"]) == 1
    assert "no C compiler" in capsys.readouterr().err


def test_command_reports_and_fails_if_anything_did(stand_in, capsys, tmp_path):
    stand_in("gcc", "gcc 12.2.0")
    command = ["emit", AXPB, "--name", "axpb", "-o", str(tmp_path / "out"), "--check"]
    assert main(command) == 0
    *paths, line = capsys.readouterr().out.splitlines()
    assert [os.path.basename(path) for path in paths] == ["axpb.c", "axpb.h", "bcastgen.h"]
    assert line.endswith("axpb.c       ok")
    stand_in("clang", "clang version 19.1.7", "exit 1")
    assert main(command) == 1
    assert "FAILED" in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.parametrize("options", [["--freestanding"], ["--helper-file", "--variants=0"]], ids=str)
def test_what_is_emitted_passes(options, capsys, tmp_path, monkeypatch):
    # zig compiles a C library for itself first, which takes minutes.
    monkeypatch.setattr(compilers, "_zig", lambda: ())
    expression = "(f32[?,?] a, f64[?] b, i16[*] c) -> exp(a) * b // c"
    out = str(tmp_path / "out")
    assert main(["emit", expression, "--name", "mixed", "-o", out, "--main", "--check", *options]) == 0, (
        capsys.readouterr().out
    )
    lines = capsys.readouterr().out.splitlines()
    assert any("run" in line and line.endswith("ok") for line in lines)
    assert sum("-std=c++17" in line for line in lines) >= 1
