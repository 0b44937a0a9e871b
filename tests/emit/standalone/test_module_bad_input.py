"""Numbers at the ends of their types, given to C between guard pages: refused with operand and dim, or harmless.

What may be accepted is said by a model in Python's integers: where C takes descriptors that the model does not, memory
is at stake. Random kernels meet one fault each in test_module_random.py; test_module_calls.py has a table of statuses.
"""

from __future__ import annotations

import itertools
import math
import random

import numpy as np
import pytest

from bcastgen.api.functions import from_text
from bcastgen.emit.standalone import CForm
from c_harness import ADDRESS, Case, Harness, emit_module
from compile_flags import QUICK

MOST, LEAST = 2**63 - 1, -(2**63)
TEXTS = {
    "rows": "(f32[?,?] a, f32[?,?] b) -> a + b*2",
    "wild": "(f32[*] a, f32[*] b) -> a + b*2",
    "cube": "(f64[?,?,?] a) -> -a",
    "pairs": "(f32[?,2] a) -> a / 2",
    "power": "(i32[?] a, i32[?] b) -> a ** b",
    "function": "(f32[?,?] a) -> exp(a)",
    "half": "(f16[?] a) -> -a",
    "byte": "(u8[?] a, u8[?] b) -> a + b",
}
# Kernel -> descriptors of its arrays as (extents, strides), status, operand and dim. No array has an element of memory.
NUMBERS = [
    ("rows", [((2**32, 1), (4, 4)), ((1, 2**29), (4, 4)), ((2, 2), (8, 4))], "OVERFLOW", 2, -1),
    ("rows", [((MOST, MOST), (4, 4)), ((1, 1), (4, 4)), ((2, 2), (8, 4))], "OVERFLOW", 2, -1),
    ("rows", [((MOST, 2), (4, 4)), ((1, 1), (4, 4)), ((2, 2), (8, 4))], "OVERFLOW", 2, -1),
    ("wild", [((2**32, 1), (4, 4)), ((1, 2**29), (4, 4)), ((2, 2), (8, 4))], "OVERFLOW", 2, -1),
    ("wild", [((2,) * 63, (4,) * 63), ((2,) * 63, (4,) * 63), ((2,) * 63, (4,) * 63)], "OVERFLOW", 2, -1),
    ("wild", [((1,) * 65, (4,) * 65), ((1,), (4,)), ((1,) * 65, (4,) * 65)], "RANK_AT_MOST", 0, -1),
    ("cube", [((2**20, 2**20, 2**20), (8, 8, 8)), ((1, 1, 1), (8, 8, 8))], "OVERFLOW", 1, -1),
    ("pairs", [((2**60, 2), (8, 4)), ((1, 2), (8, 4))], "OVERFLOW", 1, -1),
    ("function", [((MOST, MOST), (4, 4)), ((1, 1), (4, 4))], "OVERFLOW", 1, -1),
    ("rows", [((LEAST, 1), (4, 4)), ((1, 1), (4, 4)), ((1, 1), (4, 4))], "NEGATIVE", 0, 0),
    ("rows", [((1, 1), (4, 4)), ((1, -1), (4, 4)), ((1, 1), (4, 4))], "NEGATIVE", 1, 1),
    ("rows", [((1, 1), (4, 4)), ((1, 1), (4, 4)), ((1, LEAST), (4, 4))], "RESULT", 2, 1),
    ("wild", [((LEAST, 1), (4, 4)), ((1,), (4,)), ((1, 1), (4, 4))], "NEGATIVE", 0, 0),
    ("half", [((LEAST,), (2,)), ((1,), (2,))], "NEGATIVE", 0, 0),
    ("rows", [((2, 2), (MOST, 4)), ((2, 2), (8, 4)), ((2, 2), (8, 4))], "STRIDE", 0, 0),
    ("rows", [((2, 2), (8, 4)), ((2, 2), (8, 4)), ((2, 2), (8, LEAST + 2))], "STRIDE", 2, 1),
    ("power", [((3,), (4,)), ((4,), (4,)), ((4,), (4,))], "BROADCAST", 1, 0),
    ("byte", [((3,), (1,)), ((3,), (1,)), ((3,), (0,))], "REPEATS", 2, 0),
]


