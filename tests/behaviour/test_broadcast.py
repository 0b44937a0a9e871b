"""Broadcast patterns: one compiled kernel gives NumPy's result for every combination of small shapes, in every layout.

The kernel is `(a + b) * c`. A shape is any of the 341 of ranks 0-4 with extents {0, 1, 2, 3}; of their 39.7 million
triples, 1230941 broadcast. The fast test calls each of them once, the slow one in all 125 mixes of layouts. Without the
extension it calls every 21st, and every 16th of those that are refused: what differs then is only how each operand is
described to the same C, and every operand is of every shape and layout among them.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from bcastgen.api.functions import jit
from bcastgen.core.errors import BroadcastError
from bcastgen.runtime.base import implementation
from long_runs import many

EXTENTS = (0, 1, 2, 3)
SHAPES = tuple(shape for rank in range(5) for shape in itertools.product(EXTENTS, repeat=rank))
TRIPLES = 1_230_941


def fits(first, second):
    """Whether NumPy's rule lets two shapes meet: aligned on the right, equal or 1."""
    return all(x == y or 1 in (x, y) for x, y in zip(reversed(first), reversed(second), strict=False))


# Shape -> the shapes it fits, in order (a dict, to be asked quickly too).
PARTNERS = {shape: dict.fromkeys(other for other in SHAPES if fits(shape, other)) for shape in SHAPES}


def triples():
    """Every three shapes that broadcast together: those that do pair by pair."""
    for first, partners in PARTNERS.items():
        for second in partners:
            for third in partners:
                if third in PARTNERS[second]:
                    yield first, second, third


@pytest.fixture
def kernel(tmp_path, monkeypatch):
    """Not compiled yet, and for no other test."""
    monkeypatch.setenv("BCASTGEN_CACHE_DIR", str(tmp_path / "cache"))
    return jit(lambda a, b, c: (a + b) * c)


@pytest.fixture(scope="module")
def operands(layouts):
    """For each place of an operand, shape -> arrays of it: one for each layout, and last one that is stretched.

    Numbers are whole and few, so that sums and products are exact, and differ from element to element.
    """
    chosen = [layouts[name] for name in ("contiguous", "fortran", "strided", "reversed")]
    random = np.random.default_rng(0)
    arrays = []
    for _ in range(3):
        by_shape = {}
        for shape in SHAPES:
            array = random.permutation(np.arange(2.0, 2 + int(np.prod(shape)))).reshape(shape)
            corner = array[(slice(-1, None),) * array.ndim] if array.size else np.float64(7)
            laid_out = (lay(array) if array.ndim else array for lay in chosen)
            by_shape[shape] = (*laid_out, np.broadcast_to(corner, shape))
        arrays.append(by_shape)
    return arrays


def mixed(step=1):
    """Every so-many-th triple, and layouts that go round like the digits of a counter: each meets every pattern."""
    for count, shapes in enumerate(itertools.islice(triples(), 0, None, step)):
        yield shapes, (count % 5, count // 5 % 5, count // 25 % 5)


SAMPLE = 21
# Of what is refused every so-many-th pair: a number that the three places of operands do not divide.
REFUSED = 16


def test_every_broadcast_pattern_is_numpys_from_one_compilation(kernel, operands):
    as_first, as_second, as_third = operands
    step, count = 1 if implementation == "extension" else SAMPLE, 0
    for shapes, mix in mixed(step):
        first, second, third = shapes
        a, b, c = as_first[first][mix[0]], as_second[second][mix[1]], as_third[third][mix[2]]
        got, wanted = kernel(a, b, c), (a + b) * c
        assert got.shape == wanted.shape and got.tobytes() == wanted.tobytes(), (shapes, mix)
        count += 1
    assert got.dtype == np.float64
    assert count == len(range(0, TRIPLES, step))
    assert kernel.compilations == 1


def test_a_sample_has_every_operand_in_every_shape_and_layout():
    described = [{(shapes[at], mix[at]) for shapes, mix in mixed(SAMPLE)} for at in range(3)]
    assert [len(known) for known in described] == [5 * len(SHAPES)] * 3


PARTS = 5
# Each part takes every fourth of its triples, in a long run all.
STEP = many(4, 1) * PARTS


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_every_broadcast_pattern_in_every_mix_of_layouts(part, kernel, operands):
    mixes = list(itertools.product(range(5), repeat=3))
    # Values depend only on which operands are the stretched ones: NumPy computes one of eight results.
    stretched = list(itertools.product((0, 4), repeat=3))
    places = [stretched.index(tuple(4 * (at == 4) for at in mix)) for mix in mixes]
    count = 0
    for shapes in itertools.islice(triples(), part, None, STEP):
        first, second, third = (arrays[shape] for arrays, shape in zip(operands, shapes, strict=True))
        some = [((first[x] + second[y]) * third[z]).tobytes() for x, y, z in stretched]
        wanted = [some[place] for place in places]
        got = [result.tobytes() for result in itertools.starmap(kernel, itertools.product(first, second, third))]
        assert got == wanted, (*shapes, *(mix for mix, x, y in zip(mixes, got, wanted, strict=True) if x != y))
        count += len(got)
    assert count == 125 * len(range(part, TRIPLES, STEP))
    assert kernel.compilations == 1


def test_what_numpy_refuses_is_refused_with_the_operand_and_dim(kernel):
    arrays = {shape: np.ones(shape) for shape in SHAPES}
    places = itertools.cycle(itertools.combinations("abc", 2))
    pairs = [pair for pair in itertools.product(SHAPES, repeat=2) if pair[1] not in PARTNERS[pair[0]]]
    step = 1 if implementation == "extension" else REFUSED
    for first, second in pairs[::step]:
        one, other = next(places)
        named = dict.fromkeys("abc", arrays[()]) | {one: arrays[first], other: arrays[second]}
        with pytest.raises(BroadcastError) as caught:
            kernel(**named)
        with pytest.raises(ValueError, match="could not be broadcast"):
            (named["a"] + named["b"]) * named["c"]
        error = caught.value
        assert (error.operand, error.against) == (other, one)
        assert second[error.dim] == error.actual
        assert first[error.dim - len(second)] == error.expected
    assert len(pairs) == len(SHAPES) ** 2 - sum(map(len, PARTNERS.values()))


@pytest.mark.parametrize("axes", list(itertools.permutations(range(3))), ids=str)
def test_results_are_laid_out_as_numpys(kernel, axes):
    full = np.ones((2, 3, 4)).transpose(axes)
    row = np.ones(full.shape[-1])
    for a, b, c in itertools.product((full, row, 2.0), repeat=3):
        if isinstance(a, float) and isinstance(b, float) and isinstance(c, float):
            continue
        assert kernel(a, b, c).strides == ((a + b) * c).strides
