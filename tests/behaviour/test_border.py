"""The border to NumPy: what is written in NumPy's words means what NumPy means, or is refused by name.

The same functions run with NumPy and traced: dtypes and values are equal, or there is an error of ours. Values come
from the typed expression by its ops' references, so that nothing is compiled.

The file is long because each word of NumPy's that means something of its own has its refusals beside its meaning.
"""

from __future__ import annotations

import contextlib
import ctypes
import enum
import itertools
import operator
import random
import sys
import types
import warnings

import numpy as np
import pytest

import bcastgen as bg
from bcastgen.core.dtypes import BF16, COMPUTED, WEAK_FLOAT, WEAK_INT, dtype, in_numpy_code
from bcastgen.core.errors import BcastgenError, DTypeError, ParseError, TraceError
from bcastgen.core.subclasses import own_meaning
from bcastgen.expr.evaluate import evaluate
from bcastgen.expr.infer import infer
from bcastgen.expr.text import parse
from bcastgen.expr.trace import trace
from bcastgen.ops.table import OPS

KINDS = [kind for kind in COMPUTED if kind is not BF16]
ONES = {kind: np.ones(1, kind.np) for kind in KINDS} | {WEAK_INT: 2, WEAK_FLOAT: 2.0}
CONSTANTS = (True, 0, 1, 2, 3, -1, 0.0, 0.5, 1.0, 2.0, -1.0, np.float32(2), np.int8(2), np.bool_(True))


def outcome(function, *args, refusals=(BcastgenError,)):
    """What a function returns, or None where it raises one of these."""
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return function(*args)
    except refusals:
        return None


# ---- spellings of dtypes ---------------------------------------------------------------------------------------------

SPELLINGS = sorted(
    {
        f"{order}{letter}{count}"
        for order in ("", "<", ">", "=", "|")
        for letter in "biufcVSU?"
        for count in (1, 2, 4, 8)
    }
    | {f"{letter}{bits}" for letter in ("i", "u", "f", "int", "uint", "float", "bf", "ui") for bits in (8, 16, 32, 64)}
    | set(np.typecodes["All"])
    | {name for name in np.sctypeDict if isinstance(name, str)}
    | {"bool", "bfloat16", "i1", "object", "i4,i4", "", "nothing", " i4", "I8"}
)


def numpy_dtype(spelling):
    return outcome(lambda: np.zeros(1, np.float32).astype(spelling).dtype, refusals=(TypeError, ValueError))


@pytest.mark.parametrize(
    "ours",
    [
        lambda spelling: trace(lambda x: x.astype(spelling), ("x",)),
        lambda spelling: trace(lambda x: x.astype(dtype=spelling, copy=False, order="C", subok=True), ("x",)),
        lambda spelling: parse(f"x.astype({spelling!r})"),
        lambda spelling: parse(f"x.astype(dtype={spelling!r}, copy=False)"),
        lambda spelling: parse(f"x.astype({spelling})"),
        lambda spelling: parse(f"x.astype(np.{spelling})"),
        lambda spelling: parse(f"{spelling}(x)"),
    ],
    ids=["function", "keywords", "text", "text keywords", "bare name", "attribute", "call"],
)
def test_a_dtype_means_what_numpy_says_or_is_refused(ours):
    agreed = 0
    for spelling in SPELLINGS:
        expression = outcome(ours, spelling)
        wanted = numpy_dtype(spelling)
        if expression is None or wanted is None or not expression.operands:
            continue
        agreed += 1
        found = infer(expression, (dtype("f32"),) * len(expression.operands)).result_dtypes[0].np
        assert found == wanted or spelling == "f16", (spelling, found, wanted)
    assert agreed > 10


