"""Emitted C beside what an engineer would write by hand: at most twice as long, on a microcontroller at most half as
large again, and the same to every caller.

`tests/cases/<name>.hand.c` keeps the contract of the header of a golden case, its checks included, which `by_hand.h`
has for all of them. Both run the same calls between guard pages: values, statuses and diagnostics agree.
"""

from __future__ import annotations

import random
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bcastgen.api.functions import from_text
from bcastgen.emit.standalone import CForm
from c_calls import bad_call, case_of, good_call
from c_harness import ADDRESS, Case, Harness, emit_module
from c_programs import Subject, random_operand
from compile_flags import CONTRACT, LANGUAGES, QUICK

CASES = Path(__file__).parents[2] / "cases"
BY_HAND = sorted(path.name.removesuffix(".hand.c") for path in CASES.glob("*.hand.c"))
MICROCONTROLLER = ("-mcpu=cortex-m4", "-mthumb", "-Os", CONTRACT)


def emitted_and_by_hand(name):
    """The kernel of a case, its C, and the same with what was written by hand in the place of the .c."""
    source = (CASES / f"{name}.case").read_text().splitlines()[0].removeprefix("program ")
    kernel = from_text(source, name, 0)
    (emitted,) = emit_module([kernel], name, CForm(0))
    texts = {f"{name}.c": (CASES / f"{name}.hand.c").read_text(), "by_hand.h": (CASES / "by_hand.h").read_text()}
    return kernel, emitted, replace(emitted, files=emitted.files | texts)


def shapes(chance, name, rank, count):
    """The shapes of operands that fit: those that types tie have one extent, others meet in every way."""
    n, m, k = (chance.choice((0, 1, 2, 3, 9)) for _ in range(3))
    match name:
        case "transposed_plain":
            return (chance.choice((1, n)), m), (m, chance.choice((1, n)))
        case "extent_of_the_caller_plain":
            return (n,), (k,)
        case "softsign_3d_plain":
            return (n, chance.choice((1, m)), k), (1, chance.choice((1, m)), 1)
        case "bias_relu":
            return (n, m), (m,)
        case "normalise":
            return (n, m), (n, 1)
        case "unswitched_mask":
            return (chance.choice((1, n)), 1), *((chance.choice((1, n)), chance.choice((1, m))) for _ in range(2))
        case "channels_plain":
            return (n, 3), (3,), (3,)
    return tuple(tuple(chance.choice((1, extent)) for extent in (n, m, k)[:rank]) for _ in range(count))


def subjects(chance, name, kernel, samples):
    """Operands that fit."""
    kinds = kernel.compilation.typed.operand_dtypes
    rank = len(kernel.signature.operands[0][1].dims)
    for _ in range(40):
        made = shapes(chance, name, rank, len(kinds))
        operands = tuple(random_operand(chance, s, samples(kind)) for s, kind in zip(made, kinds, strict=True))
        yield Subject(kernel, operands, (kernel.result_shape(*made),))


def calls(name, kernel, emitted, samples):
    """Calls that fit and calls that do not."""
    chance = random.Random(name)
    if name == "extent_of_the_caller_plain":
        yield from calls_with_an_extent(chance, emitted, samples)
        return
    for subject in subjects(chance, name, kernel, samples):
        yield good_call(chance, subject, emitted)[0]
        if name == "integer_power_plain":
            within = np.full_like(subject.operands[1], 3)
            yield case_of(emitted, (subject.operands[0], within, *subject.blanks(chance)))
        yield from (call[0] for call in (bad_call(chance, subject, emitted) for _ in range(8)) if call is not None)


