"""One's own expression is benched: read, checked against NumPy, and shown beside the machine's limit."""

from __future__ import annotations

import argparse
import io

import numpy as np
import pytest

from bcastgen.core.errors import BcastgenError
from bcastgen.core.resources import bench_module

compare = bench_module("compare")
expression = bench_module("expression")
results = bench_module("results")
runner = bench_module("runner")


def arguments(text, *given):
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    expression.add_arguments(parser)
    return parser.parse_args([text, *given])


@pytest.mark.parametrize(
    ("text", "given", "expected"),
    [
        ("a*b + exp(b)", ["--shape", "a=3x1,b=1x4"], lambda a, b: a * b + np.exp(b)),
        (
            "np.where(a > 0, a, 2.0*a)",
            ["--shape", "a=7", "--dtype", "f32"],
            lambda a: np.where(a > 0, a, np.float32(2) * a),
        ),
        (
            "(f32[?] a, i32[?] b) -> a*2.0 + b.astype(float32)",
            ["--shape", "a=4", "b=1"],
            lambda a, b: a * np.float32(2) + b.astype("f4"),
        ),
        ("(i16[3, 2] a) -> abs(a) << 1", [], lambda a: np.abs(a) << 1),
        ("a.sum(axis=0)", ["--shape", "a=5x2"], lambda a: a.sum(axis=0)),
    ],
)
def test_the_function_is_numpy_s_and_operands_are_those_asked_for(text, given, expected):
    workload, elements = expression.workload_of(arguments(text, *given))
    operands = workload.operands(0, None)
    value = expected(*operands)
    found = workload.function(*operands)
    assert found.dtype == value.dtype == np.dtype(workload.result) and np.array_equal(found, value)
    assert elements == max(array.size for array in (*operands, value))
    assert workload.kind == ("reduction" if "sum" in text else "own")


def test_arrays_come_from_files(tmp_path):
    np.save(tmp_path / "a.npy", np.arange(3, dtype="f4"))
    workload, _ = expression.workload_of(arguments("a + b", "--in", f"a={tmp_path}/a.npy", "--shape", "b=1"))
    a, b = workload.operands(0, None)
    assert a.tolist() == [0, 1, 2] and a.dtype == "f4" and b.dtype == "f8"


@pytest.mark.parametrize(
    ("text", "given", "message"),
    [
        ("a + b", ["--shape", "a=3"], "no shape for 'b': give --shape b=1000x1000, or --in b=FILE.npy"),
        ("a + b", ["--shape", "a=3,c=2"], "'c' is no operand; the operands are a, b"),
        ("a", ["--shape", "a=3x"], "--shape a=3x is no shape"),
        (
            "a",
            ["--shape", "a=10000000000x100000000"],
            "a=10000000000x100000000 has more elements than an",
        ),
        ("a", ["--shape", "a"], "--shape 'a' is not NAME=VALUE; write --shape a=1000x1,b=1x1000"),
        ("a", ["--shape", "a=1,a=2"], "--shape 'a=2' gives a name twice"),
        ("a + b", ["--shape", "a=3,b=2"], "operand 'b' dim 0 has extent 2"),
        ("__import__('os')", [], "__import__"),
        ("(a, a + 1)", ["--shape", "a=3"], "2 results"),
        ("a", ["--shape", "a=3", "--dtype", "bf16"], "random values are made of bool, integers and floats"),
    ],
)
def test_what_cannot_be_benched_is_refused(text, given, message):
    with pytest.raises(BcastgenError) as caught:
        expression.workload_of(arguments(text, *given))
    assert message in str(caught.value)


def test_the_command_measures_prints_saves_and_compares(tmp_path):
    file = tmp_path / "r.json"
    given = ["a*2.0 + b", "--shape", "a=40x1,b=50", "--rounds", "1", "--peers", "numpy"]
    stream = io.StringIO()
    assert runner.main([*given, "--json", str(file)], stream) == 0
    said = stream.getvalue()
    first, *rest = said.splitlines()
    assert first == "a*2.0 + b; a float64[40, 1], b float64[50]: a call reads 0.00072 MB and writes 0.016 MB"
    assert [line.split()[0] for line in rest[3:5]] == ["numpy", "bcastgen"] and "GB/s" in rest[1]
    report = results.Report.from_json(file.read_text())
    assert [cell.variant for cell in report.cells] == ["fresh", "out"]
    stream = io.StringIO()
    assert runner.main([*given, "--markdown", "--compare", str(file)], stream) == 0
    assert "| numpy " in stream.getvalue() and "geometric mean of 2: " in stream.getvalue()


def cell(ours, numpy, name="a*b", memory=None):
    timings = (results.Timing("numpy", "ok", "", numpy, numpy), results.Timing("bcastgen", "ok", "", ours, ours))
    return results.Cell(name, "own", 1000, 1000, "fresh", 6000, 2000, timings, memory)


def test_complex_operands_are_checked_part_by_part(tmp_path):
    """A buffer of complex numbers is filled with what is wrong, and functions may be off by their bound."""
    np.save(tmp_path / "z.npy", (np.arange(1, 40) * (1 + 2j)).astype(np.complex64))
    for text in ("z * z + z", "abs(z)", "exp(z / 40)"):
        stream = io.StringIO()
        given = [text, "--in", f"z={tmp_path / 'z.npy'}", "--rounds", "1", "--peers", "numpy"]
        assert runner.main(given, stream) == 0
        assert "bcastgen" in stream.getvalue() and "wrong" not in stream.getvalue()


def test_the_table_says_how_far_each_is_from_the_limit():
    lines = expression.table([cell(1e-6, 4e-6, memory=0.5e-6)]).splitlines()
    assert lines[4].split() == ["numpy", "4.00", "us", "2.0", "12%"]
    assert lines[5].split() == ["bcastgen", "1.00", "us", "8.0", "50%"]
    assert lines[6].split() == ["moving", "the", "bytes", "alone", "500", "ns", "16.0", "100%"]


def test_a_share_beyond_the_limit_is_explained():
    busy = "Shares of more than 100%: the machine was busy"
    assert busy in expression.table([cell(1e-6, 4e-6, memory=2e-6)])
    assert busy not in expression.table([cell(1e-6, 4e-6, memory=1e-6)])


def test_a_contestant_without_a_time_says_why():
    wrong = results.Timing("torch", "wrong", "dtype float32, expected float64")
    text = expression.table([results.Cell("a", "own", 1, 1, "fresh", 8, 8, (wrong,))])
    assert text.splitlines()[4].split() == ["torch", "wrong"] and text.endswith(
        "torch: dtype float32, expected float64"
    )


def test_runs_are_compared_cell_by_cell():
    old = results.Report({"date": "then"}, {}, (cell(2e-6, 4e-6), cell(1e-6, 1e-6, "gone")))
    new = results.Report({}, {}, (cell(1e-6, 4e-6), cell(1e-6, 1e-6, "new")))
    lines = compare.comparison(old, new).splitlines()
    assert lines[1] == "a*b  1000  fresh: 2.00 us -> 1.00 us, 2.00 (NumPy 1.00)"
    assert lines[2] == "geometric mean of 1: 2.00"
    assert compare.comparison(old, results.Report({}, {}, ())) == "compared: the runs have no cell in common"
