"""Where the cache lies, and when it is refused."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from bcastgen.core.errors import CacheWarning
from bcastgen.runtime.cache import directory as module
from bcastgen.runtime.cache.directory import build_directory, cache_directory
from bcastgen.runtime.cache.files import remove

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
    message = rf"{path} cannot be used: it is writable by others \(mode {bits:o}\); chmod go-w {path}; set"
    with pytest.warns(CacheWarning, match=message):
        assert cache_directory() != path
    path.chmod(bits & ~0o022)
    assert cache_directory() == path


def test_the_default_one_is_refused_too(home: Path) -> None:
    path = home / ".cache" / "bcastgen"
    path.mkdir(parents=True)
    path.chmod(0o777)
    with pytest.warns(CacheWarning, match="writable by others"):
        assert cache_directory() != path


def test_a_symlink_counts_as_what_it_leads_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "target"
    target.mkdir(mode=0o700)
    (tmp_path / "link").symlink_to(target)
    monkeypatch.setenv("BCASTGEN_CACHE_DIR", str(tmp_path / "link"))
    assert cache_directory() == target
    target.chmod(0o777)
    with pytest.warns(CacheWarning, match=f"{target} cannot be used: it is writable by others"):
        assert cache_directory() != target


@needs_root
def test_another_users_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "theirs"
    path.mkdir(mode=0o700)
    os.chown(path, NOBODY, NOBODY)
    monkeypatch.setenv("BCASTGEN_CACHE_DIR", str(path))
    with pytest.warns(CacheWarning, match=rf"belongs to uid {NOBODY}, not to you \(uid 0\).*BCASTGEN_CACHE_DIR"):
        assert cache_directory() != path


def test_an_explicit_one_that_cannot_be_used_gives_way_to_a_private_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    for path in (tmp_path / "file", tmp_path / "file" / "below", Path("/proc/bcastgen")):
        monkeypatch.setenv("BCASTGEN_CACHE_DIR", str(path))
        monkeypatch.setattr(module, "_PRIVATE", {})
        with pytest.warns(CacheWarning, match=rf"since the cache directory {path}.* cannot be used: .*; set BCASTGEN"):
            assert mode(cache_directory()) == 0o700


def test_an_unusable_default_gives_way_to_a_private_one_said_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/proc/nowhere")
    with pytest.warns(CacheWarning) as told:
        first = cache_directory()
        assert cache_directory() == build_directory() == first
    assert mode(first) == 0o700
    assert len(told) == 1
    assert "not kept beyond this process, since the cache directory /proc/nowhere" in str(told[0].message)
    remove(first)


def test_one_that_can_only_be_read_is_read(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = cache_directory()
    access = os.access
    monkeypatch.setattr(
        os,
        "access",
        lambda name, mode: not mode & os.W_OK and access(name, mode) if name == path else access(name, mode),
    )
    assert cache_directory() == path
    with pytest.warns(CacheWarning, match=f"the cache directory {path} is not writable"):
        built = build_directory()
    assert built != path
    assert cache_directory() == path
    remove(built)


def test_one_that_no_program_can_be_run_from_is_not_used(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = cache_directory()
    forbids = module._forbids_programs
    monkeypatch.setattr(module, "_forbids_programs", lambda place: place == path or forbids(place))
    with pytest.warns(CacheWarning, match=f"{path} cannot be used: its file system is mounted noexec; set BCASTGEN"):
        assert cache_directory() != path


def test_without_any_home_there_is_a_private_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)
    with pytest.warns(CacheWarning, match="there is no home directory"):
        assert cache_directory().name.startswith("bcastgen-")
    remove(cache_directory())


SCRIPT = """
import os, sys
from bcastgen.runtime.cache import cache_directory
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


def test_a_path_that_is_no_text_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("BCASTGEN_CACHE_DIR", os.fsdecode(os.fsencode(tmp_path) + b"/\xff"))
    with pytest.warns(CacheWarning, match="its path is no text in UTF-8; set BCASTGEN_CACHE_DIR"):
        remove(cache_directory())
    assert os.listdir(tmp_path) == ["home"]


def test_a_path_of_too_many_parts_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("BCASTGEN_CACHE_DIR", f"{tmp_path}/{'x/' * 2100}")
    with pytest.warns(CacheWarning, match="set BCASTGEN_CACHE_DIR"):
        remove(cache_directory())
    assert os.listdir(tmp_path) == ["home"]
