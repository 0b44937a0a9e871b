"""Options are said once: signatures, docstrings, records, flags and pages are held to the tables."""

from __future__ import annotations

import argparse
import ast
import inspect
import re
from dataclasses import fields
from pathlib import Path
from typing import get_args

import pytest

import bcastgen as bg
from bcastgen.api import functions
from bcastgen.cli.emit import add_arguments
from bcastgen.cli.flags import add_flags, flag_names, flag_values
from bcastgen.core.options import VARIANTS, Option, options_of
from bcastgen.emit.standalone import CForm
from bcastgen.emit.standalone.form import EXCLUSIONS
from bcastgen.kernel.kernel import Kernel
from bcastgen.mlir.options import VERSIONS, ReadOptions
from bcastgen.pipeline.options import OPTIONS, Options
from bcastgen.shape.inference.stretch_rules import Dynamic, Rules

DOCS = Path(__file__).resolve().parents[2] / "docs"
FORM = {row.name: row for row in options_of(CForm)}
READING = {row.name: row for row in options_of(ReadOptions)}
# What a function takes that is no option, and where its options are.
FUNCTIONS = {
    bg.jit: (OPTIONS, {"function"}),
    bg.from_text: (OPTIONS, {"text", "name"}),
    bg.emit_c: (FORM, {"kernels", "directory", "name"}),
    Kernel.to_mlir: ({"versions": VERSIONS}, {"self", "form"}),
    bg.from_mlir: ({**READING, "threads": OPTIONS["threads"]}, {"text", "function", "name"}),
}


def documented(function):
    """The entries of a docstring's Parameters: names -> text."""
    section = re.search(r"Parameters\n-+\n(.*?)\n\n", inspect.getdoc(function), re.DOTALL)[1]
    entries = re.findall(r"^(\w[\w, ]*) : (.*(?:\n +.*)*)", section, re.MULTILINE)
    return {name: " ".join(text.split()) for names, text in entries for name in names.split(", ")}


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_signatures_and_docstrings_are_the_tables(function):
    rows, others = FUNCTIONS[function]
    defaults = {name: one.default for name, one in inspect.signature(function).parameters.items()}
    said = documented(function)
    assert defaults.keys() - others <= rows.keys()
    assert said.keys() == defaults.keys() - {"self"}
    for name in defaults.keys() - others:
        assert defaults[name] == rows[name].default, name
        assert said[name] == rows[name].doc or "as for :func:" in said[name], name


def test_every_option_is_somebodys():
    taken = {*inspect.signature(bg.jit).parameters, *inspect.signature(bg.from_text).parameters}
    assert taken >= OPTIONS.keys()
    assert inspect.signature(bg.emit_c).parameters.keys() >= FORM.keys()
    assert inspect.signature(bg.from_mlir).parameters.keys() >= READING.keys()
    assert all(one.doc.endswith(".") for one in (*OPTIONS.values(), *FORM.values(), *READING.values()))


def test_the_overloads_of_jit_are_alike():
    tree = ast.parse(inspect.getsource(functions))
    found = [node.args for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "jit"]
    assert len(found) == 3
    assert len({ast.dump(ast.arguments([], [], None, one.kwonlyargs, one.kw_defaults, None, [])) for one in found}) == 1


def test_records_have_the_tables_defaults():
    # BCASTGEN_DEBUG sets one, and `define_op` the other: callers do not.
    inner = {"debug", "explicit"}
    assert {one.name for one in fields(Options)} - inner <= OPTIONS.keys()
    assert {one.name for one in fields(Rules)} - inner <= OPTIONS.keys()
    for one in (*fields(Options), *fields(Rules)):
        assert one.name in ("name", *inner) or one.default == OPTIONS[one.name].default, one.name
    assert OPTIONS["dynamic"].choices == get_args(Dynamic)
    assert FORM["variants"] == OPTIONS["variants"] == VARIANTS


