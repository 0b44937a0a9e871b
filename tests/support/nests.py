"""Nests of tests, before any rewrite.

In: a program as text.  Out: its first nest.

    nest_of("(u8[?] a) -> a + 1")   ->   nest (d0) ...
"""

from __future__ import annotations

from bcastgen.api.functions import from_text

__all__ = ["nest_of"]


def nest_of(text):
    """The first nest that a program is lowered to."""
    return from_text(text).compilation.program.nests[0]
