"""Running the compiler: what it is given, what comes out, and how its failures are told."""

from __future__ import annotations

import contextlib
import ctypes
import os
import platform
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from bcastgen.core.c_source import CSource
from bcastgen.core.errors import CompileError
from bcastgen.core.forks import undivided
from bcastgen.runtime import processes, run_compiler
from bcastgen.runtime.run_compiler import compile_source
from bcastgen.runtime.toolchain import BINARY, Toolchain, toolchain
from shell_scripts import plain_environment, script  # noqa: F401 - a fixture

EXPORT = '__attribute__((visibility("default")))'
ANSWER = CSource("kernel", {"kernel.c": f"{EXPORT} int answer(void) {{ return 42; }}\n"})


pytestmark = pytest.mark.usefixtures("plain_environment")


def runs(number: str) -> bool:
    """Whether a process runs; one that has ended and that nobody has asked for does not."""
    try:
        return "\nState:\tZ" not in Path("/proc", number, "status").read_text()
    except OSError:
        return False


def fake(command: Path) -> Toolchain:
    return Toolchain((str(command),), (), "", "unknown")


def test_a_source_becomes_a_shared_object_that_loads(tmp_path: Path) -> None:
    binary = compile_source(ANSWER, tmp_path, toolchain())
    assert binary == tmp_path / BINARY
    assert ctypes.CDLL(str(binary)).answer() == 42
    assert (tmp_path / "kernel.c").read_text() == ANSWER.text


def test_headers_of_the_source_and_libm_are_at_hand(tmp_path: Path) -> None:
    text = f'#include "mine.h"\n#include <math.h>\n{EXPORT} double value(double x) {{ return pow(x, 2.0) + MINE; }}\n'
    binary = compile_source(CSource("k", {"k.c": text, "mine.h": "#define MINE 0.5\n"}), tmp_path, toolchain())
    value = ctypes.CDLL(str(binary)).value
    value.restype, value.argtypes = ctypes.c_double, [ctypes.c_double]
    assert value(27.0) == 729.5


def test_only_what_is_marked_is_exported(tmp_path: Path) -> None:
    source = CSource("k", {"k.c": f"int hidden(void) {{ return 1; }}\n{EXPORT} int shown(void) {{ return 2; }}\n"})
    library = ctypes.CDLL(str(compile_source(source, tmp_path, toolchain())))
    assert library.shown() == 2
    with pytest.raises(AttributeError):
        library.hidden()


