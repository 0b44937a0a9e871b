"""Wrong calls of every form of C are answered as the contract says, and so are those just right: illegal_calls.py."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from bcastgen.api.functions import from_text
from bcastgen.emit.standalone import CForm
from c_harness import ADDRESS, Harness, emit_module
from compile_flags import QUICK
from contract_subjects import F4, SUBJECTS
from illegal_call_maker import Call, Calls, Given
from illegal_calls import BUILDS, FORMS, Forms, differences, drawn, fault
from long_runs import many


def test_a_sample_of_calls_under_sanitizers(tmp_path):
    forms = Forms(["variants0", "static"], tmp_path)
    calls = [*drawn(0, ["variants0", "static"], 1500), ("variants0", _one_result_without_elements())]
    figures, found = differences(forms, forms.build("gcc", (QUICK, *ADDRESS)), calls)
    assert not found, "\n\n".join(found[:5])
    # Most statuses come up, and calls that compute something.
    assert len({status for _, status in figures}) > 15
    assert figures["variants0", "OK"] > 300


def _one_result_without_elements():
    """A right call: NumPy has no array of the first operand's extents, and the other result has an element."""
    huge, one = [2**62, 0], [1]
    given = [Given(F4, at, 0, extents, [4] * len(extents), len(extents)) for at, extents in enumerate((huge, one) * 2)]
    return Call("nests", SUBJECTS["nests"], given, [bytearray(4) for _ in given], set())


@pytest.mark.slow
@pytest.mark.parametrize("kind, flags", BUILDS, ids=lambda part: part if isinstance(part, str) else " ".join(part[:2]))
def test_calls_of_every_form_in_every_build(kind, flags, tmp_path):
    forms = Forms(list(FORMS), tmp_path)
    _, found = differences(forms, forms.build(kind, flags), drawn(1, list(FORMS), many(2_000, 20_000)))
    assert not found, "\n\n".join(found[:5])


CHECK = re.compile(r"if \((.*)\) (?=return|status = )")


@pytest.mark.slow
def test_a_check_that_is_left_out_is_found(tmp_path):
    (kernel,) = emit_module([from_text(SUBJECTS["bias"].text, "bias")], "bias", CForm(0, single_file=True))
    calls, made, spared = Calls(3), [], []
    while len(made) < 1500:
        call = calls.call("bias", SUBJECTS["bias"], "any")
        made += [call] if call is not None else []
    # Slices of one array whose strides do not divide one another are rare among them.
    calls = Calls(5)
    while len(made) < 2500:
        call = calls.call("bias", SUBJECTS["bias"], "any")
        made += [call] if call is not None and "slices of one array" in str(call) else []
    checks = list(CHECK.finditer(kernel.text))
    assert len(checks) > 25
    for number, check in enumerate(checks):
        text = f"{kernel.text[: check.start()]}if (0 && ({check[1]})) {kernel.text[check.end() :]}"
        bad = replace(kernel, files=kernel.files | {"bias.c": text})
        directory = tmp_path / str(number)
        directory.mkdir()
        program = Harness([bad], directory).build("gcc", (QUICK, *ADDRESS), guarded=True)
        try:
            outcomes = program.run(*(call.case(bad) for call in made))
            found = any(map(fault, made, outcomes))
        except AssertionError:
            # A sanitizer, or a guard page, ended it.
            found = True
        spared += [] if found else [check[0]]
    assert not spared
