"""Random kernels of the shape model (`shape_model`), and operands' extents for them, of which about half are legal.

In: a `random.Random`.  Out: `make_kernel(chance)`, a kernel of every feature that a signature has; `make_calls(chance,
kernel, count)`, calls of it. `arrays(kernel, call)` are operands of small whole numbers, whose values say which element
was read.
"""

from __future__ import annotations

import itertools
import math
import random
import re
from dataclasses import dataclass, replace

import numpy as np

import shape_model as model
from shape_model import Refusal
from shape_model_kernel import Apply, Const, Dim, Kernel, NewAxes, Operand, Read, Spread, Transpose, Type

SIZES = (0, 1, 2, 3, 5, 8)
MOST_ELEMENTS = 4000
MOST_RANK = 5


@dataclass(frozen=True)
class Call:
    """The operands' extents, and those that the caller gives: none of them, or all.

    `strict` are the dims (number of the operand, of its dim) that `bg.strict` names.
    """

    extents: tuple[tuple[int, ...], ...]
    given: tuple[tuple[str, int], ...] = ()
    strict: tuple[tuple[int, int], ...] = ()

    def __str__(self):
        named = [*(f"{name}={extent}" for name, extent in self.given), *(f"strict {a}.{b}" for a, b in self.strict)]
        return ", ".join([*map(str, self.extents), *named])


def arrays(call):
    """Operands: element i of operand p is (7 i + 13 p) % 31 + 1, in C (shape_c_calls.c) too."""
    return [
        ((np.arange(np.prod(extents, dtype=np.int64)) * 7 + 13 * at) % 31 + 1.0).reshape(extents)
        for at, extents in enumerate(call.extents)
    ]


def expected(kernel, call, sizes_only=False):
    """The model's results, or its refusal."""
    try:
        operands = blanks(call) if sizes_only else arrays(call)
        return model.run(kernel, operands, dict(call.given), sizes_only, call.strict)
    except Refusal as refusal:
        return refusal


def blanks(call):
    """Arrays of the operands' extents that take no memory."""
    return [np.broadcast_to(model.ZERO, extents) for extents in call.extents]


# ---- kernels ---------------------------------------------------------------------------------------------------------


def make_kernel(chance):
    """A kernel that some call is legal for, mostly."""
    while True:
        maker = _Maker(chance, chance.choice((2, 3, 3, 5, 8, 1, 0)))
        kernel = maker.kernel()
        calls = [one for one in make_calls(chance, kernel, 12, maker.usual) if _is_legal(kernel, one)]
        if not calls:
            if chance.random() < 0.03:
                return kernel
            continue
        if chance.random() < 0.35 and not maker.has_bare_number:
            return replace(kernel, declared=_declared(chance, kernel, chance.choice(calls)))
        return kernel


def _is_legal(kernel, call):
    return not isinstance(expected(kernel, call, sizes_only=True), Refusal)