def test_products_are_rounded_before_they_are_added(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BCASTGEN_CFLAGS", "-ffp-contract=fast")
    text = f"{EXPORT} double f(double a, double b, double c) {{ const double t = a * b; return t + c; }}\n"
    library = ctypes.CDLL(str(compile_source(CSource("k", {"k.c": text}), tmp_path, toolchain())))
    library.f.restype, library.f.argtypes = ctypes.c_double, [ctypes.c_double] * 3
    a, b = 1.0 + 2.0**-30, 1.0 - 2.0**-30
    assert library.f(a, b, -1.0) == a * b - 1.0 == 0.0  # fused: -2**-60


# Flags that no list of names has, by what they do.
HIDDEN = {
    "--optimize=fast": "without -ffast-math",
    "-fno-associative-math --optimize=fast": "without -ffast-math",
    "-m32": "registers wider than the types|pointers have another size",
    "-mx32": "pointers have another size",
    "-fpack-struct": "structs have another layout",
    "-fpack-struct=2": "structs have another layout",
    "-fshort-enums": "enums have another size",
}


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the flags are those of x86-64")
@pytest.mark.parametrize(
    ("variable", "flags"), [*(("BCASTGEN_CFLAGS", flags) for flags in HIDDEN), ("BCASTGEN_CC", "-fpack-struct")]
)
def test_what_flags_do_counts_not_their_names(
    variable: str, flags: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BCASTGEN_CC", "gcc")
    monkeypatch.setenv(variable, f"gcc {flags}" if variable == "BCASTGEN_CC" else flags)
    with pytest.raises(CompileError, match=rf"was given flags that are refused \({flags}\): .*({HIDDEN[flags]})"):
        compile_source(ANSWER, tmp_path, toolchain())


def test_flags_are_looked_at_where_there_are_some(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    show = script(tmp_path / "show", f'echo "$@" > args; exec {toolchain().command[0]} "$@"')
    for flags, is_looked_at in (("", False), ("-g -march=native", True)):
        monkeypatch.setenv("BCASTGEN_CC", str(show))
        monkeypatch.setenv("BCASTGEN_CFLAGS", flags)
        compile_source(ANSWER, tmp_path, toolchain())
        assert ("-include" in (tmp_path / "args").read_text()) is is_looked_at


def test_subnormals_survive_the_loading_of_a_kernel(tmp_path: Path) -> None:
    ctypes.CDLL(str(compile_source(ANSWER, tmp_path, toolchain())))
    assert sys.float_info.min / 4 > 0.0


def test_a_directory_with_spaces_and_quotes_is_no_shells_business(tmp_path: Path) -> None:
    directory = tmp_path / "a 'b' $(touch pwned); é"
    directory.mkdir()
    assert compile_source(ANSWER, directory, toolchain()).is_file()
    assert not list(tmp_path.rglob("pwned"))


def test_a_failing_compiler_shows_command_output_and_source(tmp_path: Path) -> None:
    source = CSource("k", {"k.c": "int f(void) { return undeclared_name; }\n"})
    with pytest.raises(CompileError) as caught:
        compile_source(source, tmp_path, toolchain())
    message = str(caught.value)
    assert "failed with exit status 1" in message
    assert "undeclared_name" in message
    assert f"source kept in: {tmp_path / 'k.c'}" in message
    command = message.splitlines()[1].removeprefix("command: ")
    assert command.startswith(" ".join(toolchain().command))
    again = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    assert "undeclared_name" in again.stderr, "the command line shown is not the one that failed"


def test_messages_are_in_english_whatever_the_locale(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")
    echo = script(tmp_path / "cc", 'echo "locale=$LC_ALL tmp=$TMPDIR clang=$CCC_OVERRIDE_OPTIONS home=$HOME"; exit 1')
    monkeypatch.setenv("CCC_OVERRIDE_OPTIONS", "+-ffast-math")
    with pytest.raises(CompileError, match=rf"locale=C tmp={tmp_path} clang= home={os.environ['HOME']}"):
        compile_source(ANSWER, tmp_path, fake(echo))


def test_nothing_of_ours_reaches_the_compiler(tmp_path: Path) -> None:
    look = script(tmp_path / "cc", f"cat; ls -l /proc/self/fd | grep -c '{tmp_path}/open'; exit 1")
    with (tmp_path / "open").open("w") as file:
        os.set_inheritable(file.fileno(), True)
        with pytest.raises(CompileError, match=r"output:\n0$"):
            compile_source(ANSWER, tmp_path, fake(look))


def test_no_fork_divides_the_start_of_a_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    start, held = subprocess.Popen, list[bool]()

    def started(*arguments: Any, **options: Any) -> subprocess.Popen[bytes]:
        held.append(undivided.is_held)
        return start(*arguments, **options)

    monkeypatch.setattr(subprocess, "Popen", started)
    assert processes.run(["/bin/true"], tmp_path) == ("", "")
    assert held == [True, True], "the program, and what watches it"
    assert not undivided.is_held


def test_a_killed_compiler_is_named_so(tmp_path: Path) -> None:
    with pytest.raises(CompileError, match=r"was killed by SIGKILL \(out of memory\?\)"):
        compile_source(ANSWER, tmp_path, fake(script(tmp_path / "cc", "echo started; kill -9 $$")))
    with pytest.raises(CompileError, match="was killed by SIGSEGV\n"):
        compile_source(ANSWER, tmp_path, fake(script(tmp_path / "cc", "kill -SEGV $$")))


def test_a_compiler_that_vanished_is_named_so(tmp_path: Path) -> None:
    with pytest.raises(CompileError, match=r"cannot be run: No such file.*BCASTGEN_CC(.|\n)*command: .*/gone "):
        compile_source(ANSWER, tmp_path, fake(tmp_path / "gone"))


def test_a_compiler_that_hangs_is_stopped_with_its_children(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "_TIMEOUT_SECONDS", 0.5)
    hang = script(tmp_path / "cc", f"echo started\nsleep 1000 &\necho $! > '{tmp_path}/child'\nwait")
    with pytest.raises(CompileError, match=r"did not finish within 0.5 s(.|\n)*output:\nstarted"):
        compile_source(ANSWER, tmp_path, fake(hang))
    child = (tmp_path / "child").read_text().strip()
    deadline = time.monotonic() + 10
    while runs(child) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not runs(child)


KILLED = """
import os, sys
from pathlib import Path
from bcastgen.runtime.processes import run
run([sys.argv[1]], Path(sys.argv[2]))
"""


def test_a_compiler_does_not_outlive_a_process_that_is_killed(tmp_path: Path) -> None:
    hang = script(tmp_path / "cc", f"sleep 1000 &\necho $$ $! > '{tmp_path}/new'\nmv new children\nwait")
    caller = subprocess.Popen([sys.executable, "-c", KILLED, str(hang), str(tmp_path)])
    deadline = time.monotonic() + 60
    while not (tmp_path / "children").exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    time.sleep(0.2)  # the compiler may be faster than what watches it
    caller.kill()
    caller.wait()
    alive = (tmp_path / "children").read_text().split()
    while any(map(runs, alive)) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not any(map(runs, alive))


@pytest.mark.parametrize(("child", "shown"), [("sleep 30", "first\nlast$"), ("yes again", "first\n")])
def test_a_child_that_holds_the_output_open_is_not_waited_for(
    child: str, shown: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a compile server may that the first compilation starts."""
    leave = f"setsid {child} &\necho $! >> '{tmp_path}/children'"
    began = time.monotonic()
    try:
        with pytest.raises(CompileError, match=rf"exit status 3(.|\n)*output:\n{shown}"):
            compile_source(ANSWER, tmp_path, fake(script(tmp_path / "cc", f"echo first\n{leave}\necho last\nexit 3")))
        monkeypatch.setattr(processes, "_TIMEOUT_SECONDS", 0.5)
        with pytest.raises(CompileError, match=r"did not finish within 0.5 s(.|\n)*output:\nfirst"):
            compile_source(ANSWER, tmp_path, fake(script(tmp_path / "cc", f"echo first\n{leave}\nsleep 1000")))
        assert time.monotonic() - began < 15
    finally:
        for number in (tmp_path / "children").read_text().split():
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(number), signal.SIGKILL)


def test_a_compiler_that_closes_its_output_and_goes_on_is_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processes, "_TIMEOUT_SECONDS", 0.5)
    with pytest.raises(CompileError, match=r"did not finish within 0.5 s(.|\n)*output:\nstarted$"):
        compile_source(ANSWER, tmp_path, fake(script(tmp_path / "cc", "echo started\nexec >&- 2>&-\nsleep 1000")))


@pytest.mark.parametrize("size", [100, 20_000, 5_000_000])
def test_of_much_output_the_beginning_and_the_end_are_told(size: int, tmp_path: Path) -> None:
    body = f"echo first\nhead -c {size} /dev/zero | tr '\\0' x\necho; echo last; exit 1"
    with pytest.raises(CompileError, match="failed with exit status 1") as caught:
        compile_source(ANSWER, tmp_path, fake(script(tmp_path / "cc", body)))
    printed = str(caught.value).partition("output:\n")[2]
    assert printed.startswith("first\nxxx") and printed.endswith("xxx\nlast")
    assert len(printed) < processes._MOST_PRINTED + 100
    left_out = re.search(r"\n\.\.\. \((\d+) bytes are left out\) \.\.\.\n", printed)
    assert (left_out is not None) == (size > processes._MOST_PRINTED)
    kept = len(printed) - (len(left_out[0]) if left_out else 0)
    # The newline at the very end is stripped.
    assert kept + (int(left_out[1]) if left_out else 0) == size + len("first\n\nlast")


def test_success_without_a_binary_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(CompileError, match=r"succeeded but wrote no kernel\.so"):
        compile_source(ANSWER, tmp_path, fake(script(tmp_path / "cc", "exit 0")))


def test_the_widest_vectors_are_for_what_memory_decides_where_the_core_is_as_wide(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    show = script(tmp_path / "cc", 'echo "$@"; exit 1')
    tools = Toolchain((str(show),), ("-mprefer-vector-width=512", "-mine"), "", "unknown")
    narrow, wide = "avx2 avx512f", "avx2 avx512_vp2intersect avx512f"
    for light, features, width in ((False, narrow, 512), (True, narrow, 256), (False, wide, 512), (True, wide, 512)):
        monkeypatch.setattr(run_compiler, "cpu_features", lambda features=features: features)
        with pytest.raises(CompileError, match=rf"output:\n-mprefer-vector-width={width} -mine -o"):
            compile_source(CSource("k", {"k.c": "int x;\n"}, light=light), tmp_path, tools)


@pytest.mark.parametrize(("text", "is_linked"), [("#include <math.h>\n", True), ("#include <stdint.h>\n", False)])
def test_libm_is_linked_where_it_may_be_called(text: str, is_linked: bool, tmp_path: Path) -> None:
    show = script(tmp_path / "cc", 'echo "$@"; exit 1')
    with pytest.raises(CompileError) as caught:
        compile_source(CSource("k", {"k.c": f"{text}int x;\n"}), tmp_path, fake(show))
    assert ("-lm" in str(caught.value).split("output:")[1].split()) == is_linked


@pytest.mark.parametrize("name", ["../kernel.c", "/etc/kernel.c", "a/b.c", "", "..", ".c", "-o.c", BINARY])
def test_file_names_that_lead_elsewhere_are_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(CompileError, match="not a plain name"):
        compile_source(CSource("k", {name: "int x;\n"}), tmp_path, toolchain())
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_clang_takes_its_flags(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BCASTGEN_CC", "clang-19")
    tools = toolchain()
    assert tools.kind == "clang"
    assert ctypes.CDLL(str(compile_source(ANSWER, tmp_path, tools))).answer() == 42
