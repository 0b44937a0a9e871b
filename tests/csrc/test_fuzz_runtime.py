"""A sample of `tests/support/fuzz_runtime.py`, and a defect put into the run time, which it has to find."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import fuzz_runtime
from bcastgen.core.resources import folder
from compile_flags import QUICK
from long_runs import many

# A file of csrc/runtime, what it says, and what a careless hand makes of it.
DEFECTS = [
    ("run.c", "int32_t longest = 0;", "int32_t longest = 1;"),
    ("run_plan.inc", "if ((set & ~stationary) == 0 &&", "if ("),
    ("run_small.inc", "if (s->cut >= 0 && s->cut != cut) return 0;", ""),
    ("run_expand.inc", "if (dim < first && *step == 0) continue;", "if (*step == 0) continue;"),
]


@pytest.mark.slow
def test_calls_that_reach_new_code(tmp_path: Path) -> None:
    found = fuzz_runtime.play(fuzz_runtime.build(tmp_path, None, QUICK), many(6_000, 1_000_000), 5, tmp_path / "corpus")
    assert found.is_right and found.edges > 1_500, str(found)


@pytest.mark.slow
@pytest.mark.parametrize(("file", "right", "wrong"), DEFECTS)
def test_defects_are_found(file: str, right: str, wrong: str, tmp_path: Path) -> None:
    own = tmp_path / "runtime"
    shutil.copytree(folder("csrc") / "runtime", own)
    text = (own / file).read_text(encoding="utf-8")
    assert text.count(right) == 1
    (own / file).write_text(text.replace(right, wrong), encoding="utf-8")
    found = fuzz_runtime.play(fuzz_runtime.build(tmp_path, own, QUICK), 40_000, 5, tmp_path / "corpus")
    assert not found.is_right and found.status != 0
