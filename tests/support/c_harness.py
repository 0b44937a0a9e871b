"""A C program that runs emitted kernels over cases, as a caller in C would, under sanitizers or between guard pages.

In: emitted kernels; cases: descriptors of arrays and the bytes they point to.  Out: what became of every byte, what the
shape function and the call returned.

    harness = Harness(kernels, directory)           # the files of all of them, and the program's
    program = harness.build("gcc", ("-O1", *ADDRESS), guarded=True)
    (outcome,) = program.run(Case(kernel).array(a).array(b).array(result))

The file is long because what writes a case, what reads it in C and what reads its outcome are one format.
"""

from __future__ import annotations

import ctypes
import functools
import os
import shutil
import struct
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod
from pathlib import Path

import numpy as np
import pytest

from bcastgen.core.c_flags import LIBRARIES
from bcastgen.core.errors import statuses
from bcastgen.emit.standalone import CForm, render_module
from bcastgen.emit.standalone.module import module_view
from bcastgen.kernel.kernel import Kernel
from bcastgen.pipeline.compilation import Compilation
from compile_flags import LANGUAGES, STRICT

COMPILERS = {
    "gcc": {"c": ("gcc",), "c++": ("g++",)},
    "clang": {"c": ("clang-19", "clang"), "c++": ("clang++-19", "clang++")},
}
# The sanitizers of each compiler; clang also has one for uninitialised memory.
ADDRESS = "-fsanitize=address,undefined,float-cast-overflow -fno-sanitize-recover=all".split()
MEMORY = "-fsanitize=memory -fno-sanitize-recover=all".split()
# The same checks in less code, which takes gcc half the time to compile: what is undefined traps without a word, and
# gcc calls functions for checks of addresses. A program that fails is built again to say where and why.
TERSE = {
    "gcc": "-fsanitize-undefined-trap-on-error --param asan-instrumentation-with-call-threshold=0".split(),
    "clang": ["-fsanitize-trap=undefined,float-cast-overflow"],
}
SAYING = ["-g1"]
NUMBERS = {name: value for value, (name, _) in statuses().items()}
# As harness.c has them.
RANKS, MESSAGE = 65, 256
UNTOLD = (-77,) * 5
USUAL = CForm()


def compiler(kind: str, language: str = "c") -> str:
    """The program of a compiler; without one the test fails."""
    names = COMPILERS[kind][language]
    found = next((name for name in names if shutil.which(name)), None)
    if found is None:
        pytest.fail(f"no {' or '.join(names)} on the PATH; install it (the slow tests need clang too)")
    return found


@dataclass(frozen=True)
class Emitted:
    """A kernel as standalone C, and what a caller has to know of it.

    `name` is the module's: files and functions begin with it. `shapes` are the results' ranks, None for any;
    `in_place` says which result (by number) may be which operand itself, as the header does. `slots` of its last
    operands are computed by it: no caller passes them. `extents` are the operands that are numbers; a case describes
    each by an array of that extent.
    """

    name: str
    function: str
    files: dict[str, str]
    compilation: Compilation
    shapes: tuple[int | None, ...]
    shape_function: str = ""
    message_function: str = ""
    in_place: frozenset[tuple[int, int]] = frozenset()
    static: bool = False
    slots: int = 0
    workspace: str = ""
    kept: tuple[tuple[str, int], ...] = ()
    extents: frozenset[int] = frozenset()

    @property
    def text(self):
        return self.files.get(f"{self.name}.c", self.files[f"{self.name}.h"])

    @property
    def operands(self):
        dtypes = self.compilation.typed.operand_dtypes
        return dtypes[: len(dtypes) - self.compilation.constants - self.slots]

    @property
    def results(self):
        return self.compilation.typed.result_dtypes


def result_ranks(compilation: Compilation) -> tuple[int | None, ...]:
    """The rank of each result, None where it is not known."""
    reduced = len(compilation.program.reduced)
    ranks = {
        access.number - reduced: None if nest.domain.open else len(nest.domain.dims)
        for nest in compilation.program.nests
        for access in nest.results
        if not nest.reduced
    }
    return tuple(ranks[at] for at in range(len(ranks)))


