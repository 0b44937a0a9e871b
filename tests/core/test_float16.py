"""The 16-bit floats: rounding in Python and in C, against NumPy, ml_dtypes and exact arithmetic; life without bf16.

All 65,536 bit patterns of both types go through every function that takes one; halves between neighbours, and what lies
just beside them, go through every function that rounds.
"""

from __future__ import annotations

import ctypes
import math
import subprocess
import sys

import ml_dtypes
import numpy as np
import pytest

import bcastgen as bg
from bcastgen.core.c_flags import C_LANGUAGE, CHECKED, LIBRARIES, OPTIMISED
from bcastgen.core.dtypes import BF16, COMPUTED, F16
from bcastgen.core.float16 import bits_of, nearest
from compile_flags import SHARED, STRICT, WARNED
from csrc_includes import CSRC_FLAGS

HALVES = (F16, BF16)
PATTERNS = np.arange(1 << 16, dtype=np.uint16)
SOURCES = {"f32": "float", "f64": "double", "i32": "int32_t", "u32": "uint32_t", "i64": "int64_t", "u64": "uint64_t"}
UNDEFINED = ("-fsanitize=undefined,float-cast-overflow", "-fsanitize-undefined-trap-on-error")

LOOP = """
void {name}_all(const {source} *x, {target} *y, int64_t n)
{{
    for (int64_t i = 0; i < n; i++) y[i] = {call};
}}
"""


def loops():
    """C that applies every function to arrays: what is stored, what is rounded, and casts as a kernel has them."""
    for half in ("f16", "bf16"):
        yield f"bcg_{half}_to_f32", "uint16_t", "float", f"bcg_{half}_to_f32(x[i])"
        yield f"bcg_round_{half}", "float", "float", f"bcg_round_{half}(x[i])"
        yield f"bcg_f32_to_{half}", "float", "uint16_t", f"bcg_f32_to_{half}(x[i])"
        yield f"bcg_f64_to_{half}", "double", "uint16_t", f"bcg_f64_to_{half}(x[i])"
        for source in ("f64", "i32", "u32", "i64", "u64"):
            call = f"bcg_round_{half}(bcg_odd_{source}(x[i]))"
            yield f"cast_{source}_to_{half}", SOURCES[source], "float", call


@pytest.fixture(
    scope="module", params=[CHECKED, f"{OPTIMISED} -march=native", " ".join((WARNED, *UNDEFINED))], ids=lambda p: p[:3]
)
def c(request, tmp_path_factory):
    """Call ``c(name, values, dtype)`` to apply a loop to an array."""
    directory = tmp_path_factory.mktemp("half")
    text = '#include "bcg_half.h"\n' + "".join(
        LOOP.format(name=name, source=source, target=target, call=call) for name, source, target, call in loops()
    )
    (directory / "half.c").write_text(text, encoding="utf-8")
    flags = (*C_LANGUAGE, *STRICT, *SHARED, *CSRC_FLAGS)
    command = ["gcc", *request.param.split(), *flags, "-o", "half.so", "half.c", *LIBRARIES]
    subprocess.run(command, cwd=directory, check=True)
    library = ctypes.CDLL(str(directory / "half.so"))

    def apply(name, values, dtype):
        values = np.ascontiguousarray(values)
        made = np.empty(values.shape, dtype)
        getattr(library, f"{name}_all")(
            ctypes.c_void_p(values.ctypes.data), ctypes.c_void_p(made.ctypes.data), ctypes.c_int64(values.size)
        )
        return made

    return apply


def values_of(half):
    return PATTERNS.view(half.np)


def as_f32(half):
    with np.errstate(invalid="ignore"):  # of a signalling NaN, which aarch64's conversion tells of
        return values_of(half).astype(np.float32)


def same(x, y):
    """Whether values are the same, zeros with their sign, NaN being NaN."""
    x, y = np.asarray(x), np.asarray(y)
    bits = f"u{x.dtype.itemsize}"
    with np.errstate(invalid="ignore"):  # signaling NaNs
        return bool(((np.isnan(x) & np.isnan(y)) | (x.view(bits) == y.view(bits))).all())


def halfway(half):
    """Every value in the middle between finite neighbours, exactly, and the one from which on all is infinite."""
    finite = values_of(half)[: 0x7C00 if half is F16 else 0x7F80].astype(np.float64)
    return np.append((finite[1:] + finite[:-1]) / 2, finite[-1] + (finite[-1] - finite[-2]) / 2)


