"""The verifier of nests: checks that the output of lowering, and of each rewrite, is well formed.

In: a nest.  Out: nothing, or the error that names the wrong statement, store or access.

    t0 = add(t1, a) : f32   ->   t0 reads t1, which is not computed before it
"""

from __future__ import annotations

from ..core.dtypes import DType
from ..core.errors import BcastgenError
from ..expr.nodes import Constant
from .nest import Access, Let, Load, Nest, Statement, Value, read_operands

__all__ = ["verify"]


def verify(nest: Nest) -> None:
    """Verify that a nest computes values before their users, that its dtypes agree, and that its maps fit the domain.

    Raises
    ------
    BcastgenError
        For the first fault found.

    Examples
    --------
    >>> from bcastgen import from_text
    >>> verify(from_text("(f32[?] a) -> a * 2").compilation.program.nests[0])
    """
    for access in (*nest.operands, *nest.results, *nest.shapes, *nest.claims):
        _access(nest, access)
    for at, statement in enumerate(nest.body):
        _statement(nest, at, statement)
    if len(nest.stores) != len(nest.results):
        raise BcastgenError(f"{len(nest.results)} results have {len(nest.stores)} stores")
    unread = set(range(len(nest.operands))) - read_operands(nest)
    if unread:
        raise BcastgenError(f"nothing reads {nest.labels[min(unread)]}: an operand whose extents count is in `shapes`")
    for access, value in zip(nest.results, nest.stores, strict=True):
        _value(nest, value, access.dtype, len(nest.body), f"the store to {access.name}")


def _access(nest: Nest, access: Access) -> None:
    domain, map_ = nest.domain, access.map
    if access.stands_by:
        return
    if map_.domain_rank != len(domain.dims) or map_.open_domain != domain.open:
        raise BcastgenError(f"the map of {access.name}, {map_}, is not over the domain {domain}")
    # The declared type of a result or claim may have fewer or more dims than the inferred domain.
    is_read = access not in (*nest.results, *nest.claims)
    if is_read and len(map_.indices) != len(access.type.dims):
        raise BcastgenError(f"the map of {access.name}, {map_}, is not for {len(access.type.dims)} dims")
    dims = [index.dim for index in map_.indices if index.dim is not None]
    if not all(0 <= dim < map_.domain_rank for dim in dims) or len(set(dims)) < len(dims):
        raise BcastgenError(f"the map of {access.name} has indices {dims} in a domain of {map_.domain_rank} dims")


def _statement(nest: Nest, at: int, statement: Statement) -> None:
    op, dtypes, name = statement.op, statement.operand_dtypes, f"t{at} = {statement.op.name}"
    if not len(statement.operands) == len(dtypes) == op.arity:
        raise BcastgenError(f"{name} has {len(statement.operands)} operands of {len(dtypes)} dtypes, not {op.arity}")
    for value, dtype in zip(statement.operands, dtypes, strict=True):
        _value(nest, value, dtype, at, name)
    if op.converts:
        if statement.params != tuple((param.name, statement.dtype) for param in op.params):
            raise BcastgenError(f"{name} converts to {statement.params}, not to {statement.dtype}")
        return
    taken, given = op.types(dtypes)
    if op.definition is not None and op.definition.typed is not None:
        # A shape function says the result's dtype from those that operands had before they were converted.
        given = statement.dtype
    if (taken, given) != (dtypes, statement.dtype):
        shown = f"({', '.join(map(str, dtypes))}) -> {statement.dtype}"
        raise BcastgenError(f"{name} is {shown}; its row says ({', '.join(map(str, taken))}) -> {given}")


def _value(nest: Nest, value: Value, dtype: DType, before: int, user: str) -> None:
    """Verify that a value has the dtype it is read as, and that one of the first `before` statements computes it."""
    own: object
    match value:
        case Load(access=access):
            if not 0 <= access < len(nest.operands):
                raise BcastgenError(f"{user} reads operand {access} of {len(nest.operands)}")
            own = nest.operands[access].dtype
        case Let(index=index):
            if not 0 <= index < before:
                raise BcastgenError(f"{user} reads t{index}, which is not computed before it")
            own = nest.body[index].dtype
        case Constant():
            own = value.dtype
            if dtype.is_integer and not dtype.min <= value.value <= dtype.max:
                raise BcastgenError(f"{user} reads {value.value}, which is no {dtype}")
    if own is not dtype:
        raise BcastgenError(f"{user} reads {nest.show(value)} of {own} as {dtype}")
