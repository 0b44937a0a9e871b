"""The C compiler: which one, and with which flags; `run_compiler` runs it.

In: ``BCASTGEN_CC``, ``BCASTGEN_CFLAGS``, the machine.  Out: a :class:`Toolchain`.

    toolchain() -> Toolchain(command=("/usr/bin/cc",), flags=("-std=c11", ..., "-ffp-contract=off"), kind="gcc", ...)

The compiler is found and identified without running it, so that a kernel found on disk costs no process. ``CC`` is not
read: it is often set for another project (a cross compiler, ``gcc -m32``), and would silently change what a key means;
``export BCASTGEN_CC="$CC"`` says it where it is meant.
"""

from __future__ import annotations

import os
import platform
import re
import sys
from functools import cache

from ..core.c_flags import JIT_FLAGS, Flag
from ..core.errors import CompileError, RefusedFlagsError
from ..core.forks import undivided
from ..core.frozen import dataclass
from ..core.system_errors import pass_on

__all__ = ["BINARY", "Toolchain", "applies", "cpu_features", "toolchain"]

BINARY = "kernel.so"

_PROGRAMS = ("cc", "gcc", "clang")
_CPUINFO = "/proc/cpuinfo"
# The beginning of the line of /proc/cpuinfo with the CPU's features: on x86, on Arm, on RISC-V, on POWER.
_CPU_LINES = (b"flags", b"Features", b"isa", b"cpu")

# The features that a compiler may use unasked. Linux lists others under "flags" that microcode, kernel or hypervisor
# change.
_X86_ISA = tuple(
    "3dnow abm adx aes amx apx avx bmi cmov cmpccxadd cx f16c fma gfni lahf lm lzcnt mmx mov pclmul pni popcnt raoint "
    "sha sm3 sm4 sse ssse tbm vaes vpclmul xop".split()
)


_REORDERS = "it lets the compiler reorder or approximate operations, so results would differ from NumPy's"
_FLUSHES = "it flushes subnormal numbers to zero, when linked for the whole process"
_ROUNDS = "it changes the precision or rounding that the generated code relies on"
_HIDES = "its options cannot be checked here; write them out"
_REFUSED: tuple[tuple[str, str], ...] = (
    (r"-Ofast|-ffast-math|-ffp-model=(fast|aggressive)", f"{_REORDERS}, and {_FLUSHES}"),
    (r"-funsafe-math-optimizations|-menable-unsafe-fp-math|-fassociative-math|-freciprocal-math", _REORDERS),
    (r"-ffinite-math-only|-fno-honor-(nans|infinities)|-fno-signed-zeros|-fapprox-func|-mrecip(=.*)?", _REORDERS),
    (r"-mdaz-ftz|-fdenormal-fp-math(-f32)?=.*", _FLUSHES),
    (r"-frounding-math|-fsingle-precision-constant|-fexcess-precision=fast|-mfpmath=(?!sse$).*", _ROUNDS),
    # Headers and other people's code leave names of small letters to C and its library.
    (r"-D(_*[a-z].*)?", "it may give words and functions of C another meaning"),
    (r"@.*|--?specs(=.*)?|-Wp,.*|-Xpreprocessor|-Xclang|-mllvm|--config(=.*)?", _HIDES),
)
# Where compilers look for their own parts, for headers and for libraries.
_PLACES = ("CPATH", "C_INCLUDE_PATH", "COMPILER_PATH", "GCC_EXEC_PREFIX", "LIBRARY_PATH")


@dataclass(frozen=True, slots=True)
class Toolchain:
    """A compiler and the flags it is run with.

    Attributes
    ----------
    command : the program's full path and its leading arguments.
    flags : every flag, in order; ``-ffp-contract=off`` is the last.
    identity : path, size and modification time of each program in ``command``, symlinks resolved; and the environment
        variables that say where the compiler looks for its parts.
    kind : ``"gcc"``, ``"clang"`` or ``"unknown"``, by the program's name.
    given : the flags of ``command`` and ``flags`` that the user gave.
    """

    command: tuple[str, ...]
    flags: tuple[str, ...]
    identity: str
    kind: str
    given: tuple[str, ...] = ()

    def __str__(self) -> str:
        return " ".join((*self.command, *self.flags))


