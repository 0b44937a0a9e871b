"""The arithmetic, exhaustively on small domains: a promise admits what every instance of its operands gives."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from bcastgen.shape.dialect import lattice
from bcastgen.shape.dialect.values import UNKNOWN, UNRANKED, Shape, Size, instance_of

EXTENTS = (0, 1, 2, 3)
SHAPES = [Shape(extents) for rank in range(3) for extents in itertools.product(EXTENTS, repeat=rank)]
PROMISES = [
    UNRANKED,
    *(Shape(extents) for rank in range(3) for extents in itertools.product((None, 1, 2), repeat=rank)),
]
SIZES = [Size(value) for value in (0, 1, 5, 2**62, 2**63 - 1)]


def numpy_broadcast(shapes):
    try:
        return Shape(np.broadcast_shapes(*(shape.extents for shape in shapes)))
    except ValueError:
        return Shape(error="no")


def test_broadcast_of_known_shapes_is_numpys():
    for pair in itertools.product(SHAPES, repeat=2):
        assert lattice.broadcast(pair, "no") == numpy_broadcast(pair)
        assert lattice.broadcastable(pair) is not numpy_broadcast(pair).is_invalid


def instances(promise):
    return [shape for shape in SHAPES if not shape.is_invalid and instance_of(shape, promise)]


@pytest.mark.parametrize(
    "function",
    [
        lambda a, b: lattice.broadcast((a, b), "no"),
        lambda a, b: lattice.join_shapes(a, b, "no"),
        lattice.concat,
        lambda a, b: lattice.elementwise(max, a, b),
        lambda a, b: lattice.elementwise(min, a, b),
    ],
)
def test_every_instance_is_as_promised(function):
    for a, b in itertools.product(PROMISES, repeat=2):
        promise = function(a, b)
        for x, y in itertools.product(instances(a), instances(b)):
            assert instance_of(function(x, y), promise), (str(a), str(b), str(x), str(y))


@pytest.mark.parametrize("verdict", [lattice.broadcastable, lattice.same])
def test_verdicts_are_taken_exactly_where_every_instance_agrees(verdict):
    for a, b in itertools.product(PROMISES, repeat=2):
        found = {verdict((x, y)) for x, y in itertools.product(instances(a), instances(b))}
        early = verdict((a, b))
        assert early is None or found == {early}
        # Exact where both are ranked, up to what the small domain cannot tell; the unranked are instances of all.
        if early is None and not (a.unranked or b.unranked):
            assert len(found) == 2, (str(a), str(b))


def test_sizes_never_leave_their_domain():
    for a, b in itertools.product([*SIZES, UNKNOWN, Size(error="first")], repeat=2):
        for function, exact in ((lattice.add, int.__add__), (lattice.multiply, int.__mul__)):
            result = function(a, b)
            if a.is_invalid or b.is_invalid:
                assert result == Size(error="first")
            elif a.value is None or b.value is None:
                assert result == UNKNOWN
            else:
                value = exact(a.value, b.value)
                assert result == (Size(value) if value < 2**63 else Size(error=""))


def test_split_and_concat_undo_each_other():
    for shape in SHAPES:
        for index in range(-len(shape.extents), len(shape.extents) + 1):
            assert lattice.concat(*lattice.split(shape, index)) == shape
        assert lattice.split(shape, len(shape.extents) + 1)[0].is_invalid
        assert lattice.split(shape, -len(shape.extents) - 1)[1].is_invalid


def test_ranks_end_where_the_c_ends():
    shape = Shape((1,) * 40)
    assert lattice.concat(shape, shape).is_invalid
    assert lattice.from_extents([Size(1)] * 65).is_invalid
    assert lattice.from_extents([Size(1)] * 64) == Shape((1,) * 64)


def test_num_elements_is_the_product():
    for shape in SHAPES:
        assert lattice.num_elements(shape) == Size(int(np.prod(shape.extents, dtype=np.int64)))
