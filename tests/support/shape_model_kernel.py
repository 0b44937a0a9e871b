"""Kernels as the shape model has them: data, that print as text which bcastgen reads.

kernel = Kernel((Operand("a", Type((Dim(), Dim(name="n")))),), (Spread(Read("a"), ("n", "n")),))
str(kernel)        # (f64[?, n] a) -> broadcast_to(a, (n, n))
"""

from __future__ import annotations

import functools
import itertools
import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Dim:
    """One dim of a declared type: an extent, a name or neither; bounds and a multiple; "", "!", "~" or "bcast".

    `computed` is an extent computed from names, which Python evaluates.
    """

    extent: int | None = None
    name: str | None = None
    low: int = 0
    high: int | None = None
    step: int = 1
    flag: str = ""
    computed: str = ""

    def __str__(self):
        if self.flag == "bcast":
            return "bcast"
        value = self.computed or self.name or ("?" if self.extent is None else str(self.extent))
        low = f">={self.low}" if self.low else ""
        high = "" if self.high is None else f"<={self.high}"
        return f"{value}{low}{high}{f'%{self.step}' if self.step > 1 else ''}{self.flag}"

    def value(self, names):
        """What names compute to."""
        return eval(self.computed, {"min": min, "max": max}, dict(names))

    @property
    def computed_names(self):
        return set(re.findall(r"[a-z]+", self.computed)) - {"min", "max"}

    @functools.cached_property
    def may_be_one(self):
        """Whether bounds, and what is computed, whatever the names are, can be 1."""
        if not self.computed:
            return self.admits(1)
        names = sorted(self.computed_names)
        return any(
            self.value(zip(names, extents, strict=True)) == 1
            for extents in itertools.product(range(5), repeat=len(names))
        )

    def admits(self, extent):
        if self.flag == "bcast":
            return extent == 1
        within = self.low <= extent and (self.high is None or extent <= self.high) and extent % self.step == 0
        return within and self.extent in (None, extent)


@dataclass(frozen=True)
class Type:
    """Dims, of which there may be any number more in front if the type is open."""

    dims: tuple[Dim, ...] = ()
    open: bool = False

    def __str__(self):
        return f"f64[{', '.join([*['*'] * self.open, *map(str, self.dims)])}]"

    def admits_rank(self, rank):
        return rank >= len(self.dims) if self.open else rank == len(self.dims)

    def dim(self, rank, at):
        """Return the declaration of a dim of an array of some rank."""
        at -= rank - len(self.dims)
        return self.dims[at] if at >= 0 else Dim()


@dataclass(frozen=True)
class Operand:
    name: str
    type: Type

    def __str__(self):
        return f"{self.type} {self.name}"


@dataclass(frozen=True)
class Read:
    """An operand."""

    name: str


@dataclass(frozen=True)
class Const:
    """A number."""

    value: float


@dataclass(frozen=True)
class Apply:
    """An element-wise op: "+", "-" or "*"."""

    op: str
    values: tuple


@dataclass(frozen=True)
class Transpose:
    """Dims in another order, by default the reverse one."""

    value: object
    axes: tuple[int, ...] | None = None


@dataclass(frozen=True)
class NewAxes:
    """`value[:, None, ...]`, each item ":", "None" or "..."."""

    value: object
    items: tuple[str, ...]


@dataclass(frozen=True)
class Spread:
    """An explicit broadcast to extents, each a number, a name or None (what it is), or to those of an operand."""

    value: object
    target: tuple[int | str | None, ...] | Read
    dims: tuple[int, ...] | None = None


@dataclass(frozen=True)
class Kernel:
    operands: tuple[Operand, ...]
    results: tuple
    declared: tuple[Type, ...] | None = None
    strict: bool = False
    stretch: bool = True
    rank_expansion: bool = True

    @functools.cached_property
    def names(self):
        """The names that operands declare alone."""
        return {dim.name for operand in self.operands for dim in operand.type.dims if dim.name}

    @functools.cached_property
    def slots(self):
        """The names that the caller gives, in order."""
        found = (item for result in self.results for item in _targets(result) if isinstance(item, str))
        return tuple(name for name in dict.fromkeys(found) if name not in self.names)

    def __str__(self):
        options = [
            *['dynamic="strict"'] * self.strict,
            *["stretch=False"] * (not self.stretch),
            *["rank_expansion=False"] * (not self.rank_expansion),
        ]
        declared = "" if self.declared is None else f" -> {listed(map(str, self.declared))} :"
        body = listed(text_of(result) for result in self.results)
        return "; ".join([f"({', '.join(map(str, self.operands))}){declared or ' ->'} {body}", *options])


def listed(texts):
    texts = list(texts)
    return texts[0] if len(texts) == 1 else f"({', '.join(texts)})"


def children(node):
    match node:
        case Apply(_, values):
            return values
        case Transpose(value) | NewAxes(value) | Spread(value):
            return (value,)
    return ()


def _targets(node):
    yield from itertools.chain.from_iterable(map(_targets, children(node)))
    if isinstance(node, Spread) and not isinstance(node.target, Read):
        yield from node.target


def text_of(node, quoted=False):
    """An expression as bcastgen.from_text reads it, or, quoted, as a Python function says it."""
    bg, mark = ("bg.", '"') if quoted else ("", "")
    match node:
        case Read(name):
            return name
        case Const(value):
            return repr(float(value))
        case Apply(op, values):
            return f"({f' {op} '.join(text_of(value, quoted) for value in values)})"
        case Transpose(value, None):
            return f"{text_of(value, quoted)}.T"
        case Transpose(value, axes):
            return f"{'np.' * quoted}transpose({text_of(value, quoted)}, {axes})"
        case NewAxes(value, items):
            return f"{text_of(value, quoted)}[{', '.join(items)}]"
    target, dims = node.target, node.dims
    if isinstance(target, Read):
        extents = target.name
    else:
        items = [f"{mark}{item}{mark}" if isinstance(item, str) else str(item) for item in target]
        extents = f"({', '.join(items)}{',' * (len(items) == 1)})"
    given = f"{text_of(node.value, quoted)}, {extents}"
    return f"{bg}broadcast_to({given})" if dims is None else f"{bg}broadcast_in_dim({given}, {dims})"
