"""Remarks that reviewers made on emitted C, each as a test that finds its class in many modules.

The modules hold random kernels and one of every op, in every form: descriptors, static, helpers in a file of their own.
"""

from __future__ import annotations

import re
import subprocess

import pytest

import bcastgen as bg
from bcastgen.core.c_library import HEADERS
from bcastgen.emit.c_text.names import MODULE_MACROS
from bcastgen.emit.c_text.references import names
from bcastgen.emit.standalone import CForm
from c_harness import LANGUAGES, compiler, emit_module
from compile_flags import CONTRACT, WARNED
from op_rows import golden_kernels

STATIC = (CForm(static=True), CForm(0, static=True, freestanding=True))


def reductions():
    """Modules whose kernels reduce: with a shared order, without one, with memory of the caller, by an axis of one."""
    return {
        "total": bg.from_text("(f32[?,?] a, f32[?] b) -> sum(a*b, axis=1)"),
        "least": bg.from_text("(i32[?] a) -> min(a)"),
        "centred": bg.jit(lambda x: x - x.mean(axis=0), signature="(f64[?,?] x)"),
    }


@pytest.fixture(scope="module")
def modules(corpus, samples, tmp_path_factory):
    """The files of each module, by the directory that they are in."""
    made = {}
    for at, options in enumerate(({}, {"functions": True}, {"forms": STATIC}, {"forms": STATIC, "functions": True})):
        for module in corpus(4100 + at, 20, faults=None, **options).modules:
            made[f"corpus{at}_{module[0].name}"] = module[0].files
    for name, kernel, variants in golden_kernels():
        made[f"golden_{name}"] = emit_module([kernel], name, CForm(variants))[0].files
    paths = bg.emit_c(reductions(), tmp_path_factory.mktemp("reductions"), "reductions")
    made["reductions"] = {path.name: path.read_text() for path in paths}
    written = {}
    for name, files in made.items():
        directory = tmp_path_factory.mktemp(name)
        for file, text in files.items():
            (directory / file).write_text(text)
        written[directory] = files
    return written


def own_lines(files):
    """Name and text of each file that is the module's own, without comments."""
    return [
        (name, re.sub(r"/\*.*?\*/", " ", text, flags=re.DOTALL))
        for name, text in files.items()
        if name.endswith((".c", ".h")) and name != "bcastgen.h"
    ]


def found(modules, pattern):
    """Each place in a module's own files where a pattern is."""
    return [
        f"{module.name}/{name}: {match[0]}"
        for module, files in modules.items()
        for name, text in own_lines(files)
        for match in re.finditer(pattern, text)
    ]


def test_no_loop_is_over_one_thing(modules):
    loops = found(modules, r"for \([^;]*?\b\w+ = (\d+); [^;]*\b\w+ < (\d+);")
    assert loops != []
    assert [text for text in loops if _count(text) <= 1] == []


def _count(loop):
    start, end = re.search(r"= (\d+); [^;]*< (\d+);", loop).groups()
    return int(end) - int(start)


def test_no_array_holds_one_setter(modules):
    assert found(modules, r"\w+\[\] = \{-\d+\};") == []


def test_failures_name_arrays_by_constants(modules):
    calls = found(modules, r"_(?:fail\w*|check_data|check_distinct|check_result|meet\w*|match|widen)\([^;]*;")
    assert any("_fail_array(" in call for call in calls)
    number = r"-?\d+"
    bare = [
        call
        for call in calls
        if re.search(rf"_fail(?:_array|_dim)?\(why, \w+, {number}[,)]", call)
        or re.search(rf"_fail_overlap\(why, (?:{number}|\w+, {number})\)", call)
        or re.search(rf"_(?:check_\w+|meet\w*|match|widen)\(&?\w+, {number},", call)
    ]
    assert [call for call in bare if "_SIZES" not in call and "_MAPPED" not in call] == []


def test_a_status_is_returned_where_it_is_found(modules):
    assert found(modules, r"\n *(?:bcastgen_status )?status = [^;]*;\s*return status;") == []


def test_a_compilers_warning_is_off_in_one_place_alone(modules):
    assert found(modules, "clang diagnostic ignored") != []
    for files in modules.values():
        for name, text in own_lines(files):
            order = re.findall(r"clang diagnostic (push|ignored|pop)", text)
            # Functions that clang makes of parallel loops come after all lines.
            assert order in ([], ["ignored"] if "#pragma omp" in text else ["push", "ignored", "pop"]), name


def test_a_header_includes_what_its_own_lines_need(modules):
    """Of the shared header all is the module's; others include no more than they use."""
    for files in modules.values():
        for name, text in own_lines(files):
            if name.endswith(".h") and "bcastgen_array" not in text:
                for header in re.findall(r"#include <(\w+\.h)>", text):
                    assert names(text) & HEADERS[header], f"{name} includes <{header}> for nothing"


def test_constants_have_names_of_their_own(modules):
    """No constant is called like a macro of the module; a list has the macros that templates define."""
    for module, files in modules.items():
        texts = own_lines(files)
        constants = [
            name for _, text in texts for group in re.findall(r"enum \{(.*?)\}", text) for name in group.split(", ")
        ]
        macros = {name for _, text in texts for name in re.findall(r"#define (\w+)", text)}
        assert len(constants) == len(set(constants)), module.name
        assert not macros.intersection(constants), module.name


def test_an_operand_may_be_called_like_a_macro():
    operands = ", ".join(f"f32[?] {name.lower()}" for name in (*MODULE_MACROS, "H2", "A", "a"))
    text = f"({operands}) -> {' + '.join(part.split()[1] for part in operands.split(', '))}"
    (kernel,) = emit_module([bg.from_text(text.replace("f32[?] a,", "f32[?] A,", 1))], "k")
    subprocess.run(
        [compiler("gcc", "c"), *LANGUAGES["c"], "-fsyntax-only", "-x", "c", "-"],
        input="\n".join(kernel.files[name].replace('#include "', "// ") for name in ("bcastgen.h", "k.h")),
        text=True,
        check=True,
    )


@pytest.mark.parametrize(
    ("kind", "language", "warnings"),
    [
        ("gcc", "c++", ("-Wuseless-cast",)),
        ("gcc", "c", ("-Wdouble-promotion", "-Wunused-macros", "-Waddress", "-Wduplicated-branches")),
        pytest.param("clang", "c", ("-Wdouble-promotion", "-Wunused-macros"), marks=pytest.mark.slow),
    ],
)
def test_compilers_find_nothing_that_does_nothing(kind, language, warnings, modules):
    command = [compiler(kind, language), *LANGUAGES[language], WARNED, CONTRACT, "-Werror", *warnings, "-fsyntax-only"]
    for directory, files in modules.items():
        sources = [name for name in files if name.endswith(".c")]
        if not sources:
            (header,) = (name for name in files if name.endswith(".h") and name != "bcastgen.h")
            (directory / "use.c").write_text(f'#include "{header}"\n')
            sources = ["use.c"]
        done = subprocess.run([*command, *sources], cwd=directory, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{directory.name}\n{done.stderr[:3000]}"