@pytest.mark.parametrize("name", ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8"])
def test_names_of_two_meanings_are_refused_in_text_with_what_to_write(name):
    wide = np.dtype(name).name
    for text in (f"x.astype({name})", f"{name}(x)", f"x.astype(np.{name})", f"np.{name}(x)"):
        with pytest.raises(ParseError, match=f"column 1.*'{name}' counts bytes in NumPy, and bits in types; .*{wide}"):
            parse(text)


def test_names_with_bits_are_numpys_where_numpy_has_none():
    for kind in COMPUTED:
        # Those of 8 have a meaning for NumPy.
        if kind.name not in ("i8", "u8", "f16"):
            assert in_numpy_code(kind.name) is kind
        assert in_numpy_code(kind) is kind
    with pytest.raises(DTypeError, match="'f16' counts bytes in NumPy, and bits here; write float16"):
        in_numpy_code("f16")
    with pytest.raises(DTypeError, match="other byte order; write int32"):
        in_numpy_code(">i4")


def test_a_dtype_rule_of_the_user_s_speaks_numpys_language():
    widened = bg.define_op("border_widened", "x", c="x", dtypes=lambda x: "i8")
    assert widened.expression.results[0].op.types((dtype("i32"),))[1].name == "i64"
    with pytest.raises(DTypeError, match="'i4' counts bytes"):
        bg.define_op("border_table", "x", c="x", dtypes="i4->i4")


RULES = ("no", "equiv", "safe", "same_kind", "unsafe")


@pytest.mark.parametrize("rule", RULES)
def test_casting_is_numpys(rule):
    expressions = {
        target: [
            trace(lambda x, target=target: x.astype(target.np, casting=rule), ("x",)),
            parse(f"x.astype('{target.numpy}', casting='{rule}')"),
        ]
        for target in KINDS
    }
    for kind, target in itertools.product(KINDS, repeat=2):
        for expression in expressions[target]:
            typed = outcome(infer, expression, (kind,))
            assert (typed is not None) == np.can_cast(kind.np, target.np, rule), (kind, target)
            assert typed is None or (typed.result_dtypes[0] is target and "casting" not in str(typed))


def test_casting_holds_for_constants_of_an_inlined_kernel_and_is_one_of_numpys():
    inner = bg.jit(lambda x: x.astype("i4", casting="safe"))
    outer = bg.jit(lambda y: y + inner(np.float64(1.5)) if False else y + inner(y))
    with pytest.raises(DTypeError, match="f64 cannot be cast to i32 by the rule 'safe'"):
        infer(outer.expression, (dtype("f64"),))
    with pytest.raises(TraceError, match="casting='unsave' is none of no, equiv, safe"):
        bg.jit(lambda x: x.astype("f4", casting="unsave"))


# ---- every op and every pair of dtypes -------------------------------------------------------------------------------


def functions():
    """NumPy's functions and Python's operators for every row, with how many operands they take."""
    for row in OPS.values():
        # NumPy's isnat is of times, whose numbers ours is of.
        if callable(getattr(np, row.name, None)) and not row.params and row.name != "isnat":
            yield getattr(np, row.name), row.arity
        if row.dunder:
            yield getattr(operator, f"__{row.dunder}__"), row.arity


def calls(function, arity):
    """The function with all operands open, and with constants in one place; and how many are open."""
    yield function, arity
    if arity == 2:
        for constant in CONSTANTS:
            yield (lambda x, constant=constant: function(x, constant)), 1
            if function is not np.full_like:  # NumPy asks its first operand alone whose function it is.
                yield (lambda x, constant=constant: function(constant, x)), 1
    if arity == 3:
        for constant in (True, 2, 0.5):
            yield (lambda x, y, constant=constant: function(x, y, constant)), 2
            yield (lambda x, constant=constant: function(x, constant, constant)), 1


# Before it a power by a number that is 2, 0.5 and the like had the dtype of a square or a root.
NEW_POWERS = np.lib.NumpyVersion(np.__version__) >= "2.4.0"


@pytest.mark.parametrize(("function", "arity"), [pytest.param(*pair, id=pair[0].__name__) for pair in functions()])
def test_every_result_dtype_is_numpys(function, arity):
    if function is operator.pow and not NEW_POWERS:
        pytest.skip("this NumPy's result dtypes of powers depend on the number")
    agreed = 0
    for called, count in calls(function, arity):
        expression = trace(called, tuple("abc"[:count]))
        # Of a where the condition's dtype changes nothing.
        kinds = [(*KINDS, WEAK_INT, WEAK_FLOAT)] * count if count < 3 else [KINDS[:2], KINDS, (*KINDS, WEAK_INT)]
        for given in itertools.product(*kinds):
            if function is operator.pow and given == (dtype("bool"), WEAK_INT):
                continue  # NumPy's depends on whether the number is 2, and here dtypes never depend on values.
            arrays = tuple(map(ONES.__getitem__, given))
            if not any(isinstance(array, np.ndarray) for array in arrays):
                continue
            wanted = outcome(called, *arrays, refusals=(TypeError, ValueError, OverflowError))
            typed = outcome(infer, expression, given)
            if function is operator.pow and given == (dtype("bool"),) and typed is None:
                continue  # By 2; NumPy's dtype depends on whether the operand is a scalar.
            assert (typed is None) == (wanted is None), (given, wanted)
            if typed is not None:
                agreed += 1
                assert typed.result_dtypes[0].np == wanted.dtype, given
    assert agreed


def test_round_keeps_integers():
    x = np.array([2**53 + 1, -(2**62) - 1])
    for function in (np.round, np.around, lambda x: x.round(), lambda x: np.round(x, decimals=0)):
        typed = infer(trace(function, ("x",)), (dtype("i64"),))
        assert np.array_equal(evaluate(typed, (x,))[0], np.round(x))
    for kind in KINDS:
        assert infer(parse("round(x)"), (kind,)).result_dtypes[0].np == np.round(ONES[kind]).dtype
    # What later stages know: a rint that is clipped and cast to an i8 saturates.
    assert "rint(x)" in str(infer(parse("round(x)"), (dtype("f32"),)))
    with pytest.raises(TraceError, match=r"out="):
        trace(lambda x: np.round(x, 0, out=x), ("x",))


@pytest.mark.parametrize("rounding", [lambda x: np.round(x, -1), lambda x: x.round(2)])
def test_rounding_to_decimals_is_numpys(rounding):
    for kind in KINDS:
        x = np.array([0, 15, 25, 101, 2.675, -0.125]).astype(kind.np)
        typed, wanted = outcome(infer, trace(rounding, ("x",)), (kind,)), outcome(rounding, x, refusals=(TypeError,))
        assert (typed is None) == (wanted is None), kind
        if typed is not None:
            np.testing.assert_array_equal(evaluate(typed, (x,))[0], wanted, strict=True)


# ---- whose function it is --------------------------------------------------------------------------------------------


_KEPT: list[tuple[object, ...]] = []


def foreign_ufunc(name, operands, loops=""):
    """A ufunc of any name, made as other packages make theirs; its loops are never run."""
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    table = ctypes.cast(pointer(np._core._multiarray_umath._UFUNC_API, None), ctypes.POINTER(ctypes.c_void_p))
    integers, texts = [ctypes.c_int] * 4, [ctypes.c_char_p] * 2
    signature = ctypes.PYFUNCTYPE(ctypes.py_object, *[ctypes.c_void_p] * 3, *integers, *texts, ctypes.c_int)
    # A ufunc keeps the pointers it is given.
    kept = name.encode(), (ctypes.c_void_p * 4)(), bytes(np.dtype(loop).num for loop in loops for _ in range(2))
    _KEPT.append(kept)
    functions, kinds = ctypes.addressof(kept[1]), ctypes.cast(kept[2], ctypes.c_void_p).value
    return signature(table[1])(functions, functions, kinds, len(loops), operands, 1, -1, kept[0], b"", 0)


FOREIGN_NAMES = sorted({name for row in OPS.values() for name in (row.name, *row.aliases)} | {"fmod", "mine"})


def test_a_ufunc_that_is_not_numpys_is_refused_whatever_its_name():
    for name in FOREIGN_NAMES:
        count = OPS[name].arity if name in OPS else 1
        ufunc = foreign_ufunc(name, count)
        for function in (ufunc, lambda *x, ufunc=ufunc: ufunc(*x)):
            with pytest.raises(TraceError, match=f"the ufunc '{name}' is not NumPy's"):
                trace(function, tuple("abc"[:count]))
        with pytest.raises(TraceError, match="is not NumPy's"):
            bg.jit(ufunc)
    with pytest.raises(TraceError, match="is not NumPy's"):
        trace(np.frompyfunc(abs, 1, 1), ("x",))


def test_functions_that_are_not_numpys_are_refused_whatever_their_name():
    from numpy._core.overrides import array_function_dispatch

    for name in ("where", "clip", "round", "fix", "transpose", "broadcast_to", "expand_dims"):

        def foreign(x):
            return x

        foreign.__name__ = name
        dispatched = array_function_dispatch(lambda x: (x,), module="elsewhere", verify=False)(foreign)
        with pytest.raises(TraceError, match=f"elsewhere.{name} is not element-wise or not supported"):
            trace(dispatched, ("x",))


@pytest.mark.parametrize(("loops", "of_int8"), [("df", "f64"), ("fd", "f32"), ("gd", "f64"), ("efd", "f16")])
def test_functions_of_scipy_are_found_by_identity_and_have_its_dtypes(loops, of_int8, monkeypatch):
    for name, row in (("erf", "erf"), ("expit", "sigmoid"), ("log1p", "log1p")):
        ufunc = foreign_ufunc(name, 1, loops)
        with pytest.raises(TraceError, match="is not NumPy's"):
            trace(ufunc, ("x",))
        monkeypatch.setitem(sys.modules, "scipy.special", types.SimpleNamespace(**{name: ufunc}))
        expression = trace(ufunc, ("x",))
        assert f"= {row}(" in str(expression)
        wanted = {"i8": of_int8, "i64": "f64", "f64": "f64", "f32": "f32" if "f" in loops else "f64"}
        for kind, result in wanted.items():
            typed = infer(expression, (dtype(kind),))
            assert typed.result_dtypes[0].name == result
            assert "loops" not in str(typed)
        monkeypatch.delitem(sys.modules, "scipy.special")


def test_functions_of_scipy_itself():
    special = pytest.importorskip("scipy.special")
    from bcastgen.expr.ufuncs import _SCIPY

    for name, kind in itertools.product(_SCIPY, KINDS):
        function = getattr(special, name)
        typed = outcome(infer, trace(function, ("x", "y")[: function.nin]), (kind,) * function.nin)
        if kind.kind == "complex":
            assert typed is None, "SciPy's functions of complex numbers are refused"
        else:
            assert typed.result_dtypes[0].np == function(*(ONES[kind],) * function.nin).dtype


# ---- arrays that mean something else ---------------------------------------------------------------------------------


class Plain(np.ndarray):
    """A subclass that changes nothing."""


class Unit(np.ndarray):
    """A subclass whose product is its own."""

    def __rmul__(self, other):
        return other


def test_arrays_with_operators_of_their_own_are_refused():
    square, times = np.eye(2), bg.jit(lambda x, y: x * y)
    for array in (square.view(np.matrix), np.ma.array(square), square.view(Unit)):
        for arguments in ((array, square), (square, array), (array, array), (array, 2)):
            with pytest.raises(DTypeError, match=r"operand '[xy]' is a .*numpy.asarray|masked"):
                times(*arguments)
        if isinstance(array, np.ma.MaskedArray):
            # NumPy's own ufunc takes over, as it would in NumPy code.
            assert type(bg.add(square, square, out=array.copy())) is type(array)
            assert type(bg.add(square, array)) is type(array)
            continue
        with pytest.raises(DTypeError):
            bg.add(square, square, out=array)
    for kind in (np.ndarray, np.memmap, np.recarray, Plain):
        assert own_meaning(kind) is None
    with pytest.raises(DTypeError, match="MaskedConstant gives operators"):
        trace(lambda x: x * np.ma.masked, ("x",))


# ---- small random programs -------------------------------------------------------------------------------------------


class Number(enum.IntEnum):
    """Numbers with names."""

    TWO = 2


class Length(float):
    """A float of a subclass."""


SCALARS = (True, False, 0, 1, 2, 3, 0.5, 2.0, np.bool_(True), np.int8(3), np.uint8(2), np.int64(2), np.float16(0.5))
SCALARS += (np.float32(0.5), np.float64(2), np.array(2), np.array(0.5, np.float32), Number.TWO, Length(0.5))
ARITHMETIC = [row.dunder for row in OPS.values() if row.dunder and row.arity == 2]
IN_PLACE = [f"i{word}" for word in ARITHMETIC if hasattr(operator, f"__i{word}__")]
FUNCTIONS = [np.add, np.multiply, np.minimum, np.fmax, np.power, np.floor_divide, np.equal, np.logical_and, np.copysign]
UNARY = [np.round, np.around, np.fix, np.floor, np.rint, np.square, np.sign, np.absolute, np.isnan, np.positive]
UNARY += [lambda x: x.copy(), lambda x: x.round(), lambda x: +x, lambda x: x.clip(1, 3), lambda x: x.clip(max=2.5)]
STRINGS = ("i1", "i2", "i4", "i8", "u1", "u8", "f2", "f4", "f8", "<i8", "?", "b", "l", "int", "float", "float32", "f16")


def make_step(chance):
    """A function of one or two values."""
    match chance.randrange(8):
        case 0 | 1:
            return getattr(operator, f"__{chance.choice(ARITHMETIC)}__")
        case 2:
            return chance.choice(FUNCTIONS)
        case 3:
            unary = chance.choice(UNARY)
            return lambda x, _: unary(x)
        case 4:
            spelling, rule = chance.choice(STRINGS), chance.choice(("unsafe", "unsafe", *RULES))
            return lambda x, _: x.astype(spelling, casting=rule, copy=chance.choice((True, False)))
        case 5:
            return getattr(operator, f"__{chance.choice(IN_PLACE)}__")
        case 6:
            return lambda x, y: np.where(x > 1, x, y)
    bounds = sorted((chance.choice((0, 1, 2)), chance.choice((2, 3.5, np.float32(3)))))
    return lambda x, _: np.clip(x, *bounds)


def make_program(chance):
    """A function of two arrays: up to three steps, each of earlier values and of scalars."""
    steps = []
    for at in range(chance.randint(1, 3)):
        scalar = chance.choice(SCALARS) if chance.random() < 0.5 else None
        places = chance.randrange(at + 2), chance.randrange(at + 2)
        steps.append((make_step(chance), *places, scalar, chance.random() < 0.3))

    def program(a, b):
        values = [a, b]
        for step, first, second, scalar, swapped in steps:
            pair = values[first], values[second] if scalar is None else scalar
            values.append(step(*(reversed(pair) if swapped and scalar is None else pair)))
        return tuple(values[2:])

    return program


@pytest.mark.parametrize("seed", range(4))
def test_random_programs_are_numpys_or_refused(seed):
    chance, agreed = random.Random(seed), 0
    for _ in range(700):
        program = make_program(chance)
        kinds = chance.choices(KINDS, k=2)
        if not NEW_POWERS and "power(" in str(outcome(trace, program, ("a", "b"))):
            continue
        arrays = [np.array([chance.randrange(4) for _ in range(3)], kind.np) for kind in kinds]
        own = [array.copy() for array in arrays]
        wanted = outcome(program, *own, refusals=(TypeError, ValueError, OverflowError, AttributeError))
        expression = outcome(trace, program, ("a", "b"))
        typed = None if expression is None else outcome(infer, expression, tuple(kinds))
        if typed is None:
            continue
        assert wanted is not None, f"NumPy refuses\n{expression} of {kinds}"
        assert all(map(np.array_equal, own, arrays)), f"the caller's arrays change\n{expression}"
        agreed += 1
        assert [kind.np for kind in typed.result_dtypes] == [value.dtype for value in wanted], f"{expression} {kinds}"
        with np.errstate(all="ignore"):
            values = evaluate(typed, arrays)
            # Beyond these, conversions of floats to integers are NumPy's to choose.
            small = all(((value >= 0) & (value < 100)).all() for value in wanted)
        if small:
            for got, value in zip(values, wanted, strict=True):
                assert np.array_equal(got, np.broadcast_to(value, got.shape)), f"{expression} {kinds}"
    assert agreed > (250 if NEW_POWERS else 150)


@pytest.mark.parametrize("word", IN_PLACE)
def test_operators_in_place_are_refused_with_the_cure(word):
    def augmented(x, y):
        return getattr(operator, f"__{word}__")(x, y)

    for function in (augmented, lambda x, y: augmented(x + 1, y), lambda x, y: augmented(x, 2)):
        with pytest.raises(TraceError, match=r"write x = x \+ y, and pass out=x at the call"):
            trace(function, ("x", "y"))
    # Here Python rebinds, with NumPy as well.
    assert "(2, x)" in str(trace(lambda x: augmented(2, x), ("x",)))


# ---- names and other arguments ---------------------------------------------------------------------------------------


def test_an_operand_called_out_is_refused_but_renamed_in_mlir():
    for made in (
        lambda: bg.from_text("out + 1"),
        lambda: bg.from_text("(f32[?] out) -> out"),
        lambda: bg.evaluate("out + 1", {"out": 1}),
        lambda: bg.jit(lambda x, out: x + out),
        lambda: bg.define_op("border_out", "x, out", c="x + out"),
    ):
        with pytest.raises(BcastgenError, match="no operand can be called 'out', which a call's out= is"):
            made()
    text = """func.func @f(%out: tensor<?xf32>, %_out: tensor<?xf32>) -> tensor<?xf32> {
      %0 = tosa.sub %out, %_out : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
      return %0 : tensor<?xf32>
    }"""
    assert bg.from_mlir(text).operands == ("_out", "__out")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"text": 3}, "an expression is text, not int"),
        ({"text": b"a"}, "an expression is text, not bytes"),
        ({"name": 3}, "name=3 is no name"),
        ({"variants": -1}, "variants is -1, expected 0 or more"),
        ({"variants": "x"}, "variants is 'x', expected 0 or more"),
        ({"variants": True}, "variants is True, expected 0 or more"),
    ],
)
def test_arguments_of_from_text_are_looked_at(arguments, message):
    with pytest.raises(BcastgenError, match=message):
        bg.from_text(**{"text": "a + 1"} | arguments)


