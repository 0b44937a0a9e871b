"""The pipeline: stages are made when asked for, and the key holds what decides the C."""

from __future__ import annotations

import itertools

from bcastgen.core.dtypes import F32, F64, WEAK_FLOAT
from bcastgen.expr.text import parse
from bcastgen.pipeline.compilation import Compilation
from bcastgen.pipeline.options import Options
from bcastgen.shape.types.tensor_type import parse_type


def compilation(text="a + b", call_types=(F32, F32), types=None, results=None, name="kernel", variants=None):
    declared = None if types is None else tuple(map(parse_type, types))
    wanted = None if results is None else tuple(map(parse_type, results))
    return Compilation(parse(text), call_types, declared, wanted, ("r",), Options(name, variants))


def test_a_key_needs_no_stage_after_the_types():
    made = compilation()
    assert made.key_parts
    assert "typed" in vars(made)
    assert not {"program", "schedules", "source"} & set(vars(made))


def test_keys_differ_where_the_c_may():
    different = [
        compilation(),
        compilation("a - b"),
        compilation("x + y"),
        compilation("a + b * 2"),
        compilation("a + b * 3"),
        compilation(call_types=(F32, F64)),
        compilation(call_types=(F32, WEAK_FLOAT)),
        compilation(call_types=(F64, F64)),
        compilation(call_types=(F64, WEAK_FLOAT)),
        compilation(types=("[?]", "[?]")),
        compilation(types=("[?]", "[n]")),
        compilation(types=("[?]", "[?]"), results=("[4]",)),
        compilation(name="other"),
        compilation(variants=0),
    ]
    for one, other in itertools.combinations(different, 2):
        assert one.key_parts != other.key_parts
    assert compilation().key_parts == compilation().key_parts


def test_declared_ranks_are_lowered_and_others_serve_any():
    assert str(compilation(types=("[?, 4]", "[4]")).program.nests[0].domain) == "(d0, d1=4)"
    assert str(compilation().program.nests[0].domain) == "(...)"
    scalar = compilation(call_types=(F32, WEAK_FLOAT)).program.nests[0].operands[1]
    assert str(scalar.map) == "(...) -> ()"


def test_the_c_carries_its_stages():
    made = compilation("a + b * 2")
    for stage in (str(made.typed), str(made.program)):
        for line in stage.splitlines():
            assert line in made.source.text
