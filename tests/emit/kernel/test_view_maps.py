"""Views, facts and modes in standalone C, under sanitizers: values as NumPy's, refusals that touch nothing."""

from __future__ import annotations

import random

import numpy as np
import pytest

from bcastgen.core.c_flags import OPTIMISED
from bcastgen.expr.trace import Tracer, is_tracer
from bcastgen.expr.views import Collapse
from compile_flags import QUICK
from long_runs import many

F64 = np.dtype("f8")
NAMES = "ab"


def collapsed(value, dims):
    """The value without these dims, whose extents are 1."""
    if is_tracer(value):
        return Tracer(value.builder, value.builder.remap(value.node, Collapse(dims)))
    return np.squeeze(value, dims)


def moved(value, move, order, ones):
    """One step of a view, on a NumPy array or while tracing; `ones` says which of its dims are known to be 1."""
    if move == "T":
        return np.transpose(value), ones[::-1]
    if move == "new":
        return (value[None], [True, *ones]) if order[0] else (value[..., None], [*ones, True])
    if move == "order":
        order = [at for at in order if at < len(ones)]
        return np.transpose(value, order), [ones[at] for at in order]
    if move == "collapse":
        dims = tuple(at for at in order if at < len(ones) and ones[at])[: order[0] % 3]
        return collapsed(value, dims), [one for at, one in enumerate(ones) if at not in dims]
    return -value, ones


def composed(chance, ones):
    """Return a function of two arrays that looks at each through a few views, and at the first through two maps."""
    moves = ("T", "new", "order", "negative", "collapse")
    paths = [[(chance.choice(moves), chance.sample(range(8), 8)) for _ in range(3)] for _ in (*ones, 0)]

    def function(a, b):
        values = []
        for value, known, path in zip((a, b, a), (*ones, ones[0]), paths, strict=True):
            for move, order in path:
                value, known = moved(value, move, order, known)
            values.append(value)
        return values[0] + 2 * values[1] - values[2]

    return function


def programs(count, seed):
    """Yield a function, types, arrays that may or may not fit, and what NumPy makes of them (None: an error)."""
    chance = random.Random(seed)
    while count:
        ranks = [chance.randint(0, 3) for _ in NAMES]
        shapes = [tuple(chance.choice((1, 1, 2, 3)) for _ in range(rank)) for rank in ranks]
        ones = [[extent == 1 and chance.random() < 0.7 for extent in shape] for shape in shapes]
        function = composed(chance, ones)
        arrays = [np.arange(1.0, np.prod(shape, dtype=int) + 1).reshape(shape) for shape in shapes]
        try:
            expected = function(*arrays)
        except ValueError:
            expected = None
        if expected is None and chance.random() < 0.7:
            continue
        count -= 1
        types = [f"f64[{', '.join('1' if one else '?' for one in known)}]" for known in ones]
        yield function, types, arrays, expected


@pytest.fixture
def check(emit, build, new_case):
    def run(count, seed, directory, kind="gcc", optimise=QUICK):
        cases, wanted = [], []
        for at, (function, types, arrays, expected) in enumerate(programs(count, seed)):
            kernel = emit(f"v{at}", function, types, NAMES, variants=at % 3 or None)
            case = new_case(kernel)
            for array in arrays:
                case.array(np.array(array, order="F") if at % 2 else array)
            rank = kernel.shapes[0] or 0
            case.array(np.zeros((1,) * rank if expected is None else expected.shape))
            cases.append(case)
            wanted.append(expected)
        done = build([case.kernel for case in cases], directory, kind, optimise).run(*cases)
        for got, expected in zip(done, wanted, strict=True):
            shown = f"seed {seed}\n{got.case.kernel.compilation.program}\n{got.call}"
            if expected is None:
                assert got.call.status == "BROADCAST", shown
                assert got.untouched, shown
                continue
            assert got.call.status == "OK", shown
            assert (got.values(2, F64) == expected).all(), shown

    return run


def test_views_are_numpys_under_sanitizers(check, tmp_path):
    check(40, 0, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "optimise"), [("gcc", OPTIMISED), ("clang", QUICK), ("clang", OPTIMISED)])
def test_many_views_are_numpys_with_every_compiler(kind, optimise, check, tmp_path):
    check(many(30, 80), 1, tmp_path, kind, optimise)


def test_a_mapped_result_is_not_its_operand(emit, build, new_case, tmp_path):
    """An exact alias is refused where an element would be read after another has been written over it."""
    kernel = emit("flip", lambda a: a + a.T, ["f64[n, n]"], "a")
    text = kernel.text
    assert "r_is_a" not in text
    assert "if (!bcastgen_apart(&r_array, 8, a, 8)) return bcastgen_fail_overlap(why, " in text
    case = new_case(kernel)
    square = np.arange(9.0).reshape(3, 3)
    case.array(square)
    case.array(np.zeros((3, 3)))
    (got,) = build([kernel], tmp_path).run(case)
    assert got.call.status == "OK"
    assert (got.values(1, F64) == square + square.T).all()
