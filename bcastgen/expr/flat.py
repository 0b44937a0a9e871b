"""Expressions as flat tuples, which pickle in a few hundred bytes however deep the expression is.

In: an :class:`Expression`.  Out: a tuple of names, numbers and dtypes, and from it the same expression.

    (a + b) * 2   ->   (("a", "b"), ("add", "multiply"),
                        (("operand", 0), ("operand", 1), ("apply", 0, (0, 1), ()), ("constant", 2, WEAK_INT), ...), ...)

Ops of the table are their names. Ops that users defined are the function that makes such ops, their names and their
definitions, so that they exist wherever the tuple arrives.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core.errors import BcastgenError
from ..ops.internal_rows import ENDED
from ..ops.maps import plain_op
from ..ops.row import Op
from ..ops.table import DEFINED, OPS
from .nodes import (
    NO_NOTES,
    Apply,
    Constant,
    Expression,
    Node,
    Operand,
    Reduce,
    Remap,
    Sizing,
    TypeAssertion,
    topological,
)

__all__ = ["Flat", "flattened", "restored"]

# Operands' names; ops; nodes, which name earlier ones by place; results; free extents; type assertions; sizings.
Flat = tuple[
    tuple[str, ...],
    tuple[Any, ...],
    tuple[tuple[Any, ...], ...],
    tuple[int, ...],
    tuple[int, ...],
    tuple[tuple[Any, ...], ...],
    tuple[tuple[Any, ...], ...],
]


def _row(name: str) -> Op | None:
    """Return the row that an expression names: one of the table, or what a bounded loop demands."""
    return ENDED if name == ENDED.name else OPS.get(name)


def flattened(expression: Expression) -> Flat:
    """Return an expression that is not typed yet as a flat tuple.

    Examples
    --------
    >>> from bcastgen.expr.trace import trace
    >>> names, ops, nodes, results, *_ = flattened(trace(lambda a, b: a + b * a, ("a", "b")))
    >>> names, ops, nodes[-1], results
    (('a', 'b'), ('multiply', 'add'), ('apply', 1, (0, 2), ()), (3,))
    """
    # Rows hold mappings, so they are no keys.
    sized = {id(plain_op(one.op)): one.op for one in expression.sizings}
    ops: dict[int, Op] = {}
    rows: list[tuple[Any, ...]] = []
    places: dict[Node, int] = {}
    # Numbers that only a shape function takes are none of the results'.
    taken = (node for one in expression.sizings for node in one.operands)
    for node in topological((*expression.operands, *expression.roots, *taken)):
        places[node] = len(rows)
        match node:
            case Operand():
                rows.append(("operand", node.index))
            case Constant():
                rows.append(("constant", node.value, node.dtype))
            case Apply():
                ops.setdefault(id(node.op), node.op)
                number = list(ops).index(id(node.op))
                noted = () if node.notes is NO_NOTES else (node.notes,)
                rows.append(("apply", number, tuple(places[child] for child in node.operands), node.params, *noted))
            case Reduce():
                settings = (node.axes, node.keepdims, node.initial, node.ddof)
                rows.append(("reduce", node.op.name, places[node.operand], *settings))
            case Remap():
                like = None if node.like is None else places[node.like]
                rows.append(("remap", node.view, places[node.operand], like))
    sizings = tuple(
        (_made_of(one.op), tuple(places[node] for node in one.operands), one.extents, places[one.result])
        for one in expression.sizings
    )
    return (
        tuple(operand.name for operand in expression.operands),
        tuple(("plain", *_made_of(sized[at])) if at in sized else _made_of(op) for at, op in ops.items()),
        tuple(rows),
        tuple(places[node] for node in expression.results),
        expression.free_extents,
        tuple((places[one.node], one.name, one.type) for one in expression.type_assertions),
        sizings,
    )


def _made_of(op: Op) -> Any:
    """Return the name of a row of the table; of another op, what makes it: a function, a name and a definition."""
    if _row(op.name) is op:
        return op.name
    assert op.definition is not None and DEFINED.remake is not None, f"{op.name} is no op that users name"
    return DEFINED.remake, op.name, op.definition


def restored(flat: Flat) -> Expression:
    """Return the expression of a flat tuple.

    Raises
    ------
    BcastgenError
        If it names an op that the table does not have.
    """
    names, ops, rows, results, free_extents, assertions, sizings = flat
    operands = tuple(Operand(at, name) for at, name in enumerate(names))
    rebuilt = tuple(_op(made_of) for made_of in ops)
    nodes: list[Node] = []
    for kind, *parts in rows:
        match kind:
            case "operand":
                nodes.append(operands[parts[0]])
            case "constant":
                nodes.append(Constant(*parts))
            case "apply":
                number, of, params, *noted = parts
                notes = noted[0] if noted else NO_NOTES
                nodes.append(Apply(rebuilt[number], tuple(nodes[at] for at in of), params, notes=notes))
            case "reduce":
                name, value, *settings = parts
                from ..ops.rows.reductions import REDUCTIONS  # noqa: PLC0415 - most kernels have none

                if name not in REDUCTIONS:
                    raise BcastgenError(f"there is no reduction {name!r} in this bcastgen; make the kernel again")
                nodes.append(Reduce(REDUCTIONS[name], nodes[value], *settings))
            case _:
                nodes.append(Remap(nodes[parts[1]], parts[0], None if parts[2] is None else nodes[parts[2]]))
    return Expression(
        operands,
        tuple(nodes[at] for at in results),
        free_extents,
        tuple(TypeAssertion(nodes[at], name, type_) for at, name, type_ in assertions),
        tuple(Sizing(_op(op), tuple(nodes[at] for at in of), names, nodes[at]) for op, of, names, at in sizings),
    )


def _op(made_of: Any) -> Op:
    if isinstance(made_of, str):
        row = _row(made_of)
        if row is None:
            raise BcastgenError(f"there is no op {made_of!r} in this bcastgen; make the kernel again from its source")
        return row
    is_plain = made_of[0] == "plain"
    remake: Callable[..., Op]
    remake, name, definition = made_of[is_plain:]
    op = remake(name, definition)
    return plain_op(op) if is_plain else op
