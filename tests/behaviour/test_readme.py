"""The README's first block is two lines, which `.ci/run` runs; docs/ops.md lists the table's ops."""

from __future__ import annotations

import os
import re
import textwrap
from pathlib import Path

import numpy as np
import pytest

import bcastgen as bg
from bcastgen.ops.table import OPS

ROOT = Path(__file__).resolve().parents[2]


def test_the_list_of_ops_is_the_table():
    page = ROOT / "docs" / "ops.md"
    text = page.read_text(encoding="utf-8")
    listed = re.search(r"<!-- ops: .*? -->\n(.*?)<!-- end -->", text, re.DOTALL)
    wanted = textwrap.fill(", ".join(OPS), 120) + "\n"
    if os.environ.get("BCASTGEN_UPDATE_CASES"):
        page.write_text(text.replace(listed[1], wanted), encoding="utf-8")
        return
    assert listed[1] == wanted, "run with BCASTGEN_UPDATE_CASES=1 to rewrite it"


REFUSED = {
    "Times": np.array(["2020"], "M8[D]"),
    "text": np.array(["a"]),
    "Python objects": np.array([None]),
    "structured dtypes": np.zeros(2, "f4,i4"),
    "long doubles": np.ones(2, np.longdouble),
    "masked arrays": np.ma.array([1.0]),
    "`numpy.matrix`": np.ones((1, 1)).view(np.matrix),
}


@pytest.mark.parametrize("words", REFUSED)
def test_the_limits_name_what_is_refused(words):
    limits = (ROOT / "README.md").read_text(encoding="utf-8").partition("## Limits of today")[2].partition("\n## ")[0]
    assert words in limits
    with pytest.raises(bg.DTypeError):
        bg.jit(lambda x: x + 1)(REFUSED[words])


def test_the_first_block_is_two_lines():
    first = re.search(r"```sh\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    assert len(first[1].splitlines()) == 2


def test_the_figures_of_the_speed_are_those_that_commands_wrote():
    said = re.search(r"## How fast\n(.*?)\n## ", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)[1]
    picture = (ROOT / "docs" / "speed.svg").read_text(encoding="utf-8")
    measured = (ROOT / "docs" / "performance.md").read_text(encoding="utf-8")
    drawn = {
        "cells": re.search(r"mean over (\d+) cells", picture)[1],
        "NumPy": re.search(r"; NumPy ([\d.]+);", picture)[1],
        "best": re.search(r"; the best of them ([\d.]+);", picture)[1],
    }
    form = r"Over (?P<cells>\d+) benchmarks.* NumPy takes (?P<NumPy>[\d.]+) times.* (?P<best>[\d.]+) times"
    told = re.search(form, said, re.DOTALL)
    assert told.groupdict() == drawn
    ours, numpys = re.search(r"`np.add`: (\d+) ns against (\d+)", said).groups()
    assert f"| {ours} ns | {numpys} ns (`np.add`) |" in measured
    disk = re.search(r"on disk in (\d+) ms", said)[1]
    low, high = re.search(r"is found on disk \| ([\d.]+) to ([\d.]+) ms", measured).groups()
    assert float(low) <= float(disk) <= float(high)
