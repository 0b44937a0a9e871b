"""Every row of the table of ops in the dialects arith and math: each says what its C says.

A form is a row with the dtypes it computes in. Forms with the same operands make one program, whose operands vary along
axes of their own: every value meets every other one.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
import pytest

import mlir_tools
from bcastgen.core.dtypes import C64, C128, COMPUTED, DType
from bcastgen.core.errors import BcastgenError, DomainError, DTypeError
from bcastgen.expr.build import Builder
from bcastgen.kernel.kernel import Kernel
from bcastgen.mlir.linalg.printer import linalg_text
from bcastgen.ops.rows.conversions import CAST
from bcastgen.ops.table import OPS
from bcastgen.shape.types.tensor_type import Signature, parse_type

# The tests of values lower arith and math; what is printed for complex numbers is verified only.
REAL = [row for row in COMPUTED if not row.is_complex]


@dataclass(frozen=True)
class Form:
    """A row, its static parameters, and the dtypes it computes in and gives."""

    row: str
    params: tuple[tuple[str, DType], ...]
    loops: tuple[DType, ...]
    result: DType

    @property
    def op(self):
        return OPS[self.row]

    def __str__(self):
        return f"{self.row}{[str(value) for _, value in self.params] or ''}({', '.join(map(str, self.loops))})"

    @property
    def demands(self):
        """Whether some values are an error."""
        return self.op.demand_for(self.loops) is not None


def forms_of(op, dtypes=REAL):
    """Every form of a row that operands of some dtypes come to."""
    found = {}
    for kinds in itertools.product(dtypes, repeat=op.arity):
        if op.converts:
            found |= {Form(op.name, (("dtype", target),), kinds, target): None for target in dtypes}
            continue
        try:
            loops, result = op.types(kinds)
        except DTypeError:
            continue
        found[Form(op.name, (), loops, result)] = None
    return tuple(found)


def kernel_of(forms):
    """One kernel that returns the result of each form; operand k has dim k, and 1 in the others."""
    loops = forms[0].loops
    builder = Builder(tuple("abc"[: len(loops)]))
    results = tuple(builder.apply(form.op, tuple(builder.operands), form.params) for form in forms)
    extents = [["?" if at == axis else "1" for at in range(len(loops))] for axis in range(len(loops))]
    types = [parse_type(f"{dtype}[{', '.join(dims)}]") for dtype, dims in zip(loops, extents, strict=True)]
    names = tuple(operand.name for operand in builder.operands)
    signature = Signature(tuple(zip(names, types, strict=True)))
    return Kernel(builder.finish(results), "rows", names, len(results), signature=signature)


# The error of libm, which the dialect math ends in, in ULPs: glibc's manual lists up to 4.
LIBM = 4
# Rows that arith and math have nothing for: they are refused by name (test_printer.py).
UNSPELLED = set(
    """
    frexp_mantissa frexp_exponent ldexp nextafter spacing nan_to_num logaddexp logaddexp2 softplus silu mish
    gelu ndtr log_ndtr ndtri erfinv gammaln i0 logit xlogy xlog1py""".split()
)
EVERY = tuple(form for op in OPS.values() if op.name not in UNSPELLED for form in forms_of(op))
# Forms that take every value, by the dtypes of their operands; each that does not is a group of its own.
GROUPS = {
    loops: [form for form in EVERY if form.loops == loops and not form.demands and not form.result.is_complex]
    for loops in dict.fromkeys(form.loops for form in EVERY)
}
DEMANDING = [form for form in EVERY if form.demands]


def test_each_row_is_spelled_or_known_to_be_refused():
    assert {name for name, op in OPS.items() if op.mlir is None} == UNSPELLED
    assert {name for name, op in OPS.items() if op.mlir and op.mlir.demand} == {n for n, op in OPS.items() if op.demand}


@pytest.mark.slow
@mlir_tools.needs_mlir
def test_forms_of_complex_numbers_verify_or_are_refused():
    texts, refused = [], set()
    for op in (op for op in OPS.values() if op.complex is not None or op is CAST):
        for form in forms_of(op, (C64, C128) if op is not CAST else COMPUTED):
            try:
                texts.append(linalg_text(kernel_of([form]).compilation.program, f"f{len(texts)}"))
            except BcastgenError:
                refused.add(op.name)
    mlir_tools.checked_opt("\n".join(texts))
    assert refused == {op.name for op in OPS.values() if op.complex is not None and op.complex.mlir is None}


@pytest.mark.slow
@mlir_tools.needs_mlir
def test_every_form_verifies():
    kernels = [kernel_of([form]) for form in EVERY]
    assert len(kernels) > 900
    mlir_tools.checked_opt(
        "\n".join(linalg_text(kernel.compilation.program, f"f{at}") for at, kernel in enumerate(kernels))
    )


@pytest.fixture(scope="module")
def native(tmp_path_factory):
    """All groups, compiled together."""
    kernels = {f"g{at}": kernel_of(forms) for at, forms in enumerate(GROUPS.values())}
    kernels |= {f"d{at}": kernel_of([form]) for at, form in enumerate(DEMANDING)}
    text = "\n".join(linalg_text(kernel.compilation.program, name) for name, kernel in kernels.items())
    return mlir_tools.Native.compile(text, tmp_path_factory.mktemp("rows") / "rows")


@pytest.fixture
def vectors(samples):
    """Call ``vectors(loops, count)`` for operands that vary along axes of their own."""

    def vary(loops, count):
        made = []
        for axis, dtype in enumerate(loops):
            values = samples(dtype, count, axis)
            # What a signalling NaN does is the machine's affair.
            if dtype.is_float:
                values = np.where(values != values, np.asarray(np.nan, dtype.np), values)
            if dtype.kind == "bool":
                values = values.view(np.uint8) != 0
            made.append(values.reshape([-1 if at == axis else 1 for at in range(len(loops))]))
        return made

    return vary


@pytest.fixture
def check(native, differences):
    """Call ``check(name, forms, operands)`` to compare a function with the kernel: bit for bit, or in both bounds."""

    def same(name, forms, operands):
        results = kernel_of(forms)(*operands)
        results = results if isinstance(results, tuple) else (results,)
        got = native.call(name, operands, [(form.result.np, len(form.loops)) for form in forms])
        for form, mine, theirs in zip(forms, results, got, strict=True):
            wrong = differences(theirs, mine, form.op.ulp + LIBM if form.op.ulp and form.result.is_float else 0)
            for first in np.argwhere(wrong)[:1]:
                at = tuple(first)
                given = [np.broadcast_to(x, mine.shape)[at] for x in operands]
                pytest.fail(f"{form} of {given} is {theirs[at]!r}, not {mine[at]!r} ({wrong.sum()} of {wrong.size})")

    return same


@pytest.mark.slow
@mlir_tools.needs_native
@pytest.mark.parametrize("loops", GROUPS, ids=lambda loops: ",".join(map(str, loops)))
def test_values_are_those_of_the_kernel(loops, check, vectors):
    check(f"g{list(GROUPS).index(loops)}", GROUPS[loops], vectors(loops, 40 if len(loops) < 3 else 0))


@pytest.mark.slow
@mlir_tools.needs_native
@pytest.mark.parametrize("form", DEMANDING, ids=str)
def test_what_an_element_demands_is_asserted(form, check, vectors, native):
    name = f"d{DEMANDING.index(form)}"
    base, exponent = vectors(form.loops, 40)
    check(name, [form], [base, exponent[exponent >= 0].reshape(1, -1)])
    check(name, [form], [base, exponent[:, :0]])
    (said,) = native.refusals([(name, [base, exponent], [(form.result.np, 2)])])
    with pytest.raises(DomainError) as caught:
        kernel_of([form])(base, exponent)
    assert said == caught.value.sentence
