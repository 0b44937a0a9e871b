"""Lines of C and of assembly, each with the statements of the nests that it computes.

In: a kernel's C, its nests, the assembly of the same C.  Out: a :class:`Line` each; a statement's id is its nest's
number and its name.

    const float t0 = a0 * 2.0f;     ->   Line(312, "...", ("0-t0",))      vmulps ...   ->   Line(312, "...", ("0-t0",))
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ..core.frozen import dataclass
from ..loops.nest import Nest

__all__ = ["AssemblyLoop", "Line", "c_lines", "inner_loops", "node_id"]

_DEFINED = re.compile(r"\b(t\d+)(?:_\w+)? = ")
_STORED = re.compile(r"^\s+(\w+)\[\w+\] = ")
_LOADED = re.compile(r"\b(\w+)0 = \*?\(?\w+")
_LOCATION = re.compile(r"\s+\.loc\s+\d+\s+(\d+)")
_LABEL = re.compile(r"(\.L\w+):")
_INSTRUCTION = re.compile(r"\s+[a-z]\S*(?:\s|$)")
_WIDE = {"zmm": 64, "ymm": 32, "xmm": 16}


@dataclass(frozen=True, slots=True)
class Line:
    """A line: its number in the C, its text, and the ids of the statements that it computes."""

    number: int
    text: str
    nodes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AssemblyLoop:
    """A loop of the assembly: the C function it is of, its instructions, and the bytes of its widest vectors."""

    function: str
    lines: tuple[Line, ...]
    vector_bytes: int


def node_id(nest: int, name: str) -> str:
    """Return the id of a statement, an operand or a result of a nest."""
    return f"{nest}-{name}"


def c_lines(text: str, front: int, name: str, nests: Sequence[Nest]) -> tuple[Line, ...]:
    """Return the lines of a kernel's own functions; `front` lines stand before them.

    Parameters
    ----------
    text : the C of the own functions.
    name : the prefix of their names.
    """
    head = re.compile(rf"^static \w[\w ]*\b{re.escape(name)}_(?:(\d+)_)?\w+\(")
    lines, nest = [], None
    for number, line in enumerate(text.splitlines(), front + 1):
        if line.startswith(("static", "}")):
            found = head.match(line)
            nest = int(found[1] or 0) if found and int(found[1] or 0) < len(nests) else None
        nodes = () if nest is None else tuple(node_id(nest, one) for one in _computed(line, nests[nest]))
        lines.append(Line(number, line, nodes))
    return tuple(lines)


def _computed(line: str, nest: Nest) -> Iterator[str]:
    """Yield the names of what a line of C computes, loads or stores."""
    yield from dict.fromkeys(_DEFINED.findall(line))
    stored, loaded = _STORED.match(line), _LOADED.search(line)
    if stored and stored[1] in {access.name for access in nest.results}:
        yield stored[1]
    if loaded and loaded[1] in nest.labels:
        yield loaded[1]


def inner_loops(assembly: str, lines: Sequence[Line], name: str, results: int) -> tuple[AssemblyLoop, ...]:
    """Return for each nest the loop that its usual calls are spent in: of those that store a result, the widest.

    Parameters
    ----------
    assembly : what the compiler made of the C, with the line of C of each part.
    lines : the C of the kernel's own functions.
    results : how many nests there are.
    """
    known = {line.number: line for line in lines}
    found = []
    for nest in range(results):
        prefix = name if results == 1 else f"{name}_{nest}"
        stores = set(_stores(lines, f"{prefix}_unit"))
        body = re.search(rf"^{prefix}_rows_unit:\n(.*?)\n\s+\.size\s", assembly, re.MULTILINE | re.DOTALL)
        if body is None:
            continue
        loops = [loop for loop in _loops(body[1].splitlines()) if any(number in stores for number, _ in loop)]
        if loops:
            best = max(loops, key=lambda loop: (_vector_bytes(loop), len(loop)))
            shown = tuple(Line(at, text, known[at].nodes if at in known else ()) for at, text in best)
            found.append(AssemblyLoop(f"{prefix}_unit", shown, _vector_bytes(best)))
    return tuple(found)


def _stores(lines: Sequence[Line], function: str) -> Iterator[int]:
    """Yield the numbers of the lines of a function that store results."""
    inside = False
    for line in lines:
        inside = f" {function}(" in line.text if line.text.startswith("static") else inside
        if inside and _STORED.match(line.text):
            yield line.number


def _loops(lines: Sequence[str]) -> Iterator[list[tuple[int, str]]]:
    """Yield the loops of a function that have no loop inside: each instruction with its line of C."""
    instructions: list[tuple[int, str]] = []
    labels: dict[str, int] = {}
    jumps: list[tuple[int, int]] = []
    at = 0
    for line in lines:
        location, label = _LOCATION.match(line), _LABEL.match(line)
        if location:
            at = int(location[1])
        elif label:
            labels[label[1]] = len(instructions)
        elif _INSTRUCTION.match(line):
            instructions.append((at, " ".join(line.split())))
            target = line.split()[-1]
            if target in labels:
                jumps.append((labels[target], len(instructions)))
    for first, end in jumps:
        if not any(first <= other and last <= end and (other, last) != (first, end) for other, last in jumps):
            yield instructions[first:end]


def _vector_bytes(loop: Sequence[tuple[int, str]]) -> int:
    text = "\n".join(line for _, line in loop)
    return max((size for register, size in _WIDE.items() if register in text), default=0)
