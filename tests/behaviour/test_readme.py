"""The README's first block is two lines, which `.ci/run` runs; docs/ops.md lists the table's ops."""

from __future__ import annotations

import os
import re
import textwrap
from pathlib import Path

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


def test_the_first_block_is_two_lines():
    first = re.search(r"```sh\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    assert len(first[1].splitlines()) == 2
