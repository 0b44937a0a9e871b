"""Calls of random kernels in standalone C, and what each has to come to.

In: a :class:`Subject` and its C.  Out: (case, expectation): values, bit for bit as the JIT has them, or a refusal with
its status, operand and dim, after which no byte has changed. What shapes are refused for, and in which words, is the
JIT's to say; what NumPy's arrays cannot be (null, misaligned, overlapping, of negative extent) has a rule each.

    case, expected = good_call(chance, subject, emitted)
    case, expected = bad_call(chance, subject, emitted)        # or None, where the kernel has no room for this fault
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from bcastgen.core.errors import BroadcastError, DomainError, from_status
from c_harness import NUMBERS, Case
from c_programs import raw, scattered


@dataclass(frozen=True)
class Expected:
    """The expected outcome of a call.

    `results` are its values, or None where it is refused, with one of these statuses, for this operand and dim;
    `message` is the sentence that tells it.
    """

    results: tuple[np.ndarray, ...] | None = None
    statuses: tuple[str, ...] = ("OK",)
    operand: int | None = None
    dim: int | None = None
    message: str | None = None

    def fault(self, subject, got, first, differences):
        """Describe what is wrong with an outcome, or return None; `first` counts the arrays before the results."""
        refused = got.call.status != "OK"
        if not refused and self.results is None:
            return f"not refused with {self.statuses}"
        if not refused:
            return self._unequal(got, first, differences)
        if not got.untouched:
            return "memory has changed"
        if got.call.status not in self.statuses:
            return f"not {self.statuses}"
        if not got.case.told:
            return None
        sentence = said(subject, got.call)
        if got.message != sentence:
            return f"the message is {got.message!r}, not {sentence!r}"
        # Where a call has several nests, it asks for an earlier one's results before a later one's operands.
        asked = got.call if got.shape.status == "OK" else got.shape
        if self.message is not None and self.message != _without_origin(said(subject, asked)):
            return f"says {said(subject, asked)!r}, not {self.message!r}"
        if got.call.status == "DOMAIN":
            return None
        if "NEGATIVE" in self.statuses and (got.call.against, got.call.expected < 0) == (self.operand, True):
            return None  # an earlier operand has met the negative extent
        facts = (self.operand, got.call.operand), (self.dim, got.call.dim)
        return None if all(wanted in (None, found) for wanted, found in facts) else f"not {self}"

    def _unequal(self, got, first, differences):
        if got.shape.status != "OK" or got.extents != tuple(x.shape for x in self.results):
            return f"the shape function says {got.shape.status} {got.extents}"
        for at, wanted in enumerate(self.results, first):
            found = got.values(at, wanted.dtype)
            if differences(found, wanted).any():
                return f"result {at - first} is\n{found!r}, not\n{wanted!r}"
        return None


def said(subject, told):
    """The sentence that Python has for a diagnostic."""
    kernel = subject.kernel
    names = (*kernel.operands, *kernel._constants, *kernel.results)
    return str(from_status(NUMBERS[told.status], names, *told.facts))


def _without_origin(message):
    """If several operands have a result's extent, the JIT names the first that has it, C the one that set it."""
    return re.sub(r" \(from '\w+'\)(?=; results do not broadcast)", "", message)


def by_jit(subject, operands, outs):
    """Return the outcome of the JIT for a call, as the expected one."""
    try:
        results = subject.kernel(*operands)
        results = results if isinstance(results, tuple) else (results,)
        # NumPy takes whatever the JIT takes, so a check that both the JIT and C leave out shows here.
        assert subject.broadcast(operands) in (None, [x.shape for x in results]), f"{subject.kernel} takes {operands}"
        if all(x.shape == out.shape for x, out in zip(results, outs, strict=True)):
            return Expected(tuple(map(np.asarray, results)))
        copies = tuple(map(np.array, outs))
        subject.kernel(*operands, out=copies if len(copies) > 1 else copies[0])
    except DomainError:
        return Expected(statuses=("DOMAIN",))
    except BroadcastError as error:
        ranks = "RANK RANK_AT_LEAST RESULT_RANK RESULT_RANK_AT_LEAST"
        refusals = f"{ranks} BROADCAST EXTENT RESULT AT_LEAST AT_MOST MULTIPLE STRICT"
        return Expected(statuses=tuple(refusals.split()), message=_without_origin(error.sentence))
    raise AssertionError("the JIT takes results of another shape")


def good_call(chance, subject, emitted):
    """Arrays that fit, in any layout; now and then nobody asks why."""
    outs = subject.blanks(chance)
    return case_of(emitted, (*subject.operands, *outs), chance.random() < 0.8), by_jit(subject, subject.operands, outs)


