"""Ours and NumPy prepare calls that give NumPy's result, and so does every installed peer."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from bcastgen.core.resources import bench_module
from long_runs import many

check = bench_module("check")
peers = bench_module("peers")
runner = bench_module("runner")
spelling = bench_module("spelling")
workloads = bench_module("workloads")

WORKLOADS = workloads.WORKLOADS
OTHERS = [peer for peer in peers.installed(peers.PEERS.values()) if peer.module not in ("numpy", "bcastgen")]
LIGHT = [peer for peer in OTHERS if not peer.heavy]


def prepare(peer, workload, into, elements=1000):
    arrays = workload.build(elements, np.random.default_rng(3))
    operands = workload.view(*arrays)
    expected = workload.expected(operands)
    out = (workload.out or np.empty_like)(expected) if into else None
    if into:
        runner._poison(out, expected)
    return expected, out, peer.prepare(peers.Case(workload, arrays, operands, out))


def test_numpy_and_ours_are_there_and_ours_again_at_the_end():
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
    try:
        expected, out, call = prepare(peers.PEERS["numpy"], workload, into)
    except spelling.NoForm as answer:
        # What NumPy lacks it has from SciPy, which need not be there.
        assert {"erf", "erfc"} & {*spelling.names(workload.function)}, answer
        return
    value = call.value()
    # SciPy's erfc is off by 59 ULP where it is small.
    bound = workload.ulp + (60 if "erfc" in spelling.names(workload.function) else 4)
    assert check.difference(expected, value, bound, workload.scale) is None
    assert (value is out) == into


@pytest.mark.parametrize("into", [False, True])
@pytest.mark.parametrize("name", ["add_f32", "black_scholes_f64", "four_dims_23_f32", "fortran_f64", "less_f32"])
def test_ours_is_one_kernel_for_both_columns(name, into):
    expected, _, call = prepare(peers.PEERS[peers.OURS], WORKLOADS[name], into)
    assert check.difference(expected, call.value(), WORKLOADS[name].ulp, WORKLOADS[name].scale) is None
    again = prepare(peers.PEERS[peers.AGAIN], WORKLOADS[name], into)[2]
    assert again.names["f"] is call.names["f"]


@pytest.mark.parametrize("name", ["add_f32", "bias_f64", "mix_i32", "hash_u32", "blend_u8"])
def test_fast_stays_away_where_it_is_the_same(name):
    assert prepare(peers.PEERS[peers.FAST], WORKLOADS[name], False)[2] is None


@pytest.mark.parametrize("into", [False, True])
@pytest.mark.parametrize("name", ["steps40_f32", "poly8_f64", "pairwise3_f64", "four_dims_23_f32", "exp_f32"])
def test_fast_meets_the_peers_that_contract(name, into):
    expected, _, call = prepare(peers.PEERS[peers.FAST], WORKLOADS[name], into)
    bound = WORKLOADS[name].ulp + runner.PEER_SLACK
    assert check.difference(expected, call.value(), bound, WORKLOADS[name].scale) is None
    _, _, accurate = prepare(peers.PEERS[peers.OURS], WORKLOADS[name], into)
    assert call.names["f"] is not accurate.names["f"]


def test_a_chain_is_contracted_where_it_meets_peers_that_contract():
    fast, accurate = (prepare(peers.PEERS[who], WORKLOADS["steps40_f32"], False)[2] for who in (peers.FAST, peers.OURS))
    # Forty products that are rounded before they are added have other last bits than forty that are not.
    assert np.any(fast.value() != accurate.value())


def wrong(peer, workload, into):
    """Return what is wrong with a peer's result, or None."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected, _, call = prepare(peer, workload, into)
            if call is None:
                return None
            return check.difference(expected, call.value(), workload.ulp + runner.PEER_SLACK, workload.scale)
    except spelling.NoForm:
        return None
    except Exception as error:  # as the runner takes it
        return f"{type(error).__name__}: {error}"


# Where a peer's own rules give another result, or it has no such op: the runner reports these, and times them not.
KNOWN = {
    ("torch", "hash_u32"),  # no shifts of uint32
    ("torch", "i32_and_f32"),
    ("jax", "i32_and_f32"),  # f32 and not f64
    *(("jax", name) for name in ("log1p_f64", "arctanh_f64", "erfc_f32", "erfc_f64")),  # 17 ULP and more
    *((name, "hash_u32") for name in ("numba", "njit", "njit fastmath", "njit parallel")),  # integers are 64 bits
    ("pytensor", "blend_u8"),  # no shifts
    ("pythran", "softmax_f32"),  # f64 of two broadcast f32
    # It computes nothing with a sum.
    *(("numexpr", name) for name in ("distances_f32", "distances_f64", "masked_mean_f32")),
    *(("njit parallel", f"distances_{kind}") for kind in ("f32", "f64")),  # sizes of what broadcasts
    *((name, "sum_all_f32") for name in ("njit", "njit parallel")),  # f64
    ("numba", "into_strided_f32"),
    ("numba", "into_strided_f64"),  # its ufunc takes steps of out for adjacent
}


@pytest.mark.parametrize("peer", LIGHT, ids=[peer.name for peer in LIGHT])
@pytest.mark.parametrize("name", workloads.QUICK)
@pytest.mark.parametrize("into", [False, True])
def test_installed_peers_give_numpys_result(peer, name, into):
    assert wrong(peer, WORKLOADS[name], into) is None


@pytest.mark.slow
@pytest.mark.parametrize("peer", OTHERS, ids=[peer.name for peer in OTHERS])
def test_installed_peers_give_numpys_result_and_light_ones_everywhere(peer):
    # Numba compiles each for a second: usually every twentieth one, in long runs all.
    step = many(20, 1) if peer.module == "numba" else 1
    chosen = workloads.QUICK if peer.heavy else list(WORKLOADS)[::step]
    found = {(name, wrong(peer, WORKLOADS[name], into)) for name in chosen for into in (False, True)}
    assert {(name, why) for name, why in found if why is not None and (peer.name, name) not in KNOWN} == set()
