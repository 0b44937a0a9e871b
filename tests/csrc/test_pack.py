"""Tiles: every copy of csrc/pack.c against NumPy's own indexing.

Cases are numbers: dims of `to` and `from` with their steps. NumPy computes what `to` holds after each, the bytes between
and around its elements included; pack_main.c, compiled here in several ways, says what the C makes of it.
"""

from __future__ import annotations

import itertools
import random
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

CSRC = Path(__file__).parents[2] / "csrc"
MAIN = Path(__file__).with_name("pack_main.c")
WARNINGS = ["-std=c11", "-Wall", "-Wextra", "-Wconversion", "-Werror"]
GUARD = 0xA5


@dataclass(frozen=True, slots=True)
class Case:
    """Elements move from box to box: `extents`, and steps in bytes of either side; `kind` is p, u, b or s as pack_main.c has it."""

    kind: str
    width: int
    extents: tuple[int, ...]
    to_steps: tuple[int, ...]
    from_steps: tuple[int, ...]
    shifts: tuple[int, int] = (0, 0)  # of `to` and `from`, in elements
    part: tuple[int, int] | None = None  # first and count of a box

    def span(self, steps: tuple[int, ...]) -> tuple[int, int]:
        """Bytes before the first element of an array, bytes in all."""
        reach = [(extent - 1) * step for extent, step in zip(self.extents, steps, strict=True)]
        before = -sum(min(0, r) for r in reach)
        return before, before + sum(max(0, r) for r in reach) + self.width

    def line(self, guard: int) -> str:
        to_begin, to_size = self.span(self.to_steps)
        from_begin, from_size = self.span(self.from_steps)
        if self.part is not None:
            to_size = self.part[1] * self.width
        shifts = [shift * self.width for shift in self.shifts]
        head = [self.width, to_size + 2 * guard, shifts[0], to_begin + guard, from_size, shifts[1], from_begin]
        match self.kind:
            case "b":
                pairs = itertools.chain(*zip(self.extents, self.from_steps, strict=True))
                tail = [len(self.extents), *pairs, *(self.part or ())]
            case "s":
                tail = [self.extents[0]]
            case _:
                tail = [self.to_steps[0], self.to_steps[1], self.from_steps[0], self.from_steps[1], *self.extents]
        return " ".join([self.kind, *map(str, [*head, *tail])])

    def expected(self, guard: int) -> bytes:
        from_begin, from_size = self.span(self.from_steps)
        source = np.arange(1, from_size + 1, dtype=np.uint32) * np.uint32(2654435761) >> np.uint32(24)
        dtype = np.dtype(f"V{self.width}")
        values = np.ndarray(self.extents, dtype, source.astype(np.uint8), from_begin, self.from_steps)
        if self.part is not None:
            first, count = self.part
            values = values.reshape(-1)[first : first + count]
            return bytes([GUARD]) * guard + values.tobytes() + bytes([GUARD]) * guard
        to_begin, to_size = self.span(self.to_steps)
        to = np.full(to_size + 2 * guard, GUARD, np.uint8)
        np.ndarray(self.extents, dtype, to, to_begin + guard, self.to_steps)[...] = values
        return to.tobytes()


def rows_cases() -> list[Case]:
    """Packs and unpacks of every width with the extents and steps that have a path of their own, and their neighbours."""
    chosen = random.Random(5)
    extents = [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 24, 31, 33, 64, 65, 100]
    cases = []
    for width, kind in itertools.product((1, 2, 4, 8), "pu"):
        for rows, n in itertools.product(extents, extents):
            tile = (n + chosen.choice([0, 0, 1, 5])) * width, width
            steps = [s * width for s in (1, -1, 0, 2, 3, 4, 5, -2, n, -n, rows, -rows - 1)]
            for step in chosen.sample(steps, 4):
                if kind == "u" and step == 0:
                    continue
                long = abs(step) * n
                turned = width if abs(step) >= rows * width else long
                row = chosen.choice([turned, -turned, long, -long, long + width, *([0, 0] if kind == "p" else [])])
                shifts = chosen.choice([0, 1, 3]), chosen.choice([0, 1, 3])
                array = row, step
                sides = (tile, array) if kind == "p" else (array, tile)
                cases.append(Case(kind, width, (rows, n), *sides, shifts))
    return cases


def box_cases() -> list[Case]:
    """Boxes of up to five dims with steps of 0, adjacent ones and others; whole and in part."""
    chosen = random.Random(6)
    cases = []
    for width in (1, 2, 4, 8):
        for _ in range(400):
            dims = chosen.randint(1, 5)
            inner = [chosen.choice([1, 2, 3, 4, 5, 7, 8, 24]) for _ in range(dims - 1)]
            size = int(np.prod(inner, dtype=np.int64))
            outer = chosen.randint(1, max(2, 3000 // size))
            extents = (outer, *inner)
            order = chosen.sample(range(dims), dims)
            steps, at = [0] * dims, width
            for d in order:
                kept = chosen.random() < 0.6
                steps[d] = at * chosen.choice([1, 1, 1, -1]) if kept else 0
                at *= extents[d] * chosen.choice([1, 1, 1, 2]) if kept else 1
            first = chosen.randrange(outer)
            count = chosen.randint(1, (outer - first) * size)
            cases.append(Case("b", width, extents, (0,) * dims, tuple(steps), part=(first * size, count)))
    return cases


def stream_cases() -> list[Case]:
    sizes = [1, 2, 15, 16, 63, 64, 65, 127, 128, 129, 1000, 5000]
    return [
        Case("s", 1, (size,), (1,), (1,), (shift, other)) for size in sizes for shift in (0, 1, 8, 50) for other in (0, 7)
    ]


def compiled(folder: Path, *command: str) -> Path:
    binary = folder / "pack"
    subprocess.run([*command, *WARNINGS, f"-I{CSRC}", str(MAIN), "-o", str(binary)], check=True)
    return binary


def check(binary: Path, cases: list[Case], guard: int) -> None:
    lines = "\n".join(case.line(guard) for case in cases)
    run = subprocess.run([str(binary)], input=lines.encode(), capture_output=True, check=False)
    assert run.returncode == 0, run.stderr.decode()[-3000:]
    at = 0
    for case in cases:
        expected = case.expected(guard)
        assert run.stdout[at : at + len(expected)] == expected, case
        at += len(expected)
    assert at == len(run.stdout)


ALL = [*rows_cases(), *box_cases(), *stream_cases()]


@pytest.mark.parametrize("level", range(3))
def test_every_copy_is_numpys(tmp_path: Path, level: int) -> None:
    check(compiled(tmp_path, "gcc", "-O1", f"-DPACK_LEVEL_MOST={level}"), ALL, 128)
