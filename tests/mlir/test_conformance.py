"""The official TOSA conformance tests of every element-wise op: positives within the tool's bounds, negatives refused.

The seed is $BCASTGEN_TOSA_SEED; $BCASTGEN_TOSA_MOST limits the tests of a kind of error and of a rank and type.
"""

from __future__ import annotations

import importlib.util
import os
import re
import sys
import zlib
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import bcastgen
from bcastgen.errors import BcastgenError, BroadcastError, DTypeError
from bcastgen.mlir.tosa_table import TOSA_OPS

_spec = importlib.util.spec_from_file_location("conformance", Path(__file__).with_name("conformance.py"))
conformance = sys.modules.get("conformance") or importlib.util.module_from_spec(_spec)
if "conformance" not in sys.modules:
    sys.modules["conformance"] = conformance
    _spec.loader.exec_module(conformance)

TOOLS = conformance.Tools.find()
SEED = int(os.environ.get("BCASTGEN_TOSA_SEED", "1"))
MOST = int(os.environ.get("BCASTGEN_TOSA_MOST", "0")) or None
OPS = [op.name for op in TOSA_OPS]

pytestmark = [pytest.mark.slow, pytest.mark.skipif(TOOLS is None, reason=conformance.MISSING)]

# What an error of a kind is, and what its message has to speak of.
KINDS = {
    "BroadcastShapesMismatch": (BroadcastError, r"extents? \d+"),
    "DimensionMismatch": (BroadcastError, r"extents? \d+"),
    "RankMismatch": (BroadcastError, r"\brank\b"),
    "InputRank1WrongRank": (BroadcastError, r"shift .* expected tensor<1xi8>"),
    "MaxSmallerMin": (BcastgenError, r"min_val.*max_val|max_val.*min_val"),
    "InputZeroPointNotZero": (BcastgenError, r"zero point|zp"),
    "OutputZeroPointNotZero": (BcastgenError, r"zero point|zp"),
    "WrongInputList": (BcastgenError, r"operand"),
    "WrongOutputList": (BcastgenError, r"result"),
}


def located(error, op):
    """Whether a message starts with its place and names the op, and shows the source line with a caret."""
    head, *below = str(error).split("\n")
    return re.match(rf"<mlir>:\d+:\d+: error: 'tosa\.{op}' op ", head) and len(below) == 2 and below[1].strip() == "^"


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
    reference = case.reference()
    result = bcastgen.from_mlir(text)(*case.operands())
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
    text = case.text(generic=True)
    error_class, words = KINDS[case.error]
    if conformance.unsupported_types(text):
        error_class, words = BcastgenError, ""
    try:
        bcastgen.from_mlir(text)
    except BcastgenError as error:
        if not isinstance(error, error_class):
            return f"{type(error).__name__}, not {error_class.__name__}: {error}"
        if not located(error, op):
            return f"is not located at the op: {error}"
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


@pytest.mark.parametrize("op", OPS)
def test_results_comply(op, tmp_path):
    run(op, False, positive_fault, tmp_path)


@pytest.mark.parametrize("op", OPS)
def test_errors_are_found(op, tmp_path):
    run(op, True, negative_fault, tmp_path)


@pytest.mark.parametrize("op", ["add", "cast", "erf", "equal"])
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
