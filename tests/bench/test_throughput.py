"""A case's functions are counted on the points they need, and take their best rates."""

from __future__ import annotations

import time

import numpy as np
import pytest

from bcastgen.core.resources import bench_module

measure = bench_module("measure")
peers = bench_module("peers")
throughput = bench_module("throughput")
workloads = bench_module("workloads")
WORKLOADS = workloads.WORKLOADS


def case(name, elements=1 << 15):
    workload = WORKLOADS[name]
    arrays = workload.build(elements, np.random.default_rng(0))
    return peers.Case(workload, arrays, workload.view(*arrays))


@pytest.mark.parametrize(
    ("name", "needed"),
    [
        ("add_f32", []),
        ("exp_f64", [("exp_f64", 32768)]),
        ("arctan2_f32", [("arctan2_f32", 32768)]),
        ("gelu_erf_f32", [("erf_f32", 32768)]),
        ("separable_f32", [("exp_f32", 128), ("sin_f32", 256)]),
        ("softmax_f32", [("exp_f32", 32768), ("divide_f32", 32768)]),
        ("layer_norm_var_f32", [("sqrt_f32", 128), ("divide_f32", 32768)]),
        ("gelu_tanh_f64", [("tanh_f64", 32768)]),
        ("where_f32", []),
        ("clip_i32", []),
    ],
)
def test_functions_are_counted_on_their_own_domain(name, needed):
    assert throughput.functions_of(case(name)) == needed


@pytest.mark.parametrize("name", WORKLOADS)
def test_every_workload_can_be_counted(name):
    assert all(function in WORKLOADS for function, _ in throughput.functions_of(case(name, 64)))


def test_the_best_rate_counts_and_is_measured_once():
    prepared = []

    def at(seconds):
        def prepare(given):
            prepared.append(given.workload.name)
            return measure.call(lambda *_: time.sleep(seconds) or np.zeros(1), given.operands)

        return prepare

    rates = throughput.Throughput(
        [
            peers.Peer("slow", "numpy", at(0.004), vector_maths=True),
            peers.Peer("fast", "numpy", at(0.002), vector_maths=True),
            peers.Peer("other", "numpy", at(0.0)),
        ],
        2,
        time.perf_counter,
    )
    first = rates.seconds(case("exp_f32"))
    # 32,768 elements at 2 ms for 16,384, on two threads.
    assert 0.002 <= first < 0.004
    assert rates.seconds(case("exp_f32")) == first
    assert len(prepared) == 4
    assert rates.seconds(case("add_f32")) is None
    assert rates.seconds(case("exp_f32", 64)) is None


def test_who_has_no_such_function_sets_no_rate():
    def raising(given):
        raise TypeError("no")

    rates = throughput.Throughput([peers.Peer("none", "numpy", raising, vector_maths=True)], 1, time.perf_counter)
    assert rates.seconds(case("exp_f32")) is None
