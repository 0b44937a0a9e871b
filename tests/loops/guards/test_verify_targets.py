"""Explicit broadcasts to names: every signature of two small operands, held to the verifier and to NumPy's shapes."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import bcastgen as bg
from bcastgen.loops.guards.verify import unguarded

DIMS = ("k", "n", "?")
EXTENTS = list(itertools.product((1, 2), repeat=2))


def kernel_of(a, b, target):
    shown = ["None" if dim == "?" else dim for dim in target]
    return bg.from_text(
        f"(f64[{', '.join(a)}] a, f64[{', '.join(b)}] b) -> a + broadcast_in_dim(b, ({', '.join(shown)}), (0, 1))"
    )


def wanted(a, b, target, shapes):
    """Return the result's shape for operands of these shapes; None where a name, a target or a meeting is not met."""
    names = {}
    for dim, extent in zip((*a, *b), itertools.chain(*shapes), strict=True):
        if dim != "?" and names.setdefault(dim, extent) != extent:
            return None
    made = [extent if dim == "?" else names[dim] for dim, extent in zip(target, shapes[1], strict=True)]
    if any(extent not in (1, whole) for extent, whole in zip(shapes[1], made, strict=True)):
        return None
    try:
        return np.broadcast_shapes(shapes[0], tuple(made))
    except ValueError:
        return None


def result_of(kernel, shapes):
    try:
        return kernel.result_shape(*shapes)
    except bg.BroadcastError:
        return None


@pytest.mark.parametrize("a", list(itertools.product(DIMS, repeat=2)), ids=",".join)
def test_domains_are_as_large_as_what_meets_in_them(a):
    for b in itertools.product(DIMS, repeat=2):
        named = {dim for dim in (*a, *b) if dim != "?"}
        for target in itertools.product([dim for dim in DIMS if dim == "?" or dim in named], repeat=2):
            kernel = kernel_of(a, b, target)
            assert unguarded(kernel.compilation.program) == (), kernel
            for shapes in itertools.product(EXTENTS, repeat=2):
                assert result_of(kernel, shapes) == wanted(a, b, target, shapes), (kernel, shapes)
