"""Differences between the product and the shape model: found, sorted into classes, and shrunk until a reader sees why.

In: seeds, or a kernel and a call.  Out: a :class:`Difference` each; `reported` is one class on a few lines.
"""

from __future__ import annotations

import functools
import random
import re
from collections import defaultdict
from dataclasses import dataclass, replace

import numpy as np

import shape_model as model
from shape_kernels import Call, expected, make_calls, make_kernel
from shape_model import Refusal
from shape_model_blame import blame
from shape_model_kernel import Apply, Const, Dim, Kernel, NewAxes, Read, Spread, Transpose, Type, children
from shape_sides import NEEDS_RANKS, REFUSED, Sides, compiled_calls, outcome, product

# So many calls of a kernel are asked of its shape function: in Python it takes a hundred times as long as the kernel.
INTERPRETED = 60


@dataclass(frozen=True)
class Difference:
    """The model's answer to a call, and the answers of the sides that differ; `kinds` is their class."""

    kernel: Kernel
    call: Call
    wanted: str
    said: tuple[tuple[str, str], ...]
    kinds: tuple[tuple[str, str], ...]

    def __str__(self):
        lines = [f"{self.kernel}", f"    of {self.call}", f"    model: {self.wanted}"]
        return "\n".join([*lines, *(f"    {side}: {text}" for side, text in self.said)])


def difference(kernel, call, answers):
    """The difference of answers (side -> answer) to a call, or None."""
    wanted = expected(kernel, call)
    given = {side: answer for side, answer in answers.items() if answer is not None}
    found = {side: _kind(wanted, answer) or _strange(kernel, answer) for side, answer in given.items()}
    told = answers.get("kernel")
    if isinstance(wanted, Refusal) and isinstance(told, str) and found["kernel"] is None and not call.strict:
        found["kernel"] = _told(kernel, call, told)
    kinds = tuple((side, _why(kind, wanted, answers[side])) for side, kind in found.items() if kind)
    said = tuple((side, _shown(answers[side])) for side, _ in kinds)
    return Difference(kernel, call, _shown(wanted), said, kinds) if kinds else None


def _kind(wanted, answer):
    refused = isinstance(answer, str) and answer.startswith(REFUSED)
    if isinstance(answer, str) and not refused:
        return answer.split(":")[0].split(" with ")[0].split(" to ")[0]
    if isinstance(wanted, Refusal) or refused:
        return None if refused == isinstance(wanted, Refusal) else "refuses" if refused else "takes"
    for one, other in zip(wanted, answer, strict=True):
        if tuple(one.shape) != (other.shape if isinstance(other, np.ndarray) else tuple(other)):
            return "other extents"
        if isinstance(other, np.ndarray) and not np.array_equal(one, other):
            return "other values"
    return None


def _strange(kernel, answer):
    """Whether an error speaks of what is no operand or result, or of the package's own source."""
    if not isinstance(answer, str) or not answer.startswith(REFUSED):
        return None
    named = set(re.findall(r"(?:operand|result|from) '([^']*)'", answer))
    known = {operand.name for operand in kernel.operands} | set(kernel.slots) | {"r"}
    known |= {f"r{at}" for at in range(len(kernel.results))}
    return "names nobody" if named - known or "(at " in answer else None


def _why(kind, wanted, answer):
    """Return the kind with the reason of a refusal, without names and numbers."""
    if kind not in ("takes", "refuses"):
        return kind
    text = str(wanted if kind == "takes" else answer).removeprefix(REFUSED).strip()
    text = re.sub(r"'[^']*'|declared .*| is \d+$|\b[a-z]\b|r?\d+|[\[\](),.%]", "", text)
    return f"{kind} ({' '.join(text.split())[:60]})"


def _told(kernel, call, text):
    """Whether an error names what the order of checks says, where it is not said of all calls of these ranks."""
    named = blame(kernel, [np.broadcast_to(model.ZERO, extents) for extents in call.extents], dict(call.given))
    ranked = replace(kernel, operands=tuple(map(_ranked, kernel.operands, call.extents)))
    if named is None or _is_never_legal(kernel) or _is_never_legal(ranked):
        return None
    starts = [f"'{array}' has rank" if dim is None else f"'{array}' dim {dim} " for array, dim in named]
    return None if any(start in text for start in starts) else "names another array or dim"


def _ranked(operand, extents):
    """The operand with the rank that it has in a call, or the lowest legal one, where its type leaves that open."""
    missing = len(extents) - len(operand.type.dims) if operand.type.open else 0
    return replace(operand, type=Type((*[Dim()] * missing, *operand.type.dims), False))