@pytest.fixture(scope="module")
def kernels():
    made = [from_text(text, name) for name, text in TEXTS.items()]
    return dict(zip(TEXTS, emit_module(made, "bad", CForm()), strict=True))


@pytest.fixture(scope="module")
def harness(kernels, tmp_path_factory):
    return Harness(list(kernels.values()), tmp_path_factory.mktemp("bad"))


def check_numbers(kernels, program):
    cases = []
    for name, arrays, *_ in NUMBERS:
        case = Case(kernels[name])
        for extents, strides in arrays:
            # Of no size: the guard pages begin at once.
            case.view(case.hold(b""), extents, strides)
        cases.append(case)
    for got, (name, arrays, status, operand, dim) in zip(program.run(*cases), NUMBERS, strict=True):
        assert (got.call.status, got.call.operand, got.call.dim) == (status, operand, dim), (name, arrays, got.call)


def check_strides(kernels, program):
    """Strides that wrap around the address space: what spans it shares every byte with whatever there is."""
    cases = []
    for name in ("rows", "wild"):
        for stride in (MOST - 3, LEAST, 2**62, -(2**62)):
            case = Case(kernels[name])
            case.array(np.ones((1, 2), "f4")).array(np.ones((1, 1), "f4"))
            # One row: its stride is not read.
            cases.append(case.view(case.hold(bytes(8)), (1, 2), (stride, 4)))
    assert [got.call.status for got in program.run(*cases)] == ["OK"] * len(cases)


def check_empty(kernels, program):
    """Nothing is read of arrays without elements: neither data nor strides."""
    cases = []
    for name, shapes in (
        ("rows", [(0, 3), (1, 3), (0, 3)]),
        ("wild", [(MOST, 0), (1, 1), (MOST, 0)]),
        ("half", [(0,)] * 2),
    ):
        case = Case(kernels[name])
        for shape in shapes:
            case.view(None, shape, shape, no_strides=True)
        cases.append(case)
    assert [got.call.status for got in program.run(*cases)] == ["OK"] * len(cases)


# Either side of what integers of 8 to 64 bits hold, and of the sizes at which bytes, or halves of them, overflow.
EDGES = sorted(
    {0, 1, 2, 3, LEAST, LEAST + 1, LEAST + 4, MOST, MOST - 3}
    | {s * 2**bits + by for bits in (7, 15, 16, 31, 32, 33, 60, 61, 62) for by in (-1, 0, 1, 4) for s in (-1, 1)}
)
FITTING = {"rows": [(2, 3)] * 3, "wild": [(2, 3)] * 3, "cube": [(2, 1, 3)] * 2, "power": [(3,)] * 3, "byte": [(3,)] * 3}


def span(extents, strides, size):
    """The first and one past the last byte that an array has, from its data; None if it has no element."""
    if 0 in extents:
        return None
    steps = [(extent - 1) * stride for extent, stride in zip(extents, strides, strict=True) if extent != 1]
    return sum(min(step, 0) for step in steps), sum(max(step, 0) for step in steps) + size


def lies_outside(extents, strides, size, held):
    """Whether an array may be one that somebody has, but not one of so many bytes."""
    bounds = span(extents, strides, size)
    could_be = bounds[1] - bounds[0] <= MOST and all(step % size == 0 for step in strides)
    return could_be and (bounds[0] < 0 or bounds[1] > held)


