"""Flags of C compilers: each once, with its purpose.

In: nothing.  Out: flags for kernels, for standalone C and the projects around it, and for checks of both.

    [flag.text for flag in RESULT_FLAGS] -> ["-fno-math-errno", "-fno-trapping-math", "-ffp-contract=off"]

`runtime.toolchain` picks the flags that the compiler at hand takes; `emit.standalone.target` has the machines' flags.
"""

from __future__ import annotations

from .frozen import dataclass

__all__ = [
    "CHECKED",
    "CXX_LANGUAGE",
    "C_LANGUAGE",
    "FAST_FLAGS",
    "FREESTANDING_FLAGS",
    "FULL_WIDTH",
    "JIT_FLAGS",
    "LIBRARIES",
    "LIGHT",
    "LINES_ASSEMBLY",
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
    """One compiler flag, why it is passed, and for which compilers, machines and CPU feature (empty: for all)."""

    text: str
    reason: str
    kinds: tuple[str, ...] = ()
    machines: tuple[str, ...] = ()
    feature: str = ""


_C11 = Flag("-std=c11", "the language the templates are written in")

# The flags for all C that we generate, whoever compiles it: the last one makes results the same everywhere, and the
# others change none. No later flag may undo the last one.
RESULT_FLAGS = (
    Flag("-fno-math-errno", "gcc keeps loops with sqrt and the like scalar otherwise; changes no result"),
    Flag("-fno-trapping-math", "gcc keeps compares and selects scalar otherwise; the C allows for what it changes"),
    Flag("-ffp-contract=off", "a*b + c rounds twice, as in NumPy; last, so that nothing undoes it"),
)

# Emitted C compiles without warnings under these flags, as C and as C++; C also has flags of its own.
WARNING_FLAGS = tuple("-Wall -Wextra -Wconversion -Wshadow -Wcast-qual -Wcast-align -pedantic -Werror".split())
C_LANGUAGE = (_C11.text, "-Wstrict-prototypes")
CXX_LANGUAGE = ("-x", "c++", "-std=c++17")

# The further flags for standalone C, where its form asks for them.
OPENMP_FLAGS = ("-fopenmp",)  # threads, in the compiler and the linker
FREESTANDING_FLAGS = ("-ffreestanding",)  # no library
LIBRARIES = ("-lm",)  # where <math.h> is included
LINES_ASSEMBLY = ("-g1", "-S")  # stop at assembly, and say which line of C each part comes from; changes no code
OPTIMISED, CHECKED = "-O3", "-O2"  # for users' builds, and for checking that C compiles

# math="fast" adds these to a kernel's flags.
FAST_FLAGS = (Flag("-ffp-contract=fast", "a*b + c may round once"),)
RUNTIME_FLAGS = (Flag("-O2", "it is compiled once, and gcc inlines too little at the level that suffices for kernels"),)

_X86 = ("x86_64", "AMD64", "i686", "i386")
_MCPU = ("aarch64", "arm64", "ppc64le")

WIDEST, LIGHT, NO_START_FILES = "-mprefer-vector-width=512", "-mprefer-vector-width=256", "-nostdlib"
# Cores that have this (Zen 5) load, store and divide 512 bits at a time, so that they want the widest vectors always:
# a light loop then takes 0.6 of the time in L1, and half where it divides.
FULL_WIDTH = "avx512_vp2intersect"

# The order is the command line's; the user's flags come before the last row.
JIT_FLAGS: tuple[Flag, ...] = (
    _C11,
    Flag("-O1", "compiles in 3/4 of -O2's time, to loops of the same speed (with the next three)", ("gcc",)),
    Flag("-fgcse", "of -O2's passes the one that is missed, in maths", ("gcc",)),
    Flag("-ftree-vectorize", "gcc's -O1 does not", ("gcc",)),
    Flag(
        "-fexpensive-optimizations",
        "-O1 neither ends functions by vzeroupper, without which SSE code after them is slow, nor contracts",
        ("gcc",),
    ),
    Flag("-fno-tree-slp-vectorize", "it drops roundings (bcg_flags.h), and finds nothing beside loops", ("gcc",)),
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
    Flag(
        WIDEST,
        "the default is 256; 512 is worth 1.2-1.9 in maths; not for what is `light`",
        machines=_X86,  # an emulated machine of another kind may be shown the features of the one that runs it
        feature="avx512f",
    ),
    Flag(
        "-mtune=skylake-avx512",
        "gcc 12 knows no later Xeon, and reads an operand of two uses twice; so extrema take 0.85 of the time",
        ("gcc",),
        machines=_X86,
        feature="avx512_fp16",  # Sapphire Rapids (which gcc knows from 11 on) and later (from 13 on)
    ),
    Flag("-fvisibility=hidden", "only bcg_entry is exported, so helpers inline and no symbol clashes"),
    *RESULT_FLAGS,
)
