"""IREE: the function that JAX lowers to StableHLO, compiled for this machine's CPU.

In: a case.  Out: the call of the compiled module, on device arrays that are made outside the timing.

    add_f32 -> module.main(a0, a1)
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

from ..measure import Call, call
from .peer import Case, Peer
from .tensors import jax_compiled

__all__ = ["ROWS"]

_THREADS = [1]


@cache
def _device() -> Any:
    """The driver that runs in the calling thread, or the one with a pool of threads."""
    runtime = import_module("iree.runtime")
    return runtime.get_device("local-sync" if _THREADS[0] == 1 else "local-task")


def _module(case: Case) -> Any:
    tools, runtime = import_module("iree.compiler.tools"), import_module("iree.runtime")
    arrays = [import_module("jax").ShapeDtypeStruct(array.shape, array.dtype) for array in case.arrays]
    text = jax_compiled(case.workload).lower(*arrays).as_text(dialect="stablehlo")
    binary = tools.compile_str(
        text,
        input_type="stablehlo",
        target_backends=["llvm-cpu"],
        extra_args=["--iree-llvmcpu-target-cpu=host", "--iree-opt-level=O3", "--iree-input-demote-f64-to-f32=false"],
    )
    config = runtime.Config(device=_device())
    context = runtime.SystemContext(config=config)
    context.add_vm_module(runtime.VmModule.copy_buffer(context.instance, binary))
    return next(module for name, module in context.modules.items() if name != "hal").main


def _iree(case: Case) -> Call | None:
    # Its results are its own.
    if case.out is not None:
        return None
    runtime = import_module("iree.runtime")
    arrays = tuple(runtime.asdevicearray(_device(), np.ascontiguousarray(array)) for array in case.arrays)
    return call(_module(case), arrays, read=lambda result: result.to_host())


def _limit(threads: int) -> None:
    _THREADS[0] = threads


ROWS = (Peer("iree", "iree.compiler", _iree, _limit, heavy=True),)
