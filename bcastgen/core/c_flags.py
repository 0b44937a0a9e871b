"""Flags of C compilers: each once, with what it is for.

In: nothing.  Out: flags for kernels, for C that stands alone and the projects around it, for what checks either.

    [flag.text for flag in RESULT_FLAGS] -> ["-fno-math-errno", "-fno-trapping-math", "-ffp-contract=off"]

Which of them apply to the compiler at hand says `runtime.toolchain`; which machines C is for, `emit.standalone.target`.
"""

from __future__ import annotations

from .frozen import dataclass

__all__ = [
    "CHECKED",
    "CXX_LANGUAGE",
    "C_LANGUAGE",
    "FAST_FLAGS",
    "FREESTANDING_FLAGS",
    "JIT_FLAGS",
    "LIBRARIES",
    "LIGHT",
    "NO_START_FILES",
    "OPENMP_FLAGS",
    "OPTIMISED",
    "RESULT_FLAGS",
    "RUNTIME_FLAGS",
    "WARNING_FLAGS",
    "WIDEST",
    "Flag",
]


@dataclass(frozen=True, slots=True)
class Flag:
    """One compiler flag, why it is passed, and when: for these compilers, machines and CPU feature (all: empty)."""

    text: str
    reason: str
    kinds: tuple[str, ...] = ()
    machines: tuple[str, ...] = ()
    feature: str = ""


_C11 = Flag("-std=c11", "the language the templates are written in")

# What C of ours is compiled with, by whomever: with the last flag it gives one result everywhere, and the others change
# none. Nothing may stand behind it that undoes it.
RESULT_FLAGS = (
    Flag("-fno-math-errno", "gcc keeps loops with sqrt and the like scalar otherwise; changes no result"),
    Flag("-fno-trapping-math", "gcc keeps compares and selects scalar otherwise; the C allows for what it changes"),
    Flag("-ffp-contract=off", "a*b + c rounds twice, as in NumPy; last, so that nothing undoes it"),
)

# Emitted C compiles with these, as C and as C++; and with those that only C has.
WARNING_FLAGS = tuple("-Wall -Wextra -Wconversion -Wshadow -Wcast-qual -pedantic -Werror".split())
C_LANGUAGE = (_C11.text, "-Wstrict-prototypes")
CXX_LANGUAGE = ("-x", "c++", "-std=c++17")

# What C that stands alone is compiled with, beside, where it is asked for.
OPENMP_FLAGS = ("-fopenmp",)  # threads, in the compiler and the linker
FREESTANDING_FLAGS = ("-ffreestanding",)  # no library
LIBRARIES = ("-lm",)  # of mathematics, where it is included
OPTIMISED, CHECKED = "-O3", "-O2"  # for users, and where C is compiled to see whether it is well

# What math="fast" adds to a kernel's flags: a*b + c may round once.
FAST_FLAGS = ("-ffp-contract=fast",)
# The runtime is compiled once, and gcc inlines little at the level that does for kernels.
RUNTIME_FLAGS = ("-O2",)

_X86 = ("x86_64", "AMD64", "i686", "i386")
_MCPU = ("aarch64", "arm64", "ppc64le")

WIDEST, LIGHT, NO_START_FILES = "-mprefer-vector-width=512", "-mprefer-vector-width=256", "-nostdlib"

# The order is the command line's; the user's flags stand before the last row.
JIT_FLAGS: tuple[Flag, ...] = (
    _C11,
    Flag("-O1", "compiles in 3/4 of -O2's time, to loops of the same speed (with the next three)", ("gcc",)),
    Flag("-fgcse", "of -O2's passes the one that is missed, in maths", ("gcc",)),
    Flag("-ftree-vectorize", "gcc's -O1 does not", ("gcc",)),
    Flag("-fno-tree-slp-vectorize", "beside loops there is nothing to vectorise, and looking takes 4%", ("gcc",)),
    Flag(
        "-fschedule-insns",
        "hides what the chains of functions wait for: 2% in maths, 3 to 7 where chains are long",
        ("gcc",),
    ),
    Flag("-fno-thread-jumps", "selects in a row stay selects, and do not ask again under masks", ("gcc",)),
    Flag("-falign-loops=32", "-O1 aligns none: a short one across lines of code takes up to twice as long", ("gcc",)),
    Flag("-fvect-cost-model=dynamic", "-O3's cost model: vectorise where it pays, with a run-time check", ("gcc",)),
    Flag("-pipe", "the assembler does not wait for the compiler", ("gcc",)),
    Flag(NO_START_FILES, "a kernel needs libm and libgcc, and no start files: linking takes half the time", ("gcc",)),
    Flag("-O3", "compiles as fast as -O2 with clang; all that is known of an unknown compiler", ("clang", "unknown")),
    Flag("-fPIC", "the result is loaded into a process"),
    Flag("-shared", "the result is loaded into a process"),
    Flag("-march=native", "the kernel runs here; the cache key holds the CPU's features", machines=_X86),
    Flag("-mcpu=native", "what -march=native is on x86", machines=_MCPU),
    Flag(WIDEST, "the default is 256; 512 is worth 1.2-1.9 in maths; not for what is `light`", feature="avx512f"),
    Flag("-fvisibility=hidden", "only bcg_entry is exported, so helpers inline and no symbol clashes"),
    *RESULT_FLAGS,
)
