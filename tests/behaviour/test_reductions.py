"""Reductions: what NumPy gives, along a tree that depends on nothing but the elements and their number."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest

import bcastgen as bg
from bcastgen.core.dtypes import COMPUTED, DTYPES
from bcastgen.core.errors import BcastgenError, DomainError
from tests.support.reduction_programs import Program

NAMES = ("sum", "prod", "mean", "var", "std", "min", "max", "any", "all", "argmin", "argmax", "count_nonzero")


def programs(count, seed):
    random = np.random.default_rng(seed)
    for number in range(count):
        program = Program(random)
        difference = program.difference()
        assert not difference, f"program {number} of seed {seed}: {program}: {difference}"


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_random_programs_give_what_numpy_gives():
    programs(40, 1)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_many_random_programs_give_what_numpy_gives():
    programs(400, 2)


@pytest.mark.parametrize("name", NAMES)
def test_dtypes_are_numpys(name):
    for row in COMPUTED:
        if row.name == "bf16" or (row.is_complex and name in ("min", "max", "argmin", "argmax")):
            continue
        array = np.ones((2, 3), row.np)
        expected = getattr(np, name)(array, axis=1)
        kernel = bg.jit(lambda x: getattr(np, name)(x, axis=1))
        assert kernel.result_shape((2, 3)) == (2,)
        assert [row.np for row in kernel._compilation((row,), (2,)).typed.result_dtypes] == [expected.dtype], row.name


def test_storage_types_are_refused():
    for row in set(DTYPES) - set(COMPUTED):
        with pytest.raises(bg.DTypeError, match="storage type"):
            bg.from_text("max(x, axis=0)")._compilation((row,), (1,)).typed  # noqa: B018


def sums_of(layouts):
    total = bg.jit(lambda x: (np.sum(x, axis=1), np.mean(x, axis=0), np.sum(x)))
    return [tuple(np.asarray(one).tobytes() for one in total(x)) for x in layouts]


def test_bits_depend_on_elements_alone():
    random = np.random.default_rng(3)
    for shape in ((700, 900), (3, 100_003), (20_011, 5), (1, 77), (513, 1)):
        x = random.normal(size=shape).astype(np.float32)
        wide = np.zeros((2 * shape[0], 3 * shape[1] + 1), np.float32)
        wide[::2, 1::3] = x
        apart = np.zeros(x.size + 1, np.float32)[1:].reshape(shape)
        apart[:] = x
        backwards = np.ascontiguousarray(x[::-1, ::-1])[::-1, ::-1]
        layouts = (x, np.asfortranarray(x), wide[::2, 1::3], apart, backwards)
        assert len(set(sums_of(layouts))) == 1, shape


def test_bits_are_those_of_any_number_of_threads():
    x = np.random.default_rng(4).normal(size=(300, 7, 1001))
    for axis in (None, 0, 1, 2, (0, 2), (1, 2)):
        both = f"sum(x * 3, axis={axis}), min(x, axis={axis})"
        kernels = [bg.from_text(both, threads=n) for n in (1, 2, 4)]
        assert len({tuple(np.asarray(one).tobytes() for one in kernel(x)) for kernel in kernels}) == 1


@pytest.mark.parametrize("count", [1000, 100_000])
def test_errors_of_sums_keep_their_bound(count):
    random = np.random.default_rng(5)
    total = bg.jit(lambda x: x.sum())
    ours = []
    for _ in range(10):
        for x in (random.random(count), random.normal(size=count), 10.0 ** random.uniform(-8, 8, count)):
            exact, size = math.fsum(x), math.fsum(abs(x))
            ours.append(abs(float(total(x)) - exact) / size)
    # The additions on the way from an element to the result. NumPy's pairwise sum has 16 where ours has 8 in a lane: of
    # blocks of 128, too, in 8 lanes. One sum's own error is luck, so that only the bounds compare.
    assert max(ours) <= (128 / 16 + 4 + math.ceil(math.log2(count / 128)) + 1) * 2.0**-53


def test_integers_wrap_and_short_ones_are_summed_in_64_bits():
    x = np.full(1000, 127, np.int8)
    assert bg.evaluate("sum(x)", {"x": x}) == 127_000
    assert bg.evaluate("sum(x, dtype=int8)", {"x": x}) == np.sum(x, dtype=np.int8)
    y = np.full(3, 2**62)
    assert bg.evaluate("prod(y)", {"y": y}) == 0
    assert bg.evaluate("sum(y)", {"y": y}) == np.sum(y)


def value(text, x):
    return bg.evaluate(text, {"x": x})


def test_no_elements():
    x = np.zeros((0, 3), np.float32)
    for text, expected in (
        ("sum(x, axis=0)", 0),
        ("prod(x, axis=0)", 1),
        ("any(x, axis=0)", False),
        ("all(x, axis=0)", 1),
    ):
        assert (value(text, x) == expected).all()
    assert np.isnan(value("mean(x, axis=0)", x)).all()
    assert value("min(x, axis=1)", x).shape == (0,)
    assert (value("min(x, axis=0, initial=4)", x) == 4).all()
    for text in ("min(x)", "argmax(x, axis=0)"):
        with pytest.raises(bg.BroadcastError, match="'x' dim 0 has extent 0"):
            value(text, x)
    with pytest.raises(bg.BroadcastError, match="'x' dim 0 has extent 0"):
        bg.from_text("(f32[?, ?] x) -> max(x)").result_shape((0, 3))


def test_nan_and_ties():
    x = np.array([[1.0, np.nan, 0.0, np.nan], [2.0, 5.0, 5.0, 1.0]])
    assert np.isnan(value("max(x, axis=1)", x)[0])
    assert value("argmin(x, axis=1)", x).tolist() == [1, 3]
    assert value("argmax(x, axis=1)", x).tolist() == [1, 1]
    assert np.signbit(value("sum(x)", np.array([-0.0, -0.0])))


def test_16_bit_floats_are_combined_in_32_bits():
    x = np.full(5000, 1.0, np.float16)
    assert value("sum(x)", x) == 5000
    assert value("mean(x)", x) == 1
    ml_dtypes = pytest.importorskip("ml_dtypes")
    y = np.full(1000, 1.0).astype(ml_dtypes.bfloat16)
    assert float(value("sum(x)", y)) == 1000
    assert value("max(x)", y).dtype == y.dtype


def test_logsumexp_does_not_overflow():
    x = np.array([[1000.0, 1000.0], [-np.inf, -np.inf], [np.inf, 0.0]])
    assert value("logsumexp(x, axis=1)", x).tolist() == [1000 + math.log(2), -math.inf, math.inf]


def test_results_go_back_into_the_domain():
    x = np.random.default_rng(6).normal(size=(40, 1000)).astype(np.float32)
    softmax = bg.jit(lambda x: (e := np.exp(x - x.max(axis=-1, keepdims=True))) / e.sum(axis=-1, keepdims=True))
    wide = np.exp(x.astype(np.float64))
    assert np.allclose(softmax(x), wide / wide.sum(axis=-1, keepdims=True), rtol=2e-6)
    out = x.copy()
    assert softmax(out, out=out) is out
    assert (out == softmax(x)).all()


def test_shapes_of_later_nests_are_checked_before_anything_is_computed():
    kernel = bg.jit(lambda x, y: x.sum(axis=0) + y)
    assert kernel(np.ones((2, 3)), np.ones(3)).tolist() == [3, 3, 3]
    with pytest.raises(bg.BroadcastError, match=r"operand 'sum_of_x' dim 0 has extent 3, expected 1 or 4 \(from 'y'\)"):
        kernel(np.ones((2, 3)), np.ones(4))
    with pytest.raises(bg.BroadcastError, match="'y'"):
        kernel.result_shape((2, 3), (4,))


def test_axes_that_do_not_fit_are_refused():
    x = np.ones((2, 3))
    with pytest.raises(bg.BroadcastError, match="axis 2 is out of range for a value of rank 2"):
        bg.sum(x, axis=2)
    with pytest.raises(bg.BroadcastError, match="name a dim twice"):
        bg.sum(x, axis=(0, -2))
    with pytest.raises(bg.TraceError, match="neither an integer nor a tuple"):
        bg.sum(x, axis=0.5)
    with pytest.raises(bg.TraceError, match="one axis"):
        bg.argmax(x, axis=(0, 1))
    with pytest.raises(bg.DTypeError, match="no order"):
        bg.max(x + 0j)


def test_what_is_not_built_is_refused_by_name(tmp_path):
    kernel = bg.from_text("(f32[?, ?] x) -> sum(x, axis=1)")
    for use in (lambda: kernel.emit_c(tmp_path), kernel.to_mlir, lambda: kernel.to_mlir("tosa")):
        with pytest.raises(bg.BcastgenError, match=r"no reductions yet \(sum\)"):
            use()
    with pytest.raises(bg.BcastgenError, match="ask result_shape"):
        _ = kernel.shape_function
    with pytest.raises(bg.BcastgenError, match="unknown rank"):
        _ = bg.from_text("(f32[*] x) -> sum(x)").source


def test_what_asks_before_anything_is_computed_asks_nothing_of_a_reduction():
    a, b = np.arange(1, 7).reshape(2, 3), np.array([1, 2, 3])
    for function in (
        lambda a, b: a.sum(axis=1, keepdims=True) ** b,
        lambda a, b: b ** a.sum(axis=1, keepdims=True),
        lambda a, b: (b ** (a - a.sum())).sum(axis=1),
    ):
        with pytest.raises(BcastgenError, match=r"power of integers asks .* computed with sum_of.*; cast an operand"):
            bg.jit(function)(a, b)
    np.testing.assert_array_equal(bg.jit(lambda a, b: (a**b).sum(axis=1))(a, b), (a**b).sum(axis=1))
    np.testing.assert_array_equal(bg.jit(lambda a: a.sum(axis=1) ** 2)(a), a.sum(axis=1) ** 2)
    with pytest.raises(DomainError, match=r"negative integer powers.*in kernel\(a: \[2, 3\], b: \[3\]\)"):
        bg.jit(lambda a, b: (a**b).sum(axis=1))(a, -b)


def test_kernels_with_reductions_are_pickled():
    kernel = bg.from_text("x - mean(x, axis=0)")
    again = pickle.loads(pickle.dumps(bg.jit(lambda x: x - np.mean(x, axis=0, keepdims=True))))
    x = np.arange(6.0).reshape(2, 3)
    assert (again(x) == kernel(x)).all()
