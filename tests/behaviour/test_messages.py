"""Wrong uses, and what their errors say: which kernel, which operand, where, and what to do instead."""

import collections
import fractions
import math
import numbers
import re

import numpy as np
import pytest

import bcastgen as bg

A = np.arange(6.0).reshape(2, 3)


def masked(x):
    return x[x > 0]


def conditional_and(p, q):
    t = p + 1
    return t & q


def assigned(x):
    x[x < 0] = 0
    return x


def in_place(x, y):
    x += y
    return x


OUTSIDE = np.ones(3)


def by_closure(x):
    return x * OUTSIDE


def by_mode(x, mode="half"):
    return x / 2 if mode == "half" else x


def by_flag(x, fast=True):
    return x if fast else x * 2


class Wave:
    """A class with a method that is compiled."""

    table = OUTSIDE

    @bg.jit
    def own(self):
        """Compute."""
        return self.table

    @bg.jit
    def at(self, x):
        """Compute."""
        return x * self.table


Pair = collections.namedtuple("Pair", "left right")


class Column:
    """An array of another library: it gives NumPy's functions its own meaning, and knows no stand-ins."""

    __array_ufunc__ = None

    def __array__(self):
        raise AssertionError("its elements are not read")


def later(x):
    yield x


def replaced(x):
    try:
        return 1 if x > 0 else 0
    except bg.TraceError:
        raise KeyError("as other libraries do") from None


def line(function, offset=1):
    """The place of a line of a function, as messages show it."""
    return f"test_messages.py:{function.__code__.co_firstlineno + offset}"


def jit(function, *operands, **options):
    return lambda: bg.jit(function, **options)(*(operands or (A,)))


def text(expression, **operands):
    return lambda: bg.evaluate(expression, {"a": A, "b": A, **operands})


def typed_minimum():
    bg.from_text("(f64[?, ?] x, f64[?, ?] y) -> min(x + y, axis=1)")(A[:, :0], A[:, :0])


