"""The iteration domain of a nest: its inferred extents, and the run-time checks that remain.

In: the uses of operands that meet in a nest, and the declared result types.  Out: a :class:`Domain`.

    f32[?, ?] a, f32[?, ?] b  ->  (d0, d1) checked: a.0 in {1, d0}; ...; b.1 in {1, d1}
"""

from __future__ import annotations

from collections.abc import Sequence

from ...shape.inference.broadcast import broadcast
from ...shape.inference.joint import Joint
from ...shape.inference.operand_use import OperandDim, Use
from ...shape.inference.stretch_rules import Rules
from ...shape.inference.verify import Bound, decide_result
from ...shape.types.dim import Dim
from ...shape.types.tensor_type import TensorType
from ..nest import Domain

__all__ = ["iteration_domain"]


def iteration_domain(
    uses: Sequence[Use],
    rank: int | None,
    results: tuple[tuple[str, TensorType | None], ...],
    rules: Rules,
    bound: Bound,
    joint: Joint,
    homes: tuple[tuple[str, OperandDim], ...] = (),
) -> Domain:
    """Return the domain of operands that meet, with the declared results verified against it.

    Parameters
    ----------
    uses : how each operand is read.
    rank : the domain's rank where views make it known, else None; some of its dims may belong to no operand.
    results : names, and declared types where there are any.
    rules : how dims meet.
    bound : the symbols that are bound so far; those that results of this nest bind are added.
    joint : the constraints of the nests so far; this nest's are added.
    homes : the operand's dim that binds each symbol of the kernel, whether or not this nest uses it.

    Raises
    ------
    BroadcastError
        If a constraint cannot hold at run time.
    """
    # A result that reads no operand is a scalar; dims that no operand has are 1 unless a use widens them.
    scaffold = (
        ()
        if uses and rank is None
        else (Use("", TensorType(None, (Dim(1, broadcast=True),) * (rank or 0)), is_target_shape=True),)
    )
    info = broadcast((*uses, *scaffold), entry=bool(uses), rules=rules, homes=homes)
    joint.add(info, results)
    decisions = list(info.decisions)
    for name, declared in results:
        if declared is not None:
            decisions += decide_result(info, name, declared, bound)
    sources = info.places
    setters = tuple(
        setter if source is None else source[0] for setter, source in zip(info.setters, sources, strict=True)
    )
    return Domain(info.dims, info.unranked, setters, sources, info.stretching_at, tuple(decisions), info.unknown_places)
