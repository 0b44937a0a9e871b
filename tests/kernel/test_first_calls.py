"""First calls in handlers of signals that strike in the middle of what another first call imports."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from long_runs import many

FORMS = {
    "plain": ("lambda x: x * 2", "lambda x: x + 1"),
    "reduction": ("lambda x: x.sum()", "lambda x: x.max() + np.tanh(x)"),
    "view": ("lambda x: np.clip(x, 0, 1)", "lambda x: np.hypot(x[:, None], 2).mean()"),
    "text": ("'where(x > 0, x, sum(x))'", "'exp(x)**2'"),
}
# A child for each module, which all begin as this process is: nothing is imported but the package.
PROGRAM = """
import os, signal, sys, threading, time
import numpy as np
import bcastgen as bg

begin, step, path = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
first, second = eval(sys.argv[4]), eval(sys.argv[5])
x, before = np.arange(6.0).reshape(2, 3), set(sys.modules)

def kernel(form):
    return bg.from_text(form) if isinstance(form, str) else bg.jit(form)

def in_child(number, work):
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        os.environ["BCASTGEN_CACHE_DIR"] = f"{path}/{number}"
        code = 1
        try:
            code = work()
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

def strike(module):
    struck, wanted = [], kernel_of_numpy(second)

    def handle(*_):
        sys.setprofile(None)
        struck.append(True)
        assert np.allclose(kernel(second)(x), wanted)
        struck.append(True)

    class Finder:
        # Modules that are imported in another thread: what imports them is half there.
        def find_spec(self, name, path=None, target=None):
            if name == module and threading.current_thread() is not threading.main_thread():
                os.kill(os.getpid(), signal.SIGUSR1)
                time.sleep(0.02)

    def begins(frame, event, argument):
        if event == "call" and frame.f_code.co_name == "<module>" and frame.f_globals["__name__"] == module:
            os.kill(os.getpid(), signal.SIGUSR1)

    signal.signal(signal.SIGUSR1, handle)
    sys.meta_path.insert(0, Finder())
    sys.setprofile(begins)
    got = kernel(first)(x)
    sys.setprofile(None)
    assert np.allclose(got, kernel_of_numpy(first)), got
    assert struck in ([], [True, True]), "the handler did not end"
    return 0 if struck else 7

def kernel_of_numpy(form):
    names = dict(where=np.where, exp=np.exp, sum=np.sum, x=x)
    return eval(form, names) if isinstance(form, str) else form(x)

def listed():
    kernel(first)(x)
    with open(f"{path}/modules", "w") as file:
        file.write(chr(10).join(sorted(set(sys.modules) - before)))
    return 0

assert in_child("list", listed) == 0
modules = open(f"{path}/modules").read().split()
codes = {name: in_child(number, lambda: strike(name)) for number, name in enumerate(modules[begin::step])}
print(len(codes), sum(code == 0 for code in codes.values()))
wrong = [name for name, code in codes.items() if code not in (0, 7)]
sys.exit(f"wrong at {wrong}" if wrong else 0)
"""


def run(form: str, begin: int, step: int, path: Path) -> tuple[int, int]:
    """Let a handler strike in each module, and return how many modules there are and in how many it struck."""
    python = [sys.executable, "-W", "error::UserWarning"]
    command = [*python, "-c", PROGRAM, str(begin), str(step), str(path), *FORMS[form]]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    count, struck = map(int, done.stdout.split())
    return count, struck


@pytest.mark.parametrize("form", FORMS)
def test_a_handler_that_makes_a_first_call_while_another_one_imports(form: str, tmp_path: Path) -> None:
    count, struck = run(form, 5, 16, tmp_path)
    assert count >= 5 and struck >= 1


@pytest.mark.slow
@pytest.mark.parametrize(("form", "begin"), [("reduction", 0), ("view", 1)])
def test_handlers_that_strike_in_each_module(form: str, begin: int, tmp_path: Path) -> None:
    """A handler found modules half there at 63 of 357 once; each that first calls import in their thread is listed."""
    step = many(2, 1)  # every second module, mostly those that the other form leaves out
    count, struck = run(form, begin % step, step, tmp_path)
    assert count >= 80 // step and struck >= 80 // step
