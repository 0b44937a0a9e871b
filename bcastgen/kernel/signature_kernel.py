"""Kernels with signatures, as Numba's decorator takes them: each computes in the dtypes of one, and no others.

In: a kernel's expression and its signatures, and a call.  Out: the call, in the dtypes of the signature that serves it.

    SignatureKernel(x * y, "f", ("x", "y"), signatures=(int32(int32, int32), float64(float64, float64)))
        (u8, i32) -> int32(int32, int32)          (f32, i32) -> float64(float64, float64)
"""

from __future__ import annotations

from typing import Any

from ..core.dtypes import DType, Weak
from ..core.errors import TraceError
from ..expr.build import Builder
from ..expr.nodes import Expression
from ..expr.source.numba_signatures import NumbaSignature, chosen_signature
from ..expr.trace import is_tracer
from ..pipeline.compilation import Compilation
from .kernel import Kernel

__all__ = ["SignatureKernel"]


class SignatureKernel(Kernel):
    """A kernel that computes in the dtypes of its signatures; see :func:`bcastgen.vectorize`."""

    def __init__(
        self, expression: Expression, *args: Any, signatures: tuple[NumbaSignature, ...], **options: Any
    ) -> None:
        self._declared = {one: _expression_in(expression, one) for one in signatures}
        # This expression is inlined, explained and printed: that of the only signature, else the general one.
        super().__init__(self._declared[signatures[0]] if len(signatures) == 1 else expression, *args, **options)
        self.signatures = signatures

    def _compilation(self, call_types: tuple[DType | Weak, ...], ranks: tuple[int, ...] | None = None) -> Compilation:
        made = super()._compilation(call_types, ranks)
        made.expression = self._declared[chosen_signature(self._name, self.signatures, call_types)]
        return made

    def _declared_kinds(self) -> tuple[DType | Weak, ...]:
        return self._latest.call_types if self._latest is not None else self.signatures[0].operands

    def _call_traced(self, operands: tuple[object, ...]) -> Any:
        if len(self.signatures) > 1 and any(map(is_tracer, operands)):
            shown = "; ".join(map(str, self.signatures))
            raise TraceError(
                f"{self._name} has the signatures {shown}, and which one is meant inside of another kernel is not "
                "known before a call; give it one signature, or none"
            )
        return super()._call_traced(operands)


def _expression_in(expression: Expression, signature: NumbaSignature) -> Expression:
    """Return an expression with its operands and results converted to the dtypes of a signature."""
    builder = Builder(tuple(operand.name for operand in expression.operands))
    # A Python scalar meets the signature's dtype, and has to fit it.
    nodes = tuple(
        builder.convert(operand, target, casting="safe", meets=True)
        for operand, target in zip(builder.operands, signature.operands, strict=True)
    )
    results = builder.inline(expression, nodes)
    if signature.result is not None:
        results = tuple(builder.convert(result, signature.result) for result in results)
    return builder.finish(results)
