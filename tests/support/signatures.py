"""Programs of the golden cases, and random signatures.

In: a `random.Random`.  Out: `signature(chance)`, the program of a sum of operands of unknown rank and others.
"""

from __future__ import annotations

from pathlib import Path

import bcastgen as bg

CASES = sorted((Path(__file__).parents[1] / "cases").glob("*.case"))
PROGRAMS = [path.read_text().splitlines()[0][8:] for path in CASES if path.read_text().startswith("program ")]
DIMS = (
    "n + 1",
    "2*n",
    "k - n!",
    "?",
    "?",
    "1",
    "3",
    "n",
    "n",
    "k>=2",
    "n>=2",
    "?>=2",
    "m!",
    "?!",
    "?~",
    "?<=1",
    "bcast",
)


def signature(chance):
    """A sum of operands, one of unknown rank at least, that types do not refuse; of few dims, but of every kind."""
    while True:
        types = [
            [chance.choice(DIMS) for _ in range(chance.choice((0, 1, 1, 2)))] for _ in range(chance.choice((2, 3)))
        ]
        for dims in types[: chance.choice((1, 1, 2, 3))]:
            dims.insert(0, "*")
        chance.shuffle(types)
        operands = [f"f32[{', '.join(dims)}] {name}" for dims, name in zip(types, "abc", strict=False)]
        text = f"({', '.join(operands)}) -> {' + '.join('abc'[: len(types)])}"
        try:
            return bg.from_text(text, dynamic=chance.choice(("numpy", "numpy", "strict"))).compilation.program
        except bg.BcastgenError as error:
            assert "internal" not in str(error)
