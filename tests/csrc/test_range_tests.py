"""What a row says of its range tests is what their C tests: `explain` shows the words, kernels run the C."""

from __future__ import annotations

import ctypes
import math
import re
import subprocess

import numpy as np
import pytest

import bcastgen as bg
from bcastgen.core.dtypes import F32, F64
from bcastgen.core.resources import folder
from bcastgen.ops.table import OPS
from compile_flags import NATIVE, SHARED
from csrc_includes import CSRC_FLAGS
from vmath import HEADERS

# Those of floats with a constant, and whose words are not exact: what is far from an end is not said in numbers.
CONSTANTS = (8.0, 0.1, -3.5, 2.0**64, 2.0**70, math.inf, math.nan)
VAGUE = re.compile(r"far from the ends")


def cases():
    """A number for each test, its row, dtype, constant and the test itself."""
    found = []
    for op in OPS.values():
        for dtype in (F32, F64):
            operands = (dtype,) * op.arity
            for constant in (None, *(CONSTANTS if op.forms.test_by_constant else ())):
                constant = constant if constant is None else float(dtype.np.type(constant))
                found += [(op, dtype, constant, one) for one in op.range_tests_for(operands, dtype, constant=constant)]
    return [*enumerate(found)]


TESTS = cases()


def in_python(says, dtype):
    """A row's words as an expression of Python, in which `a` and `b` are the operands."""
    defined = {}
    for path in sorted(folder("csrc").rglob("*.h")):
        for name, value in re.findall(
            r"^#define (BCG_\w+_F\d+) (\S+)$", path.read_text(encoding="utf-8"), re.MULTILINE
        ):
            # The first of two is that of CPUs with FMA, and one may be the name of another.
            defined.setdefault(name, value)
    while found := re.search(r"BCG_\w+", says):
        says = says.replace(found[0], defined[found[0]])
    says = says.replace("{0}", "a").replace("{1}", "b").replace("1 + a", "(dtype(1) + a)")
    says = re.sub(r"(\w+) is a positive number that is not subnormal", rf"{np.finfo(dtype).tiny} <= \1 < inf", says)
    says = re.sub(r"(\w+) is not infinite", r"abs(\1) != inf", says)
    says = re.sub(r"\|(\w+)\|", r"* abs(\1)", says).replace(", and ", " and ")
    says = re.sub(r"0x1p(\d+)f?", r"2.0**\1", says)
    says = re.sub(r"2\^(-?\d+)", r"2.0**\1", says)
    says = re.sub(r"(\d)f\b", r"\1", says)
    return re.sub(r"(^|[=<] |and |not )\* ", r"\1", says)


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    lines = [f'#include "{header}"' for header in ("bcg_scalar.h", *HEADERS)]
    for at, (_, dtype, _, test) in TESTS:
        c = dtype.c
        number = test.number.replace("{0}", "a[i]").replace("{1}", "b[i]")
        lines.append(f"void test_{at}(const {c} *a, const {c} *b, unsigned char *r, int64_t n)")
        lines.append(f"{{ for (int64_t i = 0; i < n; i++) r[i] = (({test.c})({number})) <= {test.most}; }}")
        if test.c == "uint64_t":
            lines.append(f"uint64_t limit_{at}(void) {{ return {test.most}; }}")
    directory = tmp_path_factory.mktemp("range_tests")
    (directory / "tests.c").write_text("\n".join(lines) + "\n")
    command = ["gcc", "-O1", *NATIVE, *SHARED, *CSRC_FLAGS, "-o", directory / "tests.so", directory / "tests.c", "-lm"]
    subprocess.run(command, check=True)
    return ctypes.CDLL(str(directory / "tests.so"))


def samples(dtype):
    """Numbers of all sizes, and those beside every power of two."""
    random = np.random.default_rng(3)
    info = np.finfo(dtype)
    bits = np.dtype(f"u{info.bits // 8}")
    powers = np.ldexp(dtype(1), np.arange(info.minexp - info.nmant, info.maxexp)).astype(dtype)
    ends = np.array([80, 87, 125, 708, 1021, 1e5, 3e5], dtype)
    near = np.concatenate([np.nextafter(each, to) for each in (powers, ends) for to in (dtype(0), each, dtype(np.inf))])
    any_ = random.integers(0, np.iinfo(bits).max, 20_000, bits, endpoint=True).view(dtype)
    special = np.array([0, np.inf, np.nan, info.max, info.tiny], dtype)
    return np.concatenate([special, -special, random.choice(np.concatenate([near, -near, any_]), 5_000)])


