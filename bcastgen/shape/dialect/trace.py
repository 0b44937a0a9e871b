"""Building programs: a Python function runs once on symbolic values, and the ops it calls become operations.

In: a function over :class:`Value`, the types of its operands.  Out: a verified :class:`Program`.

    program("outer", lambda a, b: op("concat")(a, b), a="!shape.shape", b="!shape.shape")

Python numbers become constants: an int becomes an ``index`` beside operands that cannot be invalid, else a size; a
tuple becomes an extent tensor or a shape by the same rule. A function given for a region is traced in its place.
"""

from __future__ import annotations

import operator
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from inspect import signature
from threading import local
from typing import TYPE_CHECKING, Any

from ...core.errors import BroadcastError, TraceError
from .ir import MAX_DEPTH, Attribute, Block, Operation, Value
from .ops import find_row
from .program import Program
from .row import Parameter, Row
from .types import INDEX, SIZE, Type, extents_type, parse_type
from .verify import verify_operation

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["op", "program"]


@dataclass(slots=True)
class _Builder:
    """One program under construction: its values by identity, its blocks, innermost last."""

    values: dict[int, Value]
    names: set[str]
    blocks: list[list[Operation]] = field(default_factory=lambda: [[]])
    count: int = 0

    def value(self, type_: Type, name: str | None = None) -> Value:
        """Return a value with a name of its own."""
        while name is None or name in self.names:
            name, self.count = str(self.count), self.count + 1
        self.names.add(name)
        made = Value(name, type_)
        self.values[id(made)] = made
        return made

    def owned(self, value: Value, what: str) -> Value:
        """Return a value of this program, or raise: values of other programs have the same names and would pass."""
        if id(value) not in self.values:
            raise TraceError(f"{what} is '{value.name}', a value of another program; pass one of this program")
        return value

    def add(self, operation: Operation) -> None:
        """Append an operation to the innermost block."""
        verify_operation(operation)
        self.blocks[-1].append(operation)


class _Active(local):
    builder: _Builder | None = None


_active = _Active()


@contextmanager
def _building(builder: _Builder) -> Iterator[None]:
    before, _active.builder = _active.builder, builder
    try:
        yield
    finally:
        _active.builder = before


def program(name: str, function: Callable[..., Any], /, **operands: str | Type) -> Program:
    """Return the program that a function describes.

    Parameters
    ----------
    name : the program's, an identifier.
    function : takes one value for each operand, by name, and returns a value or a tuple of values; Python numbers pass
        for constants.
    operands : name and type of each: ``"!shape.shape"``, ``"!shape.size"``, ``"index"``, ``"tensor<?xindex>"``,
        ``"f32[?, 3]"``, ...

    Raises
    ------
    TraceError
        If the function returns or passes something that is no value.
    BroadcastError
        If an op is given operands or attributes that it does not take.

    Examples
    --------
    >>> outer = program("outer", lambda a, b: op("concat")(a, b), a="!shape.shape", b="!shape.shape")
    >>> str(outer.run((2, 3), (4,))), str(outer.evaluate(None, (4,)))
    ('[2, 3, 4]', '[*]')
    """
    if not isinstance(name, str) or not callable(function):
        raise TraceError(f"program {name!r} of {function!r}: give it a name, then the function that describes it")
    _check_parameters(name, function, operands)
    types = {key: _type(key, type_) for key, type_ in operands.items()}
    arguments = tuple(Value(key, type_) for key, type_ in types.items())
    builder = _Builder({id(value): value for value in arguments}, set(types))
    with _building(builder):
        returned = function(**{value.name: value for value in arguments})
        results = tuple(_value(builder, value, (), "the program's result") for value in _sequence(returned))
    return Program(name, Block(arguments, tuple(builder.blocks[0])), results).verify()


