"""Kernels on Dask's arrays: one layer of blocks, NumPy's values, the same names everywhere; chains as one kernel."""

from __future__ import annotations

import operator
import os
import subprocess
import sys
import time

import numpy as np
import pytest

import bcastgen as bg

NEEDS = "dask is not installed (pip install -e .[arrays])"
dask = pytest.importorskip("dask", reason=NEEDS)
da = pytest.importorskip("dask.array", reason=NEEDS)
KernelBlock = pytest.importorskip("bcastgen.integrations.dask_arrays", reason=NEEDS).KernelBlock

mixed = bg.jit(lambda x, y: np.exp(x) * 2 + y, name="mixed")
both = bg.jit(lambda x: (x + 1, x > 2), name="both")
share = bg.jit(lambda x: x / x.sum(), name="share")
A = np.arange(24.0).reshape(4, 6) / 8
X = da.from_array(A, chunks=(2, 3))
LINE = np.arange(6, dtype=np.float32)

OPERANDS = {
    "blocks": (X, X),
    "a line": (X, da.from_array(LINE, chunks=2)),
    "an ndarray": (X, LINE),
    "a list": ([1, 2, 3, 4, 5, 6], X),
    "a column and a row": (X[:, :1], X[:1]),
    "other blocks": (X, X.rechunk((4, 2))),
    "more dims": (X[None], da.from_array(A.reshape(4, 1, 6) + 1, chunks=(1, 1, 6))),
    "a number": (X, 2),
    "a NumPy scalar": (np.float32(2), X.astype("f4")),
    "small integers": (da.ones(5, dtype="i1", chunks=2), 3),
    "bools": (da.ones(5, dtype=bool, chunks=2), da.arange(5, chunks=5)),
    "no dims": (X.max(), X.sum().astype("f4")),
    "nothing": (da.zeros((0, 6), chunks=3), LINE),
    "unknown chunks": (X[X > 1], 1.0),
}


def computed(value):
    return value.compute(scheduler="threads") if isinstance(value, da.Array) else value


@pytest.mark.parametrize("case", OPERANDS)
def test_values_dtypes_and_chunks(case):
    got = mixed(*OPERANDS[case])
    wanted = mixed(*map(computed, OPERANDS[case]))
    assert isinstance(got, da.Array) and got.dtype == wanted.dtype and got.ndim == wanted.ndim
    assert type(got._meta) is np.ndarray and got._meta.dtype == wanted.dtype
    np.testing.assert_array_equal(computed(got), wanted)
    if case != "unknown chunks":
        assert got.shape == wanted.shape


def test_a_call_is_one_layer_and_computes_nothing():
    made = mixed(X, X)
    assert made.dask.layers.keys() - X.dask.layers.keys() == {made.name}
    assert made.chunks == X.chunks
    fresh = bg.jit(lambda x: x * 3 - 1, name="fresh")
    assert fresh(X).dtype == float and fresh.compilations == 0


def test_several_results():
    for got, wanted in zip(both(X), both(A), strict=True):
        assert got.dtype == wanted.dtype
        np.testing.assert_array_equal(computed(got), wanted)
    plus, above = dask.compute(*both(X), scheduler="threads")
    assert plus[0, 0] == 1 and above.dtype == bool


def test_names_are_the_same_in_every_process():
    code = (
        "import numpy as np, bcastgen as bg, dask.array as da\n"
        "kernel = bg.jit(lambda x, y: np.exp(x) * 2 + y, name='mixed')\n"
        "x = da.ones((4, 6), chunks=3)\n"
        "print(kernel(x, 2).name, bg.fuse(kernel(x, 2) + 1).name)\n"
        "y, z = x.rechunk(2), x[:, ::-1].rechunk(2)\n"
        "made = bg.fuse(((z * 2 + y) / (x.rechunk(2) - z) + 1).sum(), y * z - 1)\n"
        "print(*sorted(name for array in made for name in array.dask.layers))\n"
        "print(*sorted(str(getattr(layer, 'task', None) and layer.task.func.__dask_tokenize__())\n"
        "              for array in made for layer in array.dask.layers.values()\n"
        "              if hasattr(getattr(getattr(layer, 'task', None), 'func', None), 'kernel')))"
    )
    names = {
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout for _ in "ab"
    }
    ones = da.ones((4, 6), chunks=3)
    made = mixed(ones, 2)
    assert len(names) == 1
    assert names.pop().splitlines()[0] == f"{made.name} {bg.fuse(made + 1).name}"
    assert len({mixed(ones, 2).name, mixed(ones, 2.0).name, mixed(ones, 3).name, bg.add(ones, 2).name}) == 4


