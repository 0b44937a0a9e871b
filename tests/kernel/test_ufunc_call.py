"""bcastgen/kernel/ufunc_call.py: calls as NumPy's ufuncs take them: random ones against NumPy, then each part alone.

The file is long because each argument of NumPy's ufuncs has its tests.
"""

from __future__ import annotations

import random
import warnings

import numpy as np
import pytest

import bcastgen as bg
from long_runs import many

SHAPES = [(), (1,), (3,), (2, 3), (2, 1), (1, 3), (4, 2, 3), (0, 3)]
CASTINGS = ["no", "equiv", "safe", "same_kind", "unsafe", "unsafe", "bad"]
SIGNATURES = ["dd->d", "ff->f", "d->d", "ii->i", "dd->?", (None, None, "f4"), ("f8", None, None), (None, "f4"), "f"]


class Call:
    """A random call: the same one each time that it is built, in memory of its own."""

    def __init__(self, seed, dtypes, nin):
        self.random, self.dtypes = random.Random(seed), dtypes
        pick = self.random.choice
        self.block = np.ascontiguousarray(self.array((60,), pick(dtypes)))
        self.bits = self.array((60,), "?")
        self.overlaps = self.chance(0.3)
        self.operands = [self.part() if self.overlaps and self.chance(0.7) else self.operand() for _ in range(nin)]
        self.given = {}
        if self.chance(0.5):
            self.given["out"] = self.out()
        if self.chance(0.4):
            self.given["where"] = self.where()
        if self.chance(0.25):
            self.given["casting"] = pick(CASTINGS)
        if self.chance(0.25):
            self.given["order"] = pick(["K", "A", "C", "F", "c", None, "X"])
        if self.chance(0.2):
            self.given["dtype"] = pick([*dtypes, "f4", float, int, bool, None])
        elif self.chance(0.1):
            self.given["signature"] = pick(SIGNATURES)
        if self.chance(0.1):
            self.given["subok"] = pick([True, False, 1])
        if self.chance(0.1) and isinstance(self.given.get("out"), np.ndarray):
            self.operands.append(self.given.pop("out"))
        if self.chance(0.02):
            self.operands.pop()
        if self.chance(0.02):
            self.given["bogus"] = 1

    def chance(self, most):
        return self.random.random() < most

    def array(self, shape, dtype):
        kind, count = np.dtype(dtype).kind, int(np.prod(shape))
        numbers = {"f": [0, 1, -1, 2.5, -3.25, 7, 100], "b": [0, 1]}.get(kind, [0, 1, 2, 3, 5, 100])
        values = np.array([self.random.choice(numbers) for _ in range(2 * count)], dtype)
        layout = self.random.choice("CCCFRST") if shape else "C"
        if layout == "S":
            return values.reshape(*shape[:-1], 2 * shape[-1])[..., ::2]
        array = values[:count].reshape(shape[::-1] if layout == "T" else shape)
        return {"F": np.asfortranarray(array), "R": array[::-1], "T": array.T}.get(layout, array) if shape else array

    def operand(self):
        if self.chance(0.1):
            return self.random.choice([1, 2, 3, -1, 1.5, True, 200, 0.0])
        if self.chance(0.1):
            return np.dtype(self.random.choice(self.dtypes)).type(2)
        return self.array(self.random.choice(SHAPES), self.random.choice(self.dtypes))

    def part(self, of_bits=False):
        block = self.bits if of_bits else self.block
        shape, first = self.random.choice([(3,), (2, 3), (4, 2, 3), ()]), self.random.randrange(5)
        count = int(np.prod(shape))
        array = (block[first : first + 2 * count : 2] if self.chance(0.3) else block[first : first + count]).reshape(
            shape
        )
        array = array[::-1] if shape and self.chance(0.3) else array
        return array.T if self.chance(0.3) else array

    def out(self):
        if self.chance(0.12):
            return ...
        if self.overlaps:
            return self.part(of_bits=self.chance(0.2))
        try:
            shape = np.broadcast_shapes(*map(np.shape, self.operands))
        except ValueError:
            shape = (3,)
        shape = self.random.choice(SHAPES) if self.chance(0.35) else shape
        made = self.array(shape, self.random.choice([*self.dtypes, "f8", "f8", "?"]))
        return (made,) if self.chance(0.2) else made

    def where(self):
        if self.chance(0.15):
            return self.random.choice([True, False, np.True_, [True, False, True], 1])
        return self.part(of_bits=True) if self.overlaps else self.array(self.random.choice(SHAPES), "?")

    def selected(self, nin):
        """Where results are defined: everywhere but outside of a mask without an out."""
        has_out = len(self.operands) > nin or self.given.get("out", ...) is not ...
        return True if has_out else self.given.get("where", True)


