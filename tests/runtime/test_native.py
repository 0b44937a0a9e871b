"""bcastgen/runtime/native.py: the run time as a library of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bcastgen.core.c_flags import Flag
from bcastgen.core.c_source import CSource
from bcastgen.runtime import cache, native
from bcastgen.runtime.library import open_shared
from bcastgen.runtime.run_compiler import compile_source

# x86-64 alone keeps the function in its shared C library, for programs that were linked long ago.
AT_FORK = """\
#include <pthread.h>
static void nothing(void) {}
__attribute__((visibility("default"))) int at_fork(void) { return pthread_atfork(nothing, nothing, nothing); }
"""


def test_it_is_linked_with_all_that_it_needs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Any] = []

    def build(*given: Any) -> Any:
        made.append(given)
        return (None,)

    monkeypatch.setattr(native, "find", lambda *_given: None)
    monkeypatch.setattr(cache, "build", build)
    native.runtime.__wrapped__()
    [(_key, source_of, tools, *_)] = made
    assert "pthread_atfork(" in source_of().text
    # The linker refuses what whoever loads the library would have to bring.
    whole = CSource("k", {"k.c": AT_FORK}, (Flag("-Wl,-z,defs", "nothing is left undefined"),))
    open_shared(compile_source(whole, tmp_path, tools))
