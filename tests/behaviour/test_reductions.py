"""Reductions: what NumPy gives, along a tree that depends on nothing but the elements and their number."""

from __future__ import annotations

import itertools
import math
import pickle

import numpy as np
import pytest

import bcastgen as bg
from bcastgen.core.dtypes import COMPUTED, DTYPES
from tests.support import reduction_shapes, sum_errors
from tests.support.long_runs import many
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
    programs(many(150, 4_000), 2)


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


@pytest.mark.parametrize("dtype", ["?", "u1", "i2", "u4", "i8"])
def test_parts_that_threads_combine_give_what_the_whole_gives(dtype):
    """Integers, whose results NumPy has exactly."""
    x = np.random.default_rng(5).integers(0, 100, 400_001).astype(dtype)
    x[70_000] = x.max() + (dtype != "?")
    kernel = bg.from_text("(sum(x), prod(x | 1), min(x), max(x), argmax(x), count_nonzero(x))", threads=2)
    found = [int(one) for one in kernel(x)]
    assert found == [x.sum(), np.prod(x | 1), x.min(), x.max(), x.argmax(), np.count_nonzero(x)]


@pytest.mark.parametrize("count", [1000, 100_000])
def test_errors_of_sums_keep_their_bound_which_is_below_numpys(count):
    for seed in range(4):
        for _, kind, dtype, mine, along, rowwise, bound, inner, outer in sum_errors.rows([count], seed):
            assert mine <= bound <= inner <= outer, (kind, dtype)
            assert along <= inner, (kind, dtype)
            assert rowwise <= outer, (kind, dtype)


def test_exact_sums_of_many_elements_are_those_of_fsum(monkeypatch):
    for kind in sum_errors.KINDS:
        x = sum_errors.values(kind, 30_001, "float64")
        whole = sum_errors.exact(x)
        monkeypatch.setattr(sum_errors, "_FEW", 100)
        assert sum_errors.exact(x) == pytest.approx(whole, rel=1e-15, abs=1e-20)
        monkeypatch.undo()


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


def test_every_answer_of_random_kernels_is_one_shape():
    """Kernels whose callers give extents, and whose reductions stand beside ops with shape functions, among them."""
    figures, differences = reduction_shapes.run(many(60, 2000), 3)
    assert not differences
    assert figures["shapes"] > 40


def test_an_extent_that_the_caller_leaves_out_is_that_of_a_reduced_value_or_what_it_meets():
    kernel = bg.from_text("(f64[p, n] a, f64[?] c) -> broadcast_to(sum(a, axis=0), (k,)) + c")
    assert kernel(np.ones((2, 3)), np.ones(1)).shape == (3,) == kernel.result_shape((2, 3), (1,))
    assert kernel(np.ones((2, 1)), np.ones(4)).shape == (4,) == kernel.result_shape((2, 1), (4,))
    deep = bg.from_text("(f64[p, n] a) -> broadcast_to(max(sum(a, axis=0, keepdims=True) * 2, axis=0), (3, k))")
    assert deep(np.ones((2, 5))).shape == (3, 5)
    with pytest.raises(bg.BroadcastError, match="operand 'b' dim 0 has extent 0, expected 1 or more"):
        bg.evaluate("max(a + sum(b, axis=1, keepdims=True), axis=0)", {"a": np.ones((1, 3)), "b": np.ones((0, 3))})


@pytest.mark.parametrize(
    "operands", ["f64[?] a, f64[?] b, f64[?] c", "f64[n] a, f64[?] b, f64[?] c", "f64[n] a, f64[n] b, f64[n] c"]
)
@pytest.mark.parametrize(
    "value", ["a * 2 + b + c", "a + sum(b, keepdims=True) + c", "a + (b + c) * sum(a, keepdims=True)"]
)
def test_no_elements_names_an_operand_that_has_none(operands, value):
    """Whichever of the operands that may stretch has no elements, the message names it, and no value of the kernel."""
    kernel = bg.from_text(f"({operands}) -> max({value})")
    for extents in itertools.product((0, 1, 3), repeat=3):
        arrays = [np.ones(extent) for extent in extents]
        names = dict(zip("abc", arrays, strict=True))
        try:
            expected = eval(value, {"sum": np.sum}, names).max(initial=-1)
            if "n] b" in operands and len(set(extents)) > 1:
                expected = None
        except ValueError:
            expected = None
        if expected is None:
            with pytest.raises(bg.BroadcastError, match=r"operand '[abc]' dim 0 has extent \d, expected"):
                kernel(*arrays)
        elif expected >= 0:
            assert kernel(*arrays) == expected
        else:
            with pytest.raises(bg.BroadcastError, match=r"'[abc]' dim 0 has extent 0, expected 1 or more") as caught:
                kernel(*arrays)
            assert names[caught.value.operand].size == 0
            with pytest.raises(bg.BroadcastError, match="dim 0 has extent 0, expected 1 or more"):
                kernel.result_shape(*((extent,) for extent in extents))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("dtype", ["?", "i4", "f2", "f4", "F"])
