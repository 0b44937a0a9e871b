"""bcg_shape.h: every operation on every value of a small domain, against a reference that shares nothing with it.

Values are those of shape_c.py; a witness is True, False, ``"?"`` or an Error.
"""

from __future__ import annotations

import itertools
import math

import pytest

from shape_c import Error, Library, decode_size, encode_size

MOST = 2**63 - 1
SIZES = [0, 1, 2, 3, 7, 2**31, 2**32, 2**62, MOST - 1, MOST, "?", Error(0), Error(1), Error(5)]
EXTENTS = [0, 1, 2, 3, "?"]
ODD = ["*", Error(0), Error(2)]
SHAPES = [shape for rank in range(3) for shape in itertools.product(EXTENTS, repeat=rank)] + ODD
FEW = [shape for shape in SHAPES if isinstance(shape, tuple) and 3 not in shape and len(shape) < 2] + ODD + [
    (2, 3), ("?", 1), (1, "?"), (0, 1), (3,),
]  # fmt: skip


@pytest.fixture(scope="module")
def c(tmp_path_factory):
    return Library(tmp_path_factory.mktemp("runtime"))


def first_error(*values):
    return next((value for value in values if isinstance(value, Error)), None)


def witness(value):
    return {1: True, 0: "?"}.get(value, Error(-2 - value))


# ---- sizes -----------------------------------------------------------------------------------------------------------


def on_sizes(function, x, y):
    if first_error(x, y) is not None:
        return first_error(x, y)
    return "?" if "?" in (x, y) else function(x, y)


def limited(value):
    return value if value <= MOST else Error(0)


