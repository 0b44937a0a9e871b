"""bcastgen: a compiler for element-wise tensor expressions with broadcasting.

In: a Python function or text over arrays.  Out: a kernel compiled from C that never copies an operand to broadcast it.

    import bcastgen as bg
    axpy = bg.jit(lambda alpha, x, y: alpha * x + y)
    axpy(2.0, x, y[:, None])

Every op of the table is a ready kernel, too: ``bg.add``, ``bg.exp``, ``bg.where``; `bcastgen ops` lists them.
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

# What every kernel needs is imported with the package, so that the first call does not wait for it; the rest when it is
# first used: what compiles, dims and types, MLIR.
from . import api as _api  # noqa: F401
from .errors import (
    BcastgenError,
    BroadcastError,
    CacheError,
    CompileError,
    DomainError,
    DTypeError,
    ParseError,
    RangeError,
    TraceError,
)

if TYPE_CHECKING:
    from .api import emit_shape, evaluate, from_text, jit
    from .define import define_op
    from .emitted import emit_c
    from .jit.process import clear_memory, get_num_threads, set_num_threads
    from .kernel import Kernel
    from .modules import from_mlir
    from .shape.broadcast import infer_broadcast
    from .shape.dim import Dim
    from .shape.tensor_type import TensorType
    from .shape.verify import verify_broadcast
    from .views import broadcast_in_dim, broadcast_to, transpose

__version__ = "0.1.0"

# Where each of the other public names lives.
_HOMES = {
    "api": ("emit_shape", "evaluate", "from_text"),
    "define": ("define_op",),
    "emitted": ("emit_c",),
    "jit.process": ("clear_memory", "get_num_threads", "set_num_threads"),
    "kernel": ("Kernel",),
    "modules": ("from_mlir",),
    "shape.broadcast": ("infer_broadcast",),
    "shape.dim": ("Dim",),
    "shape.tensor_type": ("TensorType",),
    "shape.verify": ("verify_broadcast",),
    "views": ("broadcast_in_dim", "broadcast_to", "transpose"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "BcastgenError",
    "BroadcastError",
    "CacheError",
    "CompileError",
    "DTypeError",
    "Dim",
    "DomainError",
    "Kernel",
    "ParseError",
    "RangeError",
    "TensorType",
    "TraceError",
    "broadcast_in_dim",
    "broadcast_to",
    "clear_memory",
    "define_op",
    "emit_c",
    "emit_shape",
    "evaluate",
    "from_mlir",
    "from_text",
    "get_num_threads",
    "infer_broadcast",
    "jit",
    "set_num_threads",
    "transpose",
    "verify_broadcast",
]


class _Package(ModuleType):
    """The package itself, where `jit` is the function: importing the subpackage of that name does not rebind it."""

    @property
    def jit(self) -> Any:
        from .api import jit

        return self.__dict__.get("_jit", jit)

    @jit.setter
    def jit(self, value: Any) -> None:
        if not isinstance(value, ModuleType):
            self.__dict__["_jit"] = value


sys.modules[__name__].__class__ = _Package


def __getattr__(name: str) -> Any:
    if name == "shape":
        # The package of that name is the shape dialect as users see it.
        return importlib.import_module(".shape", __name__)
    if name in _HOME_OF:
        value = getattr(importlib.import_module(f".{_HOME_OF[name]}", __name__), name)
    else:
        from .ops import find_op

        op = None if name.startswith("_") else find_op(name)
        if op is None or op.params:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        if op.definition is not None:
            # Not kept: the op may be replaced.
            from .define import defined_kernel

            return defined_kernel(op)
        from .api import op_kernel

        value = op_kernel(op)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    from .ops import known_ops

    return sorted({*globals(), *__all__, *(op.name for op in known_ops() if not op.params)})
