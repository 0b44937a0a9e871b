"""Kernels called on pandas' and xarray's objects: whatever NumPy's ufunc of the same call gives, or an error as there.

The ufuncs compared with have no operator, so that no library computes them by one of its own.
"""

from __future__ import annotations

import itertools
import pickle
import re
import warnings

import numpy as np
import pytest

import bcastgen as bg
from bcastgen.kernel.handed_over import AsUfunc

NEEDS = "{} is not installed (pip install -e .[arrays])"
UFUNCS = [np.sqrt, np.rint, np.signbit, np.isfinite, np.fmax, np.modf, np.frexp]
# No kernel of these is `bg`'s own, which would hand over NumPy's ufunc.
KERNELS = {ufunc: bg.jit(ufunc, name=f"mine_{ufunc.__name__}") for ufunc in UFUNCS if ufunc.nout == 1} | {
    np.modf: bg.jit(lambda x: np.modf(x), name="mine_modf"),
    np.frexp: bg.jit(lambda x: np.frexp(x), name="mine_frexp"),
}


def pandas_operands(pd):
    index = pd.Index(list("abc"), name="letters")
    frame = pd.DataFrame({"p": [1.5, -2.0, np.nan], "q": [3.0, 4.0, -0.5]}, index=index)
    duplicate = pd.Series([4.0, 2.0, 1.0], index=list("aab"))
    return {
        "series": pd.Series([1.5, -2.25, 9.0], index=index, name="s"),
        "shifted": pd.Series([4.0, 2.0, 1.0], index=list("bcd"), name="t"),
        "duplicate": duplicate,
        "f32": pd.Series(np.float32([1, 2, 4]), index=index),
        "bool": pd.Series([True, False, True]),
        "int64": pd.Series([1, 2, 4], name="s"),
        "Int64": pd.Series([1, None, 4], dtype="Int64"),
        "Float32": pd.Series([1.5, None, 4], dtype="Float32", name="s"),
        "array": pd.array([1, None, 4], dtype="Int64"),
        "text": pd.Series(["a", "b", "c"]),
        "categorical": pd.Series([1, 2, 1], dtype="category"),
        "empty": pd.Series([], dtype=float),
        "frame": frame,
        "mixed": pd.DataFrame({"p": [1, 2, 3], "q": np.float32([3, 4, 5])}, index=list("abd")),
        "index": pd.Index([1.0, 4.0, 9.0], name="i"),
        "range": pd.RangeIndex(1, 4),
        "ndarray": np.array([1.0, 2.0, 3.0]),
        "scalar": 2.0,
    }


def xarray_operands(xr):
    grid = xr.DataArray(
        np.arange(6.0).reshape(2, 3), dims=("t", "x"), coords={"t": [0, 1], "x": [1, 2, 3]}, name="grid", attrs={"u": 1}
    )
    return {
        "grid": grid,
        "turned": grid.T,
        "line": xr.DataArray(np.float32([2, 3]), dims="t", coords={"t": [0, 1]}, name="line"),
        "other": xr.DataArray([2, 3], dims="t", coords={"t": [1, 0]}),
        "bare": xr.DataArray([2.0, 3.0, 5.0], dims="z"),
        "variable": xr.Variable("x", [1.0, 4.0, 9.0]),
        "dataset": xr.Dataset({"a": grid, "b": grid[0] + 1}),
        "ndarray": np.array([1.0, 2.0, 3.0]),
        "scalar": 2.0,
    }


def outcome(function, operands, **keywords):
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return function(*operands, **keywords), None
    except Exception as error:
        return None, error


def compared(operands, equal):
    """Compare kernels with ufuncs over all operands; return how many calls gave a result, and how many none."""
    answered = refused = 0
    for ufunc, kernel in KERNELS.items():
        for names in itertools.product(operands, repeat=ufunc.nin):
            given = [operands[name] for name in names]
            got, error = outcome(kernel, given)
            wanted, reason = outcome(ufunc, given)
            # NumPy computes with Python objects, too, into which pandas turns bools that are missing.
            objects = isinstance(error, bg.DTypeError) and "Python objects" in str(error)
            assert (error is None) == (reason is None) or objects, (ufunc, names, error, reason)
            if error is None:
                answered += 1
                for one, other in zip(*((x,) if ufunc.nout == 1 else x for x in (got, wanted)), strict=True):
                    assert type(one) is type(other), (ufunc, names)
                    equal(one, other)
            else:
                refused += 1
    return answered, refused


