"""The contestants: ours, NumPy, and each installed peer, as calls that its own users would write.

In: a workload, its operands and, for ``out=``, a buffer.  Out: a :class:`Call`, or None if the peer has no such form.

    PEERS["numexpr"].prepare(WORKLOADS["bias_f32"], (x, b), None).statement -> "f(a0, a1)",  f = NumExpr("(x0 + x1)")

Every peer runs the workload's one function: with its own namespace as ``np`` (JAX, torch), compiled (Numba) or traced
to text (NumExpr). A peer is imported when it is first asked for; what it raises while it prepares the runner reports.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache, partial
from importlib import import_module
from importlib.util import find_spec
from types import FunctionType, ModuleType
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from .measure import Call, call
from .workloads import Array, Operands, Workload

__all__ = ["AGAIN", "NUMPY", "OURS", "PEERS", "Peer", "installed"]

OURS, AGAIN, NUMPY = "bcastgen", "bcastgen again", "numpy"

Prepare = Callable[[Workload, Operands, Array | None], Call | None]


@dataclass(frozen=True, slots=True)
class Peer:
    """One contestant.

    Attributes
    ----------
    name : its column.
    module : what must be importable.
    prepare : workload, operands, out or None -> the call, or None.
    limit : tells the imported peer how many threads it may use, where the environment does not.
    """

    name: str
    module: str
    prepare: Prepare
    limit: Callable[[int], None] = lambda threads: None


def installed(peers: Iterable[Peer]) -> tuple[Peer, ...]:
    """Return the peers that can be imported, without importing them."""
    return tuple(peer for peer in peers if find_spec(peer.module) is not None)


def _rebound(function: Callable[..., Any], namespace: Any) -> Callable[..., Any]:
    """The same code, with ``np`` meaning another namespace."""
    assert isinstance(function, FunctionType)
    return FunctionType(function.__code__, {**function.__globals__, "np": namespace}, function.__name__)


def _names(function: Callable[..., Any]) -> tuple[str, ...]:
    """Names of the attributes and globals that a function uses."""
    assert isinstance(function, FunctionType)
    return function.__code__.co_names


# ---- ours and NumPy ----------------------------------------------------------------------------------------------


@cache
def _kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    import bcastgen as bg

    kernel: Callable[..., Any] = bg.jit(function)
    return kernel


def _ours(workload: Workload, operands: Operands, out: Array | None) -> Call:
    return call(_kernel(workload.function), operands, out)


def _numpy(workload: Workload, operands: Operands, out: Array | None) -> Call:
    if out is None:
        return call(workload.function, operands)
    if workload.ufunc is not None:
        return call(getattr(np, workload.ufunc), operands, out)
    # A chain of ufuncs has no out=: its user copies the result.
    copied = call(workload.function, operands)
    return Call(f"copyto(out, {copied.statement})", {**copied.names, "copyto": np.copyto, "out": out})


# ---- NumExpr: the function traced to text ------------------------------------------------------------------------

_INFIX = {
    "add": "+",
    "subtract": "-",
    "multiply": "*",
    "divide": "/",
    "bitwise_and": "&",
    "bitwise_or": "|",
    "bitwise_xor": "^",
    "left_shift": "<<",
    "right_shift": ">>",
    "less": "<",
    "less_equal": "<=",
    "greater": ">",
    "greater_equal": ">=",
}
_PREFIX = {"negative": "-", "invert": "~"}
_RENAMED = {"absolute": "abs"}


class _Text(NDArrayOperatorsMixin):
    """An operand that writes down what is done to it; NumPy scalars become further operands, to keep their dtype."""

    def __init__(self, text: str, scalars: list[Array]) -> None:
        self.text, self.scalars = text, scalars

    def _write(self, value: Any) -> str:
        if isinstance(value, _Text):
            return value.text
        if isinstance(value, np.generic):
            self.scalars.append(np.asarray(value))
            return f"k{len(self.scalars) - 1}"
        return f"({value!r})"

    def _apply(self, name: str, inputs: tuple[Any, ...]) -> _Text:
        parts = [self._write(value) for value in inputs]
        if name in _INFIX:
            return _Text(f"({parts[0]} {_INFIX[name]} {parts[1]})", self.scalars)
        if name in _PREFIX:
            return _Text(f"({_PREFIX[name]}{parts[0]})", self.scalars)
        return _Text(f"{_RENAMED.get(name, name)}({', '.join(parts)})", self.scalars)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        return self._apply(ufunc.__name__, inputs) if method == "__call__" and not options else NotImplemented

    def __array_function__(self, function: Any, types: Any, inputs: tuple[Any, ...], options: Any) -> Any:
        return self._apply(function.__name__, inputs) if not options else NotImplemented


def _numexpr(workload: Workload, operands: Operands, out: Array | None) -> Call | None:
    if {"astype", "clip"} & set(_names(workload.function)):
        return None
    necompiler = import_module("numexpr.necompiler")
    scalars: list[Array] = []
    text = workload.function(*(_Text(f"x{i}", scalars) for i in range(len(operands)))).text
    named = {f"x{i}": operand for i, operand in enumerate(operands)} | {f"k{i}": k for i, k in enumerate(scalars)}
    signature = [(name, necompiler.getType(array)) for name, array in named.items()]
    # The compiled expression itself: evaluate() would look it up by its text in each call.
    compiled = necompiler.NumExpr(text, signature)
    return call(compiled if out is None else partial(compiled, ex_uses_vml=False), tuple(named.values()), out)


def _limit_numexpr(threads: int) -> None:
    import_module("numexpr").set_num_threads(threads)


# ---- Numba: a ufunc, or where it has none, the array function ----------------------------------------------------


@cache
def _scalar_numpy() -> ModuleType:
    """NumPy, with scalar forms of the functions that Numba has for arrays only."""
    numba = import_module("numba")
    module = ModuleType("scalar_numpy")
    vars(module).update({name: getattr(np, name) for name in np.__all__})
    vars(module)["where"] = numba.njit(lambda mask, a, b: a if mask else b)
    vars(module)["clip"] = numba.njit(lambda x, low, high: min(max(x, low), high))
    return module


@cache
def _numba_compiled(function: Callable[..., Any], result: str, dtypes: tuple[str, ...]) -> tuple[Any, bool]:
    """Return the compiled function and whether it is a ufunc."""
    numba = import_module("numba")
    types = [numba.from_dtype(np.dtype(name)) for name in (result, *dtypes)]
    try:
        return numba.vectorize([types[0](*types[1:])])(_rebound(function, _scalar_numpy())), True
    except numba.core.errors.NumbaError:
        return numba.njit(function), False


def _numba(workload: Workload, operands: Operands, out: Array | None) -> Call | None:
    dtypes = tuple(operand.dtype.name for operand in operands)
    compiled, is_ufunc = _numba_compiled(workload.function, workload.result, dtypes)
    return call(compiled, operands, out) if is_ufunc or out is None else None


# ---- JAX and torch: their namespace as np ------------------------------------------------------------------------


@cache
def _jax_compiled(function: Callable[..., Any]) -> Any:
    jax = import_module("jax")
    jax.config.update("jax_enable_x64", True)
    # Its hand-over to another thread, for a caller who waits at once, costs more than most of these calls.
    jax.config.update("jax_cpu_enable_async_dispatch", False)
    return jax.jit(_rebound(function, import_module("jax.numpy")))


def _jax(workload: Workload, operands: Operands, out: Array | None) -> Call | None:
    # JAX arrays are immutable and always contiguous.
    if out is not None or workload.kind == "layout":
        return None
    compiled = _jax_compiled(workload.function)
    arrays = tuple(import_module("jax.numpy").asarray(operand) for operand in operands)
    return call(compiled, arrays, then=".block_until_ready()")


@cache
def _torch_function(function: Callable[..., Any]) -> Callable[..., Any]:
    return _rebound(function, import_module("torch"))


def _torch(workload: Workload, operands: Operands, out: Array | None) -> Call | None:
    # Tensors have no negative strides, and their astype is called to.
    if "astype" in _names(workload.function) or any(s < 0 for operand in operands for s in operand.strides):
        return None
    torch = import_module("torch")
    tensors = tuple(torch.from_numpy(operand) for operand in operands)
    if out is None:
        return call(_torch_function(workload.function), tensors)
    if workload.ufunc is not None:
        name = {"less": "lt"}.get(workload.ufunc, workload.ufunc)
        return call(getattr(torch, name), tensors, torch.from_numpy(out))
    chain = call(_torch_function(workload.function), tensors)
    return Call(f"out.copy_({chain.statement})", {**chain.names, "out": torch.from_numpy(out)})


def _limit_torch(threads: int) -> None:
    import_module("torch").set_num_threads(threads)


_ROWS = (
    Peer(NUMPY, "numpy", _numpy),
    Peer(OURS, "bcastgen", _ours),
    Peer("numexpr", "numexpr", _numexpr, _limit_numexpr),
    Peer("numba", "numba", _numba),
    Peer("jax", "jax", _jax),
    Peer("torch", "torch", _torch, _limit_torch),
    # Measured last, from the same kernel: how far it is from its first column is the noise of the run.
    Peer(AGAIN, "bcastgen", _ours),
)

PEERS: dict[str, Peer] = {peer.name: peer for peer in _ROWS}
