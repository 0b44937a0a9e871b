"""NaN stays NaN: the C of every row of the table, in each of its forms, over every way that NaN comes about.

What compilers know of a value's sign they know of numbers: x86's 0/0 has the sign bit, and gcc drops the fabs of what
cannot be negative. So no row may take something from the sign of a NaN, whatever the value before it was made of.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import itertools
import shutil
import subprocess
from dataclasses import dataclass

import numpy as np
import pytest

from bcastgen.api.functions import jit
from bcastgen.core.c_flags import LIBRARIES
from bcastgen.core.dtypes import F32, F64, DType
from bcastgen.core.errors import DTypeError
from bcastgen.core.resources import folder
from bcastgen.ops.c_forms import RangeTest
from bcastgen.ops.row import Op
from bcastgen.ops.table import OPS
from bcastgen.runtime.toolchain import toolchain
from csrc_includes import CSRC_FLAGS

# NaN from numbers, as C of a and b, or of the integers u and v; {f} is f for float, {T} the type.
SOURCES = {
    "quotient of squares": "a * a / (b * b)",
    "difference": "a - b",
    "product of sizes": "fabs{f}(a) * fabs{f}(b)",
    "root": "sqrt{f}(a)",
    "quotient of integers": "{T}(u) / {T}(v)",
    # gcc knows that these are not negative either; of the first a NaN comes with its sign and payload.
    "square": "a * a",
    "quotient of sizes": "fabs{f}(a) / fabs{f}(b)",
    "product of roots": "sqrt{f}(fabs{f}(a)) * sqrt{f}(b * b)",
    "quotient of exponentials": "exp{f}(a) / exp{f}(b)",
    "size of a difference": "fabs{f}(a - b)",
}
# Each is held against a third of the rows, another one each time.
IN_PARTS = tuple(SOURCES)[5:]
# What an operation may meet as its other operand.
NUMBERS = [0.0, -0.0, 1.0, -1.0, 2.5, 0.5, np.inf, -np.inf]
# NaN of either sign, quiet, the second with a payload.
NANS = {
    F32: np.array([0x7FC00000, 0xFFC12345], np.uint32),
    F64: np.array([0x7FF8 << 48, 0xFFF8000123450000], np.uint64),
}


@dataclass(frozen=True)
class Loop:
    """A row's C template over one dtype, with the NaN at one place; elements that a look finds rare are not for it."""

    op: Op
    place: int
    kind: DType
    template: str
    looks: tuple[RangeTest, ...] = ()
    fast: bool = False
    constant: float | None = None

    def __str__(self):
        return f"{self.op.name}, operand {self.place}: {self.template}"

    def c(self):
        """The C of its value, and of whether the element is for it where some are not."""
        others = "c[i]" if self.constant is None else f"({self.kind.c}){self.constant!r}"
        names = ["x" if place == self.place else others for place in range(self.op.arity)]
        looks = (f"(({look.c})({look.number})) <= {look.most}" for look in self.looks)
        texts = [self.template, *[" && ".join(looks)][: len(self.looks)]]
        for place, name in enumerate(names):
            texts = [text.replace(f"{{{place}}}", name) for text in texts]
        return texts

    def expected(self, x, c):
        others = c if self.constant is None else np.full_like(c, self.constant)
        return np.asarray(self.op.evaluate(*(x if place == self.place else others for place in range(self.op.arity))))


@functools.cache
def loops():
    """Every form of every row for floats, but for the one that asks for a sign."""
    found = []
    for op, kind in itertools.product(OPS.values(), (F32, F64)):
        operands = (kind,) * op.arity
        if op.params or op.name == "signbit":
            continue
        with contextlib.suppress(DTypeError):
            taken, result = op.types(operands)
            # Of others the value is a bool before the row sees it.
            found += _forms(op, operands, result) if taken == operands and not result.is_complex else ()
    return tuple(found)


def _forms(op, operands, result):
    places, kind = range(op.arity), operands[0]
    for fast in (False, True)[: 1 + (op.forms.fast is not None)]:
        yield from (Loop(op, place, kind, op.c_for(operands, result, fast), (), fast) for place in places)
        if rare := op.range_tests_for(operands, result, fast):
            near = op.c_for(operands, result, fast, common_case=True)
            yield from (Loop(op, place, kind, near, rare, fast) for place in places)
    for constant in op.forms.by_constant or ():
        number = 2.5 if constant is None else constant
        template = op.c_for(operands, result, constant=number)
        yield from (Loop(op, place, kind, template, (), False, number) for place in places[:-1])


