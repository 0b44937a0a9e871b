"""What a contestant is: how it turns a case into a call that its own users would write.

In: a :class:`Case`, one workload with operands and, for ``out=``, a buffer.  Out: a :class:`Call`, or None if it has no
such form.

    Peer("numpy", "numpy", prepare).prepare(Case(WORKLOADS["add_f32"], ...)).statement -> "f(a0, a1)"
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib.util import find_spec

import numpy as np

from ..measure import Call
from ..workloads import Array, Operands, Workload

__all__ = ["Case", "Peer", "Prepare", "installed"]


@dataclass(frozen=True, slots=True)
class Case:
    """One workload at one size.

    Attributes
    ----------
    arrays : what the workload's builder gave; its view makes the operands of them.
    operands : NumPy's.
    out : the buffer for the result, or None where a fresh one is wanted.
    """

    workload: Workload
    arrays: Operands
    operands: Operands
    out: Array | None = None

    @property
    def dtypes(self) -> tuple[str, ...]:
        """Names of the operands' dtypes."""
        return tuple(operand.dtype.name for operand in self.operands)

    @property
    def shape(self) -> tuple[int, ...]:
        """Extents of the result."""
        return np.broadcast_shapes(*(operand.shape for operand in self.operands))


Prepare = Callable[[Case], Call | None]


def _no_limit(threads: int) -> None:
    """Nothing to tell: the environment has said it, or there is one thread anyway."""


@dataclass(frozen=True, slots=True)
class Peer:
    """One contestant.

    Attributes
    ----------
    name : its column.
    module : what must be importable.
    prepare : case -> the call, or None.
    limit : tells the imported peer how many threads it may use, where the environment does not.
    heavy : whether it must be asked for: what compiles for long, or is a further form of another one.
    vector_maths : whether its functions set the rate that others are measured against.
    least_threads : with fewer it is another form of another contestant.
    fast : whether its compiler may contract and reorder sums: it is compared with our ``math="fast"``.
    """

    name: str
    module: str
    prepare: Prepare
    limit: Callable[[int], None] = _no_limit
    heavy: bool = False
    vector_maths: bool = False
    least_threads: int = 1
    fast: bool = False


def _is_there(module: str) -> bool:
    # Of a module in a package the package must be there to be asked.
    package = module.partition(".")[0]
    return find_spec(package) is not None and find_spec(module) is not None


def installed(peers: Iterable[Peer]) -> tuple[Peer, ...]:
    """Return the peers that can be imported, without importing them."""
    return tuple(peer for peer in peers if _is_there(peer.module))
