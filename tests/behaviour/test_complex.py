"""Complex numbers: arithmetic of special values, functions and their cuts, accuracy, layouts, dtypes, refusals.

Arithmetic is NumPy's formula in NumPy's order, bit for bit, without contraction. NumPy's own loops of products contract
where the machine multiplies and adds with one rounding, for some strides only, so products are held to the formula.
"""

from __future__ import annotations

import itertools
import warnings
from fractions import Fraction

import mpmath
import numpy as np
import pytest

import bcastgen as bg
from bcastgen.api.op_kernels import op_kernel
from bcastgen.core.dtypes import C64, C128, COMPUTED
from bcastgen.core.errors import DTypeError
from bcastgen.core.resources import bench_module
from bcastgen.ops.table import OPS
from bcastgen.shape.types.tensor_type import parse_type
from long_runs import many

truth = bench_module("complex_truth")
KINDS = pytest.mark.parametrize("kind", [C64, C128], ids=str)
ROWS = [op for op in OPS.values() if op.complex is not None]
EXACT = [op for op in ROWS if op.complex.ulp == 0]
FUNCTIONS = [OPS[name] for name in truth.COMPLEX_FUNCTIONS]
PARTS = (0.0, -0.0, 1.0, -1.0, 2.5, -3.0, np.inf, -np.inf, np.nan, 1e-40, 1e30, -1e200, 1e-310)
inf, nan = np.inf, np.nan


def specials(kind, parts=PARTS):
    with np.errstate(over="ignore"):
        return np.array([complex(re, im) for re in parts for im in parts]).astype(kind.np)


def same(got, wanted):
    """Whether values are equal, with the sign of zeros, and NaN where the others are."""

    def alike(x, y):
        return ((x == y) & (np.signbit(x) == np.signbit(y))) | (np.isnan(x) & np.isnan(y))

    if got.dtype.kind == "c":
        return alike(got.real, wanted.real) & alike(got.imag, wanted.imag)
    return alike(got, wanted) if got.dtype.kind == "f" else got == wanted


@pytest.fixture(scope="module")
def functions():
    """All functions of one operand as one kernel, by dtype of the operand compiled once."""
    return bg.jit(lambda z: tuple(op_kernel(op)(z) for op in FUNCTIONS), name="functions")


# ---- arithmetic ------------------------------------------------------------------------------------------------------


@KINDS
@pytest.mark.parametrize("op", EXACT, ids=lambda op: op.name)
def test_all_specials_meet_all_specials(op, kind):
    z = specials(kind)
    operands = {1: (z,), 2: (z[:, None], z), 3: (z[:, None, None], z[:, None], z[::5])}[op.arity]
    if op.selects:
        operands = (operands[0].real > 0, *operands[1:])
    if op.params:
        targets = [target for target in COMPUTED if target.name != "bf16"]
        got = bg.jit(lambda z: tuple(z.astype(target.np) for target in targets))(z)
        expected = [op.evaluate(z, target) for target in targets]
    else:
        got, expected = [op_kernel(op)(*operands)], [np.asarray(op.evaluate(*operands))]
    for one, wanted in zip(got, expected, strict=True):
        assert one.dtype == wanted.dtype
        wrong = ~same(one, wanted)
        assert not wrong.any(), [np.broadcast_to(x, one.shape)[wrong][0] for x in operands]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@KINDS
def test_formulas_are_numpys_where_it_does_not_contract(kind):
    z = specials(kind)
    for name in ("add", "subtract", "divide", "reciprocal", "conjugate", "less", "maximum", "fmin", "isinf", "rint"):
        operands = (z,) if OPS[name].arity == 1 else (z[:, None], z)
        assert same(getattr(bg, name)(*operands), getattr(np, name)(*operands)).all(), name
    # Over one element NumPy multiplies as it is written.
    few = [(x, y) for x, y in itertools.product(z[::7], z[::5])]
    wanted = np.array([x * y for x, y in few])
    assert same(bg.multiply(*map(np.array, zip(*few, strict=True))), wanted).all()


@KINDS
def test_nothing_contracts(kind):
    random = np.random.default_rng(1)
    x, y, s = ((random.normal(size=4001) + 1j * random.normal(size=4001)).astype(kind.np) for _ in range(3))
    product, quotient = OPS["multiply"].complex.reference, OPS["divide"].complex.reference
    assert (bg.multiply(x, y) == product(x, y)).all()
    assert (bg.square(x) == product(x, x)).all()
    # Beside these sums gcc 12 would fuse the products of alternating signs.
    fused = bg.jit(lambda x, y, s: (x + np.conj(y / s), x - np.conj(y * s), np.conj(x * y) - y * s))
    got = fused(x, y, s)
    assert (got[0] == x + np.conj(quotient(y, s))).all()
    assert (got[1] == x - np.conj(product(y, s))).all()
    assert (got[2] == np.conj(product(x, y)) - product(y, s)).all()


