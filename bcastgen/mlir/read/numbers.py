"""The value of a number's text, given its type, as MLIR reads it.

In: texts such as ``-1``, ``0xFF``, ``1.5e3``, ``0x7F800000``, and an element type.  Out: Python numbers, or an array.

    ("255", "i8") -> -1        ("0x7F800000", "f32") -> inf        ("0.1", "f16") -> 0.0999755859375

An integer of a signless type may be written as a signed or as an unsigned number; a hexadecimal number of a float type
gives the float's bits. A decimal float is rounded to a double and then to its type.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from ...core.dtypes import DTYPES, DType
from ...core.errors import ParseError
from ...core.frozen import dataclass

__all__ = ["ElementKind", "Fail", "element_kind", "float_values", "from_bytes", "integer_values", "scalar"]

_INTEGER = re.compile(r"([su]?)i([0-9]+)|index")
_DECIMAL = re.compile(r"\s*-?[0-9]{1,19}\s*", re.ASCII).fullmatch
_FLOAT = re.compile(r"\s*-?[0-9]+\.[0-9]*(?:[eE][-+]?[0-9]+)?\s*", re.ASCII).fullmatch
_NUMBER = re.compile(
    r"\s*(?P<minus>-\s*)?(?:(?P<float>[0-9]+\.[0-9]*(?:[eE][-+]?[0-9]+)?)|(?P<hex>0x[0-9a-fA-F]+)|(?P<int>[0-9]+)"
    r"|(?P<word>true|false))\s*",
    re.ASCII,
)
_SMALL = {row.mlir: row for row in DTYPES if row.is_small_float}
_FLOATS = {"f16": (16, np.float16), "bf16": (16, np.float32), "f32": (32, np.float32), "f64": (64, np.float64)}
# More digits than any type in use here holds; Python refuses to read thousands of them.
_MAX_DIGITS = 40
_MAX_BITS = 64

# (index of one of several texts, what is wrong with it) -> the error with its place.
Fail: TypeAlias = Callable[[int, str], ParseError]


@dataclass(frozen=True, slots=True)
class ElementKind:
    """The properties of an element type that decide how its numbers are read.

    Attributes
    ----------
    is_float : a float type; for those that are not in the table of dtypes only decimal numbers are read, as doubles.
    bits : its width.
    sign : ``"s"``, ``"u"``, or ``""`` for a signless integer.
    dtype : the NumPy type its values are kept in.
    small : the dtype, if it is a float of at most 8 bits.
    """

    name: str
    is_float: bool
    bits: int
    sign: str
    dtype: np.dtype[Any]
    small: DType | None = None

    @property
    def range(self) -> tuple[int, int]:
        """The least and the greatest integer that may spell a value of the type."""
        low = 0 if self.sign == "u" else -(1 << (self.bits - 1))
        high = (1 << (self.bits - (self.sign == "s" or self.name == "index"))) - 1
        return low, high


def element_kind(name: str) -> ElementKind | None:
    """Return what is known of an element type, or None if its numbers are not read.

    Examples
    --------
    >>> element_kind("i8").range, element_kind("ui4").dtype.name, element_kind("!quant.any")
    ((-128, 255), 'uint64', None)
    """
    match = _INTEGER.fullmatch(name)
    if match is not None:
        bits = int(match[2] or _MAX_BITS)
        sign = match[1] or ""
        if bits > _MAX_BITS:
            return None
        if name == "i1":
            return ElementKind(name, False, 1, sign, np.dtype(bool))
        width = bits if bits in (8, 16, 32, 64) else _MAX_BITS
        return ElementKind(name, False, bits, sign, np.dtype(f"{'u' if sign == 'u' else ''}int{width}"))
    if name in _FLOATS:
        bits, dtype = _FLOATS[name]
        return ElementKind(name, True, bits, "", np.dtype(dtype))
    if name in _SMALL:
        return ElementKind(name, True, _SMALL[name].bits, "", np.dtype(np.float32), _SMALL[name])
    return ElementKind(name, True, 0, "", np.dtype(np.float64)) if re.match(r"t?f[0-9]", name) else None


def integer_values(texts: Sequence[str], kind: ElementKind, fail: Fail) -> np.ndarray[Any, Any]:
    """Return the integers that texts spell.

    Raises
    ------
    ParseError
        If one is no integer, or is out of the type's range.
    """
    # Read plain decimals all at once, other spellings one by one.
    plain = all(map(_DECIMAL, texts))
    values = list(map(int, texts)) if plain else [_integer(index, text, kind, fail) for index, text in enumerate(texts)]
    if not values:
        return np.empty(0, kind.dtype)
    low, high = kind.range
    if min(values) < low or max(values) > high:
        index = next(index for index, value in enumerate(values) if not low <= value <= high)
        raise fail(index, _range_fault(values[index], kind))
    if kind.name == "i1":
        return np.array([value != 0 for value in values], kind.dtype)
    if not kind.sign and max(values) >= 1 << (kind.bits - 1):
        values = [_wrapped(value, kind) for value in values]
    return np.array(values, kind.dtype)


def float_values(texts: Sequence[str], kind: ElementKind, fail: Fail) -> np.ndarray[Any, Any]:
    """Return the floats that texts spell; bf16 and smaller ones as the float32 they equal.

    Raises
    ------
    ParseError
        If one is no float; a decimal without a point is none.
    """
    if all(map(_FLOAT, texts)):
        return _rounded(np.array(list(map(float, texts)), np.float64), kind)
    bits: dict[int, int] = {}
    decimals: list[float] = []
    for index, text in enumerate(texts):
        value = _float(index, text, kind, fail)
        if isinstance(value, int):
            bits[index] = value
        decimals.append(0.0 if isinstance(value, int) else value)
    values = _rounded(np.array(decimals, np.float64), kind)
    if kind.small is not None and kind.small.small is not None:
        for index, pattern in bits.items():
            values[index] = kind.small.small.value_of(pattern)
        return values
    raw = values.view(f"u{values.dtype.itemsize}")
    for index, pattern in bits.items():
        raw[index] = pattern << 16 if kind.name == "bf16" else pattern
    return values


def scalar(text: str, kind: ElementKind, fail: Fail) -> bool | int | float:
    """Return the number that a text spells.

    Raises
    ------
    ParseError
        If the text is no number of this type.

    Examples
    --------
    >>> def fail(index, message): return ParseError(message)
    >>> [scalar(text, element_kind(name), fail) for text, name in (("255", "i8"), ("0x3C00", "f16"), ("1", "i1"))]
    [-1, 1.0, True]
    """
    values = float_values([text], kind, fail) if kind.is_float else integer_values([text], kind, fail)
    return values.item()  # type: ignore[no-any-return]


def from_bytes(data: bytes, count: int, kind: ElementKind) -> np.ndarray[Any, Any] | None:
    """Return `count` elements from the bytes of a hexadecimal literal, or one element if it has the bytes of one.

    A hexadecimal literal has the bytes in memory, little end first; elements of i1 are packed bits, or bytes in later
    versions of MLIR. The result is None if the number of bytes fits neither.
    """
    if kind.name == "i1":
        return _truths(data, count)
    if kind.small is not None and kind.small.small is not None:
        values = np.array([kind.small.small.value_of(byte) for byte in data], np.float32)
        return values if len(data) in (1, count) else None
    if kind.bits not in (8, 16, 32, 64):
        return None
    size = kind.bits // 8
    if len(data) not in (size, count * size):
        return None
    if kind.name == "bf16":
        halves = np.frombuffer(data, "<u2").astype(np.uint32)
        return np.left_shift(halves, 16).view(np.float32)
    return np.frombuffer(data, kind.dtype.newbyteorder("<")).astype(kind.dtype)


def _truths(data: bytes, count: int) -> np.ndarray[Any, Any] | None:
    raw = np.frombuffer(data, np.uint8)
    if len(data) == count or data in (b"\0", b"\1", b"\xff"):
        return np.not_equal(raw, 0)
    return np.unpackbits(raw, count=count, bitorder="little").view(bool) if len(data) == (count + 7) // 8 else None


def _integer(index: int, text: str, kind: ElementKind, fail: Fail) -> int:
    match = _NUMBER.fullmatch(text)
    if match is None:
        raise fail(index, "expected an integer")
    if match["word"]:
        if kind.name != "i1":
            raise fail(index, f"'{match['word']}' is of type i1, expected an integer of type {kind.name}")
        return int(match["word"] == "true")
    if match["float"]:
        raise fail(index, f"a float is no value of type {kind.name}, expected an integer")
    digits, base = (match["hex"][2:], 16) if match["hex"] else (match["int"], 10)
    digits = digits.lstrip("0") or "0"
    # The first digits suffice: an integer of more digits than these is out of range anyway.
    value = int(digits[:_MAX_DIGITS], base)
    return -value if match["minus"] else value


def _float(index: int, text: str, kind: ElementKind, fail: Fail) -> int | float:
    match = _NUMBER.fullmatch(text)
    if match is None or match["word"]:
        raise fail(index, f"expected a float of type {kind.name}")
    if match["float"]:
        return -float(match["float"]) if match["minus"] else float(match["float"])
    if match["int"]:
        raise fail(index, f"an integer is no value of type {kind.name}; write {match['int'][:_MAX_DIGITS]}.0")
    if match["minus"]:
        raise fail(index, "a hexadecimal float is its bits, and has no minus")
    digits = match["hex"][2:].lstrip("0") or "0"
    if kind.bits == 0:
        raise fail(index, f"a hexadecimal float of type {kind.name} is not read here; write a decimal one")
    if len(digits) > -(-kind.bits // 4):
        raise fail(index, f"a hexadecimal float of more than the {kind.bits} bits of {kind.name}")
    return int(digits, 16)


def _range_fault(value: int, kind: ElementKind) -> str:
    if value < 0 and kind.sign == "u":
        return f"a negative integer is no value of the unsigned type {kind.name}"
    low, high = kind.range
    return f"integer out of the range of {kind.name}, {low} to {high}"


def _wrapped(value: int, kind: ElementKind) -> int:
    return value - (1 << kind.bits) if value >> (kind.bits - 1) and value > 0 else value


def _rounded(values: np.ndarray[Any, Any], kind: ElementKind) -> np.ndarray[Any, Any]:
    if kind.dtype == values.dtype:
        return values
    if kind.small is not None:
        return np.array(list(map(kind.small.nearest, values.tolist())), np.float32)
    with np.errstate(over="ignore", under="ignore"):
        if kind.name != "bf16":
            return values.astype(kind.dtype)
        single = values.astype(np.float32)
    # Round to odd first, so that the second rounding gives the result of a single one.
    wide = single.astype(np.float64)
    bits: np.ndarray[Any, Any] = (single.view(np.uint32) - (np.abs(wide) > np.abs(values))) | (wide != values)
    bits = (bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000
    return bits.astype(np.uint32).view(np.float32)
