"""The text of a shape whose extents are computed from names, as shape programs print them.

In: ``[n<=64, 2*n + 1, min(n, 4), ?]``.  Out: for each extent the :class:`Dim` that it declares, or its expression.

    shape = "[" [extent ("," extent)*] "]"          extent = dim | sum          dim: see dim_text.py, sum: extent_sum.py
"""

from __future__ import annotations

import re

from .cursor import Cursor
from .dim import Dim
from .dim_text import parse_dim
from .extent_expr import Extent
from .extent_sum import CURE, parse_sum

__all__ = ["parse_extents"]

_ALONE = re.compile(r"(\?|\w+)\s*(?![\s\w+*/(-])")
# The most extents of a text: each costs some 40 microseconds.
_MOST_EXTENTS = 1_000


def parse_extents(text: str) -> tuple[Dim | Extent, ...]:
    """Return the extents that a text spells.

    Raises
    ------
    ParseError
        If the text is none, or an extent is too large to compute with; the message has the column and the cure.

    Examples
    --------
    >>> print(*parse_extents("[n<=64, 4, m + 2*n - 1, (n + 1) // 2, min(n, m)]"), sep=" | ")
    n<=64 | 4 | m + 2*n - 1 | (n + 1) // 2 | min(m, n)
    """
    cursor = Cursor(text, "shape")
    cursor.expect("[", CURE)
    extents: list[Dim | Extent] = []
    while not cursor.take("]"):
        if extents:
            cursor.expect(",", CURE)
        if len(extents) == _MOST_EXTENTS:
            raise cursor.fail(f"at most {_MOST_EXTENTS} extents", CURE)
        extents.append(parse_dim(cursor) if cursor.sees(_ALONE) else parse_sum(cursor))
    if not cursor.at_end:
        raise cursor.fail("the end", CURE)
    return tuple(extents)
