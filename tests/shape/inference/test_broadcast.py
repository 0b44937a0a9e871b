"""Inference against NumPy: every combination of small types, and every array that they stand for.

For each combination of types, the arrays they describe are enumerated, and what `broadcast` says of the types is
compared with what NumPy does with all of the arrays: errors are certain, inferred dims are true and as exact as they
can be, and the constraints hold for exactly the arrays that broadcast.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from bcastgen.core.errors import BcastgenError, BroadcastError, ParseError
from bcastgen.core.operand_names import operand_names
from bcastgen.shape.constraints import Stretches
from bcastgen.shape.inference.broadcast import BroadcastInfo, broadcast, infer_broadcast
from bcastgen.shape.types.dim import Dim
from bcastgen.shape.types.tensor_type import TensorType, parse_type
from small_types import ANY, Extents, erasures, instances, numpy_shape, types


def is_instance(shape: Extents, dims: tuple[Dim, ...], unranked: bool) -> bool:
    if len(shape) < len(dims) or (len(shape) > len(dims) and not unranked):
        return False
    trailing = shape[len(shape) - len(dims) :]
    return all(dim.extent in (None, extent) for dim, extent in zip(dims, trailing, strict=True))


def infer(operands: tuple[TensorType, ...]) -> BroadcastInfo | None:
    try:
        return broadcast(list(zip(operand_names(len(operands)), operands, strict=True)))
    except BroadcastError:
        return None


def compare(operands: tuple[TensorType, ...], extents: Extents, leading: int = 2) -> None:
    """Compare what is inferred of types with NumPy's verdict on every combination of their instances."""
    info = infer(operands)
    combinations = itertools.product(*(instances(type_, extents, leading) for type_ in operands))
    if info is None:
        assert all(numpy_shape(*shapes) is None for shapes in combinations), operands
        return
    names = operand_names(len(operands))
    legal: list[Extents] = []
    all_legal = True
    for shapes in combinations:
        actual = dict(zip(names, shapes, strict=True))
        domain = info.domain(actual)
        expected = numpy_shape(*shapes)
        holds = all(constraint.holds(actual, domain) for constraint in info.constraints)
        assert holds == (expected is not None), (operands, shapes, info)
        all_legal &= holds
        if expected is not None:
            assert domain == expected, (operands, shapes)
            assert is_instance(expected, info.dims, info.unranked), (operands, shapes, info)
            legal.append(expected)
    assert legal, f"{operands} can never broadcast, which was not noticed"
    assert all_legal == (not info.constraints), (operands, info)
    assert info.unranked == any(type_.unranked for type_ in operands)
    check_exact(info, legal)


def check_exact(info: BroadcastInfo, legal: list[Extents]) -> None:
    """Nothing more could have been inferred: the bound of the rank is reached, and what is one extent is known."""
    assert min(map(len, legal)) == len(info.dims)
    for position in range(1, len(info.dims) + 1):
        seen = {shape[-position] for shape in legal}
        assert info.dims[-position].is_static == (len(seen) == 1), (info, position)


def test_which_dims_stretch() -> None:
    """A dim is said to stretch exactly if there are arrays in which it does."""
    some = types(range(3), (1, 2, "n", ANY)) + types(range(2), (2, ANY), unranked=True)
    triples = itertools.product(types(range(2), (1, 2, "n", "m", ANY)), repeat=3)
    for operands in itertools.chain(itertools.product(some, repeat=2), triples):
        info = infer(operands)
        assert info is not None
        names = operand_names(len(operands))
        seen = set()
        for shapes in itertools.product(*(instances(type_, (1, 2)) for type_ in operands)):
            actual = dict(zip(names, shapes, strict=True))
            domain = info.domain(actual)
            if not all(constraint.holds(actual, domain) for constraint in info.constraints):
                continue
            for name, type_, shape in zip(names, operands, shapes, strict=True):
                for position, own, dim in type_.aligned:
                    if not dim.is_static and shape[-position] == 1 != domain[-position]:
                        seen.add((name, own))
        assert seen == info.stretching, operands


def test_every_pair_of_ranks_0_to_3() -> None:
    for pair in itertools.product(types(range(4), (0, 1, 2, 3, ANY)), repeat=2):
        compare(pair, (0, 1, 2, 3))


