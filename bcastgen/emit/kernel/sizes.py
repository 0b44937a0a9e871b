"""The shape functions of a kernel's ops in standalone C, which compute the extents of their results.

In: nothing.  Out: the values that `kernel.op_sizes_c` makes; templates only lay them out.

    SizesView(text="bcg_status sizes_of_ops(...)", ...)   ->   static bcg_status axpb_sizes(...)
"""

from __future__ import annotations

from ...core.frozen import dataclass

__all__ = ["SIZES_FUNCTION", "SizesView", "ValuesView"]

# The name of the function of `SizesView` until the kernel's own name is known.
SIZES_FUNCTION = "sizes_of_ops"


@dataclass(frozen=True, slots=True)
class ValuesView:
    """An operand whose values the shape functions take: how its integers are read, and how they are passed on.

    `operand` is its number, and `at` the number among such operands; `least` is the least of its values, as C.
    `refusal` is the number of the message for values that are none.
    """

    operand: int
    at: int
    bytes: int
    signed: bool
    is_list: bool
    least: str
    refusal: int


@dataclass(frozen=True, slots=True)
class SizesView:
    """The shape functions of a kernel's ops, as one C function, which gives the extents of the kernel's slots.

    Attributes
    ----------
    text : the function, called `SIZES_FUNCTION`; it takes the operands that are no slots.
    results : how many shapes it returns.
    slots : for each slot, the number of its operand, the returned shape that has its extent, and the dim there.
    ranks : the number of each operand that is no slot, and its rank.
    messages : the programs' error texts, by the number in a diagnostic, as lines of C.
    values : the operands whose values the function takes instead of their arrays.
    """

    text: str
    results: int
    slots: tuple[tuple[int, int, int], ...]
    ranks: tuple[tuple[int, int], ...]
    messages: tuple[str, ...]
    values: tuple[ValuesView, ...] = ()
