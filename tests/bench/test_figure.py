"""The picture of a run: a bar for each library, as long as its time is beside ours, readable without colours."""

from __future__ import annotations

from xml.etree import ElementTree as xml

import pytest

from bcastgen import BcastgenError
from bcastgen.core.resources import bench_module

figure, results = bench_module("figure"), bench_module("results")
SVG = {"s": "http://www.w3.org/2000/svg"}


def cell(workload, ours, size=1024, **others):
    times = {
        "bcastgen": ours,
        "bcastgen again": ours,
        **{name.replace("_", " "): time for name, time in others.items()},
    }
    timings = tuple(results.Timing(name, "ok", "", seconds, seconds, 5, 10) for name, seconds in times.items())
    return results.Cell(workload, "contiguous", size, size, "fresh", 8, 4, timings)


def report(*cells, **machine):
    return results.Report({"cpu": "Some CPU", "numpy": "2.4", **machine}, {}, cells)


RUN = report(
    cell("add_f32", 1.0, numpy=4.0, njit=3.0, njit_fastmath=2.0, inductor=5.0),
    cell("add_f64", 1.0, 1 << 20, numpy=1.0, njit=8.0),
)


def test_a_library_counts_with_its_fastest_form_where_it_has_one():
    found = figure.ratios([RUN])
    assert {library: count for library, (_, count) in found.items()} == {
        **{"NumPy": 2, "Numba": 2, "torch.compile": 1, "the best of them": 2},
    }
    assert [mean for mean, _ in found.values()] == pytest.approx([2.0, 4.0, 5.0, 2**0.5])


def test_of_several_runs_the_median_counts():
    runs = [report(cell("add_f32", 1.0, numpy=time)) for time in (2.0, 9.0, 3.0)]
    assert figure.ratios(runs)["NumPy"][0] == pytest.approx(3.0)


def test_bars_are_as_long_as_the_figures_beside_them():
    drawn = xml.fromstring(figure.figure([RUN]))
    bars = [(rect.get("class"), float(rect.get("width"))) for rect in drawn.iterfind("s:rect", SVG)]
    assert [kind for kind, _ in bars] == ["bar", "bar", "bar", "best", "ours"]
    lengths = [length / bars[-1][1] for _, length in bars]
    assert lengths == pytest.approx([5.0, 4.0, 2.0, 2**0.5, 1.0], rel=0.01)
    words = [text.text for text in drawn.iterfind("s:text", SVG)]
    assert {"torch.compile", "5.00", "1 cells", "Numba", "bcastgen", "Some CPU, NumPy 2.4"} <= set(words)
    assert any("2 cells" in word and "1k to 1M elements" in word for word in words)


@pytest.mark.parametrize("slowest", [5.0, 15.95, 1234.5])
def test_what_stands_beside_a_bar_is_beside_its_figure(slowest):
    drawn = xml.fromstring(figure.figure([report(cell("add_f32", 1.0, numpy=slowest))]))
    texts = {text.text: float(text.get("x")) for text in drawn.iterfind("s:text", SVG)}
    number = f"{slowest:.2f}"
    assert texts["1 cells"] >= texts[number] + 8.9 * len(number)


def test_the_figures_are_in_its_description():
    assert "torch.compile 5.00; Numba 4.00; NumPy 2.00" in xml.fromstring(figure.figure([RUN])).find("s:desc", SVG).text


def test_every_contestant_has_a_library():
    peers = bench_module("peers")
    others = [name for name in peers.PEERS if name not in peers.OWN]
    assert all(figure.library_of(name)[0].isupper() or figure.library_of(name) == "torch.compile" for name in others)


def test_nothing_to_draw_is_said():
    with pytest.raises(BcastgenError, match="leave out fewer peers"):
        figure.figure([report(cell("add_f32", 1.0))])
