"""Names in the extents of programs: what is computed with them, and what they decide."""

from __future__ import annotations

from itertools import product

import pytest

import bcastgen as bg
from bcastgen.shape.dialect.ops import ROWS
from bcastgen.shape.dialect.row import Failed
from bcastgen.shape.dialect.trace import op
from bcastgen.shape.dialect.values import Shape, Size, Witness, instance_of, show
from bcastgen.shape.types.extent_expr import add, evaluate, multiply, named
from bcastgen.shape.types.facts import Range

shape = bg.shape
SHAPES = {"a": "!shape.shape", "b": "!shape.shape"}


def size(of, at):
    return shape.get_extent(of, shape.const_size(at))


@pytest.mark.parametrize(
    ("a", "b", "verdict"),
    [
        ("[n, 4]", "[n, 4]", True),
        ("[n, 4]", "[n, 5]", False),
        ("[n, 4]", "[m, 4]", None),
        ("[n<=3]", "[m>=4]", False),
        ("[n%4]", "[6]", False),
        ("[?, 4]", "[?, 4]", None),
        ("[n, m]", "[m, n]", None),
    ],
)
def test_names_decide_equality(a, b, verdict):
    program = shape.program("p", lambda a, b: shape.cstr_eq(a, b), **SHAPES)
    assert program.evaluate(a, b).passing is verdict
    assert program.check(a, b) is verdict


@pytest.mark.parametrize(
    ("a", "b", "result", "verdict"),
    [
        ("[n]", "[n]", "[n]", True),
        ("[n]", "[1]", "[n]", True),
        ("[n]", "[m]", "[broadcast(m, n)]", None),
        ("[n>=2]", "[m]", "[n>=2]", None),
        ("[n>=2]", "[m, 4, k]", "[m, 4, n>=2]", None),
        ("[n>=5]", "[4]", "[invalid]", False),
        ("[n<=5]", "[4]", "[4]", None),
        ("[?, n]", "[n]", "[?, n]", True),
    ],
)
def test_names_broadcast(a, b, result, verdict):
    program = shape.program("p", lambda a, b: (shape.broadcast(a, b), shape.cstr_broadcastable(a, b)), **SHAPES)
    found, witness = program.evaluate(a, b)
    assert (str(found), witness.passing) == (result, verdict)


@pytest.mark.parametrize(
    ("function", "result"),
    [
        (lambda a: shape.add(size(a, 0), size(a, 1)), "m + n"),
        (lambda a: shape.mul(size(a, 0), size(a, 0)), "n*n"),
        (lambda a: shape.add(size(a, 0), 0), "n<=64"),
        (lambda a: shape.div(shape.mul(size(a, 0), 6), 3), "2*n"),
        (lambda a: shape.min(size(a, 0), size(a, 0)), "n<=64"),
        (lambda a: shape.min(size(a, 0), shape.const_size(64)), "n<=64"),
        (lambda a: shape.max(size(a, 0), size(a, 1)), "max(m, n)"),
        (lambda a: shape.num_elements(a), "3*m*n"),
        (lambda a: shape.concat(a, a), "[n<=64, m, 3, n<=64, m, 3]"),
        (lambda a: shape.split_at(a, 1)[1], "[m, 3]"),
        (lambda a: shape.from_extents(shape.add(size(a, 0), size(a, 1)), 2), "[m + n, 2]"),
        (lambda a: shape.join(a, shape.const_shape((5, 6, 3))), "[5, 6, 3]"),
        (lambda a: shape.reduce(a, 1, lambda index, extent, total: shape.mul(total, extent)), "3*m*n"),
    ],
)
def test_ops_compute_with_names(function, result):
    program = shape.program("p", function, a="!shape.shape")
    promise = program.evaluate("[n<=64, m, 3]")
    assert show(promise) == result
    assert instance_of(program.run((5, 6, 3)), promise)


def index(a, at):
    return shape.size_to_index(size(a, at))


