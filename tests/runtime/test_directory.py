"""Where the cache lies, and when it is refused."""

from __future__ import annotations

import logging
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from bcastgen.core.errors import CacheError
from bcastgen.runtime import directory as module
from bcastgen.runtime.directory import cache_directory, make_aside, remove

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to another user")
NOBODY = 65534


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "home"
    home.mkdir()
    for variable in ("BCASTGEN_CACHE_DIR", "XDG_CACHE_HOME"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setattr(module, "_PRIVATE", {})
    return home


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_its_place(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert cache_directory() == home / ".cache" / "bcastgen"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative/is/ignored")
    assert cache_directory() == home / ".cache" / "bcastgen"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_directory() == tmp_path / "xdg" / "bcastgen"
    monkeypatch.setenv("BCASTGEN_CACHE_DIR", str(tmp_path / "mine" / "deep"))
    assert cache_directory() == tmp_path / "mine" / "deep"
    monkeypatch.setenv("BCASTGEN_CACHE_DIR", "~/kernels")
    assert cache_directory() == home / "kernels"
    monkeypatch.setenv("BCASTGEN_CACHE_DIR", "")
    assert cache_directory() == tmp_path / "xdg" / "bcastgen"


def test_it_is_made_for_its_user_alone_whatever_the_umask(home: Path) -> None:
    old = os.umask(0)
    try:
        assert mode(cache_directory()) == 0o700
    finally:
        os.umask(old)


@pytest.mark.parametrize("bits", [0o777, 0o770, 0o720, 0o702])
def test_one_that_others_may_write_to_is_refused(bits: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "open"
    path.mkdir()
    path.chmod(bits)
    monkeypatch.setenv("BCASTGEN_CACHE_DIR", str(path))
    message = rf"writable by others \(mode {bits:o}\); chmod go-w {path}, or set BCASTGEN_CACHE_DIR"
    with pytest.raises(CacheError, match=message):
        cache_directory()
    path.chmod(bits & ~0o022)
    assert cache_directory() == path


def test_the_default_one_is_refused_too_rather_than_passed_over(home: Path) -> None:
    path = home / ".cache" / "bcastgen"
    path.mkdir(parents=True)
    path.chmod(0o777)
    with pytest.raises(CacheError, match="writable by others"):
        cache_directory()


def test_a_symlink_counts_as_what_it_leads_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "target"
    target.mkdir(mode=0o700)
    (tmp_path / "link").symlink_to(target)
    monkeypatch.setenv("BCASTGEN_CACHE_DIR", str(tmp_path / "link"))
    assert cache_directory() == target
    target.chmod(0o777)
    with pytest.raises(CacheError, match=f"{target} is writable by others"):
        cache_directory()


@needs_root
def test_another_users_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "theirs"
    path.mkdir(mode=0o700)
    os.chown(path, NOBODY, NOBODY)
    monkeypatch.setenv("BCASTGEN_CACHE_DIR", str(path))
    with pytest.raises(CacheError, match=rf"belongs to uid {NOBODY}, not to you \(uid 0\).*BCASTGEN_CACHE_DIR"):
        cache_directory()


def test_an_explicit_one_that_cannot_be_used_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    for path in (tmp_path / "file", tmp_path / "file" / "below", Path("/proc/bcastgen")):
        monkeypatch.setenv("BCASTGEN_CACHE_DIR", str(path))
        with pytest.raises(
            CacheError, match=rf"^the cache directory {path} cannot be used: .*; set BCASTGEN_CACHE_DIR"
        ):
            cache_directory()


def test_an_unusable_default_gives_way_to_a_private_one_said_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("HOME", "/proc/nowhere")
    with caplog.at_level(logging.WARNING, logger="bcastgen"):
        first = cache_directory()
        assert cache_directory() == first
    assert mode(first) == 0o700
    assert [record.name for record in caplog.records] == ["bcastgen"]
    assert "not kept beyond this process" in caplog.text
    assert "/proc/nowhere" in caplog.text
    module.remove(first)


def test_without_any_home_there_is_a_private_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)
    assert cache_directory().name.startswith("bcastgen-")
    module.remove(cache_directory())


SCRIPT = """
import os, sys
from bcastgen.runtime.directory import cache_directory, make_aside, remove
mine = cache_directory()
child = os.fork()
if child == 0:
    theirs = cache_directory()
    print(theirs != mine, flush=True)
    sys.exit(0)
os.waitpid(child, 0)
print(mine.is_dir(), flush=True)
print(mine, flush=True)
"""


def test_the_private_one_is_gone_with_its_process_and_a_childs_exit_leaves_it(tmp_path: Path) -> None:
    environment = {**os.environ, "HOME": "/proc/nowhere", "TMPDIR": str(tmp_path)}
    run = subprocess.run([sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True, check=True)
    apart, alive, path = run.stdout.split()
    assert (apart, alive) == ("True", "True")
    assert path.startswith(str(tmp_path))
    assert not list(tmp_path.glob("bcastgen-*"))


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
    assert [path.name for path in tmp_path.iterdir() if path.name != "home"] == ["tree"]
    remove(tmp_path / "tree")
    assert not (tmp_path / "tree").exists()


def test_a_path_that_is_no_text_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("BCASTGEN_CACHE_DIR", os.fsdecode(os.fsencode(tmp_path) + b"/\xff"))
    with pytest.raises(CacheError, match="its path is no text in UTF-8; set BCASTGEN_CACHE_DIR"):
        cache_directory()
    assert os.listdir(tmp_path) == ["home"]
