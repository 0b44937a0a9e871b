"""Arrays of JAX: read in place, results are JAX's, and functions that JAX traces are told of the callback."""

from __future__ import annotations

import numpy as np
import pytest

import bcastgen as bg

jax = pytest.importorskip("jax", reason="jax is not installed (pip install -e .[arrays])")

scaled = bg.jit(lambda x, y: x * y + 1, name="scaled")


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint32", "int32", "float16", "bfloat16", "float32", "complex64"])
def test_results_are_numpys_as_jax_arrays(dtype):
    x = jax.numpy.asarray([[1, 0, 1], [1, 1, 0]]).astype(dtype)
    got, wanted = scaled(x, x[0]), scaled(np.asarray(x), np.asarray(x[0]))
    assert isinstance(got, jax.Array) and got.dtype == jax.dtypes.canonicalize_dtype(wanted.dtype)
    np.testing.assert_array_equal(np.asarray(got), wanted)


def test_memory_is_shared():
    module = pytest.importorskip("bcastgen.integrations.jax_arrays")
    x = jax.numpy.arange(100_000, dtype="float32")
    view = module.as_ndarray("x", x)
    assert view.ctypes.data == x.unsafe_buffer_pointer() and not view.flags.writeable
    result = bg.add(view, 1)
    assert module.as_own(result, x).unsafe_buffer_pointer() == result.ctypes.data


def test_other_arguments():
    x = jax.numpy.asarray([1.0, 2.0, 3.0])
    assert scaled(x, np.float32(2)).tolist() == [3, 5, 7]
    assert scaled(x, 2, where=x > 1).tolist()[1:] == [5, 7]  # nothing is written to the first element
    assert scaled(x, 2, out=(array := np.empty(3, np.float32))) is array
    assert bg.multiply(x[0], 2).shape == () and isinstance(bg.jit(lambda x: (x, x))(x)[1], jax.Array)
    # JAX has no float64 unless it is asked for, as the bench's peers do in this process.
    with jax.enable_x64(False):
        assert scaled(x, np.ones(3)).dtype == "float32"
    with jax.enable_x64(True):
        assert scaled(x, np.ones(3)).dtype == "float64"
    with pytest.raises(bg.DTypeError, match=r"out of result 'r' of scaled\(\) is a JAX array, which is never written"):
        scaled(x, 2, out=x)


@pytest.mark.parametrize("transformed", [jax.jit, jax.vmap, lambda function: jax.grad(lambda x: function(x).sum())])
def test_traced_functions_are_told_of_the_callback(transformed):
    with pytest.raises(bg.TraceError, match=r"operand 'x' of scaled\(\) is traced by JAX.*jax\.pure_callback"):
        transformed(lambda x: scaled(x, 2))(jax.numpy.ones(3))
