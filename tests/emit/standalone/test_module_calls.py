"""Standalone C as its callers meet it: what a call computes, what it refuses and says, and what it leaves alone.

Kernels run in a C program under address and undefined-behaviour sanitizers, every buffer in an allocation of its exact
size, so a byte read or written outside ends the test. The diagnostic is (operand, dim, against, expected, actual).

The file is long because all that is refused stands in two tables over one set of kernels, compiled once.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from bcastgen.core.errors import statuses
from compile_flags import QUICK

HUGE = 2**63 - 1
TEXTS = {
    "axpb": "(f32[?,?] a, f32[?,?] b) -> a + b*2",
    "wild": "(f32[*] a, f32[*] b) -> a + b*2",
    "three": "(f32[?] a, f32[?] b, f32[?] c) -> a + b + c",
    "bias": "(f32[?,4] x, f32[4] b) -> x + b",
    "outer": "(f64[3,1] a, f64[1,4] b) -> a * b",
    "named": "(i32[n,m] a, i32[m] b, i32[n,m] c) -> a * b + c",
    "twice": "(f32[n] a, f32[n] b, f32[?] c) -> a + b + c",
    "square": "(f32[n,n] a) -> a * a",
    "tail": "(f32[*,3] a, f32[*] b) -> a - b",
    "stretch": "(f32[?,4] a, f32[5,?] b) -> a - b",
    "nothing": "(f32[0] a, f32[?] b) -> a + b",
    "scalar": "(f64[] a, f64[] b) -> a - b",
    "cube": "(f32[?,?,?] a) -> -a",
    "pairs": "(f32[?,2] a) -> a / 2",
    "power": "(i32[?] a, i32[?] b) -> a ** b",
    "wildpower": "(i32[*] a, i32[*] b) -> a ** b",
    "facts": "(f32[n>=2<=8%2, 3] a, f32[n!, m!] b) -> a + b",
    "six": "(f32[?,?,?,?,?,?] a, f32[2,1,2,1,2,1] b) -> a - b",
    "many": f"({', '.join(f'f64[?] x{at}' for at in range(20))}) -> {' - '.join(f'x{at}' for at in range(20))}",
}


@pytest.fixture(scope="module")
def kernels(emit):
    made = {name: emit(name, text) for name, text in TEXTS.items()}
    made["plain"] = emit("plain", TEXTS["axpb"], variants=0)
    made["narrow"] = emit("narrow", lambda a: a.astype("i2"), ["f32[?]"])
    made["bits"] = emit("bits", lambda a: a.astype("i4"), ["f32[?]"])
    made["unread"] = emit("unread", lambda a, b: -a, ["f32[?]", "f32[?]"])
    made["constant"] = emit("constant", lambda a: (a + 1, np.float32(2.5)), ["f32[?]"])
    made["two"] = emit("two", lambda a, b: (a + b, a - b, a * 2), ["f32[?,?]", "f32[?,?]"])
    made["wildtwo"] = emit("wildtwo", lambda a, b: (a + b, a - b, a * 2), ["f32[*]", "f32[*]"])
    made["powers"] = emit("powers", lambda a, b: (a + 1, a**b), ["i32[?]", "i32[?]"])
    made["wildpowers"] = emit("wildpowers", lambda a, b: (a + 1, a**b), ["i32[*]", "i32[*]"])
    made["declared"] = emit("declared", lambda a, b: a + b, ["f32[n]", "f32[?]"], result_types=["f32[n]"])
    types = ["f32[n]", "f32[n*n]", "f32[?]"]
    made["computed"] = emit("computed", lambda a, b, c: (b * 2, c - 1), types, result_types=["f32[?]", "f32[n + 1]"])
    made["deep"] = emit("deep", lambda a: -a, ["f32[*]"], result_types=["f32[*, ?, ?]"])
    return made


@pytest.fixture(scope="module")
def program(kernels, build, tmp_path_factory):
    return build(list(kernels.values()), tmp_path_factory.mktemp("standalone"), optimise=QUICK)


@pytest.fixture(scope="module")
def call(kernels, new_case):
    """Call ``call(name, *arrays, told=True)`` for a case; an array is an ndarray, or what `bent` returns."""

    def case(name, *arrays, told=True):
        made = new_case(kernels[name], told)
        for array in arrays:
            if isinstance(array, np.ndarray):
                made.array(array)
            else:
                array(made)
        return made

    return case


def full(shape, dtype="f4"):
    """An array of distinct small values."""
    return np.arange(1, 1 + int(np.prod(shape)), dtype=dtype).reshape(shape)


def blank(shape, dtype="f4"):
    """A result to be written: bytes that no computation here gives."""
    return np.full(int(np.prod(shape)) * np.dtype(dtype).itemsize, 0xA5, np.uint8).view(dtype).reshape(shape)


def bent(extents, strides=None, size=64, offset=0, odd=0, null=False, **options):
    """An array whose descriptor says what it likes."""
    strides = [0] * len(extents) if strides is None else strides

    def add(case):
        case.view(None if null else case.hold(bytes(size), odd), extents, strides, offset, **options)

    return add


def shared(*views, size=64):
    """Arrays, as (extents, strides, offset), in one buffer."""
    numbers = np.arange(1, size // 4 + 1, dtype="f4").tobytes()

    def add(case):
        buffer = case.hold(numbers)
        for extents, strides, offset in views:
            case.view(buffer, extents, strides, offset)

    return add


# ---- what is computed ------------------------------------------------------------------------------------------------

LAYOUTS = {
    "C": lambda x: x,
    "F": np.asfortranarray,
    "reversed": lambda x: x[::-1, ::-1].copy()[::-1, ::-1],
    "strided": lambda x: np.repeat(np.repeat(x, 3, 0), 2, 1)[::3, ::2],
}
PATTERNS = [
    pair
    for pair in itertools.product(itertools.product((0, 1, 2, 3), repeat=2), repeat=2)
    if all(x == y or 1 in (x, y) for x, y in zip(*pair, strict=True))
]


@pytest.mark.parametrize("name", ["axpb", "plain", "wild"])
def test_every_pattern_in_every_layout_is_numpys(name, program, call):
    cases, wanted = [], []
    layouts = list(itertools.product(LAYOUTS, repeat=3))
    for at, (first, second) in enumerate(PATTERNS * 2):
        lay = [LAYOUTS[chosen] for chosen in layouts[at * 7 % len(layouts)]]
        a, b = full(first), full(second) * 10
        wanted.append(a + b * 2)
        cases.append(call(name, lay[0](a), lay[1](b), lay[2](blank(wanted[-1].shape))))
    for got, expected in zip(program.run(*cases), wanted, strict=True):
        assert (got.shape.status, got.call.status) == ("OK", "OK")
        assert got.extents == (expected.shape,)
        assert np.array_equal(got.values(2, "f4"), expected)
        assert all(np.array_equal(got.buffers[at], got.case.buffers[at][0]) for at in (0, 1))


def test_bytes_between_the_elements_of_a_result_stay(program, call):
    result = blank((6, 6))[1::3, 1::2]
    (got,) = program.run(call("axpb", full((2, 3)), full((2, 3)), result))
    written = np.zeros((6, 6), bool)
    written[1::3, 1::2] = True
    start = np.flatnonzero(written.ravel())[0]
    gaps = ~written.ravel()[start : start + got.buffers[2].size // 4]
    assert got.call.status == "OK"
    assert (got.buffers[2].view("f4")[gaps] == blank((1,))).all()
    assert np.array_equal(got.values(2, "f4"), full((2, 3)) * 3)


def test_ranks_differ_in_a_kernel_of_any_rank(program, call):
    shapes = [((), ()), ((3,), ()), ((2, 1, 3), (4, 1)), ((1,) * 8, (2, 1, 2)), ((0, 1), (5,)), ((2,) * 5, (2,) * 5)]
    cases = [call("wild", full(x), full(y), blank(np.broadcast_shapes(x, y))) for x, y in shapes]
    for (x, y), got in zip(shapes, program.run(*cases), strict=True):
        assert np.array_equal(got.values(2, "f4"), full(x) + full(y) * 2)
        assert got.extents == (np.broadcast_shapes(x, y),)


# Kernel -> the shapes of its operands, a function of the operands for its results.
FORMS = {
    "bias": ([(3, 4), (4,)], lambda x, b: x + b),
    "outer": ([(3, 1), (1, 4)], lambda a, b: a * b),
    "named": ([(2, 3), (3,), (2, 3)], lambda a, b, c: a * b + c),
    "square": ([(3, 3)], lambda a: a * a),
    "tail": ([(2, 3), (4, 1, 1)], lambda a, b: a - b),
    "stretch": ([(1, 4), (5, 1)], lambda a, b: a - b),
    "nothing": ([(0,), (1,)], lambda a, b: a + b),
    "scalar": ([(), ()], lambda a, b: a - b),
    "cube": ([(2, 3, 4)], lambda a: -a),
    "pairs": ([(3, 2)], lambda a: a / np.float32(2)),
    "power": ([(3,), (1,)], lambda a, b: a**b),
    "wildpower": ([(3, 1), (2,)], lambda a, b: a**b),
    "six": ([(1, 2, 1, 2, 1, 2), (2, 1, 2, 1, 2, 1)], lambda a, b: a - b),
    "many": ([(3 if at % 3 else 1,) for at in range(20)], lambda *xs: xs[0] - sum(xs[1:])),
    "narrow": ([(3,)], lambda a: a.astype("i2")),
    "unread": ([(3,), (7,)], lambda a, b: -a),
    "constant": ([(3,)], lambda a: (a + 1, np.float32(2.5))),
    "two": ([(2, 1), (1, 3)], lambda a, b: (a + b, a - b, a * 2)),
    "wildtwo": ([(2, 1), (4, 1, 3)], lambda a, b: (a + b, a - b, a * 2)),
    "powers": ([(2,), (2,)], lambda a, b: (a + 1, a**b)),
    "wildpowers": ([(2, 1), (2,)], lambda a, b: (a + 1, a**b)),
    "declared": ([(3,), (1,)], lambda a, b: a + b),
    "twice": ([(1,), (1,), (5,)], lambda a, b, c: a + b + c),
    "three": ([(1,), (4,), (1,)], lambda a, b, c: a + b + c),
}


@pytest.mark.parametrize("name", FORMS)
def test_forms(name, kernels, program, call):
    shapes, function = FORMS[name]
    kernel = kernels[name]
    operands = [full(shape, dtype.np) for shape, dtype in zip(shapes, kernel.operands, strict=True)]
    wanted = function(*operands)
    wanted = [np.asarray(x) for x in (wanted if isinstance(wanted, tuple) else (wanted,))]
    (got,) = program.run(call(name, *operands, *(blank(x.shape, x.dtype) for x in wanted)))
    assert got.call.status == "OK"
    assert got.extents == tuple(x.shape for x in wanted)
    for at, expected in enumerate(wanted):
        assert np.array_equal(got.values(len(operands) + at, expected.dtype), expected)


# ---- what is refused -------------------------------------------------------------------------------------------------

A, B, R = full((2, 3)), full((2, 3)), blank((2, 3))


def one_of(place, **options):
    """A, B and R, but one of them is bent."""
    return tuple(bent((2, 3), (12, 4), **options) if at == place else array for at, array in enumerate((A, B, R)))


EMPTY = np.empty((0, 3), "f4")
V = full((3,))
OPERANDS = [
    ("axpb", (full((2, 3, 4)), B, R), "RANK", (0, -1, -1, 2, 3)),
    ("axpb", (A, full((3,)), R), "RANK", (1, -1, -1, 2, 1)),
    ("axpb", (bent((), rank=-1), B, R), "RANK", (0, -1, -1, 2, -1)),
    ("wild", (bent((), rank=-1), B, R), "RANK_AT_LEAST", (0, -1, -1, 0, -1)),
    ("wild", (A, bent((1,) * 65), R), "RANK_AT_MOST", (1, -1, -1, 64, 65)),
    ("wild", (A, bent((), rank=2**31 - 1), R), "RANK_AT_MOST", (1, -1, -1, 64, 2**31 - 1)),
    ("wild", (A, bent((), rank=-(2**31)), R), "RANK_AT_LEAST", (1, -1, -1, 0, -(2**31))),
    ("tail", (full(()), V, V), "RANK_AT_LEAST", (0, -1, -1, 1, 0)),
    ("scalar", (full((1,), "f8"), full((), "f8"), full((), "f8")), "RANK", (0, -1, -1, 0, 1)),
    ("facts", (full((0, 3)), full((0, 3)), blank((0, 3))), "AT_LEAST", (0, 0, -1, 2, 0)),
    ("facts", (full((10, 3)), full((10, 3)), blank((10, 3))), "AT_MOST", (0, 0, -1, 8, 10)),
    ("facts", (full((5, 3)), full((5, 3)), blank((5, 3))), "MULTIPLE", (0, 0, -1, 2, 5)),
    ("facts", (full((4, 3)), full((4, 1)), blank((4, 3))), "STRICT", (1, 1, 0, 3, 1)),
    ("facts", (full((4, 3)), full((2, 3)), blank((4, 3))), "EXTENT", (1, 0, 0, 4, 2)),
    ("axpb", (bent((2, 3), no_extents=True), B, R), "NULL_EXTENTS", (0, -1, -1, 0, 2)),
    ("axpb", (A, bent((2, 3), no_extents=True), R), "NULL_EXTENTS", (1, -1, -1, 0, 2)),
    ("wild", (A, bent((2, 3), no_extents=True), R), "NULL_EXTENTS", (1, -1, -1, 0, 2)),
    ("axpb", (bent((-1, 3)), B, R), "NEGATIVE", (0, 0, -1, 0, -1)),
    ("axpb", (A, bent((2, -(2**63))), R), "NEGATIVE", (1, 1, -1, 0, -(2**63))),
    ("wild", (A, bent((-7, 1, 2, 3)), R), "NEGATIVE", (1, 0, -1, 0, -7)),
    ("axpb", (A, full((2, 4)), R), "BROADCAST", (1, 1, 0, 3, 4)),
    ("axpb", (A, full((5, 4)), R), "BROADCAST", (1, 0, 0, 2, 5)),
    ("axpb", (A, EMPTY, R), "BROADCAST", (1, 0, 0, 2, 0)),
    ("axpb", (EMPTY, A, R), "BROADCAST", (1, 0, 0, 0, 2)),
    ("axpb", (bent((-1, 3)), full((2,)), R), "RANK", (1, -1, -1, 2, 1)),
    ("wild", (A, full((4,)), R), "BROADCAST", (1, 0, 0, 3, 4)),
    ("wild", (full((3,)), full((7, 2)), R), "BROADCAST", (1, 1, 0, 3, 2)),
    ("three", (full((1,)), V, full((4,)), V), "BROADCAST", (2, 0, 1, 3, 4)),
    ("three", (V, full((1,)), full((4,)), V), "BROADCAST", (2, 0, 0, 3, 4)),
    ("bias", (full((2, 5)), full((4,)), blank((2, 4))), "EXTENT", (0, 1, -1, 4, 5)),
    ("bias", (bent((-2, 5)), full((4,)), blank((2, 4))), "NEGATIVE", (0, 0, -1, 0, -2)),
    ("bias", (full((2, 4)), full((1,)), blank((2, 4))), "EXTENT", (1, 0, -1, 4, 1)),
    ("outer", (full((3, 2), "f8"), full((1, 4), "f8"), blank((3, 4), "f8")), "EXTENT", (0, 1, -1, 1, 2)),
    ("named", (full((2, 3), "i4"), full((4,), "i4"), full((2, 3), "i4"), R), "EXTENT", (1, 0, 0, 3, 4)),
    ("named", (full((2, 3), "i4"), full((3,), "i4"), full((1, 3), "i4"), R), "EXTENT", (2, 0, 0, 2, 1)),
    ("twice", (V, full((1,)), V, V), "EXTENT", (1, 0, 0, 3, 1)),
    ("square", (full((2, 3)), R), "EXTENT", (0, 1, 0, 2, 3)),
    ("tail", (full((2, 4)), V, R), "EXTENT", (0, 1, -1, 3, 4)),
    ("tail", (A, full((2,)), R), "BROADCAST", (1, 0, 0, 3, 2)),
    ("stretch", (full((4, 4)), full((5, 1)), blank((5, 4))), "BROADCAST", (0, 0, 1, 5, 4)),
    ("stretch", (full((5, 4)), full((5, 3)), blank((5, 4))), "BROADCAST", (1, 1, 0, 4, 3)),
    ("nothing", (np.empty(0, "f4"), full((5,)), np.empty(0, "f4")), "BROADCAST", (1, 0, 0, 0, 5)),
    ("declared", (full((1,)), V, V), "RESULT", (2, 0, 0, 1, 3)),
    ("axpb", (bent((2**32, 1)), bent((1, 2**29)), R), "OVERFLOW", (2, -1, -1, HUGE, 4)),
    ("wild", (bent((2**32, 1)), bent((1, 2**29)), R), "OVERFLOW", (2, -1, -1, HUGE, 4)),
    ("cube", (bent((2**20, 2**20, 2**21)), R), "OVERFLOW", (1, -1, -1, HUGE, 4)),
    ("pairs", (bent((2**60, 2)), R), "OVERFLOW", (1, -1, -1, HUGE, 4)),
    ("power", (bent((2**61,)), bent((1,)), R), "OVERFLOW", (2, -1, -1, HUGE, 4)),
    ("deep", (V, V), "RESULT_RANK_AT_LEAST", (1, -1, -1, 2, 1)),
    ("computed", (V, full((8,)), full((4,)), blank((9,)), blank((4,))), "COMPUTED", (1, 0, 5, 9, 8)),
    ("computed", (V, full((1,)), full((4,)), blank((9,)), blank((4,))), "COMPUTED", (1, 0, 5, 9, 1)),
    ("computed", (bent((2**32,)), full((9,)), V, blank((9,)), V), "UNCOUNTABLE", (1, 0, 5, HUGE, 9)),
    ("computed", (V, full((9,)), full((5,)), blank((9,)), blank((5,))), "RESULT_COMPUTED", (4, 0, 6, 4, 5)),
]
ARRAYS = [
    ("axpb", (A, B, blank((3,))), "RESULT_RANK", (2, -1, -1, 2, 1)),
    ("axpb", (A, B, bent((), rank=-1)), "RESULT_RANK", (2, -1, -1, 2, -1)),
    ("wild", (A, B, blank((1, 2, 3))), "RESULT_RANK", (2, -1, -1, 2, 3)),
    ("axpb", (A, B, bent((2, 3), no_extents=True)), "NULL_EXTENTS", (2, -1, -1, 0, 2)),
    ("wild", (A, B, bent((2, 3), no_extents=True)), "NULL_EXTENTS", (2, -1, -1, 0, 2)),
    ("axpb", (A, B, blank((2, 4))), "RESULT", (2, 1, 0, 3, 4)),
    ("axpb", (full((1, 3)), B, blank((1, 3))), "RESULT", (2, 0, 1, 2, 1)),
    ("axpb", (full((1, 1)), full((1, 1)), blank((2, 1))), "RESULT", (2, 0, -1, 1, 2)),
    ("axpb", (A, B, bent((2, -3))), "RESULT", (2, 1, 0, 3, -3)),
    ("wild", (A, B, blank((2, 4))), "RESULT", (2, 1, 0, 3, 4)),
    ("bias", (full((2, 4)), full((4,)), blank((2, 5))), "RESULT", (2, 1, 0, 4, 5)),
    ("two", (A, B, R, R.copy(), blank((2, 4))), "RESULT", (4, 1, 0, 3, 4)),
    *(
        (name, one_of(at, null=True), "NULL_DATA", (at, -1, -1, 0, 0))
        for name in ("axpb", "plain", "wild")
        for at in range(3)
    ),
    *(
        (name, one_of(at, no_strides=True), "NULL_STRIDES", (at, 0, -1, 0, 2))
        for name in ("axpb", "wild")
        for at in range(3)
    ),
    *((name, one_of(at, odd=at + 1), "ALIGNMENT", (at, -1, -1, 4, 0)) for name in ("axpb", "wild") for at in range(3)),
    ("axpb", (bent((2, 3), (14, 4)), B, R), "STRIDE", (0, 0, -1, 4, 14)),
    ("axpb", (A, bent((2, 3), (12, -3), offset=8), R), "STRIDE", (1, 1, -1, 4, -3)),
    ("wild", (A, B, bent((2, 3), (12, 5))), "STRIDE", (2, 1, -1, 4, 5)),
    ("scalar", (full((), "f8"), bent((), odd=4), full((), "f8")), "ALIGNMENT", (1, -1, -1, 8, 0)),
    # A result between, before, over and across an operand: (extents, strides, offset).
    ("axpb", (shared(((2, 3), (12, 4), 0), ((2, 3), (12, 4), 24), ((2, 3), (12, 4), 4)),), "OVERLAP", (2, -1, 0, 0, 0)),
    ("axpb", (A, shared(((2, 3), (12, 4), 8), ((2, 3), (12, 4), 0))), "OVERLAP", (2, -1, 1, 0, 0)),
    ("axpb", (A, shared(((2, 3), (12, 4), 0), ((2, 3), (-12, 4), 12))), "OVERLAP", (2, -1, 1, 0, 0)),
    ("axpb", (A, shared(((2, 3), (12, 4), 0), ((2, 3), (4, 8), 0))), "OVERLAP", (2, -1, 1, 0, 0)),
    ("axpb", (A, shared(((1, 3), (12, 4), 0), ((2, 3), (12, 4), 0))), "OVERLAP", (2, -1, 1, 0, 0)),
    ("axpb", (A, shared(((2, 3), (24, 8), 0), ((2, 3), (12, 4), 4))), "OVERLAP", (2, -1, 1, 0, 0)),
    ("wild", (A, shared(((2, 3), (12, 4), 8), ((2, 3), (12, 4), 0))), "OVERLAP", (2, -1, 1, 0, 0)),
    ("wild", (A, shared(((3,), (4,), 12), ((2, 3), (12, 4), 0))), "OVERLAP", (2, -1, 1, 0, 0)),
    ("bias", (full((2, 4)), shared(((4,), (4,), 0), ((2, 4), (16, 4), 0))), "OVERLAP", (2, -1, 1, 0, 0)),
    ("narrow", (shared(((3,), (4,), 0), ((3,), (4,), 0)),), "OVERLAP", (1, -1, 0, 0, 0)),
    ("bits", (shared(((3,), (4,), 0), ((3,), (4,), 0)),), "OVERLAP", (1, -1, 0, 0, 0)),
    ("axpb", (A, B, bent((2, 3), (0, 4))), "REPEATS", (2, 0, -1, 4, 0)),
    ("axpb", (A, B, bent((2, 3), (4, 4))), "REPEATS", (2, 0, -1, 12, 4)),
    ("wild", (A, B, bent((2, 3), (12, 0))), "REPEATS", (2, 1, -1, 4, 0)),
    ("wild", (A, B, bent((2, 3), (8, -4))), "REPEATS", (2, 0, -1, 12, 8)),
    ("axpb", (A, bent((2, 3), (2**63 - 4, 4)), R), "SPAN", (1, 0, -1, HUGE, 2**63 - 4)),
    ("wild", (A, B, bent((2, 3), (8, -(2**62)))), "SPAN", (2, 1, -1, HUGE, -(2**62))),
    ("two", (A, B, shared(((2, 3), (12, 4), 0), ((2, 3), (12, 4), 0)), R.copy()), "OVERLAP", (3, -1, 2, 0, 0)),
    (
        "two",
        (A, B, shared(((2, 3), (12, 4), 0), ((2, 3), (12, 4), 24), ((2, 3), (12, 4), 0))),
        "OVERLAP",
        (2, -1, 4, 0, 0),
    ),
    ("wildtwo", (A, B, shared(((2, 3), (12, 4), 0), ((2, 3), (12, 4), 0)), R.copy()), "OVERLAP", (3, -1, 2, 0, 0)),
    ("power", (full((3,), "i4"), np.array([1, 0, -1], "i4"), blank((3,), "i4")), "DOMAIN", (-1, -1, -1, 0, 0)),
    ("wildpower", (full((3, 1), "i4"), np.array([1, -2], "i4"), blank((3, 2), "i4")), "DOMAIN", (-1, -1, -1, 0, 0)),
    ("powers", (full((2,), "i4"), np.array([1, -1], "i4"), *[blank((2,), "i4")] * 2), "DOMAIN", (-1, -1, -1, 0, 0)),
    ("wildpowers", (full((2,), "i4"), np.array([1, -1], "i4"), *[blank((2,), "i4")] * 2), "DOMAIN", (-1, -1, -1, 0, 0)),
]


def test_what_operands_are_refused_for(program, call, untold):
    cases = [call(name, *arrays, told=told) for name, arrays, _, _ in OPERANDS for told in (True, False)]
    outcomes = iter(program.run(*cases))
    for name, _, status, facts in OPERANDS:
        told, mute = next(outcomes), next(outcomes)
        place = f"{name}: {status} {facts}"
        assert (told.call.status, told.call.facts) == (status, facts), place
        assert told.shape == told.call, place
        assert (mute.call.status, mute.call.facts, mute.shape.status) == (status, untold, status), place
        assert told.untouched and mute.untouched, place


def test_what_results_and_memory_are_refused_for(program, call, untold):
    cases = [call(name, *arrays, told=told) for name, arrays, _, _ in ARRAYS for told in (True, False)]
    outcomes = iter(program.run(*cases))
    for name, _, status, facts in ARRAYS:
        told, mute = next(outcomes), next(outcomes)
        place = f"{name}: {status} {facts}"
        assert (told.call.status, told.call.facts) == (status, facts), place
        assert (told.shape.status, told.shape.facts) == ("OK", untold), place
        assert (mute.call.status, mute.call.facts) == (status, untold), place
        assert told.untouched and mute.untouched, place


def test_every_status_is_among_the_refusals():
    """All but those of shape functions, loops and declared alignment, which other tests have, and of reductions' run
    time, which standalone C does without."""
    elsewhere = {"SIZES", "MAPPED", "ENDLESS", "EMPTY", "ROW_DATA", "ROW_STRIDE"}
    refused = {"OK", *elsewhere, *(status for _, _, status, _ in OPERANDS + ARRAYS)}
    assert refused == {name for name, _ in statuses().values()}


# ---- what is allowed at the edges ------------------------------------------------------------------------------------

ROWS = ((2, 3), (12, 4), 0)
NEXT = ((2, 3), (12, 4), 24)
LAST = ((2, 3), (12, 4), 48)
IN_PLACE = [
    ("axpb", (shared(ROWS, NEXT, ROWS, size=48),), lambda a, b: (a + b * 2,)),
    ("plain", (shared(ROWS, NEXT, NEXT, size=48),), lambda a, b: (a + b * 2,)),
    ("axpb", (shared(ROWS, ROWS, ROWS, size=24),), lambda a, b: (a + b * 2,)),
    ("axpb", (shared(((2, 3), (-12, -4), 20), ROWS, ((2, 3), (-12, -4), 20), size=24),), None),
    ("axpb", (shared(((2, 3), (-12, -4), 20), NEXT, ((2, 3), (-12, -4), 20), size=48),), lambda a, b: (a + b * 2,)),
    (
        "axpb",
        (shared(((1, 3), (7, 4), 0), ((1, 3), (-5, 4), 12), ((1, 3), (99, 4), 0), size=24),),
        lambda a, b: (a + b * 2,),
    ),
    ("wild", (shared(ROWS, NEXT, ROWS, size=48),), lambda a, b: (a + b * 2,)),
    (
        "wild",
        (shared(((1, 3), (7, 4), 0), ((3,), (4,), 12), ((1, 3), (99, 4), 0), size=24),),
        lambda a, b: (a + b * 2,),
    ),
    ("two", (shared(ROWS, NEXT, NEXT, LAST, ((2, 3), (12, 4), 72), size=96),), lambda a, b: (a + b, a - b, a * 2)),
    ("two", (shared(ROWS, NEXT, ((2, 3), (12, 4), 72), LAST, ROWS, size=96),), lambda a, b: (a + b, a - b, a * 2)),
    ("two", (shared(ROWS, NEXT, ROWS, LAST, ((2, 3), (12, 4), 72), size=96),), None),
    ("wildtwo", (shared(ROWS, NEXT, NEXT, LAST, ((2, 3), (12, 4), 72), size=96),), lambda a, b: (a + b, a - b, a * 2)),
    ("wildtwo", (shared(ROWS, NEXT, ROWS, LAST, ((2, 3), (12, 4), 72), size=96),), None),
]


def test_a_result_may_be_an_operand_itself_unless_that_is_read_again(program, call):
    cases = [call(name, *arrays) for name, arrays, _ in IN_PLACE]
    for got, (name, _, function) in zip(program.run(*cases), IN_PLACE, strict=True):
        count = len(got.case.kernel.operands)
        if function is None:
            assert (got.call.status, got.call.facts[1]) == ("OVERLAP", -1), name
            assert got.untouched
            continue
        before = type(got)(got.case, got.shape, (), got.call, "", tuple(bytes_ for bytes_, *_ in got.case.buffers))
        wanted = function(*(before.values(at, "f4") for at in range(count)))
        assert got.call.status == "OK", name
        for at, expected in enumerate(wanted):
            assert np.array_equal(got.values(count + at, "f4"), expected), name


def test_arrays_side_by_side_do_not_overlap(program, call):
    cases = [
        call("axpb", A, shared(NEXT, ROWS, size=48)),
        call("axpb", A, shared(ROWS, ((2, 3), (-12, 4), 36), size=48)),
        call("scalar", full((), "f8"), shared(((), (), 8), ((), (), 0), size=16)),
        # Columns, and blocks of columns, of one matrix.
        call("axpb", A, shared(((2, 3), (24, 8), 0), ((2, 3), (24, 8), 4))),
        call("wild", A, shared(((2, 3), (24, 4), 0), ((2, 3), (24, 4), 12))),
    ]
    assert [got.call.status for got in program.run(*cases)] == ["OK"] * 5


def test_empty_arrays_need_no_data(program, call):
    nowhere = bent((0, 3), (12, 4), null=True, no_strides=True)
    cases = [
        *(call(name, nowhere, full((1, 3)), nowhere) for name in ("axpb", "plain", "wild")),
        call("wild", nowhere, bent((3,), (4,), null=True), nowhere),
        call("nothing", bent((0,), null=True), bent((1,), null=True), bent((0,), null=True)),
        call("power", bent((0,), null=True), np.array([-1], "i4"), bent((0,), null=True)),
        call("wildpowers", *[bent((0,), null=True)] * 4),
        call("two", nowhere, full((1, 3)), nowhere, nowhere, nowhere),
        call("axpb", bent((2**62, 0), null=True), full((1, 1)), bent((2**62, 0), null=True)),
        call("cube", bent((2**40, 2**40, 0), null=True), bent((2**40, 2**40, 0), null=True)),
    ]
    for got in program.run(*cases):
        assert (got.shape.status, got.call.status) == ("OK", "OK")
        assert got.untouched


def test_strides_of_dims_of_extent_1_mean_nothing(program, call):
    absurd = (2**63 - 1, 4)
    for name in ("axpb", "plain", "wild"):
        row = bent((1, 3), absurd, size=12)
        (got,) = program.run(call(name, row, bent((1, 3), (-(2**63), 4), size=12), bent((1, 3), (1, 4), size=12)))
        assert got.call.status == "OK"
        assert (got.values(2, "f4") == 0).all()


def test_absurd_strides_are_refused_without_overflow(program, call):
    strides = [(2**62, 2**62), (-(2**63), -(2**62)), (2**63 - 4, -(2**63)), (4, 2**63 - 4)]
    overlapping = shared(((3, 2), (8, 4), 4), ((3, 2), (8, 4), 0))
    cases = [call(name, bent((3, 2), absurd), overlapping) for name in ("axpb", "wild") for absurd in strides]
    for got in program.run(*cases):
        assert got.call.status == "SPAN"
        assert got.untouched


def test_operands_that_are_not_read_are_what_they_declare(program, call):
    (got,) = program.run(call("unread", V, bent((), rank=-5, null=True), blank((3,))))
    assert got.call.status == "RANK"
    assert got.untouched