def test_every_triple_of_ranks_0_to_2() -> None:
    for triple in itertools.product(types(range(3), (0, 1, 2, 3, ANY)), repeat=3):
        compare(triple, (0, 1, 2, 3))


def test_every_quadruple_of_ranks_0_and_1() -> None:
    for quadruple in itertools.product(types(range(2), (0, 1, 2, 3, ANY)), repeat=4):
        compare(quadruple, (0, 1, 2, 3))


def test_every_pair_with_unranked_operands() -> None:
    some = types(range(3), (0, 1, 2, ANY)) + types(range(2), (0, 1, 2, ANY), unranked=True)
    for pair in itertools.product(some, repeat=2):
        if any(type_.unranked for type_ in pair):
            compare(pair, (0, 1, 2), leading=3)


def test_every_triple_with_unranked_operands() -> None:
    some = types(range(2), (0, 2, ANY)) + types(range(2), (1, ANY), unranked=True)
    for triple in itertools.product(some, repeat=3):
        if any(type_.unranked for type_ in triple):
            compare(triple, (0, 1, 2))


def test_static_shapes_need_no_checks_and_infer_what_numpy_gives() -> None:
    for pair in itertools.product(types(range(4), (0, 1, 2)), repeat=2):
        info = infer(pair)
        shapes = [tuple(dim.extent for dim in type_.dims if dim.extent is not None) for type_ in pair]
        expected = numpy_shape(*shapes)
        assert (None if info is None else tuple(dim.extent for dim in info.dims)) == expected
        assert info is None or info.constraints == ()


def test_dims_are_checked_one_by_one() -> None:
    """Of a pair of types, each dim gets the checks that it would get on its own."""
    for a, b in itertools.product(types(range(4), (0, 1, 3, ANY)), repeat=2):
        info = infer((a, b))
        if info is None:
            continue
        rank = len(info.dims)
        padded = [(Dim(1),) * (rank - len(type_.dims)) + type_.dims for type_ in (a, b)]
        alone = [
            (constraint.operand, d) if isinstance(constraint, Stretches) else None
            for d in range(rank)
            for constraint in broadcast(
                [(name, TensorType(None, (row[d],))) for name, row in zip("ab", padded, strict=True)]
            ).constraints
        ]
        together = [
            (constraint.operand, constraint.domain_dim) if isinstance(constraint, Stretches) else None
            for constraint in info.constraints
        ]
        assert sorted(map(str, alone)) == sorted(map(str, together))


def test_entry_checks_hold_for_exactly_the_arrays_of_these_types() -> None:
    """A caller may pass any array: what holds then is that arrays are of their types, and broadcast."""
    shapes = [shape for rank in range(3) for shape in itertools.product((0, 1, 2), repeat=rank)]
    some = types(range(3), (0, 1, 2, ANY)) + types(range(2), (2, ANY), unranked=True)
    for a, b in itertools.product(some, repeat=2):
        try:
            info = broadcast([("a", a), ("b", b)], entry=True)
        except BroadcastError:
            continue
        for x, y in itertools.product(shapes, repeat=2):
            actual = {"a": x, "b": y}
            holds = all(constraint.holds(actual, info.domain(actual)) for constraint in info.constraints)
            declared = is_instance(x, a.dims, a.unranked) and is_instance(y, b.dims, b.unranked)
            assert holds == (declared and numpy_shape(x, y) is not None), (a, b, x, y, info)


def test_erasing_an_extent_never_makes_a_legal_call_illegal() -> None:
    for a, b in itertools.product(types(range(3), (0, 1, 2, ANY)), repeat=2):
        if infer((a, b)) is None:
            continue
        calls = [
            pair for pair in itertools.product(instances(a, (0, 1, 2)), instances(b, (0, 1, 2))) if numpy_shape(*pair)
        ]
        for erased in [(less, b) for less in erasures(a)] + [(a, less) for less in erasures(b)]:
            info = infer(erased)
            assert info is not None
            for x, y in calls:
                actual = {"a": x, "b": y}
                assert all(constraint.holds(actual, info.domain(actual)) for constraint in info.constraints)


