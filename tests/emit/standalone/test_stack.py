"""What headers say of the stack is at least what compilers measure, and not far from it."""

from __future__ import annotations

import platform
import re
import shutil
import subprocess

import pytest

import bcastgen as bg
from bcastgen.emit.standalone.stack import stack_bytes
from c_harness import compiler
from compile_flags import CONTRACT, LANGUAGES

CALL = re.compile(r"\b\w+(?=\()")
# The kernel, and the form.
MODULES = {
    "plain": ("(f32[?,?] a, f32[?,?] b) -> a + b*2", {"variants": 0}),
    "specialised": ("(f32[?,?] a, f32[?,?] b) -> a + b*2", {}),
    "alone": ("(f32[?,?] a, f32[?,?] b) -> a + b*2", {"single_file": True}),
    "pointers": ("(f32[m,n] a, f32[n] b) -> a + b*2", {"pointers": True}),
    "waves": ("(f32[40,30] x) -> exp(x) + sin(x)", {"static": True}),
    "gauss": ("(f32[?] x) -> 0.5 * x * (1 + erf(x * 0.7071067811865476))", {"freestanding": True}),
    "halves": ("(f16[?,3] x, f16[3] y) -> x * y + 1", {"variants": 0}),
    "power": ("(i32[?] base, i32[?] exponent) -> base ** exponent", {}),
    "any_rank": ("(f32[*] a, f32[*] b) -> a - b", {}),
    "hoisted": ("(f32[?,?] x, f32[1,?] s) -> x * exp(s) + 1", {}),
    "polar": ("(f64[?,?] x, f64[?,?] y) -> (hypot(x, y), x * y, x < y)", {"variants": 0}),
    "angle": ("(f64[?,?] x, f64[?,?] y) -> arctan2(x, y) * tanh(y)", {}),
    "weighted_sum": ("(f32[?,?] a, f32[?] b) -> sum(a*b, axis=1)", {}),
    "soft": ("(f32[8,16] x) -> exp(x) / sum(exp(x), axis=1, keepdims=True)", {"static": True}),
    "many": ("(f32[?,?,?] a, f32[?,?] b, f32[?] c, f32[?,?,?] d) -> (a + b, c * d, a - c, b < d)", {}),
    # Thirty values of each point are needed until its end.
    "wide": (
        "(f64[400] x) -> "
        + " * ".join(f"(x + {k})" for k in range(30))
        + " - "
        + " / ".join(f"(x + {k})" for k in reversed(range(30))),
        {"static": True},
    ),
    "divided": ("(i64[?] a, i64[?] b) -> a // b % 7", {}),
}
BUILDS = {
    "gcc -O2": ("gcc", "-O2"),
    "gcc -Os": ("gcc", "-Os"),
    "clang -O2": ("clang", "-O2"),
    "clang -Os": ("clang", "-Os"),
    "Cortex-M4": ("arm-none-eabi-gcc", "-mcpu=cortex-m4", "-mthumb", "-Os"),
}


def bodies_of(texts):
    """The functions of C, with their text."""
    text = re.sub(r"/\*.*?\*/", "", "\n".join(texts), flags=re.DOTALL)
    functions = re.findall(r"^(?:[a-zA-Z]\w*[ *]+)+(\w+)\([^;{}]*\)\s*\{(?:([^\n]*)\}$|(.*?)^\})", text, re.M | re.S)
    return {name: line + lines for name, line, lines in functions}


def measured(directory, command, source, bodies, name):
    """The bytes of stack of a function and of the deepest calls in it, as a compiler has laid them out."""
    subprocess.run(
        [*command, *LANGUAGES["c"], CONTRACT, "-fstack-usage", "-c", source, "-o", "m.o"], cwd=directory, check=True
    )
    own = {}
    for file in directory.glob("*.su"):
        for line in file.read_text().splitlines():
            place, size, _ = line.rsplit("\t", 2)
            function = place.rsplit(":", 1)[-1].partition(".")[0]
            own[function] = max(own.get(function, 0), int(size))

    def depth(function):
        inner = [depth(one) for one in set(CALL.findall(bodies[function])) if one in bodies and one != function]
        return own.get(function, 0) + max(inner, default=0)

    assert name in own
    return depth(name)


@pytest.mark.parametrize("build", BUILDS)
def test_calls_take_at_most_what_its_header_says(build, tmp_path):
    first, *flags = BUILDS[build]
    if first == "arm-none-eabi-gcc" and shutil.which(first) is None:
        pytest.skip("no arm-none-eabi-gcc on the PATH (Debian's gcc-arm-none-eabi)")
    command = [first if first.startswith("arm") else compiler(first), *flags]
    for name, (text, form) in MODULES.items():
        directory = tmp_path / name
        texts = [path.read_text() for path in bg.emit_c(bg.from_text(text, name), directory, name, **form)]
        (said,) = re.findall(r"Stack: at most (\d+) bytes", re.sub(r"\n \* +", " ", "\n".join(texts)))
        found = measured(directory, command, f"{name}.c", bodies_of(texts), name)
        assert found <= int(said), name


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the sets are those of x86-64")
@pytest.mark.parametrize("flag", ["-O2", "-Os"])
def test_a_function_that_picks_an_instruction_set_is_there_twice(flag, tmp_path):
    names = [f"a{k}" for k in range(20)]
    operands, terms = (", ".join(f"f16[?,?,?] {name}" for name in names), " + ".join(f"tanh({name})" for name in names))
    kernel = bg.from_text(f"({operands}) -> {terms}", "k")
    header = bg.emit_c(kernel, tmp_path, "k", targets=["x86-64-v3", "x86-64-v4"])[1].read_text()
    (said,) = re.findall(r"Stack: at most (\d+) bytes", re.sub(r"\n \* +", " ", header))
    command = ["gcc", flag, *LANGUAGES["c"], CONTRACT, "-fstack-usage", "-c", "k.c"]
    subprocess.run(command, cwd=tmp_path, check=True)
    lines = [line.split("\t") for line in (tmp_path / "k.su").read_text().splitlines()]
    own = {place.rsplit(":", 1)[-1]: int(size) for place, size, _ in lines}
    picked = max(own[f"k_loops_x86_64_v{level}"] for level in (3, 4))
    rows = max(size for name, size in own.items() if "_loops_" in name and not name.startswith("k_loops_"))
    assert own["k"] + picked + rows <= int(said)


def test_arrays_are_what_dominates_where_there_are_large_ones():
    code = """
typedef struct {
    int64_t count;
    float block[128], whole[57];
} sum_parts;

static void unit(const float *x, int64_t n)
{
    static const float table[1000] = {1};
    float t0_tile[2 * 1024];
    const int64_t extents[] = {n, 3}, first = 1;
    const float *const rows[] = {x, x, table};
    sum_parts so_far;
}

static int less(int x) { return x < 3; }

void whole(const float *x)
{
    double row[MOST];
    if (less(3)) unit(x, 7);
}
#define MOST 64
"""
    found = stack_bytes([code])
    assert found["unit"] == found["less"] + 4 * 2048 + 2 * 8 + 3 * 8 + (8 + 4 * 185 + 7) // 8 * 8
    assert found["whole"] == 64 * 8 + found["unit"] + 2 * 40
