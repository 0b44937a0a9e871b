"""The self-checking program of a module: ``m_main.c``.

In: a module's view.  Out: the text of a C program that calls every kernel with random data, over shapes, layouts and in
place, and compares every bit with a loop that follows broadcasting's rule point by point.

    axpb.c, axpb.h   ->   axpb_main.c: prints what it did; exits with 0 if all agrees, else 1

Everything in it begins with a prefix that no name of the module's header begins with.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ....core.dtypes import DType
from ....core.frozen import dataclass
from ...c_text.references import names
from ...c_text.wrap import lay_out
from ...kernel.constants import data_lines
from ...kernel.model import KernelView
from ...templating.render import render_template
from ..cases import Case, cases
from ..freestanding import without_library
from ..shared import spelled
from .reference import ReferenceView, references

if TYPE_CHECKING:
    from ..module import ModulePart, ModuleView

__all__ = ["main_program"]

# The layouts of a case; the first is dense. Static kernels take only dense arrays, and get other data instead.
_LAYOUTS = 6


@dataclass(frozen=True, slots=True)
class TypeView:
    """An array's name, the kind of its elements in :file:`main.c.j2`, and their size in bytes."""

    name: str
    kind: str
    bytes: int


@dataclass(frozen=True, slots=True)
class ConstantData:
    """A constant array in the program: its index among the arrays, and its elements row by row."""

    number: int
    c: str
    extents: tuple[int, ...]
    byte_strides: tuple[int, ...]
    count: int
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ResultData:
    """A result by its index, and its rank, None if it is only known at run time."""

    at: int
    rank: int | None


@dataclass(frozen=True, slots=True)
class CheckedKernel:
    """A kernel as its self-checking program needs it: texts of C, and numbers.

    Arrays are numbered: operands, constants, results. `cases` are the initialisers of its shapes, of which the last
    `refused` are to be refused. `operand_numbers` are those of operands with descriptors: extents have none.
    """

    stem: str
    function: str
    stem_shape: str
    message: str
    nests: tuple[ReferenceView, ...]
    types: tuple[TypeView, ...]
    constants: tuple[ConstantData, ...]
    results: tuple[ResultData, ...]
    operand_numbers: tuple[int, ...]
    result_numbers: tuple[int, ...]
    call: str
    shape_call: str
    static_call: str
    counts: str
    in_place: str
    pairs: int
    cases: tuple[str, ...]
    accepted: int
    refused: int

    @property
    def unranked(self) -> bool:
        """Whether a result's rank is only known at run time."""
        return any(result.rank is None for result in self.results)


def main_program(module: ModuleView, header: str) -> str:
    """Return the C of a module's self-checking program.

    Parameters
    ----------
    module : its view; what is checked is what its header declares.
    header : the header's text.
    """
    triples = [
        (kernel, part, cases(part.lowered or part.program, _points(kernel)))
        for kernel, part in zip(module.kernels, module.parts, strict=True)
    ]
    shapes = [shape for _, _, found in triples for case in found for shape in (*case.operands, *case.results)]
    shapes += [constant.shape for part in module.parts for constant in part.constants]
    text = render_template(
        "project/main.c.j2",
        module=module,
        public=f"{module.public} {_defined(module, header)}",
        checked=[_checked(kernel, part, found) for kernel, part, found in triples],
        most_rank=max(1, *map(len, shapes)),
        most_arrays=max(len(kernel.arrays) for kernel in module.kernels),
        layouts=_LAYOUTS,
        users=module.users,
        spell=without_library if module.form.freestanding else None,
    )
    return _finished(text, module, header)


def _defined(module: ModuleView, header: str) -> str:
    """Return the names, with our own prefixes, that a header defines which has the functions themselves."""
    if not module.form.header_only:
        return ""
    prefixes = {"bcg_": module.name, "BCG_": module.macros}
    found = ({f"{own}{name}" for name in re.findall(rf"\b{one}_(\w+)", header)} for own, one in prefixes.items())
    return " ".join(sorted(set().union(*found)))


def _points(kernel: KernelView) -> int:
    """Return a number of points beyond which threads share every loop that they may share."""
    return max((nest.threads.points for nest in kernel.computed if nest.threads is not None), default=0)


