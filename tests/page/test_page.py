"""The page has every stage, needs no other file, and can be read by everyone: structure, contrast, names, no script."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from itertools import pairwise

import numpy as np
import pytest

import bcastgen as bg
from bcastgen.page.page import page
from browser import contrast, in_chromium, needs_chromium

TEXT = "(u8[?, 3] x, f32[3] m) -> (x.astype(int32)//8).astype(float32) - m"
VOID = {"meta", "link", "br", "rect"}


class Document(HTMLParser):
    """The elements of a page as (tag, attributes, text), and whether each that opens is closed in order."""

    def __init__(self, text):
        super().__init__()
        self.elements, self._open = [], []
        self.feed(text)
        assert not self._open

    def handle_starttag(self, tag, attributes):
        self.elements.append([tag, dict(attributes), ""])
        if tag not in VOID:
            self._open.append((tag, len(self.elements) - 1))

    def handle_startendtag(self, tag, attributes):
        self.elements.append([tag, dict(attributes), ""])

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self._open and self._open.pop()[0] == tag, f"</{tag}> closes another element"

    def handle_data(self, data):
        for _, at in self._open:
            self.elements[at][2] += data

    def all(self, tag):
        return [(attributes, text) for name, attributes, text in self.elements if name == tag]


def made(text=TEXT, **more):
    compilation = bg.from_text(text, **more).compilation
    return page(compilation, compilation.stages), compilation


def test_every_stage_is_on_the_page():
    text, compilation = made(TEXT.replace("float32", "float64"))
    document = Document(text)
    shown = " ".join("".join(words for _, _, words in document.elements).split())
    for name in ("expression", "typed", "shape", "schedule"):
        assert " ".join(compilation.stages[name].split()) in shown, name
    assert {"strength_reduction", "narrow"} <= {words for _, words in document.all("h3")}
    rows = [words.split() for _, words in document.all("tr")][1:]
    assert len(rows) == len(compilation.constraints.splitlines())
    assert any("+   t1 = right_shift(t0, 3:i32) : i32" in words for _, words in document.all("ins"))
    assert any("-   t1 = floor_divide(t0, 8:i32) : i32" in words for _, words in document.all("del"))


def test_texts_of_stages_are_no_markup():
    text, _ = made()
    body = text.partition("</style>")[2].partition("<script>")[0]
    assert "(d0, d1) -&gt; (d1)" in body and "i &lt; n" in body
    assert "->" not in body and not re.search(r"&(?!lt;|gt;|amp;|quot;|#x27;)", body)


def test_the_page_needs_no_other_file():
    text, _ = made()
    assert not re.search(r"(?:src|href)=\"(?!#|data:,\")", text)
    assert "@import" not in text and "url(" not in text and "fetch(" not in text


def test_a_reader_without_eyes_or_mouse_finds_everything():
    document = Document(made()[0])
    ids = [attributes["id"] for _, attributes, _ in document.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    for _, attributes, _ in document.elements:
        assert attributes.get("aria-labelledby", ids[0]) in ids
    links = [attributes["href"] for attributes, _ in document.all("a")]
    assert links and all(link[1:] in ids for link in links)
    for attributes, _ in [*document.all("pre"), *document.all("svg")]:
        named = {"aria-label", "aria-labelledby", "aria-hidden"} & attributes.keys()
        assert named or not attributes, attributes
    assert all("tabindex" in a for _, a, _ in document.elements if a.get("role") == "region")
    assert all(a["type"] == "button" and a["aria-pressed"] == "false" for a, _ in document.all("button"))
    levels = [int(tag[1]) for tag, _, _ in document.elements if re.fullmatch(r"h\d", tag)]
    assert levels[0] == 1 and all(then - before <= 1 for before, then in pairwise(levels))
    assert dict(document.all("html")[0][0])["lang"] == "en"


def test_nodes_and_lines_name_each_other():
    document = Document(made()[0])
    nodes = {attributes["data-node"] for attributes, _ in document.all("button")}
    lines = {node for a, _ in document.all("span") for node in a.get("data-nodes", "").split()}
    assert lines == nodes


def colours(block):
    return dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", block))


TEXTS = [
    *((text, ground) for text in ("text", "quiet", "link") for ground in ("ground", "raised")),
    *(("text", "chosen"), ("quiet", "chosen"), ("good", "good-ground"), ("asked", "asked-ground")),
    *(("gone", "gone-ground"), ("trust", "trust-ground")),
]


@pytest.mark.parametrize("dark", [False, True])
def test_colours_have_the_contrast_of_level_aa(dark):
    light, _, rest = made()[0].partition("@media (prefers-color-scheme: dark)")
    known = colours(light[light.index(":root") :])
    if dark:
        known |= colours(rest.partition("* {")[0])
    for text, ground in TEXTS:
        assert contrast(known[text], known[ground]) >= 4.5, (text, ground)
    # The lines around cells of the pictures, by what a cell stands for.
    cells = re.findall(r"(?:rect|\.combined) \{[^}]*stroke: var\(--([\w-]+)\)", rest)
    assert len(cells) == 2
    for edge, ground in [*((cell, on) for cell in cells for on in ("raised", "ground")), ("chosen-edge", "chosen")]:
        assert contrast(known[edge], known[ground]) >= 3, (edge, ground)


def test_the_page_of_a_call_has_the_dtypes_of_the_call():
    kernel = bg.jit(lambda a, b: a * b)
    kernel(np.ones(3, "f4"), np.ones(3, "f4"))
    assert "tensor&lt;*xf32&gt;" in page(kernel.compilation, kernel.stages)


def test_measured_times_are_a_table_where_they_were_asked_for():
    text = bg.from_text(TEXT).explain(html=True, operands=(np.ones((4, 3), "u1"), np.ones(3, "f4")))
    document = Document(text)
    table = text.partition('<section id="measured"')[2]
    assert "x uint8[4, 3], m float32[3]: a call reads " in table and '<th scope="row">bcastgen</th><td>' in table
    assert "#measured" in [attributes["href"] for attributes, _ in document.all("a")]
    assert "measured" not in made()[0].partition("<script>")[0]
    told = bg.from_text(TEXT).explain(operands=(np.ones((4, 3), "u1"), np.ones(3, "f4")))
    assert "\n== measured: what calls take beside the least" in told


PROBE = """
const button = document.querySelector("button[data-name=t1]");
button.click();
document.querySelectorAll("details").forEach((each) => { each.open = true; });
const hidden = [...document.querySelectorAll("main *")].filter((each) => !each.closest("svg, .nests, pre, .c, br")
    && (each.getBoundingClientRect().width === 0 || each.getBoundingClientRect().right > wide.clientWidth + 1));
return {hidden: hidden.map((each) => each.outerHTML), near: document.querySelectorAll("#c .near").length,
    pressed: button.getAttribute("aria-pressed"), said: document.getElementById("said").textContent};
"""


@pytest.mark.slow
@needs_chromium
def test_in_a_browser_375_pixels_wide_all_is_visible_and_choosing_a_node_shows_its_lines(tmp_path):
    seen = in_chromium(made()[0], PROBE, tmp_path)
    assert seen["faults"] == [] and seen["wider"] is False
    said = seen["found"]
    assert said["hidden"] == []
    assert said["near"] > 0 and said["pressed"] == "true" and said["said"].startswith("t1 is in lines ")
