"""The scalar body of a nest as C statements, one value a line.

In: a nest and the names its operands' elements have.  Out: lines.

    t0 = multiply(b, 2.0:f32)   ->   const float t0 = b0 * 2.0f;

The C reads line by line against the nest's dump: there is no precedence logic, since each value has a name.
"""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np

from ...core.dtypes import F16, F32, DType
from ...core.float16 import bits_of
from ...expr.nodes import Constant
from ...loops.analysis.demands import demanded_values, demanding_statements
from ...loops.nest import Let, Load, Nest, Statement, Value
from ...loops.schedule.common_cases import BlockTest

__all__ = [
    "bare",
    "body_lines",
    "demand_lines",
    "demand_status",
    "literal",
    "loaded",
    "stored",
    "stored_literal",
    "test_text",
    "value_text",
]


def loaded(element: str, dtype: DType) -> str:
    """Return the C of the value of an element in memory."""
    if dtype.is_float16:
        return f"bcg_{dtype}_to_f32({element})"
    return f"{element} != 0" if dtype.kind == "bool" else element


def stored(value: str, dtype: DType) -> str:
    """Return the C of a value as it is in memory."""
    return f"bcg_f32_to_{dtype}({value})" if dtype.is_float16 else value


def stored_literal(value: Any, dtype: DType) -> str:
    """Spell a constant as it is in memory.

    Examples
    --------
    >>> from bcastgen.core.dtypes import BF16, BOOL
    >>> stored_literal(-2.0, BF16), stored_literal(True, BOOL), stored_literal(0.5, F32)
    ('0xc000 /* -2.0 */', '1', '0.5f')
    """
    if dtype.is_complex:
        return f"{{{literal(value.real, dtype.part)}, {literal(value.imag, dtype.part)}}}"
    if dtype.is_float16:
        return f"0x{bits_of(float(value), dtype.name):04x} /* {_decimal(float(value), dtype)} */"
    return str(int(value)) if dtype.kind == "bool" else literal(value, dtype)


def literal(value: Any, dtype: DType) -> str:
    """Spell a constant in C, bit for bit.

    Examples
    --------
    >>> from bcastgen.core.dtypes import F64, I64
    >>> literal(2.0, F32), literal(0.1, F64), literal(-1, I64)
    ('2.0f', '0x1.999999999999ap-4 /* 0.1 */', '(-INT64_C(1))')
    """
    if dtype.kind == "bool":
        return "true" if value else "false"
    if dtype.is_complex:
        return f"bcg_make_{dtype}({literal(value.real, dtype.part)}, {literal(value.imag, dtype.part)})"
    if dtype.is_float:
        return _float_literal(float(value), dtype)
    value = value & ((1 << dtype.bits) - 1) if dtype.is_storage else value
    if dtype.kind == "signed" and value == dtype.min and dtype.bits >= 32:
        return f"INT{dtype.bits}_MIN"
    digits = str(abs(int(value)))
    if dtype.bits == 64:
        digits = f"{'U' if dtype.kind == 'unsigned' else ''}INT64_C({digits})"
    elif dtype.kind == "unsigned":
        digits += "u"
    return f"(-{digits})" if value < 0 else digits


def _float_literal(value: float, dtype: DType) -> str:
    if dtype.small is not None:
        return f"0x{dtype.small.code_of(value):02x} /* {value!r} */"
    # NAN and INFINITY are floats.
    suffix, wide = ("f", "") if dtype.computed_in is F32 else ("", "(double)")
    if math.isnan(value):
        return f"{wide}NAN"
    if math.isinf(value):
        return f"{wide}INFINITY" if value > 0 else f"(-{wide}INFINITY)"
    short = repr(float(value))
    if len(short) <= 8 and "e" not in short and float(short).as_integer_ratio()[1] <= 1 << 10:
        text = f"{short}{suffix}"
    else:
        # Hexadecimal is exact in every compiler; the decimal beside it is for the reader.
        text = f"{value.hex()}{suffix} /* {_decimal(value, dtype)} */"
    return f"({text})" if math.copysign(1.0, value) < 0 else text


def _decimal(value: float, dtype: DType) -> str:
    """Return the shortest decimal that tells a value from its neighbours, at least among those of f32."""
    if dtype is F16:
        return str(np.float16(value))
    return str(np.float32(value)) if dtype.computed_in is F32 else repr(value)


def value_text(value: Value, loads: tuple[str, ...], dtype: DType) -> str:
    """Return what a value is called in C."""
    match value:
        case Load():
            return loads[value.access]
        case Let():
            return f"t{value.index}"
        case Constant():
            return literal(value.value, dtype)


