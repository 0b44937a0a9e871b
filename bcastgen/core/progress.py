"""How far long work has come, on stderr: a bar on a terminal, now and then a line elsewhere.

In: how many steps there are, and the name of each as it begins.  Out: text for a reader; stdout is left alone.

    with Progress("bench", 90) as progress:
        for row in rows:
            progress.step(row.name)         bench  ━━━━━━╸          31/90  exp_f32

The bar is rich's where that is installed (``bcastgen[progress]``), else one line that is written over. Work that ends
soon shows nothing where stderr is no terminal. No thread draws: what is measured meanwhile has the machine for itself.
"""

from __future__ import annotations

import importlib.util
import sys
import time
from collections.abc import Callable
from typing import Any, TextIO

__all__ = ["Progress"]

# Where stderr is no terminal, a line comes after so many seconds of silence.
_SILENCE = 10.0
_ERASE = "\r\x1b[K"


class Progress:
    r"""Tells which of several steps has begun; used in a ``with`` statement, at whose end a bar is gone.

    Parameters
    ----------
    what : the work.
    total : the number of steps.
    stream : where it is told; stderr by default, None where there is none.
    clock : seconds.

    Examples
    --------
    >>> import io
    >>> told, seconds = io.StringIO(), iter([0, 4, 11, 12])
    >>> with Progress("emit", 3, told, seconds.__next__) as progress:
    ...     for name in ("first", "second", "third"):
    ...         progress.step(name)
    >>> told.getvalue()
    'emit: 2 of 3, second\n'
    """

    def __init__(
        self,
        what: str,
        total: int,
        stream: TextIO | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._what, self._total, self._clock = what, total, clock
        self._stream = sys.stderr if stream is None else stream
        self._terminal = self._stream is not None and self._stream.isatty() and total > 1
        self._begun = 0
        self._told = clock()
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> Progress:
        if self._terminal and importlib.util.find_spec("rich") is not None:
            from rich import progress  # noqa: PLC0415 - an extra
            from rich.console import Console  # noqa: PLC0415 - an extra

            columns = ("{task.description}", progress.BarColumn(), progress.MofNCompleteColumn(), "{task.fields[name]}")
            # stdout stays the caller's, who may write to a file.
            self._bar = progress.Progress(
                *columns,
                console=Console(file=self._stream),
                auto_refresh=False,
                transient=True,
                redirect_stdout=False,
                redirect_stderr=False,
            )
            self._task = self._bar.add_task(self._what, total=self._total, name="")
        return self

    def __exit__(self, *raised: object) -> None:
        self.clear()

    def step(self, name: str) -> None:
        """Tell that the next step has begun."""
        self._begun += 1
        if self._bar is not None:
            from rich.markup import escape  # noqa: PLC0415 - an extra

            self._bar.start()
            self._bar.update(self._task, completed=self._begun - 1, name=escape(name), refresh=True)
        elif self._terminal:
            print(f"{_ERASE}{self._line(name)}", end="", file=self._stream, flush=True)
        elif self._stream is not None:
            now = self._clock()
            if now - self._told >= _SILENCE:
                self._told = now
                print(self._line(name), file=self._stream, flush=True)

    def clear(self) -> None:
        """Take a bar away, before something else is written to the terminal; the next step draws it again."""
        if self._bar is not None:
            self._bar.stop()
        elif self._terminal and self._begun:
            print(_ERASE, end="", file=self._stream, flush=True)

    def _line(self, name: str) -> str:
        return f"{self._what}: {self._begun} of {self._total}, {name}"
