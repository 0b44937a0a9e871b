"""The product against the shape model: random kernels and calls, asked in every way there is, and cases of old.

`python tests/support/random_calls.py` does this for as many calls as one likes.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from compile_flags import QUICK
from long_runs import many
from random_calls import early
from shape_differences import answers, by_class, difference, drawn, found, reported
from shape_kernels import blanks, expected, make_calls, make_kernel
from shape_model import Refusal
from shape_model_blame import blame
from shape_model_cases import CASES
from shape_model_kernel import Kernel, text_of
from shape_model_text import parse_call, parse_kernel
from shape_sides import answered, compiled_calls, held

PER_MODULE = 40

# ---- the model itself ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("text", "call", "wanted"), CASES)
def test_the_model_says_what_a_case_does(text, call, wanted):
    kernel, call = parse_kernel(text), parse_call(call)
    results = expected(kernel, call)
    verdict, *named = wanted.split(" ") if wanted.startswith("refused") else [wanted]
    assert verdict == ("refused" if isinstance(results, Refusal) else ", ".join(str(one.shape) for one in results))
    if named:
        assert (named[0], int(named[1]) if named[1:] else None) in blame(kernel, blanks(call), dict(call.given))


@pytest.mark.parametrize("seed", range(3))
def test_without_declarations_the_model_is_numpy(seed, chance):
    """Operands of `f64[*]` and no explicit broadcasts: the expression, evaluated by NumPy."""
    chance.seed(seed)
    for _ in range(40):
        kernel = make_kernel(chance)
        kernel = Kernel(kernel.operands, kernel.results)
        if "broadcast" in str(kernel):
            continue
        for call in make_calls(chance, kernel, 10):
            call = replace(call, strict=())
            results = expected(kernel, call)
            scope = {op.name: np.ones(extents) for op, extents in zip(kernel.operands, call.extents, strict=True)}
            try:
                shapes = [np.shape(eval(text_of(one, quoted=True), {"np": np}, scope)) for one in kernel.results]
            except ValueError:
                assert isinstance(results, Refusal)
                continue
            # What NumPy takes, the declared types may not.
            assert isinstance(results, Refusal) or [one.shape for one in results] == shapes


def test_random_kernels_are_what_their_text_says(chance):
    for _ in range(25):
        kernel = make_kernel(chance)
        again = parse_kernel(str(kernel))
        for call in make_calls(chance, kernel, 10):
            assert parse_call(str(call)) == call
            one, other = expected(kernel, call), expected(again, call)
            assert type(one) is type(other)
            if not isinstance(one, Refusal):
                assert all(np.array_equal(x, y) for x, y in zip(one, other, strict=True))


def test_about_half_of_the_calls_are_legal(chance):
    legal = [
        not isinstance(expected(kernel, call), Refusal)
        for kernel in (make_kernel(chance) for _ in range(30))
        for call in make_calls(chance, kernel, 10)
    ]
    assert 0.35 < sum(legal) / len(legal) < 0.75


# ---- the product -----------------------------------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    """Loops are compiled as they stand: their speed is not looked at."""
    monkeypatch.setenv("BCASTGEN_CFLAGS", QUICK)


def test_cases(tmp_path):
    kernels, calls = [parse_kernel(text) for text, _, _ in CASES], [[parse_call(call)] for _, call, _ in CASES]
    compiled = compiled_calls(kernels, calls, tmp_path, variants=0)
    rows = [(*row, next(answers(*row, theirs))) for *row, theirs in zip(kernels, calls, compiled, strict=True)]
    differences = [one for kernel, (call,), said in rows if (one := difference(kernel, call, said))]
    assert not differences, "\n".join([f"{len(differences)} of {len(CASES)}:", *map(str, differences)])
    for (_, _, wanted), (*_, said) in zip(CASES, rows, strict=True):
        if wanted.startswith("refused "):
            array, *dim = wanted.split(" ")[1:]
            assert f"'{array}' {' '.join(['dim', *dim]) if dim else 'has rank'} " in said["kernel"]


def checked(seed, kernels, calls, directory):
    classes = by_class(found(seed, kernels, calls, directory))
    assert not classes, "\n\n".join(reported(same, directory, 25) for same in classes[:4])


@pytest.mark.parametrize("seed", range(8))
def test_random_kernels_do_what_the_model_says(seed, tmp_path):
    checked(seed, 8, 40, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 100 + many(2, 10)))
def test_many_random_kernels_do_what_the_model_says(seed, tmp_path):
    checked(seed, PER_MODULE, 250, tmp_path)


def test_what_is_refused_is_not_answered_before_the_compiler_is_done():
    kernel, calls = parse_kernel("(f64[n, ?] a, f64[n] b) -> a.T + b"), ("(2, 3), (2,)", "(2, 3), (1,)")
    with held():
        taken, refused = answered(kernel, list(map(parse_call, calls)))
    assert [one.shape for one in taken] == [(3, 2)]
    assert refused is None


@pytest.mark.parametrize("seed", range(200, 202))
def test_answers_before_the_compiler_is_done_are_the_models(seed, tmp_path):
    with held():
        made = [
            difference(kernel, call, {"background": answer}) for kernel, call, answer in early(*drawn(seed, 20, 30))
        ]
    differences = [one for one in made if one]
    # Not shrunk: a kernel answers in the background only once.
    assert not differences, "\n\n".join(map(str, sorted(differences, key=lambda one: len(str(one)))[:3]))
