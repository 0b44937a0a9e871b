"""Every public function, with arguments of every kind for each parameter: what is refused is refused by our error.

Python's own errors stay its own: those of a keyword that a function does not have, or of an argument's own code.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import bcastgen as bg
import odd_arguments
from compile_flags import QUICK

SECONDS = 5.0


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    inside = tmp_path / "inside"
    inside.mkdir()
    monkeypatch.chdir(inside)
    yield inside
    bg.set_num_threads(None)
    assert [path.name for path in tmp_path.iterdir()] == ["inside"]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("compiled", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_what_escapes_is_our_error(compiled: bool, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BCASTGEN_CFLAGS", QUICK)  # no kernel is called twice
    wrong, refused, count = list[str](), 0, 0
    for one in odd_arguments.calls(here / "out"):
        if one.name.startswith(odd_arguments.COMPILED) is not compiled:
            continue
        count += 1
        began = time.process_time()
        try:
            one.call()
        except bg.BcastgenError as error:
            refused += 1
            assert len(str(error)) < 20_000
        except Exception as error:
            wrong.append(f"{one.name}: {type(error).__name__}: {error}"[:300])
        if time.process_time() - began > SECONDS:
            wrong.append(f"{one.name}: slow")
    assert wrong == []
    # Most are refused, and not by chance.
    assert count > 1_000 and refused > count // 2


def test_every_public_function_is_tried() -> None:
    assert odd_arguments.unnamed() == set()


def test_an_error_of_an_argument_s_own_code_comes_out() -> None:
    class Own:
        def __array__(self, *_: object, **__: object) -> np.ndarray:
            raise TypeError("mine")

    with pytest.raises(TypeError, match="mine"):
        bg.add(Own(), 1)
    with pytest.raises(TypeError, match="unexpected keyword argument 'axes'"):
        bg.add(1, 2, axes=3)
    with pytest.raises(TypeError, match=r"^sum\(\) got an unexpected keyword argument 'casting'"):
        bg.sum(np.ones(3), casting="safe")
