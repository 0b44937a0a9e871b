"""The checks that a kernel makes: one for each constraint that types and facts leave undecided, and no other."""

from __future__ import annotations

import itertools
import re
from collections import Counter

import numpy as np
import pytest

import bcastgen as bg
from bcastgen.loops.guard_program.code import guard_steps
from bcastgen.loops.interpret import result_extents
from bcastgen.shape.constraints import RankAtLeast, RankIs, SameRank

DIMS = ("?", "n", "m", "1", "3", "n>=2", "?%4", "?!", "bcast", "n<=8")
ONE_DIM = list(itertools.product(DIMS, DIMS))
TWO_DIMS = [
    "(f32[n, 4] a, f32[n, 1] b) -> a + b",
    "(f32[n, m] a, f32[m] b) -> a + b",
    "(f32[?, ?] a, f32[?, ?] b) -> a + b * 2",
    "(f32[?, 4] a, f32[5, ?] b) -> a + b",
    "(f32[n>=2, m%8] a, f32[?, ?] b) -> a + b",
    "(f32[n!, m!] a, f32[n, m] b) -> a + b",
    "(f32[n, n] a, f32[?, n] b) -> a - b.T",
    "(f32[n, m] a, f32[k] b) -> broadcast_in_dim(b, a, (0,)) * a",
    "(f32[?, ?] a) -> a + a.T",
    "(f32[n, n] a) -> a + a.T",
    "(f32[?, ?, ?] a, f32[?, 1, ?] b, f32[?] c) -> a + b + c",
    "(f32[n, m, 4] a, f32[n, m, 4] b, f32[m, 4] c) -> a * b + c",
    "(f32[n>=2] a, f32[n<=9] b, f32[?] c) -> a * b + c",
]


# How many numbers follow each step of a guard code that operands of known rank have.
ARGUMENTS = {"HAS_RANK": 3, "DOMAIN_RANK": 1, "DEFINE": 5, "MEET": 3, "WIDEN": 3, "CHECK": 13, "OVERFLOW": 2, "END": 0}


def checks(kernel: bg.Kernel) -> int:
    """Count the comparisons of extents in the guards that a kernel of the JIT has."""
    steps = {number: name for name, number in guard_steps().items()}
    found, at = Counter[str](), 0
    numbers = [int(number) for number in re.search(r"bcg_entry_guards\[\] = {([^}]*)}", kernel.source)[1].split(",")]
    at = 4 + numbers[1] + numbers[2]
    while at < len(numbers):
        name = steps[numbers[at]]
        found[name] += 1
        at += 1 + (4 + numbers[at + 4] if name == "NEST" else ARGUMENTS[name])
    # How many bytes a result may have no type says: that is asked wherever an extent is not known.
    assert found["OVERFLOW"] <= 1
    assert found["END"] == 1
    return found["CHECK"] + found["MEET"]


def undecided(kernel: bg.Kernel) -> int:
    return sum(
        not isinstance(constraint, (RankIs, RankAtLeast, SameRank))
        for nest in kernel.compilation.program.nests
        for constraint in nest.domain.constraints
    )


@pytest.mark.parametrize(("a", "b"), ONE_DIM)
def test_checks_are_the_undecided_constraints(a, b):
    text = f"(f32[{a}] a, f32[{b}] b) -> a + b"
    try:
        kernel = bg.from_text(text)
        program = kernel.compilation.program
    except bg.BroadcastError:
        # What is refuted at compile time has no C.
        assert not {a, b} & {"?", "1", "bcast"}, text
        return
    assert checks(kernel) == undecided(kernel), f"{text}\n{program}\n{kernel.source}"


OPTIONS = ({}, {"dynamic": "strict"}, {"dynamic": "trusted"}, {"stretch": False})
# An extent of 1 that may not stretch is refuted at compile time.
ALLOWED = [(text, o) for text in TWO_DIMS for o in OPTIONS if "stretch" not in o or not re.search(r"[ \[]1[,\]]", text)]


@pytest.mark.parametrize(("text", "options"), ALLOWED, ids=str)
def test_checks_are_the_undecided_constraints_of_more_dims(text, options):
    kernel = bg.from_text(text, **options)
    assert checks(kernel) == undecided(kernel), f"{text}\n{kernel.compilation.program}\n{kernel.source}"


