"""The C compiler: which one, with which flags, and the running of it.

In: ``BCASTGEN_CC``, ``BCASTGEN_CFLAGS``, the machine; then a finished ``CSource``.  Out: a :class:`Toolchain`; then the
path of a shared object.

    toolchain() -> Toolchain(command=("/usr/bin/cc",), flags=("-std=c11", ..., "-ffp-contract=off"), kind="gcc", ...)
    compile_source(source, directory, tools) -> directory / "kernel.so"

The compiler is found and identified without running it, so that a kernel found on disk costs no process. ``CC`` is not
read: it is often set for another project (a cross compiler, ``gcc -m32``), and would silently change what a key means;
``export BCASTGEN_CC="$CC"`` says it where it is meant.
"""

from __future__ import annotations

import contextlib
import os
import platform
import re
import sys
import time
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from ..core.c_flags import JIT_FLAGS, LIGHT, NO_START_FILES, WIDEST, Flag
from ..core.c_source import CSource
from ..core.errors import CompileError, RefusedFlagsError
from ..core.forks import undivided
from ..core.frozen import dataclass

if TYPE_CHECKING:
    import subprocess

__all__ = ["BINARY", "Toolchain", "compile_source", "cpu_features", "run", "toolchain"]

BINARY = "kernel.so"

_PROGRAMS = ("cc", "gcc", "clang")
_TIMEOUT_SECONDS = 600.0
_TICK_SECONDS = 0.1  # a look at a program that has not closed its output: what it left behind may hold that open
_PIPE = 1 << 20  # bytes that a pipe holds, at most
_MOST_PRINTED = 1 << 15  # bytes of what a program printed that are kept, half of them its first
_CPUINFO = "/proc/cpuinfo"

# What a compiler may emit unasked. Linux lists much else under "flags" that microcode, kernel or hypervisor change.
_X86_ISA = tuple(
    "3dnow abm adx aes amx apx avx bmi cmov cmpccxadd cx f16c fma gfni lahf lm lzcnt mmx mov pclmul pni popcnt raoint "
    "sha sm3 sm4 sse ssse tbm vaes vpclmul xop".split()
)


# Compiled with the package, not at the first call.
_GCC = re.compile(r"(^|-)gcc($|-)")
_NEEDS_LIBM = re.compile(r"\b(?:math|tgmath|complex)\.h\b|\b__builtin_")
_CPU = re.compile(rb"^(flags|Features|isa|cpu)\s*:(.*)\n", re.MULTILINE)