def test_flags_are_made_from_rows_and_read_back():
    parser = argparse.ArgumentParser()
    add_flags(parser, FORM.values())
    assert flag_values(parser.parse_args([]), FORM.values()) == {name: row.default for name, row in FORM.items()}
    given = "--variants 3 --static --target x86-64 --single-file --meson --cffi".split()
    assert flag_values(parser.parse_args(given), FORM.values()) == {
        **{name: row.default for name, row in FORM.items()},
        "variants": 3,
        "static": True,
        "target": "x86-64",
        "single_file": True,
        "build": ("meson", "cffi"),
    }


def test_the_page_of_standalone_c_tells_every_flag():
    page = (DOCS / "standalone.md").read_text(encoding="utf-8")
    tables = "".join(re.findall(r"^\| option \|.*?\n\n", page, re.DOTALL | re.MULTILINE))
    told = set(re.findall(r"--[a-z][a-z-]*", tables))
    flags = {flag for row in FORM.values() for flag in flag_names(row)}
    assert told == (flags | {"--check"})


def test_the_page_of_standalone_c_tells_which_options_exclude_each_other():
    page = (DOCS / "standalone.md").read_text(encoding="utf-8")
    table = re.search(r"<!-- exclusions.*?-->\n\| option .*?\n\|---.*?\n(.*?)\n\n", page, re.DOTALL)[1]
    found, rows = {}, {}
    for line in table.splitlines():
        _, option, others, _ = line.split("|")
        found[option.strip(" `")] = set(re.findall(r"--[a-z-]+|build files", others))
    for row in EXCLUSIONS:
        flags = {"build files" if one == "build" else f"--{one.replace('_', '-')}" for one in row.others}
        rows.setdefault(f"--{row.option.replace('_', '-')}", set()).update(flags)
    assert found == rows


@pytest.mark.parametrize("row", EXCLUSIONS, ids=lambda row: row.option)
def test_what_options_exclude_is_refused(row):
    def given(name):
        known = {"build": ("cmake",), "cffi": ("cffi",), "target": "x86-64", "targets": ("x86-64-v3",), "alignment": 16}
        return {"build" if name == "cffi" else name: known.get(name, True)}

    for other in row.others:
        with pytest.raises(bg.BcastgenError, match=re.escape(row.refusal([other]))):
            CForm(**given(row.option), **given(other)).checked()


def test_what_is_refused_names_what_was_asked_for_and_no_more():
    with pytest.raises(bg.BcastgenError) as told:
        CForm(targets=("x86-64-v3",), main=True, target="x86-64").checked()
    assert str(told.value).endswith("; leave target= and main= out")


def test_the_page_of_the_command_line_tells_every_flag_of_kernels_and_of_mlir():
    page = (DOCS / "command-line.md").read_text(encoding="utf-8")
    for row in (*OPTIONS.values(), *READING.values(), VERSIONS):
        for flag in flag_names(row) if row.name != "variants" else ():
            assert flag in page, flag


def test_emit_takes_no_flag_twice():
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    read = parser.parse_args(["a + b", "--no-rank-expansion", "--rank-expansion"])
    assert flag_values(read, [OPTIONS["rank_expansion"]]) == {"rank_expansion": False}
    assert flag_values(read, [READING["rank_expansion"]]) == {"rank_expansion": True}


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: bg.jit(math="slow"), "math='slow' is not available; use 'accurate' or 'fast'"),
        (lambda: bg.jit(dynamic="loose"), "dynamic='loose' is not available; use 'numpy', 'strict' or 'trusted'"),
        (lambda: Rules(dynamic="loose"), "dynamic='loose' is not available; use 'numpy', 'strict' or 'trusted'"),
        (lambda: bg.from_text("a", variants=-1), r"variants is -1, expected 0 or more \(0 is the one plain nest\)"),
        (lambda: bg.from_text("a", variants=True), "variants is True, expected 0 or more"),
        (lambda: CForm(variants=-1).checked(), r"variants is -1, expected 0 or more \(0 is the one plain nest\)"),
        (lambda: CForm(build=("bazel",)).checked(), "no build 'bazel'; there are cmake, meson, makefile, cffi"),
        (lambda: Option("n", 2, "a number.", least=1).check(0), "n is 0, expected 1 or more$"),
    ],
)
def test_what_an_option_may_not_be_is_refused_by_its_row(call, message):
    with pytest.raises(bg.BcastgenError, match=message):
        call()
