"""Claims in standalone C, under sanitizers: the interpreter's verdict, and refusals that name the value."""

from __future__ import annotations

import numpy as np
import pytest

from bcastgen.core.c_flags import OPTIMISED
from bcastgen.expr.trace import trace
from claim_cases import CASES, Case
from compile_flags import QUICK

F32 = np.dtype("f4")


@pytest.fixture(scope="module")
def kernels(emit):
    names = "abc"
    return [
        emit(f"c{at}", case.expression, case.types, names, variants=at % 2 or None, result_types=case.results)
        for at, case in enumerate(CASES)
        if not case.options
    ]


@pytest.fixture
def check(kernels, build, new_case):
    def run(directory, kind="gcc", optimise=QUICK):
        cases, wanted = [], []
        programs = [case for case in CASES if not case.options]
        for kernel, program in zip(kernels, programs, strict=True):
            for shapes in program.shapes():
                expected = program.verdict(shapes)
                case = new_case(kernel)
                for shape in shapes:
                    case.array(np.ones(shape, np.float32))
                for at in range(len(kernel.results)):
                    rank = kernel.shapes[at] or 0
                    case.array(np.zeros((1,) * rank if expected is None else expected[at], np.float32))
                cases.append(case)
                wanted.append((program, shapes, expected))
        done = build(kernels, directory, kind, optimise).run(*cases)
        for got, (program, shapes, expected) in zip(done, wanted, strict=True):
            shown = (program.name, shapes, expected, got.shape, got.call)
            if expected is None:
                assert got.shape.status != "OK" and got.call.status != "OK", shown
                assert got.untouched, shown
                continue
            assert (got.shape.status, got.call.status) == ("OK", "OK"), shown
            assert got.extents == expected, shown

    return run


def test_verdicts_are_numpys_under_sanitizers(check, tmp_path):
    check(tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "optimise"), [("gcc", OPTIMISED), ("clang", QUICK), ("clang", OPTIMISED)])
def test_verdicts_are_numpys_with_every_compiler(kind, optimise, check, tmp_path):
    check(tmp_path, kind, optimise)


def test_kernels_with_claims_compile_without_warnings(kernels, together, compile_strictly, tmp_path):
    compile_strictly(together(kernels), tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "language"), [("gcc", "c++"), ("clang", "c"), ("clang", "c++")])
def test_kernels_with_claims_compile_everywhere(kind, language, kernels, together, compile_strictly, tmp_path):
    compile_strictly(together(kernels), tmp_path, kind, language)


def test_a_diagnostic_numbers_claims_after_results(emit, build, new_case, tmp_path):
    program = Case("", ("f32[?]",) * 3, lambda claim, a, b, c: claim(-claim(a + b, "f32[?]"), "f32[5]") * c)
    kernel = emit("numbered", program.expression, program.types, "abc")
    header = kernel.files["numbered.h"]
    assert "claim t1 : f32[5] ('%1')" in header
    assert "enum {NUMBERED_A, NUMBERED_B, NUMBERED_C, NUMBERED_R, NUMBERED_0, NUMBERED_1};" in header
    case = new_case(kernel)
    for extent in (1, 1, 5, 5):
        case.array(np.ones(extent, np.float32))
    (got,) = build([kernel], tmp_path).run(case)
    assert got.call.status == got.shape.status == "RESULT"
    assert got.call.facts == got.shape.facts == (5, 0, -1, 1, 5)
    assert got.untouched


def test_proved_claims_leave_no_trace_in_c(emit):
    types = ("f32[5]", "f32[?]", "f32[?]")
    claimed = Case("", types, lambda claim, a, b, c: claim(a + b, "f32[5]") * c).expression
    plain = trace(lambda a, b, c: (a + b) * c, "abc")
    code = [
        emit("same", expression, types, "abc").text.split("size_t same_message", 1)[0]
        for expression in (claimed, plain)
    ]
    assert code[0] == code[1]
