"""Emitted kernels, strict compilers, and a harness that runs kernels as C programs do, under sanitizers."""

from __future__ import annotations

import ctypes
import os
import shutil
import struct
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

from bcastgen.dtypes import DType
from bcastgen.emit.standalone import render_standalone
from bcastgen.errors import statuses
from bcastgen.expr.nodes import Apply, Constant, Expression, topological
from bcastgen.expr.text import parse
from bcastgen.expr.trace import trace
from bcastgen.pipeline import Compilation, Options
from bcastgen.shape.tensor_type import parse_signature, parse_type

STRICT = "-Wall -Wextra -Wconversion -Wshadow -Wcast-qual -pedantic -Werror -ffp-contract=off".split()
LANGUAGES = {"c": ("-std=c11", "-Wstrict-prototypes"), "c++": ("-xc++", "-std=c++17")}
COMPILERS = {
    "gcc": {"c": ("gcc",), "c++": ("g++",)},
    "clang": {"c": ("clang-19", "clang"), "c++": ("clang++-19", "clang++")},
}
SANITIZE = (
    "-std=c11 -g -ffp-contract=off -fsanitize=address,undefined,float-cast-overflow -fno-sanitize-recover=all".split()
)
NUMBERS = {name: value for value, (name, _) in statuses().items()}
RANKS = 65


def compiler(kind, language="c"):
    names = COMPILERS[kind][language]
    found = next((name for name in names if shutil.which(name)), None)
    if found is None:
        pytest.fail(f"no {' or '.join(names)} on the PATH; install it (the slow tests need clang too)")
    return found


@dataclass(frozen=True)
class Emitted:
    """A kernel as standalone C, and what a caller has to know of it."""

    name: str
    function: str
    files: dict[str, str]
    compilation: Compilation
    shapes: tuple[int | None, ...]

    @property
    def text(self):
        return self.files[f"{self.name}.c"]

    @property
    def operands(self):
        dtypes = self.compilation.typed.operand_dtypes
        return dtypes[: len(dtypes) - self.compilation.constants]

    @property
    def results(self):
        return self.compilation.typed.result_dtypes


@pytest.fixture(scope="session")
def emit():
    """Call ``emit(name, source)`` with a signature that ends in an expression, or ``emit(name, function or text, types,
    names=...)``; also ``variants``, declared ``result_types``, and ``constants``: values of the last operands."""

    def emitted(
        name, source, types=None, names="abcdefghijklmnopqrstuvwxyz", variants=None, result_types=None, constants=()
    ):
        if types is None:
            signature = parse_signature(source)
            names, types = zip(*signature.operands, strict=True)
            source = signature.expression
        types, names = tuple(map(parse_type, types)), tuple(names)[: len(types)]
        if not isinstance(source, Expression):
            source = parse(source, names) if isinstance(source, str) else trace(source, names)
        expression = source
        count = len(expression.results)
        results = ("r",) if count == 1 else tuple(f"r{at}" for at in range(count))
        declared = None if result_types is None else tuple(map(parse_type, result_types))
        kinds = tuple(t.dtype for t in types)
        options, count_constants = Options(name, variants), len(constants)
        compilation = Compilation(expression, kinds, types, declared, results, options, None, count_constants)
        rendered = render_standalone(name, compilation.program, compilation.typed, variants, constants)
        ranks = {
            access.position: None if nest.domain.open else len(nest.domain.dims)
            for nest in compilation.program.nests
            for access in nest.results
        }
        stem = rendered.name
        function = f"{stem}_kernel" if f"_status {stem}_kernel(" in rendered.files[f"{stem}.h"] else stem
        return Emitted(stem, function, dict(rendered.files), compilation, tuple(ranks[at] for at in range(count)))

    return emitted


