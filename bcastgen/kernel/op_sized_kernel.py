"""Kernels with ops that have shape functions: the ops' programs give the extents that no operand determines.

In: a kernel, and a call.  Out: the same call, with the extents that the shape functions compute.

    kernel = bg.jit(lambda a, b: bg.outer_less(a + 1, b) * 2)       kernel(a, b)    no extents= is needed
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.errors import BcastgenError, BroadcastError, rank_mismatch
from ..core.forks import undivided
from ..core.frozen import replace
from ..expr.free_extents import free_extent_names
from ..expr.nodes import Operand, Sizing
from ..expr.trace import is_tracer
from ..runtime.slow_path import bind, clean_operand
from ..runtime.strict import Strict, plain
from ..shape.dialect.program import Program
from ..shape.types.dim import DYNAMIC
from ..shape.types.tensor_type import TensorType
from .caller_extents import SizedKernel, checked_extents
from .map_checks import asked_of
from .op_sizes import ranks_by_maps, size_program
from .value_operands import read_values, value_operands, values_of

if TYPE_CHECKING:
    from ..emit.standalone import CForm, ModulePart
    from ..mlir.linalg.sizes import SizesProgram

__all__ = ["OpSizedKernel"]

# The extension reads values of the first operands only, one bit each.
_MOST_READ = 64


class OpSizedKernel(SizedKernel):
    """A kernel with ops that have shape functions; see :func:`bcastgen.define_op`.

    A call raises BroadcastError if a shape function refuses its operands (in its author's words), or if an operand of
    such an op does not have the extents that its map asks for.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._size_programs: dict[object, Program] = {}
        types = () if self._signature is None else self._signature.operands
        bound = {dim.symbol for _, type_ in types for dim in type_.dims}
        names = free_extent_names(self.expression.results, bound)
        self._slot_of = dict(zip(names, self.slots, strict=True))
        self._values_read = {operand.index: one for operand, one in value_operands(self.expression).items()}
        self._value_operands = sum(1 << at for at in self._values_read if at < _MOST_READ)
        taken = [name for one in self.expression.sizings for name in one.extents if name in bound]
        if taken:
            raise BroadcastError(
                f"{self._name}(): {taken[0]!r} is an extent of an op's result; name that dim otherwise"
            )

    def __repr__(self) -> str:
        return (
            super().__repr__()
            if self._signature
            else f"<kernel {self.__name__}({', '.join(self._positional_operands)})>"
        )

    def _call_sized(self, args: tuple[Any, ...], by_name: dict[str, Any]) -> Any:
        """Run the ops' shape functions in Python, where the extension has not, then call the kernel."""
        named = {name: value for name, value in by_name.items() if name not in ("out", "extents")}
        if any(map(is_tracer, (*args, *named.values()))):
            return self._inlined(args, named)
        self._refuse_slots(args, named)
        values = bind(self, args, {**named, **dict.fromkeys(self.slots, 0)})
        own = list(values[: len(self._positional_operands)])
        given = zip(self._positional_operands, map(plain, own), strict=True)
        clean = [clean_operand(name, value) for name, value in given]
        for at, one in self._values_read.items():
            if isinstance(clean[at], np.ndarray) and not isinstance(own[at], Strict):
                # Loops get the same copy: an array that is read again may have changed.
                clean[at] = own[at] = np.array(clean[at])
            clean[at] = read_values(self._positional_operands[at], one, clean[at])
        sized = self._sizes(tuple(clean))
        out = self._written(by_name.get("out"), clean, by_name.get("extents"), sized)
        return super()._call_sized(tuple(own), {"out": out, "extents": self._with(by_name.get("extents"), sized)})

    def _written(self, out: Any, given: list[Any], extents: Any, sized: dict[str, int]) -> Any:
        """Return the part of `out` that a call writes: the first one if `out` is as large as the result's bound."""
        has_bound = any(_bound_of(sizing) is not None for sizing in self.expression.sizings)
        if not has_bound or not isinstance(out, np.ndarray):
            return out
        shapes = tuple(map(np.shape, given))
        found = super()._result_shape(shapes, self._with(extents, sized))
        most = super()._result_shape(shapes, self._with(extents, self._sizes(tuple(given), bounds=True)))
        return out[tuple(map(slice, found))] if out.shape == most != found else out

    def _result_shape(self, shapes: tuple[object, ...], extents: Any = None) -> Any:
        """Return the results' shapes for a call with operands of these shapes."""
        with undivided:
            from .sizing import shapes_of  # noqa: PLC0415 - calls size results themselves
        given: list[Any] = list(shapes)
        read: dict[int, Any] = {}
        unknown: list[str] = []
        for at, one in self._values_read.items() if len(given) == len(self._positional_operands) else ():
            name = self._positional_operands[at]
            if given[at] is None:
                unknown.append(name)
                read[at] = one.unknown
            else:
                read[at] = read_values(name, one, clean_operand(name, plain(given[at])))
            given[at] = read[at].shape
        if unknown:
            self._check_bounds(unknown)
        known: list[Any] = list(shapes_of(self, self._positional_operands, tuple(given)))
        for at, values in read.items():
            known[at] = values
        sized = self._sizes(tuple(known), bounds=bool(unknown))
        return super()._result_shape(tuple(given), self._with(extents, sized))

    def _check_bounds(self, unknown: list[str]) -> None:
        """Refuse values that are not given, where an op takes them that has no bound."""
        for sizing in self.expression.sizings:
            for _, node, type_ in values_of(sizing):
                if type_ is None or not isinstance(node, Operand) or node.name not in unknown:
                    continue
                if _bound_of(sizing) is None:
                    raise BroadcastError(
                        f"{sizing.op.name} has no bound; give the values of operand '{node.name}', which decide the "
                        "extents of its result",
                        operand=node.name,
                    )

    def _guard_code(self, ranks: bytes, given: bytes) -> bytes | None:
        """Return the shape functions and the guards as numbers; None if the caller gives extents, too."""
        with undivided:
            from ..emit.shape_program.code import program_code  # noqa: PLC0415 - needed once the kernel is called
            from ..loops.guard_program.code import guard_code  # noqa: PLC0415 - needed once the kernel is called
        extents = [[self.slots.index(self._slot_of[name]) for name in one.extents] for one in self.expression.sizings]
        others = len({slot for result in extents for slot in result}) < len(self.slots)
        if others or any(given) or self._values or max(self._values_read, default=0) >= _MOST_READ:
            return None
        own = tuple(ranks) if self._is_ranked else self._known_ranks()
        sizes = program_code(self.size_program(own), extents, self._values_read)
        return None if sizes is None else guard_code(self._sizing((*own, *(1 for _ in given))).guards, None, sizes)

    @property
    def shape_function(self) -> Program:
        """The program that sizes the results: the shape functions of its ops, then the guards."""
        with undivided:
            from .whole_program import whole_program  # noqa: PLC0415 - calls run the code of `_guard_code`
        ranks = self._known_ranks()
        guards = self._guards_program((*ranks, *(1 for _ in self.slots)))
        return whole_program(self.size_program(ranks), guards, self._positional_operands, self._slots_of_sizings())

    def _known_ranks(self) -> tuple[int, ...]:
        """Return the operands' ranks: those of the latest call, else those that types or the maps of ops say."""
        own = len(self._positional_operands)
        if self._latest is not None and self._latest.ranks is not None:
            return self._latest.ranks[:own]
        types = () if self._signature is None else self._signature.operands
        found = {at: type_.rank for at, (_, type_) in enumerate(types[:own]) if type_.rank is not None}
        for sizing in self.expression.sizings:
            found = ranks_by_maps(sizing) | found
        found = {at: 1 if one.rank is None else one.rank for at, one in self._values_read.items()} | found
        missing = next((name for at, name in enumerate(self._positional_operands) if at not in found), None)
        if missing is not None:
            raise BroadcastError(
                f"{self._name}(): operand '{missing}' has no known rank, which the program of the shape functions "
                f"needs; declare it in a signature, as f64[?, ?] {missing}, or call the kernel first",
                operand=missing,
            )
        return tuple(found[at] for at in range(own))

    def _slots_of_sizings(self) -> tuple[tuple[str, ...], ...]:
        """Return the names of the slots that the shape of each op's result gives, dim by dim."""
        return tuple(tuple(self._slot_of[name] for name in one.extents) for one in self.expression.sizings)

    def _size_program(self) -> Program:
        """Return the program that sizes the ops' results, for operands of the ranks that types and maps say."""
        types = [type_ for _, type_ in self.compilation.program.operands][: len(self._positional_operands)]
        return self.size_program(tuple(len(type_.dims) for type_ in types))

    def _linalg_sizes(self) -> SizesProgram:
        from ..mlir.linalg.sizes import SizesProgram  # noqa: PLC0415 - calls print no MLIR

        return SizesProgram(self._size_program(), self._slots_of_sizings())

    def standalone_part(self, name: str, form: CForm) -> ModulePart:
        """Return the kernel as a part of a module of standalone C; its C computes the shape functions' extents."""
        from .op_sizes_c import sizes_of  # noqa: PLC0415 - calls need no C that stands alone

        made = self.declared_compilation
        if set(self._slot_of.values()) - {self._slot_of[n] for one in self.expression.sizings for n in one.extents}:
            raise BcastgenError(
                f"{self._name}: C with shape functions takes no other extents of the caller's; name them"
            )
        return replace(super().standalone_part(name, form), sizes=sizes_of(self.expression, made.operand_types))

    def size_program(self, ranks: tuple[int, ...], bounds: bool = False) -> Program:
        """Return the program that sizes the ops' results, or their bounds, for operands of these ranks."""
        key = (ranks, bounds)
        if key not in self._size_programs:
            types = self._size_types(ranks)
            self._size_programs[key] = size_program(self._name, self.expression, types, bounds=bounds)
        return self._size_programs[key]

    def _size_types(self, ranks: tuple[int, ...]) -> tuple[TensorType, ...]:
        return (*map(self._type_of, range(len(ranks)), ranks), *(_array_of(1) for _ in self.slots))

    def _type_of(self, operand: int, rank: int) -> TensorType:
        declared = None if self._signature is None else self._signature.operands[operand][1]
        if declared is None or declared.unranked:
            return _array_of(rank)
        if declared.rank != rank:
            raise rank_mismatch(self.operands[operand], rank, len(declared.dims))
        return declared

    def _with(self, extents: Mapping[str, int] | None, sized: dict[str, int]) -> dict[str, int]:
        given = dict(checked_extents(self._name, extents))
        twice = [name for name in given if name in sized]
        if twice:
            raise BroadcastError(
                f"{self._name}(): {twice[0]!r} is what a shape function computes; leave it out of extents"
            )
        if given and len(sized) == len(self.slots):
            raise BroadcastError(f"{self._name}() has no extents to be given; its shape functions say them")
        return given | sized

    def _sizes(self, given: tuple[Any, ...], bounds: bool = False) -> dict[str, int]:
        """Return the extents of the ops' results, or their bounds, by the names of the slots that take them.

        `given` has for each operand its shape or an array of it; for one whose values are read, these, as an array.
        """
        shapes = tuple(one if isinstance(one, tuple) else np.shape(one) for one in given)
        ranks = tuple(map(len, shapes))
        program = self.size_program(ranks, bounds=bounds)
        taken = tuple(
            self._values_read[at].given(given[at]) if at in self._values_read else shape
            for at, shape in enumerate(shapes)
        )
        try:
            found = _tuples(program.run(*taken))
        except BroadcastError:
            self._explain(ranks, taken, bounds)
            raise
        sizes: dict[str, int] = {}
        for sizing, extents in zip(self.expression.sizings, found, strict=True):
            sizes.update((self._slot_of[name], int(n)) for name, n in zip(sizing.extents, extents, strict=True))
        return sizes

    def _explain(self, ranks: tuple[int, ...], given: tuple[Any, ...], bounds: bool) -> None:
        """Raise an error with both numbers for the first extent that differs from its map; return if none does."""
        types = self._size_types(ranks)
        for count, sizing in enumerate(self.expression.sizings, 1):
            # The maps of this op are checked before the shape functions of later ones.
            program = size_program(self._name, self.expression, types, False, bounds=bounds, first=count)
            try:
                found = _tuples(program.run(*given))[-len(sizing.operands) - 1 :]
            except BroadcastError:
                return
            *shapes, result = found
            for asked in asked_of(sizing):
                error = asked.violation(shapes, result)
                if error is not None:
                    raise error from None
            elements = [shape for (_, _, type_), shape in zip(values_of(sizing), shapes, strict=True) if not type_]
            _check_bound(sizing, elements, result)


def _bound_of(sizing: Sizing) -> Program | None:
    assert sizing.op.definition is not None
    return sizing.op.definition.bound


def _check_bound(sizing: Sizing, elements: list[tuple[int, ...]], result: tuple[int, ...]) -> None:
    """Raise an error with both numbers if an op's result exceeds its bound."""
    bound = _bound_of(sizing)
    found: Any = () if bound is None else bound.run(*elements)
    limit = getattr(found, "extents", found)
    for dim, (extent, most) in enumerate(zip(result, limit, strict=False)):
        if extent > most:
            raise BroadcastError(
                f"the shape function of {sizing.op.name} gives dim {dim} of the result the extent {extent}, and its "
                f"bound is {most}",
                dim=dim,
                expected=most,
                actual=extent,
            )


def _array_of(rank: int) -> TensorType:
    return TensorType(None, (DYNAMIC,) * rank)


def _tuples(returned: Any) -> tuple[Any, ...]:
    """Return the results of a run: one or several, each a tuple of extents."""
    several = isinstance(returned, tuple) and not all(isinstance(item, int) for item in returned)
    return returned if several else (returned,)
