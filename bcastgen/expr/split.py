"""Takes an expression with reductions apart into element-wise ones.

In: a typed expression.  Out: the same, with the values to reduce as results, and the reductions' results as operands.

    x - mean(x)   ->   results x and x - mean_of_x, of x and of mean_of_x, the mean of the first result
"""

from __future__ import annotations

from collections.abc import Sequence

from ..core.frozen import dataclass, replace
from .nodes import Apply, Constant, Expression, Node, Operand, Reduce, Remap, children, topological

__all__ = ["Split", "split"]


@dataclass(frozen=True, slots=True, eq=False)
class Split:
    """An expression without reductions, whose first results are the values that `reductions` reduce.

    The last operands are the results of the reductions, in the same order. `depths` has the depth of each: 1 for a
    reduction whose value needs no other, 2 for one that reads such a reduction, and so on; the order is that of depths.
    `views` maps each view of the new expression to the one of the old expression that it was.
    """

    expression: Expression
    reductions: tuple[Reduce, ...]
    depths: tuple[int, ...]
    views: dict[Node, Node]


def split(expression: Expression) -> Split:
    """Take a typed expression with reductions apart."""
    order = topological(expression.roots)
    depth: dict[Node, int] = {}
    for node in order:
        below = max((depth[child] for child in children(node)), default=0)
        depth[node] = below + isinstance(node, Reduce)
    found = sorted((node for node in order if isinstance(node, Reduce)), key=depth.__getitem__)
    names = _names(expression, found)
    given = len(expression.operands)
    here: dict[Node, Node] = {one: one for one in expression.operands}
    here |= {one: Operand(given + at, names[at], one.dtype) for at, one in enumerate(found)}
    for node in order:
        match node:
            case Constant():
                here[node] = node
            case Apply(operands=operands):
                here[node] = Apply(node.op, tuple(here[child] for child in operands), node.params, node.dtype)
            case Remap(operand=operand):
                like = None if node.like is None else here[node.like]
                here[node] = Remap(here[operand], node.view, like, node.dtype)
    temporaries = tuple(one for one in (here[node] for node in found) if isinstance(one, Operand))
    values = tuple(here[node.operand] for node in found)
    results = (*values, *(here[node] for node in expression.results))
    claims = tuple(replace(claim, node=here[claim.node]) for claim in expression.type_assertions)
    made = Expression((*expression.operands, *temporaries), results, expression.free_extents, claims)
    views: dict[Node, Node] = {here[node]: node for node in order if isinstance(node, Remap)}
    return Split(made, tuple(found), tuple(depth[node] for node in found), views)


def _names(expression: Expression, found: Sequence[Reduce]) -> list[str]:
    """Return a name for what each reduction gives, which no operand has."""
    taken = {operand.name for operand in expression.operands}
    names: list[str] = []
    for node in found:
        stem, count = f"{node.op.name}_of", 0
        if isinstance(node.operand, Operand):
            stem = f"{node.op.name}_of_{node.operand.name}"
        name = stem
        while name in taken:
            count += 1
            name = f"{stem}_{count}"
        taken.add(name)
        names.append(name)
    return names
