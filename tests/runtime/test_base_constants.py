"""Operands that no call gives, arrays of the kernel's own, on both implementations of `KernelBase`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

W = np.array([[10.0], [20.0]])


@pytest.fixture
def shifted(kernels: Any) -> Any:
    """a + b + w, of which w is a constant and b has a default."""
    return kernels.Kernel(kernels.add.plan, "shifted", ("a", "b", "w"), ("r",), (2.0, W), False, 1)


def test_calls_give_the_others(shifted: Any) -> None:
    a = np.arange(3.0)
    out = np.empty((2, 3))
    for got in (
        shifted(a),
        shifted(a=a),
        shifted(a, 2.0),
        shifted(a, b=2.0),
        shifted(a.astype(">f8")),
        shifted([0, 1, 2]),
    ):
        np.testing.assert_array_equal(got, a + 2 + W)
    assert shifted(a, out=out) is out
    np.testing.assert_array_equal(out, a + 2 + W)
    np.testing.assert_array_equal(shifted(W, out=W.copy()), W + 2 + W)
    assert (shifted.operands, shifted._constants, shifted._defaults[1] is W) == (("a", "b"), ("w",), True)


@pytest.mark.parametrize(
    ("args", "named", "message"),
    [
        ((1.0, 2.0, W), {}, "takes from 1 to 2 positional arguments but 3 were given"),
        ((1.0,), {"w": W}, "got an unexpected keyword argument 'w'"),
        ((), {}, "missing 1 required positional argument: 'a'"),
        ((), {"w": W}, "got an unexpected keyword argument 'w'"),
    ],
)
def test_calls_that_do_not_bind(shifted: Any, args: Any, named: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        shifted(*args, **named)


def test_errors_name_constants(shifted: Any) -> None:
    with pytest.raises(ValueError, match=r"operand 'w' dim 0 has extent 2, expected 1 or 3 \(from 'a'\)"):
        shifted(np.ones((3, 1)))
    with pytest.raises(ValueError, match="result 'r' dim 0 has extent 3, expected 2"):
        shifted(np.ones((1, 1)), out=np.empty((3, 1)))


def test_a_constant_has_a_default(kernels: Any) -> None:
    with pytest.raises(TypeError, match=r"f\(\) has 2 constants and 1 defaults; give each constant its value"):
        kernels.Kernel(kernels.add.plan, "f", ("a", "w"), ("r",), (W,), False, 2)
    with pytest.raises(TypeError, match=r"f\(\) has -1 constants"):
        kernels.Kernel(kernels.add.plan, "f", ("a", "w"), ("r",), (W,), False, -1)
