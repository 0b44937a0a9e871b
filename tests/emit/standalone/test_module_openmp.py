"""Threads by OpenMP: which loops they share, and that results are those of one thread, and of NumPy."""

from __future__ import annotations

import ctypes
import re
import subprocess
from math import prod

import numpy as np
import pytest

import bcastgen as bg
from bcastgen.core.c_flags import CHECKED, LIBRARIES, OPENMP_FLAGS
from bcastgen.loops.schedule.threads import THREAD_BLOCK
from c_harness import LANGUAGES, STRICT, compiler
from compile_flags import SHARED, WARNED

THREADS = 5
FORMS = {"specialised": None, "plain": 0}
TEXTS = {
    "row": "(f32[?] a, f32[?] b) -> a + b*2",
    "matrix": "(f32[?,?] a, f32[?,?] b) -> a + b*2",
    "few_rows": "(f32[3,?] a, f32[?] b) -> exp(a) - b",
    "cube": "(f64[?,?,?] a, f64[?,1,?] b) -> a * b",
    "known": "(i32[600,400] a, i32[400] b) -> a - b",
    "wild": "(f32[*] a, f32[*] b) -> a + b*2",
}
# Extents of a and b: more points than one thread takes, by one and by many blocks, and fewer.
SHAPES = {
    "row": [((300_001,), (300_001,)), ((300_001,), (1,)), ((9,), (9,))],
    "matrix": [
        ((500, 700), (500, 700)),
        ((500, 1), (1, 700)),
        ((2, 200_003), (2, 1)),
        ((0, 5), (1, 5)),
        ((1, 300_001), (1, 1)),
    ],
    "few_rows": [((3, 100_001), (100_001,)), ((3, 2), (1,))],
    "cube": [((60, 70, 80), (60, 1, 80)), ((1, 600, 600), (1, 1, 600))],
    "known": [((600, 400), (400,))],
    "wild": [((300_001,), ()), ((90, 50, 80), (50, 1)), ((2, 300_000), (2, 1)), ((3,), (3,)), ((4, 0), (4, 1))],
}


class Array(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("extents", ctypes.POINTER(ctypes.c_int64)),
        ("byte_strides", ctypes.POINTER(ctypes.c_int64)),
        ("rank", ctypes.c_int32),
    )

    @classmethod
    def of(cls, array):
        numbers = ctypes.c_int64 * max(array.ndim, 1)
        return cls(array.ctypes.data, numbers(*array.shape), numbers(*array.strides), array.ndim)


def source_of(directory, name, **form):
    return bg.from_text(TEXTS[name]).emit_c(directory, name, openmp=True, **form)[0].read_text()


def operands(name, shapes):
    random = np.random.default_rng(len(name))
    kinds = re.findall(r"([fi]\d\d)\[", TEXTS[name])
    for kind, shape in zip(kinds, shapes, strict=True):
        dtype = np.dtype({"f": "float", "i": "int"}[kind[0]] + kind[1:])
        yield np.asarray(random.standard_normal(shape) * 10).astype(dtype)


def layouts(array):
    """The array as it is, and where it has several dims also from last to first, and reversed."""
    yield array
    if array.ndim > 1:
        yield np.asfortranarray(array)
        yield np.ascontiguousarray(array[..., ::-1])[..., ::-1]


def test_all_loops_are_shared(tmp_path):
    text = source_of(tmp_path, "matrix")
    pragma = (
        "#ifdef _OPENMP\n#pragma omp parallel for collapse(2) if (d0 * d1 > 131072)\n#endif\n    for (int64_t i0 = 0;"
    )
    assert text.count("#pragma omp") == 1 and pragma in text
    assert "large loops are divided among threads" in (tmp_path / "matrix.h").read_text()


def test_dear_points_are_shared_from_fewer_on(tmp_path):
    kernels = {"cheap": bg.from_text("(f64[?] a) -> a + 1"), "dear": bg.from_text("(f64[?] a) -> tan(a) * exp(a)")}
    bg.emit_c(kernels, tmp_path, "shared", openmp=True)
    limits = re.findall(r"#pragma omp parallel for if \(d0 > (\d+)\)", (tmp_path / "shared.c").read_text())
    assert limits == ["131072", "16384"]


def test_a_loop_over_points_goes_by_blocks(tmp_path):
    for name, dim in (("row", 0), ("few_rows", 1)):
        text = source_of(tmp_path, name)
        assert f"for (int64_t first = 0; first < d{dim}; first += {THREAD_BLOCK}) {{" in text
    assert "first" not in source_of(tmp_path, "row", variants=0).partition("bcastgen_status row(")[2]


