"""The files of shape programs: strict compilers, sanitizers on any bits, names and messages from users, a golden."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

import shape_agreement as agreement
from bcastgen.core.c_flags import C_LANGUAGE, OPTIMISED
from bcastgen.core.errors import BroadcastError
from bcastgen.emit.shape_program.program import messages, render_shape, shape_function
from bcastgen.shape.dialect.trace import op, program
from bcastgen.shape.dialect.values import Shape, Size, Witness
from c_harness import TERSE, compiler
from compile_flags import QUICK
from long_runs import many

GOLDEN = Path(__file__).parents[2] / "cases" / "batched.shape"
SANITIZE = [*C_LANGUAGE, "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]


def batched():
    """Batches broadcast, the rest is a matrix product: everything a program may hold, in a sensible place."""

    def function(x, y, groups):
        left, right = op("shape_of")(x), op("shape_of")(y)
        batch, matrix = op("split_at")(left, -2)
        other, columns = op("split_at")(right, -2)
        inner = op("cmpi")(op("get_extent")(matrix, 1), op("get_extent")(columns, 0), predicate="eq")
        fits = op("cstr_require")(inner, msg="the inner extents of a matrix product differ")
        meet = op("cstr_broadcastable")(batch, other, error="batch extents do not broadcast")

        def product():
            ends = op("from_extents")(op("get_extent")(matrix, 0), op("get_extent")(columns, 1))
            return op("concat")(op("broadcast")(batch, other), ends)

        shape = op("assuming")(op("assuming_all")(fits, meet), product)
        most = op("reduce")(shape, 1, lambda i, extent, most: op("max")(most, extent))
        return shape, op("mul")(op("num_elements")(shape), groups), op("size_to_index")(most)

    return program("batched", function, x="f32[*]", y="f32[?, ?, 8]", groups="!shape.size")


def nasty():
    """Names and messages that C has other ideas about."""

    def function(bcg_shape, stderr, t0, static, *, größe, why):
        clash = op("broadcast")(bcg_shape, stderr, error='"ü" ??/\n\\0 %s */ ' + "long, " * 40 + "and bcg_shape")
        return op("debug_print")(op("join")(clash, größe, error="12" * 100)), op("add")(t0, static), why

    shapes = dict.fromkeys(("bcg_shape", "stderr", "größe"), "!shape.shape")
    return program("bcg_nasty", function, **shapes, t0="index", static="!shape.size", why="!shape.witness")


def programs():
    drawn = [made for made, _ in agreement.drawn(40)]
    return [batched(), nasty(), *drawn]


def together(made):
    """The files of programs, each under a name of its own, and one unit that includes them all."""
    texts = {}
    for at, one in enumerate(made):
        texts |= {name.replace(".c", ".inc"): text for name, text in render_shape(one, f"p{at}").files.items()}
    return texts | {"all.c": "".join(f'#include "p{at}.inc"\n' for at in range(len(made)))}


@pytest.mark.parametrize("language", ["c", "c++"])
@pytest.mark.parametrize("optimise", [QUICK, "-O2"])
def test_emitted_files_compile_without_a_warning(language, optimise, compile_strictly, tmp_path):
    compile_strictly(together(programs()), tmp_path, language=language, flags=(optimise,))


@pytest.mark.slow
@pytest.mark.parametrize("language", ["c", "c++"])
def test_clang_has_no_warning_either(language, compile_strictly, tmp_path):
    compile_strictly(together(programs()), tmp_path, "clang", language)


@pytest.mark.parametrize("optimise", ["-O1", "-O2", "-Os"])
def test_parts_of_known_rank_are_read_only_where_they_are(optimise, compile_strictly, tmp_path):
    """The rank of a part is a constant then, and compilers follow what is read of it."""
    made = [
        program(f"turn_{at + 1}", lambda a, at=at: op("concat")(*op("split_at")(a, at)[::-1]), a="!shape.shape")
        for at in (-1, 0, 1, 2)
    ]
    compile_strictly(together(made), tmp_path, flags=(optimise,))


def test_the_golden_program():
    files = render_shape(batched()).files
    shown = "\n".join(f"== {name}\n{text.rstrip()}\n" for name, text in files.items())
    if os.environ.get("BCASTGEN_UPDATE_CASES"):
        GOLDEN.write_text(shown)
    assert shown == GOLDEN.read_text()


def test_no_line_is_long_and_no_blank_line_doubled():
    for text in render_shape(batched()).files.values():
        assert max(map(len, text.splitlines())) <= 120
        assert "\n\n\n" not in text
        assert text.endswith("\n") and not text.endswith("\n\n")


def test_the_same_program_gives_the_same_bytes():
    assert dict(render_shape(batched()).files) == dict(render_shape(batched()).files)


def test_helpers_are_those_that_are_used():
    ranks = render_shape(program("ranks", lambda a: op("rank")(a), a="!shape.shape")).text
    assert "ranks_shape_rank" in ranks
    assert "broadcast" not in ranks and "stdio" not in ranks and "ABI" not in ranks
    assert "#include <stdio.h>" in render_shape(nasty()).text


def test_an_element_type_has_no_form_in_c():
    made = program("kinds", lambda a, b: op("join")(a, b), a="!shape.element_type", b="!shape.element_type")
    with pytest.raises(BroadcastError, match=r"!shape\.element_type has no form in C"):
        render_shape(made)


# ---- calls -----------------------------------------------------------------------------------------------------------

MAIN = """
#include <stdio.h>
#include "batched.inc"
static void show(const int64_t *x, int32_t x_rank, const int64_t *y, int64_t groups)
{
    const batched_array a = {NULL, x, NULL, x_rank}, b = {NULL, y, NULL, 3};
    batched_shape shape = {-7, {-7}};
    batched_diagnostic why = {-7, -7, -7, -7, -7};
    int64_t elements = -7, most = -7;
    const batched_status status = batched(&a, &b, groups, &shape, &elements, &most, &why);
    printf("%d [", (int)status);
    for (int32_t dim = 0; dim < shape.rank; dim++) printf("%d ", (int)shape.extents[dim]);
    printf("] %d %d %d %d %d", (int)shape.rank, (int)elements, (int)most, (int)why.operand, (int)why.dim);
    printf(" '%s'\\n", why.operand < 0 && status != BATCHED_OK ? batched_message(why.actual) : "");
    if (batched(&a, &b, groups, &shape, &elements, &most, NULL) != status) printf("another status without why\\n");
}
int main(void)
{
    const int64_t x[] = {5, 1, 2, 3}, other[] = {7, 2, 3}, y[] = {4, 3, 8}, odd[] = {4, 9, 8}, nine[] = {4, 3, 9};
    show(x, 4, y, 2);
    show(x + 1, 3, y, -1);
    show(x + 1, 3, y, -2);
    show(x, 4, odd, 2);
    show(other, 3, y, 2);
    show(x, 4, nine, 2);
    show(x, 65, y, 2);
    show(x, -1, y, 2);
    show(NULL, 4, y, 2);
    show(x, 4, y, -5);
    return 0;
}
"""


def test_a_c_program_sizes_results_and_is_told_what_is_wrong(tmp_path):
    files = {name.replace(".c", ".inc"): text for name, text in render_shape(batched()).files.items()}
    for name, text in (files | {"main.c": MAIN}).items():
        (tmp_path / name).write_text(text)
    command = ["gcc", "-std=c11", "-Wall", "-Wextra", "-Werror", "main.c", "-o", "main"]
    subprocess.run(command, cwd=tmp_path, check=True)
    shown = subprocess.run(["./main"], cwd=tmp_path, check=True, capture_output=True, text=True).stdout.splitlines()
    assert shown == [
        "0 [5 4 2 8 ] 4 640 8 -7 -7 ''",
        "0 [4 2 8 ] 3 -1 8 -7 -7 ''",
        "0 [4 2 8 ] 3 -2 8 -7 -7 ''",
        "13 [] -7 -7 -7 -1 -1 'the inner extents of a matrix product differ'",
        "13 [] -7 -7 -7 -1 -1 'batch extents do not broadcast'",
        "15 [] -7 -7 -7 1 2 ''",
        "15 [] -7 -7 -7 0 -1 ''",
        "15 [] -7 -7 -7 0 -1 ''",
        "15 [] -7 -7 -7 0 -1 ''",
        "15 [] -7 -7 -7 2 -1 ''",
    ]


def test_messages_arrive_byte_for_byte(tmp_path):
    made = nasty()
    for name, text in render_shape(made).files.items():
        (tmp_path / name).write_text(text)
    name = render_shape(made).name
    (tmp_path / "main.c").write_text(
        f'#include <stdio.h>\n#include "{name}.h"\n'
        f'int main(void) {{ for (int64_t n = -1; n < 4; n++) printf("%s|", {name}_message(n)); return 0; }}\n'
    )
    subprocess.run(["gcc", "-std=c11", "main.c", f"{name}.c", "-o", "main"], cwd=tmp_path, check=True)
    told = subprocess.run(["./main"], cwd=tmp_path, check=True, capture_output=True).stdout.decode()
    assert told.split("|") == ["", *messages(made), "", ""]


def test_a_static_function_stands_beside_others():
    text = shape_function(batched(), "sized")
    assert text.startswith("static bcg_status sized(const bcg_array *x,")
    assert text.count("\n}\n") == 1


def test_printing_is_pythons(tmp_path, capfd):
    def function(a, n):
        return op("debug_print")(a), op("debug_print")(n)

    made = program("shown", function, a="!shape.shape", n="!shape.size")
    library = agreement.Library([made], tmp_path)
    shapes = [Shape(), Shape.of(3), Shape.of(None, 2), Shape(unranked=True), Shape(error="")]
    for shape in shapes:
        for size in (Size(5), Size(), Size(error="")):
            capfd.readouterr()
            made.run(shape, size)
            python = capfd.readouterr().err
            library.call(0, (shape, size))
            assert capfd.readouterr().err == python != ""


def test_a_failed_witness_runs_nothing_after_it(tmp_path, capfd):
    def function(a, fits):
        op("debug_print")(a)
        shown = op("assuming")(fits, lambda: op("debug_print")(op("concat")(a, a)))
        return op("debug_print")(shown)

    made = program("guarded", function, a="!shape.shape", fits="!shape.witness")
    library = agreement.Library([made], tmp_path)
    for passing, status, printed in [
        (True, "OK", "[2]\n[2, 2]\n[2, 2]\n"),
        (False, "SHAPE_WITNESS", "[2]\n"),
        (None, "SHAPE_UNDECIDED", "[2]\n"),
    ]:
        capfd.readouterr()
        assert library.call(0, (Shape.of(2), Witness(passing))).status == status
        assert capfd.readouterr().err == printed


# ---- any bits --------------------------------------------------------------------------------------------------------

FUZZ = """
#include <stdlib.h>
static uint64_t state = 88172645463325252u;
static uint64_t draw(void)
{
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return state;
}
static const int64_t bits[] = {INT64_MIN, INT64_MIN + 1, -3000000000, -4, -3, -2, -1, 0, 1, 2, 3, 4, 8, 2147483648,
                               INT64_MAX};