def test_an_expression_is_what_numpy_has(layouts):
    random = np.random.default_rng(3)
    a = (random.normal(size=(31, 43)) + 1j * random.normal(size=(31, 43))).astype(np.complex64)
    b = random.normal(size=(31, 1)).astype(np.float32)
    kernel = bg.jit(lambda a, b: (abs(a - 1j) + a.imag * b, np.where(a.real < b, a, b) + 2, a.conj() - b, a != b))
    wanted = abs(a - 1j) + a.imag * b, np.where(a.real < b, a, b) + 2, a.conj() - b, a != b
    for lay in layouts.values():
        for got, expected in zip(kernel(lay(a), b), wanted, strict=True):
            assert got.dtype == expected.dtype
            np.testing.assert_allclose(got, expected, rtol=0, atol=2e-6)


# ---- functions -------------------------------------------------------------------------------------------------------


@pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) < "2.4.0", reason="not all are those of C in this NumPy")
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@KINDS
def test_special_values_are_numpys(kind, functions):
    z = specials(kind, (0.0, -0.0, 1.0, -1.0, 2.5, -2.5, inf, -inf, nan))
    tolerance = 4 * np.finfo(kind.np).eps
    for op, got in zip(FUNCTIONS, functions(z), strict=True):
        # NumPy's expm1 multiplies 0 by infinity, and its angle is a function of the parts.
        wanted = np.angle(z) if op.name == "angle" else getattr(np, op.name)(z)
        considered = np.isfinite(z) if op.name == "expm1" else np.ones(z.shape, bool)
        for one, other in zip((got.real, got.imag), (wanted.real, wanted.imag), strict=True):
            alike = np.isclose(one, other, rtol=tolerance, atol=0, equal_nan=True)
            alike &= np.isnan(one) | (np.signbit(one) == np.signbit(other))
            wrong = considered & ~alike
            assert not wrong.any(), (op.name, z[wrong][0], got[wrong][0], wanted[wrong][0])


def test_expm1_has_limits_where_numpy_has_nan():
    z = np.array([complex(inf, 0), complex(-inf, inf), complex(-inf, 1), complex(nan, 0)])
    got = bg.expm1(z)
    assert same(got, np.array([complex(inf, 0), complex(-1, 0), complex(-1, 0), complex(nan, 0)])).all()


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_the_sign_of_a_zero_picks_the_side_of_a_cut(functions):
    reals, zeros = np.array([-3.0, -1.0, -0.25, 0.25, 1.0, 3.0]), np.array([0.0, -0.0])
    cuts = np.empty((2, 6, 2), complex)
    cuts.real[0], cuts.imag[0] = reals[:, None], zeros
    cuts.real[1], cuts.imag[1] = zeros, reals[:, None]
    for op, got in zip(FUNCTIONS, functions(cuts), strict=True):
        wanted = np.angle(cuts) if op.name == "angle" else getattr(np, op.name)(cuts)
        np.testing.assert_allclose(got, wanted, rtol=1e-14, err_msg=op.name)
        assert (np.signbit(got.real) == np.signbit(wanted.real)).all(), op.name
        assert (np.signbit(got.imag) == np.signbit(wanted.imag)).all(), op.name


def check_accuracy(kind, functions, count, seed):
    samples = truth.complex_samples(kind, count, seed)
    for op, got in zip(FUNCTIONS, functions(samples), strict=True):
        # Beyond that the product of the angle with log 2 is rounded, as in NumPy.
        kept = abs(samples.imag) < 2.0**26 if op.name == "exp2" else np.ones(samples.shape, bool)
        by_size, by_part = truth.complex_errors_of(op, kind, samples[kept], got[kept])
        errors = by_size if op.complex.by_norm else by_part
        bound = op.complex.ulp if kind is C128 or op.name in ("absolute", "angle", "sign") else 1
        at = errors.argmax()
        assert errors[at] <= bound, f"{op.name}({samples[kept][at]}) is {errors[at]:.2f} ULP off, more than {bound}"


@KINDS
def test_errors_are_within_the_row_s_bound(kind, functions):
    check_accuracy(kind, functions, 60, 1)