_REORDERS = "it lets the compiler reorder or approximate operations, so results would differ from NumPy's"
_FLUSHES = "it flushes subnormal numbers to zero, when linked for the whole process"
_ROUNDS = "it changes the precision or rounding that the generated code relies on"
_HIDES = "its options cannot be checked here; write them out"
# Flags are told by what they do, however they are spelled: this header comes before what users' flags are for.
_GUARD = "bcg_flags.h"
_GUARDED = re.compile(r"(?:#error |: )\"?((?:results would be wrong|the kernel would crash)[^\"\n]*)")
_REFUSED: tuple[tuple[str, str], ...] = (
    (r"-Ofast|-ffast-math|-ffp-model=(fast|aggressive)", f"{_REORDERS}, and {_FLUSHES}"),
    (r"-funsafe-math-optimizations|-menable-unsafe-fp-math|-fassociative-math|-freciprocal-math", _REORDERS),
    (r"-ffinite-math-only|-fno-honor-(nans|infinities)|-fno-signed-zeros|-fapprox-func|-mrecip(=.*)?", _REORDERS),
    (r"-mdaz-ftz|-fdenormal-fp-math(-f32)?=.*", _FLUSHES),
    (r"-frounding-math|-fsingle-precision-constant|-fexcess-precision=fast|-mfpmath=.*387.*", _ROUNDS),
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
    identity : path, size and modification time of each program in ``command``, symlinks resolved; and where the
        environment has it look for its parts.
    kind : ``"gcc"``, ``"clang"`` or ``"unknown"``, by the program's name.
    given : what of all this the user's flags are.
    """

    command: tuple[str, ...]
    flags: tuple[str, ...]
    identity: str
    kind: str
    given: tuple[str, ...] = ()

    def __str__(self) -> str:
        return " ".join((*self.command, *self.flags))


def toolchain() -> Toolchain:
    """Return the compiler to use: ``BCASTGEN_CC``, else the first of cc, gcc, clang on the PATH.

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
    programs = [command[0], *filter(None, map(_program, command[1:]))]
    kind = next(filter(None, map(_kind, programs)), "unknown")
    flags = [row.text for row in JIT_FLAGS if _applies(row, kind)]
    places = [f"{name}={os.environ[name]}" for name in _PLACES if os.environ.get(name)]
    identity = " ".join((*map(_identity, programs), *places))
    return Toolchain(command, (*flags[:-1], *extra, flags[-1]), identity, kind, (*command[1:], *extra))


def compile_source(source: CSource, directory: Path, tools: Toolchain) -> Path:
    """Write a source into a directory, compile it there, and return the path of the shared object.

    Parameters
    ----------
    source : the C; its first file is compiled, which may include the others.
    directory : an existing directory, best empty.
    tools : what :func:`toolchain` returned.

    Raises
    ------
    CompileError
        If the compiler cannot be run, fails, is killed or takes too long; the message holds the command line and what
        the compiler printed. The source stays in ``directory``.
    OSError
        If the source cannot be written.
    """
    for name, text in source.files.items():
        if not re.fullmatch(r"\w[\w.-]*\.[ch]", name):
            raise CompileError(f"the source file name {name!r} is not a plain name ending in .c or .h")
        (directory / name).write_text(text, encoding="utf-8")
    unit, binary = directory / next(iter(source.files)), directory / BINARY
    # After the source: the linker takes from a library only what was asked for before it. libm takes it 2 ms to open,
    # and most kernels need none of it.
    libraries = ["-lm"] if any(map(_NEEDS_LIBM.search, source.files.values())) else []
    libraries += ["-lgcc"] if NO_START_FILES in tools.flags else []
    flags = [LIGHT if source.light and flag == WIDEST else flag for flag in tools.flags]
    guard = _guard() if tools.given else ()
    flags += [row.text for row in source.flags if _applies(row, tools.kind)]
    command = [*tools.command, *flags, *guard, "-o", str(binary), str(unit), *libraries]
    verdict, output = run(command, directory)
    refused = _GUARDED.search(output) if verdict and guard else None
    if refused:
        verdict = f"was given flags that are refused ({' '.join(tools.given)}): {refused[1]}"
    if not verdict and not binary.is_file():
        verdict = f"succeeded but wrote no {BINARY} (does BCASTGEN_CFLAGS ask for another output?)"
    if verdict:
        kind = RefusedFlagsError if refused else CompileError
        raise kind(_report(verdict, command, unit, output))
    return binary


def _guard() -> tuple[str, ...]:
    """Return what has the compiler look at what the user's flags make of C."""
    import struct  # noqa: PLC0415 - a kernel found on disk needs no compiler

    from ..core.resources import csrc_file  # noqa: PLC0415 - a kernel found on disk needs no compiler

    return (f"-DBCG_FLAGS_POINTER={struct.calcsize('P')}", "-include", str(csrc_file(_GUARD)))


@cache
def cpu_features() -> str:
    """Return the instruction sets of this CPU, sorted; the machine's name where the system does not tell."""
    text = _first_processor()
    found = _CPU.search(text)
    if found is None:
        return platform.machine()
    words = found[2].decode("ascii", "replace").split()
    if found[1] == b"flags":
        words = [word for word in words if word.startswith(_X86_ISA)]
    return " ".join(sorted(words))


def _first_processor() -> bytes:
    """Return /proc/cpuinfo up to the first processor's last line: the whole takes long on a machine of many cores."""
    text = b""
    try:
        with open(_CPUINFO, "rb", buffering=0) as file:
            while b"\n\n" not in text and (part := file.read(4096)):
                text += part
    except OSError:
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
    cure = "install one (apt install gcc) or set BCASTGEN_CC to a compiler's path"
    if words:
        raise CompileError(f"no C compiler: BCASTGEN_CC names {words[0]!r}, which is not a program on the PATH; {cure}")
    ignored = f" (CC={os.environ['CC']!r} is not read)" if os.environ.get("CC") else ""
    raise CompileError(f"no C compiler: none of {', '.join(_PROGRAMS)} is on the PATH{ignored}; {cure}")


def _refuse(variable: str, words: tuple[str, ...]) -> None:
    for word in words:
        # Drivers take --fast-math for -ffast-math.
        spellings = (word, word.replace("--", "-f", 1)) if word.startswith("--") else (word,)
        for pattern, reason in _REFUSED:
            if any(re.fullmatch(pattern, spelled) for spelled in spellings):
                raise RefusedFlagsError(f"{variable} contains {word}, which is refused: {reason}; remove it")


def _applies(row: Flag, kind: str) -> bool:
    return (
        (not row.kinds or kind in row.kinds)
        and (not row.machines or platform.machine() in row.machines)
        and (not row.feature or row.feature in cpu_features().split())
    )


def _kind(program: str) -> str | None:
    """Tell the compiler by the name its symlinks end in (cc -> gcc -> gcc-12), else by the one they begin with."""
    for name in (os.path.basename(os.path.realpath(program)), os.path.basename(program)):
        if "clang" in name or (sys.platform == "darwin" and name in ("cc", "gcc")):
            return "clang"
        if _GCC.search(name):
            return "gcc"
    return None


def _identity(program: str) -> str:
    real = os.path.realpath(program)
    status = os.stat(real)
    return f"{real}:{status.st_size}:{status.st_mtime_ns}"


def _environment(directory: Path) -> dict[str, str]:
    # The first three would change what is compiled or written behind the key's back, the fourth compiles twice.
    hidden = ("CCC_OVERRIDE_OPTIONS", "DEPENDENCIES_OUTPUT", "SUNPRO_DEPENDENCIES", "GCC_COMPARE_DEBUG")
    kept = {name: value for name, value in os.environ.items() if name not in hidden}
    return {**kept, "LC_ALL": "C", "TMPDIR": str(directory)}


def run(command: list[str], directory: Path) -> tuple[str, str]:
    """Run a command and return what went wrong ("" for nothing) and what it printed."""
    with undivided:
        import subprocess  # noqa: PLC0415 - a kernel found on disk needs no compiler

    try:
        # A session of its own, so that the programs a driver starts can be stopped with it.
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            cwd=directory,
            env=_environment(directory),
            start_new_session=True,
        )
    except OSError as error:
        return f"cannot be run: {error.strerror}; set BCASTGEN_CC to another one", ""
    printed = _Printed()
    try:
        _follow(process, printed, time.monotonic() + _TIMEOUT_SECONDS)
    except subprocess.TimeoutExpired:
        _stop(process)
        return f"did not finish within {_TIMEOUT_SECONDS:g} s and was stopped", str(printed)
    except BaseException:
        _stop(process)
        raise
    return _verdict(process.returncode), str(printed)