def body_lines(
    nest: Nest,
    loads: tuple[str, ...],
    only: frozenset[int] | None = None,
    fast: bool = False,
    short: frozenset[int] = frozenset(),
) -> list[str]:
    """Return the statements of a body, or those of the given places; `fast` ones, and in their `short` forms.

    See :class:`.Op`.
    """
    lines: list[str] = []
    rounded = nest.rounded
    for at, statement in enumerate(nest.body):
        if only is not None and at not in only:
            continue
        template = statement.op.c_for(statement.operand_dtypes, statement.dtype, fast, at in short, statement.constant)
        texts = _texts(statement, loads)
        for place in _oddly_used(template, statement, texts):
            dtype, named = statement.operand_dtypes[place], f"t{at}_{place}"
            # C++ compilers would warn of a constant bool again.
            lines.append(f"{'' if dtype.kind == 'bool' else 'const '}{dtype.c} {named} = {texts[place]};")
            texts[place] = named
        # If a user's C does not compile, the compiler shows this line, and so the op's name.
        label = "" if statement.op.definition is None else f"/* {statement.op.name} */ "
        value = bare(_fill(template, texts))
        if at in rounded:
            value = f"bcg_round_{statement.dtype}({value})"
        lines.append(f"{label}const {statement.dtype.c} t{at} = {value};")
    return lines


_UNSIGNED = re.compile(r"\d+u")
_COMPARED = re.compile(r"\{(\d)\} (?:[<>]|[<>=!]=) \{(\d)\}")
_CHOSEN = re.compile(r"\? \{(\d)\} : \{(\d)\}")


def _oddly_used(template: str, statement: Statement, texts: list[str]) -> list[int]:
    """Return the operands that need a name of their own.

    Compilers warn if an integer is compared with itself or with the end of its dtype's range, and linters if both
    branches of a choice are the same. The user has asked for such code, so it has to compile without warnings.
    """
    odd: set[int] = set()
    for x, y in ((int(x), int(y)) for x, y in _COMPARED.findall(template)):
        odd |= {max(x, y)} if x != y and texts[x] == texts[y] else set()
        odd |= {place for place in (x, y) if _is_limit(statement, place)}
    odd = {place for place in odd if not statement.operand_dtypes[place].is_float}
    chosen = ((int(x), int(y)) for x, y in _CHOSEN.findall(template))
    return sorted(odd | {max(x, y) for x, y in chosen if x != y and texts[x] == texts[y]})


def _is_limit(statement: Statement, place: int) -> bool:
    value, dtype = statement.operands[place], statement.operand_dtypes[place]
    return isinstance(value, Constant) and value.value in (dtype.min, dtype.max)


def _texts(statement: Statement, loads: tuple[str, ...]) -> list[str]:
    operands = zip(statement.operands, statement.operand_dtypes, strict=True)
    return [value_text(value, loads, dtype) for value, dtype in operands]


def _fill(template: str, texts: list[str]) -> str:
    for at, text in enumerate(texts):
        # A number with a u is unsigned already.
        template = template.replace(f"(uint32_t){{{at}}}", text) if _UNSIGNED.fullmatch(text) else template
        template = template.replace(f"{{{at}}}", text)
    return template


def bare(text: str) -> str:
    """Drop parentheses around a whole expression, but for a comma operator's, which would part declarators."""
    if not text.startswith("("):
        return text
    depth = 0
    for at, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if depth == 1 and character == ",":
            return text
        if depth == 0:
            return text[1:-1] if at == len(text) - 1 else text
    return text


def demand_lines(nest: Nest, loads: tuple[str, ...]) -> tuple[list[str], str, frozenset[int]]:
    """Return what every element must satisfy before anything is written.

    Returns
    -------
    statements, condition, accesses
        The condition, empty if there is none; the statements it needs; and the places of the operands these read.
    """
    lets, needed = demanded_values(nest)
    demands = []
    for statement in map(nest.body.__getitem__, demanding_statements(nest)):
        template = statement.op.demand_for(statement.operand_dtypes)
        assert template is not None
        demands.append(bare(_fill(template, _texts(statement, loads))))
    reads = frozenset(value.access for value in needed if isinstance(value, Load))
    return body_lines(nest, loads, lets), " && ".join(dict.fromkeys(demands)), reads


def demand_status(nest: Nest) -> str:
    """Return the name of the status of an element that a nest's ops do not take."""
    return next((s.op.status for s in nest.body if s.op.demand and s.op.status != "DOMAIN"), "DOMAIN")


def test_text(nest: Nest, test: BlockTest, loads: tuple[str, ...]) -> str:
    """Return the C of the number that a block is tested for."""
    return bare(_fill(test.number, _texts(nest.body[test.statement], loads)))
