"""NumExpr's functions: texts and expressions to results.

In: a text, and where its names are looked up.  Out: an array.

    evaluate("2*a + b")      re_evaluate()      NumExpr("2*a", [("a", float)])(x)

Compiled texts are kept for kinds of variables, so that another call costs the look-up of names and the kernel's call.
"""

from __future__ import annotations

import contextvars
import os
import sys
import weakref
from collections.abc import Mapping, Sequence
from inspect import CO_OPTIMIZED
from types import FrameType
from typing import Any

import numpy as np

from . import expressions, interpreter
from .kinds import CODES, KIND_OF_TYPE, TYPES, kind_of
from .reading import check_text, read
from .syntax import expressionToAST, postorder, typeCompileAst, typed

__all__ = [
    "NumExpr",
    "disassemble",
    "evaluate",
    "expressionToAST",
    "getArguments",
    "getContext",
    "getExprNames",
    "getType",
    "re_evaluate",
    "stringToExpression",
    "typeCompileAst",
    "validate",
]

Array = np.ndarray[Any, Any]
Names = Mapping[str, Any]

double, int_, long_ = np.double, np.int32, np.int64
default_type = TYPES[expressions.default_kind]
kind_to_typecode = CODES
typecode_to_kind = {code: kind for kind, code in CODES.items() if kind != "bytes"}
type_to_kind, kind_to_type = KIND_OF_TYPE, TYPES
type_to_typecode = {type_: CODES[kind] for type_, kind in KIND_OF_TYPE.items()}
context_info = [
    ("optimization", ("none", "moderate", "aggressive"), "aggressive"),
    ("truediv", (False, True, "auto"), "auto"),
]
_MOST_TEXTS = 256


def getType(a: Any) -> Any:
    """Return the type of a variable's kind, as in a signature; `float` and `int_` have 32 bits."""
    return TYPES[kind_of(a.dtype)]


def getContext(kwargs: Mapping[str, Any], _frame_depth: int = 1) -> dict[str, Any]:
    """Return the options of expressions; a division is a true one, as in Python 3, whatever `truediv` says.

    Raises
    ------
    ValueError
        For another keyword or value.
    """
    context = {}
    for name, allowed, default in context_info:
        context[name] = kwargs.get(name, default)
        if context[name] not in allowed:
            raise ValueError(f"'{name}' must be one of {allowed}")
    unknown = [name for name in kwargs if name not in context]
    if unknown:
        raise ValueError(f"Unknown keyword argument '{unknown[0]}'")
    return {**context, "truediv": context["truediv"] is True}


def stringToExpression(s: str, types: Mapping[str, Any], context: Mapping[str, Any], sanitize: bool = True) -> Any:
    """Return the expression of a text; `types` are those of its variables, doubles otherwise."""
    if sanitize:
        check_text(s)
    kinds = {name: KIND_OF_TYPE[type_] for name, type_ in types.items()}
    return read(s, kinds, context.get("optimization", "none"))


def _variables(expression: Any) -> list[str]:
    return sorted({node.value for node in postorder(expression) if node.astType == "variable"})


def getExprNames(text: str, context: Mapping[str, Any], sanitize: bool = True) -> tuple[list[str], bool]:
    """Return the variables of a text, and False, as no expression uses VML."""
    return _variables(stringToExpression(text, {}, context, sanitize)), False


def NumExpr(
    ex: Any, signature: Sequence[tuple[str, Any]] = (), sanitize: bool = True, **kwargs: Any
) -> interpreter.NumExpr:
    """Compile an expression, made of ``E.a`` or a text, for variables of these types.

    Parameters
    ----------
    ex : the expression.
    signature : the variables in order, with their types; doubles, ordered by name, if there is none.
    sanitize : whether texts are checked as NumExpr does.
    **kwargs : `optimization` and `truediv`.

    Examples
    --------
    >>> NumExpr("2*a + b", [("a", float), ("b", float)])(np.float32([1, 2]), np.float32([3]))
    array([5., 7.], dtype=float32)
    """
    types = dict(signature)
    if isinstance(ex, str):
        ex = stringToExpression(ex, types, getContext(kwargs), sanitize)
    found, names = _variables(ex), [name for name, _ in signature]
    if names and set(names) != set(found):
        raise ValueError(f"input names ({names}) don't match those found in expression ({found})")
    kinds = [KIND_OF_TYPE[types.get(name, default_type)] for name in names or found]
    return interpreter.NumExpr(typed(ex), names or found, kinds)