class _Printed:
    """The beginning and the end of what a program printed."""

    def __init__(self) -> None:
        self._head, self._tail, self._left_out = b"", b"", 0

    def add(self, text: bytes) -> None:
        """Take note of more of it."""
        room = _MOST_PRINTED // 2 - len(self._head)
        self._head += text[:room]
        self._tail += text[room:]
        excess = max(len(self._tail) - _MOST_PRINTED // 2, 0)
        self._tail = self._tail[excess:]
        self._left_out += excess

    def __str__(self) -> str:
        middle = f"\n... ({self._left_out} bytes are left out) ...\n".encode() if self._left_out else b""
        return (self._head + middle + self._tail).decode("utf-8", "replace")


def _follow(process: subprocess.Popen[bytes], printed: _Printed, deadline: float) -> None:
    """Read what a program prints until it ends: not until its output is closed, which a child of it may hold open.

    Raises
    ------
    subprocess.TimeoutExpired
        If it has not ended by then.
    """
    with undivided:
        import selectors  # noqa: PLC0415 - a kernel found on disk needs no compiler
        import subprocess  # noqa: PLC0415 - a kernel found on disk needs no compiler
    assert process.stdout is not None
    with selectors.DefaultSelector() as selector, process.stdout as pipe:
        selector.register(pipe, selectors.EVENT_READ)
        while True:
            ended = process.poll() is not None
            is_readable = selector.select(0 if ended else _TICK_SECONDS)
            text = os.read(pipe.fileno(), _PIPE) if is_readable else b""
            printed.add(text)
            if is_readable and not text:
                break
            if ended:
                return  # all that it printed and nobody had read lay in the pipe
            if time.monotonic() > deadline:
                raise subprocess.TimeoutExpired(process.args, _TIMEOUT_SECONDS)
    process.wait(max(deadline - time.monotonic(), 0))


def _stop(process: subprocess.Popen[bytes]) -> None:
    with undivided:
        import signal  # noqa: PLC0415 - a kernel found on disk needs no compiler

    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _verdict(status: int) -> str:
    if status == 0:
        return ""
    if status > 0:
        return f"failed with exit status {status}"
    with undivided:
        import signal  # noqa: PLC0415 - a kernel found on disk needs no compiler

    try:
        name = signal.Signals(-status).name
    except ValueError:
        name = f"signal {-status}"
    return f"was killed by {name}" + (" (out of memory?)" if name == "SIGKILL" else "")


def _report(verdict: str, command: list[str], unit: Path, output: str) -> str:
    with undivided:
        import shlex  # noqa: PLC0415 - a kernel found on disk needs no compiler

    printed = output.strip() or "(it printed nothing)"
    return f"the C compiler {verdict}\ncommand: {shlex.join(command)}\nsource kept in: {unit}\noutput:\n{printed}"
