"""Forms for usual elements have the bits of the general ones: results do not depend on what else is in a block."""

from __future__ import annotations

import platform

import numpy as np
import pytest

import vmath

pytestmark = pytest.mark.skipif(platform.machine() != "x86_64", reason="the flags are those of x86-64")

# Function and dtype -> the least and the largest magnitude of a usual element.
MAGNITUDES = {
    "sinh_f32": (0.0, 80.0),
    "cosh_f32": (0.0, 80.0),
    "sigmoid_f32": (0.0, 80.0),
    "arcsinh_f32": (0.0, np.nextafter(np.float32(2.0**63), np.float32(0))),
    "arccosh_f32": (1.0, np.nextafter(np.float32(2.0**63), np.float32(0))),
    "cbrt_f32": (2.0**-64, np.nextafter(np.float32(2.0**64), np.float32(0))),
    "cbrt_f64": (2.0**-512, np.nextafter(2.0**512, 0)),
    "arctan2_f32": (2.0**-32, np.nextafter(np.float32(2.0**32), np.float32(0))),
}
_SAMPLES = 200_000


def usual_elements(name, seed):
    """Both ends, and between them numbers of every magnitude, of both signs but for arccosh."""
    number, bits = (np.float32, np.uint32) if name.endswith("f32") else (np.float64, np.uint64)
    random = np.random.default_rng(seed)
    least, most = (np.array([end], number).view(bits)[0] for end in MAGNITUDES[name])
    between = random.integers(least, most, _SAMPLES, dtype=bits, endpoint=True)
    magnitudes = np.concatenate([np.array([least, most], bits), between]).view(number)
    return magnitudes if name.startswith("arccosh") else magnitudes * random.choice(number([-1, 1]), magnitudes.size)


@pytest.mark.parametrize("flags", [(), vmath.NO_FMA], ids=["fma", "no-fma"])
@pytest.mark.parametrize("name", MAGNITUDES)
def test_usual_forms_have_the_general_forms_bits(name, flags):
    arity = vmath.functions()[name][1]
    operands = [usual_elements(name, seed) for seed in range(arity)]
    function, _, dtype = name.rpartition("_")
    general = vmath.library(*flags).call(name, *operands)
    usual = vmath.library(*flags).call(f"{function}_usual_{dtype}", *operands)
    assert np.isfinite(general).all()
    np.testing.assert_array_equal(usual.view(f"u{usual.itemsize}"), general.view(f"u{general.itemsize}"))
