"""The floating-point errors of a call, told by the values of the ops: for kernels whose C raises other exceptions.

In: a kernel, and a call of it.  Out: the errors, as bits of `runtime.float_errors`.

    log, (array([1.0, 0.0]),)  ->  DIVIDE
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..runtime.float_errors import report
from ..runtime.outs import bind_outs
from ..runtime.slow_path import bind, call_clean, clean_operand, without_strict
from .ufunc_loops import loop_dtypes, signature_dtypes
from .ufunc_variants import variant_of

__all__ = ["raised_by", "report_answered"]


def raised_by(kernel: Any, args: tuple[object, ...], named: dict[str, object], asked: Any) -> int:
    """Return the errors of a call, found before its outs are written to."""
    values, _ = without_strict(bind(kernel, args, {name: value for name, value in named.items() if name != "out"}))
    operands = tuple([clean_operand(name, value) for name, value in zip(kernel.operands, values, strict=False)])
    given = signature_dtypes(kernel, asked.dtype, asked.signature)
    if given is not None:
        loops = loop_dtypes(kernel, operands, bind_outs(kernel, asked.out), given, asked.casting)
        if loops is not None:
            kernel, operands = variant_of(kernel).converted(operands, loops)
    return _raised_at(kernel, operands, asked.where)


def _raised_at(kernel: Any, operands: tuple[object, ...], where: Any = None) -> int:
    """Return the errors of a call with clean operands, at the points that a mask selects; 0 if nothing tells them."""
    telling = variant_of(kernel).raising()
    if telling is None:
        return 0
    kernel, masked = telling
    raised = 0
    for at, bits in enumerate(call_clean(kernel, operands, (None,) * len(kernel.results))):
        if where is None or at >= masked:
            raised |= int(np.bitwise_or.reduce(bits, axis=None))
            continue
        try:
            both = np.broadcast_arrays(bits, where)
        except ValueError:
            continue  # the call itself refuses such a mask
        raised |= int(np.bitwise_or.reduce(both[0][both[1]], axis=None))
    return raised


def report_answered(kernel: Any, operands: tuple[object, ...]) -> None:
    """Report the errors of a call that NumPy has answered in place of the binary, whose flags would tell them.

    Raises
    ------
    FloatingPointError
        If `numpy.errstate` says so.
    """
    report(kernel, _raised_at(kernel, operands))
