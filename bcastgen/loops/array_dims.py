"""The dims of arrays along a nest's domain: which of them moves along each, and whose extent may prove to be 1.

In: a nest and an access.  Out: for each dim of the domain the array's own, or an answer.

    f32[?, 1, ?] b  in  (d0, d1, d2)   ->   (0, None, 2)
"""

from __future__ import annotations

from .nest import Access, Nest

__all__ = ["may_be_one", "own_dims"]


def own_dims(nest: Nest, access: Access, is_result: bool) -> tuple[int | None, ...]:
    """Return, for each known dim of the domain, the array's dim that moves along it; None where it has one index.

    Examples
    --------
    >>> from bcastgen import from_text
    >>> nest = from_text("(f32[?,4,?] a, f32[?,1,?] b) -> a + b").compilation.program.nests[0]
    >>> own_dims(nest, nest.operands[1], is_result=False)
    (0, None, 2)
    """
    found: list[int | None] = [None] * access.map.domain_rank
    for own, index in enumerate(access.map.indices):
        if index.dim is not None:
            # A result's declared type may give fewer extents than inference.
            dim = nest.domain.dims[index.dim] if is_result else access.type.dims[own]
            found[index.dim] = None if dim.extent == 1 else own
    return tuple(found)


def may_be_one(nest: Nest, access: Access, own: int, is_result: bool) -> bool:
    """Whether the extent of an array's dim may prove to be 1, in which case its stride in memory means nothing.

    Examples
    --------
    >>> from bcastgen import from_text
    >>> nest = from_text("(f32[?,m] a, f32[m] b) -> a + b").compilation.program.nests[0]
    >>> may_be_one(nest, nest.operands[0], 1, is_result=False)
    True
    """
    index = access.map.indices[own]
    assert index.dim is not None
    # The domain's extent is that of results, whose declared types may give fewer, and of a dim that does not stretch:
    # more of it may be known.
    of_domain = nest.domain.dims[index.dim]
    if is_result:
        return of_domain.can_be_one
    return access.type.dims[own].can_be_one and (index.stretches or of_domain.can_be_one)
