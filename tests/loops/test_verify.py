"""The verifier of nests: each way in which a nest is wrong is an error that says where."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bcastgen import from_text
from bcastgen.core.dtypes import BOOL, F32, F64, dtype
from bcastgen.core.errors import BcastgenError
from bcastgen.expr.nodes import Constant
from bcastgen.loops.affine import Index
from bcastgen.loops.nest import Let, Load
from bcastgen.loops.rewrites import pipeline
from bcastgen.loops.rewrites.pipeline import REWRITES, Rewrite, rewrite
from bcastgen.loops.verify import verify
from bcastgen.ops.table import OPS

PROGRAM = from_text("(f32[?, 4] a, i16[?, 1] b) -> where(a > 2, exp(a) * 3, b.astype(f32))").compilation.program
(NEST,) = PROGRAM.nests
THREE = Constant(3.0, F32)
I8 = dtype("i8")


def with_statement(at, **changes):
    body = list(NEST.body)
    body[at] = replace(body[at], **changes)
    return replace(NEST, body=tuple(body))


def with_map(**changes):
    first, *others = NEST.operands
    return replace(NEST, operands=(replace(first, map=replace(first.map, **changes)), *others))


def test_the_nest_that_the_cases_break():
    assert [statement.op.name for statement in NEST.body] == ["greater", "exp", "multiply", "cast", "where"]
    verify(NEST)


@pytest.mark.parametrize(
    ("nest", "message"),
    [
        (
            with_statement(2, operands=(Let(2), THREE)),
            "t2 = multiply reads t2, which is not computed",
        ),
        (
            with_statement(2, operands=(Let(4), THREE)),
            "t2 = multiply reads t4, which is not computed",
        ),
        (with_statement(2, operands=(Let(-1), THREE)), "t2 = multiply reads t-1"),
        (replace(NEST, body=(*NEST.body[1:2], NEST.body[0], *NEST.body[2:])), "t2 = multiply reads t1 of bool as f32"),
        (with_statement(1, operands=(Load(2),)), "t1 = exp reads operand 2 of 2"),
        (with_statement(1, operands=(Load(1),)), "t1 = exp reads b of i16 as f32"),
        (with_statement(2, operands=(Let(0), THREE)), "t2 = multiply reads t0 of bool as f32"),
        (with_statement(2, operands=(Let(1), Constant(3.0, F64))), "t2 = multiply reads 3.0:f64 of f64 as f32"),
        (with_statement(2, operands=(Let(1),)), "t2 = multiply has 1 operands of 2 dtypes, not 2"),
        (with_statement(2, operand_dtypes=(F32,)), "t2 = multiply has 2 operands of 1 dtypes, not 2"),
        (with_statement(1, op=OPS["add"]), "t1 = add has 1 operands"),
        (with_statement(0, dtype=F32), r"t0 = greater is \(f32, f32\) -> f32; its row says \(f32, f32\) -> bool"),
        (with_statement(1, dtype=F64), "t1 = exp is .* its row says"),
        (with_statement(2, op=OPS["left_shift"]), "left_shift"),
        (with_statement(3, dtype=F64), "t3 = cast converts to .*, not to f64"),
        (with_statement(3, params=()), "t3 = cast converts to"),
        (replace(NEST, stores=(Let(0),)), "the store to r reads t0 of bool as f32"),
        (replace(NEST, stores=(Let(5),)), "the store to r reads t5, which is not computed before it"),
        (replace(NEST, stores=(Constant(True, BOOL),)), "the store to r reads True:bool of bool as f32"),
        (replace(NEST, stores=()), "1 results have 0 stores"),
        (replace(NEST, body=NEST.body[:1], stores=(THREE,)), "nothing reads b: an operand whose extents count is in"),
        (with_map(domain_rank=3), "the map of a, .* is not over the domain"),
        (with_map(open_domain=True), "the map of a, .* is not over the domain"),
        (with_map(indices=(Index(0),)), "the map of a, .* is not for 2 dims"),
        (with_map(indices=(Index(0), Index(2))), r"the map of a has indices \[0, 2\] in a domain of 2 dims"),
        (with_map(indices=(Index(1), Index(1))), r"the map of a has indices \[1, 1\]"),
    ],
)
def test_what_is_wrong_is_named(nest, message):
    with pytest.raises(BcastgenError, match=message):
        verify(nest)


@pytest.mark.parametrize("value", [-129, 128])
def test_an_integer_beyond_its_dtype(value):
    (nest,) = from_text("(i8[?] a) -> a + 1").compilation.program.nests
    (statement,) = nest.body
    verify(nest)
    broken = replace(statement, operands=(Load(0), Constant(value, I8)))
    with pytest.raises(BcastgenError, match=rf"t0 = add reads {value}, which is no i8"):
        verify(replace(nest, body=(broken,)))


def test_a_rewrite_that_breaks_a_nest_is_named(monkeypatch):
    broken = Rewrite("lose_a_store", lambda nest: (replace(nest, stores=()), ()), "No reason.")
    monkeypatch.setattr(pipeline, "REWRITES", (*REWRITES[:1], broken, *REWRITES[1:]))
    with pytest.raises(BcastgenError, match="lose_a_store made a wrong nest, which is a defect of bcastgen"):
        rewrite(PROGRAM)
    monkeypatch.setattr(pipeline, "verifies", lambda: False)
    monkeypatch.setattr(pipeline, "REWRITES", (broken,))
    assert rewrite(PROGRAM).program.nests[0].stores == ()


def test_a_nest_that_is_lowered_wrongly_is_named():
    wrong = replace(PROGRAM, nests=(replace(NEST, stores=()),))
    with pytest.raises(BcastgenError, match="lowering made a wrong nest"):
        rewrite(wrong)


def test_users_verify_under_bcastgen_debug(monkeypatch):
    monkeypatch.undo()
    monkeypatch.setattr(pipeline, "verifies", VERIFIES)
    monkeypatch.delenv("BCASTGEN_DEBUG", raising=False)
    assert not pipeline.verifies()
    monkeypatch.setenv("BCASTGEN_DEBUG", "1")
    assert pipeline.verifies()


# As it is before the tests' own fixture stands for it.
VERIFIES = pipeline.verifies