# A use, the class of its error, and parts of the message: what is wrong, whose, where, the cure.
MASKED = np.ma.array([1.0])
USES = {
    "mask": (jit(masked), bg.TraceError, "boolean mask", "numpy.where(mask", line(masked), "masked(x)"),
    "indices": (jit(lambda x, i: x[i], A, np.array([0])), bg.TraceError, "array of indices", "before it comes into"),
    "mask in text": (text("a[a > 0]"), bg.ParseError, "column 3", "boolean mask", "numpy.where", "'a[a > 0]'"),
    "slice": (jit(lambda x: x[1:]), bg.TraceError, "indexing is not element-wise", "index the array before"),
    "assignment": (jit(assigned), bg.TraceError, "assignment", "numpy.where", line(assigned)),
    "in place": (jit(in_place, A, A), bg.TraceError, "write x = x + y", "out=x", line(in_place)),
    "ptp": (jit(lambda x: x.cumsum()), bg.TraceError, "cumsum is not element-wise", "compute it outside", "kernel(x)"),
    "median": (jit(lambda x: x / np.median(x)), bg.TraceError, "numpy.median is not element-wise", "pass its result"),
    "axis": (jit(lambda x: x.sum(axis=2), A), bg.BroadcastError, "sum: axis 2 is out of range", "use -2 to 1"),
    "empty": (jit(lambda x: x.min(), A[:0]), bg.BroadcastError, "'x' dim 0 has extent 0", "initial=", "kernel(x: ["),
    "mask of a sum": (jit(lambda x: x.min(where=x > 0), A), bg.ArgumentError, "min: where= needs initial="),
    "sum of any rank in C": (lambda: bg.from_text("sum(a)").emit_c("."), bg.BcastgenError, "declare the rank"),
    "a minimum of nothing": (typed_minimum, bg.BroadcastError, "operand 'x' dim 1 has extent 0", "(x: [", "initial="),
    "norm": (jit(lambda x: np.linalg.norm(x)), bg.TraceError, "numpy.linalg.norm is not element-wise"),
    "norm of text": (text("norm(a)"), bg.ParseError, "column 1", "norm is not element-wise", "(in 'norm(a)')"),
    "median in text": (text("b - median(a)"), bg.ParseError, "column 5", "not element-wise", "compute it outside"),
    "method in text": (text("a.cumsum()"), bg.ParseError, "cumsum is not element-wise"),
    "axis in text": (text("sum(a, axis=b)"), bg.ParseError, "column 13", "axis is a literal"),
    "module in text": (text("np.linalg.norm(a)"), bg.ParseError, "norm is not element-wise"),
    "cast in text": (text("cast(a, f32)"), bg.ParseError, "x.astype(float32)"),
    "unknown function": (text("sinn(a)"), bg.ParseError, "did you mean sin?", "`bcastgen ops`", "(in 'sinn(a)')"),
    "several lines": (text("\n  a*2\n  + 1\n"), bg.ParseError, "put an expression of several lines in parentheses"),
    "reshape": (jit(lambda x: x.reshape(-1)), bg.TraceError, "reshape", "before it comes into the kernel"),
    "shape": (jit(lambda x: x.shape[0] * x), bg.TraceError, "the shape of an operand", "signature=", "as an operand"),
    "item": (jit(lambda x: x.item()), bg.TraceError, "item needs the values", "keep to array operations"),
    "no attribute": (jit(lambda x: x.foo), bg.TraceError, "'foo'", ".astype", "element-wise functions"),
    "format": (jit(lambda x: f"{x:.2f}"), bg.TraceError, "not known while tracing", "print it outside"),
    "str": (jit(lambda x: x == "a"), bg.TraceError, "'a' is a str", "compare it outside"),
    "list": (jit(lambda x: x * [1, 2]), bg.TraceError, "a list is no array", "pass it in as an operand"),
    "array": (jit(lambda x: x + np.ones(3)), bg.TraceError, "shape (3,) from outside", "as an operand"),
    "fraction": (jit(lambda x: x * fractions.Fraction(1, 2)), bg.TraceError, "Fraction", "float(x)"),
    "function": (jit(lambda x: x + abs), bg.TraceError, "abs is a function", "call it"),
    "type error": (jit(conditional_and, A, A), bg.DTypeError, "bitwise_and(f64, f64)", ".astype(numpy.int64)",
                   line(conditional_and, 2), "conditional_and(p: f64, q: f64)"),
    "type error in text": (text("a + (a & b)"), bg.DTypeError, "bitwise_and", "column 6", "a: f64, b: f64"),
    "type error of an op": (lambda: bg.left_shift(A, 1), bg.DTypeError, "left_shift(a: f64, b: int)", ".astype"),
    "integer": (jit(lambda x: x + 300, np.uint8([1])), bg.RangeError, "300", "u8", "test_messages.py", "(x: u8)"),
    "integer operand": (lambda: bg.add(np.uint8([1]), 300), bg.RangeError, "300", "uint8", "'b' takes 0 to 255",
                        "add()"),
    "power": (lambda: bg.power(np.array([2]), np.array([-1])), bg.DomainError, "power(a: [1], b: [1])", "to float"),
    "broadcast": (lambda: bg.add(A, np.ones(4)), bg.BroadcastError, "operand 'b' dim 0 has extent 4, expected 1 or 3 "
                  "(from 'a')", "add(a: [2, 3], b: [4])"),
    "declared": (jit(lambda x: x, A, signature="(f64[?] x)", name="named"), bg.BroadcastError, "operand 'x' has rank 2",
                 "named(x: [2, 3])"),
    "declared dtype": (jit(lambda x: x, signature="(f32[*] x)"), bg.DTypeError, "'x' has dtype f64, declared f32",
                       ".astype(numpy.float32)"),
    "longdouble": (lambda: bg.add(A.astype(np.longdouble), 1), bg.DTypeError, "operand 'a' (an array of shape (2, 3))",
                   "float128", ".astype(numpy.float64)", "add()"),
    "object": (lambda: bg.exp(np.array([1, None])), bg.DTypeError, "object", "Python objects",
               "numpy.array(x, dtype=float)", "exp()"),
    "array of a global": (jit(by_closure), bg.TraceError, "'OUTSIDE' is an array of shape (3,)", "OUTSIDE=OUTSIDE",
                          line(by_closure)),
    "array of an object": (lambda: Wave().at(A), bg.TraceError, "self.table is a ndarray", "pass this as an operand"),
    "text parameter": (jit(by_mode), bg.TraceError, "equal: 'half' is a str", "static='mode'", "by_mode(x, mode)"),
    "flag": (jit(by_flag), bg.TraceError, "a branch", "if 'fast' is no array", "static='fast'", "by_flag(x, fast)"),
    "math": (jit(lambda x: math.sqrt(x)), bg.TraceError, "numpy.sqrt for math.sqrt", "bcastgen.vectorize"),
    "conversion": (jit(lambda x: np.float32(x)), bg.TraceError, "write x.astype(numpy.float32)"),
    "round": (jit(lambda x: round(x)), bg.TraceError, "write numpy.round(x)"),
    "in": (jit(lambda x: 1 in x), bg.TraceError, "x in y needs the values", "(y == x).any()"),
    "out of a method": (jit(lambda x: x.clip(0, 1, out=x)), bg.TraceError, "clip: out=", "pass out=x at the call"),
    "out of a function": (jit(lambda x: np.round(x, out=x)), bg.TraceError, "numpy.round: out=", "at the call"),
    "out of a ufunc": (jit(lambda x: np.add(x, x, out=x)), bg.TraceError, "numpy.add: out=", "at the call"),
    "mask of a ufunc": (jit(lambda x: np.divide(x, x, where=x > 0)), bg.TraceError, "numpy.divide: where=",
                        "numpy.where(mask"),
    "option of a method": (jit(lambda x: x.var(dims=1.0)), bg.TraceError, "var: dims=", "leave it out"),
    "kind by an abc": (jit(lambda x: x if isinstance(x, numbers.Number) else -x), bg.TraceError, "array or a number",
                       "test_messages.py"),
    "matrix": (lambda: bg.add(A.view(np.matrix), 1), bg.DTypeError, "operand 'a' is a matrix of shape (2, 3) and dtype "
               "float64", "numpy.asarray(x)", "add()"),
    "integer of an array": (jit(lambda x: x + 300, np.uint8([1])), bg.RangeError, "300 out of bounds for uint8",
                            "write numpy.uint16(300)"),
    "text operand": (lambda: bg.add(A, ["x"]), bg.DTypeError, "operand 'b'", "it is text", "add()"),
    "fields": (lambda: bg.exp(np.zeros(2, "i4,i4")), bg.DTypeError, "fields one by one, as in x['name']", "exp()"),
    "None": (lambda: bg.add(A, None), bg.DTypeError, "operand 'b' is None", "give an array or a number", "add()"),
    "masked array": (lambda: bg.evaluate("exp(x)", {"x": MASKED}), bg.DTypeError, "mask would be lost", "filled"),
    "out's shape": (lambda: bg.add(A, 1, out=np.ones(4)), bg.BroadcastError, "result 'r' has rank 1, expected 2",
                    "add() (out: an array of shape (4,) and dtype float64)"),
    "out's dtype": (lambda: bg.add(A, 1, out=np.ones((2, 3), int)), bg.DTypeError, "pass an out of float64", "add()"),
    "parameter out": (jit(np.mean), bg.TraceError, "mean has a parameter 'out'", "in a lambda"),
    "kernel": (jit(bg.exp), bg.TraceError, "exp is a kernel already", "call it"),
    "dict": (jit(lambda x: {"x": x}), bg.TraceError, "the function returns a dict", "a tuple of arrays", "kernel(x)"),
    "pair among results": (jit(lambda x: (x, divmod(x, 2))), bg.TraceError, "returns a tuple among its results",
                           "write (a, *b) in the place of (a, b)", "kernel(x)"),
    "list among results": (jit(lambda x: (x, [x])), bg.TraceError, "returns a list among its results", "kernel(x)"),
    "generator": (jit(later), bg.TraceError, "the function is a generator", "return the resulting array", "later(x)"),
    "key": (jit(lambda x: {x: 1}), bg.TraceError, "no key of a dict", "numpy.select", "test_messages.py"),
    "memory": (jit(lambda x: x.view("i8")), bg.TraceError, "view is about an array's memory", "on the array, outside"),
    "data of another library": (jit(lambda x: x + Column()), bg.TraceError, "add: a Column from outside the kernel",
                                "pass it in as an operand", "test_messages.py"),
    "replaced": (jit(replaced), bg.TraceError, "a branch on array values", line(replaced, 2), "replaced(x)"),
    "operands": (text("exp(a, b)"), bg.ParseError, "exp takes 1 operand, got 2", "column 1"),
    "signature": (jit(lambda x: x, signature=3), bg.ParseError, "signature=3", "'(f32[?] x) -> f32[?]'"),
    "no text": (lambda: bg.evaluate(b"x"), bg.ParseError, "an expression is text, not bytes"),
    "AxisError": (jit(lambda x: np.expand_dims(x, 4)), np.exceptions.AxisError, "rank 2", "too many dims"),
    "axes": (jit(lambda x: np.moveaxis(x, 0, 2)), np.exceptions.AxisError, "dim 2 is out of range", "use 0 to 1"),
    "mask of several": (jit(lambda x, y, m: (x * y).sum(where=m), A[:1], A[:1], A > 1), bg.BroadcastError,
                        "'x with y under m' dim 0 has extent 2, expected 1", "kernel(x: ["),
    "integer of a selection": (jit(lambda x: np.where(x > 0, x, 300), np.int8([1])), bg.RangeError, "300 out of bounds",
                               "write numpy.int16(300)"),
    "integer operand of a selection": (lambda: bg.where(True, np.int8([1]), 300), bg.RangeError, "'c' takes -128",
                                       "pass numpy.int16(300)"),
    "huge integer": (jit(lambda x: x + 2**70, np.int8([1])), bg.RangeError, "write float(1180591620717411303424)"),
    "only self": (lambda: Wave().own(), TypeError, "own(self)", "pass what it reads from 'self' as a parameter"),
    "list of results": (jit(lambda x: [x, x]), bg.TraceError, "returns a list", "return tuple(...)"),
    "tuple of one": (jit(lambda x: (x,)), bg.TraceError, "a tuple of one array", "return it"),
    "named tuple": (jit(lambda x: Pair(x, x)), bg.TraceError, "returns a Pair", "return tuple(...)"),
    "weights": (jit(lambda x: np.average(x, weights=x)), bg.TraceError, "numpy.average", "w.sum(axis=0)"),
    "an object": (lambda: bg.add(object(), A), bg.DTypeError, "operand 'a' (an object)", "add()"),
    "text for a function": (lambda: bg.jit("(f32[?] a) -> a"), bg.TraceError, "from_text", "signature="),
    "dtype": (jit(lambda x: x.astype("U3")), bg.DTypeError, "it is text", "test_messages.py", "kernel(x)"),
}  # fmt: skip


