"""Claims: what is said of values that are not stored holds, or the call is refused, wherever it is asked."""

from __future__ import annotations

import numpy as np
import pytest

import bcastgen as bg
from bcastgen.core.dtypes import F32, F64
from bcastgen.core.errors import BroadcastError, DTypeError
from bcastgen.expr.build import Builder
from bcastgen.expr.infer import infer
from bcastgen.expr.nodes import Expression, TypeAssertion
from bcastgen.expr.trace import inline, trace
from bcastgen.expr.views import Broadcast
from bcastgen.kernel.kernel import Kernel
from bcastgen.loops.guards.listing import listing
from bcastgen.loops.interpret import interpret
from bcastgen.loops.lowering.lower import lower
from bcastgen.pipeline.options import Options
from bcastgen.shape.types.dim import Dim
from bcastgen.shape.types.tensor_type import Signature, parse_type
from claim_cases import CASES, Case


def kernel_of(case):
    expression = case.expression
    names = tuple(operand.name for operand in expression.operands)
    results = None if case.results is None else tuple(map(parse_type, case.results))
    signature = Signature(tuple(zip(names, case.operand_types, strict=True)), results, None)
    return Kernel(expression, "claimed", names, len(expression.results), (), signature, Options(**case.options))


def claimed(function, types, claims, options=(), **more):
    """The kernel of a function whose claims are (place of the value among those it gives, type)."""
    given = []
    made = trace(lambda *xs: given.append(function(*xs)) or given[0][-1], tuple("abc"[: len(types)]))
    expression = Expression(
        made.operands,
        made.results,
        (),
        tuple(TypeAssertion(given[0][at].node, f"%{at}", parse_type(type_)) for at, type_ in claims),
    )
    declared = tuple(map(parse_type, types))
    return lower(infer(expression, tuple(t.dtype for t in declared)), declared, **dict(options), **more)


def outcome(function, *args):
    try:
        return tuple(function(*args))
    except BroadcastError:
        return None


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_interpreter_program_and_kernel_give_numpys_verdict(case):
    kernel = kernel_of(case)
    several = len(kernel.results) > 1
    program, loops = kernel.shape_function, kernel.compilation.program
    fit = 0
    for shapes in case.shapes():
        expected = case.verdict(shapes)
        arrays = [np.ones(shape, np.float32) for shape in shapes]
        ran = outcome(lambda *given: (r.shape for r in interpret(loops, given)), *arrays)
        sized, said = outcome(kernel.result_shape, *shapes), outcome(program.run, *shapes)
        called = outcome(lambda *given: (r.shape for r in (kernel(*given) if several else (kernel(*given),))), *arrays)
        wanted = expected if several or expected is None else expected[0]
        assert (ran, called, sized, said) == (expected, expected, wanted, wanted), shapes
        fit += expected is not None
    assert fit > 0


@pytest.mark.parametrize(
    ("shapes", "message"),
    [
        (((1,), (1,), (5,)), r"result '%0' dim 0 has extent 5, expected 1; results do not broadcast"),
        (((5,), (3,), (5,)), r"operand 'b' dim 0 has extent 3, expected 1 or 5 \(from 'a'\)"),
        (((2,), (1,), (1,)), r"result '%0' dim 0 has extent 5, expected 2; results do not broadcast"),
    ],
)
def test_what_is_refused_names_the_value(shapes, message):
    kernel = kernel_of(Case("", ("f32[?]",) * 3, lambda claim, a, b, c: claim(a + b, "f32[5]") * c))
    with pytest.raises(BroadcastError, match=message):
        kernel.result_shape(*shapes)
    with pytest.raises(BroadcastError, match=message):
        kernel(*(np.ones(shape, np.float32) for shape in shapes))


def test_a_claim_with_a_results_uses_is_checked_in_its_nest():
    program = claimed(lambda a, b: (a + b, (a + b) * a), ["f32[?]"] * 2, [(0, "f32[5]")])
    (nest,) = program.nests
    assert [access.name for access in nest.claims] == ["%0"]
    assert "%0 : tensor<5xf32>  claimed (d0) -> (d0)" in str(nest)
    assert "%0.0 = 5 = d0" in str(program)


def test_a_claim_with_fewer_uses_has_a_nest_that_computes_nothing():
    program = claimed(lambda a, b, c: (a + b, (a + b) * c), ["f32[?]"] * 3, [(0, "f32[5]")])
    checks, computing = program.nests
    assert str(program).splitlines()[:5] == [
        "checks over (d0)",
        "  a  : tensor<?xf32>  shape only (d0) -> (d0|0)",
        "  b  : tensor<?xf32>  shape only (d0) -> (d0|0)",
        "  %0 : tensor<5xf32>  claimed (d0) -> (d0)",
        "  checked at run time: a.rank = 1; b.rank = 1; a.0 in {1, d0}; b.0 in {1, d0}; %0.0 = 5 = d0",
    ]
    assert (checks.results, checks.body, checks.stores, checks.operands) == ((), (), (), ())
    assert [access.name for access in computing.results] == ["r"]
    assert program.claims == (("%0", parse_type("f32[5]")),)


