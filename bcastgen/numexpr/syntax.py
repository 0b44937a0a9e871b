"""Typed expressions: each op has a signature that NumExpr has an instruction for, and casts stand where kinds differ.

In: an :class:`ExpressionNode`.  Out: an :class:`ASTNode` whose ops are `kinds.SIGNATURES`.

    add(a: int, b: float)  ->  add_fff(cast_fi(a), b)

Nodes that an expression uses twice are one node here, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from .kinds import CODES, FUNCTIONS, OPCODES, REDUCTIONS, upcasts

__all__ = ["ASTNode", "expressionToAST", "postorder", "typeCompileAst", "typed"]

_KINDS = {code: kind for kind, code in CODES.items() if kind != "str"}


class ASTNode:
    """An op, a variable, a constant or a raw number; `signature` is an op's once it is typed."""

    def __init__(
        self, astType: str = "generic", astKind: str = "unknown", value: Any = None, children: Sequence[ASTNode] = ()
    ) -> None:
        self.astType, self.astKind, self.value, self.children = astType, astKind, value, tuple(children)
        self.signature = ""

    def typecode(self) -> str:
        """Return the letter of its kind."""
        return CODES[self.astKind]

    @property
    def opcode(self) -> str:
        """The op with its signature, as in ``add_ddd``."""
        return f"{self.value}_{self.signature}"

    def allOf(self, *types: str) -> Iterator[ASTNode]:
        """Yield the nodes of these types, operands first, each once."""
        return (node for node in postorder(self) if node.astType in types)

    def __repr__(self) -> str:
        return f"AST({self.astType}, {self.astKind}, {self.value}, {self.children})"


def postorder(root: Any) -> list[Any]:
    """Return the nodes below a node and itself, operands first, each once; this does not recurse."""
    found: list[Any] = []
    seen: set[int] = set()
    stack = [(root, False)]
    while stack:
        node, ready = stack.pop()
        if ready:
            found.append(node)
        elif id(node) not in seen:
            seen.add(id(node))
            stack.append((node, True))
            stack.extend((child, False) for child in reversed(node.children))
    return found


def expressionToAST(expression: Any) -> ASTNode:
    """Return the nodes of an expression without operators of their own."""
    made: dict[int, ASTNode] = {}
    for node in postorder(expression):
        made[id(node)] = ASTNode(node.astType, node.astKind, node.value, [made[id(child)] for child in node.children])
    return made[id(expression)]


class _Typing:
    """Types nodes, operands first; equal nodes become one."""

    def __init__(self) -> None:
        self.kept: dict[object, ASTNode] = {}

    def node(
        self, type_: str, kind: str, value: Any, children: tuple[ASTNode, ...] = (), signature: str = ""
    ) -> ASTNode:
        key = (type_, kind, repr(value), signature, *map(id, children))
        if key not in self.kept:
            made = self.kept[key] = ASTNode(type_, kind, value, children)
            made.signature = signature
        return self.kept[key]

    def op(self, kind: str, value: str, children: tuple[ASTNode, ...]) -> ASTNode:
        """Return an op with the first signature that its operands can be converted to."""
        signature = _signature(value, CODES[kind], "".join(child.typecode() for child in children))
        return self.node("op", kind, value, tuple(map(self.cast, children, signature[1:])), signature)

    def cast(self, node: ASTNode, code: str) -> ASTNode:
        """Return a node converted to a kind; a constant is one of that kind."""
        if node.typecode() == code:
            return node
        if node.astType == "constant":
            return self.node("constant", _KINDS[code], node.value)
        return self.op(_KINDS[code], "cast", (node,))


def _signature(name: str, result: str, operands: str) -> str:
    """Return an op's signature: instructions are looked for first, then functions."""
    for table in (OPCODES, FUNCTIONS):
        for codes in upcasts(operands):
            if f"{name}_{result}{codes}" in table:
                return result + codes
    raise NotImplementedError(f"couldn't find matching opcode for '{name}_{result}{operands}'")


def typeCompileAst(root: ASTNode) -> ASTNode:
    """Return the nodes with casts, and the signature of every op; equal nodes are one.

    Raises
    ------
    NotImplementedError
        If no signature of an op takes its operands.
    """
    typing, made = _Typing(), dict[int, ASTNode]()
    for node in postorder(root):
        children = tuple(made[id(child)] for child in node.children)
        if node.astType == "op":
            made[id(node)] = typing.op(node.astKind, node.value, children)
        else:
            made[id(node)] = typing.node(node.astType, node.astKind, node.value, children)
    return made[id(root)]


def typed(expression: Any) -> ASTNode:
    """Return an expression as a typed op; a variable or a constant is copied.

    Raises
    ------
    NotImplementedError
        If NumExpr has no instruction for an op and the kinds of its operands.
    RuntimeError
        If there is a reduction anywhere but at the root.
    """
    root = expressionToAST(expression)
    if root.astType != "op":
        root = ASTNode("op", root.astKind, "copy", (root,))
    found = typeCompileAst(root)
    if any(node.value in REDUCTIONS for node in found.allOf("op") if node is not found):
        raise RuntimeError("invalid program: reduction operations must occur last")
    return found
