"""Calls: what a function of scalars calls, as nodes.

In: a call's tree.  Out: its value.

    math.sqrt(x)  ->  sqrt(x)        min(x, 1)  ->  where(less(1, x), 1, x)        helper(x)  ->  its body, here

Functions whose arguments are all known are called, if they are Python's, math's or NumPy's. Other functions are read.
Those of math compute in floats as NumPy's do, and integers as f64; where Python's raise, they give what NumPy's give.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import math
from collections.abc import Callable
from functools import reduce
from typing import Any, NoReturn

import numpy as np

from ...core.dtypes import F64, I64, DType, in_numpy_code
from ...core.errors import BcastgenError
from ...ops.row import Op
from ...ops.rows.conversions import CAST
from ...ops.table import OPS, find_op, several
from ..nodes import Node, Notes
from ..trace import Tracer, is_tracer
from .expressions import Scope, parts_of
from .function_text import text_of
from .numba_signatures import numba_dtype
from .values import Missing, Static, Value

__all__ = ["called"]

# Notes for typing: the result is weak, as that of Python's own function; functions of math compute integers in f64.
_WEAK = Notes(weak=True)
_MATH_LOOPS = Notes(loops="math")

# Functions of math that compute a float, and the row of those that are called otherwise there.
_MATH = {
    name: name
    for name in (
        "acos acosh asin asinh atan atan2 atanh cbrt copysign cos cosh degrees erf erfc exp exp2 expm1 fmod hypot "
        "isfinite isinf isnan log log10 log1p log2 nextafter radians sin sinh sqrt tan tanh"
    ).split()
} | {"fabs": "absolute", "pow": "power", "remainder": "", "lgamma": "gammaln"}
# Those that compute with integers.
_MATH_INTEGERS = ("gcd", "lcm")
_MATH_WHOLE = {"ceil": "ceil", "floor": "floor", "trunc": "trunc"}


def called(scope: Scope, tree: ast.Call) -> Value:
    """Return what a call gives."""
    if isinstance(tree.func, ast.Attribute):
        owner = scope.value(tree.func.value)
        if not isinstance(owner, Static):
            return _method(scope, tree, tree.func, owner)
    callee = scope.value(tree.func)
    if not isinstance(callee, Static):
        scope.frames.fail(tree.func, "a number cannot be called")
    args, keywords = _arguments(scope, tree)
    return _Call(scope, tree, callee.value, args, keywords).value()


def _arguments(scope: Scope, tree: ast.Call) -> tuple[tuple[Value, ...], dict[str, Value]]:
    args: list[Value] = []
    for argument in tree.args:
        if not isinstance(argument, ast.Starred):
            args.append(scope.value(argument))
            continue
        parts = parts_of(scope.value(argument.value))
        if parts is None:
            scope.frames.fail(argument, "what * spreads has to be a tuple")
        args += parts
    keywords: dict[str, Value] = {}
    for keyword in tree.keywords:
        if keyword.arg is None:
            scope.frames.fail(keyword.value, "write the keyword arguments out")
        keywords[keyword.arg] = scope.value(keyword.value)
    return tuple(args), keywords


def _method(scope: Scope, tree: ast.Call, func: ast.Attribute, owner: Value) -> Value:
    """Return a method of a number, as a stand-in of the tracer has it: astype, round, clip, conjugate."""
    tracer = Tracer(scope.frames.builder, scope.node(func.value, owner))
    args, keywords = _arguments(scope, tree)
    return _Call(scope, tree, getattr(tracer, func.attr), args, keywords).by_tracing()


class _Call:
    def __init__(
        self, scope: Scope, tree: ast.Call, callee: Any, args: tuple[Value, ...], keywords: dict[str, Value]
    ) -> None:
        self.scope, self.frames, self.builder = scope, scope.frames, scope.frames.builder
        self.tree, self.callee, self.args, self.keywords = tree, callee, args, keywords
        self.name = getattr(callee, "__name__", type(callee).__name__)

    def fail(self, message: str) -> NoReturn:
        self.frames.fail(self.tree, message)

    def value(self) -> Value:  # noqa: PLR0911
        """Return what the call gives."""
        for value in (*self.args, *self.keywords.values()):
            if isinstance(value, Missing):
                self.fail(f"an argument {value.why}")
        callee = getattr(self.callee, "py_func", self.callee)
        known = all(_is_known(value) for value in (*self.args, *self.keywords.values()))
        module = getattr(callee, "__module__", None) or type(callee).__module__
        target = numba_dtype(callee)
        if target is not None or (isinstance(callee, type) and issubclass(callee, np.generic)):
            return self._converted(target or in_numpy_code(callee), known)
        if getattr(builtins, self.name, None) is callee:
            return self._builtin(known)
        if getattr(math, self.name, None) is callee:
            return self._known() if known else self._math()
        if isinstance(callee, np.ufunc) or getattr(np, self.name, None) is callee:
            return self._known() if known and module != "numpy.random" else self.by_tracing()
        if inspect.ismethod(callee) and inspect.isfunction(callee.__func__):
            self.args = (Static(callee.__self__), *self.args)
            return self._inlined(callee.__func__)
        if inspect.isfunction(callee):
            return self._inlined(callee)
        if hasattr(callee, "_call_traced") or hasattr(callee, "_call_sized"):
            return self.by_tracing()
        return self.fail(
            f"{self.name} is neither a function of Python's, math's or NumPy's that is element-wise, nor a kernel, nor "
            "a function whose source can be read"
        )

    def _known(self) -> Value:
        """Call a function whose arguments are all known."""
        args = [_plain(value) for value in self.args]
        keywords = {name: _plain(value) for name, value in self.keywords.items()}
        try:
            with np.errstate(all="ignore"):
                return Static(self.callee(*args, **keywords))
        except BcastgenError:
            raise
        except Exception as error:
            return self.fail(f"{type(error).__name__} for what is known here: {error}")

    def by_tracing(self) -> Value:
        """Call a function on stand-ins, which record what it does to them."""
        args = [self._stand_in(value) for value in self.args]
        keywords = {name: self._stand_in(value) for name, value in self.keywords.items()}
        if isinstance(self.callee, np.ufunc) and len(args) == 2:
            # A ufunc with a domain, such as power, is guarded as its operator is.
            row = find_op(self.name)
            if row is not None and row.demand is not None and is_tracer(args[1]):
                args[1] = Tracer(self.builder, self.frames.guarded(args[1].node, row))
        try:
            returned = self.callee(*args, **keywords)
        except BcastgenError:
            raise
        except TypeError as error:
            return self.fail(str(error))
        return _taken(returned)

    def _stand_in(self, value: Value) -> Any:
        if isinstance(value, Static):
            return value.value
        if isinstance(value, tuple):
            return tuple(map(self._stand_in, value))
        return value if isinstance(value, Missing) else Tracer(self.builder, value)

    def _inlined(self, callee: Callable[..., Any]) -> Value:
        text = text_of(callee)
        signature = inspect.signature(callee)
        try:
            bound = signature.bind(*self.args, **self.keywords)
        except TypeError as error:
            self.fail(f"{self.name}() {error}")
        env: dict[str, Value] = {}
        for parameter in signature.parameters.values():
            if parameter.kind is parameter.VAR_KEYWORD:
                self.fail(f"{self.name}() takes **{parameter.name}; name its parameters")
            if parameter.name in bound.arguments:
                env[parameter.name] = bound.arguments[parameter.name]
            elif parameter.kind is parameter.VAR_POSITIONAL:
                env[parameter.name] = ()
            else:
                env[parameter.name] = Static(parameter.default)
        return self.frames.call(self.tree, text, env)

    # ---- Python's functions ------------------------------------------------------------------------------------------

    def _nodes(self, count: int) -> tuple[Node, ...]:
        if len(self.args) != count or self.keywords:
            self.fail(f"{self.name}() takes {count} argument{'s' * (count != 1)} here, got {len(self.args)}")
        trees = self.tree.args if len(self.tree.args) == count else [self.tree] * count
        return tuple(self.scope.node(tree, value) for tree, value in zip(trees, self.args, strict=True))

    def _builtin(self, known: bool) -> Value:  # noqa: PLR0911, PLR0912
        match self.name:
            case "range" | "len" | "enumerate" | "zip" | "reversed" | "tuple" | "list":
                return self._sequence()
            case "min" | "max" if len(self.args) == 1 or not known:
                return self._extremum()
            case "sum" | "any" | "all":
                return self._folded()
            case "abs" | "round" | "int" | "float" | "bool" | "pow" | "divmod" | "min" | "max" if known:
                return self._known()
            case "abs":
                return self.scope.applied(OPS["absolute"], self._nodes(1))
            case "round" if len(self.args) + len(self.keywords) == 1:
                return self._whole(OPS["round"])
            case "round":
                self.callee = np.round
                return self.by_tracing()
            case "int":
                return self.builder.apply(CAST, self._nodes(1), (("dtype", I64),), notes=_WEAK)
            case "float":
                return self.builder.apply(CAST, self._nodes(1), (("dtype", F64),), notes=_WEAK)
            case "bool":
                (node,) = self._nodes(1)
                truth = self.scope.logic.truth(node)
                return Static(truth) if isinstance(truth, bool) else truth
            case "pow":
                return self.scope.applied(OPS["power"], self._nodes(2))
            case "divmod":
                nodes = self._nodes(2)
                return tuple(self.builder.apply(OPS[name], nodes) for name in ("floor_divide", "remainder"))
            case "isinstance" | "type" | "hasattr":
                return self.fail("what kind of number an element is does not choose a branch here; write one for all")
        return self.fail(f"{self.name}() is not read in a function of scalars; compute it outside")

    def _whole(self, row: Op) -> Value:
        """Return a rounded number as the int that Python gives."""
        return self.builder.apply(CAST, (self.builder.apply(row, self._nodes(1)),), (("dtype", I64),), notes=_WEAK)

    def _converted(self, target: DType, known: bool) -> Value:
        if known and not self.args:
            return Static(target.np.type(0))
        return self.builder.convert(self._nodes(1)[0], target)

    def _items(self) -> tuple[Value, ...]:
        """Return the arguments, or the parts of the only one."""
        if self.keywords:
            self.fail(f"{self.name}() takes no {next(iter(self.keywords))}= here")
        if len(self.args) != 1:
            return self.args
        parts = parts_of(self.args[0])
        return parts if parts is not None else self.fail(f"{self.name}() of one argument takes a tuple")

    def _extremum(self) -> Value:
        """Return min and max as Python does: the first one, unless a later one is smaller, or larger."""
        items = self._items()
        if not items:
            self.fail(f"{self.name}() of nothing")
        op = ast.Lt() if self.name == "min" else ast.Gt()
        trees = self.tree.args if len(self.tree.args) == len(items) else [self.tree] * len(items)
        found = items[0]
        for tree, item in zip(trees[1:], items[1:], strict=True):
            better = self.scope.binary(self.tree, op, (tree, self.tree), (item, found))
            if isinstance(better, (Missing, tuple)):
                self.fail("these cannot be compared")
            condition = bool(better.value) if isinstance(better, Static) else better
            found = self.scope.logic.choose(condition, item, found)
        return found

    def _folded(self) -> Value:
        items = self._items() if len(self.args) == 1 else self.fail(f"{self.name}() takes a tuple")
        if self.name == "sum":
            found: Value = Static(0)
            for item in items:
                found = self.scope.binary(self.tree, ast.Add(), (self.tree, self.tree), (found, item))
            return found
        join = self.scope.logic.both if self.name == "all" else self.scope.logic.either
        made: bool | Node = self.name == "all"
        for item in items:
            truth = bool(item.value) if isinstance(item, Static) else None
            made = join(made, self.scope.logic.truth(self.scope.node(self.tree, item)) if truth is None else truth)
        return Static(made) if isinstance(made, bool) else made

    def _sequence(self) -> Value:
        if self.name == "range":
            if not all(isinstance(value, Static) for value in self.args):
                self.fail(
                    "a loop is unrolled, so its range has to be known: of constants, or of parameters that static= "
                    "names; or write `for i in range(100)` with `if i >= n: break`"
                )
            return self._known()
        several = [parts_of(value) for value in self.args]
        if not several or any(parts is None for parts in several) or self.keywords:
            self.fail(f"{self.name}() takes tuples, lists and ranges here")
        rows = [parts for parts in several if parts is not None]
        match self.name:
            case "len":
                return Static(len(rows[0]))
            case "enumerate":
                return tuple((Static(at), part) for at, part in enumerate(rows[0]))
            case "zip":
                return tuple(zip(*rows, strict=False))
            case "reversed":
                return tuple(reversed(rows[0]))
        return rows[0]

    # ---- functions of math -------------------------------------------------------------------------------------------

    def _math(self) -> Value:  # noqa: PLR0911
        if self.name in _MATH_WHOLE:
            return self._whole(OPS[_MATH_WHOLE[self.name]])
        if self.name == "log" and len(self.args) == 2:
            value, base = (self.builder.apply(OPS["log"], (node,), notes=_MATH_LOOPS) for node in self._nodes(2))
            return self.builder.apply(OPS["divide"], (value, base))
        if self.name in _MATH_INTEGERS:
            first, *others = self._nodes(max(2, len(self.args)))
            return reduce(lambda one, other: self.builder.apply(OPS[self.name], (one, other)), others, first)
        if self.name == "ldexp":
            value, exponent = self._nodes(2)
            return self.builder.apply(OPS["ldexp"], (self._as_float(value), exponent))
        if rows := several(self.name):
            (value,) = self._nodes(1)
            return tuple(self.builder.apply(one, (self._as_float(value),)) for one in rows)
        row = find_op(_MATH.get(self.name, ""))
        if row is None:
            return self.fail(f"math.{self.name} has no op; `bcastgen ops` lists what there is")
        nodes = self._nodes(row.arity)
        if row.demand is not None:
            # In floats there is nothing to guard: math.pow has no integers.
            return self.builder.apply(row, tuple(map(self._as_float, nodes)))
        return self.builder.apply(row, nodes, notes=_MATH_LOOPS)

    def _as_float(self, node: Node) -> Node:
        """Return a number in the float that functions of math compute it in."""
        return self.builder.apply(OPS["positive"], (node,), notes=_MATH_LOOPS)


def _is_known(value: Value) -> bool:
    return all(map(_is_known, value)) if isinstance(value, tuple) else isinstance(value, Static)


def _plain(value: Value) -> Any:
    if isinstance(value, tuple):
        return tuple(map(_plain, value))
    assert isinstance(value, Static)
    return value.value


def _taken(returned: Any) -> Value:
    """Return what a function that was called on stand-ins gives, as a value."""
    if is_tracer(returned):
        return returned.node  # type: ignore[no-any-return]
    if isinstance(returned, (tuple, list)):
        return tuple(map(_taken, returned))
    return Static(returned)
