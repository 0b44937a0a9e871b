"""bcastgen/runtime/base.py: which implementation is chosen, and what importing it costs."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from bcastgen.runtime import base, fallback

IMPORT = """
import sys
import numpy
before = set(sys.modules)
if {blocked}:
    sys.modules["bcastgen._dispatch"] = None
from bcastgen.runtime import base
print(base.implementation, base.KernelBase.__module__)
heavy = {{"cffi", "jinja2", "pycparser", "subprocess", "numpy.ma"}}
print(sorted(heavy & sys.modules.keys() - before))
"""


@pytest.mark.parametrize("debug", ["", "1"])
@pytest.mark.parametrize("blocked", [True, False])
def test_the_choice_of_the_implementation(blocked: bool, debug: str) -> None:
    environment = {**os.environ, "BCASTGEN_DEBUG": debug}
    code = IMPORT.format(blocked=blocked)
    lines = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    ).stdout
    chosen, loaded = lines.splitlines()
    fallback = blocked or base.implementation == "cffi"
    assert chosen == ("cffi bcastgen.runtime.fallback" if fallback else "extension bcastgen._dispatch")
    assert loaded == "[]"


def test_both_implementations_have_one_face() -> None:
    face = {"_add_binary", "_call_clean", "_infer", "_name", "_defaults", "_constants", "operands", "results"}
    assert face <= set(dir(fallback.KernelBase)) & set(dir(base.KernelBase))