static const int32_t ranks[] = {INT32_MIN, -4, -3, -2, -1, 0, 1, 2, 3, 3, 2, 1, 64, 65, INT32_MAX};
static int64_t number(int calm) { return calm ? (int64_t)(draw() % 4) : bits[draw() % 15]; }
static void *given(char kind, int calm)
{
    const int32_t rank = calm ? (int32_t)(draw() % 4) : ranks[draw() % 15];
    if (kind == 'A') {
        bcg_array *const array = calloc(1, sizeof *array);
        int64_t *const extents = malloc(rank > 0 && rank <= 64 ? (size_t)rank * 8 : 1);
        for (int32_t dim = 0; dim < rank && rank <= 64; dim++) extents[dim] = number(calm);
        array->extents = draw() % 20 == 0 ? (free(extents), (int64_t *)NULL) : extents;
        array->rank = rank;
        return array;
    }
    if (kind == 'S') {
        bcg_shape *const shape = malloc(sizeof *shape);
        for (int32_t dim = 0; dim < 64; dim++) shape->extents[dim] = number(calm);
        shape->rank = rank;
        return shape;
    }
    int64_t *const one = malloc(8);
    *one = number(calm);
    if (kind == 'w') *(int32_t *)(void *)one = calm ? (int32_t)(draw() % 2) : ranks[draw() % 15];
    return one;
}
static void release(char kind, void *memory)
{
    if (kind == 'A') free((void *)(uintptr_t)((bcg_array *)memory)->extents);
    free(memory);
}
int main(void)
{
    long counts[16] = {0};
    for (size_t p = 0; p < sizeof calls / sizeof *calls; p++) {
        for (int round = 0; round < 200; round++) {
            void *in[8], *out[8];
            bcg_diagnostic why;
            const char *const takes = kinds[p][0], *const gives = kinds[p][1];
            for (int k = 0; takes[k]; k++) in[k] = given(takes[k], round % 4 != 0);
            for (int k = 0; gives[k]; k++) out[k] = malloc(gives[k] == 'S' ? sizeof(bcg_shape) : 8);
            const int32_t status = calls[p]((const void *const *)in, out, round % 2 ? &why : NULL);
            if (status != 0 && (status < 12 || status > 15)) abort();
            counts[status]++;
            for (int k = 0; takes[k]; k++) release(takes[k], in[k]);
            for (int k = 0; gives[k]; k++) free(out[k]);
        }
    }
    printf("%ld %ld %ld %ld %ld\\n", counts[0], counts[12], counts[13], counts[14], counts[15]);
    return 0;
}
"""
LETTERS = {"tensor": "A", "shape": "S", "value_shape": "S", "extents": "S", "witness": "w", "i1": "w"}


def fuzz_unit(made):
    def kinds(values, tensor="A"):
        letters = LETTERS | {"tensor": tensor}
        return "".join(letters.get(value.type.kind, "n") for value in values)

    pairs = ", ".join(f'{{"{kinds(one.operands)}", "{kinds(one.results, "S")}"}}' for one in made)
    calls = ", ".join(f"call_{at}" for at in range(len(made)))
    tables = f"static int32_t (*const calls[])(const void *const *, void *const *, bcg_diagnostic *) = {{{calls}}};\n"
    tables += f"static const char *const kinds[][2] = {{{pairs}}};\n"
    return f"{agreement.unit(list(enumerate(made)))}\n{tables}{FUZZ}"


@pytest.mark.slow
@pytest.mark.parametrize("kind, optimise", [("gcc", QUICK), ("gcc", OPTIMISED), ("clang", QUICK)])
def test_any_bits_end_in_a_status_and_nothing_else_is_read(kind, optimise, tmp_path):
    made = [batched(), nasty(), *(one for one, _ in agreement.drawn(many(300, 1000)))]
    (tmp_path / "fuzz.c").write_text(fuzz_unit(made))
    # Optimised, checks that say nothing but stop are compiled in half the time.
    flags = [*SANITIZE, *(["-g1"] if optimise == QUICK else TERSE[kind])]
    subprocess.run([compiler(kind), optimise, *flags, "fuzz.c", "-o", "fuzz"], cwd=tmp_path, check=True)
    environment = os.environ | {"ASAN_OPTIONS": "detect_leaks=0"}
    with open(tmp_path / "printed", "w") as printed:
        command = ["./fuzz"]
        done = subprocess.run(
            command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=printed, text=True, check=False
        )
    assert done.returncode == 0, (tmp_path / "printed").read_text()[-4000:]
    assert all(int(count) > 100 for count in done.stdout.split()), done.stdout
