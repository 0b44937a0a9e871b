"""bcastgen/kernel/value_operands.py: operands whose values decide a result's extents."""

from __future__ import annotations

import random
import threading

import numpy as np
import pytest

import bcastgen as bg
from bcastgen.kernel.value_operands import ValueOperand, read_values

s = bg.shape
COUNT = "(d0, d1) -> (d1)"


@pytest.fixture(scope="module")
def copies():
    return bg.define_op(
        "copies_of",
        "x, count",
        c="x",
        dtypes="same number",
        shape=lambda x, count: s.concat(s.from_extents(count), x),
        maps=[COUNT, "index"],
        replace=True,
    )


@pytest.fixture(scope="module")
def tiles():
    def shape(x, counts):
        few = s.cstr_require(s.cmpi(s.get_extent(counts, 0), 4, predicate="sle"), msg="at most 4 copies of a row")
        return s.assuming(few, lambda: s.concat(counts, x))

    maps = ["(d0, d1, d2) -> (d2)", "tensor<2xindex>"]
    return bg.define_op("tiles_of", "x, counts", c="x", dtypes="same number", shape=shape, maps=maps, replace=True)


def test_the_result_has_the_extents_that_values_say(copies, tiles):
    x = np.arange(3)
    for count in (0, 1, 4, np.int8(3), np.uint64(2), np.array(2), np.array(5, ">i4")):
        expected = np.broadcast_to(x, (int(count), 3))
        assert np.array_equal(copies(x, count), expected)
        assert copies.result_shape((3,), count) == expected.shape
    for counts in ([2, 3], (0, 1), np.array([1, 2], np.uint8), np.array([[4, 9, 1, 9]])[0, ::2]):
        expected = np.broadcast_to(x, (*map(int, counts), 3))
        assert np.array_equal(tiles(x, counts), expected)
        assert tiles.result_shape((3,), counts) == expected.shape


def test_numpy_s_repeat_and_tile_are_views_of_such_results(copies):
    each = bg.define_op(
        "each_repeated",
        "x, count",
        c="x",
        dtypes="same number",
        shape=lambda x, count: s.concat(x, s.from_extents(count)),
        maps=["(d0, d1) -> (d0)", "index"],
        replace=True,
    )
    chance = random.Random(3)
    for _ in range(20):
        x, count = np.arange(chance.randrange(5)), chance.randrange(4)
        assert np.array_equal(each(x, count).reshape(-1), np.repeat(x, count))
        assert np.array_equal(copies(x, count).reshape(-1), np.tile(x, count))


def test_inside_of_kernels_and_text(copies, tiles):
    x = np.arange(3.0)
    kernel = bg.jit(lambda x, n: copies(x * 2, n) + 1)
    assert np.array_equal(kernel(x, 2), np.tile(x * 2 + 1, (2, 1)))
    assert kernel.result_shape((7,), 5) == (5, 7)
    assert np.array_equal(bg.jit(lambda x, n: kernel(x, n) * n)(x, 2), np.tile(x * 4 + 2, (2, 1)))
    assert np.array_equal(bg.jit(lambda x: copies(x, 3) - x)(x), np.zeros((3, 3)))
    assert bg.evaluate("copies_of(x, 2) * 10").shape == (2, 3)
    typed = bg.from_text("(f64[?] x, i64[] n, i32[2] m) -> copies_of(x, n) + tiles_of(x, m)")
    assert typed(x, 3, np.int32([2, 3])).shape == (2, 3, 3)
    with pytest.raises(bg.BroadcastError, match="expected"):
        typed(x, 2, np.int32([2, 3]))


def test_an_operand_that_is_computed_with_too_keeps_its_dtype(copies):
    kernel = bg.jit(lambda x, n: copies(x * n, n))
    assert kernel(np.float32([1, 2]), 3).dtype == np.float32
    assert np.array_equal(kernel(np.float32([1, 2]), np.int16(2)), np.float32([[2, 4], [2, 4]]))
    assert kernel(np.int8([1, 2]), np.int16(2)).dtype == np.int16


def test_values_of_an_array_as_value_shape():
    shaped = bg.define_op(
        "one_number_shaped",
        "x, shape",
        c="x",
        shape=lambda x, shape: s.value_as_shape(shape),
        maps=["(d0, d1) -> ()", "!shape.value_shape"],
        replace=True,
    )
    assert np.array_equal(shaped(2.0, [2, 3]), np.full((2, 3), 2.0))
    for wrong in ([2, -1], [2], 3, [[2, 3]]):
        with pytest.raises(bg.BroadcastError, match=r"value_as_shape|another rank than its maps"):
            shaped(2.0, wrong)


