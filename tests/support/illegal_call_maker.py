"""Random calls of standalone C: right ones, those that are wrong in one field or two, and those just right.

In: a seed, a kernel's subject, and what may be passed.  Out: a :class:`Call` with its memory, for the harness.

    Calls(7).call("bias", SUBJECTS["bias"], "any")  ->  Call: extent 0 of 1 4, stride 1 of 2 -2147483648

Every field of descriptors is wrong in turn: null pointers, ranks, extents and strides at the ends of integer types,
misaligned data, results that share bytes with operands, with each other or with themselves. The file is long because
each kind of fault needs the same memory and layouts.
"""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, replace
from math import prod

import numpy as np

from c_harness import Case
from contract_model import OK, RANKS, Array, verdict
from contract_subjects import Subject

# Results that a wrong stride or extent makes larger than this are not computed.
POINTS = 20_000
LEAST, MOST = -(2**63), 2**63 - 1
# Either side of what integers of 8 to 64 bits hold, and of sizes at which bytes, or halves of them, overflow.
EDGES = sorted(
    {-3, -2, -1, 0, 1, 2, 3, LEAST, LEAST + 1, LEAST + 4, LEAST + 8, MOST, MOST - 3, MOST - 7}
    | {
        sign * 2**bits + by
        for bits in (7, 8, 15, 16, 30, 31, 32, 33, 59, 60, 61, 62)
        for by in (-1, 0, 1, 4)
        for sign in (-1, 1)
    }
)
WRONG_RANKS = (-(2**31), -(2**31) + 1, -65, -1, 63, 64, 65, 66, 127, 128, 2**31 - 2, 2**31 - 1)


# ---- a call ----------------------------------------------------------------------------------------------------------


@dataclass
class Given:
    """One array of a call: its memory by number (None: null), where it begins there, and its descriptor."""

    kind: np.dtype
    buffer: int | None
    offset: int
    extents: list[int]
    strides: list[int]
    rank: int
    no_extents: bool = False
    no_strides: bool = False

    def array(self, base):
        """The array as the model sees it; memory by number is far apart."""
        return Array(
            None if self.buffer is None else base(self.buffer) + self.offset,
            self.rank,
            None if self.no_extents else tuple(self.extents),
            None if self.no_strides else tuple(self.strides),
        )


def _base(buffer):
    # Beyond what any array of a legal call reaches, and aligned.
    return (buffer + 1) << 80


@dataclass
class Call:
    """Arrays of a call and their memory; `exact` are pairs of which it has to be found whether they share bytes."""

    name: str
    subject: Subject
    given: list[Given]
    buffers: list[bytearray]
    exact: set[tuple[int, int]]
    told: bool = True
    faults: tuple[str, ...] = ()

    @property
    def verdict(self):
        return verdict(self.subject, [one.array(_base) for one in self.given], self.exact)

    def lies_inside(self, places):
        """Whether these arrays are of memory that there is."""
        for at in places:
            one, array = self.given[at], self.given[at].array(_base)
            if array.data is None or array.is_empty:
                continue
            low, high = array.span(one.kind.itemsize)
            start = _base(one.buffer)
            if low < start or high > start + len(self.buffers[one.buffer]):
                return False
        return True

    def ndarray(self, at, buffers):
        """An array of the call in these buffers."""
        one = self.given[at]
        shape = tuple(one.extents[: one.rank])
        if 0 in shape:
            # NumPy refuses extents that are too large beside a 0, too; no array with elements has one above POINTS.
            return np.empty([min(extent, POINTS + 1) for extent in shape], one.kind)
        steps = [0 if extent == 1 else step for extent, step in zip(shape, one.strides, strict=False)]
        return np.ndarray(shape, one.kind, buffers[one.buffer], one.offset, steps)

    def values(self):
        """The results of a legal call, or None if elements are refused."""
        extents = self.verdict.extents
        if all(0 in shape for shape in extents):
            # Operands have not to be there.
            return [np.empty(0)] * len(extents)
        operands = [self.ndarray(at, self.buffers) for at in range(len(self.subject.operands))]
        if self.subject.domain is not None and self.subject.domain(*operands):
            return None
        with np.errstate(all="ignore"):
            return self.subject.computed(*operands)

    def case(self, kernel):
        """The call for the harness."""
        case = Case(kernel, self.told)
        owned = Counter(one.buffer for one in self.given)
        results = {one.buffer for one in self.given[len(self.subject.operands) :]}
        for number, contents in enumerate(self.buffers):
            case.hold(contents, unwritten=number in results and owned[number] == 1)
        for one in self.given:
            case.view(
                one.buffer,
                one.extents,
                one.strides,
                one.offset,
                rank=one.rank,
                no_extents=one.no_extents,
                no_strides=one.no_strides,
            )
        return case

    def __str__(self):
        given = "\n".join(f"    {one}" for one in self.given)
        return (
            f"{self.subject.text}: {', '.join(self.faults) or 'right'}, why {'given' if self.told else 'null'}\n{given}"
        )