def emit_module(kernels: Sequence[Kernel], name: str, form: CForm = USUAL) -> list[Emitted]:
    """The kernels as one module, each with its names there."""
    parts = [kernel.standalone_part(kernel.__name__, form) for kernel in kernels]
    files = dict(render_module(name, parts, form).files)
    made = []
    module = module_view(name, parts, form)
    for kernel, view, reduced in zip(kernels, module.kernels, module.reduced, strict=True):
        in_place = {
            (at, view.operands.index(operand)) for at, (_, operands) in enumerate(view.in_place) for operand in operands
        }
        compilation = kernel.declared_compilation
        ranks, others = result_ranks(compilation), (f"{view.name}_shape", f"{view.name}_message")
        made.append(
            Emitted(
                view.module,
                view.function,
                files,
                compilation,
                ranks,
                *others,
                frozenset(in_place),
                form.static,
                len(view.given) - len(view.passed),
                f"{view.name}_workspace" if view.workspace else "",
                tuple((one.c, prod(one.static_extents)) for one in reduced.kept) if form.static and reduced else (),
                frozenset(view.extents) if not form.is_plain else frozenset(),
            )
        )
    return made


@dataclass
class Case:
    """One call of a kernel: descriptors of its operands, then of its results, and the memory they point to."""

    kernel: Emitted
    told: bool = True
    buffers: list[tuple[np.ndarray, int, bool]] = field(default_factory=list)
    arrays: list[tuple] = field(default_factory=list)

    def hold(self, contents, odd=0, unwritten=False):
        """Allocate memory of exactly this size, so many bytes out of alignment; returns its number."""
        contents = bytes(contents)
        # Memory begins or ends at a page. Other elements divide a size there; where some have 16 bytes, it is rounded.
        if any(dtype.bytes == 16 for dtype in (*self.kernel.operands, *self.kernel.results)):
            contents += bytes(-len(contents) % 16)
        self.buffers.append((np.frombuffer(contents, np.uint8), odd, unwritten))
        return len(self.buffers) - 1

    def view(self, buffer, extents, strides, offset=0, *, rank=None, no_extents=False, no_strides=False):
        """Describe an array in a buffer (None: null data)."""
        rank = len(extents) if rank is None else rank
        self.arrays.append((buffer, offset, rank, no_extents, no_strides, tuple(extents), tuple(strides)))
        return self

    def array(self, values, odd=0, **options):
        """Describe an ndarray, whatever its strides, in memory of its own that it fills from end to end."""
        unwritten = len(self.arrays) >= len(self.kernel.operands)
        if not values.size:
            return self.view(self.hold(b""), values.shape, values.strides, **options)
        low, high = np.lib.array_utils.byte_bounds(values)
        memory = (ctypes.c_ubyte * (high - low)).from_address(low)
        buffer = self.hold(memory, odd, unwritten)
        return self.view(buffer, values.shape, values.strides, values.ctypes.data - low, **options)

    def written(self):
        dtypes = (*self.kernel.operands, *self.kernel.results)
        counts = self.told, len(self.kernel.results), len(self.arrays), len(self.buffers)
        parts = [struct.pack("<4q", *counts)]
        for contents, odd, unwritten in self.buffers:
            parts += [struct.pack("<3q", contents.size, odd, unwritten), contents.tobytes()]
        for dtype, (buffer, offset, rank, no_extents, no_strides, extents, strides) in zip(
            dtypes, self.arrays, strict=True
        ):
            numbers = [
                -1 if buffer is None else buffer,
                offset,
                dtype.bytes,
                rank,
                no_extents,
                no_strides,
                len(extents),
            ]
            parts.append(struct.pack(f"<{7 + 2 * len(extents)}q", *numbers, *extents, *strides))
        return b"".join(parts)


@dataclass(frozen=True)
class Diagnosed:
    """A status by name, and the diagnostic; -77 where nothing was written."""

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


