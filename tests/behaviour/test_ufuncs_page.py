"""docs/ufuncs.md is true: its examples run."""

from __future__ import annotations

import doctest
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "ufuncs.md"


def test_the_examples_run():
    failed, tried = doctest.testfile(str(PAGE), module_relative=False, optionflags=doctest.ELLIPSIS)
    assert tried > 10
    assert failed == 0
