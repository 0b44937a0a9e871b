"""Lattice values: how they print, what they refuse, and which promise admits what."""

from __future__ import annotations

import itertools
import re

import numpy as np
import pytest

from bcastgen.core.dtypes import F32, I64
from bcastgen.core.errors import BroadcastError
from bcastgen.core.resources import csrc_file
from bcastgen.shape.dialect.values import (
    MAX_RANK,
    UNKNOWN,
    UNRANKED,
    ElementType,
    Shape,
    Size,
    ValueShape,
    Witness,
    instance_of,
    show,
)

INVALID = Shape(error="why")


def test_shapes_print_as_the_text_says():
    shapes = [UNRANKED, Shape.of(None, 2), Shape.of(3, 4), Shape(), Shape.of(1), INVALID]
    assert [str(shape) for shape in shapes] == ["[*]", "[?, 2]", "[3, 4]", "[]", "[1]", "[invalid]"]
    assert [str(size) for size in (Size(3), UNKNOWN, Size(error=""))] == ["3", "?", "invalid"]
    assert [show(value) for value in (None, (1, None), True, -3)] == ["?", "[1, ?]", "true", "-3"]


@pytest.mark.parametrize(
    "make",
    [
        lambda: Size(-1),
        lambda: Size(2**63),
        lambda: Size(True),
        lambda: Size(3, error="why"),
        lambda: Shape.of(2, -1),
        lambda: Shape.of("n"),
        lambda: Shape((2,), unranked=True),
        lambda: Shape((2,), error="why"),
        lambda: Shape(unranked=True, error="why"),
        lambda: ElementType(F32, error="why"),
    ],
)
def test_what_is_no_value(make):
    with pytest.raises(BroadcastError):
        make()


def test_a_value_that_does_not_conform_to_its_shape_is_refused():
    with pytest.raises(BroadcastError, match=r"a value of shape \[1, 2\] does not conform to the shape \[3, \?\]"):
        ValueShape([[1, 2]], Shape.of(3, None))
    assert ValueShape(np.zeros((3, 2)), Shape.of(3, None)).shape == Shape.of(3, 2)
    assert ValueShape(7.0).shape == Shape()
    with pytest.raises(BroadcastError):
        ValueShape(7.0, INVALID)


def test_numpy_extents_become_ints():
    assert type(Shape.of(np.int64(3)).extents[0]) is int
    assert type(Size(np.uint8(3)).value) is int


# From the least known to the most: every one admits itself, what stands after it in its list, and what is invalid.
CHAINS = [
    [UNRANKED, Shape.of(None, None), Shape.of(None, 2), Shape.of(3, 2), INVALID],
    [UNKNOWN, Size(3), Size(error="")],
    [None, (None, None), (None, 2), (3, 2)],
    [None, 4],
    [None, True],
    [Witness(), Witness(True)],
    [Witness(), Witness(False, "why")],
    [ElementType(), ElementType(F32), ElementType(error="")],
    [ValueShape(), ValueShape(None, Shape.of(None)), ValueShape(None, Shape.of(2)), ValueShape([5, 6])],
]


@pytest.mark.parametrize("chain", CHAINS, ids=lambda chain: show(chain[-1]))
def test_a_promise_admits_what_says_more(chain):
    for first, second in itertools.combinations(chain, 2):
        assert instance_of(second, first)
        assert not instance_of(first, second)
    assert all(instance_of(value, value) for value in chain)


@pytest.mark.parametrize(
    ("value", "promise"),
    [
        (Shape.of(3, 2), Shape.of(3)),
        (Shape.of(3, 2), Shape.of(2, 2)),
        (Shape.of(3), INVALID),
        (Size(3), Size(4)),
        (Witness(False), Witness(True)),
        (ElementType(F32), ElementType(I64)),
        (ValueShape([1, 2]), ValueShape([1, 3])),
        ((1, 2), (1,)),
        (1, True),
        (Size(3), Shape.of(3)),
    ],
)
def test_a_promise_does_not_admit_what_contradicts_it(value, promise):
    assert not instance_of(value, promise)


def test_invalid_values_are_instances_of_every_promise_but_admit_nothing_else():
    for shape in (UNRANKED, Shape(), Shape.of(3)):
        assert instance_of(INVALID, shape)
        assert not instance_of(shape, INVALID)


def test_the_highest_rank_is_the_c_one():
    assert re.search(rf"#define BCG_MAX_RANK {MAX_RANK}\b", csrc_file("bcg_abi.h").read_text())