@pytest.mark.slow
@KINDS
def test_errors_of_many_samples_are_within_the_row_s_bound(kind, functions):
    check_accuracy(kind, functions, many(250, 900), 2)


@pytest.mark.parametrize("name", ["log", "log2", "log10", "log1p"])
def test_logarithms_beside_the_unit_circle_have_all_digits(name):
    """x^2 + y^2 - 1 cancels there: 1e-15 of a sum of 1 remains."""
    chance = np.random.default_rng(1)
    beside = chance.choice([-1, 1], 200) * 2.0 ** chance.uniform(-50, -20, 200)
    z = np.exp(1j * chance.uniform(-4, 4, 200)) * (1 + beside)
    at = z - 1 if name == "log1p" else z
    exact = [Fraction(x) + (name == "log1p") for x in at.real.tolist()]
    sizes = [float(x**2 + Fraction(y) ** 2 - 1) for x, y in zip(exact, at.imag.tolist(), strict=True)]
    wanted = np.log1p(sizes) / 2 / {"log2": np.log(2), "log10": np.log(10)}.get(name, 1)
    np.testing.assert_allclose(op_kernel(OPS[name])(at).real, wanted, rtol=1e-15)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_nothing_overflows_or_underflows_on_the_way():
    big, small = 1.5e308, 5e-324
    assert bg.absolute(np.array([complex(1e308, 1e308)]))[0] == pytest.approx(1.4142135623730951e308)
    root = bg.sqrt(np.array([complex(big, big), complex(-big, 1), complex(small, small)]))
    np.testing.assert_allclose(root.real[0], 1.3456e154, rtol=1e-4)
    assert (root.real[1], root.imag[1]) == pytest.approx((4.08248290463863e-155, 1.2247448713915889e154))
    np.testing.assert_allclose(root[2] ** 2, complex(small, small), rtol=1e-1, atol=5e-324)
    assert bg.log(np.array([complex(big, big)]))[0].real == pytest.approx(709.9482473405542)
    assert bg.log(np.array([complex(small, small)]))[0].real == pytest.approx(-744.0934983311012)
    assert bg.tanh(np.array([complex(1e4, 1)]))[0].real == 1.0
    # e^710 overflows, and the product with a small cosine does not.
    turned = bg.exp(np.array([complex(711, np.pi / 2)]))[0]
    assert turned.real == pytest.approx(np.exp(700.0) * (6.123233995736766e-17 * np.exp(11.0)))
    for function in ("sinh", "cosh"):
        far = np.array([complex(x, y) for x in (705, -705, 710, -710) for y in (1, -2)])
        # e^710 overflows, and half of it does not.
        wanted = [complex(getattr(mpmath, function)(mpmath.mpc(z))) for z in far]
        np.testing.assert_allclose(getattr(bg, function)(far), wanted, rtol=1e-14)
    assert bg.arcsinh(np.array([complex(big, big)]))[0].real == pytest.approx(709.9482473405542 + np.log(2))


@KINDS
def test_power(kind):
    random = np.random.default_rng(5)
    z, w = ((random.normal(size=300) + 1j * random.normal(size=300)).astype(kind.np) for _ in range(2))
    tolerance = 40 * np.finfo(kind.np).eps
    np.testing.assert_allclose(bg.power(z, w), np.power(z, w), rtol=tolerance)
    for exponent in (0, 1, 2, 3, 4, 7, -1, -2, 0.5, 2.5, 2j, -1 + 1j):
        kernel = bg.jit(lambda z, exponent=exponent: z**exponent, name="powers")
        got, wanted = kernel(z), z**exponent
        assert got.dtype == wanted.dtype
        np.testing.assert_allclose(got, wanted, rtol=tolerance, err_msg=str(exponent))
    far = np.array([inf, complex(-inf, 2)]).astype(kind.np)
    for exponent in (1, 2, 3):
        exponents = np.full(2, exponent, kind.np)
        with np.errstate(invalid="ignore"):
            assert same(bg.power(far, exponents), np.power(far, exponents)).all()
    parts = np.array([-2, -1, -0.5, 0, 0.5, 1, 2, 200])
    exponents = (parts[:, None] + 1j * parts).astype(kind.np)
    with np.errstate(invalid="ignore"):
        wanted = np.power(np.zeros(1, kind.np), exponents)
    for got, part in (
        (bg.power(kind.np.type(0), exponents).real, wanted.real),
        (bg.power(0j, exponents).imag, wanted.imag),
    ):
        np.testing.assert_array_equal(got, part)


