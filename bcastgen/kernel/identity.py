"""The identity of a kernel: what a pickle holds of it, and when two kernels are equal.

In: a kernel.  Out: what :mod:`pickle` calls to make it again, and a digest that equal kernels share in all processes.

    bg.add                               ->  bcastgen.add
    @bg.jit, in an importable module     ->  module.name
    bg.from_text("a*b + 1")              ->  from_text, the text, the options
    bg.jit(lambda a: a + 1), a notebook  ->  the expression (its ops, by name), signature and options

So kernels travel to processes that have no such function: those of joblib, of multiprocessing, of dask. Compiled code
does not travel; the other process finds it on disk, or compiles it at its first call. Loading a pickle can run any
code: never load one from a source that you do not trust.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from types import CodeType, FunctionType
from typing import Any, TypeAlias

import numpy as np

from ..core.errors import BcastgenError
from ..core.version import __version__
from ..expr.flat import flattened, restored
from ..ops.row import Definition
from ..pipeline.options import OPTIONS
from ..runtime.cache import digest_of
from ..shape.dialect.program import Program

__all__ = ["identity", "load", "reduced", "remade", "same_definition", "single_threaded"]

# A :class:`bcastgen.Kernel`, whose module imports this one.
Kernel: TypeAlias = Any

# In these modules names are another process's own: a notebook's, a script's.
_MAINS = ("__main__", "__mp_main__")


def reduced(kernel: Kernel) -> str | tuple[Any, ...]:
    """Return how to make a kernel again: the name by which others can import it, or a function and its arguments."""
    name = _imported_name(kernel)
    if name is not None:
        return name
    recipe = kernel._recipe if kernel._recipe is not None and not _travelling(kernel) else None
    maker, arguments = recipe or (remade, _parts(kernel))
    return load, (__version__, maker, arguments, _settings(kernel, recipe is None))


def single_threaded(kernel: Kernel) -> Kernel:
    """Return another kernel of the same expression, whose calls take one thread."""
    recipe = kernel._recipe if kernel._recipe is not None and not _travelling(kernel) else None
    maker, arguments = recipe or (remade, _parts(kernel))
    made = maker(*arguments)
    for name, value in _settings(kernel, recipe is None).items():
        setattr(made, name, value)
    made.threads = 1
    return made


def load(version: str, maker: Callable[..., Kernel], arguments: tuple[Any, ...], settings: Mapping[str, Any]) -> Kernel:
    """Return the kernel that a pickle holds.

    Raises
    ------
    BcastgenError
        If another version of bcastgen wrote the pickle.
    """
    if version != __version__:
        raise BcastgenError(
            f"this kernel was pickled by bcastgen {version}, and this is {__version__}, where its expression may mean "
            "something else; make it again from its source, or use one version in both places"
        )
    kernel = maker(*arguments)
    for name, value in settings.items():
        setattr(kernel, name, value)
    return kernel


def remade(kind: type[Kernel], flat: Any, name: str, *more: Any) -> Kernel:
    """Return the kernel of a flat expression; `more` are the further arguments of :class:`Kernel`."""
    expression = restored(flat)
    names = tuple(operand.name for operand in expression.operands)
    defaults, signature, options, constants = more
    return kind(expression, name, names, len(expression.results), defaults, signature, options, constants)


def _parts(kernel: Kernel) -> tuple[Any, ...]:
    return (
        type(kernel),
        flattened(kernel.expression),
        kernel._name,
        kernel._defaults,
        kernel._signature,
        kernel._options,
        len(kernel._values),
    )


def _settings(kernel: Kernel, by_value: bool) -> dict[str, Any]:
    """Return the attributes that may be set, where they differ from a new kernel's."""
    found: dict[str, Any] = {}
    if kernel.threads is not None:
        found["threads"] = kernel.threads
    if kernel.background:
        found["background"] = True
    if not kernel.scalars:
        found["scalars"] = False
    if kernel.errors != OPTIONS["errors"].default:
        found["errors"] = kernel.errors
    if by_value:
        own = vars(kernel)
        found.update((name, own[name]) for name in ("__doc__", "__module__", "__qualname__") if own.get(name))
    return found


def _imported_name(kernel: Kernel) -> str | None:
    """Return the name that a kernel has in its module; None if another process would not find it there."""
    module: str | None = kernel.__module__
    if module is None or module in _MAINS:
        return None
    # Users of cloudpickle may ask for the contents of a module to travel.
    cloudpickle = sys.modules.get("cloudpickle")
    if cloudpickle is not None and module in cloudpickle.list_registry_pickle_by_value():
        return None
    found: Any = sys.modules.get(module)
    for part in kernel.__qualname__.split("."):
        found = getattr(found, part, None)
    return str(kernel.__qualname__) if found is kernel else None


def _travelling(kernel: Kernel) -> bool:
    """Whether the expression has ops that users defined, which text names but does not hold."""
    if kernel._recipe is not None and any(isinstance(part, Definition) for part in kernel._recipe[1]):
        return False
    return kernel.provenance is None and any(not isinstance(op, str) for op in flattened(kernel.expression)[1])


def identity(kernel: Kernel) -> str:
    """Return a digest of what a kernel computes and how: expression, names, signature, options, default values.

    Kernels of one digest give the same results and the same messages. Threads are no part of it.
    """
    kind, *parts = _parts(kernel)
    own = [getattr(kernel, "shape", None), kind.__name__]
    return digest_of(_text(part).encode() for part in (*own, *parts))


def same_definition(x: Definition, y: Definition) -> bool:
    """Whether two definitions make one op; functions are the same if their code is."""
    return x == y or _text(x) == _text(y)


def _text(value: object) -> str:
    """Return a text that equal values share, in every process."""
    match value:
        case tuple() | list():
            text = f"({','.join(map(_text, value))})"
        case np.ndarray():
            text = f"array({value.dtype.str},{value.shape},{value.tobytes().hex()})"
        case FunctionType():
            cells = tuple(cell.cell_contents for cell in value.__closure__ or ())
            text = f"{value.__module__}.{value.__qualname__}{_text((value.__code__, value.__defaults__, cells))}"
        case CodeType():
            text = f"{value.co_code.hex()}{_text((value.co_consts, value.co_names, value.co_varnames))}"
        case Definition():
            text = _text([getattr(value, name) for name in Definition.__match_args__])
        case Program():
            text = str(value)
        case _ if callable(value):
            text = f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', type(value).__qualname__)}"
        case _:
            text = repr(value)
    return text