@pytest.mark.parametrize("variants", [-1, "x", 1.0])
def test_emitted_c_has_some_variants(variants, tmp_path):
    with pytest.raises(BcastgenError, match=f"variants is {variants!r}, expected 0 or more"):
        bg.from_text("(f32[?] a) -> a").emit_c(tmp_path, variants=variants)


def test_evaluate_takes_text():
    for text in (b"a", None, 3):
        with pytest.raises(ParseError, match="an expression is text, not"):
            bg.evaluate(text, {"a": 1})


def test_branches_on_the_kind_of_an_argument():
    # What tracing cannot see is said in jit's docstring, and what asks for it is refused.
    for said in ("numpy.isscalar(x)", "isinstance(x, numpy.ndarray)", "x is None", "random numbers", "closures"):
        assert said in " ".join(bg.jit.__doc__.replace("`", "").split())
    optional = bg.jit(lambda x, y=None: x if y is None else x + y)
    assert optional(np.arange(3)).tolist() == [0, 1, 2]
    assert optional(np.arange(3), 1).tolist() == [1, 2, 3]
    for asks in (np.isscalar, lambda x: isinstance(x, np.ndarray)):
        with pytest.raises(TraceError, match="whether 'x' is an array or a number is not known"):
            bg.jit(lambda x, asks=asks: x if asks(x) else -x, static="asks")(1.0)


