"""Lowering: nests, domains and constraints, and that the interpreter of nests gives NumPy's numbers."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from bcastgen.core.dtypes import F32, F64, dtype
from bcastgen.core.errors import BroadcastError, DomainError, DTypeError
from bcastgen.expr.infer import infer
from bcastgen.expr.text import parse
from bcastgen.expr.trace import trace
from bcastgen.loops.interpret import interpret
from bcastgen.loops.lowering.lower import lower
from bcastgen.shape.types.tensor_type import parse_type


def program_of(text, *types, results=None):
    declared = tuple(map(parse_type, types))
    typed = infer(parse(text), tuple(t.dtype for t in declared))
    return lower(typed, declared, None if results is None else tuple(map(parse_type, results)))


def test_a_nest_prints_its_maps_constraints_and_body():
    assert str(program_of("a + b * 2", "f32[?, 4]", "f32[4]")) == "\n".join(
        [
            "nest (d0, d1=4)",
            "  a : tensor<?x4xf32>  (d0, d1) -> (d0, d1)",
            "  b : tensor<4xf32>    (d0, d1) -> (d1)",
            "  r : tensor<?x4xf32>  (d0, d1) -> (d0, d1)",
            "  checked at run time: a.rank = 2; b.rank = 1; a.1 = 4; b.0 = 4",
            "  t0 = multiply(b, 2.0:f32) : f32",
            "  t1 = add(a, t0) : f32",
            "  r = t1",
        ]
    )


def test_static_mismatch_is_a_compile_time_error():
    with pytest.raises(BroadcastError, match=r"operand 'b' dim 0 has extent 2, expected 1 or 3 \(from 'a'\)"):
        program_of("a + b", "f32[3]", "f32[2]")


def test_declared_results_are_verified():
    assert "r.0 = 4 = d0" in str(program_of("a + b", "f32[?]", "f32[?]", results=["f32[4]"]))
    with pytest.raises(BroadcastError, match="results do not broadcast"):
        program_of("a + b", "f32[1]", "f32[1]", results=["f32[4]"])
    with pytest.raises(DTypeError, match="'r' is declared as"):
        program_of("a + b", "f32[1]", "f32[1]", results=["f64[1]"])


def test_results_with_the_same_operands_share_a_nest():
    expression = trace(lambda a, b: (a + b, a, (a + b) * 2), ("a", "b"))
    any_rank = parse_type("[*]")
    program = lower(infer(expression, (F64, F64)), (any_rank, any_rank), None, ("p", "q", "s"))
    assert [[access.name for access in nest.results] for nest in program.nests] == [["p", "s"], ["q"]]
    assert [name for name, _ in program.results] == ["p", "q", "s"]
    p, q, s = interpret(program, (np.ones((2, 1)), np.arange(3.0)))
    assert (p.shape, q.shape, s.shape) == ((2, 3), (2, 1), (2, 3))


SHAPES = [shape for rank in range(3) for shape in itertools.product((0, 1, 2, 3), repeat=rank)]


@pytest.mark.parametrize("types", [("[*]", "[*]"), ("ranked", "ranked")], ids=["any rank", "ranked"])
def test_the_interpreter_agrees_with_numpy_on_every_pair_of_shapes(types):
    made = {}
    for first, second in itertools.product(SHAPES, SHAPES):
        ranks = (len(first), len(second))
        key = ranks if types[0] == "ranked" else "any"
        if key not in made:
            spelled = [f"f64[{', '.join('?' * rank)}]" for rank in ranks] if key != "any" else ["f64[*]"] * 2
            made[key] = program_of("a - 2*b", *spelled)
        a, b = np.random.default_rng(0).random(first), np.random.default_rng(1).random(second)
        try:
            expected = a - 2 * b
        except ValueError:
            with pytest.raises(BroadcastError, match="does not hold"):
                interpret(made[key], (a, b))
            continue
        (got,) = interpret(made[key], (a, b))
        assert np.array_equal(got, expected) and got.shape == expected.shape


def test_the_interpreter_refuses_negative_integer_powers():
    program = program_of("a ** b", "i32[*]", "i32[*]")
    with pytest.raises(DomainError, match="negative integer powers"):
        interpret(program, (np.int32([2]), np.int32([-1])))


def test_a_constant_result_is_a_scalar():
    expression = trace(lambda a: (a, 1.5), ("a",))
    program = lower(infer(expression, (F32,)), (parse_type("[*]"),), None, ("p", "q"))
    p, q = interpret(program, (np.ones((2, 2), np.float32),))
    assert (p.shape, q.shape, float(q), q.dtype) == ((2, 2), (), 1.5, np.float64)


def test_mixed_dtypes_interpret_to_numpys_values():
    program = program_of("where(m, a, b // 3)", "bool[*]", "f32[*]", "i16[*]")
    m, a, b = np.array([True, False]), np.float32([1.5]), np.int16([[7], [-7]])
    (got,) = interpret(program, (m, a, b))
    assert np.array_equal(got, np.where(m, a, b // 3)) and got.dtype == dtype("f32").np
