"""The table of dtypes: one row each, and the promotion lattice of NumPy 2 over them.

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

from .errors import DTypeError, RangeError
from .float16 import BFLOAT16, nearest
from .frozen import dataclass
from .ml_dtypes import numpy_dtype
from .small_floats import SMALL_FLOATS, SmallFloat

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
    "in_numpy_code",
    "meant_by",
    "promote",
    "resolve_weak",
]


@dataclass(frozen=True, slots=True)
class DType:
    """One element type.

    A storage type is one that memory holds and nothing computes in: a float of at most 8 bits, or an integer of less
    than 8. Each element has a byte of its own; its value in C is its code, a uint8_t.

    Attributes
    ----------
    name : our spelling, the one in types and signatures.
    kind : ``"bool"``, ``"signed"``, ``"unsigned"``, ``"float"`` or ``"complex"``.
    bits : width of a value, in bits; in memory it has whole bytes.
    c : the C type of a value, of a complex number a struct; memory holds a bool as a byte, and a 16-bit float as its
        bits (``emit.c_text.body.storage_type``).
    mlir : the MLIR element type.
    numpy : the name NumPy knows it by.
    small : the format of a float of at most 8 bits.
    """

    name: str
    kind: str
    bits: int
    c: str
    mlir: str
    numpy: str
    small: SmallFloat | None = None

    @property
    def bytes(self) -> int:
        """Size of one element in bytes."""
        return -(-self.bits // 8)

    @property
    def is_storage(self) -> bool:
        """True for storage types, which are converted to other dtypes and computed with in these."""
        return self.small is not None or (self.is_integer and self.bits < 8)

    @property
    def is_added(self) -> bool:
        """True for dtypes that the package ml_dtypes adds to NumPy."""
        return self.is_storage or self.numpy == BFLOAT16

    @property
    def is_integer(self) -> bool:
        """True for signed and unsigned integers, False for bool, floats and complex numbers."""
        return self.kind in ("signed", "unsigned")

    @property
    def is_float(self) -> bool:
        """True for floating-point types of real numbers."""
        return self.kind == "float"

    @property
    def is_complex(self) -> bool:
        """True for complex numbers."""
        return self.kind == "complex"

    @property
    def is_inexact(self) -> bool:
        """True for floats and complex numbers."""
        return self.kind in ("float", "complex")

    @property
    def part(self) -> DType:
        """The dtype of a complex number's real and imaginary parts; any other dtype itself."""
        return {"c64": F32, "c128": F64}.get(self.name, self)

    @property
    def is_float16(self) -> bool:
        """True for the 16-bit floats, f16 and bf16: C computes with them in f32 and rounds once per operation."""
        return self.kind == "float" and self.bits == 16

    @property
    def computed_in(self) -> DType:
        """The dtype that C computes in with values of this one, small floats after their conversion."""
        return F32 if self.is_float16 or self.small is not None else self

    @property
    def cure(self) -> str:
        """The words that send a user of a storage type to the dtype to compute in."""
        wide = "float32" if self.is_float else "int8" if self.kind == "signed" else "uint8"
        return f"{self} is a storage type, which nothing computes in; use .astype(numpy.{wide}), and convert the result"

    @property
    def min(self) -> int:
        """Smallest value of an integer or bool type."""
        return -(1 << (self.bits - 1)) if self.kind == "signed" else 0

    @property
    def max(self) -> int:
        """Largest value of an integer or bool type."""
        if self.kind == "bool":
            return 1
        return (1 << (self.bits - (self.kind == "signed"))) - 1

    def wrapped(self, value: int) -> int:
        """Return the value of this integer type that has the low bits of a number."""
        value &= (1 << self.bits) - 1
        return value - (1 << self.bits) if value > self.max else value

    @property
    def np(self) -> np.dtype[Any]:
        """The NumPy dtype, in native byte order; those of bf16 and of storage types need the package ml_dtypes."""
        return numpy_dtype(self.numpy, self.name) if self.is_added else np.dtype(self.numpy)

    @property
    def in_python(self) -> str:
        """The name that users write for it in Python."""
        return f"{'ml_dtypes' if self.is_added else 'numpy'}.{self.numpy}"

    def nearest(self, value: complex) -> Any:
        """Return the value of this float or complex type nearest to a number; an infinity beyond the largest value.

        A float takes the real part of a complex number. Small floats have their own rules for what is beyond.
        """
        if self.is_complex:
            return complex(self.part.nearest(value.real), self.part.nearest(value.imag))
        if isinstance(value, complex):
            value = value.real
        if self.is_float16:
            return nearest(value, self.name)
        if self.small is not None:
            return self.small.nearest(value)
        with np.errstate(over="ignore"):
            return float(self.np.type(value))

    def __str__(self) -> str:
        return self.name

    def __reduce__(self) -> Any:
        # Rows are compared by identity, so a pickle holds the name.
        return dtype, (self.name,)


