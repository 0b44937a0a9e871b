"""What an expression cannot hold, and what to do instead: the sentences for functions, attributes, indices and values.

In: a name or a value that a user's function or text uses.  Out: a sentence that says why not, and the cure.

    attribute("cumsum")  ->  "cumsum is not element-wise (its result depends on many elements), nor a reduction ..."
"""

from __future__ import annotations

import sys

import numpy as np

from ..core.errors import with_article
from ..ops.table import OPS

__all__ = ["OF_ARRAYS", "attribute", "function", "index", "keyword", "method", "value"]

_REDUCTIONS = frozenset(
    "product median percentile quantile cumsum cumprod cumulative_sum cumulative_prod trace softmax nanmedian "
    "nanpercentile nanquantile nancumsum nancumprod".split()
)
_PRODUCTS = frozenset("matmul matvec vecmat".split())
_LAYOUTS = frozenset(
    "reshape ravel flatten resize repeat take put compress diagonal sort argsort partition searchsorted choose "
    "concatenate stack hstack vstack tile roll flip pad einsum tensordot flat append array_split block delete diag "
    "fliplr flipud insert rot90 split tril triu".split()
)
_OF_CALLS = frozenset("shape ndim size dtype itemsize nbytes strides data flags base".split())
_VALUES = frozenset("item tolist tobytes tofile dump dumps".split())
_MEMORY = frozenset("view fill getfield setfield byteswap setflags".split())
_MASKED = frozenset("mask _mask _data filled fill_value compressed".split())
# What to write instead, with functions that kernels have.
_REWRITES = {
    "allclose": "numpy.isclose(a, b).all()",
    "array_equal": "(a == b).all()",
    "array_equiv": "(a == b).all()",
    "average": "(x * w).sum(axis=0) / w.sum(axis=0) for weights w",
    "broadcast_arrays": "the operators themselves, which broadcast",
    "copyto": "numpy.where(mask, y, x), and pass out=x at the call",
    "dot": "(a * b).sum() for vectors",
    "empty_like": "numpy.zeros_like(x)",
    "inner": "(a * b).sum() for vectors",
    "nanargmax": "numpy.where(numpy.isnan(x), -numpy.inf, x).argmax()",
    "nanargmin": "numpy.where(numpy.isnan(x), numpy.inf, x).argmin()",
    "outer": "a[:, None] * b for vectors",
    "place": "numpy.where(mask, value, x), and pass out=x at the call",
    "putmask": "numpy.where(mask, value, x), and pass out=x at the call",
    "norm": "numpy.sqrt((numpy.abs(x) ** 2).sum()) for the 2-norm, with axis= and keepdims= in the sum",
    "rollaxis": "numpy.moveaxis",
    "vdot": "(numpy.conj(a) * b).sum() for vectors",
    "vecdot": "(numpy.conj(a) * b).sum(axis=-1)",
}
# Their results' shapes depend on values.
_CHOICES = frozenset("argwhere extract flatnonzero nonzero trim_zeros union1d unique unique_values".split())
_OF_DTYPES = frozenset("can_cast common_type iscomplexobj isrealobj min_scalar_type result_type".split())
_SHOWN = frozenset("array2string array_repr array_str datetime_as_string save savetxt".split())
_OUTSIDE = "compute it outside, and pass its result as an operand"
_GROUPS = (
    (
        _CHOICES,
        "gives a shape that depends on values; write numpy.where(mask, x, other), or call it outside, and pass its "
        "result as an operand",
    ),
    (
        _OF_DTYPES,
        "asks for dtypes, which are known at the call only; convert by x.astype(...), or make it a parameter that "
        "static= names",
    ),
    (_SHOWN, "needs the values of an operand, which are known at the call only; call it outside"),
    (_PRODUCTS, f"is a product of vectors, and not element-wise; {_OUTSIDE}"),
    (
        _REDUCTIONS,
        f"is not element-wise (its result depends on many elements), nor a reduction that kernels have; {_OUTSIDE}",
    ),
    (_LAYOUTS, "is not element-wise; apply it to the array before it comes into the kernel"),
)
# Methods of arrays that no kernel has.
OF_ARRAYS = _VALUES | _MEMORY


def function(name: str) -> str | None:
    """Return why a function is no part of an expression, and the cure; None for a name that says nothing."""
    if name in _REWRITES:
        return f"{name} is not element-wise; write {_REWRITES[name]}"
    sentence = next((sentence for names, sentence in _GROUPS if name in names), None)
    if sentence is not None:
        return f"{name} {sentence}"
    row = OPS.get(name)
    if name == "astype" or (row is not None and row.params):
        return f"{name} takes a dtype, which is no operand; write x.astype(float32)"
    return None