def static_call(chance, subject, emitted):
    """Dense arrays, as functions take them that know all extents; they say no more than a status."""
    outs = tuple(np.array(raw(x), order="C").view(x.dtype) for x in subject.blanks(chance))
    arrays = (*(np.array(raw(x), order="C").view(x.dtype) for x in subject.operands), *outs)
    return case_of(emitted, arrays, False), by_jit(subject, subject.operands, outs)


def case_of(emitted, arrays, told=True, bent=None, **options):
    """A case of these arrays; the one at place `bent` with what `options` say of its descriptor."""
    case = Case(emitted, told)
    for at, array in enumerate(arrays):
        case.array(array, **(options if at == bent else {}))
    return case


# ---- faults ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Spoilt:
    """A call that fits, of which one array is about to be spoilt."""

    subject: object
    emitted: object
    arrays: tuple[np.ndarray, ...]
    at: int
    wanted: Expected

    @property
    def is_result(self):
        return self.at >= len(self.emitted.operands)

    @property
    def array(self):
        return self.arrays[self.at]

    @property
    def position(self):
        """The number of the array in a diagnostic: constants are between operands and results."""
        return self.at + len(self.subject.kernel.constant_values) * self.is_result

    @property
    def is_used(self):
        """Whether its data is read or written."""
        return self.array.size > 0 if self.is_result else self.subject.reads(self.at)

    @property
    def is_seen(self):
        """Whether its descriptor is looked at."""
        program = self.subject.compilation.rewritten.program
        accesses = [access for nest in program.nests for access in (*nest.operands, *nest.shapes)]
        # Of an operand of unknown rank that no result reads, dims are looked at where its type knows them only.
        mine = [access for access in accesses if access.number == self.at]
        return self.is_result or any(not (access.stands_by and access.type.unranked) for access in mine)

    def case(self, **options):
        return case_of(self.emitted, self.arrays, True, self.at, **options)

    def replaced(self, array):
        return (*self.arrays[: self.at], array, *self.arrays[self.at + 1 :])

    def refused(self, *statuses, dim=None):
        """The refusal for this array, if it is used, else what the call would have come to."""
        # A nest may ask for its elements before the arrays of the next are looked at.
        domain = ("DOMAIN",) if self.wanted.results is None else ()
        return Expected(None, (*statuses, *domain), self.position, dim)


def bad_call(chance, subject, emitted):
    """A call with one thing wrong in it, or None if this one cannot be."""
    arrays = (*subject.operands, *subject.blanks(chance))
    wanted = by_jit(subject, subject.operands, arrays[len(subject.operands) :])
    spoilt = Spoilt(subject, emitted, arrays, chance.randrange(len(arrays)), wanted)
    return chance.choice(FAULTS)(chance, spoilt)


def other_shape(chance, spoilt):
    """An array of another extent, with a dim more, or with one less; what that means the JIT says."""
    shape = list(spoilt.array.shape)
    move = chance.choice(("extent", "extent", "more", "less"))
    if move == "extent" and shape:
        at = chance.randrange(len(shape))
        shape[at] = chance.choice([extent for extent in (0, 1, 2, 3, 4, 7) if extent != shape[at]])
    elif move == "less" and shape:
        del shape[chance.randrange(len(shape))]
    else:
        shape.insert(chance.randint(0, len(shape)), chance.choice((1, 2)))
    array = np.zeros(shape, raw(spoilt.array).dtype).view(spoilt.array.dtype)
    arrays = spoilt.replaced(scattered(chance, array))
    count = len(spoilt.emitted.operands)
    return case_of(spoilt.emitted, arrays), by_jit(spoilt.subject, arrays[:count], arrays[count:])


def other_rank(chance, spoilt):
    """A rank that no array has, with nothing behind it."""
    if not spoilt.is_seen:
        return None
    ranks = [-1, -(2**31), 2**31 - 1, 65]
    statuses = ("RESULT_RANK",) if spoilt.is_result else ("RANK", "RANK_AT_LEAST", "RANK_AT_MOST")
    return spoilt.case(rank=chance.choice(ranks)), spoilt.refused(*statuses)


def null_extents(chance, spoilt):
    if not spoilt.is_seen or spoilt.array.ndim == 0:
        return None
    return spoilt.case(no_extents=True), spoilt.refused("NULL_EXTENTS", dim=-1)


def null_data(chance, spoilt):
    case = Case(spoilt.emitted)
    for at, array in enumerate(spoilt.arrays):
        case.view(None, array.shape, array.strides) if at == spoilt.at else case.array(array)
    if spoilt.is_result and spoilt.wanted.results is not None and not spoilt.is_used:
        return case, spoilt.wanted
    return (case, spoilt.refused("NULL_DATA", dim=-1)) if spoilt.is_used else None


