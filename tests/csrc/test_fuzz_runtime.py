"""A sample of `tests/support/fuzz_runtime.py`, and defects put into the run time, which it has to find."""

from __future__ import annotations

from pathlib import Path

import pytest

import fuzz_runtime
from fuzz_runtime import Defect
from long_runs import many

DEFECTS = [
    Defect("run.c", "int32_t longest = 0;", "int32_t longest = DEFECT;"),
    Defect("run_plan.inc", "if ((set & ~stationary) == 0 &&", "if ((DEFECT || (set & ~stationary) == 0) &&"),
    Defect("run_small.inc", "if (s->cut >= 0 && s->cut != cut)", "if (!DEFECT && s->cut >= 0 && s->cut != cut)"),
    Defect("run_expand.inc", "if (dim < first && *step == 0)", "if ((DEFECT || dim < first) && *step == 0)"),
]


@pytest.mark.slow
def test_calls_reach_new_code_and_find_defects(tmp_path: Path) -> None:
    # One program: compiling it takes most of the time.
    program = fuzz_runtime.build(tmp_path, DEFECTS)
    found = fuzz_runtime.play(program, many(6_000, 1_000_000), 5, tmp_path / "corpus")
    assert found.is_right and found.edges > 1_500, str(found)
    for number, defect in enumerate(DEFECTS, start=1):
        found = fuzz_runtime.play(program, 40_000, 5, tmp_path / f"corpus-{number}", number)
        assert not found.is_right and found.status != 0, f"not found: {defect}"