def test_pandas_as_for_numpys_ufuncs():
    pd = pytest.importorskip("pandas", reason=NEEDS.format("pandas"))

    def equal(got, wanted):
        check = {pd.Series: pd.testing.assert_series_equal, pd.DataFrame: pd.testing.assert_frame_equal}.get(type(got))
        check = check or (pd.testing.assert_index_equal if isinstance(got, pd.Index) else None)
        check = check or (np.testing.assert_array_equal if isinstance(got, np.ndarray) else None)
        if check is not None:
            check(got, wanted)
        elif isinstance(got, pd.api.extensions.ExtensionArray):
            pd.testing.assert_extension_array_equal(got, wanted)
        else:
            assert got == wanted

    answered, refused = compared(pandas_operands(pd), equal)
    assert answered > 150 and refused > 50


def test_xarray_as_for_numpys_ufuncs():
    xr = pytest.importorskip("xarray", reason=NEEDS.format("xarray"))

    def equal(got, wanted):
        if isinstance(got, np.ndarray | np.generic):
            np.testing.assert_array_equal(got, wanted, strict=True)
        else:
            xr.testing.assert_identical(got, wanted)
            kinds = got.dtypes if isinstance(got, xr.Dataset) else got.dtype
            assert kinds == (wanted.dtypes if isinstance(got, xr.Dataset) else wanted.dtype)

    answered, refused = compared(xarray_operands(xr), equal)
    assert answered > 80 and refused > 5


def test_calls_that_pandas_makes():
    pd = pytest.importorskip("pandas", reason=NEEDS.format("pandas"))
    s = pd.Series([1.0, 4.0, 9.0], index=list("abc"), name="s")
    frame = pd.DataFrame({"p": [1.0, 4.0], "q": [9, 16]})
    kernel, fused = KERNELS[np.sqrt], bg.jit(lambda x, y, z: x * y + z, name="fused")
    pd.testing.assert_series_equal(s.pipe(kernel), np.sqrt(s))
    pd.testing.assert_series_equal(s.transform(kernel), np.sqrt(s))
    pd.testing.assert_frame_equal(frame.apply(kernel), np.sqrt(frame))
    pd.testing.assert_frame_equal(frame.transform(kernel), np.sqrt(frame))
    pd.testing.assert_frame_equal(frame.pipe(kernel), np.sqrt(frame))
    pd.testing.assert_series_equal(s.groupby([0, 0, 1]).transform(kernel), np.sqrt(s))
    pd.testing.assert_series_equal(fused(s, s[1:], 1), s * s[1:] + 1)
    pd.testing.assert_series_equal(fused(z=1, x=s, y=2), s * 2 + 1)
    pd.testing.assert_series_equal(bg.evaluate("s * s + 1"), s * s + 1)
    three = bg.jit(lambda x: (x, -x, x + 1), name="three")
    for got, wanted in zip(three(frame), (frame, -frame, frame + 1), strict=True):
        pd.testing.assert_frame_equal(got, wanted.astype(got.dtypes), check_dtype=False)


def test_keywords_go_where_pandas_takes_them():
    pd = pytest.importorskip("pandas", reason=NEEDS.format("pandas"))
    s, kernel = pd.Series([1.0, 4.0, 9.0], name="s"), KERNELS[np.sqrt]
    into, other = s.copy(), s.copy()
    # pandas returns another Series than the out.
    kernel(s, out=into), np.sqrt(s, out=other)
    pd.testing.assert_series_equal(into, other)
    array = np.zeros(3)
    assert kernel(s, out=array).index is s.index and array.tolist() == [1, 2, 3]
    mask = np.array([True, False, True])
    assert kernel(s, where=mask).tolist() == [1, 0, 3]
    assert kernel(s, dtype="f4", casting="same_kind").dtype == np.float32
    # pandas aligns no mask; NumPy's own ufuncs recurse without an end, unless they have an out.
    for operand in (s, array):
        with pytest.raises(bg.DTypeError, match=r"^mine_sqrt\(\): where is a Series, .*where=numpy\.asarray\(mask\)"):
            kernel(operand, where=s > 1)
    with pytest.raises(TypeError, match="unexpected keyword argument 'axis'"):
        kernel(s, axis=0)


def test_a_kernel_with_the_name_of_a_ufunc_is_none():
    """pandas looks up operators by name."""
    pd = pytest.importorskip("pandas", reason=NEEDS.format("pandas"))
    s = pd.Series([1.0, 2.0])
    assert bg.jit(lambda x, y: x + 10 * y, name="add")(s, s).tolist() == [11, 22]
    assert bg.add(s, s).tolist() == [2, 4]


def test_kernels_that_are_not_element_wise_take_columns_only():
    pd = pytest.importorskip("pandas", reason=NEEDS.format("pandas"))
    share = bg.jit(lambda x: x / x.sum(), name="share")
    s = pd.Series([1.0, 3.0], index=list("ab"))
    pd.testing.assert_series_equal(share(s), s / 4)
    frame = pd.DataFrame({"p": [1.0, 3.0], "q": [1.0, 1.0]})
    pd.testing.assert_frame_equal(frame.apply(share), frame / frame.sum())
    for value in (frame, pd.Series([1, None], dtype="Int64"), pd.array([1, 2], dtype="Int64")):
        with pytest.raises(bg.DTypeError, match=r"share\(\) is not element-wise, and operand 'x' is a"):
            share(value)
    # Blocks of frames are stored with their dims exchanged.
    declared = bg.from_text("(f64[?,3] x) -> x + 1", name="declared")
    with pytest.raises(bg.DTypeError, match=r"declared\(\) is not element-wise.*DataFrame"):
        declared(frame)
    assert bg.from_text("(f64[?] x) -> x + 1")(s).tolist() == [2, 4]


