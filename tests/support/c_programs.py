"""Random kernels for standalone C, and arrays that they take.

In: a random generator, and ``samples(dtype)``: values of each dtype.  Out: a :class:`Subject`: a kernel, and operands
that fit it.

    subject = random_subject(random.Random(0), "p0", samples)
    subject.kernel(*subject.operands)       # what the JIT makes of them

All is drawn that types can say: dtypes, ranks up to 4 or none, extents known and not, names, bounds, multiples, strict
dims; dims of extent 1 and missing ones, views, constants, several results, and ops of any kind.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bcastgen.core.dtypes import COMPUTED
from bcastgen.core.errors import DomainError, DTypeError, RangeError
from bcastgen.expr.build import Builder
from bcastgen.expr.constants import constant_from
from bcastgen.expr.nodes import Operand, topological
from bcastgen.expr.views import NewAxes, Transpose
from bcastgen.kernel.kernel import Kernel
from bcastgen.ops.table import OPS
from bcastgen.pipeline.options import Options
from bcastgen.shape.types.tensor_type import Signature, parse_type

NAMES = ("a", "b", "c", "d")
SCALARS = (True, 0, 1, 2, 3, 7, 100, -1, -2, 40, 0.0, -0.0, 0.5, 2.0, -1.5, 0.1, 1e20, float("inf"), float("nan"))
# The sign of a NaN is free, and these show it.
SHOW_SIGNS = {"signbit", "copysign"}
_EXACT = tuple(op for op in OPS.values() if op.name not in SHOW_SIGNS and not op.ulp)
_FUNCTIONS = tuple(op for op in OPS.values() if op.ulp)


# ---- expressions -----------------------------------------------------------------------------------------------------


def random_step(chance, values, ops, fresh=()):
    """A row, cast's target or None, operands and the result's dtype; None if the row refuses them.

    Where there are `fresh` values, which nothing has read yet, they are rather taken than others.
    """
    op = chance.choice(ops)
    operands = [chance.choice(fresh if fresh and chance.random() < 0.7 else values) for _ in range(op.arity)]
    for at in range(1, op.arity):
        scalar = constant_from(chance.choice(SCALARS))
        operands[at] = (scalar, scalar.dtype) if chance.random() < 0.3 else operands[at]
    dtypes = tuple(kind for _, kind in operands)
    target = chance.choice(COMPUTED) if op.params else None
    try:
        result = target or op.types(dtypes)[1]
    except DTypeError:
        return None
    return op, target, tuple(node for node, _ in operands), result


def extend(chance, builder, values, steps, ops):
    """Apply so many ops to values, (node, dtype) each, and to what comes of them; returns what nothing has read."""
    fresh = list(values)
    while steps:
        step = random_step(chance, values, ops, fresh)
        if step is None:
            continue
        op, target, operands, result = step
        node = builder.apply(op, operands, (("dtype", target),) if target else ())
        if any(node is other for other, _ in values):
            continue
        fresh = [value for value in fresh if value[0] not in operands] + [(node, result)]
        values.append((node, result))
        steps -= 1
    return fresh


# ---- shapes and their types ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Leaf:
    """An operand: the shape it has, the one in which it is used, the view between them, its type."""

    shape: tuple[int, ...]
    used: tuple[int, ...]
    views: tuple[object, ...]
    dims: str


def random_domain(chance):
    """The extents that all operands share, most of them small."""
    extents = [chance.choice((0, 1, 2, 3, 5, 8)) if chance.random() < 0.9 else 33 for _ in range(chance.randint(0, 4))]
    return extents if np.prod(extents, dtype=int) <= 1000 else extents[:2]


def random_leaves(chance, count):
    """Operands that broadcast together."""
    domain = random_domain(chance)
    used = []
    for _ in range(count):
        own = domain[chance.randint(0, len(domain)) if chance.random() < 0.4 else 0 :]
        used.append(tuple(1 if chance.random() < 0.25 else extent for extent in own))
    # The extents that the dims result in; all of them may have stretched.
    extents = np.broadcast_shapes(*used)
    # Views take known ranks, of all operands.
    any_rank = chance.random() < 0.25
    return [_leaf(chance, shape, extents, any_rank and chance.random() < 0.8, not any_rank) for shape in used]


def _leaf(chance, used, extents, unranked, viewed):
    shape, views = used, []
    texts = [_dim(chance, extent, extents[at - len(used)], len(used) - at) for at, extent in enumerate(used)]
    if viewed and chance.random() < 0.2:
        new = next((at for at, extent in enumerate(used) if extent == 1), None)
        if new is not None and chance.random() < 0.6:
            views = [NewAxes(tuple("new" if at == new else "dim" for at in range(len(used))))]
            shape, texts = shape[:new] + shape[new + 1 :], texts[:new] + texts[new + 1 :]
        elif len(used) > 1:
            views = [Transpose()]
            shape, texts = shape[::-1], texts[::-1]
    if unranked:
        texts = ["*", *texts[chance.randint(0, len(texts)) :]]
    return Leaf(shape, used, tuple(views), ", ".join(texts))


def _dim(chance, extent, result, position):
    """Return the text of a dim of this extent in a type, where the result has another extent."""
    forms = ["?"] * 4 + [str(extent)] * 2
    forms += [f"?>={max(extent - 1, 0)}", f"?<={extent + 2}"]
    forms += [f"?%{extent}"] if extent > 1 else []
    forms += [f"n{position}", "?!"] if extent == result else []
    forms += ["bcast"] if extent == 1 else []
    return chance.choice(forms)


# ---- kernels ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Subject:
    """A kernel, operands that fit it, and the shapes of its results for these.

    Without views, `sources` are the numbers of the operands that each result is computed of.
    """

    kernel: Kernel
    operands: tuple[np.ndarray, ...]
    shapes: tuple[tuple[int, ...], ...]
    sources: tuple[tuple[int, ...], ...] = ()

    @cached_property
    def compilation(self):
        """The kernel's stages."""
        return self.kernel.declared_compilation

    def broadcast(self, operands):
        """NumPy's verdict on the shapes of these operands: that of each result; None where there are views.

        Raises
        ------
        ValueError
            If they do not broadcast.
        """
        shapes = [np.shape(value) for value in (*operands, *self.kernel.constant_values)]
        return [np.broadcast_shapes(*(shapes[at] for at in numbers)) for numbers in self.sources] or None

    def reads(self, at):
        """Return whether the data of an operand is read for these shapes."""
        return any(
            access.number == at and not access.stands_by
            for nest in self.compilation.rewritten.program.nests
            if nest.results and 0 not in self.shapes[nest.results[0].number]
            for access in nest.operands
        )

    def blanks(self, chance):
        """Results to be written, each in some layout."""
        dtypes = self.compilation.typed.result_dtypes
        return tuple(
            scattered(chance, np.full([*shape, kind.bytes], 0xA5, np.uint8).view(kind.np)[..., 0])
            for shape, kind in zip(self.shapes, dtypes, strict=True)
        )


