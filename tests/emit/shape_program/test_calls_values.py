"""bcg_shape_value.h and bcg_index.h: what callers may pass, index arithmetic, and that the headers compile."""

from __future__ import annotations

import itertools
import operator

import pytest

import shape_c
from bcastgen.core.resources import csrc_file

MOST = 2**63 - 1
LEAST = -(2**63)
INDICES = [LEAST, LEAST + 1, -(2**32), -7, -2, -1, 0, 1, 2, 3, 7, 2**31, 2**32, 2**62, MOST - 1, MOST]


@pytest.fixture(scope="module")
def c(tmp_path_factory):
    return shape_c.Library(tmp_path_factory.mktemp("runtime"))


# ---- what callers may pass -------------------------------------------------------------------------------------------


def test_sizes_witnesses_and_truths_that_are_none(c):
    why = c.ffi.new("bcg_diagnostic *")
    for value in [-(2**63), -(2**31), -6, -5, -4, -3, -2, -1, 0, 1, 2, 2**31, MOST]:
        assert (c.c.bcg_check_size(value, 1, 3, why) == 0) == (value >= -4), value
        if abs(value) <= 2**31 - 1:
            assert (c.c.bcg_check_witness(value, 1, 3, why) == 0) == (value in (-4, -3, -2, 0, 1)), value
            assert (c.c.bcg_check_predicate(value, 1, why) == 0) == (value in (0, 1)), value
    assert c.c.bcg_check_size(-99, 1, 3, why) == 15
    assert (why.operand, why.dim, why.actual) == (1, -1, -99)


def test_shapes_that_are_none(c):
    why = c.ffi.new("bcg_diagnostic *")
    made = c.ffi.new("bcg_shape *")
    for rank in [-(2**31), -6, -5, -4, -3, -2, -1, 0, 1, 64, 65, 2**31 - 1]:
        made.rank = rank
        assert (c.c.bcg_check_shape(made, 2, 3, why) == 0) == (-4 <= rank <= 64), rank
        assert (c.c.bcg_check_extents(made, 2, -1, why) == 0) == (0 <= rank <= 64), rank
        assert (c.c.bcg_check_extents(made, 2, 1, why) == 0) == (rank == 1), rank
    made.rank = 3
    made.extents[0:3] = [0, 0, 0]
    for extent in [-(2**63), -3, -2, -1, 0, MOST]:
        made.extents[1] = extent
        assert (c.c.bcg_check_shape(made, 2, 3, why) == 0) == (extent >= -1), extent
        assert (c.c.bcg_check_extents(made, 2, 3, why) == 0) == (extent >= 0), extent
    made.extents[1] = -7
    assert c.c.bcg_check_shape(made, 2, 3, why) == 15
    assert (why.operand, why.dim, why.actual) == (2, 1, -7)
    assert c.c.bcg_check_shape(made, 2, 3, c.ffi.NULL) == 15


# ---- the header itself -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("language", ["c", "c++"])
def test_the_headers_compile_without_a_warning(language, compile_strictly, tmp_path):
    names = ("bcg_status.def", "bcg_abi.h", "bcg_check.h", *shape_c.HEADERS)
    files = {name: csrc_file(name).read_text() for name in names}
    compile_strictly(files | {"all.c": f"{shape_c.UNIT}{shape_c.INCLUDES}"}, tmp_path, language=language)


def test_tensors_that_are_none(c):
    why, shape = c.ffi.new("bcg_diagnostic *"), c.ffi.new("bcg_shape *")
    extents = c.ffi.new("int64_t[64]", [3, 0, MOST] + [1] * 61)
    for rank in [-(2**31), -1, 0, 1, 3, 64, 65, MOST % 2**31]:
        array = c.ffi.new("bcg_array *", {"rank": rank, "extents": extents})
        assert (c.c.bcg_check_tensor(array, 4, -1, shape, why) == 0) == (0 <= rank <= 64), rank
        assert (c.c.bcg_check_tensor(array, 4, 3, shape, why) == 0) == (rank == 3), rank
    assert (why.operand, why.dim, why.expected, why.actual) == (4, -1, 3, MOST % 2**31)
    for rank in (0, 1):
        array = c.ffi.new("bcg_array *", {"rank": rank})
        assert (c.c.bcg_check_tensor(array, 4, -1, shape, why) == 0) == (rank == 0)
    array = c.ffi.new("bcg_array *", {"rank": 3, "extents": extents})
    assert c.c.bcg_check_tensor(array, 4, 3, shape, why) == 0
    assert c.read(shape) == (3, 0, MOST)
    assert c.c.bcg_check_extent(shape, 4, 2, MOST, why) == 0
    assert c.c.bcg_check_extent(shape, 4, 2, 5, why) == 15
    assert (why.operand, why.dim, why.expected, why.actual) == (4, 2, 5, MOST)
    extents[1] = -1
    assert c.c.bcg_check_tensor(array, 4, 3, shape, why) == 15
    assert (why.operand, why.dim, why.actual) == (4, 1, -1)


