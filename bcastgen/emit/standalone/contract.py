"""The comment of a kernel in its header: what it computes, an example call, and its contract with callers.

In: a kernel's view and program.  Out: the text of a comment.

    (f32[?] a) -> a + 1   ->   (f32[?] a) -> a + 1; @code{.c} ... @endcode; Contract: Descriptors are not null; ...
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence

from ...core.resources import csrc_file
from ...expr.infer import Typed
from ...loops.nest import LoopProgram, checked_line
from ..c_text.references import names
from ..c_text.wrap import NO_BREAK
from ..kernel.model import KernelView
from . import freestanding
from .example import example_call
from .form import CForm
from .instruction_sets import find_sets
from .shared import MACROS
from .stack import stack_sentence
from .static import StaticView, static_sentences
from .target import find_target

__all__ = ["contract", "float_control", "guards", "internals", "numbers_said", "renamed"]

# What is said of reductions whose results depend on the order of elements.
ORDER = (
    "Floats are reduced in one order, whatever the strides and the number of threads: element k of a block of 128 goes "
    "to lane k % 16, lanes are combined in pairs, then blocks in pairs, then pairs of these. Each of n elements takes "
    "part in at most 13 + log2(n / 128) additions."
)
_THREADS = "Compiled with -fopenmp, large loops are divided among threads; results are the same."
# The flags that csrc/helpers/bcg_flags.h refuses, as far as compilers reveal them.
_NEVER = "Not for -ffast-math, any flag that is part of it, or x87 registers (-mfpmath=387)."


# The most columns of a line of the example.
_CODE = 112


def contract(
    view: KernelView,
    program: LoopProgram,
    typed: Typed,
    fast: bool,
    form: CForm,
    static: StaticView | None = None,
    text: str = "",
    *,
    stack: Mapping[str, int],
) -> str:
    """Return the text of a kernel's comment in the header.

    `text` is the user's own expression, if there is one; `stack` says what each function takes of the stack.
    """
    sentences = (
        *(
            _descriptor_sentences(view, program)
            if static is None
            else static_sentences(static, view, form.alignment or 0)
        ),
        ORDER if _has_trees(program) else "",
        "In memory an element of f16 or bf16 is its bits, a uint16_t; every operation rounds its result once."
        if any(row.is_float16 for row in (*typed.operand_dtypes, *typed.result_dtypes))
        else "",
        "In memory an element of a float of at most 8 bits is its code, a uint8_t; a cast to it rounds once."
        if any(row.is_small_float for row in (*typed.operand_dtypes, *typed.result_dtypes))
        else "",
        "In memory an integer of less than 8 bits has a byte of its own, a uint8_t, of which the low bits are read; "
        "the others are 0 in a result."
        if any(row.is_storage and row.is_integer for row in (*typed.operand_dtypes, *typed.result_dtypes))
        else "",
        "In memory an element of c64 or c128 is two floats or doubles, the real part first, as in C's complex types "
        "and C++'s std::complex."
        if any(row.is_complex for row in (*typed.operand_dtypes, *typed.result_dtypes))
        else "",
        _accuracy(program, fast),
        freestanding.SENTENCE if form.freestanding else "",
        _THREADS if form.openmp else "",
        f"Meant for {find_target(form.target)}." if form.target is not None else "",
        _sets_sentence(form.targets),
        stack_sentence(stack[static.function if static else view.function]),
    )
    said = "Contract\n" + "\n".join(f"  {sentence}" for sentence in sentences if sentence)
    own = "\n".join(f"  {line}" for line in (text or str(typed)).splitlines())
    code = example_call(view, program, static, form.alignment or 0)
    broken = [line for one in code for line in textwrap.wrap(one, _CODE, subsequent_indent="    ")]
    lines = ("@code{.c}", *(f"  {line.replace(' ', NO_BREAK)}" for line in broken), "@endcode")
    example = "\n".join(lines) if code else ""
    return "\n\n".join(paragraph for paragraph in (own, example, said, renamed(view).strip()) if paragraph)


def internals(program: LoopProgram, typed: Typed, is_static: bool) -> str:
    """Return the text of what the compiler makes of a kernel: its expression, its nests and the checks left to them."""
    return f"{typed}\n\n{_maps(program, is_static)}"


def numbers_said(view: KernelView) -> str:
    """Return what is said of the numbers of a diagnostic that no argument of the caller has."""
    texts = [*view.arrays, *(name for _, name in view.claims)]
    said = [f"{view.numbers[at]}{_what(at, view)}" for at in range(len(texts)) if _what(at, view)]
    return f" {', '.join(said)}." if said else ""


def renamed(view: KernelView) -> str:
    """Return the lines that say which operands and results have other names in C."""
    return "".join(f"\nin C, {name} is {c}" for name, c in view.renamed)


def _maps(program: LoopProgram, is_static: bool) -> str:
    """Return the maps of each nest's accesses, and the checks left to run time; a static function has none."""
    lines: list[str] = []
    for at, nest in enumerate(program.nests):
        checked = () if is_static else program.guards.checked(at)
        lines += [nest.head, *(f"  {line}" for line in (*nest.describe(), *checked_line(checked)))]
    return "\n".join(lines)


def _what(at: int, view: KernelView) -> str:
    """Return what an operand or result is, in parentheses; nothing for a plain one."""
    if at in view.extents:
        return " (an extent)"
    if view.operand_count <= at < len(view.operands):
        return " (what a reduction gives)"
    if len(view.operands) <= at < len(view.operands) + len(view.reduced):
        return " (what is reduced)"
    return " (a constant)" if len(view.given) <= at < len(view.operands) else ""


