"""Versions of nests in linalg: which there are, that facts make fewer, that LLVM specialises and vectorises them."""

import re

import pytest

import bcastgen as bg
from bcastgen.mlir.linalg.printer import linalg_text
from mlir_tools import checked_opt, needs_mlir, run_opt

MAP = re.compile(r"affine_map<\(.*?\) -> (\(.*?\))>")
VECTORIZE = """
  transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
    %found = transform.structured.match ops{["linalg.generic"]} in %module : (!transform.any_op) -> !transform.any_op
    transform.foreach %found : !transform.any_op {
    ^bb0(%one: !transform.any_op):
      transform.structured.vectorize %one vector_sizes [4, 8] : !transform.any_op
    }
    transform.yield
  }
"""


def text_of(signature, versions):
    """Return the text of a kernel."""
    return linalg_text(bg.from_text(signature).compilation.program, "f", versions=versions)


def maps_of(text):
    """Return for each linalg.generic the maps of its operands, without that of its result."""
    return [MAP.findall(part)[:-1] for part in text.split("linalg.generic")[1:]]


def test_the_likely_versions_stand_first():
    assert maps_of(text_of("(f32[?] a, f32[?] b) -> a + b", 1)) == [["(d0)", "(d0)"], []]
    assert maps_of(text_of("(f32[?, ?] a, f32[?, ?] b) -> a + b", 5)) == [
        ["(d0, d1)", "(d0, d1)"],
        ["(d0, d1)", "(0, d1)"],
        ["(0, d1)", "(d0, d1)"],
        ["(d0, d1)", "(d0, 0)"],
        ["(d0, 0)", "(d0, d1)"],
        [],
    ]


def test_if_they_are_all_the_last_needs_no_test():
    text = text_of("(f32[?] a, f32[?] b) -> a + b", 3)
    assert maps_of(text) == [["(d0)", "(d0)"], ["(d0)", "(0)"], ["(0)", "(d0)"]]
    assert text.count("scf.if") == 2
    assert "tensor.extract" not in text
    assert text_of("(f32[?] a, f32[?] b) -> a + b", 100) == text


@pytest.mark.parametrize(
    ("signature", "count"),
    [
        # Each dim: nobody stretches, a does, or b does.
        ("(f32[?, ?] a, f32[?, ?] b) -> a + b", 9),
        ("(f32[?, n>=2] a, f32[?, n] b) -> a + b", 3),
        # n is one extent: only b's own dim is asked about.
        ("(f32[n, m] a, f32[n, ?] b) -> a + b", 3),
        ("(f32[n, m] a, f32[n, m] b) -> a + b", 1),
        ("(f32[m>=2, k] a, f32[?, k] b) -> a + b", 2),
        ("(f32[8, 4] a, f32[?, 4] b) -> a + b", 2),
        ("(f32[?, ?] a, f32[1, ?!] b) -> a + b", 2),
        ("(f32[n, m] a, f32[?] x, f32[?] y) -> a * x + y", 7),
        ("(f32[?] a) -> a * 2", 1),
    ],
)
def test_facts_make_fewer(signature, count):
    text = text_of(signature, 1000)
    assert text.count("linalg.generic") == count
    assert text.count("scf.if") == count - 1
    assert "tensor.extract" not in text


def test_without_versions_the_text_is_as_it_was():
    kernel = bg.from_text("(f32[?] a, f32[?] b) -> a + b")
    assert kernel.to_mlir("linalg", versions=0) == kernel.to_mlir("linalg")
    assert "scf.if" not in kernel.to_mlir("linalg")


def test_many_questions_are_asked_at_once_only():
    operands = [f"x{at}" for at in range(9)]
    signature = f"({', '.join(f'f32[?, ?] {name}' for name in operands)}) -> {' + '.join(operands)}"
    assert maps_of(text_of(signature, 1000)) == [["(d0, d1)"] * 9, []]


def test_what_is_no_number_of_versions_is_refused():
    kernel = bg.from_text("(f32[?] a, f32[?] b) -> a + b")
    with pytest.raises(bg.BcastgenError, match="versions is -1, expected 0 or more"):
        kernel.to_mlir("linalg", versions=-1)
    with pytest.raises(bg.BcastgenError, match="versions are of linalg, and 'tosa' has none"):
        kernel.to_mlir("tosa", versions=1)


@needs_mlir
def test_a_version_that_nobody_stretches_in_is_a_named_op():
    text = checked_opt(text_of("(f32[?, ?] a, f32[?, ?] b) -> a + b", 2), "--linalg-specialize-generic-ops")
    assert "linalg.add ins" in text


@needs_mlir
def test_llvm_vectorises_every_version_and_not_the_form_for_any_call():
    signature = "(f32[?, ?] a, f32[?, ?] b) -> a + b * 2"

    def vectorised(versions):
        text = f"module attributes {{transform.with_named_sequence}} {{\n{text_of(signature, versions)}{VECTORIZE}}}"
        return run_opt(text, "--transform-interpreter")

    done = vectorised(9)
    assert done.returncode == 0, done.stderr
    body = done.stdout.split("transform.named_sequence")[0]
    assert "linalg.generic" not in body
    assert len(re.findall(r"arith\.addf .* : vector<4x8xf32>", body)) == 9
    assert "failed" in vectorised(0).stderr


@needs_mlir
def test_a_nest_that_facts_leave_one_version_of_fuses_with_what_makes_its_operands():
    caller = """
    func.func @g(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>) -> tensor<?x?xf32> {
      %e = math.exp %b : tensor<?x?xf32>
      %r = func.call @f(%a, %e) : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
      return %r : tensor<?x?xf32>
    }"""
    passes = """--inline --convert-elementwise-to-linalg --resolve-ranked-shaped-type-result-dims --canonicalize
                --linalg-fuse-elementwise-ops --symbol-dce"""
    for signature, left in (("(f32[n, m] a, f32[n, m] b)", 1), ("(f32[?, m] a, f32[?, m] b)", 4)):
        text = text_of(f"{signature} -> a + b * 2", 4).replace("func.func @f", "func.func private @f")
        assert checked_opt(text + caller, *passes.split()).count("linalg.generic") == left