def _check_parameters(name: str, function: Callable[..., Any], operands: Mapping[str, object]) -> None:
    """Refuse a function whose parameters are not the operands."""
    try:
        parameters = signature(function)
    except (TypeError, ValueError):  # what is written in C may not tell
        return
    try:
        parameters.bind(**operands)
    except TypeError as error:
        raise TraceError(
            f"program {name!r} has the operands {', '.join(operands) or 'none'}, which its function does not take "
            f"({error}); name its parameters so"
        ) from None


def _type(name: str, given: str | Type) -> Type:
    if isinstance(given, (str, Type)):
        return parse_type(given) if isinstance(given, str) else given
    raise BroadcastError(
        f"operand '{name}' has the type {given!r}, expected the text of one: '!shape.shape', 'index', 'f32[?, 3]'",
        operand=name,
    )


def _sequence(returned: Any) -> Sequence[Any]:
    # A tuple of ints is one constant shape; any other tuple holds the results.
    if returned is None:
        return ()
    constant = isinstance(returned, tuple) and all(hasattr(item, "__index__") for item in returned)
    return returned if isinstance(returned, (tuple, list)) and not (constant and returned) else (returned,)


@cache
def op(name: str) -> Callable[..., Any]:
    """Return the function that adds an op of the table to the program being traced.

    That function takes operands in the row's order, then a function for each region, and attributes by name (those of
    constants also by position). ``type=`` replaces the inferred type of the result. ``location=`` is the place that
    errors name, by default the author's file and line. It returns the op's result, or a tuple of results.

    Raises
    ------
    BroadcastError
        If there is no such op.
    """
    row = find_row(name)

    def build(*given: Any, type: str | Type | None = None, location: str = "", **attributes: Any) -> Any:
        builder = _active.builder
        if builder is None:
            raise TraceError(f"{row.name} was called outside a program; call it in the function given to shape.program")
        location = location or _caller()
        operands, bodies, settings = _arguments(builder, row, given)
        settings = {**settings, **{key: _attribute(value) for key, value in attributes.items() if value is not None}}
        if row.region:
            return _with_regions(builder, row, operands, bodies, location)
        results = _results(builder, row, operands, settings, type)
        builder.add(Operation(row.name, operands, results, tuple(settings.items()), (), location))
        return results[0] if len(results) == 1 else results

    build.__name__ = build.__qualname__ = row.python
    build.__doc__ = row.doc
    return build


def _caller() -> str:
    """Return the author's file and line that called the function that calls this; nothing for the package's own."""
    frame = sys._getframe(2)
    if str(frame.f_globals.get("__name__")).partition(".")[0] == __name__.partition(".")[0]:
        return ""
    return f"{os.path.basename(frame.f_code.co_filename)}:{frame.f_lineno}"


def _attribute(value: Any) -> Attribute:
    if isinstance(value, (bool, str)):
        return value
    if isinstance(value, (tuple, list)):
        return tuple(operator.index(item) for item in value)
    return operator.index(value) if hasattr(value, "__index__") else value


def _arguments(
    builder: _Builder, row: Row, given: tuple[Any, ...]
) -> tuple[tuple[Value, ...], tuple[Callable[..., Any], ...], dict[str, Attribute]]:
    at = max(0, len(given) - row.regions)
    rest, bodies = given[:at], given[at:]
    if len(bodies) < row.regions or not all(map(callable, bodies)):
        wanted = "no region; pass a Python function for it as the last argument"
        wanted = wanted if row.regions == 1 else f"{row.regions} regions; pass a Python function for each, as the last"
        raise TraceError(f"{row.name} has {wanted}")
    if not row.parameters:
        names = [setting.name for setting in row.settings]
        return (), (), dict(zip(names, map(_attribute, rest), strict=False))
    beside = [value.type for value in rest if isinstance(value, Value)]
    operands = tuple(
        _value(builder, value, beside, f"{row.name} operand '{row.parameter(at).name}'", row.parameter(at))
        for at, value in enumerate(rest)
    )
    return operands, bodies, {}


