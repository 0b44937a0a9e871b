"""Modules of several instruction sets: what instructions functions have, which set a call takes, and its bits."""

from __future__ import annotations

import platform
import re
import subprocess
from collections import defaultdict

import numpy as np
import pytest

import bcastgen as bg
from bcastgen.core.c_flags import LIBRARIES, OPENMP_FLAGS
from bcastgen.core.errors import BcastgenError
from bcastgen.core.resources import csrc_file
from bcastgen.emit.standalone.instruction_sets import LEVELS
from c_harness import STRICT, compiler
from compile_flags import LANGUAGES, USERS
from foreign import tool, zig

SETS = ("x86-64-v3", "x86-64-v4")
GAIN = "(f32[n] x, f32[n] s) -> exp(x) * s"
# What asks for a set, by the names that functions end with.
OF = {"baseline": {"xmm"}, "x86_64_v3": {"xmm", "ymm"}, "x86_64_v4": {"xmm", "ymm", "zmm"}}
FORMS = {
    "checked": ("(f32[?,n] x, f32[n] s) -> exp(x) * s", {}),
    "plain": ("(f32[?,?] a, f32[?,?] b) -> a + b*2", {"variants": 0, "single_file": True, "unchecked": True}),
    "any_rank": ("(f32[*] a, f32[*] b) -> tanh(a) - b", {"openmp": True}),
    "static": ("(f32[64,32] a, f32[32] b) -> a + exp(b)", {"static": True}),
    "pointers": ("(f32[m,n] a, f32[n] b) -> a + exp(b)", {"pointers": True, "export": True}),
    "reduced": ("(f32[?,?] a, f32[?] b) -> sum(a*b, axis=1)", {"single_file": True}),
    "two_nests": ("(f32[?,?] a, f32[?] b) -> (a + b, log(b * 2))", {"alignment": 32}),
    "power": ("(i32[?] a, i32[?] b) -> a ** b", {}),
    "halves": ("(f16[?,3] x, f16[3] y) -> x * y + 1", {}),
}
# Says which set a call takes, in place of the compiler's own.
CHOICE = (
    "#include <string.h>\nextern const char *chosen;\n#define __builtin_cpu_supports(name) (!strcmp(chosen, name))\n"
)
MAIN = """\
#include <stdio.h>
#include <stdint.h>
#include <string.h>
#include "gain.h"
const char *chosen = "";
int main(int count, char **given)
{
    float x[1000], s[1000], r[1000];
    if (count > 1) chosen = given[1];
    for (int i = 0; i < 1000; i++) {
        x[i] = (float)i / 37 - 12;
        s[i] = (float)i / 3 + 1;
    }
    gain(x, s, r, 1000);
    uint32_t bits;
    for (int i = 0; i < 1000; i++) {
        memcpy(&bits, r + i, sizeof bits);
        printf("%u ", (unsigned)bits);
    }
    return 0;
}
"""


def emitted(directory, text, name, sets=SETS, **form):
    """Write a module; return its .c."""
    return bg.emit_c(bg.from_text(text, name), directory, name, targets=sets, **form)[0]


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the sets are those of x86-64")
def test_kernels_may_have_the_names_of_what_each_set_has(tmp_path):
    """Names of functions for a set are the kernel's with an ending, which other kernels may have."""
    text = "(f32[n] x) -> exp(x) + 1"
    names = [f"{stem}{ending}" for stem in ("f", "f_loops", "exp_f32") for ending in ("", "_baseline", "_x86_64_v3")]
    names += ["f_loops_baseline", "f_loops_loops_x86_64_v3", "exp_f32_loops_x86_64_v3", "f_unit", "of_set", "has_sets"]
    kernels = {name: bg.from_text(text, name) for name in dict.fromkeys(names)}
    source = bg.emit_c(kernels, tmp_path, "f", targets=SETS)[0]
    for kind in ("gcc", "clang"):
        command = [compiler(kind), *LANGUAGES["c"], *USERS, *STRICT, "-Werror", "-c", source, "-o", tmp_path / "f.o"]
        subprocess.run(command, check=True)