def binding(operands: Iterable[TensorType], shapes: Iterable[Extents]) -> dict[str, int] | None:
    """Return symbol -> extent, or None where a symbol would have two."""
    bound: dict[str, int] = {}
    for type_, shape in zip(operands, shapes, strict=True):
        for dim, extent in zip(type_.dims, shape, strict=True):
            if dim.symbol is not None and bound.setdefault(dim.symbol, extent) != extent:
                return None
    return bound


@pytest.mark.parametrize(
    ("ranks", "values", "operands"),
    [(range(3), (1, 2, "n", "m", ANY), 2), (range(2), (0, 1, 2, "n", "m", ANY), 3), (range(2), (2, "n", ANY), 4)],
)
def test_symbols(ranks: range, values: tuple[int | str | None, ...], operands: int) -> None:
    """Constraints hold for exactly the arrays that broadcast and give each symbol one extent."""
    names = operand_names(operands)
    for combination in itertools.product(types(ranks, values), repeat=operands):
        info = infer(combination)
        if info is None:
            assert all(
                numpy_shape(*row) is None for row in itertools.product(*(instances(t, (0, 1, 2)) for t in combination))
            )
            continue
        for shapes in itertools.product(*(instances(type_, (0, 1, 2)) for type_ in combination)):
            actual = dict(zip(names, shapes, strict=True))
            domain = info.domain(actual)
            bound = binding(combination, shapes)
            expected = numpy_shape(*shapes) if bound is not None else None
            holds = all(constraint.holds(actual, domain) for constraint in info.constraints)
            assert holds == (expected is not None), (combination, shapes, info)
            if expected is not None and bound is not None:
                inferred = [bound[dim.symbol] if dim.symbol is not None else dim.extent for dim in info.dims]
                assert all(dim in (None, extent) for dim, extent in zip(inferred, expected, strict=True))


def infer_dim(a: Dim, b: Dim) -> Dim:
    """Return the dim that two operands' dims span together: InferDim of the trait's pseudo-code."""
    return broadcast([("dim0", TensorType(None, (a,))), ("dim1", TensorType(None, (b,)))]).dims[0]


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        (ANY, ANY, "?"),
        (ANY, 1, "?"),
        (ANY, 4, "4"),
        (1, 1, "1"),
        (1, 4, "4"),
        (4, 4, "4"),
        (0, 0, "0"),
        (0, 1, "0"),
        (0, ANY, "0"),
        ("n", "n", "n"),
        ("n", 1, "n"),
        ("n", 4, "4"),
        ("n", 0, "0"),
        ("n", "m", "?"),
        ("n", ANY, "?"),
    ],
)
def test_infer_dim(a: int | str | None, b: int | str | None, expected: str) -> None:
    assert str(infer_dim(Dim(a), Dim(b))) == str(infer_dim(Dim(b), Dim(a))) == expected


@pytest.mark.parametrize(("a", "b"), [(2, 3), (0, 2)])
def test_infer_dim_refuses(a: int, b: int) -> None:
    with pytest.raises(BroadcastError, match=f"extent {b}, expected 1 or {a}"):
        infer_dim(Dim(a), Dim(b))
    with pytest.raises(BroadcastError, match=f"extent {a}, expected 1 or {b}"):
        infer_dim(Dim(b), Dim(a))


def test_infer_dim_does_not_depend_on_the_order() -> None:
    dims = [Dim(value) for value in (0, 1, 2, "n", "m", ANY)]

    def fold(*order: Dim) -> Dim | None:
        inferred = Dim(1)
        try:
            for dim in order:
                inferred = infer_dim(inferred, dim)
        except BroadcastError:
            return None
        return inferred

    for row in itertools.product(dims, repeat=4):
        assert len({fold(*order) for order in itertools.permutations(row)}) == 1


def given(*operands: str, **options: Any) -> BroadcastInfo:
    return broadcast(list(zip(operand_names(len(operands)), operands, strict=True)), **options)


@pytest.mark.parametrize(
    ("operands", "setters"),
    [
        (("f32[2, 1]", "f32[3]"), ("a", "b")),
        (("f32[1]", "f32[1]"), ("a",)),
        (("f32[]", "f32[1]"), ("b",)),
        (("f32[?]", "f32[4]", "f32[4]"), ("b",)),
        (("f32[?]", "f32[1]"), (None,)),
        (("f32[1, 0]", "f32[*]"), (None, "a")),
        (("f32[n]", "f32[m]"), (None,)),
    ],
)
def test_setters(operands: tuple[str, ...], setters: tuple[str | None, ...]) -> None:
    assert given(*operands).setters == setters