# ---- Python numbers as operands --------------------------------------------------------------------------------------

# What NumPy's functions make of Python's numbers has a dtype; what operators and attributes make of them is a number.
OF_NUMBERS = {
    "operator": lambda a, b, c: (a + b) * c,
    "function": lambda a, b, c: np.add(a, b) * c,
    "both": lambda a, b, c: (np.add(a, b) + (a + b)) * c,
    "operator, then function": lambda a, b, c: (a + b) * c + np.add(a, b),
    "function of an operator's": lambda a, b, c: np.subtract(a + b, 1) * c,
    "operator of a function's": lambda a, b, c: (np.negative(a) - b) * c,
    "function of a constant": lambda a, b, c: np.multiply(a, 2) * c,
    "power": lambda a, b, c: np.power(a, 2) * c + np.power(2, b),
    "abs": lambda a, b, c: np.abs(a) * c,
    "abs as an operator": lambda a, b, c: abs(a) * c,
    "maximum": lambda a, b, c: np.maximum(a, b) * c,
    "where": lambda a, b, c: np.where(c > 0, a, b) * c,
    "round": lambda a, b, c: np.round(a) * c,
    "clip": lambda a, b, c: np.clip(a, c, c),
    "clip at one end": lambda a, b, c: np.clip(a, c, None) * np.clip(b, None, c),
    "clip at no end": lambda a, b, c: np.clip(a, None, None) * c,
    "real": lambda a, b, c: np.real(a) * c + a.real,
    "imag": lambda a, b, c: a.imag * c,
    "conjugate": lambda a, b, c: a.conjugate() * c,
    "conj": lambda a, b, c: np.conj(a) * c,
    "copy": lambda a, b, c: np.copy(a) * c,
    "transpose": lambda a, b, c: np.transpose(a) * c,
    "expand_dims": lambda a, b, c: np.expand_dims(a, 0) * c,
    "broadcast_to": lambda a, b, c: np.broadcast_to(a, (3,)) * c,
    "broadcast_to, as such": lambda a, b, c: np.broadcast_to(a, (3,)),
    "divmod": lambda a, b, c: divmod(a, b)[1] * c,
    "numpy.divmod": lambda a, b, c: np.divmod(a, b)[1] * c,
    "like": lambda a, b, c: np.ones_like(a) * c,
    "sum": lambda a, b, c: np.sum(a) * c,
    "comparison": lambda a, b, c: np.less(a, b) * c,
}