class _Maker:
    """The material of a kernel: `usual` is the extent that its declarations like best."""

    def __init__(self, chance, usual):
        self.chance, self.usual = chance, usual
        self.plain = chance.random() < 0.4  # no explicit broadcasts, few views: what a signature says meets
        self.slotted = not self.plain and chance.random() < 0.4
        self.has_bare_number = False

    def kernel(self):
        chance = self.chance
        self.operands = tuple(Operand("abcd"[at], self.type()) for at in range(chance.choice((1, 2, 2, 2, 2, 3, 3, 4))))
        self.operands = _computed(self.operands)
        self.names = sorted({dim.name for operand in self.operands for dim in operand.type.dims if dim.name})
        self.unread = list(self.operands)
        chance.shuffle(self.unread)
        results = tuple(self.value(self.chance.choice((1, 2, 2)))[0] for _ in range(chance.choice((1, 1, 1, 1, 2, 3))))
        if self.unread and chance.random() < 0.9:
            results = (Apply("+", (results[0], *(Read(operand.name) for operand in self.unread))), *results[1:])
        mode = chance.random()
        return Kernel(
            self.operands, results, None, 0.2 < mode < 0.45, mode > 0.12 or mode < 0.04, chance.random() > 0.1
        )

    def type(self):
        chance = self.chance
        is_open = chance.random() < 0.25
        rank = chance.choice((0, 0, 1, 1, 2) if is_open else (0, 1, 1, 1, 2, 2, 2, 3, 4))
        return Type(tuple(self.dim() for _ in range(rank)), is_open)

    def dim(self):
        chance, draw = self.chance, self.chance.random()
        if draw < 0.05:
            return Dim(1, flag="bcast")
        if draw < 0.2:
            extent = chance.choice((1, 1, self.usual, self.usual, chance.choice(SIZES)))
            return Dim(extent, flag=chance.choice(("", "", "", "!")) if extent == 1 else "")
        name = chance.choice("nnmk") if draw < 0.6 else None
        low, high, step = 0, None, 1
        if chance.random() < 0.2:
            low, high, step = chance.choice(((2, None, 1), (1, None, 1), (0, 3, 1), (0, None, 2), (0, 1, 1), (2, 5, 1)))
        return Dim(None, name, low, high, step, chance.choice(("", "", "", "", "", "!", "~")))

    def read(self):
        operand = self.unread.pop() if self.unread else self.chance.choice(self.operands)
        return Read(operand.name), None if operand.type.open else len(operand.type.dims)

    def value(self, depth):
        """A value and its rank, None if that is not known."""
        draw = self.chance.random()
        if depth == 0 or draw < 0.15:
            return self.read()
        if draw < (0.9 if self.plain else 0.45):
            return self.applied(depth)
        value, rank = self.value(depth - 1)
        if draw < (0.95 if self.plain else 0.55):
            return self.transposed(value, rank)
        if draw < (1 if self.plain else 0.65) and (rank or 0) < MOST_RANK:
            return self.widened(value, rank)
        return (value, rank) if self.plain else self.spread(value, rank)

    def applied(self, depth):
        parts = [self.value(depth - 1) for _ in range(self.chance.choice((1, 2, 2, 2, 3)))]
        if len(parts) == 1:
            parts.append((Const(2.0), 0))
        ranks = [rank for _, rank in parts]
        op = self.chance.choice("++*-")
        return Apply(op, tuple(value for value, _ in parts)), None if None in ranks else max(ranks)

    def transposed(self, value, rank):
        if rank is None or self.chance.random() < 0.4:
            return Transpose(value), rank
        return Transpose(value, tuple(self.chance.sample(range(rank), rank))), rank

    def widened(self, value, rank):
        items = [("None", "..."), ("...", "None")]
        if rank:
            items += [(*[":"] * at, "None") for at in range(1, rank + 1)]
        return NewAxes(value, self.chance.choice(items)), None if rank is None else rank + 1

    def spread(self, value, rank):
        chance = self.chance
        if chance.random() < 0.05:
            value, rank, self.has_bare_number = Const(3.0), 0, True
        if chance.random() < 0.3:
            other = chance.choice(self.operands)
            if other.type.open:
                return Spread(value, Read(other.name)), None
            wide, target = len(other.type.dims), Read(other.name)
        else:
            wide = min(MOST_RANK, (rank or 0) + chance.choice((0, 0, 1, 1, 2)))
            target = tuple(self.extent() for _ in range(wide))
        if rank is None or rank > wide or chance.random() < 0.5:
            return Spread(value, target), wide
        dims = tuple(chance.sample(range(wide), rank))
        dims = dims if chance.random() < 0.3 else tuple(sorted(dims))
        if not isinstance(target, Read):
            target = tuple(None if at in dims and chance.random() < 0.2 else item for at, item in enumerate(target))
        return Spread(value, target, dims), wide

    def extent(self):
        """An extent of a target."""
        names = [*self.names, *["p", "q"] * self.slotted]
        if names and self.chance.random() < 0.7:
            return self.chance.choice(names)
        return self.chance.choice((self.usual, self.usual, 1, 2, 3))


# Computed extents, of one name and of two.
OF_ONE = ("2*x", "x + 1", "x - 1", "3*x + 2", "x//2", "max(x - 1, 0)", "x*x")
OF_TWO = ("x + y", "x*y", "min(x, y)", "max(x, y)", "2*x - y", "x*y + 1")


def _expressions(names):
    """Every form of every name, and of every two."""
    for form in OF_ONE:
        yield from (re.sub(r"\bx\b", one, form) for one in names)
    for form, one, other in itertools.product(OF_TWO, names, names):
        if one != other:
            yield re.sub(r"\by\b", other, re.sub(r"\bx\b", one, form))


def _computed(operands):
    """The operands, with computed extents in place of some unknown ones: no draw of the kernel's depends on them."""
    chance = random.Random(str(list(map(str, operands))))
    names = sorted({dim.name for operand in operands for dim in operand.type.dims if dim.name})
    if not names or chance.random() < 0.5:
        return operands
    forms = chance.sample(list(_expressions(names)), 2)

    def of(dim):
        is_free = dim == Dim(flag=dim.flag) and dim.flag != "bcast"
        return Dim(flag=dim.flag, computed=chance.choice(forms)) if is_free and chance.random() < 0.6 else dim

    return tuple(
        Operand(operand.name, Type(tuple(map(of, operand.type.dims)), operand.type.open)) for operand in operands
    )


