"""The maths limit of a cell: what its functions take at the best rate of any vector maths library that is there.

In: a case.  Out: seconds, from the functions its expression needs and on how many points each.

    exp(f32[256, 1]) * sin(f32[1, 128]) -> 256 * (best exp) + 128 * (best sin)

The rate of a function is measured when it is first asked for: 16,384 elements that lie in a cache, into ``out=``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from .measure import Call, Clock, interleave
from .peers import Case, Peer
from .spelling import Namespace, NoForm, rebound
from .workloads import WORKLOADS
from .workloads.functions import FUNCTIONS

__all__ = ["LEAST_POINTS", "Counted", "Throughput", "functions_of"]

# Below this many points there is no limit: there the call decides.
LEAST_POINTS = 1 << 12

_ELEMENTS = 1 << 14
_NAMES = {"float32": "f32", "float64": "f64"}
# What takes longer than its operands take to arrive: functions, and the two that processors do slowly.
_COUNTED = {"divide", "sqrt", *(op.name for op in FUNCTIONS)}


_REDUCTIONS = (np.sum, np.mean, np.amax, np.argmax)


class Counted(NDArrayOperatorsMixin):
    """An operand without values: dtype and extents, and a log of the functions applied and their points."""

    def __init__(self, dtype: np.dtype[Any], shape: tuple[int, ...], log: list[tuple[str, int]]) -> None:
        self.dtype, self.shape, self.log = dtype, shape, log

    def _with(self, dtype: np.dtype[Any], inputs: tuple[Any, ...]) -> Counted:
        return Counted(dtype, np.broadcast_shapes(*(getattr(each, "shape", ()) for each in inputs)), self.log)

    def called(self, name: str, dtype: np.dtype[Any], inputs: tuple[Any, ...]) -> Counted:
        """Return the result of a function, and log it if it is one of those with a rate."""
        result = self._with(dtype, inputs)
        if name in _COUNTED and dtype.name in _NAMES:
            self.log.append((f"{name}_{_NAMES[dtype.name]}", int(np.prod(result.shape, dtype=np.int64))))
        return result

    def _reduced(self, axis: int | None = None, keepdims: bool = False) -> Counted:
        own = range(len(self.shape)) if axis is None else (axis % len(self.shape),)
        left = [1 if dim in own else extent for dim, extent in enumerate(self.shape) if keepdims or dim not in own]
        return Counted(self.dtype, tuple(left), self.log)

    def astype(self, dtype: Any) -> Counted:
        """Return an operand of another dtype."""
        return Counted(np.dtype(dtype), self.shape, self.log)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        if method != "__call__" or options:
            return NotImplemented
        # Python's scalars are weak; NumPy's, though some are floats of Python's as well, are not.
        types = [type(each) if type(each) in (bool, int, float) else each.dtype for each in inputs]
        dtype = ufunc.resolve_dtypes((*types, None))[-1]
        return self.called(ufunc.__name__, dtype, inputs)

    def __array_function__(self, function: Any, types: Any, inputs: tuple[Any, ...], options: Any) -> Any:
        if function in _REDUCTIONS:
            return self._reduced(**options)
        if options:
            return NotImplemented
        values = inputs[1:] if function is np.where else inputs
        dtype = np.result_type(*(each.dtype if hasattr(each, "dtype") else each for each in values))
        return self._with(dtype, inputs)


def _beyond(name: str) -> Callable[..., Any]:
    return lambda x: x.called(name, x.dtype, (x,))


def functions_of(case: Case) -> list[tuple[str, int]]:
    """Return the workloads of single functions that a case needs, each with its points."""
    log: list[tuple[str, int]] = []
    beyond = {name: _beyond(name) for name in _COUNTED if not hasattr(np, name)}
    function = rebound(case.workload.function, Namespace(np, **beyond))
    function(*(Counted(operand.dtype, operand.shape, log) for operand in case.operands))
    return log


class Throughput:
    """The best rates of these peers; each is measured once."""

    def __init__(self, peers: Sequence[Peer], threads: int, clock: Clock) -> None:
        self._peers, self._threads, self._clock = [peer for peer in peers if peer.vector_maths], threads, clock
        self.rates: dict[str, float] = {}

    def seconds(self, case: Case) -> float | None:
        """Return what the functions of a case take, at the best rates, shared by the threads; None without a limit."""
        try:
            needed = functions_of(case)
        except (NoForm, TypeError, AttributeError):
            # An expression of the user's own may have functions that are not counted.
            return None
        return self.taken(needed)

    def taken(self, needed: Sequence[tuple[str, int]]) -> float | None:
        """Return what functions take on so many points each; None without a limit. Those without a rate are free."""
        needed = [
            (name, points) for name, points in needed if name.rpartition("_")[0] in _COUNTED and name in WORKLOADS
        ]
        if not needed or sum(points for _, points in needed) < LEAST_POINTS:
            return None
        rates = [(self._rate(name), points) for name, points in needed]
        # What nobody has, has no limit.
        return sum(rate * points for rate, points in rates) / self._threads if all(rate for rate, _ in rates) else None

    def _rate(self, name: str) -> float:
        if name not in self.rates:
            self.rates[name] = self._measured(name)
        return self.rates[name]

    def _measured(self, name: str) -> float:
        workload = WORKLOADS[name]
        arrays = workload.build(_ELEMENTS, np.random.default_rng(0))
        expected = workload.expected(arrays)
        calls: dict[str, Call] = {}
        for peer in self._peers:
            for out in (None, np.empty_like(expected)):
                try:
                    call = peer.prepare(Case(workload, arrays, arrays, out))
                except Exception:  # who has no such function sets no rate
                    continue
                if call is not None:
                    call.value()
                    calls[f"{peer.name} {out is None}"] = call
        samples = interleave(calls, rounds=25, budget=0.3, clock=self._clock)
        return min((each.min for each in samples.values()), default=0.0) / _ELEMENTS
