"""The signature of a kernel, the bytes of a binary's key, and the check of a binary against its key.

In: names, operands, a compiled kernel's description.  Out: checked names, one byte an operand, packed ranges.

    operand_code(np.ones(3)) -> 12 (the index of f64 in DTYPES)        operand_code(3) -> 64 (a weak int)

The extension is given these tables when it is configured, so that C has no second list of dtypes.
A dtype that a package adds to NumPy (bf16, f8e4m3fn) gets its type number when that package is imported;
:func:`register_dtype` then passes the number on.
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np

from ..core.dtypes import DTYPES, WEAK_COMPLEX, WEAK_FLOAT, WEAK_INT, WEAK_UINT, DType, Weak, from_key
from ..core.errors import CompileError
from ..core.forks import undivided

if TYPE_CHECKING:
    from .named import Named

__all__ = [
    "NO_CODE",
    "ON_REGISTERING",
    "SCALAR_CODES",
    "TYPE_CODES",
    "Array",
    "Limit",
    "check_binary",
    "check_signature",
    "exceeds",
    "has_code",
    "operand_code",
    "register_dtype",
]

Array = np.ndarray[Any, np.dtype[Any]]
Limit = tuple[int, int]

NO_CODE = 255
_BUILTIN = tuple(np.dtype(char) for char in np.typecodes["All"])
# NumPy has two type numbers for one format if two C types have one size, so the format decides and not the number.
_CODES = {(row.np.kind, row.np.itemsize): code for code, row in enumerate(DTYPES) if not row.is_added}
_BY_NUMBER: dict[int, int] = {t.num: _CODES[t.kind, t.itemsize] for t in _BUILTIN if (t.kind, t.itemsize) in _CODES}
TYPE_CODES = bytes(_BY_NUMBER.get(number, NO_CODE) for number in range(256))
SCALAR_CODES: dict[type, int] = {t.type: _BY_NUMBER[t.num] for t in _BUILTIN if t.num in _BY_NUMBER}

# The code of each dtype that NumPy does not have itself, by its type number; and the functions that are told of it.
_ADDED: dict[int, int] = {}
ON_REGISTERING: list[Callable[[int, int, np.dtype[Any]], object]] = []


def register_dtype(row: DType) -> None:
    """Register the type number of a dtype that another package adds to NumPy; do nothing for the others.

    Raises
    ------
    DTypeError
        If the package is not installed.
    """
    code = DTYPES.index(row)
    if not row.is_added or code in _ADDED.values():
        return
    kind = row.np
    with undivided:
        if kind.num in _ADDED:
            return
        for tell in ON_REGISTERING:
            tell(kind.num, code, kind)
        SCALAR_CODES[kind.type] = code
        _ADDED[kind.num] = code


def operand_code(operand: object) -> int:
    """Return the byte of a clean operand in the key; :data:`NO_CODE` for any other object."""
    kind = type(operand)
    if kind is np.ndarray:
        number: int = operand.dtype.num  # type: ignore[attr-defined]
        return TYPE_CODES[number] if 0 <= number < len(TYPE_CODES) else _ADDED.get(number, NO_CODE)
    if kind is float:
        return WEAK_FLOAT.key
    if kind is complex:
        return WEAK_COMPLEX.key
    if kind is bool:
        return SCALAR_CODES[np.bool_]
    if kind is int:
        return WEAK_INT.key if operand <= WEAK_INT.default.max else WEAK_UINT.key  # type: ignore[operator]
    return SCALAR_CODES.get(kind, NO_CODE)


def has_code(value: object) -> bool:
    """Whether a value is no Python int beyond 64 bits, of which there is no code."""
    return type(value) is not int or WEAK_INT.default.min <= value <= WEAK_UINT.default.max


def exceeds(value: object, limit: Limit) -> TypeGuard[int]:
    """Whether a value is a Python int that the dtype beside it does not hold: `limit` is the range of that."""
    return type(value) is int and not limit[0] <= value <= limit[1]


def check_signature(
    name: str, operands: tuple[str, ...], results: tuple[str, ...], defaults: tuple[object, ...] = ()
) -> tuple[str, tuple[str, ...], tuple[str, ...], tuple[object, ...]]:
    """Return the constructor's arguments, names interned, so that keywords are found by identity.

    Raises
    ------
    TypeError
        If there is no result, defaults are more than operands, or operands share a name or are named ``out``.
    """
    operands = tuple(sys.intern(str(operand)) for operand in operands)
    results, defaults = tuple(sys.intern(str(result)) for result in results), tuple(defaults)
    if not results:
        raise TypeError(f"{name}() has no result; name one at least")
    if len(defaults) > len(operands):
        raise TypeError(f"{name}() has {len(defaults)} defaults for {len(operands)} operands")
    if len({*operands, "out"}) != len(operands) + 1:
        raise TypeError(
            f"{name}() needs operand names that differ from each other and from 'out': {', '.join(operands)}"
        )
    return str(name), operands, results, defaults


def check_binary(
    kernel: Named,
    key: bytes,
    operand_codes: bytes,
    result_codes: bytes,
    limits: tuple[Limit | None, ...],
    entry: tuple[int, int, int],
    abi_version: int,
) -> bytes:
    """Check that a compiled kernel fits its key; return the ranges of weak ints, 16 bytes for each operand.

    Parameters
    ----------
    entry : ``abi_version``, ``operands`` and ``results`` of the binary.
    abi_version : the version that this caller was compiled for.

    Raises
    ------
    CompileError
        If they disagree; the message says how.
    """
    if entry[0] != abi_version:
        raise CompileError(
            f"the binary of kernel '{kernel._name}' has ABI version {entry[0]}, and its caller {abi_version}; "
            "clear the cache (bcastgen cache clear) or reinstall bcastgen"
        )
    wanted = (len(kernel.operands) + len(kernel._constants), len(kernel.results))
    # In the key of a ranked kernel the ranks follow the dtypes.
    key = key[: wanted[0]] if len(key) == 2 * wanted[0] else key
    if not entry[1:] == (len(key), len(result_codes)) == (len(operand_codes), len(result_codes)) == wanted:
        raise CompileError(
            f"the binary of kernel '{kernel._name}' has {entry[1]} operands and {entry[2]} results, "
            f"its key {len(key)} and {len(result_codes)}, the kernel {wanted[0]} and {wanted[1]}"
        )
    stored = bytes(_storage_code(byte) for byte in key)
    if stored != operand_codes or len(limits) != len(key) or max(result_codes) >= len(DTYPES):
        raise CompileError(
            f"the binary of kernel '{kernel._name}' takes {operand_codes!r} with {len(limits)} limits "
            f"and gives {result_codes!r}; its key asks for {stored!r}"
        )
    # Results are later allocated by their codes, without another check.
    for code in result_codes:
        register_dtype(DTYPES[code])
    return b"".join(_packed_range(byte, limit) for byte, limit in zip(key, limits, strict=True))


def _storage_code(byte: int) -> int:
    kind = from_key(byte)
    return DTYPES.index(kind.default) if isinstance(kind, Weak) else byte


def _packed_range(byte: int, limit: Limit | None) -> bytes:
    kind = from_key(byte)
    if kind not in (WEAK_INT, WEAK_UINT):
        return bytes(16)
    storage = WEAK_INT.default if kind is WEAK_INT else WEAK_UINT.default
    low, high = limit if limit is not None else (storage.min, storage.max)
    low, high = max(low, storage.min), min(high, storage.max)
    if low > high:
        low, high = 1, 0
    return struct.pack("=qq" if kind is WEAK_INT else "=QQ", low, high)