def test_no_threads_where_they_never_pay(tmp_path):
    assert "#pragma omp" not in bg.from_text("(f32[8,8] a) -> -a").emit_c(tmp_path, openmp=True)[0].read_text()
    assert "#pragma omp" not in bg.from_text("(f64[] a, f64[] b) -> a * b").emit_c(tmp_path, openmp=True)[0].read_text()


def test_no_question_where_they_always_pay(tmp_path):
    assert "#pragma omp parallel for collapse(2)\n" in source_of(tmp_path, "known")


def test_what_looks_at_elements_first_is_not_shared(tmp_path):
    text = bg.from_text("(i32[?,?] a, i32[?,?] b) -> a ** b").emit_c(tmp_path, openmp=True)[0].read_text()
    before, pragma, _ = text.partition("#pragma omp")
    assert pragma and "_fail_element(" in before


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_results_are_those_of_one_thread(tmp_path, form):
    for name in TEXTS:
        source_of(tmp_path, name, variants=FORMS[form])
    libraries = {}
    for kind, flags in (("alone", ()), ("shared", OPENMP_FLAGS)):
        units = [f"{name}.c" for name in TEXTS]
        command = [compiler("gcc"), *LANGUAGES["c"], CHECKED, *STRICT, *flags, *SHARED, *units]
        subprocess.run([*command, "-o", f"{kind}.so", *LIBRARIES], cwd=tmp_path, check=True)
        libraries[kind] = ctypes.CDLL(str(tmp_path / f"{kind}.so"))
    libraries["shared"].omp_set_num_threads(THREADS)
    for name, shapes in ((name, pair) for name, pairs in SHAPES.items() for pair in pairs):
        a, b = operands(name, shapes)
        for given in layouts(a):
            results = {kind: np.full(np.broadcast_shapes(*shapes), 7, a.dtype) for kind in libraries}
            for kind, library in libraries.items():
                call = getattr(library, name)
                assert call(*(ctypes.byref(Array.of(array)) for array in (given, b, results[kind])), None) == 0
            assert results["alone"].tobytes() == results["shared"].tobytes(), (name, shapes)
            assert name == "few_rows" or np.array_equal(results["shared"], bg.from_text(TEXTS[name])(a, b))


@pytest.mark.slow
def test_every_thread_has_a_part(tmp_path):
    """Each inner loop notes who runs it."""
    for name in ("row", "wild"):
        source_of(tmp_path, name)
    for name in ("row", "wild"):
        path = tmp_path / f"{name}.c"
        noted = re.sub(rf"(static void {name}_\w+\([^{{;]*, int64_t n\)\n{{\n)", r"\1    note();\n", path.read_text())
        path.write_text(f"extern void note(void);\n{noted}")
    (tmp_path / "note.c").write_text(
        "#include <omp.h>\nint seen[64];\nvoid note(void);\nvoid note(void) { seen[omp_get_thread_num()] = 1; }\n"
    )
    command = [compiler("gcc"), CHECKED, *OPENMP_FLAGS, *SHARED, "row.c", "wild.c", "note.c", "-o", "noted.so"]
    subprocess.run([*command, *LIBRARIES], cwd=tmp_path, check=True)
    library = ctypes.CDLL(str(tmp_path / "noted.so"))
    library.omp_set_num_threads(THREADS)
    for name, shapes in (("row", SHAPES["row"][0]), ("wild", SHAPES["wild"][0]), ("wild", SHAPES["wild"][1])):
        a, b = operands(name, shapes)
        seen = (ctypes.c_int * 64).in_dll(library, "seen")
        ctypes.memset(seen, 0, ctypes.sizeof(seen))
        result = np.empty(np.broadcast_shapes(*shapes), a.dtype)
        assert getattr(library, name)(*(ctypes.byref(Array.of(x)) for x in (a, b, result)), None) == 0
        assert sum(seen) == THREADS and prod(result.shape) > THREADS * THREAD_BLOCK, (name, shapes)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["gcc", "clang"])
@pytest.mark.parametrize("language", LANGUAGES)
def test_without_openmp_it_compiles_without_a_warning(tmp_path, kind, language):
    for name in TEXTS:
        source_of(tmp_path, name)
    units = [f"{name}.c" for name in TEXTS]
    command = [compiler(kind, language), *LANGUAGES[language], *STRICT, WARNED, "-c", *units]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and not done.stderr, done.stderr[:4000]
