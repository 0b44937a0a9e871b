"""Constant arrays in standalone C: static data, bit for bit, that no caller passes."""

from __future__ import annotations

import re

import numpy as np
import pytest

from bcastgen.core.c_flags import OPTIMISED
from bcastgen.core.dtypes import COMPUTED, F32, I64, dtype
from bcastgen.emit.kernel.constants import data_lines
from bcastgen.expr.build import Builder
from bcastgen.expr.nodes import Expression, TypeAssertion
from bcastgen.expr.trace import trace
from bcastgen.expr.views import Collapse
from bcastgen.ops.table import OPS
from bcastgen.shape.types.tensor_type import parse_type
from compile_flags import QUICK

F32_NP = np.float32
ODD = {"f": [0.1, -0.0, np.inf, -np.inf, np.nan, 5e-324, 1.1754944e-38, 3.0, -2.5, 1e30, 65504.0, 2.0**-24]}


def values_of(row):
    """Every kind of value of a dtype, as a 2-d array."""
    if row.kind == "bool":
        return np.array([[True, False, True]])
    if row.is_float:
        with np.errstate(over="ignore", under="ignore"):
            return np.array([ODD["f"]]).astype(row.np)
    return np.array([[row.min, row.max, 0, 1, row.max - 1, row.min + 1]], row.np)


def bits(array):
    return np.ascontiguousarray(array).view(np.uint8).tolist()


def programs(emit):
    """(kernel, arrays to pass, results to expect), one for each dtype and for each way a constant is read."""
    for row in COMPUTED:
        constant = values_of(row)
        count = constant.size
        kernel = emit(
            f"copy_{row}",
            lambda m, w: np.where(m, w, w),
            ["bool[?,1]", f"{row}[1,{count}]"],
            "mw",
            constants=(constant,),
        )
        yield kernel, (np.ones((2, 1), bool),), (np.repeat(constant, 2, 0),)
    a, w = np.arange(6, dtype=F32_NP).reshape(2, 3), F32_NP([[2.0], [0.1]])
    yield emit("rows", lambda a, w: a * w, ["f32[?,3]", "f32[2,1]"], "aw", constants=(w,)), (a,), (a * w,)
    yield emit("any_rank", lambda a, w: a * w, ["f32[*]", "f32[2,1]"], "aw", constants=(w,)), (a,), (a * w,)
    both = emit("both", lambda a, w: (a * w, a.T + 1, w * 2), ["f32[?,3]", "f32[2,1]"], "aw", constants=(w,))
    yield both, (a,), (a * w, a.T + 1, w * 2)
    unused = emit("unused", lambda a, w: a * 2, ["f32[?,3]", "f32[2,1]"], "aw", constants=(w,))
    assert "data_w" not in unused.text
    yield unused, (a,), (a * 2,)
    only = emit("only", lambda a, w: w * 2, ["f32[?,3]", "f32[2,1]"], "aw", constants=(w,))
    yield only, (a,), (w * 2,)
    scalar = emit("scalar", lambda a, w: a * w, ["f32[?,3]", "f32[]"], "aw", constants=(F32_NP(0.1)[()].reshape(()),))
    yield scalar, (a,), (a * F32_NP(0.1),)
    none = np.zeros((0, 3), F32_NP)
    empty = emit("empty", lambda a, w: a * w, ["f32[?,3]", "f32[0,3]"], "aw", constants=(none,))
    yield empty, (a[:1],), (none,)
    power = emit("power", lambda a, w: a**w, ["i32[?,3]", "i32[3]"], "aw", constants=(np.int32([0, 1, 2]),))
    yield power, (a.astype(np.int32),), (a.astype(np.int32) ** np.int32([0, 1, 2]),)
    turned = emit("turned", lambda a, w: a + w.T, ["f32[?,2]", "f32[2,3]"], "aw", constants=(a,))
    yield turned, (np.ones((3, 2), F32_NP),), (1 + a.T,)
    yield emit("dropped", collapsed(), ["f32[?,3]", "f32[1,1,3]"], "aw", constants=(a[None, :1],)), (a,), (a + a[0],)
    yield (
        emit("said", claimed(), ["f32[?]", "f32[3]", "f32[3]"], "avw", constants=(a[0], a[1])),
        (a[0],),
        (a[0] * a[1] + a[0],),
    )


def collapsed():
    """a + w[0, 0]."""
    builder = Builder(("a", "w"))
    a, w = builder.operands
    return builder.finish((builder.apply(OPS["add"], (a, builder.remap(w, Collapse((0, 1))))),))


def claimed():
    """(a claimed as f32[3]) * w + v: nothing but the claim keeps a from being a one."""
    made = trace(lambda a, v, w: a * w + v, "avw")
    return Expression(made.operands, made.results, (), (TypeAssertion(made.operands[0], "%0", parse_type("f32[3]")),))


@pytest.fixture(scope="module")
def all_programs(emit):
    return list(programs(emit))


