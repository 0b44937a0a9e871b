"""Kernels with reductions: their loops as lines of C, shared as loops/schedule/shared_loops.py says.

In: a kernel's view and its program.  Out: a :class:`ReducedView` for the templates.

    sum(a*b, axis=1)   ->   for (i0) { bcg_sum_f32 so_far; for (i1) { ... bcg_sum_f32_add(&so_far, t0); } *r = ...; }

What a reduction gives is a variable inside the loops that it shares with its readers. Where it has to be kept for other
loops, it is in memory that the caller passes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ...loops.array_dims import own_dims
from ...loops.nest import Access, LoopProgram, Nest, Reducing
from ...loops.schedule.outer_loops import NONE
from ...loops.schedule.program_schedule import ProgramSchedule
from ...loops.schedule.shared_loops import ExtentKey, LoopGroup, Member, extent_keys
from ..c_text.names import Namer
from ..kernel.loop_model import ArrayView, data_check
from ..kernel.model import KernelView
from ..kernel.view import words_of
from .reduced_model import Given, Kept, Overlap, ReducedView
from .reduced_text import Lines, dense, strided, with_names
from .trees import Tree, tree_in

__all__ = ["reduced_view"]


def reduced_view(
    view: KernelView, program: LoopProgram, schedule: ProgramSchedule, static: bool = False
) -> ReducedView:
    """Return every line of the loops of a kernel with reductions; `static` ones are over dense arrays."""
    return _Loops(view, program, schedule, static).reduced_view()


class _Loops:
    """The loops of one kernel, and the names in them."""

    def __init__(self, view: KernelView, program: LoopProgram, schedule: ProgramSchedule, static: bool) -> None:
        assert schedule.sharing is not None
        self.view, self.program, self.sharing, self.static = view, program, schedule.sharing, static
        self.schedules = schedule.nests
        self._members = {member.nest: member for group in self.sharing.groups for member in group.members}
        self.keys = extent_keys(program)
        taken = {*view.operands, *(name for one in view.results for name in (one.name, one.extents, one.rank_name))}
        self.namer = Namer(view.module, words_of(program), frozenset(taken))
        self.given = {one.operand: one for one in program.reduced}
        self.constants = {constant.number: constant for constant in view.constants}
        self.looked_up: set[int] = set()
        self.extents: dict[ExtentKey | tuple[int, int], tuple[str, str]] = {}
        self.bounds: dict[str, str] = {}
        self.strides: dict[tuple[str, int], tuple[str, str]] = {}
        self.so_far: dict[int, str] = {}
        self.out = Lines()

    def reduced_view(self) -> ReducedView:
        kept = tuple(map(self._kept, sorted(self.sharing.in_memory)))
        self.kept = {one.number: one for one in kept}
        nests = tuple(
            (view, tuple(map(self._given, nest.reduced)))
            for view, nest in zip(self.view.nests, self.program.nests, strict=True)
        )
        for at in self.sharing.asks:
            self._demand(at)
        demands, self.out = tuple(self.out.lines), Lines()
        for group in self.sharing.groups:
            if group.asks:
                self.out.add("/* Every element is looked at before the first is written. */")
            for at in group.asks:
                self._demand(at)
            self._group(group)
        return ReducedView(
            nests,
            self._arrays(),
            self._overlaps(),
            kept,
            self.namer.take("workspace"),
            tuple(self.extents.values()),
            tuple((name, condition) for condition, name in self.bounds.items()),
            tuple(self.strides.values()),
            tuple(self.out.lines),
            demands,
            tuple(one for position, one in self.constants.items() if position in self.looked_up),
        )

    # ---- what reductions give

    def _shape(self, one: Reducing) -> tuple[str, ...]:
        """Return the C of the extents of what a reduction gives, in terms of its nest's domain."""
        at = self._nest_of(one)
        dims = range(len(self.program.nests[at].domain.dims))
        prefix = f"{self.view.nests[at].name}_extents"
        return tuple(
            "1" if dim in one.axes else f"{prefix}[{dim}]" for dim in dims if one.keepdims or dim not in one.axes
        )

    def _nest_of(self, one: Reducing) -> int:
        return next(at for at, nest in enumerate(self.program.nests) if one in nest.reduced)

    def _given(self, one: Reducing) -> Given:
        name = self.view.operands[one.operand]
        return Given(name, self._shape(one), f"{name}_extents")

    def _kept(self, number: int) -> Kept:
        one = self.given[number]
        name, shape = self.view.operands[number], self._shape(one)
        dtype = next(access.dtype for nest in self.program.nests for access in nest.operands if access.number == number)
        factors = ((str(dtype.bytes), *(e for e in shape[dim + 1 :] if e != "1")) for dim in range(len(shape)))
        dims = self.program.operands[number][1].dims
        known = tuple(dim.extent for dim in dims if dim.extent is not None)
        array = self.namer.take(f"{name}_kept")
        return Kept(
            name,
            array,
            self.namer.take(f"{name}_array"),
            number,
            shape,
            self.namer.take(f"{array}_extents"),
            self.namer.take(f"{array}_strides"),
            tuple(map(" * ".join, factors)),
            dtype.bytes,
            dtype.c_in_memory,
            known if len(known) == len(dims) else (),
            data_check(dtype),
        )

    # ---- memory

    def _arrays(self) -> tuple[ArrayView, ...]:
        found = {
            array.number: array
            for view in self.view.nests
            for array in view.arrays
            if array.number not in self.given and not array.is_constant and not (array.is_result and view.reductions)
        }
        return tuple(found[at] for at in sorted(found))

    def _overlaps(self) -> tuple[Overlap, ...]:
        arrays = self._arrays()
        allowed = {
            (view.results[at].number, number)
            for view, one in zip(self.view.nests, self.schedules, strict=True)
            for at, numbers in enumerate(one.in_place)
            for number in numbers
        }
        return tuple(
            Overlap(result, other, (result.number, other.number) in allowed)
            for result in arrays
            if result.is_result
            for other in arrays
            if other.number < result.number
        )

    # ---- loops

    def _extent(self, at: int, dim: int) -> str:
        """Return the C of a domain dim's extent."""
        known = self.program.nests[at].domain.dims[dim].extent
        if known is not None:
            return str(known)
        key = self.keys[at][dim]
        found = self.extents.setdefault(
            (at, dim) if key is None else key, (f"d{len(self.extents)}", f"{self.view.nests[at].name}_extents[{dim}]")
        )
        return found[0]

    def _open_loops(self, at: int, dims: Sequence[int], indices: Sequence[str], inner: Iterable[str] = ()) -> None:
        """Open a loop over each of a nest's dims; the first runs 0 times if an extent inside it, or in `inner`, is 0.

        An array of extents 10^12 and 0 has no element, and 10^12 loops over nothing take minutes.
        """
        c = "ptrdiff_t" if self.static else "int64_t"
        ends = [self._extent(at, dim) for dim in dims]
        inside = dict.fromkeys(extent for extent in (*ends[1:], *inner) if not extent.isdecimal() and extent != ends[0])
        if inside:
            condition = f"{' && '.join(f'{extent} > 0' for extent in inside)} ? {ends[0]} : 0"
            if condition not in self.bounds:
                self.bounds[condition] = self.namer.take(f"{ends[0]}_or_0")
            ends[0] = self.bounds[condition]
        for index, end in zip(indices, ends, strict=True):
            self.out.open(f"for ({c} {index} = 0; {index} < {end}; {index}++)")

    def _inside(self, group: LoopGroup) -> list[str]:
        """Return the extents inside shared loops that these need."""
        # Extents are numbered as they are met: those inside come first.
        for member in group.members:
            for dim in self._inner(member) if not self.program.nests[member.nest].reduced else ():
                self._extent(member.nest, dim)
        return [self._extent(at, dim) for at, dim in group.inside]

    def _inner(self, member: Member) -> list[int]:
        """Return the dims of a nest that have loops inside the shared ones."""
        return [dim for dim in self.schedules[member.nest].dims if dim not in member.dims]

    def _share(self, at: int) -> None:
        """Let threads share the loop that is opened next, if the schedule of a nest says so."""
        shared = self.view.nests[at].threads
        if shared is None:
            return
        extents = [self._extent(at, dim) for dim in range(len(self.program.nests[at].domain.dims))]
        points = " * ".join(text for text in extents if text != "1")
        condition = f" if ({points} > {shared.points})" if shared.asks else ""
        self.out.lines += ["#ifdef _OPENMP", f"#pragma omp parallel for{condition}", "#endif"]

    def _group(self, group: LoopGroup) -> None:
        first = group.members[0]
        if group.is_empty:
            return
        names = [f"i{dim}" for dim in first.dims]
        self._share(first.nest)
        if names:
            self._open_loops(first.nest, first.dims, names, self._inside(group))
        for member in group.members:
            self._member(member, names)
        self.out.close(len(names))

    def _member(self, member: Member, shared: list[str]) -> None:
        at, nest = member.nest, self.program.nests[member.nest]
        points = dict(zip(member.dims, shared, strict=True))
        inner = self._inner(member)
        free = (f"i{k}" for k in range(len(nest.domain.dims) + len(shared)) if f"i{k}" not in shared)
        points |= {dim: f"i{dim}" if f"i{dim}" not in shared else next(free) for dim in inner}
        if nest.reduced:
            self._reduce(member, nest, inner, points)
        elif self.schedules[at].walk != NONE:
            if not shared:
                self._share(at)
            self._point(member, inner, points, list(self._stores(at, points)))

    def _reduce(self, member: Member, nest: Nest, inner: list[int], points: dict[int, str]) -> None:
        at = member.nest
        adds, ends = [], []
        for number, one in enumerate(nest.reduced):
            tree, name = tree_in(self.program, one, nest.results[number].dtype), self.view.operands[one.operand]
            value = self.view.nests[at].stores[number]
            over = ", ".join(f"d{dim}" for dim in one.axes) or "nothing"
            self.out.add(f"/* {name} is the {one.op.name} over {over}{'' if tree.exact else _order(tree)}. */")
            if tree.exact:
                self.out.add(f"{tree.c} {name} = {tree.empty};")
                adds.append(f"{name} = {tree.combine(name, value)};")
            else:
                so_far = self.so_far.setdefault(one.operand, self.namer.take(f"{name}_so_far"))
                if tree.better:
                    self.out.add(f"{tree.name} {so_far} = {{0, 0, {tree.empty}}};")
                else:
                    self.out.add(f"{tree.name} {so_far};", f"{so_far}.count = 0;")
                adds.append(f"{tree.name}_add(&{so_far}, {value});")
                ends.append(f"const {self._c_of(one)} {name} = {_ended(tree, so_far, one)};")
            if one.operand in self.kept:
                ends.append(f"{self._kept_element(at, one, points)} = {name};")
            elif not self._is_read(one):
                ends.append(f"(void){name}; /* only results without elements are computed with it */")
        self._point(member, inner, points, adds)
        self.out.add(*ends)

    def _is_read(self, one: Reducing) -> bool:
        """Whether loops read what a reduction gives: nests that reduce it further, or that store elements."""
        return any(
            access.number == one.operand
            for scheduled in self.schedules
            if scheduled.walk != NONE
            for access in scheduled.nest.operands
        )

    def _c_of(self, one: Reducing) -> str:
        dtype = self.program.operands[one.operand][1].dtype
        assert dtype is not None
        return dtype.c

    def _point(self, member: Member, inner: list[int], points: dict[int, str], last: list[str]) -> None:
        """Add the loops over the inner dims, with what they compute at a point."""
        at, view = member.nest, self.view.nests[member.nest]
        if inner:
            self._open_loops(at, inner, [points[dim] for dim in inner])
        lines, renamed = self._loads(at, view.operands, points, member.from_memory)
        lines += view.body
        alone = not inner and bool(lines)
        if alone:
            self.out.open()
        self.out.add(*(with_names(line, renamed) for line in (*lines, *last)))
        self.out.close(len(inner) + alone)

    def _stores(self, at: int, points: dict[int, str]) -> Iterator[str]:
        view, nest = self.view.nests[at], self.program.nests[at]
        for array, access, value in zip(view.results, nest.results, view.stores, strict=True):
            yield f"{self._element(array, access, points, at)} = {value};"

    def _demand(self, at: int) -> None:
        """Add loops that look at every element of a nest before the first is written."""
        view = self.view.nests[at]
        if self.program.nests[at].domain.is_empty:
            return
        inner = self.schedules[at].dims
        points = {dim: f"i{dim}" for dim in inner}
        if inner:
            self._open_loops(at, inner, list(points.values()))
        else:
            self.out.open()
        loads, renamed = self._loads(at, view.demand_arrays, points, self._members[at].from_memory)
        facts = "" if self.static else f"bcg_fail_element(why, BCG_{view.demand_status})"
        refusal = f"if (!({view.demand})) return {facts or f'BCG_{view.demand_status}'};"
        self.out.add(*(with_names(line, renamed) for line in (*loads, *view.demand_body, refusal)))
        self.out.close(max(len(inner), 1))

    # ---- elements

    def _loads(
        self, at: int, arrays: Iterable[ArrayView], points: dict[int, str], from_memory: frozenset[int]
    ) -> tuple[list[str], dict[str, str]]:
        """Return the lines that read operands of a nest, and its names of variables that reductions made."""
        nest, lines, renamed = self.program.nests[at], [], {}
        for array in arrays:
            access = nest.operands[array.nest_index]
            if access.number in self.given and access.number not in from_memory:
                renamed[array.load] = array.owner
            else:
                element = self._element(array, access, points, at)
                lines.append(f"const {array.value_c} {array.load} = {array.loaded.format(element)};")
        return lines, renamed

    def _element(self, array: ArrayView, access: Access, points: dict[int, str], at: int) -> str:
        """Return an array's element at a point of a nest."""
        nest = self.program.nests[at]
        dims = nest.domain.dims if array.is_result else access.type.dims
        moving = own_dims(nest, access, array.is_result)
        places = sorted((own, points[dim]) for dim, own in enumerate(moving) if own is not None and dim in points)
        kept = self.kept.get(access.number) if not array.is_result else None
        owner = kept.array if kept else array.owner
        if array.is_constant:
            self.looked_up.add(array.number)
            return dense(self.constants[array.number].data, places, tuple(dim.extent or 0 for dim in dims))
        if self.static:
            return dense(owner, places, tuple(dim.extent or 0 for dim in dims))
        pointer, member = (f"&{kept.local}", f"{owner}.") if kept else (array.pointer, array.member)
        const = "" if array.is_result else "const "
        return strided(f"{const}{array.c}", f"{const}char", f"{member}data", self._moved(owner, pointer, places))

    def _kept_element(self, at: int, one: Reducing, points: dict[int, str]) -> str:
        """Return the place in the caller's memory of what a reduction gives at a point of its nest."""
        kept = self.kept[one.operand]
        owns = [dim for dim in range(len(self.program.nests[at].domain.dims)) if one.keepdims or dim not in one.axes]
        places = [(own, points[dim]) for own, dim in enumerate(owns) if dim not in one.axes and dim in points]
        if self.static:
            return dense(kept.array, places, kept.static_extents)
        return strided(kept.c, "char", f"{kept.array}.data", self._moved(kept.array, f"&{kept.local}", places))

    def _moved(self, owner: str, pointer: str, places: list[tuple[int, str]]) -> str:
        terms = []
        for own, index in places:
            if (owner, own) not in self.strides:
                self.strides[owner, own] = self.namer.take(f"{owner}_s{own}"), f"bcg_stride({pointer}, {own})"
            terms.append(f"{index} * {self.strides[owner, own][0]}")
        return " + ".join(terms)


def _order(tree: Tree) -> str:
    return "" if tree.better else f", in the order of {tree.name}"


def _ended(tree: Tree, so_far: str, one: Reducing) -> str:
    if one.ddof is not None:
        return f"{tree.name}_mean(&{so_far}, {one.ddof})"
    return f"{tree.name}_total(&{so_far})"
