"""bcastgen.hpp: callers in C++20 that use two modules together, built from the emitted files alone."""

from __future__ import annotations

import platform
import subprocess

import pytest

import bcastgen as bg
from c_harness import ADDRESS, LANGUAGES, STRICT, compiler

SCALED = bg.from_text("(f32[?,?] a, f32[?] b) -> a * b + 1")
TOTAL = bg.from_text("(f32[*] x) -> x + x")
PLUS = bg.from_text("(f32[] x) -> x + 1")
SPREAD = bg.from_text("(f32[?] x) -> broadcast_in_dim(x, (None, k), (0,)) * 2")
PROGRAM = """
#include <cstdio>
#include <vector>

#include "scaled.h"
#include "total.h"
#include "plus.h"
#include "spread.h"
#include "bcastgen.hpp"

template <class Call> static void refused(Call call)
{
    try {
        call();
        std::puts("nothing is wrong");
    } catch (const bcastgen::error &wrong) {
        const auto status = static_cast<int>(wrong.status());
        std::printf("%d %d %d: %s\\n", status, wrong.why().operand, wrong.why().dim, wrong.what());
    } catch (const std::length_error &wrong) {
        std::puts(wrong.what());
    }
}

int main()
{
    const std::vector<float> image{1, 2, 3, 4, 5, 6};
    const float gain[3] = {10, 100, 1000}, both[4] = {1, 2, 3, 4};
    std::vector<float> made(6), sum(6), columns(4);
    const bcastgen::view<const float, 2> a(image, {2, 3});
    const bcastgen::view<const float, 1> b(gain, {3}), wrong(both, {4});
    const auto extents = bcastgen::shape<scaled>(a, b);
    const bcastgen::view<float, 2> r(made, extents), s(sum, extents);
    bcastgen::call<scaled>(a, b, r);
    bcastgen::call<total>(r, s);
    std::printf("%g %g ", static_cast<double>(r(0, 0)), static_cast<double>(r(1, 2)));
    std::printf("%g\\n", static_cast<double>(s(1, 2)));
    bcastgen::call<scaled>(r, b, r);
    std::printf("%g\\n", static_cast<double>(r(0, 1)));
    const bcastgen::view<const float, 1> last(image.data() + 5, {2}, {-5});
    const bcastgen::view<float, 2> c(columns, bcastgen::shape<spread>(last, 2));
    bcastgen::call<spread>(last, 2, c);
    std::printf("%g %g\\n", static_cast<double>(c(0, 1)), static_cast<double>(c(1, 0)));
    refused([&] { (void)bcastgen::shape<scaled>(a, wrong); });
    refused([&] { bcastgen::call<scaled>(a, b, c); });
    refused([&] { bcastgen::call<spread>(last, -1, c); });
    refused([&] { (void)bcastgen::view<const float, 2>(image, {2, 4}); });
    refused([&] { (void)bcastgen::view<const float, 2>(image, {2, 2}); });
    refused([&] { (void)bcastgen::view<const float, 2>(image, {-1, 6}); });
    refused([&] { (void)bcastgen::view<const float, 3>(image, {INT64_MAX, INT64_MAX, 4}); });
    refused([&] { (void)bcastgen::view<const float, 2>(std::span<const float>(), {0, INT64_MAX}); });
    refused([&] { (void)bcastgen::shape<total, 1>(a); });
    refused([&] { (void)bcastgen::shape<total, 3>(a); });
    refused([&] { (void)bcastgen::shape<total, 2>(a); });
    refused([&] { (void)bcastgen::view<const float, 1>(gain, {3}, {INT64_C(1) << 62}); });
    refused([&] { (void)bcastgen::view<const float, 1>(gain, {1}, {INT64_C(1) << 62}); });
    using column = bcastgen::view<const float, 1>;
    static_assert(std::is_constructible_v<column, std::vector<float> &, column::numbers>);
    static_assert(!std::is_constructible_v<column, std::vector<float>, column::numbers>, "it would outlive its data");
    const bcastgen::view<const float, 0> one(gain, {}, {});
    const bcastgen::view<float, 0> sum_of_one(sum.data(), bcastgen::shape<plus>(one), {});
    bcastgen::call<plus>(one, sum_of_one);
    std::printf("%g\\n", static_cast<double>(sum[0]));
    return 0;
}
"""
FEWER, MORE = (f"a view's data have {which} elements than its extents say" for which in ("fewer", "more"))
RANK = "the result has another rank than is asked for"
SAID = f"""\
11 6001 12002
20101
12 2
3 1 0: operand 'b' dim 0 has extent 4, expected 1 or 3 (from 'a')
5 2 1: result 'r' dim 1 has extent 2, expected 3 (from 'a'); results do not broadcast
2 1 0: extent 'k' is -1, expected 0 or more
{FEWER}
{MORE}
{FEWER}
{FEWER}
nothing is wrong
{RANK}
{RANK}
nothing is wrong
a view's stride has more bytes than 64 bits count
nothing is wrong
11
"""


