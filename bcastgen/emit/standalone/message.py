"""What a status says: the sentences that a module's message functions make of a diagnostic.

In: the C of a module.  Out: the statuses that it returns, and their sentences as C.

    ... return bcg_fail(why, BCG_RANK, 0, ...)   ->   SAY(AXPB_RANK, "operand '{operand}' has rank {actual}, ...")

The sentences are those of ``bcg_status.def``, which Python raises: only the part about `against` is put in brackets,
since it is not there where nobody is.
"""

from __future__ import annotations

import re
import textwrap

from ...core.errors import statuses
from ..c_text.names import c_string

__all__ = ["returned", "sentences"]

_COLUMNS = 118
_STATUS = re.compile(r"\bBCG_(\w+)")


def returned(code: str) -> tuple[tuple[str, int], ...]:
    """Return name and value of each status that a text speaks of, in the order of their values.

    Examples
    --------
    >>> returned("if (x) return BCG_RANK; return BCG_OK;")
    (('OK', 0), ('RANK', 1))
    """
    spoken = {"OK", *_STATUS.findall(code)}
    return tuple((name, value) for value, (name, _) in statuses().items() if name in spoken)


def sentences(names: tuple[tuple[str, int], ...], macros: str) -> str:
    r"""Return the lines of a macro that calls another one with each status and its sentence.

    Parameters
    ----------
    names : the statuses.
    macros : what constants begin with.

    Examples
    --------
    >>> print(sentences((("OK", 0),), "AXPB"))
    \
        SAY(AXPB_OK, "no error")
    """
    rows = []
    for name, value in names:
        start = f"    SAY({macros}_{name}, "
        text = statuses()[value][1].replace("{origin}", "[ (from '{against}')]")
        rows.append(f"{start}{_broken(text, len(start))})")
    return "\\\n" + " \\\n".join(rows)


def _broken(text: str, column: int) -> str:
    """Spell a string, in pieces below each other where it is long."""
    pieces = textwrap.wrap(text, _COLUMNS - column - 4, break_on_hyphens=False, drop_whitespace=False)
    return f" \\\n{' ' * column}".join(map(c_string, pieces))
