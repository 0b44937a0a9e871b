"""The verifier of schedules: each fault has its sentence, and no schedule of ours has one."""

from __future__ import annotations

from dataclasses import replace

import pytest

import bcastgen as bg
from bcastgen.core.errors import BcastgenError
from bcastgen.loops.nest import Let, Load
from bcastgen.loops.schedule.program_schedule import standalone_schedule
from bcastgen.loops.schedule.shared_rows import SharedPass
from bcastgen.loops.schedule.threads import Threads
from bcastgen.loops.schedule.verify import verify_program, verify_schedule
from bcastgen.loops.schedule.widened_reads import WidenedReads

STAGED = "(f32[*] a, f32[*] b) -> exp(a) * sin(b)"
BLOCKS = "(f32[*] a) -> a * tanh(log1p(exp(a)))"
TILED = "(f32[?,?] x, f32[1,?] s) -> x * exp(s) + 1"
ROWS = "(f32[?,?] a, f32[?,?] b) -> a + b"
NARROW = "(u8[*] a, f32[*] b) -> a * b"
BYTES = "(u8[*] a) -> (a.astype(u16) * 3 >> 2).astype(uint8)"
SIDES = "(bool[*] m, f32[*] a, f32[*] b) -> where(m, a, a * b)"


def scheduled(text):
    return bg.from_text(text).compilation.schedules[0]


def standalone(text, **options):
    return standalone_schedule(bg.from_text(text).compilation.program, **options).nests[0]


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
    "a loop of no dim": lambda: replace(standalone("(f32[?] a) -> a + 1"), threads=Threads(1, False, 1, True)),
    "there is no walk": lambda: replace(scheduled(STAGED), walk="diagonals"),
    "tiles are of no size": lambda: replace(standalone(TILED), block_points=0),
    "blocks are of no size": lambda: replace(standalone(ROWS), walk="blocks"),
    "a nest with points has no loops": lambda: replace(standalone(ROWS), walk="none"),
    "those of a loop without variants": lambda: replace(standalone(ROWS, variants=0), walk="rows"),
    "a nest of known rank has a plan": lambda: replace(standalone(ROWS), walk="planned"),
    "a dim of several points has no loop": lambda: replace(standalone(ROWS), dims=(0,)),
    "what is computed is no copy": lambda: replace(scheduled(BLOCKS), copies=True),
    "may be an array of another type": lambda: replace(standalone("(f64[?] a) -> f32(a)"), in_place=((0,),)),
    "what is aligned is no array": lambda: replace(standalone(ROWS), aligned=(3,)),
    "unit aligns no rows": lambda: inline(
        one := standalone(ROWS), variants=tuple(replace(each, aligned=(0,)) for each in one.inline.variants)
    ),
    "prefetches what it does not read": lambda: block(scheduled(BLOCKS), 1, prefetched=(Load(1),)),
    "widens what it reads in a variant that it has not": lambda: inline(
        one := scheduled(NARROW), variants=one.inline.variants[1:]
    ),
    "widens what it reads, and goes by blocks": lambda: inline(
        scheduled(BLOCKS), widened=WidenedReads(32, scheduled(BLOCKS).inline.variants)
    ),
    "has words that are widened": lambda: inline(
        one := scheduled(BYTES), widened=WidenedReads(32, one.inline.words.variants)
    ),
    "are no dims of the nest": lambda: replace(scheduled(STAGED), shared_pass=SharedPass((3,), 1)),
    "has no inner loop": lambda: inline(scheduled(STAGED), variants=()),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_wrong_schedule_is_refused(fault):
    with pytest.raises(BcastgenError, match=f"^schedule: .*{fault}"):
        verify_schedule(FAULTS[fault]())


CENTRED = "(f32[?,?] x) -> x - max(x, axis=1, keepdims=True)"


def program(text, **changed):
    made = replace(standalone_schedule(bg.from_text(text).compilation.rewritten.program), **changed)
    return made.nests, made.sharing, made.restrict


def sharing_of(text, at, **changed):
    """The schedule of a program whose first group, or a member of it, is changed."""
    made = standalone_schedule(bg.from_text(text).compilation.rewritten.program)
    group = made.sharing.groups[0]
    if at is not None:
        members = [replace(one, **changed) if number == at else one for number, one in enumerate(group.members)]
        changed = {"members": tuple(members)}
    return made.nests, replace(made.sharing, groups=(replace(group, **changed), *made.sharing.groups[1:])), False


PROGRAM_FAULTS = {
    "may be an operand that a later nest reads": lambda: (
        (replace((nests := program("(f32[4] a, f32[3,4] b) -> a + 1, a * b")[0])[0], in_place=((0,),)), nests[1]),
        None,
        False,
    ),
    "that is `restrict` may be an operand": lambda: program(ROWS, restrict=True),
    "is in no shared loops, or in several": lambda: sharing_of(CENTRED, 1, nest=0),
    "shares a loop over no dim of its own": lambda: sharing_of(CENTRED, 1, dims=(2,)),
    "reads from memory what is not there": lambda: sharing_of(CENTRED, 1, from_memory=frozenset({1})),
    "are never looked at, or twice": lambda: sharing_of(CENTRED, None, asks=(0,)),
}


@pytest.mark.parametrize("fault", PROGRAM_FAULTS)
def test_a_wrong_schedule_of_a_program_is_refused(fault):
    with pytest.raises(BcastgenError, match=f"^schedule: .*{fault}"):
        verify_program(*PROGRAM_FAULTS[fault]())


@pytest.mark.parametrize("text", [STAGED, BLOCKS, SIDES, NARROW, BYTES, "(u8[*] a, u8[*] b) -> a // 8 + b"])
def test_ours_are_right(text):
    verify_schedule(scheduled(text))


@pytest.mark.parametrize("options", [{}, {"variants": 0}, {"openmp": True}, {"alignment": 32}, {"vector_bytes": 32}])
@pytest.mark.parametrize("text", [STAGED, BLOCKS, SIDES, TILED, ROWS, "(f32[?,?] x) -> x - max(x, axis=1)[:, None]"])
def test_ours_of_standalone_c_are_right(text, options):
    verify_schedule(standalone(text, **options))