def test_what_no_block_has_is_refused_with_the_cure():
    cases = {
        r"share\(\) reduces.*dask.array.map_blocks": lambda: share(X),
        r"mixed\(\): out= is not taken": lambda: mixed(X, 1, out=X),
        r"mixed\(\): where= is not taken.*numpy.where": lambda: mixed(X, 1, where=A > 1),
        r"mixed\(\): dtype= is not taken.*astype": lambda: mixed(X, 1, dtype="f4"),
        r"integers and bool only.*in bitwise_and\(a: f64, b: f64\)": lambda: bg.bitwise_and(X, X),
        r"'x' is a Dask array of blocks that are MaskedArray": lambda: mixed(da.ma.masked_array(X), 1),
        r"dtype 'datetime64": lambda: mixed(X.astype("M8[s]"), 1),
    }
    for message, wrong in cases.items():
        with pytest.raises(bg.DTypeError, match=message):
            wrong()
    with pytest.raises(bg.BroadcastError, match=r"'y' dim 0 has extent 3, expected 1 or 6 .*mixed\(x: \[4, 6\]"):
        mixed(X, LINE[:3])


def test_xarray_with_dask_inside():
    xr = pytest.importorskip("xarray", reason="xarray is not installed (pip install -e .[arrays])")
    grid, row = xr.DataArray(X, dims=("t", "x"), name="grid"), xr.DataArray(X[0], dims="x")
    got = mixed(row, grid)
    assert got.chunks == ((3, 3), (2, 2)) and got.dims == ("x", "t")
    xr.testing.assert_identical(got.compute(), mixed(row.compute(), grid.compute()))
    assert isinstance(mixed(grid, X).data, da.Array)
    fused = bg.fuse(xr.Dataset({"a": mixed(grid, row) * 2, "b": grid}))
    assert [name.partition("-")[0] for name in fused["a"].data.dask.layers].count("fused") == 1
    xr.testing.assert_identical(fused.compute(), xr.Dataset({"a": mixed(grid, row) * 2, "b": grid}).compute())
    # Variables that are no Dask arrays stay, and variables keep what they share.
    shared = (mixed(grid, row) * 2).assign_attrs(unit="m")
    several = xr.Dataset({"a": shared + 1 - row, "b": shared.sum("t", keep_attrs=True), "n": ("x", LINE)})
    joined = bg.fuse(several)
    assert joined["a"].data.dask.layers.keys() & joined["b"].data.dask.layers.keys() >= {shared.data.name}
    xr.testing.assert_allclose(joined.compute(), several.compute())
    assert joined["b"].attrs == several["b"].attrs and joined["n"].identical(several["n"])


# ---- fusion ----------------------------------------------------------------------------------------------------------

CHAINS = {
    "kernels": lambda x, y: mixed(mixed(x, y), y),
    "operators": lambda x, y: -(((x + y) * 2 - y / 3) ** 2),
    "comparisons": lambda x, y: np.where((x > y) & (x < 3), x, -y),
    "conversions": lambda x, y: (x * 3).astype("i4") // 2 + y.astype("f4"),
    "twice": lambda x, y: (x + y) * (x + y) + mixed(x + y, 1),
    "results": lambda x, y: operator.add(*both(x)) + y,
    "broadcast": lambda x, y: (x[:, :1] * 2 + y) * (x + 1),
    "small": lambda x, y: x.astype("i1") * 2 + 100,
}


@pytest.mark.parametrize("case", CHAINS)
def test_chains_are_one_kernel_of_the_same_values(case):
    line = da.from_array(LINE, chunks=3)
    made = CHAINS[case](X, line)
    fused = bg.fuse(made)
    assert fused.name.startswith("fused-") and (fused.dtype, fused.chunks) == (made.dtype, made.chunks)
    # What is left is what reads the data, and one layer.
    tasks = [layer.task for layer in fused.dask.layers.values() if hasattr(layer, "task")]
    assert [type(task.func) for task in tasks].count(KernelBlock) == 1
    assert len(fused.dask.layers) < len(made.dask.layers)
    got, wanted = computed(fused), computed(made)
    assert got.dtype == wanted.dtype
    # NumPy's functions differ from ours in the last place.
    np.testing.assert_allclose(got, wanted, rtol=1e-15 if made.dtype == float else 1e-6)