@functools.lru_cache(maxsize=256)
def _is_never_legal(kernel):
    """Whether types alone refuse a kernel: which of what contradicts each other is named then is not said."""
    said = outcome(lambda: product(kernel).compilation.program)
    return isinstance(said, str) and NEEDS_RANKS not in said


def _shown(answer):
    if isinstance(answer, Refusal):
        return f"refused: {answer}"
    if isinstance(answer, str):
        return answer
    if all(isinstance(one, np.ndarray) and one.size <= 4 for one in answer):
        return ", ".join(f"{one.shape} {one.tolist()}" for one in answer)
    return ", ".join(str(tuple(one.shape) if isinstance(one, np.ndarray) else tuple(one)) for one in answer)


# ---- finding ---------------------------------------------------------------------------------------------------------


def answers(kernel, calls, compiled=None, others=()):
    """For each call, side -> answer; `compiled` are those of standalone C, `others` of further sides: name, answers."""
    sides = Sides(kernel)
    for at, call in enumerate(calls):
        said = {"kernel": sides.called(call), "result_shape": sides.sized(call)}
        if at < INTERPRETED:
            said["shape function"] = sides.inferred(call)
        said |= {} if compiled is None else {"C": compiled[at]}
        yield said | {side: given[at] for side, given in others}


def drawn(seed, kernels, calls):
    """Random kernels, and calls of each."""
    chance = random.Random(seed)
    made = [make_kernel(chance) for _ in range(kernels)]
    return made, [make_calls(chance, kernel, calls) for kernel in made]


def found(seed, kernels, calls, directory):
    """All differences of so many random kernels; C is that of one module."""
    made, called = drawn(seed, kernels, calls)
    compiled = compiled_calls(made, called, directory, variants=seed % 2 * 4)
    for kernel, ours, theirs in zip(made, called, compiled, strict=True):
        for call, said in zip(ours, answers(kernel, ours, theirs), strict=True):
            one = difference(kernel, call, said)
            if one:
                yield one


def asked(kernel, call, directory=None):
    """The difference of one call, of C too where there is a directory to compile it in."""
    compiled = compiled_calls([kernel], [[call]], directory)[0] if directory else None
    return difference(kernel, call, next(answers(kernel, [call], compiled)))


def by_class(differences):
    classes = defaultdict(list)
    for one in differences:
        classes[one.kinds].append(one)
    return sorted(classes.values(), key=len, reverse=True)


def reported(same, directory, patience=80, examples=1):
    """One class as text: how many there are, and what some of them, of different kernels, shrink to."""
    smallest = {one.kernel: one for one in sorted(same, key=lambda one: -len(str(one)))}
    firsts = list(smallest.values())[: -examples - 1 : -1]
    texts = dict.fromkeys(str(shrunk(one, directory, patience)) for one in firsts)
    return "\n".join([f"{len(same)} times, of {len(smallest)} kernels, {dict(same[0].kinds)}:", *texts])


# ---- shrinking -------------------------------------------------------------------------------------------------------


def shrunk(one, directory, patience):
    """The difference made smaller as long as it stays of its class."""
    if any(side == "background" for side, _ in one.kinds):
        return one  # asked where nothing is compiled
    # C is compiled anew for each, so only where nothing else parts.
    place = directory if {side for side, _ in one.kinds} == {"C"} else None
    kinds = {(side, kind) for side, kind in one.kinds if place or side != "C"}
    tried = {str(one)}
    progress = True
    while progress:
        progress = False
        for kernel, call in smaller(one.kernel, one.call):
            text = f"{kernel} {call}"
            if text in tried or patience == 0:
                continue
            tried.add(text)
            patience -= 1
            made = asked(kernel, call, place)
            if made and kinds <= set(made.kinds):
                one, progress = made, True
                break
    return one


