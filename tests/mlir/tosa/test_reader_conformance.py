"""The official TOSA conformance tests of every element-wise op: positives within the tool's bounds, negatives refused.

The seed is $BCASTGEN_TOSA_SEED; $BCASTGEN_TOSA_MOST limits the tests of a kind of error and of a rank and type: to 1,
but in a long run.
"""

from __future__ import annotations

import itertools
import os
import re
import zlib
from collections import Counter

import numpy as np
import pytest

import bcastgen
import conformance
from bcastgen.core.errors import BcastgenError, BroadcastError, DTypeError
from bcastgen.mlir.tosa.table import TOSA_OPS, TOSA_REDUCTIONS
from compile_flags import QUICK
from long_runs import many, some

TOOLS = conformance.Tools.find()
SEED = int(os.environ.get("BCASTGEN_TOSA_SEED", "1"))
MOST = int(os.environ.get("BCASTGEN_TOSA_MOST", many(1, 0))) or None
ROWS = (*TOSA_OPS, *TOSA_REDUCTIONS)
OPS = [op.name for op in ROWS]
# Whose tests are generated: in a long run all.
GENERATED = some(OPS, 20)

pytestmark = [pytest.mark.slow, pytest.mark.skipif(TOOLS is None, reason=conformance.MISSING)]

# Kinds of errors that are none here: reductions of more than TOSA's 6 dims.
ACCEPTED = {"WrongRank"}
# What an error of a kind is, and what its message has to speak of.
KINDS = {
    "BroadcastShapesMismatch": (BroadcastError, r"extents? \d+"),
    "DimensionMismatch": (BroadcastError, r"extents? \d+"),
    "RankMismatch": (BroadcastError, r"\brank\b"),
    "InputRank1WrongRank": (BroadcastError, r"shift .* expected tensor<1xi8>"),
    "MaxSmallerMin": (BcastgenError, r"min_val.*max_val|max_val.*min_val"),
    "InputZeroPointNotZero": (BcastgenError, r"zero point|zp"),
    "OutputZeroPointNotZero": (BcastgenError, r"zero point|zp"),
    "AxisSmallerZero": (BroadcastError, r"axis -?\d+ is out of range"),
    "AxisLargerRank": (BroadcastError, r"axis \d+ is out of range"),
    "ShapeOfAxisNotOne": (BroadcastError, r"extent \d+, expected 1"),
    "ArgmaxOutputRankMismatch": (BroadcastError, r"\brank\b"),
    "ArgmaxOutputShapeMismatch": (BroadcastError, r"extents? \d+"),
    "WrongInputList": (BcastgenError, r"operand"),
    "WrongOutputList": (BcastgenError, r"result"),
}


def located(error, at):
    """Whether a message starts with its place and what stands there, and shows the source line with a caret."""
    head, *below = str(error).split("\n")
    return re.match(rf"<mlir>:\d+:\d+: error: {at}", head) and len(below) == 2 and below[1].strip() == "^"


def refusal_fault(types, text):
    """What is wrong with how a text of an unsupported type is refused."""
    try:
        bcastgen.from_mlir(text)
    except DTypeError as error:
        return None if any(name in str(error) for name in types) else f"names none of {types}: {error}"
    return f"a text of {types} was accepted"


def positive_fault(op, case):
    """What is wrong with our result; None if nothing is."""
    # Half of the tests in the generic form.
    text = case.text(generic=zlib.crc32(case.name.encode()) % 2 == 1)
    if types := conformance.unsupported_types(text):
        return refusal_fault(types, text)
    kernel = bcastgen.from_mlir(text, strict_types=True)
    reference = case.reference()
    result = kernel(*case.operands())
    if result.shape != reference.shape:
        return f"shape {result.shape}, not {reference.shape}"
    return None if case.complies(result) else f"non-compliant: {first_differences(result, reference)}"


def first_differences(result, reference):
    """A few places where a result is not what the reference rounds to."""
    with np.errstate(all="ignore"):
        wanted = reference.astype(result.dtype)
    same = (result == wanted) | ((result != result) & (wanted != wanted))
    return [(at, result.flat[at], reference.flat[at]) for at in np.flatnonzero(~np.atleast_1d(same))[:3]]


def negative_fault(op, case):
    """What is wrong with how an invalid program is refused; None if nothing is."""
    if case.error in ACCEPTED:
        return None
    text = case.text(generic=True)
    error_class, words = KINDS[case.error]
    at = rf"'tosa\.{op}' op"
    if conformance.unsupported_types(text):
        # What is said first, the number of operands or a type, and whether of the op or of the function, is open.
        error_class, words, at = BcastgenError, "", ""
    try:
        bcastgen.from_mlir(text)
    except BcastgenError as error:
        if not isinstance(error, error_class):
            return f"{type(error).__name__}, not {error_class.__name__}: {error}"
        if not located(error, at):
            return f"is not located at {at or 'a place'}: {error}"
        return None if re.search(words, str(error).split("\n")[0]) else f"does not say {words}: {error}"
    return "was accepted"


