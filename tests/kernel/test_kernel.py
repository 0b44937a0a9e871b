"""Kernels: one binary per tuple of dtypes, found again by other processes, built once by several threads.

The file is long because everything a kernel's methods promise is asked here.
"""

from __future__ import annotations

import copy
import inspect
import json
import re
import subprocess
import sys
import threading
import typing
from pathlib import Path

import numpy as np
import pytest

import bcastgen as bg
from bcastgen.core.errors import DomainError
from bcastgen.expr.trace import trace
from bcastgen.kernel.kernel import Kernel
from bcastgen.pipeline import compilation
from bcastgen.pipeline.stages import DUMPED
from bcastgen.shape.types.tensor_type import parse_signature


@pytest.fixture(autouse=True)
def fresh_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("BCASTGEN_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_one_binary_serves_every_rank_shape_and_layout():
    kernel = bg.jit(lambda a, b: a * b + 1)
    base = np.arange(24.0)
    for a in (
        base,
        base.reshape(4, 6),
        base.reshape(2, 3, 4).T,
        base[::-2],
        np.broadcast_to(base[:1], (5, 1)),
        base[0],
    ):
        for b in (base[:1], base.reshape(4, 6)[:, :1], np.float64(3), base[:0].reshape(0, 1)):
            try:
                expected = a * b + 1
            except ValueError:
                continue
            got = kernel(a, b)
            assert np.array_equal(got, expected)
            assert got.shape == np.shape(expected)
    assert kernel.compilations == 1


def test_each_tuple_of_dtypes_is_a_binary():
    kernel = bg.jit(lambda a, b: a + b)
    assert kernel(np.int8([100]), np.int8([100])).tolist() == [-56]
    assert kernel(np.int8([100]), np.int16([100])).tolist() == [200]
    assert kernel(np.int8([100]), np.int8([1])).dtype == np.int8
    assert kernel.compilations == 2


def test_result_dtypes_do_not_depend_on_what_was_called_before():
    kernel = bg.jit(lambda a, b: a + b)
    first = kernel(np.int8([1]), np.int8([1])).dtype
    kernel(np.ones(1), np.ones(1))
    assert kernel(np.int8([1]), np.int8([1])).dtype == first == np.int8


PROCESS = """
import json, sys, numpy as np
numpys = set(sys.modules)
import bcastgen as bg
kernel = bg.jit(lambda a, b: a * b + 1)
value = kernel(np.arange(3.0), np.arange(3.0)).tolist()
own = set(sys.modules) - numpys
print(json.dumps([kernel.compilations, value, "jinja2" in own, "subprocess" in own]))
"""


def test_a_second_process_finds_the_kernel_on_disk():
    runs = [
        json.loads(subprocess.run([sys.executable, "-c", PROCESS], capture_output=True, text=True, check=True).stdout)
        for _ in range(2)
    ]
    assert [run[:2] for run in runs] == [[1, [1.0, 2.0, 5.0]], [0, [1.0, 2.0, 5.0]]]
    assert runs[1][2:] == [False, False], "a kernel found on disk needs neither templates nor a compiler"


def test_threads_that_want_one_kernel_build_it_once():
    kernel = bg.jit(lambda a, b: a - 3 * b)
    results, barrier = [], threading.Barrier(8)

    def call():
        barrier.wait()
        results.append(kernel(np.arange(4.0), 2.0).tolist())

    threads = [threading.Thread(target=call) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [[-6.0, -5.0, -4.0, -3.0]] * 8
    assert kernel.compilations == 1


def test_kernels_inline_into_kernels():
    double = bg.jit(lambda a: a + a)
    kernel = bg.jit(lambda x, y: double(x) * bg.maximum(y, 0) + bg.where(x > 1, x, 0.0))
    x, y = np.arange(3.0), np.array([-1.0, 2.0, 3.0])
    assert np.array_equal(kernel(x, y), 2 * x * np.maximum(y, 0) + np.where(x > 1, x, 0.0))
    assert double.compilations == 0


def test_defaults_names_and_out():
    @bg.jit
    def scaled(x, factor=2.0, offset=1):
        """Scale."""
        return x * factor + offset

    x = np.float32([1, 2])
    assert scaled(x).tolist() == [3, 5]
    assert scaled(x).dtype == np.float32
    assert scaled(x, offset=0, factor=3).tolist() == [3, 6]
    out = np.empty(2, np.float32)
    assert scaled(x, out=out) is out
    assert out.tolist() == [3, 5]
    assert (scaled.__name__, scaled.__doc__) == ("scaled", "Scale.")
    with pytest.raises(TypeError, match="scaled"):
        scaled()


def test_several_results_of_different_shapes():
    kernel = bg.jit(lambda a, b: (a + b, b * 2, np.float32(7)))
    total, doubled, constant = kernel(np.ones((3, 1)), np.arange(2.0))
    assert total.tolist() == [[1, 2]] * 3
    assert doubled.tolist() == [0, 2]
    assert (constant.shape, constant.dtype, float(constant)) == ((), np.float32, 7)


def test_zero_dim_results_are_scalars_unless_arrays_are_asked_for():
    result = bg.add(1.5, np.float64(2))
    assert (type(result), result) == (np.float64, 3.5)
    kept = bg.add(1.5, np.float64(2), out=...)
    assert (type(kept), kept.shape, float(kept)) == (np.ndarray, (), 3.5)
    arrays = bg.jit(lambda a, b: (a + b, a < b), scalars=False)
    assert [type(value) for value in arrays(1, 2)] == [np.ndarray] * 2
    arrays.scalars = True
    assert [type(value) for value in arrays(1, 2)] == [np.int64, np.bool_]
    assert [type(value) for value in arrays(np.ones(1), 2)] == [np.ndarray] * 2


def test_results_without_dims_are_scalars_of_every_dtype():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    for dtype in map(np.dtype, ("?", *"bBhHiIlLefdFD", ml_dtypes.bfloat16)):
        same = bg.jit(lambda a: bg.where(a == a, a, a))
        value = np.ones(3, dtype)[1]
        result = same(value)
        assert (type(result), result) == (type(value), value), dtype
        assert type(same(value, out=...)) is np.ndarray
    many = bg.jit(lambda a: (a, a + 1, a + 2, a + 3, a + 4, a + 5))
    assert [(type(value), value) for value in many(2)] == [(np.int64, 2 + i) for i in range(6)]
    out = np.empty((), np.int64)
    got = bg.jit(lambda a: (a, a + 1, a * 1j))(np.int64(2), out=(None, out, None))
    assert [type(value) for value in got] == [np.int64, np.ndarray, np.complex128]
    assert (got[0], int(out), got[2]) == (2, 3, 2j)
    assert got[1] is out


def test_scalars_of_large_arrays_are_right_while_other_threads_call():
    total = bg.from_text("(f64[?] a) -> sum(a)")
    arrays = [np.full(1_000_000, float(i)) for i in range(4)]
    found = [[] for _ in arrays]

    def call(at):
        found[at] = [float(total(arrays[at])) for _ in range(20)]

    threads = [threading.Thread(target=call, args=(at,)) for at in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [[1e6 * i] * 20 for i in range(4)]


def test_mismatches_name_operand_dim_and_sizes():
    kernel = bg.jit(lambda a, b: a + b)
    with pytest.raises(bg.BroadcastError) as caught:
        kernel(np.ones((2, 3)), np.ones((2, 2)))
    call = "kernel(a: [2, 3], b: [2, 2])"
    assert str(caught.value) == f"operand 'b' dim 1 has extent 2, expected 1 or 3 (from 'a'), in {call}"
    error = caught.value
    assert (error.operand, error.dim, error.expected, error.actual, error.against) == ("b", 1, 3, 2, "a")
    assert isinstance(error, ValueError)


def test_a_result_of_the_wrong_shape():
    kernel = bg.jit(lambda a: a + 1)
    with pytest.raises(bg.BroadcastError, match=r"result 'r' dim 0 has extent 4, expected 3"):
        kernel(np.ones(3), out=np.empty(4))


def test_negative_integer_powers_raise_and_write_nothing():
    kernel = bg.jit(lambda a, b: a**b)
    out = np.full(3, 77)
    with pytest.raises(bg.DomainError, match="Integers to negative integer powers"):
        kernel(np.arange(3), np.array([1, 2, -1]), out=out)
    assert out.tolist() == [77, 77, 77]


def test_python_ints_must_fit():
    kernel = bg.jit(lambda a, n: a + n)
    assert kernel(np.uint8([1]), 254).tolist() == [255]
    with pytest.raises(OverflowError, match=r"300.*'n'|'n'.*300"):
        kernel(np.uint8([1]), 300)


class TestSignatures:
    def test_facts_are_checked_at_the_call(self):
        kernel = bg.jit(lambda x, b: x + b, signature="(f32[?, 4] x, f32[4] b) -> f32[?, 4]")
        x, b = np.ones((3, 4), np.float32), np.arange(4, dtype=np.float32)
        assert np.array_equal(kernel(x, b), x + b)
        with pytest.raises(bg.BroadcastError, match="operand 'x' has rank 1, expected 2"):
            kernel(b, b)
        with pytest.raises(bg.BroadcastError, match="operand 'b' dim 0 has extent 1, expected 4"):
            kernel(x, b[:1])
        with pytest.raises(bg.DTypeError, match="operand 'x' has dtype f64, declared f32"):
            kernel(x.astype(float), b)

    def test_a_symbol_that_is_repeated_still_stretches(self):
        kernel = bg.jit(lambda a, b, c: a + b + c, signature="(f64[n] a, f64[n] b, f64[?] c)")
        one = np.ones(1)
        assert kernel(one, one, np.arange(5.0)).tolist() == [2, 3, 4, 5, 6]
        with pytest.raises(bg.BroadcastError, match=r"operand 'b' dim 0 has extent 3, expected 2 \(from 'a'\)"):
            kernel(np.ones(2), np.ones(3), one)

    def test_python_scalars_take_the_declared_dtype(self):
        kernel = bg.jit(lambda x, k: x * k, signature="(i32[?] x, f32[] k)")
        assert kernel(np.int32([3]), 0.5).dtype == np.float64
        assert bg.jit(lambda x, k: x * k, signature="(f32[?] x, f32[] k)")(np.float32([3]), 0.5).dtype == np.float32

    def test_what_cannot_hold_is_an_error_before_any_call(self):
        kernel = bg.jit(lambda a, b: a + b, signature="(f32[3] a, f32[2] b)")
        with pytest.raises(bg.BroadcastError, match="operand 'b' dim 0 has extent 2, expected 1 or 3"):
            kernel.explain()

    @pytest.mark.parametrize(
        ("signature", "message"),
        [
            ("(f32[?] a)", "1 operands, the function 2"),
            ("(f32[?] a, f32[?] c)", "names 'c' where the function has 'b'"),
            ("(f32[?] a, f32[?] b) -> a + b", "not in an expression"),
            ("(f33[?] a, f32[?] b)", "f33"),
        ],
    )
    def test_signatures_that_do_not_fit_the_function(self, signature, message):
        with pytest.raises(bg.ParseError, match=message):
            bg.jit(lambda a, b: a + b, signature=signature)


def test_explain_shows_every_stage():
    kernel = bg.jit(lambda a, b: a * b + 1, name="axpb")
    text = kernel.explain()
    for stage in ("== expression", "== typed", "== nest", "== constraints", "== shape", "== schedule", "== c"):
        assert stage in text
    assert "static" in kernel.source
    assert set(kernel.stages) == {
        "expression",
        "typed",
        "nest",
        "constraints",
        "shape",
        "other_rewrites",
        "schedule",
        "c",
        "standalone_schedule",
    }
    kernel(np.float32([1]), np.float32([2]))
    assert "a: f32" in kernel.explain()


def test_a_stage_that_there_is_not_cannot_be_dumped(monkeypatch):
    monkeypatch.setenv("BCASTGEN_DUMP", "typed,nests")
    with pytest.raises(
        bg.BcastgenError, match=r"BCASTGEN_DUMP='typed,nests'.* 'nests'; name some of typed, nest, shape"
    ):
        _ = bg.from_text("a * 3 + b").stages


def test_what_can_be_dumped_is_what_is_made():
    source = Path(compilation.__file__).read_text(encoding="utf-8")
    assert set(re.findall(r'_dump\("(\w+)"', source)) == set(DUMPED)


def test_stages_are_dumped_on_demand(monkeypatch, capsys):
    monkeypatch.setenv("BCASTGEN_DUMP", "typed,nest")
    bg.jit(lambda a: a + 1, name="bump")(np.ones(2))
    printed = capsys.readouterr().err
    assert "--- bump: typed" in printed
    assert "--- bump: nest" in printed
    assert "--- bump: c" not in printed


def test_emit_c_writes_all_files_or_none(tmp_path):
    kernel = bg.jit(lambda a, b: a + b, signature="(f32[?] a, f32[?] b)", name="total")
    written = kernel.emit_c(tmp_path / "out")
    assert [path.name for path in written] == ["total.c", "total.h", "bcastgen.h"]
    (tmp_path / "file").write_text("")
    with pytest.raises(bg.BcastgenError, match="cannot write to"):
        kernel.emit_c(tmp_path / "file")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["bcastgen.h", "total.c", "total.h"]


def test_a_python_scalar_and_an_array_take_turns():
    kernel = bg.jit(lambda a, b: a * b)
    a = np.arange(4.0)
    assert kernel(a, 2.0).tolist() == [0, 2, 4, 6]
    assert kernel(a, a).tolist() == [0, 1, 4, 9]
    assert bg.jit(lambda a, b: a * b)(a, a).tolist() == [0, 1, 4, 9]


def test_operands_with_their_own_ufunc_protocol_are_refused_by_name():
    class Quantity:
        def __array_ufunc__(self, *_args, **_options):
            return NotImplemented

    with pytest.raises(TypeError, match=r"'b'.*Quantity"):
        bg.jit(lambda a, b: a * b)(np.ones(2), Quantity())


def test_copies_are_the_kernel_itself():
    kernel = bg.jit(lambda a: a + 1)
    assert copy.copy(kernel) is kernel
    assert copy.deepcopy({"k": kernel})["k"] is kernel


class TestConstants:
    """Arrays that are the kernel's own."""

    WEIGHTS = np.float32([0.5, 2.0, 4.0])

    def kernel(self, types="(f32[?,3] a, f32[?,1] b, f32[3] w) -> f32[?,3]", values=(WEIGHTS,), function=None):
        signature = parse_signature(types)
        names = tuple(name for name, _ in signature.operands)
        expression = trace(function or (lambda a, b, w: a * w + b), names)
        return Kernel(expression, "scaled", names, 1, values, signature, constants=len(values))

    def test_calls_do_without_them(self):
        kernel = self.kernel()
        a, b = np.ones((2, 3), np.float32), np.ones((2, 1), np.float32)
        expected = a * self.WEIGHTS + b
        out = np.empty_like(expected)
        for got in (kernel(a, b), kernel(a, b=b), kernel(b=b, a=a), kernel(a, b, out=out), kernel(a.astype(">f4"), b)):
            assert np.array_equal(got, expected)
        assert out is kernel(a, b, out=out)
        assert (kernel.operands, str(kernel.signature)) == (("a", "b"), "(f32[?, 3] a, f32[?, 1] b) -> f32[?, 3]")
        assert "w" not in repr(kernel).replace("<kernel", "")

    def test_nobody_passes_or_changes_them(self):
        values = self.WEIGHTS.copy()
        kernel = self.kernel(values=(values,))
        a, b = np.ones((1, 3), np.float32), np.ones((1, 1), np.float32)
        before = kernel(a, b)
        values[:] = 0
        assert np.array_equal(kernel(a, b), before)
        with pytest.raises(TypeError, match="takes 2 positional arguments but 3 were given"):
            kernel(a, b, self.WEIGHTS)
        with pytest.raises(TypeError, match="unexpected keyword argument 'w'"):
            kernel(a, b, w=self.WEIGHTS)
        with pytest.raises(TypeError, match="missing 1 required positional argument: 'b'"):
            kernel(a)

    def test_errors_and_sizes_speak_of_the_operands_given(self):
        kernel = self.kernel()
        for _ in range(2):  # by a stand-in of every operand, then by the binary that is there
            assert kernel.result_shape((2, 3), (1, 1)) == (2, 3)
            with pytest.raises(bg.BroadcastError, match="operand 'a' dim 1 has extent 4, expected 3"):
                kernel.result_shape((2, 4), (1, 1))
            with pytest.raises(TypeError, match="2 operands, got 3"):
                kernel.result_shape((2, 3), (1, 1), (3,))
            kernel(np.ones((2, 3), np.float32), np.ones((1, 1), np.float32))
        assert kernel.shape_function.run((2, 3), (1, 1)) == (2, 3)
        with pytest.raises(bg.BroadcastError, match="result 'r' dim 0 has extent 1, expected 2"):
            kernel(np.ones((2, 3), np.float32), np.ones((1, 1), np.float32), out=np.empty((1, 3), np.float32))

    def test_the_binary_does_not_hold_them(self):
        first, second = self.kernel(), self.kernel(values=(self.WEIGHTS * 2,))
        a, b = np.ones((1, 3), np.float32), np.zeros((1, 1), np.float32)
        assert np.array_equal(first(a, b) * 2, second(a, b))
        assert (first.compilations, second.compilations) == (1, 0)

    def test_explain_shows_them_and_nothing_is_asked_of_them(self):
        stages = self.kernel().stages
        assert stages["constants"] == "w : float32[3] [0.5 2.  4. ]"
        assert "w.0 = 3: proved, it is a constant's own" in stages["constraints"]
        assert "%w" not in stages["shape"]

    def test_emitted_c_has_them_inside(self, tmp_path):
        source, header, _ = self.kernel().emit_c(tmp_path)
        assert "0.5f, 2.0f, 4.0f" in source.read_text()
        assert (
            "scaled(const bcastgen_array *a, const bcastgen_array *b, const bcastgen_result *r," in header.read_text()
        )

    @pytest.mark.parametrize(
        ("types", "values", "message"),
        [
            ("(f32[?,3] a, f32[?,1] b, f32[4] w)", (WEIGHTS,), r"constant 'w' .* has shape \(3,\), declared f32\[4\]"),
            ("(f32[?,3] a, f32[?,1] b, f32[?] w)", (WEIGHTS,), r"constant 'w' .* declared f32\[\?\]"),
            ("(f32[?,3] a, f32[?,1] b, f32[*] w)", (WEIGHTS,), r"constant 'w' .* declared f32\[\*\]"),
            ("(f32[?,3] a, f32[?,1] b, f32[1] w)", ([[1]],), r"constant 'w' .* has shape \(1, 1\)"),
        ],
    )
    def test_their_types_are_static(self, types, values, message):
        with pytest.raises(bg.BroadcastError, match=message):
            self.kernel(types, values)

    def test_no_other_kernel_takes_them_in(self):
        kernel = self.kernel()
        with pytest.raises(bg.TraceError, match="scaled holds the constant arrays 'w'; call it outside of the kernel"):
            bg.jit(lambda a, b: kernel(a, b) + 1)(np.ones((1, 3)), np.ones((1, 1)))

    def test_operands_of_any_rank_meet_them(self):
        kernel = self.kernel("(f32[*] a, f32[*] b, f32[3] w)")
        a, b = np.ones((2, 1, 1), np.float32), np.ones(1, np.float32)
        assert np.array_equal(kernel(a, b), a * self.WEIGHTS + b)
        assert kernel.result_shape((4, 1), ()) == kernel.shape_function.run((4, 1), ()) == (4, 3)
        with pytest.raises(bg.BroadcastError, match=r"operand 'a' dim 1 has extent 4, expected 1 or 3 \(from 'w'\)"):
            kernel(np.ones((2, 4), np.float32), b)

    def test_each_has_a_value_and_a_type(self):
        expression = trace(lambda a, w: a + w, ("a", "w"))
        with pytest.raises(bg.BroadcastError, match="a signature has to give their types"):
            Kernel(expression, "f", ("a", "w"), 1, (self.WEIGHTS,), constants=1)
        with pytest.raises(TypeError, match="2 constants and 1 defaults; give each constant its value"):
            Kernel(
                expression, "f", ("a", "w"), 1, (self.WEIGHTS,), parse_signature("(f32[3] a, f32[3] w)"), constants=2
            )
        with pytest.raises(bg.DTypeError, match="declared f64"):
            self.kernel("(f32[?,3] a, f32[?,1] b, f64[3] w)")(np.ones((1, 3), np.float32), np.ones((1, 1), np.float32))


@pytest.mark.parametrize("called", [False, True])
def test_result_shape_refuses_what_is_no_shape(called):
    """With a binary that could tell and without one, in our words."""
    add = bg.jit(lambda a, b: a + b)
    if called:
        add(np.ones(3), np.ones(3))
    for wrong in (None, (None,), (-1,), (2**63,), (1,) * 65, (2.0,), (True,), "ab", ((1,),), (2**63 - 1, 3.5)):
        with pytest.raises(bg.BroadcastError, match=r"^operand 'b' (dim . has extent .*, expected 0 to|has rank 65, )"):
            add.result_shape((3,), wrong)


def test_a_long_call_tells_the_shapes_of_its_arrays():
    """A call that releases the GIL has copies of extents; its error is told before they are gone."""
    exponents = np.ones((300, 400), np.int64)
    exponents[-1, -1] = -1
    with pytest.raises(DomainError, match=r"in kernel\(a: \[300, 1\], b: \[300, 400\]\)"):
        bg.jit(lambda a, b: a**b)(np.ones((300, 1), np.int64), exponents)


def test_kernels_have_no_annotations_of_their_class():
    for kernel in (bg.add, bg.from_text("a + 1"), bg.jit(lambda x: x)):
        assert typing.get_type_hints(kernel) == {}


@pytest.mark.parametrize(
    ("text", "shapes", "place"),
    [
        ("x.sum(axis=1)", [(3,)], "in kernel(x: rank 1)"),
        ("(f64[n] x) -> x.sum(axis=1)", [(3,)], "in kernel(x: f64[n])"),
        ("transpose(x, (1, 0)) + y", [(3,), (2, 2)], "in kernel(x: rank 1, y: rank 2)"),
        ("broadcast_to(x, (3,)) + y", [(2, 2), (3,)], "in kernel(x: rank 2, y: rank 1)"),
        ("(f64[2] x, f64[3] y) -> x + y", [(2,), (3,)], "in kernel(x: f64[2], y: f64[3])"),
    ],
)
def test_what_types_and_ranks_refuse_names_the_kernel(text, shapes, place):
    kernel = bg.from_text(text)
    for call in (lambda: kernel(*map(np.ones, shapes)), lambda: kernel.result_shape(*shapes)):
        with pytest.raises(bg.BroadcastError) as error:
            call()
        assert str(error.value).endswith(f", {place}"), error.value


def test_tools_that_unwrap_find_the_function_or_the_kernel():
    def double(x):
        return x * 2

    assert inspect.unwrap(bg.jit(double)) is double
    for kernel in (bg.add, bg.from_text("a * 2"), bg.jit(np.exp)):
        assert inspect.unwrap(kernel) in (kernel, np.exp)
