"""What the header says of each argument of a kernel, as Doxygen and editors read it.

In: a kernel's view and program.  Out: lines for the comment in front of its function.

    (f32[?,?] a, f32[?] b) -> a * b   ->   @param a  float, extents (d0 or 1, d1 or 1)
                                           @param b  float, extents (d1 or 1)
                                           @param[out] r  float, extents (d0, d1); may be a itself
"""

from __future__ import annotations

from collections.abc import Iterator

from ...core.dtypes import DType
from ...loops.nest import Access, LoopProgram, Nest
from ...shape.types.dim import Dim
from ...shape.types.tensor_type import TensorType
from ..kernel.model import KernelView
from .shared import MACROS

__all__ = ["accesses", "arguments_of_call"]


def arguments_of_call(view: KernelView, program: LoopProgram) -> tuple[str, ...]:
    """Return a line for each argument of the function that computes results, and for what it returns."""
    places = dict(view.in_place)
    lines = [
        f"@param {name}  {_operand(view, program, at)}" for at, name in enumerate(view.given) if name in view.passed
    ]
    for result in view.outputs:
        also = f"; may be {' or '.join(places[result.name])} itself" if places.get(result.name) else ""
        lines.append(f"@param[out] {result.name}  {_result(view, program, result.name)}{also}")
    if view.workspace:
        lines.append(f"@param {view.workspace}  as many bytes as {view.name}_workspace says, aligned to 16")
    return (
        *lines,
        "@param[out] why  if not null, filled in with the place of what is wrong",
        f"@return {MACROS}_OK, or what is wrong, and nothing has been written; the enum says what to do about each",
    )


def _operand(view: KernelView, program: LoopProgram, at: int) -> str:
    if at in view.extents:
        return "an extent"
    type_ = program.operands[at][1]
    found = next(accesses(program, at, is_result=False), None)
    if found is None:
        return f"its extents alone count: {_shape(type_.dims, type_.unranked)}"
    nest, access = found
    return f"{_elements(access.dtype)}, {_extents(program, nest, access)}"


def _result(view: KernelView, program: LoopProgram, name: str) -> str:
    number = len(view.reduced) + [result.name for result in view.outputs].index(name)
    nest, access = next(accesses(program, number, is_result=True))
    if len(program.nests) > 1 and nest.domain.dims:
        return f"{_elements(access.dtype)}, of the extents that {view.name}_shape gives"
    own = "of the rank and extents" if nest.domain.open else ""
    given = f"{own} that {view.name}_shape gives" if own else f"extents {_domain(nest)}"
    return f"{_elements(access.dtype)}, {given if nest.domain.dims or nest.domain.open else 'of rank 0'}"


def accesses(program: LoopProgram, number: int, is_result: bool) -> Iterator[tuple[Nest, Access]]:
    """Yield each access to an operand or a result, with its nest."""
    for nest in program.nests:
        for access in nest.results if is_result else nest.operands:
            if access.number == number:
                yield nest, access


def _elements(dtype: DType) -> str:
    """Return what an element is in memory."""
    if dtype.is_complex:
        return f"two of {dtype.part.c}"
    return dtype.c_in_memory


def _extents(program: LoopProgram, nest: Nest, access: Access) -> str:
    """Return an operand's extents in terms of the result's, where there is one nest."""
    type_: TensorType = access.type
    if type_.unranked or len(program.nests) > 1:
        return _shape(type_.dims, type_.unranked)
    if not type_.dims:
        return "of rank 0"
    texts = []
    for dim, index in zip(type_.dims, access.map.indices, strict=True):
        at = index.dim
        known = str(dim.extent) if dim.extent is not None else _name(nest, at) if at is not None else str(dim)
        texts.append(f"{known} or 1" if index.stretches else known)
    return f"extents ({', '.join(texts)})"


def _shape(dims: tuple[Dim, ...], unranked: bool) -> str:
    if unranked:
        return f"of any rank, and the last extents are ({', '.join(map(str, dims))})" if dims else "of any rank"
    return f"extents ({', '.join(map(str, dims))})" if dims else "of rank 0"


def _name(nest: Nest, dim: int) -> str:
    """Return what a dim of the result is called: its extent, its name in types, or its number."""
    own = nest.domain.dims[dim]
    return str(own.extent) if own.extent is not None else own.symbol or f"d{dim}"


def _domain(nest: Nest) -> str:
    return f"({', '.join(_name(nest, dim) for dim in range(len(nest.domain.dims)))})"
