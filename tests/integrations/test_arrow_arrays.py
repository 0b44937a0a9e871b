"""Arrays of Arrow: read in place, results are Arrow's, missing values are refused."""

from __future__ import annotations

import numpy as np
import pytest

import bcastgen as bg

pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed (pip install -e .[arrays])")

scaled = bg.jit(lambda x, y: x * y + 1, name="scaled")


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int64", "uint64", "halffloat", "float", "double"])
def test_results_are_numpys_as_arrays(dtype):
    array = pa.array([1, 0, 1]).cast(pa.int8()).cast(pa.bool_() if dtype == "bool" else pa.type_for_alias(dtype))
    wanted = scaled(array.to_numpy(zero_copy_only=False), np.float32(2))
    got = scaled(array, np.float32(2))
    assert isinstance(got, pa.Array)
    np.testing.assert_array_equal(got.to_numpy(zero_copy_only=False), wanted, strict=True)


def test_memory_is_shared():
    module = pytest.importorskip("bcastgen.integrations.arrow_arrays")
    array = pa.array(np.arange(1000.0))[10:]
    assert module.as_ndarray("x", array).ctypes.data == array.buffers()[1].address + 80
    result = np.arange(1000.0)
    assert module.as_own(result, array).buffers()[1].address == result.ctypes.data


def test_columns_of_tables():
    table = pa.table({"a": [1.0, float("nan")], "b": [3, 4]})
    got = scaled(table["a"], table["b"])
    assert isinstance(got, pa.ChunkedArray) and got.null_count == 0 and got[0].as_py() == 4
    several = pa.chunked_array([[1.0], [2.0, 3.0]])
    assert scaled(several, 2).to_pylist() == [3, 5, 7]
    assert scaled(several, np.ones((2, 1))).shape == (2, 3)


def test_what_is_no_plain_column_is_refused_with_the_cure():
    for values, cure in (
        ([1.0, None], r"1 missing value, .*fill_null\(x, value\)"),
        (["a"], r"array of string.*x\.cast\('float64'\)"),
    ):
        with pytest.raises(bg.DTypeError, match=rf"operand 'x' of scaled\(\) is an array {cure}|{cure}"):
            scaled(pa.array(values), 2)
    with pytest.raises(bg.DTypeError, match=r"'x' is a pyarrow.DoubleScalar, which is no array; pass x\.as_py\(\)"):
        scaled(pa.scalar(2.0), 2)
    with pytest.raises(bg.DTypeError, match="never written to"):
        scaled(1.0, 2.0, out=pa.array([1.0]))


CURES = {
    "lists": (lambda: pa.array([[1.0, 2.0], [3.0]]), "pyarrow.compute.list_flatten(x)"),
    "fixed lists": (lambda: pa.array([[1.0, 2.0]], pa.list_(pa.float64(), 2)), "pyarrow.compute.list_flatten(x)"),
    "structs": (lambda: pa.array([{"name": 1.0}]), "pyarrow.compute.struct_field(x, 'name')"),
    "a dictionary": (lambda: pa.array([1.0, 1.0]).dictionary_encode(), "pyarrow.compute.dictionary_decode(x)"),
    "days": (lambda: pa.array([1], pa.date32()), "x.cast('int32')"),
    "times": (lambda: pa.array([1], pa.timestamp("us")), "x.cast('int64')"),
    "durations": (lambda: pa.array([1], pa.duration("us")), "x.cast('int64')"),
    "decimals": (lambda: pa.array([1]).cast(pa.decimal128(20, 1)), "x.cast('float64')"),
}


@pytest.mark.parametrize("case", CURES)
def test_cures_work(case):
    compute = pytest.importorskip("pyarrow.compute")
    assert compute is pa.compute
    make, cure = CURES[case]
    for x in (make(), pa.chunked_array([make()])):
        with pytest.raises(bg.DTypeError, match="kernels compute with numbers; pass") as caught:
            scaled(x, 2)
        assert cure.replace("'name'", "name") in str(caught.value)
        assert len(scaled(eval(cure, {"x": x, "pyarrow": pa}), 2)) > 0


def test_a_sum_is_a_numpy_scalar():
    for array in (pa.array([1.0, 2.0]), pa.chunked_array([[1.0], [2.0]])):
        total = bg.sum(array)
        assert type(total) is np.float64 and total == 3
