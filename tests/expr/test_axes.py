"""Axes of values without dims, which NumPy's reductions take as those of one element."""

from __future__ import annotations

import numpy as np
import pytest

import bcastgen as bg


@pytest.mark.parametrize("axis", [0, -1])
@pytest.mark.parametrize(
    "name", ["sum", "prod", "min", "max", "any", "all", "argmin", "argmax", "count_nonzero", "nansum"]
)
def test_a_value_without_dims_has_an_axis(name, axis):
    function = getattr(np, name)
    kernel = bg.jit(lambda x: function(x, axis=axis), name=name)
    for x in (np.float64(3), np.array(0.0), 2.5):
        wanted, found = function(x, axis=axis), kernel(x)
        assert found == wanted and np.shape(found) == () and found.dtype == np.asarray(wanted).dtype
    assert kernel(np.arange(4.0)) == function(np.arange(4.0), axis=axis)
    assert kernel.result_shape(()) == ()


@pytest.mark.parametrize("name", ["mean", "var", "std"])
def test_means_of_a_value_without_dims_take_no_axis_as_numpys(name):
    function = getattr(np, name)
    with pytest.raises(np.exceptions.AxisError):
        function(np.float64(3), axis=0)
    with pytest.raises(bg.AxisError, match=r"axis 0 is out of range for a value of rank 0 .*; use None"):
        bg.jit(lambda x: function(x, axis=0))(np.float64(3))


@pytest.mark.parametrize("axis", [1, -2])
def test_other_axes_are_out_of_range(axis):
    with pytest.raises(bg.AxisError, match=f"sum: axis {axis} is out of range for a value of rank 0"):
        bg.sum(np.float64(3), axis=axis)
