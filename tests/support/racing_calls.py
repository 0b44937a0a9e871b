"""Threads whose first calls race, while garbage is collected, signals strike and the process forks.

In: numbers.  Out: a line a round, and exit status 1 if anything is wrong in one.

    python tests/support/racing_calls.py --rounds 100                 # 8 threads x 10,000 calls, signals at 2 kHz
    python tests/support/racing_calls.py --rounds 5 --threads 4 --calls 500 --seed 3

A round is one process with a cold cache. Its threads call the same kernels with operands of several dtypes and sizes,
so that they meet in first calls, in kernels that are deleted, and in the pool of threads; meanwhile a pattern that no
loop serves gets one. Signals strike the main thread, whose handler calls kernels, too; the main thread forks at random
instants, and each child compiles a kernel of its own and calls those there are. A round is right if every result, of
children too, has the bits that NumPy computes, and if all of it ends: where it does not, the stacks of all threads are
printed.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time

__all__ = ["play"]

SECONDS = 120  # of a round, on a machine that does other work, too

ROUND = """
import faulthandler, gc, os, random, signal, sys, threading, time
import numpy as np

count, calls, forks, seed, seconds = map(int, sys.argv[1:])
faulthandler.dump_traceback_later(seconds, exit=True)
import bcastgen as bg
gc.set_threshold(200, 5, 10)
texts = ("a * b + 1", "a - b * a", "(a + b) * (a - b)", "(a - b) * c + d")
kernels = [bg.from_text(text, threads=threads) for text, threads in zip(texts, (1, 2, 2, 2))]
shapes = ((), (7,), (3, 5), (300, 4)), ((70_000,),)
dtypes = "f4 f8 i4 i8 u2".split()
problems = []

def cases(chance, shapes):
    found = []
    for text, dtype in [(text, dtype) for text in range(len(texts)) for dtype in dtypes]:
        shape = chance.choice(shapes)
        a = np.array(chance.getrandbits(6)).astype(dtype)
        b = (np.arange(np.prod(shape)).reshape(shape) % 50).astype(dtype)
        c, d = a, b
        found.append((text, a, b, eval(texts[text])))
    return found

def call(case, kernels=kernels):
    text, a, b, wanted = case
    # The last kernel has no loop for a and c in one place, and gets one meanwhile.
    got = kernels[text](a, b, a, b) if text == 3 else kernels[text](a, b)
    if got.dtype != wanted.dtype or not np.array_equal(got, wanted):
        problems.append(f"{texts[text]} of {b.dtype}{b.shape} is {got!r}")

class Cycle:
    def __init__(self, case):
        self.case, self.own = case, self

    def __del__(self):
        call(self.case)

def work(number):
    chance = random.Random(seed * 1000 + number)
    try:
        mine, large = cases(chance, shapes[0]), cases(chance, shapes[1])
        for at in range(calls):
            case = chance.choice(large if at % 100 == 99 else mine)
            if at % 500 == 250:
                # A kernel of its own, whose binaries are there, which is gone at once; and a finaliser that calls.
                call(case, [bg.from_text(text) for text in texts])
                Cycle(case)
            else:
                call(case)
    except BaseException as error:
        problems.append(repr(error))

chance = random.Random(seed)
mine = cases(chance, shapes[0])
signals = depth = 0

def handle(*_):
    # A handler is itself struck by signals: its first call lasts longer than there is between two of them.
    global signals, depth
    signals += 1
    if signals % 16 == 0 and depth < 3:
        depth += 1
        try:
            call(mine[signals // 16 % len(mine)])
        finally:
            depth -= 1

def child(number):
    # The thread that would print the stacks is the parent's.
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    faulthandler.register(signal.SIGALRM, chain=True)
    signal.alarm(seconds // 2)
    problems.clear()
    a = np.arange(5.0)
    own = bg.from_text(f"a * {number} - 1")(a)
    for case in mine:
        call(case)
    kernels[3].wait()
    large = np.arange(70_000.0)
    pooled = bg.from_text("a * b + 1", threads=2)(large, large)
    right = np.array_equal(own, a * number - 1) and np.array_equal(pooled, large * large + 1) and not problems
    if not right:
        print("child:", problems or own, file=sys.stderr, flush=True)
    os._exit(0 if right else 3)

threads = [threading.Thread(target=work, args=(number,)) for number in range(count)]
signal.signal(signal.SIGALRM, handle)
signal.setitimer(signal.ITIMER_REAL, 0.0005, 0.0005)
try:
    for thread in threads:
        thread.start()
    children = []
    for number in range(forks):
        time.sleep(chance.expovariate(4))
        pid = os.fork()
        if pid == 0:
            try:
                child(number)
            finally:
                os._exit(4)
        children.append(pid)
    for thread in threads:
        thread.join()
finally:  # what is raised is told without handlers
    signal.setitimer(signal.ITIMER_REAL, 0)
statuses = [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in children]
kernels[3].wait()
added = sum(row.asked_by == "calls" for row in kernels[3].info())
assert not problems, problems[:5]
assert added > 0 or calls < 1000, kernels[3].info()
assert not any(statuses), f"children ended with {statuses}"
print(f"{count * calls} calls, {signals} signals, {sum(one['collections'] for one in gc.get_stats())} collections, "
      f"{forks} children, {added} loops added")
"""


def play(threads: int, calls: int, forks: int, seed: int) -> str:
    """Play a round; return what happened in a line.

    Raises
    ------
    AssertionError
        If anything was wrong, or did not end.
    """
    begun = time.perf_counter()
    with tempfile.TemporaryDirectory() as cache:
        command = [sys.executable, "-W", "ignore", "-c", ROUND, *map(str, (threads, calls, forks, seed, SECONDS))]
        environment = {**os.environ, "BCASTGEN_CACHE_DIR": cache, "BCASTGEN_VARIANTS": "20000"}
        done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=SECONDS + 60)
    assert done.returncode == 0, (
        f"exit status {done.returncode}: {done.stdout}{done.stderr[:4000]}...{done.stderr[-4000:]}"
    )
    return f"{done.stdout.strip()}, {time.perf_counter() - begun:.1f} s"


def main() -> int:
    """Play rounds; print each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, number in (("threads", 8), ("calls", 10_000), ("forks", 12), ("rounds", 1), ("seed", 0)):
        parser.add_argument(f"--{name}", type=int, default=number)
    options = parser.parse_args()
    wrong = 0
    for number in range(options.seed, options.seed + options.rounds):
        try:
            print(f"seed {number}: {play(options.threads, options.calls, options.forks, number)}", flush=True)
        except (AssertionError, subprocess.TimeoutExpired) as error:
            wrong += 1
            print(f"seed {number}: WRONG: {error}", flush=True)
    return min(wrong, 1)


if __name__ == "__main__":
    sys.exit(main())
