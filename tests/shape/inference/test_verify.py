"""Verification of every small combination of operand and result types, in both modes.

Sound: accepted is what some arrays of these types can do, and the constraints hold for exactly the arrays that do it.
Document: accepted is what seed 000's pseudo-code accepts, which stands here once more, as it is written there.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pytest

import bcastgen as bg
from bcastgen.core.errors import BcastgenError, BroadcastError, ParseError
from bcastgen.shape.constraints import Constraint
from bcastgen.shape.inference.broadcast import broadcast
from bcastgen.shape.inference.verify import verify_broadcast, verify_result
from bcastgen.shape.types.tensor_type import TensorType, parse_signature, parse_type
from small_types import ANY, Extents, erasures, instances, numpy_shape, types


def is_instance(shape: Extents, type_: TensorType) -> bool:
    if len(shape) < len(type_.dims) or (len(shape) > len(type_.dims) and not type_.unranked):
        return False
    trailing = shape[len(shape) - len(type_.dims) :]
    return all(dim.extent in (None, extent) for dim, extent in zip(type_.dims, trailing, strict=True))


def sound(operands: Sequence[TensorType], result: TensorType) -> tuple[Constraint, ...] | None:
    try:
        return verify_broadcast(operands, result)
    except BroadcastError:
        return None


def compare(operands: tuple[TensorType, ...], results: list[TensorType], extents: Extents, leading: int = 2) -> None:
    """Compare verdicts of mode "sound" with what all arrays of the operands' types do."""
    combinations = list(itertools.product(*(instances(type_, extents, leading) for type_ in operands)))
    verdicts = {result: sound(operands, result) for result in results}
    names = "abc"[: len(operands)]
    reached: set[TensorType] = set()
    try:
        info = broadcast(list(zip(names, operands, strict=True)))
    except BroadcastError:
        assert not any(numpy_shape(*shapes) is not None for shapes in combinations)
        assert set(verdicts.values()) == {None}
        return
    for shapes in combinations:
        shape = numpy_shape(*shapes)
        actual = dict(zip(names, shapes, strict=True))
        domain = info.domain(actual)
        for result, constraints in verdicts.items():
            legal = shape is not None and is_instance(shape, result)
            if legal:
                reached.add(result)
            if constraints is not None:
                holds = all(constraint.holds(actual, domain) for constraint in constraints)
                assert holds == legal, (operands, result, shapes, constraints)
    for result, constraints in verdicts.items():
        assert (constraints is not None) == (result in reached), (operands, result, constraints)


def test_sound_ranked_pairs() -> None:
    results = types(range(3), (0, 1, 2, 3, ANY)) + types(range(2), (0, 1, 2, ANY), unranked=True)
    for pair in itertools.product(types(range(2), (0, 1, 2, 3, ANY)), repeat=2):
        compare(pair, results, (0, 1, 2, 3))
    results = types(range(1, 4), (1, 2, ANY)) + types(range(4), (1, 2), unranked=True)
    for pair in itertools.product(types(range(3), (1, 2, ANY)), repeat=2):
        compare(pair, results, (1, 2, 3))


def test_sound_one_and_three_operands() -> None:
    results = types(range(3), (0, 1, 2, ANY)) + types(range(2), (0, 1, 2, ANY), unranked=True)
    for one in types(range(3), (0, 1, 2, ANY)) + types(range(3), (0, 1, ANY), unranked=True):
        compare((one,), results, (0, 1, 2))
    for triple in itertools.product(types(range(2), (0, 1, 2, ANY)), repeat=3):
        compare(triple, results, (0, 1, 2))


def test_sound_with_unranked_operands() -> None:
    some = types(range(2), (0, 1, 2, ANY)) + types(range(2), (1, 2, ANY), unranked=True)
    results = types(range(3), (0, 1, 2, ANY)) + types(range(2), (0, 1, 2, ANY), unranked=True)
    for pair in itertools.product(some, repeat=2):
        if any(type_.unranked for type_ in pair):
            compare(pair, results, (0, 1, 2))


