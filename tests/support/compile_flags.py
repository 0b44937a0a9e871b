"""Flags with which tests compile C of ours: those of the package's one table, and in what tests differ from it.

In: nothing, or a compiler.  Out: flags.

    ["gcc", *LANGUAGES["c"], *USERS, *WARNING_FLAGS, "m.c"]     as the build files that go with emitted C have it
    ["gcc", *jit_flags("gcc"), "kernel.c"]                      as kernels are compiled
"""

from __future__ import annotations

import pytest

from bcastgen.core.c_flags import (
    C_LANGUAGE,
    CXX_LANGUAGE,
    NO_START_FILES,
    OPTIMISED,
    RESULT_FLAGS,
    WARNING_FLAGS,
)
from bcastgen.runtime.toolchain import toolchain

LANGUAGES = {"c": C_LANGUAGE, "c++": CXX_LANGUAGE}
# What build files pass; emitted C promises its results with the last of them alone, and most tests pass no other.
RESULTS = tuple(flag.text for flag in RESULT_FLAGS)
CONTRACT = RESULTS[-1]
USERS = (OPTIMISED, *RESULTS)
STRICT = [*WARNING_FLAGS, CONTRACT]
# The least at which gcc sees all that it warns of: for tests of warnings, which run nothing.
WARNED = "-O1"
# Values are those of the C, whatever an optimiser makes of it: for very many programs, each run once.
QUICK = "-O0"
SHARED = ("-shared", "-fPIC")
# All instructions of this machine. clang 19 warns of features that it found itself, on CPUs with AVX10.
NATIVE = ("-march=native", "-Wno-invalid-feature-combination")


def jit_flags(compiler: str = "gcc") -> tuple[str, ...]:
    """Those of a kernel that a compiler makes, but for what concerns its being loaded: what is exported and linked."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BCASTGEN_CC", compiler)
        patch.delenv("BCASTGEN_CFLAGS", raising=False)
        flags = toolchain().flags
    return tuple(flag for flag in flags if flag not in (NO_START_FILES, "-shared", "-fvisibility=hidden"))
