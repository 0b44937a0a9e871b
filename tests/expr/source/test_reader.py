"""Functions of scalars: what their branches and loops become, against Python's own evaluation element by element."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest

import bcastgen as bg
import scalar_programs as programs
from bcastgen.api.functions import kernel_of
from bcastgen.core.dtypes import dtype
from bcastgen.core.errors import BcastgenError, DomainError, TraceError
from bcastgen.expr.evaluate import evaluate
from bcastgen.expr.infer import infer
from bcastgen.expr.source.reader import read
from bcastgen.loops.interpret import interpret
from bcastgen.pipeline.options import Options
from long_runs import many

COUNT = 24


def computed(function, operands, rounds=4):
    """The values of a function's expression by NumPy, in one dtype each."""
    typed = infer(read(function, programs.NAMES, max_iterations=rounds), tuple(dtype(one.dtype) for one in operands))
    with np.errstate(all="ignore"):
        return np.broadcast_to(evaluate(typed, operands)[0], operands[0].shape)


def hold(family, seed, count, path, run):
    """Compare random functions with Python; return how many were compared and how many refused."""
    source = random.Random(seed)
    texts = [programs.make_text(source, f"f{at}", family) for at in range(count)]
    functions = programs.in_file(path / f"programs_{seed}.py", texts)
    compared = 0
    for at, text in enumerate(texts):
        operands = programs.operands_of(source, family, COUNT)
        try:
            found = run(functions[f"f{at}"], operands)
        except BcastgenError as error:
            # What Python would not refuse has one of two reasons, which are said.
            assert "may not fit it" in str(error) or "not defined for bool" in str(error), text
            continue
        wrong = programs.differences(programs.by_python(functions[f"f{at}"], operands), found)
        assert not wrong, f"{text}\n{wrong[:3]}\n{[one[wrong[0][0]] for one in operands]}"
        compared += 1
    return compared


@pytest.mark.parametrize("family", programs.FAMILIES, ids=lambda family: family.name)
def test_random_functions_are_what_python_makes_of_them(family, tmp_path):
    assert hold(family, 7, 80, tmp_path, computed) > 70


@pytest.mark.slow
@pytest.mark.parametrize("family", programs.FAMILIES, ids=lambda family: family.name)
def test_more_random_functions(family, tmp_path):
    assert hold(family, 8, many(100, 250), tmp_path, computed) > many(85, 220)


def by_nests(function, operands):
    """The values of a function's nests by their interpreter."""
    kernel = kernel_of(read(function, programs.NAMES, None, 4), "f", (), None, Options())
    made = kernel._compilation(tuple(dtype(one.dtype) for one in operands))
    (found,) = interpret(made.rewritten.program, operands)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("family", programs.FAMILIES, ids=lambda family: family.name)
def test_random_functions_by_the_interpreter_of_nests(family, tmp_path):
    assert hold(family, 9, 40, tmp_path, by_nests) > 33


@pytest.mark.slow
@pytest.mark.parametrize("family", programs.FAMILIES, ids=lambda family: family.name)
def test_random_functions_compiled(family, tmp_path):
    """Thirty functions of each family, five to a binary."""
    source = random.Random(10)
    texts = [programs.make_text(source, f"f{at}", family) for at in range(30)]
    functions = programs.in_file(tmp_path / "programs.py", texts)
    operands = programs.operands_of(source, family, COUNT)
    readable = []
    for name in [f"f{at}" for at in range(30)]:
        try:
            computed(functions[name], operands)
        except BcastgenError:
            continue
        readable.append(name)
    for names in programs.chunks(readable, 5):
        whole = f"def whole(a, b, c):\n    return {', '.join(f'{name}(a, b, c)' for name in names)},\n"
        made = programs.in_file(tmp_path / f"whole_{names[0]}.py", [*(texts[int(name[1:])] for name in names), whole])
        kernel = kernel_of(read(made["whole"], programs.NAMES, None, 4), "whole", (), None, Options())
        found = kernel(*operands)
        for name, values in zip(names, found if len(names) > 1 else (found,), strict=True):
            assert not programs.differences(programs.by_python(made[name], operands), values), texts[int(name[1:])]


def text(function, *names, **given):
    return str(read(function, names, given))


def branches(x, low):
    if x < low:
        return -x
    y = 1
    for at in range(2):
        y += at
        if x > y:
            break
    return y