def document(operands: Sequence[TensorType], result: TensorType) -> bool:
    """Seed 000's verification, from InferDim to its last line; ? is None, and 0 is as in NumPy."""

    def infer_dim(dim0: int | None, dim1: int | None) -> int | None:
        match (dim0, dim1):
            case (None, None) | (None, 1) | (1, 1):
                return dim0
            case (None, _):
                return dim1
            case (1, _):
                return dim1
            case (_, None) | (_, 1):
                return dim0
        if dim0 != dim1:
            raise ValueError
        return dim0

    def expand_rank(shape: list[int | None], rank: int) -> list[int | None]:
        return [1] * (rank - len(shape)) + shape

    def infer_shape(shape0: list[int | None], shape1: list[int | None]) -> list[int | None]:
        rank = max(len(shape0), len(shape1))
        return [infer_dim(*dims) for dims in zip(expand_rank(shape0, rank), expand_rank(shape1, rank), strict=True)]

    ranked = [[dim.extent for dim in type_.dims] for type_ in operands if not type_.unranked]
    inferred = ranked[0] if ranked else None
    try:
        for shape in ranked[1:]:
            assert inferred is not None
            inferred = infer_shape(inferred, shape)
    except ValueError:
        return False
    if result.unranked or inferred is None:
        return True
    actual = [dim.extent for dim in result.dims]
    if len(inferred) != len(actual):
        return False
    return not any(declared is not None and known != declared for known, declared in zip(inferred, actual, strict=True))


def test_document() -> None:
    some = types(range(3), (0, 1, 2, ANY)) + types(range(2), (1, 2, ANY), unranked=True)
    results = types(range(3), (0, 1, 2, ANY)) + types(range(2), (0, 1, 2, ANY), unranked=True)
    for operands in [*itertools.product(some, repeat=1), *itertools.product(some, repeat=2)]:
        for result in results:
            try:
                verify_broadcast(operands, result, mode="document")
            except BroadcastError:
                accepted = False
            else:
                accepted = True
            assert accepted == document(operands, result), (operands, result)


def test_what_the_document_accepts_of_ranked_types_is_sound() -> None:
    some = types(range(3), (0, 1, 2, ANY))
    for a, b, result in itertools.product(some, some, types(range(3), (0, 1, 2, ANY))):
        if document((a, b), result):
            assert sound((a, b), result) == verify_broadcast((a, b), result, mode="document")


def test_erasing_an_extent_never_makes_a_legal_combination_illegal() -> None:
    some = types(range(3), (0, 1, 2, ANY)) + types(range(2), (0, 1, 2, ANY), unranked=True)
    for row in itertools.product(some, repeat=3):
        if sound(row[:2], row[2]) is None:
            continue
        for index in range(3):
            for less in erasures(row[index]):
                erased = (*row[:index], less, *row[index + 1 :])
                assert sound(erased[:2], erased[2]) is not None, (row, erased)


def binding(shaped: Iterable[tuple[TensorType, Extents]]) -> dict[str, int] | None:
    bound: dict[str, int] = {}
    for type_, shape in shaped:
        trailing = shape[len(shape) - len(type_.dims) :]
        for dim, extent in zip(type_.dims, trailing, strict=True):
            if dim.symbol is not None and bound.setdefault(dim.symbol, extent) != extent:
                return None
    return bound


