"""Fusion: which results share a nest.

In: the results of an expression.  Out: groups of result positions, in order.

    (a + b, a * b, a)  ->  ((0, 1), (2,))

Results that read the same operands have the same domain, so one nest computes them with their common values once. One
that reads fewer operands may be smaller, as NumPy's would be, and is not widened to the others' domain.
"""

from __future__ import annotations

from ..expr.nodes import Apply, Node, Operand, topological

__all__ = ["group_results"]


def group_results(results: tuple[Node, ...]) -> tuple[tuple[int, ...], ...]:
    """Return the positions of results that share a nest."""
    reads: dict[Node, frozenset[int]] = {}
    for node in topological(results):
        match node:
            case Operand():
                reads[node] = frozenset((node.index,))
            case Apply():
                reads[node] = frozenset().union(*(reads[child] for child in node.operands))
            case _:
                reads[node] = frozenset()
    groups: dict[frozenset[int], list[int]] = {}
    for position, node in enumerate(results):
        groups.setdefault(reads[node], []).append(position)
    return tuple(map(tuple, groups.values()))
