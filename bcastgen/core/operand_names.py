"""Names for operands that have none.

In: the names that are given, None where there is none; or how many operands.  Out: a name for each, all different.

    2 -> ("a", "b")        (None, "a") -> ("operand0", "a")
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, count

__all__ = ["operand_names"]


def operand_names(given: int | Sequence[str | None]) -> tuple[str, ...]:
    """Return the given names, and for each None its position's letter, or operand0, operand26 and so on.

    Examples
    --------
    >>> operand_names(2), operand_names([None, "x", None]), operand_names([None, "a"])
    (('a', 'b'), ('a', 'x', 'c'), ('operand0', 'a'))
    """
    given = [None] * given if isinstance(given, int) else given
    taken = {name for name in given if name is not None}
    names: list[str] = []
    for at, name in enumerate(given):
        letter = [chr(ord("a") + at)] if at < 26 else []
        free = (one for one in chain(letter, map("operand{}".format, count(at))) if one not in taken)
        names.append(next(free) if name is None else name)
        taken.add(names[-1])
    return tuple(names)