@pytest.mark.parametrize(
    ("function", "verdict"),
    [
        # n>=2, so n is never 1.
        (lambda a: shape.cmpi(index(a, 0), 1, predicate="ne"), True),
        (lambda a: shape.cmpi(index(a, 0), 1, predicate="ugt"), True),
        # n + 0 = n, min(n, n) = n.
        (lambda a: shape.cmpi(shape.addi(index(a, 0), 0), index(a, 0), predicate="eq"), True),
        (lambda a: shape.cmpi(shape.minsi(index(a, 0), index(a, 0)), index(a, 0), predicate="eq"), True),
        # 2*n % 2 = 0, written out.
        (
            lambda a: shape.cmpi(
                shape.muli(shape.floordivsi(shape.muli(index(a, 0), 2), 2), 2),
                shape.muli(index(a, 0), 2),
                predicate="eq",
            ),
            True,
        ),
        # m is any extent: m + 1 may wrap, m - 1 may be below 0.
        (lambda a: shape.cmpi(shape.addi(index(a, 1), 1), index(a, 1), predicate="sgt"), None),
        (lambda a: shape.cmpi(shape.subi(index(a, 1), 1), index(a, 1), predicate="slt"), True),
        (lambda a: shape.cmpi(shape.subi(index(a, 1), 1), index(a, 1), predicate="ult"), None),
        # k%8 % 8 = 0, and k // 8 rounded up is k // 8.
        (lambda a: shape.cmpi(shape.remsi(index(a, 2), 8), 0, predicate="eq"), True),
        (lambda a: shape.cmpi(shape.remui(index(a, 2), 4), 0, predicate="eq"), True),
        (lambda a: shape.cmpi(shape.remsi(index(a, 2), 16), 0, predicate="eq"), None),
        # The bits of a name are not known.
        (lambda a: shape.cmpi(shape.andi(index(a, 2), 7), 0, predicate="eq"), None),
        # k%8 and 12: never equal.
        (lambda a: shape.cmpi(index(a, 2), 12, predicate="eq"), False),
    ],
)
def test_names_decide_predicates(function, verdict):
    program = shape.program("p", function, a="!shape.shape")
    assert program.evaluate("[n>=2<=64, m, k%8]") is verdict


INDEX_ROWS = [row for row in ROWS.values() if row.results == (("index",),) and len(row.parameters) == 2]


@pytest.mark.parametrize("row", INDEX_ROWS, ids=lambda row: row.name)
@pytest.mark.parametrize(
    "ranges", [(Range(0, 6), Range(1, 5)), (Range(0, 12, 4), Range(2, 4, 2)), (Range(-3, 3), Range(-2, 3))]
)
def test_arithmetic_of_names_is_that_of_their_numbers(row, ranges):
    """Of an op on two indices, and of one of them and a number: what is computed of names, for all their extents."""
    n, m = (named(text, range_) for text, range_ in zip("nm", ranges, strict=True))
    program = shape.program("p", lambda a, b: op(row.name)(a, b), a="index", b="index")
    operation = next(program.body.walk())
    inside = [[x for x in range(range_.low, range_.high + 1) if range_.has(x)] for range_ in ranges]
    for a, b in ((n, m), (n, 2), (n, 4), (7, m), (n, n), (multiply(n, 4), 2)):
        (made,) = row.apply(operation, (a, b))
        certain = row.is_certain(operation, (a, b))
        for x, y in product(*inside):
            numbers = [number if isinstance(number, int) else evaluate(number, {"n": x, "m": y}) for number in (a, b)]
            (wanted,) = row.apply(operation, numbers)
            assert made is None or isinstance(wanted, Failed) or instance_of(wanted, evaluate(made, {"n": x, "m": y}))
            assert not (certain and isinstance(wanted, Failed)), (str(a), str(b), x, y)


def test_arithmetic_of_names_is_known_for_most_ops():
    n, m = named("n", Range(0, 6)), named("m", Range(1, 5))
    program = shape.program("p", lambda a, b: shape.addi(a, b), a="index", b="index")
    operation = next(program.body.walk())
    known = {row.python for row in INDEX_ROWS if row.apply(operation, (n, m)) != (None,)}
    assert known >= {"addi", "subi", "muli", "divsi", "divui", "floordivsi", "ceildivsi", "ceildivui", "remsi", "remui"}
    assert known >= {"minsi", "maxsi", "minui", "maxui"}


def test_folding_decides_what_holds_for_all_extents():
    """A dim of unknown extent is one extent wherever a program asks for it."""

    def function(a):
        extents = shape.shape_of(a)
        again = shape.from_extents(shape.dim(a, 0), shape.add(shape.dim(a, 1), 0), 4)
        return shape.assuming(shape.cstr_eq(extents, again), lambda: shape.mul(shape.dim(a, 0), shape.dim(a, 2)))

    folded = shape.program("p", function, a="f32[?, ?, 4]").fold()
    assert not [operation.name for operation in folded.body.walk() if operation.name.startswith("shape.cstr")]
    assert "shape.assuming" not in str(folded)
    assert folded.run((2, 3, 4)) == 8


def test_what_may_not_fit_is_no_proof():
    """The sum of two extents may be no size: then a constraint on it fails, although both sides are the same."""

    def function(a):
        total = shape.from_extents(shape.add(size(a, 0), size(a, 1)))
        again = shape.from_extents(shape.add(size(a, 1), size(a, 0)))
        return shape.cstr_eq(total, again)

    program = shape.program("p", function, a="!shape.shape")
    assert program.evaluate("[n, m]") == Witness()
    assert program.evaluate("[n<=64, m<=64]") == Witness(True)
    assert program.run((2**63 - 1, 1)).passing is False
    assert program.evaluate("[n>=4611686018427387904, m>=4611686018427387904]").passing is False


