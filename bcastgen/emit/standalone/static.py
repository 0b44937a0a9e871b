"""The forms of dense arrays: a kernel is plain nested loops over pointers, and every extent is known or has a name.

In: a kernel's view and its program.  Out: a :class:`StaticView` for the templates.

    (f32[3,1] a, f32[1,4] b) -> a * b   ->   void outer(const float *a, const float *b, float *r);
                                             ... r[i0 * 4 + i1] = a[i0] * b[i1] ...

Extents with names are parameters, in the form of pointers: `void outer(..., float *r, size_t m, size_t n)`.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...core.errors import BcastgenError, element_sentence
from ...core.frozen import dataclass
from ...loops.nest import Access, LoopProgram
from ...loops.schedule.inner_loops import Schedule
from ...loops.schedule.outer_loops import NONE
from ...loops.schedule.program_schedule import ProgramSchedule
from ...shape.types.dim import Dim
from ...shape.types.tensor_type import TensorType
from ..c_text.names import c_identifier
from ..c_text.references import names
from ..c_text.wrap import NO_BREAK
from ..kernel.loop_model import ArrayView
from ..kernel.model import ConstantView, KernelView, NestView
from .reduced_model import ReducedView

__all__ = ["StaticNest", "StaticView", "static_sentences", "static_view"]


# An extent: a number, or the parameter that has it.
Extent = int | str


@dataclass(frozen=True, slots=True)
class StaticNest:
    """A nest: the extents of its domain, the dims that have a loop, and the lines that compute a point.

    `check` are the lines before the test of whether the operations are defined at a point; `condition` is the test.
    """

    extents: tuple[Extent, ...]
    dims: tuple[int, ...]
    lines: tuple[str, ...]
    check: tuple[str, ...]
    condition: str
    view: NestView

    @property
    def loops(self) -> tuple[tuple[int, Extent], ...]:
        """Number and extent of each dim that has a loop."""
        return tuple((dim, self.extents[dim]) for dim in self.dims)


@dataclass(frozen=True, slots=True)
class StaticView:
    """A kernel: its parameters and their shapes, and its nests.

    Attributes
    ----------
    function : name of the C function.
    parameters : their declarations in C; `names` has their names.
    shapes : name, extents and C type of each array; the first `given` of them are operands.
    macros : name and value of the constants for the extents.
    nests : the nests that compute results; without those of no points.
    constants : the constants that these nests read.
    demands : whether it returns a status.
    kept : the declarations of arrays for what reductions give, which are the last parameters.
    reduced : the loops of a kernel with reductions, in place of nests.
    sizes : the parameters for extents, which `parameters` and `names` end with; `symbols` are their names in types.
    facts : sentences on the bounds and multiples of these parameters that types declare.
    index : the type of loops' indices.
    aligned : the arrays whose alignment callers promise, and the C types of their elements.
    """

    function: str
    parameters: tuple[str, ...]
    names: tuple[str, ...]
    shapes: tuple[tuple[str, tuple[Extent, ...], str], ...]
    macros: tuple[tuple[str, int], ...]
    nests: tuple[StaticNest, ...]
    constants: tuple[ConstantView, ...]
    demands: bool
    given: int
    kept: tuple[str, ...] = ()
    reduced: ReducedView | None = None
    sizes: tuple[str, ...] = ()
    facts: tuple[str, ...] = ()
    index: str = "ptrdiff_t"
    symbols: tuple[str, ...] = ()
    aligned: tuple[tuple[str, str], ...] = ()

    @property
    def operands(self) -> tuple[str, ...]:
        """The declarations of its operands as C arrays of their extents."""
        return tuple(_declared(name, extents) for name, extents, _ in self.shapes[: self.given])

    @property
    def results(self) -> tuple[str, ...]:
        """The declarations of its results."""
        return tuple(_declared(name, extents) for name, extents, _ in self.shapes[self.given :])


def _declared(name: str, extents: tuple[Extent, ...]) -> str:
    return name + "".join(f"[{extent}]" for extent in extents)


def static_view(
    view: KernelView,
    program: LoopProgram,
    schedule: ProgramSchedule,
    taken: set[str],
    reduced: ReducedView | None = None,
    pointers: bool = False,
) -> StaticView:
    """Return the static form of a kernel, or that of pointers.

    Parameters
    ----------
    view, program, schedule : the kernel.
    taken : names of the macros of the module's other kernels; this kernel's are added.
    reduced : its loops, if it has reductions.
    pointers : whether extents may be unknown: those with names are parameters.

    Raises
    ------
    BcastgenError
        If an extent is not known, and may not be; the message names the first one.
    """
    sizes = _sizes(view, program) if pointers else {}
    _refuse_unknown(view, program, pointers)
    nests = [(v, one) for v, one in zip(view.nests, schedule.nests, strict=True) if one.nest.results]
    arrays = {array.number: array for v, _ in nests for array in v.arrays}
    shapes = _shapes(view, program, sizes)
    parameters, aligned = [], []
    for index, (name, _) in enumerate(shapes):
        is_result = index >= len(view.given)
        array_index = index if not is_result else index - len(view.given) + len(view.operands) + len(view.reduced)
        # An operand that no nest reads has no C type.
        c = arrays[array_index].c if array_index in arrays else "void"
        restrict = "BCG_RESTRICT " if is_result and schedule.restrict else ""
        if array_index in arrays and arrays[array_index].alignment:
            aligned.append((name, f"{'' if is_result else 'const '}{c}"))
        parameters.append(f"{'' if is_result else 'const '}{c} *{restrict}{name}")
    constants = {constant.number: constant.data for constant in view.constants}
    kept = reduced.kept if reduced is not None else ()
    nests = [] if reduced is not None else nests
    some = [(v, one) for v, one in nests if one.walk != NONE]
    read = {array.number for v, _ in some for array in v.operands}
    return StaticView(
        view.function,
        (*parameters, *(f"{one.c} *{one.array}" for one in kept), *(f"size_t {name}" for name in sizes.values())),
        (*(name for name, _ in shapes), *(one.array for one in kept), *sizes.values()),
        tuple(
            (name, extents, text.rsplit(" *", 1)[0].removeprefix("const "))
            for (name, extents), text in zip(shapes, parameters, strict=True)
        ),
        tuple(_macros(view, [*shapes, *((one.array, one.static_extents) for one in kept)], taken)),
        tuple(_nest(v, one, constants, sizes) for v, one in some),
        tuple(constant for constant in view.constants if constant.number in read)
        if reduced is None
        else reduced.constants,
        bool(view.demands),
        len(view.given),
        tuple(f"{one.c.replace('bcg_', f'{view.module}_')} {_declared(one.array, one.static_extents)}" for one in kept),
        reduced,
        tuple(sizes.values()),
        tuple(_facts(program, sizes)),
        "size_t" if pointers else "ptrdiff_t",
        tuple(sizes),
        tuple(aligned),
    )


def static_sentences(static: StaticView, view: KernelView, alignment: int = 0) -> tuple[str, ...]:
    """Return the contract with callers, as sentences of the header."""
    own = f"{view.module}_"
    promised = [name for name, _ in static.aligned]
    elements = f"their elements ({', '.join(promised)}: to {alignment} bytes)" if promised else "their elements"
    declared = (f"{c.replace('bcg_', own)} {_declared(name, extents)}" for name, extents, c in static.shapes)
    arrays = ", ".join(one.replace(" ", NO_BREAK) for one in declared)
    places = [f"{result} may be {' or '.join(operands)} itself" for result, operands in view.in_place if operands]
    apart = "no result shares memory with another array"
    statuses = dict.fromkeys(nest.demand_status for nest in view.demands)
    refused = [f"or {view.macros}_{status}, with nothing written, if {element_sentence(status)}" for status in statuses]
    returned = f"Returns {view.macros}_OK; {', '.join(refused)}." if refused else ""
    room = f"Room for what reductions give, of no array's and with any contents: {', '.join(static.kept)}."
    return (
        f"Arrays are not null, aligned to {elements} and dense, the last dim fastest: {arrays}.",
        room if static.kept else "",
        f"{', '.join(places)}; otherwise {apart}." if places else f"{apart.capitalize()}.",
        "Nothing is checked: where this does not hold, behaviour is undefined." if static.sizes else "",
        f"On trust, too: {', '.join(static.facts)}." if static.facts else "",
        f"{returned} Nothing is allocated or kept.".strip(),
    )


def _sizes(view: KernelView, program: LoopProgram) -> dict[str, str]:
    """Return the parameter of each extent with a name, in the order of operands."""
    types = (*(type_ for _, type_ in program.operands[: len(view.given)]), *(type_ for _, type_ in program.results))
    symbols = dict.fromkeys(dim.symbol for type_ in types for dim in type_.dims or () if dim.symbol is not None)
    taken = names("\n".join(line for nest in view.nests for line in (*nest.body, *nest.demand_body)))
    taken |= {*view.arrays, *(array.load for nest in view.nests for array in nest.operands)}
    taken |= {f"i{dim}" for nest in view.nests for dim in range(nest.rank or 0)}
    found: dict[str, str] = {}
    for symbol in symbols:
        # `c_identifier` would rename n, since loops of other forms have a variable n; these have none.
        name = symbol if symbol in ("m", "n", "k") else c_identifier(symbol)
        if name.lower().startswith(f"{view.module}_".lower()):
            name = f"v_{name}"
        while name in taken:
            name = f"{name}_extent"
        taken |= {name}
        found[symbol] = name
    return found


def _facts(program: LoopProgram, sizes: dict[str, str]) -> Iterator[str]:
    """Yield a sentence for each bound or multiple that types declare for the extents that are parameters."""
    dims = (dim for _, type_ in program.operands for dim in type_.dims or ())
    for dim in dict.fromkeys(dim for dim in dims if dim.symbol is not None):
        name = sizes.get(dim.symbol or "", "")
        for what, fact in (("at least", dim.min), ("at most", dim.max), ("a multiple of", dim.multiple_of)):
            if name and fact is not None:
                yield f"{name} is {what} {fact}"


def _extent(dim: Dim, sizes: dict[str, str]) -> Extent:
    """Return a dim's extent: a number or a parameter."""
    return dim.extent if dim.extent is not None else sizes.get(dim.symbol or "", 0)


