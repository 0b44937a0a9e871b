"""Errors show the lines of the user's, and none of ours between; errors that may be our fault show all."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import traceback
from pathlib import Path

import numpy as np
import pytest

import bcastgen as bg
from bcastgen.core.source_lines import with_short_tracebacks

HERE = Path(__file__)
OURS = str(Path(bg.__file__).parent)
product = bg.jit(lambda x, y: x * y)


def branches(x):
    if x > 0:
        return x
    return -x


def misspelt(x):
    return nosuch(x)  # noqa: F821


@bg.jit(static="mode")
def picked(x, mode):
    return x[0] if mode else x


CALLS = {
    "extents that do not fit": (lambda: product(np.ones(3), np.ones(4)), bg.BroadcastError, []),
    "a dtype that an op has not": (lambda: bg.bitwise_and(np.ones(3), 1), bg.DTypeError, []),
    "an operand that is no array": (lambda: product(np.ones(3), "text"), bg.DTypeError, []),
    "a mask that would be lost": (lambda: product(np.ma.ones(3), 1.0), bg.DTypeError, []),
    "an operand is missing": (lambda: product(np.ones(3)), TypeError, []),
    "an out of another shape": (lambda: product(np.ones(3), 1.0, out=np.ones(4)), bg.BroadcastError, []),
    "an argument without such a value": (lambda: product(1.0, 1.0, casting="saef"), bg.ArgumentError, []),
    "an axis out of range": (lambda: bg.sum(np.ones(3), axis=4), bg.AxisError, []),
    "no expression": (lambda: bg.evaluate("a +", {"a": 1.0}), bg.ParseError, []),
    "no variable": (lambda: bg.evaluate("a + b", {"a": 1.0}), bg.ParseError, []),
    "no signature": (lambda: bg.from_text("(f32[?) a -> a"), bg.ParseError, []),
    "no MLIR": (lambda: bg.from_mlir("func.func"), bg.ParseError, []),
    "a form that cannot hold it": (lambda: product.to_mlir("nosuch"), bg.BcastgenError, []),
    "no C of an op": (lambda: bg.define_op("halfway", "x", c="x + nosuch"), bg.ParseError, []),
    "a name that is taken": (lambda: bg.define_op("exp", "x", c="x"), bg.BcastgenError, []),
    "no number of threads": (lambda: bg.set_num_threads(0), bg.BcastgenError, []),
    "shapes that do not fit": (lambda: product.result_shape((3,), (4,)), bg.BroadcastError, []),
    "no shape": (lambda: product.result_shape((3,), "text"), bg.BcastgenError, []),
    "a shape is missing": (lambda: product.result_shape((3,)), TypeError, []),
    "extents that operands decide": (lambda: product.result_shape((3,), (3,), extents={"n": 1}), TypeError, []),
    "a branch": (lambda: bg.jit(branches), bg.TraceError, ["branches"]),
    "a branch, with options": (lambda: bg.jit(threads=1)(branches), bg.TraceError, ["branches"]),
    "source that is not read": (lambda: bg.vectorize(lambda x: input(x)), bg.TraceError, []),
    "the user's own error": (lambda: bg.jit(misspelt), NameError, ["misspelt"]),
    "at the call of a static value": (lambda: picked(np.ones(3), mode=True), bg.TraceError, ["picked"]),
}


@pytest.mark.parametrize(("call", "kind", "functions"), CALLS.values(), ids=CALLS)
def test_errors_show_the_users_lines(call, kind, functions):
    with pytest.raises(kind) as caught:
        call()
    frames = traceback.extract_tb(caught.value.__traceback__)
    shown = [frame for frame in frames if frame.filename.startswith(OURS)]
    # Python 3.10 brings back the frames of what is not a call of a kernel.
    assert shown == [] or sys.version_info < (3, 11)
    own = [frame.name for frame in frames if frame.filename == str(HERE)]
    assert own == ["test_errors_show_the_users_lines", "<lambda>", *functions]


def ours(source):
    """Return the function `faulty` of a source whose frames are those of the package."""
    names = {}
    exec(compile(source, f"{OURS}/nosuch.py", "exec"), names)
    return with_short_tracebacks(names["faulty"])


def test_what_may_be_our_fault_shows_all_frames():
    with pytest.raises(KeyError) as caught:
        ours("def faulty():\n    return {}['key']")()
    shown = [frame.filename for frame in traceback.extract_tb(caught.value.__traceback__)]
    assert shown[-1] == f"{OURS}/nosuch.py" and len(shown) == 3


def shown_by(call, kind):
    with pytest.raises(kind) as caught:
        call()
    return [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)][1:]


@pytest.mark.skipif(sys.version_info < (3, 11), reason="all frames of an error that is raised again come back there")
def test_the_standard_library_is_whose_frame_calls_it():
    refused = ours("def faulty(text):\n    import bcastgen, json\n    json.loads('1', parse_int=bcastgen.from_text)")
    assert shown_by(lambda: refused("1"), bg.BcastgenError) == ["<lambda>"]
    fault = ours("def faulty():\n    import json\n    json.loads('{')")
    assert shown_by(fault, json.JSONDecodeError)[:2] == ["call", "faulty"]
    called = ours("def faulty(function):\n    return function()")
    assert shown_by(lambda: called(parsed), json.JSONDecodeError) == [
        "<lambda>",
        "parsed",
        "loads",
        "decode",
        "raw_decode",
    ]


def parsed():
    return json.loads("{")


@pytest.mark.parametrize("debug", ["", "1"])
def test_debugging_shows_all_frames(debug):
    script = "import bcastgen as bg, numpy as np\nbg.bitwise_and(np.ones(3), 1)"
    done = subprocess.run(
        [sys.executable, "-c", script], env={**os.environ, "BCASTGEN_DEBUG": debug}, capture_output=True, text=True
    )
    files = [line for line in done.stderr.splitlines() if line.startswith("  File ")]
    assert done.stderr.splitlines()[-1].startswith("bcastgen.DTypeError: ")
    assert (len(files) > 5) if debug else (len(files) == 1)
