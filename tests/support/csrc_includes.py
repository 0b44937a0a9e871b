"""The flags with which a compiler finds what files of csrc include."""

from __future__ import annotations

from bcastgen.core.resources import CSRC_ROOMS, folder

CSRC_FLAGS = tuple(f"-I{folder('csrc') / room}" for room in CSRC_ROOMS)
