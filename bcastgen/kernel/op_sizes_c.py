"""The shape functions of the ops in an expression, as C for modules of standalone C.

In: an expression with ops that have shape functions, and its operands' types.  Out: :class:`SizesView`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..core.dtypes import DType
from ..core.errors import REFUSED, BroadcastError, DTypeError
from ..emit.kernel.sizes import SIZES_FUNCTION, SizesView, ValuesView
from ..emit.shape_program.program import message_literal, messages, shape_function
from ..expr.free_extents import free_extent_names
from ..expr.nodes import Expression
from ..shape.dialect.values import MAX_RANK
from ..shape.types.tensor_type import TensorType
from .map_checks import comparisons_of
from .op_sizes import own_operands, size_program
from .value_operands import ValueOperand, role_of, value_operands

__all__ = ["sizes_of"]


def sizes_of(expression: Expression, types: Sequence[TensorType]) -> SizesView:
    """Return the C that computes the free extents which the shape functions of the expression's ops give."""
    taken = value_operands(expression)
    for operand, one in taken.items():
        if one.rank is None:
            raise BroadcastError(
                f"operand '{operand.name}': {one.op} takes any array of integers, and C lists of them only; let its "
                "shape function take a tensor<?xindex>",
                operand=operand.name,
            )
    bound = {dim.symbol for operand in own_operands(expression) for dim in types[operand.index].dims}
    made = size_program("sizes", expression, types, arrays=True)
    slots = dict(zip(free_extent_names(expression.results, bound), expression.free_extents, strict=True))
    places = [(at, dim, name) for at, one in enumerate(expression.sizings) for dim, name in enumerate(one.extents)]
    ranks = ((operand.index, types[operand.index].rank or 0) for operand in own_operands(expression))
    compared = dict(row for one in expression.sizings for row in comparisons_of(one))
    texts = [compared.get(text, text) or REFUSED for text in messages(made)]
    read = {operand.index: (operand.name, one) for operand, one in taken.items()}
    values = tuple(_values(read, types, len(texts)))
    texts += (_refusal(name, one) for name, one in read.values())
    return SizesView(
        shape_function(made, SIZES_FUNCTION, compared),
        len(expression.sizings),
        tuple((slots[name], at, dim) for at, dim, name in places),
        tuple(ranks),
        tuple(map(message_literal, texts)),
        values,
    )


def _values(read: dict[int, tuple[str, ValueOperand]], types: Sequence[TensorType], first: int) -> Iterator[ValuesView]:
    """Yield how each operand's values are read; `first` is the number of the first one's message."""
    for at, (operand, (name, one)) in enumerate(read.items()):
        type_ = types[operand]
        dtype = type_.dtype
        if type_.rank is None:
            raise BroadcastError(
                f"operand '{name}' has no known rank, which C with shape functions needs; declare it as "
                f"i64[{'' if one.rank == 0 else '?'}]",
                operand=name,
            )
        if not isinstance(dtype, DType) or not dtype.is_integer:
            raise DTypeError(f"operand '{name}' has dtype {dtype}, expected integers: {role_of(one.op)}")
        is_list = one.rank == 1
        yield ValuesView(
            operand, at, dtype.bytes, dtype.kind == "signed", is_list, "0" if is_list else "INT64_MIN", first + at
        )


def _refusal(name: str, one: ValueOperand) -> str:
    wrong = (
        f"more than {MAX_RANK} values, or one below 0 or of more than 63 bits"
        if one.rank
        else "a value of more than 63 bits"
    )
    return f"operand '{name}' has {wrong}: {role_of(one.op)}"
