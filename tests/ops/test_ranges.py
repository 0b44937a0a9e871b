"""The range of each op's result holds every result: all ranges of some numbers, tried by all of these.

What is computed are the references of the ops, in 64 bits, where none of these numbers wraps.
"""

from __future__ import annotations

from itertools import combinations_with_replacement, product

import numpy as np
import pytest

from bcastgen.ops.ranges import range_of
from bcastgen.ops.table import OPS

# Around zero, around powers of two, and where a shift loses all bits of a byte.
NUMBERS = np.array([-128, -9, -8, -3, -2, -1, 0, 1, 2, 3, 7, 8, 9, 127])
COUNTS = np.array([-3, -1, 0, 1, 3, 7, 8, 31, 63, 64, 70])
FEW = np.array([-8, -1, 0, 3, 8])  # of the ops that have three operands
OF_INTEGERS = sorted(name for name, op in OPS.items() if op.integers.range and not op.params)


def numbers(op, at):
    if op.arity == 3:
        return np.array([0, 1]) if op.name == "where" and at == 0 else FEW
    return COUNTS if op.integers.shifts and at == 1 else NUMBERS


@pytest.mark.parametrize("name", OF_INTEGERS)
def test_no_result_lies_outside(name):
    op, tried = OPS[name], 0
    function = range_of(op.integers.range)
    axes = [numbers(op, at) for at in range(op.arity)]
    values = np.asarray(op.evaluate(*np.meshgrid(*axes, indexing="ij")), np.int64)
    for places in product(*(combinations_with_replacement(range(len(axis)), 2) for axis in axes)):
        ranges = [(int(axis[low]), int(axis[high])) for axis, (low, high) in zip(axes, places, strict=True)]
        found = function(*ranges)
        if found is None or max(map(abs, found)) >= 2**63:
            continue
        part = values[tuple(slice(low, high + 1) for low, high in places)]
        assert found[0] <= part.min() and part.max() <= found[1], f"{name} of {ranges} is not in {found}: {part}"
        tried += 1
    assert tried > 10


def test_ranges_are_not_the_whole_dtype():
    def range_from(name):
        return range_of(OPS[name].integers.range)((0, 100), (1, 3))

    assert range_from("bitwise_and") == (0, 3)
    assert range_from("bitwise_or") == (0, 127)
    assert range_from("floor_divide") == (0, 100)
    assert range_from("remainder") == (0, 2)
