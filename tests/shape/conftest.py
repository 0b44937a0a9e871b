"""A model of broadcasting, written apart from the package: which calls are legal, and which domain they span."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

import pytest

from bcastgen.shape.inference.operand_use import Use
from bcastgen.shape.inference.stretch_rules import Rules
from bcastgen.shape.types.dim import Dim

Extents = tuple[int, ...]
Call = Mapping[str, Extents]
NUMPY = Rules()


def fits_facts(dim: Dim, extent: int) -> bool:
    if dim.is_static:
        return extent == dim.value
    low, high, step = dim.min or 0, dim.max, dim.multiple_of or 1
    return low <= extent and (high is None or extent <= high) and extent % step == 0


def may_stretch(dim: Dim, rules: Rules, explicit: bool) -> bool:
    if dim.broadcast is not None:
        return dim.broadcast
    if dim.trusted:
        return False
    if explicit:
        return True
    return rules.stretch and (dim.is_static or rules.dynamic == "numpy")


def bind(uses: Sequence[Use], call: Call) -> dict[str, int] | None:
    bound: dict[str, int] = {}
    for use in uses:
        for dim, extent in () if use.is_target_shape else zip(use.type.dims, call[use.name], strict=True):
            if not fits_facts(dim, extent):
                return None
            if dim.symbol is not None and bound.setdefault(dim.symbol, extent) != extent:
                return None
    return bound


def shape_of(use: Use, call: Call, bound: Mapping[str, int]) -> Extents:
    if not use.is_target_shape:
        return call[use.name]
    return tuple(bound[dim.symbol] if dim.symbol is not None else dim.extent or 0 for dim in use.type.dims)


def accepts(uses: Sequence[Use], call: Call, rules: Rules = NUMPY) -> Extents | None:
    """Return the domain of a legal call, or None. Ranks are those of the types."""
    bound = bind(uses, call)
    if bound is None:
        return None
    at: dict[int, list[tuple[int, bool]]] = {}
    for use in uses:
        shape = shape_of(use, call, bound)
        for position, own, dim in use.aligned:
            target = use.target(own)
            loose = may_stretch(dim, rules, target is not None)
            # An explicit broadcast has exactly its target's extents: these meet the others in a use of their own.
            at.setdefault(position, [])
            if target is None or not loose:
                at[position].append((shape[own], loose))
            if isinstance(target, Dim):
                aim = target.extent if target.extent is not None else bound[target.symbol or ""]
            elif target is not None:
                aim = call[target[0]][target[1]]
            if target is not None and shape[own] != aim and (shape[own] != 1 or not loose):
                return None
    domain = []
    for position in range(max(at, default=0), 0, -1):
        others = {extent for extent, _ in at.get(position, ()) if extent != 1}
        if len(others) > 1:
            return None
        domain.append(others.pop() if others else 1)
        if any(extent != domain[-1] and not loose for extent, loose in at.get(position, ())):
            return None
    return tuple(domain)


def calls(uses: Sequence[Use], extents: Sequence[int]) -> list[Call]:
    """Return the calls with arrays of the types' ranks."""
    ranks = {use.name: len(use.type.dims) for use in uses if not use.is_target_shape}
    shapes = [list(itertools.product(extents, repeat=rank)) for rank in ranks.values()]
    return [dict(zip(ranks, row, strict=True)) for row in itertools.product(*shapes)]


class Semantics:
    """The functions above, for tests to ask for: test modules cannot import each other."""

    fits_facts = staticmethod(fits_facts)
    bind = staticmethod(bind)
    accepts = staticmethod(accepts)
    calls = staticmethod(calls)


@pytest.fixture(scope="session")
def semantics() -> type[Semantics]:
    return Semantics
