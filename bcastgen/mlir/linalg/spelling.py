"""Gives the lines that compute one statement of a nest, from the table of rows.

In: a statement.  Out: a spelling with its fields filled, or an error that names the row.

    t1 = add(a, t0) : u8  ->  arith.addi {0}, {1} : i8
"""

from __future__ import annotations

from collections.abc import Mapping

from ...core.dtypes import DType
from ...core.errors import BcastgenError
from ...loops.analysis.demands import is_demanding
from ...loops.nest import Statement
from ...ops.row import Op
from .rows import Typed, piece
from .types import compute_type, signless
from .user_c import user_lines

__all__ = ["demand", "moves", "spelling"]


def moves(statement: Statement) -> bool:
    """Return whether a statement only copies values, so that it takes 16-bit floats as they are stored."""
    return statement.op.moves


def spelling(statement: Statement) -> str:
    """Return the lines that compute a statement's value.

    Raises
    ------
    BcastgenError
        If arith and math cannot express the statement.
    """
    op, operands, result = statement.op, statement.operand_dtypes, statement.dtype
    if op.definition is not None:
        made = user_lines(op.c_for(operands, result), operands, result)
        if made is not None:
            return _fill(made, operands[0], result)
        raise BcastgenError(
            f"linalg has no op for '{op.name}', which define_op made of C that is more than + - * /, comparisons and "
            "?: of one dtype; write it as an expression of other ops"
        )
    number = next((one for one in (*operands, result) if one.is_complex), None)
    # An op without a form for complex numbers may still make one of real parts.
    is_plain = number is None or op.converts or op.complex is None
    row = _lines(op, operands[0].kind) if is_plain else _complex_lines(op)
    if row is None:
        dtypes = ", ".join(map(str, operands))
        raise BcastgenError(
            f"linalg has no op for row '{op.name}' of ({dtypes}) that means the same; leave it to the kernel's C"
        )
    lines = row(operands, result) if callable(row) else row
    loop = operands[0] if number is None or is_plain else number
    return _fill(lines, loop, result if moves(statement) else result.computed_in)


def demand(statement: Statement) -> str | None:
    """Return the lines that test whether a statement is defined for its operands; None if it always is."""
    op = statement.op
    if op.mlir is None or not is_demanding(statement):
        return None
    return _fill(op.mlir.demand, statement.operand_dtypes[0], statement.dtype)


def _lines(op: Op, kind: str) -> str | Typed | None:
    """Return the lines that a row has for a kind of its first operand, or None if it has none."""
    found = None if op.mlir is None else op.mlir.lines
    if isinstance(found, Mapping):
        found = found.get(kind) or (found.get("integer") if kind in ("signed", "unsigned") else None)
    if found is None or "{" in found:
        return found
    if found.startswith("@"):
        return piece(found)
    return f"{found} {', '.join(f'{{{at}}}' for at in range(op.arity))} : {{t}}"


def _complex_lines(op: Op) -> str | None:
    """Return the lines that a row has for complex numbers, or None if it has none."""
    return None if op.complex is None else op.complex.mlir


def _fill(lines: str, loop: DType, result: DType) -> str:
    facts = {
        "t": compute_type(loop),
        "T": signless(result),
        "bits": str(loop.bits),
        "top": str(loop.bits - 1),
    }
    for name, text in facts.items():
        lines = lines.replace("{" + name + "}", text)
    return lines
