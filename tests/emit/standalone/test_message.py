"""Message functions of emitted C say the sentences that Python raises, for every status that a call returns."""

from __future__ import annotations

import re
from itertools import product

import numpy as np
import pytest

import bcastgen as bg
from bcastgen.core.errors import from_status, statuses
from bcastgen.emit.standalone.message import constants
from c_module import Diagnostic, Module

# SIZES and MAPPED have words of shape functions (test_module_sized.py); reductions, which EMPTY is of, have no C alone.
STATUSES = {value: row for value, row in statuses().items() if row[0] not in ("SIZES", "MAPPED", "EMPTY")}
NUMBERS = {name: value for value, (name, _) in STATUSES.items()}
CLAIMS = """
func.func @claims(%a: tensor<?xf32>, %b: tensor<?xf32>, %c: tensor<?xf32>) -> tensor<?xf32> {
  %0 = tosa.add %a, %b : (tensor<?xf32>, tensor<?xf32>) -> tensor<5xf32>
  %1 = tosa.sub %0, %c : (tensor<5xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %1 : tensor<?xf32>
}"""


@bg.vectorize(max_iterations=3)
def _halved(n):
    while n > 1:
        n = n // 2
    return n


KERNELS = {
    "plain": bg.from_text("(f32[?,?] a, f32[?,?] b) -> a + b*2"),
    "fixed": bg.from_text("(f32[3] a, f32[n] b, f32[n] c) -> a + b * c"),
    "facts": bg.from_text("(f32[n>=2<=8%2] a) -> -a"),
    "strict": bg.from_text("(f32[?] a, f32[?] b) -> a - b", dynamic="strict"),
    "power": bg.from_text("(i32[?] base, i32[?] exponent) -> base ** exponent"),
    "halved": bg.jit(lambda n: _halved(n), signature="(i32[?] n)", name="halved"),
    "wild": bg.from_text("(f32[*,2] größe, f32[*] v_for) -> größe - v_for"),
    "deep": bg.jit(lambda a: -a, signature="(f32[*] a) -> f32[*,?,?]"),
    "two": bg.jit(lambda a, b: (a + b, a - b), signature="(f32[?] a, f32[?] b)"),
    "claims": bg.from_mlir(CLAIMS),
    "computed": bg.jit(
        lambda a, b, c: (b * 2, c + 1), signature="(f32[n, ?] a, f32[?] b, f32[3*n*n - 1] c) -> (f32[n*n], f32[?])"
    ),
    "given": bg.jit(
        lambda x, b: bg.broadcast_in_dim(x, (None, "k"), dims=(0,)) + b, signature="(f32[?] x, f32[?, ?] b)"
    ),
}


def zeros(*shape, dtype="f4"):
    return np.zeros(shape, dtype)


# What Python refuses, too: a kernel, its operands, and the results if the refusal is about these.
REFUSED = [
    ("RANK", "plain", [zeros(3), zeros(2, 3)], None),
    ("RANK", "plain", [zeros(2, 3), zeros(2, 2, 2)], None),
    ("RANK_AT_LEAST", "wild", [zeros(), zeros(2)], None),
    ("BROADCAST", "plain", [zeros(2, 3), zeros(4, 3)], None),
    ("BROADCAST", "plain", [zeros(2, 3), zeros(2, 2)], None),
    ("BROADCAST", "wild", [zeros(4, 2), zeros(3, 1)], None),
    ("EXTENT", "fixed", [zeros(4), zeros(3), zeros(3)], None),
    ("EXTENT", "fixed", [zeros(3), zeros(1), zeros(3)], None),
    ("AT_LEAST", "facts", [zeros(0)], None),
    ("AT_MOST", "facts", [zeros(10)], None),
    ("MULTIPLE", "facts", [zeros(3)], None),
    ("STRICT", "strict", [zeros(3), zeros(1)], None),
    ("DOMAIN", "power", [zeros(2, dtype="i4"), np.array([1, -1], "i4")], [zeros(2, dtype="i4")]),
    ("ENDLESS", "halved", [np.array([7, 200], "i4")], [zeros(2, dtype="i4")]),
    ("RESULT_RANK_AT_LEAST", "deep", [zeros(3)], None),
    ("RESULT", "plain", [zeros(2, 3), zeros(1, 3)], [zeros(3, 3)]),
    ("RESULT", "plain", [zeros(1, 1), zeros(1, 1)], [zeros(1, 2)]),
    ("RESULT", "two", [zeros(2), zeros(1)], [zeros(2), zeros(3)]),
    ("RESULT", "claims", [zeros(1), zeros(1), zeros(5)], None),
    ("COMPUTED", "computed", [zeros(2, 1), zeros(4), zeros(6)], None),
    ("COMPUTED", "computed", [zeros(0, 1), zeros(0), zeros(0)], None),
    ("RESULT_COMPUTED", "computed", [zeros(3, 0), zeros(8), zeros(26)], None),
    ("UNCOUNTABLE", "computed", [zeros(2**32, 0), zeros(8), zeros(8)], None),
    ("BROADCAST", "given", [zeros(2), zeros(2, 4), 3], None),
    ("BROADCAST", "given", [zeros(3), zeros(2, 3), 3], None),
    ("RESULT_RANK", "plain", [zeros(2, 3), zeros(1, 3)], [zeros(3)]),
]


