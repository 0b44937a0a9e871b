"""Emitted C beside what an engineer would write by hand: no longer, or three times as long as a single file, and the
same to every caller.

`tests/cases/<name>.hand.c` keeps the contract of the header of a golden case, its checks included. Both run the same
calls between guard pages: values, statuses and diagnostics agree.
"""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bcastgen.api.functions import from_text
from bcastgen.emit.standalone import CForm
from c_calls import bad_call, case_of, good_call
from c_harness import ADDRESS, Harness, emit_module
from c_programs import Subject, random_operand
from compile_flags import QUICK

CASES = Path(__file__).parents[2] / "cases"
BY_HAND = sorted(path.name.removesuffix(".hand.c") for path in CASES.glob("*.hand.c"))


def emitted_and_by_hand(name):
    """The kernel of a case, its C, and the same with what was written by hand in the place of the .c."""
    source = (CASES / f"{name}.case").read_text().splitlines()[0].removeprefix("program ")
    kernel = from_text(source, name, 0)
    (emitted,) = emit_module([kernel], name, CForm(0))
    text = (CASES / f"{name}.hand.c").read_text()
    return kernel, emitted, replace(emitted, files=emitted.files | {f"{name}.c": text})


def subjects(chance, kernel, samples):
    """Operands that fit, of shapes that meet in every way."""
    kinds = kernel.compilation.typed.operand_dtypes
    rank = len(kernel.signature.operands[0][1].dims)
    for _ in range(40):
        domain = [chance.choice((0, 1, 2, 3, 9)) for _ in range(rank)]
        shapes = [tuple(chance.choice((1, extent)) for extent in domain) for _ in kinds]
        operands = tuple(random_operand(chance, s, samples(kind)) for s, kind in zip(shapes, kinds, strict=True))
        yield Subject(kernel, operands, (np.broadcast_shapes(*shapes),))


def calls(name, kernel, emitted, samples):
    """Calls that fit and calls that do not."""
    chance = random.Random(name)
    for subject in subjects(chance, kernel, samples):
        yield good_call(chance, subject, emitted)[0]
        if name == "integer_power_plain":
            within = np.full_like(subject.operands[1], 3)
            yield case_of(emitted, (subject.operands[0], within, *subject.blanks(chance)))
        yield from (call[0] for call in (bad_call(chance, subject, emitted) for _ in range(8)) if call is not None)


@pytest.mark.parametrize("name", BY_HAND)
def test_emitted_c_is_no_longer(name):
    kernel, emitted, by_hand = emitted_and_by_hand(name)
    lines = by_hand.text.count("\n")
    assert emitted.text.count("\n") <= lines
    (alone,) = emit_module([kernel], name, CForm(0, single_file=True))
    assert alone.text.count("\n") <= 3 * lines


def test_a_checked_sum_of_products_is_read_at_a_sitting():
    _, emitted, _ = emitted_and_by_hand("axpb_plain")
    source, header = (emitted.files[f"axpb_plain{ending}"].count("\n") for ending in (".c", ".h"))
    assert source < 120 and source + header < 180


@pytest.mark.parametrize("name", BY_HAND)
def test_both_compile_without_a_warning(name, compile_strictly, tmp_path):
    _, emitted, by_hand = emitted_and_by_hand(name)
    for at, files in enumerate((emitted.files, by_hand.files)):
        compile_strictly(files, tmp_path / str(at))


@pytest.mark.parametrize("name", BY_HAND)
def test_both_do_the_same(name, samples, tmp_path):
    kernel, emitted, by_hand = emitted_and_by_hand(name)
    cases = list(calls(name, kernel, emitted, samples))
    outcomes = Harness([emitted], tmp_path / "emitted").build("gcc", (QUICK, *ADDRESS), guarded=True).run(*cases)
    others = [replace(case, kernel=by_hand) for case in cases]
    by_hands = Harness([by_hand], tmp_path / "hand").build("gcc", (QUICK, *ADDRESS), guarded=True).run(*others)
    assert {outcome.call.status for outcome in outcomes} >= {"OK", "RANK", "BROADCAST", "NULL_DATA", "OVERLAP"}
    for got, wanted in zip(outcomes, by_hands, strict=True):
        shown = f"{got.case.arrays}\n{got.call}\n{wanted.call}"
        assert (got.shape, got.extents, got.call) == (wanted.shape, wanted.extents, wanted.call), shown
        assert all(map(np.array_equal, got.buffers, wanted.buffers)), shown
