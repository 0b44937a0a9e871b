"""Archives of kernels: taken elsewhere whole, and nothing else taken from them."""

from __future__ import annotations

import io
import os
import tarfile
import time
from pathlib import Path

import pytest

from bcastgen.core.errors import CacheError
from bcastgen.runtime.cache import find
from bcastgen.runtime.cache.transfer import export_to, import_from
from bcastgen.runtime.cache.upkeep import info
from bcastgen.runtime.toolchain import Toolchain
from cache_entries import answer, made

KEY = "5c" + 62 * "0"


@pytest.fixture
def archive(tmp_path: Path, tools: Toolchain) -> tuple[Path, list[str]]:
    keys = [made(tools, text)[0] for text in "abc"]
    path = tmp_path / "kernels.tar.gz"
    assert export_to(path) == 3
    return path, keys


@pytest.fixture
def elsewhere(archive: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    directory = tmp_path / "elsewhere"
    monkeypatch.setenv("BCASTGEN_CACHE_DIR", str(directory))
    return directory


def test_kernels_go_to_another_cache(archive: tuple[Path, list[str]], elsewhere: Path) -> None:
    path, keys = archive
    assert import_from(path) == 3
    for key in keys:
        found = find(key)
        assert elsewhere in found.parents and answer(found) == 42
        assert all(not file.stat().st_mode & 0o077 for file in (found.parent, *found.parent.iterdir()))
    assert import_from(path) == 0, "what is there is not taken again"
    assert not list(elsewhere.glob("**/tmp.*"))


def test_an_archive_says_nothing_of_who_made_it(archive: tuple[Path, list[str]]) -> None:
    with tarfile.open(archive[0]) as opened:
        assert {(member.uid, member.gid, member.uname, member.gname) for member in opened} == {(0, 0, "", "")}


def forged(path: Path, *members: tuple[tarfile.TarInfo, bytes]) -> Path:
    with tarfile.open(path, "w:gz") as archive:
        for member, content in members:
            member.size = len(content) if member.isreg() else 0
            archive.addfile(member, io.BytesIO(content))
    return path


@pytest.mark.parametrize(
    "headers",
    [{"GNU.sparse.map": "x"}, {"GNU.sparse.size": "x"}, {"GNU.sparse.major": "1", "GNU.sparse.minor": "0"}],
)
def test_headers_that_tarfile_cannot_read_are_refused(tmp_path: Path, headers: dict[str, str]) -> None:
    member = tarfile.TarInfo("a")
    member.pax_headers = headers
    with tarfile.open(tmp_path / "bad.tar", "w", format=tarfile.PAX_FORMAT) as archive:
        archive.addfile(member)
    with pytest.raises(CacheError):
        import_from(tmp_path / "bad.tar")


def link(name: str, target: str, kind: bytes) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.type, member.linkname = kind, target
    return member


@pytest.mark.parametrize(
    "member",
    [
        tarfile.TarInfo("../evil"),
        tarfile.TarInfo("/tmp/evil"),
        tarfile.TarInfo(f"{KEY}/../evil"),
        tarfile.TarInfo(f"{KEY}/sub/evil"),
        tarfile.TarInfo(f"{KEY}/.."),
        tarfile.TarInfo("kernel.so"),
        link(f"{KEY}/kernel.so", "/etc/passwd", tarfile.SYMTYPE),
        link(f"{KEY}/kernel.so", "/etc/passwd", tarfile.LNKTYPE),
        link(f"{KEY}/kernel.so", "", tarfile.FIFOTYPE),
        link(KEY, "", tarfile.DIRTYPE),
    ],
    ids=lambda member: f"{member.name[-12:]}-{member.type.decode()}",
)
def test_nothing_but_entries_is_taken(member: tarfile.TarInfo, elsewhere: Path, tmp_path: Path) -> None:
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(CacheError, match=r"is no archive of kernels: it holds .*; nothing more is taken"):
        import_from(forged(tmp_path / "forged.tar.gz", (member, b"x")))
    after = [path for path in sorted(tmp_path.rglob("*")) if elsewhere not in (path, *path.parents)]
    assert [path for path in after if path.name != "forged.tar.gz"] == before
    assert info().entries == 0


def test_an_entry_that_is_not_whole_is_refused(elsewhere: Path, tmp_path: Path) -> None:
    parts = [(tarfile.TarInfo(f"{KEY}/{name}"), b"x") for name in ("digest", "kernel.so")]
    with pytest.raises(CacheError, match="holds a damaged kernel 5c0000"):
        import_from(forged(tmp_path / "forged.tar.gz", *parts))
    assert info().entries == 0
    assert not list(elsewhere.glob("**/tmp.*"))


def test_what_is_no_archive_is_refused(elsewhere: Path, tmp_path: Path) -> None:
    for content in (b"", b"junk" * 1000, b"\x1f\x8b junk"):
        (tmp_path / "file").write_bytes(content)
        with pytest.raises(CacheError, match=r"is no archive of kernels|cannot import"):
            import_from(tmp_path / "file")
    for content in (b"", b"\x93NUMPY\x01\x00", b"junk" * 1000):
        (tmp_path / "a.npy").write_bytes(content)
        with pytest.raises(CacheError, match=r"a\.npy is no archive of kernels, or .*; give a file that `bcastgen"):
            import_from(tmp_path / "a.npy")
    with pytest.raises(CacheError, match="cannot import"):
        import_from(tmp_path / "missing")
    with pytest.raises(CacheError, match="/dev/zero is no file; give one that `bcastgen cache export` wrote"):
        import_from(Path("/dev/zero"))
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(CacheError, match="pipe is no file"):
        import_from(tmp_path / "pipe")
    with (tmp_path / "zeros").open("wb") as file:
        file.truncate(100 << 30)
    assert import_from(tmp_path / "zeros") == 0  # tar ends at zeros
    with pytest.raises(CacheError, match="has too many files"):
        import_from(forged(tmp_path / "many", *((tarfile.TarInfo(f"{KEY}/f{at}"), b"") for at in range(20))))


@pytest.mark.parametrize("kind", [b"x", b"g", b"X", b"L", b"K", b"S"])
def test_headers_of_other_members_are_refused_unread(kind: bytes, elsewhere: Path, tmp_path: Path) -> None:
    header = tarfile.TarInfo("what the next one is called")
    header.type, header.size = kind, 100_000
    block = header.tobuf(tarfile.GNU_FORMAT)
    (tmp_path / "long").write_bytes(block + b"1" * 100_000)
    (tmp_path / "deep").write_bytes((block[:124] + b"00000000000\0" + block[136:]) * 3_000)
    for name in ("long", "deep"):
        began = time.process_time()
        with pytest.raises(CacheError, match="is no archive of kernels"):
            import_from(tmp_path / name)
        assert time.process_time() - began < 1