# Since 2.3 NumPy has out=..., and refuses signatures of one letter, which was the dtype of results.
IS_BEFORE_2_3 = np.lib.NumpyVersion(np.__version__) < "2.3.0"


def answer(function, call):
    given, only_arrays = call.given, False
    if isinstance(function, np.ufunc) and IS_BEFORE_2_3:
        if len(given.get("signature") or "") == 1:
            return TypeError("a signature of one letter")
        # Results are arrays, also those without dims.
        only_arrays = given.get("out") is ...
        given = given | {"out": None} if only_arrays else given
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # NumPy warns of masks without an out
            made = function(*call.operands, **given)
            return np.asarray(made) if only_arrays else made
    except Exception as error:
        return error


def differs(name, seed, dtypes):
    """Return how a call of the kernel differs from the ufunc's; None if it does not."""
    nin = getattr(np, name).nin
    calls = [Call(seed, dtypes, nin) for _ in range(2)]
    theirs, ours = (answer(getattr(module, name), call) for module, call in zip((np, bg), calls, strict=True))
    if isinstance(theirs, Exception) or isinstance(ours, Exception):
        # A call of several mistakes may be refused for another one.
        kinds = (TypeError, ValueError, OverflowError)
        several = isinstance(ours, bg.BroadcastError) and isinstance(theirs, TypeError)
        if isinstance(ours, bg.DTypeError) and "'object'" in str(ours):
            return None  # no loop of ours fits, and NumPy takes the one of objects
        if several or all(isinstance(ours, kind) for kind in kinds if isinstance(theirs, kind)):
            return None if isinstance(theirs, Exception) and isinstance(ours, Exception) else (theirs, ours)
        return theirs, ours
    facts = [(type(value), np.asarray(value).dtype, np.shape(value), steps(value)) for value in (theirs, ours)]
    if facts[0] != facts[1]:
        return facts
    mask = np.broadcast_to(np.array(calls[0].selected(nin), dtype=bool), np.shape(theirs))
    blocks = [(calls[0].block, calls[1].block), (calls[0].bits, calls[1].bits)]
    if "where" in calls[0].given and theirs.dtype != loop_dtype(name, Call(seed, dtypes, nin)):
        # NumPy 2 converts elements that are not selected, too, there and back, where it copies an out.
        mask, blocks = np.broadcast_to(np.array(calls[0].given["where"], dtype=bool), np.shape(theirs)), []
    pairs = [(np.asarray(theirs)[mask], np.asarray(ours)[mask]), *blocks]
    most = 1e-15 if getattr(np, name) is np.power else 0.0
    same = all(np.allclose(one, other, rtol=most, atol=0, equal_nan=one.dtype.kind == "f") for one, other in pairs)
    return None if same else (theirs, ours)


def loop_dtype(name, call):
    """The dtype that a call without an out would have."""
    call.operands, call.given["out"] = call.operands[: getattr(np, name).nin], None
    return getattr(answer(getattr(np, name), call), "dtype", None)


def steps(value):
    """The strides that matter."""
    array = np.asarray(value)
    return tuple(s for s, n in zip(array.strides, array.shape, strict=True) if n > 1) if array.size else ()


@pytest.mark.parametrize("name", ["add", "less", "sqrt", "power"])
def test_random_calls(name):
    for seed in range(250):
        found = differs(name, seed, ["f8", "i4"] if name != "power" else ["i4"])
        assert found is None, f"{name}, seed {seed}: {found}"


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["subtract", "multiply", "maximum", "logical_and", "bitwise_and", "floor_divide", "square"]
)
def test_random_calls_of_all_dtypes(name):
    for seed in range(many(60, 400)):
        found = differs(name, seed, ["?", "i1", "i8", "u1", "u8", "f2", "f4", "f8"])
        # Floats out of an integer's range are the machine's in NumPy.
        if not (isinstance(found, tuple) and Call(seed, ["?"], 1).given.get("casting") == "unsafe"):
            assert found is None, f"{name}, seed {seed}: {found}"


# ---- each part alone -------------------------------------------------------------------------------------------------


