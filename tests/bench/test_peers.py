"""Every installed peer prepares calls that give NumPy's result; NumExpr's text is checked without NumExpr."""

from __future__ import annotations

import numpy as np
import pytest

from bcastgen.resources import bench_module

check = bench_module("check")
peers = bench_module("peers")
runner = bench_module("runner")
workloads = bench_module("workloads")

WORKLOADS = workloads.WORKLOADS
OTHERS = [peer for peer in peers.installed(peers.PEERS.values()) if peer.module not in ("numpy", "bcastgen")]


def text_of(function, operands):
    scalars = []
    return function(*(peers._Text(f"x{i}", scalars) for i in range(operands))).text, scalars


def prepare(peer, workload, into):
    operands = workload.build(1024, np.random.default_rng(3))
    expected = np.asarray(workload.function(*operands))
    out = np.zeros_like(expected) if into else None
    return expected, out, peer.prepare(workload, operands, out)


def test_numpy_and_ours_are_there_and_ours_twice():
    there = [peer.name for peer in peers.installed(peers.PEERS.values())]
    assert there[:2] == [peers.NUMPY, peers.OURS]
    assert there[-1] == peers.AGAIN
    assert peers.PEERS[peers.AGAIN].prepare is peers.PEERS[peers.OURS].prepare


def test_a_module_that_is_not_there_is_not_installed():
    absent = peers.Peer("absent", "no_such_module_at_all", peers.PEERS["numpy"].prepare)
    assert peers.installed([absent]) == ()


@pytest.mark.parametrize("into", [False, True])
@pytest.mark.parametrize("workload", WORKLOADS.values(), ids=WORKLOADS.keys())
def test_numpy_fills_what_it_is_given(workload, into):
    expected, out, call = prepare(peers.PEERS["numpy"], workload, into)
    value = call.value()
    assert np.array_equal(value, expected)
    assert (value is out) == into


@pytest.mark.parametrize("into", [False, True])
@pytest.mark.parametrize("name", ["add_f32", "black_scholes_f64", "four_dims_f32", "fortran_f64", "less_f32"])
def test_ours_is_one_kernel_for_both_columns(name, into):
    expected, _, call = prepare(peers.PEERS[peers.OURS], WORKLOADS[name], into)
    assert check.difference(expected, call.value(), WORKLOADS[name].ulp, WORKLOADS[name].scale) is None
    again = prepare(peers.PEERS[peers.AGAIN], WORKLOADS[name], into)[2]
    assert again.names["f"] is call.names["f"]


@pytest.mark.parametrize(
    ("function", "operands", "text"),
    [
        (lambda a, b: a * b + 1, 2, "((x0 * x1) + (1))"),
        (lambda a, b: 2.5 / -a >= b, 2, "(((2.5) / (-x0)) >= x1)"),
        (lambda a, b: np.where(a < 0, np.exp(a), abs(b)), 2, "where((x0 < (0)), exp(x0), abs(x1))"),
        (lambda a, b: ~a & (b ^ a) >> 3, 2, "((~x0) & ((x1 ^ x0) >> (3)))"),
    ],
)
def test_numexpr_text(function, operands, text):
    assert text_of(function, operands) == (text, [])


def test_numexpr_takes_numpy_scalars_as_operands_to_keep_their_dtype():
    text, scalars = text_of(lambda x: x * np.float32(0.5) + np.float32(2), 1)
    assert text == "((x0 * k0) + k1)"
    assert [(k.dtype.name, float(k)) for k in scalars] == [("float32", 0.5), ("float32", 2.0)]


@pytest.mark.parametrize("into", [False, True])
@pytest.mark.parametrize("workload", WORKLOADS.values(), ids=WORKLOADS.keys())
def test_installed_peers_give_numpys_result_or_another_dtype(workload, into):
    """Another dtype is NumExpr's rule, which has no small integers: the runner reports it and does not time it."""
    for peer in OTHERS:
        expected, _, call = prepare(peer, workload, into)
        if call is None:
            continue
        try:
            wrong = check.difference(expected, call.value(), workload.ulp + runner.PEER_SLACK, workload.scale)
        except (TypeError, ValueError) as error:
            # NumExpr into a buffer of the dtype that it would not have chosen.
            wrong = f"dtype: {error}" if into else str(error)
        assert wrong is None or (peer.name == "numexpr" and wrong.startswith("dtype")), f"{peer.name}: {wrong}"
