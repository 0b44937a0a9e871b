"""Functions that rows share: types of operands and results, evaluations that depend on types, certainty, faults.

In: operations, lattice values.  Out: types, lattice values, verdicts, ends of sentences.

    shape_type((SHAPE, EXTENTS), {}) -> (SHAPE,)        always(...) -> True: no run can fail here

Functions that only compute on lattice values are in `lattice`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..types.dim import MAX_EXTENT
from ..types.extent_expr import Extent
from ..types.extent_span import span
from . import arithmetic, lattice
from .ir import Operation
from .row import Certain, Parameter, Setting, as_size, number, shape_like, size_like, stated
from .types import SHAPE, Kind, Type, extents_type
from .values import MAX_RANK, Shape, Size, ValueShape, Witness

SHAPES: tuple[Kind, ...] = ("shape", "extents")
SIZES: tuple[Kind, ...] = ("size", "index")
ERROR = (Setting("error", str),)


def shapes(name: str = "shapes", least: int = 1) -> tuple[Parameter, ...]:
    """Return the one variadic parameter of ops on shapes."""
    return (Parameter(name, SHAPES, variadic=True, least=least),)


def two(kinds: tuple[Kind, ...], first: str = "lhs", second: str = "rhs") -> tuple[Parameter, ...]:
    """Return two parameters of the same kinds."""
    return (Parameter(first, kinds), Parameter(second, kinds))


def always(operation: Operation, operands: tuple[Any, ...]) -> bool:
    """Return True: no run can fail here."""
    return True


def divides(operation: Operation, operands: tuple[Any, ...]) -> bool:
    """Tell whether the divisor is certainly not 0."""
    return operands[1] is not None and not span(operands[1]).has(0)


def shifts(operation: Operation, operands: tuple[Any, ...]) -> bool:
    """Tell whether the count is certainly from 0 to 63."""
    if operands[1] is None:
        return False
    where = span(operands[1])
    return where.low >= 0 and where.high < 64


def error(operation: Operation) -> str:
    """Return the author's message, or ""."""
    return str(operation.attribute("error", ""))


def sizes_or_indices(sizes: Any, indices: Any, extents: arithmetic.OfExtents) -> Any:
    """Return the evaluation of an op on sizes and indices; an index result fails where 64 bits do not hold it."""
    integers = arithmetic.binary(indices, extents, wraps=False)

    def evaluate(operation: Operation, a: Any, b: Any) -> Any:
        if operation.results[0].type.kind == "index":
            return integers(operation, a, b)
        return sizes(as_size(a), as_size(b))

    return evaluate


def same_ranks(operation: Operation, operands: tuple[Any, ...]) -> bool:
    """Tell whether the operands are sizes, or shapes whose ranks are known and equal."""
    a, b = operands
    return isinstance(a, Size) or (a.rank is not None and a.rank == b.rank)


def fits(function: Callable[..., Extent | None]) -> Certain:
    """Return the rule for a function of sizes and indices: its value certainly is in the range of the result's type."""

    def certain(operation: Operation, operands: tuple[Any, ...]) -> bool:
        is_index = operation.results[0].type.kind == "index"
        extent = function(*map(stated, operands))
        if extent is None or not (is_index or all(map(not_negative, operands))):
            return False
        where = span(extent)
        return (arithmetic.LOWEST if is_index else 0) <= where.low and where.high <= MAX_EXTENT

    return certain


def one_type(operation: Operation) -> str | None:
    """Return the fault of an op whose operands and results do not have one type."""
    types = {value.type for value in (*operation.operands, *operation.results)}
    return None if len(types) == 1 else "takes and returns values of one type"


def not_negative(value: Any) -> bool:
    """Tell whether a size or an index is certain to be 0 or more."""
    return isinstance(value, Size) or (value is not None and span(value).low >= 0)


def join(operation: Operation, a: Any, b: Any) -> Any:
    """Evaluate join by the type of its result."""
    kinds = {"size": lattice.join_sizes, "shape": lattice.join_shapes, "element_type": lattice.join_elements}
    return kinds[operation.results[0].type.kind](a, b, error(operation))  # type: ignore[operator]


