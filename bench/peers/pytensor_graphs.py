"""PyTensor: the function on symbolic tensors, compiled by its default mode.

In: a case.  Out: the call of the compiled graph.

    bias_f32 -> pytensor.function([x0, x1], x0 + x1)(a0, a1)
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

from ..measure import Call, call
from ..spelling import Namespace, rebound
from ..workloads import Workload
from .peer import Case, Peer

__all__ = ["ROWS"]


@cache
def _namespace() -> Namespace:
    tensor = import_module("pytensor.tensor")
    # Dtypes are names there.
    names = {np.dtype(code).name for code in "?bBhHiIlLefd"}
    return Namespace(
        tensor,
        **{name: name for name in names},
        where=tensor.switch,
        rsqrt=lambda x: 1 / tensor.sqrt(x),
        rint=tensor.round,
    )


def _variables(case: Case) -> list[Any]:
    """Return symbolic operands; an extent of 1 is known, as broadcasting wants it."""
    tensor = import_module("pytensor.tensor")
    return [
        tensor.tensor(f"x{number}", dtype=dtype, shape=tuple(1 if extent == 1 else None for extent in operand.shape))
        for number, (dtype, operand) in enumerate(zip(case.dtypes, case.operands, strict=True))
    ]


_compiled: dict[tuple[Workload, tuple[tuple[bool, ...], ...]], Any] = {}


def _pytensor(case: Case) -> Call | None:
    # Its results are its own, and it compiles no 16-bit floats.
    if case.out is not None or "float16" in case.dtypes:
        return None
    stretched = tuple(tuple(extent == 1 for extent in operand.shape) for operand in case.operands)
    if (case.workload, stretched) not in _compiled:
        variables = _variables(case)
        result = rebound(case.workload.function, _namespace())(*variables)
        compiled = import_module("pytensor").function(variables, result)
        # Its check of each operand's dtype and extents, which the others have done when compiling.
        compiled.trust_input = True
        _compiled[case.workload, stretched] = compiled
    return call(_compiled[case.workload, stretched], case.operands)


ROWS = (Peer("pytensor", "pytensor", _pytensor, heavy=True),)
