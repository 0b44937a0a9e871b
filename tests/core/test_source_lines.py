"""Which line an error names: the user's, and not that of a package which the user's function calls."""

from __future__ import annotations

import importlib.util
import inspect
import subprocess
import sys

import numpy as np
import pytest

import bcastgen as bg
from bcastgen.core.source_lines import short_traceback

LIBRARY = """
import numpy as np

def as_array(x):
    return np.asarray(x) * 2

def by_kind(x):
    return x if isinstance(x, np.ndarray) else np.float64(x)

def of_masks(x):
    return x[x > 0]

def added(x):
    return x & 1.5
"""
CALLER = """
import numpy as np
import bcastgen as bg

def call(function):
    return bg.jit(lambda x: function(x))

def own(x):
    y = x + 1
    return y[y > 0]
"""


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Return what imports a module of this text from a folder of installed packages."""

    def load(package, text):
        folder = tmp_path / "lib" / "site-packages" / package
        folder.mkdir(parents=True)
        (folder / "inside.py").write_text(text, encoding="utf-8")
        spec = importlib.util.spec_from_file_location(f"{package}_inside", folder / "inside.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    return load


def line(function):
    return f"{__file__}:{inspect.getsourcelines(function)[1] + 1}"


@pytest.mark.parametrize("name", ["as_array", "by_kind", "of_masks"])
def test_an_error_inside_of_a_package_names_the_line_that_calls_it(installed, name):
    theirs = getattr(installed("library", LIBRARY), name)

    def mine(x):
        return theirs(x)

    with pytest.raises(bg.TraceError) as caught:
        bg.jit(mine)
    assert str(caught.value).endswith(f"at {line(mine)} in mine(x)")


def test_an_op_that_a_package_applies_is_at_the_line_that_calls_it(installed):
    theirs = installed("library", LIBRARY).added

    def mine(x):
        return theirs(x)

    with pytest.raises(bg.DTypeError) as caught:
        bg.jit(mine)(np.ones(2))
    assert f"at {line(mine)} in mine(" in str(caught.value)


def test_a_function_of_an_installed_package_names_its_own_lines(installed):
    library = installed("library", LIBRARY)
    caller = installed("caller", CALLER)
    for name in ("as_array", "by_kind", "of_masks"):
        with pytest.raises(bg.TraceError) as caught:
            caller.call(getattr(library, name))
        assert f"at {caller.__file__}:6 in kernel(x)" in str(caught.value)
    with pytest.raises(bg.TraceError) as caught:
        bg.jit(caller.own)
    assert f"at {caller.__file__}:10 in own(x)" in str(caught.value)


def test_a_frame_of_no_line_stays():
    def fails():
        raise bg.BcastgenError("no line")

    fails.__code__ = fails.__code__.replace(co_linetable=b"")
    with pytest.raises(bg.BcastgenError) as caught:
        fails()
    short = short_traceback(caught.value, caught.tb)
    assert short.tb_next.tb_frame.f_code is fails.__code__


STRUCK = """
import signal
import time
import numpy as np
import bcastgen as bg

class Strike(BaseException):
    pass

def strike(_, frame):
    global inside
    while frame is not None:
        inside |= frame.f_code.co_name == "short_traceback"
        frame = frame.f_back
    raise Strike

signal.signal(signal.SIGALRM, strike)
kernel, a, b = bg.from_text("a + b"), np.ones((2, 3)), np.ones((2, 2))
kernel(a, a)
begun = time.perf_counter()
for _ in range(40):
    try:
        kernel(a, b)
    except bg.BroadcastError:
        pass
longest = max(8e-4, (time.perf_counter() - begun) / 4)  # ten calls
lost = struck = 0
for delay in range(3000):
    inside = False
    try:
        signal.setitimer(signal.ITIMER_REAL, 1e-5 + delay % 400 / 400 * longest)
        for _ in range(200):
            try:
                kernel(a, b)
            except bg.BroadcastError:
                pass
        lost += inside
    except Strike:
        struck += inside
    try:
        signal.setitimer(signal.ITIMER_REAL, 0)
    except Strike:
        pass
print(struck > 0, lost)
"""


def test_what_a_handler_raises_while_frames_are_taken_out_is_not_lost():
    done = subprocess.run([sys.executable, "-c", STRUCK], capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["True", "0"], done.stderr[-2000:]
