"""The runner checks before it times, interleaves, guards memory, and reports what it did; with peers of our own."""

from __future__ import annotations

import io
import json

import numpy as np
import pytest

from bcastgen import BcastgenError
from bcastgen.resources import bench_module

measure = bench_module("measure")
peers = bench_module("peers")
results = bench_module("results")
runner = bench_module("runner")
workloads = bench_module("workloads")

ADD = workloads.WORKLOADS["add_f32"]
OPTIONS = runner.Options(rounds=3, budget=0.0)
Peer = peers.Peer


def plain(workload, operands, out):
    def function(*given, out=None):
        result = workload.function(*given)
        if out is None:
            return result
        np.copyto(out, result)
        return out

    return measure.call(function, operands, out)


def changed(change):
    """A peer that spoils what the plain one gives."""

    def prepare(workload, operands, out):
        def function(*given, out=None):
            result = change(workload.function(*given))
            if out is None:
                return result
            out[...] = result
            return out

        return measure.call(function, operands, out)

    return prepare


def raising(workload, operands, out):
    raise TypeError("cannot\n  compile this")


CONTESTANTS = (
    Peer(peers.NUMPY, "numpy", plain),
    Peer(peers.OURS, "numpy", plain),
    Peer("off", "numpy", changed(lambda r: r + np.float32(1))),
    Peer("wide", "numpy", changed(lambda r: r.astype(np.float64))),
    Peer("raises", "numpy", raising),
    Peer("formless", "numpy", lambda workload, operands, out: None),
    Peer(peers.AGAIN, "numpy", plain),
)


def by_name(cell):
    return {timing.name: timing for timing in cell.timings}


def test_a_cell_times_what_is_right_and_reports_what_is_not():
    cell = runner.measure_cell(ADD, 64, "fresh", CONTESTANTS, OPTIONS)
    timings = by_name(cell)
    assert {name: timing.status for name, timing in timings.items()} == {
        "numpy": "ok",
        "bcastgen": "ok",
        "off": "wrong",
        "wide": "wrong",
        "raises": "failed",
        "formless": "none",
        "bcastgen again": "ok",
    }
    assert timings["wide"].reason == "dtype float64, expected float32"
    assert timings["off"].reason.startswith("off by ")
    assert timings["raises"].reason == "TypeError: cannot compile this"
    assert all((timing.min is None) == (timing.status != "ok") for timing in cell.timings)
    assert timings["bcastgen"].rounds == 3
    assert 0 < timings["bcastgen"].min <= timings["bcastgen"].median
    assert cell.elements == 64
    assert cell.nbytes == 3 * 64 * 4


def test_a_peer_may_be_further_off_than_we_may():
    twice_an_ulp = changed(lambda r: r + 2 * np.spacing(r))
    both = (Peer(peers.OURS, "numpy", twice_an_ulp), Peer("peer", "numpy", twice_an_ulp))
    cell = runner.measure_cell(ADD, 64, "fresh", both, OPTIONS)
    assert {name: timing.status for name, timing in by_name(cell).items()} == {"bcastgen": "wrong", "peer": "ok"}


@pytest.mark.parametrize("name", ["add_f32", "average_u8", "less_f32", "fortran_f64"])
def test_an_element_left_unwritten_is_found(name):
    def lazy(workload, operands, out):
        def function(*given, out=None):
            out[1:] = workload.function(*given)[1:]

        return measure.call(function, operands, out)

    both = (Peer("lazy", "numpy", lazy), CONTESTANTS[0])
    cell = runner.measure_cell(workloads.WORKLOADS[name], 64, "out", both, OPTIONS)
    assert {timing.name: timing.status for timing in cell.timings} == {"lazy": "wrong", "numpy": "ok"}


def test_contestants_run_in_turn():
    log = []

    class Clock:
        now = 0.0

        def __call__(self):
            return self.now

    clock = Clock()

    def logging(name):
        def prepare(workload, operands, out):
            def function(*given):
                log.append(name)
                clock.now += 1.0
                return workload.function(*given)

            return measure.call(function, operands)

        return Peer(name, "numpy", prepare)

    cell = runner.measure_cell(ADD, 16, "fresh", [logging(name) for name in "abc"], OPTIONS, clock=clock)
    check, calibration, rounds = log[:3], log[3:6], log[6:]
    assert check == calibration == list("abc")
    assert rounds == list("abc") * 3
    assert all(timing.min == 1.0 for timing in cell.timings)


def test_a_cell_that_needs_too_much_memory_is_skipped_with_the_reason():
    cell = runner.measure_cell(workloads.WORKLOADS["black_scholes_f64"], 32 << 20, "fresh", CONTESTANTS, OPTIONS)
    assert cell.timings == ()
    assert cell.skipped.startswith("needs about ")
    assert cell.skipped.endswith("GiB, allowed 2.0")