def raw(x):
    """Bools as bytes, since NumPy would turn odd ones into 1."""
    return x.view("u1") if x.dtype == bool else x


def scattered(chance, values):
    """The values in some layout: dims in another order, steps between elements, backwards."""
    kind, values = values.dtype, raw(values)
    order = chance.sample(range(values.ndim), values.ndim) if chance.random() < 0.4 else list(range(values.ndim))
    steps = [chance.choice((1, 1, 1, 2, 3)) * chance.choice((1, 1, 1, -1)) for _ in order]
    if chance.random() < 0.3:
        steps = [1] * values.ndim
    extents = [values.shape[dim] * abs(steps[dim]) for dim in order]
    room = np.full([*extents, kind.itemsize], 0x5A, np.uint8).view(values.dtype)[..., 0]
    places = np.transpose(room, np.argsort(order))
    places = places[tuple(slice(None, None, step) for step in steps)] if steps else places
    places[...] = values
    return places.view(kind)


def random_operand(chance, shape, values):
    """An array of this shape in some layout, of these values."""
    drawn = raw(values)[[chance.randrange(len(values)) for _ in range(int(np.prod(shape)))]].reshape(shape)
    return scattered(chance, drawn.view(values.dtype))


def random_subject(chance, name, samples, functions=False, static=False):
    """A kernel and operands for it: with functions only where these are wanted, or of extents that are all known."""
    while True:
        try:
            subject = _subject(chance, name, samples, functions, static)
            assert subject.compilation.rewritten.program.nests
        except (DomainError, RangeError):  # a constant that does not fit, or a negative exponent
            continue
        return subject


def _subject(chance, name, samples, functions, static):
    dtypes = [chance.choice(COMPUTED) for _ in range(chance.randint(1, 4))]
    leaves = random_leaves(chance, len(dtypes))
    held = len(dtypes) > 1 and "*" not in leaves[-1].dims and chance.random() < 0.15
    names = NAMES[: len(dtypes)]
    builder = Builder(names)
    values = []
    for node, leaf, kind in zip(builder.operands, leaves, dtypes, strict=True):
        for view in leaf.views:
            node = builder.remap(node, view)
        values.append((node, kind))
    made = extend(chance, builder, values, chance.randint(2, 7), _EXACT)
    made = extend(chance, builder, values, chance.randint(1, 3), _FUNCTIONS) if functions else made
    made = [value for value in values[len(dtypes) :] if value in made] or values[-1:]
    shown = made[-chance.choice((1, 1, 1, 2, 3)) :]
    operands = tuple(
        random_operand(chance, leaf.shape, samples(kind)) for leaf, kind in zip(leaves, dtypes, strict=True)
    )
    dims = [", ".join(map(str, leaf.shape)) if static else leaf.dims for leaf in leaves]
    if held:
        dims[-1] = ", ".join(map(str, leaves[-1].shape))
    types = tuple(parse_type(f"{kind}[{text}]") for kind, text in zip(dtypes, dims, strict=True))
    kernel = Kernel(
        builder.finish(tuple(node for node, _ in shown)),
        name,
        names,
        len(shown),
        operands[-1:] if held else (),
        Signature(tuple(zip(names, types, strict=True)), None, None),
        Options(name),
        int(held),
    )
    given = operands[:-1] if held else operands
    sources = tuple(_sources(result) for result in kernel.expression.results)
    shapes = tuple(np.broadcast_shapes(*(leaves[at].used for at in numbers)) for numbers in sources)
    return Subject(kernel, given, shapes, () if any(leaf.views for leaf in leaves) else sources)


def _sources(result):
    """The operands that a node is computed of."""
    return tuple(sorted(node.index for node in topological((result,)) if isinstance(node, Operand)))