def test_means_of_chosen_elements_are_numpys(dtype):
    """Whole numbers below 2**8, so that no order of additions shows; no element is chosen in the last row."""
    x = (np.arange(12).reshape(3, 4) * (1j if dtype == "F" else 1)).astype(dtype)
    mask = np.array([[True, False, True, True], [False, True, False, False], [False] * 4])
    text = ", ".join(f"{name}(x, axis={axis}, where=m)" for name in ("mean", "var", "std") for axis in (None, 0, 1))
    found = bg.evaluate(text, {"x": x, "m": mask})
    expected = [f(x, axis=axis, where=mask) for f in (np.mean, np.var, np.std) for axis in (None, 0, 1)]
    for got, wanted in zip(found, expected, strict=True):
        assert got.dtype == wanted.dtype and got.shape == wanted.shape
        np.testing.assert_allclose(got, wanted, rtol={"f2": 4e-3, "f4": 1e-6, "F": 1e-6}.get(dtype, 1e-14))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_masks_go_with_the_other_arguments():
    x, mask = np.arange(12, dtype=np.float32).reshape(3, 4), np.array([True, False, True, True])
    calls = (
        lambda x, m: np.mean(x, axis=1, keepdims=True, where=m),
        lambda x, m: x.mean(0, np.float64, where=m[None]),
        lambda x, m: x.var(axis=1, ddof=2, where=m & (x > 5)),
        lambda x, m: x.std(axis=1, dtype="f8", where=x > 5),
        lambda x, m: np.mean(x - x.mean(), where=False),
        lambda x, m: np.var(x, mean=np.mean(x, axis=1, keepdims=True), axis=1, where=m),
        lambda x, m: np.std(x, axis=1, correction=1, where=True),
        lambda x, m: np.add.reduce(x, axis=None, where=m),
    )
    found = bg.jit(lambda x, m: tuple(one(x, m) for one in calls))(x, mask)
    for got, wanted in zip(found, (one(x, mask) for one in calls), strict=True):
        assert got.dtype == wanted.dtype
        np.testing.assert_allclose(got, wanted, rtol=1e-6)


def test_masks_are_bools_and_stretch_no_operand():
    x = np.ones((2, 1))
    with pytest.raises(bg.DTypeError, match=r"sum: where= has dtype i64, expected bool; write where=mask != 0"):
        bg.sum(x, where=np.ones((2, 1), int))
    with pytest.raises(bg.BroadcastError, match="operand 'where' dim 1 has extent 3, expected 1"):
        bg.mean(x, where=np.ones((2, 3), bool))
    with pytest.raises(bg.BroadcastError, match="a value of rank 3 cannot be broadcast to rank 2"):
        bg.any(x, where=np.ones((1, 2, 1), bool))
    with pytest.raises(bg.TraceError, match=r"where=1\.5 is neither an operand of the kernel nor True or False"):
        bg.jit(lambda x: np.sum(x, where=1.5))
    with pytest.raises(bg.TraceError, match=r"keepdims=2\.0 is neither True nor False"):
        bg.jit(lambda x: np.sum(x, keepdims=2.0))
    with pytest.raises(bg.ArgumentError, match="two names of one number"):
        bg.jit(lambda x: np.var(x, ddof=1, correction=1))
    with pytest.raises(bg.TraceError, match=r"numpy.minimum.reduce: dtype= has no meaning inside a kernel"):
        bg.jit(lambda x: np.minimum.reduce(x, dtype="f4"))


def test_a_variance_of_integers_keeps_their_digits():
    """As in NumPy the mean has the dtype, and the difference that of integers and the mean."""
    x = np.array([2**31 + 1, 2**31 + 3], np.uint32)
    assert bg.evaluate("var(x, dtype=float32)", {"x": x}) == np.var(x, dtype=np.float32) != 0


def test_nan_and_ties():
    x = np.array([[1.0, np.nan, 0.0, np.nan], [2.0, 5.0, 5.0, 1.0]])
    assert np.isnan(value("max(x, axis=1)", x)[0])
    assert value("argmin(x, axis=1)", x).tolist() == [1, 3]
    assert value("argmax(x, axis=1)", x).tolist() == [1, 1]


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8"])
def test_indices_of_many_elements_are_numpys(dtype):
    random = np.random.default_rng(8)
    whole = bg.jit(
        lambda x: (x.argmax(), x.argmin(), x.argmax(axis=0), x.argmin(axis=0), x.argmax(axis=1), x.argmin(axis=1))
    )
    for shape in ((3, 5003), (5003, 3), (300, 517)):
        x = random.integers(0, 100, shape).astype(dtype)
        rising = np.arange(x.size).reshape(shape).astype(dtype)
        arrays = [x, rising, np.asfortranarray(x), np.repeat(x, 2, axis=1)[:, ::2]]
        if dtype.startswith("f"):
            holes = x.copy()
            holes.flat[random.integers(0, x.size, 5)] = np.nan
            arrays += [holes, np.where(x > 50, x, np.nan).astype(dtype)]
        for array in arrays:
            expected = [f(array, axis=axis) for axis in (None, 0, 1) for f in (np.argmax, np.argmin)]
            for found, right in zip(whole(array), expected, strict=True):
                np.testing.assert_array_equal(found, right)


