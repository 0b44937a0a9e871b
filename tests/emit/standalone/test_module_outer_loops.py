"""Dims that join, short rows and squares of standalone C: values are those of the JIT, and every such loop is run."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest

from bcastgen.api.functions import from_text
from c_calls import by_jit, case_of, good_call
from c_harness import ADDRESS, Harness, emit_module
from c_programs import Subject
from compile_flags import QUICK

# By kernel: shapes of operands, some with more points than a square's side; and changes to its C, each of which a call
# has to notice: else that loop was never run.
KERNELS = {
    "(f32[?,?] a, f32[?,?] b) -> a + b*2": (
        [((4, 7), (4, 7)), ((4, 1), (4, 1)), ((4, 7), (1, 7)), ((1, 1), (1, 1)), ((3, 5), (3, 1)), ((0, 3), (1, 3))],
        [("d1 *= d0;", "")],
    ),
    "(f64[?,?,?] a, f64[] b) -> a - b": (
        [((3, 4, 5), ()), ((3, 1, 5), ()), ((3, 4, 1), ()), ((1, 1, 1), ())],
        [("d2 *= d1;", ""), ("d2 *= d0;", "")],
    ),
    "(i16[?,2,?] a, i16[2,?] b) -> a * b": ([((3, 2, 5), (2, 5)), ((3, 2, 5), (2, 1))], [("d2 *= d1;", "")]),
    "(u8[?,3] a, f32[3] b, f64[] c, f32[?,1] d) -> a * b - c * d": (
        [((7, 3), (3,), (), (7, 1)), ((7, 3), (3,), (), (1, 1)), ((1, 3), (3,), (), (1, 1))],
        [("given1[i];", "3 + given1[i];"), ("= c[0]", "= 3 + c[0]"), ("= d[at]", "= 3 + d[at]"), ("r[at * 3", "r[at")],
    ),
    "(f16[?,?,4] a, bool[4] b) -> where(b, a, -a)": ([((2, 5, 4), (4,)), ((1, 1, 4), (4,))], [("r[at * 4", "r[at")]),
    "(f32[n,m] a, f32[m,?] b) -> transpose(a) * 2 + b": (
        [((70, 45), (45, 70)), ((3, 33), (33, 1)), ((32, 64), (64, 32))],
        [("i0 = top", "i0 = top + 1"), ("first = 0", "first = 1")],
    ),
    "(i32[?,n,m,c] x) -> transpose(x, (0, 3, 1, 2)) + 1": (
        [((2, 3, 40, 35),), ((1, 2, 3, 4),)],
        [("i1 = top", "i1 = top + 1")],
    ),
}


def layouts(array):
    """The array in layouts of every kind: dense, reversed, with gaps along each dim, its dims from last to first."""
    yield array
    yield np.asfortranarray(array)
    yield array[::-1].copy()[::-1] if array.ndim else array
    for dim in range(array.ndim):
        wide = np.zeros([extent * (1 + (at == dim)) for at, extent in enumerate(array.shape)], array.dtype)
        gaps = wide[tuple(slice(None, None, 1 + (at == dim)) for at in range(array.ndim))]
        gaps[...] = array
        yield gaps


def calls(text, kernel, emitted, samples):
    chance = random.Random(text)
    for shapes in KERNELS[text][0]:
        kinds = kernel.compilation.typed.operand_dtypes
        values = [chance.choices(list(samples(kind)), k=int(np.prod(s))) for s, kind in zip(shapes, kinds, strict=True)]
        arrays = [np.array(v, k.np).reshape(s) for v, k, s in zip(values, kinds, shapes, strict=True)]
        several = [list(layouts(array)) for array in arrays]
        for at in range(max(map(len, several))):
            operands = tuple(one[at % len(one)] for one in several)
            subject = Subject(kernel, operands, (kernel.result_shape(*shapes),))
            yield subject, *good_call(chance, subject, emitted)
            out = np.zeros(subject.shapes[0], kernel.compilation.typed.result_dtypes[0].np)
            yield subject, case_of(emitted, (*operands, out)), by_jit(subject, operands, (out,))


@pytest.mark.parametrize("text", KERNELS)
def test_values_are_those_of_the_jit_and_loops_are_run(text, samples, differences, tmp_path):
    kernel = from_text(text, "k")
    (emitted,) = emit_module([kernel], "k")
    made = list(calls(text, kernel, emitted, samples))

    def faults(c, directory, flags=()):
        program = Harness([c], tmp_path / directory).build("gcc", (QUICK, *flags), guarded=True)
        outcomes = program.run(*(replace(case, kernel=c) for _, case, _ in made))
        told = zip(made, outcomes, strict=True)
        return [wanted.fault(subject, got, len(subject.operands), differences) for (subject, _, wanted), got in told]

    found = [fault for fault in faults(emitted, "right", ADDRESS) if fault is not None]
    assert not found, found[0]
    for at, (right, wrong) in enumerate(KERNELS[text][1]):
        loop = emitted.text.replace(right, wrong)
        assert loop != emitted.text
        assert any(faults(replace(emitted, files=emitted.files | {"k.c": loop}), f"wrong{at}")), right
