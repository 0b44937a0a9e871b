"""Ranks beyond what a kernel holds: refused by name, whichever way makes them, before C is made or run.

What fails here would write behind a `bcg_shape`, so that everything runs in a process of its own.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest

# Each way makes a value of rank n out of an operand of rank at most 64, and leaves its result at any rank.
# Prints a row of [way, rank, surface, outcome]; an outcome is a rank, or the error's class and text.
_PROGRAM = r"""
import contextlib, io, json, pathlib, subprocess, sys, tempfile
import numpy as np
import bcastgen as bg
from bcastgen.cli.main import main

ranks = json.loads(sys.argv[1])
surfaces = sys.argv[2].split(",")
folder = pathlib.Path(tempfile.mkdtemp())


def ways(n):
    news = "None," * (n - 1)
    yield "None", f"a[{news}:]*2", (3,)
    yield "broadcast_to", f"broadcast_to(a, ({'1,' * (n - 1)}3))*2", (3,)
    yield "names", "(f64[n] a) -> broadcast_to(a, (" + "1," * (n - 1) + "n))*2", (3,)
    yield "broadcast_in_dim", f"broadcast_in_dim(a, ({'1,' * (n - 1)}3), ({n - 1},))*2", (3,)
    yield "transpose", f"transpose(a[{news}:])*2", (3,)
    yield "constant", f"a + broadcast_to(1.0, ({'1,' * n}))", (3,)
    yield "beside", f"(f64[3] a) -> a + transpose(a[{news}:]) * 0", (3,)
    yield "typed", f"(f64[?] a) -> a[{news}:]*2", (3,)
    yield "any rank", f"(f64[*] a) -> a[{'None,' * (n - min(n, 64))}...]*2", (1,) * (min(n, 64) - 1) + (3,)
    yield "twice", f"a[{'None,' * (n // 2)}...][{'None,' * (n - 1 - n // 2)}...]*2", (3,)
    yield "declared", f"(f64[{','.join(['1'] * (n - 1) + ['?'])}] a) -> a*2", (1,) * (min(n, 64) - 1) + (3,)
    yield "at least", f"(f64[*,{','.join(['1'] * (n - 1) + ['?'])}] a) -> a*2", (1,) * (min(n, 64) - 1) + (3,)


def traced(n):
    def function(a):
        for _ in range(n - 1):
            a = a[np.newaxis]
        return a * 2
    return bg.jit(function)


def call(make, shape):
    return make()(np.ones(shape)).ndim


def background(make, shape):
    kernel = make()
    kernel.background = True
    rank = kernel(np.ones(shape)).ndim
    kernel.wait()
    return rank


def emit(make, shape):
    kernel = make()
    if kernel.signature is None:
        return None
    kernel.emit_c(folder, "k")
    return None


def command(text, shape):
    np.save(folder / "a.npy", np.ones(shape))
    said = io.StringIO()
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(said):
        code = main(["run", text, "--in", f"a={folder / 'a.npy'}", "--out", str(folder / "r.npy")])
    if code:
        raise bg.BroadcastError(said.getvalue())
    return np.load(folder / "r.npy").ndim


def row(way, n, surface, run):
    try:
        outcome = run()
    except Exception as error:
        outcome = [isinstance(error, bg.BcastgenError), f"{type(error).__name__}: {str(error)[:300]}"]
    print(json.dumps([way, n, surface, outcome]), flush=True)


for n in ranks:
    for way, text, shape in ways(n):
        make = lambda text=text: bg.from_text(text)
        runs = {
            "call": lambda: call(make, shape),
            "evaluate": lambda: bg.evaluate(text, {"a": np.ones(shape)}).ndim if "->" not in text else None,
            "result_shape": lambda: len(make().result_shape(shape)),
            "background": lambda: background(make, shape),
            "emit": lambda: emit(make, shape),
            "shape": lambda: len(make().shape_function.run(shape)),
            "mlir": lambda: make().to_mlir("linalg") and None,
            "cli": lambda: command(text, shape),
        }
        for surface in surfaces:
            row(way, n, surface, runs[surface])
    if "call" in surfaces:
        row("traced", n, "call", lambda: call(lambda: traced(n), (3,)))
        dims = ", ".join(f"d{at}" for at in range(n))
        ones = [1] * (n - 1)
        row("define_op", n, "call", lambda: bg.define_op(
            f"ranked{n}", "a", c="a * 2", maps=[f"({dims}) -> (d{n - 1})"],
            shape=lambda a: bg.shape.concat(tuple(ones), a))(np.ones(3)).ndim)
        shape = "x".join(["1"] * (n - 1) + ["3"])
        row("reshape", n, "call", lambda: bg.from_mlir(
            f"func.func @f(%a: tensor<3xf32>) -> tensor<{shape}xf32> {{\n"
            f"  %s = tosa.const_shape {{values = dense<[{shape.replace('x', ', ')}]> : tensor<{n}xindex>}}"
            f" : () -> !tosa.shape<{n}>\n"
            f"  %0 = tosa.reshape %a, %s : (tensor<3xf32>, !tosa.shape<{n}>) -> tensor<{shape}xf32>\n"
            f"  %1 = tosa.abs %0 : (tensor<{shape}xf32>) -> tensor<{shape}xf32>\n"
            f"  return %1 : tensor<{shape}xf32>\n}}")(np.ones(3, np.float32)).ndim)
"""


def outcomes(ranks, surfaces):
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM, json.dumps(ranks), ",".join(surfaces)], capture_output=True, text=True
    )
    assert done.returncode == 0, (done.returncode, done.stdout[-300:], done.stderr[-2000:])
    return [json.loads(line) for line in done.stdout.splitlines()]


def wrong(way, rank, outcome):
    """What is wrong with an outcome; None if nothing is, or if the surface is not for this way."""
    if outcome is None:
        return None
    if rank <= 64:
        return None if outcome == rank else "not its rank"
    if not isinstance(outcome, list) or not outcome[0]:
        return "not refused by an error of ours"
    # Without a call there may be no rank at all.
    said = re.search(r"has (?:rank )?(\d+)(?: extents)?, expected at most 64|needs operands of known rank", outcome[1])
    return None if said and int(said[1] or 65) > 64 else "the error names neither rank nor limit"


SURFACES = ("call", "evaluate", "result_shape", "background", "emit", "shape", "mlir", "cli")


def test_more_than_64_dims_are_refused_everywhere():
    rows = outcomes([65, 71, 400], SURFACES)
    assert len(rows) > 250
    assert [(*row, why) for row in rows if (why := wrong(row[0], row[1], row[3]))] == []


@pytest.mark.slow
def test_up_to_64_dims_are_served():
    rows = outcomes([63, 64], ("call", "evaluate", "result_shape", "cli"))
    assert [(*row, why) for row in rows if (why := wrong(row[0], row[1], row[3]))] == []