_KEYWORDS = {
    "dim": "write axis= and the dim's number",
    "out": "leave it out, and pass out=x at the call of the kernel to write into an array",
    "where": "write numpy.where(mask, f(x), other) for f(x, where=mask)",
    "casting": "leave it out, and write x.astype(dtype, casting=...) where a conversion is to be checked",
    "signature": "leave it out, and convert operands by .astype",
}


def keyword(name: str) -> str:
    """Return what to do in place of an argument of NumPy's that has no meaning inside a kernel.

    Examples
    --------
    >>> keyword("like")
    'leave it out'
    """
    return _KEYWORDS.get(name, "leave it out")


def method(ufunc: str, name: str) -> str:
    """Return what to do in place of a method of a ufunc.

    Examples
    --------
    >>> method("numpy.add", "outer")
    'write numpy.add(a[:, None], b) for vectors a and b'
    """
    return f"write {ufunc}(a[:, None], b) for vectors a and b" if name == "outer" else "call it outside the kernel"


def attribute(name: str) -> str:
    """Return why a stand-in for an array has no attribute of this name, and the cure.

    Examples
    --------
    >>> attribute("item")
    'item needs the values of an operand, which are known at the call only; keep to array operations'
    """
    if name in _OF_CALLS:
        return (
            f"an operand has no attribute {name!r} while tracing: shapes and dtypes are known at the call only; pass "
            "what depends on them as an operand, or compute it outside"
        )
    if name in _VALUES:
        return f"{name} needs the values of an operand, which are known at the call only; keep to array operations"
    if name in _MASKED:
        return (
            f"an operand has no attribute {name!r} while tracing: its mask is not part of the kernel; pass the mask in "
            "as an operand, and write where=~mask or numpy.where(mask, x, y)"
        )
    if name in _MEMORY:
        return f"{name} is about an array's memory, and what is traced has none; call it on the array, outside"
    return function(name) or (
        f"an operand has no attribute {name!r} while tracing; it has operators, .astype, .T, .round, .clip and NumPy's "
        "element-wise functions"
    )


def index(is_array: bool) -> str:
    """Return why an index is refused; `is_array` says that an operand or an array is part of it."""
    if is_array:
        return (
            "a boolean mask or an array of indices gives a shape that depends on values; write "
            "numpy.where(mask, x, other), or index the array before it comes into the kernel"
        )
    return "indexing is not element-wise; index the array before it comes into the kernel (x[:, None] adds a dim)"


def value(given: object, name: str | None = None, of: str | None = None) -> str:
    """Return why a value from outside is no part of an expression, and the cure.

    Parameters
    ----------
    given : the value.
    name : what the user's function calls it.
    of : the parameter that it is compared or combined with.

    Examples
    --------
    >>> value("fast")
    "'fast' is a str; a kernel holds arrays and numbers only: compare it outside, and make a kernel for each case"
    """
    kind = type(given).__name__
    a_kind = with_article(kind)
    sparse = sys.modules.get("scipy.sparse")
    match given:
        case np.ndarray(shape=shape):
            named = "" if name is None else f", as by a parameter {name}={name}"
            shown = "an array" if name is None else f"'{name}' is an array"
            why = f"{shown} of shape {shape} from outside the kernel; pass it in as an operand{named}"
        case str() | bytes():
            why = f"{given!r:.40} is {a_kind}; a kernel holds arrays and numbers only: compare it outside, "
            why += "and make a kernel for each case" if of is None else f"or decorate with static='{of}'"
        case list() | tuple() | range():
            why = f"{a_kind} is no array while tracing; make it one by numpy.asarray, and pass it in as an operand"
        case None:
            why = "None is no array and no number; give every operand a value"
        case _ if sparse is not None and sparse.issparse(given):
            why = f"{a_kind} is sparse; pass x.toarray() in as an operand"
        case _ if hasattr(given, "__array__") or hasattr(given, "__dlpack__"):
            why = f"{a_kind} from outside the kernel; pass it in as an operand"
        case _ if type(given).__module__ in ("fractions", "decimal"):
            why = f"{a_kind} is no number that machines compute with; write float(x)"
        case _ if callable(given):
            why = f"{getattr(given, '__name__', kind)} is a function; call it"
        case _:
            why = f"{kind} is neither an operand nor a number; pass arrays in as operands"
    return why