def test_refusals_say_where_and_why(c):
    why = c.ffi.new("bcg_diagnostic *")
    refusals = [
        (c.c.bcg_size_refuse(why, 6, -1), 14, 0),
        (c.c.bcg_size_refuse(why, 6, -5), 12, 3),
        (c.c.bcg_witness_refuse(why, 6, 0), 14, 0),
        (c.c.bcg_witness_refuse(why, 6, -5), 13, 3),
        (c.c.bcg_shape_refuse(why, 6, c.shape("*"), -1), 14, 0),
        (c.c.bcg_shape_refuse(why, 6, c.shape(("?", 2)), 2), 14, 0),
        (c.c.bcg_shape_refuse(why, 6, c.shape((3, 2)), 1), 12, 0),
        (c.c.bcg_shape_refuse(why, 6, c.shape(shape_c.Error(3)), 1), 12, 3),
    ]
    assert [status for status, _, _ in refusals] == [status for _, status, _ in refusals]
    assert (why.operand, why.dim, why.against, why.expected, why.actual) == (-1, -1, -1, 6, 3)
    tensors = {(): -1, (2, 3): 2, ("?",): -1, "*": -1, shape_c.Error(0): -1, (4,): 2}
    assert [c.c.bcg_shape_is_tensor(c.shape(x), n) for x, n in tensors.items()] == [1, 1, 0, 0, 0, 0]


# ---- index arithmetic ------------------------------------------------------------------------------------------------


def wrapped(value):
    return (value - LEAST) % 2**64 + LEAST


def bits(value):
    return value % 2**64


def rounded_to_zero(x, y):
    return abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)


TOTAL = {
    "bcg_arith_addi": lambda x, y: wrapped(x + y),
    "bcg_arith_subi": lambda x, y: wrapped(x - y),
    "bcg_arith_muli": lambda x, y: wrapped(x * y),
    "bcg_arith_minsi": min,
    "bcg_arith_maxsi": max,
    "bcg_arith_minui": lambda x, y: min(x, y, key=bits),
    "bcg_arith_maxui": lambda x, y: max(x, y, key=bits),
    "bcg_index_min": min,
    "bcg_index_max": max,
    **{f"bcg_arith_cmpi_{name}": getattr(operator, name) for name in ("eq", "ne")},
    **{f"bcg_arith_cmpi_s{name}": getattr(operator, name) for name in ("lt", "le", "gt", "ge")},
    "bcg_arith_cmpi_ult": lambda x, y: x % 2**64 < y % 2**64,
    "bcg_arith_cmpi_ule": lambda x, y: x % 2**64 <= y % 2**64,
    "bcg_arith_cmpi_ugt": lambda x, y: x % 2**64 > y % 2**64,
    "bcg_arith_cmpi_uge": lambda x, y: x % 2**64 >= y % 2**64,
}
PARTIAL = {
    "bcg_index_add": lambda x, y: x + y,
    "bcg_index_mul": lambda x, y: x * y,
    "bcg_index_div": lambda x, y: x // y if y else None,
    "bcg_arith_divsi": lambda x, y: wrapped(rounded_to_zero(x, y)) if y else None,
    "bcg_arith_floordivsi": lambda x, y: wrapped(x // y) if y else None,
    "bcg_arith_ceildivsi": lambda x, y: wrapped(-(-x // y)) if y else None,
    "bcg_arith_remsi": lambda x, y: x - y * rounded_to_zero(x, y) if y else None,
    "bcg_arith_divui": lambda x, y: wrapped(bits(x) // bits(y)) if y else None,
    "bcg_arith_ceildivui": lambda x, y: wrapped(-(-bits(x) // bits(y))) if y else None,
    "bcg_arith_remui": lambda x, y: wrapped(bits(x) % bits(y)) if y else None,
    "bcg_arith_shli": lambda x, y: wrapped(x << y) if 0 <= y < 64 else None,
    "bcg_arith_shrsi": lambda x, y: x >> y if 0 <= y < 64 else None,
    "bcg_arith_shrui": lambda x, y: wrapped(bits(x) >> y) if 0 <= y < 64 else None,
}


@pytest.mark.parametrize("name", TOTAL)
def test_index_arithmetic(c, name):
    for x, y in itertools.product(INDICES, repeat=2):
        assert getattr(c.c, name)(x, y) == TOTAL[name](x, y), (x, y)


@pytest.mark.parametrize("name", PARTIAL)
def test_index_arithmetic_that_may_have_no_result(c, name):
    for x, y in itertools.product(INDICES, repeat=2):
        result = c.ffi.new("int64_t *", 77)
        has_result = getattr(c.c, name)(x, y, result)
        expected = PARTIAL[name](x, y)
        if expected is None or not LEAST <= expected <= MOST:
            assert (has_result, result[0]) == (0, 77), (x, y)
        else:
            assert (has_result, result[0]) == (1, expected), (x, y)