@pytest.mark.parametrize("case", OF_NUMBERS)
def test_what_functions_make_of_python_numbers_has_a_dtype(case):
    function, agreed = OF_NUMBERS[case], 0
    expression = trace(function, ("a", "b", "c"))
    for kind, numbers in itertools.product(("i1", "u2", "f2", "f4", "f8"), ((2, 3), (2.0, 3.0), (2.0, 1), (2, 1.5))):
        c = np.array([1, 2, 3], kind)
        wanted = outcome(function, *numbers, c, refusals=(TypeError, OverflowError))
        kinds = [WEAK_INT if isinstance(value, int) else WEAK_FLOAT for value in numbers]
        typed = outcome(infer, expression, (*kinds, dtype(c.dtype)))
        if typed is None:
            continue
        agreed += 1
        operands = [
            np.asarray(value).astype(k.np) for value, k in zip((*numbers, c), typed.operand_dtypes, strict=True)
        ]
        got = evaluate(typed, operands)[0]
        assert (got.dtype, got.tolist()) == (wanted.dtype, wanted.tolist()), (kind, numbers)
    assert agreed > 5


INITIAL = (9, 2.5, 300, -1, True, np.float64(1.5), np.int64(7), np.array(3), np.float32(0.5))


@pytest.mark.parametrize("name", ["max", "min", "sum", "prod"])
def test_an_initial_value_takes_the_dtype_of_the_reduction(name):
    for kind, initial, by_mask in itertools.product(("?", "u1", "i8", "f2", "f4"), INITIAL, (False, True)):
        x = np.array([1, 0, 1]).astype(kind)

        def reduced(x, initial=initial, by_mask=by_mask):
            return getattr(x, name)(initial=initial, where=x > 0 if by_mask else True)

        wanted = outcome(reduced, x, refusals=(TypeError, OverflowError))
        typed = outcome(lambda kind=kind: infer(trace(reduced, ("x",)), (dtype(np.dtype(kind)),)))
        assert (typed is None) == (wanted is None), (kind, initial)
        if typed is not None:
            np.testing.assert_array_equal(evaluate(typed, (x,))[0], wanted, strict=True)


