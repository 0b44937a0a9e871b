"""The spellings of dtypes, and the promotion lattice of NumPy 2 over them.

In: a spelling (``"f32"``, ``numpy.float32``, MLIR's ``i1``).  Out: its :class:`DType` row.

    dtype("f32").c -> "float"        promote(I32, F32) -> F64        dtype(np.uint8).name -> "u8"

Source: NEP 50 and ``numpy.result_type`` (the test compares every pair with it). The module ``float16`` has what 16-bit
floats need beside their row.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import numpy as np

from .dtype_rows import BF16, BOOL, BY_NAME, C64, C128, COMPUTED, DTYPES, F16, F32, F64, I32, I64, U64, DType
from .errors import DTypeError, RangeError
from .frozen import dataclass

__all__ = [
    "BF16",
    "BOOL",
    "C64",
    "C128",
    "COMPUTED",
    "DTYPES",
    "F16",
    "F32",
    "F64",
    "I32",
    "I64",
    "U64",
    "WEAK_COMPLEX",
    "WEAK_FLOAT",
    "WEAK_HUGE",
    "WEAK_INT",
    "WEAK_UINT",
    "DType",
    "Weak",
    "dtype",
    "from_key",
    "in_bytes",
    "in_numpy_code",
    "in_wider",
    "kind_of",
    "meant_by",
    "promote",
    "resolve_weak",
]


_BY_MLIR = {row.mlir: row for row in DTYPES}
_BY_NUMPY = {row.numpy: row for row in DTYPES}

# The end of the error for an array of another dtype, by NumPy's code: why not, and the cure.
_CURES = {
    "g": " (no vectors have such floats); convert it by .astype(numpy.float64)",
    "G": " (no vectors have such floats); convert it by .astype(numpy.complex128)",
    "O": " (its elements are Python objects); convert it by numpy.array(x, dtype=float)",
    "U": " (it is text); convert it by numpy.array(x, dtype=float)",
    "S": " (it is text); convert it by numpy.array(x, dtype=float)",
    "c": " (it is text); convert it by numpy.array(x, dtype=float)",
    "T": " (it is text); convert it by x.astype(float)",
    "V": " (it has fields, or bytes without a meaning); pass its fields one by one, as in x['name']",
    "M": " (a time has an origin and a unit); compute with its numbers, numpy.asarray(x).view('int64')",
    "m": " (a duration has a unit); compute with its numbers, numpy.asarray(x).view('int64')",
}


@cache
def dtype(spelling: object) -> DType:
    """Return the row that a spelling names.

    Parameters
    ----------
    spelling : a :class:`DType`, our name (``"f32"``), MLIR's (``"i1"``), or whatever ``numpy.dtype`` accepts.

    Raises
    ------
    DTypeError
        If the type is not in the table; the message lists the types that are.

    Examples
    --------
    >>> dtype("i8").c, dtype(np.float32).name, dtype("i1").name
    ('int8_t', 'f32', 'bool')
    """
    if isinstance(spelling, DType):
        return spelling
    if isinstance(spelling, str):
        row = BY_NAME.get(spelling) or _BY_MLIR.get(spelling) or _BY_NUMPY.get(spelling)
        if row is not None:
            return row
        if meant := meant_by(spelling):
            raise DTypeError(in_bytes(spelling, meant))
    found = _numpys(spelling)
    if found is not None and found.name in _BY_NUMPY:
        return _BY_NUMPY[found.name]
    # Codes of NumPy's own dtypes; those of other packages mean something else.
    known = found is not None and found.type.__module__ == "numpy"
    cure = _CURES.get(found.char) if known and found is not None else None
    # In NumPy's names: those that count bits (i4) mean other dtypes to whoever writes NumPy's codes.
    raise DTypeError(f"dtype {str(spelling)!r} is not supported{cure or '; use one of ' + ', '.join(_BY_NUMPY)}")


def _numpys(spelling: object) -> np.dtype[Any] | None:
    """Return what NumPy takes for a dtype, or None."""
    # Text with these is of records, which NumPy reads as Python's code: a text may be none, or nested too deep.
    if isinstance(spelling, str) and not {",", "("}.isdisjoint(spelling):
        return None
    try:
        found: np.dtype[Any] = np.dtype(spelling)  # type: ignore[call-overload]
    except (TypeError, ValueError):
        return None
    return found


def meant_by(name: str) -> str | None:
    """Return the clear spelling of a name whose digits count bytes in NumPy and bits here; None for other names.

    Examples
    --------
    >>> meant_by("i8"), meant_by("f4"), meant_by("f32")
    ('int8 or int64', 'float32', None)
    """
    found = re.fullmatch(r"([iuf])([1248])", name)
    if found is None:
        return None
    # In MLIR i1 is a bool.
    ours = BY_NAME.get(name) or _BY_MLIR.get(name)
    theirs = BY_NAME.get(f"{found[1]}{int(found[2]) * 8}")
    return " or ".join(row.numpy for row in (ours, theirs) if row is not None)


def in_bytes(name: str, meant: str) -> str:
    """Return what errors say of a name whose digits count bytes in NumPy; `meant` is what to write."""
    return f"dtype {name!r} counts bytes in NumPy, and bits here; write {meant}"


def in_numpy_code(spelling: object) -> DType:
    """Return the row of a dtype that is written in NumPy code: text means what ``numpy.dtype`` takes it for.

    A name that NumPy does not know may be one of ours: ``"f32"``, ``"bf16"``.

    Raises
    ------
    DTypeError
        If the type is not in the table, or has the other byte order, which results never have.

    Examples
    --------
    >>> in_numpy_code("i8").name, in_numpy_code("i64").name, in_numpy_code("float").name, dtype("i8").name
    ('i64', 'i64', 'f64', 'i8')
    """
    if isinstance(spelling, DType):
        return spelling
    # In NumPy f16 is a float of sixteen bytes, on machines that have such floats.
    if isinstance(spelling, str) and spelling == "f16":
        raise DTypeError(in_bytes(spelling, "float16"))
    found = _numpys(spelling)
    if found is None:
        return dtype(spelling if isinstance(spelling, str) else repr(spelling))
    if not found.isnative:
        raise DTypeError(f"dtype {str(spelling)!r} is of the other byte order; write {found.name}, and swap the result")
    return dtype(found)


@cache
def promote(*operands: DType) -> DType:
    """Return the dtype that holds every value of the operands' dtypes, as ``numpy.result_type`` does.

    bf16 promotes as in the ufuncs of ml_dtypes: it holds bools and 8-bit integers; beside others it becomes f32.
    Storage types do not promote.

    Raises
    ------
    DTypeError
        If there is a storage type beside another dtype.

    Examples
    --------
    >>> promote(dtype("i32"), dtype("u32")).name, promote(dtype("i64"), dtype("f32")).name
    ('i64', 'f64')
    """
    storage = next((row for row in operands if row.is_storage), None)
    if storage is not None:
        if any(row is not storage for row in operands):
            raise DTypeError(f"{', '.join(map(str, operands))} have no dtype in common: {storage.cure}")
        return storage
    if BF16 in operands:
        others = tuple(row for row in operands if row is not BF16)
        held = all(row.kind == "bool" or (row.is_integer and row.bits == 8) for row in others)
        return BF16 if held else promote(F32, *others)
    return _BY_NUMPY[np.result_type(*(row.numpy for row in operands)).name]


@dataclass(frozen=True, slots=True)
class Weak:
    """The type of a Python scalar, which yields to the dtypes it meets (NEP 50).

    Attributes
    ----------
    name : printed in messages and dumps.
    default : the dtype it takes where no other operand decides, and the one a kernel gets it in.
    key : its byte in a binary's key; the byte of a dtype is its index in :data:`DTYPES`.
    """

    name: str
    default: DType
    key: int

    def __str__(self) -> str:
        return self.name

    def __reduce__(self) -> Any:
        return from_key, (self.key,)


# Their bytes are far from those of dtypes. WEAK_UINT is a Python int beyond int64.
WEAK_INT, WEAK_UINT, WEAK_FLOAT = Weak("int", I64, 64), Weak("uint", U64, 65), Weak("float", F64, 66)
WEAK_COMPLEX = Weak("complex", C128, 67)
# A Python int beyond 64 bits, which only floats hold; it is a constant of the expression, so no key has its byte.
WEAK_HUGE = Weak("int", U64, 68)
_WEAK_BY_KEY = {weak.key: weak for weak in (WEAK_INT, WEAK_UINT, WEAK_FLOAT, WEAK_COMPLEX)}


def from_key(byte: int) -> DType | Weak:
    """Return the dtype or weak type that one byte of a binary's key means."""
    return _WEAK_BY_KEY[byte] if byte in _WEAK_BY_KEY else DTYPES[byte]