@pytest.fixture
def check(all_programs, build, new_case):
    def run(directory, kind="gcc", optimise=QUICK):
        cases = []
        for kernel, arrays, expected in all_programs:
            case = new_case(kernel)
            for array in arrays:
                case.array(array)
            for array in expected:
                case.array(np.zeros(array.shape, array.dtype))
            cases.append(case)
        kernels = [kernel for kernel, _, _ in all_programs]
        done = build(kernels, directory, kind, optimise).run(*cases)
        for got, (kernel, arrays, expected) in zip(done, all_programs, strict=True):
            assert (got.shape.status, got.call.status) == ("OK", "OK"), (kernel.name, got.shape, got.call)
            assert got.extents == tuple(array.shape for array in expected)
            for at, array in enumerate(expected):
                found = got.values(len(arrays) + at, array.dtype)
                same = bits(found) == bits(array) or np.array_equal(found, array, equal_nan=True)
                assert same, (kernel.name, found, array)

    return run


def test_constants_are_read_as_they_are(check, tmp_path):
    check(tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "optimise"), [("gcc", OPTIMISED), ("clang", QUICK), ("clang", OPTIMISED)])
def test_constants_are_read_as_they_are_by_every_compiler(kind, optimise, check, tmp_path):
    check(tmp_path, kind, optimise)


def test_kernels_with_constants_compile_without_warnings(all_programs, together, compile_strictly, tmp_path):
    compile_strictly(together([kernel for kernel, _, _ in all_programs]), tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "language"), [("gcc", "c++"), ("clang", "c"), ("clang", "c++")])
def test_kernels_with_constants_compile_everywhere(kind, language, all_programs, together, compile_strictly, tmp_path):
    compile_strictly(together([kernel for kernel, _, _ in all_programs]), tmp_path, kind, language)


def test_callers_do_not_pass_constants(emit):
    kernel = emit(
        "scaled", lambda a, w: a * w, ["f32[?,3]", "f32[3]"], "aw", constants=(F32_NP([1, 2, 0.1]),), variants=0
    )
    header, text = kernel.files["scaled.h"], kernel.text
    assert "scaled_shape(const bcastgen_array *a, int64_t r_extents[2], bcastgen_diagnostic *why);" in header
    assert "scaled(const bcastgen_array *a, const bcastgen_result *r, bcastgen_diagnostic *why);" in header
    assert "SCALED_W (a constant)." in header
    assert "static const float scaled_data_w[3] = {\n    1.0f, 2.0f, 0x1.99999ap-4f\n};" in text
    assert "w->rank" not in text
    assert "w->extents" not in text


def test_a_constant_may_be_called_like_anything(emit, compile_strictly, tmp_path):
    """Names of C, of the file's own functions, and of its locals."""
    for at, name in enumerate(["data", "float", "w_array", "extents", "größe", "status", "at", "data_w", "k0_data_w"]):
        names = ("w", name) if name != "w" else ("v", name)
        constants = (F32_NP([1.0]), F32_NP([2.0]))
        expression = trace(lambda a, b, c: a * b + c, ("a", *names))
        kernel = emit(f"k{at}", expression, ["f32[?]", "f32[1]", "f32[1]"], ("a", *names), constants=constants)
        compile_strictly(kernel.files, tmp_path / str(at))


def test_large_arrays_stay_readable(emit, compile_strictly, tmp_path):
    values = np.random.default_rng(0).standard_normal((100, 1000)).astype(F32_NP)
    kernel = emit("large", lambda a, w: a + w, ["f32[?,1000]", "f32[100,1000]"], "aw", constants=(values,))
    lines = kernel.text.splitlines()
    start = lines.index("static const float large_data_w[100000] = {")
    rows = lines[start + 1 : lines.index("};", start)]
    assert len(rows) <= 100_000 / 5
    assert max(map(len, rows)) <= 120
    texts = [text.strip("() f") for row in rows for text in row.split(",") if text.strip()]
    read = [float.fromhex(text) if "x" in text else float(text) for text in texts]
    assert np.array_equal(np.array(read, F32_NP), values.ravel())
    compile_strictly(kernel.files, tmp_path, flags=(QUICK,))


@pytest.mark.parametrize("count", [1, 15, 16, 17, 100])
def test_rows_hold_what_there_is(count):
    rows = data_lines(np.arange(count), I64)
    assert re.findall(r"INT64_C\((\d+)\)", " ".join(rows)) == [str(at) for at in range(count)]
    assert all(row.count("INT64_C") <= 16 and len(row) <= 114 for row in rows)
    assert [row.endswith(",") for row in rows] == [True] * (len(rows) - 1) + [False]


def test_no_digits_that_say_nothing():
    assert data_lines(np.array([2.0**-30, 0.1, 1e-45], F32_NP), F32) == ("0x1p-30f, 0x1.99999ap-4f, 0x1p-149f",)
    assert data_lines(np.array([2.0**-1074, 1.5], np.float64), dtype("f64")) == ("0x0.0000000000001p-1022, 1.5",)
