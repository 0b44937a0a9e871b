"""What standalone C has to answer to any descriptors: the contract of docs/standalone.md in plain Python.

In: a :class:`Subject` (a kernel's text, with what its contract says of each array) and descriptors, right or wrong.
Out: the statuses that may be returned, each with operand and dim, and the extents that the shape function gives.

    fault(SUBJECTS["bias"], arrays)  ->  Verdict((Refusal("BROADCAST", 1, 0),), ...)

Nothing of the compiler is used: dims, places in diagnostics and arrays that may be each other's stand here by hand, and
what each kernel computes is NumPy's. Where the contract leaves room (interwoven arrays that are not told apart), there
are several answers.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from math import prod

MOST = 2**63 - 1
RANKS = 64
# Arrays of more elements are not compared byte by byte; no call of such is made.
FEW = 4096


@dataclass(frozen=True)
class Array:
    """A descriptor; `data` is an address, with None for null. What is null, or not read, may be of any length."""

    data: int | None
    rank: int
    extents: tuple[int, ...] | None
    strides: tuple[int, ...] | None

    @property
    def shape(self):
        return self.extents[: self.rank] if self.rank > 0 else ()

    @property
    def is_empty(self):
        return 0 in self.shape

    @property
    def steps(self):
        """The strides that are read: 0 where the extent is 1."""
        return tuple(0 if extent == 1 else self.strides[dim] for dim, extent in enumerate(self.shape))

    def span(self, size):
        """The first byte, and one past the last."""
        ends = [(extent - 1) * step for extent, step in zip(self.shape, self.steps, strict=True)]
        return self.data + sum(min(end, 0) for end in ends), self.data + sum(max(end, 0) for end in ends) + size

    def bytes(self, size):
        """Every byte, as addresses."""
        ranges = [[step * at for at in range(n)] for n, step in zip(self.shape, self.steps, strict=True)]
        return {self.data + sum(index) + byte for index in itertools.product(*ranges) for byte in range(size)}


@dataclass(frozen=True)
class Refusal:
    """A status with operand and dim; None for those of which the contract says nothing."""

    status: str
    operand: int | None = None
    dim: int | None = None

    def matches(self, status, operand, dim):
        return self.status == status and self.operand in (None, operand) and self.dim in (None, dim)


OK = Refusal("OK")


@dataclass(frozen=True)
class Verdict:
    """What the shape function and a call may answer, and the results' extents if there are any."""

    shape: tuple[Refusal, ...]
    call: tuple[Refusal, ...]
    extents: tuple[tuple[int, ...], ...] = ()
    # The arrays whose memory decides, or is read or written: a caller has to have it.
    touched: frozenset[int] = field(default_factory=frozenset)

    @property
    def may_run(self):
        return OK in self.call


# ---- what is wrong ---------------------------------------------------------------------------------------------------


class Found(Exception):
    """The first fault of a call, with what else it may be taken for."""

    def __init__(self, *refusals):
        super().__init__()
        self.refusals = refusals


def verdict(subject, arrays, exact_pairs=frozenset()):
    """The verdict on a call with these descriptors.

    `exact_pairs` are arrays that are slices of one with steps of 1 or 2: whether these share bytes has to be found.
    Elements that are refused are the caller's to look at, who has the data.
    """
    try:
        domains = [_domain(subject, nest, arrays) for nest in subject.loops]
    except Found as found:
        return Verdict(found.refusals, found.refusals)
    shapes = {at: nest.shape(domain) for nest, domain in zip(subject.loops, domains, strict=True) for at in nest.writes}
    extents = tuple(shapes[at] for at in sorted(shapes))
    judged = _Arrays(subject, arrays, exact_pairs)
    try:
        for nest, domain in zip(subject.loops, domains, strict=True):
            judged.check(nest, domain)
        judged.check_between()
    except Found as found:
        return Verdict((OK,), (*judged.maybe, *found.refusals), extents, frozenset(judged.touched))
    return Verdict((OK,), (*judged.maybe, OK), extents, frozenset(judged.touched))


def _domain(subject, nest, arrays):
    for at in nest.reads:
        array, (_, dims) = arrays[at], subject.operands[at]
        if dims == "*":
            if array.rank < 0:
                raise Found(Refusal("RANK_AT_LEAST", at, -1))
            if array.rank > RANKS:
                raise Found(Refusal("RANK_AT_MOST", at, -1))
        elif array.rank != len(dims):
            raise Found(Refusal("RANK", at, -1))
        if array.rank > 0 and array.extents is None:
            raise Found(Refusal("NULL_EXTENTS", at, -1))
    rank = max(arrays[at].rank for at in nest.reads)
    domain, names = [1] * rank, {}
    for at in nest.reads:
        array, (_, dims) = arrays[at], subject.operands[at]
        for dim, extent in enumerate(array.shape):
            declared = "?" if dims == "*" else dims[dim]
            wanted = int(declared) if declared.isdigit() else names.get(declared)
            if wanted is not None and extent != wanted:
                # A negative extent is another one than what is declared, too.
                others = (Refusal("NEGATIVE", at, dim),) if extent < 0 else ()
                raise Found(Refusal("EXTENT", at, dim), *others)
            if extent < 0:
                raise Found(Refusal("NEGATIVE", at, dim))
            if declared.isalpha():
                names[declared] = extent
            place = rank - array.rank + dim
            if extent == 1:
                continue
            if domain[place] not in (1, extent):
                raise Found(Refusal("BROADCAST", at, dim))
            domain[place] = extent
    if 0 not in domain:
        for at in nest.writes:
            size = subject.sizes[len(subject.operands) + at]
            if prod(domain) * size > MOST:
                named = subject.place(len(subject.operands) + at) if nest.overflows is None else nest.overflows
                raise Found(Refusal("OVERFLOW", named, -1))
    # Where nothing is combined, the results may still have elements, and more than an object can hold.
    for at in nest.writes if nest.reduced else ():
        shape = nest.shape(domain)
        if 0 not in shape and prod(shape) * subject.sizes[len(subject.operands) + at] > MOST:
            raise Found(Refusal("OVERFLOW", subject.place(len(subject.operands) + at), -1))
    for dim in nest.filled:
        if domain[dim] == 0:
            raise Found(Refusal("EMPTY", 0, dim))
    return tuple(domain)


