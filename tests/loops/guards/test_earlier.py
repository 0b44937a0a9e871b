"""bcastgen/loops/guards/earlier.py: what earlier nests check is not checked again, and the solver agrees."""

import random

import numpy as np
import pytest

import bcastgen as bg
from bcastgen.loops.guards.listing import chains, unproved
from bcastgen.loops.guards.replay import Chain
from symbolic_proofs import hold

CLAIM = """func.func @f(%a: tensor<?xf32>, %b: tensor<?xf32>, %c: tensor<?xf32>) -> tensor<5xf32> {
  %mid = tosa.add %a, %b : (tensor<?xf32>, tensor<?xf32>) -> tensor<5xf32>
  %r = tosa.add %mid, %c : (tensor<5xf32>, tensor<?xf32>) -> tensor<5xf32>
  return %r : tensor<5xf32>
}"""


def test_a_claim_reaches_the_nests_behind_it():
    kernel = bg.from_mlir(CLAIM)
    constraints = dict(line.split(": ", 1) for line in kernel.stages["constraints"].splitlines())
    assert constraints["%mid.0 = 5 = d0"].startswith("checked")
    assert constraints["r.0 = 5 = d0"].startswith("proved, %mid.0 = 5 = d0, ")
    program = kernel.compilation.program
    assert program.guards.checked(0)[-1] == "%mid.0 = 5 = d0" and "r.0 = 5 = d0" not in program.guards.checked(1)
    hold(program)
    assert not unproved(program)
    assert any(isinstance(one, Chain) and one.nest == 1 and one.premises[0].nest == 0 for one in chains(program))


def test_the_claim_is_what_an_error_names():
    kernel = bg.from_mlir(CLAIM)
    five, four, one = (np.ones(extent, np.float32) for extent in (5, 4, 1))
    assert kernel(five, one, one).shape == kernel.result_shape((1,), (5,), (5,)) == (5,)
    with pytest.raises(bg.BroadcastError, match=r"%mid.* dim 0 .*5"):
        kernel(four, one, one)
    with pytest.raises(bg.BroadcastError, match=r"operand 'c' dim 0 has extent 4, expected 1 or 5"):
        kernel(five, one, four)


def test_operands_that_an_earlier_nest_compared_are_not_compared_again():
    program = bg.from_text("(f32[?, ?] a, f32[?, ?] b, f32[?, ?] c) -> (a + b + c, a + b)").compilation.program
    assert not [text for text in program.guards.checked(1) if "{1," in text]
    hold(program)
    hold(bg.from_text("(f32[?] a, f32[?] b, f32[?] c) -> (a + b, a + b + c)").compilation.program)


def test_a_check_that_only_its_own_nest_or_a_later_one_implies_stays():
    later = bg.from_text("(f32[?] a, f32[?] b, f32[?] c) -> (a + b, a + b + c)").compilation.program
    first, second = ([text for text in later.guards.checked(at) if "{1," in text] for at in (0, 1))
    assert first == ["a.0 in {1, d0}", "b.0 in {1, d0}"] and second == [*first, "c.0 in {1, d0}"]


def drawn(chance):
    """Return a kernel of several nests, whose results declare extents."""
    rank, names = chance.choice((1, 2)), "abc"
    operands = [", ".join(chance.choice(["?", "?", "n", "m!", "1", "n>=2"]) for _ in range(rank)) for _ in names]
    results = [chance.sample(names, chance.randint(1, 3)) for _ in range(chance.choice((2, 3)))]
    types = [", ".join(chance.choice(["?", "?", "4", "n", "3"]) for _ in range(rank)) for _ in results]
    signature = f"({', '.join(f'f32[{t}] {name}' for t, name in zip(operands, names, strict=True))})"
    bodies = [" + ".join(read) + f" + {at}" for at, read in enumerate(results)]
    return f"{signature} -> ({', '.join(f'f32[{t}]' for t in types)})", f"lambda a, b, c: ({', '.join(bodies)})"


@pytest.mark.parametrize("seed", range(2))
def test_random_kernels_of_several_nests_ask_neither_more_nor_less(seed):
    chance, dropped = random.Random(seed), 0
    for _ in range(14):
        signature, body = drawn(chance)
        try:
            program = bg.jit(eval(body), signature=signature).compilation.program
        except bg.BroadcastError:
            continue
        hold(program)
        assert not unproved(program), (signature, body)
        dropped += sum(
            isinstance(one, Chain) and any(premise.nest < one.nest for premise in one.premises)
            for one in chains(program)
        )
    assert dropped
