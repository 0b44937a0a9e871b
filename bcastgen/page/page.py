"""The page of a kernel: what each stage made, as one HTML file that needs no other.

In: the stages of a compilation, and the assembly of its C.  Out: HTML.

    page(compilation, compilation.stages, assembly)   ->   "<!doctype html>..."

Everything shown is a stage's own value; this decides only where it stands. The layout, style and script are in
templates/page.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from html import escape
from typing import Protocol

from ..core.frozen import dataclass
from ..emit.templating.render import render_template
from ..loops.guards.listing import Listed, listed
from ..loops.nest import Access, LoopProgram, Nest
from ..pipeline.compilation import Compilation
from ..pipeline.explanation import own_c
from .boxes import Box, boxes_of
from .lines import AssemblyLoop, Line, c_lines, inner_loops, node_id

__all__ = ["Measured", "page"]


@dataclass(frozen=True, slots=True)
class Node:
    """A line of a nest that computes, loads or stores something: its id, its name and its text."""

    id: str
    name: str
    text: str


@dataclass(frozen=True, slots=True)
class NestPart:
    """A nest: the first line of its text, its arrays before rewrites, and its lines after them."""

    head: str
    boxes: tuple[Box, ...]
    nodes: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Change:
    """A line of the text of nests: `sign` is "+" for a new one, "-" for one that is gone, " " for one that stays."""

    sign: str
    text: str


@dataclass(frozen=True, slots=True)
class RewritePart:
    """A rewrite that changed something: why it is done, what it says of each change, and the nests' lines."""

    name: str
    reason: str
    notes: tuple[str, ...]
    changes: tuple[Change, ...]


class Measured(Protocol):
    """What calls take, as the folder bench measures it: a sentence, a table's head and rows, and notes."""

    @property
    def about(self) -> str:
        """Which operands, and how many bytes."""

    @property
    def head(self) -> tuple[str, ...]:
        """The table's first row."""

    @property
    def rows(self) -> tuple[tuple[str, ...], ...]:
        """The other rows, each with a name in front."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What there is to say of them."""


@dataclass(frozen=True, slots=True)
class PageView:
    """What the template lays out.

    Attributes
    ----------
    name, call : the kernel's name in messages, and its operands with their types.
    stages : each stage's text, by name.
    nests, constraints, rewrites : the parts with a form of their own.
    unchanged : the rewrites that found nothing.
    front, lines : how many lines the C begins with before the kernel's own functions, and these functions.
    loops, no_loops : the inner loops' assembly; why there is none.
    measured : what calls take, if that was asked for.
    """

    name: str
    call: str
    stages: Mapping[str, str]
    nests: tuple[NestPart, ...]
    constraints: tuple[Listed, ...]
    rewrites: tuple[RewritePart, ...]
    unchanged: tuple[str, ...]
    front: int
    lines: tuple[Line, ...]
    loops: tuple[AssemblyLoop, ...]
    no_loops: str
    measured: Measured | None


def page(
    compilation: Compilation,
    stages: Mapping[str, str],
    assembly: str = "",
    no_assembly: str = "",
    measured: Measured | None = None,
) -> str:
    """Return the page of a kernel.

    Parameters
    ----------
    stages : the text of each stage, by name.
    assembly : what the compiler made of the C, or empty.
    no_assembly : why there is none.
    measured : what calls take beside the machine's limit.
    """
    rewritten, name = compilation.rewritten, compilation.source.name
    front, text = own_c(stages["c"], name)
    nests = rewritten.program.nests
    lines = c_lines(text, front, name, nests)
    loops = inner_loops(assembly, lines, name, len(nests)) if assembly else ()
    before = compilation.program.nests
    operands = [operand.name for operand in compilation.expression.operands]
    view = PageView(
        compilation.options.name,
        ", ".join(f"{name}: {type_}" for name, type_ in zip(operands, compilation.operand_types, strict=True)),
        stages,
        tuple(_nest_part(at, nest, before[at]) for at, nest in enumerate(nests)),
        listed(compilation.program),
        _rewrite_parts(compilation),
        tuple(step.rewrite.name for step in rewritten.steps if not step.changed),
        front,
        lines,
        loops,
        no_assembly or ("" if loops else "The compiler left no loop of the usual case in a form that is found here."),
        measured,
    )
    return render_template("page/page.html.j2", page=view, html=escape)


def _nest_part(at: int, nest: Nest, before: Nest) -> NestPart:
    nodes = [Node(node_id(at, label), label, f"{label} : {access.dtype}") for label, access in _loads(nest)]
    for number, statement in enumerate(nest.body):
        text = f"t{number} = {nest.spell(statement)} : {statement.dtype}"
        nodes.append(Node(node_id(at, f"t{number}"), f"t{number}", text))
    for access, value in zip(nest.results, nest.stores, strict=True):
        nodes.append(Node(node_id(at, access.name), access.name, f"{access.name} = {nest.show(value)}"))
    return NestPart(nest.head, boxes_of(before, at), tuple(nodes))


def _loads(nest: Nest) -> list[tuple[str, Access]]:
    return list(zip(nest.labels, nest.operands, strict=True))


def _rewrite_parts(compilation: Compilation) -> tuple[RewritePart, ...]:
    parts, program = [], compilation.program
    for step in compilation.rewritten.steps:
        if step.changed:
            notes = tuple(note.strip() for note in step.notes)
            parts.append(RewritePart(step.rewrite.name, step.rewrite.reason, notes, _changes(program, step.program)))
        program = step.program
    return tuple(parts)


def _changes(before: LoopProgram, after: LoopProgram) -> tuple[Change, ...]:
    """Return the lines of both texts, once where they agree."""
    shown = difflib.ndiff(str(before).splitlines(), str(after).splitlines())
    return tuple(Change(line[0], line[2:]) for line in shown if line[0] in "+- ")