@dataclass(frozen=True)
class Outcome:
    """The outcome of a case."""

    case: Case
    shape: Diagnosed
    extents: tuple[tuple[int, ...] | None, ...]
    call: Diagnosed
    message: str
    buffers: tuple[np.ndarray, ...]

    def values(self, place, dtype):
        """The array at a place of the case, as it is now."""
        buffer, offset, _, _, _, extents, strides = self.case.arrays[place]
        if buffer is None:
            return np.empty(extents, dtype)
        return np.ndarray(extents, dtype, self.buffers[buffer].copy(), offset, strides)

    @property
    def untouched(self):
        """Return whether no byte has changed anywhere."""
        return all(np.array_equal(now, was) for now, (was, *_) in zip(self.buffers, self.case.buffers, strict=True))


def _static_wrapper(at, kernel):
    """C that hands the data of dense arrays to a kernel that knows their extents."""
    reduced = len(kernel.compilation.program.reduced)
    types = {
        access.number - reduced: access.type
        for nest in kernel.compilation.program.nests
        for access in nest.results
        if not nest.reduced
    }
    said = [
        f"got->extents[{k}][{dim}] = {extent};"
        for k in range(len(types))
        for dim, extent in enumerate((len(types[k].dims), *(own.extent for own in types[k].dims)))
    ]
    # In C a `void *` needs no cast; an operand that nothing reads is one for the kernel, too.
    given = [f"given[{k}].data" for k in range(len(kernel.operands) + len(kernel.results))]
    # Own struct types have the module's prefix.
    kept = "".join(
        f"static {c.replace('bcg_', f'{kernel.name}_')} kept_{at}_{k}[{count or 1}];\n"
        for k, (c, count) in enumerate(kernel.kept)
    )
    data = ", ".join((*given, *(f"kept_{at}_{k}" for k in range(len(kernel.kept)))))
    returns = f"{kernel.name}_status {kernel.function}(" in kernel.files[f"{kernel.name}.h"]
    return f"""
{kept}static void run_{at}(const harness_array *given, int told, harness_answer *got)
{{
    (void)told;
    {" ".join(said)}
    {"got->call.status = (int64_t)" * returns}{kernel.function}({data});
}}
"""


def _passed(kernel):
    """The C of a call's operands."""
    return [f"a[{k}].extents[0]" if k in kernel.extents else f"&a[{k}]" for k in range(len(kernel.operands))]


def _workspace(kernel):
    """C that makes the memory that a kernel needs, and C that frees it."""
    if not kernel.workspace:
        return "", ""
    given = ", ".join(_passed(kernel))
    made = f"""size_t bytes = 0;
    const bcastgen_status sized = {kernel.workspace}({given}, &bytes, NULL);
    if (sized != fits) abort();
    void *const workspace = bytes > 0 ? malloc(bytes) : NULL;
    for (size_t at = 0; at < bytes; at++) ((unsigned char *)workspace)[at] = 0xa5;"""
    return made, "free(workspace);"


# Fills in the descriptors of a call.
DESCRIBE = """
static inline void describe(const harness_array *given, int operands, bcastgen_array *a, int results,
                            bcastgen_result *made)
{
    for (int k = 0; k < operands; k++) {
        const bcastgen_array one = {given[k].data, given[k].extents, given[k].byte_strides, given[k].rank};
        a[k] = one;
    }
    for (int k = 0; k < results; k++) {
        const harness_array *const own = &given[operands + k];
        const bcastgen_result one = {own->data, own->extents, own->byte_strides, own->rank};
        made[k] = one;
    }
}
"""


