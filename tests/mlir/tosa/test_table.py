"""The table of TOSA ops: its rows are there, and its element types are those that mlir-opt's validation accepts."""

from __future__ import annotations

import itertools
import re
import shutil
import subprocess

import pytest

from bcastgen.core.dtypes import DTYPES
from bcastgen.mlir.tosa.table import TOSA_OPS, find_tosa
from bcastgen.ops.dtype_rules import compare
from bcastgen.ops.table import OPS
from mlir_texts import OPS as TEXTS
from verdicts import KINDS

MLIR_OPT = shutil.which("mlir-opt-22")
ELEMENTS = [row.mlir for row in DTYPES]
EXTENSIONS = "int16,int4,int64,bf16,fp8e4m3,fp8e5m2,fft,variable,controlflow,doubleround,inexactround,dynamic"
TARGET = f"profiles=pro_int,pro_fp extensions={EXTENSIONS} level=none specification_version=1.1.draft"
VALIDATE = f"builtin.module(tosa-attach-target{{{TARGET}}},tosa-validate{{strict-op-spec-alignment}})"

needs_mlir_opt = pytest.mark.skipif(MLIR_OPT is None, reason="mlir-opt-22 is not installed")


def test_every_op_of_the_list_is_there():
    wanted = """abs bitwise_not cast ceil clamp clz cos erf exp floor log logical_not negate reciprocal rsqrt sigmoid
        sin tanh add sub mul pow arithmetic_right_shift bitwise_and bitwise_or bitwise_xor intdiv equal greater
        greater_equal logical_and logical_or logical_xor logical_left_shift logical_right_shift maximum minimum
        select"""
    assert sorted(row.name for row in TOSA_OPS) == sorted(wanted.split())
    assert find_tosa("int_div") is find_tosa("intdiv")
    assert find_tosa("div") is None


# Ops with attributes or further operands: what LLVM's verdicts are compared for has none.
WITH_ATTRIBUTES = {"arithmetic_right_shift", "clamp", "negate"}


def test_every_row_is_among_the_texts_and_the_verdicts_that_upstream_is_asked_for():
    names = {row.name for row in TOSA_OPS}
    assert names == {text.split()[0].removeprefix("tosa.") for text in TEXTS if text.startswith("tosa.")} & names
    assert names == (KINDS.keys() | WITH_ATTRIBUTES) & names
    assert not KINDS.keys() & WITH_ATTRIBUTES


@pytest.mark.parametrize("row", TOSA_OPS, ids=lambda row: row.name)
def test_a_row_fits_the_rows_it_names(row):
    assert {"bool", "signed", "unsigned", "float"} >= set(row.kinds) != set()
    for name in filter(None, (row.row, row.integer_row)):
        extra = len(row.extra) if name == row.integer_row else {"clip": 2}.get(name, 0)
        assert OPS[name].arity == row.arity + extra
    kinds = {dtype.mlir: dtype.kind for dtype in DTYPES}
    for operands, result in row.strict:
        assert len(operands) == row.arity
        assert kinds[operands[-1]] in row.kinds
        ours = OPS[row.integer_row if row.integer_row and kinds[operands[0]] != "float" else row.row]
        if not ours.converts and row.name != "mul":
            types = tuple(next(dtype for dtype in DTYPES if dtype.mlir == element) for element in operands)
            assert ours.types((*types, *types[:1] * (ours.arity - row.arity)))[1].mlir == result


def test_comparisons_are_those_that_give_bools():
    assert {row.name for row in TOSA_OPS if OPS[row.row].rule is compare} == {"equal", "greater", "greater_equal"}


# ---- against mlir-opt ------------------------------------------------------------------------------------------------


def text_of(row, operands, result):
    """A function of one op."""
    zero = {"i1": "false"}.get(operands[0], "0.0" if "f" in operands[0] else "0")
    constants, extra = [], []
    for place, name in enumerate(row.extra):
        element, value = ("i8", "0") if name == "shift" else (operands[0], zero)
        constants.append(
            f'%c{place} = "tosa.const"() {{values = dense<{value}> : tensor<1x{element}>}} : () -> tensor<1x{element}>'
        )
        extra.append((f"%c{place}", f"tensor<1x{element}>"))
    attributes = {
        "clamp": f"{{min_val = {zero} : {operands[0]}, max_val = {zero} : {operands[0]}}}",
        "arithmetic_right_shift": "{round = true}",
    }.get(row.name, "")
    given = [(f"%a{at}", f"tensor<4x{element}>") for at, element in enumerate(operands)]
    names = ", ".join(name for name, _ in (*given, *extra))
    types = ", ".join(type_ for _, type_ in (*given, *extra))
    heads = ", ".join(f"{name}: {type_}" for name, type_ in given)
    lines = [
        *constants,
        f"%r = tosa.{row.name} {names} {attributes} : ({types}) -> tensor<4x{result}>",
        f"return %r : tensor<4x{result}>",
    ]
    body = "\n  ".join(lines)
    return f"func.func @f({heads}) -> tensor<4x{result}> {{\n  {body}\n}}\n"


# Casts of the 1.1 draft that LLVM 22 does not know yet; later versions and the official conformance tests do.
LATER_CASTS = {(("i1",), "i64"), (("i1",), "f32"), (("i64",), "i1"), (("f32",), "i1")}


def combinations(row):
    """Every tuple of element types of an op: of one element type throughout, or any result where the op changes it."""
    for element in ELEMENTS:
        operands = ("i1", element, element) if row.name == "select" else (element,) * row.arity
        results = ELEMENTS if row.name in ("cast", "mul") else ["i1"] if OPS[row.row].rule is compare else [element]
        yield from itertools.product([operands], results)


def accepted(cases, *flags):
    """Which of (row, operands, result) mlir-opt accepts; each is a module of its own."""
    modules = [f"module attributes {{case.at = {at}}} {{\n{text_of(*case)}}}\n" for at, case in enumerate(cases)]
    done = subprocess.run(
        [MLIR_OPT, "--split-input-file", *flags], input="// -----\n".join(modules), capture_output=True, text=True
    )
    assert "PLEASE submit a bug report" not in done.stderr
    return {cases[int(at)] for at in re.findall(r"case\.at = (\d+)", done.stdout)}


@needs_mlir_opt
@pytest.mark.slow
def test_strict_element_types_are_those_of_mlir_opt():
    cases = [(row, *combination) for row in TOSA_OPS for combination in combinations(row)]
    found = accepted(cases, f"--pass-pipeline={VALIDATE}")
    for row in TOSA_OPS:
        theirs = {(operands, result) for op, operands, result in found if op is row}
        assert theirs | (LATER_CASTS if row.name == "cast" else set()) == set(row.strict), row.name


@needs_mlir_opt
@pytest.mark.slow
def test_what_has_a_meaning_is_accepted_by_the_verifier():
    kinds = {dtype.mlir: dtype.kind for dtype in DTYPES}
    storage = {dtype.mlir for dtype in DTYPES if dtype.is_storage}
    cases = [
        (row, operands, result)
        for row in TOSA_OPS
        for operands, result in combinations(row)
        if kinds[operands[-1]] in row.kinds and (row.name != "mul" or result == operands[0])
        if not storage & set(operands) or row.name in ("cast", "select")
        if kinds[result] != "complex"
    ]
    refused = {(row.name, operands[0]) for row, operands, _ in set(cases) - accepted(cases)}
    # The one rule on element types that the verifier of a single op has; kinds do not tell widths.
    assert refused == {("intdiv", "i8"), ("intdiv", "i16")}
