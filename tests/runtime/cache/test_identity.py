"""Cache keys: everything that decides a binary changes its key, and nothing else does."""

from __future__ import annotations

import os
import platform
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from bcastgen.core import resources
from bcastgen.runtime import library
from bcastgen.runtime.cache import cache_key
from bcastgen.runtime.cache import identity as module
from bcastgen.runtime.toolchain import Toolchain, toolchain


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("BCASTGEN_CC", "BCASTGEN_CFLAGS"):
        monkeypatch.delenv(variable, raising=False)


@pytest.fixture
def tools() -> Toolchain:
    return toolchain()


def test_a_key_is_the_same_again_and_a_name_for_a_directory(tools: Toolchain) -> None:
    key = cache_key("a + b", "accurate", tools=tools)
    assert key == cache_key("a + b", "accurate", tools=toolchain())
    assert len(key) == 64
    assert set(key) <= set("0123456789abcdef")


def test_parts_are_kept_apart(tools: Toolchain) -> None:
    groups = [(), ("",), ("", ""), ("ab", "c"), ("a", "bc"), ("abc",), ("1:a",), ("a", "1:b"), ("a1:b",), ("c", "ab")]
    assert len({cache_key(*parts, tools=tools) for parts in groups}) == len(groups)


def test_flags_and_parts_and_arguments_are_kept_apart(tools: Toolchain) -> None:
    moved = replace(tools, flags=(*tools.flags, "x"))
    assert cache_key("x", tools=tools) != cache_key(tools=moved)
    called = replace(tools, command=(*tools.command, tools.flags[0]), flags=tools.flags[1:])
    assert cache_key(tools=tools) != cache_key(tools=called)


@pytest.mark.parametrize(
    "changed",
    [
        {"identity": "another compiler"},
        {"flags": ("-O0",)},
        {"command": ("/usr/bin/cc", "-m32")},
        {"command": ("/usr/bin/aarch64-linux-gnu-cc",)},
    ],
)
def test_the_compiler_decides(changed: dict[str, object], tools: Toolchain) -> None:
    assert cache_key("x", tools=tools) != cache_key("x", tools=replace(tools, **changed))


def test_where_a_compiler_lies_does_not_decide_beside_its_identity(tools: Toolchain) -> None:
    moved = replace(tools, command=("/other/place/" + os.path.basename(tools.command[0]), *tools.command[1:]))
    assert cache_key("x", tools=tools) == cache_key("x", tools=moved)


