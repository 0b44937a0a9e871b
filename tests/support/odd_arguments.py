"""Arguments of every kind, for every parameter of every public function.

In: nothing.  Out: calls, in each of which one argument is what a careless program could pass instead of the right one.

    for one in calls(directory): one.call()     # `one.name` is "from_text(dynamic=<an array>)"

What `bcastgen.__all__` has is looked up, and its parameters are those of its signature, so that a function or parameter
that comes is tried without a change here; a function needs one good call, in `_good_calls`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import bcastgen as bg

__all__ = ["COMPILED", "Call", "calls", "unnamed"]

_MLIR = (
    "func.func @f(%a: tensor<?xf32>) -> tensor<?xf32> { %0 = tosa.exp %a : (tensor<?xf32>) -> tensor<?xf32> "
    "return %0 : tensor<?xf32> }"
)
_SHAPE = (
    "func.func @s(%a: tensor<?xindex>) -> !shape.shape { %0 = shape.from_extent_tensor %a : tensor<?xindex> "
    "return %0 : !shape.shape }"
)
# Calls that compile, each kind of argument anew.
COMPILED = ("add(", "where(", "sum(", "kernel(", "evaluate(")
# Keywords that kernels take without saying so in a signature.
_OF_CALLS = ("out", "where", "casting", "dtype", "order", "subok", "signature")


class _Array:
    def __array__(self, *_: Any, **__: Any) -> Any:
        return self


@dataclass(frozen=True)
class Call:
    name: str
    call: Callable[[], object]


def _odd() -> dict[str, Any]:
    """Return arguments by what they are; iterators and the like are new ones."""
    itself: list[Any] = []
    itself.append(itself)
    return {
        "None": None,
        "3": 3,
        "-1": -1,
        "a number of 70 bits": 2**70,
        "1.5": 1.5,
        "nan": float("nan"),
        "1j": 1j,
        "True": True,
        "text": "x",
        "no text": "",
        "text with a NUL": "a\0b",
        "text that is no UTF-8": "\ud800",
        "bytes": b"a",
        "a list": [],
        "a ragged list": [[1], [2, 3]],
        "a list of texts": ["a", "b"],
        "a list in itself": itself,
        "a tuple": (),
        "a dict": {},
        "a set": {1},
        "an object": object(),
        "a class": int,
        "a builtin": len,
        "a function": lambda *a: a,
        "an array": np.ones(3),
        "an array without dims": np.array(3),
        "an array of objects": np.array([object()]),
        "an array of texts": np.array(["a"]),
        "an array of records": np.zeros(3, "i4,f8"),
        "an array of dates": np.array(["2020"], "M8[D]"),
        "an array that is none": _Array(),
        "a NumPy integer": np.int64(3),
        "an iterator": iter([1]),
        "a range": range(3),
        "a module": inspect,
        "a slice": slice(1),
        "...": ...,
        "a kernel": bg.from_text("a + 1"),
        "a dtype": np.dtype("f4"),
    }


def _good_calls(directory: Path) -> dict[str, tuple[Any, tuple[Any, ...], dict[str, Any]]]:
    x, out = np.ones(3), str(directory)
    kernel, typed = bg.from_text("a + b"), bg.from_text("(f32[?] a) -> a + 1")
    functions: dict[str, tuple[tuple[Any, ...], dict[str, Any]]] = {
        "broadcast_in_dim": ((x, (2, 3), (1,)), {}),
        "broadcast_to": ((x, (2, 3)), {}),
        "transpose": ((x, (0,)), {}),
        "define_op": (("odd_op", "x"), {"c": "x + 1"}),
        "emit_c": ((typed, out, "m"), {}),
        "emit_shape": ((bg.shape_from_mlir(_SHAPE), out), {}),
        "evaluate": (("x + 1", {"x": x}, {}), {}),
        "from_mlir": ((_MLIR,), {}),
        "from_text": (("a + 1",), {}),
        "fuse": ((x,), {}),
        "infer_broadcast": (("f32[?]", "f32[3]"), {}),
        "jit": ((lambda a: a + 1,), {}),
        "set_num_threads": ((1,), {}),
        "shape_from_mlir": ((_SHAPE,), {}),
        "strict": ((x,), {}),
        "vectorize": ((lambda a: a + 1,), {}),
        "verify_broadcast": ((["f32[?]"], "f32[?]"), {}),
        "Dim": ((3,), {}),
        "TensorType": (("f32", (bg.Dim(3),)), {}),
    }
    known = {name: (getattr(bg, name), *given) for name, given in functions.items()}
    # Ops and kernels: the functions of ops are as many as ops, and kernels all.
    return known | {
        "add": (bg.add, (x, x), {}),
        "where": (bg.where, (x > 0, x, x), {}),
        "sum": (bg.sum, (x,), {}),
        "kernel": (kernel, (x, x), {}),
        "kernel.result_shape": (kernel.result_shape, ((3,), (3,)), {}),
        "kernel.to_mlir": (kernel.to_mlir, ("tosa",), {}),
        "kernel.explain": (kernel.explain, (), {}),
        "kernel.emit_c": (typed.emit_c, (out, "m"), {}),
    }


def unnamed() -> set[str]:
    """Return the public functions and classes that no call of `calls` is of."""
    public = {name for name in bg.__all__ if callable(getattr(bg, name))}
    errors = {
        name for name in public if isinstance(getattr(bg, name), type) and issubclass(getattr(bg, name), Exception)
    }
    without = {"clear_memory", "get_num_threads", "array_namespace"}  # they have no parameters
    return public - errors - without - _good_calls(Path()).keys() - {"Kernel"}


def _parameters(function: Any) -> list[str]:
    try:
        found = inspect.signature(function).parameters.values()
    except ValueError:
        return []
    return [one.name for one in found if one.kind in (one.KEYWORD_ONLY, one.POSITIONAL_OR_KEYWORD)]


def calls(directory: Path) -> Iterator[Call]:
    for name, (function, args, keywords) in _good_calls(directory).items():
        named = [*_parameters(function)[len(args) :], *keywords]
        if name in ("add", "where", "kernel", "evaluate"):
            named += [one for one in _OF_CALLS if one not in named]
        for place in (*range(len(args)), *dict.fromkeys(named)):
            for what, odd in _odd().items():
                given, by_name = list(args), dict(keywords)
                if isinstance(place, int):
                    given[place] = odd
                else:
                    by_name[place] = odd
                shown = f"{name}({place if isinstance(place, int) else f'{place}='}<{what}>)"
                yield Call(shown, lambda f=function, a=tuple(given), k=by_name: f(*a, **k))  # type: ignore[misc]
