"""NumExpr's kinds of numbers, and which kinds each of its ops takes and gives.

In: a dtype, a Python number.  Out: a kind, as in ``"double"``; a table of signatures.

    kind_of(numpy.dtype("u4")) -> "long";  kind_of(numpy.dtype("f2")) -> "float"

Kinds are ordered: bool, int (32 bits), long (64 bits), float (32 bits), double, complex (128 bits). Operands of several
kinds have the last of them, so that a long beside a float is a float. Bytes are apart from numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..core.dtypes import BOOL, C128, F32, F64, I32, I64, DType

__all__ = [
    "CODES",
    "DTYPES",
    "FUNCTIONS",
    "KINDS",
    "OPCODES",
    "REDUCTIONS",
    "SIGNATURES",
    "constant_kind",
    "kind_of",
    "upcasts",
]

# NumExpr's letter of each kind; those of numbers in their order.
CODES = {
    **{"bool": "b", "int": "i", "long": "l", "float": "f", "double": "d", "complex": "c"},
    **{"bytes": "s", "str": "s", "none": "n"},
}
KINDS = tuple(CODES)[:6]
DTYPES: dict[str, DType] = dict(zip(KINDS, (BOOL, I32, I64, F32, F64, C128), strict=True))
# NumPy's type of each kind; int and float, as types of variables, are NumExpr's 32-bit kinds.
TYPES: dict[str, Any] = {
    **{"bool": bool, "int": np.int32, "long": np.int64, "float": float, "double": np.double, "complex": complex},
    **{"bytes": bytes, "str": str},
}
KIND_OF_TYPE = {type_: kind for kind, type_ in TYPES.items()}

# Each of NumExpr's instructions: the letters of its result and its operands; n is an axis.
_SIGNATURES = (
    ("copy", "bb ii ll ff dd cc ss"),
    ("invert", "bb ii ll"),
    ("and or xor", "bbb iii lll"),
    ("eq ne", "bbb bii bll bff bdd bss bcc"),
    ("gt ge", "bii bll bff bdd bss"),
    ("cast", "ib li fi fl di dl df ci cl cf cd"),
    ("ones_like neg", "ii ll ff dd cc"),
    ("add sub mul div", "iii lll fff ddd ccc"),
    ("pow mod floordiv", "iii lll fff ddd"),
    ("lshift rshift", "iii lll"),
    ("where", "ibii lbll fbff dbdd cbcc bbbb"),
    ("sqrt", "ff dd"),
    ("real imag", "dc"),
    ("complex", "cdd"),
    ("contains", "bss"),
    ("sum prod", "iin lln ffn ddn ccn"),
    ("min max", "iin lln ffn ddn"),
)
# Functions are looked for after instructions, as NumExpr does.
_FUNCTIONS = (
    ("sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh arccosh arctanh", "ff dd cc"),
    ("sqrt log log1p log10 log2 exp expm1 conjugate", "ff dd cc"),
    ("absolute round sign", "ff dd cc ii ll"),
    ("ceil floor trunc", "ff dd"),
    ("fmod arctan2 hypot nextafter copysign maximum minimum", "fff ddd"),
    ("pow", "ccc"),
    ("isnan isfinite isinf", "bf bd bc"),
    ("signbit", "bf bd"),
)
REDUCTIONS = ("sum", "prod", "min", "max")


def _names(rows: tuple[tuple[str, str], ...]) -> frozenset[str]:
    return frozenset(f"{name}_{code}" for names, codes in rows for name in names.split() for code in codes.split())


OPCODES, FUNCTIONS = _names(_SIGNATURES), _names(_FUNCTIONS)
SIGNATURES = OPCODES | FUNCTIONS

# The first that a number is of: bool is an int in Python, and NumPy's float64 a float.
_CONSTANTS: tuple[tuple[tuple[type, ...], str], ...] = (
    ((bytes, str), "bytes"),
    ((bool, np.bool_), "bool"),
    ((np.int64,), "long"),
    ((int, np.integer), "int"),
    ((np.float16, np.float32), "float"),
    ((float, np.floating), "double"),
    ((complex, np.complexfloating), "complex"),
)
_LEAST, _MOST = np.iinfo(np.int32).min, np.iinfo(np.int32).max


def kind_of(dtype: np.dtype[Any]) -> str:
    """Return the kind of a variable of a dtype.

    Raises
    ------
    ValueError
        For dtypes that NumExpr has no kind for.

    Examples
    --------
    >>> [kind_of(np.dtype(code)) for code in "?BHILefdFS"]
    ['bool', 'int', 'int', 'long', 'long', 'float', 'float', 'double', 'complex', 'bytes']
    """
    match dtype.kind:
        case "i" | "u":
            return "long" if dtype.itemsize > 4 or (dtype.kind, dtype.itemsize) == ("u", 4) else "int"
        case "f":
            return "double" if dtype.itemsize > 4 else "float"
        case "b" | "c" | "S":
            return {"b": "bool", "c": "complex", "S": "bytes"}[dtype.kind]
        case "U":
            raise ValueError(
                "NumExpr 2 does not support Unicode as a dtype: text is compared as bytes; pass x.astype('S')"
            )
    raise ValueError(f"unknown type {dtype.name}: no expression computes with it")


def constant_kind(value: Any) -> str:
    """Return the kind of a number or text in an expression; Python's integers are int where 32 bits hold them.

    Examples
    --------
    >>> [constant_kind(x) for x in (True, 1, 2**40, 1.5, np.float32(1.5), 1j, np.int64(1), b"x")]
    ['bool', 'int', 'long', 'double', 'float', 'complex', 'long', 'bytes']
    """
    for types, kind in _CONSTANTS:
        if isinstance(value, types):
            if isinstance(value, (int, np.integer)) and kind == "int":
                return "int" if _LEAST <= value <= _MOST else "long"
            return kind
    raise TypeError(f"unsupported expression type: {type(value)}")


def upcasts(codes: str) -> Iterator[str]:
    """Yield signatures that operands of these kinds can be converted to, the nearest first.

    Examples
    --------
    >>> list(upcasts("dc")), list(upcasts("cn"))
    (['dc', 'cc'], ['cn'])
    """
    if not codes:
        yield ""
        return
    ladder = "".join(CODES[kind] for kind in KINDS)
    own = ladder[ladder.index(codes[0]) :] if codes[0] in ladder else codes[0]
    for first in own:
        for rest in upcasts(codes[1:]):
            yield first + rest