def _refuse_unknown(view: KernelView, program: LoopProgram, pointers: bool) -> None:
    """Raise an error that names the first extent that is not known, or, in the form of pointers, that has no name."""
    cure = "the static form needs every extent: give it in the type"
    if pointers:
        cure = "the form of pointers needs every extent, or a name for it: f32[m, n]"
    for name, type_ in program.operands:
        _refuse_type(view.function, f"operand '{name}'", type_, cure, pointers)
    for nest in program.nests:
        if nest.domain.open or any(_is_unknown(dim, pointers) for dim in nest.domain.dims):
            named = ", ".join(f"'{access.name}'" for access in nest.named)
            raise BcastgenError(f"{view.function}: the extents of {named} are not known; {cure}")


def _is_unknown(dim: Dim, pointers: bool) -> bool:
    return dim.extent is None and not (pointers and dim.symbol is not None)


def _refuse_type(function: str, what: str, type_: TensorType, cure: str, pointers: bool) -> None:
    if type_.unranked:
        raise BcastgenError(f"{function}: {what} has any rank; {cure}")
    for number, dim in enumerate(type_.dims):
        if _is_unknown(dim, pointers):
            raise BcastgenError(f"{function}: {what} dim {number} is {dim}; {cure}")


def _shapes(view: KernelView, program: LoopProgram, sizes: dict[str, str]) -> list[tuple[str, tuple[Extent, ...]]]:
    """Return name and extents of each array that a caller passes, in order."""
    operands = program.operands[: len(view.given)]
    given = [
        (name, tuple(_extent(dim, sizes) for dim in type_.dims))
        for name, (_, type_) in zip(view.given, operands, strict=True)
    ]
    domains = {
        access.number: tuple(_extent(dim, sizes) for dim in nest.domain.dims)
        for nest in program.nests
        for access in nest.results
    }
    reduced = len(view.reduced)
    return [*given, *((result.name, domains[reduced + index]) for index, result in enumerate(view.outputs))]