def registers(kind, source, *flags):
    """The vector registers that each function of a source uses."""
    made = source.with_suffix(".o")
    command = [compiler(kind), *LANGUAGES["c"], *USERS, *STRICT, *flags, "-Werror", "-c", source, "-o", made]
    subprocess.run(command, check=True)
    text = subprocess.run([tool("objdump"), "-d", made], capture_output=True, text=True, check=True).stdout
    found = defaultdict(set)
    for part in re.split(r"\n(?=[0-9a-f]+ <)", text):
        if name := re.match(r"[0-9a-f]+ <(\w+)", part):
            found[name[1]] |= {one[1:] for one in re.findall(r"%[xyz]mm", part)}
    return found


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the sets are those of x86-64")
@pytest.mark.parametrize("kind", ["gcc", pytest.param("clang", marks=pytest.mark.slow)])
@pytest.mark.parametrize("form", FORMS)
def test_each_function_has_the_instructions_of_its_set(form, kind, tmp_path):
    text, options = FORMS[form]
    flags = OPENMP_FLAGS if options.get("openmp") else ()
    found = registers(kind, emitted(tmp_path, text, form, **options), *flags)
    widest = defaultdict(set)
    for name, used in found.items():
        # What picks has the baseline in it, if compilers made it a part.
        (ending,) = [one for one in OF if one in name] or ["baseline"]
        assert used <= OF[ending], name
        widest[ending] |= used
    assert widest.keys() == OF.keys()
    # One plain nest, and sums in one order, have loops that compilers leave scalar.
    if form not in ("plain", "reduced", "power"):
        assert "ymm" in widest["x86_64_v3"] and "zmm" in widest["x86_64_v4"]


@pytest.mark.slow
@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("kind", ["gcc", "clang"])
def test_no_form_has_a_warning(kind, language, tmp_path):
    for form, (text, options) in FORMS.items():
        source = emitted(tmp_path, text, form, **options)
        # What is behind macros of instruction sets is the same text in both languages.
        others = [["-m32", "-msse2", "-mfpmath=sse"], ["-march=x86-64-v3"]] if language == "c" else []
        for flags in ([], *others, ["-march=x86-64-v4"]):
            command = [compiler(kind, language), *LANGUAGES[language], *STRICT, *USERS, "-Werror", *flags]
            subprocess.run([*command, "-c", source, "-o", "/dev/null"], check=True)


@pytest.mark.slow
@pytest.mark.parametrize("machine", ["x86_64-linux-gnu", "x86_64-windows-gnu", "aarch64-linux-gnu", "wasm32-wasi"])
def test_other_machines_compile_it(machine, tmp_path):
    for form, (text, options) in FORMS.items():
        source = emitted(tmp_path, text, form, **options)
        subprocess.run([*zig(machine), *STRICT, "-Werror", "-c", source, "-o", tmp_path / "o.o"], check=True)


def program(directory, kind, sets, *flags, choosing=False):
    """A program that prints the bits of one call."""
    directory.mkdir(exist_ok=True)
    source = emitted(directory, GAIN, "gain", sets, pointers=True)
    (directory / "main.c").write_text(MAIN)
    (directory / "choice.h").write_text(CHOICE)
    included = ("-include", directory / "choice.h") if choosing else ()
    command = [compiler(kind), *LANGUAGES["c"], *USERS, *flags, *included, source, directory / "main.c"]
    subprocess.run([*command, "-o", directory / "program", *LIBRARIES], check=True)
    return directory / "program"


