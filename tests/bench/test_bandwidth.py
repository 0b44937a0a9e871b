"""The program that measures memory's limit moves all the bytes that it counts."""

from __future__ import annotations

import numpy as np
import pytest

from bcastgen.core.resources import bench_module

bandwidth = bench_module("bandwidth")


@pytest.mark.parametrize("way", [*((*way, past) for way in bandwidth._WAYS for past in (0, 1)), bandwidth._MEMCPY])
@pytest.mark.parametrize(("read", "written"), [(1 << 16, 1 << 16), (1 << 15, 1 << 17), (1 << 18, 1 << 16), (0, 4096)])
@pytest.mark.parametrize("threads", [1, 3])
def test_every_byte_is_written_with_what_was_read(way, read, written, threads):
    if way == bandwidth._MEMCPY and read != written:
        return
    source, target = bandwidth._buffer(max(read, 64)), bandwidth._buffer(written)
    source.fill(0x55)
    target.fill(0xFF)
    bandwidth.Mover(threads)._way(source, target, read, written, way).value()
    # Lines that are written before any is read are 0.
    assert set(np.unique(target)) <= {0, 0x55}
    assert read == 0 or 0x55 in target


def test_nothing_beyond_the_bytes_is_written():
    source, target = bandwidth._buffer(1 << 15), bandwidth._buffer(1 << 15)
    target.fill(0xFF)
    for way in bandwidth._WAYS:
        bandwidth.Mover(1)._way(source, target, 1 << 14, 1 << 13, (*way, 0)).value()
    assert (target[1 << 13 :] == 0xFF).all()
    assert (target[: 1 << 13] != 0xFF).all()


def test_the_fastest_ways_are_calls_of_several_passes():
    calls = bandwidth.Mover(1).calls(1 << 15, 1 << 14)
    assert 1 <= len(calls) <= 2
    assert all(call.passes * ((1 << 15) + (1 << 14)) >= 4 << 20 for call in calls)


def test_a_small_cell_has_no_limit():
    assert bandwidth.Mover(1).calls(1000, 1000) == ()


def test_fresh_and_out_share_what_was_found():
    mover = bandwidth.Mover(1)
    assert mover.calls(1 << 16, 1 << 15) is mover.calls(1 << 16, 1 << 15)