@pytest.mark.parametrize(
    ("values", "kind", "cure"),
    [
        (lambda pd: ["1.5", "2"], "str", "x.astype(float)"),
        (lambda pd: pd.Series([1, 2.5], dtype=object), "object", "x.astype(float)"),
        (lambda pd: pd.period_range("2020", periods=2, freq="M"), "period[M]", "x.astype('int64')"),
        (lambda pd: pd.interval_range(0, 2), "interval[int64, right]", "x.array.mid"),
        (lambda pd: pd.date_range("2020", periods=2, tz="UTC"), "datetime64", "x.astype('int64')"),
    ],
)
def test_objects_of_pandas_are_refused_by_the_dtype_that_pandas_has(values, kind, cure):
    pd = pytest.importorskip("pandas", reason=NEEDS.format("pandas"))
    double, x = bg.jit(lambda x: x * 2, name="double"), pd.Series(values(pd))
    with pytest.raises(bg.DTypeError, match=re.escape(f"operand 'x' is a Series of dtype {kind}")) as caught:
        double(x)
    assert cure in str(caught.value) and str(caught.value).endswith(", in double()")
    assert len(double(eval(cure, {"x": x}))) == 2


def test_frames_whose_columns_have_no_common_dtype_are_refused_by_their_dtypes():
    pd = pytest.importorskip("pandas", reason=NEEDS.format("pandas"))
    plus = bg.jit(lambda x, y: x + y, name="plus")
    frame = pd.DataFrame({"p": [True, False], "q": [1, 2]})
    with pytest.raises(bg.DTypeError, match=r"'x' is a DataFrame of dtypes bool and int64.*\(x\[name\]\) at a time"):
        plus(frame, frame)
    made = pd.DataFrame({name: plus(frame[name], frame[name]) for name in frame})
    pd.testing.assert_frame_equal(made, frame + frame)
    pd.testing.assert_frame_equal(plus(frame.astype(float), frame.astype(float)), frame.astype(float) * 2)


class Base:
    """Says whether it takes part, and notes that it was asked."""

    asked: tuple[str, ...] = ()
    answers = True

    def __array_ufunc__(self, ufunc, method, *inputs, **keywords):
        Base.asked = (*Base.asked, type(self).__name__)
        return (ufunc, method, inputs, keywords) if self.answers else NotImplemented


class Derived(Base):
    pass


class Silent(Base):
    answers = False


class Unwilling:
    __array_ufunc__ = None


def test_objects_are_asked_in_numpys_order():
    kernel, ufunc = bg.jit(lambda x, y: x + y), np.fmax
    for operands in itertools.product((Base(), Derived(), Silent(), 1.0), repeat=2):
        orders = []
        for function in (kernel, ufunc):
            Base.asked = ()
            outcome(function, operands)
            orders.append(Base.asked)
        assert orders[0] == orders[1], operands


def test_what_they_are_handed_is_like_a_ufunc():
    kernel, value = bg.jit(lambda x, y: x + y, name="plus"), Base()
    ufunc, method, inputs, keywords = kernel(value, 2, out=value, order="C")
    assert (method, inputs, keywords) == ("__call__", (value, 2), {"out": (value,), "order": "C"})
    assert (ufunc.nin, ufunc.nout, ufunc.nargs, ufunc.signature, ufunc.identity) == (2, 1, 3, None, None)
    assert repr(ufunc) == "<ufunc 'bcastgen.plus'>" and ufunc.ntypes == len(kernel.types)
    assert ufunc(1, 2) == 3 and isinstance(ufunc, AsUfunc)
    again = pickle.loads(pickle.dumps(ufunc))
    assert again == ufunc and hash(again) == hash(ufunc) and again.__dask_tokenize__() == ufunc.__dask_tokenize__()


def test_objects_that_take_no_part_are_refused_by_name():
    kernel = bg.jit(lambda x, y: x + y, name="plus")
    for value in (Silent(), Unwilling()):
        for operands in ((1.0, value), (np.ones(2), value)):
            with pytest.raises(bg.DTypeError, match=rf"plus\(\).*operand 'y' is a {type(value).__name__}.*asarray"):
                kernel(*operands)
    with pytest.raises(bg.DTypeError, match="out is a Silent"):
        kernel(1.0, 2.0, out=Silent())
