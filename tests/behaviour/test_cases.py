"""Golden cases: every stage of a program as text, and the C compiled with every warning an error."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from bcastgen.api.functions import from_text
from bcastgen.api.mlir_module import from_mlir
from bcastgen.core.c_flags import CHECKED
from bcastgen.loops.rewrites.pipeline import REWRITES
from bcastgen.pipeline.compilation import MLIR_FORMS
from compile_flags import LANGUAGES, STRICT

CASES = sorted((Path(__file__).parents[1] / "cases").glob("*.case"))
PROGRAMS = [path for path in CASES if path.read_text().startswith(("program ", "module "))]
KERNELS = [path for path in CASES if path.read_text().startswith("kernel ")]


def kernel_of(case):
    """The kernel of a case, by its first line, and how many variants it has."""
    variants = 0 if case.stem.endswith("_plain") else None
    kind, _, source = case.read_text().splitlines()[0].partition(" ")
    if kind == "module":
        return from_mlir(case.parent / source), variants
    return from_text(source, case.stem, variants), variants


def sections(case: Path, directory: Path) -> str:
    """Every stage of a program, in the form the case files have; its first line says where it comes from."""
    first, (kernel, variants) = case.read_text().splitlines()[0], kernel_of(case)
    kind, stages = first.partition(" ")[0], dict(kernel.stages)
    stages["c"] = without_helpers(kernel.source, kernel.compilation.source.name)
    if kind == "module":
        stages |= {form: kernel.to_mlir(form) for form in MLIR_FORMS if form != "shape"}
        versions = kernel.to_mlir("linalg", versions=2)
        stages |= {"linalg in 2 versions": versions} if versions != stages["linalg"] else {}
    if kind != "kernel":
        for path in kernel.emit_c(directory, case.stem, variants):
            # What all modules share is a golden file of its own.
            stages |= {path.name: path.read_text()} if path.stem == case.stem else {}
    shown = "\n".join(f"== {stage}\n{text.rstrip()}\n" for stage, text in stages.items())
    return f"{first}\n\n{shown}"


def without_helpers(c, name):
    """C of the JIT from its first own function on: helpers are those of csrc, and the comment repeats the stages."""
    first = re.search(rf"^static \w+ \*?{name}", c, re.MULTILINE)
    assert first is not None, c
    return f"...\n{c[first.start() :]}"


@pytest.mark.parametrize("path", [*PROGRAMS, *KERNELS], ids=lambda path: path.stem)
def test_every_stage_is_as_the_case_says(path, tmp_path):
    got = sections(path, tmp_path)
    if os.environ.get("BCASTGEN_UPDATE_CASES"):
        path.write_text(got)
    assert got == path.read_text()


def written(path, tmp_path):
    sections(path, tmp_path)
    return tmp_path / f"{path.stem}.c"


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
@pytest.mark.parametrize(
    "dialect", [("gcc", *LANGUAGES["c"]), ("g++", *LANGUAGES["c++"])], ids=lambda dialect: dialect[0]
)
def test_the_c_compiles_without_a_warning(path, dialect, tmp_path):
    file = written(path, tmp_path)
    compiler, *language = dialect
    if shutil.which(compiler) is None:
        pytest.fail(f"{compiler} is missing; install gcc and g++")
    done = subprocess.run(
        [compiler, *language, CHECKED, *STRICT, "-c", file, "-o", tmp_path / "case.o"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_clang_has_no_warning_either(path, tmp_path):
    clang = next((name for name in ("clang-19", "clang") if shutil.which(name)), None)
    assert clang is not None, "clang is missing; .ci/run installs clang-19"
    file = written(path, tmp_path)
    done = subprocess.run(
        [clang, *LANGUAGES["c"], CHECKED, *STRICT, "-c", file, "-o", tmp_path / "case.o"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", [one.name for one in REWRITES])
def test_a_case_shows_what_each_rewrite_does(name):
    assert any(f"\n== {name}\n" in path.read_text() for path in CASES)


@pytest.mark.parametrize(
    "decision",
    [
        "zero_",
        "stages: in calls",
        "byte words",
        "common case",
        "pairs:",
        "a loop for each function",
        "f16 of",
        "256 bits",
        "saved:",
        "share a pass",
        "without a loop",
        "a row reads",
    ],
)
def test_a_case_shows_each_decision_of_the_schedule(decision):
    assert any(decision in path.read_text().partition("\n== c\n")[0] for path in CASES)


def test_the_same_input_gives_the_same_bytes(tmp_path):
    texts = {
        tuple(p.read_bytes() for p in from_text("(f32[?,4] a) -> exp(a)").emit_c(tmp_path / str(at))) for at in range(2)
    }
    assert len(texts) == 1
