"""csrc/runtime/guards.c and shape_code.c under the sanitizers, against the interpreters in Python.

Guards are those of random kernels of the shape model, of which nothing is compiled. Their operands' extents are those
of calls, of which half are legal, and hostile ones: below 0, beyond memory, of other ranks. Shape programs are drawn
from the table of their ops.
"""

from __future__ import annotations

import itertools
import os
import random
import subprocess
from pathlib import Path

import numpy as np
import pytest

import shape_programs
from bcastgen.core.errors import BroadcastError, status_values
from bcastgen.core.resources import csrc_file
from bcastgen.emit.shape_program.code import program_code
from bcastgen.kernel.caller_extents import _inferred
from bcastgen.loops.guard_program.code import guard_code
from bcastgen.loops.guard_program.interpret import Failure, domains
from bcastgen.loops.guard_program.ir import Const, GuardProgram, Own
from bcastgen.shape.dialect.program import Program
from bcastgen.shape.dialect.values import Shape
from csrc_includes import CSRC_FLAGS
from foreign import MACHINES
from long_runs import many
from reduction_programs import Program as ReductionProgram
from shape_kernels import make_calls, make_kernel
from shape_sides import outcome, product

FLAGS = ["-std=c11", "-O1", "-g1", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror"]
SANITIZE = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
DECLINED = -1
HOSTILE = (-(2**63), -3, -1, 0, 1, 2, 3, 5, 2**31, 2**62, 2**63 - 1)
NO_GUARDS = GuardProgram((), 0, (), frozenset(), (), ())


def built(directory, compiler, flags):
    """Return the path of the program that runs what it reads."""
    path = directory / "guards"
    files = [Path(__file__).with_name("guards_main.c"), csrc_file("guards.c"), csrc_file("shape_code.c")]
    subprocess.run([*compiler, *FLAGS, *flags, *CSRC_FLAGS, *files, "-o", path], check=True)
    return path


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """The command of the program."""
    return [built(tmp_path_factory.mktemp("guards"), ["gcc"], SANITIZE)]


@pytest.fixture(scope="module")
def emulated(tmp_path_factory):
    """The same for another machine."""
    machine = MACHINES["aarch64"]
    return machine.command(built(tmp_path_factory.mktemp("emulated"), machine.compiler(), ()))


class Case:
    """A kernel's guards, a shape for each operand, and which slots are given."""

    def __init__(self, kernel, ranks, given, shapes):
        self.kernel, self.shapes = kernel, shapes
        self.guards = kernel._sizing((*ranks, *(1 for _ in given))).guards
        self.columns = kernel._sizing((*ranks, *(1 for _ in given))).columns
        self.given = given
        self.code = kernel._guard_code(bytes(ranks) if kernel._is_ranked else b"", bytes(given))

    def numbers(self):
        first = len(self.shapes) - len(self.given)
        yield from (len(self.code) // 8, *np.frombuffer(self.code, np.int64).tolist())
        yield from (len(self.shapes), len(self.given), first)
        for shape in self.shapes:
            yield from (len(shape), *shape)

    def wanted(self):
        """What the interpreter says, as the numbers that the program writes."""
        names, shapes = self.kernel.operands, list(self.shapes)
        if self.given:
            slots = names[len(names) - len(self.given) :]
            told = {name: shapes[names.index(name)][0] for name, flag in zip(slots, self.given, strict=True) if flag}
            found = _inferred(slots, told, self.columns, dict(zip(names, shapes, strict=True)))
            for name in slots:
                beside = any((name, 0) in column for column in self.columns)
                if name not in told and name not in found and beside:
                    return [DECLINED, -1, -1, -1, 0, 0]
                shapes[names.index(name)] = (told.get(name, found.get(name, 1)),)
        found = domains(self.guards, shapes)
        if isinstance(found, Failure):
            status = status_values()[found.status]
            return [status, found.subject, found.dim, found.against, found.expected, found.actual]
        slots = [extent for shape in shapes[len(shapes) - len(self.given) :] for extent in shape]
        return [0, *(number for domain in found for number in (len(domain), *domain)), *slots]


def hostile(chance, shape):
    """A shape that is like another one, or of nothing."""
    match chance.randrange(5):
        case 0:
            return tuple(chance.choice(HOSTILE) for _ in shape)
        case 1:
            return tuple(chance.choice(HOSTILE) for _ in range(chance.choice((0, 1, 2, 3, 64))))
        case 2:
            return tuple(chance.choice((extent, chance.choice(HOSTILE))) for extent in shape)
    return shape


def drawn(seed, kernels, calls):
    chance = random.Random(seed)
    while kernels:
        model = make_kernel(chance)
        kernel = outcome(lambda model=model: product(model))
        if isinstance(kernel, str):
            continue
        kernels -= 1
        slots = len(kernel.slots) if hasattr(kernel, "slots") else 0
        for call in make_calls(chance, model, calls):
            values = dict(call.given)
            given = [chance.random() < 0.5 if values else 0 for _ in range(slots)]
            extents = [(values.get(name, 1),) for name in kernel.slots] if slots else []
            ranks = tuple(map(len, call.extents))
            for change in (lambda shape: shape, lambda shape: hostile(chance, shape)):
                shapes = (*map(change, call.extents), *extents)
                case = outcome(lambda s=shapes, g=given, r=ranks, k=kernel: Case(k, r, g, s))
                # Operands of these ranks may not lower, and a caller may give too little.
                if not isinstance(case, str) and case.code is not None:
                    yield case


def answers(program, cases):
    """The numbers that the program writes of each case."""
    numbers = [len(cases), *(number for case in cases for number in case.numbers())]
    environment = {**os.environ, "ASAN_OPTIONS": "detect_leaks=0"}
    done = subprocess.run(program, input=np.array(numbers, np.int64).tobytes(), capture_output=True, env=environment)
    assert done.returncode == 0, done.stderr.decode()[:4000]
    return np.frombuffer(done.stdout, np.int64).tolist()


def check(program, seed, kernels, calls):
    hold(program, list(drawn(seed, kernels, calls)))


def hold(program, cases):
    said, at, refused = answers(program, cases), 0, 0
    for case in cases:
        wanted = case.wanted()
        assert said[at : at + len(wanted)] == wanted, f"{case.kernel!r} of {case.shapes}, given {case.given}"
        at += len(wanted)
        refused += wanted[0] != 0
    assert at == len(said)
    assert len(cases) / 4 < refused < len(cases)


def test_random_kernels(program):
    check(program, 5, 40, 6)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_many_random_kernels(program, seed):
    check(program, 100 + seed, many(100, 250), 20)


@pytest.mark.slow
def test_random_kernels_on_another_machine(emulated):
    check(emulated, 6, 20, 6)
    hold(emulated, list(drawn_with_reductions(4, 20)))
    check_programs(emulated, 3, 300)


def drawn_with_reductions(seed, count):
    """Cases of random programs with reductions: their own shapes, others, and hostile ones."""
    chance, arrays = random.Random(seed), np.random.default_rng(seed)
    while count:
        program = ReductionProgram(arrays)
        kernel = program.kernel()
        shapes = tuple(x.shape for x in program.operands)
        other = tuple(tuple(chance.choice((extent, 1, 2, 0)) for extent in shape) for shape in shapes)
        for tried in (shapes, other, tuple(hostile(chance, shape) for shape in shapes)):
            ranks = tuple(map(len, tried))
            case = outcome(lambda k=kernel, r=ranks, t=tried: Case(k, r, (), t))
            if not isinstance(case, str):
                assert case.guards.reduced and case.code is not None
                yield case
        count -= 1


def test_random_reductions(program):
    hold(program, list(drawn_with_reductions(3, 60)))


# ---- extents that the caller leaves out ------------------------------------------------------------------------------

TERMS = (Own(0, 0), Own(0, 1), Own(1, 0), Own(1, 1), Const(1), Const(5))


class SlotCase:
    """A slot that meets some extents; operands may have too few dims for them."""

    def __init__(self, terms, shapes):
        self.terms, self.shapes = terms, shapes

    def numbers(self):
        code = guard_code(NO_GUARDS, {0: self.terms})
        yield from (len(code) // 8, *np.frombuffer(code, np.int64).tolist())
        yield from (len(self.shapes) + 1, 1, len(self.shapes))
        for shape in (*self.shapes, (1,)):
            yield from (len(shape), *shape)

    def wanted(self):
        found = []
        for term in self.terms:
            found += (term.extent,) if isinstance(term, Const) else self.shapes[term.operand][term.dim :][:1]
        return [0, next((extent for extent in found if extent != 1), 1)] if found else [DECLINED, -1, -1, -1, 0, 0]


def test_what_is_left_out_is_the_first_extent_beside_it_that_is_not_1(program):
    """Whatever comes before it: extents of 1, or dims that an operand of few dims has not."""
    terms = [some for count in range(4) for some in itertools.product(TERMS, repeat=count)]
    shapes = [(), (1,), (2,), (1, 3)]
    cases = [SlotCase(some, pair) for some in terms for pair in itertools.product(shapes, repeat=2)]
    said, at = answers(program, cases), 0
    for case in cases:
        wanted = case.wanted()
        assert said[at : at + len(wanted)] == wanted, f"{case.terms} of {case.shapes}"
        at += len(wanted)
    assert at == len(said)


# ---- shape programs --------------------------------------------------------------------------------------------------

SHAPES = ("!shape.shape", "!shape.shape", "tensor<?xindex>", "tensor<2xindex>")


class ProgramCase:
    """A shape program, and operands of a run of it."""

    def __init__(self, program, operands):
        self.program, self.shapes = program, [getattr(one, "extents", one) for one in operands]
        try:
            found = program.run(*self.shapes)
            if isinstance(found, Shape):
                found = found.extents if found.is_known and found.error is None else None
            self.result = found
        except BroadcastError:
            self.result = None
        self.rank = 2 if self.result is None else len(self.result)
        self.sizes = program_code(program, (range(self.rank),))

    def numbers(self):
        code = guard_code(NO_GUARDS, None, self.sizes)
        yield from (len(code) // 8, *np.frombuffer(code, np.int64).tolist())
        yield from (len(self.shapes) + self.rank, self.rank, len(self.shapes))
        for shape in (*self.shapes, *[(1,)] * self.rank):
            yield from (len(shape), *shape)


def drawn_programs(seed, count):
    chance = random.Random(seed)
    while count:
        program = shape_programs.make_program(chance, SHAPES)
        program = Program(program.name, program.body, program.results[:1])
        if program.results[0].type.kind not in ("shape", "extents"):
            continue
        operands = shape_programs.make_operands(chance, program)[0]
        if any(getattr(one, "is_invalid", False) for one in operands):
            continue
        case = ProgramCase(program, operands)
        if "debug_print" in str(program):
            # What is printed is Python's to print.
            assert case.sizes is None
            continue
        assert case.sizes is not None, str(program)
        count -= 1
        yield case


def check_programs(program, seed, count):
    cases = list(drawn_programs(seed, count))
    said, at, declined = answers(program, cases), 0, 0
    for case in cases:
        done = said[at] == 0
        shown = f"{case.program} of {case.shapes}"
        if done:
            assert said[at + 1 : at + 1 + case.rank] == list(case.result or (None,) * case.rank), shown
        else:
            assert case.result is None or "shape.reduce" in shown, shown
            # A reduce of an invalid shape whose results do not count is run by Python.
            declined += case.result is not None
        at += 1 + case.rank if done else 6
    assert at == len(said)
    succeed = sum(case.result is not None for case in cases)
    assert declined < succeed / 20, (declined, succeed)
    assert len(cases) / 4 < succeed, (succeed, len(cases))


def test_random_shape_programs(program):
    check_programs(program, 1, 300)


@pytest.mark.slow
def test_many_random_shape_programs(program):
    check_programs(program, 2, 1_500)
