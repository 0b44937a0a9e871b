"""Files beside a module: the program that checks it, build files, and the wrapper for Python.

The file is long because each form of a project is built and run in one place.
"""

from __future__ import annotations

import array
import importlib.util
import os
import random
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

import bcastgen as bg
from bcastgen.api.standalone_c import emit_c, module_source
from bcastgen.cli.main import main
from bcastgen.core.c_flags import C_LANGUAGE, LIBRARIES, OPENMP_FLAGS, RESULT_FLAGS, WARNING_FLAGS
from bcastgen.core.c_source import BUILDS
from bcastgen.emit.standalone import CForm
from bcastgen.emit.standalone.cases import cases
from bcastgen.emit.standalone.project.build import BUILD_FILES
from bcastgen.emit.standalone.project.cffi import _declarations
from c_programs import random_subject
from compile_flags import LANGUAGES, STRICT

TEXTS = {
    "axpb": "(f32[?,?] a, f32[?,?] b) -> a + b*2",
    "wild": "(f32[*] a, f32[*,3] b) -> a - b*2",
    "outer": "(f64[3,1] a, f64[1,4] b) -> a * b",
    "scalar": "(f64[] a, f64[] b) -> a - b",
    "named": "(i32[n,m] a, i32[m] b, i32[n,m] c) -> a * b + c",
    "facts": "(f32[n>=2<=8%2, 3] a, f32[n!, m!] b) -> a + b",
    "number": "() -> 2.5",
    "nothing": "(f32[0] a, f32[?] b) -> a + b",
    "power": "(i32[?] a, i32[?] b) -> a ** b",
    "wildpower": "(i16[*] a, i8[*] b) -> a ** b",
    "functions": "(f32[?,?] a, f64[?] b) -> exp(a) * sin(b) + tanh(a)",
    "halves": "(f16[?,?] a, bf16[?] b) -> maximum(a*a, a) + b",
    "hoisted": "(f32[?,?] a, f32[1,?] b) -> a * exp(b)",
    "choice": "(bool[?,?] a, u8[?] b) -> where(a, b, b + 1)",
    "mean": "(u8[?,?] a, u8[?,?] b) -> (a + b) // 2",
    "many": f"({', '.join(f'i64[?] x{at}' for at in range(12))}) -> {' - '.join(f'x{at}' for at in range(12))}",
}
FUNCTIONS = {
    "two": (lambda a, b: (a + b, a - b, a * 2), "(f32[?,?] a, f32[?,?] b)"),
    "wild_two": (lambda a, b: (a + b, a * 2), "(f32[*] a, f32[*] b)"),
    "turned": (lambda a, b: a.T + b, "(f32[?,?] a, f32[?,?] b)"),
    "symmetric": (lambda a: a + a.T, "(f32[?,?] a)"),
    "two_nests": (lambda a, b: (a + 1, b * a), "(f32[?] a, f32[?,?] b)"),
    "sized": (lambda x: bg.broadcast_in_dim(x, (None, "k"), (0,)), "(f32[?] x)"),
}
CONSTANT = """
func.func @weighed(%a: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %c = "tosa.const"() <{values = dense<[[0.5, 0.1, 3.0]]> : tensor<1x3xf32>}> : () -> tensor<1x3xf32>
  %r = tosa.add %a, %c : (tensor<?x3xf32>, tensor<1x3xf32>) -> tensor<?x3xf32>
  return %r : tensor<?x3xf32>
}
"""


@pytest.fixture(scope="module")
def kernels():
    made = {name: bg.from_text(text, name) for name, text in TEXTS.items()}
    made |= {name: bg.jit(function, signature=signature) for name, (function, signature) in FUNCTIONS.items()}
    return made | {"weighed": bg.from_mlir(CONSTANT)}


def program_of(kernel):
    return kernel.declared_compilation.program