def library(source, chosen, directory, *more):
    """The loops compiled, with the flags of kernels and more."""
    kept = sorted(path.name for path in (folder("csrc") / "vmath").glob("bcg_vmath*.h"))
    lines = [f'#include "{header}"' for header in (*kept, "bcg_number.h", "bcg_scalar.h")]
    for at, loop in enumerate(chosen):
        t = loop.kind.c
        x = SOURCES[source].format(T=f"({t})", f="f" if loop.kind is F32 else "")
        for name, c in zip(("value", "usual"), loop.c(), strict=False):
            lines.append(
                f"void {name}{at}(const {t} *as, const {t} *bs, const {t} *c, const uint16_t *us, const uint16_t *vs, "
                f"{t} *restrict r, int n)\n{{\n    for (int i = 0; i < n; i++) {{ const {t} a = as[i], b = bs[i]; "
                f"const uint16_t u = us[i], v = vs[i]; const {t} x = {x}; r[i] = ({t})({c}); }}\n}}"
            )
    text, made = directory / "nans.c", directory / "nans.so"
    text.write_text("\n".join(lines) + "\n", encoding="utf-8")
    tools = toolchain()
    flags = [
        *tools.flags,
        *more,
        "-w",
        "-fvisibility=default",
        "-Dinline=inline __attribute__((always_inline))",
        *CSRC_FLAGS,
    ]
    done = subprocess.run(
        [*tools.command, *flags, "-o", made, text, *LIBRARIES, "-lgcc"], check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[:3000]
    return ctypes.CDLL(str(made))


def operands(kind):
    """Columns a, b, c, u, v: all combinations."""
    numbers = np.append(np.array(NUMBERS, kind.np), NANS[kind].view(kind.np))
    a, b, c = (x.ravel() for x in np.meshgrid(numbers, numbers, numbers, indexing="ij"))
    with np.errstate(all="ignore"):
        u, v = (np.where(np.isfinite(x), np.abs(2 * x), 0).astype(np.uint16) for x in (a, b))
    return a, b, c, u, v


def values_of(source, kind):
    """What NumPy makes of a source."""
    a, b, _, u, v = operands(kind)
    names = {
        "a": a,
        "b": b,
        "u": u.astype(kind.np),
        "v": v.astype(kind.np),
        "fabs": np.abs,
        "sqrt": np.sqrt,
        "exp": np.exp,
        "number": kind.np.type,
    }
    with np.errstate(all="ignore"):
        return eval(SOURCES[source].format(T="number", f=""), names)


@pytest.fixture
def check(tmp_path):
    """Call ``check(source, loops, *flags)`` to see that they are NaN where their rows' references are."""

    def check(source, chosen, *flags):
        made, wrong = library(source, chosen, tmp_path, *flags), []
        for at, loop in enumerate(chosen):
            columns = operands(loop.kind)
            x, count = values_of(source, loop.kind), columns[0].size
            got, usual = np.empty_like(x), np.ones_like(x)
            for name, to in (("value", got), ("usual", usual))[: 1 + bool(loop.looks)]:
                pointers = [ctypes.c_void_p(array.ctypes.data) for array in (*columns, to)]
                getattr(made, f"{name}{at}")(*pointers, count)
            expected = loop.expected(x, columns[2])
            same = got == expected if expected.dtype == bool else np.isnan(got) == np.isnan(expected)
            if not (same | (usual == 0)).all():
                first = int(np.argmin(same | (usual == 0)))
                at = ", ".join(f"{name}={column[first]}" for name, column in zip("abcuv", columns, strict=True))
                wrong.append(f"{loop}: {at} is {got[first]}, expected {expected[first]}")
        assert np.isnan(x).any()
        assert not wrong, "\n".join(wrong)

    return check


@pytest.mark.parametrize("kind", [F32, F64], ids=str)
def test_functions_of_what_is_not_negative_but_nan(kind, check):
    full = [loop for loop in loops() if loop.kind is kind and loop.op.ulp and not loop.looks and not loop.fast]
    check("quotient of squares", full)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("compiler", "source"),
    [
        *(("gcc", source) for source in SOURCES),
        *(("clang-19", x) for x in ("quotient of squares", "difference", *IN_PARTS)),
    ],
)
def test_every_form_of_every_row(compiler, source, check, monkeypatch):
    if shutil.which(compiler) is None:
        pytest.skip(f"no {compiler}")
    monkeypatch.setenv("BCASTGEN_CC", compiler)
    first = IN_PARTS.index(source) + (compiler != "gcc") if source in IN_PARTS else 0
    chosen = loops()[first % 3 :: 3] if source in IN_PARTS else loops()
    # Most of the time is the vectoriser's, which changes no sign.
    check(source, chosen, "-O1", "-fno-tree-vectorize")


def test_nan_through_a_kernel():
    zeros, small, others = np.zeros(3), np.zeros(3, np.uint16), np.array([0.0, 1.0, -1.0])
    with np.errstate(all="ignore"):
        assert np.isnan(jit(lambda a, b, c: np.arctan2(a * a / (b * b), c))(zeros, zeros, others)).all()
        assert np.isnan(jit(lambda a, b: np.arctan2(b, np.absolute(a) * np.inf))(zeros, others)).all()
        assert np.isnan(jit(lambda a, b: np.arctan2(a / a, b))(small, small)).all()