def disassemble(nex: interpreter.NumExpr) -> list[list[Any]]:
    """Return the instructions that NumExpr would run; functions have their own names, as in ``b'sin_dd'``.

    Examples
    --------
    >>> disassemble(NumExpr("a*a + 2"))
    [[b'mul_ddd', b'r0', b'r1[a]', b'r1[a]'], [b'add_ddd', b'r0', b'r0', b'c2[2.0]']]
    """
    return nex.program()


# ---- texts -----------------------------------------------------------------------------------------------------------


class _Text:
    """A text with its options: its variables, and what it is for their dtypes."""

    __slots__ = ("compiled", "names", "optimization", "text")

    def __init__(self, text: str, optimization: str, sanitize: bool | None) -> None:
        if sanitize is None:
            sanitize = bool(int(os.environ.get("NUMEXPR_SANITIZE", "1")))
        self.text, self.optimization = text, optimization
        self.names = getExprNames(text, {"optimization": optimization}, sanitize)[0]
        self.compiled: dict[tuple[Any, ...], interpreter.NumExpr] = {}

    def of(self, arrays: Sequence[Array]) -> interpreter.NumExpr:
        """Return the compiled expression for the arrays' dtypes; those of the same kinds share it."""
        dtypes = tuple([array.dtype for array in arrays])
        found = self.compiled.get(dtypes)
        if found is None:
            kinds = tuple(map(kind_of, dtypes))
            found = self.compiled.get(kinds)
            if found is None:
                expression = read(self.text, dict(zip(self.names, kinds, strict=True)), self.optimization)
                found = self.compiled[kinds] = interpreter.NumExpr(typed(expression), self.names, kinds)
            self.compiled[dtypes] = found
        return found


_texts: dict[object, _Text] = {}
# The expression that `evaluate` or `validate` met last in this thread or task, with its names and how it is called.
_last: contextvars.ContextVar[Any] = contextvars.ContextVar("bcastgen_numexpr_last", default=None)


def _text(ex: str, kwargs: Mapping[str, Any], sanitize: bool | None, keep: bool = True) -> _Text:
    if not isinstance(ex, str):
        raise ValueError("must specify expression as a string")
    optimization = getContext(kwargs)["optimization"] if kwargs else context_info[0][2]
    found = _texts.get((ex, optimization)) if keep else None
    if found is None:
        found = _Text(ex, optimization, sanitize)
        if keep:
            while len(_texts) >= _MOST_TEXTS:
                _texts.pop(next(iter(_texts)), None)
            _texts[ex, optimization] = found
    return found


def _arguments(
    names: Sequence[str], local_dict: Names | None, global_dict: Names | None, frame: FrameType
) -> list[Any]:
    """Return the arrays that names stand for; a frame that is asked for its variables lets go of them again."""
    local = frame.f_locals if local_dict is None else local_dict
    everywhere = frame.f_globals if global_dict is None else global_dict
    if local_dict is not None and not hasattr(local_dict, "keys"):
        raise TypeError(f"local_dict is {local_dict!r}; pass a dict of arrays by their names")
    arrays = [np.asarray(local[name] if name in local else everywhere[name]) for name in names]
    if local_dict is None and frame.f_code.co_flags & CO_OPTIMIZED and isinstance(local, dict):
        # What a function's frame answers is a copy, which would keep arrays alive as long as the function runs.
        local.clear()
    return arrays


def getArguments(
    names: Sequence[str], local_dict: Names | None = None, global_dict: Names | None = None, _frame_depth: int = 2
) -> list[Array]:
    """Return the arrays that names stand for in these dicts, or else in the caller's frame."""
    return _arguments(names, local_dict, global_dict, sys._getframe(_frame_depth))