# ---- shapes ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["axpb", "wild", "outer", "scalar", "choice", "many"])
def test_cases_are_what_broadcasting_says(name, kernels):
    found = cases(program_of(kernels[name]))
    assert len(found) == len({case.operands for case in found})
    for case in found:
        if case.results:
            assert case.results == (np.broadcast_shapes(*case.operands),)
        else:
            with pytest.raises(ValueError, match="shape mismatch"):
                np.broadcast_shapes(*case.operands)


def test_cases_stretch_either_way_are_empty_are_long_and_are_refused(kernels):
    found = cases(program_of(kernels["axpb"]))
    pairs = {(x == 1, y == 1) for case in found if case.results for x, y in zip(*case.operands, strict=True)}
    assert pairs == {(False, False), (True, False), (False, True), (True, True)}
    extents = {extent for case in found if case.results for shape in case.results for extent in shape}
    assert 0 in extents
    # Longer than a tile.
    assert max(extents) > 4096
    assert sum(not case.results for case in found) == 3


def test_cases_keep_to_what_types_say(kernels):
    for case in cases(program_of(kernels["facts"])):
        (n, three), (again, _) = case.operands
        assert three == 3
        assert bool(case.results) == (n == again and n in (2, 4, 6, 8) and case.operands[1][1] == 3)


def test_cases_need_one_shape_where_types_know_it(kernels):
    (only,) = cases(program_of(kernels["outer"]))
    assert (only.operands, only.results) == (((3, 1), (1, 4)), ((3, 4),))


def test_trusted_dims_are_not_put_to_the_test():
    kernel = bg.jit(lambda a, b: a + b, signature="(f32[?] a, f32[?] b)", dynamic="trusted")
    found = cases(program_of(kernel))
    assert found
    assert all(case.operands[0] == case.operands[1] and case.results for case in found)


# ---- the program that checks -----------------------------------------------------------------------------------------


def emitted(kernels, name, **form):
    return dict(module_source(kernels, name, CForm(**form)).files)


def strict(command, files, directory, *extra):
    directory.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (directory / name).write_text(text, encoding="utf-8")
    units = [name for name in files if name.endswith(".c")]
    result = [flag.text for flag in RESULT_FLAGS]
    line = [*command, *WARNING_FLAGS, *extra, *result, *units, "-o", "program", *LIBRARIES]
    done = subprocess.run(line, cwd=directory, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(line)}\n{done.stderr[:4000]}"
    return subprocess.run([directory / "program"], capture_output=True, text=True, check=False)


C11 = ("gcc", *C_LANGUAGE)


def test_same_kernels_give_the_same_bytes(kernels):
    form = {"main": True, "build": tuple(BUILDS)}
    few = {name: kernels[name] for name in ("axpb", "wild", "two")}
    assert emitted(few, "few", **form) == emitted(few, "few", **form)