def test_what_is_no_expression_is_a_leaf():
    noisy = (X + 1).map_blocks(lambda block: block * 2, dtype=float)
    fused = bg.fuse(np.sqrt(noisy) + noisy.sum(axis=0) * 3)
    assert noisy.name in fused.dask.layers
    np.testing.assert_allclose(computed(fused), np.sqrt((A + 1) * 2) + ((A + 1) * 2).sum(axis=0) * 3)
    turned = bg.fuse((X.T + 1) * 2)
    np.testing.assert_array_equal(computed(turned), (A.T + 1) * 2)


def test_what_has_no_chain_stays_as_it_is():
    for array in (X, mixed(X, 1), X.sum(), X.T):
        assert bg.fuse(array) is array
    for value in (3, A):
        with pytest.raises(bg.DTypeError, match="fuse\\(\\) takes Dask arrays"):
            bg.fuse(value)


def kernels_in(array):
    """How many layers of an array's graph are kernels."""
    return [
        getattr(getattr(layer, "task", None), "func", None).__class__ for layer in array.dask.layers.values()
    ].count(KernelBlock)


BELOW = {
    "a reduction": (lambda x: (np.exp(x) * 2 + 1).sum(axis=0), 1),
    "a slice": (lambda x: (x * 2 + 1)[1:, ::2], 1),
    "a rechunk": (lambda x: (x * 2 + 1).rechunk((4, 1)), 1),
    "a product": (lambda x: (x * 2 + 1) @ (x.T + 1), 1),
    "between": (lambda x: ((x * 2 + 1).cumsum(axis=1) / 3 - 1).max(), 2),
    "above": (lambda x: -((x * 2 + 1).mean(axis=0) * 2), 2),
    # Its values are needed twice, and computed once.
    "centred": (lambda x: (x * 2 + 1) - (x * 2 + 1).mean(axis=0), 1),
    "scaled": (lambda x: (x * 2 + 1) / x.sum() - 1, 1),
    "scaled and narrow": (lambda x: (x.astype("f4") * 2 + 1) / x.sum().astype("f4") - 1, 1),
    "results": (lambda x: next(a.sum() + b * 2 for a, b in [both(x * 2 + 1)]), 2),
}


@pytest.mark.parametrize("case", BELOW)
def test_every_run_of_layers_is_one_kernel(case):
    function, count = BELOW[case]
    made = function(X)
    fused = bg.fuse(made)
    assert kernels_in(fused) == count and len(fused.dask.layers) < len(made.dask.layers)
    assert (fused.dtype, fused.chunks) == (made.dtype, made.chunks)
    fused.dask.validate()
    np.testing.assert_allclose(computed(fused), computed(made), rtol=1e-14)
    assert bg.fuse(made).name == fused.name and bg.fuse(fused) is fused
    # Layers above a run keep their keys, so that graphs with and without kernels may be computed together.
    together = dask.compute(made, fused, made + fused, scheduler="threads")
    np.testing.assert_allclose(together[2], together[0] + together[1], rtol=1e-14)


def test_arrays_fused_together_keep_what_they_share():
    shared = np.exp(X) * 2
    up, down = bg.fuse(shared + 1 - LINE, (shared - 1).sum())
    assert shared.name in up.dask.layers and up.dask.layers[shared.name] is down.dask.layers[shared.name]
    assert kernels_in(up) == 2
    got = dask.compute(up, down, scheduler="threads")
    np.testing.assert_allclose(got[0], np.exp(A) * 2 + 1 - LINE, rtol=1e-14)
    np.testing.assert_allclose(got[1], (np.exp(A) * 2 - 1).sum(), rtol=1e-14)
    # One is a part of the other.
    whole, part = bg.fuse(shared + 1 - LINE, shared)
    assert part.name == shared.name and shared.name in whole.dask.layers