def _prepared(
    text: _Text,
    local_dict: Names | None,
    global_dict: Names | None,
    call: tuple[Array | None, Any, str],
    frame: FrameType,
) -> tuple[interpreter.NumExpr, list[Array]]:
    """Return the compiled expression and its arrays; `re_evaluate` will find it."""
    arrays = _arguments(text.names, local_dict, global_dict, frame)
    compiled = text.of(arrays)
    out, order, casting = call
    interpreter.check_out(out)
    _last.set((compiled, text.names, out if out is None else weakref.ref(out), order, casting))
    return compiled, arrays


def validate(
    ex: str,
    local_dict: Names | None = None,
    global_dict: Names | None = None,
    out: Array | None = None,
    order: Any = "K",
    casting: str = "safe",
    _frame_depth: int = 2,
    sanitize: bool | None = None,
    **kwargs: Any,
) -> Exception | None:
    """Prepare what :func:`re_evaluate` computes; return None, or the exception that :func:`evaluate` would raise.

    Parameters
    ----------
    ex, local_dict, global_dict, out, order, casting, sanitize, **kwargs : as for :func:`evaluate`.

    Examples
    --------
    >>> a = np.arange(3)
    >>> type(validate("a +"))
    <class 'SyntaxError'>
    >>> validate("a + 1"), re_evaluate()
    (None, array([1, 2, 3]))
    """
    try:
        frame = sys._getframe(_frame_depth - 1)
        _prepared(_text(ex, kwargs, sanitize), local_dict, global_dict, (out, order, casting), frame)
    except Exception as error:
        return error
    return None


def evaluate(
    ex: str,
    local_dict: Names | None = None,
    global_dict: Names | None = None,
    out: Array | None = None,
    order: Any = "K",
    casting: str = "same_kind",
    sanitize: bool | None = None,
    _frame_depth: int = 3,
    disable_cache: bool = False,
    **kwargs: Any,
) -> Array:
    """Evaluate a text over arrays by name, with NumExpr's kinds.

    Parameters
    ----------
    ex : as in ``"2*a + 3*b"``; it is parsed against an allowlist, and never run by Python.
    local_dict, global_dict : where names are looked up; by default the caller's variables.
    out : the array to write to.
    order : ``C``, ``F``, ``A`` or ``K``, of a new result.
    casting : which conversions of operands and of the result are allowed.
    sanitize : whether the text is checked as NumExpr does; None for what NUMEXPR_SANITIZE says, or else True.
    disable_cache : whether the text is read and compiled anew, and nothing of it is kept.
    **kwargs : `optimization` (``none``, ``moderate``, ``aggressive``) and `truediv`.

    Returns
    -------
    ndarray
        An array of the broadcast shape, also where that has no dims.

    Raises
    ------
    ValueError, TypeError, SyntaxError, KeyError, NotImplementedError
        As NumExpr does, for texts, names and kinds that cannot be computed.

    Examples
    --------
    >>> a, b = np.arange(3, dtype="i4"), np.float32([0.5])
    >>> evaluate("a + b")
    array([0.5, 1.5, 2.5], dtype=float32)
    """
    frame = sys._getframe(_frame_depth - 2)
    text = _text(ex, kwargs, sanitize, not disable_cache)
    if disable_cache:
        arrays = _arguments(text.names, local_dict, global_dict, frame)
        return text.of(arrays).run_arrays(arrays, out, order, casting)
    compiled, arrays = _prepared(text, local_dict, global_dict, (out, order, casting), frame)
    return compiled.run_arrays(arrays, out, order, casting)


def re_evaluate(local_dict: Names | None = None, global_dict: Names | None = None, _frame_depth: int = 2) -> Array:
    """Evaluate the last text again, over what its names stand for now; dtypes may differ where they can be cast.

    Raises
    ------
    RuntimeError
        If there was none in this thread.
    """
    last = _last.get()
    if last is None:
        raise RuntimeError(
            "A previous evaluate() execution was not found, please call `validate` or `evaluate` once before "
            "`re_evaluate`"
        )
    compiled, names, out, order, casting = last
    arrays = _arguments(names, local_dict, global_dict, sys._getframe(_frame_depth - 1))
    result: Array = compiled.run_arrays(arrays, None if out is None else out(), order, casting)
    return result