def test_symbols() -> None:
    """Constraints hold for exactly the arrays that broadcast to the result and give each symbol one extent."""
    some = types(range(3), (1, 2, "n", "m")) + types([0, 1], ("n",), unranked=True)
    results = types([1, 2], (1, "n", "m", "k")) + types([1], ("n", "k"), unranked=True)
    extents = (1, 2, 3)
    for pair in itertools.product(some, repeat=2):
        try:
            info = broadcast([("a", pair[0]), ("b", pair[1])])
        except BroadcastError:
            continue
        combinations = list(itertools.product(*(instances(type_, extents, 1) for type_ in pair)))
        for result in results:
            constraints = sound(pair, result)
            for shapes in combinations:
                shape = numpy_shape(*shapes)
                legal = shape is not None and is_instance(shape, result)
                if shape is not None and legal:
                    legal = binding(zip((*pair, result), (*shapes, shape), strict=True)) is not None
                if constraints is None:
                    assert not legal, (pair, result, shapes)
                else:
                    actual = dict(zip("ab", shapes, strict=True))
                    holds = all(constraint.holds(actual, info.domain(actual)) for constraint in constraints)
                    assert holds == legal, (pair, result, shapes, constraints)


def checks(signature: str, mode: Any = "sound") -> list[str]:
    parsed = parse_signature(signature)
    assert parsed.results is not None
    constraints = verify_broadcast([type_ for _, type_ in parsed.operands], parsed.results[0], mode)
    return [str(constraint) for constraint in constraints]


@pytest.mark.parametrize(
    ("signature", "expected"),
    [
        ("(f32[2], f32[1]) -> f32[2]", []),
        ("(f32[2], f32[1]) -> f32[?]", []),
        ("(f32[?]) -> f32[4]", ["r.0 = 4 = d0"]),
        ("(f32[?, ?]) -> f32[?, 1]", ["r.1 = 1 = d1"]),
        ("(f32[?], f32[4]) -> f32[4]", ["a.0 in {1, 4}"]),
        ("(f32[*]) -> f32[4]", ["r.rank = 1 = d.rank", "r.0 = 4 = d[-1]"]),
        ("(f32[*]) -> f32[*, 4]", ["r.rank = d.rank >= 1", "r.-1 = 4 = d[-1]"]),
        ("(f32[*, ?]) -> f32[*, 4]", ["r.-1 = 4 = d[-1]"]),
        ("(f32[?, ?]) -> f32[*, 4]", ["r.-1 = 4 = d1"]),
        ("(f32[n]) -> f32[n]", []),
        ("(f32[n]) -> f32[m]", []),
        ("(f32[n, m]) -> f32[k, k]", ["r.1 = r.0 (k)"]),
        ("(f32[n, n]) -> f32[k, k]", ["a.1 = a.0 (n)"]),
        ("(f32[n], f32[4]) -> f32[n]", ["a.0 in {1, 4}", "r.0 = a.0 (n)"]),
        ("(f32[n, 1], f32[m]) -> f32[m, n]", ["r.0 = b.0 (m)", "r.1 = a.0 (n)"]),
    ],
)
def test_what_remains(signature: str, expected: list[str]) -> None:
    assert checks(signature) == expected


def test_results_with_a_name_of_their_own() -> None:
    info = broadcast([("x", "f32[n]"), ("y", "f32[?]")])
    assert [str(constraint) for constraint in verify_result(info, "z", parse_type("f32[n]"))] == ["z.0 = x.0 (n)"]
    with pytest.raises(BroadcastError, match="'z' has rank 2, expected 1"):
        verify_result(info, "z", parse_type("f32[n, n]"))


def test_text_or_types_one_or_many() -> None:
    types_ = [parse_type("f32[?]"), parse_type("f32[4]")]
    assert verify_broadcast(types_, parse_type("f32[4]")) == verify_broadcast(["f32[?]", "tensor<4xf32>"], "f32[4]")
    assert verify_broadcast("f32[?]", "f32[?]") == verify_broadcast(types_[0], types_[0]) == ()


