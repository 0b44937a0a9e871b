"""Explicit broadcasts to the shape of a value that several operands span, as claims that two shapes are the same.

In: a typed expression.  Out: the same without such broadcasts.

    where(broadcast(m, like=x - y), x - y, 0)   ->   where(m, x - y, 0), and claims that x - y has the shape [n, k],
                                                     and so has x - y beside m

Which of the operands gives a dim its extent is known at a call only. Where one operand does, `uses` says which.
"""

from __future__ import annotations

from collections.abc import Iterable

from ...core.errors import BroadcastError
from ...core.frozen import replace
from ...expr.nodes import (
    Apply,
    Constant,
    Expression,
    Node,
    Operand,
    Reduce,
    Remap,
    TypeAssertion,
    children,
    concrete,
    topological,
)
from ...expr.views import Broadcast
from ...ops.rows.conversions import CAST
from ...shape.types.dim import Dim
from ...shape.types.tensor_type import TensorType
from .uses import ranks_of

__all__ = ["with_claimed_shapes"]


def with_claimed_shapes(expression: Expression, types: tuple[TensorType, ...]) -> Expression:
    """Return an expression that claims the shapes of values instead of broadcasting others to them.

    Raises
    ------
    BroadcastError
        If what is broadcast has more dims than the value.
    """
    order = topological(expression.roots)
    if not any(_is_to_several(node) for node in order):
        return expression
    ranks = ranks_of(expression.roots, types)
    here: dict[Node, Node] = {}
    claims = list(expression.type_assertions)
    shapes: dict[Node, TypeAssertion] = {}
    for node in order:
        match node:
            case Remap(operand=operand, like=like) if like is not None and _is_to_several(node):
                here[node] = here[operand]
                rank, own = ranks[like], ranks[operand]
                if rank is None or own is None:
                    here[node] = replace(node, operand=here[operand], like=here[like])
                    continue
                if own > rank:
                    raise BroadcastError(f"a value of rank {own} cannot be broadcast to rank {rank}; give more dims")
                # Only the shape of a claim's value counts, so any op will do whose operands are these two values.
                beside = Apply(CAST, (here[operand], here[like]), (), concrete(here[like]))
                if like not in shapes:
                    dims = tuple(Dim(_free(f"shape_{len(shapes)}_{dim}", types)) for dim in range(rank))
                    shapes[like] = _claim(here[like], f"value of {_named(like)}", dims, claims)
                _claim(beside, f"{_named(like)} under {_named(operand)}", shapes[like].type.dims, claims)
            case Remap(operand=operand, like=like):
                here[node] = replace(node, operand=here[operand], like=None if like is None else here[like])
            case Apply(operands=operands):
                here[node] = replace(node, operands=tuple(here[child] for child in operands))
            case Reduce(operand=operand):
                here[node] = replace(node, operand=here[operand])
            case _:
                here[node] = node
    # The claims that were given refer to nodes of the old expression, those added here to nodes of the new one.
    given = len(expression.type_assertions)
    claims[:given] = (replace(claim, node=here[claim.node]) for claim in claims[:given])
    return replace(expression, results=tuple(here[node] for node in expression.results), type_assertions=tuple(claims))


def _free(name: str, types: tuple[TensorType, ...]) -> str:
    """Return a name of an extent that no type has."""
    taken = {dim.symbol for type_ in types for dim in type_.dims}
    while name in taken:
        name += "_"
    return name


def _claim(node: Node, name: str, dims: tuple[Dim, ...], claims: list[TypeAssertion]) -> TypeAssertion:
    """Add the claim that a value has a shape; its name is no other claim's."""
    count = sum(claim.name == name or claim.name.startswith(f"{name} (") for claim in claims)
    claims.append(TypeAssertion(node, f"{name} ({count + 1})" if count else name, TensorType(None, dims)))
    return claims[-1]


def _named(node: Node) -> str:
    """Return what messages call a value: the operands that it is of; no operand has such a name."""
    names = [one.name for one in _operands((node,))]
    return " with ".join(names[:3] + ["others"] * (len(names) > 3)) or "numbers"


def _operands(roots: Iterable[Node]) -> list[Operand]:
    return [node for node in topological(roots) if isinstance(node, Operand)]


def _is_to_several(node: Node) -> bool:
    """Whether a value is broadcast, aligned on the right, to the shape of one that several operands span."""
    if not isinstance(node, Remap) or node.like is None or isinstance(node.like, Operand):
        return False
    return isinstance(node.view, Broadcast) and node.view.dims is None and not _is_of_one(node.like)


def _is_of_one(node: Node) -> bool:
    """Whether a value has its shape from one operand, through one map."""
    while not isinstance(node, Operand):
        below = {child for child in children(node) if not isinstance(child, Constant)}
        if len(below) != 1:
            return False
        (node,) = below
    return True