def smaller(kernel, call):
    """Kernels and calls with one thing less."""
    yield from ((replace(kernel, **option), call) for option in ({"strict": False}, {"stretch": True}))
    yield replace(kernel, rank_expansion=True), call
    yield replace(kernel, declared=None), call
    if len(kernel.results) > 1:
        for at in range(len(kernel.results)):
            rest = [one[:at] + one[at + 1 :] if one else one for one in (kernel.results, kernel.declared)]
            yield replace(kernel, results=rest[0], declared=rest[1]), call
    for at, operand in enumerate(kernel.operands):
        if len(kernel.operands) > 1 and operand.name not in _read(kernel):
            extents = call.extents[:at] + call.extents[at + 1 :]
            yield (
                replace(kernel, operands=kernel.operands[:at] + kernel.operands[at + 1 :]),
                replace(call, extents=extents),
            )
    for at, result in enumerate(kernel.results):
        for less in _pruned(result):
            yield _fitted(replace(kernel, results=(*kernel.results[:at], less, *kernel.results[at + 1 :])), call)
    for at, operand in enumerate(kernel.operands):
        for type_, extents in _plainer(operand.type, call.extents[at]):
            operands = (*kernel.operands[:at], replace(operand, type=type_), *kernel.operands[at + 1 :])
            extents = (*call.extents[:at], extents, *call.extents[at + 1 :])
            yield _fitted(replace(kernel, operands=operands), replace(call, extents=extents))
    for at, type_ in enumerate(kernel.declared or ()):
        for less, _ in _plainer(type_, (1,) * 9):
            yield replace(kernel, declared=(*kernel.declared[:at], less, *kernel.declared[at + 1 :])), call
    for old, new in ((8, 2), (5, 2), (3, 2), (8, 3), (5, 3), (0, 2), (2, 1), (3, 1)):
        yield _resized(kernel, call, old, new)


def _read(kernel):
    def names(node):
        own = {node.name} if isinstance(node, Read) else set()
        if isinstance(node, Spread) and isinstance(node.target, Read):
            own.add(node.target.name)
        return own.union(*map(names, children(node)))

    return set().union(*map(names, kernel.results))


def _fitted(kernel, call):
    """The call without names that the kernel has no more; what it lacks is 2."""
    given = dict(call.given)
    return kernel, replace(call, given=tuple((name, given.get(name, 2)) for name in kernel.slots if given))


def _pruned(node):
    """The node with a part of it gone."""
    for child in children(node):
        if not isinstance(child, Const):
            yield child
    match node:
        case Apply(op, values):
            for at, value in enumerate(values):
                if len(values) > 2:
                    yield Apply(op, values[:at] + values[at + 1 :])
                for less in _pruned(value):
                    yield Apply(op, (*values[:at], less, *values[at + 1 :]))
            if op != "+":
                yield Apply("+", values)
        case Transpose(value, axes):
            yield from (Transpose(less, axes) for less in _pruned(value))
        case NewAxes(value, items):
            yield from (NewAxes(less, items) for less in _pruned(value))
        case Spread(value, target, dims):
            yield from (Spread(less, target, dims) for less in _pruned(value))
            if not isinstance(target, Read) and dims is None:
                yield Spread(value, target[1:])


def _plainer(type_, extents):
    """The type with less said, and extents for it."""
    if type_.open:
        yield Type(type_.dims), extents[len(extents) - len(type_.dims) :]
    if len(extents) > len(type_.dims):
        yield type_, extents[1:]
    elif type_.dims:
        yield Type(type_.dims[1:], type_.open), extents[1:]
    for at, dim in enumerate(type_.dims):
        for less in (Dim(), Dim(dim.extent, dim.name, flag=dim.flag), replace(dim, flag=""), Dim(flag=dim.flag)):
            if less != dim:
                yield Type((*type_.dims[:at], less, *type_.dims[at + 1 :]), type_.open), extents


def _resized(kernel, call, old, new):
    """One size for another, everywhere."""

    def sized(type_):
        return Type(tuple(replace(dim, extent=new) if dim.extent == old else dim for dim in type_.dims), type_.open)

    def value(node):
        match node:
            case Apply(op, values):
                return Apply(op, tuple(map(value, values)))
            case Transpose(inner, axes):
                return Transpose(value(inner), axes)
            case NewAxes(inner, items):
                return NewAxes(value(inner), items)
            case Spread(inner, Read() as target, dims):
                return Spread(value(inner), target, dims)
            case Spread(inner, target, dims):
                return Spread(value(inner), tuple(new if item == old else item for item in target), dims)
        return node

    return (
        replace(
            kernel,
            operands=tuple(replace(operand, type=sized(operand.type)) for operand in kernel.operands),
            results=tuple(map(value, kernel.results)),
            declared=kernel.declared and tuple(map(sized, kernel.declared)),
        ),
        Call(
            tuple(tuple(new if extent == old else extent for extent in extents) for extents in call.extents),
            tuple((name, new if extent == old else extent) for name, extent in call.given),
        ),
    )
