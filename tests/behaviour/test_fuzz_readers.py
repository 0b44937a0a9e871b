"""Samples of `tests/support/fuzz_readers.py`: texts that coverage leads to are read, or refused by our error."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import fuzz_readers
from bcastgen.core.errors import CompileError, ParseError
from long_runs import many


@pytest.mark.slow
@pytest.mark.parametrize("reader", fuzz_readers.READERS)
def test_texts_that_reach_new_lines(reader: str, tmp_path: Path) -> None:
    if not fuzz_readers.available():
        pytest.skip('no Atheris here; pip install -e ".[fuzz]" has it where it is built for this Python')
    found = fuzz_readers.play(reader, many(1_500, 300_000), 5, tmp_path / reader)
    assert found.is_right, str(found)
    assert found.edges > found.first_edges > 200, str(found)  # it is led by what the package does


@pytest.mark.parametrize("reader", fuzz_readers.READERS)
def test_seeds_are_read_or_refused(reader: str) -> None:
    accepted = 0
    for text in fuzz_readers.seeds(reader):
        try:
            fuzz_readers.READERS[reader][1](text)
            accepted += 1
        except Exception as error:
            fuzz_readers.attempt(lambda _, error=error: raised(error), text)  # type: ignore[misc]
    assert accepted >= 2


def raised(error: Exception) -> None:
    raise error


@pytest.mark.parametrize(
    ("read", "kind"),
    [
        (lambda _: {}["x"], KeyError),
        (lambda _: raised(CompileError("x " * 15_000)), AssertionError),
        (lambda _: raised(RecursionError("deep")), RecursionError),
    ],
)
def test_other_errors_are_found(read: Callable[[str], None], kind: type[Exception]) -> None:
    with pytest.raises(kind):
        fuzz_readers.attempt(read, "text")
    fuzz_readers.attempt(lambda _: raised(ParseError("no")), "text")
