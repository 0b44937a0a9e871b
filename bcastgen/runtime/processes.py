"""Running a program, here a compiler, so that it can neither hang a call nor outlive it.

In: a command and a directory.  Out: what went wrong, and what was printed.

    run(["/usr/bin/cc", "-c", "kernel.c"], directory) -> ("failed with exit status 1", "kernel.c:3: error: ...")

A program runs in a session of its own and is stopped with all that it starts: when it takes too long, when an exception
comes (Ctrl-C), and when this process is killed. A process that finds its kernels on disk never imports this module.
"""

from __future__ import annotations

import contextlib
import errno
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ..core.forks import undivided
from ..core.system_errors import pass_on, system_errors_ignored

__all__ = ["run"]

_TIMEOUT_SECONDS = 600.0
_TICK_SECONDS = 0.1  # between looks at a program whose output is open: a program that it left behind may hold it open
_LOOK_SECONDS, _LOOKS = 5e-5, 20  # between looks at a program that has closed its output, and how many of them
_PIPE = 1 << 20  # bytes that a pipe holds, at most
_MOST_PRINTED = 1 << 15  # bytes of what a program printed that are kept, half of them its first


def _environment(directory: Path) -> dict[str, str]:
    # The first three would change what is compiled or written behind the key's back, the fourth compiles twice.
    hidden = ("CCC_OVERRIDE_OPTIONS", "DEPENDENCIES_OUTPUT", "SUNPRO_DEPENDENCIES", "GCC_COMPARE_DEBUG")
    kept = {name: value for name, value in os.environ.items() if name not in hidden}
    return {**kept, "LC_ALL": "C", "TMPDIR": str(directory)}


def run(command: list[str], directory: Path) -> tuple[str, str]:
    """Run a command and return what went wrong ("" for nothing) and what it printed.

    Raises
    ------
    ChildProcessError
        If a handler forks meanwhile, in the child: the program is the parent's, which alone can wait for it.
    """
    starter = os.getpid()
    try:
        # A session of its own, so that the programs a driver starts can be stopped with it.
        process = _started(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            cwd=directory,
            env=_environment(directory),
            start_new_session=True,
        )
    except OSError as error:
        pass_on(error)
        return f"cannot be run: {error.strerror}; set BCASTGEN_CC to another one", ""
    printed = _Printed()
    try:
        with _watched(process.pid):
            _follow(process, printed, time.monotonic() + _TIMEOUT_SECONDS)
    except subprocess.TimeoutExpired:
        _stop(process)
        return f"did not finish within {_TIMEOUT_SECONDS:g} s and was stopped", str(printed)
    except BaseException:
        if os.getpid() == starter:
            _stop(process)
        raise
    if os.getpid() != starter:
        raise ChildProcessError(errno.ECHILD, "the program belongs to the process that forked")
    return _verdict(process.returncode), str(printed)


def _started(command: Sequence[str], **options: Any) -> subprocess.Popen[bytes]:
    """Start a program; no fork divides this.

    Popen waits for the end of a pipe that the program closes when it begins. A child that another thread forks
    meanwhile would hold it open; and where that child waits for the lock of what is being compiled, both would wait
    for ever.
    """
    with undivided:
        return subprocess.Popen(command, **options)


@contextlib.contextmanager
def _watched(group: int) -> Iterator[None]:
    """Have a shell kill a group of processes if this process is killed meanwhile, which leaves it no time to do so.

    A pipe tells the shell: a line is written to it at the end, and it closes without one where this process dies.
    """
    quiet, starter = subprocess.DEVNULL, os.getpid()
    try:
        command = ("/bin/sh", "-c", 'read -r line || kill -s KILL -- "-$0"', str(group))
        watcher = _started(command, stdin=subprocess.PIPE, stdout=quiet, stderr=quiet, start_new_session=True, env={})
    except OSError as error:
        pass_on(error)
        yield
        return
    try:
        yield
    finally:
        with system_errors_ignored():
            if os.getpid() == starter:
                watcher.communicate(b"\n")
            elif watcher.stdin is not None:
                # In a child that a handler has forked: the watcher is the parent's, and goes on.
                watcher.stdin.close()
                watcher.poll()


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
    # A compiler ends right after its output, and `wait` looks again after a millisecond only.
    for _ in range(_LOOKS):
        if process.poll() is not None:
            return
        time.sleep(_LOOK_SECONDS)
    process.wait(max(deadline - time.monotonic(), 0))


def _stop(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _verdict(status: int) -> str:
    if status == 0:
        return ""
    if status > 0:
        return f"failed with exit status {status}"
    try:
        name = signal.Signals(-status).name
    except ValueError:
        name = f"signal {-status}"
    return f"was killed by {name}" + (" (out of memory?)" if name == "SIGKILL" else "")
