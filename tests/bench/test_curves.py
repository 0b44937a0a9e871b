"""The page of a run: the roofline has each cell that has a limit, the curves each library at each size."""

from __future__ import annotations

import io
import itertools
import re
from xml.etree import ElementTree as xml

import pytest

from bcastgen.core.resources import bench_module
from browser import contrast, in_chromium, needs_chromium

curves, results, runner = bench_module("curves"), bench_module("results"), bench_module("runner")
SVG = {"s": "http://www.w3.org/2000/svg"}


def cell(workload, size, ours, memory=None, maths=None, **others):
    times = {"bcastgen": ours, "bcastgen again": ours / 2, **others}
    timings = tuple(results.Timing(name, "ok", "", seconds, seconds, 5, 10) for name, seconds in times.items())
    return results.Cell(workload, "contiguous", size, size, "fresh", 8 * size, 4 * size, timings, memory, maths)


CELLS = (
    cell("add_f32", 16, 1e-7, numpy=3e-7),
    cell("add_f32", 1 << 14, 4e-6, memory=2e-6, numpy=8e-6, njit=6e-6),
    cell("exp_f32", 1 << 14, 8e-6, memory=2e-6, maths=8e-6, numpy=9e-6),
)
RUN = results.Report({"cpu": "Some <CPU>", "threads": "1"}, {"rates": "exp_f32 0.488"}, CELLS)


def places(element):
    return [tuple(map(float, pair.split(","))) for pair in element.get("points").split()]


def test_the_roofline_has_each_cell_that_has_a_limit_at_its_share():
    drawn = xml.fromstring(curves.roofline([RUN]))
    dots = {dot.find("s:title", SVG).text.split(",")[0]: dot for dot in drawn.iterfind("s:circle", SVG)}
    assert set(dots) == {"add_f32", "exp_f32"}
    (roof,) = (line for line in drawn.iterfind("s:polyline", SVG) if line.get("class") == "roof")
    (_, flat), (corner, same), (end_x, end_y) = places(roof)
    assert flat == same < end_y and corner < end_x
    # exp reaches its limit, so that its dot is on the falling part of the roof; add has half of its own.
    x, y = (float(dots["exp_f32"].get(name)) for name in ("cx", "cy"))
    assert y == pytest.approx(flat + (x - corner) / (end_x - corner) * (end_y - flat), abs=0.2)
    assert float(dots["add_f32"].get("cx")) < corner and float(dots["add_f32"].get("cy")) > flat
    assert "50% of its limit" in dots["add_f32"].find("s:title", SVG).text


def test_a_curve_has_a_place_for_each_size_and_our_second_column_has_none():
    drawn = xml.fromstring(curves.curves("add_f32", CELLS[:2]))
    lines = {line.get("class"): [] for line in drawn.iterfind("s:polyline", SVG)}
    for line in drawn.iterfind("s:polyline", SVG):
        lines[line.get("class")].append(places(line))
    assert [len(points) for points in lines["our-line"]] == [2]
    assert sorted(len(points) for points in lines["line"]) == [1, 2]
    ours, numpy = lines["our-line"][0], next(points for points in lines["line"] if len(points) == 2)
    assert all(mine[0] == other[0] and mine[1] > other[1] for mine, other in zip(ours, numpy, strict=True))
    assert {"bcastgen", "NumPy", "Numba"} <= {text.text for text in drawn.iterfind("s:text", SVG)}


def test_labels_do_not_cover_each_other():
    close = cell("add_f32", 1024, 1e-6, numpy=1.01e-6, numexpr=1.02e-6, jax=1.03e-6)
    drawn = xml.fromstring(curves.curves("add_f32", (CELLS[0], close)))
    names = {"bcastgen", "NumPy", "NumExpr", "JAX (jit)"}
    rows = sorted(float(text.get("y")) for text in drawn.iterfind("s:text", SVG) if text.text in names)
    assert len(rows) == 4 and all(below - above >= 14.9 for above, below in itertools.pairwise(rows))


def test_the_page_has_what_was_measured_and_needs_nothing_else(tmp_path):
    whole = curves.page([RUN])
    assert whole.count("<svg") == 3 and "Some &lt;CPU&gt;" in whole and "exp_f32 0.488" in whole
    assert "add_f32: nanoseconds an element" in whole and "exp_f32: nanoseconds" not in whole
    assert not any(word in whole for word in ("src=", "href=", "<script", "@import"))
    (tmp_path / "run.json").write_text(RUN.to_json(), encoding="utf-8")
    arguments = ["--report", str(tmp_path / "run.json"), "--plot", str(tmp_path / "p.html")]
    assert runner.main(arguments, io.StringIO()) == 0
    assert (tmp_path / "p.html").read_text(encoding="utf-8") == whole


def test_without_any_limit_there_is_no_roofline():
    assert curves.roofline([results.Report({}, {}, CELLS[:1])]) == ""


@pytest.mark.parametrize(("dark", "ground"), [(False, "#ffffff"), (True, "#121212")])
def test_colours_have_the_contrast_of_level_aa(dark, ground):
    """On the grounds that browsers give pages of either scheme."""
    light, _, darker = bench_module("drawing")._STYLE.partition("@media")
    known = dict(re.findall(r"([\w.-]+) \{[^}]*(?:fill|stroke): (#[0-9a-f]{6})", light))
    if dark:
        known |= dict(re.findall(r"([\w.-]+) \{[^}]*(?:fill|stroke): (#[0-9a-f]{6})", darker))
    assert {"text", ".note", ".bar", ".ours", ".line", ".our-line", ".roof"} <= set(known)
    for name, colour in known.items():
        # Lines of the grid are decoration: labels say the same.
        if name != ".axis":
            assert contrast(colour, ground) >= (4.5 if name in ("text", ".note") else 3), name


PROBE = """
const figures = [...document.querySelectorAll("figure")];
return {scroll: figures.every((each) => each.tabIndex === 0 && each.scrollWidth > each.clientWidth),
    pictures: figures.filter((each) => each.querySelector("svg[role=img] > title + desc")).length,
    small: Math.min(...[...document.querySelectorAll("svg text")].map((each) => each.getBoundingClientRect().height))};
"""


@pytest.mark.slow
@needs_chromium
def test_in_a_browser_375_pixels_wide_pictures_scroll_and_their_words_can_be_read(tmp_path):
    seen = in_chromium(curves.page([RUN]), PROBE, tmp_path)
    assert seen["faults"] == [] and seen["wider"] is False
    assert seen["found"]["scroll"] and seen["found"]["pictures"] == 3 and seen["found"]["small"] >= 10
