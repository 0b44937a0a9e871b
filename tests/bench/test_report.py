"""Tables are aligned, summaries are worst first."""

from __future__ import annotations

import pytest

from bcastgen.resources import bench_module

report = bench_module("report")
results = bench_module("results")
Cell, Report, Timing = results.Cell, results.Report, results.Timing

PEERS = ("numpy", "bcastgen", "numexpr", "a_peer_with_a_long_name", "bcastgen again")


def cell(workload, numpy, ours, again=None, variant="fresh", kind="contiguous", **others):
    times = {"numpy": numpy, "bcastgen": ours, "bcastgen again": again or ours, **others}
    timings = tuple(Timing(name, "ok", "", seconds, seconds, 5, 10) for name, seconds in times.items())
    return Cell(workload, kind, 1024, 1024, variant, 12288, timings)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (1.234e-9, "1.23 ns"),
        (9.996e-7, "1000 ns"),
        (1e-6, "1.00 us"),
        (99.96e-6, "100 us"),
        (0.0123, "12.3 ms"),
        (2.5, "2.50 s"),
        (None, "-"),
    ],
)
def test_time_text(seconds, text):
    assert report.time_text(seconds) == text


def test_rows_align_with_the_header():
    head, rule = report.header(PEERS).splitlines()
    lines = [report.row(cell("add_f32", 1e-6, 2e-9, numexpr=5.5e-3), PEERS), report.row(cell("x", 1, 1), PEERS)]
    assert len(rule) == len(head)
    assert {len(line) for line in lines} == {len(head)}
    # Columns are right-aligned: each title ends where its values end.
    for line in lines:
        assert line[head.index("GB/s") + len("GB/s")] == " "
        assert line[head.index("numexpr") + len("numexpr")] == " "
    assert "5.50 ms" in lines[0]
    assert "500.00x" in lines[0]
    assert lines[0].index("5.50 ms") + len("5.50 ms") == head.index("numexpr") + len("numexpr")
    assert "bcastgen again" not in head


def test_the_table_of_the_usual_peers_fits_a_terminal():
    names = ("numpy", "bcastgen", "numexpr", "numba", "bcastgen again")
    assert max(map(len, report.header(names).splitlines())) <= 100


def test_row_says_wrong_failed_and_absent():
    timings = (
        Timing("numpy", "ok", "", 1e-6, 1e-6),
        Timing("bcastgen", "wrong", "off"),
        Timing("numexpr", "failed", "E"),
    )
    line = report.row(Cell("w", "k", 16, 16, "out", 1, timings), PEERS)
    assert line.split() == ["w", "16", "out", "1.00", "us", "wrong", "-", "-", "-", "failed", "-", "-"]


def test_skipped_row_gives_its_reason():
    line = report.row(Cell("w", "k", 32 << 20, 0, "out", 0, skipped="needs about 3.0 GiB, allowed 2.0"), PEERS)
    assert line.split(maxsplit=3) == ["w", "32M", "out", "skipped: needs about 3.0 GiB, allowed 2.0"]


def test_geometric_mean_ignores_what_is_missing():
    assert report.geometric_mean([4.0, None, 1.0]) == pytest.approx(2.0)
    assert report.geometric_mean([None]) is None


def test_summary_lists_slow_cells_worst_first_and_says_which_are_noise():
    cells = (
        cell("fine", 4e-6, 1e-6),
        cell("slow", 1e-6, 2e-6),
        cell("slowest", 8e-6, 4e-6, numexpr=1e-6),
        cell("noisy", 1.0e-6, 1.1e-6, again=1.3e-6),
    )
    text = report.summary(Report({"cpu": "c"}, {"rounds": "3"}, cells))
    slow = [line for line in text.splitlines() if "x of " in line]
    assert [line.split()[0] for line in slow] == ["slowest", "slow", "noisy"]
    assert "0.25x of numexpr 1.00 us" in slow[0]
    assert [line.endswith("within the A/A spread") for line in slow] == [False, False, True]
    assert "3 cells slower than the best peer, worst first" in text
    assert "cpu: c" in text


def test_summary_has_geometric_means_by_class():
    cells = (cell("a", 4e-6, 1e-6), cell("b", 1e-6, 1e-6), cell("c", 9e-6, 1e-6, kind="bool"))
    lines = report.summary(Report({}, {}, cells)).splitlines()
    means = {line.split()[0]: line.split()[1:] for line in lines if line.endswith("x")}
    assert means == {
        "contiguous": ["2", "2.00x", "2.00x"],
        "bool": ["1", "9.00x", "9.00x"],
        "all": ["3", "3.30x", "3.30x"],
    }
    assert "no cell is slower than the best peer" in lines


def test_summary_names_each_fault_once():
    wrong = Timing("numba", "wrong", "dtype int64, expected uint8")
    cells = tuple(Cell("average_u8", "integer", size, size, "fresh", 1, (wrong,)) for size in (16, 1024))
    text = report.summary(Report({}, {}, cells))
    assert text.count("numba on average_u8 (16, fresh): wrong: dtype int64, expected uint8") == 1
    assert text.count("average_u8 (") == 1