def test_program_finds_all_well_and_says_what_it_did(kernels, tmp_path):
    done = strict(C11, emitted({"axpb": kernels["axpb"]}, "axpb", variants=0, main=True), tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    *refusals, summary, last = done.stdout.splitlines()
    assert [line for line in refusals if "operand 'b' dim" in line and "(from 'a')" in line] == refusals != []
    assert re.fullmatch(
        r"axpb: 14 shapes, \d+ calls, \d+ in place, \d+ elements: every bit is the reference loop's", summary
    )
    assert last == "all is as it should be"


# Each makes one mistake in the C, and is what the program has to say of it.
MISTAKES = {
    "value": (r"b0 \* 2\.0f", "b0 * 2.00001f", "an element is not what it should be"),
    "stretch": (r"i1 \* b_d1\b", "0 * i1", "an element is not what it should be"),
    "outside": (
        r"return BCASTGEN_OK;\n}(?=\n\nsize_t axpb_message)",
        "((char *)r->data)[-1] = 1;\nreturn BCASTGEN_OK;\n}",
        "beside",
    ),
    "operand": (
        r"return BCASTGEN_OK;\n}(?=\n\nsize_t axpb_message)",
        "*(float *)(uintptr_t)b->data += 1;\nreturn BCASTGEN_OK;\n}",
        "not what",
    ),
    "shape": (r"extents\[dim\] = extent;", "extents[dim] = extent + 1;", "the shape function"),
    "refusal": (r"if \(extents\[dim\] != 1\)", "if (0)", "accepted"),
}


@pytest.mark.slow
@pytest.mark.parametrize("mistake", MISTAKES)
def test_program_finds_a_mistake(mistake, kernels, tmp_path):
    pattern, wrong, said = MISTAKES[mistake]
    files = emitted({"axpb": kernels["axpb"]}, "axpb", variants=0, main=True)
    files["axpb.c"], count = re.subn(pattern, wrong, files["axpb.c"], count=1)
    assert count == 1, files["axpb.c"]
    done = strict(("gcc", "-std=c11", "-Wno-cast-qual"), files, tmp_path)
    assert done.returncode == 1, done.stdout
    assert said in done.stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    "command",
    [
        C11,
        ("g++", "-x", "c++", "-std=c++17"),
        ("clang-19", *C_LANGUAGE, "-fsanitize=address,undefined", "-fno-sanitize-recover=all"),
    ],
    ids=["gcc", "g++", "clang"],
)
def test_programs_of_all_kinds_of_kernels_find_all_well(command, kernels, tmp_path):
    if shutil.which(command[0]) is None:
        pytest.skip(f"no {command[0]} on the PATH")
    done = strict(command, emitted(kernels, "kinds", main=True), tmp_path, "-O1")
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    lines = [line for line in done.stdout.splitlines() if line.endswith("every bit is the reference loop's")]
    assert len(lines) == len(kernels)
    assert "refused for an element" in next(line for line in lines if line.startswith("kinds_power:"))


@pytest.mark.slow
@pytest.mark.parametrize(
    "form",
    [{"freestanding": True}, {"single_file": True}, {"helper_file": True}, {"variants": 0}, {"openmp": True}],
    ids=str,
)
def test_programs_of_every_form_find_all_well(form, kernels, tmp_path):
    few = {name: kernels[name] for name in ("axpb", "functions", "wild_two", "halves", "hoisted")}
    extra = (*OPENMP_FLAGS,) if "openmp" in form else ()
    done = strict(C11, emitted(few, "few", main=True, **form), tmp_path, "-O2", *extra)
    assert done.returncode == 0, done.stdout


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "command"), [(0, C11), (1, ("clang-19", "-std=c11", "-fsanitize=address,undefined"))])
def test_programs_of_random_kernels_find_all_well(seed, command, samples, tmp_path):
    if shutil.which(command[0]) is None:
        pytest.skip(f"no {command[0]} on the PATH")
    chance, many = random.Random(seed), {}
    while len(many) < 25:
        subject = random_subject(chance, f"p{len(many)}", samples)
        many |= {} if subject is None else {f"p{len(many)}": subject.kernel}
    done = strict(command, emitted(many, "many", main=True), tmp_path)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]


STATIC = {
    "outer": "(f64[3,1] a, f64[1,4] b) -> a * b",
    "halves": "(f16[2,3] a, f16[3] b) -> maximum(a*a, b)",
    "point": "(f32[] a) -> exp(a)",
    "nothing": "(f32[0,3] a, f32[3] b) -> a + b",
    "power": "(i32[5,1] a, i32[5,4] b) -> a ** b",
}


@pytest.fixture(scope="module")
def static_kernels():
    made = {name: bg.from_text(text, name) for name, text in STATIC.items()}
    made["two"] = bg.jit(lambda a, b: (a + b, b - 1), signature="(f32[2,3] a, f32[3] b)")
    return made | {"weighed": bg.from_mlir(CONSTANT.replace("?", "4"))}