def printed(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("kind", ["gcc", pytest.param("clang", marks=pytest.mark.slow)])
def test_bits_are_those_of_a_module_compiled_for_the_set(kind, tmp_path):
    both = program(tmp_path / "both", kind, SETS, choosing=True)
    plain = printed(program(tmp_path / "plain", kind, ()))
    fused = printed(program(tmp_path / "fused", kind, (), "-mfma", "-mavx2")) if _runs("fma") else None
    assert printed(both, "no set") == plain
    if fused is not None:
        assert fused != plain
        assert printed(both, "x86-64-v3") == fused
    if _runs("avx512dq") and _runs("avx512bw"):
        assert printed(both, "x86-64-v4") == fused
    got, x = np.array(plain.split(), np.uint32).view(np.float32), np.arange(1000, dtype=np.float32) / 37 - 12
    np.testing.assert_allclose(got, np.exp(x) * (np.arange(1000) / 3 + 1), rtol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["gcc", "clang"])
def test_a_call_takes_what_its_machine_has(kind, tmp_path):
    emulator = tool("qemu-x86_64", "qemu-x86_64-static")
    picks = program(tmp_path / "both", kind, SETS)
    plain = printed(program(tmp_path / "plain", kind, ()))
    assert printed(emulator, "-cpu", "Nehalem", picks) == plain
    assert printed(emulator, "-cpu", "Haswell", picks) != plain


def _runs(instructions):
    with open("/proc/cpuinfo", encoding="ascii") as text:
        return instructions in text.read().split()


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the sets are those of x86-64")
def test_flags_that_name_a_set_leave_no_other(tmp_path):
    found = registers("gcc", emitted(tmp_path, GAIN, "gain", pointers=True), "-march=x86-64-v3")
    assert not [name for name in found if "x86_64" in name]


def test_constructors_may_call_it(tmp_path):
    source = emitted(tmp_path, GAIN, "gain", pointers=True)
    (tmp_path / "early.c").write_text(
        '#include "gain.h"\nstatic float x[100], r[100];\n'
        "__attribute__((constructor(101))) static void early(void) { gain(x, x, r, 100); }\n"
        "int main(void) { return 0; }\n"
    )
    command = [compiler("gcc"), *USERS, source, tmp_path / "early.c", "-o", tmp_path / "early", *LIBRARIES]
    subprocess.run(command, check=True)
    subprocess.run([tmp_path / "early"], check=True)


def test_the_header_says_which_sets_there_are_and_in_what_order(tmp_path):
    emitted(tmp_path, GAIN, "gain", ["x86-64-v4", "x86-64-v3"], pointers=True)
    said = re.sub(r"\n \* +", " ", (tmp_path / "gain.h").read_text())
    assert "the machine has: x86-64-v4 (AVX-512), x86-64-v3 (AVX2), what the compiler's flags name." in said
    emitted(tmp_path, GAIN, "gain", "x86-64-v3", pointers=True)
    said = re.sub(r"\n \* +", " ", (tmp_path / "gain.h").read_text())
    assert "x86-64-v4" not in said and "x86-64-v4" not in (tmp_path / "gain.c").read_text()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"targets": "avx2"},
            "targets='avx2' is no set that a call can pick; give a tuple of some of x86-64-v3, x86-64-v4",
        ),
        ({"targets": 3}, "targets=3 are no names"),
        ({"targets": SETS, "target": "x86-64-v3"}, "leave target= out"),
        ({"targets": SETS, "freestanding": True}, "leave freestanding= out"),
        ({"targets": SETS, "header_only": True}, "leave header_only= out"),
        ({"targets": SETS, "main": True}, "leave main= out"),
    ],
)
def test_what_there_is_not(options, message, tmp_path):
    with pytest.raises(BcastgenError, match=message):
        bg.emit_c(bg.from_text(GAIN, "gain"), tmp_path, "gain", **options)


def test_the_levels_of_all_instructions_that_helpers_ask_about_are_known():
    asked = set()
    for folder in ("helpers", "vmath"):
        for header in csrc_file("bcg_scalar.h").parent.parent.joinpath(folder).glob("*.h"):
            asked |= set(re.findall(r"__(?:AVX|SSE|FMA|F16C|BMI)\w*__", header.read_text(encoding="utf-8")))
    # It says what plain x86-64 has.
    assert asked - LEVELS.keys() == {"__SSE2_MATH__"}
    assert asked >= LEVELS.keys()
