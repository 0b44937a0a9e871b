"""The target machines of standalone C: the width of their vectors, and their compiler flags.

In: a name.  Out: a :class:`Target`; the macro of the hints on loops, of which the schedule says the numbers.

    find_target("x86-64-v3")  ->  Target("x86-64-v3", ("-march=x86-64-v3",), 32, ...)

A target changes only hints, so the C compiles for any other machine. It gives the same results there, except that the
last bits of functions depend on whether a product and a sum are rounded once (`fma`).
"""

from __future__ import annotations

from ...core.c_flags import WIDEST
from ...core.errors import BcastgenError
from ...core.frozen import dataclass
from ..kernel.inner import INDEPENDENT, VECTORS

__all__ = ["TARGETS", "Target", "find_target", "vector_words"]


@dataclass(frozen=True, slots=True)
class Target:
    """One machine.

    Attributes
    ----------
    name : its name in options.
    doc : a description.
    flags : flags of gcc and clang for this machine.
    vector_bytes : size of its vectors.
    fma : whether x * y + z is one instruction.
    zig : for zig's cross compiler, ``zig cc -target ... [-mcpu=...]``, instead of `flags`. Linux has its GNU library,
        of which zig makes what a linker needs in seconds; another one is compiled whole first, for a minute.
    level : of x86-64, if a call can pick this machine's instructions (`instruction_sets.py`); else 0.
    features : for gcc's and clang's attribute ``target``, the instructions that such a set has.
    """

    name: str
    doc: str
    flags: tuple[str, ...]
    vector_bytes: int
    fma: bool
    zig: tuple[str, ...]
    level: int = 0
    features: str = ""

    def __str__(self) -> str:
        flags = " ".join(self.flags)
        return f"{self.name} ({self.doc}): vectors of {self.vector_bytes} bytes; compile with {flags}"


# Instructions by their own names: by the name of the level, clang has vectors of 32 bytes for AVX-512, too.
_AVX2 = "avx2,fma,f16c,bmi2"

TARGETS: dict[str, Target] = {
    row.name: row
    for row in (
        Target("x86-64", "any, SSE2", ("-march=x86-64",), 16, False, ("x86_64-linux-gnu",)),
        Target(
            "x86-64-v3",
            "AVX2",
            ("-march=x86-64-v3",),
            32,
            True,
            ("x86_64-linux-gnu", "-mcpu=x86_64_v3"),
            3,
            _AVX2,
        ),
        Target(
            "x86-64-v4",
            "AVX-512",
            ("-march=x86-64-v4", WIDEST),
            64,
            True,
            ("x86_64-linux-gnu", "-mcpu=x86_64_v4", WIDEST),
            4,
            f"{_AVX2},avx512f,avx512bw,avx512cd,avx512dq,avx512vl",
        ),
        Target("x86-64-windows", "any, SSE2", ("-march=x86-64",), 16, False, ("x86_64-windows-gnu",)),
        Target("aarch64", "NEON", ("-march=armv8-a",), 16, True, ("aarch64-linux-gnu",)),
        Target("wasm32", "WebAssembly with SIMD", ("-msimd128",), 16, False, ("wasm32-wasi", "-msimd128")),
    )
}


def find_target(name: str) -> Target:
    """Return the target of this name.

    Raises
    ------
    BcastgenError
        If there is none of this name; the message lists all names.

    Examples
    --------
    >>> find_target("aarch64").vector_bytes
    16
    """
    if not isinstance(name, str) or name not in TARGETS:
        raise BcastgenError(f"there is no target {name!r}; there are {', '.join(TARGETS)}")
    return TARGETS[name]


def vector_words(target: Target) -> str:
    """Return the macros of the hints; gcc has no such hint, and takes the width from its flags."""
    return f"""\
/* A vector has so many values of a loop: {target.vector_bytes} bytes, as {target.name} has them. */
#if defined(__clang__)
#define BCG_PRAGMA(words) _Pragma(#words)
#define {VECTORS}(lanes) BCG_PRAGMA(clang loop vectorize(assume_safety) vectorize_width(lanes))
#else
#define {VECTORS}(lanes) {INDEPENDENT}
#endif"""
