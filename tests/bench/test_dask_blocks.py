"""The contestants of the comparison over Dask compute the same, and their figures are of one process each."""

from __future__ import annotations

import numpy as np
import pytest

from bcastgen.core.resources import bench_module

da = pytest.importorskip("dask.array", reason="dask is not installed (pip install -e .[arrays])")
zarr = pytest.importorskip("zarr", reason="zarr is not installed (pip install -e .[arrays])")

dask_blocks = bench_module("dask_blocks")
NEEDS = {"map_blocks of NumExpr": "numexpr", "map_blocks of Numba": "numba"}


@pytest.mark.parametrize("name", dask_blocks.CONTESTANTS)
def test_every_contestant_computes_the_chain(name, tmp_path):
    pytest.importorskip(NEEDS.get(name, "numpy"), reason=f"{name} is not installed")
    numbers = np.linspace(-3, 3, 24, dtype="f4").reshape(6, 4)
    source = zarr.create_array(str(tmp_path / "in"), shape=(6, 4), chunks=(2, 4), dtype="f4")
    source[...] = numbers
    zarr.create_array(str(tmp_path / "out"), shape=(6, 4), chunks=(2, 4), dtype="f4")
    seconds, megabytes = dask_blocks.measure(name, tmp_path)
    assert seconds > 0 and megabytes >= 0
    row = np.linspace(1, 2, 4, dtype="f4")
    wanted = np.exp(-(numbers * numbers)) * row + numbers - row
    np.testing.assert_allclose(zarr.open_array(str(tmp_path / "out"))[...], wanted, rtol=1e-5, atol=1e-6)
