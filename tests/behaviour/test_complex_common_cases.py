"""Functions of complex numbers: blocks of common numbers take a form without branches, which has the same bits."""

from __future__ import annotations

import numpy as np
import pytest

from bcastgen.api.op_kernels import op_kernel
from bcastgen.core.dtypes import C64, C128
from bcastgen.ops.complex_forms import FORMS
from bcastgen.ops.table import OPS
from long_runs import many

NAMES = [name for name, form in FORMS.items() if form.is_rare]
BLOCK = 256


def edges(of):
    """Numbers at which a form or a test of one changes, with their neighbours, of both signs, and zeros."""
    info = np.finfo(of)
    at = [0.0, 0.5, 1.0, 1.5, 22.0, 700.0, 2.0**20, np.pi / 2, np.pi, 1e-8, info.tiny, info.smallest_subnormal, 3.75]
    at += [2.0**-500, 2.0**500, 2.0**-960, 2.0**1020, 2.0**-60, 2.0**60, info.max, np.inf, np.nan, 709.5]
    with np.errstate(over="ignore"):
        numbers = np.array(at).astype(of)
        near = np.concatenate([numbers, np.nextafter(numbers, of(0)), np.nextafter(numbers, of(np.inf))])
    return np.unique(np.concatenate([near, -near]))


def samples(of, count):
    """Every pair of edges; then usual numbers, numbers of every magnitude, and those near the unit circle."""
    chance, kind = np.random.default_rng(3), np.result_type(of, np.complex64)
    # Of two zeros `edges` has one.
    ends = np.concatenate([edges(of), np.array([-0.0, 0.0], of)])
    pairs = np.empty(ends.size**2, kind)
    pairs.real, pairs.imag = np.repeat(ends, ends.size), np.tile(ends, ends.size)
    turned = np.exp(1j * chance.uniform(-4, 4, count))
    usual = chance.normal(size=count) * 3 + 1j * chance.normal(size=count) * 9
    sizes = (2.0 ** chance.uniform(-30, 18, count), 1 + chance.normal(size=count) * 1e-9)
    return np.concatenate([pairs, *(one.astype(kind) for one in (usual, *(size * turned for size in sizes)))])


def bits(z):
    """The bits of both parts, all NaNs alike."""
    parts = np.stack([z.real, z.imag])
    parts[np.isnan(parts)] = np.nan
    return parts.view(f"u{parts.itemsize}")


@pytest.mark.parametrize("kind", [C64, C128], ids=str)
@pytest.mark.parametrize("name", NAMES)
def test_common_blocks_have_the_bits_of_others(name, kind):
    kernel, z = op_kernel(OPS[name]), samples(kind.part.np.type, many(20_000, 1_000_000))
    # Sorted by size, most blocks are common or rare as a whole.
    z = z[np.argsort(np.maximum(np.abs(z.real), np.abs(z.imag)), kind="stable")]
    # With a number in each half of a block that is rare to all functions, none is common.
    half = BLOCK // 2
    mixed = np.ones((-(-z.size // (half - 1)), half), z.dtype)
    mixed[:, 0] = complex(np.inf, np.nan)
    mixed[:, 1:].flat[: z.size] = z
    among_rare = kernel(mixed.reshape(-1)).reshape(mixed.shape)[:, 1:].reshape(-1)[: z.size]
    np.testing.assert_array_equal(bits(kernel(z)), bits(among_rare))


@pytest.mark.parametrize("kind", [C64, C128], ids=str)
@pytest.mark.parametrize("name", NAMES)
def test_usual_numbers_are_common(name, kind):
    """Otherwise the form would be there, and never run."""
    kernel, at = op_kernel(OPS[name]), np.array([1 + 2j, -3 + 0.5j, 1e-3 + 20j], kind.np)
    kernel(at)
    assert f"bcg_{name}_common_{kind}(" in kernel.source
    assert f"bcg_{name}_is_rare_{kind}(" in kernel.source
