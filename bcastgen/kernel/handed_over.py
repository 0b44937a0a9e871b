"""Kernels handed to objects that give NumPy's ufuncs a meaning of their own: pandas, xarray, units.

In: a kernel, and a call with such objects.  Out: what the first of them makes of it.

    handed_over(gelu, (series,), {}, {})  ->  series.__array_ufunc__(<gelu as a ufunc>, "__call__", series)

The protocol is NumPy's (NEP 13): every object's class is asked once, subclasses before their bases, else from left to
right, until one does not return NotImplemented. So pandas aligns indices and keeps names, and xarray broadcasts dims by
name, as they do for `numpy.exp`.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import numpy as np

from ..core.errors import DTypeError, with_article
from ..expr.nodes import Reduce, has_views, topological
from ..runtime.foreign import integration_of
from ..runtime.slow_path import bind, overrides_numpy
from ..runtime.strict import plain

__all__ = ["AsUfunc", "handed_over", "is_elementwise"]


class AsUfunc:
    """A kernel as such objects see it: what they ask of a ufunc, and a call.

    Its name is that of none of NumPy's ufuncs, since objects look up by name what they do for those.
    """

    identity = None
    # Not the kernel's declared types: NumPy's word for the core dims of a generalised ufunc.
    signature = None

    def __init__(self, kernel: Any, count: int) -> None:
        self.kernel = kernel
        self.nin, self.nout = count, len(kernel.results)
        self.nargs = self.nin + self.nout
        self.__name__ = self.__qualname__ = f"bcastgen.{kernel._name}"
        self.__doc__ = kernel.__doc__

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        """Call the kernel with arrays, or with further objects."""
        return self.kernel(*args, **keywords)

    @property
    def types(self) -> list[str]:
        """The kernel's loops."""
        found: list[str] = self.kernel.types
        return found

    @property
    def ntypes(self) -> int:
        """The number of loops."""
        return len(self.types)

    def __repr__(self) -> str:
        return f"<ufunc '{self.__name__}'>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AsUfunc) and (self.kernel, self.nin) == (other.kernel, other.nin)

    def __hash__(self) -> int:
        return hash((self.kernel, self.nin))

    def __reduce__(self) -> Any:
        return AsUfunc, (self.kernel, self.nin)

    def __dask_tokenize__(self) -> Any:
        return self.kernel.__dask_tokenize__()


def handed_over(kernel: Any, args: tuple[object, ...], named: dict[str, object], keywords: Mapping[str, object]) -> Any:
    """Hand a call over to those of its operands and outs whose classes have an `__array_ufunc__`.

    Parameters
    ----------
    kernel : the kernel that is called; a kernel of one of NumPy's ufuncs is handed over as that ufunc.
    args, named : the operands of the call, and its `out`.
    keywords : those of ufuncs.

    Returns
    -------
    object
        What an object made of it; NotImplemented if the kernel itself has to say what is wrong with the call.

    Raises
    ------
    DTypeError
        If an object takes no part in ufuncs, or all return NotImplemented, or the kernel is not element-wise and an
        object is more than a column of numbers.
    """
    out = named.get("out")
    values = bind(kernel, args, {name: value for name, value in named.items() if name not in ("out", "extents")})
    outs = () if out is None or out is ... else out if isinstance(out, tuple) else (out,)
    integration = _integration(kernel, (*values, *outs, keywords.get("where")))
    if integration is not None:
        return _exchanged(kernel, integration, values[: len(kernel.operands)], named, keywords)
    given: dict[str, object] = {**keywords, **({"out": outs} if outs else {})}
    if kernel.ufunc is not None:
        return kernel.ufunc(*map(plain, values), **keywords, **({"out": out} if out is not None else {}))
    values = values[: len(kernel.operands)]
    if "extents" in named or any(isinstance(value, np.ma.MaskedArray) for value in (*values, *outs)):
        return NotImplemented
    owners = _owners((*values, *outs))
    if not owners:
        mask = with_article(type(keywords["where"]).__name__)
        raise DTypeError(
            f"{kernel._name}(): where is {mask}, whose library does not match it with the operands; pass "
            "where=numpy.asarray(mask), which selects by place"
        )
    _refuse(kernel, owners, values)
    handed = AsUfunc(kernel, len(values))
    for owner in owners:
        try:
            made = owner.__array_ufunc__(handed, "__call__", *values, **given)
        except DTypeError:
            _refuse_objects(kernel, values)
            raise
        if made is not NotImplemented:
            return made
    shown = ", ".join(f"{_what(kernel, owner, values)}" for owner in owners)
    raise DTypeError(
        f"{kernel._name}(): {shown}, and its __array_ufunc__ does not take these operands; "
        "pass numpy.asarray(x) if its plain numbers are meant"
    )


def _integration(kernel: Any, values: tuple[object, ...]) -> str | None:
    """Return the module that reads the arrays of another library among these; raise if they are of several."""
    kinds = {name: value for value in values if (name := integration_of(type(value))) is not None}
    others = [value for value in values if overrides_numpy(type(value)) and not integration_of(type(value))]
    if others and kinds.keys() == {"dask_arrays"}:
        return None  # xarray, which knows Dask's arrays
    if kinds and len(kinds) + len(others) > 1:
        given = map(type, (*kinds.values(), *others))
        shown = " and ".join(sorted({f"{_library(kind)}.{kind.__name__}" for kind in given}))
        raise DTypeError(
            f"{kernel._name}() was given arrays of several libraries, {shown}, and whose the result should be is open; "
            "pass numpy.asarray(x) for all but one"
        )
    return next(iter(kinds), None)