def test_footprint_grows_with_what_numpy_needs():
    add, outer = runner.footprint(ADD, 1 << 20), runner.footprint(workloads.WORKLOADS["outer_f64"], 1 << 20)
    assert add == pytest.approx(20 << 20, rel=0.05)
    assert outer == pytest.approx(24 << 20, rel=0.1)
    assert runner.footprint(workloads.WORKLOADS["add_f64"], 32 << 20) <= 2 << 30
    assert runner.footprint(workloads.WORKLOADS["blend_u8"], 1 << 20) > 9 << 20


def test_a_run_prints_a_row_a_cell_and_shares_the_total():
    stream = io.StringIO()
    report = runner.run([(ADD, 16), (ADD, 64)], CONTESTANTS, OPTIONS, stream)
    lines = stream.getvalue().splitlines()
    assert [line.split()[:3] for line in lines[2:]] == [
        ["add_f32", size, variant] for size in ("16", "64") for variant in ("fresh", "out")
    ]
    cells = [(cell.size, cell.variant) for cell in report.cells]
    assert cells == [(16, "fresh"), (16, "out"), (64, "fresh"), (64, "out")]
    assert report.machine["threads"] == "1"


def test_an_interrupted_run_keeps_what_it_has():
    calls = []

    def interrupted(workload, operands, out):
        calls.append(out)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return plain(workload, operands, out)

    stream = io.StringIO()
    report = runner.run([(ADD, 16)], [Peer(peers.OURS, "numpy", interrupted)], OPTIONS, stream)
    assert [cell.variant for cell in report.cells] == ["fresh"]
    assert "interrupted" in stream.getvalue()


@pytest.mark.parametrize(
    ("text", "size"), [("16", 16), ("1k", 1024), ("32k", 32768), ("1M", 1 << 20), ("32M", 1 << 25)]
)
def test_sizes(text, size):
    assert runner.parse_size(text) == size


@pytest.mark.parametrize("text", ["", "0", "-4", "k", "1.5k", "1G", "0x10", "²"])
def test_bad_sizes(text):
    with pytest.raises(BcastgenError, match="positive number of elements"):
        runner.parse_size(text)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--workloads", "add_f32,nope"], "unknown workload 'nope'; choose from add_f32, "),
        (["--peers", "pandas"], "unknown peer 'pandas'; choose from numpy, "),
        (["--sizes", "16,many"], "size 'many' is not a positive number"),
        (["--rounds", "0"], "--rounds and --threads must be at least 1"),
        (["--json", "no/such/folder/r.json"], "there is no such folder"),
        (["--report", "no-such-file.json"], "No such file"),
    ],
)
def test_bad_arguments_end_with_2_and_a_sentence(arguments, said, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert runner.main(arguments, io.StringIO()) == 2
    assert said in capsys.readouterr().err


def test_the_plan_by_default_and_quick():
    def plan(*arguments):
        return runner._plan(runner._parser().parse_args(arguments))

    default = plan()
    assert {workload.name for workload, _ in default} == set(workloads.WORKLOADS)
    assert {workload.name for workload, size in default if size == 32 << 20} == set(runner.LARGE)
    assert {workload.name for workload, _ in plan("--quick")} == set(workloads.QUICK)
    chosen = plan("--workloads", "exp_f64", "--sizes", "3,4k")
    assert [(workload.name, size) for workload, size in chosen] == [("exp_f64", 3), ("exp_f64", 4096)]


def test_ours_and_numpy_are_measured_whatever_peers_are_asked_for():
    names = [peer.name for peer in runner._contestants("numpy")]
    assert names == [peers.NUMPY, peers.OURS, peers.AGAIN]


def test_end_to_end_with_our_kernels(tmp_path):
    """The command itself: table, JSON, and the report of that JSON."""
    file, stream = tmp_path / "r.json", io.StringIO()
    arguments = ["--workloads", "add_f32,bias_f32,blend_u8", "--sizes", "16,1k", "--rounds", "2", "--peers", "numpy"]
    assert runner.main([*arguments, "--json", str(file)], stream) == 0
    report = results.Report.from_json(file.read_text(encoding="utf-8"))
    assert len(report.cells) == 3 * 2 * 2
    assert report.faults == []
    assert all(cell.speedup is not None and cell.spread is not None for cell in report.cells)
    assert json.loads(file.read_text(encoding="utf-8"))["options"] == {"rounds": "2", "seed": "0"}
    again = io.StringIO()
    assert runner.main(["--report", str(file)], again) == 0
    assert "geometric mean" in again.getvalue()
    assert again.getvalue().strip() in stream.getvalue()


def test_our_own_wrong_result_is_exit_code_1(monkeypatch):
    wrong = Peer(peers.OURS, "numpy", changed(lambda r: -r))
    monkeypatch.setitem(peers.PEERS, peers.OURS, wrong)
    stream = io.StringIO()
    arguments = ["--workloads", "add_f32", "--sizes", "16", "--rounds", "1", "--peers", "numpy"]
    assert runner.main(arguments, stream) == 1
    assert "bcastgen on add_f32 (16, fresh): wrong: off by" in stream.getvalue()
