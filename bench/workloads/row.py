"""What a workload is, and what of its data must move.

In: a row's fields.  Out: a :class:`Workload`, whose operands any contestant can be given.

    traffic(f32[1000][::2]) -> 4000 bytes: half of each line read is not wanted, but moves

One function serves everyone: NumPy runs it, ``bcastgen.jit`` traces it, Numba compiles it, JAX and torch run it with
their own namespace in the place of ``np``. Constants of f32 functions are NumPy scalars, because Numba (unlike the
others) takes a Python float for f64.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.lib.array_utils import byte_bounds
from numpy.typing import NDArray

__all__ = ["Array", "Build", "Function", "Operands", "Rng", "View", "Workload", "as_they_are", "traffic"]

Array = NDArray[Any]
Operands = tuple[Array, ...]
Rng = np.random.Generator
Function = Callable[..., Any]
Build = Callable[[int, Rng], Operands]
View = Callable[..., tuple[Any, ...]]

_LINE = 64


def as_they_are(*arrays: Any) -> tuple[Any, ...]:
    """Return the arrays: the view of workloads whose operands are whole arrays."""
    return arrays


@dataclass(frozen=True, slots=True)
class Workload:
    """One row.

    Attributes
    ----------
    name : unique, ending in the dtype it is about.
    kind : class of workloads that the report summarises together.
    function : the plain NumPy function; where ``op`` is a row that NumPy lacks, ``np`` needs that name.
    build : number of result elements, generator -> arrays; results of rank 2 and more come close to the number.
    result : name of the result's NumPy dtype.
    ulp : how far a correct implementation may be from the reference, in units in the last place; 0: it is arithmetic.
    scale : the unit in the last place is taken at least at this magnitude (for sums of larger terms that cancel).
    ufunc : the NumPy ufunc that is the whole function, if one is: it can fill ``out`` itself.
    op : the row of the table of ops that is the whole function, if it is of those with a bound in ULP.
    reference : what results are checked against; by default NumPy's result of the function.
    view : arrays -> operands; NumPy has them as views, JAX makes them inside its compiled function.
    out : result -> a buffer of its dtype and extents for ``out=``; None: one like NumPy's own result.
    core : whether the default run has it; ``large``: whether a full run has it past every cache.
    """

    name: str
    kind: str
    function: Function
    build: Build
    result: str
    ulp: float = 0.0
    scale: float = 0.0
    ufunc: str | None = None
    op: str | None = None
    reference: Function | None = None
    view: View = as_they_are
    out: Callable[[Array], Array] | None = None
    core: bool = False
    large: bool = False

    @property
    def single(self) -> str:
        """Name of the one function that this is, or empty."""
        return self.ufunc or self.op or ""

    def operands(self, elements: int, rng: Rng) -> Operands:
        """Return operands for about this many result elements."""
        return self.view(*self.build(elements, rng))

    def expected(self, operands: Operands) -> Array:
        """Return the result that others are checked against."""
        with np.errstate(all="ignore"):
            return np.asarray((self.reference or self.function)(*operands))


def traffic(array: Array) -> int:
    """Return the bytes that must move to read or write an array once: of the lines it touches, what memory must bring.

    Examples
    --------
    >>> traffic(np.zeros(1000, np.float32)[::2]), traffic(np.broadcast_to(np.float32(1), (9, 9)))
    (4000, 4)
    """
    if array.size == 0:
        return 0
    moving = [(abs(step), extent) for step, extent in zip(array.strides, array.shape, strict=True) if step]
    steps = [step for step, extent in moving if extent > 1]
    count = int(np.prod([extent for _, extent in moving], dtype=np.int64))
    nearest = max(array.itemsize, min(_LINE, min(steps, default=0)))
    low, high = byte_bounds(array)
    # Windows that overlap have more elements than memory.
    return max(array.itemsize, min(count * nearest, high - low))