def run(op, negative, judge, tmp_path):
    faults, counts = [], Counter()
    for case in TOOLS.generate(op, SEED, negative, tmp_path, MOST):
        counts[case.error or "positive"] += 1
        try:
            fault = judge(op, case)
        except Exception as error:  # one fault must not hide the others
            fault = f"{type(error).__name__}: {error}"
        if fault:
            faults.append(f"{case.name}: {fault}")
        case.clear()
    print(op, dict(counts))
    assert counts, "the generator made no test"
    assert not faults, "\n".join([f"{len(faults)} of {counts.total()} with seed {SEED}:", *faults[:20]])


@pytest.mark.parametrize("op", GENERATED)
def test_results_comply(op, tmp_path, monkeypatch):
    # Each test has extents of its own, and so a binary; what an optimiser makes of rows is the subject of others.
    monkeypatch.setenv("BCASTGEN_CFLAGS", QUICK)
    run(op, False, positive_fault, tmp_path)


# Told to choose few of its arguments, the generator makes no errors of argmax; test_reductions.py has some.
@pytest.mark.parametrize("op", [op for op in GENERATED if op != "argmax"])
def test_errors_are_found(op, tmp_path):
    run(op, True, negative_fault, tmp_path)


ELEMENTS = "i1 i8 i16 i32 i64 f16 bf16 f32".split()
TARGET = (
    "--tosa-attach-target=specification_version=1.1.draft profiles=pro_int,pro_fp extensions=int16,int64,bf16,dynamic"
)
ATTRIBUTES = {"arithmetic_right_shift": " <{round = false}>"}


def one_op(op, operands, result):
    """A function of one op on elements of these types."""
    names = [f"%{at}" for at in range(len(operands))]
    types = [f"tensor<2x{element}>" for element in operands]
    attributes = ATTRIBUTES.get(op.name, "")
    shape = "2x"
    if op in TOSA_REDUCTIONS:
        attributes, shape = " <{axis = 0 : i32}>", "" if op.name == "argmax" else "1x"
    if op.name == "clamp":
        low, high = ("0.0", "1.0") if "f" in operands[0] else ("0", "1")
        attributes = f" <{{min_val = {low} : {operands[0]}, max_val = {high} : {operands[0]}}}>"
    lines = []
    for extra in op.extra:
        element = "i8" if extra == "shift" else operands[0]
        zero = "0.0" if "f" in element else "false" if element == "i1" else "0"
        lines.append(f'%{extra} = "tosa.const"() <{{values = dense<{zero}> : tensor<1x{element}>}}> : () -> ')
        lines[-1] += f"tensor<1x{element}>"
        names.append(f"%{extra}")
        types.append(f"tensor<1x{element}>")
    given = ", ".join(f"%{at}: {types[at]}" for at in range(len(operands)))
    call = f'%r = "tosa.{op.name}"({", ".join(names)}){attributes} : ({", ".join(types)}) -> tensor<{shape}{result}>'
    body = "\n".join([*lines, call, f"return %r : tensor<{shape}{result}>"])
    return f"func.func @f({given}) -> tensor<{shape}{result}> {{\n{body}\n}}\n"


def combinations(op, random):
    """Operands of one type with every result's, and some of mixed types."""
    selected = ["i1"] if op.name == "select" else []
    for element, result in itertools.product(ELEMENTS, ELEMENTS):
        yield [*selected, *[element] * (op.arity - len(selected))], result
    for _ in range(20):
        yield random.choice(ELEMENTS, op.arity).tolist(), str(random.choice(ELEMENTS))


@pytest.mark.parametrize("op", ROWS, ids=OPS)
def test_element_types_are_the_official_validator_s(op, tmp_path):
    """What strict types accept is what tosa-opt validates against the specification's tables."""
    tried = list(combinations(op, np.random.default_rng(SEED)))
    texts = [one_op(op, *types) for types in tried]
    source = tmp_path / "types.mlir"
    source.write_text("// -----\n".join(texts))
    validate = "--tosa-validate=strict-op-spec-alignment"
    done = TOOLS.run("tosa-opt", source, "--split-input-file", TARGET, validate)
    starts = list(itertools.accumulate((text.count("\n") + 1 for text in texts), initial=1))
    lines = {int(line) for line in re.findall(r"types\.mlir:(\d+):\d+: error:", done.stderr)}
    official = [not lines.intersection(range(start, end)) for start, end in itertools.pairwise(starts)]
    ours = []
    for text in texts:
        try:
            bcastgen.from_mlir(text, strict_types=True)
        except DTypeError:
            ours.append(False)
        else:
            ours.append(True)
    wrong = [
        (types, "valid" if valid else "invalid")
        for types, valid, mine in zip(tried, official, ours, strict=True)
        if valid is not mine
    ]
    assert any(official) and not all(official)
    assert not wrong, wrong


@pytest.mark.parametrize("op", ["add", "erf", "equal", "bitwise_and"])
def test_the_check_can_tell(op, tmp_path):
    """The reference model's own results comply, and with one value wrong they do not."""
    checked = 0
    for case in TOOLS.generate(op, SEED, False, tmp_path, most=1):
        if conformance.unsupported_types(case.text()):
            continue
        result = case.reference(precise=False)
        case.reference()
        assert case.complies(result), case.name
        wrong = result.copy()
        last = wrong.reshape(-1)[-1:]
        last[:] = last == 0 if result.dtype.kind in "bi" else np.where(np.abs(last) < 0.5, 2.0, 0.0)
        assert not case.complies(wrong), case.name
        checked += 1
    assert checked >= 5