def test_what_types_prove_leaves_nothing():
    program = claimed(lambda a, b, c: (a + b, (a + b) * c), ["f32[5]", "f32[?]", "f32[?]"], [(0, "f32[5]")])
    assert len(program.nests) == 1
    assert not program.nests[0].claims
    assert "%0.0 = 5 = d0: proved, d0 is 5" in listing(program)


@pytest.mark.parametrize(
    ("types", "claim", "message"),
    [
        (["f32[3]", "f32[?]"], "f32[5]", r"result '%0' dim 0 has extent 5, expected 3 \(from 'a'\)"),
        (["f32[1]", "f32[1]"], "f32[5]", "result '%0' dim 0 has extent 5, expected 1"),
        (["f32[?]", "f32[?]"], "f32[?,?]", "result '%0' has rank 2, expected 1"),
        (["f32[n>=2]", "f32[n]"], "f32[1]", "result '%0' dim 0 is declared as extent 1"),
        (["f32[]", "f32[]"], "f32[1]", "result '%0' has rank 1, expected 0"),
    ],
)
def test_what_cannot_hold_is_refused_when_it_is_lowered(types, claim, message):
    with pytest.raises(BroadcastError, match=message):
        claimed(lambda a, b: (a + b, (a + b) * a), types, [(0, claim)])


def test_constants_alone():
    def program(type_):
        builder = Builder(("a",))
        threes = builder.remap(builder.constant(2.0), Broadcast(None, (Dim(3),)))
        made = builder.finish(
            tuple(builder.operands), type_assertions=(TypeAssertion(threes, "%0", parse_type(type_)),)
        )
        return lower(infer(made, (F32,)), (parse_type("f32[?]"),))

    assert len(program("[3]").nests) == 1
    with pytest.raises(BroadcastError, match="result '%0' dim 0 has extent 4, expected 3"):
        program("[4]")


def test_a_claims_dtype_is_the_values():
    with pytest.raises(DTypeError, match="'%0' is declared as f64"):
        claimed(lambda a, b: (a + b, (a + b) * a), ["f32[?]", "f32[?]"], [(0, "f64[?]")])


def test_claims_are_typed_and_printed():
    made = trace(lambda a, b: (a + b) * 2, ("a", "b"))
    claim = TypeAssertion(made.results[0].operands[0], "%0", parse_type("[5]"))
    typed = infer(Expression(made.operands, made.results, (), (claim,)), (F32, F64))
    assert str(typed).splitlines()[-2:] == ["  claim t1 : [5] ('%0')", "  return t2"]
    assert typed.expression.type_assertions[0].node.dtype is F64


def test_an_expression_inside_another_keeps_its_claims():
    case = Case("", ("f32[?]",) * 2, lambda claim, a, b: claim(a + b, "f32[5]") * a)
    outer = trace(lambda x, y: inline(case.expression, (x, y)) + 1, ("x", "y"))
    assert "claim t0 : f32[5] ('%0')" in str(outer)
    program = lower(infer(outer, (F32, F32)), case.operand_types)
    one = np.ones(1, np.float32)
    with pytest.raises(BroadcastError, match=r"%0\.0 = 5 = d0"):
        interpret(program, (one, one))
    with pytest.raises(bg.TraceError, match="checks the shapes of '%0'"):
        bg.jit(lambda x, y: kernel_of(case)(x, y) + 1)(one, one)


def test_a_claim_of_a_value_that_nothing_uses():
    program = claimed(lambda a, b: (a + b, a * 2), ["f32[?]", "f32[?]"], [(0, "f32[5]")])
    with pytest.raises(BroadcastError, match=r"%0\.0 = 5 = d0 does not hold"):
        interpret(program, (np.ones(1, np.float32), np.ones(1, np.float32)))


def test_declared_ranges_of_results_and_claims():
    program = claimed(lambda a, b: (a + b, (a + b) * a), ["f32[?]"] * 2, [(0, "f32[k>=2]")])
    assert "%0.0 >= 2" in str(program)
    kernel = bg.jit(lambda a: a * 2, signature="(f64[?] a) -> f64[n>=2%2]")
    assert kernel(np.ones(4)).shape == kernel.shape_function.run((4,)) == (4,)
    for shape in ((0,), (3,)):
        with pytest.raises(BroadcastError, match="as declared"):
            kernel(np.ones(shape))
        with pytest.raises(BroadcastError):
            kernel.shape_function.run(shape)


def test_the_stages_show_claims():
    kernel = kernel_of(Case("", ("f32[?]",) * 3, lambda claim, a, b, c: claim(a + b, "f32[5]") * c))
    stages = kernel.stages
    assert "%0.0 = 5 = d0: checked" in stages["constraints"]
    assert "nothing is computed" in stages["schedule"]
    assert all("%0" in stages[stage] for stage in ("typed", "nest", "shape", "c"))
