"""The sentences of chains: the reasons that `explain` gives for what is proved."""

from __future__ import annotations

import pytest

import bcastgen as bg
from bcastgen.loops.guards.listing import listing


def proved(text, **options):
    lines = listing(bg.from_text(text, **options).compilation.program).splitlines()
    return [line.replace(": proved, ", " since ") for line in lines if ": proved, " in line]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (
            "(f32[n>=2] a, f32[n] b, f32[1] c, f32[?] d) -> a + b + c + d",
            [
                "a.0 in {1, d0} since n>=2 sets d0",
                "b.0 = d0 since n is the extent of a.0, which sets it",
                "c.0 in {1, d0} since it is 1",
            ],
        ),
        ("(f32[?] a) -> a + 1", ["a.0 in {1, d0} since nothing else has an extent there"]),
        ("(f32[?!] a, f32[?] b) -> a + b", ["a.0 = d0 since ?! sets d0"]),
        ("(f32[4] a, f32[?] b) -> a + b", ["a.0 in {1, 4} since it is that extent"]),
        (
            "(f32[n, m] a, f32[n>=2] b) -> (a + 1, b + 1)",
            [
                "a.0 in {1, d0} since nothing else has an extent there",
                "a.1 in {1, d1} since nothing else has an extent there",
                "b.0 in {1, d0} since n>=2 sets d0",
            ],
        ),
        (
            "(f32[*, 2] a) -> a + 1",
            [
                "a.-1 in {1, 2} since it is that extent",
                "a.* in {1, d*} since d[-1] is 2, a.-1 = 2 and nothing else has an extent there imply it",
            ],
        ),
        # A bound that follows from another check names that one.
        (
            "(f32[3] a, f32[*, ?>=2] c) -> a + c",
            [
                "a.0 in {1, 3} since it is that extent",
                "c.-1 >= 2 since c.-1 = 3 implies it",
                "c.* in {1, d*} since d[-1] is 3, c.-1 = 3 and nothing else has an extent there imply it",
            ],
        ),
    ],
)
def test_reasons(text, lines):
    assert proved(text) == lines


def test_declared_results():
    kernel = bg.jit(lambda a, b: a + b, signature="(f32[n>=2] a, f32[?] b) -> f32[n>=2]", name="k")
    reasons = [line for line in kernel.stages["constraints"].splitlines() if line.startswith("r.")]
    assert reasons == [
        "r.rank = 1 = d.rank: proved, the domain has rank 1",
        "r.0 = a.0 (n): proved, d0 is n",
        "r.0 >= 2: proved, n>=2 sets d0 and a.0 >= 2 imply it",
    ]
