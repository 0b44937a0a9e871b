"""One dim of a type: a known extent, a named unknown one, or just unknown.

In: what is known of an extent.  Out: a :class:`Dim` that compares, hashes and prints.

    Dim(4) -> 4        Dim("n") -> n        Dim() -> ?

Facts on dynamic dims (ranges, multiples, never-1) become further keyword fields here, beside ``value``.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass

from ..errors import BroadcastError

__all__ = ["DYNAMIC", "MAX_EXTENT", "Dim"]

# Extents are int64_t in the C of every kernel.
MAX_EXTENT = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Dim:
    """One dim of a type.

    Parameters
    ----------
    value : an extent (``4``), the name of an unknown one (``"n"``: same name, same extent), or None for ``?``.

    Raises
    ------
    BroadcastError
        For a negative extent, one that 64 bits do not hold, and a name that is no identifier.

    Examples
    --------
    >>> str(Dim(4)), str(Dim("n")), str(Dim())
    ('4', 'n', '?')
    >>> Dim("n").extent is None, Dim("n").symbol, Dim(4).extent
    (True, 'n', 4)
    """

    value: int | str | None = None

    def __post_init__(self) -> None:
        value = self.value
        if value is None or (isinstance(value, str) and value.isidentifier()):
            return
        if isinstance(value, (str, bool)) or not hasattr(value, "__index__"):
            raise BroadcastError(f"dim {value!r} is no extent and no name; write Dim(4), Dim('n') or Dim() for ?")
        extent = operator.index(value)
        if abs(extent) > MAX_EXTENT:
            raise BroadcastError(f"dim has an extent that 64 bits do not hold, expected at most {MAX_EXTENT}")
        if extent < 0:
            raise BroadcastError(f"dim has extent {extent}, expected 0 or more; write Dim() for an unknown extent")
        # NumPy integers compare and print like ints but would not pass as one everywhere (repr, JSON, C text).
        object.__setattr__(self, "value", extent)

    @staticmethod
    def static(extent: int) -> Dim:
        """Return the dim of a known extent."""
        return Dim(extent)

    @property
    def extent(self) -> int | None:
        """The extent if it is known, else None."""
        return self.value if isinstance(self.value, int) else None

    @property
    def symbol(self) -> str | None:
        """The name of the unknown extent if it has one, else None."""
        return self.value if isinstance(self.value, str) else None

    @property
    def is_static(self) -> bool:
        """True if the extent is known."""
        return isinstance(self.value, int)

    @property
    def is_one(self) -> bool:
        """True if the extent is known to be 1: the dim stretches."""
        return self.value == 1

    def __str__(self) -> str:
        return "?" if self.value is None else str(self.value)


DYNAMIC = Dim()