def check_fields(kernels, program):
    """Each extent, stride and rank of each array is each edge in turn: what is accepted lies in its memory."""
    cases = []
    for name, shapes in FITTING.items():
        sizes = [dtype.bytes for dtype in (*kernels[name].operands, *kernels[name].results)]
        dense = [np.empty(shape, f"V{size}").strides for shape, size in zip(shapes, sizes, strict=True)]
        for at, part in itertools.product(range(len(shapes)), ("extents", "strides", "rank")):
            for edge, dim in itertools.product(EDGES, range(len(shapes[at]) if part != "rank" else 1)):
                # Of another rank that there may be C would read extents.
                if part == "rank" and (not -(2**31) <= edge < 2**31 or len(shapes[at]) < edge <= 64):
                    continue
                case, outside = Case(kernels[name]), False
                for k, (shape, strides, size) in enumerate(zip(shapes, dense, sizes, strict=True)):
                    numbers = {"extents": list(shape), "strides": list(strides)}
                    if k == at and part != "rank":
                        numbers[part][dim] = edge
                    held = math.prod(shape) * size
                    if (k, part) == (at, "strides"):
                        outside = lies_outside(*numbers.values(), size, held)
                    rank = edge if (k, part) == (at, "rank") else None
                    case.view(case.hold(bytes(held)), *numbers.values(), rank=rank)
                # C cannot know how much memory there is.
                cases += [] if outside else [case]
    for got in program.run(*cases):
        sizes = [dtype.bytes for dtype in (*got.case.kernel.operands, *got.case.kernel.results)]
        shown = f"{got.case.kernel.function} {[array[2:] for array in got.case.arrays]} {got.shape} {got.call}"
        if got.shape.status == "OK":
            assert math.prod(got.extents[0]) * sizes[-1] <= MOST, shown
        if got.call.status != "OK":
            assert got.untouched, shown
            continue
        for array, size, (held, *_) in zip(got.case.arrays, sizes, got.case.buffers, strict=True):
            bounds = span(*array[-2:], size)
            assert bounds is None or (bounds[0] >= 0 and bounds[1] <= held.size), shown


def check_products(kernels, program):
    """Extents of two operands whose product has about as many bytes as an array can have."""
    cases, wanted = [], []
    for name, size in (("rows", 4), ("wild", 4)):
        for bits, by, other in itertools.product(range(28, 61), (-1, 0, 1), (-1, 0, 1)):
            x, y = 2**bits + by, 2 ** (61 - bits) + other
            case = Case(kernels[name])
            for extents in ((x, 1), (1, y), (2, 2)):
                case.view(None, extents, (4, 4))
            cases.append(case)
            wanted.append("OK" if x * y * size <= MOST else "OVERFLOW")
    outcomes = program.run(*cases)
    assert [got.shape.status for got in outcomes] == wanted
    assert all(got.untouched and got.call.status != "OK" for got in outcomes)


def places(extents, strides, offset, size):
    """Every byte of an array, with those that several elements have as often."""
    ranges = [[step * index for index in range(extent)] for extent, step in zip(extents, strides, strict=True)]
    return [offset + sum(index) + byte for index in itertools.product(*ranges) for byte in range(size)]


def nests(extents, strides, size):
    """Whether each stride is beyond all that smaller ones reach."""
    for step, extent in sorted(zip(map(abs, strides), extents, strict=True)):
        if extent == 1:
            continue
        if step < size:
            return False
        size += step * (extent - 1)
    return True


def check_results(kernels, program):
    """Results of any strides: those are taken whose strides nest, and never those of which elements share memory."""
    cases, facts = [], []
    for extents in itertools.product((1, 2, 3), repeat=2):
        for strides in itertools.product((*range(-20, 21, 4), 36), repeat=2):
            own = places(extents, strides, 0, 4)
            case = Case(kernels["rows"] if len(cases) % 2 else kernels["wild"])
            case.array(np.ones(extents, "f4")).array(np.ones(extents, "f4"))
            # No memory but its own, from first to last.
            case.view(case.hold(bytes(max(own) - min(own) + 1)), extents, strides, -min(own))
            cases.append(case)
            facts.append((len(own) != len(set(own)), nests(extents, strides, 4)))
    for got, (repeats, nest) in zip(program.run(*cases), facts, strict=True):
        shown = f"{got.case.arrays[2]} {got.call}"
        assert got.call.status == ("OK" if nest else "REPEATS"), shown
        assert not (nest and repeats), shown


