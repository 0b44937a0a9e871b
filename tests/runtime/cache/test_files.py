"""Files and directories of the cache."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from bcastgen.runtime.cache import files as module
from bcastgen.runtime.cache.files import make_aside, remove


def test_a_directory_aside_is_new_and_ours_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = iter((b"taken!", b"taken!", b"is new"))
    monkeypatch.setattr(module.os, "urandom", lambda count: next(names))
    first, second = make_aside(tmp_path, "tmp."), make_aside(tmp_path, "tmp.")
    assert first.name == f"tmp.{b'taken!'.hex()}" and second.name == f"tmp.{b'is new'.hex()}"
    assert stat.S_IMODE(second.stat().st_mode) == 0o700
    monkeypatch.setattr(module.os, "urandom", lambda count: b"taken!")
    with pytest.raises(FileExistsError):
        make_aside(tmp_path, "tmp.")


def test_files_links_and_trees_are_removed_and_what_is_not_there_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "tree" / "inside").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "tree")
    for name in ("gone", "file", "link"):
        remove(tmp_path / name)
    assert [path.name for path in tmp_path.iterdir()] == ["tree"]
    remove(tmp_path / "tree")
    assert not (tmp_path / "tree").exists()