def _declared(chance, kernel, call):
    """Types of results that this call has."""
    results = expected(kernel, call, sizes_only=True)
    names = dict(call.given)
    model.check_operands(kernel, blanks(call), names)
    types = []
    apart = random.Random(str(kernel))
    forms = [Dim(computed=text) for text in _expressions(sorted(kernel.names))]
    for result in results:
        dims = [_result_dim(chance, extent, names) for extent in result.shape]
        for at, extent in enumerate(result.shape):
            same = [form for form in forms if form.value(names) == extent]
            dims[at] = apart.choice(same) if same and apart.random() < 0.15 else dims[at]
        cut = chance.randint(0, len(dims)) if chance.random() < 0.25 else None
        types.append(Type(tuple(dims)) if cut is None else Type(tuple(dims[cut:]), open=True))
    return tuple(types)


def _result_dim(chance, extent, names):
    draw = chance.random()
    if draw < 0.4:
        return Dim()
    if draw < 0.6:
        return Dim(extent)
    same = [name for name, value in names.items() if value == extent]
    if draw < 0.8 and same:
        return Dim(name=chance.choice(same))
    if draw < 0.9 and names.get("t", extent) == extent:
        names["t"] = extent
        return Dim(name="t")
    return Dim(low=min(extent, 2)) if draw < 0.95 else Dim(high=max(extent, 3))


# ---- calls -----------------------------------------------------------------------------------------------------------


def make_calls(chance, kernel, count, usual=None):
    """Calls, about half of them legal; results of more than MOST_ELEMENTS are left out."""
    if usual is None:
        known = [dim.extent for operand in kernel.operands for dim in operand.type.dims if dim.extent not in (None, 1)]
        usual = known[0] if known else 3
    # A kernel with views is compiled for every combination of ranks: few of these.
    fronts = [[chance.choice((0, 0, 1, 1, 2)) for _ in kernel.operands] for _ in range(3)]
    calls = []
    while len(calls) < count:
        wanted = chance.random() < 0.3
        for _ in range(8 if wanted else 1):
            call = _draw(chance, kernel, usual, chance.choice(fronts))
            if chance.random() < 0.1:
                call = replace(call, strict=_strict_dims(chance, call))
            results = expected(kernel, call, sizes_only=True)
            if not wanted or not isinstance(results, Refusal):
                break
        sizes = [] if isinstance(results, Refusal) else [result.size for result in results]
        if max([*sizes, *(math.prod(extents) for extents in call.extents)]) <= MOST_ELEMENTS:
            calls.append(call)
    return calls


def _draw(chance, kernel, usual, fronts):
    size = chance.choice((usual, usual, *SIZES))
    pool = chance.choice(((size,), (1, size), (1, size, size), (1, size, chance.choice(SIZES)), SIZES))
    by_column = chance.random() < 0.4
    columns = [chance.choice(pool) for _ in range(MOST_RANK + 4)]
    names = {name: chance.choice(pool) for name in (*"nmkpqt",)}
    extents = []
    for operand, front in zip(kernel.operands, fronts, strict=True):
        dims = [Dim()] * (front * operand.type.open) + list(operand.type.dims)
        extents.append(
            tuple(
                _extent(chance, dim, names, columns[len(dims) - at] if by_column else chance.choice(pool))
                for at, dim in enumerate(dims)
            )
        )
        if chance.random() < 0.02:
            extents[-1] = chance.choice(((*extents[-1], 1), (1, *extents[-1]), extents[-1][1:]))
    given = () if chance.random() < 0.2 else tuple((name, names[name]) for name in kernel.slots)
    if any(dim.computed for operand in kernel.operands for dim in operand.type.dims) and chance.random() < 0.9:
        extents = _with_computed(kernel, extents)
    return Call(tuple(extents), given)


def _with_computed(kernel, extents):
    """The extents, with those that types compute from names computed."""
    seen = [
        (operand.type.dim(len(shape), at), extent)
        for operand, shape in zip(kernel.operands, extents, strict=True)
        for at, extent in enumerate(shape)
    ]
    names = {dim.name: extent for dim, extent in reversed(seen) if dim.name}
    if set(names) < kernel.names:
        return extents
    values = iter([max(dim.value(names), 0) if dim.computed else extent for dim, extent in seen])
    return [tuple(next(values) for _ in shape) for shape in extents]


def _strict_dims(chance, call):
    """Some dims of some operands, mostly those of extent 1, for which alone it matters."""
    dims = [(at, dim, extent) for at, own in enumerate(call.extents) for dim, extent in enumerate(own)]
    return tuple((at, dim) for at, dim, extent in dims if chance.random() < (0.5 if extent == 1 else 0.2))


def _extent(chance, dim, names, free):
    """An extent of a dim: mostly one that it admits."""
    if chance.random() < 0.03:
        return chance.choice(SIZES)
    if dim.flag == "bcast":
        return 1
    if dim.extent is not None:
        return dim.extent
    extent = 1 if chance.random() < 0.15 and not dim.name else names[dim.name] if dim.name else free
    if not dim.admits(extent) and chance.random() < 0.9:
        extent = chance.choice([size for size in SIZES if dim.admits(size)] or [extent])
        if dim.name:
            names[dim.name] = extent
    return extent