def test_a_mask_is_compiled_once_and_computes_in_place():
    kernel = bg.jit(lambda x: x * 3 + 1)
    x = np.arange(6.0)
    for limit in range(5):
        out = x.copy()
        assert kernel(out, where=out > limit, out=out) is out
        assert np.array_equal(out, np.where(x > limit, x * 3 + 1, x))
    # The kernel without a mask is never compiled.
    assert kernel.compilations == 0 and kernel._latest is None
    assert [type(made).__name__ for made in kernel._variants._made.values()] == ["Kernel"]


def test_a_mask_that_overlaps_the_out():
    block = np.arange(8) % 3 == 0
    wanted, bits = block.copy(), block.copy()
    np.logical_not(wanted[:-1], out=wanted[1:], where=wanted[1:])
    bg.logical_not(bits[:-1], out=bits[1:], where=bits[1:])
    assert np.array_equal(bits, wanted)


def test_elements_that_are_not_selected_raise_nothing():
    assert np.array_equal(bg.power(2, np.array([-1, 3]), where=[False, True], out=np.zeros(2, int)), [0, 8])
    with pytest.raises(bg.DomainError):
        bg.power(2, np.array([-1, 3]), where=[True, True])
    ratio = bg.jit(lambda a, b: a / b, errors="numpy")
    with np.errstate(all="raise"):
        assert np.array_equal(ratio(np.ones(2), np.array([0.0, 2.0]), where=[False, True]), [0, 0.5])
        with pytest.raises(FloatingPointError, match="divide by zero encountered in"):
            ratio(np.ones(2), np.array([0.0, 2.0]), where=[True, True])


def test_several_results():
    both = bg.jit(lambda a, b: (a + b, a < b))
    a, b = np.arange(3.0), np.array([[1.0], [2.0]])
    r = np.zeros((2, 3))
    for out in ((r, None), (None, np.zeros((2, 3), bool)), ..., None):
        x, y = both(a, b, out=out, where=a > 0)
        if out is not None and out is not ...:
            assert x is out[0] or y is out[1]
        assert np.array_equal(x, np.where(a > 0, a + b, 0))
        assert np.array_equal(y, (a > 0) & (a < b))
    large = np.zeros((4, 2, 3))
    x, y = both(a, b, out=(large, None))
    assert x is large and np.array_equal(x, np.broadcast_to(a + b, large.shape))
    assert np.array_equal(y, np.broadcast_to(a < b, large.shape))


def test_declared_types_keep_their_shapes_and_dtypes():
    scale = bg.jit(lambda x, g: x * g, signature="(f32[?, 3] x, f32[3] g) -> f32[?, 3]")
    x, g = np.ones((2, 3), np.float32), np.full(3, 2, np.float32)
    with pytest.raises(bg.BroadcastError, match="results do not broadcast"):
        scale(x, g, out=np.zeros((4, 2, 3), np.float32))
    with pytest.raises(bg.DTypeError, match="declared f32"):
        scale(x, g, dtype="f8")
    out = np.zeros((2, 3), np.float32)
    assert scale(x, g, where=[True, False, True], out=out) is out
    assert np.array_equal(out, [[2, 0, 2]] * 2)


def test_extents_of_the_caller():
    spread = bg.jit(lambda x: bg.broadcast_in_dim(x, (None, "k"), dims=(0,)))
    made = spread(np.arange(2), extents={"k": 3}, where=[True, False, True])
    assert np.array_equal(made, [[0, 0, 0], [1, 0, 1]])
    out = np.full((2, 3), -1)
    assert spread(np.arange(2), out=out, where=[True, False, True]) is out
    assert np.array_equal(out, [[0, -1, 0], [1, -1, 1]])
    assert spread(np.arange(2), extents={"k": 3}, out=..., order="F").flags.f_contiguous


def test_dtype_of_a_kernel_of_several_ops():
    gelu = bg.jit(lambda x, y=2.0: x * y + 1)
    x = np.arange(3)
    assert gelu(x, dtype="f4").dtype == np.float32
    assert np.array_equal(gelu(x + 0.5, dtype="i8", y=2, casting="unsafe"), x * 2 + 1)
    with pytest.raises(
        bg.DTypeError, match=r"operand 'x' of dtype float64 cannot be cast to int64 by the rule 'same_kind'"
    ):
        gelu(x + 0.5, dtype="i8", y=2)
    with pytest.raises(bg.DTypeError, match="no loop gives result 'r' as float32"):
        bg.jit(lambda x: x < 1)(x, dtype="f4")
    with pytest.raises(bg.RangeError, match=r"300 out of bounds for int8.*operand 'y'"):
        gelu(np.int8(1), 300, dtype="i1")
    assert bg.erf(x, dtype="f4").dtype == np.float32