@pytest.mark.parametrize("name", USES)
def test_the_error_says_what_where_and_what_to_do(name):
    use, kind, *parts = USES[name]
    with pytest.raises(kind) as caught:
        use()
    message = str(caught.value)
    missing = [part for part in parts if part not in message]
    assert not missing, f"{missing} not in: {message}"
    assert not re.search(r"Tracer\b|NoneType|^\W|\b[Aa] [aeioAEIO]\w", message)


def test_attributes_of_a_shape_error_are_kept():
    with pytest.raises(bg.BroadcastError) as caught:
        bg.add(A, np.ones(4))
    error = caught.value
    assert (error.operand, error.dim, error.expected, error.actual, error.against) == ("b", 0, 3, 4, "a")


def test_many_operands_are_not_all_listed():
    names = [f"x{at}" for at in range(12)]
    kernel = bg.from_text("+".join(names))
    with pytest.raises(bg.BroadcastError, match=r"x7: \[3\], \.\.\.\)$"):
        kernel(*[np.ones(3)] * 11, np.ones(2))


def test_an_error_inside_a_function_that_is_called_has_the_innermost_line():
    with pytest.raises(bg.TraceError, match=rf"{line(masked)} in .*\(y\)"):
        bg.jit(lambda y: masked(y) + 1)


