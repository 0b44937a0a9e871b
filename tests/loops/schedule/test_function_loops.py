"""Bodies are cut into loops between functions, and the loops compute what the body computes."""

from __future__ import annotations

import numpy as np
import pytest

from bcastgen.api.functions import from_text, jit
from bcastgen.loops.nest import Load
from bcastgen.loops.schedule.costs import costs_of
from bcastgen.loops.schedule.function_loops import function_loops


def loops_of(text):
    """The loops of an expression's one nest: for each the names of its ops, what it reads, and what it gives."""
    (nest,) = from_text(text).compilation.program.nests
    cut = function_loops(nest, frozenset(range(len(nest.body))), nest.stores, costs_of(nest))
    return [
        (
            " ".join(nest.body[at].op.name for at in sorted(loop.statements)),
            " ".join(nest.operands[v.access].name if isinstance(v, Load) else f"t{v.index}" for v in loop.reads),
            loop.gives,
        )
        for loop in cut
    ]


def test_functions_that_wait_for_each_other_have_loops_of_their_own():
    assert loops_of("(f32[*] x) -> x * tanh(log1p(exp(x)))") == [
        ("exp", "x", (0,)),
        ("log1p", "t0", (1,)),
        ("tanh multiply", "x t1", ()),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "(f32[*] x) -> exp(-x * x) + 1",
        "(f32[*] x, f32[*] y) -> exp(x) * log(y)",
        "(f64[*] x) -> sqrt(exp(x)) / 2",
        "(f32[*] x) -> exp(x)**3",
    ],
)
def test_functions_beside_each_other_and_cheap_ops_stay_in_one_loop(text):
    assert len(loops_of(text)) == 1


def test_what_is_cheap_is_computed_again_and_not_kept():
    (first, second) = loops_of("(f32[*] x, f32[*] y) -> log(exp(x - y) + 1) * (x - y)")
    assert first == ("subtract exp add", "x y", (2,))
    assert second == ("subtract log multiply", "x y t2", ())


def test_values_are_kept_for_all_later_loops():
    cut = loops_of("(f32[*] x) -> exp(x), log(exp(x) + 1), tanh(log(exp(x) + 1)) + exp(x)")
    assert [given for *_, given in cut] == [(0, 1), (2,), ()]
    assert cut[-1][1] == "t0 t2"


def test_too_many_values_to_keep_leave_a_body_whole():
    sums = " + ".join(f"log(exp(x * {k}) + {k})" for k in range(2, 7))
    assert len(loops_of(f"(f32[*] x) -> {sums}")) == 1
    assert len(loops_of("(f32[*] x) -> " + " + ".join(f"log(exp(x * {k}) + {k})" for k in range(2, 6)))) == 2


CHAINS = (
    lambda x, y: x * np.tanh(np.log1p(np.exp(x))) + y,
    lambda x, y: np.log(np.exp(x) + np.exp(y)),
    lambda x, y: (np.exp(x), np.log1p(np.exp(x)) * y),
    lambda x, y: np.where(np.log(np.exp(x) + 1) > y, np.cbrt(np.exp(x)), y),
    lambda x, y: np.power(np.exp(x * 0.1), 1.5) - y,
)


@pytest.mark.parametrize("place", range(len(CHAINS)))
@pytest.mark.parametrize("kind", ["f2", "f4", "f8"])
def test_loops_compute_what_one_op_after_the_other_does(place, kind):
    function = CHAINS[place]
    kernel = jit(function)
    rng = np.random.default_rng(place)
    for shape, other in (((1000,), (1000,)), ((3, 257), (3, 1)), ((2, 600), (600,)), ((5,), (5,)), ((40, 30), (1, 30))):
        x, y = (rng.normal(size=s).astype(kind) for s in (shape, other))
        got = kernel(x, y)
        # Point by point, so that each block has one point.
        wanted = [kernel(*point) for point in zip(np.ravel(x), np.ravel(np.broadcast_to(y, shape)), strict=True)]
        for at, one in enumerate(got if isinstance(got, tuple) else (got,)):
            points = [w[at] if isinstance(w, tuple) else w for w in wanted]
            np.testing.assert_array_equal(np.ravel(one), np.array(points, one.dtype))
    assert "_block[" in kernel.source


def test_a_result_may_be_the_operand_that_later_loops_read():
    kernel = jit(lambda x: x * np.tanh(np.log1p(np.exp(x))))
    x = np.random.default_rng(0).normal(size=5000)
    wanted = kernel(x)
    kernel(x, out=x)
    np.testing.assert_array_equal(x, wanted)