def _checked(kernel: KernelView, part: ModulePart, found: tuple[Case, ...]) -> CheckedKernel:
    """Return the view of a kernel that the program checks, with the initialisers of its cases."""
    program = part.lowered or part.program
    given, constants, results = len(kernel.given), len(part.constants), len(kernel.results)
    dtypes = (*part.typed.operand_dtypes, *part.typed.result_dtypes)
    names = {name: at for at, name in enumerate(kernel.arrays)}
    in_place = [(names[result], names[operand]) for result, operands in kernel.in_place for operand in operands]
    numbers = tuple(range(given)), tuple((*range(given), *range(given + constants, given + constants + results)))
    accepted = sum(bool(case.results) for case in found)
    return CheckedKernel(
        stem=kernel.name,
        function=kernel.function,
        stem_shape=f"{kernel.name}_shape",
        message=f"{kernel.name}_message",
        nests=references(kernel.name, program, part.schedule.fast),
        types=tuple(_type(name, dtype) for name, dtype in zip(kernel.arrays, dtypes, strict=True)),
        constants=tuple(_constants(part, given)),
        results=tuple(ResultData(at, result.rank) for at, result in enumerate(kernel.results)),
        operand_numbers=tuple(at for at in numbers[0] if at not in kernel.extents),
        result_numbers=numbers[1][given:],
        call=", ".join((*(_passed(kernel, at) for at in numbers[1]), "bcg_main_why")),
        shape_call=_shape_call(kernel),
        static_call=_static_call(kernel, dtypes, numbers[1]),
        counts=f"{given}, {constants}, {results}",
        in_place=", ".join(f"{{{result}, {operand}}}" for result, operand in in_place),
        pairs=len(in_place),
        cases=tuple(_row(case, results) for case in found),
        accepted=accepted,
        refused=len(found) - accepted,
    )


def _type(name: str, dtype: DType) -> TypeView:
    kinds = {"bool": "BOOL", "float": "FLOAT", "complex": "COMPLEX"}
    # Any byte is a value of a storage type.
    kind = "INTEGER" if dtype.is_storage else kinds.get(dtype.kind, "INTEGER")
    kind = dtype.name.upper() if dtype.is_float16 else kind
    return TypeView(name, kind, dtype.bytes)


def _constants(part: ModulePart, first: int) -> list[ConstantData]:
    made = []
    for at, values in enumerate(part.constants):
        dtype = part.typed.operand_dtypes[first + at]
        strides: list[int] = []
        step = dtype.bytes
        for extent in reversed(values.shape):
            strides.insert(0, step)
            step *= max(extent, 1)
        lines = data_lines(values, dtype)
        made.append(ConstantData(first + at, dtype.c_in_memory, values.shape, tuple(strides), values.size, lines))
    return made


def _passed(kernel: KernelView, at: int) -> str:
    return f"bcg_main_arrays[{at}].extents[0]" if at in kernel.extents else f"&bcg_main_{at}"


def _shape_call(kernel: KernelView) -> str:
    parts = [_passed(kernel, at) for at in range(len(kernel.given))]
    for at, result in enumerate(kernel.results):
        if result.rank is None:
            parts += [f"&bcg_main_results[{at}].rank", f"bcg_main_extents{at}"]
        elif result.rank > 0:
            parts.append(f"bcg_main_results[{at}].extents")
    return ", ".join((*parts, "bcg_main_why"))


def _static_call(kernel: KernelView, dtypes: tuple[DType, ...], numbers: tuple[int, ...]) -> str:
    """Return the statements that call a kernel of the static form, which takes pointers."""
    given = len(kernel.given)
    parts = [
        f"({'const ' if at < given else ''}{dtypes[at].c_in_memory} *)(void *)bcg_main_arrays[{at}].data"
        for at in numbers
    ]
    call = f"{kernel.function}({', '.join(parts)});"
    return f"return (int){call}" if kernel.demands else f"{call} return 0;"


def _row(case: Case, results: int) -> str:
    """Return the initialiser of a case; if there are no results, they have rank 0."""
    shapes = (*case.operands, *(case.results or ((),) * results))
    return " ".join(f"{{{len(shape)}, {{{', '.join(map(str, shape)) or '0'}}}}}," for shape in shapes)


def _finished(text: str, module: ModuleView, header: str) -> str:
    """Give the program's own names a prefix with which no name in the header or in its own C begins."""
    prefix = next(
        name
        for name in ("check_", *(f"check{at}_" for at in range(2, 100)))
        if not any(word.lower().startswith(name) for word in names(header))
    )
    text = re.sub(r"\bBCG_MAIN_", prefix.upper(), re.sub(r"\bbcg_main_", prefix, text))
    return lay_out(spelled(text, module.name, module.macros, module.shared_types))
