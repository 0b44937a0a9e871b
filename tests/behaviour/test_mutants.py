"""Changes of one place that tests did not notice once: the tests beside each do now. And what the command changes.

`tests/support/mutants.py` makes such changes by the hundred; docs/reliability.md has its score.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from long_runs import some
from mutant_sandbox import Sandbox
from mutants import Mutant, beside, files, is_read, mutants
from sources import ROOT, of_the_sources

pytestmark = of_the_sources

LAYOUTS = "tests/behaviour/test_layouts.py"
TURNED = "test_a_transposed_operand_is_read_before_it_is_written_also_where_dims_have_two_elements"
FAR = "test_large_results_that_are_not_adjacent_leave_what_lies_between"
SCALAR = "test_a_scalar_needs_no_expansion_of_its_rank"

# A file, what it says, the change, and the tests that notice it. Each gave wrong numbers or refusals.
NOTICED = [
    ("bcastgen/ops/ranges.py", "return -most, most", "return x[0], most", "tests/ops/test_ranges.py"),
    ("bcastgen/ops/ranges.py", "for value in (*x, *y))", "for value in (x[1], y[1]))", "tests/ops/test_ranges.py"),
    (
        "bcastgen/loops/analysis/demanded_bits.py",
        "min(every, count + shift)",
        "min(every, count)",
        "tests/loops/analysis/test_demanded_bits.py",
    ),
    (
        "csrc/runtime/run_plan.inc",
        "        if (s->j_step != s->bytes) return 0;\n",
        "",
        f"{LAYOUTS}::{FAR}",
    ),
    ("csrc/helpers/bcg_half.h", "(x & 0x7ff) != 0 ?", "(x & 0x3ff) != 0 ?", "tests/ops/test_casts.py"),
    ("bcastgen/runtime/outs.py", "strict=True) if extent > 1)", "strict=True) if extent > 2)", f"{LAYOUTS}::{TURNED}"),
    ("bcastgen/emit/kernel/print_guards.py", "{rank} != 0 && {rank} != rank", "{rank} != rank", f"{LAYOUTS}::{SCALAR}"),
    (
        "bcastgen/shape/dialect/fold.py",
        "return not (isinstance(verdict, Witness) and verdict.passing)",
        "return False",
        "tests/shape/dialect/test_fold.py",
    ),
    (
        "bcastgen/shape/types/extent_ops.py",
        "dividend.high < divisor.low else",
        "dividend.high <= divisor.low else",
        "tests/shape/types/test_extent_ops.py",
    ),
    (
        "bcastgen/mlir/tosa/elements.py",
        " and first.bits < 32:\n        expected",
        ":\n        expected",
        "tests/mlir/tosa",
    ),
]


@pytest.fixture(scope="module")
def sandbox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandbox]:
    with Sandbox(tmp_path_factory.mktemp("mutants")) as made:
        yield made


def mutant(path: str, right: str, wrong: str) -> Mutant:
    text = (ROOT / path).read_text(encoding="utf-8")
    assert text.count(right) == 1, f"{path} does not have {right!r} once; write what stands there now"
    return Mutant(path, text.index(right), right, wrong, text.count("\n", 0, text.index(right)) + 1)


def test_they_are_changes_of_what_is_there() -> None:
    for path, right, wrong, tests in NOTICED:
        assert right != wrong and (ROOT / tests.partition("::")[0]).exists() and mutant(path, right, wrong)


@pytest.mark.slow
@pytest.mark.parametrize(("path", "right", "wrong", "tests"), some(NOTICED, 2), ids=lambda value: value[:60])
def test_a_change_is_noticed(path: str, right: str, wrong: str, tests: str, sandbox: Sandbox) -> None:
    assert not sandbox.run([tests])["failed"]
    assert sandbox.first_failure(mutant(path, right, wrong), [tests]).startswith(tests.partition("[")[0])


def test_changes_are_of_code_alone() -> None:
    text = 'import os  # 1 < 2\n\n\ndef f(x: int = 1) -> int:\n    """A < B."""\n    return x if x < 2 else 0\n'
    made = [one for one in mutants("bcastgen/f.py", text) if is_read(one.path, one.applied(text))]
    found = [(one.right, one.wrong, one.line) for one in made]
    assert found == [("<", "<=", 6), ("2", "1", 6), ("0", "1", 6)]
    c = "#include <x.h>\n/* a < b */ static int f(int a) { return a < 2 && g(\"a < b\", '<') > 0; } // 1\n"
    found = [(one.right, one.wrong, one.line) for one in mutants("csrc/f.c", c)]
    assert found == [("<", "<=", 2), ("2", "1", 2), ("&&", "||", 2), (">", ">=", 2), ("0", "1", 2)]
    [one] = [one for one in mutants("csrc/f.c", c) if one.right == "&&"]
    assert "a < 2 || g(" in one.applied(c)


def test_every_file_has_tests() -> None:
    found = files()
    assert len(found) > 400 and {Path(path).suffix for path in found} == {".py", ".c", ".h", ".inc", ".j2"}
    for path in found:
        groups = beside(path)
        assert len(groups) >= 1
        assert all((ROOT / tests.partition("::")[0]).exists() for group in groups for tests in group), path
