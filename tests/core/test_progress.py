"""Long work tells how far it has come: where, how often, and that stdout and short work are left alone."""

from __future__ import annotations

import io
import itertools
import os
import pty
import subprocess
import sys

import pytest

from bcastgen.core import progress as module
from bcastgen.core.progress import Progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


def run(stream, names, seconds):
    with Progress("work", len(names), stream, itertools.count(0, seconds).__next__) as progress:
        for name in names:
            progress.step(name)
    return stream.getvalue()


def test_short_work_says_nothing_where_stderr_is_no_terminal():
    assert run(io.StringIO(), ["a", "b", "c"], 1) == ""


def test_long_work_says_a_line_now_and_then_where_stderr_is_no_terminal():
    assert run(io.StringIO(), list("abcdefgh"), 4) == "work: 3 of 8, c\nwork: 6 of 8, f\n"


def test_without_rich_one_line_is_written_over_and_gone_in_the_end(monkeypatch):
    monkeypatch.setattr(module.importlib.util, "find_spec", lambda name: None)
    shown = run(Terminal(), ["first", "second"], 1)
    assert shown.split(module._ERASE) == ["", "work: 1 of 2, first", "work: 2 of 2, second", ""]


def test_a_single_step_is_no_progress():
    assert run(Terminal(), ["all"], 1) == ""


def test_rich_draws_a_bar_and_takes_it_away():
    pytest.importorskip("rich", reason="rich is not installed (pip install rich)")
    shown = run(Terminal(), ["first", "[x] a"], 1)
    assert "work" in shown and "first" in shown and "1/2" in shown and "[x] a" in shown


def test_a_program_without_stderr_works(monkeypatch):
    monkeypatch.setattr(sys, "stderr", None)
    with Progress("work", 2) as progress:
        progress.step("a")
        progress.clear()


def test_stdout_has_no_word_of_it_while_stderr_is_a_terminal(tmp_path):
    """Two functions of a module: the files' names on stdout, a bar on the terminal, which is gone in the end."""
    body = "  %0 = tosa.abs %a : (tensor<?xf32>) -> tensor<?xf32>\n  return %0 : tensor<?xf32>\n}\n"
    text = "".join(f"func.func @f{n}(%a: tensor<?xf32>) -> tensor<?xf32> {{\n{body}" for n in range(2))
    (tmp_path / "m.mlir").write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "bcastgen", "emit", str(tmp_path / "m.mlir"), "-o", str(tmp_path / "out")]
    master, slave = pty.openpty()
    try:
        environment = os.environ | {"TERM": "xterm", "COLUMNS": "100"}
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=slave, text=True, env=environment, check=True)
        os.close(slave)
        shown = os.read(master, 1 << 16).decode()
    finally:
        os.close(master)
    assert [line.rpartition("/")[2] for line in done.stdout.splitlines()] == ["m.c", "m.h", "bcastgen.h"]
    assert "emit" in shown and "f0" in shown and "f1" in shown
    quiet = subprocess.run(command, capture_output=True, text=True, check=True)
    assert quiet.stdout == done.stdout and quiet.stderr == ""
