"""Kernels in pickles, in other processes, as keys: what travels, and which kernels are one."""

import concurrent.futures
import copy
import functools
import math
import multiprocessing
import os
import pickle
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import bcastgen as bg
from bcastgen.kernel import identity

A = np.linspace(-2.0, 2.0, 7)
COLUMN, ONES, ZEROS = np.float32([[1], [2]]), np.ones(2), np.zeros(2)


@bg.jit
def importable(x, y=2.0):
    """A function of an importable module."""
    return x * y + 1


class Holder:
    kernel = staticmethod(bg.jit(lambda x: x - 1))


def first(x, _at):
    return x


def again(kernel, protocol=pickle.HIGHEST_PROTOCOL):
    return pickle.loads(pickle.dumps(kernel, protocol))


@functools.cache
def kernels():
    captured = 3.5
    knee = bg.define_op("identity_knee", "x, at", c="x < at ? x : at + (x - at) / 2", reference=first)
    return {
        "op": (bg.add, (A, 1)),
        "alias": (bg.abs, (A,)),
        "lambda": (bg.jit(lambda x: np.where(x > 0, x, np.expm1(x))), (A,)),
        "closure": (bg.jit(lambda x: x * captured), (A,)),
        "defaults": (bg.jit(lambda x, y=COLUMN: x * y), (A,)),
        "signature": (bg.jit(lambda x: x + 1, signature="(f64[n>=2] x) -> f64[n]", dynamic="strict"), (A,)),
        "text": (bg.from_text("(f64[?] a) -> a*2 + exp(a)", "text", math="fast"), (A,)),
        "several": (bg.from_text("(a, a + 1, a > 0)"), (A,)),
        "defined": (knee, (A, 0.5)),
        "of defined": (bg.jit(lambda x: knee(x, 0.25) * 2), (A,)),
        "text of defined": (bg.from_text("identity_knee(a, 0.5) + 1"), (A,)),
        "view": (bg.jit(lambda a, b: bg.broadcast_in_dim(a, b, dims=(1,)) + b), (A, np.ones((2, 7)))),
    }


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("name", kernels())
def test_a_kernel_comes_back(name, protocol):
    kernel, arguments = kernels()[name]
    copied = again(kernel, protocol)
    assert copied == kernel
    assert repr(copied) == repr(kernel)
    for ours, theirs in zip(np.atleast_1d(kernel(*arguments)), np.atleast_1d(copied(*arguments)), strict=True):
        np.testing.assert_array_equal(ours, theirs)
        assert ours.dtype == theirs.dtype


def test_it_is_small():
    def gelu(x):
        return 0.5 * x * (1 + np.tanh(0.7978845608 * (x + 0.044715 * x**3)))

    assert len(pickle.dumps(bg.jit(gelu))) < 1000
    assert all(len(pickle.dumps(kernel)) < 1500 for kernel, _ in kernels().values())


def test_by_reference_where_importable():
    assert again(bg.add) is bg.add
    assert b"bcastgen" in pickle.dumps(bg.add) and len(pickle.dumps(bg.add)) < 60
    assert again(importable) is importable


def test_settings_travel():
    kernel = bg.jit(lambda x: x + 2, threads=3, background=True)
    assert (again(kernel).threads, again(kernel).background) == (3, True)
    assert again(bg.from_text("a + 5", threads=2)).threads == 2


def test_mlir_kernels_keep_their_constants_and_places():
    text = """func.func @act(%x: tensor<?x3xf32>) -> tensor<?x3xf32> {
      %w = "tosa.const"() {values = dense<[[1.0, 2.0, 3.0]]> : tensor<1x3xf32>} : () -> tensor<1x3xf32>
      %1 = tosa.add %x, %w : (tensor<?x3xf32>, tensor<1x3xf32>) -> tensor<?x3xf32>
      return %1 : tensor<?x3xf32>
    }"""
    kernel = bg.from_mlir(text, name="act.mlir")
    copied = again(kernel)
    assert copied == kernel
    np.testing.assert_array_equal(copied(np.ones((2, 3), "f4")), kernel(np.ones((2, 3), "f4")))
    with pytest.raises(bg.BroadcastError, match=r"act\.mlir:1:1"):
        copied(np.ones((2, 4), "f4"))


