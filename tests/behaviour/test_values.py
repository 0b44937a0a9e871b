"""Values of every op of the table: each row, over all dtypes it accepts and in all layouts, against its reference.

One kernel returns the results of many rows over the same operands, so that it is one compilation: the tests go by
tuples of operand dtypes, and the message of a failure names the row. Operand k varies along axis k, so that every value
meets every other one, both where an operand is spread out in memory and where it is stretched.

The file is long because arrays, Python scalars and what raises share one notion of a row and its reference.
"""

from __future__ import annotations

import contextlib
import itertools
import random
from dataclasses import dataclass

import numpy as np
import pytest

from bcastgen.api.functions import jit
from bcastgen.api.op_kernels import op_kernel
from bcastgen.core.dtypes import (
    BF16,
    BOOL,
    C128,
    COMPUTED,
    F16,
    F32,
    F64,
    I64,
    WEAK_COMPLEX,
    WEAK_FLOAT,
    WEAK_INT,
    WEAK_UINT,
    DType,
    dtype,
)
from bcastgen.core.errors import DomainError, DTypeError, RangeError
from bcastgen.expr.constants import constant_from
from bcastgen.expr.infer import infer
from bcastgen.expr.trace import converted, trace
from bcastgen.ops.row import Op
from bcastgen.ops.rows.numbers import NUMBERS
from bcastgen.ops.rows.special import SPECIAL
from bcastgen.ops.table import OPS
from compile_flags import QUICK
from expression_programs import EITHER_ZERO
from long_runs import LONG, many, some


@dataclass(frozen=True)
class Application:
    """A row, with its static parameters, applied to operands of some dtypes."""

    op: Op
    params: tuple[DType, ...]
    loops: tuple[DType, ...]
    result: DType

    def __str__(self):
        return f"{self.op.name}{list(map(str, self.params)) or ''}"

    @property
    def demands(self):
        """Whether some values are an error."""
        return self.op.demand_for(self.loops) is not None

    @property
    def ulp(self):
        return self.op.ulp_for(self.result, operands=self.loops) if self.result.is_inexact else 0

    @property
    def is_exact_or_real(self):
        """Whether it is no function of complex numbers: test_complex.py has those, whose bounds are of both parts."""
        return not (self.ulp and any(loop.is_complex for loop in self.loops))

    def trace(self, *operands):
        return converted(operands[0], *self.params, self.op) if self.params else op_kernel(self.op)(*operands)

    def expected(self, operands):
        """The reference's values; a function's come from a wider dtype, since NumPy's own are not exact either."""
        if not self.ulp:
            return np.asarray(self.op.evaluate(*operands, *self.params))
        wide = np.longdouble if self.result is F64 else np.float64
        with np.errstate(all="ignore"):
            operands = [np.asarray(x).astype(self.loops[0].np) for x in operands]
            value = np.asarray(self.op.evaluate(*operands))
            close = np.asarray(self.op.evaluate(*(x.astype(wide) for x in operands))).astype(self.result.np)
        # Special values are NumPy's: glibc's powl(-inf, -2**63) is inf.
        return np.where(np.isfinite(value) & (value != 0), close, value)


def _alike(rows):
    """Rows of two operands whose dtype rule an earlier one has."""
    rules = set()
    for op in rows:
        if op.arity == 2 and op.rule in rules:
            yield op.name
        rules.add(op.rule)


# A mix of dtypes is converted by a row's rule before its C sees it, and no rewrite knows these rows: of each rule one
# row is checked in mixes.
CONVERTED_ALIKE = frozenset(_alike((*NUMBERS, *SPECIAL)))


def applications(kinds):
    """Every row that accepts operands of these types, in all its forms."""
    found = []
    for op in OPS.values():
        if op.arity != len(kinds):
            continue
        if op.params:
            found += [Application(op, (target,), kinds, target) for target in COMPUTED]
            continue
        try:
            made = Application(op, (), *op.types(kinds))
        except DTypeError:
            continue
        if made.is_exact_or_real and not (len(set(kinds)) > 1 and op.name in CONVERTED_ALIKE):
            found.append(made)
    return tuple(found)


def several(values):
    """What a function returns: several values as a tuple, one as it is."""
    made = tuple(values)
    return made if len(made) > 1 else made[0]


