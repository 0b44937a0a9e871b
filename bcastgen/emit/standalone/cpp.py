"""What a module tells bcastgen.hpp of its kernels: the elements of each array, which callers in C++20 are held to.

In: a kernel's view and program.  Out: a :class:`CppView`, which the module's header prints.

    (f32[?,?] a, f16[?] b) -> a * b   ->   float, bcastgen::half, float; rank 2
"""

from __future__ import annotations

from ...core.dtypes import DType
from ...core.frozen import dataclass
from ...loops.nest import LoopProgram
from ..kernel.model import KernelView
from .documentation import accesses

__all__ = ["CppView", "cpp_view"]


@dataclass(frozen=True, slots=True)
class CppView:
    """A kernel as bcastgen.hpp knows it.

    `operands` and `results` are types of C++, and so is the `workspace` if there is one. `rank` is that of the only
    result; if it is unknown, or there are several results, it is the name in bcastgen.hpp that says so.
    """

    function: str
    stem: str
    operands: tuple[str, ...]
    results: tuple[str, ...]
    workspace: str
    rank: int | str


def cpp_view(view: KernelView, program: LoopProgram) -> CppView:
    """Return the types of a kernel's arguments."""
    operands = tuple(_operand(view, program, at) for at, name in enumerate(view.given) if name in view.passed)
    first = len(view.reduced)
    results = tuple(
        _elements(next(accesses(program, first + at, is_result=True))[1].dtype) for at in range(len(view.outputs))
    )
    rank = view.outputs[0].rank
    of_rank = "bcastgen::any_rank" if rank is None else rank
    return CppView(
        view.function,
        view.name,
        operands,
        results,
        "bcastgen::memory" if view.workspace else "",
        of_rank if len(view.outputs) == 1 else "bcastgen::several_results",
    )


def _operand(view: KernelView, program: LoopProgram, at: int) -> str:
    if at in view.extents:
        return "bcastgen::extent"
    found = next(accesses(program, at, is_result=False), None)
    return "bcastgen::anything" if found is None else _elements(found[1].dtype)


def _elements(dtype: DType) -> str:
    if dtype.is_complex:
        return f"std::complex<{dtype.part.c}>"
    if dtype.kind == "bool":
        return "bool"
    c = dtype.c_in_memory
    return "bcastgen::half" if dtype.is_float16 else f"std::{c}" if c.endswith("_t") else c