def built(kind, program, directory):
    """Compile a program and the modules, as C++20, strictly; returns the command's outcome."""
    for name, kernel in (("scaled", SCALED), ("total", TOTAL), ("spread", SPREAD), ("plus", PLUS)):
        kernel.emit_c(directory, name, cpp=True, license="MIT")
    (directory / "main.cpp").write_text(program)
    language = [option.replace("c++17", "c++20") for option in LANGUAGES["c++"]]
    assert "-std=c++20" in language
    sources = ["main.cpp", "scaled.c", "total.c", "spread.c", "plus.c"]
    command = [compiler(kind, "c++"), *language, *STRICT, *ADDRESS, *sources, "-lm", "-o", "main"]
    return subprocess.run(command, cwd=directory, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("kind", ["gcc", pytest.param("clang", marks=pytest.mark.slow)])
def test_two_modules_are_used_together_in_cpp(kind, tmp_path):
    done = built(kind, PROGRAM, tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "bcastgen.hpp").read_text().startswith("/* SPDX-License-Identifier: MIT\n *\n * bcastgen.hpp, ")
    assert subprocess.run([tmp_path / "main"], capture_output=True, text=True, check=True).stdout == SAID


@pytest.mark.slow
@pytest.mark.parametrize(
    "call",
    [
        "bcastgen::call<total>(a, a);",  # const elements are no result
        "bcastgen::call<total>(a);",
        "bcastgen::call<total>(a, 3);",
        "(void)bcastgen::shape<scaled, 3>(a, b);",
        "bcastgen::call<scaled>(bcastgen::view<const double, 2>(nullptr, {0, 0}, {1, 1}), b, r);",
        "bcastgen::call<scaled>(bcastgen::view<const std::int32_t, 2>(nullptr, {0, 0}, {1, 1}), b, r);",
        "bcastgen::call<scaled>(a, b, bcastgen::view<double, 2>(nullptr, {0, 0}, {1, 1}));",
    ],
)
def test_what_is_no_result_does_not_compile(call, tmp_path):
    line = "    bcastgen::call<total>(r, s);\n"
    assert PROGRAM.count(line) == 1
    done = built("gcc", PROGRAM.replace(line, f"    {call}\n"), tmp_path)
    assert done.returncode != 0 and "main.cpp" in done.stderr


# Types of elements in C++, and those that a kernel of this dtype takes. Where `char` and `wchar_t` have no sign (64-bit
# Arm), gcc has `_Float16` in C++ from 13 on.
ARM = platform.machine() == "aarch64"
WITH_HALVES = "defined(__clang__) || defined(__x86_64__) || __GNUC__ >= 13"
TYPES = (
    *("float", "double", "bool", "char", "std::int8_t", "std::uint8_t", "std::int16_t", "std::uint16_t", "short"),
    *("std::int32_t", "std::uint32_t", "int", "long", "long long", "unsigned long", "std::int64_t", "std::uint64_t"),
    *("std::complex<float>", "std::complex<double>", "_Float16", "std::byte", "char16_t", "wchar_t"),
)
TAKEN = {
    "f32": {"float"},
    "f64": {"double"},
    "bool": {"bool", "std::uint8_t"},
    "i8": {"std::int8_t"} | (set() if ARM else {"char"}),
    "u8": {"std::uint8_t"} | ({"char"} if ARM else set()),
    "i16": {"std::int16_t", "short"},
    "u16": {"std::uint16_t", "char16_t"},
    "i32": {"std::int32_t", "int"} | (set() if ARM else {"wchar_t"}),
    "u32": {"std::uint32_t"} | ({"wchar_t"} if ARM else set()),
    "i64": {"std::int64_t", "long", "long long"},
    "u64": {"std::uint64_t", "unsigned long"},
    "f16": {"_Float16", "std::uint16_t", "char16_t"},
    "bf16": {"_Float16", "std::uint16_t", "char16_t"},
    "c64": {"std::complex<float>"},
    "c128": {"std::complex<double>"},
}


def test_views_have_the_kernels_elements(tmp_path):
    kernels = {f"of_{name}": bg.from_text(f"({name}[?] x) -> where(x != 0, x, x)") for name in TAKEN}
    kernels["sized"] = bg.from_text("(f32[?] x, f64[k] s) -> broadcast_to(x, (k,))")
    kernels["rows"] = bg.jit(lambda x: x - x.mean(axis=0) - x.mean(axis=1, keepdims=True), signature="(f64[?,?] x)")
    kernels["both"] = bg.jit(lambda x: (x + 1, x > 1), signature="(f32[?] x)")
    bg.emit_c(kernels, tmp_path, "m", cpp=True)

    def claim(name, c):
        line = f'static_assert({"" if c in TAKEN[name] else "!"}takes<m_of_{name}, {c}>, "{name} {c}");'
        return f"#if {WITH_HALVES}\n{line}\n#endif" if c == "_Float16" else line

    held = [claim(name, c) for name in TAKEN for c in TYPES]
    (tmp_path / "held.cpp").write_text(
        """
#include <cstddef>
#include "m.h"
template <class T, class... List> constexpr bool all(bcastgen::list<List...>)
{
    return (bcastgen::detail::fits<T, List>::value && ...);
}
template <auto Kernel, class T> constexpr bool takes = all<bcastgen::view<const T, 1>>(
    typename bcastgen::kernel_of<Kernel>::operands()) &&
    all<bcastgen::view<T, 1>>(typename bcastgen::kernel_of<Kernel>::results());
"""
        + "\n".join(held)
        + """
using bcastgen::kernel_of;
using bcastgen::list;
static_assert(std::is_same_v<kernel_of<m_sized>::operands, list<float, bcastgen::anything>>);
static_assert(std::is_same_v<kernel_of<m_rows>::workspace, list<bcastgen::memory>>);
static_assert(std::is_same_v<kernel_of<m_both>::results, list<float, bool>>);
static_assert(kernel_of<m_both>::rank == bcastgen::several_results && kernel_of<m_rows>::rank == 2);
"""
    )
    for kind in ("gcc", "clang"):
        language = [option.replace("c++17", "c++20") for option in LANGUAGES["c++"]]
        command = [compiler(kind, "c++"), *language, *STRICT, "-Wno-pedantic", "-fsyntax-only", "held.cpp"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("options", [{"static": True}, {"pointers": True}, {"single_file": True}], ids=str)
def test_forms_without_the_shared_header_have_none(options, tmp_path):
    with pytest.raises(bg.BcastgenError, match=r"cpp= is for functions of bcastgen\.h's arrays"):
        bg.from_text("(f32[2] a) -> a + 1").emit_c(tmp_path, "m", cpp=True, **options)


def test_build_files_install_it(tmp_path):
    SCALED.emit_c(tmp_path, "scaled", cpp=True, build=("cmake", "meson", "makefile"))
    for name in ("CMakeLists.txt", "meson.build", "Makefile"):
        assert "bcastgen.hpp" in (tmp_path / name).read_text()