def toolchain() -> Toolchain:
    """Return the compiler to use: ``BCASTGEN_CC``, else the first of cc, gcc, clang on the PATH, else PyPI's ziglang.

    Raises
    ------
    CompileError
        If there is none, or a flag in ``BCASTGEN_CC`` or ``BCASTGEN_CFLAGS`` would change results.

    Examples
    --------
    >>> toolchain().flags[-1]
    '-ffp-contract=off'
    """
    command = _command(_words("BCASTGEN_CC"))
    extra = _words("BCASTGEN_CFLAGS")
    _refuse("BCASTGEN_CC", command[1:])
    _refuse("BCASTGEN_CFLAGS", extra)
    # `ccache gcc`: the compiler is an argument, and decides the binary as much.
    programs = [command[0], *([] if _is_zig(command[0]) else filter(None, map(_program, command[1:])))]
    files = [os.path.realpath(program) for program in programs]
    kind = next(filter(None, map(_kind, programs, files)), "unknown")
    flags = [row.text for row in JIT_FLAGS if applies(row, kind)]
    places = [f"{name}={os.environ[name]}" for name in _PLACES if os.environ.get(name)]
    identity = " ".join((*map(_identity, files), *places))
    return Toolchain(command, (*flags[:-1], *extra, flags[-1]), identity, kind, (*command[1:], *extra))


@cache
def cpu_features() -> str:
    """Return the instruction sets of this CPU, sorted; the machine's name where the system does not tell."""
    for line in _first_processor().splitlines():
        name, _, text = line.partition(b":")
        if name.rstrip() in _CPU_LINES:
            words = text.decode("ascii", "replace").split()
            return " ".join(sorted(word for word in words if name[:1] != b"f" or word.startswith(_X86_ISA)))
    return platform.machine()


def _first_processor() -> bytes:
    """Return /proc/cpuinfo up to the first processor's last line: the whole takes long on a machine of many cores."""
    text = b""
    try:
        with open(_CPUINFO, "rb", buffering=0) as file:
            while b"\n\n" not in text and (part := file.read(4096)):
                text += part
    except OSError as error:
        pass_on(error)
        return b""
    return text


def _words(variable: str) -> tuple[str, ...]:
    text = os.environ.get(variable, "").strip()
    if not text:
        return ()
    with undivided:
        import shlex  # noqa: PLC0415 - a kernel found on disk needs no compiler

    try:
        return tuple(shlex.split(text))
    except ValueError as error:
        raise CompileError(f"{variable}={text!r} cannot be split into words: {error}") from None


def _program(name: str) -> str | None:
    # shutil.which, without the 2 ms that importing shutil adds to a first call.
    places = [""] if os.path.dirname(name) else os.environ.get("PATH", os.defpath).split(os.pathsep)
    paths = (os.path.abspath(os.path.join(place, name)) for place in places)
    return next((path for path in paths if os.path.isfile(path) and os.access(path, os.X_OK)), None)


def _command(words: tuple[str, ...]) -> tuple[str, ...]:
    for name in words[:1] or _PROGRAMS:
        program = _program(name)
        if program is not None:
            return (program, *words[1:])
    cure = "install one (apt install gcc, or pip install 'bcastgen[compiler]') or set BCASTGEN_CC to a compiler's path"
    zig = None if words else _packaged_zig()
    if zig is not None:
        return (zig, "cc")
    if words:
        raise CompileError(f"no C compiler: BCASTGEN_CC names {words[0]!r}, which is not a program on the PATH; {cure}")
    ignored = f" (CC={os.environ['CC']!r} is not read)" if os.environ.get("CC") else ""
    raise CompileError(f"no C compiler: none of {', '.join(_PROGRAMS)} is on the PATH{ignored}; {cure}")


def _packaged_zig() -> str | None:
    """Return the path of zig, which is clang with all that it needs, if the package ziglang is installed."""
    with undivided:
        from importlib.util import find_spec  # noqa: PLC0415 - most machines have a compiler

    found = find_spec("ziglang")
    places = () if found is None else found.submodule_search_locations or ()
    return next(filter(None, (_program(os.path.join(place, "zig")) for place in places)), None)


def _is_zig(program: str) -> bool:
    return os.path.basename(program) == "zig"


def _refuse(variable: str, words: tuple[str, ...]) -> None:
    for word in words:
        # Drivers take --fast-math for -ffast-math.
        spellings = (word, word.replace("--", "-f", 1)) if word.startswith("--") else (word,)
        for pattern, reason in _REFUSED:
            if any(re.fullmatch(pattern, spelled) for spelled in spellings):
                raise RefusedFlagsError(f"{variable} contains {word}, which is refused: {reason}; remove it")


def applies(row: Flag, kind: str) -> bool:
    """Return whether a flag is for this machine and a compiler of this kind."""
    return (
        (not row.kinds or kind in row.kinds)
        and (not row.machines or platform.machine() in row.machines)
        and (not row.feature or row.feature in cpu_features().split())
    )


def _kind(program: str, file: str) -> str | None:
    """Tell the compiler by the name its symlinks end in (cc -> gcc -> gcc-12), else by the one they begin with."""
    for name in (os.path.basename(file), os.path.basename(program)):
        if "clang" in name or name == "zig" or (sys.platform == "darwin" and name in ("cc", "gcc")):
            return "clang"
        if "gcc" in name.split("-"):
            return "gcc"
    return None


def _identity(file: str) -> str:
    status = os.stat(file)
    return f"{file}:{status.st_size}:{status.st_mtime_ns}"