@pytest.fixture(scope="session")
def compile_strictly():
    """Call ``compile_strictly(texts, directory, kind="gcc", language="c", flags=("-O1",))`` with names and contents.

    Every .c file is compiled, every warning is an error.
    """

    def compile_all(texts, directory, kind="gcc", language="c", flags=("-O1",)):
        directory.mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            (directory / name).write_text(text, encoding="utf-8")
        units = [name for name in texts if name.endswith(".c")]
        command = [compiler(kind, language), *LANGUAGES[language], *STRICT, *flags, "-c", *units]
        done = subprocess.run(command, cwd=directory, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{' '.join(command[: -len(units)])}\n{done.stderr[:4000]}"

    return compile_all


@pytest.fixture(scope="session")
def together():
    """Call ``together(kernels)`` for the files of many emitted kernels and one unit that includes all of their C."""

    def unit(kernels):
        texts = {name.replace(".c", ".inc"): text for kernel in kernels for name, text in kernel.files.items()}
        return texts | {"all.c": "".join(f'#include "{kernel.name}.inc"\n' for kernel in kernels)}

    return unit


# ---- the harness -----------------------------------------------------------------------------------------------------


@dataclass
class Case:
    """One call of a kernel: descriptors of its operands, then of its results, and the memory they point to."""

    kernel: Emitted
    told: bool = True
    buffers: list[tuple[np.ndarray, int]] = field(default_factory=list)
    arrays: list[tuple] = field(default_factory=list)

    def hold(self, contents, odd=0):
        """Allocate memory of exactly this size, so many bytes out of alignment; returns its number."""
        self.buffers.append((np.frombuffer(bytes(contents), np.uint8), odd))
        return len(self.buffers) - 1

    def view(self, buffer, extents, strides, offset=0, *, rank=None, no_extents=False, no_strides=False):
        """Describe an array in a buffer (None: null data)."""
        rank = len(extents) if rank is None else rank
        self.arrays.append((buffer, offset, rank, no_extents, no_strides, tuple(extents), tuple(strides)))
        return self

    def array(self, values):
        """Describe an ndarray, whatever its strides, in memory of its own that it fills from end to end."""
        if not values.size:
            return self.view(self.hold(b""), values.shape, values.strides)
        low, high = np.lib.array_utils.byte_bounds(values)
        memory = (ctypes.c_ubyte * (high - low)).from_address(low)
        return self.view(self.hold(memory), values.shape, values.strides, values.ctypes.data - low)

    def written(self):
        parts = [struct.pack("<3q", self.told, len(self.arrays), len(self.buffers))]
        for contents, odd in self.buffers:
            parts += [struct.pack("<2q", contents.size, odd), contents.tobytes()]
        for buffer, offset, rank, no_extents, no_strides, extents, strides in self.arrays:
            numbers = [-1 if buffer is None else buffer, offset, rank, no_extents, no_strides, len(extents)]
            parts.append(struct.pack(f"<{6 + 2 * len(extents)}q", *numbers, *extents, *strides))
        return b"".join(parts)


@dataclass(frozen=True)
class Diagnosed:
    """A status by name, and the diagnostic; -77 stands where nothing was written."""

    status: str
    operand: int
    dim: int
    against: int
    expected: int
    actual: int

    @classmethod
    def read(cls, numbers):
        names = {value: name for name, value in NUMBERS.items()}
        return cls(names[int(numbers[0])], *map(int, numbers[1:]))

    @property
    def facts(self):
        return self.operand, self.dim, self.against, self.expected, self.actual


UNTOLD = (-77,) * 5


@dataclass(frozen=True)
class Outcome:
    """What a case came to."""

    case: Case
    shape: Diagnosed
    extents: tuple[tuple[int, ...] | None, ...]
    call: Diagnosed
    buffers: tuple[np.ndarray, ...]

    def values(self, place, dtype):
        """The array at a place of the case, as it is now."""
        buffer, offset, _, _, _, extents, strides = self.case.arrays[place]
        return np.ndarray(extents, dtype, self.buffers[buffer].copy(), offset, strides)

    @property
    def untouched(self):
        """Whether no byte has changed anywhere."""
        return all(np.array_equal(now, was) for now, (was, _) in zip(self.buffers, self.case.buffers, strict=True))


def _wrapper(at, kernel):
    """C that hands the harness's arrays to a kernel."""
    name, operands, results = kernel.name, len(kernel.operands), len(kernel.results)
    shape_arguments, after = [f"&a[{k}]" for k in range(operands)], []
    for k, rank in enumerate(kernel.shapes):
        if rank is None:
            shape_arguments.append(f"&ranks[{k}]")
            after.append(f"got->extents[{k}][0] = ranks[{k}];")
        else:
            after.append(f"got->extents[{k}][0] = {rank};")
        shape_arguments += [f"got->extents[{k}] + 1"] if rank != 0 else []
    arrays = ", ".join(f"&a[{k}]" for k in range(operands + results))
    copy = "{(int64_t)%s, why.operand, why.dim, why.against, why.expected, why.actual}"
    return f"""
static void run_{at}(const harness_array *given, int told, harness_answer *got)
{{
    {name}_array a[{operands + results}];
    {name}_diagnostic why = {{-77, -77, -77, -77, -77}};
    int32_t ranks[{results}] = {{0}};
    for (int k = 0; k < {operands + results}; k++) {{
        a[k].data = given[k].data;
        a[k].extents = given[k].extents;
        a[k].byte_strides = given[k].byte_strides;
        a[k].rank = given[k].rank;
    }}
    const {name}_status fits = {name}_shape({", ".join(shape_arguments)}, told ? &why : NULL);
    (void)ranks;
    got->shape = (harness_outcome){copy % "fits"};
    {" ".join(after)}
    why = ({name}_diagnostic){{-77, -77, -77, -77, -77}};
    const {name}_status done = {kernel.function}({arrays}, told ? &why : NULL);
    got->call = (harness_outcome){copy % "done"};
}}
"""


def _write_harness(kernels, directory):
    for kernel in kernels:
        for name, text in kernel.files.items():
            (directory / name).write_text(text)
    shutil.copy(Path(__file__).parent / "harness.c", directory)
    most = max(len(kernel.operands) + len(kernel.results) for kernel in kernels)
    includes = "".join(f'#include "{kernel.name}.c"\n' for kernel in kernels)
    wrappers = "".join(_wrapper(at, kernel) for at, kernel in enumerate(kernels))
    table = ", ".join(f"run_{at}" for at in range(len(kernels)))
    (directory / "cases.inc").write_text(
        f"#define MOST_ARRAYS {most}\n{includes}{wrappers}\n"
        f"static void (*const kernels[])(const harness_array *, int, harness_answer *) = {{{table}}};\n"
        "static void run_kernel(int64_t kernel, const harness_array *given, int told, harness_answer *got)\n"
        "{\n    kernels[kernel](given, told, got);\n}\n"
    )


def _read(case, stream):
    count = len(case.kernel.results)
    shape = Diagnosed.read(np.frombuffer(stream.read(48), np.int64))
    said = np.frombuffer(stream.read(64 * RANKS * 8), np.int64).reshape(64, RANKS)[:count]
    call = Diagnosed.read(np.frombuffer(stream.read(48), np.int64))
    buffers = tuple(np.frombuffer(stream.read(contents.size), np.uint8) for contents, _ in case.buffers)
    extents = tuple(tuple(map(int, row[1 : 1 + row[0]])) for row in said)
    return Outcome(case, shape, extents, call, buffers)


class Program:
    """All kernels in one program with address and undefined-behaviour sanitizers, which runs cases of them."""

    def __init__(self, kernels, directory, kind, optimise):
        self._places = {id(kernel): at for at, kernel in enumerate(kernels)}
        self._directory = directory
        directory.mkdir(parents=True, exist_ok=True)
        _write_harness(kernels, directory)
        self._execute([compiler(kind), optimise, *SANITIZE, *STRICT, "harness.c", "-o", "harness", "-lm"])

    def _execute(self, command):
        # Leaks are the harness's own affair, and their detection needs rights that containers do not give.
        environment = os.environ | {"ASAN_OPTIONS": "detect_leaks=0", "UBSAN_OPTIONS": "print_stacktrace=1"}
        done = subprocess.run(
            command, cwd=self._directory, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr[:6000]

    def run(self, *cases):
        """Run cases, all in one process, and return an outcome for each."""
        with open(self._directory / "cases.bin", "wb") as file:
            file.write(struct.pack("<q", len(cases)))
            for case in cases:
                file.write(struct.pack("<q", self._places[id(case.kernel)]) + case.written())
        self._execute(["./harness", "cases.bin", "out.bin"])
        with open(self._directory / "out.bin", "rb") as stream:
            return [_read(case, stream) for case in cases]


@pytest.fixture(scope="session")
def build():
    """Call ``build(kernels, directory, kind="gcc", optimise="-O1")`` for a :class:`Program`."""

    def program(kernels, directory, kind="gcc", optimise="-O1"):
        return Program(kernels, directory, kind, optimise)

    return program


@pytest.fixture(scope="session")
def new_case():
    """Call ``new_case(kernel, told=True)`` for a case without arrays yet."""
    return Case


@pytest.fixture(scope="session")
def untold():
    """The facts of a diagnostic that nobody has written."""
    return UNTOLD


@pytest.fixture(scope="session")
def references():
    """Call ``references(kernel, operands)`` for its results by the rows' references, node by node."""

    def results(kernel, operands):
        expression = kernel.compilation.typed.expression
        values = dict(zip(expression.operands, map(as_c_reads, operands), strict=True))
        for node in topological(expression.results):
            match node:
                case Constant(dtype=DType() as dtype):
                    values[node] = dtype.np.type(node.value)
                case Apply():
                    given = (values[x] for x in node.operands)
                    values[node] = np.asarray(node.op.evaluate(*given, *(value for _, value in node.params)))
        return tuple(values[node] for node in expression.results)

    return results


def as_c_reads(values):
    """A kernel takes every byte but 0 in a bool for true; NumPy has no rule for bytes other than 0 and 1."""
    return values.view(np.uint8) != 0 if values.dtype == np.bool_ else values
