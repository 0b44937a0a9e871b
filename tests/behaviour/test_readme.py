"""README.md is true: its examples run, its list of ops is the table's, its first block is two lines."""

from __future__ import annotations

import doctest
import os
import re
import textwrap
from pathlib import Path

from bcastgen.ops.table import OPS

README = Path(__file__).resolve().parents[2] / "README.md"


def test_the_examples_run():
    failed, tried = doctest.testfile(str(README), module_relative=False, optionflags=doctest.ELLIPSIS)
    assert tried > 8
    assert failed == 0


def test_the_list_of_ops_is_the_table():
    text = README.read_text()
    listed = re.search(r"<!-- ops: .*? -->\n(.*?)<!-- end -->", text, re.DOTALL)
    wanted = textwrap.fill(", ".join(OPS), 120) + "\n"
    if os.environ.get("BCASTGEN_UPDATE_CASES"):
        README.write_text(text.replace(listed[1], wanted))
        return
    assert listed[1] == wanted, "run with BCASTGEN_UPDATE_CASES=1 to rewrite it"


def test_the_first_block_is_two_lines():
    first = re.search(r"```sh\n(.*?)```", README.read_text(), re.DOTALL)
    assert len(first[1].splitlines()) == 2
