"""Function calls: how often a kernel's loops call mathematical functions, and whether these are part of the loops.

In: the schedules of nests.  Out: a number of calls, counted in every variant and form of a loop.

    exp(a) * sin(b) in two variants   ->   4 calls, so that both functions are inlined in both loops

Compilers do not inline large functions that several loops call, and leave the loops scalar. So functions are made part
of each loop; but where loops call them very often, compiling takes long, and a function that is compiled once, for
whole vectors, is as fast.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..nest import Nest, Statement
from .function_loops import BlockLoop
from .inner_loops import InnerLoop, Schedule
from .variants import Variant

__all__ = ["MOST_INLINED", "function_calls", "is_function"]

# The most calls that are inlined: a kernel with more compiles its functions once.
MOST_INLINED = 16


def is_function(statement: Statement) -> bool:
    """Whether a statement calls a mathematical function: its values have an error, and its C is not an expression."""
    op, dtypes = statement.op, statement.operand_dtypes
    is_real = op.definition is None and op.ulp > 0 and dtypes[0].kind == "float"
    return is_real and op.forms.special(dtypes, statement.constant) is None


def function_calls(schedules: Iterable[Schedule]) -> int:
    """Return how many calls of mathematical functions there are in the inner loops of nests, in all their variants.

    Examples
    --------
    >>> from bcastgen import from_text
    >>> function_calls(from_text("(f32[?] a) -> log(a) + exp(a)").compilation.schedules)
    2
    """
    return sum(_calls(one.nest, loop) for one in schedules for loop in one.loops)


def _calls(nest: Nest, loop: InnerLoop) -> int:
    """Return the calls in the variants of a loop; short forms of functions are always inlined, and do not count.

    A loop that computes words calls functions only where it computes point by point.
    """
    count = 0
    sides = {one.variant: one for one in loop.sides}
    for variant in loop.variants:
        if variant in sides:
            one = sides[variant]
            count += _functions(nest, one.statements)
            count += sum(_calls(side.nest, side.loop) for side in (one.holds, one.fails))
        elif loop.blocks:
            count += sum(_block_calls(nest, block, variant) for block in loop.blocks)
        else:
            count += _functions(nest, loop.statements)
    return count


def _block_calls(nest: Nest, block: BlockLoop, variant: Variant) -> int:
    """Return the calls of a loop over blocks: in its test, in its full body, in its short one; pairs are two more."""
    copies = 3 if block.in_pairs(variant) else 1
    case = block.common_case
    if case is None:
        return copies * _functions(nest, block.statements)
    tested, full = _functions(nest, case.statements - case.short), _functions(nest, block.statements)
    # What a test computes from two operands is a part of the function itself.
    tested += sum(len(test.places) > 1 and is_function(nest.body[test.statement]) for test in case.tests)
    return tested + full + copies * _functions(nest, block.statements - case.short)


def _functions(nest: Nest, statements: Iterable[int]) -> int:
    return sum(is_function(nest.body[at]) for at in statements)