def _macros(
    view: KernelView, shapes: list[tuple[str, tuple[Extent, ...]]], taken: set[str]
) -> Iterator[tuple[str, int]]:
    """Return the macros of all extents; a number keeps names apart that differ only in case."""
    for name, extents in shapes:
        stem, count = f"{view.name}_{name}".upper(), 1
        while stem in taken:
            count += 1
            stem = f"{view.name}_{name}_{count}".upper()
        taken.add(stem)
        known = ((dim, extent) for dim, extent in enumerate(extents) if isinstance(extent, int))
        for dim, extent in known:
            yield f"{stem}_EXTENT_{dim}", extent


def _nest(view: NestView, scheduled: Schedule, constants: dict[int, str], sizes: dict[str, str]) -> StaticNest:
    nest = scheduled.nest
    extents = tuple(_extent(dim, sizes) for dim in nest.domain.dims)
    accesses = (*nest.operands, *nest.results)
    elements = [
        _element(array, access, extents, constants, sizes) for array, access in zip(view.arrays, accesses, strict=True)
    ]
    count = view.operand_count
    loads = [
        f"const {array.value_c} {array.load} = {array.loaded.format(name)};"
        for array, name in zip(view.operands, elements[:count], strict=True)
    ]
    stores = [f"{name} = {value};" for name, value in zip(elements[count:], view.stores, strict=True)]
    checked = [loads[array.nest_index] for array in view.demand_arrays]
    lines, check = (*loads, *view.body, *stores), (*checked, *view.demand_body)
    return StaticNest(extents, scheduled.dims, lines, check, view.demand, view)