def kind_of(value: Any) -> DType | Weak:
    """Return the type of a NumPy value or a Python number."""
    if isinstance(value, (np.generic, np.ndarray)):
        return dtype(value.dtype)
    if isinstance(value, complex):
        return WEAK_COMPLEX
    if isinstance(value, bool):
        return BOOL
    # As an array NumPy makes u64 of these.
    return WEAK_FLOAT if isinstance(value, float) else WEAK_UINT if value >= 2**63 else WEAK_INT


def in_wider(value: int, met: DType | None = None) -> str:
    """Return what to write for an integer of Python's that does not fit the dtype beside it.

    Examples
    --------
    >>> in_wider(300, dtype("int8")), in_wider(300, dtype("uint8")), in_wider(2**70)
    ('numpy.int16(300)', 'numpy.uint16(300)', 'float(1180591620717411303424)')
    """
    # The same sign, so that the two do not make a dtype that is wider than either.
    alike = [row for row in COMPUTED if met is not None and row.kind == met.kind == "signed"]
    found = next((row for row in alike if row.min <= value <= row.max), None)
    if found is not None:
        return f"{found.in_python}({value})"
    kind = np.min_scalar_type(value)
    return f"numpy.{kind}({value})" if kind.kind in "iu" else f"float({value})"


def resolve_weak(types: tuple[DType | Weak, ...]) -> tuple[DType, ...]:
    """Replace each weak type by the dtype it takes beside the other operands (NEP 50); dtypes stay as they are.

    Examples
    --------
    >>> [[t.name for t in resolve_weak((dtype("u8"), weak))] for weak in (WEAK_INT, WEAK_FLOAT)]
    [['u8', 'u8'], ['u8', 'f64']]
    """
    strong = [t for t in types if isinstance(t, DType)]
    if not strong and WEAK_HUGE in types and WEAK_FLOAT not in types:
        # No float is near: as an i64 it is refused by its value.
        return (I64,) * len(types)
    if not strong:
        return tuple(t.default for t in types if isinstance(t, Weak))
    met = promote(*strong)
    for weak in (t for t in types if isinstance(t, Weak)):
        if met.kind == "bool" and weak is WEAK_UINT:
            raise RangeError("a Python integer beyond int64 is out of bounds for int64, which bools and integers give")
        if weak is WEAK_COMPLEX:
            # It is as wide as the floats beside it, or complex128 beside integers.
            met = promote(met, C64 if met.is_inexact else C128)
        elif met.kind == "bool" or (weak is WEAK_FLOAT and not met.is_inexact):
            met = promote(met, weak.default)
    return tuple(t if isinstance(t, DType) else met for t in types)