def kernel_of(rows, arity):
    """One kernel that returns the result of each row."""
    functions = {
        1: lambda a: several(row.trace(a) for row in rows),
        2: lambda a, b: several(row.trace(a, b) for row in rows),
        3: lambda a, b, c: several(row.trace(a, b, c) for row in rows),
    }
    return jit(functions[arity], name="rows")


def call(kernel, *operands):
    results = kernel(*operands)
    return tuple(map(np.asarray, results if isinstance(results, tuple) else (results,)))


def as_numpy_means(values):
    """A kernel takes every byte but 0 in a bool for true; NumPy has no rule for bytes other than 0 and 1."""
    return values.view(np.uint8) != 0 if values.dtype == np.bool_ else values


def arrangements(vectors, layouts):
    """Operands with these values in every layout, and the part of the table of all combinations that they stand for."""
    axes = range(len(vectors))
    stretched = [v.reshape([-1 if at == axis else 1 for at in axes]) for axis, v in enumerate(vectors)]
    if len(vectors) == 1:
        stretched = [np.stack([vectors[0], vectors[0][::-1]])]
    shape = np.broadcast_shapes(*(x.shape for x in stretched))
    forms = [
        {name: lay(np.broadcast_to(x, shape)) for name, lay in layouts.items()}
        | {"stretched": x, "broadcast_to": np.broadcast_to(x, shape)}
        for x in stretched
    ]
    names = list(forms[0])
    for first, step in itertools.product(range(len(names)), range(len(names) if len(vectors) > 1 else 1)):
        chosen = [names[(first + step * at) % len(names)] for at in range(len(vectors))]
        yield chosen, [form[name] for form, name in zip(forms, chosen, strict=True)], ...
    for axis, vector in enumerate(vectors):
        for at in (0, len(vector) // 2, len(vector) - 1):
            scalar = vector[at : at + 1].reshape(())
            part = (0, at) if len(vectors) == 1 else (*(slice(None) for _ in range(axis)), slice(at, at + 1))
            yield f"0-d operand {axis}", [*stretched[:axis], scalar, *stretched[axis + 1 :]], part


@pytest.fixture
def check(layouts, differences):
    """Call ``check(rows, vectors)`` to compare rows with their references, all values with all, in every layout."""

    def difference(row, got, expected, operands):
        if got.dtype != row.result.np or got.dtype != expected.dtype:
            return f"is {got.dtype}, not {expected.dtype}"
        if got.shape != expected.shape:
            return f"has shape {got.shape}, not {expected.shape}"
        wrong = differences(got, expected, row.ulp, row.op.name in EITHER_ZERO)
        if row.op.ulp_of:
            # Where terms cancel, the unit is that of a larger result.
            unit = np.spacing(row.result.np.type(row.op.ulp_of)).astype(np.float64)
            with np.errstate(all="ignore"):
                wrong &= ~(np.abs(got.astype(np.float64) - expected.astype(np.float64)) <= row.ulp * unit)
        if not wrong.any():
            return None
        at = tuple(np.argwhere(wrong)[0])[: got.ndim]
        values = ", ".join(repr(np.broadcast_to(x, got.shape)[at]) for x in operands)
        return f"({values}) is {got[at]!r}, not {expected[at]!r}; {wrong.sum()} of {wrong.size} differ"

    def check_rows(rows, vectors):
        kernel = kernel_of(rows, len(vectors))
        expected, failures = None, {}
        for layout, operands, part in arrangements(vectors, layouts):
            if expected is None:
                expected = [row.expected(list(map(as_numpy_means, operands))) for row in rows]
            for row, got, wanted in zip(rows, call(kernel, *operands), expected, strict=True):
                message = difference(row, got, np.asarray(wanted[part]), operands)
                if message is not None:
                    failures.setdefault(str(row), f"{row} {message}, in {layout}")
        assert not failures, "\n".join(failures.values())

    return check_rows


@pytest.fixture
def check_all(check, samples):
    """Call ``check_all(dtypes)`` to check every row that accepts operands of these dtypes."""

    def values(rows, kind, seed):
        """The values of each row's domain, of no row twice."""
        count = (12, 4, 0)[rows[0].op.arity - 1]
        drawn = [samples(kind, count, seed, domain) for domain in sorted({row.op.domain for row in rows})]
        return np.concatenate([drawn[0], *(some[-2 * count :] for some in drawn[1:] if count and kind is not BOOL)])

    def check_dtypes(kinds):
        rows = applications(kinds)
        vectors = [values(rows, kind, seed) for seed, kind in enumerate(kinds)]
        calm = [row for row in rows if not row.demands]
        # With more functions of two f64 in one loop gcc takes three times as long.
        most = 12 if len(kinds) == 2 and any(row.ulp and row.loops[0] is F64 for row in calm) else len(calm)
        for at in range(0, len(calm), most):
            check(calm[at : at + most], vectors)
        demanding = [row for row in rows if row.demands]
        if demanding:
            base, exponent = vectors
            check(demanding, (base, exponent[as_numpy_means(exponent) >= 0]))

    return check_dtypes


def named(tuples):
    return [pytest.param(kinds, id="-".join(map(str, kinds))) for kinds in tuples]


def has_complex(kinds):
    return any(kind.is_complex for kind in kinds)


REAL = [kind for kind in COMPUTED if not kind.is_complex]
ALIKE = [(kind,) * arity for arity in (1, 2, 3) for kind in COMPUTED]
MIXED = [[kinds for kinds in itertools.product(COMPUTED, repeat=arity) if len(set(kinds)) > 1] for arity in (2, 3)]
SAMPLE = random.Random(0).sample(MIXED[0], 12) + random.Random(0).sample(MIXED[1], 4)


def test_every_row_is_checked():
    checked = {row.op.name for kinds in ALIKE for row in applications(kinds)}
    assert checked == set(OPS)


@pytest.mark.parametrize("kinds", named(ALIKE + SAMPLE))
def test_values_are_the_references(kinds, check_all):
    check_all(kinds)


OTHER_PAIRS = [kinds for kinds in MIXED[0] if kinds not in SAMPLE and not has_complex(kinds)]


@pytest.mark.slow
@pytest.mark.parametrize("kinds", named(some(OTHER_PAIRS, 30)))
def test_values_for_every_mix_of_two_dtypes(kinds, check_all, monkeypatch):
    # What differs from mix to mix is the C, not what the compiler makes of it; optimised, it compiles for minutes.
    monkeypatch.setenv("BCASTGEN_CFLAGS", QUICK)
    check_all(kinds)


def last_kinds(kinds):
    """The third dtypes beside two: all in a long run; else one, so that any two dtypes meet in any two operands."""
    return REAL if LONG else [REAL[sum(map(REAL.index, kinds)) % len(REAL)]]


def test_any_two_dtypes_meet_in_any_two_of_three_operands():
    mixes = [(*kinds, last) for kinds in itertools.product(REAL, repeat=2) for last in last_kinds(kinds)]
    for pair in itertools.combinations(range(3), 2):
        assert {tuple(mix[at] for at in pair) for mix in mixes} == set(itertools.product(REAL, repeat=2))


@pytest.mark.slow
@pytest.mark.parametrize("first", REAL, ids=str)
def test_values_for_mixes_of_three_dtypes(first, check_all, monkeypatch):
    monkeypatch.setenv("BCASTGEN_CFLAGS", QUICK)
    for second in some(REAL, 3):
        for last in last_kinds((first, second)):
            check_all((first, second, last))


@pytest.mark.slow
def test_dtypes_for_every_mix_of_three_dtypes():
    """The dtype of a result does not follow from those of pairs."""
    for kinds in itertools.product(REAL, repeat=3):
        for row in applications(kinds):
            expected = row.expected([np.ones(1, kind.np) for kind in kinds])
            assert expected.dtype == row.result.np, (row, kinds)


@pytest.mark.slow
@pytest.mark.parametrize("arity", [2, 3])
def test_values_for_mixes_with_complex_dtypes(arity, check_all, monkeypatch):
    # Real operands become complex by one cast each, so that a part of the mixes has all of these.
    monkeypatch.setenv("BCASTGEN_CFLAGS", QUICK)
    for kinds in random.Random(1).sample([kinds for kinds in MIXED[arity - 2] if has_complex(kinds)], many(8, 25)):
        check_all(kinds)


@pytest.mark.parametrize("arity", [1, 2])
@pytest.mark.parametrize("half", [F16, BF16], ids=str)
def test_16_bit_floats_are_those_of_the_ufuncs(half, arity, samples, differences):
    """NumPy's of f16 and ml_dtypes' of bf16, which compute in f32 too; functions may differ in the last place."""
    rows = [row for row in applications((half,) * arity) if isinstance(getattr(np, row.op.name, None), np.ufunc)]
    assert len(rows) > 15
    values = samples(half, 100)
    operands = [values] if arity == 1 else np.meshgrid(values, values)
    for row, got in zip(rows, call(kernel_of(rows, arity), *operands), strict=True):
        with np.errstate(all="ignore"):
            expected = getattr(np, row.op.name)(*operands)
        # The sign of -0.0 is -0.0 to ml_dtypes; of equal zeros NumPy before 2.5 finds the first after the first.
        is_old = np.lib.NumpyVersion(np.__version__) < "2.5.0"
        either = EITHER_ZERO | {"sign"} | ({"nextafter"} if is_old else set())
        wrong = differences(got, expected, row.ulp, row.op.name in either)
        at = np.unravel_index(wrong.argmax(), wrong.shape)
        assert got.dtype == expected.dtype and not wrong.any(), f"{row} of {[x[at] for x in operands]} is {got[at]}"


@pytest.mark.slow
@pytest.mark.parametrize("half", [F16, BF16], ids=str)
def test_every_16_bit_float_in_every_row_of_one_operand(half, differences):
    rows = [row for row in applications((half,)) if row.result is not half or row.op.name != "cast"]
    values = np.arange(1 << 16, dtype=np.uint16).view(half.np)
    for row, got in zip(rows, call(kernel_of(rows, 1), values), strict=True):
        wrong = differences(got, row.expected([values]), row.ulp)
        at = wrong.argmax()
        assert not wrong.any(), f"{row} of {values[at]!r} is {got[at]!r}, not {row.expected([values])[at]!r}"


@pytest.fixture
def check_alone(check, samples):
    """Call ``check_alone(op, kind)``: in a loop of its own a row is compiled in another way than among others."""

    def check_row(op, kind):
        for row in applications((kind,) * op.arity):
            if row.op is op and not row.demands:
                check((row,), [samples(kind, 4, at, op.domain) for at in range(op.arity)])

    return check_row


WITHOUT_PARAMS = [pytest.param(op, id=op.name) for op in OPS.values() if not op.params]


@pytest.mark.parametrize("op", WITHOUT_PARAMS)
def test_values_of_a_kernel_of_its_own(op, check_alone):
    takes_integers = any(row.op is op for row in applications((I64,) * op.arity))
    check_alone(op, I64 if takes_integers else F64)


@pytest.mark.slow
@pytest.mark.parametrize("op", WITHOUT_PARAMS)
def test_values_of_a_kernel_of_its_own_for_every_dtype(op, check_alone):
    # The rest of a kernel is the same for all of these rows, and their values in every dtype are checked beside others.
    kinds = (F16, F32, F64, C128, dtype("i32")) if op in (*NUMBERS, *SPECIAL) else COMPUTED
    # Usually two of them, which differ from op to op.
    first = list(OPS).index(op.name)
    for kind in some((*kinds[first % len(kinds) :], *kinds[: first % len(kinds)]), 2):
        check_alone(op, kind)


@pytest.mark.parametrize("target", [target for target in COMPUTED if target.kind == "signed"], ids=str)
@pytest.mark.parametrize("kind", [F32, F64], ids=str)
def test_a_cast_to_an_integer_forgets_the_sign_of_a_zero(kind, target):
    """As a compiler that takes (float)(int)x for trunc(x) would not; alone in its loop, which is when gcc does."""
    kernel = jit(lambda a: a.astype(target.np).astype(kind.np))
    for value in (-0.3, -0.0, 0.3):
        assert not np.signbit(kernel(np.full(67, value, kind.np))).any(), value


# ---- what raises -----------------------------------------------------------------------------------------------------

SIGNED = [kind for kind in COMPUTED if kind.kind == "signed"]


@pytest.mark.parametrize("kind", SIGNED, ids=str)
def test_a_negative_exponent_raises_and_leaves_out_as_it_was(kind, layouts):
    power = op_kernel(OPS["power"])
    base, exponent = np.full((30, 40), 3, kind.np), np.ones((30, 40), kind.np)
    exponent[-1, -1] = -1
    for lay in layouts.values():
        out = lay(np.full(base.shape, 7, kind.np))
        with pytest.raises(DomainError, match="negative integer powers"):
            power(base, exponent, out=out)
        assert (out == 7).all()


def test_a_negative_exponent_leaves_every_result_as_it_was():
    kernel = jit(lambda a, b, c: (c + 1, a * b, a**b))
    a, outs = np.arange(5), tuple(np.full(5, 7) for _ in range(3))
    with pytest.raises(DomainError):
        kernel(a, a - 4, a, out=outs)
    assert all((out == 7).all() for out in outs)


@pytest.mark.parametrize("operands", [(2, -3), (np.arange(3), -3), (2, np.array([1, -3])), (np.int8(2), np.int8(-3))])
def test_a_negative_exponent_that_comes_as_a_scalar_raises(operands):
    with pytest.raises(DomainError, match="negative integer powers"):
        op_kernel(OPS["power"])(*operands)


# ---- Python scalars (NEP 50) -----------------------------------------------------------------------------------------

SCALARS = (True, 0, 1, 2, 3, -1, -3, 127, 300, 2**31, 2**63, -(2**63), 0.0, -0.0, 1.5, -2.5, 0.1, 1e300, np.inf, np.nan)
ERRORS = {OverflowError: RangeError, TypeError: DTypeError, ValueError: DomainError}


@dataclass(frozen=True)
class BesideScalar:
    """A row over an operand and a Python scalar, in this place."""

    row: Application
    place: int
    scalar: object

    def __str__(self):
        return f"{self.row}({', '.join(map(str, self.arguments('a')))})"

    def arguments(self, operand):
        return [self.scalar if at == self.place else operand for at in range(self.row.op.arity)]

    def trace(self, operand):
        return self.row.trace(*self.arguments(operand))

    @property
    def fits(self):
        """Whether the dtype the scalar meets holds it."""
        met = self.row.loops[self.place]
        return type(self.scalar) is not int or not met.is_integer or met.min <= self.scalar <= met.max

    def expected(self, array):
        """NumPy's values, or the exception that stands for the one it raises."""
        if self.row.op.name == "where" and not self.fits:
            return RangeError  # numpy.where alone wraps it without a word.
        try:
            return self.row.expected(self.arguments(array))
        except tuple(ERRORS) as error:
            return next(ours for theirs, ours in ERRORS.items() if isinstance(error, theirs))


def has_uint(op, kind):
    """Whether NumPy takes Python ints beyond int64 beside this dtype; a kernel does beside bool and in logic, too."""
    return kind is not BOOL and not op.name.startswith("logical")


def beside_scalars(kind):
    """Every row that takes a Python scalar beside an array of this dtype, with each scalar in each place."""
    for op, scalar in itertools.product(OPS.values(), SCALARS):
        if op.arity == 1 or (scalar == 2**63 and not has_uint(op, kind)):
            continue
        # In ldexp of a bf16 ml_dtypes goes by the value of a Python int.
        if op is OPS["ldexp"] and kind is BF16 and scalar in (2**31, 2**63, -(2**63)):
            continue
        for place in range(op.arity):
            kinds = [constant_from(scalar).dtype if at == place else kind for at in range(op.arity)]
            with contextlib.suppress(DTypeError):
                made = Application(op, (), *op.types(tuple(kinds)))
                if made.is_exact_or_real:
                    yield BesideScalar(made, place, scalar)


@pytest.mark.parametrize("kind", COMPUTED, ids=str)
def test_python_scalars_give_numpys_dtype_or_its_error(kind):
    ones = np.ones(3, kind.np)
    for case in beside_scalars(kind):
        wanted = case.expected(ones)
        expression = trace(case.trace, ("a",))
        if isinstance(wanted, type):
            with pytest.raises(wanted):
                infer(expression, (kind,))
                pytest.fail(f"{case} of {kind} raises nothing")
        else:
            assert infer(expression, (kind,)).result_dtypes[0].np == wanted.dtype, (str(case), kind.name)


@pytest.fixture
def check_scalars(samples, differences):
    """Call ``check_scalars(cases, kind)`` to compare values with NumPy's, of those cases for which it has some."""

    def check_cases(cases, kind):
        values = samples(kind, 20)
        expected = {str(case): case.expected(as_numpy_means(values)) for case in cases}
        cases = [case for case in cases if not isinstance(expected[str(case)], type)]
        got = call(jit(lambda a: tuple(case.trace(a) for case in cases), name="beside_scalars"), values)
        for case, value in zip(cases, got, strict=True):
            wrong = differences(value, expected[str(case)], case.row.ulp, case.row.op.name in EITHER_ZERO)
            at = wrong.argmax()
            assert not wrong.any(), f"{case} of {values[at]!r} is {value[at]!r}, not {expected[str(case)][at]!r}"

    return check_cases


@pytest.mark.parametrize("kind", COMPUTED, ids=str)
def test_values_beside_python_scalars(kind, check_scalars, monkeypatch):
    # What differs is the C, not what the compiler makes of it.
    monkeypatch.setenv("BCASTGEN_CFLAGS", QUICK)
    check_scalars(random.Random(kind.name).sample(list(beside_scalars(kind)), 40), kind)


@pytest.mark.slow
@pytest.mark.parametrize("kind", COMPUTED, ids=str)
def test_values_beside_every_python_scalar(kind, check_scalars, monkeypatch):
    monkeypatch.setenv("BCASTGEN_CFLAGS", QUICK)
    cases = list(beside_scalars(kind))
    for at in some(range(0, len(cases), 80), 2):
        check_scalars(cases[at : at + 80], kind)


AT_RUN_TIME = {
    WEAK_INT: (2, -3, 300, 0, 2**40),
    WEAK_UINT: (2**63,),
    WEAK_COMPLEX: (1.5 - 2j, 0j, complex(np.inf, np.nan)),
    WEAK_FLOAT: (1.5, -0.0, 0.1, 1e300, np.inf, np.nan),
}
WEAK_MIXES = [(kind, weak) for kind in COMPUTED for weak in AT_RUN_TIME if (kind, weak) != (BOOL, WEAK_UINT)]
SOME_WEAK = [(kind, weak) for kind, weak in WEAK_MIXES if kind in (dtype("i16"), dtype("u64"), F32)]


@pytest.fixture
def check_at_run_time(samples, differences):
    """Call ``check_at_run_time(kind, weak)`` to pass Python scalars to a kernel, not only to hold them in it."""

    def check_rows(kind, weak):
        def taken(row):
            # In ldexp of a bf16 ml_dtypes goes by the value of a Python int.
            if row.op is OPS["ldexp"] and (kind, weak) == (BF16, WEAK_INT):
                return False
            return not row.demands and (weak is not WEAK_UINT or has_uint(row.op, kind))

        forward, backward = (filter(taken, applications(kinds)) for kinds in ((kind, weak), (weak, kind)))
        ways = [(row, True) for row in forward] + [(row, False) for row in backward]
        # Of more results gcc takes a multiple of the time.
        for at in range(0, len(ways), 10):
            check_some(ways[at : at + 10], samples(kind, 20), AT_RUN_TIME[weak])

    def check_some(ways, values, scalars):
        def in_order(forward, array, scalar):
            return (array, scalar) if forward else (scalar, array)

        kernel = jit(lambda a, b: tuple(row.trace(*in_order(forward, a, b)) for row, forward in ways))
        array = as_numpy_means(values)
        for scalar in scalars:
            try:
                expected = [row.expected(in_order(forward, array, scalar)) for row, forward in ways]
            except OverflowError:
                with pytest.raises(RangeError, match="out of bounds"):
                    kernel(values, scalar)
                continue
            for (row, _), got, wanted in zip(ways, call(kernel, values, scalar), expected, strict=True):
                wrong = differences(got, wanted, row.ulp, row.op.name in EITHER_ZERO)
                assert not wrong.any(), f"{row} of {values[wrong.argmax()]!r} and {scalar!r}"

    return check_rows


@pytest.mark.parametrize("kinds", named(SOME_WEAK))
def test_python_scalars_handed_in(kinds, check_at_run_time, monkeypatch):
    monkeypatch.setenv("BCASTGEN_CFLAGS", QUICK)
    check_at_run_time(*kinds)


@pytest.mark.slow
@pytest.mark.parametrize("kinds", named(some((kinds for kinds in WEAK_MIXES if kinds not in SOME_WEAK), 12)))
def test_python_scalars_handed_in_beside_every_dtype(kinds, check_at_run_time, monkeypatch):
    monkeypatch.setenv("BCASTGEN_CFLAGS", QUICK)
    check_at_run_time(*kinds)


def test_a_python_scalar_and_an_array_may_take_turns(monkeypatch, tmp_path):
    monkeypatch.setenv("BCASTGEN_CACHE_DIR", str(tmp_path / "cache"))
    kernel, row = jit(lambda a, b: a + b), np.arange(3.0)
    assert kernel(row, 2.0).tolist() == [2, 3, 4]
    assert kernel(2.0, row).tolist() == [2, 3, 4]
    assert kernel(row, row).tolist() == [0, 2, 4]