@pytest.mark.parametrize(
    ("count", "error", "message"),
    [
        (-1, bg.BroadcastError, r"from_extents of %count = -1 is invalid"),
        (2.0, bg.DTypeError, "operand 'count' has dtype float64, expected integers"),
        (True, bg.DTypeError, "has dtype bool, expected integers"),
        ([2], bg.BroadcastError, "operand 'count' has rank 1, expected an integer: its values decide extents"),
        (2**63, bg.BroadcastError, "'count' has the value 9223372036854775808, of more than 63 bits"),
        (2**62, bg.BroadcastError, "more than the 9223372036854775807 bytes"),
        ("3", bg.DTypeError, "operand 'count'"),
    ],
)
def test_wrong_values_are_refused_before_anything_runs(copies, count, error, message):
    out = np.full((2, 2), 7.0)
    with pytest.raises(error, match=message):
        copies(np.ones(2), count, out=out)
    assert (out == 7).all()
    with pytest.raises(error, match=message):
        copies.result_shape((2,), count)


def test_lists_are_checked_and_the_author_s_message_is_kept(tiles):
    x = np.ones(2)
    for counts, message in (
        ([2, -1], "has the value -1, expected 0 or more"),
        ([2, 2, 2], r"is \[2, 2, 2\], expected a value of type tensor<2xindex>"),
        (3, "has rank 0, expected a list of integers"),
        ([1] * 65, "has 65 values, expected at most 64"),
        ([5, 1], "at most 4 copies of a row"),
    ):
        with pytest.raises(bg.BroadcastError, match=message):
            tiles(x, counts)


def test_values_that_are_not_known_at_the_start_are_refused(copies):
    with pytest.raises(bg.TraceError, match=r"'count' of copies_of decides the extents .* compute it outside"):
        bg.jit(lambda x, n: copies(x, n + 1))(np.ones(2), 1)
    with pytest.raises(bg.TraceError, match=r"'count' of copies_of is 1\.5, expected an integer"):
        bg.jit(lambda x: copies(x, 1.5))(np.ones(2))


def test_one_operand_is_read_as_one_type(copies, tiles):
    with pytest.raises(bg.BroadcastError, match="'n' is of type index for copies_of, and of type tensor<2xindex> for"):
        bg.jit(lambda x, n: copies(x, n) + tiles(x, n))(np.ones(2), 2)


def test_the_values_are_read_once(copies):
    """Another thread writes the count during calls: each result has the extent of some count, and is whole."""
    count, x, done = np.array(2), np.arange(5.0), threading.Event()

    def write():
        at = 0
        while not done.is_set():
            at += 1
            count[()] = (1, 2, 700)[at % 3]

    kernel = bg.jit(lambda x, n: copies(x, n) * 1.0)
    kernel(x, count)
    writer = threading.Thread(target=write)
    writer.start()
    try:
        for _ in range(300):
            result = kernel(x, count)
            assert result.shape[0] in (1, 2, 700)
            assert np.array_equal(result, np.broadcast_to(x, result.shape))
    finally:
        done.set()
        writer.join()


def test_maps_and_types_of_values_have_to_fit():
    def make(maps, shape, c="x"):
        return bg.define_op("unfit_values", "x, n", c=c, shape=shape, maps=maps, replace=True)

    with pytest.raises(bg.ParseError, match="n"):
        make([COUNT, "index"], lambda x, n: x, c="x + n")
    with pytest.raises(bg.ParseError, match="no operand has a map"):
        make(["index", "index"], lambda x, n: s.from_extents(x, n))
    text = "func.func @f(%x: !shape.shape, %n: index) -> !shape.shape { return %x : !shape.shape }"
    with pytest.raises(bg.BroadcastError, match=r"'n' of the shape function is of type tensor<\?xindex>, which "):
        make([COUNT, "tensor<?xindex>"], text)
    with pytest.raises(bg.BroadcastError, match="takes 1 shapes and 1 values"):
        make([COUNT, "index"], "func.func @f(%x: !shape.shape) -> !shape.shape { return %x : !shape.shape }")
    with pytest.raises(bg.ParseError, match="computes with dims; a map is a projection"):
        make(["(d0) -> (d0 floordiv 2)", "index"], lambda x, n: x)


def test_read_values_copies():
    one, given = ValueOperand("n", "op", "tensor<?xindex>"), np.array([1, 2])
    read = read_values("n", one, given)
    given[0] = 9
    assert read.tolist() == [1, 2]
    assert one.given(read) == (1, 2)


# ---- bounds ----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def at_most_four():
    return bg.define_op(
        "at_most_four_copies",
        "x, count",
        c="x",
        shape=lambda x, count: s.concat(s.from_extents(count), x),
        maps=[COUNT, "index"],
        bound=lambda x: s.concat(s.const_shape((4,)), x),
        replace=True,
    )


def test_a_bound_is_the_shape_of_values_that_nobody_knows(at_most_four, copies):
    kernel = bg.jit(lambda x, n, y: at_most_four(x, n) + y)
    assert at_most_four.result_shape((2,), None) == kernel.result_shape((2,), None, (7, 1, 1))[1:] == (4, 2)
    assert at_most_four.result_shape((2,), 3) == at_most_four(np.ones(2), 3).shape == (3, 2)
    with pytest.raises(bg.BroadcastError, match="copies_of has no bound; give the values of operand 'n'"):
        bg.jit(lambda x, n: at_most_four(x, n) + copies(x, n)).result_shape((2,), None)