def wrapper(at, kernel):
    """C that hands the harness's arrays to a kernel."""
    if kernel.static:
        return _static_wrapper(at, kernel)
    name, operands, results = kernel.name, len(kernel.operands), len(kernel.results)
    shape_arguments, after = _passed(kernel), []
    for k, rank in enumerate(kernel.shapes):
        if rank is None:
            shape_arguments.append(f"&ranks[{k}]")
            after.append(f"got->extents[{k}][0] = ranks[{k}];")
        else:
            after.append(f"got->extents[{k}][0] = {rank};")
        shape_arguments += [f"got->extents[{k}] + 1"] if rank != 0 else []
    arrays = ", ".join((*_passed(kernel), *(f"&made[{k}]" for k in range(results))))
    copy = "{(int64_t)%s, why.operand, why.dim, why.against, why.expected, why.actual}"
    shape_function = kernel.shape_function or f"{name}_shape"
    message_function = kernel.message_function or f"{name}_message"
    room, after_call = _workspace(kernel)
    arrays += ", workspace" if room else ""
    # Without a diagnostic, and of no size, the length is told all the same.
    message = f"""const bcastgen_diagnostic *const where = told ? &why : NULL;
    const size_t length = {message_function}(done, where, got->message, sizeof got->message);
    if (length == 0 || length != {message_function}(done, where, NULL, 0)) abort();"""
    return f"""
static void run_{at}(const harness_array *given, int told, harness_answer *got)
{{
    bcastgen_array a[{operands or 1}];
    bcastgen_result made[{results}];
    bcastgen_diagnostic why = {{-77, -77, -77, -77, -77}};
    int32_t ranks[{results}];
    for (int k = 0; k < {results}; k++) {{
        ranks[k] = -77;
        for (int dim = 1; dim < RANKS; dim++) got->extents[k][dim] = -77;
    }}
    describe(given, {operands}, a, {results}, made);
    const bcastgen_status fits = {shape_function}({", ".join(shape_arguments)}, told ? &why : NULL);
    for (int k = 0; fits != 0 && k < {results}; k++) {{
        /* What fails leaves what it would have filled in as it was. */
        if (ranks[k] != -77) abort();
        for (int dim = 1; dim < RANKS; dim++) {{
            if (got->extents[k][dim] != -77) abort();
        }}
    }}
    got->shape = (harness_outcome){copy % "fits"};
    {" ".join(after)}
    why = (bcastgen_diagnostic){{-77, -77, -77, -77, -77}};
    {room}
    const bcastgen_status done = {kernel.function}({arrays}, told ? &why : NULL);
    {after_call}
    got->call = (harness_outcome){copy % "done"};
    {message if f"{message_function}(" in kernel.text else ""}
}}
"""


def _read(case, stream):
    count = len(case.kernel.results)
    shape = Diagnosed.read(np.frombuffer(stream.read(48), np.int64))
    said = np.frombuffer(stream.read(count * RANKS * 8), np.int64).reshape(count, RANKS)
    call = Diagnosed.read(np.frombuffer(stream.read(48), np.int64))
    message = stream.read(MESSAGE).split(b"\0", 1)[0].decode()
    buffers = tuple(np.frombuffer(stream.read(contents.size), np.uint8) for contents, *_ in case.buffers)
    extents = tuple(tuple(map(int, row[1 : 1 + row[0]])) for row in said)
    return Outcome(case, shape, extents, call, message, buffers)


