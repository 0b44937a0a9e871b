"""Numba: a ufunc made by ``vectorize``, and the loop nest that its user would write, under ``njit``.

In: a case.  Out: the call of the compiled function.

    column_f32 -> for i0 in range(n0):
                      for i1 in range(n1):
                          out[i0, i1] = f(a0[i0, i1], a1[i0, 0])
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache, partial
from importlib import import_module
from typing import Any

import numpy as np

from ..measure import Call, call
from ..spelling import Namespace, NoForm, rebound
from .peer import Case, Peer

__all__ = ["ROWS", "nest"]


@cache
def _scalars(dtype: str) -> Namespace:
    """NumPy for scalars: forms of the functions that Numba has for arrays only, and of those that NumPy lacks."""
    numba = import_module("numba")
    _teach_astype()
    one = np.dtype(dtype).type(1)
    return Namespace(
        np,
        where=numba.njit(lambda mask, a, b: a if mask else b),
        clip=numba.njit(lambda x, low, high: min(max(x, low), high)),
        erf=math.erf,
        erfc=math.erfc,
        sigmoid=numba.njit(lambda x: one / (one + np.exp(-x))),
        rsqrt=numba.njit(lambda x: one / np.sqrt(x)),
    )


@cache
def _teach_astype() -> None:
    """Let scalars have ``astype``, as NumPy's own have."""
    extending, types = import_module("numba.extending"), import_module("numba.core.types")
    for kind in (types.Number, types.Boolean):
        extending.overload_method(kind, "astype")(lambda x, dtype: lambda x, dtype: dtype(x))


@cache
def _scalar_function(function: Callable[..., Any], dtype: str) -> Callable[..., Any]:
    return rebound(function, _scalars(dtype))


@cache
def _ufunc(function: Callable[..., Any], result: str, dtypes: tuple[str, ...]) -> Any:
    numba = import_module("numba")
    types = [numba.from_dtype(np.dtype(name)) for name in (result, *dtypes)]
    return numba.vectorize([types[0](*types[1:])])(_scalar_function(function, _float(result, dtypes)))


def _float(result: str, dtypes: tuple[str, ...]) -> str:
    return next((name for name in (result, *dtypes) if name.startswith("float")), "float64")


def _vectorize(case: Case) -> Call | None:
    if case.workload.kind == "reduction":
        return None
    if "float16" in (case.workload.result, *case.dtypes):
        return None
    return call(_ufunc(case.workload.function, case.workload.result, case.dtypes), case.operands, case.out)


def nest(shapes: tuple[tuple[int, ...], ...], result: tuple[int, ...], parallel: bool) -> str:
    """Return the text of two functions, ``into(out, a0, ...)`` and ``fresh(a0, ...)``, that loop over the result.

    Examples
    --------
    >>> print(nest(((4, 1),), (4, 3), False).partition("def fresh")[0].rstrip())
    def into(out, a0):
        for i0 in range(out.shape[0]):
            for i1 in range(out.shape[1]):
                out[i0, i1] = f(a0[i0, 0])
        return out
    """
    rank = len(result)
    operands = []
    for number, shape in enumerate(shapes):
        dims = range(rank - len(shape), rank)
        index = ", ".join("0" if extent == 1 else f"i{dim}" for dim, extent in zip(dims, shape, strict=True))
        operands.append(f"a{number}[{index}]" if shape else f"s{number}")
    given = ", ".join(f"a{number}" for number in range(len(shapes)))
    lines = [f"def into(out, {given}):"]
    # Parallel loops do not take arrays of rank 0.
    lines += [f"    s{number} = a{number}[()]" for number, shape in enumerate(shapes) if not shape]
    for dim in range(rank):
        count = "prange" if parallel and dim == 0 else "range"
        lines.append(f"{'    ' * (dim + 1)}for i{dim} in {count}(out.shape[{dim}]):")
    target = ", ".join(f"i{dim}" for dim in range(rank)) or "()"
    lines.append(f"{'    ' * (rank + 1)}out[{target}] = f({', '.join(operands)})")
    lines.append("    return out")
    extents = "".join(f"{_extent(dim, shapes, rank)}, " for dim in range(rank))
    lines += [f"def fresh({given}):", f"    return into(np.empty(({extents}), dtype), {given})"]
    return "\n".join(lines)


def _extent(dim: int, shapes: tuple[tuple[int, ...], ...], rank: int) -> str:
    """Where the extent of a result's dim is read: from the first operand that is not stretched in it."""
    for number, shape in enumerate(shapes):
        own = dim - (rank - len(shape))
        if own >= 0 and shape[own] != 1:
            return f"a{number}.shape[{own}]"
    return "1"


@cache
def _looped(
    function: Callable[..., Any],
    dtype: str,
    result: str,
    shapes: tuple[tuple[int, ...], ...],
    parallel: bool,
    fastmath: bool,
) -> tuple[Any, Any]:
    numba = import_module("numba")
    options = {"error_model": "numpy", "parallel": parallel, "fastmath": fastmath}
    inner = numba.njit(error_model="numpy", fastmath=fastmath)(_scalar_function(function, dtype))
    text = nest(shapes, np.broadcast_shapes(*shapes), parallel)
    names: dict[str, Any] = {"np": np, "f": inner, "prange": numba.prange, "dtype": np.dtype(result).type}
    exec(text, names)
    into = names["into"] = numba.njit(**options)(names["into"])
    return into, numba.njit(error_model="numpy")(names["fresh"])


def _njit(case: Case, parallel: bool = False, fastmath: bool = False) -> Call | None:
    if "float16" in (case.workload.result, *case.dtypes):
        return None
    if case.workload.kind == "reduction":
        return _reducing(case, parallel, fastmath)
    # Which extents are 1 is all that the text depends on: the compiled loops serve other sizes, too.
    shapes = tuple(tuple(min(extent, 2) for extent in operand.shape) for operand in case.operands)
    result = case.workload.result
    scalar = _float(result, case.dtypes)
    into, fresh = _looped(case.workload.function, scalar, result, shapes, parallel, fastmath)
    if case.out is None:
        return call(fresh, case.operands)
    operands = call(into, (case.out, *case.operands))
    return Call(operands.statement, {**operands.names, "out": case.out})


@cache
def _compiled(function: Callable[..., Any], parallel: bool, fastmath: bool) -> Any:
    return import_module("numba").njit(error_model="numpy", parallel=parallel, fastmath=fastmath)(function)


def _reducing(case: Case, parallel: bool, fastmath: bool) -> Call | None:
    """Return the call of NumPy's own functions, compiled; it has few of their keywords."""
    compiled = _compiled(case.workload.function, parallel, fastmath)
    errors = import_module("numba.core.errors")
    try:
        compiled(*case.operands)
    except errors.NumbaError as error:
        raise NoForm(f"numba compiles no such reduction: {type(error).__name__}") from None
    made = call(compiled, case.operands)
    if case.out is None:
        return made
    return Call(f"copyto(out, {made.statement})", {**made.names, "copyto": np.copyto, "out": case.out})


def _limit(threads: int) -> None:
    import_module("numba").set_num_threads(threads)


ROWS = (
    Peer("numba", "numba", _vectorize, _limit),
    Peer("njit", "numba", _njit, _limit),
    Peer("njit fastmath", "numba", partial(_njit, fastmath=True), _limit, heavy=True, fast=True),
    Peer("njit parallel", "numba", partial(_njit, parallel=True), _limit, least_threads=2),
)