def test_another_version_is_refused(monkeypatch):
    data = pickle.dumps(bg.jit(lambda x: x * 7))
    monkeypatch.setattr(identity, "__version__", "99.0")
    with pytest.raises(bg.BcastgenError, match=r"pickled by bcastgen .* and this is 99\.0.*make it again"):
        pickle.loads(data)


class TestEquality:
    def test_the_same_source_signature_and_options(self):
        def make(**options):
            return bg.jit(lambda x, y: x * y + 1, **options)

        assert make() == make()
        assert hash(make()) == hash(make())
        assert len({make(), make(), make(threads=2)}) == 1
        others = [
            make(math="fast"),
            make(dynamic="strict"),
            make(name="other"),
            make(signature="(f32[?] x, f32[?] y)"),
            make(signature="(f64[?] x, f64[?] y)"),
            bg.jit(lambda x, z: x * z + 1),
            bg.jit(lambda x, y: x * y + 1.0),
            bg.jit(lambda x, y: y * x + 1),
            bg.jit(lambda x, y=1: x * y + 1),
            bg.jit(lambda x, y=ONES: x * y + 1),
            bg.jit(lambda x, y=ZEROS: x * y + 1),
        ]
        assert len({make(), *others}) == len(others) + 1

    def test_zeros_and_types_of_constants_differ(self):
        made = [bg.jit(lambda x, c=c: x + c) for c in (0.0, -0.0, 0, False, np.float32(0), math.nan)]
        constants = [bg.from_text(text) for text in ("x + 0.0", "x + -0.0", "x + 0", "x + False")]
        assert len(set(made)) == len(made) and len(set(constants)) == len(constants)

    def test_other_objects_are_not_equal(self):
        assert bg.add != "add" and bg.add != bg.subtract

    def test_the_hash_is_the_same_in_every_process(self):
        code = "import bcastgen as bg; print(hash(bg.jit(lambda x: x * 2.5)), hash(bg.from_text('exp(a)')))"
        found = {
            subprocess.run(
                [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={**os.environ, **seed}
            ).stdout
            for seed in ({"PYTHONHASHSEED": "1"}, {"PYTHONHASHSEED": "2"})
        }
        assert found == {f"{hash(bg.jit(lambda x: x * 2.5))} {hash(bg.from_text('exp(a)'))}\n"}

    def test_copies_are_the_kernel(self):
        assert copy.copy(importable) is importable
        assert copy.deepcopy([importable]) == [importable]


class TestDefinedOps:
    def test_the_other_process_gets_the_definition(self):
        knee = bg.define_op("identity_halved", "x", c="x / 2", doc="Half.")
        data = pickle.dumps((knee, bg.jit(lambda x: knee(x) + 1)))
        code = """if True:
            import pickle, sys, numpy as np, bcastgen as bg
            data = sys.stdin.buffer.read()
            half, more = pickle.loads(data)
            assert pickle.loads(data)[0] == half
            print(half(3.0), more(np.float64([3.0])), bg.evaluate("identity_halved(a)", {"a": 5.0}), half.__doc__)
        """
        done = subprocess.run([sys.executable, "-c", code], input=data, capture_output=True, check=True)
        assert done.stdout.decode().split() == "1.5 [2.5] 2.5 Half.".split()

    def test_a_name_that_is_taken_keeps_its_meaning(self):
        code = """if True:
            import pickle, sys, bcastgen as bg
            mine = bg.define_op("identity_twice", "x", c="x * 20")
            theirs = pickle.loads(sys.stdin.buffer.read())
            print(mine(1.0), theirs(1.0), bg.evaluate("identity_twice(a)", {"a": 1.0}))
            print(mine == theirs, bg.identity_twice is mine)
        """
        data = pickle.dumps(bg.define_op("identity_twice", "x", c="x * 2"))
        done = subprocess.run([sys.executable, "-c", code], input=data, capture_output=True, check=True)
        assert done.stdout.decode().split() == "20.0 2.0 20.0 False True".split()


def test_processes_of_the_standard_library():
    kernel, bound = bg.jit(lambda x: x * 2 + 1), 3
    for method in ("fork", "spawn"):
        context = multiprocessing.get_context(method)
        with concurrent.futures.ProcessPoolExecutor(1, mp_context=context) as pool:
            np.testing.assert_array_equal(pool.submit(kernel, A).result(timeout=120), kernel(A))
            np.testing.assert_array_equal(pool.submit(bg.multiply, A, bound).result(timeout=120), A * 3)
            error = pool.submit(kernel, "text").exception(timeout=120)
        assert isinstance(error, bg.DTypeError)


SCRIPT = """
import multiprocessing, numpy as np, bcastgen as bg

@bg.jit
def of_the_script(x):
    return np.sin(x) * 2

if __name__ == "__main__":
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        print(pool.map(of_the_script, [np.zeros(2)]))
"""


def test_the_kernels_of_a_script(tmp_path):
    path = tmp_path / "script.py"
    path.write_text(SCRIPT)
    done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, timeout=120)
    assert done.stdout == "[array([0., 0.])]\n", done.stderr


