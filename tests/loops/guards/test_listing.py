"""The list of `explain`: what it calls checked has its step in the guards, and every step that checks is listed."""

from __future__ import annotations

import random

import pytest

import bcastgen as bg
from bcastgen.loops.guard_program.ir import Check, HasDomainRank, HasRank, Meet, MeetFront, ResultHasRank
from bcastgen.loops.guards import listing as listing_module
from bcastgen.loops.guards.listing import listing
from shape_kernels import make_kernel
from shape_sides import product
from signatures import PROGRAMS, signature


def asked_by_steps(program):
    """What the steps say, each spelled here once more; of ranks only those that some arrays do not have."""
    guards, found = program.guards, set()
    for step in (*(step for nest in guards.nests for step in nest.all_steps), *guards.ties):
        match step:
            case Check(says=says) | Meet(says=says) | MeetFront(says=says):
                found |= {says} - {""}
            case HasRank(operand=at, rank=rank, exact=exact) if exact or rank:
                found.add(f"{guards.named[at]}.rank {'=' if exact else '>='} {rank}")
            case ResultHasRank(subject=at, rank=rank, exact=True):
                found.add(f"{guards.named[at]}.rank = {rank} = d.rank")
            case ResultHasRank(subject=at, rank=rank):
                found.add(f"{guards.named[at]}.rank = d.rank >= {rank}")
    return found


def hold(program):
    lines = [line.split(": ", 1) for line in listing(program).splitlines()]
    checked = {text for text, fate in lines if fate.startswith("checked, ")}
    ranks = {f"{name}.rank = {other}.rank" for name in program.guards.named for other in program.guards.named}
    assert checked - ranks == asked_by_steps(program), f"{program.guards}\n{listing(program)}"
    # Equal ranks are asked as two ranks that are each the domain's.
    for text in checked & ranks:
        for name in text.replace(".rank", "").split(" = "):
            at = program.guards.named.index(name)
            assert any(HasDomainRank(at) in nest.steps for nest in program.guards.nests)


@pytest.mark.parametrize("text", PROGRAMS)
def test_the_lists_of_the_goldens(text):
    hold(bg.from_text(text).compilation.program)


@pytest.mark.parametrize("seed", range(3))
def test_the_lists_of_random_kernels(seed):
    chance = random.Random(seed)
    for _ in range(60):
        hold(signature(chance))
        try:
            program = product(make_kernel(chance)).compilation.program
        except bg.BcastgenError as error:
            assert "internal" not in str(error)
            continue
        hold(program)


def test_the_dump_and_the_file_list_what_the_steps_check(tmp_path):
    kernel = bg.from_text("(f32[*, n!] a, f32[m, n] b) -> a + b", "k")
    (checked,) = [line for line in kernel.stages["nest"].splitlines() if "checked at run time" in line]
    assert checked.split(": ")[1].split("; ") == list(kernel.compilation.program.guards.checked(0))
    kernel.emit_c(tmp_path, "k", verbose=True)
    assert " ".join(checked.split()) in " ".join((tmp_path / "k.c").read_text().replace(" * ", " ").split())


def test_the_search_for_reasons_is_bounded_for_all_together(monkeypatch):
    """Many dims of one symbol took a minute: each reason was looked for among all facts, again and again."""
    dims = ", ".join(f"n>={at}" for at in range(16))
    text = f"(f32[{dims}] a, f32[{dims}] b) -> a + b"
    program = bg.from_text(text).compilation.program
    whole = listing_module.listing(program)
    assert "proved, what else is checked implies it" not in whole
    monkeypatch.setattr(listing_module, "_MOST_LOOKS", 500)
    few = listing_module.listing(program)
    assert few != whole and "proved, what else is checked implies it" in few
    assert [line.split(": ")[0] for line in few.splitlines()] == [line.split(": ")[0] for line in whole.splitlines()]
