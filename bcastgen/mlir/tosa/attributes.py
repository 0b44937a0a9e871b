"""Reads the attributes of TOSA ops, in every spelling, as plain values.

In: an operation.  Out: numbers, words and flags, or an error that names the attribute and its allowed values.

    {min_val = -1.0 : f32, max_val = 6.0 : f32, nan_mode = IGNORE}   ->  bounds (-1.0, 6.0), nan_mode "IGNORE"
    {min_fp = -1.0 : f32, max_fp = 6.0 : f32, min_int = -1 : i64, max_int = 6 : i64}  ->  the same, in LLVM 19
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

from ...core.dtypes import DType
from ...core.errors import DTypeError, ParseError
from ..ir import Attribute, DialectAttribute, Keyword, Number, Operation

__all__ = ["clamp_bounds", "flag", "keyword", "number", "unary_zero_points"]

_NAN_MODES = ("PROPAGATE", "IGNORE")
_ZERO_POINT = re.compile(r"\b(input_zp|output_zp)\s*=\s*(-?\d+)")


def keyword(operation: Operation, name: str, default: str) -> str:
    """Return an attribute such as ``nan_mode``: a bare word, a string, or the body of ``#tosa.nan_mode<IGNORE>``.

    Raises
    ------
    ParseError
        If it is not one of the allowed words.
    """
    match operation.attributes.get(name):
        case None:
            return default
        case str(word) | Keyword(word) | DialectAttribute(_, str(word)) if word.strip() in _NAN_MODES:
            return word.strip()
        case other:
            raise ParseError(f"attribute '{name}' is {shown(other)}, expected {' or '.join(_NAN_MODES)}")


def flag(operation: Operation, name: str, default: bool | None = None) -> bool:
    """Return a bool attribute.

    Raises
    ------
    ParseError
        If the attribute is missing and has no default, or is no bool.
    """
    match operation.attributes.get(name, default):
        case bool(value) | Number(bool(value)):
            return value
        case None:
            raise ParseError(f"attribute '{name}' is missing; write {{{name} = true}} or {{{name} = false}}")
        case other:
            raise ParseError(f"attribute '{name}' is {shown(other)}, expected true or false")


def number(operation: Operation, name: str) -> Number | None:
    """Return a number with its type; None if there is no such attribute.

    Raises
    ------
    ParseError
        If the attribute is no number.
    """
    match operation.attributes.get(name):
        case None:
            return None
        case Number() as found:
            return found
        case bool(value) | int(value) | float(value):
            return Number(value)
        case other:
            raise ParseError(f"attribute '{name}' is {shown(other)}, expected a number")


def clamp_bounds(operation: Operation, dtype: DType) -> tuple[int | float, int | float]:
    """Return the bounds of a ``tosa.clamp`` of elements of a dtype.

    Raises
    ------
    ParseError
        If a bound is missing or NaN, or the lower one is above the upper.
    DTypeError
        If a bound has another type.
    """
    low, high = (_bound(operation, end, dtype) for end in ("min", "max"))
    if not dtype.is_float and not (isinstance(low, int) and isinstance(high, int)):
        raise DTypeError(f"a bound of {dtype.mlir} elements is no integer")
    if math.isnan(low) or math.isnan(high):
        raise ParseError("a bound is NaN, expected numbers")
    if low > high:
        raise ParseError(f"min_val is {low} and max_val {high}; expected min_val <= max_val")
    return low, high


def _bound(operation: Operation, end: str, dtype: DType) -> int | float:
    found = number(operation, f"{end}_val")
    if found is not None:
        if found.type is not None and found.type.element is not dtype:
            raise DTypeError(f"attribute '{end}_val' is of type {found.type}, expected {dtype.mlir}, as the elements")
        return found.value
    # LLVM 19 has two pairs of bounds, and the element type decides which pair counts.
    older = number(operation, f"{end}_fp" if dtype.is_float else f"{end}_int")
    if older is None:
        raise ParseError(f"attribute '{end}_val' is missing; write {{min_val = ..., max_val = ...}}")
    if dtype.is_float or not isinstance(older.value, int):
        return older.value
    return min(max(older.value, dtype.min), dtype.max)


def unary_zero_points(attributes: Mapping[str, Attribute]) -> tuple[int, int]:
    """Return the zero points of the operand and of the result, which LLVM 19 keeps in ``quantization_info``.

    Raises
    ------
    ParseError
        If the attribute holds anything else.
    """
    match attributes.get("quantization_info"):
        case None:
            return 0, 0
        case DialectAttribute("tosa.unary_quant", str(body)):
            found = {name: int(value) for name, value in _ZERO_POINT.findall(body)}
            return found.get("input_zp", 0), found.get("output_zp", 0)
        case other:
            raise ParseError(
                f"attribute 'quantization_info' is {shown(other)}, expected #tosa.unary_quant<input_zp = 0, "
                "output_zp = 0>"
            )


def shown(attribute: object) -> str:
    """Spell an attribute in a message."""
    match attribute:
        case Number(value, type_):
            return f"{value}" if type_ is None else f"{value} : {type_}"
        case Keyword(name):
            return name
        case DialectAttribute(name, body):
            return f"#{name}" if body is None else f"#{name}<{body}>"
        case str():
            return f'"{attribute}"'
    return f"{attribute}"