def _value(
    builder: _Builder, given: Any, beside: Sequence[Type], what: str, parameter: Parameter | None = None
) -> Value:
    """Return a value, or the constant that a Python number stands for."""
    if isinstance(given, Value):
        return builder.owned(given, what)
    kinds = parameter.kinds if parameter is not None else ()
    exact = bool(beside) and not any(type_.can_fail for type_ in beside)
    if isinstance(given, bool):
        return _constant(builder, "shape.const_witness" if kinds == ("witness",) else "arith.constant", given)
    if hasattr(given, "__index__"):
        is_index = "index" in kinds and (exact or "size" not in kinds or operator.index(given) < 0)
        return _constant(builder, "arith.constant" if is_index else "shape.const_size", operator.index(given))
    if isinstance(given, (tuple, list)) and all(hasattr(item, "__index__") for item in given):
        extents = tuple(operator.index(item) for item in given)
        is_tensor = "extents" in kinds and (exact or "shape" not in kinds)
        return _constant(builder, "shape.const_shape", extents, extents_type(len(extents)) if is_tensor else None)
    raise TraceError(
        f"{what} is {given!r}, which is no value of the program; pass a value, an integer or a tuple of them"
    )


def _constant(builder: _Builder, name: str, value: Attribute, type_: Type | None = None) -> Value:
    row = find_row(name)
    settings = {row.settings[0].name: value}
    results = _results(builder, row, (), settings, type_)
    builder.add(Operation(name, (), results, tuple(settings.items())))
    return results[0]


def _results(
    builder: _Builder, row: Row, operands: tuple[Value, ...], settings: dict[str, Attribute], given: str | Type | None
) -> tuple[Value, ...]:
    if given is not None:
        wanted = parse_type(given) if isinstance(given, str) else given
        return tuple(builder.value(wanted) for _ in row.results or ())
    if row.infer is None:
        return ()
    # An op with too few operands has no types to infer from: its verifier says so.
    verify_operation(Operation(row.name, operands, (), tuple(settings.items()))) if _too_few(row, operands) else None
    return tuple(builder.value(type_) for type_ in row.infer(tuple(value.type for value in operands), settings))


def _too_few(row: Row, operands: tuple[Value, ...]) -> bool:
    return len(operands) < sum(1 for parameter in row.parameters if not parameter.variadic or parameter.least)


def _with_regions(
    builder: _Builder, row: Row, operands: tuple[Value, ...], bodies: tuple[Callable[..., Any], ...], location: str
) -> Any:
    reduces = row.name == "shape.reduce"
    types: tuple[Type, ...] = ()
    if reduces and operands:
        dim = SIZE if operands[0].type.kind == "shape" else INDEX
        types = (INDEX, dim, *(value.type for value in operands[1:]))
    if len(builder.blocks) > MAX_DEPTH:
        raise TraceError(f"{row.name} nests regions deeper than {MAX_DEPTH} levels; join witnesses by assuming_all")
    regions: list[Block] = []
    yielded: tuple[Value, ...] = ()
    for body in bodies:
        # The dim's type, or those that the region before yields, decide whether numbers become sizes or indices.
        beside = types[1:2] or tuple(value.type for value in yielded)
        block, yielded = _region(builder, row, body, types, beside)
        regions.append(block)
    results = tuple(builder.value(value.type) for value in (operands[1:] if reduces else yielded))
    builder.add(Operation(row.name, operands, results, (), tuple(regions), location))
    return results[0] if len(results) == 1 else results


def _region(
    builder: _Builder, row: Row, body: Callable[..., Any], types: tuple[Type, ...], beside: tuple[Type, ...]
) -> tuple[Block, tuple[Value, ...]]:
    """Return the block that a function describes, and what it yields."""
    arguments = tuple(builder.value(type_) for type_ in types)
    builder.blocks.append([])
    returned = _sequence(body(*arguments))
    yielded = tuple(_value(builder, value, beside, f"{row.name}'s region result") for value in returned)
    return Block(arguments, (*builder.blocks.pop(), Operation(row.yields, yielded))), yielded
