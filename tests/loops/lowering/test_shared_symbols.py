"""Symbols over several nests: one name is one extent."""

from __future__ import annotations

import numpy as np
import pytest

import bcastgen as bg
from bcastgen.loops.interpret import interpret


def test_a_symbol_of_operands_in_different_nests_is_one_extent():
    kernel = bg.jit(lambda a, b: (a + 1, b * 2), signature="(f64[n] a, f64[n] b) -> (f64[n], f64[n])")
    assert kernel.compilation.program.nests[1].shapes[0].name == "a"
    assert [r.shape for r in kernel(np.ones(3), np.ones(3))] == [(3,), (3,)]
    with pytest.raises(bg.BroadcastError, match=r"operand 'b' dim 0 has extent 4, expected 3 \(from 'a'\)"):
        kernel(np.ones(3), np.ones(4))


def test_a_symbol_of_results_of_different_nests_is_one_extent():
    kernel = bg.jit(lambda a, b: (a + b, a * 2), signature="(f64[?,?] a, f64[?,?] b) -> (f64[k,?], f64[k,?])")
    assert [r.shape for r in kernel(np.ones((3, 4)), np.ones((1, 4)))] == [(3, 4)] * 2
    with pytest.raises(bg.BroadcastError, match=r"result 'r1' dim 0 has extent 1, expected 3 \(from 'r0'\)"):
        kernel(np.ones((1, 4)), np.ones((3, 4)))


def test_the_same_in_standalone_c(tmp_path):
    kernel = bg.jit(
        lambda a, b: (a + b, a * 2), signature="(f64[?,?] a, f64[?,?] b) -> (f64[k,?], f64[k,?])", name="tied"
    )
    text = kernel.emit_c(tmp_path)[0].read_text()
    # In tied_shape, which tied asks first.
    assert text.count("/* both are k */") == 1
    assert "tied_1_extents[0] != tied_0_extents[0]" in text
    assert "status = tied_shape(a, b, r0_extents, r1_extents, why);" in text


def test_what_symbols_prove_is_not_asked():
    kernel = bg.jit(lambda a, b: (a + b, a * 2), signature="(f64[n] a, f64[n] b) -> (f64[n], f64[n])")
    asked = [str(c) for nest in kernel.compilation.program.nests for c in nest.domain.constraints]
    assert asked == ["a.rank = 1", "b.rank = 1", "b.0 = a.0 (n)"]


@pytest.mark.parametrize(
    ("first", "second"), [((2, 5), (4, 5)), ((3, 2, 5), (4, 5)), ((7, 3, 2, 5), (5,)), ((5,), (3, 4, 5))]
)
def test_what_is_only_looked_at_for_its_symbol_takes_no_part_in_a_nest_of_any_rank(first, second):
    kernel = bg.jit(lambda a, b: (b * 2, abs(a)), signature="(f64[*, n] a, f64[*, n] b)")
    assert [r.shape for r in kernel(np.ones(first), np.ones(second))] == [second, first]
    with pytest.raises(bg.BroadcastError, match=r"operand 'b' dim \d has extent 6, expected 5 \(from 'a'\)"):
        kernel(np.ones(first), np.ones((2, 6)))


def test_an_operand_that_is_not_read_is_what_it_declares():
    kernel = bg.jit(lambda a, b: a + 1, signature="(f64[n] a, f64[n, 4] b) -> f64[n]")
    assert kernel(np.ones(3), np.ones((3, 4))).shape == (3,)
    with pytest.raises(bg.BroadcastError, match=r"operand 'b' dim 0 has extent 9, expected 3 \(from 'a'\)"):
        kernel(np.ones(3), np.ones((9, 4)))
    with pytest.raises(bg.BroadcastError, match=r"operand 'b' dim 1 has extent 9, expected 4"):
        kernel(np.ones(3), np.ones((3, 9)))


def test_a_symbol_of_a_result_is_that_of_an_operand_in_a_later_nest():
    kernel = bg.jit(lambda a, b: (a + 1, b * 2), signature="(f64[?] a, f64[n] b) -> (f64[n], f64[?])")
    assert [r.shape for r in kernel(np.ones(3), np.ones(3))] == [(3,), (3,)]
    assert kernel.shape_function.run((3,), (3,)) == ((3,), (3,))
    with pytest.raises(bg.BroadcastError, match=r"result 'r0' dim 0 has extent 3, expected 4 \(from 'b'\)"):
        kernel(np.ones(3), np.ones(4))
    with pytest.raises(bg.BroadcastError):
        kernel.shape_function.run((3,), (4,))


def test_symbols_of_results_count_in_the_shape_program_and_the_interpreter():
    kernel = bg.jit(lambda a, b: (a + b, a * 2), signature="(f64[?,?] a, f64[?,?] b) -> (f64[k,?], f64[?,k])")
    program = kernel.compilation.program
    for a, b, fits in (
        ((3, 3), (1, 3), True),
        ((1, 3), (3, 3), True),
        ((1, 3), (2, 3), False),
        ((3, 2), (3, 1), False),
    ):
        arrays = (np.ones(a), np.ones(b))
        for run in (
            kernel,
            lambda *given: interpret(program, given),
            lambda x, y: kernel.shape_function.run(x.shape, y.shape),
        ):
            if fits:
                run(*arrays)
                continue
            with pytest.raises(bg.BroadcastError):
                run(*arrays)


def test_what_an_earlier_nest_checks_is_not_checked_again():
    kernel = bg.from_text("(f32[n>=2] a, f32[m, n] b) -> (a + b, a * 2, b.T)")
    asked = [
        [str(c) for c in nest.domain.constraints if ".rank" not in str(c)] for nest in kernel.compilation.program.nests
    ]
    assert asked == [["a.0 >= 2", "b.1 = a.0 (n)"], [], []]
    assert kernel.result_shape((2,), (3, 2)) == ((3, 2), (2,), (2, 3))
    for shapes in (((1,), (3, 1)), ((2,), (3, 3))):
        with pytest.raises(bg.BroadcastError):
            kernel.result_shape(*shapes)


def test_results_that_read_the_same_share_a_nest():
    program = bg.from_text("(f32[?] a, f32[?, ?] b) -> (a + b, a * b, a, b.T, b.T * 2)").compilation.program
    assert [[access.name for access in nest.results] for nest in program.nests] == [["r0", "r1"], ["r2"], ["r3", "r4"]]