@pytest.mark.slow
def test_programs_of_static_kernels_find_all_well_and_mistakes(static_kernels, tmp_path):
    files = emitted(static_kernels, "known", static=True, main=True)
    done = strict(("gcc", *C11[1:], "-fsanitize=address,undefined"), files, tmp_path / "well")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("every bit is the reference loop's") == len(static_kernels)
    assert strict(("g++", "-x", "c++", "-std=c++17"), files, tmp_path / "c++").returncode == 0
    files["known.c"], count = re.subn(r"i0 \* 4 \+ i1", "i0 + i1 * 3", files["known.c"], count=1)
    assert count == 1
    assert strict(C11, files, tmp_path / "turned").returncode == 1


@pytest.mark.slow
@pytest.mark.parametrize("name", ["check", "main", "why", "arrays", "place", "check_call"])
def test_program_bears_any_name(name, kernels, tmp_path):
    files = emitted({name: kernels["axpb"]}, name, variants=0, main=True)
    assert strict(C11, files, tmp_path / "c").returncode == 0


@pytest.mark.slow
def test_page_shows_a_program_that_works(tmp_path, capsys):
    page = (Path(__file__).parents[4] / "docs" / "standalone.md").read_text()
    command = re.search(r"^bcastgen (emit .*) -o kernels (.*)$", page, re.MULTILINE)
    program, said = re.search(r"```c\n(.*?)```\n\n```\n(.*?)```", page, re.DOTALL).groups()
    assert main([*shlex.split(command[1]), "-o", str(tmp_path), *shlex.split(command[2])]) == 0
    (tmp_path / "scaled_main.c").unlink()
    files = {"program.c": program, "scaled.c": (tmp_path / "scaled.c").read_text()}
    assert strict(C11, files, tmp_path).stdout == said


# ---- what builds it --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", BUILD_FILES)
def test_build_files_have_the_flags_and_a_test_if_there_is_one(kind, kernels):
    few = {"axpb": kernels["axpb"]}
    with_main = emitted(few, "axpb", main=True, build=(kind,))[BUILD_FILES[kind]]
    without = emitted(few, "axpb", build=(kind,))[BUILD_FILES[kind]]
    assert all(flag.text in without for flag in RESULT_FLAGS)
    assert ("axpb_main" in with_main, "axpb_main" in without) == (True, False)
    assert "-march=x86-64-v3" in emitted(few, "axpb", target="x86-64-v3", build=(kind,))[BUILD_FILES[kind]]