# The target of an explicit broadcast is no freedom of the dims, so no mode of theirs takes it away.
@pytest.mark.parametrize("text", [text for text in TWO_DIMS if "broadcast_in_dim" not in text])
def test_nothing_is_checked_on_trust(text):
    kernel = bg.from_text(text, dynamic="trusted")
    asked = [str(c) for nest in kernel.compilation.program.nests for c in nest.domain.constraints]
    # Extents that a type states, and ranks, are no dynamic dims.
    assert all(re.fullmatch(r"\w+\.(?:rank >?= \d+|\d+ = \d+)", constraint) for constraint in asked), asked


def test_what_is_trusted_is_checked_while_debugging(monkeypatch):
    import numpy as np

    monkeypatch.setenv("BCASTGEN_DEBUG", "1")
    kernel = bg.jit(lambda a, b: a + b, dynamic="trusted")
    with pytest.raises(bg.BroadcastError, match="does not stretch"):
        kernel(np.ones(3), np.ones(4))


def test_the_header_states_trust(tmp_path):
    header = bg.from_text("(f32[?] a, f32[?] b) -> a + b", "blind", dynamic="trusted").emit_c(tmp_path)[1].read_text()
    assert "undefined" in header
    assert "not checked" in header


def test_text_cannot_ask_for_trust():
    with pytest.raises(bg.ParseError, match="trusted"):
        bg.from_text("(f32[n trusted] a) -> a")


def test_a_size_1_select_that_cannot_fire_is_not_there(tmp_path):
    open_, known = (
        bg.from_text(f"(f32[{dim}] a, f32[?] b) -> a + b", "k").emit_c(tmp_path)[0].read_text() for dim in ("?", "n>=2")
    )
    assert "bcastgen_stride(a, 0); /* a.0 is 1 or d0 */" in open_
    assert "bcastgen_stride(a, 0)" not in known
    assert "a_d0 = a->byte_strides[0]" in known
    assert "bcastgen_stride(b, 0); /* b.0 is 1 or d0 */" in known


def test_every_constraint_is_listed_with_its_fate():
    text = bg.from_text("(f32[n>=2, m] a, f32[?, m] b) -> a + b").explain()
    listed = text[text.index("== constraints") : text.index("== shape")]
    assert "a.0 >= 2: checked" in listed
    assert "a.0 in {1, d0}: proved" in listed
    assert "b.0 in {1, d0}: checked" in listed
    assert "b.1 = a.1 (m): checked" in listed
    with pytest.raises(bg.BroadcastError, match="dim 0"):
        bg.from_text("(f32[n>=4] a, f32[m>=2<=3] b) -> a + b").explain()


# ---- dims that types know, behind those that they do not -------------------------------------------------------------

BEHIND = ["*, ?", "*, n", "*, n, ?", "*, m, n", "*, 3", "*", "?", "n, m", "*, k>=2", "*, 1, ?", "*, n, n"]
PAIRS = [pair for pair in itertools.product(BEHIND, BEHIND) if "*" in "".join(pair)]
FEW = [("*, ?", "*, ?"), ("*", "*, n, ?"), ("*, n", "*"), ("n, m", "*, ?"), ("*, m, n", "*, n, n"), ("*, 3", "*, k>=2")]
OPEN_SHAPES = [shape for rank in range(4) for shape in itertools.product((1, 2, 3)[: 5 - rank], repeat=rank)]


@pytest.mark.parametrize(
    ("first", "second"), [*FEW, *(pytest.param(*pair, marks=pytest.mark.slow) for pair in PAIRS if pair not in FEW)]
)
def test_known_dims_of_operands_of_any_rank_meet_the_others(first, second):
    kernel = bg.from_text(f"(f32[{first}] a, f32[{second}] b) -> a - b")
    program = kernel.compilation.program
    for shapes in itertools.product(OPEN_SHAPES, OPEN_SHAPES):
        try:
            wanted = result_extents(program, shapes)[0]
        except bg.BroadcastError:
            wanted = None
        try:
            found = kernel.result_shape(*shapes)
        except bg.BroadcastError:
            found = None
        assert found == wanted, shapes
        # What the interpreter takes, NumPy does.
        assert wanted is None or wanted == np.broadcast_shapes(*shapes)