def _integer(kind: str, bits: int) -> DType:
    unsigned = kind == "unsigned"
    c_name = f"{'u' if unsigned else ''}int{bits}"
    return DType(
        f"{'u' if unsigned else 'i'}{bits}", kind, bits, f"{c_name}_t", f"{'ui' if unsigned else 'i'}{bits}", c_name
    )


def _small_integer(kind: str, bits: int) -> DType:
    row = _integer(kind, bits)
    return DType(row.name, kind, bits, "uint8_t", row.mlir, row.numpy)


def _small_float(name: str) -> DType:
    kind = SMALL_FLOATS[name]
    bits = kind.exponent + kind.mantissa + (kind.sign != 0)
    return DType(name, "float", bits, "uint8_t", f"f{name[1:].upper()}", f"float{name[1]}_{name[2:]}", kind)


# C's bool is one byte of 0 or 1 on every ABI NumPy runs on, as numpy.bool is. Storage types come last.
DTYPES: tuple[DType, ...] = (
    DType("bool", "bool", 8, "bool", "i1", "bool"),
    *(_integer("signed", bits) for bits in (8, 16, 32, 64)),
    *(_integer("unsigned", bits) for bits in (8, 16, 32, 64)),
    DType("f16", "float", 16, "float", "f16", "float16"),
    DType("bf16", "float", 16, "float", "bf16", BFLOAT16),
    DType("f32", "float", 32, "float", "f32", "float32"),
    DType("f64", "float", 64, "double", "f64", "float64"),
    DType("c64", "complex", 64, "bcg_c64", "complex<f32>", "complex64"),
    DType("c128", "complex", 128, "bcg_c128", "complex<f64>", "complex128"),
    *map(_small_float, SMALL_FLOATS),
    *(_small_integer(kind, bits) for bits in (4, 2) for kind in ("signed", "unsigned")),
)
# Those that ops compute in.
COMPUTED = tuple(row for row in DTYPES if not row.is_storage)

_BY_NAME = {row.name: row for row in DTYPES}
_BY_MLIR = {row.mlir: row for row in DTYPES}
_BY_NUMPY = {row.numpy: row for row in DTYPES}

BOOL, I32, I64, U64 = (_BY_NAME[name] for name in ("bool", "i32", "i64", "u64"))
F16, BF16, F32, F64 = (_BY_NAME[name] for name in ("f16", "bf16", "f32", "f64"))
C64, C128 = _BY_NAME["c64"], _BY_NAME["c128"]


# What to do about arrays of other dtypes, by NumPy's codes.
_CURES = {
    "g": " (no vectors have such floats); convert it by .astype(numpy.float64)",
    "G": " (no vectors have such floats); convert it by .astype(numpy.complex128)",
    "O": " (its elements are Python objects); convert it to numbers by .astype(numpy.float64)",
    "U": " (it is text); convert it to numbers by .astype(numpy.float64)",
    "S": " (it is text); convert it to numbers by .astype(numpy.float64)",
    "T": " (it is text); convert it to numbers by .astype(numpy.float64)",
    "V": " (it has fields, or bytes without a meaning); pass its fields one by one, as in x['name']",
    "M": " (a time has an origin and a unit); compute with its numbers, .view('int64')",
    "m": " (a duration has a unit); compute with its numbers, .view('int64')",
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
        row = _BY_NAME.get(spelling) or _BY_MLIR.get(spelling) or _BY_NUMPY.get(spelling)
        if row is not None:
            return row
        if meant := meant_by(spelling):
            raise DTypeError(f"dtype {spelling!r} counts bytes in NumPy, and bits here; write {meant}")
    try:
        found = np.dtype(spelling)  # type: ignore[call-overload]
    except TypeError:
        found = None
    if found is not None and found.name in _BY_NUMPY:
        return _BY_NUMPY[found.name]
    # Codes of NumPy's own dtypes; those of other packages mean something else.
    cure = _CURES.get(found.char, "") if found is not None and found.type.__module__ == "numpy" else ""
    raise DTypeError(f"dtype {str(spelling)!r} is not supported{cure}; use one of {', '.join(_BY_NAME)}")


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
    ours = _BY_NAME.get(name) or _BY_MLIR.get(name)
    theirs = next((row for row in DTYPES[1:] if row.name == f"{found[1]}{int(found[2]) * 8}"), None)
    return " or ".join(row.numpy for row in (ours, theirs) if row is not None)


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
        raise DTypeError("dtype 'f16' counts bytes in NumPy, and bits here; write float16")
    try:
        found = np.dtype(spelling)  # type: ignore[call-overload]
    except TypeError:
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
            raise RangeError("a Python integer beyond int64 is out of bounds for i64, which bools and integers give")
        if weak is WEAK_COMPLEX:
            # It is as wide as the floats beside it, or complex128 beside integers.
            met = promote(met, C64 if met.is_inexact else C128)
        elif met.kind == "bool" or (weak is WEAK_FLOAT and not met.is_inexact):
            met = promote(met, weak.default)
    return tuple(t if isinstance(t, DType) else met for t in types)
