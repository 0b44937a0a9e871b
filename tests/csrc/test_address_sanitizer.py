"""AddressSanitizer in extension and kernels: small calls of any layout.

Large calls go through csrc/runtime, which tests/csrc/fuzz_runtime.c plays without Python.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from bcastgen.core.resources import folder
from sanitized_extension import Sanitized

# Each array has exactly the memory that it uses, from malloc and not from the package's pool. A first dim of 3 and rows
# of 5 to 400 points; gaps, reversed and transposed dims; results of their own, into memory with gaps, and in place.
PROGRAM = """
import sys
import numpy as np
import bcastgen as bg
from bcastgen import _dispatch

package, seed = sys.argv[1], int(sys.argv[2])
assert _dispatch.__file__.startswith(package), _dispatch.__file__
chance = np.random.default_rng(seed)
kernels = [bg.from_text(text) for text in ("a * b + c", "a + b + c, a - b * c")]
sums = [bg.from_text(f"{name}(a, axis={axis})") for name in ("sum", "max") for axis in (0, 1, None)]

def laid_out(shape, dtype):
    order, gap = chance.permutation(len(shape)), int(chance.integers(1, 3))
    block = chance.integers(1, 4, [shape[dim] for dim in order[:-1]] + [(shape[order[-1]] - 1) * gap + 1]).astype(dtype)
    made = block[..., ::gap].transpose(np.argsort(order))
    return made[tuple(slice(None, None, -1 if chance.random() < 0.3 else 1) for _ in shape)]

for at in range(1500):
    shape = (int(chance.integers(1, 9)), int(chance.choice([1, 2, 3, 5, 17, 33, 64, 400])))
    dtype = str(chance.choice(["i1", "f4", "c16"]))
    operands = [laid_out(tuple(e if chance.random() < 0.7 else 1 for e in shape), dtype) for _ in range(3)]
    a, b, c = operands
    for kernel, wanted in zip(kernels, ((a * b + c,), (a + b + c, a - b * c))):
        outs = tuple(laid_out(one.shape, dtype) for one in wanted)
        for got in (kernel(*operands), kernel(*operands, out=outs)):
            for one, other in zip(got if isinstance(got, tuple) else (got,), wanted):
                np.testing.assert_array_equal(one, other)
    if dtype == "f4":
        sums[at % len(sums)](a)
    if a.shape == shape:
        expected = a * b + c
        np.testing.assert_array_equal(kernels[0](a, b, c, out=a), expected)
print("done")
"""


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Sanitized:
    if sys.platform != "linux" or shutil.which("gcc") is None:
        pytest.skip("gcc and its libasan")
    return Sanitized(tmp_path_factory.mktemp("sanitized"), "address")


def played(package: Sanitized, dispatch: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run the program, with another object for dispatch.c if there is one."""
    instead = {} if dispatch is None else {"dispatch/dispatch": dispatch}
    options = {"ASAN_OPTIONS": "detect_leaks=0", "BCASTGEN_MEMORY_POOL": "0"}
    return package.run("-W", "error", "-c", PROGRAM, str(package.home), "7", instead=instead, **options)


@pytest.mark.slow
def test_small_calls_touch_only_what_is_theirs(package: Sanitized) -> None:
    done = played(package)
    assert done.returncode == 0 and done.stdout == "done\n", done.stderr[:4000]
    assert any(package.kernels.rglob("*.so")), "NumPy answered"


@pytest.mark.slow
def test_it_would_see_a_tile_that_is_too_small(package: Sanitized, tmp_path: Path) -> None:
    """Memory for a quarter of the elements that are packed."""
    place = "memory[SMALL_TILES][SMALL_POINTS * sizeof(scalar)];"
    for path in (folder("csrc") / "dispatch").iterdir():
        (tmp_path / path.name).write_text(path.read_text())
    text = (tmp_path / "dispatch_small.inc").read_text()
    assert text.count(place) == 1, "write what stands there now"
    (tmp_path / "dispatch_small.inc").write_text(text.replace(place, place.replace("SMALL_POINTS", "SMALL_POINTS / 4")))
    package.compile(tmp_path / "dispatch.c", tmp_path / "dispatch.o")
    done = played(package, tmp_path / "dispatch.o")
    assert "AddressSanitizer: stack-buffer-overflow" in done.stderr, done.stderr[:2000]
