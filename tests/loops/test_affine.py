"""Indexing maps print, and evaluate to the element that broadcasting reads."""

from __future__ import annotations

import numpy as np
import pytest

from bcastgen.loops.affine import AffineMap, Index, identity_map, use_map
from bcastgen.shape.inference.operand_use import Use
from bcastgen.shape.types.tensor_type import parse_type


def map_of(operand, domain, stretching=()):
    inner, outer = parse_type(operand), parse_type(domain)
    stretch = frozenset((own, position) for position, own, _ in inner.aligned if -position in stretching)
    return use_map(Use("x", inner), outer.dims, outer.unranked, stretch, inner.unranked)


@pytest.mark.parametrize(
    ("operand", "domain", "stretching", "text"),
    [
        ("[?, ?]", "[?, ?]", (-1, -2), "(d0, d1) -> (d0|0, d1|0)"),
        ("[?, ?]", "[?, ?]", (-1,), "(d0, d1) -> (d0, d1|0)"),
        ("[4, 1]", "[4, 5]", (), "(d0, d1) -> (d0, 0)"),
        ("[1, 1]", "[1, 5]", (), "(d0, d1) -> (d0, 0)"),
        ("[?]", "[3, 7]", (-1,), "(d0, d1) -> (d1|0)"),
        ("[]", "[3, 7]", (), "(d0, d1) -> ()"),
        ("[n]", "[n]", (), "(d0) -> (d0)"),
        ("[*]", "[*]", (), "(...) -> (...|0)"),
        ("[*, 4]", "[*, 4]", (), "(..., d0) -> (...|0, d0)"),
        ("[4]", "[*, 4]", (), "(..., d0) -> (d0)"),
    ],
)
def test_maps_print(operand, domain, stretching, text):
    assert str(map_of(operand, domain, stretching)) == text


def test_results_are_identities():
    assert str(identity_map(2)) == "(d0, d1) -> (d0, d1)"
    assert str(identity_map(0, open=True)) == "(...) -> (...)"


@pytest.mark.parametrize("shape", [(2, 3), (1, 3), (2, 1), (1, 1), (3,), (1,), ()])
def test_a_map_reads_what_numpy_broadcasts(shape):
    domain = (2, 3)
    array = np.arange(np.prod(shape, dtype=int)).reshape(shape)
    dynamic = map_of(f"[{', '.join('?' * len(shape))}]", "[?, ?]", (-1, -2))
    any_rank = map_of("[*]", "[*]")
    for point in np.ndindex(domain):
        expected = np.broadcast_to(array, domain)[point]
        assert array[dynamic.evaluate(point, shape)] == expected
        assert array[any_rank.evaluate(point, shape)] == expected


def test_static_zeros_ignore_the_point():
    assert AffineMap(2, (Index(None), Index(1))).evaluate((5, 2), (1, 3)) == (0, 2)
