"""Emitted C under every warning of clang less a short list, each with its reason, and under more of gcc's than users'.

An entry that no module needs any more has to go.
"""

from __future__ import annotations

import re
import subprocess

import pytest

from c_corpus import FORMS
from c_harness import compiler, emit_module
from compile_flags import CONTRACT, LANGUAGES, WARNED
from long_runs import many
from op_rows import golden_kernels, kernels_of_numbers

# What clang's -Weverything says of C that is right.
EVERYTHING_LESS = {
    "-Wunsafe-buffer-usage": "it is of C++ with bounds in types: each index of each pointer",
    "-Wdeclaration-after-statement": "C11 declares a variable where its value is known",
    "-Wused-but-marked-unused": "helpers of some machines only are called on these, and on others not",
    "-Wfloat-equal": "an operator == of users compares as it says; so do tests for 0 and infinities",
    "-Wbad-function-cast": "what a function returns is converted as a variable would be",
    "-Wpadded": "structs that callers fill in have fields of two sizes",
    "-Wcovered-switch-default": "callers pass any integer as a status, and -Wswitch-default asks for a default",
    "-Wswitch-enum": "a module that has its own copy knows its own statuses, and has a default for others",
    "-Wunreachable-code": "an op's C asks about a count that a user wrote as a number, as in x >> 100",
}
# What it says of a few random kernels only.
OF_FEW = {
    "-Wtautological-value-range-compare": "a value of two, such as a comparison's, is asked for its range",
    "-Wunused-macros": "without a library, on a machine with an instruction of its own for all that uses the macro",
}
# What gcc has beyond the flags that build files pass.
GCC = (
    *"-Wcast-align=strict -Wsign-conversion -Wfloat-conversion -Wswitch-default -Wundef -Wunused-macros".split(),
    *"-Wmissing-prototypes -Wredundant-decls -Wpointer-arith -Wwrite-strings -Wjump-misses-init".split(),
    *"-Wmissing-declarations -Wold-style-definition -Wnested-externs -Wvla -Walloca -Wnull-dereference".split(),
)


def said(directory, files, kind, flags):
    """The warnings of a compiler for each file, by flag: their lines."""
    directory.mkdir(exist_ok=True)
    for name, text in files.items():
        (directory / name).write_text(text)
    found = {}
    for name in files:
        if not name.endswith(".c"):
            continue
        command = [compiler(kind), *LANGUAGES["c"], WARNED, CONTRACT, *flags, "-c", name, "-o", "/dev/null"]
        done = subprocess.run(command, cwd=directory, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[:3000]
        for line in done.stderr.splitlines():
            flag = re.search(r"warning: .*\[(-W[^\]]*)\]$", line)
            if flag is not None:
                found.setdefault(flag[1], []).append(line)
    return found


def goldens():
    """The kernels of golden cases, each a module of its own."""
    files = {}
    for name, kernel, variants in golden_kernels():
        files |= emit_module([kernel], name, FORMS[0] if variants is None else FORMS[1])[0].files
    return files


def numbers():
    """The kernels of every op of integers with a number for one operand."""
    modules = enumerate(kernels_of_numbers())
    return {file: text for at, some in modules for file, text in emit_module(some, f"n{at}", FORMS[0])[0].files.items()}


def test_gcc_has_no_warning_of_the_golden_cases(tmp_path):
    found = said(tmp_path, goldens(), "gcc", ("-Wall", "-Wextra", "-Wconversion", *GCC))
    assert not found


@pytest.mark.slow
def test_gcc_has_no_warning_of_ops_of_a_number(tmp_path):
    assert not said(tmp_path, numbers(), "gcc", ("-Wall", "-Wextra", "-Wconversion", *GCC))


@pytest.mark.slow
def test_gcc_has_no_warning_of_random_kernels(corpus, tmp_path):
    for functions in (False, True):
        files = corpus(3100, many(100, 400), functions=functions, faults=None).files
        found = said(tmp_path / str(functions), files, "gcc", ("-Wall", "-Wextra", "-Wconversion", *GCC))
        assert not found


@pytest.mark.slow
def test_everything_that_clang_says_is_listed_and_happens(corpus, tmp_path):
    found = {}
    parts = {"goldens": goldens(), "numbers": numbers()}
    for functions in (False, True):
        made = corpus(3200 + functions, many(100, 400), functions=functions, faults=None)
        parts[f"functions_{functions}"] = made.files
    for name, files in parts.items():
        found |= said(tmp_path / name, files, "clang", ("-Weverything",))
    unlisted = {flag: lines[:3] for flag, lines in found.items() if flag not in EVERYTHING_LESS | OF_FEW}
    assert not unlisted
    assert set(EVERYTHING_LESS) <= found.keys()
