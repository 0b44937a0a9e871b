"""Views: a value read through another indexing map. A view computes nothing and copies nothing.

In: a view and the rank of a value.  Out: for each dim of the value, the dim of the view that it is.

    Transpose(None) of a value of rank 2            ->  dims (1, 0) of rank 2
    Broadcast((0, 2), (?, 5, ?)) of rank 2          ->  dims (0, 2) of rank 3; dim 1 has extent 5
    NewAxes("new", "dim")  x[None, :] of rank 1     ->  dims (1,) of rank 2
    Collapse((0,))  x[0] of rank 2, 1 x ?           ->  dims (none, 0) of rank 1

The choice among t[i][j][k] = a[i][j], a[i][k], ..., a[j][i] is known statically, as a map.
"""

from __future__ import annotations

from ..core.errors import AxisError, BroadcastError
from ..core.frozen import dataclass
from ..shape.types.dim import Dim, check_rank

__all__ = [
    "Broadcast",
    "Collapse",
    "MoveAxes",
    "NewAxes",
    "Resolved",
    "SwapAxes",
    "Transpose",
    "View",
    "check_view",
    "dims_of",
    "is_free",
]


@dataclass(frozen=True, slots=True)
class Resolved:
    """A view of a value whose rank is known.

    Attributes
    ----------
    dims : for each dim of the value, the dim of the view that it is; None for a dropped one, whose extent is 1.
    rank : of the view.
    shape : for each dim of the view its declared extent; None leaves it to the value, or to the operands beside it.

    Raises
    ------
    BroadcastError
        If the view has more dims than a kernel holds.
    """

    dims: tuple[int | None, ...]
    rank: int
    shape: tuple[Dim | None, ...]

    def __post_init__(self) -> None:
        # Views make every rank that is not an operand's own.
        check_rank("a view", self.rank)


@dataclass(frozen=True, slots=True)
class Transpose:
    """Dims in another order: dim i of the view is dim `axes[i]` of the value; None reverses them all."""

    axes: tuple[int, ...] | None = None

    def resolve(self, rank: int, like_rank: int | None = None) -> Resolved:
        """Return the view of a value of this rank."""
        axes = tuple(reversed(range(rank))) if self.axes is None else _normal(self.axes, rank, "transpose")
        if sorted(axes) != list(range(rank)):
            raise BroadcastError(
                f"transpose by axes {self.axes} of a value of rank {rank}; name each dim once, or leave axes out"
            )
        dims = tuple(axes.index(dim) for dim in range(rank))
        return Resolved(dims, rank, (None,) * rank)

    def __str__(self) -> str:
        return "transpose" if self.axes is None else f"transpose[axes={list(self.axes)}]"


@dataclass(frozen=True, slots=True)
class MoveAxes:
    """Some dims moved: dim `sources[i]` becomes dim `targets[i]`, the others keep their order."""

    sources: tuple[int, ...]
    targets: tuple[int, ...]

    def resolve(self, rank: int, like_rank: int | None = None) -> Resolved:
        """Return the view of a value of this rank."""
        sources, targets = (_normal(dims, rank, "moveaxis") for dims in (self.sources, self.targets))
        if len(set(sources)) != len(targets) or len(set(targets)) != len(sources):
            raise BroadcastError(f"{self} of a value of rank {rank}; name each dim once, and a place for each")
        moved = dict(zip(targets, sources, strict=True))
        others = iter(dim for dim in range(rank) if dim not in sources)
        order = [moved[place] if place in moved else next(others) for place in range(rank)]
        return Resolved(tuple(order.index(dim) for dim in range(rank)), rank, (None,) * rank)

    def __str__(self) -> str:
        return f"moveaxis[from={list(self.sources)}, to={list(self.targets)}]"


@dataclass(frozen=True, slots=True)
class SwapAxes:
    """Two dims in each other's place; they may be the same one."""

    axes: tuple[int, int]

    def resolve(self, rank: int, like_rank: int | None = None) -> Resolved:
        """Return the view of a value of this rank."""
        one, other = _normal(self.axes, rank, "swapaxes")
        dims = list(range(rank))
        dims[one], dims[other] = other, one
        return Resolved(tuple(dims), rank, (None,) * rank)

    def __str__(self) -> str:
        return f"swapaxes[axes={list(self.axes)}]"


