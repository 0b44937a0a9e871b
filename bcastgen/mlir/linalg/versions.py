"""Decides which versions a nest is printed in: each has plain maps, for one choice of the dims that stretch.

In: a nest, the extents known in the function, and how many versions there may be.  Out: the versions, with their tests.

    a : f32[?] at (d0|0), b : f32[?] at (d0|0)  ->  a.0 = d0, b.0 = d0: both at (d0)
                                                    a.0 = d0, b.0 = 1:  b at (0)
                                                    a.0 = 1,  b.0 = d0: a at (0)

The guards have run before, so a dim that may stretch has the domain's extent or 1. Facts need no version: a dim that is
known to be at least 2, or to be 1, has a map that says so, and dims with one name have one answer. Versions with fewer
operands that stretch come first. If the versions cover all cases, the last one needs no test.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from ...core.frozen import dataclass
from ...loops.nest import Nest
from .shapes import Shapes, Test

__all__ = ["MappedDim", "Version", "versions_of"]

# An operand's dim as one map sees it: the operand's name, its dim, the dim of the domain.
MappedDim = tuple[str, int, int]
# The answers multiply with each question; a nest with more questions gets only the version without stretching.
_MOST_ASKED = 12


@dataclass(frozen=True, slots=True)
class Version:
    """A version of a nest.

    Attributes
    ----------
    stretched : the dims that stretch, and have extent 1.
    test : the test that selects it for a call; None if no other version is left.
    """

    stretched: frozenset[MappedDim]
    test: Test | None


@dataclass(frozen=True, slots=True)
class _Question:
    """Whether some dims that have one extent stretch: the dims, and the test that they do not."""

    dims: tuple[MappedDim, ...]
    same: str


def versions_of(nest: Nest, shapes: Shapes, most: int) -> tuple[Version, ...]:
    """Return at most so many versions of a nest; unless the last one needs no test, another form has to follow.

    Parameters
    ----------
    nest : to be printed.
    shapes : writes the tests before the versions.
    most : how many versions there may be; 0 for none.
    """
    if most == 0:
        return ()
    questions = _questions(nest, shapes)
    if len(questions) > _MOST_ASKED:
        return (Version(frozenset(), _test(questions, frozenset(), shapes)),)
    answers = sorted(_answers(questions, nest, shapes), key=lambda stretched: _order(questions, stretched))
    found = []
    for at, stretched in enumerate(answers[:most]):
        is_last = at + 1 == len(answers)
        places = frozenset(place for one in stretched for place in questions[one].dims)
        found.append(Version(places, None if is_last else _test(questions, stretched, shapes)))
    return tuple(found)


def _questions(nest: Nest, shapes: Shapes) -> tuple[_Question, ...]:
    """Return the questions of a nest: none about dims whose maps say whether they stretch."""
    grouped: dict[object, list[MappedDim]] = {}
    for access in nest.operands:
        for dim, index in enumerate(access.map.indices):
            if index.stretches and index.dim is not None:
                name = access.type.dims[dim].symbol
                place = (access.name, dim, index.dim)
                known = grouped.setdefault((name, index.dim) if name is not None else place, [])
                if place not in known:
                    known.append(place)
    found = []
    for places in grouped.values():
        same = shapes.is_domain(nest, *places[0])
        if isinstance(same, str):
            found.append(_Question(tuple(places), same))
    return tuple(found)


def _answers(questions: tuple[_Question, ...], nest: Nest, shapes: Shapes) -> Iterator[frozenset[int]]:
    """Yield the sets of questions whose dims may stretch together: if all that meet in a dim are 1, none stretches."""
    asked: dict[int, set[int]] = {}
    for at, question in enumerate(questions):
        asked.setdefault(question.dims[0][2], set()).add(at)
    # One of the dims that meet has the domain's extent: if there are questions about all of them, not all can stretch.
    together = []
    for at, members in asked.items():
        places = {place[:2] for one in members for place in questions[one].dims if place[2] == at}
        meeting = shapes.meeting(nest, at)
        together += [members] * (bool(meeting) and meeting <= places)
    for count in range(len(questions) + 1):
        for chosen in itertools.combinations(range(len(questions)), count):
            stretched = frozenset(chosen)
            if not any(members <= stretched for members in together):
                yield stretched


def _order(questions: tuple[_Question, ...], stretched: frozenset[int]) -> tuple[int, int, list[tuple[int, int]]]:
    """Return the sort key of an answer: few stretching operands, few dims, outer dims, later operands come first."""
    operands = {place[0] for at in stretched for place in questions[at].dims}
    return len(operands), len(stretched), sorted((questions[at].dims[0][2], -at) for at in stretched)


def _test(questions: tuple[_Question, ...], stretched: frozenset[int], shapes: Shapes) -> Test:
    block, found = shapes.block, None
    for at, question in enumerate(questions):
        one = question.same
        if at in stretched:
            one = block.op("stretches", f"arith.xori {one}, {block.constant(True, 'i1')} : i1")
        found = one if found is None else block.op("version", f"arith.andi {found}, {one} : i1")
    return True if found is None else found
