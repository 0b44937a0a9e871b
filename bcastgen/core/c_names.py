"""Names of users in C's basic character set.

In: any Python identifier.  Out: letters, digits and single underscores.

    "größe" -> "gru00f6u00dfe"        "a__b" -> "a_b"

Two names may get one spelling; who hands out identifiers keeps them apart. `emit.c_text.names` does, and keeps clear of
C's own words; `loops.schedule.variants` does for inner loops.
"""

from __future__ import annotations

import re

__all__ = ["MAX_LENGTH", "spelled"]

MAX_LENGTH = 48


def spelled(name: str) -> str:
    """Spell a name in ASCII, without an underscore at either end or two in a row, which C and C++ reserve.

    Examples
    --------
    >>> spelled("größe"), spelled("_a__b")
    ('gru00f6u00dfe', 'a_b')
    """
    plain = name if name.isascii() else _composed(name)
    ascii_name = "".join(c if c.isascii() and (c.isalnum() or c == "_") else f"u{ord(c):04x}" for c in plain)
    return re.sub(r"_+", "_", ascii_name).strip("_")[:MAX_LENGTH].rstrip("_")


def _composed(name: str) -> str:
    import unicodedata  # noqa: PLC0415 - most names are ASCII

    return unicodedata.normalize("NFC", name)