def caught_branch(x):
    try:
        return x if x > 0 else -x
    except TypeError:
        return x * 0


def caught_dtype(x):
    try:
        return x.astype("S3")
    except Exception:
        return x.astype("f4")


def caught_kernel(x):
    try:
        return bg.add(x, "a")
    except bg.BcastgenError:
        return x


def caught_kind(x):
    try:
        return x if isinstance(x, float) else -x
    except TypeError:
        return x


@pytest.mark.parametrize("function", [caught_branch, caught_dtype, caught_kernel, caught_kind])
def test_a_refusal_that_the_function_catches_is_an_error_all_the_same(function):
    # What it does instead would be done in every call, also where NumPy raises nothing.
    # A test of a kind raises nothing that could be caught: it is refused when the function has run.
    cure = "leave a test of it out" if function is caught_kind else "the function catches this error"
    with pytest.raises(BcastgenError, match=rf"{cure}.*test_border\.py:\d+ in caught_"):
        bg.jit(function)

    # Errors of something else are the function's own business.
    def looked_up(x):
        with contextlib.suppress(KeyError):
            x = x * {}["scale"]
        return x + 1

    assert "t0 = add(x, 1)" in str(trace(looked_up, ("x",)))


# What of a ufunc's arguments changes nothing in a kernel, or is a conversion of its operands.
IN_KERNELS = {
    "dtype": lambda x: np.add(x, 1, dtype="f4"),
    "dtype and casting": lambda x: np.multiply(x, x, dtype=np.float64, casting="same_kind"),
    "wide": lambda x: np.sqrt(x, dtype="d"),
    "narrow": lambda x: np.square(x, dtype="f2"),
    "integer": lambda x: np.add(x, 300, dtype="i2"),
    "too large": lambda x: np.add(x, 300, dtype="u1"),
    "float in an integer": lambda x: np.add(x, 1.5, dtype="i8"),
    "no loop": lambda x: np.bitwise_and(x, x, dtype="f4"),
    "order": lambda x: np.add(x, x, order="F"),
    "subok": lambda x: np.negative(x, subok=False),
    "everywhere": lambda x: np.add(x, x, where=True),
    "no out": lambda x: np.add(x, x, None),
    "copy": lambda x: np.copy(x) + x.copy(),
    "astype": lambda x: np.astype(x, "f4", copy=False),
}


