"""Lowering: a typed expression becomes loop nests.

In: a typed expression and a type for each operand.  Out: a :class:`LoopProgram`.

    a + b * 2 over f32[?, ?], f32[?, ?]  ->  one nest (d0, d1), t0 = multiply(b, 2.0), t1 = add(a, t0), r = t1

Results that read the same operands share one domain and so one nest; a result that reads fewer operands may be smaller
than the others and gets a nest of its own (`fuse` groups them).
"""

from __future__ import annotations

from ..dtypes import DType
from ..errors import BroadcastError, DTypeError
from ..expr.infer import Typed
from ..expr.nodes import Apply as ExprApply
from ..expr.nodes import Constant, Node, Operand, topological
from ..shape.constraints import StretchesAll
from ..shape.dim import Dim
from ..shape.tensor_type import TensorType
from .affine import AffineMap, broadcast_map, identity_map
from .domain import iteration_domain
from .fuse import group_results
from .nest import Access, Apply, Domain, Let, Load, LoopProgram, Nest, Value

__all__ = ["lower"]


def lower(
    typed: Typed,
    operand_types: tuple[TensorType, ...],
    result_types: tuple[TensorType, ...] | None = None,
    result_names: tuple[str, ...] = ("r",),
) -> LoopProgram:
    """Return the loop nests of a typed expression.

    Parameters
    ----------
    typed : the expression.
    operand_types : one type an operand; its dtype, where given, must be the expression's.
    result_types : declared types of the results, verified against the inferred ones; None declares nothing.
    result_names : one name a result.

    Raises
    ------
    BroadcastError
        Where the operands, or a declared result type, cannot fit.
    """
    expression = typed.expression
    operands = tuple(
        (node.name, _with_dtype(type_, dtype, node.name))
        for node, type_, dtype in zip(expression.operands, operand_types, typed.operand_dtypes, strict=True)
    )
    if result_types is not None and len(result_types) != len(expression.results):
        raise BroadcastError(f"{len(expression.results)} results, but {len(result_types)} result types are declared")
    declared = tuple(
        None if result_types is None else _with_dtype(result_types[at], dtype, result_names[at])
        for at, dtype in enumerate(typed.result_dtypes)
    )
    nests = tuple(
        _lower_group(typed, operands, declared, result_names, group) for group in group_results(expression.results)
    )
    by_position = {access.position: (access.name, access.type) for nest in nests for access in nest.results}
    return LoopProgram(operands, tuple(by_position[at] for at in range(len(expression.results))), nests)


def _with_dtype(type_: TensorType, dtype: DType, name: str) -> TensorType:
    if type_.dtype is not None and type_.dtype is not dtype:
        raise DTypeError(f"'{name}' is declared as {type_}, but its dtype is {dtype}; declare {dtype}, or cast")
    return TensorType(dtype, type_.dims, type_.unranked, type_.container)


def _lower_group(
    typed: Typed,
    operands: tuple[tuple[str, TensorType], ...],
    declared: tuple[TensorType | None, ...],
    names: tuple[str, ...],
    group: tuple[int, ...],
) -> Nest:
    results = tuple(typed.expression.results[at] for at in group)
    order = topological(results)
    read = sorted((node for node in order if isinstance(node, Operand)), key=lambda node: node.index)
    reads = tuple(operands[node.index] for node in read)
    domain = iteration_domain(reads, tuple((names[at], declared[at]) for at in group))
    accesses = tuple(
        Access(
            node.index,
            node.name,
            operands[node.index][1],
            _map_of(node.name, operands[node.index][1], domain),
        )
        for node in read
    )
    stored = tuple(
        _result_access(at, names[at], typed.result_dtypes[at], domain.dims, domain.open, declared[at]) for at in group
    )
    body, values = _body(order, {node: Load(at) for at, node in enumerate(read)})
    return Nest(domain, accesses, stored, body, tuple(values[node] for node in results))


def _map_of(name: str, type_: TensorType, domain: Domain) -> AffineMap:
    own = frozenset(dim for operand, dim in domain.stretching if operand == name)
    front = any(
        isinstance(constraint, StretchesAll) and constraint.operand == name for constraint in domain.constraints
    )
    return broadcast_map(type_, domain.dims, domain.open, own, front)


def _result_access(
    position: int, name: str, dtype: DType, dims: tuple[Dim, ...], open: bool, declared: TensorType | None
) -> Access:
    type_ = declared if declared is not None else TensorType(dtype, dims, open)
    return Access(position, name, type_, identity_map(len(dims), open))


def _body(order: list[Node], values: dict[Node, Value]) -> tuple[tuple[Apply, ...], dict[Node, Value]]:
    body: list[Apply] = []
    for node in order:
        match node:
            case Constant():
                values[node] = node
            case ExprApply(dtype=dtype) if dtype is not None:
                dtypes = tuple(child.dtype for child in node.operands if isinstance(child.dtype, DType))
                body.append(Apply(node.op, tuple(values[c] for c in node.operands), dtypes, node.params, dtype))
                values[node] = Let(len(body) - 1)
    return tuple(body), values
