"""bcastgen/runtime/keys.py: codes of operands, ranges of weak ints."""

from __future__ import annotations

import struct
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from bcastgen.core.dtypes import DTYPES, WEAK_FLOAT, WEAK_INT, WEAK_UINT, dtype
from bcastgen.core.errors import DTypeError
from bcastgen.runtime.keys import NO_CODE, SCALAR_CODES, TYPE_CODES, check_binary, operand_code


def test_every_builtin_type_number_has_the_code_of_its_dtype() -> None:
    supported = 0
    for char in np.typecodes["All"]:
        kind = np.dtype(char)
        try:
            wanted = DTYPES.index(dtype(kind))
            supported += 1
        except DTypeError:
            wanted = NO_CODE
        assert TYPE_CODES[kind.num] == wanted, char
        assert SCALAR_CODES.get(kind.type, NO_CODE) == wanted, char
    assert supported >= sum(not row.is_added for row in DTYPES)
    assert TYPE_CODES.count(NO_CODE) == len(TYPE_CODES) - len({np.dtype(c).num for c in "?bhilqBHILQefdFD"})


@pytest.mark.parametrize(
    ("value", "code"),
    [
        (0, WEAK_INT.key),
        (-(2**63), WEAK_INT.key),
        (2**63 - 1, WEAK_INT.key),
        (2**63, WEAK_UINT.key),
        (1.0, WEAK_FLOAT.key),
        (True, 0),
        (np.float64(1), 12),
        (np.longlong(1), 4),
        (np.zeros(1, "i2"), 2),
        (np.zeros(1, ">f4"), 11),
        (np.zeros(1, "f2"), 9),
        (np.zeros(1, np.dtypes.StringDType()), NO_CODE),
        ("text", NO_CODE),
        (1j, 67),
        (np.zeros(1, np.complex64), 13),
        (np.clongdouble(1), NO_CODE),
    ],
)
def test_operand_code(value: object, code: int) -> None:
    assert operand_code(value) == code


def ranges(key: bytes, *limits: Any) -> bytes:
    kernel: Any = SimpleNamespace(operands=("a",) * len(key), _constants=(), results=("r",), _name="f")
    stored = {WEAK_INT.key: 4, WEAK_UINT.key: 8, WEAK_FLOAT.key: 12}
    codes = bytes(stored.get(byte, byte) for byte in key)
    return check_binary(kernel, key, codes, b"\x0c", limits, (1, len(key), 1), 1)


def test_ranges_are_in_the_storage_type_and_full_without_a_limit() -> None:
    low, high = -(2**63), 2**63 - 1
    assert struct.unpack("=qq", ranges(bytes((WEAK_INT.key,)), None)) == (low, high)
    assert struct.unpack("=qq", ranges(bytes((WEAK_INT.key,)), (0, 255))) == (0, 255)
    assert struct.unpack("=qq", ranges(bytes((WEAK_INT.key,)), (0, 2**64 - 1))) == (0, high)
    assert struct.unpack("=QQ", ranges(bytes((WEAK_UINT.key,)), None)) == (0, 2**64 - 1)
    assert struct.unpack("=QQ", ranges(bytes((WEAK_UINT.key,)), (-128, 127))) == (0, 127)
    assert struct.unpack("=QQ", ranges(bytes((WEAK_UINT.key,)), (-128, -1))) == (1, 0)
    assert len(ranges(bytes((3, WEAK_FLOAT.key)), None, None)) == 32