def test_branches_become_selections_and_loops_are_unrolled():
    assert text(branches, "x", "low") == (
        "expr (x, low)\n"
        "  t0 = less(x, low)\n"
        "  t1 = negative(x)\n"
        "  t2 = greater(x, 1)\n"
        "  t3 = greater(x, 2)\n"
        "  t4 = logical_or(t2, t3)\n"
        "  t5 = where(t2, 1, 2, branches=True)\n"
        "  t6 = where(t4, t5, 2, branches=True)\n"
        "  t7 = where(t0, t1, t6, branches=True)\n"
        "  return t7"
    )


def test_every_result_has_the_shape_of_all_operands():
    shown = text(lambda x, y: 1, "x", "y")
    assert "(True:bool, 1, x, guards=any)" in shown
    assert ", y, guards=any)" in shown


def power(x, n):
    if n >= 0:
        return x**n
    return 0


def test_an_operand_is_in_the_domain_where_its_branch_is_not_taken():
    typed = infer(read(power, ("x", "n")), (dtype("i64"), dtype("i64")))
    assert evaluate(typed, (np.arange(5), np.arange(-2, 3)))[0].tolist() == [0, 0, 1, 3, 16]
    typed = infer(read(lambda x, n: x**n, ("x", "n")), (dtype("i64"), dtype("i64")))
    with pytest.raises(ValueError, match="negative"):
        evaluate(typed, (np.arange(5), np.arange(-2, 3)))
    # Floats have no such domain, so there is nothing to guard.
    floats = str(infer(read(power, ("x", "n")), (dtype("f64"), dtype("f64"))))
    assert "power(x, n)" in floats


def test_what_is_known_is_computed_while_reading():
    def table(x, order):
        total = 0.0
        for at, factor in enumerate((0.5, 0.25, 0.125)):
            if order > at:
                total = total + factor * x**at
        return total

    assert "where" not in text(table, "x", order=2)
    assert text(table, "x", order=2).count("multiply") == 2


def unbounded(x):
    while x < 100:
        x = x * 2
    return x


def half_set(x):
    if x > 0:
        y = 1
    return y


def some_none(x):
    if x > 0:
        return x


def raises(x):
    if x < 0:
        raise ValueError("negative")
    return x


def of_arrays(x):
    return x[0]


def of_table(x):
    return TABLE[x]


def of_array(x):
    return x + TABLE


def prints(x):
    print(x)
    return x


def on_kind(x):
    return x if isinstance(x, float) else -x


def long_power(x):
    n = 10**6
    return x * 7**n


def long_shift(x):
    n = 10**6
    return x + (1 << n)


def long_shift_of_a_bool(x):
    n, one = 10**6, True
    return x + (one << n)


def endless(x):
    return endless(x) if x else 0


TABLE = np.arange(3)


@pytest.mark.parametrize(
    ("function", "cure", "marked"),
    [
        (unbounded, "max_iterations=100", "x < 100"),
        (half_set, "y is not set on every way to here", "y"),
        (some_none, "return a number there", "if x > 0:"),
        (raises, "return numpy.nan", 'raise ValueError("negative")'),
        (of_arrays, "index the array before the call", "x[0]"),
        (of_table, "which part is meant differs", "TABLE[x]"),
        (of_array, "make it an operand", "TABLE"),
        (prints, "no other effect", "print(x)"),
        (on_kind, "does not choose a branch", "isinstance(x, float)"),
        (long_power, "too many bits; use a float", "7**n"),
        (long_shift_of_a_bool, "too many bits; use a float", "one << n"),
        (long_shift, "too many bits; use a float", "1 << n"),
        (endless, "write a loop", None),
    ],
)
def test_what_cannot_be_read_is_shown_with_its_cure(function, cure, marked):
    with pytest.raises(TraceError) as caught:
        read(function, ("x",))
    message = str(caught.value)
    assert cure in message
    assert f"{function.__name__}()" in message.splitlines()[0]
    assert f'File "{__file__}", line ' in message
    if marked is not None:
        *_, shown, carets = message.splitlines()[:4]
        start = carets.index("^")
        assert shown[start : start + carets.count("^")].startswith(marked.split("\n")[0])


def of_helper(x):
    return 2 * raises(x)


def test_an_error_in_a_helper_names_the_call_too():
    with pytest.raises(TraceError, match="raises") as caught:
        read(of_helper, ("x",))
    assert "called from of_helper():" in str(caught.value)
    assert str(caught.value).count("File ") == 2


