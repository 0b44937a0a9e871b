"""Lines of the user's source: the file and line that an op was applied at, or that an error came through.

In: the frames of a running function, or an error's traceback.  Out: the innermost that is neither ours, nor NumPy's,
nor of another installed package that the user's function calls; and tracebacks without our own lines.

    k.py:12: "return x[x > 0]"  ->  ("k.py", 12)

Errors of the package say in their message what is wrong, and an error that a user's function raises is the user's: the
frames of the package that lead there help with neither. All other errors are the package's own faults.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import wraps
from types import FrameType, TracebackType
from typing import ParamSpec, TypeVar

import numpy as np

from .errors import BcastgenError
from .sizes import is_on

__all__ = [
    "SourceLine",
    "callers_level",
    "is_ours",
    "last_line",
    "name_of",
    "package_of",
    "short_traceback",
    "users_line",
    "with_short_tracebacks",
]

# A file, or "column" for a text; and the line or the column.
SourceLine = tuple[str, int]
_Given = ParamSpec("_Given")
_Result = TypeVar("_Result")

# Frames of these folders, and those of Python's own frozen modules, are not the user's.
_FOLDERS = tuple(os.path.join(os.path.dirname(path), "") for path in (os.path.dirname(__file__), np.__file__))
_OURS = (*_FOLDERS, "<frozen ")
# Folders that packages are installed in; the next part of a path is the package.
_INSTALLED = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")
_STANDARD = os.path.join(os.path.dirname(os.__file__), "")
# How many functions that call each other are searched for a name.
_MOST_FRAMES = 8


def users_line() -> SourceLine:
    """Return the file and line of the innermost frame of the user's."""
    frame: FrameType | None = sys._getframe(1)
    found: list[SourceLine] = []
    while frame is not None:
        file = frame.f_code.co_filename
        if is_ours(file):
            # The tracer, which runs the user's function: frames further out are those of the decoration.
            if found and frame.f_code.co_name == "trace":
                break
        elif not _is_standard(file):
            found.append((file, frame.f_lineno))
            if package_of(file) is None:
                break
        frame = frame.f_back
    return _innermost(found[::-1]) or ("", 0)


def is_ours(file: str) -> bool:
    """Return whether a file is of this package, of NumPy or of Python's frozen modules, wherever these are."""
    return file.startswith(_OURS)


def _is_standard(file: str) -> bool:
    """Return whether a file is of Python's own library, whose functions are whose frame calls them."""
    return file.startswith(_STANDARD) and package_of(file) is None


def package_of(file: str) -> str | None:
    """Return the installed package that a file is of; None for any other file.

    Examples
    --------
    >>> package_of("/usr/lib/python3/dist-packages/jax/_src/api.py")
    'jax'
    """
    for folder in _INSTALLED:
        _, at, rest = file.partition(folder)
        if at:
            return rest.partition(os.sep)[0]
    return None


def _innermost(lines: list[SourceLine]) -> SourceLine | None:
    """Return the last of these lines, the outermost first, that is of no package but the first line's."""
    own = package_of(lines[0][0]) if lines else None
    return next((line for line in reversed(lines) if package_of(line[0]) in (None, own)), None)


def name_of(value: object) -> str | None:
    """Return the name by which the user's function knows an object; None if it has none there."""
    frame: FrameType | None = sys._getframe(1)
    looked = 0
    while frame is not None and looked < _MOST_FRAMES:
        if not is_ours(frame.f_code.co_filename):
            looked += 1
            for names in (frame.f_locals, frame.f_globals):
                found = next((name for name, one in names.items() if one is value and name.isidentifier()), None)
                if found is not None:
                    return found
        frame = frame.f_back
    return None


def last_line(traceback: TracebackType | None) -> SourceLine | None:
    """Return the file and line of the user's that an error comes through last."""
    found: list[SourceLine] = []
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if not is_ours(code.co_filename):
            found.append((code.co_filename, traceback.tb_lineno))
        traceback = traceback.tb_next
    return _innermost(found)


# ---- tracebacks ------------------------------------------------------------------------------------------------------


def short_traceback(error: BaseException, traceback: TracebackType | None) -> TracebackType | None:
    """Return a traceback without frames of ours; as it is if the error may be our fault, or under BCASTGEN_DEBUG.

    Examples
    --------
    >>> import bcastgen
    >>> try:
    ...     bcastgen.from_text("a +")
    ... except bcastgen.ParseError as error:
    ...     short_traceback(error, error.__traceback__.tb_next) is None
    True
    """
    frames: list[TracebackType] = []
    while traceback is not None:
        frames.append(traceback)
        traceback = traceback.tb_next
    shown = _users(frames)
    if not frames or is_on("BCASTGEN_DEBUG") or not (isinstance(error, BcastgenError) or shown[-1]):
        return frames[0] if frames else None
    short: TracebackType | None = None
    for at, is_users in zip(reversed(frames), reversed(shown), strict=True):
        if is_users:
            # An instruction that the handler of a signal has struck may be of no line.
            line: int | None = at.tb_lineno
            short = TracebackType(short, at.tb_frame, at.tb_lasti, -1 if line is None else line)
    return short


def _users(frames: list[TracebackType]) -> list[bool]:
    """Return which frames, the outermost first, are the user's."""
    found: list[bool] = []
    for at in frames:
        file = at.tb_frame.f_code.co_filename
        found.append(found[-1:] == [True] if _is_standard(file) else not is_ours(file))
    return found


def with_short_tracebacks(function: Callable[_Given, _Result]) -> Callable[_Given, _Result]:
    """Return a function whose errors are as :func:`short_traceback` has them."""

    @wraps(function)
    def call(*args: _Given.args, **named: _Given.kwargs) -> _Result:
        try:
            return function(*args, **named)
        except Exception as error:
            error.__traceback__ = short_traceback(error, error.__traceback__)
            # Without this frame, too; but before Python 3.11, where all frames come back.
            raise

    return call


def callers_level() -> int:
    """Return the `stacklevel` by which a warning of the calling function names the first line outside the package."""
    level, frame = 1, sys._getframe(1)
    package = __name__.partition(".")[0]
    while frame.f_back is not None and str(frame.f_globals.get("__name__", "")).partition(".")[0] == package:
        frame, level = frame.f_back, level + 1
    return level