def test_layers_that_kernels_have_not_stay():
    days = da.from_array(np.arange(6).astype("M8[D]"), chunks=2)
    later = days + np.timedelta64(1, "D") + np.timedelta64(2, "D")
    assert bg.fuse(later) is later
    masked = da.ma.masked_greater(X, 2) * 2 + 1
    assert bg.fuse(masked) is masked
    # What is below a function of Python's is joined, and what computes with its objects is not.
    made = np.frompyfunc(abs, 1, 1)(X * 2 + 1).astype(float) * 4
    assert kernels_in(bg.fuse(made)) == 1
    np.testing.assert_array_equal(computed(bg.fuse(made)), (A * 2 + 1) * 4)
    with dask.annotate(priority=1):
        first = X * 2
    made = first + 1
    assert bg.fuse(made) is made, "layers of other annotations are not joined"


# ---- processes -------------------------------------------------------------------------------------------------------


def compiled(kernel):
    """How many times a worker compiled a kernel."""
    from bcastgen.integrations.dask_arrays import _single

    return _single(kernel).compilations


def threads(kernel):
    """How many threads a worker's kernel takes."""
    from bcastgen.integrations.dask_arrays import _single

    return _single(kernel).threads


def _state(client, future):
    """Return what tells why a computation does not go on: each worker's state and memory, the tasks, the error."""
    described = client.scheduler_info(n_workers=-1)["workers"].values()
    workers = [
        (each.get("status"), each["metrics"]["memory"] >> 20, each["metrics"].get("task_counts")) for each in described
    ]
    return f"workers {workers} (state, MB, tasks); error {future.exception() if future.status == 'error' else None!r}"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_data_larger_than_a_worker_while_one_is_killed(tmp_path, monkeypatch):
    """480 MB from Zarr to Zarr through workers of 400 MB; a worker ends on the way."""
    distributed = pytest.importorskip("distributed", reason="distributed is not installed (pip install -e .[arrays])")
    zarr = pytest.importorskip("zarr", reason="zarr is not installed (pip install -e .[arrays])")
    began = time.monotonic()
    monkeypatch.setenv("BCASTGEN_CACHE_DIR", str(tmp_path / "kernels"))
    rows, columns, step = 12_000, 10_000, 500
    options = {"shape": (rows, columns), "chunks": (step, columns), "dtype": "f4", "compressors": None}
    source = zarr.create_array(str(tmp_path / "in.zarr"), **options)
    target = zarr.create_array(str(tmp_path / "out.zarr"), **options)
    line = np.linspace(-1, 1, columns, dtype=np.float32)
    for at in range(0, rows, step):
        source[at : at + step] = line + np.arange(at, at + step, dtype=np.float32)[:, None] / rows
    chain = bg.jit(lambda x, y: np.tanh(x * y) * 2 + x - y, name="chain")
    settings = {"distributed.scheduler.allowed-failures": 10, "distributed.nanny.environ.MALLOC_TRIM_THRESHOLD_": 65536}
    with (
        dask.config.set(settings),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, memory_limit="400MB", processes=True, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        data = da.from_zarr(source)
        assert data.nbytes > 400e6
        once = chain(data[:step], line).sum().compute()
        counts = client.run(compiled, chain)
        assert sum(counts.values()) == 1, "one process compiles, and the others find it on disk"
        assert set(client.run(threads, chain).values()) == {1}
        # Workers are started by their nannies, which start others in their places.
        victim = next(iter(client.run(os.getpid).values()))
        done = client.compute(da.store(chain(data, line) + 1, target, compute=False, lock=False))
        while not any((tmp_path / "out.zarr" / "c").glob("*/*")):
            assert done.status == "pending", f"the computation is {done.status}: {_state(client, done)}"
            assert time.monotonic() - began < 60, f"no block is written: {_state(client, done)}"
            time.sleep(0.02)
        os.kill(victim, 9)
        distributed.wait(done, timeout=50)
        assert done.status == "finished"
        assert victim not in client.run(os.getpid).values()
    assert np.isfinite(once)
    for rows_read in (slice(0, 3), slice(step - 1, step + 2), slice(rows - 2, rows)):
        np.testing.assert_array_equal(target[rows_read], chain(source[rows_read], line) + 1)
    assert time.monotonic() - began < 60