def null_strides(chance, spoilt):
    # Strides of dims of extent 1 are not read.
    long = [dim for dim, extent in enumerate(spoilt.array.shape) if extent != 1]
    if not spoilt.is_used:
        return None
    return spoilt.case(no_strides=True), spoilt.refused("NULL_STRIDES", dim=long[0]) if long else spoilt.wanted


def odd_data(chance, spoilt):
    # Complex numbers are aligned as their parts are.
    size = spoilt.array.itemsize // (2 if spoilt.array.dtype.kind == "c" else 1)
    if size == 1 or not spoilt.is_used:
        return None
    return spoilt.case(odd=chance.randrange(1, size)), spoilt.refused("ALIGNMENT", dim=-1)


def odd_stride(chance, spoilt):
    size, array = spoilt.array.itemsize, spoilt.array
    long = [dim for dim, extent in enumerate(array.shape) if extent > 1]
    if size == 1 or not long or not spoilt.is_used:
        return None
    strides, dim = list(array.strides), chance.choice(long)
    strides[dim] += chance.choice((-1, 1)) * chance.randrange(1, size)
    return _bent(spoilt, array.shape, strides), spoilt.refused("STRIDE", dim=dim)


def _bent(spoilt, extents, strides):
    """The arrays, one of them with a descriptor of its own over a single element."""
    case = Case(spoilt.emitted)
    for at, array in enumerate(spoilt.arrays):
        if at == spoilt.at:
            case.view(case.hold(bytes(array.itemsize)), extents, strides)
        else:
            case.array(array)
    return case


def negative_extent(chance, spoilt):
    if not spoilt.is_seen or spoilt.array.ndim == 0:
        return None
    extents, dim = list(spoilt.array.shape), chance.randrange(spoilt.array.ndim)
    extents[dim] = chance.choice((-1, -3, -(2**31), -(2**63)))
    statuses = (
        ("RESULT",) if spoilt.is_result else ("NEGATIVE", "BROADCAST", "EXTENT", "AT_LEAST", "MULTIPLE", "STRICT")
    )
    return _bent(spoilt, extents, spoilt.array.strides), spoilt.refused(*statuses, dim=dim)


def result_in_one_place(chance, spoilt):
    """A result of which several elements are one."""
    long = [dim for dim, extent in enumerate(spoilt.array.shape) if extent > 1]
    if not spoilt.is_result or not long or spoilt.array.size == 0:
        return None
    strides = [0 if dim == long[0] else stride for dim, stride in enumerate(spoilt.array.strides)]
    return _bent(spoilt, spoilt.array.shape, strides), spoilt.refused("REPEATS", dim=long[0])


def _shared(chance, spoilt, shift):
    """A result and an operand in one buffer, both dense, the result so many of its elements further on."""
    if not spoilt.is_result or not spoilt.is_used:
        return None
    readable = [at for at in range(len(spoilt.emitted.operands)) if spoilt.subject.reads(at)]
    if not readable:
        return None
    other = chance.choice(readable)
    contents = raw(np.ascontiguousarray(spoilt.arrays[other])).tobytes()
    offset = shift * spoilt.array.itemsize
    # Aligned for both, wherever it ends.
    case, size = Case(spoilt.emitted), -(-max(len(contents), offset + spoilt.array.nbytes) // 8) * 8
    if offset >= len(contents):
        return None
    buffer = case.hold(contents + bytes(size - len(contents)))
    for at, array in enumerate(spoilt.arrays):
        if at == other:
            case.view(buffer, array.shape, np.empty(array.shape, array.dtype).strides)
        elif at == spoilt.at:
            case.view(buffer, array.shape, np.empty(array.shape, array.dtype).strides, offset)
        else:
            case.array(array)
    return case, other


def overlap(chance, spoilt):
    made = _shared(chance, spoilt, chance.choice((1, 1, 2)))
    return made and (made[0], spoilt.refused("OVERLAP", dim=-1))


def exact_alias(chance, spoilt):
    """A result in the place of an operand: taken where the header says so, and then right."""
    made = _shared(chance, spoilt, 0)
    if made is None:
        return None
    case, other = made
    allowed = (spoilt.at - len(spoilt.subject.operands), other) in spoilt.emitted.in_place
    if not allowed or spoilt.arrays[other].shape != spoilt.array.shape:
        return case, spoilt.refused("OVERLAP", dim=-1)
    return case, spoilt.wanted


FAULTS = (
    other_shape,
    other_shape,
    other_shape,
    other_rank,
    null_extents,
    null_data,
    null_strides,
    odd_data,
    odd_stride,
    negative_extent,
    result_in_one_place,
    overlap,
    exact_alias,
    exact_alias,
)