@pytest.mark.parametrize("dtype", ["c8", "c16"])
@pytest.mark.parametrize("number", [True, 2, 2.5, 2j])
def test_python_numbers_convert_to_complex_dtypes(dtype, number):
    x = np.float32([1, -2])
    for casting in ("safe", "same_kind", "unsafe"):
        got = bg.jit(lambda x, y: x + y)(x, number, dtype=dtype, casting=casting)
        want = np.add(x, number, dtype=dtype, casting=casting)
        assert got.dtype == want.dtype and np.array_equal(got, want)
    with pytest.raises(bg.DTypeError, match=r"operand 'y' of dtype complex.* cannot be cast to float32"):
        bg.jit(lambda x, y: x + y)(x, 2j, dtype="f4")


@pytest.mark.parametrize(
    ("call", "kind", "words"),
    [
        (
            lambda: bg.add(1, 2, np.zeros(()), 3),
            TypeError,
            r"add\(\) takes from 2 to 3 positional arguments but 4 were",
        ),
        (lambda: bg.hypot(1), TypeError, r"hypot\(\) takes from 2 to 3 positional arguments but 1 was given"),
        (lambda: bg.add(1, 2, bogus=3), TypeError, r"add\(\) got an unexpected keyword argument 'bogus'"),
        (lambda: bg.add(1, 2, np.zeros(()), out=None), TypeError, "cannot specify 'out' as both"),
        (lambda: bg.add(1, 2, ...), TypeError, "only allowed as a keyword"),
        (lambda: bg.add(1, 2, out=(...,)), TypeError, "takes ... as out=..."),
        (lambda: bg.add(1, 2, out=(None, None)), ValueError, "takes out as an ndarray, not a tuple of 2"),
        (lambda: bg.add(1, 2, casting="saef"), ValueError, "casting is 'saef', expected one of 'no'"),
        (lambda: bg.add(1, 2, order="Q"), ValueError, "order is 'Q', expected 'K'"),
        (lambda: bg.add(1, 2, subok=None), TypeError, "subok is None, expected True or False"),
        (lambda: bg.add(1, 2, dtype=int, signature="ll->l"), TypeError, "both 'signature' and 'dtype'"),
        (lambda: bg.add(1, 2, signature="l->l"), ValueError, "signature has 2 dtypes, expected 3.*'dd->d'"),
        (lambda: bg.add(1, 2, where=np.ones(3)), bg.DTypeError, "where has dtype float64.*x != 0"),
        (lambda: bg.jit(lambda x: x + 1)(1, np.zeros(())), TypeError, "takes 1 positional argument but 2 were given"),
        (
            lambda: bg.add(np.datetime64("2020"), 1),
            bg.DTypeError,
            r"operand 'a'.*\.view\('int64'\)",
        ),
        (lambda: bg.jit(lambda x: bg.add(x, 1, where=True, dtype="f4")), bg.TraceError, "dtype= has no meaning inside"),
    ],
)
def test_wrong_calls(call, kind, words):
    with pytest.raises(kind, match=words):
        call()


@pytest.mark.parametrize("name", ["modf", "frexp", "divmod"])
def test_outs_of_several_results_by_position(name):
    ufunc, kernel = getattr(np, name), getattr(bg, name)
    operands = (np.linspace(-3, 3, 7), 2.0)[: ufunc.nin]
    wanted = ufunc(*operands)
    outs = tuple(np.zeros_like(one) for one in wanted)
    for got in (kernel(*operands, *outs), kernel(*operands, out=outs), kernel(*operands, None, outs[1])):
        assert got[1] is outs[1]
        for one, expected in zip(got, wanted, strict=True):
            assert one.dtype == expected.dtype and np.array_equal(one, expected)


@pytest.mark.parametrize("name", ["modf", "frexp", "divmod"])
@pytest.mark.parametrize("place", [0, 1])
@pytest.mark.parametrize("order", ["K", "F"])
def test_a_result_without_out_has_the_shape_of_the_other_ones_out(name, place, order):
    ufunc, kernel = getattr(np, name), getattr(bg, name)
    operands = (np.array([-2.5, 1.25, 7]), 2.0)[: ufunc.nin]
    mask = np.array([True, False, True])
    found = []
    for function in (ufunc, kernel):
        outs = [None, None]
        outs[place] = np.zeros((2, 3), ufunc(*operands)[place].dtype)
        found.append(function(*operands, out=tuple(outs), where=mask, order=order))
    for got, expected in zip(*found, strict=True):
        assert got.dtype == expected.dtype and got.shape == expected.shape == (2, 3)
        assert got.strides == expected.strides and np.array_equal(got[:, mask], expected[:, mask])


