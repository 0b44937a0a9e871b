"""Stages are told by name where a name is none."""

from __future__ import annotations

import pytest

import bcastgen as bg
from bcastgen.pipeline.stages import STAGES


def test_a_misspelt_stage_is_told_with_those_there_are():
    stages = bg.from_text("a + 1").stages
    assert set(STAGES) <= set(stages) and stages.get("nset") is None
    with pytest.raises(
        KeyError, match=r"no stage 'nset'; did you mean nest\? the stages are expression, typed, nest, "
    ):
        stages["nset"]
    with pytest.raises(KeyError, match="no stage 'assembly'; the stages are expression"):
        stages["assembly"]