def extent(operation: Operation, shape: Any, dim: Any) -> Any:
    """Return one extent; the shape's error wins over the dim's."""
    shape = shape_of(shape)
    if isinstance(dim, Size) and dim.error is not None:
        return Size(error=dim.error if shape.error is None else shape.error)
    return lattice.extent(shape, number(dim))


def shape_of(value: Any) -> Any:
    """Return the shape of a value_shape, or of a tensor, whose lattice value is a shape."""
    return value.shape if isinstance(value, ValueShape) else value


def extent_certain(operation: Operation, operands: tuple[Any, ...]) -> bool:
    """Tell whether the rank and the dim are known, and the dim is there."""
    shape, dim = operands
    rank, at = shape_of(shape).rank, number(dim)
    return rank is not None and at is not None and 0 <= at < rank


def split(operation: Operation, shape: Any, index: Any) -> Any:
    """Split a shape; the shape's error wins over the index's."""
    if isinstance(index, Size) and index.error is not None and not shape.is_invalid:
        shape = Shape(error=index.error)
    return lattice.split(shape, number(index))


def split_certain(operation: Operation, operands: tuple[Any, ...]) -> bool:
    """Tell whether the rank and the index are known, and the index is in range."""
    shape, at = operands[0], number(operands[1])
    return shape.rank is not None and at is not None and -shape.rank <= at <= shape.rank


def require(operation: Operation, holds: bool | None) -> Witness:
    """Return the witness of a predicate."""
    return Witness(holds, operation.attribute("msg") if holds is False else "")


def all_pass(operation: Operation, *witnesses: Witness) -> Witness:
    """Return the AND of witnesses: the first that fails, if one does."""
    failing = next((one for one in witnesses if one.passing is False), None)
    if failing is not None:
        return failing
    return Witness(True if all(one.passing for one in witnesses) else None)


def constant_fault(operation: Operation) -> str | None:
    """Return the fault of a constant shape: a negative extent, too many extents, or not as many as its type says."""
    extents = operation.attribute("shape")
    length = operation.results[0].type.length
    if any(extent < 0 for extent in extents):
        return f"has the extents {list(extents)}, expected 0 or more; nothing but integers can be written here"
    if len(extents) > MAX_RANK:
        return f"has {len(extents)} extents, expected at most {MAX_RANK}"
    if operation.results[0].type.kind == "extents" and length not in (None, len(extents)):
        return f"has {len(extents)} extents, expected {length} as its type says"
    return None


def negative_fault(operation: Operation) -> str | None:
    """Return the fault of a constant size that is negative or that 63 bits do not hold."""
    value = operation.attribute("value")
    return None if 0 <= value < 2**63 else f"has the value {value}, expected 0 to {2**63 - 1}"


def number_fault(operation: Operation) -> str | None:
    """Return the fault of a constant that is not of its type."""
    is_bool = isinstance(operation.attribute("value"), bool)
    if is_bool != (operation.results[0].type.kind == "i1"):
        return f"has the value {operation.attribute('value')}, which is none of type {operation.results[0].type}"
    if not -(2**63) <= operation.attribute("value") < 2**63:
        return f"has the value {operation.attribute('value')}, which 64 bits do not hold"
    return None


def shape_of_type(types: tuple[Type, ...], attributes: Any) -> tuple[Type, ...]:
    """Infer the type of shape_of, as LLVM does: a shape for a value_shape, else an extent tensor."""
    if types[0].tensor is None:
        return (SHAPE,)
    return (extents_type(types[0].tensor.rank),)


def from_extents(operation: Operation, *extents: Any) -> Shape:
    """Return the shape of sizes and indices."""
    return lattice.from_extents([as_size(extent) for extent in extents])


def shape_type(types: tuple[Type, ...], attributes: Any) -> tuple[Type, ...]:
    """Infer the type of a shape: an extent tensor only if no operand can be invalid."""
    return (shape_like(*types),)


def size_type(types: tuple[Type, ...], attributes: Any) -> tuple[Type, ...]:
    """Infer the type of a size: an index only if no operand can be invalid."""
    return (size_like(*types),)


def fixed(*types: Type) -> Any:
    """Return the inference that always gives these types."""
    return lambda operands, attributes: types


def same_type(types: tuple[Type, ...], attributes: Any) -> tuple[Type, ...]:
    """Infer the first operand's type."""
    return types[:1]