@pytest.mark.parametrize("case", IN_KERNELS)
def test_arguments_of_ufuncs_in_a_kernel_mean_what_they_mean_in_numpy(case):
    agreed = 0
    for kind in (kind for kind in KINDS if not kind.is_complex):
        x = np.array([0, 1, 3], kind.np)
        wanted = outcome(IN_KERNELS[case], x, refusals=(TypeError, OverflowError))
        typed = outcome(lambda kind=kind: infer(trace(IN_KERNELS[case], ("x",)), (kind,)))
        if typed is None:
            continue
        agreed += 1
        assert wanted is not None, kind
        np.testing.assert_array_equal(evaluate(typed, (x,))[0], wanted, strict=True)
    assert agreed > 2 or case in ("too large", "float in an integer", "no loop")


@pytest.mark.parametrize("keyword", ["where", "casting", "signature", "out", "dtype"])
def test_other_arguments_of_ufuncs_in_a_kernel_are_refused_with_the_cure(keyword):
    value = {"casting": "unsafe", "signature": "dd->d", "dtype": "i8"}.get(keyword)
    with pytest.raises(TraceError, match=f"numpy.less: {keyword}=.*(leave it out|numpy.where)"):
        trace(lambda x: np.less(x, 1, **{keyword: x > 0 if value is None else value}), ("x",))


# ---- Python integers beyond 64 bits ----------------------------------------------------------------------------------

HUGE = (10**30, -(10**30), 2**64, -(2**63) - 1, 2**200)


@pytest.mark.parametrize("kind", ["int8", "int64", "uint64", "float16", "float32", "float64"])
def test_integers_beyond_64_bits_compare_as_in_numpy(kind):
    info = np.iinfo(kind) if np.dtype(kind).kind in "iu" else None
    x = np.array([info.min, 0, 1, info.max] if info else [0, 1], kind)

    def compared(a):
        pairs = itertools.product((np.less, np.less_equal, np.greater, np.equal, np.not_equal), HUGE)
        return tuple(result for compare, value in pairs for result in (compare(a, value), compare(value, a)))

    with np.errstate(all="ignore"):
        for got, wanted in zip(bg.jit(compared)(x), compared(x), strict=True):
            assert got.tolist() == wanted.tolist()


def test_integers_beyond_64_bits_as_operands_compare():
    x = np.array([0, 2**64 - 1], np.uint64)
    assert bg.less(x, 2**64).all() and bg.greater(10**30, x).all()
    assert bg.from_text("a < 10**30")(x).all()


def test_integers_beyond_64_bits_are_floats_beside_floats():
    x = np.float32([1, 2])
    for value in HUGE[:2]:
        got = bg.multiply(x, value)
        assert got.dtype == np.float32 and (got == np.multiply(x, value)).all()
    out = np.zeros(2)
    assert bg.add(np.ones(2), 2**100, out=out) is out and (out == 2.0**100).all()
    assert (bg.jit(lambda a: a * 2**100)(np.ones(2)) == 2.0**100).all()
    assert (bg.from_text("a + 2**100")(np.ones(2)) == 2.0**100).all()
    assert bg.divide(np.int64([1]), 2**100)[0] == 2.0**-100