@pytest.mark.slow
def test_joblib_and_cloudpickle(tmp_path):
    joblib = pytest.importorskip("joblib", reason="joblib is not installed (pip install -e .[suites])")
    path = tmp_path / "notebook.py"
    path.write_text(
        textwrap.dedent("""
        import cloudpickle, pickle, subprocess, sys, joblib, numpy as np, bcastgen as bg
        half = bg.define_op("notebook_half", "x", c="x / 2", reference=lambda x: x / 2)
        @bg.jit
        def kernel(x, y=2.0):
            return half(x) * y
        def around(x):
            return kernel(x) + 1
        if __name__ == "__main__":
            a = np.arange(3.0)
            assert all((r == a + 1).all() for r in joblib.Parallel(2)(joblib.delayed(around)(a) for _ in range(4)))
            assert (joblib.Parallel(2)([joblib.delayed(kernel)(a)])[0] == a).all()
            code = "import pickle, sys; print(pickle.load(sys.stdin.buffer)(3.0))"
            data = cloudpickle.dumps(around)
            print(subprocess.run([sys.executable, "-c", code], input=data, capture_output=True).stdout.decode())
            print(joblib.hash(a) == joblib.hash(a), cloudpickle.loads(cloudpickle.dumps(kernel)) == kernel)
        """)
    )
    done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, timeout=300)
    assert done.stdout.split() == ["4.0", "True", "True"], done.stderr
    assert joblib.__version__


@pytest.mark.slow
def test_tokens_of_dask():
    tokenize = pytest.importorskip("dask.base", reason="dask is not installed (pip install -e .[suites])").tokenize
    kernel = bg.jit(lambda x: x * 4 + 1)
    assert tokenize(kernel) == tokenize(bg.jit(lambda x: x * 4 + 1)) != tokenize(bg.jit(lambda x: x * 4))
    code = "import bcastgen as bg; from dask.base import tokenize; print(tokenize(bg.jit(lambda x: x * 4 + 1)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == tokenize(kernel)


def test_settings_travel_with_kernels_of_text_and_of_functions():
    text = bg.from_text("a * 2 + 1")
    for kernel in (text, bg.jit(lambda a: a * 2 + 1)):
        kernel.threads, kernel.scalars, kernel.errors = 1, False, "numpy"
        again = pickle.loads(pickle.dumps(kernel))
        assert (again.threads, again.scalars, again.errors) == (1, False, "numpy")
        assert isinstance(again(1.0), np.ndarray)
