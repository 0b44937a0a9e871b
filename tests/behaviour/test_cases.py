"""Golden cases: every stage of a program as text, and the C compiled with every warning an error."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from bcastgen.api.functions import from_text
from bcastgen.api.mlir_module import from_mlir
from bcastgen.pipeline.compilation import MLIR_FORMS

CASES = sorted((Path(__file__).parents[1] / "cases").glob("*.case"))
PROGRAMS = [path for path in CASES if path.read_text().startswith(("program ", "module "))]
STRICT = "-Wall -Wextra -Wconversion -Wshadow -Wcast-qual -pedantic -Werror -ffp-contract=off -c".split()


def sections(case: Path, directory: Path) -> str:
    """Every stage of a program, in the form the case files have; its first line says where it comes from."""
    name, first = case.stem, case.read_text().splitlines()[0]
    variants = 0 if name.endswith("_plain") else None
    kind, _, source = first.partition(" ")
    kernel = from_text(source, name, variants) if kind == "program" else from_mlir(case.parent / source)
    stages = {stage: text for stage, text in kernel.stages.items() if stage != "c"}
    if kind == "module":
        stages |= {form: kernel.to_mlir(form) for form in MLIR_FORMS if form != "shape"}
    for path in kernel.emit_c(directory, name, variants):
        stages[path.name] = path.read_text()
    shown = "\n".join(f"== {stage}\n{text.rstrip()}\n" for stage, text in stages.items())
    return f"{first}\n\n{shown}"


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
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
    "dialect", [("gcc", "-std=c11", "-Wstrict-prototypes"), ("g++", "-xc++", "-std=c++17")], ids="".join
)
def test_the_c_compiles_without_a_warning(path, dialect, tmp_path):
    file = written(path, tmp_path)
    compiler, *language = dialect
    if shutil.which(compiler) is None:
        pytest.fail(f"{compiler} is missing; install gcc and g++")
    done = subprocess.run(
        [compiler, *language, "-O2", *STRICT, file, "-o", tmp_path / "case.o"],
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
        [clang, "-std=c11", "-O2", *STRICT, file, "-o", tmp_path / "case.o"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_the_same_input_gives_the_same_bytes(tmp_path):
    texts = {
        tuple(p.read_bytes() for p in from_text("(f32[?,4] a) -> exp(a)").emit_c(tmp_path / str(at))) for at in range(2)
    }
    assert len(texts) == 1