def test_constants_outside_of_a_domain_are_refused_at_their_place():
    def divided(x):
        return x + 1 / 0

    with pytest.raises(TraceError, match="ZeroDivisionError"):
        read(divided, ("x",))

    def typed(x):
        return x + np.int64(2) ** (x * 0 - 1)

    with pytest.raises((ValueError, DomainError)):
        evaluate(infer(read(typed, ("x",)), (dtype("i64"),)), (np.arange(3),))


def test_python_numbers_of_two_branches_stay_weak():
    def sign(x):
        return x * (1.0 if x > 0 else -1.0 if x < 0 else 0)

    assert str(infer(read(sign, ("x",)), (dtype("f32"),)).result_dtypes[0]) == "f32"
    assert str(infer(read(sign, ("x",)), (dtype("i32"),)).result_dtypes[0]) == "f64"
    steps = read(lambda x: x + (1 if x > 0 else 2), ("x",))
    assert str(infer(steps, (dtype("i8"),)).result_dtypes[0]) == "i8"
    # numpy.where of the same numbers is an int64, in the same expression, too.
    both = read(lambda x: (x + (1 if x > 0 else 2), x + np.where(x > 0, 1, 2)), ("x",))
    assert [str(row) for row in infer(both, (dtype("i8"),)).result_dtypes] == ["i8", "i64"]


def test_functions_of_math_keep_floats_and_compute_integers_in_f64():
    root = read(lambda x: math.sqrt(x), ("x",))
    for given, result in (("f32", "f32"), ("f64", "f64"), ("i8", "f64"), ("bool", "f64")):
        assert str(infer(root, (dtype(given),)).result_dtypes[0]) == result
    whole = infer(read(lambda x: math.floor(x), ("x",)), (dtype("f32"),))
    assert str(whole.result_dtypes[0]) == "i64"


def test_functions_of_math_that_scale():
    x, n = np.array([1.5, -2.25, 0.0]), np.array([12, -8, 0])
    scaled = bg.vectorize(lambda x, n: math.ldexp(x, n) + math.ldexp(n, 3))(x, n)
    assert np.array_equal(scaled, [math.ldexp(a, b) + math.ldexp(b, 3) for a, b in zip(x, n.tolist(), strict=True)])
    assert bg.vectorize(lambda x: math.ldexp(x, 3))(np.float32(x)).dtype == np.float32


@pytest.mark.parametrize("function", [math.modf, math.frexp])
def test_functions_of_math_that_give_two_numbers(function):
    for given in (np.array([1.5, -2.25, 0.0]), np.array([12, -8, 0]), np.float32([1.5, -2.25])):
        made = bg.vectorize(lambda x: function(x))(given)
        assert np.array_equal(np.stack(made, axis=-1), [function(float(one)) for one in given])
        assert made[0].dtype == (np.float32 if given.dtype == np.float32 else np.float64)


@pytest.mark.parametrize("function", [math.gcd, math.lcm])
def test_functions_of_math_of_integers(function):
    n = np.array([12, -8, 0])
    assert bg.vectorize(lambda n: function(n, 6))(n).tolist() == [function(one, 6) for one in n.tolist()]
    assert bg.vectorize(lambda n: function(n, 6, 4))(n).tolist() == [function(one, 6, 4) for one in n.tolist()]
    with pytest.raises(bg.DTypeError, match="defined for integers only"):
        bg.vectorize(lambda n: function(n, 6))(n / 2)


BUILT_IN = {
    "abs": lambda x, y: abs(x) + y,
    "round": lambda x, y: round(x) + y,
    "int": lambda x, y: int(x) + y,
    "float": lambda x, y: float(x) / y,
    "bool": lambda x, y: bool(x > 2) + y,
    "pow": lambda x, y: pow(x, 2) - y,
    "divmod": lambda x, y: divmod(x, y)[0] * 1000 + divmod(x, y)[1],
    "min": lambda x, y: min(x, y, 3),
    "max": lambda x, y: max(x, y, 3),
}


@pytest.mark.parametrize("name", BUILT_IN)
@pytest.mark.parametrize("dtype_", ["i8", "f8"])
def test_functions_that_are_built_in_are_pythons(name, dtype_):
    function, x, y = BUILT_IN[name], np.arange(-7, 8).astype(dtype_), np.asarray(3, dtype_)
    wanted = [function(one, y.item()) for one in x.tolist()]
    np.testing.assert_array_equal(bg.vectorize(function)(x, y), wanted)
