"""Shape programs compiled as C and called with the values that Python computes with, to compare what both compute.

In: programs.  Out: a :class:`Library` of them; :func:`check` runs one in C and in Python and returns C's status.

    library = Library([made], tmp_path)
    check(library, 0, [Shape.of(2, None), Size(3)])
"""

from __future__ import annotations

import random
import subprocess
from dataclasses import dataclass

import cffi

import compile_flags
import shape_programs
from bcastgen.core.c_flags import CHECKED
from bcastgen.core.errors import BroadcastError, shape_statuses
from bcastgen.emit.c_text.helpers import helper_text
from bcastgen.emit.shape_program.calls import check_values
from bcastgen.emit.shape_program.program import messages, shape_function
from bcastgen.shape.dialect.values import Shape, Size, ValueShape, Witness, show
from compile_flags import LANGUAGES, SHARED, STRICT

STRUCTS = """
typedef struct { int32_t operand, dim, against; int64_t expected, actual; } bcg_diagnostic;
typedef struct { int32_t rank; int64_t extents[64]; } bcg_shape;
typedef struct { void *data; const int64_t *extents, *byte_strides; int32_t rank; } bcg_array;
"""
NAMES = {0: "OK"} | {value: name for value, (name, _) in shape_statuses().items()}
# Each program is called through a function of its own here: helpers that only some of them use are others' too.
COMMON = [*LANGUAGES["c"], *STRICT, "-Wno-unused-function"]
FLAGS = [*COMMON, CHECKED]
QUICK = [*COMMON, compile_flags.QUICK]
PER_UNIT = 250
POINTERS = ("shape", "value_shape", "extents", "tensor")


# ---- a library of programs -------------------------------------------------------------------------------------------


def wrapper(at, made):
    """A function of one signature for every program: operands and results by pointer."""
    given = [
        f"in[{k}]" if value.type.kind in POINTERS else f"*(const {c_of(value)} *)in[{k}]"
        for k, value in enumerate(made.operands)
    ]
    results = [f"out[{k}]" for k in range(len(made.results))]
    call = f"p{at}({', '.join([*given, *results, 'why'])})"
    unused = "".join(f"    (void){name};\n" for name, has in (("in", given), ("out", results)) if not has)
    head = f"int32_t call_{at}(const void *const *in, void *const *out, bcg_diagnostic *why)"
    return f"{head};\n{head}\n{{\n{unused}    return (int32_t){call};\n}}\n"


def c_of(value):
    return "int64_t" if value.type.kind in ("size", "index") else "int32_t"


def unit(numbered):
    """One translation unit for these programs."""
    body = "\n".join(shape_function(made, f"p{at}") + wrapper(at, made) for at, made in numbered)
    states = "".join(f"BCG_{name} = {value}, " for value, name in NAMES.items())
    includes = "".join(f"#include <{name}.h>\n" for name in ("stddef", "stdint", "stdio"))
    return f"{includes}typedef enum {{ {states}BCG_LAST }} bcg_status;\n\n{helper_text(body)}\n\n{body}"


@dataclass(frozen=True)
class Outcome:
    """The outcome of a call: a status, the diagnostic, and lattice values."""

    status: str
    why: object
    results: tuple


