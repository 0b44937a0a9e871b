"""Ops with a user's shape function: a program of the shape dialect sizes the result, maps place the operands.

In: a row, a program from the operands' extents to the result's, and a map for each operand.  Out: a kernel.

    maps ("(d0, d1) -> (d0)", "(d0, d1) -> (d1)"), shape = concat  ->  outer(a, b)[i, j] = f(a[i], b[j])

Seed 003 asks for this: a vendor describes an op and its shape function at run time. Every call runs the shape function
first: the extension does, and if the function refuses the operands, Python runs it again for its messages. Then the
operands' extents have to be those of the result's dims that they map to.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.errors import BroadcastError, TraceError
from ..core.forks import undivided
from ..expr.build import Builder
from ..expr.trace import applied, is_tracer
from ..expr.views import Broadcast
from ..ops.maps import plain_op, read_maps
from ..ops.row import Op
from ..pipeline.options import Options
from ..runtime.slow_path import bind
from ..runtime.strict import plain
from ..shape.dialect.interpret import Machine
from ..shape.dialect.program import Program
from ..shape.dialect.trace import program
from ..shape.dialect.values import Shape
from ..shape.types.dim import Dim
from .caller_extents import SizedKernel, with_slots

if TYPE_CHECKING:
    from ..mlir.linalg.sizes import Sizes

__all__ = ["ShapedKernel", "shape_program", "shaped_kernel"]


def shape_program(
    name: str,
    shape: Program | str | Callable[..., Any],
    operands: Sequence[str],
    values: Sequence[str | None] | None = None,
) -> Program:
    """Return the program of a shape function, which may be MLIR text, or a Python function that writes it.

    `values` has, for each operand whose values the function takes instead of its shape, their type.

    Raises
    ------
    BroadcastError
        If the program does not take one shape per operand, or values of their type, and return one shape.
    ParseError
        If the text is no shape program; the message gives the place in it.
    TraceError
        If `shape` is no program, text or function.
    """
    if isinstance(shape, str):
        from ..mlir.shape.read_program import program_from_text  # noqa: PLC0415 - most are written in Python

        shape = program_from_text(shape, f"<shape of {name}>")
    if not isinstance(shape, Program) and not callable(shape):
        raise TraceError(
            f"{name}: the shape function is {shape!r}, expected a program of bcastgen.shape, its MLIR text, or "
            f"the Python function that writes one: lambda {', '.join(operands)}: ..."
        )
    types = tuple(values or (None,) * len(operands))
    wanted = {key: type_ or "!shape.shape" for key, type_ in zip(operands, types, strict=True)}
    made = shape if isinstance(shape, Program) else program(name, shape, **wanted)
    made.verify()
    kinds = [value.type.kind for value in (*made.operands, *made.results)]
    shapes = [one.type.kind for one, type_ in zip(made.operands, types, strict=False) if type_ is None]
    if (
        len(made.operands) != len(operands)
        or len(made.results) != 1
        or not {*shapes, kinds[-1]} <= {"shape", "extents"}
    ):
        count = types.count(None)
        beside = f" and {len(types) - count} values" if any(types) else ""
        raise BroadcastError(
            f"{name}: the shape function takes {count} shapes{beside}, one an operand, and returns one; "
            f"this one is from {len(made.operands)} to {len(made.results)} values of types {', '.join(kinds)}"
        )
    for operand, type_ in zip(made.operands, types, strict=True):
        if type_ is not None and str(operand.type) != type_:
            raise BroadcastError(
                f"{name}: maps= says that operand '{operand.name}' of the shape function is of type {type_}, which "
                f"takes {operand.type}; say the same of both",
                operand=operand.name,
            )
    return made


class ShapedKernel(SizedKernel):
    """A kernel whose result has the extents that its own shape function computes; see :func:`bcastgen.define_op`.

    A call raises BroadcastError if the shape function refuses its operands (in its author's words), or if an operand
    does not have the extents of the result's dims that it maps to.
    """

    shape: Program

    def _call_sized(self, args: tuple[Any, ...], by_name: dict[str, Any]) -> Any:
        """Size the result by the shape function, run in Python, then call the kernel."""
        named = {name: value for name, value in by_name.items() if name != "out"}
        self._refuse_slots(args, named)
        values = bind(self, args, {**named, **dict.fromkeys(self.slots, 0)})
        if any(map(is_tracer, values)):
            assert self.op is not None
            return applied(self.op, values[: self.op.arity])
        given = map(plain, values[: len(values) - len(self.slots)])
        extents = self._slot_extents(tuple(np.asarray(value).shape for value in given))
        return super()._call_sized(args, {**by_name, "extents": extents})

    @property
    def shape_function(self) -> Program:
        """The program that sizes the result."""
        return self.shape

    def _result_shape(self, shapes: tuple[object, ...], extents: Any = None) -> Any:
        """Return the result's shape for operands of these shapes."""
        if extents is not None:
            raise TypeError(f"{self._name}.result_shape() has no extents to be given; its shape function says them")
        with undivided:
            from .sizing import shapes_of  # noqa: PLC0415 - calls size results themselves
        names = self.operands[: len(self.operands) - len(self.slots)]
        return super()._result_shape(shapes, self._slot_extents(shapes_of(self, names, shapes)))

    def _linalg_sizes(self) -> Sizes:
        with undivided:
            from ..mlir.linalg.sizes import Sizes  # noqa: PLC0415 - calls print no MLIR
        return Sizes(self.shape, (self.slots,))

    def _guard_code(self, ranks: bytes, given: bytes) -> bytes | None:
        """Return the shape function and the guards as numbers; None if only Python can run the function."""
        with undivided:
            from ..emit.shape_program.code import program_code  # noqa: PLC0415 - needed once the kernel is called
            from ..loops.guard_code import guard_code  # noqa: PLC0415 - likewise
        sizes = None if any(given) else program_code(self.shape, (range(len(self.slots)),))
        return None if sizes is None else guard_code(self._sizing((*ranks, *(1 for _ in given))).guards, None, sizes)

    def _slot_extents(self, shapes: tuple[Any, ...]) -> dict[str, int]:
        (result,) = Machine(running=True).execute(self.shape, shapes)
        found = result.value if isinstance(result.value, Shape) else Shape(tuple(result.value or ()))  # type: ignore[arg-type]
        if found.error is not None:
            raise BroadcastError(f"{found.error}: {result.cause}" if found.error else result.cause)
        if not found.is_known:
            raise BroadcastError(
                f"the shape function of {self._name} gives {found} for these shapes; give the extents of all operands"
            )
        extents: tuple[Any, ...] = found.extents
        if len(extents) != len(self.slots):
            raise BroadcastError(
                f"the shape function of {self._name} gives rank {len(extents)}, its maps are of rank {len(self.slots)}"
            )
        return dict(zip(self.slots, extents, strict=True))


def shaped_kernel(op: Op, shape: Program, names: tuple[str, ...], maps: Sequence[str]) -> ShapedKernel:
    """Return the kernel of an op whose maps place its operands; none of these maps has a dim that stretches."""
    rank, places = read_maps(op.name, maps, len(names))
    builder = Builder(names)
    dims = tuple(Dim(f"d{at}") for at in range(rank))
    views = [
        builder.remap(operand, Broadcast(tuple(place.at for place in own if place.at is not None), dims))
        for operand, own in zip(builder.operands, places, strict=True)
    ]
    expression, _ = with_slots(builder.finish((builder.apply(plain_op(op), tuple(views)),)), None)
    operands = tuple(operand.name for operand in expression.operands)
    kernel = ShapedKernel(expression, op.name, operands, 1, (), None, Options(op.name, stretch=False, explicit=False))
    kernel.shape, kernel.op = shape, op
    kernel.__doc__ = op.doc
    return kernel
