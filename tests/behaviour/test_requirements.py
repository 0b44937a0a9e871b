"""The requirements of seed 003 on shape functions, where they concern kernels; each test is named after one.

Those on shape functions as programs are in tests/shape/dialect/test_requirements.py.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import bcastgen as bg
from bcastgen.shape.constraints import ExtentIs, RankIs
from bcastgen.shape.inference.broadcast import broadcast


def asked(kernel):
    return [
        str(c)
        for nest in kernel.compilation.program.nests
        for c in nest.domain.constraints
        if not isinstance(c, (RankIs, ExtentIs))
    ]


def test_checks_are_decided_statically_where_types_allow_and_at_run_time_else():
    assert asked(bg.from_text("(f32[4, 1] a, f32[1, 5] b) -> a + b")) == []
    assert asked(bg.from_text("(f32[?, 1] a, f32[1, 5] b) -> a + b")) == []
    assert asked(bg.from_text("(f32[?, 1] a, f32[3, 5] b) -> a + b")) == ["a.0 in {1, 3}"]


def test_only_errors_that_are_certain_are_reported_at_compile_time():
    bg.from_text("(f32[?] a, f32[4] b) -> a + b").explain()
    with pytest.raises(bg.BroadcastError, match="operand 'b' dim 0 has extent 4, expected 1 or 3"):
        bg.from_text("(f32[3] a, f32[4] b) -> a + b").explain()


def test_errors_name_the_operand_the_dim_and_both_sizes():
    kernel = bg.from_text("(f32[?] a, f32[4] b) -> a + b")
    with pytest.raises(bg.BroadcastError) as caught:
        kernel(np.float32([1, 2]), np.float32([1, 2, 3, 4]))
    error = caught.value
    assert (error.operand, error.dim, error.actual, error.expected, error.against) == ("a", 0, 2, 4, "b")


def test_validity_is_queried_without_raising():
    function = bg.from_text("(f32[?] a, f32[4] b) -> a + b").shape_function
    assert function.check((1,), (4,)) is True
    assert function.check((3,), (4,)) is False
    assert function.check((None,), (4,)) is None


def test_shape_functions_are_pure_and_need_no_data():
    kernel = bg.from_text("(f32[?, ?] a, f32[?] b) -> a + b")
    for _ in range(3):
        assert kernel.result_shape((2, 1), (2**31,)) == (2, 2**31)


def test_only_local_information_is_used():
    """The same types give the same decisions, whatever else has been compiled."""
    texts = ["(f32[n, 4] a, f32[n, ?] b) -> a + b", "(f32[m, 4] a, f32[m, ?] b) -> a * b"]
    first, second = (asked(bg.from_text(text)) for text in texts)
    assert [c.replace("(n)", "(m)") for c in first] == second


def test_shape_functions_are_invocable_before_an_op_exists():
    info = broadcast([("x", "f32[n, 1]"), ("y", "f32[4]")])
    assert str(info) == "[n, 4]"


def test_symbolic_equality_and_upper_bounds_are_carried_and_propagated():
    program = bg.from_text("(f32[n<=64, m>=2] a, f32[n, m] b, f32[m] c) -> (a + b) * c").compilation.program
    assert str(program.results[0][1]) == "f32[n<=64, m>=2]"
    # Transposed, the facts go with the dims.
    program = bg.from_text("(f32[n<=64, m>=2] a) -> a.T").compilation.program
    assert str(program.results[0][1]) == "f32[m>=2, n<=64]"


def test_element_types_are_inferred_apart_from_the_shape_and_composed_with_it():
    kernel = bg.jit(lambda a, b: a + b)
    shapes = [(), (3,), (2, 3)]
    for dtypes in itertools.product(("f4", "f8", "i4"), repeat=2):
        results = {kernel(np.ones(s, dtypes[0]), np.ones(t, dtypes[1])).dtype for s in shapes for t in shapes}
        assert results == {np.result_type(*dtypes)}
    assert kernel.result_shape((2, 1), (3,)) == (2, 3)


def test_an_operand_whose_type_is_known_only_when_the_program_runs(tmp_path):
    path = tmp_path / "later.npy"
    kernel = bg.jit(lambda a, b: a * b)
    np.save(path, np.ones((4, 1)))
    stored = np.load(path, mmap_mode="r")
    assert kernel.result_shape(stored.shape, (5,)) == (4, 5)
    assert kernel(np.asarray(stored), np.ones(5)).shape == (4, 5)


def test_the_driver_declared_result_types_are_compared_with_inferred_ones():
    good = bg.jit(lambda a, b: a + b, signature="(f32[?, 4] a, f32[4] b) -> f32[?, 4]")
    assert good(np.ones((2, 4), "f4"), np.ones(4, "f4")).shape == (2, 4)
    for wrong in ("f32[4]", "f32[?, 5]", "f32[?, 4, 1]"):
        with pytest.raises(bg.BroadcastError, match="result"):
            bg.jit(lambda a, b: a + b, signature=f"(f32[?, 4] a, f32[4] b) -> {wrong}").explain()
    with pytest.raises(bg.DTypeError, match="f64"):
        bg.jit(lambda a, b: a + b, signature="(f32[4] a, f32[4] b) -> f64[4]").explain()


def test_the_driver_kernels_are_built_without_a_declared_result_type():
    types = ["f32[4]", "f32[?]", "f32[1]", "f32[3, 1]", "f32[*]"]
    for a, b in itertools.product(types, repeat=2):
        inferred = bg.infer_broadcast(a, b)
        program = bg.from_text(f"({a} a, {b} b) -> a + b").compilation.program
        assert str(program.results[0][1]) == str(inferred)