SIZE_OPS = {
    "add": ("bcg_size_add", lambda x, y: limited(x + y)),
    "mul": ("bcg_size_mul", lambda x, y: limited(x * y)),
    "div": ("bcg_size_div", lambda x, y: Error(0) if y == 0 else x // y),
    "max": ("bcg_size_max", max),
    "min": ("bcg_size_min", min),
}


@pytest.mark.parametrize("name", SIZE_OPS)
def test_arithmetic_of_sizes(c, name):
    function = getattr(c.c, SIZE_OPS[name][0])
    for x, y in itertools.product(SIZES, repeat=2):
        assert decode_size(function(encode_size(x), encode_size(y))) == on_sizes(SIZE_OPS[name][1], x, y), (x, y)


def join_of_sizes(x, y, message):
    if first_error(x, y) is not None:
        return first_error(x, y)
    known = {x, y} - {"?"}
    return Error(message) if len(known) == 2 else known.pop() if known else "?"


def test_join_of_sizes(c):
    for x, y in itertools.product(SIZES, repeat=2):
        assert decode_size(c.c.bcg_size_join(encode_size(x), encode_size(y), 3)) == join_of_sizes(x, y, 3), (x, y)


def test_an_index_becomes_a_size_unless_it_is_negative(c):
    assert [decode_size(c.c.bcg_size_from_index(index)) for index in (-(2**63), -2, -1, 0, 5, MOST)] == [
        *[Error(0)] * 3,
        *(0, 5, MOST),
    ]


# ---- shapes ----------------------------------------------------------------------------------------------------------


def unfit(*shapes):
    return first_error(*shapes) or ("*" if "*" in shapes else None)


def columns(shapes):
    rank = max(map(len, shapes))
    return list(zip(*[(1,) * (rank - len(shape)) + shape for shape in shapes], strict=True))


def broadcast_column(column, message):
    """By what the unknown extents may turn out to be."""
    outcomes = set()
    for filled in itertools.product(*[range(5) if extent == "?" else [extent] for extent in column]):
        known = set(filled) - {1}
        if len(known) < 2:
            outcomes.add(known.pop() if known else 1)
    return Error(message) if not outcomes else outcomes.pop() if len(outcomes) == 1 else "?"


def broadcast(shapes, message):
    if unfit(*shapes) is not None:
        return unfit(*shapes)
    extents = tuple(broadcast_column(column, message) for column in columns(shapes))
    return first_error(*extents) or extents


def test_broadcast(c):
    tuples = [*itertools.product(SHAPES, repeat=2), *itertools.product(FEW, repeat=3), *((shape,) for shape in SHAPES)]
    for shapes in tuples:
        assert c.to_shape("bcg_shape_broadcast", *c.shapes(shapes), 4) == broadcast(shapes, 4), shapes


def verdict(checks):
    """False if one is certain to fail, True if all are certain to hold."""
    checks = list(checks)
    return False if frozenset({False}) in checks else True if all(check == {True} for check in checks) else "?"


def fillings(column):
    return itertools.product(*[range(5) if extent == "?" else [extent] for extent in column])


def broadcastable(shapes):
    if first_error(*shapes) is not None:
        return False
    ranked = [shape for shape in shapes if shape != "*"]
    rank = max(map(len, ranked), default=0)
    # An unranked shape may have one more dim than the others.
    full = [("?",) * (rank + 1) if shape == "*" else shape for shape in shapes]
    return verdict(frozenset(len(set(filled) - {1}) < 2 for filled in fillings(column)) for column in columns(full))


def equal(shapes):
    if first_error(*shapes) is not None:
        return all(isinstance(shape, Error) for shape in shapes)
    ranks = {len(shape) for shape in shapes if shape != "*"}
    if len(ranks) > 1:
        return False
    rank = max(ranks, default=1)
    full = [("?",) * rank if shape == "*" else shape for shape in shapes]
    checks = [frozenset(len(set(filled)) == 1 for filled in fillings(column)) for column in zip(*full, strict=True)]
    # Its rank is open, too.
    return verdict([*checks, *[{True, False}] * ("*" in shapes and len(shapes) > 1)])


@pytest.mark.parametrize(
    "reference, predicate, constraint",
    [(broadcastable, "is_broadcastable", "cstr_broadcastable"), (equal, "shape_eq", "cstr_eq")],
)
def test_constraints_on_shapes(c, reference, predicate, constraint):
    for shapes in [*itertools.product(SHAPES, repeat=2), *itertools.product(FEW, repeat=3)]:
        given, expected = c.shapes(shapes), reference(shapes)
        truth = getattr(c.c, f"bcg_shape_{predicate}")(*given)
        assert {1: True, 0: False, -1: "?"}[truth] == expected, shapes
        failed = first_error(*shapes) or Error(4)
        # An error without a message of its own leaves the word to the constraint.
        told = Error(failed.message or 4) if expected is False or first_error(*shapes) is not None else expected
        assert witness(getattr(c.c, f"bcg_shape_{constraint}")(*given, 4)) == told, shapes


def any_of(shapes):
    if first_error(*shapes) is not None:
        return first_error(*shapes)
    ranked = [shape for shape in shapes if shape != "*"]
    if not ranked:
        return "*"
    known = [set(column) - {"?"} for column in zip(*ranked, strict=False)]
    if len(set(map(len, ranked))) > 1 or any(len(extents) > 1 for extents in known):
        return shapes[0]
    return tuple(extents.pop() if extents else "?" for extents in known)


def test_any(c):
    for shapes in [*itertools.product(SHAPES, repeat=2), *itertools.product(FEW, repeat=3)]:
        assert c.to_shape("bcg_shape_any", *c.shapes(shapes)) == any_of(shapes), shapes


def join(x, y, message):
    if unfit(x, y) is not None:
        return first_error(x, y) or (y if x == "*" else x)
    if len(x) != len(y):
        return Error(message)
    extents = tuple(join_of_sizes(*pair, message) for pair in zip(x, y, strict=True))
    return first_error(*extents) or extents


def elementwise(function):
    def of(x, y):
        if unfit(x, y) is not None:
            return unfit(x, y)
        if len(x) != len(y):
            return Error(0)
        return tuple(on_sizes(function, *pair) for pair in zip(x, y, strict=True))

    return of


PAIRS = {
    "concat": lambda x, y: unfit(x, y) or x + y,
    "max": elementwise(max),
    "min": elementwise(min),
}


@pytest.mark.parametrize("name", PAIRS)
def test_pairs_of_shapes(c, name):
    for x, y in itertools.product(SHAPES, repeat=2):
        assert c.to_shape(f"bcg_shape_{name}", c.shape(x), c.shape(y)) == PAIRS[name](x, y), (x, y)


def test_join_of_shapes(c):
    for x, y in itertools.product(SHAPES, repeat=2):
        assert c.to_shape("bcg_shape_join", c.shape(x), c.shape(y), 4) == join(x, y, 4), (x, y)


def test_ranks_above_the_most_are_invalid(c):
    ones = (1,) * 40
    assert c.to_shape("bcg_shape_concat", c.shape(ones), c.shape(ones[:24])) == (1,) * 64
    assert c.to_shape("bcg_shape_concat", c.shape(ones), c.shape(ones[:25])) == Error(0)
    sizes = c.ffi.new("int64_t[]", [1] * 65)
    assert c.to_shape("bcg_shape_from_extents", 64, sizes) == (1,) * 64
    assert c.to_shape("bcg_shape_from_extents", 65, sizes) == Error(0)


def test_extents_and_their_number(c):
    for shape in SHAPES:
        rank = first_error(shape) or ("?" if shape == "*" else len(shape))
        assert decode_size(c.c.bcg_shape_rank(c.shape(shape))) == rank, shape
        for dim in ["?", 0, 1, 2, MOST, Error(1)]:
            expected = first_error(shape, dim) or (
                "?" if shape == "*" or dim == "?" else shape[dim] if dim < len(shape) else Error(0)
            )
            for function in (c.c.bcg_shape_get_extent, c.c.bcg_shape_dim):
                assert decode_size(function(c.shape(shape), encode_size(dim))) == expected, (shape, dim)


def test_the_number_of_elements(c):
    for shape in [*SHAPES, (2**31, 2**31), (2**32, 2**31), (2**32, "?", 2**31), (2**32, 2**32, 0), (0, MOST, MOST)]:
        expected = first_error(shape) or ("?" if shape == "*" or "?" in shape else limited(math.prod(shape)))
        assert decode_size(c.c.bcg_shape_num_elements(c.shape(shape))) == expected, shape


def test_shapes_from_extents(c):
    for extents in itertools.product([0, 3, "?", Error(1), Error(2)], repeat=3):
        given = c.ffi.new("int64_t[]", [encode_size(extent) for extent in extents])
        assert c.to_shape("bcg_shape_from_extents", 3, given) == (first_error(*extents) or extents)


def test_splitting(c):
    for shape in [(), (4,), (4, 5, 6), (4, "?", 6)]:
        for index in range(-5, 6):
            expected = (shape[:index], shape[index:]) if abs(index) <= len(shape) else (Error(0), Error(0))
            assert c.to_shapes("bcg_shape_split_at", c.shape(shape), index) == expected
        for index in (-(2**63), 2**31, 2**32, MOST):
            assert c.to_shapes("bcg_shape_split_at", c.shape(shape), index) == (Error(0), Error(0))


def test_splitting_at_a_size(c):
    for shape in [(), (4,), (4, "?", 6), "*", Error(2)]:
        for size in [0, 1, 3, 4, MOST, "?", Error(1)]:
            expected = first_error(shape, size) or ("*" if "*" in (shape, size) or size == "?" else None)
            parts = (expected, expected)
            if expected is None:
                parts = (shape[:size], shape[size:]) if size <= len(shape) else (Error(0), Error(0))
            got = c.to_shapes("bcg_shape_split_at_size", c.shape(shape), encode_size(size))
            assert got == parts, (shape, size)


# ---- witnesses -------------------------------------------------------------------------------------------------------


def test_all_witnesses(c):
    values = {1: True, 0: "?", -2: Error(0), -5: Error(3)}
    for given in itertools.product(values, repeat=3):
        read = [values[value] for value in given]
        expected = first_error(*read) or (True if set(read) == {True} else "?")
        assert witness(c.c.bcg_shape_assuming_all(3, c.ffi.new("int32_t[]", given))) == expected


def test_a_required_predicate(c):
    assert [witness(c.c.bcg_shape_cstr_require(truth, 7)) for truth in (1, 0, -1)] == [True, Error(7), "?"]