@pytest.mark.parametrize("dtype", ["i1", "u2", "i4", "i8", "f4", "f8"])
def test_extremes_and_indices_of_rows_of_each_length_are_numpys(dtype):
    """Of values that occur several times, with a NaN in some of the rows, at any place."""
    random = np.random.default_rng(11)
    all_four = bg.jit(lambda x: (x.argmax(axis=1), x.argmin(axis=1), x.max(axis=1), x.min(axis=1)))
    for n in (*range(1, 70), *range(121, 137), *range(250, 264), 511, 512, 515):
        x = random.integers(-4, 5, (6, n)).astype(dtype)
        if dtype.startswith("f"):
            x[random.integers(3), random.integers(n)] = np.nan
        x[3:] = random.permutation(n).astype(dtype)
        for found, f in zip(all_four(x), (np.argmax, np.argmin, np.max, np.min), strict=True):
            np.testing.assert_array_equal(found, f(x, axis=1))


@pytest.mark.parametrize("along", [16, 700])
def test_a_pass_that_fetches_its_next_rows_has_the_bits_of_rows_alone(along):
    """All rows of a softmax's arrays are so many bytes that the next ones are fetched while it computes."""
    x = np.random.default_rng(12).standard_normal((2_400_000 // along, along), np.float32)
    kernel = bg.jit(lambda x: (np.exp(x - x.max(axis=1, keepdims=True))) / np.exp(x).sum(axis=1, keepdims=True))
    for array in (x, x[::-2]):
        few = [kernel(array[first : first + 500]) for first in range(0, len(array), 500)]
        assert kernel(array).tobytes() == np.concatenate(few).tobytes()


def test_extremes_of_zeros_and_nans_have_the_same_bits_in_any_layout():
    random = np.random.default_rng(9)
    both = bg.jit(lambda x: (x.max(axis=1), x.min(axis=1), x.max(), x.min(axis=0)))
    for dtype in (np.float32, np.float64):
        x = random.choice(
            np.array([0.0, -0.0, 1.0, -1.0, np.nan], dtype), p=[0.45, 0.45, 0.049, 0.05, 0.001], size=(70, 333)
        )
        x[:20] = random.choice(np.array([0.0, -0.0], dtype), size=(20, 333))
        layouts = (x, np.asfortranarray(x), np.repeat(x, 2, axis=1)[:, ::2])
        assert len({tuple(np.asarray(one).tobytes() for one in both(array)) for array in layouts}) == 1
        for found, right in zip(both(x), (x.max(axis=1), x.min(axis=1), x.max(), x.min(axis=0)), strict=True):
            np.testing.assert_array_equal(found, right)


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


def test_what_is_not_built_is_refused_by_name():
    with pytest.raises(bg.BcastgenError, match="unknown rank"):
        _ = bg.from_text("(f32[*] x) -> sum(x)").source


def test_kernels_with_reductions_are_pickled():
    kernel = bg.from_text("x - mean(x, axis=0)")
    again = pickle.loads(pickle.dumps(bg.jit(lambda x: x - np.mean(x, axis=0, keepdims=True))))
    x = np.arange(6.0).reshape(2, 3)
    assert (again(x) == kernel(x)).all()


def test_what_a_reduction_gives_is_no_claim_of_the_caller():
    kernel = bg.from_text("(f64[n, m] x) -> x - x.sum(axis=1, keepdims=True)")
    lines = kernel.stages["constraints"].splitlines()
    own = [line for line in lines if line.startswith("sum_of_x")]
    assert "sum_of_x.rank = 2: proved, a reduction of this kernel gives sum_of_x its shape" in own
    assert all(": proved, " in line for line in own), lines
    assert "x.rank = 2: checked, a caller may pass an array of any rank" in lines


@pytest.mark.parametrize("text", ["(f32[0] x) -> max(x, axis=0)", "(f32[n, m<=2%3] x) -> argmin(x, axis=1)"])
def test_types_of_which_nothing_is_reduced_are_refused_when_they_are_looked_at(text):
    with pytest.raises(bg.BroadcastError, match="of no elements has no value, and types say that dim"):
        bg.from_text(text).compilation.program  # noqa: B018


def test_the_operand_without_elements_is_named():
    least = bg.jit(lambda x, y: np.min(y, axis=0) + x)
    with pytest.raises(bg.BroadcastError, match="operand 'y' dim 0 has extent 0, expected 1 or more"):
        least(np.ones(3), np.ones(0))