def _exchanged(
    kernel: Any, name: str, values: tuple[object, ...], named: dict[str, object], keywords: Mapping[str, object]
) -> Any:
    """Call a kernel with the memory of another library's arrays; return results of their kind."""
    module = import_module(f"bcastgen.integrations.{name}")
    if hasattr(module, "call"):
        return module.call(kernel, values, named, keywords)
    call = f"of {kernel._name}()"

    def read(what: str, value: object, is_out: bool = False) -> Any:
        return module.as_ndarray(f"{what} {call}", value, is_out) if integration_of(type(value)) else value

    like = next((value for value in values if integration_of(type(value))), None)
    operands = [read(f"operand '{own}'", value) for own, value in zip(kernel.operands, values, strict=True)]
    given = {key: read(key, value) for key, value in keywords.items()}
    out = named.pop("out", None)
    outs = out if isinstance(out, tuple) else (out,) * (out is not None and out is not ...)
    # The kernel says how many outs there should be.
    into = tuple(read(f"out of result '{kernel.results[: at + 1][-1]}'", one, True) for at, one in enumerate(outs))
    given["out"] = into if outs else ...
    if "extents" in named:
        given["extents"] = named["extents"]
    scalars = kernel.scalars and out is not ...
    made = kernel(*operands, **given)
    results = made if isinstance(made, tuple) else (made,)
    if hasattr(module, "written"):
        for one in outs:
            if integration_of(type(one)):
                module.written(one)
    answers = []
    for result, one in zip(results, outs or (None,) * len(results), strict=True):
        own = one if one is not None else module.as_own(np.asarray(result), like) if like is not None else result
        # Of a library that has no arrays without dims.
        is_scalar = one is None and scalars and isinstance(own, np.ndarray) and not own.ndim
        answers.append(own[()] if is_scalar else own)
    return tuple(answers) if len(answers) > 1 else answers[0]


def _refuse(kernel: Any, owners: list[Any], values: tuple[object, ...]) -> None:
    """Refuse objects that take no part in ufuncs, or whose elements a kernel would mix."""
    for owner in owners:
        if type(owner).__array_ufunc__ is None:
            raise DTypeError(
                f"{kernel._name}(): {_what(kernel, owner, values)}, which does not support ufuncs "
                "(__array_ufunc__ = None); pass numpy.asarray(x) if its plain numbers are meant"
            )
        if not is_elementwise(kernel) and not _is_column(owner):
            cure = "pass numpy.asarray(x), or call it on each column (DataFrame.apply, xarray.apply_ufunc)"
            if _library(type(owner)) == "polars":
                cure = "call it on whole columns by x.map_batches(kernel)"
            raise DTypeError(
                f"{kernel._name}() is not element-wise, and {_what(kernel, owner, values)}, whose dims and missing "
                f"values the kernel would not know; {cure}"
            )


def _refuse_objects(kernel: Any, values: tuple[object, ...]) -> None:
    """Refuse objects of pandas whose elements are Python objects in NumPy, by the dtypes that they have in pandas."""
    for value in values:
        if _library(type(value)) != "pandas":
            continue
        if np.asarray(value[:0]).dtype != object:  # type: ignore[index]
            continue
        what, dtypes = _what(kernel, value, values), getattr(value, "dtypes", None)
        if getattr(value, "ndim", 1) > 1:
            shown = " and ".join(sorted(set(map(str, dtypes))))  # type: ignore[arg-type]
            raise DTypeError(
                f"{what} of dtypes {shown}, which pandas hands over as Python objects; call the kernel on a column "
                f"(x[name]) at a time, or pass x.astype(float), in {kernel._name}()"
            )
        kind = str(value.dtype)  # type: ignore[attr-defined]
        cures = {"period": "x.astype('int64')", "interval": "x.array.mid", "datetime64": "x.astype('int64')"}
        cure = next((cure for start, cure in cures.items() if kind.startswith(start)), "x.astype(float)")
        raise DTypeError(
            f"{what} of dtype {kind}, whose elements are Python objects in NumPy; pass {cure}, in {kernel._name}()"
        )


def _library(kind: type) -> str:
    return kind.__module__.partition(".")[0]


def is_elementwise(kernel: Any) -> bool:
    """Whether each element of a result depends on one element of each operand, found by broadcasting.

    Not so if types declare the dims, since objects pass their elements in dims of their own.
    """
    signature = kernel._signature
    if signature is not None and any(type_.unranked is False and type_.dims for _, type_ in signature.operands):
        return False
    expression = kernel.expression
    views = has_views(expression.results) or bool(expression.free_extents)
    return not views and not any(isinstance(node, Reduce) for node in topological(expression.roots))


def _owners(values: tuple[object, ...]) -> list[Any]:
    """Return an object of each class that overrides ufuncs, in the order in which NumPy asks them."""
    found: list[Any] = []
    for value in values:
        kind = type(value)
        if not overrides_numpy(kind) or any(type(other) is kind for other in found):
            continue
        at = next((at for at, other in enumerate(found) if issubclass(kind, type(other))), len(found))
        found.insert(at, value)
    return found


def _is_column(value: Any) -> bool:
    """Whether an object has one dim of numbers, none of which is missing."""
    return isinstance(getattr(value, "dtype", None), np.dtype) and getattr(value, "ndim", 2) <= 1


def _what(kernel: Any, owner: object, values: tuple[object, ...]) -> str:
    """Return which operand an object is, for messages."""
    names = (name for name, value in zip(kernel.operands, values, strict=False) if value is owner)
    name = next((f"operand '{name}'" for name in names), "out")
    return f"{name} is {with_article(type(owner).__name__)}"
