"""Nests of tests, before any rewrite, and what a nest computes.

In: a program as text, or a nest and arrays.  Out: its first nest, or the values of its statements and results.

    nest_of("(u8[?] a) -> a + 1")   ->   nest (d0) ...
"""

from __future__ import annotations

import numpy as np

from bcastgen.api.functions import from_text
from bcastgen.loops.nest import Let, Load

__all__ = ["nest_of", "run"]


def nest_of(text):
    """The first nest that a program is lowered to."""
    return from_text(text).compilation.program.nests[0]


def run(nest, arrays):
    """The value of every statement, then what is stored, computed by the rows' references."""
    values = []

    def of(value, kind):
        match value:
            case Load():
                return arrays[value.access]
            case Let():
                return values[value.index]
        return np.asarray(value.value).astype(kind.np)

    for statement in nest.body:
        operands = []
        for value, kind in zip(statement.operands, statement.operand_dtypes, strict=True):
            operands.append(of(value, kind))
            assert operands[-1].dtype == kind.np, f"{statement.op.name} of {operands[-1].dtype}, not {kind}\n{nest}"
        made = statement.op.evaluate(*operands, *(parameter for _, parameter in statement.params))
        values.append(np.asarray(made).astype(statement.dtype.np))
    pairs = zip(nest.stores, nest.results, strict=True)
    stored = [np.broadcast_to(of(value, access.dtype), (arrays[0].size,)) for value, access in pairs]
    for value, access in zip(stored, nest.results, strict=True):
        assert value.dtype == access.dtype.np
    return values, stored
