"""A second definition of what a kernel's shapes mean: plain Python over NumPy that shares no code with the package.

In: a :class:`Kernel` as data (declared types, expressions, options), and arrays.  Out: the results' arrays, or a
:class:`Refusal`. Every value is a whole ndarray, so NumPy itself says what meets, what it gives and what it holds;
what is said here is only what a signature adds to NumPy:

1. Declarations are checked, also those of operands that are not read: ranks, extents, bounds, multiples.
2. One name is one extent everywhere: in operands' types, in targets, in results' types, in `extents=`. An extent that
   a type computes from names is that number.
3. An explicit broadcast takes exactly its target's extents. Its value may then broadcast with others like any value.
4. `!` never stretches, on whatever way. In strict mode neither does a dim of unknown extent, under stretch=False no
   dim at all; both are said of values that meet: an explicit broadcast is how such a dim is stretched. `~` and `bcast`
   stretch whatever the kernel says, and so does a dim that nobody has declared: one in front, a new one.
5. The declared type of a result holds; results never broadcast.
6. A dim that the caller names by `bg.strict` is as one of type `!`.
7. A name that only the caller gives, and does not give, is what it meets: the extent that is not 1 among all dims of
   operands beside which it stands, anywhere; 1 if they are all 1; an error where two differ or where there are none.

    kernel = Kernel((Operand("a", Type((Dim(), Dim(name="n")))),), (Spread(Read("a"), ("n", "n")),))
    run(kernel, [np.ones((1, 2))])      # one result of extents (2, 2)
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from shape_model_kernel import Apply, Const, Dim, Kernel, NewAxes, Read, Transpose

ZERO = np.float64(0)

# ---- running them ----------------------------------------------------------------------------------------------------


class Refusal(Exception):
    """A condition that does not hold; with the operand or result and its dim if it is declared of that, else None."""

    def __init__(self, why, array=None, dim=None):
        super().__init__(why)
        self.array, self.dim = array, dim


@dataclass(frozen=True)
class Value:
    """An array, and for each dim whether it never stretches ("!"), does not where values meet ("met"), or may ("")."""

    array: np.ndarray
    stiff: tuple[str, ...]


def run(kernel, arrays, extents=None, sizes_only=False, strict=()):
    """Return the results' arrays; if only sizes matter, with whatever elements.

    `strict` are the dims, each the number of its operand and its own, that the caller says do not stretch.

    Raises
    ------
    Refusal
        If the operands' extents are none that the kernel takes.
    """
    names = dict(extents or {})
    check_operands(kernel, arrays, names)
    given = dict(zip((operand.name for operand in kernel.operands), arrays, strict=True))
    infer_names(kernel, given, names)
    for operand, array in zip(kernel.operands, arrays, strict=True):
        _check_computed(operand.name, operand.type, array.shape, names)
    operands = [operand.name for operand in kernel.operands]
    scope = _Scope(kernel, given, names, sizes_only, {(operands[at], dim) for at, dim in strict if at < len(operands)})
    results = tuple(scope.value(result).array for result in kernel.results)
    check_results(kernel, results, names)
    return results


def check_operands(kernel, arrays, names):
    """Rules 1 and 2: names are bound where they occur first."""
    for operand, array in zip(kernel.operands, arrays, strict=True):
        _check(operand.name, operand.type, array.shape, names)


def check_results(kernel, results, names):
    """Rule 5."""
    for at, (type_, result) in enumerate(zip(kernel.declared or (), results, strict=bool(kernel.declared))):
        _check("r" if len(results) == 1 else f"r{at}", type_, result.shape, names, is_result=True)


def _check(array, type_, shape, names, is_result=False):
    """Check extents against a type; those of operands that are computed, once all names are bound."""
    if not type_.admits_rank(len(shape)):
        raise Refusal(f"{array} has rank {len(shape)}, declared {type_}", array)
    for at, extent in enumerate(shape):
        dim = type_.dim(len(shape), at)
        if not dim.admits(extent):
            raise Refusal(f"{array} dim {at} has extent {extent}, declared {dim}", array, at)
        if dim.name and names.setdefault(dim.name, extent) != extent:
            raise Refusal(f"{array} dim {at} has extent {extent}, {dim.name} is {names[dim.name]}", array, at)
        if is_result and dim.computed and dim.value(names) != extent:
            raise Refusal(f"{array} dim {at} has extent {extent}, {dim} is {dim.value(names)}", array, at)


def _check_computed(array, type_, shape, names):
    for at, extent in enumerate(shape):
        dim = type_.dim(len(shape), at)
        if dim.computed and dim.value(names) != extent:
            raise Refusal(f"{array} dim {at} has extent {extent}, {dim} is {dim.value(names)}", array, at)


def stiffness(kernel, dim):
    """Rule 4 for a declared dim."""
    if dim.flag == "!":
        return "!"
    if dim.flag in ("~", "bcast"):
        return ""
    return "met" if not kernel.stretch or (kernel.strict and dim.extent is None) else ""


@dataclass(frozen=True)
class _Scope:
    kernel: Kernel
    given: dict
    names: dict
    sizes_only: bool
    strict: set

    def value(self, node):
        match node:
            case Const(value):
                return Value(np.float64(value), ())
            case Read(name):
                return Value(self.given[name], self.stiff(name))
            case Apply(op, values):
                return self.apply(op, [self.value(value) for value in values])
            case Transpose(value, axes):
                seen = self.value(value)
                order = order_of(axes, seen.array.ndim)
                return Value(np.transpose(seen.array, order), tuple(seen.stiff[at] for at in order))
            case NewAxes(value, items):
                seen = self.value(value)
                stiff = indexed(seen.stiff, items, "")
                return Value(seen.array.reshape(indexed(seen.array.shape, items, 1)), tuple(stiff))
        return self.spread(self.value(node.value), node.target, node.dims)

    def stiff(self, name):
        type_ = next(operand.type for operand in self.kernel.operands if operand.name == name)
        rank = self.given[name].ndim
        return tuple(
            "!" if (name, at) in self.strict else stiffness(self.kernel, type_.dim(rank, at)) for at in range(rank)
        )

    def apply(self, op, values):
        ranks = {value.array.ndim for value in values} - {0}
        if len(ranks) > 1 and not self.kernel.rank_expansion:
            raise Refusal(f"ranks {sorted(ranks)} meet")
        try:
            shape = np.broadcast_shapes(*(value.array.shape for value in values))
        except ValueError as error:
            raise Refusal(str(error)) from None
        stiff = [""] * len(shape)
        for value in values:
            for at, (extent, own) in enumerate(zip(value.array.shape, value.stiff, strict=True), -value.array.ndim):
                if own and extent != shape[at]:
                    raise Refusal(f"an extent of {extent} does not stretch to {shape[at]}")
                stiff[at] = max(stiff[at], own, key=("", "met", "!").index)
        if self.sizes_only:
            return Value(np.broadcast_to(ZERO, shape), tuple(stiff))
        total = values[0].array
        for value in values[1:]:
            total = {"+": np.add, "-": np.subtract, "*": np.multiply}[op](total, value.array)
        return Value(np.asarray(total), tuple(stiff))

    def spread(self, value, target, dims):
        """Rule 3."""
        rank = value.array.ndim
        if isinstance(target, Read):
            wanted, stiff = list(self.given[target.name].shape), list(self.stiff(target.name))
        else:
            wanted = [self.names[item] if isinstance(item, str) else item for item in target]
            stiff = [stiffness(self.kernel, Dim(item if isinstance(item, int) else None)) for item in target]
        dims = tuple(range(len(wanted) - rank, len(wanted))) if dims is None else dims
        if len(dims) != rank or any(not 0 <= dim < len(wanted) for dim in dims):
            raise Refusal(f"rank {rank} does not fit {len(wanted)} extents")
        for at, dim in enumerate(dims):
            extent, own = value.array.shape[at], value.stiff[at]
            if wanted[dim] is None:
                wanted[dim], stiff[dim] = extent, own
            elif extent != wanted[dim] and (extent != 1 or own == "!"):
                raise Refusal(f"an extent of {extent} is not broadcast to {wanted[dim]}")
            elif own == "!":
                stiff[dim] = "!"
        assert None not in wanted, "name what the caller gives"
        places = [slice(None) if dim in dims else None for dim in range(len(wanted))]
        order = sorted(range(rank), key=lambda at: dims[at])
        laid = np.transpose(value.array, order)[tuple(places)]
        return Value(np.broadcast_to(laid, tuple(wanted)), tuple(stiff))


def order_of(axes, rank):
    """The axes of a transpose, None for the reverse order."""
    if axes is not None and sorted(axes) != list(range(rank)):
        raise Refusal(f"{axes} are no axes of rank {rank}")
    return tuple(reversed(range(rank))) if axes is None else axes


def indexed(dims, items, new):
    """Apply `[:, None, ...]` to the dims of a value, with `new` for each new one."""
    dims, made = list(dims), []
    if sum(item == ":" for item in items) > len(dims):
        raise Refusal("too many indices")
    for item in items:
        taken = {":": dims[:1], "None": [], "...": dims}[item]
        made += [new] if item == "None" else taken
        dims = dims[len(taken) :]
    return [*made, *dims]


# ---- names that nobody gives -----------------------------------------------------------------------------------------


def infer_names(kernel, given, names):
    """Rule 7: what stands beside a name, by what else is in the columns that it is a part of."""
    free = [name for name in kernel.slots if name not in names]
    if not free:
        return
    columns = []
    for result in kernel.results:
        columns += _columns(result, given, names, columns)
    for root in free:
        if root in names:
            continue
        joined, extents = {root}, set()
        for _ in columns:
            for column in columns:
                if joined & column:
                    joined |= {item for item in column if isinstance(item, str)}
                    extents |= {item for item in column if isinstance(item, int)}
        if len(extents - {1}) > 1 or not extents:
            raise Refusal(f"{root} stands beside {sorted(extents) or 'nothing'}")
        extent = (extents - {1} or {1}).pop()
        names.update(dict.fromkeys(joined, extent))


def _columns(node, given, names, found):
    """For each dim of a value what lies in it, extents and free names; `found` gets what lies together on the way."""
    match node:
        case Const():
            return []
        case Read(name):
            return [{extent} for extent in given[name].shape]
        case Apply(_, values):
            parts = [_columns(value, given, names, found)[::-1] for value in values]
            met = [set().union(*column) for column in itertools.zip_longest(*parts, fillvalue=set())][::-1]
            found += met
            return met
        case Transpose(value, axes):
            dims = _columns(value, given, names, found)
            return [dims[at] for at in order_of(axes, len(dims))]
        case NewAxes(value, items):
            return indexed(_columns(value, given, names, found), items, set())
    own = _columns(node.value, given, names, found)
    target = given[node.target.name].shape if isinstance(node.target, Read) else node.target
    wanted = [{names.get(item, item)} for item in target]
    dims = range(len(wanted) - len(own), len(wanted)) if node.dims is None else node.dims
    if len(own) > len(wanted) or len(dims) != len(own):
        raise Refusal(f"rank {len(own)} does not fit {len(wanted)} extents")
    for column, dim in zip(own, dims, strict=True):
        wanted[dim] = column if wanted[dim] == {None} else wanted[dim]
        found.append(wanted[dim] | column)
    return wanted
