"""The shape function of an op that a user defines: a program, MLIR text, or the Python function that writes one.

In: what `define_op` got as ``shape=`` or ``bound=``.  Out: a program from the operands' shapes, or their values, to one
shape.

    lambda a, b: concat(a, b), ("a", "b")  ->  func.func @outer(%a: !shape.shape, %b: !shape.shape) -> !shape.shape
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from inspect import signature
from typing import Any

from ..core.dtypes import DType
from ..core.errors import BroadcastError, DTypeError, TraceError
from ..shape.dialect.interpret import Machine
from ..shape.dialect.program import Program
from ..shape.dialect.trace import program
from ..shape.dialect.types import ELEMENT_TYPE
from ..shape.dialect.values import ElementType

__all__ = ["result_dtype", "shape_program"]


def shape_program(
    name: str,
    shape: Program | str | Callable[..., Any],
    operands: Sequence[str],
    values: Sequence[str | None] | None = None,
    typed: Sequence[str] = (),
) -> Program:
    """Return the program of a shape function, which may be MLIR text, or a Python function that writes it.

    Parameters
    ----------
    values : for each operand whose values the function takes instead of its shape, their type.
    typed : the operands whose element types it may take, as further parameters (``a_type`` for `a`); it then returns
        the shape, and the element type of the result.

    Raises
    ------
    BroadcastError
        If the program does not take one shape per operand, or values of their type, and return one shape.
    ParseError
        If the text is no shape program; the message gives the place in it.
    TraceError
        If `shape` is no program, text or function.
    """
    if isinstance(shape, str):
        from ..mlir.shape.read_program import program_from_text  # noqa: PLC0415 - most shape functions are written in Python

        shape = program_from_text(shape, f"<shape of {name}>")
    if not isinstance(shape, Program) and not callable(shape):
        raise TraceError(
            f"{name}: the shape function is {shape!r}, expected a program of bcastgen.shape, its MLIR text, or "
            f"the Python function that writes one: lambda {', '.join(operands)}: ..."
        )
    types = tuple(values or (None,) * len(operands))
    wanted = {key: type_ or "!shape.shape" for key, type_ in zip(operands, types, strict=True)}
    asked = dict.fromkeys(_asked_types(shape, typed), "!shape.element_type")
    made = shape if isinstance(shape, Program) else program(name, shape, **wanted, **asked)
    made.verify()
    _check_kinds(name, made, types, len(asked))
    for operand, type_ in zip(made.operands, types, strict=False):
        if type_ is not None and str(operand.type) != type_:
            raise BroadcastError(
                f"{name}: maps= says that operand '{operand.name}' of the shape function is of type {type_}, which "
                f"takes {operand.type}; say the same of both",
                operand=operand.name,
            )
    return made


def _asked_types(shape: Program | Callable[..., Any], typed: Sequence[str]) -> list[str]:
    """Return the names of the element types that a shape function takes, in order."""
    if isinstance(shape, Program):
        taken = [value.name for value in shape.operands if value.type == ELEMENT_TYPE]
    else:
        try:
            taken = list(signature(shape).parameters)
        except (TypeError, ValueError):  # what is written in C may not tell
            return []
    return [f"{name}_type" for name in typed if f"{name}_type" in taken]


def _check_kinds(name: str, made: Program, types: Sequence[str | None], typed: int) -> None:
    """Refuse a program that does not take what its op has, or does not return a shape, and a type if it takes types."""
    kinds = [value.type.kind for value in (*made.operands, *made.results)]
    shapes = [one.type.kind for one, type_ in zip(made.operands, types, strict=False) if type_ is None]
    results = [value.type.kind for value in made.results]
    if (
        len(made.operands) != len(types) + typed
        or not {*kinds[len(types) : len(types) + typed]} <= {"element_type"}
        or len(results) != 1 + bool(typed)
        or not {*shapes, *results[:1]} <= {"shape", "extents"}
        or results[1:] != ["element_type"] * bool(typed)
    ):
        count = types.count(None)
        beside = f" and {len(types) - count} values" if any(types) else ""
        returns = "one"
        if typed:
            beside, returns = f"{beside} and {typed} element types", "one, and an element type"
        raise BroadcastError(
            f"{name}: the shape function takes {count} shapes{beside}, one an operand, and returns {returns}; "
            f"this one is from {len(made.operands)} to {len(made.results)} values of types {', '.join(kinds)}"
        )


def result_dtype(name: str, shape: Program, dtypes: Mapping[str, DType]) -> DType:
    """Return the dtype that a shape function of element types gives an op's result, for operands of these dtypes.

    Raises
    ------
    DTypeError
        If it refuses them, in its author's words, or if only the operands' shapes or values say it.
    """
    given = [
        dtypes[value.name.removesuffix("_type")] if value.type == ELEMENT_TYPE else None for value in shape.operands
    ]
    *_, result = Machine().execute(shape, given)
    found, shown = result.value, ", ".join(f"{key}: {dtype}" for key, dtype in dtypes.items())
    assert isinstance(found, ElementType)
    if found.is_invalid:
        raise DTypeError(f"{name}({shown}): {f'{found.error}: ' * bool(found.error)}{result.cause}")
    if found.dtype is None:
        raise DTypeError(
            f"{name}({shown}): the shape function gives no element type before shapes and values are known; "
            "let it depend on element types alone"
        )
    return found.dtype