@pytest.mark.parametrize(
    ("signature", "facts"),
    [
        ("(f32[2, 1], f32[1, 3]) -> f32[2, 4]", ("r", 1, 3, 4, "b")),
        ("(f32[1]) -> f32[4]", ("r", 0, 1, 4, "a")),
        ("(f32[*, 3]) -> f32[*, 4]", ("r", -1, 3, 4, "a")),
        ("(f32[2, 3]) -> f32[2]", ("r", None, 2, 1, None)),
        ("(f32[2], f32[3]) -> f32[*]", ("b", 0, 2, 3, "a")),
        ("(f32[2, 1], f32[3]) -> f32[k, k]", ("r", 1, 2, 3, "r")),
    ],
)
def test_an_error_has_its_facts(signature: str, facts: tuple[object, ...]) -> None:
    with pytest.raises(BroadcastError) as caught:
        checks(signature)
    error = caught.value
    assert (error.operand, error.dim, error.expected, error.actual, error.against) == facts


def test_document_mode_says_how_to_go_on() -> None:
    with pytest.raises(BroadcastError, match=r"expected n .* declare it as \?, or verify in mode 'sound'") as caught:
        checks("(f32[n]) -> f32[4]", "document")
    assert (caught.value.operand, caught.value.dim, caught.value.actual) == ("r", 0, 4)


def test_the_result_has_another_name_where_an_operand_is_called_r() -> None:
    with pytest.raises(BroadcastError, match="result 'result' dim 0 has extent 3, expected 2"):
        verify_broadcast(["f32[2]"] * 18, "f32[3]")
    with pytest.raises(BroadcastError, match="result 'r' dim 0 has extent 3, expected 2"):
        verify_broadcast(["f32[2]"] * 17, "f32[3]")


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: verify_broadcast([], "f32[4]"), BroadcastError, "0 operands, expected 1 or more"),
        (lambda: checks("(f32[4]) -> f32[4]", "strict"), BcastgenError, "use one of sound, document"),
        (lambda: verify_broadcast(["f32[4"], "f32[4]"), ParseError, "column 6"),
        (lambda: verify_broadcast(["f32[4]"], "f32[4"), ParseError, "column 6"),
    ],
)
def test_refuses(call: Callable[[], object], error: type[BcastgenError], message: str) -> None:
    with pytest.raises(error) as caught:
        call()
    assert message in str(caught.value)


@pytest.mark.parametrize("operands", [None, 3, [None], [3, "f32[3]"]])
def test_operands_that_are_no_types(operands: Any) -> None:
    with pytest.raises(ParseError, match="a type is a text or a TensorType, not"):
        verify_broadcast(operands, "f32[3]")


@pytest.mark.parametrize(
    ("operands", "result", "is_certain"),
    [
        (["f32[n]", "f32[n, n]"], "f32[3, 4]", True),
        (["f32[n]", "f32[n, n]"], "f32[3, 3]", False),
        (["f32[n]", "f32[n, n]"], "f32[1, 1]", False),
        (["f32[n, m]", "f32[m, n]"], "f32[3, 4]", True),
        (["f32[n!, ?]", "f32[?, n!]"], "f32[3, 4]", True),
        (["f32[n, ?]", "f32[?, n]"], "f32[3, 4]", False),
        (["f32[*]", "f32[n, n]"], "f32[3, 4]", False),
    ],
)
def test_a_name_in_several_dims_is_one_extent_in_the_result(operands, result, is_certain):
    """Dim by dim each of these results fits; some would give one name two extents."""
    if is_certain:
        with pytest.raises(BroadcastError, match="result 'r' dim 1 is declared as 4, which no extents of"):
            verify_broadcast(operands, result)
        return
    assert [str(one) for one in verify_broadcast(operands, result) if str(one).startswith("r.1")]


def test_a_dim_of_no_operand_names_none():
    with pytest.raises(BroadcastError, match=r"^result 'r' dim 1 has extent 2, expected 1; results do not broadcast"):
        bg.jit(lambda a: a[..., None], signature="(f64[?] a) -> f64[?, 2]").result_shape((2,))
