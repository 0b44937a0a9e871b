"""Casts between floats and integers of 64 bits: every length of number, both ends, halves of units, in vectors."""

from __future__ import annotations

import math
import platform
import random

import numpy as np
import pytest

from bcastgen import from_text

X86_64 = platform.machine().lower() in ("x86_64", "amd64")


@pytest.fixture(params=["of this CPU", "-march=x86-64-v3"], autouse=True)
def instructions(request, monkeypatch):
    """Use this CPU's instructions, or those before AVX-512, where no one instruction converts 64 bits."""
    if request.param.startswith("-"):
        if not X86_64:
            pytest.skip("its instructions are of x86-64")
        monkeypatch.setenv("BCASTGEN_CFLAGS", request.param)


def integers(low, high):
    """Both ends, powers of two and what is around them, what lies between two doubles, and random ones."""
    chance = random.Random(5)
    found = {low, low + 1, high - 1, high, 0, 1, -1}
    for bits in range(64):
        for near in (-1, 0, 1, 2 ** max(bits - 53, 0), 2 ** max(bits - 54, 0), 3 * 2 ** max(bits - 54, 0)):
            found |= {2**bits + near, -(2**bits) - near}
    found |= {chance.getrandbits(chance.randint(1, 64)) * chance.choice((1, -1)) for _ in range(20_000)}
    return sorted(value for value in found if low <= value <= high)


@pytest.mark.parametrize("kind", ["int64", "uint64"])
def test_integers_become_the_nearest_doubles(kind):
    info = np.iinfo(kind)
    values = integers(int(info.min), int(info.max))
    found = from_text("a.astype(float64)")(np.array(values, kind))
    # Python's int rounds once, to the nearest and then to the even one.
    expected = np.array([float(value) for value in values])
    np.testing.assert_array_equal(found.view(np.uint64), expected.view(np.uint64))


@pytest.mark.parametrize("source", ["float32", "float64"])
@pytest.mark.parametrize("kind", ["int64", "uint64"])
def test_floats_become_their_whole_part_or_the_nearer_end(kind, source):
    info = np.iinfo(kind)
    whole = np.array([float(value) for value in integers(-(2**64), 2**64)]).astype(source)
    # Parts of a unit, up to the last one below it.
    parts = np.concatenate([whole + np.array(part, source) for part in (0.25, 0.5, -0.75)])
    near = np.nextafter(whole, np.array(0, source))
    ends = np.array([np.inf, -np.inf, np.nan, 1e300 if source == "float64" else 1e38, -0.0, 5e-324], source)
    x = np.concatenate([whole, parts, near, ends])
    found = from_text(f"a.astype({kind})")(x)

    def of(value):
        if math.isnan(value):
            return 0
        return int(max(info.min, min(info.max, int(max(-(2.0**70), min(2.0**70, value))))))

    np.testing.assert_array_equal(found, np.array([of(float(value)) for value in x], kind))
