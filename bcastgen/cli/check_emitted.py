"""Compiles emitted C with every compiler of this machine, as C11 and as C++17, every warning an error.

In: the files of a module.  Out: a finding per compiler and language, and one per run of its self-checking program.

    axpb.c, axpb.h  ->  gcc 12.2.0    -std=c11     axpb.c    ok
                        clang 19.1.7  -std=c++17   axpb.c    ok
"""

from __future__ import annotations

import platform
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from ..core.c_flags import (
    C_LANGUAGE,
    CHECKED,
    CXX_LANGUAGE,
    FREESTANDING_FLAGS,
    LIBRARIES,
    OPENMP_FLAGS,
    RESULT_FLAGS,
    WARNING_FLAGS,
)
from ..core.errors import CompileError
from ..core.frozen import dataclass
from ..emit.standalone import CForm
from ..emit.standalone.target import find_target
from ..runtime.compilers import Compiler, compilers
from ..runtime.processes import run

__all__ = ["CompilerRun", "check_files"]

_THREADS = """\
int main(void)
{
    int sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < 100; i++) sum += i;
    return sum != 4950;
}
"""


@dataclass(frozen=True, slots=True)
class CompilerRun:
    """The outcome of compiling or running some files: by which compiler, with which options, and its messages."""

    compiler: str
    how: str
    files: tuple[str, ...]
    ok: bool
    output: str = ""
    left_out: str = ""

    def __str__(self) -> str:
        head = f"{self.compiler:<14} {self.how:<35} {' '.join(self.files)}"
        said = "".join(f"\n    {line}" for line in self.output.splitlines())
        verdict = f"left out: {self.left_out}" if self.left_out else "ok" if self.ok else "FAILED"
        return f"{head:<62}  {verdict}{said}"


def check_files(files: Mapping[str, str], form: CForm) -> Iterator[CompilerRun]:
    """Compile a module's files, and run its self-checking program if it has one.

    Parameters
    ----------
    files : names and texts, as :attr:`.CSource.files`; files that are no C are left out.
    form : the options that the module was emitted with.

    Yields
    ------
    CompilerRun
        One by one, as the compilers finish.

    Raises
    ------
    CompileError
        If there is no compiler, or none for the form's target.
    """
    found = compilers()
    if not found:
        raise CompileError("no C compiler: neither gcc, clang nor zig is on the PATH; install one (apt install gcc)")
    own = {name: text for name, text in files.items() if name.endswith((".c", ".h"))}
    if form.header_only:
        # The header is compiled as what includes it.
        header = next(iter(own))
        own = {f"{header[:-2]}_included.c": f'#include "{header}"\n', **own}
    done = False
    for compiler in found:
        for finding in _check(own, form, compiler):
            done = done or not finding.left_out
            yield finding
    if not done:
        raise CompileError(f"no compiler here compiles for {form.target}; zig does (pip install ziglang)")


def _check(files: Mapping[str, str], form: CForm, compiler: Compiler) -> Iterator[CompilerRun]:
    """Yield what one compiler says of the files, in each form and language; then what their program finds."""
    units = tuple(name for name in files if name.endswith(".c"))
    machine = _machine_flags(form, compiler)
    if machine is None:
        yield CompilerRun(str(compiler), "", units, True, left_out=f"it does not compile for {form.target}")
        return
    with tempfile.TemporaryDirectory(prefix="bcastgen-check-") as made:
        directory = Path(made)
        for name, text in files.items():
            (directory / name).write_text(text, encoding="utf-8")
        fine = True
        for language, command in ((C_LANGUAGE, compiler.c), (CXX_LANGUAGE, compiler.cxx)):
            # The self-checking program is hosted, even if its module is freestanding.
            for group, options in ((units[:1], own) for own in _forms(form)) if command else ():
                finding = _compile(compiler, (*(command or ()), *machine), language, options, group, directory)
                fine = fine and finding.ok
                yield finding
            if command and units[1:]:
                finding = _compile(compiler, (*command, *machine), language, (), units[1:], directory)
                fine = fine and finding.ok
                yield finding
        if units[1:] and fine:
            yield from (
                _run_program(compiler, form, (*compiler.c, *machine), units, own, directory) for own in _threads(form)
            )


def _forms(form: CForm) -> tuple[tuple[str, ...], ...]:
    """Return the tuples of compiler options that a module of this form is compiled with, each in turn."""
    own = FREESTANDING_FLAGS if form.freestanding else ()
    return tuple((*own, *threads) for threads in _threads(form))


def _machine_flags(form: CForm, compiler: Compiler) -> tuple[str, ...] | None:
    """Return the flags that tell a compiler the form's target; None if it compiles for another machine."""
    if form.target is None:
        return ()
    target = find_target(form.target)
    if compiler.kind == "zig":
        return ("-target", *target.zig)
    return target.flags if target.zig[0].startswith(f"{platform.machine()}-{sys.platform}") else None


def _compile(
    compiler: Compiler,
    command: tuple[str, ...],
    language: tuple[str, ...],
    options: tuple[str, ...],
    units: tuple[str, ...],
    directory: Path,
) -> CompilerRun:
    result = (flag.text for flag in RESULT_FLAGS)
    verdict, output = run([*command, *language, *WARNING_FLAGS, CHECKED, *options, *result, "-c", *units], directory)
    how = " ".join((next(flag for flag in language if flag.startswith("-std=")), *options))
    return CompilerRun(str(compiler), how, units, not verdict, f"the compiler {verdict}\n{output}" if verdict else "")


def _threads(form: CForm) -> tuple[tuple[str, ...], ...]:
    """Return the options that a program is built and run with: without threads and, if the form has any, with them."""
    return ((), OPENMP_FLAGS) if form.openmp else ((),)


def _run_program(
    compiler: Compiler,
    form: CForm,
    command: tuple[str, ...],
    units: tuple[str, ...],
    threads: tuple[str, ...],
    directory: Path,
) -> CompilerRun:
    """Build the self-checking program as C, and run it if it is for this machine."""
    how = " ".join(("built" if form.target else "run", *threads))
    program, result = str(directory / "checks"), tuple(flag.text for flag in RESULT_FLAGS)
    (directory / "threads.c").write_text(_THREADS, encoding="utf-8")
    if threads and run([*command, *threads, "-o", program, "threads.c"], directory)[0]:
        return CompilerRun(str(compiler), how, units[1:], True, left_out="it has no library of OpenMP")
    verdict, output = run(
        [*command, C_LANGUAGE[0], CHECKED, *result, *threads, "-o", program, *units, *LIBRARIES], directory
    )
    if not verdict and form.target is None:
        verdict, output = run([program], directory)
    return CompilerRun(str(compiler), how, units[1:], not verdict, f"it {verdict}\n{output}" if verdict else "")