class Library:
    """Programs compiled together; calls take and give the values that Python computes with."""

    def __init__(self, programs, directory, flags=FLAGS, compiler="gcc"):
        self.programs = programs
        self.ffi = cffi.FFI()
        self.ffi.cdef(STRUCTS)
        numbered = list(enumerate(programs))
        objects = []
        for start in range(0, len(numbered), PER_UNIT):
            name = directory / f"part{start}.c"
            name.write_text(unit(numbered[start : start + PER_UNIT]))
            objects.append(name)
        command = [compiler, *flags, *SHARED, *objects, "-o", directory / "all.so"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[:4000]
        self.ffi.cdef("".join(f"int32_t call_{at}(void **, void **, bcg_diagnostic *);" for at in range(len(programs))))
        self.c = self.ffi.dlopen(str(directory / "all.so"))

    def call(self, at, operands):
        made = self.programs[at]
        texts = messages(made)
        kept = [self._given(value, operand, texts) for value, operand in zip(made.operands, operands, strict=True)]
        out = [self.ffi.new("bcg_shape *" if v.type.kind in POINTERS else "int64_t *", None) for v in made.results]
        why = self.ffi.new("bcg_diagnostic *", [-77] * 5)
        status = getattr(self.c, f"call_{at}")(
            self.ffi.new("void *[]", [x[-1] for x in kept] or [self.ffi.NULL]),
            self.ffi.new("void *[]", out or [self.ffi.NULL]),
            why,
        )
        results = tuple(self._taken(v, o, texts) for v, o in zip(made.results, out, strict=True)) if status == 0 else ()
        return Outcome(NAMES[status], why, results)

    def _given(self, value, operand, texts):
        """C memory for an operand; the last part is what is passed."""
        match value.type.kind:
            case "tensor":
                extents = self.ffi.new("int64_t[]", list(operand.extents) or [0])
                return extents, self.ffi.new("bcg_array *", {"rank": len(operand.extents), "extents": extents})
            case "shape" | "value_shape" | "extents":
                shape = operand.shape if isinstance(operand, ValueShape) else operand
                made = self.ffi.new("bcg_shape *")
                made.extents[0:64] = [-(2**63)] * 64
                extents = shape if isinstance(shape, tuple) else shape.extents
                made.rank = len(extents)
                made.extents[0 : len(extents)] = [-1 if extent is None else extent for extent in extents]
                if isinstance(shape, Shape) and (shape.unranked or shape.is_invalid):
                    made.rank = -1 if shape.unranked else -2 - texts.index(shape.error)
                return (made,)
        number = encode(operand, texts)
        return (self.ffi.new(f"{c_of(value)} *", number),)

    def _taken(self, value, memory, texts):
        match value.type.kind:
            case "extents":
                return tuple(memory.extents[0 : memory.rank])
            case "shape" | "value_shape" | "tensor":
                if memory.rank < 0:
                    shape = Shape(unranked=True) if memory.rank == -1 else Shape(error=texts[-2 - memory.rank])
                else:
                    shape = Shape(tuple(None if x == -1 else x for x in memory.extents[0 : memory.rank]))
                return ValueShape(None, shape) if value.type.kind == "value_shape" else shape
        number = memory[0] if c_of(value) == "int64_t" else self.ffi.cast("int32_t *", memory)[0]
        return decode(value.type.kind, number, texts)


def encode(value, texts):
    match value:
        case None:
            return -1
        case Size(value=number, error=None) if number is not None:
            return number
        case Size(error=error):
            return -1 if error is None else -2 - texts.index(error)
        case Witness(passing=False, error=error):
            return -2 - texts.index(error)
        case Witness(passing=passing):
            return 1 if passing else 0
    return int(value)


def decode(kind, number, texts):
    match kind:
        case "index":
            return number
        case "i1":
            return {1: True, 0: False}[number]
        case "size":
            return Size(number) if number >= 0 else Size() if number == -1 else Size(error=texts[-2 - number])
        case "witness":
            return Witness(False, texts[-2 - number]) if number < 0 else Witness(True if number else None)
    raise AssertionError(kind)


# ---- agreement -------------------------------------------------------------------------------------------------------


def expressible(made, concrete, promised):
    """Operands that C has a form for: errors of the program's own, numbers and tensors that are known."""
    texts = messages(made)

    def told(value):
        if isinstance(value, ValueShape):
            return ValueShape(None, told(value.shape))
        if getattr(value, "error", None) and value.error not in texts:
            return Witness(False) if isinstance(value, Witness) else type(value)(error="")
        return value

    return [
        told(known if value.type.kind in ("index", "i1", "extents", "tensor") else promise)
        for value, known, promise in zip(made.operands, concrete, promised, strict=True)
    ]


def check(library, at, operands):
    made = library.programs[at]
    got = library.call(at, operands)
    place = f"{made}\n{', '.join(map(show, operands))}\nC: {got.status} {list(map(show, got.results))}"
    try:
        expected = made.run(*operands)
    except BroadcastError as error:
        return check_failure(made, got, str(error), place)
    expected = expected if len(made.results) != 1 else (expected,)
    assert got.status == "OK", f"{place}\nPython: {list(map(show, expected))}"
    assert got.results == expected, f"{place}\nPython: {list(map(show, expected))}"
    return got.status


def check_failure(made, got, error, place):
    place = f"{place}\nPython: {error}"
    operation = tuple(made.body.walk())[got.why.expected]
    if "is not decided" in error:
        assert got.status == "SHAPE_UNDECIDED", place
        return got.status
    assert got.status == ("SHAPE_WITNESS" if operation.name == "shape.assuming" else "SHAPE_INVALID"), place
    assert (got.why.operand, got.why.dim, got.why.against) == (-1, -1, -1), place
    message = messages(made)[got.why.actual]
    told = [text for text in messages(made) if text and (error.startswith(f"{text}: ") or error.endswith(f": {text}"))]
    assert told == [message] * bool(message), place
    return got.status


# ---- random programs -------------------------------------------------------------------------------------------------

TYPES = tuple(text for text in shape_programs.TYPES if text != "!shape.element_type")


def has_form(made):
    """Whether C has a form for a program, which it has not for the values of value_shapes."""
    try:
        check_values(made)
    except BroadcastError:
        return False
    return True


def drawn(count, seed=0):
    """Random programs, each with operands of which some are unknown."""
    chance = random.Random(seed)
    programs = [made for made in (shape_programs.make_program(chance, TYPES) for _ in range(count)) if has_form(made)]
    operands = [shape_programs.make_operands(chance, made) for made in programs]
    # C knows numbers, or nothing.
    unnamed = [(concrete, tuple(map(shape_programs.unnamed, promises))) for concrete, promises in operands]
    return list(zip(programs, unnamed, strict=True))
