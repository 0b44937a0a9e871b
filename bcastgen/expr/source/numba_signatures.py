"""Numba's signatures: the dtypes that a function is declared to compute in.

In: text, or Numba's own objects, which are read by their names.  Out: :class:`NumbaSignature` values.

    "float64(float64, int32)"   ->   NumbaSignature((f64, i32), f64)

As with the loops of a ufunc, a call takes the signature that has exactly its operands' dtypes, else the first one that
they convert to without loss.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ...core.dtypes import DType, Weak, in_numpy_code, resolve_weak
from ...core.errors import DTypeError, ParseError
from ...core.frozen import dataclass

__all__ = ["NumbaSignature", "chosen_signature", "numba_dtype", "read_signatures"]

_SIGNATURE = re.compile(r"\s*(?:(?P<result>[\w.]+)?\s*(?P<open>\())?(?P<operands>[\w.,\s]*)(?(open)\))\s*")
# Numba's names that are neither NumPy's nor ours.
_NUMBA = {
    "boolean": "bool",
    "bool_": "bool",
    "byte": "uint8",
    "char": "int8",
    "uchar": "uint8",
    "short": "int16",
    "ushort": "uint16",
    "int_": "int64",
    "uint": "uint64",
    "intc": "int32",
    "uintc": "uint32",
    "intp": "int64",
    "uintp": "uint64",
    "long_": "int64",
    "ulong": "uint64",
    "longlong": "int64",
    "ulonglong": "uint64",
    "float_": "float32",
    "double": "float64",
    "f4": "float32",
    "f8": "float64",
    **{f"{kind}{size}": f"{word}{8 * size}" for kind, word in (("i", "int"), ("u", "uint")) for size in (1, 2, 4, 8)},
    "b1": "bool",
}


@dataclass(frozen=True, slots=True)
class NumbaSignature:
    """The dtypes that a function computes in: its operands are converted to them, and its result, if it is declared."""

    operands: tuple[DType, ...]
    result: DType | None = None

    def __str__(self) -> str:
        names = ", ".join(row.numpy for row in self.operands)
        return f"{self.result.numpy}({names})" if self.result is not None else f"({names})"


def read_signatures(signatures: Any, count: int) -> tuple[NumbaSignature, ...]:
    """Read a list of signatures, for a function of so many operands.

    Raises
    ------
    ParseError
        If one is no signature, or has another number of operands.

    Examples
    --------
    >>> print(read_signatures("float32(float32, float32)", 2)[0])
    float32(float32, float32)
    """
    several = [signatures] if isinstance(signatures, str) or not isinstance(signatures, Iterable) else list(signatures)
    if not isinstance(signatures, (str, list, tuple)) or _is_one(signatures):
        several = [signatures]
    found = tuple(map(_read, several))
    for signature, said in zip(found, several, strict=True):
        if len(signature.operands) != count:
            raise ParseError(f"the signature {said} has {len(signature.operands)} operands, the function {count}")
    return found


def _is_one(signatures: Any) -> bool:
    """Whether this is one signature of Numba's objects: a tuple of types, or the signature itself."""
    return (isinstance(signatures, tuple) and all(numba_dtype(one) is not None for one in signatures)) or hasattr(
        signatures, "return_type"
    )


def _read(signature: Any) -> NumbaSignature:
    if hasattr(signature, "return_type") and hasattr(signature, "args"):
        result = signature.return_type
        return NumbaSignature(tuple(map(_dtype_of, signature.args)), None if result is None else _dtype_of(result))
    if isinstance(signature, tuple):
        return NumbaSignature(tuple(map(_dtype_of, signature)))
    if not isinstance(signature, str):
        raise ParseError(f"{signature!r} is no signature; write as in 'float64(float64, float64)'")
    found = _SIGNATURE.fullmatch(signature)
    words = [word.strip() for word in found["operands"].split(",")] if found else []
    if not found or not all(words):
        raise ParseError(
            f"{signature!r} is no signature of numbers; write as in 'float64(float64, float64)', and leave signatures "
            "out to serve every dtype"
        )
    return NumbaSignature(tuple(map(_named, words)), None if found["result"] is None else _named(found["result"]))


def _named(word: str) -> DType:
    name = word.rpartition(".")[2]
    return in_numpy_code(_NUMBA.get(name, name))


def _dtype_of(kind: Any) -> DType:
    found = numba_dtype(kind)
    return found if found is not None else in_numpy_code(kind)


def numba_dtype(kind: object) -> DType | None:
    """Return the dtype of one of Numba's types, which is told by its class and its name; None for other objects."""
    if type(kind).__module__.partition(".")[0] != "numba" or not isinstance(getattr(kind, "name", None), str):
        return None
    return _named(str(kind.name))  # type: ignore[attr-defined]


def chosen_signature(
    name: str, signatures: Sequence[NumbaSignature], types: tuple[DType | Weak, ...]
) -> NumbaSignature:
    """Return the signature that serves operands of these types.

    Raises
    ------
    DTypeError
        If they convert to those of no signature without loss.
    """
    given = resolve_weak(types)
    exact = (one for one in signatures if one.operands == given)
    safe = (one for one in signatures if all(map(_is_safe, given, one.operands)))
    found = next(exact, None) or next(safe, None)
    if found is None:
        shown = ", ".join(row.numpy for row in given)
        raise DTypeError(
            f"{name}({shown}): none of its signatures takes these without loss: {'; '.join(map(str, signatures))}; "
            "convert the operands, or leave signatures out"
        )
    return found


def _is_safe(source: DType, target: DType) -> bool:
    return bool(np.can_cast(source.np, target.np, "safe"))
