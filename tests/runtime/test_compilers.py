"""Every C compiler on the PATH: each once, with its version, and its C++ if that is there."""

from __future__ import annotations

import os
import sys

import pytest

from bcastgen.runtime import compilers


@pytest.fixture
def program(tmp_path, monkeypatch):
    """Call ``program(name, output)`` to put a program on the PATH, where nothing else is then."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)

    def made(name, output):
        path = tmp_path / name
        path.write_text(f"#!/bin/sh\necho '{output}'\n")
        path.chmod(0o755)
        return path

    return made


def test_each_is_found_once_however_many_names_it_has(program, tmp_path):
    program("gcc-12", "gcc-12 (Debian 12.2.0-14+deb12u1) 12.2.0")
    program("g++-12", "g++-12 (Debian 12.2.0-14+deb12u1) 12.2.0")
    program("clang", "Debian clang version 19.1.7 (3)")
    program("gcc-nm", "GNU nm (GNU Binutils for Debian) 2.40")
    program("x86_64-linux-gnu-gcc", "gcc 12.2.0")
    (tmp_path / "gcc").symlink_to("gcc-12")
    found = {str(compiler): compiler for compiler in compilers.compilers()}
    assert sorted(found) == ["clang 19.1.7", "gcc 12.2.0"]
    assert (found["clang 19.1.7"].kind, found["clang 19.1.7"].cxx) == ("clang", None)
    assert os.path.basename(found["gcc 12.2.0"].cxx[0]) == "g++-12"


def test_what_tells_no_version_is_found_all_the_same(program):
    program("gcc", "no numbers here")
    (compiler,) = compilers.compilers()
    assert str(compiler) == "gcc of unknown version"


def test_zig_may_be_a_program_or_a_package(program, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: name == "ziglang" or None)
    monkeypatch.setattr(compilers, "run", lambda command, directory: ("", "0.15.1\n"))
    (zig,) = compilers.compilers()
    assert (str(zig), zig.c, zig.cxx[-1]) == ("zig 0.15.1", (sys.executable, "-m", "ziglang", "cc"), "c++")
    path = program("zig", "0.14.0")
    (zig,) = compilers.compilers()
    assert zig.c == (str(path), "cc")


def test_there_may_be_none(program):
    program("unused", "").unlink()
    assert compilers.compilers() == ()
