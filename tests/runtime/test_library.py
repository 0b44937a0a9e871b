"""bcastgen/runtime/library.py and ffi_build.py: loading a compiled kernel."""

from __future__ import annotations

import subprocess
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bcastgen.core import resources
from bcastgen.core.errors import CacheError
from bcastgen.runtime import ffi_build, library, native
from bcastgen.runtime.library import open_library

BODY = "OUT(0, double) = 1;"


@pytest.fixture
def forgotten() -> Iterator[None]:
    """`library` as it is before the first load, also for the run time that an FFI before has opened."""
    caches: tuple[Any, ...] = (library.ffi, library.constant, native.runtime)
    for cache in caches:
        cache.cache_clear()
    yield
    for cache in caches:
        cache.cache_clear()


def built_module(path: Path, monkeypatch: pytest.MonkeyPatch) -> types.ModuleType:
    """Make `bcastgen.runtime._ffi` what cffi's setuptools hook writes."""
    ffi_build.ffibuilder().emit_python_code(str(path))
    module = types.ModuleType("bcastgen.runtime._ffi")
    exec(path.read_text(), module.__dict__)
    monkeypatch.setitem(sys.modules, "bcastgen.runtime._ffi", module)
    return module


def entry(found: library.Library) -> Any:
    return library.ffi().cast("const bcg_kernel *", found.address)


@pytest.fixture(params=["extension", "cffi"])
def either(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Libraries are opened by the C extension, and without it."""
    if request.param == "cffi":
        monkeypatch.setattr(library, "extension", None)


@pytest.mark.usefixtures("either")
def test_a_library_is_open_and_says_where_its_entry_is(compile_kernel: Any) -> None:
    found = open_library(compile_kernel(2, 1, BODY))
    assert found.address > 0
    assert (entry(found).operands, entry(found).results) == (2, 1)


def test_numbers_come_from_the_header() -> None:
    text = ffi_build.header()
    assert f"#define BCG_ABI_VERSION {library.constant('BCG_ABI_VERSION')}\n" in text
    assert f"#define BCG_MAX_RANK {library.constant('BCG_MAX_RANK')}\n" in text
    files = (resources.csrc_file(name) for name in ("bcg_abi.h", "run.h"))
    assert text == "\n".join(path.read_text(encoding="utf-8") for path in files)


@pytest.mark.usefixtures("either")
def test_what_is_not_a_shared_object(tmp_path: Path) -> None:
    path = tmp_path / "kernel.so"
    path.write_bytes(b"\x7fELF not really")
    for wrong in (path, tmp_path / "missing.so"):
        with pytest.raises(CacheError, match=f"cannot load the kernel {wrong}: "):
            open_library(wrong)


@pytest.mark.usefixtures("either")
@pytest.mark.parametrize("built", [True, False])
def test_what_is_not_a_kernel(
    compile_kernel: Any, forgotten: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, built: bool
) -> None:
    if built:
        built_module(tmp_path / "_ffi.py", monkeypatch)
    else:
        monkeypatch.setitem(sys.modules, "bcastgen.runtime._ffi", None)
    with pytest.raises(CacheError, match=r"exports no bcg_entry"):
        open_library(compile_kernel(1, 1, BODY, NO_ENTRY="1"))


@pytest.mark.usefixtures("either")
def test_another_abi(compile_kernel: Any) -> None:
    with pytest.raises(CacheError, match=r"has ABI version 999, this bcastgen [0-9]+$"):
        open_library(compile_kernel(1, 1, BODY, VERSION="999"))


def test_a_checkout_that_was_never_built(compile_kernel: Any, forgotten: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library, "extension", None)
    monkeypatch.setitem(sys.modules, "bcastgen.runtime._ffi", None)
    assert entry(open_library(compile_kernel(1, 1, BODY))).operands == 1


def test_the_built_module_is_used(
    compile_kernel: Any, forgotten: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(library, "extension", None)
    module = built_module(tmp_path / "_ffi.py", monkeypatch)
    assert library.ffi() is module.__dict__["ffi"]
    assert library.constant("BCG_MAX_RANK") == 64
    assert entry(open_library(compile_kernel(3, 1, BODY))).operands == 3


@pytest.mark.parametrize("stale", ["another header", "before fingerprints"])
def test_a_stale_built_module_is_not_used(
    compile_kernel: Any, forgotten: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, stale: str
) -> None:
    written = ffi_build.declarations(ffi_build.header())
    name = "bcg_constants" if stale == "another header" else "other_constants"
    text = written.replace("BCG_FINGERPRINT = ", "BCG_FINGERPRINT = 1").replace("bcg_constants", name)
    with monkeypatch.context() as patch:
        patch.setattr(ffi_build, "declarations", lambda _: text)
        module = built_module(tmp_path / "_ffi.py", monkeypatch)
    monkeypatch.setattr(library, "extension", None)
    assert library.ffi() is not module.__dict__["ffi"]
    assert entry(open_library(compile_kernel(1, 1, BODY))).operands == 1


FIRST_LOAD = """
import sys, types
from pathlib import Path
import numpy
before = set(sys.modules)
module = sys.modules["bcastgen.runtime._ffi"] = types.ModuleType("bcastgen.runtime._ffi")
exec(Path(sys.argv[1]).read_text(), module.__dict__)
from bcastgen.runtime import library
if sys.argv[3] == "cffi":
    library.extension = None
library.open_library(Path(sys.argv[2]))
print(sorted({"cffi", "pycparser", "jinja2", "subprocess"} & sys.modules.keys() - before))
"""


@pytest.mark.parametrize("how", ["extension", "cffi"])
def test_loading_a_kernel_parses_no_c(compile_kernel: Any, tmp_path: Path, how: str) -> None:
    built = tmp_path / "_ffi.py"
    ffi_build.ffibuilder().emit_python_code(str(built))
    command = [sys.executable, "-c", FIRST_LOAD, str(built), str(compile_kernel(1, 1, BODY)), how]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "[]\n"


def test_cffis_hook_can_run_the_file_by_its_path() -> None:
    path = Path(ffi_build.__file__)
    scope: dict[str, Any] = {"__name__": "__cffi__", "__file__": str(path)}
    exec(compile(path.read_text(), str(path), "exec"), scope)
    assert scope["ffibuilder"]().sizeof("bcg_shape") == library.ffi().sizeof("bcg_shape") == 520
