"""The expression DAG: operands, constants and applications of ops, immutable and shared.

In: rows of the op table.  Out: an :class:`Expression`, which prints as a list of values.

    (a + b) * (a + b)  ->  expr (a, b)
                             t0 = add(a, b)
                             t1 = multiply(t0, t0)
                             return t1

Nodes compare by identity: a builder makes each distinct value once, so sharing is structural. Every walk goes through
:func:`topological`, which does not recurse: expressions may be thousands of ops deep.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ..dtypes import DType, Weak
from ..ops import Op

__all__ = ["Apply", "Constant", "Expression", "Node", "Operand", "Params", "literal", "topological"]

Params = tuple[tuple[str, DType], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Operand:
    """An array that comes into the kernel. `dtype` is None until the expression is typed."""

    index: int
    name: str
    dtype: DType | Weak | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Constant:
    """A scalar known when the expression is built; weak if it was a Python scalar."""

    value: bool | int | float
    dtype: DType | Weak


@dataclass(frozen=True, slots=True, eq=False)
class Apply:
    """One op applied to nodes, with its static parameters. `dtype` is None until the expression is typed."""

    op: Op
    operands: tuple[Node, ...]
    params: Params = ()
    dtype: DType | None = None


Node = Operand | Constant | Apply


@dataclass(frozen=True, slots=True, eq=False)
class Expression:
    """Named operands and the nodes that are the results, in order."""

    operands: tuple[Operand, ...]
    results: tuple[Node, ...]

    def __str__(self) -> str:
        names: dict[Node, str] = {}
        lines: list[str] = []
        for node in topological(self.results):
            if isinstance(node, Apply):
                names[node] = f"t{len(lines)}"
                shown = [*(names[child] for child in node.operands), *(f"{key}={value}" for key, value in node.params)]
                suffix = "" if node.dtype is None else f" : {node.dtype}"
                lines.append(f"  {names[node]} = {node.op.name}({', '.join(shown)}){suffix}")
            else:
                names[node] = node.name if isinstance(node, Operand) else literal(node)
        heads = (o.name if o.dtype is None else f"{o.name}: {o.dtype}" for o in self.operands)
        lines.append("  return " + ", ".join(names[node] for node in self.results))
        return f"expr ({', '.join(heads)})\n" + "\n".join(lines)


def literal(node: Constant) -> str:
    """Spell a constant exactly (Python's repr round-trips), with its dtype where it has one of its own."""
    return repr(node.value) if isinstance(node.dtype, Weak) else f"{node.value!r}:{node.dtype}"


def topological(results: Iterable[Node]) -> list[Node]:
    """Return every node the results need, each once, operands before users.

    Examples
    --------
    >>> a = Operand(0, "a")
    >>> len(topological((a, a)))
    1
    """
    order: dict[Node, None] = {}
    stack = [(node, False) for node in reversed(tuple(results))]
    while stack:
        node, ready = stack.pop()
        if node in order:
            continue
        if ready or not isinstance(node, Apply):
            order[node] = None
            continue
        stack.append((node, True))
        stack.extend((child, False) for child in reversed(node.operands))
    return list(order)
