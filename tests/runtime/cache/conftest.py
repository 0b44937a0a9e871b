"""A cache of a test's own, and the machine's compiler without what a user has set."""

from __future__ import annotations

from pathlib import Path

import pytest

from bcastgen.runtime.cache import directory as module
from bcastgen.runtime.toolchain import Toolchain, toolchain


@pytest.fixture(autouse=True)
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    directory = tmp_path / "cache"
    monkeypatch.setenv("BCASTGEN_CACHE_DIR", str(directory))
    for variable in ("BCASTGEN_CC", "BCASTGEN_CFLAGS", "BCASTGEN_CACHE_SIZE"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr(module, "_PRIVATE", {})
    return directory


@pytest.fixture
def tools() -> Toolchain:
    return toolchain()
