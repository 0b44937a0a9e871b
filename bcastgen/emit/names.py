"""C identifiers for names that users chose.

In: any Python identifier.  Out: a C identifier that no keyword, macro, helper or generated name clashes with.

    Namer().take("for") -> "for_"        Namer().take("größe") -> "gru00f6u00dfe"
"""

from __future__ import annotations

import re
import unicodedata

__all__ = ["Namer", "c_identifier", "comment_text"]

# Of C11, C23 and C++, since emitted headers are included from both.
_KEYWORDS = frozenset(
    """
    alignas alignof and and_eq asm auto bitand bitor bool break case catch char class compl const constexpr continue
    decltype default delete do double else enum errno explicit export extern false float for friend goto if inline int
    long mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected public register
    reinterpret_cast restrict return short signed sizeof static static_assert struct switch template this thread_local
    throw true try typedef typeid typename typeof union unsigned using virtual void volatile wchar_t while xor xor_eq
    main unix linux signbit isnan isinf isfinite div abs
    """.split()
)
# What the templates call their own: loop indices, domain extents, values, bookkeeping.
_GENERATED = re.compile(r"(?:[tdi][0-9]+|[dni]|at|why|status|from|points|operands|results|steps|extents|rank)\Z")
_MAX_LENGTH = 48


def c_identifier(name: str) -> str:
    """Spell a name in C's basic character set, clear of reserved words.

    Examples
    --------
    >>> c_identifier("x"), c_identifier("for"), c_identifier("_hidden"), c_identifier("t0")
    ('x', 'for_', 'v_hidden', 't0_')
    """
    plain = unicodedata.normalize("NFC", name)
    spelled = "".join(c if c.isascii() and (c.isalnum() or c == "_") else f"u{ord(c):04x}" for c in plain)[:_MAX_LENGTH]
    if not spelled or not spelled[0].isalpha() or spelled.startswith(("bcg_", "BCG_")):
        spelled = f"v{spelled}"
    return f"{spelled}_" if spelled in _KEYWORDS or _GENERATED.match(spelled) else spelled


def comment_text(text: str) -> str:
    """Make text safe inside a C comment: it cannot end it, and holds no line splice and no foreign character."""
    plain = "".join(c if c == "\n" or " " <= c <= "~" else f"\\u{ord(c):04x}" for c in text)
    plain = plain.replace("*/", "* /").replace("/*", "/ *").replace("??/", "?? /")
    return re.sub(r"\\(?=\n|\Z)", r"\\ ", plain)


class Namer:
    """Hands out identifiers, each once."""

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def take(self, name: str) -> str:
        """Return the C identifier of a name, with a number appended where it is taken."""
        base = c_identifier(name)
        chosen, count = base, 2
        while chosen in self._taken:
            chosen, count = f"{base}_{count}", count + 1
        self._taken.add(chosen)
        return chosen
