"""The iteration domain of a nest: what is inferred of its extents, and which run-time checks remain.

In: the operands a nest reads, with their types, and the declared result type.  Out: a :class:`Domain`.

    f32[?, ?] a, f32[?, ?] b  ->  (d0, d1) checked: a.0 in {1, d0}; ...; b.1 in {1, d1}
"""

from __future__ import annotations

from ..shape.broadcast import BroadcastInfo, broadcast
from ..shape.constraints import Constraint
from ..shape.tensor_type import TensorType
from ..shape.verify import verify_result
from .nest import Domain

__all__ = ["iteration_domain"]


def iteration_domain(
    operands: tuple[tuple[str, TensorType], ...], results: tuple[tuple[str, TensorType | None], ...]
) -> Domain:
    """Infer the domain of operands that broadcast together, and verify the declared results against it.

    Raises
    ------
    BroadcastError
        For what cannot hold at run time.
    """
    # A result that reads no operand is a scalar.
    reads = operands or (("", TensorType(None, ())),)
    info: BroadcastInfo = broadcast(reads, entry=bool(operands))
    constraints: list[Constraint] = list(info.constraints)
    for name, declared in results:
        if declared is not None:
            constraints += verify_result(info, name, declared)
    return Domain(info.dims, info.unranked, info.setters, info.stretching, tuple(constraints))