def test_symbols_are_bound_where_they_occur_first() -> None:
    assert given("f32[n, m]", "f32[k, n]", "f32[*, j]").symbols == (
        ("n", "a", 0),
        ("m", "a", 1),
        ("k", "b", 0),
        ("j", "c", -1),
    )


def test_an_error_has_its_facts() -> None:
    with pytest.raises(BroadcastError) as caught:
        broadcast([("x", "f32[7, 1, 3]"), ("y", "f32[5, 1]"), ("z", "f32[4, 3]")])
    error = caught.value
    assert (error.operand, error.dim, error.actual, error.expected, error.against) == ("z", 0, 4, 5, "y")
    with pytest.raises(BroadcastError) as caught:
        given("f32[3]", "f32[*, 2]")
    assert (caught.value.operand, caught.value.dim) == ("b", -1)


def test_document_mode_ignores_unranked_operands() -> None:
    info = given("f32[*]", "f32[1, ?]", "f32[*, 3]", mode="document")
    assert (info.dims, info.unranked, info.operands, info.constraints) == ((Dim(1), Dim()), False, ("b",), ())
    info = given("f32[*, 2]", "f32[*, 3]", mode="document")
    assert (info.dims, info.unranked, info.operands) == ((), True, ("a", "b"))


def test_document_mode_infers_the_same_of_ranked_operands() -> None:
    for pair in itertools.product(types(range(3), (0, 1, 2, "n", ANY)), repeat=2):
        sound = infer(pair)
        if sound is not None:
            document = broadcast(list(zip("ab", pair, strict=True)), mode="document")
            assert (document.dims, document.constraints) == (sound.dims, sound.constraints)


@pytest.mark.parametrize(
    ("operands", "expected"),
    [
        (("f32[?, 1]", "f32[3]"), "f32[?, 3]"),
        (("f32[4]", "f64[1]"), "[4]"),
        (("[4]", "f32[1]"), "[4]"),
        (("f32[n]", "f32[n]"), "f32[n]"),
        (("f32[4]", "f32[*]"), "f32[*, 4]"),
        (("f32[1]", "f32[*]"), "f32[*, ?]"),
        (("f32", "f32"), "f32[*]"),
        (("vector<4xf32>", "vector<2x1xf32>"), "vector<2x4xf32>"),
        (("vector<4xf32>", "tensor<2x1xf32>"), "f32[2, 4]"),
        (("vector<4xf32>", "vector<4xi1>"), "[4]"),
        (("i1[?]",), "bool[?]"),
    ],
)
def test_infer_broadcast(operands: tuple[str, ...], expected: str) -> None:
    assert str(infer_broadcast(*operands)) == expected
    assert str(infer_broadcast(*map(parse_type, operands))) == expected


def test_infer_broadcast_in_document_mode() -> None:
    assert str(infer_broadcast("f32[1]", "f32[*]", mode="document")) == "f32[1]"
    assert str(infer_broadcast("f32[*, 4]", "f32[*]", mode="document")) == "f32[*]"


def test_names_of_many_operands() -> None:
    with pytest.raises(BroadcastError, match="operand 'operand27' dim 0 has extent 3, expected 1 or 2"):
        infer_broadcast(*["f32[2]"] * 27, "f32[3]")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: broadcast([]), "0 operands, expected 1 or more"),
        (infer_broadcast, "0 operands, expected 1 or more"),
        (lambda: given("f32[4]", mode="exact"), "mode 'exact' is unknown; use one of sound, document"),
    ],
)
def test_refuses(call: Callable[[], object], message: str) -> None:
    with pytest.raises(BcastgenError) as caught:
        call()
    assert message in str(caught.value)


def test_a_text_that_is_no_type() -> None:
    with pytest.raises(ParseError, match="column 7"):
        infer_broadcast("f32[4 5]")


def test_prints() -> None:
    assert str(given("f32[?, 4]", "f32[5, 1]")) == "[5, 4] with a.0 in {1, 5}"
    assert str(given("f32[*]")) == "[*]"
