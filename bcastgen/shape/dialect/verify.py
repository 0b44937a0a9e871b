"""Whether a shape program is well formed: one definition for each value, before its uses; every type as its row says.

In: a program, perhaps built by hand or read from text.  Out: nothing, or an error naming the op and the operand.

    %0 = shape.concat %1, %a, with %1 defined below
        -> BroadcastError("shape.concat: operand '1' is used before its definition ...")
"""

from __future__ import annotations

from collections.abc import Iterable

from ...core.errors import BroadcastError
from .ir import MAX_DEPTH, Block, Operation, PlainProgram, Value
from .ops import find_row
from .row import Parameter, Row
from .types import INDEX, SHAPE, SIZE, Type

__all__ = ["verify", "verify_operation"]


def _error(operation: Operation, text: str, value: Value | None = None) -> BroadcastError:
    at = f" (at {operation.location})" if operation.location else ""
    return BroadcastError(f"{operation.name}{at}: {text}", operand=None if value is None else value.name)


def verify(program: PlainProgram) -> None:
    """Raise unless a program is well formed.

    Raises
    ------
    BroadcastError
        Naming the op and the operand at fault.
    """
    if not program.name.isidentifier():
        raise BroadcastError(f"program name {program.name!r} is no identifier")
    _depth(program)
    defined: dict[str, Value] = {}
    every = {value: operation for operation in program.body.walk() for value in operation.results}
    _define(defined, program.operands, f"program '{program.name}'")
    for operation in program.body.operations:
        if find_row(operation.name).terminator:
            raise _error(operation, "stands outside a region; a program returns its results without an operation")
    scope = dict.fromkeys(program.operands)
    _block(program.body, scope, defined, every)
    for value in program.results:
        if value not in scope:
            raise BroadcastError(
                f"program '{program.name}' returns '{value.name}', which it does not define; return one of its values",
                operand=value.name,
            )


def _depth(program: PlainProgram) -> None:
    level, depth = [program.body], 0
    while level := [region for block in level for operation in block.operations for region in operation.regions]:
        depth += 1
        if depth > MAX_DEPTH:
            raise BroadcastError(
                f"program '{program.name}' nests regions deeper than {MAX_DEPTH} levels; join witnesses by assuming_all"
            )


def _define(defined: dict[str, Value], values: Iterable[Value], who: str) -> None:
    for value in values:
        if value.name in defined:
            raise BroadcastError(
                f"{who}: '{value.name}' is defined twice; give each value its own name", operand=value.name
            )
        defined[value.name] = value


def _block(block: Block, scope: dict[Value, None], defined: dict[str, Value], every: dict[Value, Operation]) -> None:
    """Verify a block's operations in order; `scope` has the values in sight, and gets the results of each."""
    for operation in block.operations:
        for value in operation.operands:
            _defined(operation, value, scope, defined, every)
        verify_operation(operation)
        for region in operation.regions:
            _define(defined, region.arguments, operation.name)
            _block(region, {**scope, **dict.fromkeys(region.arguments)}, defined, every)
        _define(defined, operation.results, operation.name)
        scope.update(dict.fromkeys(operation.results))


def _defined(
    operation: Operation,
    value: Value,
    scope: dict[Value, None],
    defined: dict[str, Value],
    every: dict[Value, Operation],
) -> None:
    """Refuse an operand that is not defined before its operation, and say where it is defined instead."""
    if value in scope:
        return
    if any(value in inner.results for region in operation.regions for inner in region.walk()):
        text = "is defined by its own region, a cyclic definition; an operand is defined before the op"
    elif value in operation.results:
        text = "is its own result, a cyclic definition; use a value that is defined before the op"
    elif value.name in defined and defined[value.name].type != value.type:
        text = f"has type {value.type}, but is defined with type {defined[value.name].type}"
    elif value.name in defined:
        text = "is defined inside a region that has ended; yield it to use it outside"
    elif value in every:
        cyclic = _depends(every[value], set(operation.results), every)
        text = (
            "is used before its definition" + (", a cyclic definition" if cyclic else "") + "; reorder the operations"
        )
    else:
        text = "is not defined; define it by an operation, or take it as the program's operand"
    raise _error(operation, f"operand '{value.name}' {text}", value)


def _depends(operation: Operation, values: set[Value], every: dict[Value, Operation]) -> bool:
    seen: set[Value] = set()
    todo = list(operation.operands)
    while todo:
        value = todo.pop()
        if value in values:
            return True
        if value not in seen and value in every:
            seen.add(value)
            todo.extend(every[value].operands)
    return False


def verify_operation(operation: Operation) -> None:
    """Raise unless an operation is as its row says; where its operands come from is not checked."""
    row = find_row(operation.name)
    _operands(operation, row)
    _attributes(operation, row)
    _results(operation, row)
    if len(operation.regions) != row.regions:
        raise _error(operation, f"has {len(operation.regions)} regions, expected {row.regions}")
    fault = row.fault(operation) if row.fault is not None else None
    if fault is not None:
        raise _error(operation, fault)
    for block in operation.regions:
        _region(operation, block, row.yields)


