"""Switches, and numbers of bytes, as environment variables spell them.

In: the name of a variable.  Out: bytes, or an error that says what the variable may be.

    BCASTGEN_CACHE_SIZE=2G  ->  byte_size("BCASTGEN_CACHE_SIZE", "0 for no bound") == 2147483648
"""

from __future__ import annotations

import os

from .errors import BcastgenError

__all__ = ["byte_size", "is_on"]

_UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


def is_on(variable: str) -> bool:
    """Return whether an environment variable switches something on: it is set, and neither empty nor 0."""
    return os.environ.get(variable, "") not in ("", "0")


def byte_size(variable: str, zero: str, of: str = "bytes") -> int | None:
    """Return the number of bytes in an environment variable, or None if it is not set or empty.

    Parameters
    ----------
    zero : what 0 means, for the error.
    of : what is counted.

    Raises
    ------
    BcastgenError
        If it is no number below 2**63 with K, M, G or T (powers of 1024) or nothing behind it.
    """
    text = os.environ.get(variable, "").strip()
    if not text:
        return None
    unit = _UNITS.get(text[-1].upper(), 0)
    digits = text[:-1] if unit else text
    # Longer numbers would be refused in any case, and take long to read.
    size = int(digits) * (unit or 1) if digits.isascii() and digits.isdecimal() and len(digits) < 20 else -1
    if not 0 <= size < 2**63:
        shown = text if len(text) <= 40 else text[:40] + "..."
        raise BcastgenError(
            f"{variable}={shown!r} is no number of {of}; set a number such as 500000, 512M or 1G, {zero}, or nothing"
        )
    return size