def test_no_result_exceeds_its_bound(at_most_four):
    kernel = bg.jit(lambda x, n: at_most_four(x + 1, n) * 2)
    for call in (at_most_four, kernel):
        for sized in (lambda call=call: call(np.ones(2), 5), lambda call=call: call.result_shape((2,), 5)):
            with pytest.raises(
                bg.BroadcastError, match="dim 0 of the result the extent 5, and its bound is 4"
            ) as caught:
                sized()
            assert (caught.value.dim, caught.value.expected, caught.value.actual) == (0, 4, 5)


def test_an_out_of_the_bound_s_extents_takes_every_result(at_most_four):
    kernel, x = bg.jit(lambda x, n: at_most_four(x + 1, n) * 2), np.arange(3.0)
    out = np.full(kernel.result_shape(x.shape, None), -1.0)
    for count in range(5):
        part = kernel(x, count, out=out)
        assert part.base is out or part is out
        assert np.array_equal(part, np.tile(x * 2 + 2, (count, 1)))
        assert (out[count:] == -1).all()
        out[:] = -1
    exact = np.empty((2, 3))
    assert kernel(x, 2, out=exact) is exact
    with pytest.raises(bg.BroadcastError, match="result 'r' dim 0 has extent 3, expected 2"):
        kernel(x, 2, out=np.empty((3, 3)))


def test_a_bound_of_an_op_without_values_is_checked_too():
    same = bg.define_op(
        "same_below_three", "x", c="-x", shape=lambda x: x, maps=["(d0) -> (d0)"],
        bound=lambda x: s.const_shape((3,)), replace=True,
    )  # fmt: skip
    assert same(np.ones(3)).sum() == -3
    with pytest.raises(bg.BroadcastError, match="the extent 4, and its bound is 3"):
        same(np.ones(4))
    with pytest.raises(bg.BcastgenError, match="bound= limits what shape= gives"):
        bg.define_op("unbounded", "x", c="x", bound=lambda x: x)


def test_values_are_read_without_python(copies, tiles, monkeypatch):
    kernel = bg.jit(lambda x, n, m: copies(x * 2, n) + tiles(x, m) + n)
    x, calls = np.arange(3.0), []
    for count, counts in ((2, [4, 2]), (np.uint8(1), (4, 1)), (np.array(3), np.array([4, 3], np.int16))):
        expected = np.broadcast_to(x * 3 + int(count), (4, int(count), 3))
        assert np.array_equal(kernel(x, count, counts), expected)
        calls.append((x, count, counts, expected))
    monkeypatch.setattr(type(kernel), "_call_sized", None)
    monkeypatch.setattr(type(kernel), "_result_shape", None)
    for x, count, counts, expected in calls:
        assert np.array_equal(kernel(x, count, counts), expected)
        assert kernel.result_shape(x, count, counts) == expected.shape


def either(call, *given):
    try:
        return call(*given)
    except bg.BcastgenError as error:
        return str(error)


def test_c_reads_what_python_reads(copies, tiles):
    chance, seen, x = random.Random(9), set(), np.arange(3.0)
    kinds = ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", ">i8", "f8", "?", "m8[s]", "l", "Q")
    numbers = [0, 1, 2, 3, 4, 5, -1, 127, 128, 255, 2**31, 2**62, 2**63 - 1, 2**63, -(2**63)]
    for _ in range(300):
        values = [chance.choice(numbers[: chance.choice((6, 15))]) for _ in range(3)]
        array = np.array([value % 2**64 for value in values], np.uint64)
        array = array.astype(chance.choice(kinds))[:: chance.choice((1, -1, 2))]
        few, one = values[:2], [values[0], array[0], array[:1].reshape(()), array, None, values[:1]]
        lists = [few, tuple(few), array[:2], values, array[0], [], [[1, 2]], [True, 2]]
        for kernel, given in ((copies, chance.choice(one)), (tiles, chance.choice(lists))):
            sizes = either(kernel.result_shape, (3,), given)
            assert sizes == either(kernel._result_shape, ((3,), given)), (given, sizes)
            seen.add(type(sizes))
            if isinstance(sizes, str) or max(sizes) < 2**8:
                fast, slow = either(kernel, x, given), either(kernel._call_sized, (x, given), {})
                assert type(fast) is type(slow) and np.array_equal(fast, slow), (given, fast, slow)
    assert seen == {str, tuple}


def test_loops_read_the_values_that_decided(copies):
    kernel = bg.jit(lambda x, n: copies(x, n) * n)
    for count in (np.array(3), np.array(3, np.int8), np.int32(3)):
        made = kernel(np.float32([1, 2]), count)
        assert made.dtype == (np.float32([1]) * count).dtype and np.array_equal(made, [[3, 6]] * 3)
