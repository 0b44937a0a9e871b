"""The table of the custom forms that are read: each row is an op's syntax, as steps from left to right.

In: an op's name.  Out: its :class:`~.operations.Form`, whose steps read the text behind the name into a draft.

    tosa.clamp %x min_val(-1.0 : f32) {nan_mode = IGNORE} : (T) -> T     operands, clauses, attributes, ":" function
    shape.add %a, %b : !shape.size, !shape.size -> !shape.size           operands, attributes, ":" types "->" types

TOSA's element-wise ops are written alike in all versions, so any op of that dialect is tried in their form. Ops of the
shape dialect, and of arith beside them, have the syntax that their row in :mod:`...shape.dialect.ops` gives; only rows
with the syntax "custom" have steps of their own here.
"""

from __future__ import annotations

from ...core.near_names import near_names
from ...shape.dialect.ops import ROWS
from ...shape.dialect.row import Row
from ..index_dialect import AS_ARITH
from . import steps as read
from .heads import call_head, function_body, library_body, module_body
from .operations import GENERIC, Form, Step

__all__ = ["find_form", "unread"]


def find_form(name: str) -> Form | None:
    """Return the custom form of an op, or None if it is not read.

    Examples
    --------
    >>> find_form("return").name, find_form("linalg.generic")
    ('func.return', None)
    """
    return _FORMS.get(name, _TOSA if name.startswith("tosa.") else None)


def unread(name: str) -> str:
    """Return what to do about an op whose custom form is not read: use its generic form, or another op.

    Examples
    --------
    >>> unread("shape.debug_print")
    'print the module in generic form (mlir-opt --mlir-print-op-generic)'
    >>> unread("shape.conkat"), unread("arith.addf")
    ('nor is its generic form; shape.concat is read', 'nor is its generic form; arith.addi is read')
    >>> unread("func.call_indirect")
    'nor is its generic form; call a function by its name'
    """
    if name == "func.call_indirect":
        return "nor is its generic form; call a function by its name"
    if name.partition(".")[0] not in _WHOLE or name in ROWS:
        return GENERIC
    near = near_names([name], [other for other, form in _FORMS.items() if form is not None])
    return "nor is its generic form" + "".join(f"; {other} is read" for other in near)


def _of_row(row: Row) -> Form | None:
    """Return the form that a row's `syntax` gives, or None if it has no such form."""
    steps: tuple[Step, ...]
    match row.syntax:
        case "arrow":
            steps = (read.operands, read.attributes, read.arrow_types)
        case "types":
            steps = (
                read.attributes,
                read.operands,
                read.attributes,
                read.operand_types,
                read.results_are(*_kinds(row)),
            )
        case "first":
            flags = (read.flags("overflow", "overflowFlags"),) if row.name in _OVERFLOWING else ()
            steps = (read.operands, *flags, read.attributes, read.one_type)
        case "result":
            steps = (
                read.operands,
                read.attributes,
                read.operands_are(row.parameters[0].kinds[0]),
                read.result_type,
            )
        case "bare":
            steps = (
                read.attributes,
                read.operands,
                read.attributes,
                read.operands_are(row.parameters[0].kinds[0]),
                read.results_are(*_kinds(row)),
            )
        case "generic":
            return None
        case _:
            steps = _CUSTOM[row.name]
    return Form(steps)


def _kinds(row: Row) -> list[str]:
    return [kinds[0] for kinds in row.results or ()]


_OVERFLOWING = ("arith.addi", "arith.subi", "arith.muli", "arith.shli")
_CUSTOM: dict[str, tuple[Step, ...]] = {
    "shape.assuming": (read.some_operands(1), read.operands_are("witness"), read.assuming, read.attributes),
    "shape.const_shape": (read.attributes, read.extents_value),
    "shape.const_size": (read.attributes, read.size_value, read.results_are("size")),
    "shape.const_witness": (read.attributes, read.witness_value, read.results_are("witness")),
    "shape.cstr_require": (
        read.some_operands(1),
        read.comma,
        read.string("msg"),
        read.attributes,
        read.operands_are("i1"),
        read.results_are("witness"),
    ),
    "shape.join": (read.some_operands(2), read.error_clause, read.attributes, read.arrow_types),
    "shape.reduce": (read.reduce, read.attributes),
    "arith.constant": (read.attributes, read.constant_value),
    "arith.cmpi": (read.predicate, read.operands, read.attributes, read.truths),
    "arith.select": (read.operands, read.attributes, read.select_types),
    "scf.if": (read.some_operands(1), read.operands_are("i1"), read.branches, read.attributes),
}
_INDEX: tuple[Step, ...] = (read.operands, read.attributes, read.operands_are("index"), read.results_are("index"))
_CAST: tuple[Step, ...] = (read.operands, read.attributes, read.to_type)
_MODULE: tuple[Step, ...] = (module_body,)
_FUNC: tuple[Step, ...] = (function_body,)
_RETURN: tuple[Step, ...] = (read.attributes, read.operands, read.attributes, read.operand_types)
_TOSA = Form((read.operands, read.clauses, read.tosa_attributes, read.function_type))
# The dialects whose ops are read in generic form only if they have a row, or a custom form that is read.
_WHOLE = ("shape", "affine", "arith", "index", "scf", "tensor")
_CALL: tuple[Step, ...] = (call_head, read.attributes, read.function_type)
# None marks an op whose own custom form is not read.
_FORMS: dict[str, Form | None] = {
    **dict.fromkeys(
        f"tosa.{name}" for name in "cond_if while_loop yield variable variable_read variable_write".split()
    ),
    **{row.mlir or row.name: _of_row(row) for row in ROWS.values()},
    **dict.fromkeys(AS_ARITH, Form(_INDEX)),
    "index.bool.constant": Form((read.attributes, read.truth_value, read.results_are("i1"))),
    "index.cmp": Form((read.index_comparison, read.attributes, read.operands_are("index"), read.results_are("i1"))),
    "index.constant": Form((read.attributes, read.size_value, read.results_are("index"))),
    **dict.fromkeys(("affine.apply", "affine.max", "affine.min"), Form((read.affine_map, read.attributes))),
    "arith.index_cast": Form(_CAST),
    "tensor.cast": Form(_CAST),
    "tensor.dim": Form((read.operands, read.attributes, read.tensor_dim)),
    "tensor.extract": Form((read.tensor_extract,)),
    "tensor.from_elements": Form((read.operands, read.attributes, read.tensor_elements)),
    "tensor.rank": Form((read.operands, read.attributes, read.tensor_rank)),
    "func.call": Form(_CALL),
    "call": Form(_CALL, "func.call"),
    "func.func": Form(_FUNC),
    "shape.func": Form(_FUNC),
    "shape.function_library": Form((library_body,)),
    "shape.return": Form(_RETURN),
    "func.return": Form(_RETURN),
    "return": Form(_RETURN, "func.return"),
    "builtin.module": Form(_MODULE),
    "module": Form(_MODULE, "builtin.module"),
}
