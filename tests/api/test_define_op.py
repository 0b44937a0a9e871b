"""Ops defined at run time: they broadcast, trace, parse, fold and cache as the table's do, and their C is held in.

The file is long because each rule on names, C, dtypes and preludes has its refusal, and they share their ops.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading

import ml_dtypes
import numpy as np
import pytest

import bcastgen as bg
from bcastgen.cli.main import main
from bcastgen.core.errors import BcastgenError, CompileError, DTypeError, ParseError, TraceError
from bcastgen.core.resources import folder
from bcastgen.expr.compositions import COMPOSITIONS
from bcastgen.expr.reductions import FUNCTIONS
from bcastgen.loops.interpret import interpret
from bcastgen.ops import table as ops
from bcastgen.ops.table import SEVERAL, find_op, known_ops
from compile_flags import LANGUAGES, STRICT

SOFTCLIP = "x < -1 ? -1 : x > 1 ? 1 : x"


def softclip_reference(x):
    return np.clip(x, -1, 1)


@pytest.fixture(autouse=True)
def _apart(monkeypatch):
    """What a test defines is gone after it."""
    monkeypatch.setattr(ops.DEFINED, "rows", {})


@pytest.fixture
def softclip():
    return bg.define_op("softclip", c=SOFTCLIP, reference=softclip_reference, doc="Limit to [-1, 1].")


# ---- what an op is ---------------------------------------------------------------------------------------------------


def test_it_is_a_kernel_like_the_table_s(softclip):
    x = np.linspace(-3, 3, 12)
    assert isinstance(softclip, bg.Kernel)
    assert softclip.operands == ("x",)
    assert softclip.__doc__ == "Limit to [-1, 1]."
    for dtype in ("f4", "f8"):
        got = softclip(x.astype(dtype).reshape(3, 4)[:, ::2])
        assert got.dtype == dtype
        assert np.array_equal(got, np.clip(x.astype(dtype).reshape(3, 4)[:, ::2], -1, 1))
    assert bg.softclip is softclip
    assert "softclip" in dir(bg)


def test_in_jit_it_broadcasts_and_converts_as_numpy_does(softclip):
    lerp = bg.define_op("lerp", "t, low, high", c="low + t * (high - low)")

    @bg.jit
    def kernel(a, b, c):
        return softclip(a) * 2 + lerp(0.5, b, c)

    a = np.linspace(-2, 2, 4, dtype=np.float32)[:, None]
    b = np.arange(3, dtype=np.int32)
    c = np.arange(6, dtype=np.int64).reshape(2, 1, 3)
    got = kernel(a, b, c)
    expected = np.clip(a, -1, 1) * 2 + (b + 0.5 * (c.astype(float) - b))
    assert got.dtype == expected.dtype == np.float64
    assert got.shape == (2, 4, 3)
    assert np.array_equal(got, expected)
    with pytest.raises(bg.BroadcastError, match="operand 'c'"):
        kernel(a, b, np.ones(2))


def test_text_names_it(softclip):
    a, b = np.array([-3.0, 0.5]), np.array([[0.0], [10.0]])
    assert np.array_equal(bg.evaluate("softclip(a) + b"), np.clip(a, -1, 1) + b)
    typed = bg.from_text("(f32[?] a, f32[?] b) -> softclip(a) * b")
    assert np.array_equal(typed(np.float32([4, 0.5]), np.float32([3])), np.float32([3, 1.5]))
    with pytest.raises(ParseError, match=r"softclip takes 1 operand, got 2"):
        bg.evaluate("softclip(a, b)")
    with pytest.raises(ParseError, match="did you mean softclip"):
        bg.evaluate("sofclip(a)")


def test_the_command_line_lists_it(softclip, capsys):
    main(["ops"])
    last = capsys.readouterr().out.splitlines()[-1]
    assert re.fullmatch(r"softclip +1 +exact +Limit to \[-1, 1\]\.", last)
    assert known_ops()[-1] is find_op("softclip")
    assert "softclip" not in ops.OPS


def test_operands_are_named_counted_or_found():
    assert bg.define_op("f1", ("u", "v"), c="u - v").operands == ("u", "v")
    assert bg.define_op("f2", 3, c="b").operands == ("a", "b", "c")
    assert bg.define_op("f3", c="fabs(high) + low * 2e5 - 0x1p3 + INFINITY").operands == ("high", "low")
    many = bg.define_op("f4", 30, c="a - z + operand29")
    values = [float(at) for at in range(30)]
    assert many(*values) == 0 - 25 + 29


def test_operands_called_like_the_c_around_them_are_operands_all_the_same():
    odd = bg.define_op("odd", "n, i, t0, extents, status", c="n - i * t0 / extents + status", dtypes="same float")
    assert odd(1.0, 2.0, 3.0, 4.0, np.array([5.0])) == 1 - 2 * 3 / 4 + 5


def test_each_operand_is_evaluated_once_an_element(softclip):
    kernel = bg.jit(lambda a: softclip(np.exp(a)))
    kernel(np.ones(3))
    body = kernel.source[kernel.source.index("_unit(") :]
    assert body[: body.index("\n}")].count("bcg_exp_f64(") == 1


# ---- dtypes ----------------------------------------------------------------------------------------------------------


def test_one_expression_for_each_dtype_or_kind():
    half = bg.define_op(
        "half", "x", c={"float": "x * 0.5{f}", "integer": "x / 2", "u8": "x >> 1", "bool": "false"}, dtypes="same"
    )
    assert half(np.float32([3, -3])).tolist() == [1.5, -1.5]
    assert half(np.int16([7, -7])).tolist() == [3, -3]
    assert half(np.uint8([255])).tolist() == [127]
    assert half(np.array([True])).tolist() == [False]
    only = bg.define_op("only", "x", c={"f32": "x"}, dtypes="same")
    with pytest.raises(DTypeError, match=r"only\(i64\): it has no C for i64, only for f32; add it, or use"):
        only(np.arange(3))


@pytest.mark.parametrize(
    ("rule", "c", "operands", "result"),
    [
        ("same", "x", ["i2", "u1"], "i2"),
        ("same number", "x - y", ["i1", "i1"], "i1"),
        ("same integer", "x & y", ["u4", "u2"], "u4"),
        ("same float", "x", ["i8", "f4"], "f8"),
        ("to bool", "x < y", ["i4", "i8"], "?"),
        ("logical", "x && !y", ["f4", "i8"], "?"),
        ("select", "x ? y : 0", ["i4", "f4"], "f4"),
    ],
)
def test_rules_of_the_table(rule, c, operands, result):
    op = bg.define_op("ruled", "x, y", c=c, dtypes=rule)
    assert op(*(np.ones(2, dtype) for dtype in operands)).dtype == result


def test_rules_refuse_what_they_do_not_take():
    with pytest.raises(DTypeError, match=r"nobool\(bool\): not defined for bool"):
        bg.define_op("nobool", c="-x", dtypes="same number")(np.array([True]))
    with pytest.raises(DTypeError, match=r"ints\(float\): defined for integers"):
        bg.define_op("ints", c="~x", dtypes="same integer")(1.5)


def test_signatures_take_the_exact_fit_then_the_first_without_loss():
    op = bg.define_op("sized", "x", c="sizeof(x)", dtypes="f64->i32; f32->i32; i64->i8")
    for dtype, bytes_, result in [("f8", 8, "i4"), ("f4", 4, "i4"), ("i8", 8, "i1"), ("i4", 8, "i4"), ("?", 8, "i4")]:
        got = op(np.ones(1, dtype))
        assert (got.item(), got.dtype) == (bytes_, result)
    narrow = bg.define_op("narrow", "x, y", c="x + y", dtypes="f32,f32->f32")
    assert narrow(np.float32([1]), 2.5).dtype == narrow(1, 2.5).dtype == np.float32
    with pytest.raises(DTypeError, match=r"narrow\(f64, f32\): no signature takes these without loss; there are f32,"):
        narrow(np.ones(1), np.ones(1, "f4"))


@pytest.mark.parametrize("kind", [np.float16, ml_dtypes.bfloat16])
def test_16_bit_floats_are_computed_in_f32_and_rounded_once(kind):
    x = np.array([-2, 0.1, 3, np.inf], kind)
    leaky = bg.define_op("leaky_half", "x", c="x > 0 ? x : 0.1{f} * x")
    wide = x.astype(np.float32)
    assert np.array_equal(leaky(x), np.where(wide > 0, wide, np.float32(0.1) * wide).astype(kind))
    # Without C of their own they take f32's.
    by_type = bg.define_op("tanh_half", "x", c={"f32": "bcg_tanh_{t}(x)", "f64": "tanh(x)"})
    assert np.allclose(by_type(x).astype(np.float64), np.tanh(x.astype(np.float64)), rtol=0.01)
    assert by_type(x).dtype == kind
    own = bg.define_op(f"own_{np.dtype(kind).name}", "x", c={np.dtype(kind).name: "x + 1", "float": "x + 2"})
    assert own(x[:1]).tolist() == [-1] and own(wide[:1]).tolist() == [0]


def test_signatures_of_16_bit_floats():
    scale = bg.define_op("scale_half", "x, y", c="x * y", dtypes="bf16,f32->bf16; f16,f32->f32")
    x, y = np.array([1.5, 3], np.float32), np.array([0.1, 0.7], np.float32)
    halves = x.astype(ml_dtypes.bfloat16)
    assert np.array_equal(scale(halves, y), (x * y).astype(ml_dtypes.bfloat16))
    assert scale(x.astype(np.float16), y).dtype == np.float32
    assert scale(np.int8([2]), y).dtype == ml_dtypes.bfloat16
    with pytest.raises(DTypeError, match="no signature takes these without loss"):
        scale(x, y)


def test_constants_of_16_bits_are_folded_by_the_reference():
    def cube(x):
        return x * x * x

    op = bg.define_op("cube_half", "x", c="x * x * x", reference=cube)
    for name, kind in (("f16", np.float16), ("bf16", ml_dtypes.bfloat16)):
        kernel = bg.from_text(f"({name}[n] a) -> a + cube_half({name}(1.23))")
        once = kind(cube(np.float32(kind(1.23))))
        assert once != cube(kind(1.23))
        assert np.array_equal(kernel(np.zeros(2, kind)), np.full(2, once, kind))
        assert "cube_half" not in kernel.stages["typed"]
        assert np.array_equal(op(np.full(2, 1.23, kind)), np.full(2, once, kind))


def test_a_function_can_be_the_rule():
    def wider(x, y):
        if x.kind != "i":
            raise TypeError("x counts; make it an integer")
        return (x, y), np.dtype(np.float64)

    op = bg.define_op("ldexp_of", "n, x", c="ldexp(x, n)", dtypes=wider)
    assert op(np.int32([3]), np.float32([1.5])).tolist() == [12.0]
    with pytest.raises(DTypeError, match=r"ldexp_of\(float, float\): x counts; make it an integer"):
        op(1.5, 2.5)
    assert bg.define_op("same_as_x", "x", c="-x", dtypes=lambda x: x)(np.float32([1])).dtype == np.float32
    for bad in (None, (1, 2, 3), ((np.float32, np.float32), np.float32), "f12"):
        with pytest.raises(DTypeError):
            bg.define_op("bad", "x", c="x", dtypes=lambda x, bad=bad: bad, replace=True)(1.0)


@pytest.mark.parametrize(
    "dtypes", ["f32", "f32->", "->f32", "f32->f32,f32", "f32,f32->f32", "f32->f32;", "f32->f32;f32->i8"]
)
def test_tables_of_signatures_that_are_none(dtypes):
    with pytest.raises(ParseError, match=r"table.*signature"):
        bg.define_op("table", "x", c="x", dtypes=dtypes)
    with pytest.raises(DTypeError, match="f12"):
        bg.define_op("table", "x", c="x", dtypes="f12->f12")


# ---- the reference ---------------------------------------------------------------------------------------------------


def test_the_reference_folds_constants_and_interprets(softclip):
    kernel = bg.from_text("(f32[?] a) -> a + softclip(float32(7))")
    assert "softclip" not in kernel.stages["typed"]
    assert kernel(np.float32([1])).tolist() == [2]
    used = bg.jit(lambda a: softclip(a) + 1, signature="(f64[?] a) -> f64[?]")
    (got,) = interpret(used.compilation.program, (np.array([-5.0, 0.5]),))
    assert got.tolist() == [0.0, 1.5]


def test_without_a_reference_c_computes_constants_and_interpret_says_so():
    plain = bg.define_op("plain", c=SOFTCLIP)
    kernel = bg.from_text("(f32[?] a) -> a + plain(float32(7))")
    assert "plain(7.0:f32" in kernel.stages["typed"]
    assert kernel(np.float32([1])).tolist() == [2]
    assert plain(7.0) == 1
    with pytest.raises(BcastgenError, match=r"plain has no reference.*define_op reference="):
        interpret(kernel.compilation.program, (np.float32([1]),))


def test_what_a_reference_cannot_fold_is_left_to_c():
    inverse = bg.define_op("inverse", c="1 / x", reference=lambda x: 1 / float(x))
    assert inverse(0.0) == np.inf
    assert bg.evaluate("a + inverse(0.0)", {"a": np.ones(1)}) == np.inf
    bg.define_op("vector", "x", c="x", reference=lambda x: np.ones(2))
    with pytest.raises(DTypeError, match=r"vector: its reference gives an array of shape \(2,\)"):
        bg.evaluate("a + vector(0.0)", {"a": np.ones(1)})


# ---- names that are taken --------------------------------------------------------------------------------------------


def test_the_same_definition_again_is_the_same_kernel(softclip):
    assert bg.define_op("softclip", c=SOFTCLIP, reference=softclip_reference, doc="Limit to [-1, 1].") is softclip


@pytest.mark.parametrize(
    "change", [{"c": "x"}, {"dtypes": "same"}, {"ulp": 1}, {"doc": "?"}, {"reference": abs}, {"operands": "x, y"}]
)
def test_another_definition_needs_replace(softclip, change):
    given = {"c": SOFTCLIP, "reference": softclip_reference, "doc": "Limit to [-1, 1]."} | change
    if "operands" in change:
        del given["reference"]
    with pytest.raises(BcastgenError, match="softclip is defined already, and otherwise; pass replace=True"):
        bg.define_op("softclip", **given)
    assert bg.define_op("softclip", **given, replace=True) is bg.softclip is not softclip


def test_what_is_replaced_goes_on_in_what_was_made_with_it():
    old = bg.define_op("scaled", "x", c="x * 2")
    inside = bg.jit(lambda a: old(a) + 1)
    a = np.ones(2)
    assert bg.evaluate("scaled(a)").tolist() == [2, 2]
    new = bg.define_op("scaled", "x", c="x * 3", replace=True)
    assert bg.evaluate("scaled(a)").tolist() == new(a).tolist() == [3, 3]
    assert inside(a).tolist() == [3, 3]
    assert inside(a.astype("f4")).tolist() == [3, 3]
    with pytest.raises(TraceError, match="scaled was replaced after a kernel that this expression uses was traced"):
        bg.jit(lambda a: new(inside(a)))


@pytest.mark.parametrize("name", ["add", "asin", "where", "cast", "pow"])
def test_names_of_the_table_stay(name):
    with pytest.raises(BcastgenError, match=f"{name} is an op of the table.* cannot be redefined"):
        bg.define_op(name, "x", c="x", replace=True)


@pytest.mark.parametrize("name", sorted({*SEVERAL, *COMPOSITIONS, *FUNCTIONS}))
def test_names_of_functions_stay(name):
    """A kernel that is pickled as a text means what it meant, wherever it arrives."""
    with pytest.raises(BcastgenError, match=f"^{name} is .* cannot be redefined; choose another name"):
        bg.define_op(name, "x", c="x * 2", dtypes="same")


@pytest.mark.parametrize("name", ["f32", "float32", "i8"])
def test_names_of_dtypes_stay(name):
    with pytest.raises(BcastgenError, match="is a dtype"):
        bg.define_op(name, "x", c="x")


@pytest.mark.parametrize("name", ["", "1x", "a b", "a-b", "größe", "_x", "__init__", "x;", "x\n", 3, None])
def test_names_that_are_none(name):
    with pytest.raises(ParseError, match="is no plain name"):
        bg.define_op(name, "x", c="x")
    if name != "":
        with pytest.raises(ParseError, match="is no plain name"):
            bg.define_op("named", (name,), c="x")


@pytest.mark.parametrize("name", ["for", "register", "lambda", "double", "int32_t", "NAN", "template"])
def test_words_of_c_and_python_are_no_names(name):
    for given in ((name, "x"), ("named", (name,))):
        with pytest.raises(ParseError, match=r"is a word of (C|Python)"):
            bg.define_op(*given, c="1")


# ---- C that is none --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("c", "why"),
    [
        ("", "is no C expression"),
        ("   ", "is no C expression"),
        (None, "is no C expression"),
        ({}, "is no C expression"),
        ({"f32": 1}, "is no C expression"),
        ({"f12": "x"}, "no dtype and no kind; the kinds are bool, signed"),
        ({"f32": "x", "float32": "x"}, "f32 twice"),
        ("x; y", "column 2 of its C is a semicolon"),
        ("x\n+ 1", "a line break"),
        ("x // 2", "a comment"),
        ("x /* */", "a comment"),
        ("x */ 2", "a comment"),
        ("#x", "a preprocessor directive"),
        ("x %: x", "a preprocessor directive"),
        ("x \\", "a backslash"),
        ("x ??/ 2", "a backslash or trigraph"),
        ("x<:0:>", "a digraph"),
        ('x + "a"[0]', "a character that has no place"),
        ("x + 'a'", "a character that has no place"),
        ("x + é", "a character that has no place"),
        ("x + \0", "a character that has no place"),
        ("x = 2", "an assignment"),
        ("x += 2", "an assignment"),
        ("x <<= 2", "an assignment"),
        ("x++", "an assignment"),
        ("(x", "leaves '(' open"),
        ("x)", "column 2 of its C closes a bracket"),
        ("x) + (x", "column 2 of its C closes a bracket"),
        ("(x]", "column 3 of its C closes a bracket"),
        ("{x}", "column 1 of its C is a brace"),
        ("{0} + x", "column 1 of its C is a brace"),
        ("x, x", "column 2 of its C is a comma"),
        ("x + n", "names 'n', which is neither an operand"),
        ("x + bcg_entry", "names 'bcg_entry'"),
        ("x + n{f}", "names 'n{f}'"),
        ("x(1)", "calls 'x', which is an operand"),
        ("system(x)", "calls 'system', which is neither"),
        ("tan{t}(x)", "calls 'tan{t}'"),
        ("asm(x)", "calls 'asm'"),
    ],
)
def test_c_that_is_no_expression_over_the_operands(c, why):
    with pytest.raises(ParseError, match=re.escape(why)) as caught:
        bg.define_op("wrong", "x", c=c)
    assert str(caught.value).startswith("wrong: ")
    assert find_op("wrong") is None


def test_numbers_of_operands_that_do_not_agree():
    for operands, c in (((), "x"), ("", "1"), (0, "1"), (None, "1 + 2")):
        with pytest.raises(ParseError, match="wrong has no operands; name at least one"):
            bg.define_op("wrong", operands, c=c)
    for given in ({"reference": lambda x: x}, {"dtypes": lambda x: x}):
        with pytest.raises(ParseError, match=r"wrong has 2 operands, which (reference|dtypes)= does not take"):
            bg.define_op("wrong", "x, y", c="x", **given)
    with pytest.raises(ParseError, match="names 'b', which is neither an operand"):
        bg.define_op("wrong", 1, c="a + b")
    with pytest.raises(ParseError, match="two operands are called 'x'"):
        bg.define_op("wrong", "x, x", c="x")
    with pytest.raises(ParseError, match="'select' takes a bool"):
        bg.define_op("wrong", "x", c="x", dtypes="select")
    with pytest.raises(ParseError, match="ulp=-1"):
        bg.define_op("wrong", "x", c="x", ulp=-1)
    with pytest.raises(TypeError, match=r"two\(\) takes from 2 to 3 positional arguments but 1 was given"):
        bg.define_op("two", "x, y", c="x - y")(1)


@pytest.mark.parametrize("c", ["x +", "x % 2", "x ? 1", "x x", "fmod(x)", "x" + " + 1" * 60 + " +"])
def test_c_that_does_not_compile_names_the_op(c):
    kernel = bg.define_op("broken_op", "x", c=c)
    with pytest.raises(CompileError, match=r"/\* broken_op \*/ .*double"):
        kernel(np.ones(2))
    with pytest.raises(CompileError, match=r"/\* broken_op \*/ .*float"):
        bg.evaluate("broken_op(x)", {"x": np.ones(2, "f4")})


def test_helpers_of_ours_may_be_called_for_the_dtypes_they_have():
    gelu = bg.define_op("fast_gelu", "x", c="0.5{f} * x * (1 + bcg_tanh_{t}(0.7978845608{f} * x))")
    x = np.linspace(-2, 2, 9)
    np.testing.assert_allclose(gelu(x), 0.5 * x * (1 + np.tanh(0.7978845608 * x)), rtol=1e-12)
    wrong = bg.define_op("wrong", "x", c="bcg_tanh_{t}(x)", dtypes="same")
    with pytest.raises(DTypeError, match=r"wrong\(i64\): its C calls bcg_tanh_i64, which bcastgen does not have"):
        wrong(np.arange(3))


# ---- binaries --------------------------------------------------------------------------------------------------------


def test_another_c_is_another_binary(monkeypatch, tmp_path):
    monkeypatch.setenv("BCASTGEN_CACHE_DIR", str(tmp_path))
    x = np.arange(3.0)
    first = bg.define_op("keyed", "x", c="x + 1")
    outer = bg.jit(lambda a: first(a) * 2, name="outer")
    assert (first(x).tolist(), outer(x).tolist()) == ([1, 2, 3], [2, 4, 6])
    second = bg.define_op("keyed", "x", c="x + 2", replace=True)
    again = bg.jit(lambda a: second(a) * 2, name="outer")
    assert (second(x).tolist(), again(x).tolist()) == ([2, 3, 4], [4, 6, 8])
    assert [kernel.compilations for kernel in (first, outer, second, again)] == [1, 1, 1, 1]
    back = bg.define_op("keyed", "x", c="x + 1", replace=True)
    assert back(x).tolist() == [1, 2, 3]
    assert back.compilations == 0
    other = bg.define_op("keyed", "x", c="x + 1", dtypes="f64->f32", replace=True)
    assert other(x).dtype == np.float32
    assert other.compilations == 1


def test_its_c_stands_in_explain(softclip):
    softclip(np.ones(1))
    assert "t0 = softclip(x, c='(double)({0} < -1 ? -1 : {0} > 1 ? 1 : {0})') : f64" in softclip.stages["typed"]
    assert "t0 = softclip(x)\n" in softclip.stages["expression"]
    assert "/* softclip */ const double t0 = (double)(" in softclip.source


SECOND = """
import numpy as np, bcastgen as bg
clip = bg.define_op("softclip", c={c!r})
kernel = bg.jit(lambda a, b: clip(a) + b, name="shared")
print(kernel(np.array([-3.0, 0.5]), 1.0).tolist(), kernel.compilations)
"""


def test_a_second_process_finds_it_on_disk(tmp_path):
    environment = os.environ | {"BCASTGEN_CACHE_DIR": str(tmp_path), "PYTHONPATH": str(folder("csrc").parent)}

    def run(c):
        command = [sys.executable, "-c", SECOND.format(c=c)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert run(SOFTCLIP) == "[0.0, 1.5] 1\n"
    assert run(SOFTCLIP) == "[0.0, 1.5] 0\n"
    assert run("x * 2") == "[-5.0, 2.0] 1\n"


def test_threads_define_and_call(monkeypatch, tmp_path):
    monkeypatch.setenv("BCASTGEN_CACHE_DIR", str(tmp_path))
    start, kernels, failures = threading.Barrier(4), [], []

    def work(at):
        try:
            start.wait()
            for _ in range(50):
                bg.define_op(f"own{at}", "x", c=f"x + {at}")
                same = bg.define_op("shared", "x", c="x * 2")
                bg.define_op("changing", "x", c=f"x * {at}", replace=True)
                assert find_op("changing").arity == 1
            a = np.ones(3)
            assert bg.jit(lambda a: same(a) + find_kernel(at)(a))(a).tolist() == [3.0 + at] * 3
            assert same(a).tolist() == [2.0] * 3
            kernels.append(same)
        except BaseException as error:
            failures.append(error)

    def find_kernel(at):
        return getattr(bg, f"own{at}")

    threads = [threading.Thread(target=work, args=(at,)) for at in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert all(kernel is kernels[0] for kernel in kernels)
    assert kernels[0].compilations == 1
    assert {f"own{at}" for at in range(4)} <= {op.name for op in known_ops()}


# ---- standalone C ----------------------------------------------------------------------------------------------------


def strict(source):
    for command in (["gcc", *LANGUAGES["c"]], ["g++", *LANGUAGES["c++"]]):
        done = subprocess.run(
            [*command, *STRICT, "-c", source.name], cwd=source.parent, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr


def test_standalone_c_compiles_under_every_warning(softclip, tmp_path):
    kernel = bg.jit(lambda a, b: softclip(a) + b, signature="(f32[?,?] a, f32[?] b) -> f32[?,?]", name="clipped")
    paths = kernel.emit_c(tmp_path)
    assert "(float)(a0 < -1 ? -1 : a0 > 1 ? 1 : a0)" in paths[0].read_text()
    strict(paths[0])


# ---- preludes --------------------------------------------------------------------------------------------------------

KNEE = "static float knee(float x) { return x * x; }"


@pytest.mark.parametrize(
    ("prelude", "why"),
    [
        (None, "prelude=None is no text"),
        ("#include <math.h>", "line 1 of its prelude has a preprocessor directive"),
        (f"{KNEE}\n%: define x", "line 2 of its prelude has a preprocessor directive"),
        ("static float f(float x) { return x; \\\n}", "line 1 of its prelude has a backslash"),
        ("static float f(float x) { return x ??/ 2; }", "a backslash or trigraph"),
        ("static float f(float x) <% return x; %>", "a digraph"),
        ('static float f(float x) { puts("x"); return x; }', "a character that has no place"),
        ("static float _f(float x) { return x; }", "a name that C reserves"),
        ("static float f(float x) { return x__y; }", "a name that C reserves"),
        ("static float f(float x) { asm(x); return x; }", "a word that functions of numbers do without"),
        ("extern float f(float x);", "a word that functions of numbers do without"),
        ("float f(float x) { return x; }", "write functions"),
        ("static float f(float x);", "write functions"),
        ("static float k = 2;", "and constants"),
        ("int", "is no whole definition"),
        ("static float f(float x) { return x; }}", "line 1 of its prelude closes a bracket"),
        ("static float f(float x) { return (x; }", "line 1 of its prelude closes a bracket"),
        ("static float f(float x) { return x;", "leaves '{' open"),
        ("static int f(int x) { static int n; return n + x; }", "keeps a value between calls"),
        ("static float f(float x) { return g(x); }", "calls 'g', which is neither in the prelude"),
        ("static float f(float x) { system(x); return x; }", "calls 'system'"),
        ("static float bcg_exp_f64(float x) { return x; }", "names that begin with bcg_ are"),
        ("static float exp(float x) { return x; }", "defines 'exp', which is taken"),
        (KNEE + KNEE, "defines 'knee', which is taken"),
    ],
)
def test_preludes_that_are_no_definitions(prelude, why):
    with pytest.raises(ParseError, match=re.escape(why)) as caught:
        bg.define_op("wrong", "x", c="x", prelude=prelude)
    assert str(caught.value).startswith("wrong: ")
    assert find_op("wrong") is None


PRELUDE = """
/* Where the knees are. */
static const double knots[2] = {0.25, 0.75};