def sliced(chance, parent):
    """Some of an array: every element or every second one along each dim, in either direction, or one; maybe turned."""
    index = []
    for extent in parent.shape:
        first = chance.randrange(extent)
        last = chance.randrange(first, extent)
        index.append(slice(first, last + 1, chance.choice((1, 1, 2))))
    part = parent[tuple(index)]
    part = part[tuple(slice(None, None, chance.choice((1, 1, -1))) for _ in part.shape)]
    return part.transpose(chance.sample(range(part.ndim), part.ndim)) if chance.random() < 0.2 else part


def check_pairs(kernels, program):
    """A result and an operand in one buffer: taken if, and only if, no byte is shared or all of it is."""
    chance, cases, facts = random.Random(11), [], []
    while len(cases) < 900:
        parent = np.zeros([chance.randint(1, 7) for _ in range(3)], "f4")
        at = parent.ctypes.data
        if len(cases) % 3:
            result, operand = sliced(chance, parent), sliced(chance, parent)
            exact = True
        else:
            # Strides of any kind.
            shapes = [[chance.randint(1, 4) for _ in range(3)] for _ in range(2)]
            made = [[chance.choice((4, 8, 12, 20, 28)) * chance.choice((1, 1, 3)) for _ in range(3)] for _ in range(2)]
            room = [sum((n - 1) * s for n, s in zip(*pair, strict=True)) for pair in zip(shapes, made, strict=True)]
            parent = np.zeros(max(room) // 4 + 8, "f4")
            at = parent.ctypes.data
            result, operand = (
                np.ndarray(shape, "f4", parent, 4 * chance.randrange(7), strides)
                for shape, strides in zip(shapes, made, strict=True)
            )
            exact = False
        fits = all(extent in (1, own) for extent, own in zip(operand.shape, result.shape, strict=True))
        if not (fits and nests(result.shape, result.strides, 4)):
            continue
        case = Case(kernels["wild"])
        buffer = case.hold(parent.tobytes())
        case.view(buffer, operand.shape, operand.strides, operand.ctypes.data - at)
        case.array(np.ones(result.shape, "f4"))
        case.view(buffer, result.shape, result.strides, result.ctypes.data - at)
        cases.append(case)
        same = [
            (x.ctypes.data, x.shape, [step for extent, step in zip(x.shape, x.strides, strict=True) if extent > 1])
            for x in (result, operand)
        ]
        facts.append((exact, same[0] == same[1] or not np.shares_memory(result, operand)))
    statuses = [got.call.status for got in program.run(*cases)]
    for status, (exact, fine), case in zip(statuses, facts, cases, strict=True):
        shown = f"{case.arrays} {status}"
        assert status in ("OK", "OVERLAP"), shown
        assert fine or status == "OVERLAP", shown
        assert not (exact and fine) or status == "OK", shown
    # Strides of any kind are told apart more often than not, too.
    apart = [status for status, (exact, fine) in zip(statuses, facts, strict=True) if fine and not exact]
    assert 2 * apart.count("OK") > len(apart) > 50


CHECKS = [check_numbers, check_strides, check_empty, check_fields, check_products, check_results, check_pairs]


@pytest.fixture(scope="module")
def sanitized(harness):
    return harness.build("gcc", (QUICK, *ADDRESS), guarded=True)


@pytest.mark.parametrize("check", CHECKS)
def test_under_sanitizers(check, kernels, sanitized):
    check(kernels, sanitized)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["gcc", "clang"])
def test_in_optimised_code(kind, kernels, harness):
    program = harness.build(kind, ("-O3",), guarded=True)
    for check in CHECKS:
        check(kernels, program)