# ---- objects that are more than arrays -------------------------------------------------------------------------------


class Named(np.ndarray):
    """Keeps a name."""

    def __array_finalize__(self, other):
        self.name = getattr(other, "name", None)


class First(Named):
    __array_priority__ = 5.0


def test_subclasses_are_wrapped_as_numpy_wraps_them():
    x = np.arange(3.0).view(Named)
    x.name = "x"
    double = bg.jit(lambda x, y: x * y)
    for made in (
        bg.add(x, 1),
        double(x, 2),
        double(2, x),
        bg.add(x, 1, where=[True, False, True]),
        bg.add(x, 1, out=...),
    ):
        assert (type(made), made.name) == (Named, "x")
    assert type(bg.add(x, np.arange(3.0).view(First))) is First
    assert type(bg.add(x, 1, subok=False)) is np.ndarray
    assert type(bg.add(x[0], 1)) is np.float64
    out = np.zeros(3).view(First)
    assert bg.add(x, 1, out=out) is out
    whole = np.zeros(3)
    for outs in ({"out": (whole, None)}, {"out": (whole, None), "where": x > 0}):
        first, second = bg.divmod(x, 2, **outs)
        assert first is whole and (type(second), second.name) == (Named, "x")
    assert type(bg.add(np.arange(3.0), 1, np.zeros(3).view(Named))) is Named
    assert type(bg.add(np.zeros(3).view(np.recarray), 1)) is type(np.add(np.zeros(3).view(np.recarray), 1))


class Own:
    """Gives ufuncs a meaning of its own."""

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        return ufunc, method, len(inputs), options


class NoUfuncs:
    __array_ufunc__ = None


def test_objects_that_take_over():
    assert bg.add(np.ones(3), Own()) == (np.add, "__call__", 2, {})
    assert bg.add(Own(), 1, dtype="f4") == (np.add, "__call__", 2, {"dtype": "f4"})
    assert bg.true_divide(b=Own(), a=1)[0] is np.divide
    with pytest.raises(TypeError, match="does not support ufuncs"):
        bg.add(np.ones(3), NoUfuncs())
    for kernel in (bg.erf, bg.jit(lambda x: x + 1)):
        assert kernel(Own())[1:] == ("__call__", 1, {}) and kernel(Own())[0].nin == 1
        with pytest.raises(bg.DTypeError, match=r"operand '[ax]' is a .*numpy.asarray"):
            kernel(NoUfuncs())


def test_masked_arrays_are_numpys():
    x = np.ma.array([1.0, -2.0, 3.0], mask=[False, False, True])
    with np.errstate(invalid="ignore"):
        assert bg.sqrt(x).mask.tolist() == np.sqrt(x).mask.tolist() == [False, True, True]
    with pytest.raises(bg.DTypeError, match="its mask would be lost"):
        bg.jit(lambda x: x + 1)(x)


@pytest.mark.parametrize("name", ["divmod", "modf", "frexp"])
def test_kernels_of_several_results_are_numpys_ufuncs_too(name):
    kernel, ufunc = getattr(bg, name), getattr(np, name)
    assert kernel.ufunc is ufunc and bg.jit(lambda x: (x, -x), name=name).ufunc is None
    masked = np.ma.masked_array([1.5, 2.5], [True, False])
    operands = (masked,) * kernel.nin
    for got, expected in zip(kernel(*operands), ufunc(*operands), strict=True):
        assert (got.mask == expected.mask).all() and (got.data == expected.data).all()


def test_small_manners_of_signatures_and_casting():
    assert bg.add([3], [4], sig=(None, None, None)).tolist() == [7]
    with pytest.raises(TypeError, match="both 'sig' and 'signature'"):
        bg.add(1, 2, sig="ii->i", signature="ii->i")
    swapped = np.arange(3.0).astype(">f8")
    with pytest.raises(TypeError, match="byte order"):
        bg.add(swapped, swapped, casting="no")
    assert bg.add(swapped, swapped, casting="equiv").tolist() == [0, 2, 4]


def test_a_mask_that_an_operand_makes_smaller_is_seen_as_it_is():
    mask = np.ones(10**6, bool)

    class Shrinks:
        def __array__(self, dtype=None, copy=None):
            mask.resize(10, refcheck=False)
            return np.ones(10**6)

    with pytest.raises(bg.BroadcastError, match="'where' dim 0 has extent 10"):
        bg.add(2.0, Shrinks(), out=np.zeros(10**6), where=mask)
