"""bcastgen/loops/guards/earlier.py: what earlier nests check is not checked again, and the solver agrees."""

import itertools
import random
from dataclasses import replace

import numpy as np
import pytest

import bcastgen as bg
from bcastgen.loops.guard_program.interpret import Failure, run_guards
from bcastgen.loops.guard_program.ir import MeetFront, Own, Widen
from bcastgen.loops.guards.listing import chains, unproved
from bcastgen.loops.guards.replay import Chain
from bcastgen.loops.guards.verify import unguarded
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


# ---- operands of unknown rank


def program_of(operands, results, *bodies):
    function = eval(f"lambda a, b, c: ({', '.join(bodies)})")
    types = zip(operands, "abc", strict=True)
    text = f"({', '.join(f'f64[{dims}] {name}' for dims, name in types)}) -> "
    return bg.jit(function, signature=text + f"({', '.join(f'f64[{dims}]' for dims in results)})").compilation.program


def without_proved(guards, shapes):
    """Return the guards for operands of these extents, whose fronts are only compared where a step asks that."""

    def asked(step):
        if not isinstance(step, MeetFront) or step.says:
            return (step,)
        front = range(step.known + 1, len(shapes[step.operand]) + 1)
        return tuple(Widen(Own(step.operand, -number), -number) for number in front)

    nests = (replace(nest, steps=tuple(new for step in nest.steps for new in asked(step))) for nest in guards.nests)
    return replace(guards, nests=tuple(nests))


def falsely_proved(program):
    """Return the operands' extents that no step refuses but one whose constraint is called proved."""
    small = [shape for rank in range(4) for shape in itertools.product((1, 2, 3), repeat=min(rank, 2))]
    small += [(2, 1, 1), (3, 1, 1), (1, 2, 1), (1, 3, 1)]
    choices = [
        [shape for shape in dict.fromkeys(small) if type_.unranked or len(shape) == len(type_.dims)]
        for _, type_ in program.operands
    ]
    found = []
    for shapes in itertools.product(*choices):
        failure = run_guards(program.guards, shapes)
        if isinstance(failure, Failure) and not failure.says:
            left = run_guards(without_proved(program.guards, shapes), shapes)
            found += [] if isinstance(left, Failure) else [(shapes, failure)]
    return found


# The operands' dims, the declared ones of the results, and whether the last nest still asks that its operands fit.
FRONTS = [
    # Earlier nests say something of the last dim, or of the last two, and nothing of those in front.
    (("*, ?", "", "*, ?"), ("*, 1", "*, 1", "*"), ("a * 2 + b", "c * 2", "a + c"), True),
    (("*", "", "*"), ("*, 1", "*, 1", "*"), ("a * 2 + b", "c * 2", "a + c"), True),
    (("*", "", "*"), ("*, 1, 1", "*, 1, 1", "*"), ("a * 2 + b", "c * 2", "a + c"), True),
    # An earlier nest compares all of their dims.
    (("*, ?", "?~", "*"), ("*", "*"), ("c * b * a", "a - c"), False),
    (("*, ?, ?<=3", "?", "*"), ("?, 1, ?, ?", "*, 1, ?, ?"), ("c * b * a", "a - c"), False),
]


@pytest.mark.parametrize(("operands", "results", "bodies", "is_asked"), FRONTS)
def test_the_dims_in_front_are_not_proved_by_what_is_said_of_the_last_ones(operands, results, bodies, is_asked):
    program = program_of(operands, results, *bodies)
    last = len(program.nests) - 1
    assert any("{1, d*}" in text for text in program.guards.checked(last)) is is_asked
    assert not unproved(program)
    assert not unguarded(program)
    assert not falsely_proved(program)


def test_a_shape_function_asks_that_dims_in_front_fit():
    text = "(f64[*, ?] a, f64[*, ?] c) -> (f64[*, 1], f64[*, 1], f64[*])"
    kernel = bg.jit(lambda a, c: (a * 2, c * 2, a + c), signature=text)
    assert "shape.cstr_broadcastable %a, %c" in str(kernel.shape_function)


@pytest.mark.parametrize("seed", range(2))
def test_random_kernels_of_unknown_ranks_call_nothing_proved_that_may_fail(seed):
    chance, seen = random.Random(seed), 0
    while seen < 12:
        operands = [chance.choice(("*", "*, ?", "*, n", "*, 1", "?", "*, ?, ?")) for _ in "abc"]
        # The first results read one or two operands, the last all that they read.
        read = [chance.sample("abc", chance.choice((1, 1, 2))) for _ in range(2)]
        read.append(sorted({*read[0], *read[1]}))
        results = [chance.choice(("*", "*, 1", "*, ?", "*, 1, 1", "?, ?", "*, n", "1, 1")) for _ in read]
        bodies = [" + ".join(names) + f" + {at}" for at, names in enumerate(read)]
        try:
            program = program_of(operands, results, *bodies)
        except bg.BcastgenError as error:
            assert "internal" not in str(error)
            continue
        seen += 1
        assert not unproved(program), (operands, results, bodies)
        assert not unguarded(program), (operands, results, bodies)
        assert not falsely_proved(program), (operands, results, bodies)


# ---- what reductions give


REDUCED = [
    "(f64[?, ?] x) -> x - mean(x, axis=1, keepdims=True)",
    "(f64[?, ?] x) -> x - mean(x, axis=0)",
    "(f64[n, m] x, f64[n] y) -> y * sum(x, axis=1)",
    "(f64[4, ?] x) -> x - mean(x, axis=1, keepdims=True)",
    "(f64[?, ?, 3] x, f64[?] g) -> (x - mean(x, axis=2, keepdims=True)) / var(x, axis=2, keepdims=True) * g",
    "(f64[?, ?] x, f64[?, ?] y) -> sum(x + y, axis=0) + sum(x * y, axis=0), max(sum(x, axis=1))",
    "(f64[?] x) -> x - max(x)",
]


@pytest.mark.parametrize("text", REDUCED)
def test_the_shape_of_what_a_reduction_gives_is_not_checked_where_its_nest_says_it(text):
    """The chains replay, and each error is about an operand of the caller's."""
    kernel = bg.from_text(text)
    program = kernel.compilation.program
    assert not unproved(program)
    made = {program.operands[one.operand][0] for one in program.guards.reduced}
    asked = {line for at in range(len(program.nests)) for line in program.guards.checked(at)}
    assert not [line for line in asked if line.partition(".")[0] in made]
    names = [name for name, _ in program.operands if name not in made]
    chance = random.Random(text)
    for _ in range(20):
        shapes = [tuple(chance.choice((1, 2, 3, 4)) for _ in program.operands[at][1].dims) for at in range(len(names))]
        try:
            sized = kernel.result_shape(*shapes)
        except bg.BroadcastError as error:
            assert error.operand in names, error
            continue
        results = kernel(*map(np.ones, shapes))
        found = [np.shape(one) for one in (results if isinstance(results, tuple) else (results,))]
        assert found == (list(sized) if len(found) > 1 else [sized])
