"""Dims that do not stretch because the caller of a kernel says so: see :func:`bcastgen.strict`.

In: a kernel's nests, the operands' shapes, and the dims that may not stretch.  Out: nothing, or the error.

    a + b, a.0 = 1 is strict, b.0 = 4   ->   operand 'a' dim 0 has extent 1, expected 4 (from 'b'); it does not stretch

A dim stretches if its extent is 1 and the domain's extent at its place is not. The kernel's own guards give the extents
of the domain; if these fail, nothing is checked here, since the call itself raises their error.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..core.errors import strict_mismatch
from ..loops.guard_program.interpret import Failure, domains
from ..loops.nest import Access, LoopProgram

__all__ = ["check_strict"]

Shape = tuple[int, ...]


def check_strict(program: LoopProgram, shapes: Sequence[Shape], strict: Mapping[int, tuple[int, ...]]) -> None:
    """Refuse operands with a strict dim that would stretch.

    Parameters
    ----------
    program : the kernel's nests, for any dtypes.
    shapes : of all operands, constants included.
    strict : the dims that may not stretch, by the operand's number.

    Raises
    ------
    BroadcastError
        If a strict dim would stretch.
    """
    found = domains(program.guards, shapes)
    if isinstance(found, Failure):
        return
    for nest, domain in zip(program.nests, found, strict=True):
        read = [access for access in (*nest.operands, *nest.shapes) if access.number < len(shapes)]
        for access in sorted(read, key=lambda access: access.number):
            shape = shapes[access.number]
            for own in strict.get(access.number, ()):
                place = _place(access, own, len(shape), len(domain))
                if place is not None and shape[own] == 1 != domain[place]:
                    against = _setter(read, shapes, place, domain)
                    raise strict_mismatch(access.name, own, 1, domain[place], against)


def _place(access: Access, own: int, rank: int, domain_rank: int) -> int | None:
    """Return the dim of the domain that an operand's dim is; None for a dim that a view drops, or that lies nowhere."""
    if access.positions is None:
        return domain_rank - rank + own
    # An operand of unknown rank has positions only if it is looked at, and takes no part.
    position = None if access.type.unranked else access.positions[own]
    return None if position is None else domain_rank - position


def _setter(read: Sequence[Access], shapes: Sequence[Shape], place: int, domain: Shape) -> str | None:
    """Return the name of an operand that has the extent of a dim of the domain; None if only types give it."""
    for access in read:
        shape = shapes[access.number]
        for own, extent in enumerate(shape):
            if extent == domain[place] and _place(access, own, len(shape), len(domain)) == place:
                return access.name
    return None
