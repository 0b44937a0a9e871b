"""bcastgen/mlir/linalg/user_c.py: which C of users is arithmetic, and that its lines mean the same."""

from __future__ import annotations

import numpy as np
import pytest

import bcastgen as bg
import mlir_tools
from bcastgen.core.dtypes import dtype
from bcastgen.mlir.linalg.user_c import user_lines

F32, F64, I64, U32 = (dtype(name) for name in ("f32", "f64", "i64", "u32"))


@pytest.mark.parametrize(
    ("c", "type_", "lines"),
    [
        ("(float)({0} - {1})", F32, "arith.subf {0}, {1} : {t}"),
        ("(float)({0})", F32, "{0}"),
        ("{0} - {1} - 2", I64, "%v0 = arith.subi {0}, {1} : {t}\narith.subi %v0, #2 : {t}"),
        ("{0} + {1} * 0.5f", F32, "%v0 = arith.mulf {1}, #0.5 : {t}\narith.addf {0}, %v0 : {t}"),
        ("{0} != -1.5 ? {0} : {1}", F64, "%v0 = arith.cmpf une, {0}, #-1.5 : {t}\narith.select %v0, {0}, {1} : {t}"),
        ("{0} < {1} ? {0} : 3", U32, "%v0 = arith.cmpi ult, {0}, {1} : {t}\narith.select %v0, {0}, #3 : {t}"),
        ("-{0}", I64, "arith.subi #0, {0} : {t}"),
    ],
)
def test_arithmetic_is_spelled(c, type_, lines):
    assert user_lines(c, (type_, type_), type_) == lines


@pytest.mark.parametrize(
    ("c", "type_"),
    [
        ("{0} * 0.5", F32),  # in double
        ("{0} * 0.5f", F64),  # 0.5f may be another number than 0.5
        ("{0} + 1/2", F64),  # 0
        ("{0} / {1}", I64),  # undefined for 0
        ("{0} + 010", I64),  # octal
        ("{0} + 99999999", F32),  # no float
        ("{0} < -1 ? {0} : {1}", U32),  # -1 is converted
        ("-0 * {0}", F64),
        ("{0} < {1}", F32),  # a number, not a test
        ("{0} ? {0} : {1}", F32),
        ("({0} < {1}) + {0}", F32),
        ("{0} < {1} < {0} ? {0} : {1}", F32),
        ("sqrt({0})", F64),
        ("(int){0}", F64),
        ("{0} % {1}", I64),
        ("{0} + ({1}", F64),
        ("{0} {1}", F64),
        ("{10}", F64),
        ("", F64),
    ],
)
def test_more_than_that_is_not(c, type_):
    assert user_lines(c, (type_, type_), type_) is None


def test_operands_of_one_dtype_of_32_bits_or_more():
    for operands, result in (
        ((F32, F64), F64),
        ((F32,), F64),
        *(((dtype(n),), dtype(n)) for n in ("i8", "f16", "bool")),
    ):
        assert user_lines("{0}", operands, result) is None


@pytest.mark.slow
@mlir_tools.needs_native
def test_lines_compute_what_c_computes(tmp_path, differences):
    texts = {
        "f32": ("x > y ? 2*x - y : -x / y + 0.25{f}", "x <= y ? x : x != y ? -y : 3"),
        "i64": ("x > y ? 2*x - y : -x * y - 5", "x == y ? -7 : (x - y) * (x + 3)"),
        "u32": ("x > y ? 2*x - y : x * y + 5", "x >= y ? x - y : y - x"),
    }
    kernels = {}
    for type_, sources in texts.items():
        for at, c in enumerate(sources):
            name = f"c_{type_}_{at}"
            bg.define_op(name, "x, y", c=c, dtypes="same number", replace=True)
            kernel = bg.from_text(f"({type_}[?] x, {type_}[?] y) -> {name}(x, y)", name)
            kernels[name] = kernel, dtype(type_).np
    native = mlir_tools.Native.compile("".join(kernel.to_mlir() for kernel, _ in kernels.values()), tmp_path / "c")
    random = np.random.default_rng(4)
    for name, (kernel, type_) in kernels.items():
        x, y = (random.integers(0, 9, 200).astype(type_) for _ in range(2))
        if type_ is np.float32:
            x[:6] = [np.nan, np.inf, -0.0, 0.0, -np.inf, 1]
            y[3:9] = [np.nan, np.inf, -0.0, 0.0, -np.inf, 1]
        (got,) = native.call(name, [x, y], [(type_, 1)])
        with np.errstate(all="ignore"):
            assert not differences(got, kernel(x, y)).any(), name
