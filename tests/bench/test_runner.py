"""The runner checks before it times, interleaves, guards memory, and reports what it did; with peers of our own."""

from __future__ import annotations

import io
import json
import time

import numpy as np
import pytest

from bcastgen.core.resources import bench_module

bandwidth = bench_module("bandwidth")
measure = bench_module("measure")
peers = bench_module("peers")
results = bench_module("results")
runner = bench_module("runner")
spelling = bench_module("spelling")
throughput = bench_module("throughput")
workloads = bench_module("workloads")

ADD = workloads.WORKLOADS["add_f32"]
OPTIONS = runner.Options(rounds=3, budget=0.0, limits=False)
Peer = peers.Peer


def plain(case):
    def function(*given, out=None):
        result = case.workload.function(*given)
        if out is None:
            return result
        np.copyto(out, result)
        return out

    return measure.call(function, case.operands, case.out)


def changed(change):
    """A peer that spoils what the plain one gives."""

    def prepare(case):
        def function(*given, out=None):
            result = change(case.workload.function(*given))
            if out is None:
                return result
            out[...] = result
            return out

        return measure.call(function, case.operands, case.out)

    return prepare


def raising(case):
    raise TypeError("cannot\n  compile this")


def lacking(case):
    raise spelling.NoForm("no such function")


CONTESTANTS = (
    Peer(peers.NUMPY, "numpy", plain),
    Peer(peers.OURS, "numpy", plain),
    Peer("off", "numpy", changed(lambda r: r + np.float32(1))),
    Peer("wide", "numpy", changed(lambda r: r.astype(np.float64))),
    Peer("raises", "numpy", raising),
    Peer("formless", "numpy", lambda case: None),
    Peer("lacking", "numpy", lacking),
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
        "lacking": "none",
        "bcastgen again": "ok",
    }
    assert timings["wide"].reason == "dtype float64, expected float32"
    assert timings["off"].reason.startswith("off by ")
    assert timings["raises"].reason == "TypeError: cannot compile this"
    assert all((timing.min is None) == (timing.status != "ok") for timing in cell.timings)
    assert timings["bcastgen"].rounds == 3
    assert 0 < timings["bcastgen"].min <= timings["bcastgen"].median
    assert cell.elements == 64
    assert (cell.read, cell.written) == (2 * 64 * 4, 64 * 4)
    assert timings["lacking"].reason == "no such function"
    assert (cell.memory, cell.maths) == (None, None)


def test_a_peer_may_be_further_off_than_we_may():
    twice_an_ulp = changed(lambda r: r + 2 * np.spacing(r))
    both = (Peer(peers.OURS, "numpy", twice_an_ulp), Peer("peer", "numpy", twice_an_ulp))
    cell = runner.measure_cell(ADD, 64, "fresh", both, OPTIONS)
    assert {name: timing.status for name, timing in by_name(cell).items()} == {"bcastgen": "wrong", "peer": "ok"}


@pytest.mark.parametrize("name", ["add_f32", "average_u8", "less_f32", "fortran_f64"])
def test_an_element_left_unwritten_is_found(name):
    def lazy(case):
        def function(*given, out=None):
            out[1:] = case.workload.function(*given)[1:]

        return measure.call(function, case.operands, case.out)

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
        def prepare(case):
            def function(*given):
                log.append(name)
                clock.now += 1.0
                return case.workload.function(*given)

            return measure.call(function, case.operands)

        return Peer(name, "numpy", prepare)

    cell = runner.measure_cell(ADD, 16, "fresh", [logging(name) for name in "abc"], OPTIONS, clock=clock)
    check, calibration, rounds = log[:3], log[3:9], log[9:]
    assert (check, calibration) == (list("abc"), list("aabbcc"))
    assert [sorted(rounds[at : at + 3]) for at in range(0, 9, 3)] == [list("abc")] * 3
    assert all(timing.min == 1.0 for timing in cell.timings)


def test_a_cell_that_needs_too_much_memory_is_skipped_with_the_reason():
    cell = runner.measure_cell(workloads.WORKLOADS["black_scholes_f64"], 32 << 20, "fresh", CONTESTANTS, OPTIONS)
    assert cell.timings == ()
    assert cell.skipped.startswith("needs about ")
    assert cell.skipped.endswith("GiB, allowed 3.0")


def test_footprint_grows_with_what_numpy_needs():
    add, outer = runner.footprint(ADD, 1 << 20), runner.footprint(workloads.WORKLOADS["outer_f64"], 1 << 20)
    assert add == pytest.approx(20 << 20, rel=0.05)
    assert outer == pytest.approx(24 << 20, rel=0.1)
    assert runner.footprint(workloads.WORKLOADS["add_f64"], 32 << 20) <= 2 << 30
    assert all(runner.footprint(row, 32 << 20) <= OPTIONS.memory for row in workloads.WORKLOADS.values() if row.large)
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

    def interrupted(case):
        calls.append(case)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return plain(case)

    stream = io.StringIO()
    report = runner.run([(ADD, 16)], [Peer(peers.OURS, "numpy", interrupted)], OPTIONS, stream)
    assert [cell.variant for cell in report.cells] == ["fresh"]
    assert "interrupted" in stream.getvalue()


