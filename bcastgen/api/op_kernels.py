"""Ready kernels: ``bcastgen.exp`` for an op of the table, ``bcastgen.divmod`` for a function that is several ops.

In: a row, or a name.  Out: a :class:`Kernel`.

    op_kernel(OPS["exp"])      composed_kernel("divmod")      named_kernel("exp"), as a pickle has it
"""

from __future__ import annotations

from collections.abc import Callable

from ..core.errors import BcastgenError, DTypeError
from ..core.forks import undivided
from ..expr.build import Builder
from ..expr.nodes import Expression
from ..expr.trace import composed
from ..kernel.kernel import Kernel
from ..ops.row import Op
from ..ops.table import CALLED_WITH_MORE, find_op, several
from ..pipeline.options import Options
from .functions import OPERAND_NAMES, kernel_of

__all__ = ["composed_kernel", "named_kernel", "op_kernel"]


def composed_kernel(name: str) -> Kernel | None:
    """Return the kernel of a function of NumPy's that is several ops: of several results, or composed; or None."""
    rows = several(name)
    if rows:
        builder = Builder(OPERAND_NAMES[: rows[0].arity])
        results = tuple(builder.call(op, tuple(builder.operands)) for op in rows)
        doc: str | None = " ".join(op.doc for op in rows)
    else:
        with undivided:
            from ..expr.compositions import COMPOSITIONS  # noqa: PLC0415 - most kernels need none

        if name not in COMPOSITIONS:
            return None
        arity, function = COMPOSITIONS[name]
        builder, doc = Builder(OPERAND_NAMES[:arity]), function.__doc__
        made = composed(name, builder, builder.operands)
        assert made is not None
        results = (made,)
    kind = _kind(name)
    kernel = kind(builder.finish(results), name, tuple(operand.name for operand in builder.operands), len(results))
    # NumPy's ufuncs of several results take theirs by position, too.
    kernel._outs_by_position = bool(rows)
    kernel.__doc__ = doc
    kernel.__module__ = "bcastgen"
    kernel._recipe = named_kernel, (name,)
    return kernel


def op_kernel(op: Op) -> Kernel:
    """Return an op as a ready kernel.

    Raises
    ------
    DTypeError
        For an op with static parameters, which have no place in a call.
    """
    if op.params:
        raise DTypeError(f"{op.name} has static parameters, which have no place in a call")
    names = OPERAND_NAMES[: op.arity] if op.definition is None else op.definition.operands
    builder = Builder(names)
    result = builder.call(op, tuple(builder.operands))
    expression: Expression = builder.finish((result,))
    kernel = (
        kernel_of(expression, op.name, (), None, Options(op.name))
        if expression.sizings
        else (_kind(op.name) if op.definition is None else Kernel)(expression, op.name, names)
    )
    kernel.op = op
    kernel.__doc__ = op.doc
    if op.definition is None:
        kernel.__module__ = "bcastgen"
        kernel._recipe = named_kernel, (op.name,)
    return kernel


def _kind(name: str) -> Callable[..., Kernel]:
    """Return what makes the kernel of a name: where NumPy's function takes more than operands, calls do, too."""
    if name not in CALLED_WITH_MORE:
        return Kernel
    with undivided:
        from ..expr import compositions  # noqa: PLC0415 - most kernels need none
        from ..kernel.function_kernel import FunctionKernel  # noqa: PLC0415 - most kernels are none

    return lambda *given: FunctionKernel(*given).of(getattr(compositions, CALLED_WITH_MORE[name]))


def named_kernel(name: str) -> Kernel:
    """Return the kernel of an op of the table, or of a function that is several ops.

    Raises
    ------
    BcastgenError
        If there is no such op or function.
    """
    op = find_op(name)
    kernel = composed_kernel(name) if op is None or op.params else op_kernel(op)
    if kernel is None:
        raise BcastgenError(f"there is no op {name!r} in this bcastgen")
    return kernel
