"""The Python wrapper of a module of C: ``m_cffi.py``.

In: a module's view and its C.  Out: the text of a Python module that needs NumPy and cffi, and nothing of ours.

    axpb.c, axpb.h   ->   axpb_cffi.py: axpb(a, b, *, out=None), which compiles the C at its first call

cffi gets the header's own declarations, without comments, and without preprocessor lines except constants.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from ....core.c_flags import OPENMP_FLAGS, OPTIMISED, RESULT_FLAGS
from ....core.dtypes import DType
from ....core.errors import BcastgenError, statuses
from ....core.frozen import dataclass
from ....loops.interpret import result_extents
from ...kernel.model import KernelView
from ...templating.render import render_template
from ..shared import CHECKS, HEADER, MACROS, PREFIX

if TYPE_CHECKING:
    from ..module import ModulePart, ModuleView

__all__ = ["cffi_wrapper"]


@dataclass(frozen=True, slots=True)
class RowView:
    """An operand or result: its name, its NumPy dtype; `shown` is its rank, or its shape in the static form.

    `added` is the dtype in ml_dtypes of which the NumPy dtype is the bits; None for NumPy's own. An extent has none.
    """

    name: str
    dtype: str
    added: str | None
    shown: str


@dataclass(frozen=True, slots=True)
class WrappedKernel:
    """A kernel's Python function: its name `python`, its `parameters`, and its type `title`."""

    function: str
    stem: str
    python: str
    parameters: tuple[str, ...]
    title: str
    operands: tuple[RowView, ...]
    results: tuple[RowView, ...]
    demands: bool


def cffi_wrapper(module: ModuleView, files: Mapping[str, str]) -> str:
    """Return the text of a module's wrapper.

    Parameters
    ----------
    module : its view.
    files : the names and texts of its C.
    """
    options = [OPTIMISED, *(OPENMP_FLAGS if module.form.openmp else ()), *(flag.text for flag in RESULT_FLAGS)]
    pairs = zip(module.kernels, module.parts, strict=True)
    text = render_template(
        "project/cffi.py.j2",
        name=module.name,
        shared=PREFIX,
        most_rank=f"{MACROS}_MAX_RANK",
        kernels=[_wrapped(kernel, part, module.form.static) for kernel, part in pairs],
        sources=[name for name in files if name.endswith(".c")],
        headers=[name for name in files if name.endswith(".h")],
        options=options,
        declarations=_declarations(files[f"{module.name}.h"], files.get(HEADER, "")),
        static=module.form.static,
        refusals=_refusals(module),
        links=OPENMP_FLAGS if module.form.openmp else (),
        extents=any(kernel.extents for kernel in module.kernels),
        unranked=any(result.rank is None for kernel in module.kernels for result in kernel.results),
    )
    return text.rstrip() + "\n"


def _declarations(header: str, shared: str = "") -> str:
    r"""Return the part of a header that cffi reads, behind that of the header that all modules share.

    Examples
    --------
    >>> _declarations("/* An array */\n#define M_MAX_RANK 64\n#ifdef X\n#endif\nint f(int *restrict x);\n")
    '#define M_MAX_RANK 64\nint f(int *x);'
    """
    text = re.sub(r"/\*.*?\*/", "", f"{shared.partition(CHECKS)[0]}\n{header}", flags=re.DOTALL).replace("\\\n", " ")
    text = re.sub(r"^static inline .*?^}\n", "", text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r'#ifdef __cplusplus\n(?:extern "C" {|})\n#endif\n', "", text)
    text = re.sub(r"^#(?!define \w+ \d+$).*\n?", "", text, flags=re.MULTILINE)
    text = re.sub(r"\b(?:\w+_)?(?:restrict|RESTRICT|API)\b ?", "", text)
    return re.sub(r"\n\s*\n+", "\n", text).strip()


def _refusals(module: ModuleView) -> dict[int, str]:
    """Return the statuses of elements that a module's kernels do not take, and their sentences."""
    used = {nest.demand_status for kernel in module.kernels for nest in kernel.demands} or {"DOMAIN"}
    return {value: sentence for value, (name, sentence) in statuses().items() if name in used}


def _wrapped(kernel: KernelView, part: ModulePart, static: bool) -> WrappedKernel:
    """Return the view of a kernel's Python function."""
    given = part.program.operands[: len(kernel.given)]
    shown = [name if at in kernel.extents else f"{type_} {name}" for at, (name, type_) in enumerate(given)]
    results = [str(type_) for _, type_ in part.program.results]
    title = f"{kernel.function}({', '.join(shown)}) -> {', '.join(results)}"
    shapes = _static_shapes(kernel, part) if static else [""] * len(given) + [str(r.rank) for r in kernel.results]
    dtypes = (*part.typed.operand_dtypes[: len(given)], *part.typed.result_dtypes)
    names = (*(name for name, _ in given), *(name for name, _ in part.program.results))
    triples = zip(names, dtypes, shapes, strict=True)
    rows = tuple(
        RowView(name, "", None, "None") if at in kernel.extents else _row(name, dtype, shape)
        for at, (name, dtype, shape) in enumerate(triples)
    )
    return WrappedKernel(
        kernel.function,
        kernel.name,
        _python(kernel.function),
        tuple(_python(name) for name in kernel.given),
        title,
        rows[: len(given)],
        rows[len(given) :],
        bool(kernel.demands),
    )


def _row(name: str, dtype: DType, shown: str) -> RowView:
    stored = dtype.c_in_memory.removesuffix("_t") if dtype.is_added else dtype.np.name
    return RowView(name, stored, dtype.numpy if dtype.is_added else None, shown or "None")


def _static_shapes(kernel: KernelView, part: ModulePart) -> list[str]:
    shapes = [tuple(dim.extent for dim in type_.dims) for _, type_ in part.program.operands]
    known = [tuple(extent for extent in shape if extent is not None) for shape in shapes]
    if known != shapes:
        raise BcastgenError(f"{kernel.function} has extents that are not known; the static form needs all of them")
    return [str(shape) for shape in (*known[: len(kernel.given)], *result_extents(part.program, known))]


def _python(name: str) -> str:
    """Return a C identifier as a Python identifier that the wrapper does not use itself."""
    return f"{name}_" if keyword.iskeyword(name) or name in ("out", "np", "cache", "Path", "ffibuilder") else name
