"""Collects the lines of a block of MLIR: it gives unused names, and writes each constant and each operation once.

In: operations as text.  Out: the names of their values, and lines.

    block.op("sum", "arith.addi %a, %b : index") -> "%sum"; again -> "%sum", and no second line
    block.constant(2.0, "f32")                   -> "%c2.0_f32"
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ...core.dtypes import DTYPES
from ...core.float16 import bits_of

if TYPE_CHECKING:
    import numpy as np

__all__ = ["TextBlock", "dense", "number", "quoted", "symbol"]

# A constant of more elements is written as the bytes of its elements.
_MAX_SHOWN_ELEMENTS = 64

_SMALL = {row.mlir: row.small for row in DTYPES if row.is_small_float}
_FLOAT_BITS = {"f32": ("<f", 4), "f64": ("<d", 8), "f16": ("<e", 2)}


def quoted(text: str) -> str:
    r"""Return a text as a string literal of MLIR.

    Examples
    --------
    >>> print(quoted('a "b"'))
    "a \22b\22"
    """
    plain = (chr(byte) if 32 <= byte < 127 and byte not in b'"\\' else f"\\{byte:02X}" for byte in text.encode())
    return f'"{"".join(plain)}"'


def symbol(name: str) -> str:
    """Return the name of a function in MLIR, quoted only if necessary.

    Examples
    --------
    >>> symbol("axpb"), symbol("2 x")
    ('@axpb', '@"2 x"')
    """
    return f"@{name}" if re.fullmatch(r"[A-Za-z_][\w$.]*", name, re.ASCII) else f"@{quoted(name)}"


def number(value: complex, type_: str) -> str:
    """Spell a constant of a type, bit for bit.

    Examples
    --------
    >>> number(True, "i1"), number(-1, "i8"), number(0.1, "f64"), number(1e20, "f32"), number(float("inf"), "f32")
    ('true', '-1', '0.1', '1.0e+20', '0x7F800000')
    """
    if type_.startswith("complex"):
        return f"({number(value.real, type_[8:-1])}, {number(value.imag, type_[8:-1])})"
    if type_ == "i1":
        return "true" if value else "false"
    small = _SMALL.get(type_)
    if type_ not in _FLOAT_BITS and type_ != "bf16" and small is None:
        return str(int(value.real))
    value = float(value.real)
    if math.isfinite(value):
        # MLIR wants a point before the exponent.
        return re.sub(r"^(-?\d+)e", r"\1.0e", repr(value))
    if type_ not in _FLOAT_BITS:
        return f"0x{bits_of(value, type_):04X}" if small is None else f"0x{small.code_of(value):02X}"
    code, size = _FLOAT_BITS[type_]
    bits = struct.unpack(f"<{'BHIQ'[size.bit_length() - 1]}", struct.pack(code, value))[0]
    return f"0x{bits:0{2 * size}X}"


def dense(values: np.ndarray[Any, Any], element: str) -> str:
    """Spell the values of a constant tensor, bit for bit.

    Examples
    --------
    >>> import numpy as np
    >>> dense(np.array([[1, 2]], np.int8), "i8"), dense(np.float32(0.5), "f32")
    ('dense<[[1, 2]]>', 'dense<0.5>')
    """
    if values.size > _MAX_SHOWN_ELEMENTS and element != "i1":
        return f'dense<"0x{values.tobytes().hex().upper()}">'
    return f"dense<{_nested(values.tolist(), element) if values.size else ''}>"


def _nested(values: Any, element: str) -> str:
    if not isinstance(values, list):
        return number(values, element)
    return f"[{', '.join(_nested(value, element) for value in values)}]"


class TextBlock:
    """The lines of a block.

    Parameters
    ----------
    indent : number of blanks before each line.
    around : the enclosing block, whose values are visible here and whose names are taken.
    """

    def __init__(self, indent: int, around: TextBlock | None = None) -> None:
        self.lines: list[str] = []
        self._indent = indent
        self._names: set[str] = set(around._names) if around else set()
        self._made: dict[str, str] = dict(around._made) if around else {}

    def name(self, wanted: str) -> str:
        """Return an unused name for a value."""
        stem = re.sub(r"[^A-Za-z0-9_$.-]", "_", wanted)
        stem = stem if re.match(r"[A-Za-z_$.-]", stem) else f"v{stem}"
        found, count = stem, 0
        while found in self._names:
            count += 1
            found = f"{stem}_{count}"
        self._names.add(found)
        return f"%{found}"

    def line(self, text: str) -> None:
        """Add a line."""
        self.lines.append(" " * self._indent + text)

    def once(self, text: str) -> None:
        """Add a line unless the block has it already."""
        if text not in self._made:
            self._made[text] = ""
            self.line(text)

    def op(self, wanted: str, text: str) -> str:
        """Add an operation without side effects, unless the block has it already; return its value."""
        if text not in self._made:
            self._made[text] = self.name(wanted)
            self.line(f"{self._made[text]} = {text}")
        return self._made[text]

    def constant(self, value: complex, type_: str) -> str:
        """Return a constant, which is defined before its first use."""
        if type_.startswith("complex"):
            parts = [number(part, type_[8:-1]) for part in (complex(value).real, complex(value).imag)]
            shown = ", ".join(f"{part} : {type_[8:-1]}" for part in parts)
            return self.op(f"c{'_'.join(parts).replace('+', '')}", f"complex.constant [{shown}] : {type_}")
        text = number(value, type_)
        wanted = text.replace("+", "") if type_ in ("index", "i1") else f"{text.replace('+', '')}_{type_}"
        return self.op(wanted if type_ == "i1" else f"c{wanted}", f"arith.constant {_typed(text, type_)}")

    def inside(self) -> TextBlock:
        """Return a block inside this one."""
        return TextBlock(self._indent + 2, self)

    def extend(self, lines: Iterable[str]) -> None:
        """Add lines that are indented already."""
        self.lines.extend(lines)


def _typed(text: str, type_: str) -> str:
    return text if type_ == "i1" else f"{text} : {type_}"
