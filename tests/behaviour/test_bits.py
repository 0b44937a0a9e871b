"""An element's result has the same bits in every layout, by any number of threads and on every machine with FMA.

docs/reliability.md promises it, with two exceptions: the bits of a NaN, and which of 0.0 and -0.0 is the smaller.
"""

from __future__ import annotations

import platform
from pathlib import Path

import numpy as np
import pytest

from bcastgen.api.op_kernels import op_kernel
from bcastgen.core.dtypes import COMPUTED
from bcastgen.core.errors import DTypeError
from bcastgen.ops.table import OPS
from expression_programs import EITHER_ZERO
from long_runs import some

ROWS, COLUMNS = 17, 61  # neither fills vectors
LARGE = 300_000  # elements: enough that every thread has a part


def typed():
    """Every op with every dtype that all of its operands may have."""
    for op in OPS.values():
        for kind in COMPUTED:
            try:
                if not op.params:
                    yield op, kind, op.types((kind,) * op.arity)[0]
            except DTypeError:
                pass


CASES = [pytest.param(*case, id=f"{case[0].name}-{case[1]}") for case in typed()]


@pytest.fixture
def values(samples):
    """Call ``values(op, kind, loops)`` for a matrix of each operand: edges, and values of the op's domain."""

    def made(op, kind, loops):
        found = []
        for at in range(op.arity):
            drawn = samples(kind, 300, at, op.domain)
            if op.demand_for(loops) is not None and at:
                drawn = drawn[drawn >= 0]
            found.append(np.random.default_rng(at).choice(drawn, (ROWS, COLUMNS)))
        return found

    return made


def unaligned(array):
    """Memory of which no element is aligned."""
    memory = np.empty(array.nbytes + 1, np.uint8)[1:]
    memory[:] = np.frombuffer(array.tobytes(), np.uint8)
    return memory.view(array.dtype).reshape(array.shape)


def shifted(array):
    """Memory that begins one element behind what vectors are aligned to."""
    memory = np.empty(array.size + 1, array.dtype)[1:].reshape(array.shape)
    memory.view(np.uint8)[...] = array.view(np.uint8)
    return memory


def results_by_layout(kernel, matrices, layouts):
    """Yield the name of a layout, the results in it, and the part of the matrix that they are of."""
    forms = {**layouts, "unaligned": unaligned, "shifted": shifted}
    for name, lay in forms.items():
        yield name, kernel(*map(lay, matrices)), ...
    for name, part in (("a row", (3, slice(None))), ("a column", (slice(None), 5)), ("an element", (2, 7))):
        yield name, kernel(*(matrix[part] for matrix in matrices)), part
    if len(matrices) > 1:
        # Each operand in turn is a row, a column or an element that stretches: its own of the matrix.
        for at in range(len(matrices)):
            for name, part in (("row", np.s_[4:5]), ("column", np.s_[:, 6:7]), ("element", np.s_[8:9, 9:10])):
                given = [matrix[part] if at == other else matrix for other, matrix in enumerate(matrices)]
                whole = [np.broadcast_to(each, (ROWS, COLUMNS)).copy() for each in given]
                yield f"operand {at} a {name} that stretches", kernel(*given), kernel(*whole)
    out = np.empty((COLUMNS, 2 * ROWS), np.asarray(kernel(*matrices)).dtype).T[::-2]
    yield "a result that is strided", kernel(*matrices, out=out), ...


def hold(op, kernel, matrices, layouts, differences):
    wanted = kernel(*matrices)
    for name, got, part in results_by_layout(kernel, matrices, layouts):
        expected = part if isinstance(part, np.ndarray) else wanted[part]
        wrong = differences(np.asarray(got), np.asarray(expected), 0, op.name in EITHER_ZERO)
        assert not wrong.any(), f"{name}: {np.asarray(got)[wrong][:3]} for {np.asarray(expected)[wrong][:3]}"
    return wanted


@pytest.mark.parametrize(("op", "kind", "loops"), some(CASES[::9], 12))
def test_a_sample_has_the_same_bits_in_every_layout(op, kind, loops, values, layouts, differences):
    hold(op, op_kernel(op), values(op, kind, loops), layouts, differences)


@pytest.mark.slow
@pytest.mark.parametrize(("op", "kind", "loops"), some(CASES, 40))
def test_bits_are_the_same_everywhere(op, kind, loops, values, layouts, differences, monkeypatch):
    matrices = values(op, kind, loops)
    kernel = op_kernel(op)
    wanted = hold(op, kernel, matrices, layouts, differences)
    either = op.name in EITHER_ZERO
    large = [np.resize(matrix, LARGE) for matrix in matrices]
    for threads in (1, 2, 3):
        kernel.threads = threads
        wrong = differences(kernel(*large), np.resize(wanted, LARGE), 0, either)
        assert not wrong.any(), f"{threads} threads: {[x[wrong][:3] for x in large]}"
    if platform.machine() == "x86_64" and " fma " in Path("/proc/cpuinfo").read_text():
        monkeypatch.setenv("BCASTGEN_CFLAGS", "-march=x86-64-v3 -O1")
        assert not differences(op_kernel(op)(*matrices), wanted, 0, either).any()
