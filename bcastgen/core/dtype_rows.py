"""The table of dtypes: one row each.

In: nothing.  Out: :data:`DTYPES`.

    F32.c -> "float"        BOOL.mlir -> "i1"        F32.bytes -> 4

The module ``float16`` has what 16-bit floats need beside their row, ``small_floats`` the formats of smaller ones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .frozen import dataclass

if TYPE_CHECKING:
    from .small_floats import SmallFloat

__all__ = [
    "BF16",
    "BOOL",
    "BY_NAME",
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
    "DType",
    "row_of",
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
    c : the C type of a value, of a complex number a struct.
    mlir : the MLIR element type.
    numpy : the name NumPy knows it by.
    """

    name: str
    kind: str
    bits: int
    c: str
    mlir: str
    numpy: str

    @property
    def bytes(self) -> int:
        """Size of one element in bytes."""
        return -(-self.bits // 8)

    @property
    def c_in_memory(self) -> str:
        """The C type of an element in memory.

        A bool is a byte, since foreign memory may hold more than 0 and 1; a 16-bit float is its bits.
        """
        if self.kind == "bool":
            return "uint8_t"
        return "uint16_t" if self.is_float16 else self.c

    @property
    def is_storage(self) -> bool:
        """True for storage types, which are converted to other dtypes and computed with in these."""
        return self.is_small_float or (self.is_integer and self.bits < 8)

    @property
    def is_added(self) -> bool:
        """True for dtypes that the package ml_dtypes adds to NumPy."""
        return self.is_storage or self.name == "bf16"

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
    def digits(self) -> int:
        """Binary digits of the significand of a float of 16 bits or more, which represents all integers of so many."""
        return {"bf16": 8, "f16": 11, "f32": 24, "f64": 53}[self.name]

    @property
    def part(self) -> DType:
        """The dtype of a complex number's real and imaginary parts; any other dtype itself."""
        return {"c64": F32, "c128": F64}.get(self.name, self)

    @property
    def is_float16(self) -> bool:
        """True for the 16-bit floats, f16 and bf16: C computes with them in f32 and rounds once per operation."""
        return self.kind == "float" and self.bits == 16

    @property
    def is_small_float(self) -> bool:
        """True for floats of at most 8 bits."""
        return self.kind == "float" and self.bits <= 8

    @property
    def small(self) -> SmallFloat | None:
        """The format of a float of at most 8 bits; None of any other dtype."""
        if not self.is_small_float:
            return None
        from .small_floats import format_of  # noqa: PLC0415 - most processes meet no such float

        return format_of(self.name)

    @property
    def computed_in(self) -> DType:
        """The dtype that C computes in with values of this one, small floats after their conversion."""
        return F32 if self.is_float16 or self.is_small_float else self

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
        if not self.is_added:
            return np.dtype(self.numpy)
        from .ml_dtypes import numpy_dtype  # noqa: PLC0415 - most processes have no array of such a dtype

        return numpy_dtype(self.numpy, self.name)

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
            from .float16 import nearest  # noqa: PLC0415 - most kernels have no constant of 16 bits

            return nearest(value, self.name)
        if self.small is not None:
            return self.small.nearest(value)
        with np.errstate(over="ignore"):
            return float(self.np.type(value))

    def __str__(self) -> str:
        return self.name

    def __reduce__(self) -> Any:
        # Rows are compared by identity, so a pickle holds the name.
        return row_of, (self.name,)


def _integer(kind: str, bits: int) -> DType:
    unsigned = kind == "unsigned"
    name, mlir, numpy = (f"{letters}{bits}" for letters in (("u", "ui", "uint") if unsigned else ("i", "i", "int")))
    return DType(name, kind, bits, "uint8_t" if bits < 8 else f"{numpy}_t", mlir, numpy)


def _small_float(name: str) -> DType:
    return DType(name, "float", int(name[1]), "uint8_t", f"f{name[1:].upper()}", f"float{name[1]}_{name[2:]}")


# Their names tell their formats.
_SMALL_FLOATS = (
    *("f8e4m3fn", "f8e4m3fnuz", "f8e5m2", "f8e5m2fnuz", "f8e8m0fnu", "f8e4m3", "f8e4m3b11fnuz", "f8e3m4"),
    *("f6e2m3fn", "f6e3m2fn", "f4e2m1fn"),
)
# C's bool is one byte of 0 or 1 on every ABI NumPy runs on, as numpy.bool is. Storage types come last.
DTYPES: tuple[DType, ...] = (
    DType("bool", "bool", 8, "bool", "i1", "bool"),
    *(_integer("signed", bits) for bits in (8, 16, 32, 64)),
    *(_integer("unsigned", bits) for bits in (8, 16, 32, 64)),
    DType("f16", "float", 16, "float", "f16", "float16"),
    DType("bf16", "float", 16, "float", "bf16", "bfloat16"),
    DType("f32", "float", 32, "float", "f32", "float32"),
    DType("f64", "float", 64, "double", "f64", "float64"),
    DType("c64", "complex", 64, "bcg_c64", "complex<f32>", "complex64"),
    DType("c128", "complex", 128, "bcg_c128", "complex<f64>", "complex128"),
    *map(_small_float, _SMALL_FLOATS),
    *(_integer(kind, bits) for bits in (4, 2) for kind in ("signed", "unsigned")),
)
# Those that ops compute in.
COMPUTED = tuple(row for row in DTYPES if not row.is_storage)

BY_NAME = {row.name: row for row in DTYPES}


def row_of(name: str) -> DType:
    """Return the row of our name."""
    return BY_NAME[name]


BOOL, I32, I64, U64 = (BY_NAME[name] for name in ("bool", "i32", "i64", "u64"))
F16, BF16, F32, F64 = (BY_NAME[name] for name in ("f16", "bf16", "f32", "f64"))
C64, C128 = BY_NAME["c64"], BY_NAME["c128"]