def _operands(operation: Operation, row: Row) -> None:
    count = len(operation.operands)
    variadic = row.parameters[-1] if row.parameters and row.parameters[-1].variadic else None
    least = len(row.parameters) if variadic is None else len(row.parameters) - 1 + variadic.least
    if count < least or (variadic is None and count > least):
        names = ", ".join(parameter.name + "..." * parameter.variadic for parameter in row.parameters) or "none"
        more = " or more" if variadic is not None else ""
        raise _error(operation, f"has {count} operands, expected {least}{more}: {names}")
    for position, value in enumerate(operation.operands):
        kinds = row.parameter(position).kinds
        if kinds and value.type.kind not in kinds:
            raise _wrong_type(operation, row.parameter(position), value)


def _wrong_type(operation: Operation, parameter: Parameter, value: Value) -> BroadcastError:
    wanted = " or ".join("an extent tensor" if kind == "extents" else str(_named(kind)) for kind in parameter.kinds)
    return _error(
        operation, f"operand '{value.name}' ({parameter.name}) has type {value.type}, expected {wanted}", value
    )


def _named(kind: str) -> str:
    return "a tensor" if kind == "tensor" else str(Type(kind))  # type: ignore[arg-type]


def _attributes(operation: Operation, row: Row) -> None:
    """Refuse attributes that the row does not have, of wrong types or values, and those that are missing."""
    settings = {setting.name: setting for setting in row.settings}
    given = dict(operation.attributes)
    if len(given) != len(operation.attributes):
        raise _error(operation, "has an attribute twice; leave one of them out")
    for name, value in given.items():
        setting = settings.get(name)
        if setting is None:
            known = ", ".join(settings) or "no attributes"
            raise _error(operation, f"attribute '{name}' is unknown; {operation.name} has {known}")
        # A bool is an int in Python: it passes for a number only where the row's own check tells them apart.
        wrong = not isinstance(value, setting.type) or (
            isinstance(value, bool) and setting.type is int and operation.name != "arith.constant"
        )
        if setting.type is tuple and not wrong:
            wrong = any(type(extent) is not int for extent in value)  # type: ignore[union-attr]
        if wrong or (setting.choices and value not in setting.choices):
            wanted = ", ".join(setting.choices) or {tuple: "a tuple of integers"}.get(
                setting.type, setting.type.__name__
            )
            raise _error(operation, f"attribute '{name}' is {value!r}, expected {wanted}")
    missing = next((name for name, setting in settings.items() if setting.required and name not in given), None)
    if missing is not None:
        raise _error(operation, f"attribute '{missing}' is missing; it has to be given")


def _results(operation: Operation, row: Row) -> None:
    if row.results is None:
        return
    if len(operation.results) != len(row.results):
        raise _error(operation, f"has {len(operation.results)} results, expected {len(row.results)}")
    fallible = next((value for value in operation.operands if value.type.can_fail), None)
    # An op whose result can never be invalid ends the run for an invalid operand, or is a predicate or a witness.
    for value, kinds in zip(operation.results, row.results, strict=True):
        if value.type.kind not in kinds:
            wanted = " or ".join(_named(kind) if kind != "extents" else "an extent tensor" for kind in kinds)
            raise _error(operation, f"result '{value.name}' has type {value.type}, expected {wanted}", value)
        if fallible is not None and not value.type.can_fail and any(Type(kind).can_fail for kind in kinds):
            raise _error(
                operation,
                f"result '{value.name}' has type {value.type}, but operand '{fallible.name}' of type {fallible.type} "
                f"may be invalid, which has to show in the result; make it {SIZE if value.type == INDEX else SHAPE}",
                fallible,
            )


def _region(operation: Operation, block: Block, name: str) -> None:
    reduces = operation.name == "shape.reduce"
    state = operation.operands[1:] if reduces else ()
    wanted = tuple(value.type for value in (state if reduces else operation.results))
    if reduces:
        dim = SIZE if operation.operands[0].type.kind == "shape" else INDEX
        _types(operation, "its region takes", block.arguments, (INDEX, dim, *wanted))
        _types(operation, "it returns", operation.results, wanted)
    else:
        _types(operation, "its region takes", block.arguments, ())
    end = block.terminator
    if end is None or end.name != name:
        raise _error(operation, f"its region ends in {end.name if end else 'nothing'}, expected {name}")
    early = next((inner.name for inner in block.operations[:-1] if find_row(inner.name).terminator), None)
    if early is not None:
        raise _error(operation, f"its region has {early} before its end; only the last operation yields")
    _types(operation, f"its region's {name} yields", end.operands, wanted)


def _types(operation: Operation, what: str, values: tuple[Value, ...], wanted: tuple[Type, ...]) -> None:
    given = tuple(value.type for value in values)
    if given == wanted:
        return
    at = next((value for value, type_ in zip(values, wanted, strict=False) if value.type != type_), None)
    shown = f"{', '.join(map(str, given)) or 'nothing'}, expected {', '.join(map(str, wanted)) or 'nothing'}"
    name = f" (operand '{at.name}')" if at is not None else ""
    raise _error(operation, f"{what} {shown}{name}", at)
