"""What mypy and pyright read in `test_types.py`, and Python runs: types that are known, and lines that are refused.

Each line that ends in "refused" is an error for both; no other line is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

import bcastgen as bg

if TYPE_CHECKING:
    from typing_extensions import assert_type
else:

    def assert_type(value: Any, _type: Any) -> Any:
        return value


Floats = NDArray[np.float64]


@bg.jit
def shifted(x: Floats, by: float = 1.0) -> Floats:
    return x + by


@bg.jit(threads=1, errors="numpy")
def both(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    return x + y, x - y


@bg.jit(static="mode")
def scaled(x: Floats, *, mode: str) -> Floats:
    return x * 2 if mode == "double" else x


@bg.vectorize
def huber(x: float, d: float) -> float:
    return x * x / 2 if abs(x) <= d else d * (abs(x) - d / 2)


@bg.vectorize(max_iterations=100)
def halvings(x: float) -> float:
    n = 0
    while x > 1.0:
        x, n = x / 2, n + 1
    return n


class Spring:
    def __init__(self, stiffness: float) -> None:
        self.stiffness = stiffness

    @bg.jit
    def energy(self, x: Floats) -> Floats:
        return self.stiffness * x * x / 2


def check(x: Floats, made: Floats) -> None:
    # Functions that say what they take and give: their kernels do.
    assert_type(shifted(x), Floats)
    assert_type(shifted(x, by=2.0), Floats)
    assert_type(both(x, x), tuple[Floats, Floats])
    assert_type(both(x, x)[0], Floats)
    assert_type(scaled(x, mode="double"), Floats)
    assert_type(Spring(2.0).energy(x), Floats)
    assert_type(shifted(x, out=made), Floats)
    assert_type(shifted(x, out=...), Floats)
    assert_type(shifted(x, where=x > 0.5), Floats)
    # Without annotations nothing is known.
    assert_type(bg.jit(lambda a, b: a * b)(x, x), Any)

    # Functions of numbers: arrays give arrays.
    assert_type(huber(x, 1.0), NDArray[Any])
    assert_type(huber(1.0, 1.0), Any)
    assert_type(halvings(x), NDArray[Any])

    # Ready kernels.
    assert_type(bg.add(x, 1), NDArray[Any])
    assert_type(bg.add(x, [1.0, 2.0, 3.0, 4.0, 5.0]), NDArray[Any])
    assert_type(bg.exp(1.0), Any)
    assert_type(bg.where(x > 0, x, 0), NDArray[Any])
    assert_type(bg.exp(x, out=made), Floats)
    assert_type(bg.add(x, x, made), Floats)
    assert_type(bg.divmod(x, 2), tuple[NDArray[Any], NDArray[Any]])
    assert_type(bg.clip(x, None, 1), NDArray[Any])
    assert_type(bg.atan2(x, x), NDArray[Any])
    assert_type(bg.sum(x), Any)
    assert_type(bg.sum(x, axis=0, keepdims=True), NDArray[Any])
    assert_type(bg.evaluate("x + 1", {"x": x}), NDArray[Any])
    assert_type(bg.evaluate("x + 1", {"x": x}, out=made), Floats)
    assert_type(bg.from_text("x + 1")(x), Any)
    assert_type(bg.add.explain(), str)
    assert_type(bg.add.nin, int)
    assert_type(bg.__version__, str)

    # A kernel of any kind is a Kernel, and one that takes and gives these types.
    kernels: list[bg.Kernel] = [bg.add, shifted]
    pairs: list[bg.Kernel[[Floats, Floats], tuple[Floats, Floats]]] = [both]
    assert all(kernel.nin == 2 for kernel in (*kernels, *pairs))

    if TYPE_CHECKING:
        both(x)  # refused
        both(x, x, x)  # refused
        shifted("text")  # refused
        shifted(x, b=1.0)  # refused
        Spring(2.0).energy()  # refused
        bg.add(x)  # refused
        bg.exp(x, x, x)  # refused
        bg.nosuch(x)  # refused
        bg.add.nosuch()  # refused
        bg.evaluate(3)  # refused
        bg.jit(shifted, dynamic="sometimes")  # refused
        len(bg.add.nin)  # refused


check(np.linspace(0.0, 1.0, 5), np.empty(5))