static double knee(double x) { // by cases
    for (int at = 0; at < 2; at++) {
        if (x < knots[at]) return knots[at] * x;
    }
    return tanh(x);
}
static inline double idle(double v) { return v; }
static double twice(double x)
{
    return 2 * knee(x) + bcg_exp_f64(0);
}
"""


def knees(x):
    x = np.asarray(x, float)
    return np.where(x < 0.25, 0.25 * x, np.where(x < 0.75, 0.75 * x, np.tanh(x)))


def test_a_prelude_s_functions_and_tables_are_called():
    op = bg.define_op("soft_knee", "x", c="twice(x) + knots[0]", prelude=PRELUDE)
    x = np.linspace(-1, 1, 9)
    np.testing.assert_allclose(op(x), 2 * knees(x) + 1.25, rtol=1e-14)
    assert "idle" not in re.sub(r"/\*.*?\*/", "", op.source, flags=re.DOTALL)
    assert "bcg_user2_soft_knee_knee(double x)" in op.source
    # The same names in another op, and what comes to the same letters.
    other = bg.define_op(
        "knot",
        "x",
        c="knee(x) + 0 * soft_knee(x)",
        prelude=KNEE.replace("float", "double") + "static double soft_knee(double x) { return x; }",
    )
    alike = bg.define_op("knot_soft", "x", c="knee(x)", prelude="static double knee(double x) { return 3 * x; }")
    mixed = bg.jit(lambda a: op(a) + other(a) * 100 + alike(a) * 1000)
    np.testing.assert_allclose(mixed(x), 2 * knees(x) + 1.25 + 100 * x * x + 3000 * x, rtol=1e-12)


def test_another_prelude_is_another_binary(monkeypatch, tmp_path):
    monkeypatch.setenv("BCASTGEN_CACHE_DIR", str(tmp_path))
    made = []
    for factor in (2, 3, 2):
        prelude = f"static double f(double x) {{ return x * {factor}; }}"
        made.append(bg.define_op("prefixed", "x", c="f(x)", dtypes="f64->f64", prelude=prelude, replace=True))
        assert made[-1](np.ones(1)).tolist() == [factor]
    assert [kernel.compilations for kernel in made] == [1, 1, 0]
    # The first is replaced, and goes on with what it has.
    again = bg.jit(lambda a: made[0](a) - 1)
    bg.define_op("prefixed", "x", c="knee(x)", dtypes="f64->f64", prelude=KNEE, replace=True)
    assert again(np.ones(1)).tolist() == [1]


def test_a_prelude_that_does_not_compile_names_the_op():
    op = bg.define_op("broken_op", "x", c="f(x)", prelude="static double f(double x) { return y; }")
    with pytest.raises(CompileError, match="bcg_user2_broken_op_f"):
        op(1.0)
    with pytest.raises(ParseError, match="'f' is an operand, and defined in the prelude"):
        bg.define_op("twofold", "f", c="f + 1", prelude="static double f(double x) { return x; }")


def test_a_prelude_in_standalone_c_has_the_kernel_s_prefix(tmp_path):
    op = bg.define_op("soft_knee", "x", c="twice(x) + knots[0]", prelude=PRELUDE)
    kernel = bg.jit(lambda a, b: op(a) * b, signature="(f64[?] a, f64[?,?] b) -> f64[?,?]", name="kneed")
    source, header, *_ = kernel.emit_c(tmp_path)
    code = re.sub(r"/\*.*?\*/", "", source.read_text() + header.read_text(), flags=re.DOTALL)
    assert "static double kneed_user2_soft_knee_twice(double x)" in code
    assert "bcg_" not in code
    assert "idle" not in code
    strict(source)
