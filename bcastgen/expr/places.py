"""Places in the user's source: the file and line that an op was applied at, or that an error came through.

In: the frames of a running function, or an error's traceback.  Out: the innermost that is neither ours nor NumPy's.

    k.py:12: "return x[x > 0]"  ->  ("k.py", 12)
"""

from __future__ import annotations

import sys
from pathlib import Path
from types import FrameType, TracebackType

import numpy as np

from .nodes import Place

__all__ = ["last_place", "users_place"]

# Frames of these folders are not the user's.
_OURS = (str(Path(__file__).resolve().parents[1]), str(Path(np.__file__).parent))


def users_place() -> Place:
    """Return the file and line of the innermost frame of the user's."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_OURS):
        frame = frame.f_back
    return ("", 0) if frame is None else (frame.f_code.co_filename, frame.f_lineno)


def last_place(traceback: TracebackType | None) -> Place | None:
    """Return the file and line of the user's that an error comes through last."""
    found = None
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if not code.co_filename.startswith(_OURS):
            found = code.co_filename, traceback.tb_lineno
        traceback = traceback.tb_next
    return found
