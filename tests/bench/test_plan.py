"""The arguments decide which workloads are measured, and against which peers."""

from __future__ import annotations

import argparse

import pytest

from bcastgen import BcastgenError
from bcastgen.core.resources import bench_module

peers = bench_module("peers")
plan = bench_module("plan")
workloads = bench_module("workloads")
WORKLOADS = workloads.WORKLOADS


def planned(*arguments):
    parser = argparse.ArgumentParser()
    plan.add_arguments(parser)
    return plan.plan(parser.parse_args(arguments))


@pytest.mark.parametrize(
    ("text", "size"), [("16", 16), ("1k", 1024), ("32k", 32768), ("1M", 1 << 20), ("32M", 1 << 25)]
)
def test_sizes(text, size):
    assert plan.parse_size(text) == size


@pytest.mark.parametrize("text", ["", "0", "-4", "k", "1.5k", "1G", "0x10", "²"])
def test_bad_sizes(text):
    with pytest.raises(BcastgenError, match="positive number of elements"):
        plan.parse_size(text)


def names(cells, size=None):
    return {workload.name for workload, elements in cells if size in (None, elements)}


def test_the_default_is_a_selection_and_full_is_everything():
    default, full = planned(), planned("--full")
    assert names(default) == {name for name, row in WORKLOADS.items() if row.core} < names(full)
    assert names(full) == set(WORKLOADS)
    assert names(full, 32 << 20) == {name for name, row in WORKLOADS.items() if row.large}
    assert names(full, 3) == {name for name, row in WORKLOADS.items() if row.kind != "function"}
    assert names(planned("--quick")) == set(workloads.QUICK)


def test_the_listing_has_every_workload_in_its_class():
    lines = plan.listing().replace("\n    ", " ").splitlines()
    listed = {line.partition(": ")[0]: line.partition(": ")[2].split(", ") for line in lines}
    assert listed == {kind: [r.name for r in WORKLOADS.values() if r.kind == kind] for kind in workloads.KINDS}


def test_workloads_kinds_and_sizes_are_chosen():
    chosen = planned("--workloads", "exp_f64", "--sizes", "3,4k")
    assert [(workload.name, size) for workload, size in chosen] == [("exp_f64", 3), ("exp_f64", 4096)]
    narrow = planned("--kinds", "narrow,bool", "--sizes", "16")
    assert {workload.kind for workload, _ in narrow} == {"narrow", "bool"}
    assert len(narrow) == sum(row.kind in ("narrow", "bool") for row in WORKLOADS.values())


def test_ours_and_numpy_are_measured_whatever_peers_are_asked_for():
    chosen = [peer.name for peer in plan.contestants("numpy", 1)]
    assert chosen == [peers.NUMPY, peers.OURS, peers.AGAIN]


def test_heavy_peers_must_be_asked_for():
    assert not any(peer.heavy for peer in plan.contestants(None, 1))
    assert peers.FAST in [peer.name for peer in plan.contestants("all", 1)]
    assert [peer.name for peer in plan.contestants(peers.FAST, 1)][2] == peers.FAST


def test_a_peer_that_contracts_brings_ours_that_does(monkeypatch):
    monkeypatch.setattr(plan, "installed", tuple)
    assert {"njit fastmath"} == peers.FAST_PEERS
    assert peers.FAST in [peer.name for peer in plan.contestants("njit fastmath", 1)]
    assert peers.FAST not in [peer.name for peer in plan.contestants("njit", 1)]


def test_what_needs_threads_is_no_contestant_without(monkeypatch):
    pair = peers.Peer("pair", "numpy", peers.PEERS[peers.NUMPY].prepare, least_threads=2)
    monkeypatch.setitem(peers.PEERS, "pair", pair)
    assert pair not in plan.contestants(None, 1)
    assert pair in plan.contestants(None, 2)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ["--workloads", "add_f32,nope"],
            "unknown workload 'nope'; choose from add_f32, .{,400}, ...: bcastgen bench --list",
        ),
        (["--kinds", "bools"], "unknown kind 'bools'; did you mean bool\\?$"),
        (["--workloads", "exp_f23"], "unknown workload 'exp_f23'; did you mean exp_f32"),
        (["--kinds", "sparse"], "unknown kind 'sparse'; choose from contiguous, .*, reduction$"),
        (["--sizes", "16,many"], "size 'many' is not a positive number"),
    ],
)
def test_unknown_names_are_refused(arguments, said):
    with pytest.raises(BcastgenError, match=said):
        planned(*arguments)


def test_an_unknown_or_absent_peer_is_refused(monkeypatch):
    with pytest.raises(BcastgenError, match="unknown peer 'pandas'"):
        plan.contestants("pandas", 1)
    monkeypatch.setitem(peers.PEERS, "absent", peers.Peer("absent", "no_such_module", lambda case: None))
    with pytest.raises(BcastgenError, match="'absent' is not installed"):
        plan.contestants("absent", 1)