@KINDS
def test_functions_are_the_same_in_every_layout(kind, functions, layouts):
    values = truth.complex_samples(kind, 90, 4).reshape(9, -1)
    expected = functions(values)
    for name, lay in layouts.items():
        for op, got, wanted in zip(FUNCTIONS, functions(lay(values)), expected, strict=True):
            assert same(got, wanted).all(), (op.name, name)


# ---- layouts, overlap, out= ------------------------------------------------------------------------------------------


@KINDS
def test_every_stride_broadcast_and_size(kind):
    """Elements of 16 bytes take packing's paths of their own."""
    kernel = bg.jit(lambda a, b: a * 1 + b, name="walk")
    random = np.random.default_rng(7)
    base = (random.integers(-9, 9, (40, 90, 14)) + 1j * random.integers(-9, 9, (40, 90, 14))).astype(kind.np)
    row = base[0, 0]
    views = [base[::i, ::j, ::k] for i, j, k in itertools.product((1, -1, 3), (1, 2, -4), (1, 2, 3, 4, -1))]
    views += [base.transpose(order) for order in itertools.permutations(range(3))]
    views += [base[:, :, :3].transpose(2, 0, 1), base[:, :1], np.broadcast_to(base[:, :1, :], base.shape)]
    for view in views:
        for other in (row[:1], view[..., :1], view[:1], np.ascontiguousarray(view), view[..., ::-1]):
            got, wanted = kernel(view, other), view * 1 + other
            assert (got == wanted).all() and got.dtype == wanted.dtype, (view.strides, other.strides)


@KINDS
def test_out_takes_complex_results_and_real_results_of_the_same_kind(kind):
    z = specials(kind, (0.0, 1.0, -2.0))
    out = np.empty((2 * len(z)), kind.np)[::2]
    assert bg.add(z, 1, out=out) is out
    assert (out == z + 1).all()
    assert bg.multiply(out, out, out=out) is out
    assert (out == (z + 1) ** 2).all()
    real = np.ones(len(z), kind.part.np)
    bg.add(real, 1, out=out)
    assert (out == 2).all()
    with pytest.raises(DTypeError, match="cannot be cast to out's float"):
        bg.add(z, 1, out=real)


def test_large_results_use_threads_and_streams():
    z = np.exp(1j * np.arange(700_000.0)).reshape(700, 1000)
    assert (bg.add(z, z[:1]) == z + z[:1]).all()
    assert (bg.add(z.T, z.T) == 2 * z.T).all()


# ---- dtypes ----------------------------------------------------------------------------------------------------------


def test_a_python_complex_is_weak():
    kernel = bg.jit(lambda x, s: (x + s, x * 2j, x - np.complex64(1j), x * (1 + 0.5j) + 1))
    for kind in (np.int16, np.float32, np.complex64):
        ones = np.ones(2, kind)
        for scalar in (1j, np.complex64(1j), np.complex128(1j)):
            wanted = ones + scalar, ones * 2j, ones - np.complex64(1j), ones * (1 + 0.5j) + 1
            for got, expected in zip(kernel(ones, scalar), wanted, strict=True):
                assert got.dtype == expected.dtype, (kind, scalar)
                assert (got == expected).all()
    assert bg.add(1j, 2).dtype == np.complex128
    assert bg.evaluate("x * (2 + 3j) - 1j", {"x": np.float32([1, 2])}).tolist() == [2 + 2j, 4 + 5j]


def test_signatures_name_complex_dtypes():
    for name, kind in (("c64", C64), ("complex64", C64), ("c128", C128), ("complex128", C128)):
        kernel = bg.from_text(f"({name}[?, 2] z) -> z + 1")
        assert kernel(np.ones((3, 2), kind.np)).dtype == kind.np
        with pytest.raises(DTypeError, match=f"has dtype f64, declared {kind.name}"):
            kernel(np.ones((3, 2)))
    assert str(parse_type("tensor<?x4xcomplex<f32>>")) == "c64[?, 4]"
    declared = bg.from_text("(f32[?] x, c64 s) -> x * s")
    assert declared(np.float32([2]), 1j).tolist() == [2j]
    with pytest.raises(DTypeError, match="is a Python complex, declared f32"):
        bg.from_text("(f32[?] x, f32 s) -> x * s")(np.float32([2]), 1j)