@pytest.mark.parametrize(
    "at, case", TESTS, ids=[f"{op.name}-{dtype}-{constant}" for _, (op, dtype, constant, _) in TESTS]
)
def test_the_words_are_those_of_the_c(at, case, compiled):
    _, dtype, constant, test = case
    if VAGUE.search(test.says):
        pytest.skip("it says no number")
    assert {f"{{{place}}}" in test.says for place in range(2) if f"{{{place}}}" in test.number} == {True}
    a = samples(dtype.np.type)
    b = np.random.default_rng(4).permuted(a) if constant is None else np.full(a.shape, constant, a.dtype)
    passed = np.zeros(a.shape, bool)
    getattr(compiled, f"test_{at}")(*(ctypes.c_void_p(x.ctypes.data) for x in (a, b, passed)), ctypes.c_int64(a.size))
    said = compile(in_python(test.says, dtype.np), test.says, "eval")
    names = {"inf": math.inf, "dtype": dtype.np.type}
    with np.errstate(all="ignore"):
        expected = np.array([bool(eval(said, {**names, "a": x, "b": y})) for x, y in zip(a, b, strict=True)])
    # A divisor that is not a number of a usual size leaves the test of any divisor, which it may fail or pass always.
    assert 0 < passed.sum() < a.size or constant in (math.inf, 2.0**70) or constant != constant
    np.testing.assert_array_equal(passed, expected, err_msg=test.says)


def test_limits_of_64_bits_are_below_2_63(compiled):
    wide = [getattr(compiled, f"limit_{at}") for at, (*_, test) in TESTS if test.c == "uint64_t"]
    for limit in wide:
        limit.restype = ctypes.c_uint64
    assert len(wide) > 5
    assert all(limit() < 2**63 for limit in wide)


@pytest.mark.parametrize("flags", [NATIVE, ()], ids=["native", "plain"])
def test_a_block_with_one_number_of_64_bits_above_the_limit_is_found(tmp_path, flags):
    """The maximum, or where vectors have none the highest bits, of blocks of one to some numbers of any size."""
    (tmp_path / "seen.c").write_text(
        '#include "bcg_scalar.h"\n'
        "int is_above(const uint64_t *x, int64_t n, uint64_t limit)\n{\n    uint64_t seen = 0;\n"
        "    for (int64_t i = 0; i < n; i++) seen = bcg_seen_u64(seen, x[i], limit);\n"
        "    return bcg_is_above_u64(seen, limit);\n}\n"
    )
    command = ["gcc", "-O1", *flags, *SHARED, *CSRC_FLAGS, "-o", tmp_path / "seen.so", tmp_path / "seen.c", "-lm"]
    subprocess.run(command, check=True)
    is_above = ctypes.CDLL(str(tmp_path / "seen.so")).is_above
    random = np.random.default_rng(6)
    sizes = [0, 1, 63, 2**20, 2**52, 0x7FEFFFFFFFFFFFFF, 2**63 - 1]
    edges = [*sizes, *(size + 1 for size in sizes), 2**63 + 2**62, 2**64 - 2, 2**64 - 1]
    found = []
    for limit in sizes:
        for length in (1, 2, 5):
            for _ in range(200):
                block = random.choice(np.array(edges, np.uint64), length)
                seen = is_above(ctypes.c_void_p(block.ctypes.data), ctypes.c_int64(length), ctypes.c_uint64(limit))
                assert seen == any(int(number) > limit for number in block), (block, limit)
                found.append(seen)
    assert 0.1 < np.mean(found) < 0.9


@pytest.mark.parametrize("dtype", [F32, F64], ids=str)
@pytest.mark.parametrize("name", [op.name for op in OPS.values() if op.forms.test_by_constant])
def test_by_a_constant_a_block_that_passes_has_the_bits_of_one_that_does_not(name, dtype):
    """Beside NaN the full form serves a block; quotients go up to the limit, and over it."""
    number = dtype.np.type
    values = np.append(samples(number), number(0))
    for constant in (constant for constant in CONSTANTS if abs(constant) <= 2.0**64):
        limit = number(2.0 ** (22 if dtype is F32 else 51)) * abs(number(constant))
        near = values[np.abs(values) <= limit]
        kernel = bg.from_text(f"({dtype}[?] a) -> {name}(a, {constant!r})")
        assert f"BCG_NEAR_QUOTIENT_{str(dtype).upper()} * " in kernel.source
        for some in (near[first : first + 200] for first in range(0, near.size, 200)):
            got, full = kernel(some), kernel(np.append(some, number(np.nan)))[:-1]
            np.testing.assert_array_equal(got.view(f"u{dtype.bytes}"), full.view(f"u{dtype.bytes}"))
