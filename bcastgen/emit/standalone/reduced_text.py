"""The text of loops with reductions: indented lines, and the C of an element.

In: names and indices.  Out: C.

    dense("x", [(0, "i0"), (1, "i1")], (4, 3))   ->   x[i0 * 3 + i1]
"""

from __future__ import annotations

import re
from math import prod

__all__ = ["Lines", "dense", "strided", "with_names"]


class Lines:
    """Lines of C, indented."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.depth = 1

    def add(self, *lines: str) -> None:
        """Add lines at the present depth."""
        self.lines += [f"{'    ' * self.depth}{line}" for line in lines]

    def open(self, head: str = "") -> None:
        """Open a block, that of a loop if `head` is one's."""
        self.add(f"{head} {{".lstrip())
        self.depth += 1

    def close(self, count: int = 1) -> None:
        """Close the innermost blocks."""
        for _ in range(count):
            self.depth -= 1
            self.add("}")


def strided(c: str, byte: str, data: str, moved: str) -> str:
    """Return an element of type `c`, `moved` bytes behind the first of `data`; `byte` is char, const or not."""
    # By way of void, as compilers cannot know that an address in bytes is aligned.
    return f"*({c} *)({byte.replace('char', 'void')} *)(({byte} *){data} + {moved})" if moved else f"*({c} *){data}"


def dense(name: str, places: list[tuple[int, str]], extents: tuple[int, ...]) -> str:
    """Return an element of a dense array, the last dim fastest."""
    steps = {own: prod(extents[own + 1 :]) for own, _ in places}
    terms = [index if steps[own] == 1 else f"{index} * {steps[own]}" for own, index in places]
    return f"{name}[{' + '.join(terms) or 0}]"


def with_names(line: str, renamed: dict[str, str]) -> str:
    """Return a line with other names for some values."""
    if not renamed:
        return line
    return re.sub(rf"\b({'|'.join(map(re.escape, renamed))})\b", lambda found: renamed[found[0]], line)
