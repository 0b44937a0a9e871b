"""Lines of the user's source: the file and line that an op was applied at, or that an error came through.

In: the frames of a running function, or an error's traceback.  Out: the innermost that is neither ours nor NumPy's.

    k.py:12: "return x[x > 0]"  ->  ("k.py", 12)
"""

from __future__ import annotations

import os
import sys
from types import FrameType, TracebackType

import numpy as np

from .nodes import SourceLine

__all__ = ["last_line", "name_of", "users_line"]

# Frames of these folders, and those of Python's own frozen modules, are not the user's.
_FOLDERS = tuple(os.path.join(os.path.dirname(path), "") for path in (os.path.dirname(__file__), np.__file__))
_OURS = (*_FOLDERS, "<frozen ")
# How many functions that call each other are searched for a name.
_MOST_FRAMES = 8


def users_line() -> SourceLine:
    """Return the file and line of the innermost frame of the user's."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_OURS):
        frame = frame.f_back
    return ("", 0) if frame is None else (frame.f_code.co_filename, frame.f_lineno)


def name_of(value: object) -> str | None:
    """Return the name by which the user's function knows an object; None if it has none there."""
    frame: FrameType | None = sys._getframe(1)
    looked = 0
    while frame is not None and looked < _MOST_FRAMES:
        if not frame.f_code.co_filename.startswith(_OURS):
            looked += 1
            for names in (frame.f_locals, frame.f_globals):
                found = next((name for name, one in names.items() if one is value and name.isidentifier()), None)
                if found is not None:
                    return found
        frame = frame.f_back
    return None


def last_line(traceback: TracebackType | None) -> SourceLine | None:
    """Return the file and line of the user's that an error comes through last."""
    found = None
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if not code.co_filename.startswith(_OURS):
            found = code.co_filename, traceback.tb_lineno
        traceback = traceback.tb_next
    return found