def test_a_cell_has_its_limits():
    clock = time.perf_counter
    limits = runner.Limits(bandwidth.Mover(1), throughput.Throughput([peers.PEERS[peers.NUMPY]], 1, clock))
    add = runner.measure_cell(ADD, 1 << 14, "out", CONTESTANTS, OPTIONS, limits)
    assert add.maths is None
    assert 0 < add.memory < 1e-3
    assert {timing.name for timing in add.timings} == {peer.name for peer in CONTESTANTS}
    exp = runner.measure_cell(workloads.WORKLOADS["exp_f32"], 1 << 14, "fresh", CONTESTANTS, OPTIONS, limits)
    assert 0 < exp.maths < 1e-2
    assert limits.throughput.rates.keys() == {"exp_f32"}


def test_out_may_be_a_buffer_of_the_rows():
    cell = runner.measure_cell(workloads.WORKLOADS["into_strided_f32"], 64, "out", CONTESTANTS, OPTIONS)
    assert by_name(cell)["bcastgen"].status == "ok"
    # Every second element: the lines between move, too.
    assert cell.written == 64 * 8 - 4


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--workloads", "add_f32,nope"], "unknown workload 'nope'; choose from add_f32, "),
        (["--rounds", "0"], "--rounds and --threads must be at least 1"),
        (["--json", "no/such/folder/r.json"], "there is no such folder"),
        (["--report", "no-such-file.json"], "bench: no-such-file.json: No such file or directory; it is to be"),
        (["--shape", "a=3"], "--shape and --in are operands of an expression; write one in front of them"),
        (["--in", "a=a.npy"], "--shape and --in are operands of an expression; write one in front of them"),
        (["exq(a)", "--shape", "a=3"], "unknown function 'exq'"),
        (["a + b", "--shape", "a=3", "b=2"], "extent 2, expected 1 or 3"),
        (["--compare", "no-such-file.json"], "bench: no-such-file.json: No such file or directory; it is to be"),
    ],
)
def test_what_does_not_serve_ends_with_1_and_a_sentence(arguments, said, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert runner.main(arguments, io.StringIO()) == 1
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(("variable", "value"), [("BCASTGEN_DISABLE", "1"), ("BCASTGEN_CC", "no-such-compiler")])
def test_numpy_is_not_measured_under_our_name(variable, value, capsys, monkeypatch):
    monkeypatch.setenv(variable, value)
    assert runner.main(["a + 1", "--shape", "a=3"], io.StringIO()) == 1
    said = capsys.readouterr().err
    assert "NumPy computes the kernels" in said and value.replace("1", variable) in said


def test_a_misspelt_flag_is_refused_with_the_one_that_was_meant(capsys):
    with pytest.raises(SystemExit) as caught:
        runner.main(["--round", "3", "--quik"])
    assert caught.value.code == 2 and capsys.readouterr().err.endswith(" --quik; did you mean --quick?\n")


def test_measurements_go_to_stdout_alone(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    arguments = ["--workloads", "add_f32", "--sizes", "16", "--rounds", "2", "--peers", "numpy", "--json", "-"]
    assert runner.main(arguments) == 0
    told = capsys.readouterr()
    assert results.Report.from_json(told.out).cells and "add_f32" in told.err and not [*tmp_path.iterdir()]


def test_end_to_end_with_our_kernels(tmp_path):
    """The command itself: table, JSON, and the report of that JSON."""
    file, stream = tmp_path / "r.json", io.StringIO()
    arguments = ["--workloads", "add_f32,bias_f32,blend_u8", "--sizes", "16,1k", "--rounds", "2", "--peers", "numpy"]
    assert runner.main([*arguments, "--json", str(file)], stream) == 0
    report = results.Report.from_json(file.read_text(encoding="utf-8"))
    assert len(report.cells) == 3 * 2 * 2
    assert report.faults == []
    assert all(cell.speedup is not None and cell.spread is not None for cell in report.cells)
    assert json.loads(file.read_text(encoding="utf-8"))["options"] == {"rounds": "2", "seed": "0", "rates": ""}
    again = io.StringIO()
    assert runner.main(["--report", str(file)], again) == 0
    assert all(cell.share for cell in report.cells if cell.elements * 12 > bandwidth.LEAST_BYTES)
    assert "geometric mean" in again.getvalue()
    assert again.getvalue().strip() in stream.getvalue()


def test_our_own_wrong_result_is_exit_code_1(monkeypatch):
    wrong = Peer(peers.OURS, "numpy", changed(lambda r: -r))
    monkeypatch.setitem(peers.PEERS, peers.OURS, wrong)
    stream = io.StringIO()
    arguments = ["--workloads", "add_f32", "--sizes", "16", "--rounds", "1", "--peers", "numpy"]
    assert runner.main(arguments, stream) == 1
    assert "bcastgen on add_f32 (16, fresh): wrong: off by" in stream.getvalue()
