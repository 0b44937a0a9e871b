"""A picture shows each point of the domain, and fills the cells whose elements are in memory."""

from __future__ import annotations

from collections import Counter
from xml.etree import ElementTree as xml

import pytest

import bcastgen as bg
from bcastgen.page.boxes import boxes_of


def boxes(text):
    (nest, *_) = bg.from_text(text).compilation.program.nests
    return {box.name: box for box in boxes_of(nest, 0)}


def cells(box):
    return Counter(rect.get("class") for rect in xml.fromstring(box.svg).iter("rect"))


def ways(box):
    return [(one.dim, one.way) for one in box.along]


def test_an_operand_without_a_dim_is_read_again_along_it():
    found = boxes("(f32[3, 4] a, f32[4] b, f32[3, 1] c) -> a * b + c")
    assert cells(found["a"]) == cells(found["r"]) == {"there": 12}
    assert cells(found["b"]) == {"there": 4, "again": 8}
    assert cells(found["c"]) == {"there": 3, "again": 9}
    assert ways(found["c"]) == [("d0", "follows"), ("d1", "again")]


def test_an_extent_that_may_be_one_says_so():
    found = boxes("(f32[3, ?] a, f32[3, ?] b) -> a * b")
    assert cells(found["a"]) == {"there": 3, "either": 12}
    assert "0 if" not in found["a"].svg and "if its extent is 1 at run time" in found["a"].svg


def test_operands_of_unknown_rank_have_further_dims_in_front():
    found = boxes("a * b")
    assert ways(found["a"]) == [("further dims", "either")]
    assert ways(found["r"]) == [("further dims", "follows")]


def test_a_reduced_result_is_the_first_cell_of_those_combined():
    nest = bg.from_text("(f32[3, 4] a) -> a.sum(axis=1)").compilation.program.nests[0]
    (reduced,) = [box for box in boxes_of(nest, 0) if box.role == "result, reduced"]
    assert cells(reduced) == {"there": 3, "combined": 9}


@pytest.mark.parametrize(("text", "count"), [("(f32[] a) -> -a", 1), ("(f32[2, 3, 4] a) -> -a", 24)])
def test_the_picture_has_a_cell_for_each_point(text, count):
    assert cells(boxes(text)["a"]) == {"there": count}


def test_pictures_have_a_text_for_those_who_do_not_see_them():
    box = boxes("(f32[3, 4] a, f32[4] b) -> a * b")["b"]
    svg = xml.fromstring(box.svg)
    title = svg.find("title")
    assert svg.get("role") == "img" and svg.get("aria-labelledby") == title.get("id")
    assert title.text == "b in the domain: d0: the same element again (a stride of 0); d1: element by element"


def test_a_box_has_the_type_and_the_map_of_the_array_itself():
    """Dims of extent 1 are there, though nests are printed without them."""
    box = boxes("(f32[?, 1] a, f32[?, 4] b) -> a * b")["a"]
    assert (box.type, box.map) == ("tensor<?x1xf32>", "(d0, d1) -> (d0|0, 0)")
