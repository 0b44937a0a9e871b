"""The verifier of schedules: each fault has its sentence, and no schedule of ours has one."""

from __future__ import annotations

from dataclasses import replace

import pytest

import bcastgen as bg
from bcastgen.core.errors import BcastgenError
from bcastgen.loops.nest import Let
from bcastgen.loops.schedule.program_schedule import standalone_schedule
from bcastgen.loops.schedule.shared_rows import SharedPass
from bcastgen.loops.schedule.threads import Threads
from bcastgen.loops.schedule.verify import verify_schedule

STAGED = "(f32[*] a, f32[*] b) -> exp(a) * sin(b)"
BLOCKS = "(f32[*] a) -> a * tanh(log1p(exp(a)))"
SIDES = "(bool[*] m, f32[*] a, f32[*] b) -> where(m, a, a * b)"


def scheduled(text):
    return bg.from_text(text).compilation.schedules[0]


def inline(made, **changed):
    return replace(made, inline=replace(made.inline, **changed))


def block(made, at, **changed):
    blocks = list(made.inline.blocks)
    blocks[at] = replace(blocks[at], **changed)
    return inline(made, blocks=tuple(blocks))


FAULTS = {
    "two variants of one name: unit, unit": lambda: inline(
        one := scheduled(STAGED), variants=(one.inline.variants[0],) * 2
    ),
    "reads 1 arrays, its variant unit 2": lambda: inline(one := scheduled(STAGED), reads=one.inline.reads[:1]),
    "does not give what is stored": lambda: inline(scheduled(STAGED), gives=(Let(0),)),
    "computes t2 from t0, which it neither reads nor computes": lambda: inline(
        scheduled(STAGED), statements=frozenset({1, 2})
    ),
    "gives t2, which it neither reads nor computes": lambda: inline(scheduled(STAGED), statements=frozenset({0, 1})),
    "reads a tile that none of them gives": lambda: replace(one := scheduled(STAGED), stages=one.stages[:1]),
    "stages without a loop that reads them": lambda: replace(scheduled(STAGED), staged=None),
    "block loop 1, computes t0 from a": lambda: block(scheduled(BLOCKS), 0, reads=()),
    "block loop 2, reads what neither": lambda: block(scheduled(BLOCKS), 1, reads=(Let(2),)),
    "two sides are of no variant": lambda: inline(one := scheduled(SIDES), variants=one.inline.variants[:1]),
    "the run time shares loops": lambda: replace(scheduled(STAGED), threads=Threads(0, True, 1, True)),
    "a loop of no dim": lambda: replace(
        standalone_schedule(bg.from_text("(f32[?] a) -> a + 1").compilation.program).nests[0],
        threads=Threads(1, False, 1, True),
    ),
    "tiles are of no size": lambda: replace(scheduled(STAGED), tile_points=4),
    "are no dims of the nest": lambda: replace(scheduled(STAGED), shared_pass=SharedPass((3,), 1)),
    "has no inner loop": lambda: inline(scheduled(STAGED), variants=()),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_wrong_schedule_is_refused(fault):
    with pytest.raises(BcastgenError, match=f"^schedule: .*{fault}"):
        verify_schedule(FAULTS[fault]())


@pytest.mark.parametrize("text", [STAGED, BLOCKS, SIDES, "(u8[*] a, u8[*] b) -> a // 8 + b"])
def test_ours_are_right(text):
    verify_schedule(scheduled(text))
