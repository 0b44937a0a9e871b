"""The names that C text refers to: the one place that reads rendered C.

In: C text.  Out: its identifiers, and which of them it calls; comments and strings have none.

    "t0 = bcg_exp_f64(a0); /* exp(a) */"  ->  t0, bcg_exp_f64, a0, of which bcg_exp_f64 is called

A file of C is put together from templates, rows' expressions, users' functions and csrc. Which helpers it needs, what
it includes, which statuses it returns and which parameters it leaves alone follow from its names alone, as they do for
a compiler and a linker. Declared beside each template and row, they would be stated twice, and what is declared but no
longer used would be copied into users' C unnoticed. So they are read off the text, here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import lru_cache

__all__ = ["NOT_CODE", "calls", "names", "reached"]

# Comments, strings and characters: what definitions are found without.
NOT_CODE = re.compile(r'/\*.*?\*/|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)\'', re.DOTALL)

_UNREAD, _WORD = re.compile(r'/\*.*?\*/|"(?:[^"\\]|\\.)*"', re.DOTALL), re.compile(r"\w+\(?")


# One text is asked about several times in a row.
@lru_cache(maxsize=8)
def _read(code: str) -> tuple[frozenset[str], tuple[str, ...]]:
    words = _WORD.findall(_UNREAD.sub(" ", code))
    # A list is made in half the time of a generator, and a first call waits for this.
    called = tuple([word[:-1] for word in words if word[-1] == "("])
    return frozenset([word for word in {*words, *called} if word[-1] != "(" and not word[0].isdigit()]), called


def names(code: str) -> frozenset[str]:
    """Return every identifier of C text, keywords among them.

    Examples
    --------
    >>> sorted(names("x += f(0x1p3) /* y */;"))
    ['f', 'x']
    """
    return _read(code)[0]


def calls(code: str) -> tuple[str, ...]:
    """Return the identifiers in front of a parenthesis, in order and as often as they are there.

    Examples
    --------
    >>> calls("f(x) + g (x) + f(y)")
    ('f', 'f')
    """
    return _read(code)[1]


def reached(roots: Iterable[str], used: Callable[[str], Iterable[str]]) -> set[str]:
    """Return the functions that these use in any depth, and themselves, given what each uses by itself.

    Examples
    --------
    >>> sorted(reached(["f"], {"f": "g", "g": "fh", "h": "", "k": "f"}.__getitem__))
    ['f', 'g', 'h']
    """
    found: set[str] = set()
    pending = list(roots)
    while pending:
        name = pending.pop()
        if name not in found:
            found.add(name)
            pending += used(name)
    return found