def test_the_lines_of_ops_are_those_of_the_call_that_applies_them():
    def helper(x):
        return x & 1

    with pytest.raises(bg.DTypeError, match=rf"test_messages\.py:{helper.__code__.co_firstlineno + 1} in "):
        bg.jit(lambda x: helper(x) + 1)(A)


def test_the_methods_of_ufuncs_have_a_cure():
    with pytest.raises(AttributeError, match=r"no method 'reduce': call numpy\.add\.reduce, or write x\.sum\(\)"):
        bg.add.reduce(A)
    with pytest.raises(AttributeError, match="'Kernel' object has no attribute 'no_such'"):
        bg.add.no_such  # noqa: B018
    assert not hasattr(bg.erf, "at")


def test_functions_of_jax_are_refused_by_name():
    jnp = pytest.importorskip("jax.numpy", reason="its functions ask their operands' classes")
    asks = r"a function of jax asks .*; write NumPy's function .* at .*test_messages\.py:\d+ in kernel\(x\)"
    with pytest.raises(bg.TraceError, match=asks):
        bg.jit(lambda x: jnp.exp(x))


def test_functions_of_torch_are_refused_by_name():
    torch = pytest.importorskip("torch", reason="its functions ask their operands' classes")
    with pytest.raises(bg.TraceError, match=r"torch\.exp does not record .* at .*test_messages\.py:\d+ in kernel\(x\)"):
        bg.jit(lambda x: torch.exp(x))
