"""The sentences of statuses, from which a module's message functions describe a diagnostic.

In: the C of a module.  Out: the statuses that it returns, and their sentences as C.

    ... return bcg_fail(why, BCG_RANK, 0, ...)   ->   SAY(AXPB_RANK, "operand '{operand}' has rank {actual}, ...")

The sentences are those of ``bcg_status.def``, as in Python's errors. The part about `against` is in brackets, since
it is left out where there is no such operand; "1 or" is in angle brackets, and left out where 1 is what is expected.
Of ``~operand 'k' dim 0 has extent|extent 'k' is^`` the second form is said of an extent that the caller gives.
"""

from __future__ import annotations

import textwrap

from ...core.errors import statuses
from ..c_text.names import c_string
from ..c_text.references import names

__all__ = ["brackets", "returned", "sentences"]

_MAX_COLUMNS = 118


def returned(code: str) -> tuple[tuple[str, int], ...]:
    """Return name and value of each status that a text mentions, in the order of their values.

    Examples
    --------
    >>> returned("if (x) return BCG_RANK; return BCG_OK;")
    (('OK', 0), ('RANK', 1))
    """
    mentioned = names(code)
    return tuple((name, value) for value, (name, _) in statuses().items() if not value or f"BCG_{name}" in mentioned)


def sentences(returned: tuple[tuple[str, int], ...], macros: str, extents: bool = False) -> str:
    r"""Return the lines of a macro that calls another one with each status and its sentence.

    Parameters
    ----------
    returned : the statuses.
    macros : the prefix of constants.
    extents : whether a kernel of the module takes extents that the caller gives.

    Examples
    --------
    >>> print(sentences((("OK", 0),), "AXPB"))
    \
        SAY(AXPB_OK, "no error")
    """
    rows = []
    subject = "operand '{operand}' dim {dim} has extent"
    subject = f"~{subject}|extent '{{operand}}' is^" if extents else subject
    for name, value in returned:
        start = f"    SAY({macros}_{name}, "
        text = _marked(value).replace("{subject}", subject)
        rows.append(f"{start}{_broken(text, len(start))})")
    return "\\\n" + " \\\n".join(rows)


def brackets(returned: tuple[tuple[str, int], ...]) -> str:
    """Return the kinds of brackets in the sentences of statuses.

    Examples
    --------
    >>> brackets((("OK", 0), ("BROADCAST", 3))), brackets((("OK", 0), ("RANK", 1))), brackets((("OK", 0),))
    ('[<', '[', '')
    """
    texts = "".join(_marked(value) for _, value in returned)
    return "".join(mark for mark in "[<" if mark in texts)


def _marked(value: int) -> str:
    """Return the sentence of a status, with the parts that are left out at times in brackets."""
    return statuses()[value][1].replace("{origin}", "[ (from '{against}')]").replace("{or_one}", "<1 or >")


def _broken(text: str, column: int) -> str:
    """Spell a string literal; break a long one into pieces on several lines."""
    pieces = textwrap.wrap(text, _MAX_COLUMNS - column - 4, break_on_hyphens=False, drop_whitespace=False)
    return f" \\\n{' ' * column}".join(map(c_string, pieces))
