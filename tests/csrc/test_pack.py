"""csrc/runtime/pack.c: every copy into a tile and out of one against NumPy's own indexing.

A case is numbers: extents, and the steps of both sides. NumPy says what `to` holds after the copy, the bytes between
and around its elements included; pack_main.c, compiled here for each set of instructions, what the C makes of it.
"""

from __future__ import annotations

import itertools
import math
import os
import random
import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from bcastgen.core.c_flags import C_LANGUAGE, OPTIMISED
from compile_flags import NATIVE, QUICK, STRICT, WARNED
from csrc_includes import CSRC_FLAGS
from foreign import MACHINES

MAIN = Path(__file__).with_name("pack_main.c")
SANITIZE = ["-g1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
WIDTHS = (1, 2, 4, 8)
FILLER = 0xA5

Builder = Callable[..., Path]


@dataclass(frozen=True, slots=True)
class Case:
    """`kind` is p, u, b or s as in pack_main.c; steps are in bytes; a box is copied in part: (first, count)."""

    kind: str
    width: int
    extents: tuple[int, ...]
    to_steps: tuple[int, ...]
    from_steps: tuple[int, ...]
    shifts: tuple[int, int] = (0, 0)  # elements between an aligned address and the arrays
    part: tuple[int, int] = (0, 0)

    def span(self, steps: tuple[int, ...]) -> tuple[int, int]:
        """Bytes of an array before its first element, and in all."""
        reach = [(extent - 1) * step for extent, step in zip(self.extents, steps, strict=True)]
        before = -sum(r for r in reach if r < 0)
        return before, before + sum(r for r in reach if r > 0) + self.width

    def to_span(self) -> tuple[int, int]:
        return (0, self.part[1] * self.width) if self.kind == "b" else self.span(self.to_steps)

    def line(self, guard: int) -> str:
        (to_begin, to_size), (from_begin, from_size) = self.to_span(), self.span(self.from_steps)
        to_shift, from_shift = (shift * self.width for shift in self.shifts)
        head = [self.width, to_size + 2 * guard, to_shift, to_begin + guard, from_size, from_shift, from_begin]
        match self.kind:
            case "b":
                pairs = itertools.chain(*zip(self.extents, self.from_steps, strict=True))
                tail = [len(self.extents), *pairs, *self.part]
            case "s":
                tail = [*self.extents]
            case _:
                tail = [*self.to_steps, *self.from_steps, *self.extents]
        return " ".join([self.kind, *map(str, [*head, *tail])])

    def expected(self, guard: int) -> bytes:
        (to_begin, to_size), (from_begin, from_size) = self.to_span(), self.span(self.from_steps)
        element = np.dtype(f"V{self.width}")
        numbers = np.arange(1, from_size + 1, dtype=np.uint32) * np.uint32(2654435761)
        source = (numbers >> np.uint32(24)).astype(np.uint8)
        values = np.ndarray(self.extents, element, source, from_begin, self.from_steps)
        to = np.full(to_size + 2 * guard, FILLER, np.uint8)
        if self.kind == "b":
            first, count = self.part
            np.ndarray((count,), element, to, guard)[...] = values.reshape(-1)[first : first + count]
        else:
            np.ndarray(self.extents, element, to, to_begin + guard, self.to_steps)[...] = values
        return to.tobytes()


def row_cases() -> Iterator[Case]:
    """Packs and unpacks; extents around the sizes of blocks and vectors, steps that have a path of their own."""
    chosen = random.Random(5)
    extents = [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 24, 31, 33, 64, 65, 130]
    for width, kind, rows, n in itertools.product(WIDTHS, "pu", extents, extents):
        tile = (n + chosen.choice([0, 0, 1, 5])) * width, width
        steps = [s * width for s in (1, -1, 0, 2, 3, 4, 5, -2, n, -n, rows, -rows - 1)]
        for step in chosen.sample(steps, 4):
            if kind == "u" and step == 0 and n > 1:
                continue  # elements of a result do not lie on each other
            long = max(abs(step) * n, width)
            turned = width if abs(step) >= rows * width else long
            row = chosen.choice([turned, -turned, long, -long, long + width, *([0, 0] if kind == "p" else [])])
            sides = (tile, (row, step)) if kind == "p" else ((row, step), tile)
            yield Case(kind, width, (rows, n), *sides, (chosen.choice([0, 1, 3]), chosen.choice([0, 1, 3])))


def far_cases() -> Iterator[Case]:
    """Transposed blocks of arrays whose rows are far apart, in both directions, and repeated elements with gaps."""
    for width, kind, rows, n in itertools.product(WIDTHS, "pu", (20, 70), (18, 130)):
        tile = (n + 3) * width, width
        for row, step in itertools.product((width, -width), (2048, -4096, 2056)):
            array = row, step
            yield Case(kind, width, (rows, n), *((tile, array) if kind == "p" else (array, tile)), (1, 1))
    for width, n, gap, row in itertools.product(WIDTHS, (2, 3, 5, 9, 40, 300), (0, 3), (0, 1, -1, 7)):
        yield Case("p", width, (50, n), ((n + gap) * width, width), (row * width, 0))


def box_cases() -> Iterator[Case]:
    """Boxes of up to five dims in any order, still along some, with gaps or turned round along others."""
    chosen = random.Random(6)
    for width, _ in itertools.product(WIDTHS, range(400)):
        inner = [chosen.choice([1, 2, 3, 4, 5, 7, 8, 24]) for _ in range(chosen.randint(0, 4))]
        size = math.prod(inner)
        extents = (chosen.randint(1, max(2, 3000 // size)), *inner)
        steps, at = [0] * len(extents), width
        for dim in chosen.sample(range(len(extents)), len(extents)):
            if chosen.random() < 0.6:
                steps[dim] = at * chosen.choice([1, 1, 1, -1])
                at *= extents[dim] * chosen.choice([1, 1, 1, 2])
        first = chosen.randrange(extents[0])
        part = first * size, chosen.randint(1, (extents[0] - first) * size)
        yield Case("b", width, extents, (), tuple(steps), part=part)


def repeated_cases() -> Iterator[Case]:
    """Whole boxes in which each element, or a few adjacent ones, follow again and again."""
    chosen = random.Random(7)
    for width, period, times in itertools.product(WIDTHS, (1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17), (2, 3, 4, 5, 8, 9, 16)):
        rows = chosen.choice([1, 2, 7, 8, 9, 15, 16, 17, 33, 100])
        apart = chosen.choice([period, period + 1, -period, 0])
        count = chosen.randint(1, rows) * period * times
        yield Case("b", width, (rows, times, period), (), (apart * width, 0, width), part=(0, count))
        yield Case("b", width, (rows * period, times), (), (width, 0), part=(0, count))


def stream_cases() -> Iterator[Case]:
    sizes = (1, 2, 15, 16, 63, 64, 65, 127, 128, 129, 1000, 5000)
    for size, shift, other in itertools.product(sizes, (0, 1, 8, 50), (0, 7)):
        yield Case("s", 1, (size,), (1,), (1,), (shift, other))


CASES = [*row_cases(), *far_cases(), *box_cases(), *repeated_cases(), *stream_cases()]


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Builder:
    def built(*command: str) -> Path:
        program = tmp_path_factory.mktemp("pack") / "pack"
        # Unaligned loads take pointers to whole vectors, which -Wcast-align is not told.
        strict = [*STRICT, "-Wno-cast-align"]
        subprocess.run([*command, *C_LANGUAGE, *strict, *CSRC_FLAGS, str(MAIN), "-o", str(program)], check=True)
        return program

    return built


def check(program: Path, guard: int = 0, runner: Sequence[str] = ()) -> None:
    lines = "\n".join(case.line(guard) for case in CASES)
    done = subprocess.run([*runner, str(program)], input=lines.encode(), capture_output=True, timeout=300)
    assert done.returncode == 0, done.stderr.decode()[-3000:]
    at = 0
    for case in CASES:
        expected = case.expected(guard)
        assert done.stdout[at : at + len(expected)] == expected, case
        at += len(expected)
    assert at == len(done.stdout)


@pytest.mark.parametrize("what", ["-DPACK_PLAIN", "-DPACK_LEVEL_MOST=0", "-DPACK_LEVEL_MOST=2"])
def test_what_is_copied_is_what_numpy_copies_and_nothing_else_is_written(build: Builder, what: str) -> None:
    check(build(os.environ.get("CC", "gcc"), WARNED, what), guard=128)


@pytest.mark.slow
@pytest.mark.parametrize(
    "flags", [NATIVE, *((f"-DPACK_LEVEL_MOST={level}",) for level in range(3))], ids=lambda f: f[0]
)
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_so_it_is_with_every_compiler_and_all_instructions(
    build: Builder, compiler: str, flags: tuple[str, ...]
) -> None:
    check(build(found(compiler), OPTIMISED, *flags), guard=128)


@pytest.mark.slow
@pytest.mark.parametrize("what", ["-DPACK_PLAIN", *(f"-DPACK_LEVEL_MOST={level}" for level in range(3))])
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_nothing_beyond_the_arrays_is_read(build: Builder, compiler: str, what: str) -> None:
    # Not optimised: nothing that is wrong has gone, and clang takes a fifth of the time.
    check(build(found(compiler), QUICK, *SANITIZE, what))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["aarch64", "s390x"])
def test_so_it_is_on_other_machines(build: Builder, name: str) -> None:
    """With vectors of their own, and in another byte order."""
    machine = MACHINES[name]
    program = build(*machine.compiler(), OPTIMISED)
    check(program, guard=128, runner=machine.command(program)[:-1])


def found(compiler: str) -> str:
    for name in ("clang-19", "clang") if compiler == "clang" else ("gcc",):
        if shutil.which(name):
            return name
    pytest.fail(f"no {compiler} on the PATH; install it (the slow tests need clang too)")
