"""Gives the C of one operation of a shape program: types, constants, and the function it calls.

In: an operation.  Out: text, and facts needed for the lines around it.

    %0 = shape.add %a, %b : !shape.size, !shape.size -> !shape.size  ->  bcg_size_add

The op's row names the function; sizes and indices, which share rows with shapes, have functions of their own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...core.errors import BroadcastError
from ...shape.dialect.ir import Operation, PlainProgram
from ...shape.dialect.ops import find_row
from ...shape.dialect.row import Failed
from ...shape.dialect.values import LatticeValue, Shape, Size, Witness

if TYPE_CHECKING:
    from ...shape.dialect.types import Type

__all__ = [
    "PASSED",
    "c_type",
    "check_values",
    "constant",
    "function",
    "literal",
    "messages",
    "parameters",
    "refuses",
    "takes_sizes",
]

_OF_VALUES = ("shape.value_of", "shape.value_as_shape")
_C_TYPES = {
    "shape": "bcg_shape",
    "value_shape": "bcg_shape",
    "extents": "bcg_shape",
    "tensor": "bcg_shape",
    "size": "int64_t",
    "index": "int64_t",
    "witness": "int32_t",
    "i1": "int32_t",
}

# Ops whose result is their operand, in the form that operands of shape ops have anyway.
PASSED = {
    "shape.shape_of",
    "shape.from_extent_tensor",
    "shape.to_extent_tensor",
    "shape.size_to_index",
    "shape.index_to_size",
    "shape.debug_print",
    "shape.value_as_shape",
}


def c_type(type_: Type) -> str:
    """Return the C type of a value.

    Raises
    ------
    BroadcastError
        If it has none.
    """
    if type_.kind not in _C_TYPES:
        raise BroadcastError(f"a value of type {type_} has no form in C; fold the program, or leave it out")
    return _C_TYPES[type_.kind]


def parameters(program: PlainProgram, operands: tuple[str, ...], results: tuple[str, ...]) -> tuple[str, ...]:
    """Return the parameters of a program's C function, without `why`."""
    taken = [_parameter(value.type, name) for value, name in zip(program.operands, operands, strict=True)]
    return (*taken, *(f"{c_type(value.type)} *{name}" for value, name in zip(program.results, results, strict=True)))


def _parameter(type_: Type, name: str) -> str:
    # After the first lines, only the shape of a kernel's operand is used.
    c = "bcg_array" if type_.kind == "tensor" else c_type(type_)
    return f"const {c} *{name}" if c in ("bcg_array", "bcg_shape") else f"{c} {name}"


def messages(program: PlainProgram) -> tuple[str, ...]:
    """Return the messages of a program's operations by their numbers in C; number 0 is no message."""
    given = (operation.attribute(name, "") for operation in program.body.walk() for name in ("error", "msg"))
    return tuple(dict.fromkeys(("", *given)))


def _are_numbers(operation: Operation) -> bool:
    return all(value.type.kind in ("size", "index") for value in operation.operands)


def check_values(program: PlainProgram) -> None:
    """Refuse a program that computes with the value of a value_shape, of which C has the shape alone.

    Raises
    ------
    BroadcastError
        Naming the op and the operand.
    """
    for operation in program.body.walk():
        if operation.name in _OF_VALUES and operation.operands[0].type.kind == "value_shape":
            name = operation.operands[0].name
            raise BroadcastError(
                f"{operation.name}: operand '{name}' is a value, of which C has the shape alone; let the program take "
                "the integers as a tensor<?xindex>",
                operand=name,
            )


def function(operation: Operation) -> str:
    """Return the name of the C function: the row's, or the one for sizes or indices if it takes and gives these."""
    name = find_row(operation.name).c
    if operation.name == "shape.split_at" and operation.operands[1].type.kind == "size":
        return f"{name}_size"
    if operation.name == "arith.cmpi":
        return f"{name}_{operation.attribute('predicate')}"
    if operation.results[0].type.kind in ("size", "index") and _are_numbers(operation):
        return name.replace("bcg_shape_", f"bcg_{operation.results[0].type.kind}_")
    return name


def takes_sizes(operation: Operation) -> bool:
    """Return whether an index among the operands is taken as a size: it is one unless it is negative."""
    if operation.name == "shape.split_at" or operation.name.startswith("arith."):
        return False
    return not (operation.results[0].type.kind == "index" and _are_numbers(operation))


def refuses(operation: Operation) -> bool:
    """Return whether the C of an operation may return a status, or has another visible effect."""
    if find_row(operation.name).region or operation.name == "shape.debug_print":
        return True
    kinds = {value.type.kind for value in operation.results}
    if not operation.operands or not kinds & {"index", "i1", "extents"}:
        return False
    operands = [value.type for value in operation.operands]
    if any(type_.can_fail for type_ in operands):
        return True
    return not find_row(operation.name).is_certain(operation, [type_.unknown() for type_ in operands])


def constant(operation: Operation) -> str:
    """Return the C of the value of an operation without operands."""
    value = find_row(operation.name).apply(operation, ())[0]
    if isinstance(value, Failed):
        raise AssertionError(operation)
    return literal(value)


def literal(value: LatticeValue) -> str:
    """Return the C of a value, as an initializer."""
    match value:
        case Shape(unranked=True):
            return "{BCG_UNKNOWN, {0}}"
        case Shape(extents=extents) | (*extents,):
            shown = ("BCG_UNKNOWN" if extent is None else str(extent) for extent in extents)
            return f"{{{len(extents)}, {{{', '.join(shown) or '0'}}}}}"
        case Size(value=int() as number) | (int() as number):
            return "INT64_MIN" if number == -(2**63) else str(int(number))
        case Witness(passing=passing):
            return "1" if passing else "BCG_INVALID(0)"
    raise AssertionError(value)