def test_flags_of_the_user_decide(tools: Toolchain, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BCASTGEN_CFLAGS", "-O1")
    assert cache_key("x", tools=toolchain()) != cache_key("x", tools=tools)


def test_the_cpu_and_the_machine_decide(tools: Toolchain, monkeypatch: pytest.MonkeyPatch) -> None:
    keys = {cache_key("x", tools=tools)}
    monkeypatch.setattr(module, "cpu_features", lambda: "avx2 sse2")
    keys.add(cache_key("x", tools=tools))
    monkeypatch.setattr(platform, "machine", lambda: "pdp11")
    keys.add(cache_key("x", tools=tools))
    assert len(keys) == 3


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of all that decides what is generated, which the keys are made from instead."""
    root = tmp_path / "copy"
    names = [os.path.relpath(path, resources.folder("csrc").parent) for path in resources.package_files()]
    for path, name in zip(resources.package_files(), names, strict=True):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, root / name)
    folders = tuple(sorted({str((root / name).parent) for name in names}))
    monkeypatch.setattr(resources, "package_folders", lambda: folders)
    monkeypatch.setattr(module, "package_folders", lambda: folders)
    module._package_digest.cache_clear()
    monkeypatch.setattr(module, "_package_digest", module._package_digest.__wrapped__)
    return root


@pytest.mark.parametrize(
    "name",
    ["csrc/abi/bcg_abi.h", "csrc/abi/bcg_status.def", "templates/kernel.c.j2", "bcastgen/loops/lowering/fuse.py"],
)
def test_each_file_of_the_package_decides(name: str, package: Path, tools: Toolchain) -> None:
    before = cache_key("x", tools=tools)
    path = next(package.rglob(name.removeprefix("bcastgen/")))  # an installed package has its folders beside it
    text = path.read_text()
    path.write_text(text + " ")
    assert cache_key("x", tools=tools) != before
    path.write_text(text)
    assert cache_key("x", tools=tools) == before


def test_a_new_file_decides(package: Path, tools: Toolchain) -> None:
    before = cache_key("x", tools=tools)
    (package / "templates" / "new.j2").write_text("")
    assert cache_key("x", tools=tools) != before


@pytest.mark.skipif(library.extension is None, reason="without the extension files are read each time")
def test_files_are_read_again_only_when_one_has_changed(
    package: Path, tools: Toolchain, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads = []
    monkeypatch.setattr(module, "package_files", lambda: reads.append(1) or resources.package_files())
    key = cache_key("x", tools=tools)
    assert cache_key("x", tools=tools) == key and len(reads) == 1
    path = package / "templates" / "kernel.c.j2"
    status = path.stat()
    path.write_text(path.read_text())
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert cache_key("x", tools=tools) == key and len(reads) == 2
    path.rename(path.with_name("other.j2"))
    assert cache_key("x", tools=tools) != key and len(reads) == 3
    (package / "templates" / "a lock.j2").symlink_to("nowhere")
    (package / "templates" / "itself.j2").symlink_to("itself.j2")
    (package / "templates" / "folder.j2").mkdir()
    assert cache_key("x", tools=tools) != key and len(reads) == 3
    (package / "templates" / "new.j2").write_text("")
    cache_key("x", tools=tools)
    assert len(reads) == 4


def test_without_the_extension_keys_are_the_same(tools: Toolchain, monkeypatch: pytest.MonkeyPatch) -> None:
    key = cache_key("x", tools=tools)
    module._package_digest.cache_clear()
    monkeypatch.setattr(module, "extension", None)
    assert cache_key("x", tools=tools) == key


@pytest.mark.skipif(library.extension is None, reason="of the extension")
def test_folders_that_are_none_are_errors(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="nowhere"):
        library.extension.files_of((str(tmp_path), str(tmp_path / "nowhere")))
    with pytest.raises(TypeError, match="not a tuple"):
        library.extension.files_of([str(tmp_path)])
    with pytest.raises(TypeError):
        library.extension.files_of((3,))
    with pytest.raises(ValueError, match="null"):
        library.extension.files_of(("a\0b",))


def test_nothing_else_decides(package: Path, tmp_path: Path, tools: Toolchain, monkeypatch: pytest.MonkeyPatch) -> None:
    before = cache_key("x", tools=tools)
    for variable in ("OMP_NUM_THREADS", "BCASTGEN_NUM_THREADS", "BCASTGEN_DUMP", "CFLAGS", "CC", "LANG", "TZ", "HOME"):
        monkeypatch.setenv(variable, "3")
    monkeypatch.setenv("BCASTGEN_CACHE_DIR", str(tmp_path / "elsewhere"))
    monkeypatch.chdir(tmp_path)
    for path in package.rglob("*"):
        os.utime(path, (1, 1))
    assert cache_key("x", tools=toolchain()) == before


@pytest.mark.parametrize("text", ["", "00", "no digest" * 9])
def test_what_a_full_disk_left_of_the_packages_digest_is_not_taken(
    text: str, directory: Path, tools: Toolchain
) -> None:
    module._package_digest.cache_clear()
    key = cache_key("x", tools=tools)
    [kept] = directory.glob(f"{module.PACKAGE}*")
    kept.write_text(text)
    module._package_digest.cache_clear()
    assert cache_key("x", tools=tools) == key
