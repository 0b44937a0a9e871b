"""Shape programs as MLIR text, which mlir-opt-22 takes wherever it has the ops and types.

In: programs, operations.  Out: text.

    Program("twice", ...) -> func.func @twice(%a: !shape.shape) -> !shape.shape {
                               %0 = shape.concat %a, %a : !shape.shape, !shape.shape -> !shape.shape
                               return %0 : !shape.shape
                             }

A row's `syntax` says how its op is written. After ``op operands {attributes}`` come all operand types ("types"), these
and the result types ("arrow"), the first result's type ("first", where operands have the same type, and "result"), or
nothing ("bare"). "generic" is MLIR's generic form, "value" the form of constants, and "custom" a form of this module.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from .ir import Attribute, Block, Operation, PlainProgram, Value, print_operations_by
from .ops import find_row
from .types import extents_type

__all__ = ["print_operation", "print_program"]

_INDENT = "  "
_FOREIGN = re.compile(r"[^\w$.-]", re.ASCII)


def print_program(program: PlainProgram) -> str:
    """Return the program as a function."""
    operands = ", ".join(f"{_name(value)}: {value.type}" for value in program.operands)
    types = _types(program.results)
    results = f" -> {types if len(program.results) == 1 else f'({types})'}" if program.results else ""
    lines = [f"func.func @{_spelled(program.name)}({operands}){results} {{"]
    lines += _indented(line for operation in program.body.operations for line in _lines(operation))
    returned = f" {_names(program.results)} : {types}" if program.results else ""
    return "\n".join([*lines, f"{_INDENT}return{returned}", "}"])


def print_operation(operation: Operation) -> str:
    """Return one operation, with its regions."""
    return "\n".join(_lines(operation))


def _indented(lines: object) -> list[str]:
    return [_INDENT + line for line in lines]  # type: ignore[attr-defined]


def _spelled(name: str) -> str:
    """Return a name in MLIR's characters, which are ASCII; Python's identifiers have others."""
    return _FOREIGN.sub(lambda match: f"$u{ord(match[0]):x}", name)


def _name(value: Value) -> str:
    return f"%{_spelled(value.name)}"


def _names(values: Sequence[Value]) -> str:
    return ", ".join(map(_name, values))


def _types(values: Sequence[Value]) -> str:
    return ", ".join(str(value.type) for value in values)


def _text(value: Attribute) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        # MLIR's escape of a byte is two hex digits.
        inner = "".join(char if char.isprintable() and char not in '"\\' else _escaped(char) for char in value)
        return f'"{inner}"'
    return json.dumps(value) if isinstance(value, int) else f"[{', '.join(map(str, value))}]"


def _escaped(char: str) -> str:
    # A byte that is no UTF-8 is read as one of these.
    errors = "surrogateescape" if "\udc80" <= char <= "\udcff" else "surrogatepass"
    return "".join(f"\\{byte:02X}" for byte in char.encode("utf-8", errors))


def _dict(attributes: Sequence[tuple[str, Attribute]]) -> str:
    return " {" + ", ".join(f"{name} = {_text(value)}" for name, value in attributes) + "}" if attributes else ""


def _lines(operation: Operation) -> list[str]:
    """Return the lines of an operation, in the syntax that its row names."""
    row = find_row(operation.name)
    results = f"{_names(operation.results)} = " if operation.results else ""
    name = results + (row.name if row.mlir is None else row.mlir)
    operands, types = _names(operation.operands), _types(operation.operands)
    start = f"{name} {operands}".rstrip() + _dict(operation.attributes)
    match row.syntax:
        case "types" if not operation.operands and not row.terminator:
            line = _generic(operation)
        case "types":
            line = f"{start} : {types}" if operation.operands else start
        case "arrow":
            line = f"{start} : {types} -> {_types(operation.results)}"
        case "first" | "result":
            line = f"{start} : {operation.results[0].type}"
        case "bare":
            line = start
        case "generic":
            line = _generic(operation)
        case "value":
            return _constant(operation, name)
        case "custom":
            return _custom(operation, name)
        case _:
            raise AssertionError(row.syntax)
    return [line]


def _generic(operation: Operation) -> str:
    results = f"{_names(operation.results)} = " if operation.results else ""
    types = _types(operation.results)
    returned = types if len(operation.results) == 1 else f"({types})"
    name = find_row(operation.name).mlir or operation.name
    signature = f"({_types(operation.operands)}) -> {returned}"
    return f'{results}"{name}"({_names(operation.operands)}){_dict(operation.attributes)} : {signature}'


def _constant(operation: Operation, name: str) -> list[str]:
    value = _text(operation.attributes[0][1])
    result, type_ = _name(operation.results[0]), operation.results[0].type
    # MLIR prints no type for constant sizes, witnesses and predicates.
    if type_.kind in ("size", "witness", "i1"):
        return [f"{name} {value}"]
    if type_.kind != "extents" or type_.length is not None:
        return [f"{name} {value} : {type_}"]
    # MLIR's constants need a type with their number of extents; no other value has a name that begins with "static.".
    static = extents_type(len(operation.attributes[0][1]))  # type: ignore[arg-type]
    return [
        f"%static.{result[1:]} = {operation.name} {value} : {static}",
        f"{result} = tensor.cast %static.{result[1:]} : {static} to {type_}",
    ]


def _custom(operation: Operation, name: str) -> list[str]:
    """Return the lines of an operation whose syntax is its own."""
    operands = _names(operation.operands)
    match operation.name:
        case "shape.join":
            error = operation.attribute("error")
            text = f", error = {_text(error)}" if error is not None else ""
            return [f"{name} {operands}{text} : {_types(operation.operands)} -> {_types(operation.results)}"]
        case "shape.cstr_require":
            return [f"{name} {operands}, {_text(operation.attribute('msg'))}"]
        case "arith.cmpi":
            return [f"{name} {operation.attribute('predicate')}, {operands} : {operation.operands[0].type}"]
        case "arith.select":
            return [f"{name} {operands} : {operation.operands[1].type}"]
        case "shape.assuming" | "scf.if":
            types = f" -> ({_types(operation.results)})" if operation.results else ""
            first, *others = map(_region, operation.regions)
            lines = [f"{name} {operands}{types} {{", *first]
            for other in others:
                lines += ["} else {", *other]
            return [*lines, "}"]
        case "shape.reduce":
            types = f" -> ({_types(operation.results)})"
            start = f"{name}({operands}) : {operation.operands[0].type}{types} {{"
            return [start, *_region(operation.regions[0]), "}"]
    raise AssertionError(operation.name)


def _region(block: Block) -> list[str]:
    lines = [line for operation in block.operations for line in _lines(operation)]
    if not block.arguments:
        return _indented(lines)
    arguments = ", ".join(f"{_name(value)}: {value.type}" for value in block.arguments)
    return [f"^bb0({arguments}):", *_indented(lines)]


print_operations_by(print_operation)