def _in_64_bits(number):
    return min(max(number, LEAST), MOST)


class Calls:
    """Random calls, each of a kernel of a form."""

    def __init__(self, seed):
        self.chance = random.Random(seed)

    def call(self, name, subject, kind):
        """A call; `kind` is what may be passed (see FORMS). None if chance made one that cannot be judged."""
        call = self._right(name, subject, kind)
        if kind == "any":
            call.told = self.chance.random() < 0.9
            count = self.chance.choices((0, 1, 2), (15, 65, 20))[0]
            for _ in range(count):
                call.exact.clear()  # What is wrong besides may make it another case.
                call.faults += (self._spoil(call),)
        elif kind == "right" and self.chance.random() < 0.5:
            call.faults += (self._leave_out(call),)
        return call if self._can_be_judged(call, kind) else None

    def _can_be_judged(self, call, kind):
        said = call.verdict
        # Nests whose arrays were compared may stand before the fault.
        judged_by_place = said.may_run or said.touched or any(one.status == "OVERLAP" for one in said.call)
        # A part of a result is written before the next one is looked at.
        if kind != "any" and (said.call != (OK,) or (kind == "right" and call.values() is None)):
            return False
        if not judged_by_place:
            return True
        if not call.lies_inside(said.touched):
            return False
        return all(prod(shape) <= POINTS for shape in said.extents) and all(
            prod(call.given[at].array(_base).shape) <= POINTS for at in said.touched
        )

    def _right(self, name, subject, kind):
        chance = self.chance
        sizes = {letter: chance.choice((0, 1, 2, 3, 4, 5, 9)) for letter in "nm"}
        rank = chance.choice((0, 1, 2, 2, 3, 5, 64) if chance.random() < 0.9 else (64,))
        domain = [chance.choice((1, 1, 2, 2, 3, 3, 4, 5, 17, 0)) for _ in range(min(rank, 5))]
        domain = [1] * (rank - len(domain)) + domain if "*" in subject.operands[0][1] else domain[:0]
        if not domain:
            longest = max(len(dims) for _, dims in subject.operands)
            domain = [chance.choice((1, 2, 2, 3, 3, 4, 5, 17, 0)) for _ in range(longest)]
            if "*" in subject.operands[0][1]:
                domain = domain[: chance.choice((0, 1))]
        shapes = []
        for _, dims in subject.operands:
            if dims == "*":
                own = chance.choice((0, len(domain), len(domain), max(len(domain) - 1, 0)))
                shapes.append([1 if chance.random() < 0.25 else n for n in domain[len(domain) - own :]])
                continue
            fits = domain[len(domain) - len(dims) :] if dims else []
            shapes.append(
                [
                    int(one) if one.isdigit() else sizes[one] if one.isalpha() else 1 if chance.random() < 0.25 else n
                    for one, n in zip(dims, fits, strict=True)
                ]
            )
        call = Call(name, subject, [], [], set())
        for shape, (dtype, _) in zip(shapes, subject.operands, strict=True):
            self._add(call, shape, np.dtype(dtype), kind == "dense", operand=True)
        # What the results have follows from the operands; where these do not fit, anything.
        extents = self._results(call)
        for at, dtype in enumerate(subject.results):
            shape = extents[at] if extents else domain
            self._add(call, list(shape), np.dtype(dtype), kind == "dense")
        return call

    def _results(self, call):
        count = len(call.subject.operands)
        arrays = [one.array(_base) for one in call.given[:count]]
        nothing = [Array(None, -1, None, None)] * len(call.subject.results)
        return verdict(call.subject, [*arrays, *nothing]).extents

    def _add(self, call, shape, kind, dense, operand=False):
        shape = [min(extent, 64) if extent > 0 else extent for extent in shape]
        strides, low, high = self._layout(shape, kind.itemsize, dense, operand)
        # Memory has a size that the largest element divides, so that it is aligned at either page.
        held = 0 if 0 in shape else (high - low + 7) // 8 * 8 if kind.itemsize < 8 else high - low
        slack = held - (high - low) if held else 0
        at_end = self.chance.random() < 0.5 and slack % kind.itemsize == 0
        call.given.append(Given(kind, len(call.buffers), -low + (slack if at_end else 0), shape, strides, len(shape)))
        call.buffers.append(self._contents(held, kind, call.subject))

    def _contents(self, size, kind, subject):
        chance, count = self.chance, size // kind.itemsize
        if kind == np.dtype("?"):
            return bytearray(chance.choices((0, 1), k=count))
        lowest = 0 if kind.kind == "u" or (subject.domain is not None and chance.random() < 0.8) else -3
        return bytearray(np.array(chance.choices(range(lowest, 4), k=count), kind).tobytes())

    def _layout(self, shape, size, dense, operand):
        """Strides, and the first and one past the last byte from an array's data."""
        chance, strides, reach, low = self.chance, [0] * len(shape), size, 0
        order = list(range(len(shape)))[::-1]
        style = "dense" if dense else chance.choice(("dense", "dense", "gaps", "turned", "any"))
        if style in ("turned", "any"):
            chance.shuffle(order)
        for dim in order:
            step = reach if style == "dense" else reach + size * chance.choice((0, 0, 1, 3))
            backwards = style == "any" and chance.random() < 0.5
            if operand and not dense and chance.random() < 0.05:
                step = 0
            strides[dim] = -step if backwards else step
            there = max(shape[dim] - 1, 0) * step
            reach += there
            low -= there if backwards else 0
        return strides, low, low + reach

    # ---- what is wrong ----

    def _spoil(self, call):
        """Make something about a call wrong, or just right; returns what."""
        chance = self.chance
        spoils = (
            (self._null, 10),
            (self._rank, 10),
            (self._extent, 25),
            (self._stride, 25),
            (self._offset, 6),
            (self._leave_out, 6),
            (self._share, 25),
            (self._repeat, 10),
            (self._elements, 4 if call.subject.domain is not None else 0),
        )
        makers, weights = zip(*spoils, strict=True)
        return chance.choices(makers, weights)[0](call)

    def _one(self, call):
        at = self.chance.randrange(len(call.given))
        return at, call.given[at]

    def _null(self, call):
        at, one = self._one(call)
        what = self.chance.choice(("data", "extents", "strides"))
        if what == "data":
            one.buffer, one.offset = None, 0
        elif what == "extents":
            one.no_extents = True
        else:
            one.no_strides = True
        return f"{what} of {at} null"

    def _rank(self, call):
        at, one = self._one(call)
        any_rank = "*" in call.subject.operands[0][1]
        near = (one.rank - 1, one.rank + 1, 0, 1, 2, 3)
        one.rank = self.chance.choice(WRONG_RANKS if self.chance.random() < 0.6 else near)
        if any_rank and 0 <= one.rank <= RANKS:
            # These may be read.
            one.extents = ([1] * RANKS + one.extents)[len(one.extents) + RANKS - one.rank :] if one.rank else []
            one.strides = ([one.kind.itemsize] * RANKS + one.strides)[len(one.strides) + RANKS - one.rank :]
            one.strides = one.strides if one.rank else []
        return f"rank of {at} {one.rank}"

    def _extent(self, call):
        chance = self.chance
        at, one = self._one(call)
        if not one.extents:
            return f"no extent of {at}"
        dim = chance.randrange(len(one.extents))
        was = one.extents[dim]
        near = (0, 1, 2, was + 1, was - 1, -1, 2 * was)
        one.extents[dim] = _in_64_bits(chance.choice(EDGES if chance.random() < 0.5 else near))
        if chance.random() < 0.2 and len(one.extents) > 1:
            one.extents[chance.randrange(len(one.extents))] = chance.choice(EDGES)
        follow = at < len(call.subject.operands) and chance.random() < 0.6
        extents = self._results(call) if follow else ()
        for result, shape in zip(call.given[len(call.subject.operands) :], extents, strict=False):
            if result.rank == len(shape) == len(result.extents):
                result.extents = list(shape)
        return f"extent {dim} of {at} {one.extents[dim]}{', and results of it' if follow else ''}"

    def _stride(self, call):
        chance = self.chance
        at, one = self._one(call)
        if not one.strides:
            return f"no stride of {at}"
        dim = chance.randrange(len(one.strides))
        was, size = one.strides[dim], one.kind.itemsize
        near = (0, 1, -1, was + 1, was - size // 2, was + size, size, -size, 2 * was, -was, was // 2)
        one.strides[dim] = _in_64_bits(chance.choice(EDGES if chance.random() < 0.5 else near))
        if one.strides[dim] == -was and dim < len(one.extents) and chance.random() < 0.8:
            # Far from its memory it stays where it is.
            back = (one.extents[dim] - 1) * was
            one.offset += back if abs(back) < 1 << 31 else 0
        return f"stride {dim} of {at} {one.strides[dim]}"

    def _offset(self, call):
        at, one = self._one(call)
        by = self.chance.choice((1, 2, 3, 4, 7, -1))
        one.offset += by if one.buffer is not None else 0
        return f"data of {at} moved by {by}"

    def _leave_out(self, call):
        """What is not read may be anything: strides of arrays of one element or none, data of those that have none."""
        chance = self.chance
        at, one = self._one(call)
        if 0 in one.extents:
            one.strides = [chance.choice(EDGES) for _ in one.strides]
            one.no_strides = chance.random() < 0.5
            if chance.random() < 0.5:
                one.buffer, one.offset = None, 0
            else:
                one.offset = chance.choice((0, 1, 3))
        elif all(extent == 1 for extent in one.extents):
            one.no_strides = chance.random() < 0.7
            one.no_extents = one.no_extents or (one.rank == 0 and chance.random() < 0.7)
        for dim, extent in enumerate(one.extents):
            if extent == 1 and dim < len(one.strides):
                one.strides[dim] = chance.choice(EDGES)
        return f"what is not read of {at}"

    def _share(self, call):
        """A result in the memory of another array."""
        chance, count = self.chance, len(call.subject.operands)
        at = chance.randrange(count, len(call.given))
        other = chance.choice([k for k in range(len(call.given)) if k != at])
        one, two = call.given[at], call.given[other]
        how = chance.choice(("same", "shifted", "inside", "slices", "turned"))
        if not all(each.rank == len(each.extents) == len(each.strides) for each in (one, two)) or None in (
            one.buffer,
            two.buffer,
        ):
            return f"nothing of {at} shared"
        size = max(one.kind.itemsize, two.kind.itemsize)
        if how == "slices":
            return self._slices(call, at, other)
        if how in ("same", "turned") and one.rank == two.rank:
            one.strides = list(two.strides)
            if how == "turned":
                chance.shuffle(one.strides)
            one.buffer, one.offset = two.buffer, two.offset
        elif how == "shifted":
            # The result's memory and the operand's in one buffer, some elements or bytes apart.
            self._join(call, one, two, chance.choice((0, 1, 2, 3, 8, 40)) * chance.choice((size, size, 1)))
        else:
            self._join(call, one, two, 0)
        return f"{at} and {other} share memory: {how}"

    def _join(self, call, one, two, by):
        """Lay two arrays into one buffer, `by` bytes apart."""
        spans = []
        for each in (one, two):
            if each.no_strides or each.no_extents or max(map(abs, each.strides), default=0) > 1 << 16:
                return
            array = replace(each, offset=0).array(_base)
            if array.is_empty or any(extent < 0 or extent > 64 for extent in array.shape):
                return
            low, high = array.span(each.kind.itemsize)
            spans.append((low - _base(each.buffer), high - _base(each.buffer)))
        (low, high), (other_low, other_high) = spans
        held = max(by + high - low, other_high - other_low)
        call.buffers.append(self._contents((held + 7) // 8 * 8, two.kind, call.subject))
        one.buffer = two.buffer = len(call.buffers) - 1
        one.offset, two.offset = by - low, -other_low

    def _slices(self, call, at, other):
        """Two slices of one array in either direction, with the extents that the arrays have.

        Whether slices of steps 1 or 2 share a byte is decided exactly. Steps of 2 and 3 do not divide each other: there
        the answer may be that they do.
        """
        chance = self.chance
        one, two = call.given[at], call.given[other]
        if one.kind.itemsize != two.kind.itemsize:
            return f"no slices for {at}"
        rank = max(one.rank, two.rank)
        if any(extent < 1 or extent > 20 for extent in (*one.extents, *two.extents)) or rank > 5:
            return f"no slices for {at}"
        shapes = [[1] * (rank - len(each.extents)) + each.extents for each in (one, two)]
        is_exact = chance.random() < 0.7
        steps = [[chance.choice((1, 1, 2) if is_exact else (1, 2, 3)) for _ in range(rank)] for _ in range(2)]
        need = [
            max((n - 1) * step + 1 for n, step in ((shapes[0][d], steps[0][d]), (shapes[1][d], steps[1][d])))
            for d in range(rank)
        ]
        parent = np.zeros([n + chance.choice((0, 1, 1, 2, n)) for n in need], one.kind)
        call.buffers.append(self._contents((parent.nbytes + 7) // 8 * 8, two.kind, call.subject))
        for each, shape, step in zip((one, two), shapes, steps, strict=True):
            index = []
            for dim in range(rank):
                reach = (shape[dim] - 1) * step[dim] + 1
                first = chance.randint(0, parent.shape[dim] - reach)
                index.append(slice(first, first + reach, step[dim]))
            turned = [slice(None, None, chance.choice((1, 1, -1))) for _ in range(rank)]
            part = parent[(*index, ...)][(*turned, ...)]
            each.buffer, each.offset = len(call.buffers) - 1, part.ctypes.data - parent.ctypes.data
            each.strides = list(part.strides[rank - len(each.extents) :])
            each.no_strides = each.no_extents = False
        if is_exact:
            call.exact.add((max(at, other), min(at, other)))
        return f"{at} and {other} are slices of one array"

    def _repeat(self, call):
        """A result of small strides, of which elements may coincide."""
        chance, count = self.chance, len(call.subject.operands)
        at = chance.randrange(count, len(call.given))
        one = call.given[at]
        size = one.kind.itemsize
        one.strides = [size * chance.choice((0, 1, 1, 2, 3, 4, 6, 12, -1, -2)) for _ in one.strides]
        one.no_strides = False
        if any(extent < 0 or extent > 64 for extent in one.extents) or one.rank != len(one.extents) or one.no_extents:
            return f"strides of {at} {one.strides}"
        array = replace(one, buffer=0, offset=0).array(_base)
        if not array.is_empty:
            low, high = array.span(size)
            call.buffers.append(self._contents((high - low + 7) // 8 * 8, one.kind, call.subject))
            one.buffer, one.offset = len(call.buffers) - 1, _base(0) - low
        return f"strides of {at} {one.strides}"

    def _elements(self, call):
        """An element that the kernel refuses, used or in a gap."""
        for one in call.given[: len(call.subject.operands)]:
            if one.buffer is not None and call.buffers[one.buffer] and self.chance.random() < 0.7:
                numbers = np.frombuffer(call.buffers[one.buffer], one.kind)
                numbers[self.chance.randrange(numbers.size)] = -1
        return "negative elements"
