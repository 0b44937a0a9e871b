"""Series of Polars: read in place, results are Series, missing values are refused."""

from __future__ import annotations

import numpy as np
import pytest

import bcastgen as bg

pl = pytest.importorskip("polars", reason="polars is not installed (pip install -e .[arrays])")

scaled = bg.jit(lambda x, y: x * y + 1, name="scaled")


@pytest.mark.parametrize("dtype", ["Boolean", "Int8", "UInt16", "Int64", "UInt64", "Float32", "Float64"])
def test_results_are_numpys_as_series(dtype):
    s = pl.Series("s", [1, 0, 1]).cast(getattr(pl, dtype))
    wanted = scaled(s.to_numpy(), np.float32(2))
    got = scaled(s, np.float32(2))
    assert isinstance(got, pl.Series) and got.name == "s"
    np.testing.assert_array_equal(got.to_numpy(), wanted, strict=True)


def test_memory_is_shared():
    module = pytest.importorskip("bcastgen.integrations.polars_series")
    s = pl.Series("s", np.arange(1000.0))
    assert module.as_ndarray("s", s).ctypes.data == s.to_numpy(allow_copy=False).ctypes.data
    result = np.arange(1000.0)
    assert module.as_own(result, s).to_numpy(allow_copy=False).ctypes.data == result.ctypes.data


def test_other_calls():
    s, t = pl.Series("s", [1.0, 2.0]), pl.Series("t", [3, 4])
    assert scaled(s, t).to_list() == [4, 9] and scaled(np.ones(2), t).name == "t"
    chunks = pl.concat([s, s], rechunk=False)
    assert chunks.n_chunks() == 2 and scaled(chunks, 1).to_list() == [2, 3, 2, 3]
    frame = pl.DataFrame({"a": [1.0, 2.0]})
    assert frame.select(pl.col("a").map_batches(lambda a: scaled(a, 2)))["a"].to_list() == [3, 5]
    assert scaled(s, np.ones((2, 1))).shape == (2, 2)
    assert scaled(s, t, out=(out := np.empty(2))) is out


def test_what_is_no_plain_column_is_refused_with_the_cure():
    for values, dtype, cure in (
        ([1.0, None], None, r"1 missing value, .*x\.fill_null\(value\)"),
        ([None, None], pl.Int8, r"2 missing values"),
        ([1, 2], pl.Date, r"Series of Date.*x\.cast\(polars.Float64\)"),
        (["a"], None, "Series of String"),
    ):
        with pytest.raises(bg.DTypeError, match=rf"operand 'x' of scaled\(\) is a Series.*{cure}|{cure}"):
            scaled(pl.Series("s", values, dtype=dtype), 2)
    with pytest.raises(bg.DTypeError, match=r"'x' is a polars.LazyFrame, which is no array; pass x\.collect\(\)"):
        scaled(pl.LazyFrame({"a": [1.0]}), 2)
    with pytest.raises(bg.DTypeError, match="never written to"):
        scaled(1.0, 2.0, out=pl.Series([1.0]))


CURES = {
    "an array": (lambda: pl.Series([[1.0], [2.0]], dtype=pl.Array(pl.Float64, 1)), "x.to_numpy()"),
    "a list": (lambda: pl.Series([[1.0], [2.0]]), "x.list.to_array(1).to_numpy()"),
    "a longer list": (lambda: pl.Series([[1.0, 2.0], [3.0]]), "x.explode()"),
    "a struct": (lambda: pl.Series([{"name": 1.0}]), "x.struct.field('name')"),
    "categories": (lambda: pl.Series(["a", "b"], dtype=pl.Categorical), "x.to_physical()"),
    "an enum": (lambda: pl.Series(["a", "b"], dtype=pl.Enum(["a", "b"])), "x.to_physical()"),
    "text": (lambda: pl.Series(["1.5"]), "x.cast(polars.Float64)"),
    "decimals": (lambda: pl.Series(["1.5"]).cast(pl.Decimal(10, 2)), "x.cast(polars.Float64)"),
    "days": (lambda: pl.Series([1, 2], dtype=pl.Date), "x.cast(polars.Float64)"),
}


@pytest.mark.parametrize("case", CURES)
def test_cures_work(case):
    make, cure = CURES[case]
    x = make()
    with pytest.raises(bg.DTypeError, match="are no numbers; pass") as caught:
        scaled(x, 2)
    assert cure.replace("(1)", "(n)").replace("'name'", "name") in str(caught.value)
    assert len(scaled(eval(cure, {"x": x, "polars": pl}), 2)) > 0


def test_a_sum_is_a_numpy_scalar():
    total = bg.sum(pl.Series([1.0, 2.0]))
    assert type(total) is np.float64 and total == 3
    assert type(bg.jit(lambda x: x.sum())(pl.Series([1.0]), out=...)) is np.ndarray
    parts = bg.jit(lambda x: (x.sum(), x * 2))(pl.Series([1.0, 2.0]))
    assert type(parts[0]) is np.float64 and isinstance(parts[1], pl.Series)


def test_a_kernel_with_a_reduction_says_how_expressions_take_it():
    share = bg.jit(lambda x: x / x.sum(), name="share")
    with pytest.raises(bg.DTypeError, match=r"'x' is an Expr.*x\.map_batches\(kernel\)"):
        share(pl.col("a"))
    frame = pl.DataFrame({"a": [1.0, 3.0]})
    assert frame.select(pl.col("a").map_batches(share))["a"].to_list() == [0.25, 0.75]


def test_series_of_two_libraries_are_told_apart():
    pd = pytest.importorskip("pandas", reason="pandas is not installed (pip install -e .[arrays])")
    with pytest.raises(bg.DTypeError, match=r"several libraries, pandas\.Series and polars\.Series"):
        scaled(pl.Series([1.0]), pd.Series([1.0]))
