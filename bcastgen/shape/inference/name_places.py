"""The operands' dims that bind the names of a computed extent, or the error for a name that none binds.

In: ``m + n`` of a dim, and where each name occurs alone.  Out: ``(("m", "b", 0), ("n", "a", 0))``.
"""

from __future__ import annotations

from collections.abc import Mapping

from ...core.errors import BroadcastError
from ..computed_constraints import NamePlaces
from .operand_use import OperandDim

__all__ = ["name_places"]


def name_places(text: str, homes: Mapping[str, OperandDim], array: str, dim: int, kind: str = "operand") -> NamePlaces:
    """Return the place that binds each name of a computed extent.

    Parameters
    ----------
    text : the expression.
    homes : where each name occurs first among operands' dims.
    array, dim, kind : the dim that has the extent, for the error; `kind` is ``"operand"`` or ``"result"``.

    Raises
    ------
    BroadcastError
        For a name that no operand's dim has alone.

    Examples
    --------
    >>> name_places("m + n", {"n": ("a", 0), "m": ("b", 1)}, "c", 0)
    (('m', 'b', 1), ('n', 'a', 0))
    """
    from ..types.computed import expression  # noqa: PLC0415 - few types have computed extents
    from ..types.extent_expr import names_of  # noqa: PLC0415 - few types have computed extents

    found = []
    for name in names_of(expression(text)):
        if name not in homes:
            raise BroadcastError(
                f"{kind} '{array}' dim {dim} is {text}, but no operand has a dim that is {name} alone; "
                f"name a dim of an operand {name}, or write ?",
                operand=array,
                dim=dim,
            )
        found.append((name, *homes[name]))
    return tuple(found)