def test_integers_beyond_64_bits_beside_integers_are_refused():
    for function in (bg.add, bg.maximum, bg.bitwise_and):
        with pytest.raises(bg.RangeError, match="out of bounds for int64"):
            function(np.int64([1]), 2**100)
    with pytest.raises(bg.RangeError, match="out of bounds"):
        bg.add(np.ones(2), 10**400)
    with pytest.raises(bg.RangeError, match="out of bounds"):
        bg.add(1, 2**100)


HUGE_ALONE = {
    "where": (lambda m: np.where(m, 0, 2**63), bg.where, (np.array([True, False]), 0, 2**63)),
    "where of two": (lambda m: np.where(m, 2**63, 2**64 - 1), bg.where, (np.array([True, False]), 2**63, 2**64 - 1)),
    "add": (None, bg.add, (2**63, 1)),
    "maximum": (None, bg.maximum, (2**63, 2**63)),
    "maximum of an array": (lambda i: np.maximum(2**64 - 1, i), bg.maximum, (2**64 - 1, np.arange(3))),
}


@pytest.mark.parametrize("case", HUGE_ALONE)
def test_python_integers_that_int64_does_not_hold_are_refused_where_numpy_refuses_or_wraps_them(case):
    traced, kernel, operands = HUGE_ALONE[case]
    with pytest.raises(bg.RangeError, match="out of bounds"):
        kernel(*operands)
    if traced is not None:
        with pytest.raises(bg.RangeError, match="out of bounds"):
            bg.jit(traced)(next(value for value in operands if isinstance(value, np.ndarray)))


@pytest.mark.parametrize("name", ["negative", "positive", "square", "invert", "sign", "absolute"])
def test_one_such_integer_alone_is_a_uint64(name):
    expected = getattr(np, name)(2**63 + 3)
    assert getattr(bg, name)(2**63 + 3) == expected and getattr(bg, name)(2**63 + 3).dtype == expected.dtype
    assert bg.divide(2**63, 2) == np.divide(2**63, 2)


@pytest.mark.parametrize("operands", [(2.0, 2**63 - 1), (2.0, -(2**63)), (2, 3), (True, 3), (np.float32(2), 3)])
def test_an_exponent_beside_a_number_is_as_wide_as_numpys(operands):
    with np.errstate(all="ignore"):
        wanted = np.ldexp(*operands)
    got = bg.ldexp(*operands)
    assert (got.dtype, got) == (wanted.dtype, wanted)


def test_functions_of_scipy_are_refused_of_complex_numbers_by_their_own_names():
    special = pytest.importorskip("scipy.special", reason="its ufuncs have other loops")
    for function in (special.expit, special.erf):
        with pytest.raises(
            bg.DTypeError, match=rf"scipy\.special\.{function.__name__}\(c64\): .*complex.*; pass \.real"
        ):
            bg.jit(lambda x, function=function: function(x), static="function")(np.complex64([1j]))


def test_the_square_of_bools_is_an_int64_of_reductions_and_refused_of_operands():
    """NumPy gives an int8 for arrays and an int64 for its scalars; an operand may be either."""
    b = np.array([True, False])
    for function in (lambda a: a.any() ** 2, lambda a: (a.all() | a.any()) ** 2, lambda a: np.square(a)):
        assert bg.jit(function)(b).dtype == function(b).dtype
    for function in (lambda a: a**2, lambda a: a[None] ** 2):
        with pytest.raises(DTypeError, match=r"an int8 for arrays, and an int64 for its scalars"):
            bg.jit(function)(b)
    with pytest.raises(DTypeError, match=r"power\(bool, int\): NumPy gives an int8 for 2.*\.astype\(numpy\.int8\)"):
        bg.jit(lambda a, n: a**n)(b, 2)
    assert bg.jit(lambda a, n: np.power(a, n))(b, 2).dtype == np.power(b, 2).dtype


def test_a_mean_of_another_kind_and_masks_of_none_are_refused():
    x = np.arange(4.0)
    with pytest.raises(DTypeError, match=r"var: mean= has dtype c128, and the values f64; write mean=numpy\.real"):
        bg.jit(lambda a: np.std(a, mean=2j))(x)
    for function in (np.add.reduce, np.sum, np.multiply.reduce):
        with pytest.raises(TraceError, match="where=None is neither"):
            bg.jit(lambda a, function=function: function(a, where=None), static="function")(x)
    with pytest.raises(TraceError, match=r"keepdims=.*neither True nor False"):
        bg.jit(lambda a: np.sum(a, keepdims=np.True_))
    assert bg.jit(lambda a: np.add.reduce(a, axis=None, dtype=None, out=None, initial=None))(x) == 6


def test_an_out_whose_elements_share_memory_is_written_where_the_mask_selects():
    shared = np.lib.stride_tricks.as_strided(np.zeros(1), (2, 3), (0, 0))
    bg.fmin(np.full((2, 3), -3.0), -1.0, out=shared, where=[[True], [False]])
    assert shared[0, 0] == -3
