"""Nests that share a pass over memory: which ones may run over some rows together, and which rows these are.

In: the nests of a kernel with reductions.  Out: a :class:`SharedRows` for each run of nests, and lines for `explain`.

    max of x over d1; sum of exp(x - max) over d1; exp(x - max) / sum   ->   nests 0 to 2, along (d0) of each

A nest that reads what an earlier one gives needs only the rows that it computes itself if it reads it along the very
dims that the earlier nest keeps. So such nests can run one after the other over a few rows that stay in a cache. The
run time does so where a row fits in a cache and all rows do not. Standalone C, where a reduced value is one variable,
has `shared_loops` instead.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...core.frozen import dataclass
from ..nest import Access, Let, Load, Nest, Reducing, Value

__all__ = ["SharedPass", "SharedRows", "saved_value", "shared_lines", "shared_rows"]


@dataclass(frozen=True, slots=True)
class SharedRows:
    """A run of nests that share a pass.

    Attributes
    ----------
    first : the number of the first nest.
    rows : for each nest, the dims of its domain that are the rows, in one order for all.
    """

    first: int
    rows: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class SharedPass:
    """A nest's part in a pass that nests share.

    Attributes
    ----------
    rows : the dims of its domain that are the rows.
    count : how many nests share the pass, in the first one of them; 0 in the others.
    saved : the reduction of an earlier nest of the pass that combines the values of this nest's only stage, so that
        they are kept instead of computed again; None if there is none.
    """

    rows: tuple[int, ...]
    count: int
    saved: Reducing | None = None


@dataclass(frozen=True, slots=True)
class _ReducedValue:
    """A value that a nest of the run reduces: how, and which dims of the nest's domain are the rows."""

    reduction: Reducing
    rank: int
    rows: tuple[int, ...]


def shared_rows(nests: Sequence[Nest]) -> tuple[SharedRows, ...]:
    """Return the runs of two nests or more that share a pass.

    Examples
    --------
    >>> from bcastgen import from_text
    >>> found = from_text("(f32[?, ?] x) -> x - max(x, axis=1, keepdims=True)").compilation.program.nests
    >>> shared_rows(found)
    (SharedRows(first=0, rows=((0,), (0,))),)
    """
    return tuple(run for run, _ in _runs(nests) if _reads_again(nests[run.first : run.first + len(run.rows)]))


def saved_value(nests: Sequence[Nest], run: SharedRows, place: int, wanted: Let) -> Reducing | None:
    """Return the reduction of an earlier nest of the run that combines the values a nest computes once more, or None.

    These are saved while the pass is at their rows: a softmax computes its exponentials for the sum, and divides them.
    """
    nest, rows = nests[place], run.rows[place - run.first]
    if nest.reduced or rows != tuple(range(len(rows))):
        return None  # saved values lie in C order, as the nest that combines them takes them
    for at, earlier in enumerate(nests[run.first : place]):
        if run.rows[at] != rows or len(earlier.domain.dims) != len(nest.domain.dims):
            continue
        for one, access, value in zip(earlier.reduced, earlier.results, earlier.stores, strict=False):
            is_whole = access.dtype == nest.body[wanted.index].dtype and access.dtype.kind in ("float", "complex")
            if is_whole and _meaning(earlier, value) == _meaning(nest, wanted):
                return one
    return None


def _meaning(nest: Nest, value: Value) -> object:
    """Return what a value is computed from, and how, in terms that hold for all nests."""
    match value:
        case Load():
            access = nest.operands[value.access]
            return access.number, access.map, access.positions
        case Let():
            statement = nest.body[value.index]
            operands = tuple(_meaning(nest, operand) for operand in statement.operands)
            return statement.op.name, statement.params, statement.dtype, operands
        case _:
            return repr(value)