@pytest.mark.parametrize(
    ("x", "scale", "verdict"),
    [
        ("[b>=2, 8*k]", "[b, 1]", True),
        ("[b + 2, k%16]", "[2 + b, 1]", True),
        ("[b, 8*k]", "[b, 1]", None),
        ("[b>=2, 8*k + 1]", "[b, 1]", False),
        ("[b>=2, 8*k]", "[b + 1, 1]", False),
        ("[b>=2, 8*k]", "[b, k>=2]", False),
    ],
)
def test_names_decide_what_a_kernel_asks(x, scale, verdict):
    rows = bg.from_text("(f32[n>=2, m%8] x, f32[n, bcast] scale) -> x * scale")
    assert rows.shape_function.check(x, scale) is verdict


def test_what_is_an_extent_tells_of_its_names():
    """An extent is 0 or more, and fits: so n of n - 1 is at least 1, and 8*m does not wrap."""
    program = shape.program("p", lambda a, b: (a, b), **SHAPES)
    highest = (2**63 - 1) // 8
    assert list(map(str, program.evaluate("[n - 1, 8*m]", "[n, m]"))) == ["[n - 1, 8*m]", f"[n>=1, m<={highest}]"]
    assert list(map(str, program.evaluate("[7 - n, 2*m - 5]", "[n, m]")))[1] == f"[n<=7, m>=3<={2**62 + 2}]"
    with pytest.raises(bg.BroadcastError, match=r"operand 'b' is \[n<=3\], where n>=5 says something else of n"):
        program.evaluate("[n - 5]", "[n<=3]")


def test_what_nobody_has_named_prints_as_unknown():
    program = shape.program("p", lambda a, b: shape.broadcast(a, b), **SHAPES)
    assert program.evaluate((2, None), (None, None)) == Shape.of(2, None)
    assert str(program.evaluate("[?>=2, ?]", "[?]")) == "[?>=2, ?]"
    product = shape.program("p", lambda a: shape.num_elements(a), a="!shape.shape")
    assert product.evaluate((None, 0)) == Size()
    assert product.evaluate("[n, 0]") == Size(0)


def test_values_of_names_are_given_as_values_too():
    n = named("n", Range(1, 9))
    program = shape.program("p", lambda a, s: shape.add(size(a, 0), s), a="!shape.shape", s="!shape.size")
    assert str(program.evaluate(Shape.of(add(n, 1)), Size(n))) == "2*n + 1"


def test_a_run_needs_numbers():
    program = shape.program("p", lambda a: shape.size_to_index(size(a, 0)), a="!shape.shape")
    with pytest.raises(bg.BroadcastError, match=r"is not decided; give the program operands that are known"):
        program.run("[n]")


def test_long_programs_over_names_take_no_long_time():
    """What an op computes is bounded, however many ops there are; evaluated and folded in less than a second."""

    def function(a):
        found = [size(a, at) for at in range(6)]
        for at in range(300):
            left, right = found[at % 6], found[(at * 5 + 1) % 6]
            op = (shape.add, shape.mul, shape.max, shape.min, shape.div)[at % 5]
            found[at % 6] = op(left, right)
        return tuple(found)

    program = shape.program("long", function, a="!shape.shape")
    results = program.evaluate("[a, b>=1, c, d>=2, e, f]")
    assert max(len(str(result)) for result in results) < 5_000
    assert len(list(program.fold().body.walk())) <= len(list(program.body.walk()))


@pytest.mark.parametrize(
    ("a", "b", "both"),
    [
        ("[n, 4]", "[n, 5]", "[n, ?]"),
        ("[n, 4]", "[m, 4]", "[?, 4]"),
        ("[n, 4]", "[3, 4]", "[?, 4]"),
        ("[n + 1]", "[1 + n]", "[n + 1]"),
        ("[n]", "[invalid]", "[n]"),
        ("[n]", "[?]", "[?]"),
        ("[n]", "[n, n]", "[*]"),
    ],
)
def test_of_two_branches_what_both_say_is_known(a, b, both):
    """A number is an instance of a name, and yet not what the name stands for in every run."""

    def function(condition, a, b):
        return shape.if_(condition, lambda: a, lambda: b)

    program = shape.program("p", function, condition="i1", **SHAPES)
    assert str(program.evaluate(None, a, b)) == str(program.evaluate(None, b, a)) == both
