"""The instructions of an expression, as NumExpr's virtual machine would run them.

In: a typed expression.  Out: constants, and rows of an opcode and registers.

    x*x + 2  ->  [b'mul_ddd', b'r0', b'r1[x]', b'r1[x]'], [b'add_ddd', b'r0', b'r0', b'c2[2.0]']

Nothing runs them: the kernel does. They are for `disassemble`, and for programs that look at NumExpr's objects.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .expressions import ALL_AXES
from .kinds import KINDS, REDUCTIONS, TYPES
from .syntax import ASTNode

__all__ = ["constant_nodes", "constant_value", "instructions", "temporaries"]


class _Register:
    """A place that an instruction writes to; `number` is None until there is one."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.number: int | None = None
        self.users: set[ASTNode] = set()


def constant_value(node: ASTNode) -> Any:
    """Return a constant as a number of its kind."""
    if isinstance(node.value, str):
        return node.value.encode("ascii")
    return np.float32(node.value) if node.astKind == "float" else TYPES[node.astKind](node.value)


def constant_nodes(root: ASTNode) -> list[ASTNode]:
    """Return the constants in NumExpr's order: by the names of their kinds, then by value."""

    def key(node: ASTNode) -> tuple[object, ...]:
        value = node.value if node.astKind in KINDS else 0
        text = b"" if node.astKind in KINDS else constant_value(node)
        return node.astKind, complex(value).real, complex(value).imag, text

    return sorted(root.allOf("constant"), key=key)


def _allocated(root: ASTNode) -> dict[ASTNode, _Register]:
    """Return the register of each op; one whose value is no longer used is written to again."""
    nodes = list(root.allOf("op"))
    registers = {node: _Register(node.astKind) for node in nodes}
    for node in nodes:
        for child in node.children:
            if child in registers:
                registers[child].users.add(node)
    free: dict[str, list[_Register]] = {}
    for node in nodes if root.value not in REDUCTIONS else nodes[:-1]:
        for child in dict.fromkeys(node.children):
            if child in registers:
                register = registers[child]
                register.users.discard(node)
                if not register.users:
                    free.setdefault(register.kind, []).append(register)
        if free.get(node.astKind):
            register = free[node.astKind].pop()
            register.users = registers[node].users
            registers[node] = register
    return registers


def _numbered(root: ASTNode, start: int) -> tuple[dict[ASTNode, _Register], str]:
    registers = _allocated(root)
    registers[root].number = 0
    kinds: list[str] = []
    for node, register in registers.items():
        if register.number is None:
            register.number = start + len(kinds)
            kinds.append(node.typecode())
    return registers, "".join(kinds)


def temporaries(root: ASTNode, leaves: int) -> str:
    """Return the letters of the kinds of intermediate results."""
    return _numbered(root, 1 + leaves)[1]


def instructions(root: ASTNode, names: Sequence[str]) -> list[list[Any]]:
    """Return the rows: an opcode, the register that is written, and those that are read, padded to four."""
    constants = constant_nodes(root)
    registers, _ = _numbered(root, 1 + len(names) + len(constants))

    def shown(node: ASTNode) -> Any:
        if node.astType == "raw":
            return None if node.value == ALL_AXES else node.value
        if node.astType == "variable":
            return f"r{1 + names.index(node.value)}[{node.value}]".encode("ascii")
        if node.astType == "constant":
            return f"c{1 + len(names) + constants.index(node)}[{constant_value(node)}]".encode("ascii")
        number = registers[node].number
        return b"t%d" % number if number else b"r0"

    rows: list[list[Any]] = []
    for node in root.allOf("op"):
        row = [node.opcode.encode("ascii"), shown(node), *map(shown, node.children)]
        rows.append(row + [None] * (4 - len(row)))
        if len(row) > 4:
            rows.append([b"noop", None, None, None])
    return rows
