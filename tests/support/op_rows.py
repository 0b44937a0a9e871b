"""Kernels of every row of the table of ops, for every dtype, and those of the golden cases.

In: tuples of dtypes.  Out: kernels of many results each, one a row that accepts such operands.

    batches((F32, F32))  ->  lists of (op, cast's target or None), each for one kernel
"""

from __future__ import annotations

import random
from itertools import product
from pathlib import Path

import numpy as np

from bcastgen.api.functions import from_text
from bcastgen.api.mlir_module import from_mlir
from bcastgen.api.op_kernels import op_kernel
from bcastgen.core.dtypes import COMPUTED
from bcastgen.core.errors import DTypeError
from bcastgen.expr.trace import converted, trace
from bcastgen.kernel.kernel import Kernel
from bcastgen.ops.table import OPS
from bcastgen.pipeline.options import Options
from bcastgen.shape.types.tensor_type import Signature, parse_type

CASES = Path(__file__).parents[1] / "cases"
# In one kernel: its checks are quadratic in them.
MOST_RESULTS = 10
ALIKE = [(kind,) * arity for arity in (1, 2, 3) for kind in COMPUTED]
MIXED = [call_types for call_types in product(COMPUTED, repeat=2) if len(set(call_types)) > 1]


def applications(call_types):
    """(op, cast's target or None) for every row that accepts operands of these dtypes."""
    found = []
    for op in OPS.values():
        if op.arity != len(call_types):
            continue
        if op.params:
            found += [(op, target) for target in COMPUTED]
            continue
        try:
            op.types(call_types)
        except DTypeError:
            continue
        found.append((op, None))
    return found


def apply(op, target, operands):
    return converted(operands[0], target, op) if op.params else op_kernel(op)(*operands)


def batches(call_types):
    """The rows of one kernel each; those with a demand by themselves, since they may refuse the call."""
    rows = applications(call_types)
    calm = [row for row in rows if row[0].demand is None]
    return [calm[at : at + MOST_RESULTS] for at in range(0, len(calm), MOST_RESULTS)] + [
        [row] for row in rows if row[0].demand is not None
    ]


def several(values):
    """What a function returns: several values as a tuple, one as it is."""
    made = tuple(values)
    return made if len(made) > 1 else made[0]


def row_kernels(call_types, numbers=()):
    """The rows that accept operands of these dtypes, as kernels; operands at these places are the number 2."""
    two = {at: np.array(2, call_types[at].np)[()] for at in numbers}
    names = tuple("abc"[: len(call_types)])
    types = tuple(parse_type(f"{kind}[{', '.join('?' * len(call_types))}]") for kind in call_types)
    signature = Signature(tuple(zip(names, types, strict=True)), None, None)
    for at, rows in enumerate(batches(call_types)):

        def function(*xs, rows=rows):
            operands = [two.get(place, x) for place, x in enumerate(xs)]
            return several(apply(*row, operands) for row in rows)

        expression = trace(function, names)
        yield Kernel(expression, f"k{at}", names, len(rows), (), signature, Options(f"k{at}"))


def all_row_kernels():
    """Kernels of every row and dtype, and of some mixed ones: those of each tuple of dtypes together."""
    return [list(row_kernels(call_types)) for call_types in (*ALIKE, *random.Random(1).sample(MIXED, 10))]


def kernels_of_numbers():
    """Kernels of every row and dtype of integers with a number for one operand: C converts numbers in its own way."""
    alike = [(kind,) * arity for arity in (2, 3) for kind in COMPUTED if kind.is_integer]
    return [list(row_kernels(call_types, (at,))) for call_types in alike for at in range(len(call_types))]


def golden_kernels():
    """The name, kernel and number of variants of each golden case."""
    for path in sorted(CASES.glob("*.case")):
        kind, _, source = path.read_text().splitlines()[0].partition(" ")
        variants = 0 if path.stem.endswith("_plain") else None
        if kind == "program":
            yield path.stem, from_text(source, path.stem, variants), variants
        elif kind == "module":
            yield path.stem, from_mlir(CASES / source), variants