@dataclass(frozen=True, slots=True)
class Broadcast:
    """An explicit broadcast: dim i of the value is dim `dims[i]` of the view; None aligns dims on the right.

    `shape` holds the view's dims, with None for an open one. If `shape` itself is None, the view takes another
    operand's shape.
    """

    dims: tuple[int, ...] | None
    shape: tuple[Dim | None, ...] | None

    def resolve(self, rank: int, like_rank: int | None = None) -> Resolved:
        """Return the view of a value of this rank; `like_rank` is that of the operand whose shape it takes."""
        shape = (None,) * (like_rank or 0) if self.shape is None else self.shape
        dims = tuple(range(len(shape) - rank, len(shape))) if self.dims is None else self.dims
        if self.dims is None and rank > len(shape):
            raise BroadcastError(f"a value of rank {rank} cannot be broadcast to rank {len(shape)}; give more dims")
        dims = _normal(dims, len(shape), "broadcast_in_dim")
        if len(dims) != rank or len(set(dims)) != rank:
            raise BroadcastError(
                f"broadcast_in_dim by dims {dims} of a value of rank {rank}; give one dim of the result for each"
            )
        return Resolved(dims, len(shape), shape)

    def __str__(self) -> str:
        dims = [] if self.dims is None else [f"dims={list(self.dims)}"]
        shape = [] if self.shape is None else [f"shape=[{', '.join('_' if d is None else str(d) for d in self.shape)}]"]
        return f"broadcast[{', '.join(shape + dims)}]"


@dataclass(frozen=True, slots=True)
class NewAxes:
    """`x[:, None]`: new dims of extent 1; `pattern` holds "dim", "new" and at most one "rest" (the ``...``)."""

    pattern: tuple[str, ...]

    def resolve(self, rank: int, like_rank: int | None = None) -> Resolved:
        """Return the view of a value of this rank."""
        rest = rank - self.pattern.count("dim")
        if rest < 0:
            last = self.pattern.count("dim") - 1
            raise AxisError(f"{self} of a value of rank {rank}: too many dims; leave some out", axis=last, ndim=rank)
        pattern = self.pattern if "rest" in self.pattern else (*self.pattern, "rest")
        kinds = [kind for part in pattern for kind in (("dim",) * rest if part == "rest" else (part,))]
        dims = tuple(view_dim for view_dim, kind in enumerate(kinds) if kind == "dim")
        return Resolved(dims, len(kinds), tuple(None if kind == "dim" else Dim(1) for kind in kinds))

    def __str__(self) -> str:
        shown = {"dim": ":", "new": "None", "rest": "..."}
        return f"index[{', '.join(shown[part] for part in self.pattern)}]"


@dataclass(frozen=True, slots=True)
class Collapse:
    """`x[0]` along each of `dims`, whose extents are 1: the view has the other dims.

    Types have to prove these extents, unless `checked` is set: then each call is checked.
    """

    dims: tuple[int, ...]
    checked: bool = False

    def resolve(self, rank: int, like_rank: int | None = None) -> Resolved:
        """Return the view of a value of this rank."""
        dropped = _normal(self.dims, rank, "collapse")
        if len(set(dropped)) != len(self.dims):
            raise BroadcastError(f"collapse of dims {self.dims} of a value of rank {rank}; name each dim once")
        kept = [dim for dim in range(rank) if dim not in dropped]
        dims = tuple(None if dim in dropped else kept.index(dim) for dim in range(rank))
        return Resolved(dims, len(kept), (None,) * len(kept))

    def __str__(self) -> str:
        return f"collapse[dims={list(self.dims)}{', checked' * self.checked}]"


View = Transpose | MoveAxes | SwapAxes | Broadcast | NewAxes | Collapse


def check_view(view: View) -> None:
    """Refuse a view that has more dims than a kernel supports, whatever value it is of.

    Raises
    ------
    BroadcastError
        If it has too many dims; the message names its rank.
    """
    match view:
        case Broadcast(shape=(_, *_) as shape):
            check_rank("a view", len(shape))
        case NewAxes(pattern=pattern):
            check_rank("a view", len(pattern) - pattern.count("rest"))


def _normal(dims: tuple[int, ...], rank: int, name: str) -> tuple[int, ...]:
    for dim in dims:
        if not -rank <= dim < rank:
            cure = f"use 0 to {rank - 1}" if rank else "name none"
            raise AxisError(f"{name}: dim {dim} is out of range for rank {rank}; {cure}", axis=dim, ndim=rank)
    return tuple(dim % rank for dim in dims) if rank else ()


def dims_of(shape: object) -> tuple[Dim | None, ...]:
    """Return the dims of a shape as users write it: extents, :class:`Dim`, names, and None for an open dim.

    Examples
    --------
    >>> [str(dim) for dim in dims_of((4, "n", None))]
    ['4', 'n', 'None']
    """
    entries = shape if isinstance(shape, (tuple, list)) else (shape,)
    return tuple(entry if entry is None or isinstance(entry, Dim) else Dim(entry) for entry in entries)


def is_free(dim: Dim | None) -> bool:
    """True if the extent is not declared: other operands determine it, or the caller gives it."""
    return dim is None or not dim.is_static
