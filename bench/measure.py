"""Times calls in interleaved rounds, so that what disturbs the machine disturbs all of them alike.

In: named calls.  Out: seconds per call, one number a round.

    interleave({"numpy": a, "bcastgen": b}, rounds=3, budget=1.0) -> times a b b a a b

One sample repeats its call until it takes about a millisecond; what it costs to repeat is timeit's loop, some 10 ns.
Who follows a contestant with many temporaries finds caches that are full of them, for several calls (1.3 to 1.9 times
as long, of 16 MB). So every round has an order of its own, and a sample of several calls begins with one that is not
timed.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import ceil
from statistics import median
from timeit import Timer
from typing import Any

import numpy as np

from .workloads import Array, Operands

__all__ = ["Call", "Samples", "call", "interleave"]

Clock = Callable[[], float]

# Fewer rounds than this say nothing about noise, so they run even past the budget.
LEAST_ROUNDS = 3
# Who is this many times slower than the fastest will not be it: after the least rounds it is done.
FAR_BEHIND = 5.0


def _same(value: Any) -> Any:
    return value


@dataclass(frozen=True, slots=True)
class Call:
    """One call as its user would write it.

    Attributes
    ----------
    statement : Python text; ``timeit`` compiles it, so that no wrapper is timed with it.
    names : the globals it runs in; where they hold ``out``, the statement fills it.
    read : turns what the statement (or ``out``) holds into a NumPy array.
    passes : how often one run of the statement does what is timed.
    """

    statement: str
    names: Mapping[str, Any]
    read: Callable[[Any], Any] = _same
    passes: int = 1

    def value(self) -> Array:
        """Run once and return the result."""
        result = eval(self.statement, dict(self.names))
        array: Array = np.asarray(self.read(self.names.get("out", result)))
        return array

    def timer(self, clock: Clock) -> Timer:
        """Return a timer that runs the statement in a compiled loop, with the collector off."""
        return Timer(self.statement, timer=clock, globals=dict(self.names))


def call(
    function: Callable[..., Any],
    operands: Operands | tuple[Any, ...],
    out: Any = None,
    *,
    then: str = "",
    read: Callable[[Any], Any] = _same,
) -> Call:
    """Return the call of a function on operands.

    Parameters
    ----------
    out : given to the function as ``out=``, unless None.
    then : text after the call, such as ``".block_until_ready()"``.
    read : see :class:`Call`.

    Examples
    --------
    >>> call(np.add, (np.ones(2), np.ones(2))).statement
    'f(a0, a1)'
    """
    names = {f"a{i}": operand for i, operand in enumerate(operands)}
    text = ", ".join(names)
    names["f"] = function
    if out is not None:
        text += ", out=out"
        names["out"] = out
    return Call(f"f({text}){then}", names, read)


@dataclass(frozen=True, slots=True)
class Samples:
    """Seconds per call, one number a round; each is the mean over ``inner`` calls."""

    seconds: tuple[float, ...]
    inner: int

    @property
    def min(self) -> float:
        """The fastest round: what the machine can do when left alone."""
        return min(self.seconds)

    @property
    def median(self) -> float:
        """The usual round."""
        return median(self.seconds)


@dataclass(slots=True)
class _Lane:
    timer: Timer
    inner: int
    passes: int
    is_short: bool  # a call before each sample, which is not timed, costs little; it finds what others left in caches
    seconds: list[float] = field(default_factory=list)

    def sample(self) -> None:
        self.seconds.append(self.timer.timeit(self.inner) / (self.inner * self.passes))


def _repetitions(timer: Timer, least: float) -> tuple[int, bool]:
    """Return how many calls take ``least`` seconds together, and whether one takes less than ten times that.

    A first call may map memory that later ones use again. Where it takes long enough by itself, it is not asked: a call
    that is fast from the second on would be timed alone in each round, and cold.
    """
    inner = 1
    took = timer.timeit(1)
    if took >= least:
        took = timer.timeit(1)
    while took < least:
        # At most tenfold at a time: the first calls may be slow ones.
        inner = min(10 * inner, max(inner + 1, ceil(1.1 * inner * least / max(took, 1e-9))))
        took = timer.timeit(inner)
    return inner, took < 10 * inner * least


def interleave(
    calls: Mapping[str, Call],
    rounds: int,
    budget: float,
    *,
    clock: Clock = time.perf_counter,
    least: float = 1e-3,
    settle: float = 0.0,
) -> dict[str, Samples]:
    """Time the calls in turn, round after round, each in an order of its own.

    Parameters
    ----------
    rounds : how many samples each call gets at most; fewer where it is far behind.
    budget : seconds for all of them; at least three rounds run.
    clock : what reads the time.
    least : seconds one sample should take at least.
    settle : seconds to wait before each sample, and then always one call that is not timed: threads of the one before,
        which may wait for work in a loop, have gone to sleep by then, and its own are awake.

    Examples
    --------
    >>> calls = {"add": call(np.add, (np.ones(3), np.ones(3)))}
    >>> len(interleave(calls, rounds=4, budget=1.0)["add"].seconds)
    4
    """
    began = clock()
    lanes = {}
    for name, each in calls.items():
        timer = each.timer(clock)
        inner, is_short = _repetitions(timer, least)
        lanes[name] = _Lane(timer, inner, each.passes, is_short)
    running = list(lanes.values())
    order = random.Random(0)
    for done in range(rounds):
        if done >= LEAST_ROUNDS:
            if clock() - began > budget:
                break
            fastest = min((min(lane.seconds) for lane in running), default=0.0)
            running = [lane for lane in running if min(lane.seconds) <= FAR_BEHIND * fastest]
        for lane in order.sample(running, len(running)):
            if settle:
                time.sleep(settle)
            if settle or lane.is_short:
                lane.timer.timeit(1)
            lane.sample()
    return {name: Samples(tuple(lane.seconds), lane.inner * lane.passes) for name, lane in lanes.items()}