def shared_lines(nests: Sequence[Nest], numbers: Sequence[int]) -> list[str]:
    """Return the lines of `explain` about the passes of a kernel with reductions: which nests share one, and why.

    `numbers` are those of the nests in their program.
    """
    lines = []
    for run, ended in _runs(nests):
        last = run.first + len(run.rows) - 1
        dims = ", ".join(f"d{dim}" for dim in run.rows[0])
        if _reads_again(nests[run.first : last + 1]):
            names = list(dict.fromkeys(one.name for nest in nests[run.first : last] for one in nest.reduced))
            are = "is" if len(names) == 1 else "are"
            first_and_last = f"nests {numbers[run.first]} to {numbers[last]}"
            lines.append(
                f"{first_and_last} share a pass over the rows ({dims}): {', '.join(names)} {are} read along these dims "
                "only; where one row fits in a cache but all together do not, each is read once"
            )
        if ended and _reads_again(nests[run.first : last + 2]):
            lines.append(f"nest {numbers[last + 1]} begins a pass of its own: {ended}")
    return lines


def _runs(nests: Sequence[Nest]) -> list[tuple[SharedRows, str]]:
    """Return runs of nests, each with the reason why the nest behind it is in none of them; empty after the last."""
    runs: list[tuple[SharedRows, str]] = []
    at = 0
    while at < len(nests):
        rows = _own_rows(nests[at])
        if not nests[at].reduced or not rows or nests[at].domain.open:
            if nests[at].reduced and at + 1 < len(nests):
                runs.append((SharedRows(at, ((),)), f"nest {at} has no rows, since it reduces all dims"))
            at += 1
            continue
        found = [rows]
        given = {one.operand: _ReducedValue(one, len(nests[at].domain.dims), rows) for one in nests[at].reduced}
        reason = ""
        for nest in nests[at + 1 :]:
            taken, reason = _rows_of(nest, len(rows), given)
            if taken is None:
                break
            found.append(taken)
            given |= {one.operand: _ReducedValue(one, len(nest.domain.dims), taken) for one in nest.reduced}
        runs.append((SharedRows(at, tuple(found)), reason))
        at += len(found)
    return runs


def _reads_again(nests: Sequence[Nest]) -> bool:
    """Whether nests read an operand of the kernel twice; else a pass that they share reads no less."""
    given = {one.operand for nest in nests for one in nest.reduced}
    read: set[int] = set()
    for nest in nests:
        own = {access.number for access in nest.operands} - given
        if own & read:
            return True
        read |= own
    return False


def _own_rows(nest: Nest) -> tuple[int, ...]:
    """Return the dims that a nest which reduces keeps."""
    axes = nest.reduced[0].axes if nest.reduced else ()
    return tuple(dim for dim in range(len(nest.domain.dims)) if dim not in axes)


def _rows_of(nest: Nest, count: int, given: dict[int, _ReducedValue]) -> tuple[tuple[int, ...] | None, str]:
    """Return the dims of a nest's domain that are the rows of a run; None if it has none, and the reason."""
    if not nest.results or nest.domain.open:
        return None, "it computes nothing" if not nest.results else "its rank is not known"
    rows = _own_rows(nest) if nest.reduced else None
    for access in nest.operands:
        if access.number not in given:
            continue
        read = _read_along(access, given[access.number])
        if read is None or (rows is not None and read != rows):
            return None, f"it reads {access.name} along other dims than those it was computed along"
        rows = read
    if rows is None:
        return None, "it reads nothing of what the nests before it give"
    if len(rows) != count:
        return None, "it keeps other dims"
    return rows, ""


def _read_along(access: Access, given: _ReducedValue) -> tuple[int, ...] | None:
    """Return the dims along which an access reads the rows of what a reduction gave; None if it misses one."""
    own = given.reduction.sources(given.rank)
    if len(own) != len(access.map.indices):
        return None
    found = dict(zip(own, (index.dim for index in access.map.indices), strict=True))
    rows = [found.get(dim) for dim in given.rows]
    if len(set(rows)) != len(rows):
        return None
    return tuple(dim for dim in rows if dim is not None) if None not in rows else None
