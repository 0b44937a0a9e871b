"""The count of function calls: the schedule's number is that of the calls in the C made from it."""

from __future__ import annotations

import random

import pytest

import bcastgen as bg
from bcastgen.emit.c_text.helpers import functions_of
from bcastgen.emit.c_text.references import calls
from bcastgen.emit.standalone import CForm
from bcastgen.loops.schedule.function_calls import MOST_INLINED
from bcastgen.loops.schedule.program_schedule import compiles_functions_once
from bcastgen.pipeline.explanation import own_c

FUNCTIONS = "exp log sin cos tanh erf log1p sigmoid sqrt cbrt gelu tan arcsin expm1 sinh".split()
SHAPES = ("?", "?,?", "*", "3,4", "1,?")


def called(source):
    """How often loops call mathematical functions: short forms are a part of the block that they are for."""
    functions = functions_of(r"bcg_vmath_(?!core)\w*\.h")
    _, loops = own_c(source.files["kernel.c"], source.name)
    return sum(name in functions and "_common_" not in name for name in calls(loops))


def term(pick, depth):
    """The text of a random expression of a, b, c and the mask m."""
    if depth == 0:
        return pick.choice(["a", "b", "c", "a*2", "b+c"])
    x, y, z = (term(pick, depth - 1) for _ in range(3))
    forms = [f"{pick.choice(FUNCTIONS)}({x})"] * 5
    forms += [f"arctan2({x}, {y})", f"({x}) ** {pick.choice(['b', '0.5', '2', '2.5', '-1'])}"]
    forms += [f"where({x} > 0, {y}, {z})", f"where(m, {x}, {y})", f"({x} {pick.choice('+*-/')} {y})"]
    return pick.choice(forms)


def kernel_of(pick):
    shape, text = pick.choice(SHAPES), term(pick, pick.choice([1, 2, 3]))
    if shape != "*" and pick.random() < 0.3:
        text = pick.choice([f"sum({text}, axis=-1)", f"({text}) - max({text})"])
    types = f"{pick.choice(['f32', 'f64', 'f16', 'i32'])}[{shape}] a, {pick.choice(['f32', 'f64'])}[{shape}] b"
    math = pick.choice(["accurate", "accurate", "fast"])
    return bg.from_text(f"({types}, f32[{pick.choice(['?', '1'])}] c, bool[{shape}] m) -> {text}", math=math)


@pytest.mark.parametrize("seed", range(3))
def test_the_schedule_counts_the_calls_of_the_c(seed):
    pick, counts = random.Random(seed), []
    for _ in range(12):
        compilation = kernel_of(pick).compilation
        counts.append(compilation.schedule.function_calls)
        assert called(compilation.source) == counts[-1], compilation.typed
    assert len(set(counts)) > 3


def test_many_calls_in_few_variants_and_few_in_many_are_told():
    few = bg.from_text("(f32[?] a) -> exp(a) * log(a)").compilation
    assert "functions: 2 calls in all loops, few enough to be inlined" in str(few.schedule)
    many = bg.from_text(f"(f32[?] a) -> {' + '.join(f'exp(a * {at})' for at in range(2, 20))}").compilation
    assert f"functions: 18 calls in all loops, more than {MOST_INLINED}: compiled once" in str(many.schedule)
    assert "functions" not in str(bg.from_text("(f32[?] a) -> a + 1").compilation.schedule)


def test_a_file_of_several_kernels_counts_all_of_them(tmp_path):
    kernel = bg.from_text(f"(f32[?] a) -> {' + '.join(f'exp(a * {at})' for at in range(2, 8))}", "one")
    made = kernel.compilation.standalone_schedule(CForm())
    assert not compiles_functions_once(made)
    assert compiles_functions_once(made, made)
    apart = bg.emit_c({"one": kernel}, tmp_path / "apart", "ops")[0].read_text()
    both = bg.emit_c({"one": kernel, "other": kernel}, tmp_path / "both", "ops")[0].read_text()
    assert "OPS_CALLED" not in apart
    assert "OPS_CALLED" in both
