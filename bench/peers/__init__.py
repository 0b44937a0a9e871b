"""The contestants: ours, NumPy, and each installed peer, as calls that its own users would write.

In: a case: a workload, its operands and, for ``out=``, a buffer.  Out: a ``Call``, or None if it has no such form.

    PEERS["numexpr"].prepare(case of bias_f32).statement -> "f(a0, a1)",  f = NumExpr("(x0 + x1)")

Every peer runs the workload's one function: with its own namespace as ``np`` (JAX, torch), compiled (Numba) or traced
to text (NumExpr). A peer is imported when it is first asked for; what it raises while it prepares the runner reports.
"""

from __future__ import annotations

from . import iree_modules, numba_loops, numexpr_text, own, pytensor_graphs, pythran_modules, tensors
from .own import AGAIN, FAST, NUMPY, OURS
from .peer import Case, Peer, installed

__all__ = ["AGAIN", "FAST", "FAST_PEERS", "NUMPY", "OURS", "OWN", "PEERS", "Case", "Peer", "installed"]

# Ours again comes last.
_ROWS = (
    *own.ROWS[:-1],
    *numexpr_text.ROWS,
    *numba_loops.ROWS,
    *tensors.ROWS,
    *pytensor_graphs.ROWS,
    *pythran_modules.ROWS,
    *iree_modules.ROWS,
    own.ROWS[-1],
)

PEERS: dict[str, Peer] = {peer.name: peer for peer in _ROWS}
OWN = frozenset({OURS, AGAIN, FAST})
FAST_PEERS = frozenset(peer.name for peer in _ROWS if peer.fast) - OWN
