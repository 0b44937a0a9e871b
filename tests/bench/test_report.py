"""Tables are aligned, summaries are worst first."""

from __future__ import annotations

import pytest

from bcastgen import BcastgenError
from bcastgen.core.resources import bench_module

report = bench_module("report")
results = bench_module("results")
Cell, Report, Timing = results.Cell, results.Report, results.Timing


def cell(workload, numpy, ours, again=None, variant="fresh", kind="contiguous", limits=(None, None), **others):
    times = {"numpy": numpy, "bcastgen": ours, "bcastgen again": again or ours, **others}
    timings = tuple(Timing(name, "ok", "", seconds, seconds, 5, 10) for name, seconds in times.items())
    return Cell(workload, kind, 1024, 1024, variant, 8 << 20, 4 << 20, timings, *limits)


def summary(*cells, machine=None):
    return report.summary([Report(machine or {}, {}, cells)])


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
    head, rule = report.header().splitlines()
    full = cell("add_f32", 1e-6, 2e-9, limits=(1e-9, None), numexpr=5.5e-7)
    lines = [report.row(full), report.row(cell("x", 1, 1))]
    assert len(rule) == len(head)
    assert {len(line) for line in lines} == {len(head)}
    # Columns are right-aligned: each title ends where its values end.
    for line in lines:
        assert line[head.index("x numpy") + len("x numpy")] == " "
        assert line[head.index("best peer") + len("best peer")] == " "
    assert lines[0].split() == ("add_f32 1k fresh 1.00 us 2.00 ns 500.00x numexpr 550 ns 275.00x 50% 1.00".split())


def test_the_table_fits_a_terminal():
    assert max(map(len, report.header().splitlines())) <= 106


def test_the_limit_of_maths_is_marked():
    assert " 50%m " in report.row(cell("exp_f32", 1e-6, 1e-6, limits=(1e-7, 5e-7)))


def test_row_says_wrong_and_absent():
    timings = (Timing("numpy", "ok", "", 1e-6, 1e-6), Timing("bcastgen", "wrong", "off"))
    line = report.row(Cell("w", "k", 16, 16, "out", 1, 1, timings))
    assert line.split() == ["w", "16", "out", "1.00", "us", "wrong", "-", "numpy", "1.00", "us", "-", "-", "-"]


def test_skipped_row_gives_its_reason():
    line = report.row(Cell("w", "k", 32 << 20, 0, "out", 0, 0, skipped="needs about 3.0 GiB, allowed 2.0"))
    assert line.split(maxsplit=3) == ["w", "32M", "out", "skipped: needs about 3.0 GiB, allowed 2.0"]


def test_summary_lists_slow_cells_worst_first_and_says_which_are_noise():
    text = summary(
        cell("fine", 4e-6, 1e-6),
        cell("slow", 1e-6, 2e-6),
        cell("slowest", 8e-6, 4e-6, numexpr=1e-6),
        cell("noisy", 1.0e-6, 1.1e-6, again=1.3e-6),
        machine={"cpu": "c"},
    )
    slow = [line for line in text.splitlines() if " of numpy " in line or " of numexpr " in line]
    assert [line.split()[0] for line in slow] == ["slowest", "slow", "noisy"]
    assert "0.25 of numexpr 1.00 us" in slow[0]
    assert [line.endswith(" ~") for line in slow] == [False, False, True]
    assert "3 cells below 0.97 of the best peer, worst first" in text
    assert "cpu: c" in text


def test_summary_lists_what_is_far_from_its_limit():
    text = summary(
        cell("near", 4e-6, 1e-6, limits=(0.9e-6, None)),
        cell("far", 4e-6, 1e-6, limits=(0.6e-6, None)),
        cell("farther", 4e-6, 1e-6, limits=(0.3e-6, None)),
    )
    lines = [line for line in text.splitlines() if "(memory)" in line]
    assert [line.split()[0] for line in lines] == ["farther", "far"]
    assert "0.30 of 300 ns (memory)" in lines[0]


def means(text):
    lines = text[text.index("geometric mean") :].splitlines()[1:]
    return {line[:18].strip(): line[18:].split() for line in lines}


def test_summary_has_geometric_means_by_class():
    text = summary(
        cell("a", 4e-6, 1e-6, limits=(0.5e-6, None)), cell("b", 1e-6, 1e-6), cell("c", 9e-6, 1e-6, kind="bool")
    )
    assert means(text) == {
        "contiguous": ["2", "2.00x", "2.00x", "50%", "0"],
        "bool": ["1", "9.00x", "9.00x", "-", "0"],
        "all": ["3", "3.30x", "3.30x", "50%", "0"],
    }
    assert "no cell is below 0.97 of the best peer" in text


def test_several_runs_are_summarised_together():
    def run(*leads, threads="1"):
        cells = tuple(cell(name, 1e-6 * lead, 1e-6) for name, lead in zip("ab", leads, strict=True))
        return Report({"cpu": "c", "date": f"{leads}", "threads": threads}, {}, cells)

    text = report.summary([run(0.5, 0.9), run(0.6, 1.5), run(2.0, 1.5)])
    assert "cpu: c\n" in text
    assert "date: (0.5, 0.9) | (0.6, 1.5) | (2.0, 1.5)" in text
    assert "1 cells below 0.97 of the best peer in most of the runs" in text
    assert "0.60 (0.50 0.60 2.00) of numpy" in text
    assert means(text)["all"][1:3] == ["0.95x", "0.95x"]
    assert means(text)["all, run 3"][1] == "1.73x"
    with pytest.raises(BcastgenError, match="different numbers of threads"):
        report.summary([run(1.0, 1.0), run(1.0, 1.0, threads="2")])


def test_functions_are_listed_at_the_largest_size_in_a_cache():
    def function(size, ours):
        timings = {"numpy": 8e-6, "bcastgen": ours, "bcastgen fast": ours / 2}
        all_of = tuple(Timing(name, "ok", "", seconds, seconds, 5, 10) for name, seconds in timings.items())
        return Cell("exp_f32", "function", size, size, "out", 4 * size, 4 * size, all_of)

    lines = summary(function(1000, 1e-6), function(8000, 4e-6), function(1 << 20, 1e-3)).splitlines()
    assert next(line for line in lines if line.startswith("exp_f32")).split() == [
        *("exp_f32", "8000", "0.500", "0.250", "numpy", "1.000")
    ]


def test_summary_names_each_fault_once():
    wrong = Timing("numba", "wrong", "dtype int64, expected uint8")
    text = summary(*(Cell("average_u8", "integer", size, size, "fresh", 1, 1, (wrong,)) for size in (16, 1024)))
    assert text.count("numba on average_u8 (16, fresh): wrong: dtype int64, expected uint8") == 1
    assert text.count("average_u8 (") == 1


def test_files_are_summarised_from_the_command_line(tmp_path, capsys):
    files = [tmp_path / "a.json", tmp_path / "b.json"]
    for file in files:
        file.write_text(Report({"cpu": "c"}, {}, (cell("a", 2e-6, 1e-6),)).to_json(), encoding="utf-8")
    assert report.main([str(file) for file in files]) == 0
    assert "all, run 2" in capsys.readouterr().out
    assert report.main([str(tmp_path / "absent.json")]) == 2
    assert "No such file" in capsys.readouterr().err