class Harness:
    """The files of kernels and of a program that runs them; built in any number of ways."""

    def __init__(self, kernels, directory, wrapped=wrapper):
        self.directory = Path(directory)
        self._places = {id(kernel): at for at, kernel in enumerate(kernels)}
        self.directory.mkdir(parents=True, exist_ok=True)
        files = {name: text for kernel in kernels for name, text in kernel.files.items()}
        for name, text in files.items():
            (self.directory / name).write_text(text)
        shutil.copy(Path(__file__).parent / "harness.c", self.directory)
        most = max(len(kernel.operands) + len(kernel.results) for kernel in kernels)
        # Of a module that is one header, that.
        own = dict.fromkeys(f"{kernel.name}.{'c' if f'{kernel.name}.c' in files else 'h'}" for kernel in kernels)
        includes = "".join(f'#include "{name}"\n' for name in own)
        describe = DESCRIBE if any("bcastgen_result" in text for text in files.values()) else ""
        wrappers = describe + "".join(wrapped(at, kernel) for at, kernel in enumerate(kernels))
        table = ", ".join(f"run_{at}" for at in range(len(kernels)))
        (self.directory / "cases.inc").write_text(
            f"#define MOST_ARRAYS {most}\n{includes}{wrappers}\n"
            f"static void (*const kernels[])(const harness_array *, int, harness_answer *) = {{{table}}};\n"
            "static void run_kernel(int64_t kernel, const harness_array *given, int told, harness_answer *got)\n"
            "{\n    kernels[kernel](given, told, got);\n}\n"
        )

    def build(self, kind, flags, guarded=False):
        """Compile with every warning an error, and return the :class:`Program`."""
        sanitized = "address" in " ".join(flags)
        binary = self.compile(kind, (*flags, *(TERSE[kind] if sanitized else ())), guarded)
        return Program(self, binary, guarded, (kind, (*flags, *SAYING)) if "-fsanitize" in " ".join(flags) else None)

    def compile(self, kind, flags, guarded):
        """Compile with every warning an error, and return the program's name."""
        binary = "_".join(["harness", kind, *(flag.strip("-").replace("=", "_") for flag in flags if flag[1] in "Omg")])
        command = [compiler(kind), *LANGUAGES["c"], *flags, *STRICT, *["-DGUARDED"] * guarded]
        execute([*command, "harness.c", "-o", binary, *LIBRARIES], self.directory)
        return binary

    def write(self, cases):
        """Write what a program reads."""
        with open(self.directory / "cases.bin", "wb") as file:
            file.write(struct.pack("<q", len(cases)))
            for case in cases:
                file.write(struct.pack("<q", self._places[id(case.kernel)]) + case.written())


def execute(command, directory):
    """Run a command, which has to succeed."""
    # Leaks are the harness's own affair, and their detection needs rights that containers do not give.
    environment = os.environ | {"ASAN_OPTIONS": "detect_leaks=0", "UBSAN_OPTIONS": "print_stacktrace=1"}
    done = subprocess.run(command, cwd=directory, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(map(str, command))}\n{(done.stderr or done.stdout)[:6000]}"


@dataclass(frozen=True)
class Program:
    """A harness, built; `saying` is how to build it to say more of what it finds, if it can."""

    harness: Harness
    binary: str
    guarded: bool
    saying: tuple[str, tuple[str, ...]] | None = None

    def run(self, *cases):
        """Run cases, all in one process, and return an outcome for each; guarded, memory at either page is the same."""
        directory = self.harness.directory
        self.harness.write(cases)
        outs = ["right.bin", "left.bin"] if self.guarded else ["out.bin"]
        try:
            execute([f"./{self.binary}", "cases.bin", *outs], directory)
        except AssertionError:
            if self.saying is not None:
                execute([f"./{self.harness.compile(*self.saying, self.guarded)}", "cases.bin", *outs], directory)
            raise
        assert len({(directory / out).read_bytes() for out in outs}) == 1, "results depend on where memory lies"
        with open(directory / outs[0], "rb") as stream:
            return [_read(case, stream) for case in cases]


def said_by_main(directory: Path, kind: str, language: str, *sources: str) -> str:
    """Compile main.c and these sources of a directory, strictly and with checks of memory; return what they print."""
    command = [compiler(kind, language), *LANGUAGES[language], *STRICT, *ADDRESS, "main.c", *sources, "-o", "main"]
    done = subprocess.run([*command, *LIBRARIES], cwd=directory, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return subprocess.run([directory / "main"], capture_output=True, text=True, check=True).stdout


@functools.cache
def has_32_bits():
    """Whether gcc has a C library of 32 bits."""
    done = subprocess.run(
        ["gcc", "-m32", "-x", "c", "-", "-o", os.devnull, *LIBRARIES],
        input="#include <math.h>\nint main(int n, char **v) { (void)v; return (int)floor(n); }",
        check=False,
        capture_output=True,
        text=True,
    )
    return done.returncode == 0
