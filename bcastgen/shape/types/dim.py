"""One dim of a type: a known extent, or an unknown one, which may have a name and facts.

In: what is known of an extent.  Out: a :class:`Dim` that compares, hashes and prints.

    Dim(4) -> 4        Dim("n") -> n        Dim() -> ?        Dim("n", min=2) -> n>=2        Dim("n+m") -> m + n

Facts are claims about the extent; `broadcast` and `trusted` say how the dim takes part in broadcasting.
"""

from __future__ import annotations

import operator

from ...core.errors import BroadcastError
from ...core.frozen import KW_ONLY, dataclass
from ...core.options import is_switch, whole
from .facts import ANY_EXTENT, MAX_EXTENT, MAX_RANK, Range

__all__ = ["DYNAMIC", "MAX_EXTENT", "Dim", "as_extent", "check_rank"]

BCAST = "bcast"
_NO_EXTENT = "is no extent and no name; write Dim(4), Dim('n') or Dim() for ?"


@dataclass(frozen=True, slots=True)
class Dim:
    """One dim of a type.

    Parameters
    ----------
    value : an extent (``4``), the name of an unknown one (``"n"``: same name, same extent), an extent that is computed
        from names (``"2*n + m"``; see computed.py), or None for ``?``.
    min, max : the least and the greatest extent.
    multiple_of : a number that divides the extent.
    broadcast : False: the dim never stretches, its extent is the result's. True: it always does, its extent is 1. None:
        it stretches where its extent is 1, unless the kernel says otherwise.
    trusted : the dim never stretches, and nothing about it is checked.
    stretches : the dim stretches where its extent is 1, whatever the kernel says.

    Facts on a known extent are compared with it and dropped. A dim without a name whose facts leave one extent has that
    extent.

    Raises
    ------
    BroadcastError
        For a negative extent, one that 64 bits do not hold, a name that is no identifier, or facts that exclude every
        extent.

    Examples
    --------
    >>> str(Dim(4)), str(Dim("n", min=2, multiple_of=8)), str(Dim()), str(Dim("m", broadcast=False))
    ('4', 'n>=8%8', '?', 'm!')
    >>> str(Dim("k", stretches=True))
    'k~'
    >>> Dim("n").extent is None, Dim("n").symbol, Dim(4).extent
    (True, 'n', 4)
    >>> str(Dim("n+m")), Dim("n + m") == Dim("m + n"), Dim("2*n").can_be_one
    ('m + n', True, False)
    """

    value: int | str | None = None
    _: KW_ONLY
    min: int | None = None
    max: int | None = None
    multiple_of: int | None = None
    broadcast: bool | None = None
    trusted: bool = False
    stretches: bool = False

    def __post_init__(self) -> None:
        # NumPy integers compare and print like ints but would not pass as one everywhere (repr, JSON, C text).
        value = _checked_value(self.value)
        facts = [None if fact is None else _integer(f"{name} ", fact) for name, fact in self._given()]
        given = () if self.broadcast is None else (self.broadcast,)
        if not all(map(is_switch, (*given, self.trusted, self.stretches))):
            raise BroadcastError(f"dim {self._shown} has flags that are no booleans; broadcast, trusted, stretches are")
        if self.stretches and (self.broadcast is False or self.trusted):
            raise BroadcastError(f"dim {self._shown} stretches and does not stretch; drop one of both")
        if self.broadcast and (isinstance(value, str) or self.trusted):
            raise BroadcastError(
                f"dim {self._shown} is a broadcast dim, which has the extent 1; write Dim(broadcast=True)"
            )
        if self.broadcast and value is None:
            value = 1
        known = _range(self._shown, *facts)
        if isinstance(value, str) and not value.isidentifier():
            known = _of_expression(value, known)
        if isinstance(value, int) and not known.has(value):
            raise BroadcastError(f"dim has extent {value}, which its own facts ({known}) exclude; drop one of both")
        if self.broadcast and value != 1:
            raise BroadcastError(f"dim has extent {value}, expected 1 in a broadcast dim; write Dim(broadcast=True)")
        self._set(known.only if value is None else value, known)

    def _given(self) -> tuple[tuple[str, int | None], ...]:
        return (("min", self.min), ("max", self.max), ("multiple_of", self.multiple_of))

    @property
    def _shown(self) -> str:
        return "?" if self.value is None else str(self.value)

    def _set(self, value: int | str | None, known: Range) -> None:
        """Store the fields in their normal form, so that dims that say the same are equal."""
        if isinstance(value, int):
            known = Range()
        highest = MAX_EXTENT // known.step * known.step
        strict = self.broadcast is False or self.trusted
        flags = {"broadcast": self.broadcast, "trusted": self.trusted, "stretches": self.stretches}
        if isinstance(value, int):
            flags = {"broadcast": self.broadcast or (False if strict and value == 1 else None), "trusted": False}
            flags["stretches"] = self.stretches and value == 1 and not self.broadcast
        elif self.trusted:
            flags["broadcast"] = None
        implied = _implied(value)
        fields = {
            "value": value,
            "min": known.low if known.low > implied.low else None,
            "max": known.high if known.high < min(highest, implied.high) else None,
            "multiple_of": known.step if implied.step % known.step else None,
            **flags,
        }
        for name, field in fields.items():
            object.__setattr__(self, name, field)

    @staticmethod
    def static(extent: int) -> Dim:
        """Return the dim of a known extent."""
        return Dim(extent)

    @staticmethod
    def within(value: str | None, known: Range) -> Dim:
        """Return the dim of a named or unknown extent in a range."""
        if known is ANY_EXTENT:
            return Dim(value)
        return Dim(value, min=known.low, max=known.high, multiple_of=known.step)

    @property
    def extent(self) -> int | None:
        """The extent if it is known, else None."""
        return self.value if isinstance(self.value, int) else None

    @property
    def symbol(self) -> str | None:
        """The name, or the expression, of the unknown extent if it has one, else None; equal ones are one extent."""
        return self.value if isinstance(self.value, str) else None

    @property
    def is_computed(self) -> bool:
        """True if the extent is computed from names."""
        return isinstance(self.value, str) and not self.value.isidentifier()

    @property
    def implied(self) -> Range:
        """The extents that the expression of names can give; any extent if it is none."""
        return _implied(self.value)

    @property
    def is_static(self) -> bool:
        """True if the extent is known."""
        return isinstance(self.value, int)

    @property
    def is_one(self) -> bool:
        """True if the extent is known to be 1 and the dim stretches."""
        return self.value == 1 and self.broadcast is not False

    @property
    def range(self) -> Range:
        """The extents that its own facts allow."""
        if isinstance(self.value, int):
            return Range(self.value, self.value)
        declared = self._declared
        return declared.meet(_implied(self.value)) or declared

    @property
    def _declared(self) -> Range:
        if self.min is self.max is self.multiple_of is None:
            return ANY_EXTENT
        return _range(self._shown, self.min, self.max, self.multiple_of)

    @property
    def can_be_one(self) -> bool:
        """True if its own facts allow the extent 1."""
        return self.range.has(1)

    @property
    def is_plain(self) -> bool:
        """True if the dim has neither facts nor flags."""
        return self.min is self.max is self.multiple_of is self.broadcast is None and not (
            self.trusted or self.stretches
        )

    @property
    def erased(self) -> Dim:
        """The same extent or name, without facts and flags."""
        return Dim(self.value)

    def __str__(self) -> str:
        if self.broadcast:
            return BCAST
        facts = "" if isinstance(self.value, int) else str(self._declared)
        mode = "!" if self.broadcast is False else "~" if self.stretches else " trusted" if self.trusted else ""
        return f"{self._shown}{facts}{mode}"