def _descriptor_sentences(view: KernelView, program: LoopProgram) -> tuple[str, ...]:
    """Return the contract of a kernel that takes descriptors, as sentences."""
    places = [f"{result} may be {' or '.join(operands)} itself" for result, operands in view.in_place if operands]
    apart = "no byte of a result is another array's"
    in_place = f"{', '.join(places)}; otherwise {apart}" if places else f"N{apart[1:]}"
    strides = any(nest.rank is None or array.strides for nest in view.nests for array in nest.results)
    ranks = any(nest.rank is None for nest in view.nests)
    is_complex = any(access.dtype.is_complex for nest in program.nests for access in (*nest.operands, *nest.results))
    trusted = [d.constraint for nest in program.nests for d in nest.domain.decisions if d.fate == "trusted"]
    return (
        f"Shapes align on the right; ranks go up to {MACROS}_MAX_RANK." if ranks else "",
        "Descriptors and outputs other than `why` are not null; extents and strides may be, at rank 0. Strides are in "
        f"bytes, of any sign; they ({MACROS}_STRIDE) and the data ({MACROS}_ALIGNMENT) are multiples of the element "
        f"size{', data of complex numbers (not strides) of half of it' if is_complex else ''}.",
        f"{in_place} ({MACROS}_OVERLAP); arrays that interleave, such as two colours of an image, count as separate.",
        f"In a result each stride is larger than what the smaller ones span ({MACROS}_REPEATS)." if strides else "",
        _rows_sentence(view),
        f"On trust, and not checked: {'; '.join(map(str, trusted))}. Where it does not hold, behaviour is undefined."
        if trusted
        else "",
        "What is wrong with the arrays is found before anything is written. Nothing is allocated or kept.",
        f"What reductions give is kept in `{view.workspace}`: as many bytes as {view.name}_workspace says, aligned as "
        f"malloc's are to 16, and no part of an array ({MACROS}_OVERLAP). Their contents do not matter, before or "
        "after the call."
        if view.workspace
        else "",
    )


def _sets_sentence(targets: Sequence[str]) -> str:
    """Return what is said of instruction sets that a call picks from, if it does."""
    if not targets:
        return ""
    sets = [f"{row.name} ({row.doc})" for row in reversed(find_sets(targets))]
    tried = ", ".join((*sets, "what the compiler's flags name"))
    fma = "The first has FMA." if len(sets) == 1 else "All but the last have FMA."
    return (
        f"Each call takes the first of these instruction sets that the machine has: {tried}. {fma} Nothing is kept "
        "between calls. gcc from 12 and clang from 18 on compile all for 64-bit x86, others the last alone; so do "
        "these where flags name AVX2."
    )


def _rows_sentence(view: KernelView) -> str:
    """Return what callers promise of rows, if they do."""
    arrays = {array.owner: array.alignment for nest in view.nests for array in nest.arrays if array.alignment}
    if not arrays:
        return ""
    return (
        f"Rows of more than one element of {', '.join(arrays)} are aligned to {max(arrays.values())} bytes: the data "
        f"({MACROS}_ROW_DATA), and the strides between rows ({MACROS}_ROW_STRIDE)."
    )


def guards(programs: Iterable[LoopProgram], code: str) -> tuple[str, ...]:
    """Return the preprocessor lines without which compilers or flags would make results of a module's code wrong."""
    _, order, wide, narrowed, *_ = _flags_parts()
    used = names(code)
    if any(map(_has_floats, programs)):
        return f"{order}\n{wide}", *((narrowed,) if {"float", "double"} <= used else ())
    # Some integers are divided as doubles, for which excess precision does no harm.
    return (order,) if "double" in used else ()


def float_control() -> str:
    """Return the preprocessor's test of whether clang knows float_control, which bcg_flags.h makes, too."""
    (test,) = re.findall(r"^#elif defined\(__clang__\) && \((.*)\)$", _flags_parts()[1], re.MULTILINE)
    return str(test)


def _flags_parts() -> list[str]:
    return csrc_file("bcg_flags.h").read_text(encoding="utf-8").split("\n\n")


def _has_floats(program: LoopProgram) -> bool:
    """Return whether a program computes with floats, so that compiler flags may change its results."""
    statements = (statement for nest in program.nests for statement in nest.body)
    computed = any(row.is_inexact for statement in statements for row in (*statement.operand_dtypes, statement.dtype))
    return computed or _has_trees(program)


def _has_trees(program: LoopProgram) -> bool:
    """Return whether a program reduces values whose order matters."""
    return any(access.dtype.is_inexact for nest in program.nests if nest.reduced for access in nest.results)


def _accuracy(program: LoopProgram, fast: bool) -> str:
    """Return which flags results depend on, and the largest errors of functions."""
    if not _has_floats(program):
        return ""
    rows = [statement for nest in program.nests for statement in nest.body if statement.dtype.is_inexact]
    bounds = {row.op.name: row.op.ulp_for(row.dtype, fast, row.operand_dtypes) for row in rows}
    named = ", ".join(f"{name} {ulp} ULP" for name, ulp in bounds.items() if ulp)
    functions = f" Largest errors: {named}; all else is as IEEE 754 has it." if named else ""
    if fast:
        return f"Mathematics is fast: sums and products may be fused. {_NEVER}{functions}"
    but = (
        ", but for functions, which keep within their errors: their last bits differ where the machine multiplies and "
        "adds with one rounding (FMA)"
    )
    speed = " -O3 -fno-math-errno -fno-trapping-math change no result, and let gcc use vectors."
    same = "results then have the same bits, those of a NaN apart, for every other flag, compiler and machine"
    return f"Compile with -ffp-contract=off: {same}{but if named else ''}. {_NEVER}{functions}{speed}"
