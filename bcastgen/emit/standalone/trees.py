"""The C of reductions' steps: how values are combined, and the type and functions of a tree of roundings.

In: the reductions of a program.  Out: names and texts of definitions, of which a module copies those it uses.

    sum of f32   ->   bcg_sum_f32, bcg_sum_f32_block, bcg_sum_f32_add, bcg_sum_f32_total
    sum of i64   ->   none: sum = sum + x, in any order

Floats are combined along the tree of csrc/runtime/run_steps.inc, one value after the other, so that results have the
same bits as the run time's. Two values are combined by the op that the reduction's row names.
"""

from __future__ import annotations

import re
from functools import cache

from ...core.dtypes import DType
from ...core.frozen import dataclass
from ...core.resources import csrc_file
from ...loops.nest import LoopProgram, Reducing
from ...ops.rows.reductions import REDUCTIONS, Reduction
from ...ops.table import OPS
from ..c_text.body import bare, literal
from ..templating.render import render_template

__all__ = ["Tree", "definitions", "tree_in", "tree_of"]


@dataclass(frozen=True, slots=True)
class Tree:
    """How values of a dtype are combined.

    `name` is the name of its type in C, `says` a description. The others, except `dtype`, are C expressions: `combined`
    combines the values `{0}` and `{1}`; `empty` is the value of no elements (any value for an index). `ended` is what a
    `total` becomes in the end; `divided` is the total divided by `n`, a double, if the reduction divides. For an index,
    `better` is whether `x` comes before `found->best`. `exact` says that the order of values does not matter.
    """

    name: str
    dtype: DType
    says: str
    combined: str
    empty: str
    better: str
    divided: str
    ended: str
    exact: bool

    @property
    def c(self) -> str:
        """The type of the values in C."""
        return self.dtype.c

    def combine(self, one: str, other: str) -> str:
        """Return the C of two values combined."""
        return self.combined.replace("{0}", one).replace("{1}", other)

    @property
    def is_long(self) -> bool:
        """Whether the C of two values combined is a function's."""
        return self.combined.count("{0}") > 1

    def call(self, one: str, other: str) -> str:
        """Return the C of two values combined, by the tree's function where there is one."""
        return f"{self.name}_of({one}, {other})" if self.is_long else self.combine(one, other)


def tree_of(row: Reduction, dtype: DType) -> Tree:
    """Return what combines values of a dtype.

    Examples
    --------
    >>> from bcastgen.core.dtypes import F32, I64
    >>> from bcastgen.ops.rows.reductions import REDUCTIONS
    >>> tree_of(REDUCTIONS["mean"], F32).name, tree_of(REDUCTIONS["max"], F32).combine("a", "b")
    ('bcg_sum_f32', '(a >= b || a != a) ? a : b')
    >>> tree_of(REDUCTIONS["min"], I64).empty
    'INT64_C(9223372036854775807)'
    """
    # Reductions that combine values in the same way share one tree: a mean has that of the sum.
    alike = (one for one in REDUCTIONS.values() if one.combines and one.combines == row.combines)
    name = f"bcg_{next(alike, row).name}_{dtype}"
    if row.gives_index:
        better = f"x {'<' if row.is_least else '>'} found->best"
        if dtype.is_float:
            better = f"{better} || (x != x && found->best == found->best)"
        return Tree(name, dtype, row.doc, "", literal(0, dtype), better, "", "", row.in_any_order(dtype))
    divided = _divided(dtype) if row.divides else ""
    combined = bare(OPS[row.combines].c_for((dtype, dtype), dtype))
    ended = _plus_zero(dtype) if row.identity == 0 and dtype.is_inexact else "total"
    empty = literal(row.neutral(dtype), dtype)
    return Tree(name, dtype, row.doc, combined, empty, "", divided, ended, row.in_any_order(dtype))


def tree_in(program: LoopProgram, one: Reducing, values: DType) -> Tree:
    """Return what a reduction of a program combines values of a dtype with: a sum of integers widens them."""
    given = program.operands[one.operand][1].dtype
    assert given is not None
    return tree_of(one.op, values if one.op.gives_index else given)


def _divided(dtype: DType) -> str:
    if dtype.is_complex:
        # Smith's division by n + 0i, as NumPy has it, in double.
        parts = ("total.re + total.im * 0.0", "total.im - total.re * 0.0")
        quotients = (f"({part}) * (1.0 / n)" for part in parts)
        if dtype.part.c != "double":
            quotients = (f"({dtype.part.c})({one})" for one in quotients)
        return f"bcg_make_{dtype}({', '.join(quotients)})"
    return _quotient("total", dtype)


def _plus_zero(dtype: DType) -> str:
    zero = literal(0, dtype.part if dtype.is_complex else dtype)
    if dtype.is_complex:
        return f"bcg_make_{dtype}(total.re + {zero}, total.im + {zero})"
    return f"total + {zero}"


def _quotient(total: str, dtype: DType) -> str:
    return f"{total} / n" if dtype.c == "double" else f"({dtype.c})((double){total} / n)"


@cache
def _sizes() -> dict[str, int]:
    """Return the elements of a block of the run time's tree, the lanes they go round, and the levels of blocks."""
    text = csrc_file("run_steps.inc").read_text(encoding="utf-8")
    lanes, block = (int(re.findall(rf"\b{name} = (\d+)", text)[0]) for name in ("LANES", "BLOCK"))
    return {"lanes": lanes, "block": block, "levels": 64 - (block.bit_length() - 1)}


def definitions(program: LoopProgram) -> tuple[tuple[str, str], ...]:
    """Return name and text of all that a program's reductions may use, in an order that compiles."""
    trees: dict[str, Tree] = {}
    for nest in program.nests:
        for one, access in zip(nest.reduced, nest.results, strict=False):
            tree = tree_in(program, one, access.dtype)
            if not tree.exact and (tree.name not in trees or tree.divided):
                trees[tree.name] = tree
    found: list[tuple[str, str]] = []
    for tree in trees.values():
        text = render_template("standalone/tree.c.j2", tree=tree, **_sizes())
        for chunk in text.strip("\n").split("\n\n\n"):
            label, _, body = chunk.strip("\n").partition("\n")
            found.append((label.removeprefix("// "), body))
    return tuple(found)
