"""Which constraints remain: as few as there can be. That they suffice is shown against NumPy in test_broadcast.py."""

from __future__ import annotations

import itertools

import pytest

from bcastgen.core.operand_names import operand_names
from bcastgen.shape.inference.broadcast import broadcast
from bcastgen.shape.types.dim import Dim
from bcastgen.shape.types.tensor_type import TensorType


def remaining(*operands: str | TensorType, entry: bool = False) -> list[str]:
    info = broadcast(list(zip(operand_names(len(operands)), operands, strict=True)), entry=entry)
    return [str(constraint) for constraint in info.constraints]


@pytest.mark.parametrize(
    ("operands", "expected"),
    [
        # Decided by the types.
        (("f32[4]", "f32[4]"), []),
        (("f32[4]", "f32[1]"), []),
        (("f32[0]", "f32[1]"), []),
        (("f32[?]",), []),
        (("f32[?]", "f32[1]"), []),
        (("f32[?, 4]", "f32[4]"), []),
        (("f32[?, 1]", "f32[1, ?]"), []),
        (("f32[n]", "f32[1]"), []),
        # A dynamic dim meets a known extent.
        (("f32[?]", "f32[4]"), ["a.0 in {1, 4}"]),
        (("f32[4]", "f32[?]"), ["b.0 in {1, 4}"]),
        (("f32[0]", "f32[?]"), ["b.0 in {1, 0}"]),
        (("f32[?]", "f32[4]", "f32[?]"), ["a.0 in {1, 4}", "c.0 in {1, 4}"]),
        (("f32[n]", "f32[4]"), ["a.0 in {1, 4}"]),
        # Dynamic dims meet.
        (("f32[?]", "f32[?]"), ["a.0 in {1, d0}", "b.0 in {1, d0}"]),
        (("f32[?]", "f32[1]", "f32[?]"), ["a.0 in {1, d0}", "c.0 in {1, d0}"]),
        (("f32[?, ?]", "f32[?]"), ["a.1 in {1, d1}", "b.0 in {1, d1}"]),
        (("f32[n]", "f32[m]"), ["a.0 in {1, d0}", "b.0 in {1, d0}"]),
        # A symbol costs one check for each further occurrence, and stretches once a domain dim.
        (("f32[n]", "f32[n]"), ["b.0 = a.0 (n)"]),
        (("f32[n]", "f32[n]", "f32[n]"), ["b.0 = a.0 (n)", "c.0 = a.0 (n)"]),
        (("f32[n, n]",), ["a.1 = a.0 (n)"]),
        (("f32[n]", "f32[n]", "f32[?]"), ["a.0 in {1, d0}", "b.0 = a.0 (n)", "c.0 in {1, d0}"]),
        (("f32[n]", "f32[n]", "f32[4]"), ["a.0 in {1, 4}", "b.0 = a.0 (n)"]),
        (("f32[n, 4]", "f32[n]"), ["b.0 = a.0 (n)", "b.0 in {1, 4}"]),
        # Operands of unknown rank.
        (("f32[*]",), []),
        (("f32[*, ?]",), []),
        (("f32[*]", "f32[]"), []),
        (("f32[*]", "f32[1, 1]"), []),
        (("f32[*, 4]", "f32[4]"), []),
        (("f32[*]", "f32[4]"), ["a.* in {1, d*}"]),
        (("f32[*]", "f32[?]"), ["a.* in {1, d*}", "b.0 in {1, d[-1]}"]),
        (("f32[*, 4]", "f32[?]"), ["b.0 in {1, 4}"]),
        (("f32[*, ?]", "f32[4]"), ["a.* in {1, d*}"]),
        (("f32[*, 4]", "f32[3, 4]"), ["a.* in {1, d*}"]),
        (("f32[*]", "f32[*]"), ["a.* in {1, d*}", "b.* in {1, d*}"]),
        (("f32[*, n]", "f32[n]"), ["b.0 = a.-1 (n)"]),
        (("f32[*, n]", "f32[n]", "f32[?]"), ["a.* in {1, d*}", "b.0 = a.-1 (n)", "c.0 in {1, d[-1]}"]),
    ],
)
def test_remaining(operands: tuple[str, ...], expected: list[str]) -> None:
    assert remaining(*operands) == expected


def test_the_number_of_checks_over_a_family() -> None:
    """Each dynamic dim that meets anything but 1s costs one check; nothing else costs any."""
    dims = [Dim(value) for value in (1, 4, None)]
    for rank, operands in ((1, 4), (2, 2), (2, 3), (3, 2)):
        rows = list(itertools.product(dims, repeat=rank))
        for types in itertools.product(rows, repeat=operands):
            expected = 0
            for column in zip(*types, strict=True):
                dynamic = sum(not dim.is_static for dim in column)
                expected += dynamic if dynamic > 1 or Dim(4) in column else 0
            assert len(remaining(*(TensorType(None, row) for row in types))) == expected


def test_a_lone_operand_only_repeats_symbols() -> None:
    dims = [Dim(value) for value in (0, 1, 2, "n", "m", None)]
    for rank in range(4):
        for row in itertools.product(dims, repeat=rank):
            symbols = [dim.symbol for dim in row if dim.symbol is not None]
            assert len(remaining(TensorType(None, row))) == len(symbols) - len(set(symbols))


def test_entry_checks_are_ranks_first_then_by_operand_and_dim() -> None:
    assert remaining("f32[?, 4]", "f32[5, n]", "f32[*, n]", entry=True) == [
        "a.rank = 2",
        "b.rank = 2",
        "c.rank >= 1",
        "a.0 in {1, 5}",
        "a.1 = 4",
        "b.0 = 5",
        "b.1 in {1, 4}",
        "c.-1 = b.1 (n)",
        "c.* in {1, d*}",
    ]
    assert remaining("f32[]", entry=True) == ["a.rank = 0"]
    assert remaining("f32[*]", entry=True) == []


def test_a_symbol_stretches_wherever_it_occurs_though_it_is_checked_once() -> None:
    info = broadcast([("a", "f32[n]"), ("b", "f32[n]"), ("c", "f32[?]")])
    assert [str(constraint) for constraint in info.constraints] == ["a.0 in {1, d0}", "b.0 = a.0 (n)", "c.0 in {1, d0}"]
    assert info.stretching == {("a", 0), ("b", 0), ("c", 0)}
    assert broadcast([("a", "f32[n]"), ("b", "f32[n]"), ("c", "f32[1]")]).stretching == frozenset()
