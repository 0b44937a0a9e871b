"""A kernel's own calls stand beside the machine's limits: the bytes and functions they need, and the table's words."""

from __future__ import annotations

import numpy as np
import pytest

import bcastgen as bg
from bcastgen.core.resources import bench_module

one_call = bench_module("one_call")


@pytest.mark.parametrize(
    ("text", "shapes", "expected"),
    [
        ("(f32[?,?] a, f32[?] b) -> a / exp(b) + 1", [(5, 3), (3,)], {"exp_f32": 3, "divide_f32": 15, "add_f32": 15}),
        ("(f64[?] a) -> sin(a)*2 + sin(a)", [(7,)], {"sin_f64": 7, "multiply_f64": 7, "add_f64": 7}),
        ("(f32[?,?] a) -> exp(a - a.max(axis=1, keepdims=True))", [(5, 3)], None),
    ],
)
def test_functions_are_counted_at_the_points_where_they_are_computed(text, shapes, expected):
    found = one_call.functions_of_kernel(bg.from_text(text), shapes)
    assert expected is found is None or dict(found) == expected


def test_calls_with_and_without_out_have_the_bytes_of_all_arrays(monkeypatch):
    calls = []
    monkeypatch.setattr(one_call.Mover, "calls", lambda self, read, written: calls.append((read, written)) or ())
    kernel = bg.jit(lambda x, y: (x + y, x * y), name="pair")
    fresh, out = one_call.cells_of(kernel, (np.ones((50, 1)), np.ones(40)))
    assert (fresh.variant, out.variant) == ("fresh", "out") and calls == [(90 * 8, 2 * 2000 * 8)]
    assert fresh.seconds("bcastgen") > 0 and out.seconds("bcastgen") > 0 and fresh.limit is None


def test_the_table_says_what_was_measured():
    table = one_call.measured(bg.from_text("a*2", "twice"), (np.ones((100, 50)),))
    assert table.about.startswith("a float64[100, 50]: a call reads 0.04 MB and writes 0.04 MB, by ")
    assert table.head == ("", "fresh result", "GB/s", "of the limit", "out=", "GB/s", "of the limit")
    assert [row[0] for row in table.rows] == ["bcastgen", "moving the bytes alone"]
    assert table.rows[0][3].endswith("%") and str(table).splitlines()[2].startswith("bcastgen  ")
    small = one_call.measured(bg.from_text("a*2"), (1.5,))
    assert small.rows[0][3] == "-" and any("So few bytes have no limit" in note for note in small.notes)


def test_what_no_operand_sizes_is_not_measured():
    with pytest.raises(bg.BcastgenError, match="extents that no operand determines"):
        bg.from_text("broadcast_to(a, (k,))").explain(operands=(1.5, 3))


@pytest.mark.parametrize("operands", [3, (1.0,), np.ones(2), "ab"])
def test_what_are_no_operands_is_refused(operands):
    with pytest.raises(bg.BcastgenError, match=r"twice\(\) is measured with a tuple of a, b, got "):
        bg.from_text("a*2 + b", "twice").explain(operands=operands)


def test_arrays_that_are_part_of_a_kernel_are_no_operands():
    kernel = bg.from_mlir("""
      func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {
        %c = "tosa.const"() {values = dense<[1.0, 2.0]> : tensor<2xf32>} : () -> tensor<2xf32>
        %0 = tosa.add %x, %c : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
        return %0 : tensor<2xf32>
      }""")
    assert kernel.operands == ("x",) and "== measured" in kernel.explain(operands=(np.ones(2, "f4"),))