def run(command, directory):
    done = subprocess.run(command, cwd=directory, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    return done.stdout


# What ninja, CMake and make call targets of their own, too.
@pytest.mark.slow
@pytest.mark.parametrize("name", ["test", "install", "kinds"])
@pytest.mark.parametrize("kind", BUILD_FILES)
def test_build_files_build_test_and_install(kind, name, kernels, tmp_path):
    tools = {"cmake": ("cmake", "ninja"), "meson": ("meson", "ninja"), "makefile": ("make",)}[kind]
    missing = [tool for tool in tools if shutil.which(tool) is None]
    if missing:
        pytest.skip(f"no {missing[0]} on the PATH")
    few = {"axpb": kernels["axpb"], "wild": kernels["wild"]}
    single = name != "kinds"
    emit_c(few, tmp_path, name, main=True, build=(kind,), openmp=not single, single_file=single, helper_file=not single)
    prefix = str(tmp_path / "prefix")
    commands = {
        "cmake": (
            ["cmake", "-G", "Ninja", "-S", ".", "-B", "out"],
            ["cmake", "--build", "out"],
            ["ctest", "--test-dir", "out"],
            ["cmake", "--install", "out", "--prefix", prefix],
        ),
        "meson": (
            ["meson", "setup", "out", "--prefix", prefix, "--libdir", "lib"],
            ["meson", "compile", "-C", "out"],
            ["meson", "test", "-C", "out"],
            ["meson", "install", "-C", "out"],
        ),
        "makefile": (["make"], ["make", "check"], ["make", "install", f"PREFIX={prefix}"]),
    }[kind]
    said = [run(command, tmp_path) for command in commands]
    wanted = {"cmake": "100% tests passed", "meson": "Ok:                1", "makefile": "all is as it should be"}
    assert re.search(re.sub(r" +", r"\\s+", wanted[kind]), said[1 if kind == "makefile" else 2])
    assert (tmp_path / "prefix" / "include" / f"{name}.h").is_file()
    # meson knows no library that has another name than its target.
    library = f"{name}_library" if kind == "meson" and name != "kinds" else name
    assert (tmp_path / "prefix" / "lib" / f"lib{library}.a").is_file()


@pytest.mark.slow
@pytest.mark.parametrize("shared", [False, True], ids=["static", "shared"])
@pytest.mark.parametrize("kind", BUILD_FILES)
def test_pkg_config_finds_what_is_installed(kind, shared, kernels, tmp_path):
    """A program is compiled and linked with what pkg-config says alone, from a prefix that has moved since."""
    tools = {"cmake": ("cmake", "ninja"), "meson": ("meson", "ninja"), "makefile": ("make",)}[kind]
    missing = [tool for tool in (*tools, "pkg-config") if shutil.which(tool) is None]
    if missing:
        pytest.skip(f"no {missing[0]} on the PATH")
    of_the_library = bg.from_text("(f64[?] x) -> fmod(x, 3.0)")
    emit_c({"axpb": kernels["axpb"], "rest": of_the_library}, tmp_path, "few", export=True, abi=7, build=(kind,))
    prefix, library = tmp_path / "prefix", f"-Ddefault_library={'shared' if shared else 'static'}"
    commands = {
        "cmake": (
            ["cmake", "-G", "Ninja", "-S", ".", "-B", "out", f"-DBUILD_SHARED_LIBS={'ON' if shared else 'OFF'}"],
            ["cmake", "--build", "out"],
            ["cmake", "--install", "out", "--prefix", str(prefix)],
        ),
        "meson": (
            [
                "meson",
                "setup",
                "out",
                "--prefix",
                str(prefix),
                "--libdir",
                "lib",
                "-Dpkgconfig.relocatable=true",
                library,
            ],
            ["meson", "install", "-C", "out"],
        ),
        "makefile": (["make", "install-shared" if shared else "install", f"PREFIX={prefix}"],),
    }[kind]
    for command in commands:
        run(command, tmp_path)
    moved = tmp_path / "moved"
    prefix.rename(moved)
    (found,) = moved.glob("lib/**/pkgconfig/few.pc")
    (tmp_path / "app.c").write_text(APP)
    environment = os.environ | {"PKG_CONFIG_PATH": str(found.parent), "LD_LIBRARY_PATH": str(found.parent.parent)}
    asked = ["pkg-config", "--cflags", "--libs", "few"]
    flags = subprocess.run(asked, env=environment, capture_output=True, text=True, check=True).stdout.split()
    version = ["pkg-config", "--modversion", "few"]
    assert subprocess.run(version, env=environment, capture_output=True, text=True, check=True).stdout.strip() == "7"
    run(["gcc", *LANGUAGES["c"], *STRICT, "app.c", *flags, "-o", "app"], tmp_path)
    done = subprocess.run([tmp_path / "app"], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    needed = run(["readelf", "-d", "app"], tmp_path)
    assert ("[libfew.so.7]" in needed) == shared


APP = """
#include <few.h>

int main(void)
{
    static const float one[1][2] = {{1, 2}};
    float made[1][2];
    static const int64_t extents[] = {1, 2};
    int64_t strides[2];
    const bcastgen_array a = bcastgen_dense(one, extents, 2, strides, sizeof **one);
    const bcastgen_result r = bcastgen_dense_result(made, extents, 2, strides, sizeof **one);
    return few_axpb(&a, &a, &r, NULL) == BCASTGEN_OK && made[0][1] == 6 ? 0 : 1;
}
"""


# ---- the wrapper for Python ------------------------------------------------------------------------------------------


def test_declarations_are_the_headers_without_what_cffi_cannot_read(kernels):
    files = emitted({"wild": kernels["wild"]}, "wild")
    header, shared = files["wild.h"], files["bcastgen.h"]
    text = _declarations(header, shared)
    assert "#define BCASTGEN_MAX_RANK 64" in text and "} bcastgen_array;" in text and "inline" not in text
    assert not re.search(r"^#(?!define \w+ \d+$)|/\*|extern|__cplusplus|\\$", text, re.MULTILINE)
    functions = [part for part in header.split(";") if "bcastgen_status wild" in part]
    assert text.count("bcastgen_status wild") == len(functions) == 2


def wrapper(directory, name):
    spec = importlib.util.spec_from_file_location(f"{name}_cffi", directory / f"{name}_cffi.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def wrapped(kernels, tmp_path_factory):
    few = {name: kernels[name] for name in ("axpb", "wild", "power", "two", "halves", "choice", "weighed")}
    few["lambda"] = bg.from_text("(f32[?] np) -> -np")
    directory = tmp_path_factory.mktemp("wrapped")
    emit_c(few, directory, "few", build=("cffi",))
    return wrapper(directory, "few")


@pytest.mark.slow
class TestWrapper:
    def test_arrays_of_every_layout_are_read_where_they_are(self, wrapped):
        a, b = np.arange(12, dtype="f4").reshape(3, 4), np.arange(1, 13, dtype="f4").reshape(4, 3)
        for x, y in ((a, b.T), (a[::-1], a[:, :1]), (a[1:2], b.T[:, ::-1])):
            assert np.array_equal(wrapped.few_axpb(x, y), x + y * 2)

    def test_operands_may_be_of_any_rank_where_their_type_says_so(self, wrapped):
        a, b = np.ones((2, 1, 3), np.float32), np.arange(12, dtype="f4").reshape(4, 3)
        assert np.array_equal(wrapped.few_wild(a, b), a - b * 2)
        assert np.array_equal(wrapped.few_wild(0.5, b), 0.5 - b * 2)

    def test_whatever_has_the_buffer_protocol_is_an_operand(self, wrapped):
        values = array.array("f", [1.0, 2.0, 3.0])
        assert wrapped.few_lambda(values).tolist() == [-1, -2, -3]
        assert wrapped.few_lambda(memoryview(values)[::2]).tolist() == [-1, -3]

    def test_results_go_where_they_are_told(self, wrapped):
        a, b = np.ones((2, 3), np.float32), np.ones((1, 3), np.float32)
        assert wrapped.few_axpb(a, b, out=a) is a
        assert (a == 3).all()
        given = np.zeros((2, 3), "f4"), np.zeros((2, 3), "f4"), np.zeros((2, 3), "f4")
        assert all(x is y for x, y in zip(wrapped.few_two(a, b, out=given), given, strict=True))
        assert [float(x[0, 0]) for x in given] == [4, 2, 6]
        assert wrapped.few_two(a, b)[2].tolist() == given[2].tolist()

    def test_constants_are_in_the_c(self, wrapped):
        assert np.array_equal(wrapped.few_weighed(np.zeros((1, 3), "f4")), np.float32([[0.5, 0.1, 3.0]]))

    def test_narrow_types_pass(self, wrapped):
        halves = np.float16([1.5, -2]), np.array([2, 0.5], ml_dtypes.bfloat16)
        wanted = np.maximum(halves[0] * halves[0], halves[0]).astype("f4") + halves[1].astype("f4")
        assert np.array_equal(wrapped.few_halves(halves[0][None], halves[1]), wanted[None])
        assert np.array_equal(wrapped.few_halves(halves[0][None], halves[1].view(np.uint16)), wanted[None])
        assert wrapped.few_choice(np.array([[True], [False]]), np.uint8([255])).tolist() == [[255], [0]]

    def test_sentences_are_those_of_the_kernels(self, wrapped, kernels):
        a, b = np.ones((2, 3), np.float32), np.ones((4, 3), np.float32)
        for name, operands in (("axpb", (a, b)), ("power", (np.int32([1, 2]), np.int32([-1])))):
            with pytest.raises(bg.BcastgenError) as wanted:
                kernels[name](*operands)
            with pytest.raises(ValueError, match="a") as found:
                getattr(wrapped, f"few_{name}")(*operands)
            assert str(found.value) == wanted.value.sentence

    @pytest.mark.parametrize(
        ("call", "said"),
        [
            (lambda w: w.few_axpb(np.ones((2, 2)), np.ones((2, 2), "f4")), "'a' has dtype float64, expected float32"),
            (
                lambda w: w.few_halves(np.ones((1, 1), "f2"), np.ones(1, "f4")),
                "expected bfloat16, or its bits as uint16",
            ),
            (lambda w: w.few_lambda(np.ones(2, ">f4")), "expected float32"),
            (lambda w: w.few_lambda(np.ones(2, "f4"), out=(None, None)), "out has 2 arrays, expected 1"),
            (lambda w: w.few_lambda(np.ones(2, "f4"), out=[0, 0]), "out is an ndarray"),
        ],
    )
    def test_other_types_are_errors(self, call, said, wrapped):
        with pytest.raises(TypeError, match=said):
            call(wrapped)

    def test_static_kernels_take_arrays_of_one_shape(self, static_kernels, kernels, tmp_path):
        emit_c(static_kernels, tmp_path, "known", static=True, build=("cffi",))
        known = wrapper(tmp_path, "known")
        a, b = np.arange(3.0)[::-1, None], np.arange(4.0)[None]
        assert np.array_equal(known.known_outer(a, b), a * b)
        assert known.known_point(0.0).tolist() == 1
        assert [x.tolist() for x in known.known_two(np.zeros((2, 3), "f4"), np.ones(3, "f4"))] == [
            [[1] * 3] * 2,
            [0] * 3,
        ]
        square = np.float32([[1, 2, 3]] * 4)
        assert np.array_equal(known.known_weighed(square, out=square), np.float32([[1.5, 2.1, 6]] * 4))
        five = np.full((5, 4), 2, np.int32)
        assert (known.known_power(five[:, :1], five) == 4).all()
        with pytest.raises(ValueError, match="Integers to negative integer powers"):
            known.known_power(five[:, :1], -five)
        with pytest.raises(ValueError, match=r"'b' has shape \(4,\), expected \(1, 4\)"):
            known.known_outer(a, b[0])
        with pytest.raises(ValueError, match="not dense"):
            known.known_outer(a, b, out=np.empty((4, 3)).T)

    def test_c_that_has_changed_is_compiled_again(self, kernels, tmp_path):
        emit_c({"axpb": kernels["axpb"]}, tmp_path, "axpb", 0, build=("cffi",))
        ones = "import numpy, axpb_cffi; print(axpb_cffi.axpb(*[numpy.ones((1, 1), 'f4')] * 2)[0, 0])"
        assert run([sys.executable, "-W", "ignore", "-c", ones], tmp_path) == "3.0\n"
        text = (tmp_path / "axpb.c").read_text()
        assert "2.0f" in text
        (tmp_path / "axpb.c").write_text(text.replace("2.0f", "4.0f"))
        assert run([sys.executable, "-W", "ignore", "-c", ones], tmp_path) == "5.0\n"
        assert sorted(path.name for path in tmp_path.glob(".*")) == []
