"""The shape functions of the ops in an expression, as C for a module that stands alone.

In: an expression with ops that have shape functions, and its operands' types.  Out: :class:`Sizes`.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..emit.kernel.model import SIZES_FUNCTION, Sizes
from ..emit.shape_program.program import message_literal, messages, shape_function
from ..expr.free_extents import free_extent_names
from ..expr.nodes import Expression
from ..shape.types.tensor_type import TensorType
from .op_sizes import own_operands, size_program

__all__ = ["sizes_of"]


def sizes_of(expression: Expression, types: Sequence[TensorType]) -> Sizes:
    """Return the C that computes the free extents which the shape functions of the expression's ops give."""
    bound = {dim.symbol for operand in own_operands(expression) for dim in types[operand.index].dims}
    made = size_program("sizes", expression, types, arrays=True)
    slots = dict(zip(free_extent_names(expression.results, bound), expression.free_extents, strict=True))
    places = [(at, dim, name) for at, one in enumerate(expression.sizings) for dim, name in enumerate(one.extents)]
    ranks = ((operand.index, types[operand.index].rank or 0) for operand in own_operands(expression))
    return Sizes(
        shape_function(made, SIZES_FUNCTION),
        len(expression.sizings),
        tuple((slots[name], at, dim) for at, dim, name in places),
        tuple(ranks),
        tuple(message_literal(text or "a shape function refuses the operands") for text in messages(made)),
    )
