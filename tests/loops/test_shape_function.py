"""The shape function of a kernel: the program, the C that runs before the loops, and the interpreter say the same."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import bcastgen as bg
from bcastgen.loops.interpret import interpret

SHAPES = tuple(shape for rank in range(3) for shape in itertools.product((0, 1, 2, 3), repeat=rank))

TEXTS = [
    "(f32[?,?] a, f32[?,?] b) -> a + b",
    "(f32[n,3] a, f32[n,1] b) -> a + b",
    "(f32[?] a, f32[*] b) -> a * b",
    "(f32[*] a, f32[*,2] b) -> a * b",
    "(f32[n,m] a, f32[?,?] b) -> a + b.T",
    "(f32[?,?] a, f32[3,1] b) -> a + b",
    "(f32[n] a, f32[n,?] b) -> broadcast_in_dim(a, b, (1,))",
    "(f32[?] a, f32[?,?] b) -> broadcast_in_dim(a, b, (0,)) + b",
    "(f32[n>=2,?!] a, f32[?,bcast] b) -> a + b",
    "(f32[n%2,m<=2] a, f32[m] b) -> a + b",
    "(f32[n] a, f32[m] b) -> a[:,None] * b",
    "(f32[?,?] a, f32[?] b) -> a + a.T + b",
    "(f32[n,n] a, f32[?,n] b) -> a.T - b",
]
OPTIONS = [{"dynamic": "strict"}, {"stretch": False}, {"rank_expansion": False}]


def outcome(function, *args):
    try:
        return tuple(function(*args))
    except bg.BroadcastError:
        return None


def agree(kernel):
    program, loops = kernel.shape_function, kernel.compilation.program
    accepted = 0
    for shapes in itertools.product(SHAPES, repeat=2):
        sized = outcome(kernel.result_shape, *shapes)
        said = outcome(lambda *given: program.run(*given), *shapes)
        run = outcome(lambda *given: interpret(loops, [np.ones(s, np.float32) for s in given])[0].shape, *shapes)
        assert sized == said == run, (shapes, sized, said, run)
        accepted += sized is not None
    assert 0 < accepted < len(SHAPES) ** 2
    folded = program.fold()
    for shapes in itertools.islice(itertools.product(SHAPES, repeat=2), 0, None, 7):
        assert outcome(folded.run, *shapes) == outcome(program.run, *shapes)


@pytest.mark.parametrize("text", TEXTS)
def test_program_c_and_interpreter_say_the_same(text):
    agree(bg.from_text(text))


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("text", ["(f32[*] a, f32[*] b) -> a + b", "(f32[?,1] a, f32[*] b) -> a + b"])
def test_the_same_under_other_rules(text, options):
    agree(bg.from_text(text, **options))


def test_what_is_known_at_compile_time_is_what_runs_give():
    """Seed 003: the same description serves the compiler, which knows less, and the run time."""
    program = bg.from_text("(f32[?,?] a, f32[?,1] b) -> a + b").shape_function
    assert program.evaluate((None, 3), (None, 1)) == (None, 3)
    assert program.check((2, 3), (5, 1)) is False
    assert program.check((None, 3), (2, 1)) is None


def test_facts_take_checks_out_of_the_program():
    plain = str(bg.from_text("(f32[?,?] a, f32[?,?] b) -> a + b").shape_function)
    known = str(bg.from_text("(f32[n,m] a, f32[n,m] b) -> a + b").shape_function)
    assert "cstr_broadcastable" in plain
    assert "cstr_broadcastable" not in known
    assert known.count("cstr_require") == 2


def test_results_of_several_shapes():
    kernel = bg.jit(lambda a, b: (a + b, a * 2), signature="(f64[n,m] a, f64[m] b)")
    assert kernel.result_shape((2, 3), (3,)) == ((2, 3), (2, 3))
    assert len(kernel.shape_function.results) == 2


def test_shapes_come_as_tuples_lists_and_arrays():
    kernel = bg.jit(lambda a, b: a + b)
    for a in ((3, 1), [3, 1], np.ones((3, 1))):
        assert kernel.result_shape(a, (4,)) == (3, 4)
    with pytest.raises(bg.BroadcastError, match=r"operand 'b' dim 0 has extent 4, expected 1 or 3 \(from 'a'\)"):
        kernel.result_shape((3,), (4,))
    with pytest.raises(TypeError, match="2 operands, got 1"):
        kernel.result_shape((3,))
    with pytest.raises(bg.BroadcastError, match="has extent -1, expected 0 to"):
        kernel.result_shape((3,), (-1,))


def test_sizing_needs_no_data():
    kernel = bg.jit(lambda a, b: a + b)
    kernel(1.0, np.ones(2))
    assert kernel.result_shape((2**40, 1), (2**19,)) == (2**40, 2**19)


def test_many_operands():
    names = [f"x{at}" for at in range(12)]
    kernel = bg.from_text(" + ".join(names))
    assert kernel.result_shape(*((1,) * at for at in range(12))) == (1,) * 11


REDUCED = (
    "(f32[?, ?] a, f32[?] b) -> sum(a*b, axis=1)",
    "(f32[?, ?] a, f32[?] b) -> max(a*b)",
    "(f32[?, ?] a, f32[?, ?] b) -> b + mean(a, axis=0), a / sum(a, axis=1, keepdims=True)",
    "(f32[?, ?] a, f32[?, ?] b) -> max(b - mean(a, axis=0), axis=1)[:, None] * b",
    "(f32[n, ?] a, f32[n, 3] b) -> a - mean(b, axis=1)[:, None], argmin(b, axis=1)",
)


@pytest.mark.parametrize("text", REDUCED)
def test_the_shape_function_of_reductions_is_result_shape(text):
    kernel = bg.from_text(text)
    ranks = [len(type_.dims) for _, type_ in kernel.signature.operands]
    for extents in itertools.product((0, 1, 2, 3), repeat=sum(ranks)):
        shapes = (extents[: ranks[0]], extents[ranks[0] :])
        assert outcome(kernel.shape_function.run, *shapes) == outcome(kernel.result_shape, *shapes), shapes