@pytest.fixture(scope="module")
def module(tmp_path_factory):
    return Module(KERNELS, tmp_path_factory.mktemp("several"), "ops")


@pytest.mark.parametrize(("status", "name", "operands", "results"), REFUSED)
def test_a_message_is_what_python_raises(status, name, operands, results, module):
    kernel = KERNELS[name]
    out = (
        {}
        if results is None or status in ("DOMAIN", "ENDLESS")
        else {"out": tuple(results) if len(results) > 1 else results[0]}
    )
    slots = getattr(kernel, "slots", ())
    if slots:
        out["extents"] = {"k": operands[-1]}
    with pytest.raises(bg.BcastgenError) as raised:
        kernel(*operands[: len(operands) - len(slots)], **out)
    made = results or [zeros(*[9] * 2)] * len(kernel.results)
    got, why = module.call(name, *operands, *made)
    assert got == NUMBERS[status]
    said = raised.value.sentence
    if kernel.provenance is not None:
        # Python says beside it where in the text the op is, and shows the line.
        place = re.match(r"<mlir>:\d+:\d+: error: '\w+\.\w+' op ", said)
        assert place is not None, said
        said = said.removeprefix(place[0]).splitlines()[0]
    assert module.say(name, got, why) == (said, len(said.encode()))


def test_every_status_is_told_as_python_tells_it(module):
    """Those that only C returns, and every name of every kernel."""
    memory = (
        "NULL_DATA NULL_EXTENTS NULL_STRIDES ALIGNMENT STRIDE SPAN OVERFLOW OVERLAP REPEATS ROW_DATA ROW_STRIDE".split()
    )
    assert {row[0] for row in REFUSED} | {"OK", "NEGATIVE", "RANK_AT_MOST", *memory} == set(NUMBERS)
    for name, kernel in KERNELS.items():
        names = (*kernel.operands, *kernel.results, *(claim.name for claim in kernel.expression.type_assertions))
        names, slots = (*names, *kernel._computed_texts), getattr(kernel, "slots", ())
        for value in NUMBERS.values():
            for operand in range(-1, len(names)):
                for against, expected in product(((operand + 1) % len(names), -1), (-(2**63), 1)):
                    why = Diagnostic(operand, 1, against, expected, 2**63 - 1)
                    if "{against}" in statuses()[value][1] and against < 0:
                        continue
                    said = "no error" if value == 0 else str(from_status(value, names, *why.facts, slots))
                    assert module.say(name, value, why)[0] == said


def test_a_text_that_does_not_fit_is_cut(module):
    why = Diagnostic(0, -1, -1, 2, -17)
    whole, length = module.say("plain", NUMBERS["RANK"], why)
    assert whole == "operand 'a' has rank -17, expected 2"
    for size in range(length + 2):
        assert module.say("plain", NUMBERS["RANK"], why, size) == (whole[: max(size - 1, 0)], length)


def test_without_a_diagnostic_sentences_have_no_names_and_numbers(module):
    for kernel in ("plain", "claims"):
        for value, (name, sentence) in STATUSES.items():
            words = sentence.replace("{subject}", "operand '?' dim ? has extent").replace("{origin}", "")
            words = re.sub(r"{\w+}", "?", words.replace("{or_one}", "1 or "))
            assert module.say(kernel, value, None) == (words, len(words.encode())), name


def test_strange_statuses_and_numbers_are_told_all_the_same(module):
    assert module.say("plain", 77, None)[0] == "unknown status"
    assert module.say("plain", NUMBERS["OK"], None)[0] == "no error"
    for number in (7, 2**31 - 1, -(2**31)):
        why = Diagnostic(number, 0, number, 0, 0)
        assert module.say("plain", NUMBERS["BROADCAST"], why)[0].startswith("operand '?' dim 0")


def test_a_kernel_alone_has_a_message_of_its_own(tmp_path):
    alone = Module({"plain": KERNELS["plain"]}, tmp_path, "plain")
    got, why = alone.call("plain", zeros(2, 3), zeros(4, 3), zeros(1, 1))
    assert alone.say("plain", got, why)[0] == "operand 'b' dim 0 has extent 4, expected 1 or 2 (from 'a')"


def test_a_header_lists_what_its_calls_return(tmp_path):
    def listed(name):
        listed = re.search(r"/\* Statuses, (.*?)\*/", KERNELS[name].emit_c(tmp_path, name)[1].read_text(), re.DOTALL)[1]
        return set(re.findall(r"\bBCASTGEN_(\w+)", listed))

    memory = set("NULL_DATA NULL_EXTENTS NULL_STRIDES ALIGNMENT STRIDE SPAN REPEATS OVERLAP".split())
    always = {"OK", "RANK", "RESULT", "RESULT_RANK", *memory}
    assert listed("plain") == always | {"NEGATIVE", "BROADCAST", "OVERFLOW"}
    assert listed("facts") == always | {"AT_LEAST", "AT_MOST", "MULTIPLE", "OVERFLOW"}
    assert "DOMAIN" in listed("power")


def test_every_status_says_what_to_do():
    """A cure is in the sentence itself, behind a semicolon, or beside it in the header; an op has its own."""
    for name, value in ((name, value) for value, (name, _) in statuses().items()):
        if name not in ("OK", "SIZES", "MAPPED") and not name.startswith("SHAPE_"):
            assert ";" in constants(((name, value),), "K"), name
