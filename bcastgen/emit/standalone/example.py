"""An example call of a kernel for the comment of its header: it compiles as the body of a function, and runs.

In: a kernel's view and program.  Out: lines of C, none if no shape is found that the kernel takes.

    (f32[?,?] a, f32[?] b) -> a + b   ->   float a_data[6] = {0}, b_data[3] = {0}, ...; k(&a, &b, &r, &why);

The shapes are those of the self-checking program: the smallest that it would call the kernel with.
"""

from __future__ import annotations

from itertools import groupby
from math import prod

from ...core.dtypes import DType
from ...core.frozen import dataclass, replace
from ...loops.interpret import Extents
from ...loops.nest import LoopProgram
from ..kernel.model import KernelView
from .cases import Case, cases
from .shared import MACROS, PREFIX
from .static import StaticView

__all__ = ["example_call"]

# Larger arrays are static in the example, since a stack may not have room for them.
_MOST_BYTES = 4096


@dataclass(frozen=True, slots=True)
class _Array:
    """An array of the example: its name, extents and dtype; an extent that the caller gives has no data.

    Its rows are aligned to `alignment` bytes, if that is not 0, by gaps between them.
    """

    name: str
    extents: Extents
    dtype: DType
    is_result: bool
    is_extent: bool = False
    alignment: int = 0
    ending: str = ""

    @property
    def data(self) -> str:
        """The name of its memory."""
        return f"{self.name}_data{self.ending}"

    @property
    def extents_name(self) -> str:
        """The name of its extents."""
        return f"{self.name}_extents{self.ending}"

    @property
    def strides_name(self) -> str:
        """The name of its strides."""
        return f"{self.name}_strides{self.ending}"

    @property
    def locals(self) -> tuple[str, str, str]:
        """The names of the variables beside its descriptor."""
        return self.data, self.extents_name, self.strides_name

    @property
    def kind(self) -> str:
        """The type of its descriptor, without the prefix."""
        return "result" if self.is_result else "array"

    @property
    def passed(self) -> str:
        """The argument that stands for it."""
        return self.name if self.is_extent else f"&{self.name}"

    @property
    def elements(self) -> int:
        """The number of elements in memory, at least 1; a complex number has two."""
        points = self.byte_strides[0] * self.extents[0] // self.dtype.bytes if self.alignment else prod(self.extents)
        return max(1, points) * (2 if self.dtype.is_complex else 1)

    @property
    def byte_strides(self) -> tuple[int, ...]:
        """Its strides, where rows are aligned."""
        *outer, last = self.extents
        step = -(-last * self.dtype.bytes // self.alignment) * self.alignment
        return (*(step * prod(outer[at + 1 :]) for at in range(len(outer))), self.dtype.bytes)

    @property
    def c(self) -> str:
        """The C type of its memory."""
        return self.dtype.part.c if self.dtype.is_complex else self.dtype.c_in_memory

    @property
    def is_static(self) -> bool:
        """Whether it is too large for the stack."""
        return self.elements * self.dtype.bytes > _MOST_BYTES


def example_call(view: KernelView, program: LoopProgram, static: StaticView | None, alignment: int) -> tuple[str, ...]:
    """Return the lines of a call of the kernel with arrays of zeros, and of the message of its status.

    Parameters
    ----------
    view, program, static : the kernel, and its form if that takes pointers.
    alignment : what callers promise of rows, in bytes.
    """
    if view.sized is not None:
        return ()  # Nothing here knows which extents its ops' shape functions accept.
    taken = [case for case in cases(program) if case.results and all(map(prod, (*case.operands, *case.results)))]
    if not taken:
        return ()
    case = min(taken, key=_dullness)
    arrays = _arrays(view, program, case)
    if static is not None:
        return _of_pointers(view, program, static, case, arrays, alignment)
    rows = {array.owner: array.alignment for nest in view.nests for array in nest.arrays}
    return _of_descriptors(view, [replace(one, alignment=rows.get(one.name, 0)) for one in arrays])


def _dullness(case: Case) -> tuple[int, int]:
    """Return how many extents of a case are 1, and how many elements it has."""
    shapes = (*case.operands, *case.results)
    return sum(shape.count(1) for shape in shapes), sum(map(prod, shapes))


def _arrays(view: KernelView, program: LoopProgram, case: Case) -> list[_Array]:
    dtypes = {access.number: access.dtype for nest in program.nests for access in nest.operands}
    named = [(name, dtypes.get(at), at in view.extents) for at, name in enumerate(view.given)]
    operands = [
        _Array(name, shape, dtype or _declared(program, at), False, is_extent)
        for at, ((name, dtype, is_extent), shape) in enumerate(zip(named, case.operands, strict=False))
    ]
    results = [(access.number, access.dtype) for nest in program.nests if not nest.reduced for access in nest.results]
    by_number = dict(results)
    first = len(view.reduced)
    arrays = operands + [
        _Array(result.name, shape, by_number[first + at], True)
        for at, (result, shape) in enumerate(zip(view.outputs, case.results, strict=True))
    ]
    # Operands may be called a and a_data.
    names = {one.name for one in arrays}
    ending, count = "", 1
    while names & {name for one in arrays for name in replace(one, ending=ending).locals}:
        count += 1
        ending = f"_{count}"
    return [replace(one, ending=ending) for one in arrays]


def _declared(program: LoopProgram, at: int) -> DType:
    """Return the dtype of an operand that no nest reads."""
    dtype = program.operands[at][1].dtype
    assert dtype is not None
    return dtype


def _memory(arrays: list[_Array]) -> list[str]:
    """Declare the memory of arrays, those of one type together."""
    lines = []
    for (is_static, alignment, c), group in groupby(arrays, key=lambda one: (one.is_static, one.alignment, one.c)):
        names = ", ".join(f"{one.data}[{one.elements}]{'' if one.is_result else ' = {0}'}" for one in group)
        lines.append(f"{'static ' if is_static else ''}{_aligned(alignment)}{c} {names};")
    return lines


def _of_descriptors(view: KernelView, arrays: list[_Array]) -> tuple[str, ...]:
    text = "text" if all("text" not in (one.name, *one.locals) for one in arrays) else "text_of_status"
    described = [one for one in arrays if not one.is_extent]
    ranked = [one for one in described if one.extents]
    lines = _memory(described)
    if ranked:
        extents = (f"{one.extents_name}[] = {{{', '.join(map(str, one.extents))}}}" for one in ranked)
        lines.append(f"const int64_t {', '.join(extents)};")
    padded = (f"{one.strides_name}[] = {{{', '.join(map(str, one.byte_strides))}}}" for one in ranked if one.alignment)
    lines += [f"const int64_t {', '.join(padded)};"] if any(one.alignment for one in ranked) else []
    strides = ", ".join(f"{one.strides_name}[{len(one.extents)}]" for one in ranked if not one.alignment)
    lines += [f"int64_t {strides};"] if strides else []
    lines += [f"const int64_t {one.name} = {one.extents[0]};" for one in arrays if one.is_extent]
    lines += [f"const {PREFIX}_{one.kind} {one.name} = {_descriptor(one)};" for one in described]
    lines += [f"{PREFIX}_diagnostic why;", f"char {text}[200];"]
    given = ", ".join(one.passed for one in arrays if not one.is_result)
    passed = ", ".join(one.passed for one in arrays)
    workspace = ""
    if view.workspace:
        lines.insert(0, "// malloc and free are those of <stdlib.h>")
        lines += ["size_t bytes = 0;", f"{PREFIX}_status status = {view.name}_workspace({given}, &bytes, &why);"]
        lines += [f"void *const {view.workspace} = malloc(bytes);"]
        workspace = f"{view.workspace}, "
        lines += [f"if (status == {MACROS}_OK) status = {view.function}({passed}, {workspace}&why);"]
    else:
        lines += [f"const {PREFIX}_status status = {view.function}({passed}, &why);"]
    lines += [f"{view.name}_message(status, &why, {text}, sizeof {text});"]
    return (*lines, f"free({view.workspace});") if view.workspace else tuple(lines)


def _aligned(alignment: int) -> str:
    return f"alignas({alignment}) " if alignment else ""


def _descriptor(one: _Array) -> str:
    if one.alignment:
        return f"{{{one.data}, {one.extents_name}, {one.strides_name}, {len(one.extents)}}}"
    own = f"{one.extents_name}, {len(one.extents)}, {one.strides_name}" if one.extents else "NULL, 0, NULL"
    size = f"{'2 * ' if one.dtype.is_complex else ''}sizeof *{one.data}"
    return f"{PREFIX}_dense{'_result' if one.is_result else ''}({one.data}, {own}, {size})"


def _of_pointers(
    view: KernelView, program: LoopProgram, static: StaticView, case: Case, arrays: list[_Array], alignment: int
) -> tuple[str, ...]:
    own = f"{view.module}_"
    lines = []
    aligned = {name for name, _ in static.aligned}
    for one, (name, _, c) in zip(arrays, static.shapes, strict=True):
        spelled = one.c if c == "void" else c.replace("bcg_", own)
        count = max(1, prod(one.extents))
        zeros = "" if one.is_result else " = {0}"
        promised = _aligned(alignment if name in aligned else 0)
        lines.append(f"{'static ' if one.is_static else ''}{promised}{spelled} {one.data}[{count}]{zeros};")
    lines += [f"{_flat(declaration)};" for declaration in static.kept]
    symbols = {
        dim.symbol: extent
        for (_, type_), shape in zip(program.operands, case.operands, strict=False)
        for dim, extent in zip(type_.dims, shape, strict=True)
        if dim.symbol is not None
    }
    sizes = tuple(str(symbols[symbol]) for symbol in static.symbols)
    passed = (*(one.data for one in arrays), *(name.split("[")[0].split()[-1] for name in static.kept), *sizes)
    call = f"{static.function}({', '.join(passed)});"
    return (*lines, f"const {view.module}_status status = {call}" if static.demands else call)


def _flat(declaration: str) -> str:
    """Return the declaration of an array of several dims as that of its elements."""
    name, *extents = declaration.replace("]", "").split("[")
    return f"{name}[{prod(map(int, extents))}]"