def test_parts_in_traced_functions():
    kernel = bg.jit(lambda z: (z.real, z.imag, np.real(z), np.imag(z), np.angle(z), np.angle(z, deg=True), z.conj()))
    for values in (np.array([1 + 2j, -3 - 0.0j]), np.array([1.0, -2.0]), np.array([1, -2])):
        wanted = values.real, values.imag, values.real, values.imag, np.angle(values), np.angle(values, deg=True)
        for got, expected in zip(kernel(values), (*wanted, values.conj()), strict=True):
            assert got.dtype == expected.dtype
            np.testing.assert_allclose(got, expected)


def test_casts_follow_numpy():
    z = np.array([1.5 - 2j, -300 + 0j, complex(nan, 1), 0j])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for target in ("complex64", "float32", "float16", "bool", "int16", "uint8"):
            to_target = bg.from_text(f"z.astype('{target}')")
            # NumPy leaves integers out of range to the machine.
            expected = to_target(z.real.copy()) if "int" in target else z.astype(target)
            np.testing.assert_array_equal(to_target(z), expected)
    assert bg.jit(lambda x: x.astype(np.complex64))(np.array([True, False])).tolist() == [1, 0]
    with pytest.raises(DTypeError, match="cannot be cast to f64 by the rule 'same_kind'"):
        bg.jit(lambda z: z.astype(float, casting="same_kind"))(z)


@pytest.mark.parametrize(
    "op",
    [op for op in OPS.values() if not op.complex and not op.params and op.name[:5] != "tosa_"],
    ids=lambda o: o.name,
)
def test_other_ops_refuse_complex_numbers_by_name(op):
    if op.name in ("logical_and", "logical_or", "logical_xor", "logical_not"):
        assert op.types((C64,) * op.arity)[1].name == "bool"
        return
    for kind in (C64, C128):
        with pytest.raises(DTypeError, match=rf"^{op.name}\({kind}.*(not defined for complex|for integers|of times)"):
            op.types((kind,) * op.arity)


def test_logic_takes_a_number_for_true_unless_both_parts_are_zero():
    z = specials(C128)
    assert (bg.logical_not(z) == np.logical_not(z)).all()
    assert (bg.logical_and(z[:, None], z) == np.logical_and(z[:, None], z)).all()


def test_background_answers_are_numpys():
    kernel = bg.jit(lambda z: np.exp(z) * 1j, background=True)
    z = np.array([1 + 1j, -2j])
    np.testing.assert_allclose(kernel(z), np.exp(z) * 1j, rtol=1e-14)
    kernel.wait()
    np.testing.assert_allclose(kernel(z), np.exp(z) * 1j, rtol=1e-14)


def test_linalg_has_the_dialect_complex_and_refuses_the_rest_by_name():
    kernel = bg.from_text("(c64[?] z, f32[?] x) -> (z * x + (1-2j), abs(z), real(exp(z)), z.astype(bool))")
    text = kernel.to_mlir("linalg")
    for line in ("complex.mul", "complex.add", "complex.abs", "complex.exp", "complex.re", "complex.neq"):
        assert f" {line} " in text, line
    assert "complex.constant [1.0 : f32, -2.0 : f32] : complex<f32>" in text
    with pytest.raises(bg.BcastgenError, match=r"linalg has no op for row 'arcsin' of \(c64\)"):
        bg.from_text("(c64[?] z) -> arcsin(z)").to_mlir("linalg")
    with pytest.raises(bg.BcastgenError, match=r"row 'add' of \(c64, c64\) has no TOSA op"):
        bg.from_text("(c64[2] z) -> z + z").to_mlir("tosa")


def test_a_number_is_made_of_its_parts():
    parts = np.array([1.0, -0.0, np.inf, np.nan])
    made = bg.make_complex(parts[:, None], parts)
    assert made.dtype == "c16" and made.shape == (4, 4)
    np.testing.assert_array_equal(made.real, np.broadcast_to(parts[:, None], (4, 4)))
    np.testing.assert_array_equal(np.signbit(made.imag), np.broadcast_to(np.signbit(parts), (4, 4)))
    codes = ("?", "i2", "i4", "f2", "f4", "f8")
    dtypes = {code: bg.make_complex(np.ones(2, code), np.ones(2, "f2")).dtype.char for code in codes}
    assert dtypes == {"?": "F", "i2": "F", "i4": "D", "f2": "F", "f4": "F", "f8": "D"}
    with pytest.raises(bg.DTypeError, match=r"make_complex\(c128, float\): not defined for complex numbers"):
        bg.make_complex(made, 1.0)