def _element(
    array: ArrayView, access: Access, domain: tuple[Extent, ...], constants: dict[int, str], sizes: dict[str, str]
) -> str:
    """Return an array's element at a point; the array is dense, with the last of its own dims fastest."""
    own_extents = domain if array.is_result else tuple(_extent(dim, sizes) for dim in access.type.dims)
    for dim in array.dims:
        if dim.own_dim is not None and own_extents[dim.own_dim] != domain[dim.domain]:
            raise BcastgenError(
                f"operand '{access.name}' dim {dim.own_dim} is {own_extents[dim.own_dim]}, and the result has "
                f"{domain[dim.domain]} there; no dim stretches at run time in the form of pointers: give both one "
                "name, or the dim the extent 1"
            )
    known, named = [1] * len(own_extents), [""] * len(own_extents)
    for own_dim in range(len(own_extents) - 2, -1, -1):
        extent = own_extents[own_dim + 1]
        known[own_dim] = known[own_dim + 1] * (extent if isinstance(extent, int) else 1)
        named[own_dim] = (f" * {extent}" if isinstance(extent, str) else "") + named[own_dim + 1]
    strides = [("" if number == 1 else f" * {number}") + text for number, text in zip(known, named, strict=True)]
    terms = [
        f"i{dim.domain}{strides[dim.own_dim]}"
        for dim in array.dims
        if dim.own_dim is not None and domain[dim.domain] != 1
    ]
    name = array.owner if array.is_result else constants.get(array.number, array.owner)
    return f"{name}[{' + '.join(terms) or 0}]"