def around_halves(half):
    """Halves and what is next to them in f64: rounding to f32 first would make halves of these."""
    middle = halfway(half)
    beside = [middle, *(np.nextafter(middle, end) for end in (0.0, math.inf)), middle * (1 + 1e-9), middle * (1 - 1e-9)]
    positive = np.concatenate([*beside, [math.inf, 1e300, 5e-324, 0.0, 2.0**-150, 3.4028235677973366e38]])
    return np.concatenate([positive, -positive, [math.nan]])


def rounded(values, half):
    """The nearest 16-bit floats, halves to even: whole multiples of the quantum, which f64 counts exactly."""
    precision, least = (11, -14) if half is F16 else (8, -126)
    _, exponent = np.frexp(values)
    quantum = np.maximum(exponent - 1, least) - precision + 1
    with np.errstate(over="ignore", invalid="ignore"):
        # In two steps, since 2**-quantum may be beyond f64 itself.
        counts = np.ldexp(np.ldexp(values, -(quantum // 2)), quantum // 2 - quantum)
        return np.ldexp(np.rint(counts), quantum).astype(np.float32).astype(half.np)


# ---- C ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("half", HALVES, ids=str)
def test_every_pattern_is_loaded_rounded_and_stored(c, half):
    wanted = as_f32(half)
    loaded = c(f"bcg_{half}_to_f32", PATTERNS, np.float32)
    assert same(loaded, wanted)
    assert same(c(f"bcg_round_{half}", wanted, np.float32), wanted)
    stored = c(f"bcg_f32_to_{half}", loaded, np.uint16)
    assert same(stored.view(half.np), values_of(half))
    quiet = ~np.isnan(wanted) | (PATTERNS & (0x0200 if half is F16 else 0x0040) != 0)
    assert (stored == PATTERNS)[quiet].all()


@pytest.mark.parametrize("half", HALVES, ids=str)
def test_f32_is_rounded_to_nearest_even(c, half):
    random = np.random.default_rng(0)
    with np.errstate(over="ignore"):
        middle = halfway(half).astype(np.float32)
        beside = [np.nextafter(middle, np.float32(end)) for end in (0, math.inf)]
    bits = random.integers(0, 1 << 32, 1_000_000, np.uint32).view(np.float32)
    near = (random.uniform(-1, 1, 500_000) * np.exp2(random.uniform(-27, 17, 500_000))).astype(np.float32)
    x = np.concatenate([bits, near, middle, *beside, -middle, -beside[0], -beside[1]])
    with np.errstate(all="ignore"):
        wanted = x.astype(half.np)
    assert same(c(f"bcg_f32_to_{half}", x, np.uint16).view(half.np), wanted)
    assert same(c(f"bcg_round_{half}", x, np.float32), wanted.astype(np.float32))


@pytest.mark.parametrize("half", HALVES, ids=str)
def test_f64_is_rounded_once(c, half):
    x = around_halves(half)
    wanted = rounded(x, half)
    assert same(c(f"bcg_f64_to_{half}", x, np.uint16).view(half.np), wanted)
    assert same(c(f"cast_f64_to_{half}", x, np.float32), wanted.astype(np.float32))
    with np.errstate(over="ignore"):
        twice = x.astype(np.float32).astype(half.np)
    assert not same(twice, wanted), "no value tells one rounding from two"


@pytest.mark.parametrize("source", ["i32", "u32", "i64", "u64"])
@pytest.mark.parametrize("half", HALVES, ids=str)
def test_integers_are_rounded_once(c, half, source):
    kind = next(row for row in COMPUTED if row.name == source)
    precision = 11 if half is F16 else 8
    traps = {0, 1, kind.max, kind.max - 1, kind.min, kind.min + 1, 65504, 65519, 65520, 65521}
    for exponent in range(precision, kind.bits):
        for quantum in (0, 1, 2, 3, (1 << (precision - 1)) - 1):
            middle = (1 << exponent) + (2 * quantum + 1 << exponent - precision)
            traps |= {middle - 1, middle, middle + 1, middle + (1 << exponent // 3), middle - (1 << exponent // 3)}
    traps |= {-value for value in traps}
    values = sorted(value for value in traps if kind.min <= value <= kind.max)
    wanted = np.array([nearest(value, half.name) for value in values], np.float32)
    assert same(c(f"cast_{source}_to_{half}", np.array(values, kind.np), np.float32), wanted)


# ---- Python ----------------------------------------------------------------------------------------------------------


def test_nearest_is_numpys_for_f16():
    x = around_halves(F16)[::37]
    with np.errstate(over="ignore"):
        wanted = x.astype(np.float16).astype(np.float64)
    assert same(np.array([nearest(value, "f16") for value in x.tolist()]), wanted)


@pytest.mark.parametrize("half", HALVES, ids=str)
def test_nearest_keeps_what_is_there_and_breaks_ties_to_even(half):
    with np.errstate(invalid="ignore"):
        finite = values_of(half).astype(np.float64)
    finite = finite[np.isfinite(finite)]
    assert same(np.array([nearest(value, half.name) for value in finite.tolist()]), finite)
    positive = values_of(half)[: 0x7C00 if half is F16 else 0x7F80].astype(np.float64)
    for at in range(0, len(positive) - 1, 331):
        middle = (positive[at] + positive[at + 1]) / 2
        assert nearest(float(middle), half.name) == positive[at + at % 2]
    assert nearest(2**70 + 2**62, "bf16") == 2.0**70
    assert nearest(2**70 + 2**62 + 1, "bf16") == 2.0**70 + 2.0**63


@pytest.mark.parametrize("half", HALVES, ids=str)
def test_bits_are_those_in_memory(half):
    values = as_f32(half)
    kept = ~np.isnan(values)
    assert [bits_of(value, half.name) for value in values[kept].tolist()] == PATTERNS[kept].tolist()


def test_finite_limits():
    for half in HALVES:
        info = ml_dtypes.finfo(half.np)
        assert nearest(float(info.max), half.name) == float(info.max)
        assert nearest(float(info.max) * 1.01, half.name) == math.inf
        assert nearest(float(info.smallest_subnormal) / 2, half.name) == 0
        assert nearest(float(info.smallest_subnormal) * 0.51, half.name) == float(info.smallest_subnormal)


# ---- where ml_dtypes is --------------------------------------------------------------------------------------------

WITHOUT = """\
import sys
sys.modules["ml_dtypes"] = None  # an ImportError for whoever asks
"""
ONLY_OTHERS = """\
import sys
import numpy as np
import bcastgen as bg
bg.add(np.ones(2, np.float16), 1)
bg.jit(lambda a: a * 2)(np.ones(3))
try:
    bg.add(np.array(["text"]), 1)
except bg.DTypeError:
    pass
print("ml_dtypes" in sys.modules)
"""
TYPES_AND_C = """\
import pathlib
import tempfile
import bcastgen as bg
from bcastgen.core.dtypes import BF16, F32, dtype, promote
from bcastgen.shape.types.tensor_type import parse_type
assert dtype("bf16") is dtype("bfloat16") is parse_type("tensor<4xbf16>").dtype is BF16
assert promote(BF16, dtype("i8")) is BF16 and promote(BF16, dtype("f16")) is F32
kernel = bg.from_text("(bf16[n] a, f32[n] b) -> exp(a) * 0.1 + bf16(b) * (bf16(3) / bf16(7))")
with tempfile.TemporaryDirectory() as directory:
    kernel.emit_c(directory, name="scaled")
    print((pathlib.Path(directory) / "scaled.c").read_text())
"""
ARRAYS = """\
import numpy as np
import bcastgen as bg
from bcastgen.core.dtypes import BF16
kernel = bg.from_text("(f32[n] a) -> bf16(a)")
for use in (lambda: BF16.np, lambda: kernel(np.ones(3, np.float32))):
    try:
        use()
    except bg.DTypeError as error:
        print(error)
"""


def run(script):
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_what_is_not_of_bf16_does_not_import_ml_dtypes():
    assert run(ONLY_OTHERS) == "False\n"


def test_types_and_c_need_no_ml_dtypes():
    assert run(WITHOUT + TYPES_AND_C).count("round_bf16(") > 3


def test_an_array_of_bf16_without_ml_dtypes_is_refused_with_the_cure():
    assert run(WITHOUT + ARRAYS).count('pip install "bcastgen[bf16]"') == 2


def test_messages_name_the_package_of_bf16():
    kernel = bg.from_text("(bf16[?] a) -> a + a")
    with pytest.raises(
        bg.DTypeError, match=r"operand 'a' has dtype f32, declared bf16; use .astype\(ml_dtypes.bfloat16\)"
    ):
        kernel(np.float32([1]))
