"""Rounds are interleaved and repeated as promised, by a clock of our own."""

from __future__ import annotations

import numpy as np
import pytest

from bcastgen.core.resources import bench_module

measure = bench_module("measure")


class Machine:
    """A clock that only calls move, and the log of those calls."""

    def __init__(self):
        self.now = 0.0
        self.log = []

    def clock(self):
        return self.now

    def call(self, name, *costs):
        """A call that takes the given seconds, the last of them from then on."""
        left = list(costs)

        def work():
            self.log.append(name)
            self.now += left.pop(0) if len(left) > 1 else left[0]

        return measure.call(work, ())


def test_rounds_are_interleaved():
    machine = Machine()
    calls = {name: machine.call(name, 1.0) for name in "abc"}
    samples = measure.interleave(calls, rounds=4, budget=1e9, clock=machine.clock)
    calibration, rounds = machine.log[:6], machine.log[6:]
    assert calibration == list("aabbcc")
    assert [sorted(rounds[at : at + 3]) for at in range(0, 12, 3)] == [list("abc")] * 4
    assert {name: taken.seconds for name, taken in samples.items()} == dict.fromkeys("abc", (1.0,) * 4)


def test_who_comes_after_whom_changes():
    machine = Machine()
    calls = {name: machine.call(name, 1.0) for name in "abcd"}
    measure.interleave(calls, rounds=15, budget=1e9, clock=machine.clock)
    rounds = ["".join(machine.log[at : at + 4]) for at in range(8, 68, 4)]
    for one in "abcd":
        assert {text[text.index(one) - 1] for text in rounds if text[0] != one} == set("abcd") - {one}


def test_a_sample_repeats_a_short_call_until_it_takes_long_enough():
    machine = Machine()
    calls = {"short": machine.call("short", 2.0**-14), "long": machine.call("long", 0.5)}
    samples = measure.interleave(calls, rounds=3, budget=1e9, clock=machine.clock, least=2.0**-10)
    assert samples["long"].inner == 1
    assert 16 <= samples["short"].inner <= 18
    assert samples["short"].seconds == (2.0**-14,) * 3


@pytest.mark.parametrize("first", [2.0**-11, 2.0**-9])
def test_a_slow_first_call_does_not_decide_the_repetitions(first):
    machine = Machine()
    calls = {"warming": machine.call("warming", first, 2.0**-14)}
    samples = measure.interleave(calls, rounds=3, budget=1e9, clock=machine.clock, least=2.0**-10)
    assert samples["warming"].inner * 2.0**-14 >= 2.0**-10


def test_a_call_that_takes_no_time_at_all_ends():
    ticks = iter(range(10**9))
    # The clock moves 1 us a reading, whatever the call does.
    samples = measure.interleave(
        {"free": measure.call(lambda: None, ())}, 3, 1.0, clock=lambda: next(ticks) * 1e-6, least=1e-6
    )
    assert samples["free"].inner >= 1


def test_the_budget_ends_the_rounds_but_not_before_the_third():
    machine = Machine()
    long = measure.interleave({"a": machine.call("a", 1.0)}, rounds=50, budget=10.0, clock=machine.clock)
    assert 9 <= len(long["a"].seconds) <= 11
    none = measure.interleave({"a": machine.call("a", 1.0)}, rounds=50, budget=0.0, clock=machine.clock)
    assert len(none["a"].seconds) == 3


def test_fewer_rounds_than_three_are_possible_when_asked_for():
    machine = Machine()
    assert len(measure.interleave({"a": machine.call("a", 1.0)}, 1, 9.0, clock=machine.clock)["a"].seconds) == 1


def test_who_is_far_behind_is_done_after_the_least_rounds():
    machine = Machine()
    calls = {"fast": machine.call("fast", 1.0), "near": machine.call("near", 4.0), "far": machine.call("far", 9.0)}
    samples = measure.interleave(calls, rounds=6, budget=1e9, clock=machine.clock)
    assert {name: len(taken.seconds) for name, taken in samples.items()} == {"fast": 6, "near": 6, "far": 3}


def test_settling_calls_once_before_each_sample():
    machine = Machine()
    calls = {name: machine.call(name, 1.0) for name in "ab"}
    samples = measure.interleave(calls, rounds=3, budget=1e9, clock=machine.clock, settle=1e-9)
    assert machine.log[:4] == list("aabb")
    for at in range(4, 16, 4):
        assert "".join(machine.log[at : at + 4]) in ("aabb", "bbaa")
    assert samples["a"].seconds == (1.0,) * 3


def test_a_sample_of_several_calls_begins_with_one_that_is_not_timed():
    machine = Machine()

    def emptying():
        machine.log.append("b")
        machine.now += 1.0
        machine.cold = True

    def cached():
        machine.log.append("a")
        machine.now += 3.0 if machine.cold else 0.5
        machine.cold = False

    machine.cold = False
    calls = {"a": measure.call(cached, ()), "b": measure.call(emptying, ())}
    samples = measure.interleave(calls, rounds=3, budget=1e9, clock=machine.clock, least=1.0)
    assert samples["a"].inner > 1
    assert samples["a"].seconds == (0.5,) * 3
    assert (samples["b"].inner, samples["b"].seconds) == (1, (1.0,) * 3)


@pytest.mark.parametrize(("cost", "calls"), [(1.5, 2), (9.0, 2), (10.0, 1), (40.0, 1)])
def test_only_long_calls_are_timed_without_one_before_them(cost, calls):
    machine = Machine()
    measure.interleave({"a": machine.call("a", cost)}, rounds=3, budget=1e9, clock=machine.clock, least=1.0)
    assert len(machine.log) == 2 + 3 * calls


def test_passes_inside_a_call_are_counted():
    machine = Machine()
    work = machine.call("x", 1.0)
    many = measure.Call(work.statement, work.names, passes=8)
    samples = measure.interleave({"x": many}, rounds=3, budget=1e9, clock=machine.clock)
    assert (samples["x"].min, samples["x"].inner) == (1 / 8, 8)


def test_min_and_median():
    samples = measure.Samples((3.0, 1.0, 2.0, 10.0), 1)
    assert (samples.min, samples.median) == (1.0, 2.5)


def test_value_of_a_call_is_its_result_or_what_it_wrote():
    ones, out = np.ones(2), np.zeros(2)
    assert measure.call(np.add, (ones, ones)).value().tolist() == [2.0, 2.0]
    assert measure.call(np.add, (ones, ones), out).value() is out
    assert out.tolist() == [2.0, 2.0]
    assert measure.call(np.add, (ones, ones), read=lambda value: value * 10).value().tolist() == [20.0, 20.0]


def test_statement_is_what_a_user_would_write():
    written = measure.call(np.add, (1, 2), np.zeros(()), then=".sum()")
    assert written.statement == "f(a0, a1, out=out).sum()"
    with pytest.raises(NameError):
        measure.Call("f(a0)", {}).value()
