"""Staging: which sub-expressions are computed apart, and that they and the rest are the whole."""

from __future__ import annotations

import re

import pytest

from bcastgen.api.op_kernels import op_kernel
from bcastgen.core.resources import csrc_file
from bcastgen.expr.infer import infer
from bcastgen.expr.text import parse
from bcastgen.expr.trace import trace
from bcastgen.loops.lowering.lower import lower
from bcastgen.loops.nest import Let, Load
from bcastgen.loops.schedule.costs import costs_of
from bcastgen.loops.schedule.staging import MAX_STAGES, stage
from bcastgen.ops.table import OPS
from bcastgen.shape.types.tensor_type import parse_type


def nest_of(source, *types):
    declared = tuple(map(parse_type, types))
    expression = parse(source) if isinstance(source, str) else trace(source, tuple("abcdefgh"[: len(types)]))
    nests = lower(infer(expression, tuple(t.dtype for t in declared)), declared, None, names(expression)).nests
    return nests[0]


def names(expression):
    return tuple(f"r{at}" for at in range(len(expression.results)))


def staging_of(source, *types):
    nest = nest_of(source, *types)
    return nest, stage(nest, costs_of(nest))


def reads_of(nest, part):
    return [nest.show(read) for read in part.reads]


def stages_of(source, *types):
    """The statements that are stages, each with what it reads; None if nothing is staged."""
    nest, staging = staging_of(source, *types)
    if staging is None:
        return None
    return {nest.body[part.value].op.name: reads_of(nest, part) for part in staging.stages}


ANY = "f32[*]"


@pytest.mark.parametrize(
    ("text", "count", "stages"),
    [
        ("exp(a) * sin(b)", 2, {"exp": ["a"], "sin": ["b"]}),
        ("exp(a) * 2 + b", 2, {"multiply": ["a"]}),
        ("a + log(b * b + 1)", 2, {"log": ["b"]}),
        ("(a - b) / sqrt(c + 1)", 3, {"sqrt": ["c"]}),
        ("a * exp(b - c)", 3, {"exp": ["b", "c"]}),
        # One value for all its users.
        ("exp(a) * b + exp(a)", 2, {"exp": ["a"]}),
        # A stage of a stage's value.
        ("a * exp(b * log(c))", 3, {"log": ["c"], "exp": ["b", "t0"]}),
    ],
)
def test_functions_of_some_operands_are_staged(text, count, stages):
    assert stages_of(text, *[ANY] * count) == stages


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("exp(a)", 1),
        ("exp(a + b)", 2),
        ("exp(a + b) * a", 2),
        ("a * 2 + b", 2),
        ("(a + 1) * (b - 1)", 2),
        ("exp(2.0) * a + b", 2),
        # Reading so many operands for a few additions gains nothing.
        (" + ".join("abcdefgh"), 8),
    ],
)
def test_what_reads_all_or_is_cheap_is_not(text, count):
    assert stages_of(text, *[ANY] * count) is None


def test_a_small_part_of_a_long_body_is_not_worth_its_loops():
    long = " + ".join(["exp(a * b)"] + [f"exp(a + {at} * b)" for at in range(30)])
    assert stages_of(f"{long} + sqrt(b)", ANY, ANY) is None


@pytest.mark.parametrize(
    ("types", "stages"),
    [
        (["f32[?, ?]", "f32[?, ?]"], {"exp": ["a"], "sin": ["b"]}),
        (["f32[?, 1]", "f32[1, ?]"], {"exp": ["a"], "sin": ["b"]}),
        (["f32[4, 1]", "f32[4, 8]"], {"exp": ["a"]}),
        (["f32[n, m]", "f32[n, m]"], None),
        (["f32[n, m]", "f32[m]"], {"sin": ["b"]}),
        (["f32[4, 8]", "f32[]"], {"sin": ["b"]}),
        (["f32[1, 8]", "f32[8]"], None),
    ],
)
def test_types_that_prove_the_whole_domain_rule_it_out(types, stages):
    assert stages_of("exp(a) * sin(b)", *types) == stages


def test_two_operands_that_span_the_domain_together_are_no_stage():
    assert stages_of("exp(a + b) * c", "f32[n, 1]", "f32[1, m]", "f32[n, m]") is None
    assert stages_of("exp(a + b) * c", "f32[n, 1]", "f32[1, m]", "f32[k, n, m]") == {"exp": ["a", "b"]}


def test_an_operand_through_two_maps_is_two():
    exp = op_kernel(OPS["exp"])
    assert stages_of(lambda a: exp(a) * a.T, "f32[?, ?]") == {"exp": ["a"]}
    assert stages_of(lambda a: exp(a.T) * a, "f32[n, n]") is None


def test_there_are_few_and_the_costly_ones():
    text = "*".join(f"sqrt({name})" for name in "abcd") + "*(e % 3)*(f // 2)"
    nest, staging = staging_of(text, *[ANY] * 6)
    chosen = [nest.body[part.value].op.name for part in staging.stages]
    assert len(chosen) == MAX_STAGES and {"remainder", "floor_divide"} <= set(chosen)


def test_several_results_share_their_stages():
    nest, staging = staging_of(lambda a, b: (a + (b * b + 1) ** 0.5, a * (b * b + 1) ** 0.5), ANY, ANY)
    assert [reads_of(nest, part) for part in staging.stages] == [["b"]]
    assert len(nest.results) == 2


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("exp(a) * sin(b)", 2),
        ("a * exp(b * log(c)) + log(c)", 3),
        ("sin((a - b) / 2)**2 + cos(a) * cos(b) * sin((c - d) / 2)**2", 4),
        ("(a - b) / sqrt(c + 0.001) * d + exp(d)", 4),
    ],
)
def test_stages_and_the_rest_compute_every_statement_once(text, count):
    nest, staging = staging_of(text, *[ANY] * count)
    parts = [*(part.statements for part in staging.stages), staging.statements]
    assert sorted(at for part in parts for at in part) == list(range(len(nest.body)))
    made = set()
    for part in (*staging.stages, staging):
        # What a part reads are operands and earlier values, and it reads all that it does not compute.
        operands = {value for at in part.statements for value in nest.body[at].operands}
        operands |= set(nest.stores) if part is staging else set()
        needed = {v for v in operands if isinstance(v, Load) or (isinstance(v, Let) and v.index not in part.statements)}
        assert needed == set(part.reads)
        assert {read.index for read in part.reads if isinstance(read, Let)} <= made
        made |= {part.value} if part is not staging else set()
    assert sum(part.cost_tenths_ns for part in staging.stages) + staging.cost_tenths_ns == pytest.approx(
        sum(costs_of(nest))
    )


def test_the_run_time_has_room_for_as_many():
    room = re.search(r"MAX_STAGES = (\d+)", csrc_file("run_source.inc").read_text(encoding="utf-8"))
    assert int(room[1]) >= MAX_STAGES