def calls_with_an_extent(chance, emitted, samples):
    """The same where the caller gives an extent, which no call from Python passes as an array."""
    values, size = samples(emitted.operands[0]), np.dtype(np.float32).itemsize
    for _ in range(40):
        (count,), (extent,) = shapes(chance, emitted.name, 1, 2)
        x, result = random_operand(chance, (count,), values), np.zeros((count, extent), np.float32)
        arrays = (x, np.zeros(extent, np.uint8), chance.choice((result, result.T.copy().T)))
        yield case_of(emitted, arrays)
        yield case_of(emitted, (*arrays[:2], np.zeros((count, extent + 1), np.float32)))
        for bent in (0, 2):
            yield case_of(emitted, arrays, True, bent, rank=chance.choice((-1, 0, 3, 65)))
            yield case_of(emitted, arrays, True, bent, no_extents=True)
            yield case_of(emitted, arrays, True, bent, **chance.choice(({"no_strides": True}, {"odd": 1})))
        for offset in (0, size, size * count * extent):
            case = Case(emitted)
            memory = case.hold(bytes(size * (count * extent + count)))
            case.view(memory, (count,), (size,), offset).view(None, (extent,), (1,))
            yield case.view(memory, (count, extent), (size * extent, size), 0)
        case = Case(emitted).view(None, (count,), (size,)).view(None, (chance.choice((extent, -1)),), (1,))
        yield case.view(case.hold(result.tobytes()), (count, extent), (size * extent, size))


def test_there_are_ten():
    assert len(BY_HAND) == 10


@pytest.mark.parametrize("name", BY_HAND)
def test_emitted_c_is_at_most_twice_as_long(name):
    kernel, emitted, by_hand = emitted_and_by_hand(name)
    assert emitted.text.count("\n") <= 2 * by_hand.text.count("\n")
    # As a single file it has its part of bcastgen.h.
    (alone,) = emit_module([kernel], name, CForm(0, single_file=True))
    shared = by_hand.files["by_hand.h"].count("\n")
    assert alone.text.count("\n") <= 2 * (by_hand.text.count("\n") + shared)


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
def test_code_for_a_microcontroller_is_at_most_half_as_large_again(name, tmp_path):
    sizes = []
    for files in (part.files for part in emitted_and_by_hand(name)[1:]):
        sizes.append(linked_size(files, name, tmp_path / str(len(sizes))))
    assert 0 < sizes[0] <= 1.5 * sizes[1], f"{name}: {sizes[0]} bytes, {sizes[1]} by hand"


def linked_size(files, name, directory):
    """The bytes of code and constants for programs that call the two functions, and no other: no sentences."""
    if shutil.which("arm-none-eabi-gcc") is None:
        pytest.skip("no arm-none-eabi-gcc on the PATH (Debian's gcc-arm-none-eabi)")
    directory.mkdir()
    for file, text in files.items():
        (directory / file).write_text(text)
    sections = ("-ffunction-sections", "-fdata-sections")
    run(directory, "arm-none-eabi-gcc", *LANGUAGES["c"], *MICROCONTROLLER, *sections, "-c", f"{name}.c", "-o", "k.o")
    run(directory, "arm-none-eabi-ld", "-r", "--gc-sections", "-e", name, "-u", f"{name}_shape", "k.o", "-o", "used.o")
    symbols = run(directory, "arm-none-eabi-nm", "used.o")
    assert f"T {name}_shape" in symbols and f"{name}_message" not in symbols
    return int(run(directory, "arm-none-eabi-size", "used.o").splitlines()[1].split()[0])


def run(directory, *command):
    done = subprocess.run(command, cwd=directory, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stderr}"
    return done.stdout


@pytest.mark.parametrize("name", BY_HAND)
def test_both_do_the_same(name, samples, tmp_path):
    kernel, emitted, by_hand = emitted_and_by_hand(name)
    cases = list(calls(name, kernel, emitted, samples))
    outcomes = Harness([emitted], tmp_path / "emitted").build("gcc", (QUICK, *ADDRESS), guarded=True).run(*cases)
    others = [replace(case, kernel=by_hand) for case in cases]
    by_hands = Harness([by_hand], tmp_path / "hand").build("gcc", (QUICK, *ADDRESS), guarded=True).run(*others)
    refusals = {"RANK", "NULL_DATA", "OVERLAP"} | ({"BROADCAST"} if "BROADCAST" in emitted.text else {"EXTENT"})
    if "EXTENT," not in emitted.text:
        refusals -= {"EXTENT"}
    assert {outcome.call.status for outcome in outcomes} >= {"OK"} | refusals
    for got, wanted in zip(outcomes, by_hands, strict=True):
        shown = f"{got.case.arrays}\n{got.call}\n{wanted.call}"
        assert (got.shape, got.extents, got.call) == (wanted.shape, wanted.extents, wanted.call), shown
        assert all(map(np.array_equal, got.buffers, wanted.buffers)), shown
