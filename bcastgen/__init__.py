"""bcastgen: a compiler for element-wise tensor expressions with broadcasting.

In: a Python function or text over arrays.  Out: a kernel compiled from C that never copies an operand to broadcast it.

    import bcastgen as bg
    axpy = bg.jit(lambda alpha, x, y: alpha * x + y)
    axpy(2.0, x, y[:, None])

Every op of the table is a ready kernel, too: ``bg.add``, ``bg.exp``, ``bg.where``; `bcastgen ops` lists them.
"""

from __future__ import annotations

import importlib
import sys as _sys
from typing import TYPE_CHECKING, Any


def _is_main_interpreter() -> bool:
    try:
        if _sys.version_info >= (3, 12):
            return bool(importlib.import_module("_thread")._is_main_interpreter())
        # There is no signal 0, but only the main thread of the main interpreter is told so: others may set none. For
        # these a module tells, which takes as long to import as three of ours.
        signals = importlib.import_module("_signal")
        try:
            signals.signal(0, signals.SIG_DFL)
        except ValueError as error:
            if "range" in str(error):
                return True
        known = importlib.import_module("_xxsubinterpreters")
        return bool(known.get_current() == known.get_main())
    except (ImportError, AttributeError):
        return True  # Python has no subinterpreters, or tells nobody


# NumPy belongs to one interpreter, and so do the threads of kernels and the memory of results. Without this, importing
# NumPy would say that the installation is broken, or warn, and calls would fail later.
if not _is_main_interpreter():
    raise ImportError(
        "bcastgen runs in the main interpreter only, since NumPy does; use threads or processes instead of "
        "subinterpreters (for mod_wsgi: WSGIApplicationGroup %{GLOBAL})"
    )

# What every kernel needs is imported with the package, so that the first call does not wait for it; the rest when it is
# first used: what compiles, dims and types, MLIR.
from .api import functions as _api
from .core.errors import (
    ArgumentError,
    AxisError,
    BcastgenError,
    BroadcastError,
    CacheError,
    CacheWarning,
    CompileError,
    CompilerWarning,
    DomainError,
    DTypeError,
    ParseError,
    RangeError,
    TraceError,
)
from .core.forks import apart as _apart
from .core.forks import import_before_handlers as _import_before_handlers
from .core.forks import undivided as _undivided

if TYPE_CHECKING:
    from .api.array_namespace import array_namespace
    from .api.define_op import define_op
    from .api.evaluate import evaluate
    from .api.functions import from_text, jit
    from .api.fuse import fuse
    from .api.mlir_module import from_mlir, shape_from_mlir
    from .api.op_types import *  # noqa: F403 - the stub lists the ops
    from .api.standalone_c import emit_c, emit_shape
    from .api.strict_arrays import strict
    from .api.vectorize import vectorize
    from .api.views import broadcast_in_dim, broadcast_to, transpose
    from .core.version import __version__
    from .kernel.kernel import Kernel
    from .runtime.settings import clear_memory, get_num_threads, set_num_threads
    from .shape.inference.broadcast import infer_broadcast
    from .shape.inference.verify import verify_broadcast
    from .shape.types.dim import Dim
    from .shape.types.tensor_type import TensorType

# Where each of the other public names lives: the imports above as data. Type checkers read only imports and lists of
# literals, and Python must not run the former; tests/behaviour/test_public_names.py holds all three together.
_HOMES = {
    "api.array_namespace": ("array_namespace",),
    "api.define_op": ("define_op",),
    "api.evaluate": ("evaluate",),
    "api.functions": ("from_text", "jit"),
    "api.fuse": ("fuse",),
    "api.mlir_module": ("from_mlir", "shape_from_mlir"),
    "api.standalone_c": ("emit_c", "emit_shape"),
    "api.strict_arrays": ("strict",),
    "api.vectorize": ("vectorize",),
    "api.views": ("broadcast_in_dim", "broadcast_to", "transpose"),
    "core.version": ("__version__",),
    "kernel.kernel": ("Kernel",),
    "runtime.settings": ("clear_memory", "get_num_threads", "set_num_threads"),
    "shape.inference.broadcast": ("infer_broadcast",),
    "shape.inference.verify": ("verify_broadcast",),
    "shape.types.dim": ("Dim",),
    "shape.types.tensor_type": ("TensorType",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "ArgumentError",
    "AxisError",
    "BcastgenError",
    "BroadcastError",
    "CacheError",
    "CacheWarning",
    "CompileError",
    "CompilerWarning",
    "DTypeError",
    "Dim",
    "DomainError",
    "Kernel",
    "ParseError",
    "RangeError",
    "TensorType",
    "TraceError",
    "__version__",
    "array_namespace",
    "broadcast_in_dim",
    "broadcast_to",
    "clear_memory",
    "define_op",
    "emit_c",
    "emit_shape",
    "evaluate",
    "from_mlir",
    "from_text",
    "fuse",
    "get_num_threads",
    "infer_broadcast",
    "jit",
    "set_num_threads",
    "shape_from_mlir",
    "strict",
    "transpose",
    "vectorize",
    "verify_broadcast",
]


if TYPE_CHECKING:
    # Of an installed package, checkers take for public what this list has, and ops are not in it when Python runs.
    from .api import op_types as _op_types

    __all__ += _op_types.__all__


def _module(name: str) -> Any:
    with _undivided:
        return importlib.import_module(name)


if not TYPE_CHECKING:
    # Type checkers read the imports above, which have the ops, too.
    def __getattr__(name: str) -> Any:
        return _found(name)


def _found(name: str) -> Any:
    """Return what a public name stands for, and keep it; raise AttributeError if there is none."""
    _import_before_handlers()
    if name in ("numexpr", "shape"):
        # Packages: NumExpr's module, and the shape dialect as users see it.
        return _apart(lambda: _module(f"{__name__}.{name}"))
    if name in _HOME_OF:
        home = f"{__name__}.{_HOME_OF[name]}"
        value = getattr(_api if home == _api.__name__ else _apart(lambda: _module(home)), name)
    else:
        from .ops.table import find_op  # noqa: PLC0415 - a name costs when it is first used

        op = None if name.startswith("_") else find_op(name)
        if op is None or op.params:
            with _undivided:
                from .api.op_kernels import composed_kernel  # noqa: PLC0415 - a name costs when it is first used

            composed: Any = None if name.startswith("_") else composed_kernel(name)
            if composed is None and not name.startswith("_"):
                with _undivided:
                    from .api.reductions import reduction_function  # noqa: PLC0415 - a name costs when it is first used

                composed = reduction_function(name)
            if composed is None:
                # With these Python's traceback says which name may have been meant.
                module = _module(__name__)
                raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name, obj=module)
            globals()[name] = composed
            return composed
        if op.definition is not None:
            # Not kept: the op may be replaced.
            with _undivided:
                from .api.define_op import defined_kernel  # noqa: PLC0415 - a name costs when it is first used

            return defined_kernel(op)
        with _undivided:
            from .api.op_kernels import op_kernel  # noqa: PLC0415 - a name costs when it is first used

        value = op_kernel(op)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    with _undivided:
        from .expr.compositions import COMPOSITIONS  # noqa: PLC0415 - a name costs when it is first used
        from .expr.reductions import FUNCTIONS  # noqa: PLC0415 - a name costs when it is first used
        from .ops.table import SEVERAL, known_ops  # noqa: PLC0415 - a name costs when it is first used

    ops = (op.name for op in known_ops() if not op.params)
    return sorted({*__all__, "numexpr", "shape", *ops, *SEVERAL, *COMPOSITIONS, *FUNCTIONS})
