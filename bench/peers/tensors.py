"""JAX, torch, and torch compiled: their namespaces in the place of NumPy's.

In: a case.  Out: the call on their own arrays, which are made outside the timing.

    jax.jit(f)(a0, a1).block_until_ready()      torch.add(a0, a1, out=out)      torch.compile(f)(a0)
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

from ..measure import Call, call
from ..spelling import Namespace, NoForm, rebound
from ..workloads import Workload
from .peer import Case, Peer

__all__ = ["ROWS", "jax_compiled"]

# ---- JAX ---------------------------------------------------------------------------------------------------------


@cache
def _jax_namespace() -> Namespace:
    jax = import_module("jax")
    jax.config.update("jax_enable_x64", True)
    # Its hand-over to another thread, for a caller who waits at once, costs more than most of these calls.
    jax.config.update("jax_cpu_enable_async_dispatch", False)
    special = import_module("jax.scipy.special")
    more = {"erf": special.erf, "erfc": special.erfc, "sigmoid": jax.nn.sigmoid, "rsqrt": jax.lax.rsqrt}
    return Namespace(import_module("jax.numpy"), **more)


@cache
def jax_compiled(workload: Workload) -> Any:
    """Return the workload's function, jitted."""
    function = rebound(workload.function, _jax_namespace())
    # Its arrays are whole and in C order: views of them are taken inside, as its users do.
    return import_module("jax").jit(lambda *arrays: function(*workload.view(*arrays)))


def _jax(case: Case) -> Call | None:
    # JAX arrays are immutable.
    if case.out is not None:
        return None
    compiled = jax_compiled(case.workload)
    arrays = tuple(import_module("jax.numpy").asarray(array) for array in case.arrays)
    return call(compiled, arrays, then=".block_until_ready()")


# ---- torch -------------------------------------------------------------------------------------------------------


def _bounded(bound: str) -> Callable[..., Any]:
    """Return ``minimum`` or ``maximum`` that also takes a number, which torch spells ``clamp``."""
    torch = import_module("torch")
    of_tensors = getattr(torch, "minimum" if bound == "max" else "maximum")

    def either(a: Any, b: Any) -> Any:
        return of_tensors(a, b) if isinstance(b, torch.Tensor) else torch.clamp(a, **{bound: b})

    return either


_RENAMED = {"rint": "round", "equal": "eq", "power": "pow"}


@cache
def _torch_namespace() -> Namespace:
    torch = import_module("torch")
    torch.Tensor.astype = lambda self, dtype: self.to(dtype)
    return Namespace(
        torch,
        minimum=_bounded("max"),
        maximum=_bounded("min"),
        **{name: getattr(torch, other) for name, other in _RENAMED.items()},
        # Its uint16 has no arithmetic.
        uint16=torch.int32,
    )


def _as_torch_has(value: Any) -> Any:
    """Constants: floats are weak numbers there; integers keep their dtype as tensors."""
    if isinstance(value, np.floating):
        return float(value)
    if isinstance(value, np.integer):
        return import_module("torch").from_numpy(np.asarray(value))
    return value


@cache
def _torch_function(function: Callable[..., Any]) -> Callable[..., Any]:
    return rebound(function, _torch_namespace(), _as_torch_has)


def _tensors(case: Case) -> tuple[Any, ...]:
    if any(step < 0 for array in case.operands for step in array.strides):
        raise NoForm("tensors have no negative strides")
    torch = import_module("torch")
    return tuple(torch.from_numpy(operand) for operand in case.operands)


def _torch(case: Case) -> Call | None:
    torch, tensors = import_module("torch"), _tensors(case)
    function = _torch_function(case.workload.function)
    if case.out is None:
        return call(function, tensors)
    out = torch.from_numpy(case.out)
    single = getattr(torch, _RENAMED.get(case.workload.single, case.workload.single), None)
    # A builtin's own words: some, such as isnan, fill nothing.
    if single is not None and "out=None" in (single.__doc__ or ""):
        return call(single, tensors, out)
    chain = call(function, tensors)
    return Call(f"out.copy_({chain.statement})", {**chain.names, "out": out})


def _inductor(case: Case) -> Call | None:
    torch, tensors = import_module("torch"), _tensors(case)
    function = rebound(case.workload.function, _torch_namespace(), _as_torch_has)
    if case.out is None:
        return call(torch.compile(function, dynamic=False), tensors)

    def into(out: Any, *operands: Any) -> Any:
        return out.copy_(function(*operands))

    out = torch.from_numpy(case.out)
    compiled = call(torch.compile(rebound(into, None), dynamic=False), (out, *tensors))
    return Call(compiled.statement, {**compiled.names, "out": out})


def _limit_torch(threads: int) -> None:
    import_module("torch").set_num_threads(threads)


ROWS = (
    Peer("jax", "jax", _jax, vector_maths=True),
    Peer("torch", "torch", _torch, _limit_torch, vector_maths=True),
    Peer("inductor", "torch", _inductor, _limit_torch, heavy=True),
)
