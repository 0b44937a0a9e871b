"""The golden cases of the Broadcastable trait: tests/cases/broadcastable.case says what each line means."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from bcastgen.core.errors import BroadcastError
from bcastgen.shape.inference.broadcast import Mode, broadcast, infer_broadcast
from bcastgen.shape.inference.verify import verify_broadcast
from bcastgen.shape.types.tensor_type import TensorType, parse_signature

CASES = Path(__file__).parents[2] / "cases" / "broadcastable.case"


def read_cases() -> dict[str, list[str]]:
    """Return name -> lines of each case."""
    cases: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in CASES.read_text(encoding="utf-8").splitlines():
        if line.startswith("== "):
            lines = cases.setdefault(line.removeprefix("== "), [])
            assert not lines, f"two cases are called {line!r}"
        elif line and not line.startswith("#"):
            lines.append(line)
    return cases


def verdict(operands: list[TensorType], result: TensorType, mode: Mode) -> str:
    try:
        inferred = infer_broadcast(*operands, mode=mode)
    except BroadcastError as error:
        with pytest.raises(BroadcastError):
            verify_broadcast(operands, result, mode)
        return f"error {error}"
    dims = TensorType(None, inferred.dims, inferred.unranked)
    try:
        constraints = verify_broadcast(operands, result, mode)
    except BroadcastError as error:
        return f"infers {dims}; error {error}"
    checks = ", ".join(map(str, constraints))
    return f"infers {dims}; checks {checks}" if checks else f"infers {dims}; ok"


@pytest.mark.parametrize("name", read_cases())
def test_case(name: str) -> None:
    text, *expected = read_cases()[name]
    signature = parse_signature(text)
    assert signature.results is not None
    operands = [type_ for _, type_ in signature.operands]
    modes: tuple[tuple[str, Mode], ...] = (("sound:    ", "sound"), ("document: ", "document"))
    assert [label + verdict(operands, signature.results[0], mode) for label, mode in modes] == expected


def test_every_example_of_the_document_is_there() -> None:
    wanted = [f"seed 000, correct {n}:" for n in range(1, 9)] + [f"seed 000, incorrect {n}:" for n in range(1, 6)]
    names = [name.partition(":")[0] + ":" for name in read_cases()]
    assert names[: len(wanted)] == wanted


def test_order_of_operands_does_not_change_the_verdict() -> None:
    for text, *_ in read_cases().values():
        signature = parse_signature(text)
        assert signature.results is not None
        types = [type_ for _, type_ in signature.operands]
        for order in itertools.permutations(types):
            for mode in ("sound", "document"):
                given = verdict(types, signature.results[0], mode).partition(" ")[0]
                assert verdict(list(order), signature.results[0], mode).startswith(given), (text, order)
                if given != "error":
                    names = [str(index) for index in range(len(order))]
                    dims = broadcast(list(zip(names, types, strict=True)), mode).dims
                    assert broadcast(list(zip(names, order, strict=True)), mode).dims == dims
