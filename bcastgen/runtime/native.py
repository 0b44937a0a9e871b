"""The runtime without the extension: csrc/runtime/runtime.c, compiled once and kept in the cache like a kernel.

In: nothing.  Out: `bcg_run` as a cffi function, which plans a call of a kernel and runs its loops.

    runtime().bcg_run(entry, operands, results, options, why) -> a status
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from ..core.c_flags import NO_START_FILES, RUNTIME_FLAGS
from ..core.c_source import CSource
from ..core.frozen import replace
from ..core.resources import csrc_file
from .cache import cache_key, find
from .library import open_shared
from .toolchain import toolchain

__all__ = ["runtime"]

_INCLUDE = re.compile(r'^#include "([\w.]+)"$', re.MULTILINE)


def _inlined(name: str) -> str:
    """Return a file of csrc with its includes replaced by their files; include guards keep a second copy out."""
    text = csrc_file(name).read_text(encoding="utf-8")
    return _INCLUDE.sub(lambda found: _inlined(found[1]), text)


@cache
def runtime() -> Any:
    """Return the open library of the runtime; the first call on a machine compiles it.

    Raises
    ------
    CompileError, CacheError
        As for a kernel.
    """
    text, tools = _inlined("runtime.c"), toolchain()
    # pthread_atfork is in the part of the C library that is linked into each program, and needs start files.
    tools = replace(tools, flags=tuple(flag for flag in tools.flags if flag != NO_START_FILES))
    source = CSource("runtime", {"runtime.c": text}, RUNTIME_FLAGS)
    key = cache_key("runtime", text, *(flag.text for flag in source.flags), tools=tools)
    found = find(key, open_shared)
    if found is None:
        from .cache import build  # noqa: PLC0415 - it is compiled once

        found = build(key, lambda: source, tools, open_shared, "the runtime")[0]
    return found