def _checked_value(value: object) -> int | str | None:
    if value is None:
        return None
    if isinstance(value, str) and value == BCAST:
        raise BroadcastError(
            f"dim {value!r} is a broadcast dim and no name; write Dim(broadcast=True), or another name"
        )
    if isinstance(value, str):
        if value.isidentifier():
            return value
        from .computed import normal_form  # noqa: PLC0415 - few types have sums

        made = normal_form(value)
        if isinstance(made, int):
            return _integer("", made)
        if made is not None:
            return made
    if whole(value) is None:
        raise BroadcastError(f"dim {value!r} {_NO_EXTENT}")
    return _integer("", value, "; write Dim() for an unknown extent")


def _integer(what: str, value: object, cure: str = "") -> int:
    extent = whole(value)
    if extent is None:
        raise BroadcastError(f"dim has {what}{value!r}, expected an integer; write Dim('n', min=2)")
    if abs(extent) > MAX_EXTENT:
        raise BroadcastError(f"dim has {what or 'an extent '}that 64 bits do not hold, expected at most {MAX_EXTENT}")
    if extent < 0:
        raise BroadcastError(f"dim has {what or 'extent '}{extent}, expected 0 or more{cure}")
    return extent


def _range(shown: str, low: int | None, high: int | None, step: int | None) -> Range:
    low, high, step = low or 0, MAX_EXTENT if high is None else high, 1 if step is None else step
    if step < 1:
        raise BroadcastError(f"dim {shown} has multiple_of {step}, expected 1 or more")
    known = Range.of(low, high, step)
    if known is None:
        multiples = f" that are multiples of {step}" if step > 1 else ""
        raise BroadcastError(f"dim {shown} has no extent from min {low} to max {high}{multiples}; widen one of them")
    return known


def _implied(value: int | str | None) -> Range:
    if not isinstance(value, str) or value.isidentifier():
        return ANY_EXTENT
    from .computed import range_of  # noqa: PLC0415 - few types have sums

    return range_of(value)


def _of_expression(text: str, known: Range) -> Range:
    both = known.meet(_implied(text))
    if both is None:
        raise BroadcastError(f"dim {text} has no extent in its own facts ({known}); drop them")
    return both


DYNAMIC = Dim()


def as_extent(value: object) -> int | None:
    """Return the extent that a user gives as an integer of any type but bool; None if it is not from 0 to MAX_EXTENT.

    Ask an object for its index once, by this: it may say something else the next time.
    """
    if isinstance(value, bool):
        return None
    try:
        extent = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        return None
    return extent if 0 <= extent <= MAX_EXTENT else None


def check_rank(what: str, rank: int, operand: str | None = None) -> None:
    """Refuse a value with more dims than kernels take; inference alone has no such limit.

    Raises
    ------
    BroadcastError
        If the rank is above `MAX_RANK`; the message names the value and its rank.
    """
    if rank > MAX_RANK:
        raise BroadcastError(
            f"{what} has rank {rank}, expected at most {MAX_RANK}; leave dims of extent 1 out",
            operand=operand,
            expected=MAX_RANK,
            actual=rank,
        )