class _Arrays:
    """Looks at the arrays of a call whose shapes fit; `maybe` are the faults that a call need not be refused for."""

    def __init__(self, subject, arrays, exact_pairs):
        self.subject, self.arrays, self.exact_pairs = subject, arrays, exact_pairs
        self.maybe, self.touched, self._compared = [], set(), set()

    def check(self, nest, domain):
        count = len(self.subject.operands)
        shape, results = nest.shape(domain), [count + at for at in nest.writes]
        for at in results:
            array, place = self.arrays[at], self.subject.place(at)
            if array.rank != len(shape):
                raise Found(Refusal("RESULT_RANK", place, -1))
            if array.rank > 0 and array.extents is None:
                raise Found(Refusal("NULL_EXTENTS", place, -1))
            for dim, (extent, wanted) in enumerate(zip(array.shape, shape, strict=True)):
                if extent != wanted:
                    raise Found(Refusal("RESULT", place, dim))
        live = [at for at in (*nest.reads, *results) if not self.arrays[at].is_empty]
        if not nest.reduced and 0 in domain:
            return
        for at in live:
            self._check_data(at)
        for at in live:
            if at in results:
                self._check_distinct(at)
        self.touched |= set(live)
        self._check_apart((at, other) for at in live if at in results for other in live if other < at)

    def check_between(self):
        count, touched = len(self.subject.operands), sorted(self.touched)
        self._check_apart((at, other) for at in touched if at >= count for other in touched if other < at)

    def _check_data(self, at):
        array, size, place = self.arrays[at], self.subject.sizes[at], self.subject.place(at)
        if array.data is None:
            raise Found(Refusal("NULL_DATA", place, -1))
        if array.data % self.subject.alignments[at]:
            raise Found(Refusal("ALIGNMENT", place, -1))
        spanned = size
        for dim, extent in enumerate(array.shape):
            if extent == 1:
                continue
            if array.strides is None:
                raise Found(Refusal("NULL_STRIDES", place, dim))
            if array.strides[dim] % size:
                raise Found(Refusal("STRIDE", place, dim))
            spanned += (extent - 1) * abs(array.strides[dim])
            if spanned > MOST:
                raise Found(Refusal("SPAN", place, dim))

    def _check_distinct(self, at):
        """Each stride steps over all bytes that smaller ones span; of equal strides, over the other's, too."""
        array, size = self.arrays[at], self.subject.sizes[at]
        dims = [(abs(step), extent) for step, extent in zip(array.steps, array.shape, strict=True)]
        for dim, (step, extent) in enumerate(dims):
            below = [(n - 1) * s for k, (s, n) in enumerate(dims) if k != dim and s <= step]
            if extent > 1 and step < size + sum(below):
                raise Found(Refusal("REPEATS", self.subject.place(at), dim))

    def _check_apart(self, pairs):
        """Any of the pairs that share memory may be named."""
        count, found = len(self.subject.operands), []
        for at, other in pairs:
            if (at, other) in self._compared:
                continue
            self._compared.add((at, other))
            x, y = self.arrays[at], self.arrays[other]
            # Of two results either may be named.
            places = [at, other] if other >= count else [at]
            refusals = [Refusal("OVERLAP", self.subject.place(place), -1) for place in places]
            (x_low, x_high), (y_low, y_high) = x.span(self.subject.sizes[at]), y.span(self.subject.sizes[other])
            if x_high <= y_low or y_high <= x_low:
                continue
            if (at - count, other) in self.subject.same and x.data == y.data and _squeezed(x) == _squeezed(y):
                # The same elements in arrays of other ranks: the contract does not say.
                self.maybe += refusals if x.rank != y.rank else []
                continue
            if prod(x.shape) > FEW or prod(y.shape) > FEW:
                self.maybe += refusals
            elif x.bytes(self.subject.sizes[at]) & y.bytes(self.subject.sizes[other]):
                found += refusals
            elif (at, other) not in self.exact_pairs:
                self.maybe += refusals
        if found:
            raise Found(*found)


def _squeezed(array):
    """Extents and strides without dims of extent 1."""
    return [(extent, step) for extent, step in zip(array.shape, array.steps, strict=True) if extent != 1]
