"""What the cache says of itself, and what it finds wrong."""

from __future__ import annotations

import os
from pathlib import Path

from bcastgen.core.errors import CacheError
from bcastgen.runtime.cache import build, cache_key
from bcastgen.runtime.cache.upkeep import clear, kernels, verify
from bcastgen.runtime.toolchain import BINARY, Toolchain
from cache_entries import SOURCE, made


def test_kernels_are_listed_the_last_used_first(tools: Toolchain) -> None:
    for name in ("old", "new"):
        path, _ = build(cache_key(name, tools=tools), lambda: SOURCE, tools, about=f"{name} (a: f64,\n b: f64)")
        if name == "old":
            os.utime(path.parent / "digest", (1e9, 1e9))
    new, old = kernels()
    assert (new.about, old.about) == ("new (a: f64, b: f64)", "old (a: f64, b: f64)")
    assert new.bytes == sum(file.stat().st_size for file in new.path.iterdir())
    assert new.days < 0.01 and old.days > 5000
    assert str(new).startswith(new.path.name[:12]) and str(new).endswith("days ago  new (a: f64, b: f64)")


def test_verify_finds_all_that_is_wrong(directory: Path, tools: Toolchain) -> None:
    (good, broken, unloadable) = (made(tools, text)[1].parent for text in "abc")
    assert list(verify(lambda path: None)) == []
    (broken / "kernel.c").write_text("changed")
    (good.parent / "tmp.killed").mkdir()
    (directory / "0x").mkdir()
    (directory / "ff").unlink(missing_ok=True) if (directory / "ff").is_file() else None
    linked = next(name for name in ("ee", "ed", "ec", "eb") if not (directory / name).exists())
    (directory / linked).symlink_to(good.parent)

    def load(path: Path) -> None:
        if path == unloadable / BINARY:
            raise CacheError("no ELF")

    found = {finding.path: finding.problem for finding in verify(load)}
    assert found == {
        broken: "is damaged, or of another version: its files are not what its digest says",
        good.parent / "tmp.killed": "is no kernel: what a build has left, or nothing of ours",
        unloadable: "cannot be loaded: no ELF",
        directory / linked: "is not a directory that only you can write to",
    }


def test_clear_follows_no_link_and_removes_what_is_in_the_way(
    directory: Path, tools: Toolchain, tmp_path: Path
) -> None:
    _, path = made(tools)
    elsewhere = tmp_path / "elsewhere"
    (elsewhere / ("0" * 64)).mkdir(parents=True)
    (elsewhere / "tmp.mine").touch()
    linked, file = [name for name in ("e0", "e1", "e2") if not (directory / name).exists()][:2]
    (directory / linked).symlink_to(elsewhere)
    (directory / file).touch()
    (path.parent.parent / "lock").unlink()
    (path.parent.parent / "lock").mkdir()
    assert clear() == 1
    assert sorted(left.name for left in elsewhere.iterdir()) == ["0" * 64, "tmp.mine"]
    assert not (directory / linked).is_symlink() and not (directory / file).exists()
    assert made(tools)[1] == path
