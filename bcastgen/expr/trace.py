"""Tracing: run a Python function on stand-ins and record the ops it applies.

In: a function of arrays.  Out: its :class:`Expression`; the function's source is not needed.

    def f(a, b): return np.exp(a) * b + 1   ->   t0 = exp(a); t1 = multiply(t0, b); t2 = add(t1, 1)

Python scalars become weak constants, NumPy scalars typed ones. Operators are those of rows with a ``dunder``; NumPy
calls its functions through ``__array_ufunc__`` and ``__array_function__`` (NEP 13, NEP 18).

The file is long because the stand-in has each of the operators and methods of NumPy's arrays that a kernel knows.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from inspect import CO_VARKEYWORDS, iscoroutinefunction, isfunction, isgeneratorfunction
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import numpy as np

from ..core.dtypes import BOOL, F64, DType, dtype, in_numpy_code
from ..core.errors import BcastgenError, DTypeError, TraceError, placed, with_article
from ..core.forks import undivided
from ..core.source_lines import last_line, name_of, users_line
from ..ops.row import Op
from ..ops.table import OPS, find_operator, several
from .build import Builder
from .constants import constant_from
from .kinds import AskedError, Declared, Kind, asking, forget, setting
from .nodes import NO_NOTES, Expression, Node, Notes, Operand, Reduce

if TYPE_CHECKING:
    from ..shape.types.tensor_type import TensorType
    from .views import View

__all__ = [
    "Tracer",
    "applied",
    "broadcast_in_dim",
    "composed",
    "converted",
    "inline",
    "is_tracer",
    "noting",
    "trace",
    "transpose",
]


_Function = TypeVar("_Function", bound=Callable[..., Any])


def noting(function: _Function) -> _Function:
    """Return a function of stand-ins whose errors the expression remembers, so that a `try` does not hide them."""
    name = function.__name__

    def noted(*args: Any, **options: Any) -> Any:
        try:
            if options and not name.startswith("_"):
                _check_keywords(function, name, options)
            return function(*args, **options)
        except BcastgenError as error:
            given = (*args, *(value for one in args if type(one) is tuple for value in one))
            found = next((value for value in given if isinstance(value, Tracer)), None)
            if found is not None:
                found.builder.refused.append(error)
            raise

    # What functools.wraps sets and someone asks for; with it the hundred methods of Tracer take three times as long.
    noted.__name__, noted.__qualname__, noted.__doc__ = name, function.__qualname__, function.__doc__
    noted.__wrapped__ = function  # type: ignore[attr-defined]
    return noted  # type: ignore[return-value]


def _refusals() -> Any:
    """Return the module with the sentences of errors."""
    from . import refusals  # noqa: PLC0415 - most functions are traced without an error

    return refusals


def _check_keywords(function: Callable[..., Any], name: str, given: Iterable[str]) -> None:
    """Refuse arguments by name that a function of NumPy's has, and that mean nothing in a kernel."""
    code = function.__code__
    known = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    for key in given:
        if key not in known and not code.co_flags & CO_VARKEYWORDS:
            raise TraceError(f"{name}: {key}= has no meaning inside a kernel; {_refusals().keyword(key)}")


def _operator(dunder: str, reflected: bool) -> Callable[..., Any]:
    def method(self: Tracer, *others: object) -> Any:
        op = find_operator(dunder)
        if self._parameter is not None and any(type(other) is str or type(other) is bytes for other in others):
            raise TraceError(f"{op.name}: {_refusals().value(others[0], of=self._parameter)}")
        if any(hasattr(other, "__array_ufunc__") and not (_known(other) or _is_data(other)) for other in others):
            return NotImplemented
        values = (*others, self) if reflected else (self, *others)
        return _apply(self.builder, op, values)

    return method


def _known(other: object) -> bool:
    return isinstance(other, (Tracer, np.ndarray, np.generic))


def _is_data(other: object) -> bool:
    """Whether an object of another library holds elements, such as a pandas Series: its operators know no stand-in."""
    return hasattr(other, "__array__")


def _in_place(dunder: str) -> Callable[..., NoReturn]:
    def method(self: Tracer, other: object) -> NoReturn:
        name = find_operator(dunder).name
        raise TraceError(
            f"in-place {name} (as in x += y) writes into x in NumPy, with its dtype and shape; write x = x + y, and "
            "pass out=x at the call to write into an array"
        )

    return method


# Python's operators of one value, of two, and those of two that may be written in place. A row's `dunder` names its
# operator; it is looked for when the operator is used.
_OF_ONE = ("neg", "pos", "abs", "invert")
_OF_TWO = ("eq", "ne", "lt", "le", "gt", "ge")
_IN_PLACE = tuple("add sub mul truediv floordiv mod pow and or xor lshift rshift".split())


def _with_operators(cls: Any) -> Any:
    """Return a copy of a class with the operators, and with members that note errors: it is made once, with all.

    To set a hundred members one by one takes three times as long.
    """
    members = {name: member for name, member in vars(cls).items() if name not in cls.__slots__}
    for name, member in (*vars(Declared).items(), *vars(cls).items()):
        if isinstance(member, property) and member.fget is not None and name != "__class__":
            members[name] = property(noting(member.fget))
        elif isfunction(member) and name not in ("__init__", "__repr__"):
            members[name] = noting(member)
    for name in (*_OF_ONE, *_OF_TWO, *_IN_PLACE):
        members[f"__{name}__"] = noting(_operator(name, reflected=False))
    for name in (*_OF_TWO, *_IN_PLACE):
        members[f"__r{name}__"] = noting(_operator(name, reflected=True))
    for name in _IN_PLACE:
        members[f"__i{name}__"] = noting(_in_place(name))
    return Kind(cls.__name__, cls.__bases__, members)


@_with_operators
class Tracer(Declared):
    """The stand-in for an array while a function is traced; supports only what an element-wise expression can hold."""

    __slots__ = ("builder", "node")
    __array_priority__ = 1000.0

    def __init__(self, builder: Builder, node: Node) -> None:
        self.builder = builder
        self.node = node

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        forget(self.builder.refused)
        reduction = _reduction(ufunc) if method == "reduce" else None
        if reduction is not None:
            # For these None means that the argument is left out; where=None is a mask (False).
            idle = ("dtype", "out", "initial")
            given = {key: value for key, value in options.items() if value is not None or key not in idle}
            _check_keywords(reduction, f"numpy.{ufunc.__name__}.reduce", given)
            return reduction(*inputs, **{"axis": 0, **given})
        with undivided:
            from .ufuncs import rows_of  # noqa: PLC0415 - operators call no ufuncs

        name, (op, *others) = rows_of(ufunc)
        if method != "__call__":
            raise TraceError(f"{name}.{method} is not element-wise; {_refusals().method(name, method)}")
        loop = _loop_asked_for(name, op, others, options)
        nodes = _nodes(self.builder, op, inputs)
        if loop is not None:
            # A Python number has to fit the loop's dtype, and arrays convert as NumPy's ufuncs convert them.
            nodes = tuple(self.builder.convert(node, loop, casting="same_kind", meets=True) for node in nodes)
        if not name.startswith("numpy."):
            # SciPy's ufuncs have other loops than our rows; the loops' order decides the dtype for integers.
            loops = "".join(loop[0] for loop in ufunc.types if loop[0] in "efd")
            return Tracer(self.builder, self.builder.apply(op, nodes, notes=Notes(loops=loops, ufunc=name)))
        if others:
            return tuple(Tracer(self.builder, self.builder.call(one, nodes)) for one in (op, *others))
        return Tracer(self.builder, self.builder.call(op, nodes))

    def __array_function__(self, function: Callable[..., Any], types: Any, args: Any, kwargs: Any) -> Any:
        forget(self.builder.refused)
        handler = _numpy_function(function)
        name = f"{function.__module__}.{function.__name__}"
        if handler is None:
            why = _refusals().function(function.__name__)
            raise TraceError(
                f"{name} is not element-wise or not supported inside a kernel; call it outside, and pass its result as "
                "an operand"
                if why is None
                else f"{function.__module__}.{why}"
            )
        _check_keywords(handler, name, kwargs)
        return handler(*args, **kwargs)

    @classmethod
    def __torch_function__(
        cls, function: Callable[..., Any], types: object, args: Any = (), kwargs: object = None
    ) -> NoReturn:
        error = TraceError(
            f"torch.{function.__name__} does not record what it does to an operand; write NumPy's function of that name"
        )
        found = next((value for value in args if isinstance(value, Tracer)), None)
        if found is not None:
            found.builder.refused.append(error)
        raise error

    def astype(
        self, dtype: object, order: str = "K", casting: str = "unsafe", subok: bool = True, copy: bool = True
    ) -> Tracer:
        """Convert to a dtype; NaN to integer is 0, other out-of-range floats saturate, integers wrap.

        `casting` is NumPy's rule for which conversions are allowed. The other arguments decide how NumPy stores its
        result; here they change nothing, since the kernel allocates results.
        """
        return converted(self, in_numpy_code(dtype), casting=casting)

    @property
    def T(self) -> Tracer:
        """The value with its dims reversed: an indexing map, no copy."""
        return transpose(self)

    @property
    def real(self) -> Tracer:
        """The real part; a real value itself."""
        return _apply(self.builder, OPS["real"], (self,))

    @property
    def imag(self) -> Tracer:
        """The imaginary part; 0 of a real value."""
        return _apply(self.builder, OPS["imag"], (self,))

    def conj(self) -> Tracer:
        """Return the conjugate; a real value itself."""
        return self.applied(OPS["conjugate"], (self,), Notes(method=True))

    conjugate = conj

    def transpose(self, *axes: Any) -> Tracer:
        """Return the value with its dims in another order: an indexing map, no copy."""
        return transpose(self, axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes or None)

    def applied(self, op: Op, values: tuple[object, ...], notes: Notes = NO_NOTES) -> Tracer:
        """Return an op applied to values of which this one may be one; `notes` are for typing."""
        return Tracer(self.builder, self.builder.apply(op, _nodes(self.builder, op, values), notes=notes))

    def reduced(self, how: Reduce) -> Tracer:
        """Return the value with some dims combined into one element."""
        return Tracer(self.builder, self.builder.reduce(how, self.node))

    def viewed(self, view: View) -> Tracer:
        """Return the value read through another indexing map."""
        return _viewed(self, view)

    def broadcast(self, shape: Any) -> Tracer:
        """Return the value broadcast to a shape, or to that of an operand."""
        return broadcast_in_dim(self, shape)

    def shaped_as(self, other: Tracer) -> Tracer:
        """Return the value broadcast to another one's shape."""
        from .views import Broadcast  # noqa: PLC0415 - most kernels have no views

        return _viewed(self, Broadcast(None, None), other.node)

    def copy(self) -> Tracer:
        """Return the value itself: a result is a new array anyway, so a broadcast value is materialised there."""
        return self

    def round(self, decimals: int = 0) -> Any:
        """Round to a number of decimals, ties to even; integers stay as they are where there are none to drop."""
        return _numpy_function(np.round)(self, decimals)

    def __round__(self, ndigits: int | None = None) -> NoReturn:
        raise TraceError("round(x) gives an int for a number, and a TypeError for an array; write numpy.round(x)")

    def __divmod__(self, other: Any) -> Any:
        return tuple(_apply(self.builder, op, (self, other)) for op in several("divmod"))

    def __rdivmod__(self, other: Any) -> Any:
        return tuple(_apply(self.builder, op, (other, self)) for op in several("divmod"))

    @property
    def mT(self) -> Any:
        """The value with its last two dims in each other's place: an indexing map, no copy."""
        return _numpy_function(np.matrix_transpose)(self)

    def swapaxes(self, axis1: int, axis2: int) -> Any:
        """Return the value with two dims in each other's place: an indexing map, no copy."""
        return _numpy_function(np.swapaxes)(self, axis1, axis2)

    def squeeze(self, axis: Any = None) -> Any:
        """Return the value without some dims of extent 1: an indexing map, no copy."""
        return _numpy_function(np.squeeze)(self, axis)

    def clip(self, min: Any = None, max: Any = None) -> Any:
        """Limit to an interval; None leaves a side open."""
        return _numpy_function(np.clip)(self, min, max)

    def __bool__(self) -> NoReturn:
        raise TraceError(
            "a branch on array values cannot be traced; use numpy.where(condition, a, b) or & and |, or write a "
            f"function of scalars for bcastgen.vectorize{setting(self._parameter)}"
        )

    def _no_scalar(self) -> NoReturn:
        raise TraceError(
            "the values of an operand are not known while tracing; keep to array operations, as numpy.sqrt for "
            f"math.sqrt, or write a function of scalars for bcastgen.vectorize{setting(self._parameter)}"
        )

    __int__ = __float__ = __complex__ = __index__ = _no_scalar

    def __hash__(self) -> NoReturn:
        raise TraceError("an operand is no key of a dict or set; write numpy.select for a choice of operands")

    def __iter__(self) -> NoReturn:
        raise TraceError("an operand cannot be iterated over or unpacked while tracing; write the array expression")

    def __contains__(self, _value: object) -> NoReturn:
        raise TraceError(
            "x in y needs the values of an operand, which are not known while tracing; write (y == x).any()"
        )

    def __getitem__(self, key: object) -> Tracer:
        parts = (key,) if is_tracer(key) or not isinstance(key, tuple) else key
        if any(isinstance(part, (Tracer, np.ndarray, list)) for part in parts):
            chosen = next((part._parameter for part in parts if is_tracer(part)), None)
            raise TraceError(_refusals().index(is_array=True) + setting(chosen))
        pattern = tuple("new" if part is None else "rest" if part is ... else "dim" for part in parts)
        whole = all(part is None or part is ... or part == slice(None) for part in parts)
        if not whole or pattern.count("rest") > 1:
            raise TraceError(_refusals().index(is_array=False) + setting(self._parameter if len(parts) == 1 else None))
        from .views import NewAxes  # noqa: PLC0415 - most kernels have no views

        return _viewed(self, NewAxes(pattern))

    def __matmul__(self, _other: object) -> NoReturn:
        raise TraceError("a matrix product is not element-wise; compute it outside the kernel")

    __rmatmul__ = __matmul__

    def __setitem__(self, key: object, value: object) -> NoReturn:
        raise TraceError("assignment into an operand cannot be traced; use numpy.where and return the result")

    def __array__(self, *_args: object, **_options: object) -> NoReturn:
        raise TraceError(
            "an operand cannot become a NumPy array while tracing; leave numpy.asarray(x) out, since calls make arrays "
            "of their operands, write x.astype(numpy.float32) for numpy.float32(x), a + b for numpy.sum([a, b], 0) and "
            "numpy.maximum(numpy.maximum(a, b), c) for numpy.maximum.reduce([a, b, c]) and numpy.max([a, b, c], 0), "
            "and call functions of other packages outside"
        )

    def __array_namespace__(self, *, api_version: Any = None) -> Any:
        """Return NumPy, as its arrays do: code of the array API standard calls its functions."""
        return np.zeros(0).__array_namespace__(api_version=api_version)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        reduction = _reduction(name)
        if reduction is not None:
            return partial(noting(reduction), self)
        raise TraceError(_refusals().attribute(name))

    def __format__(self, spec: str) -> str:
        if not spec:
            return repr(self)
        raise TraceError(f"the values of an operand are not known while tracing; print it outside, without {spec!r}")

    def __repr__(self) -> str:
        return f"<operand {getattr(self.node, 'name', 'expression')!r} being traced>"


def _node(builder: Builder, value: object, where: str) -> Node:
    if isinstance(value, Tracer):
        if value.builder is not builder:
            raise TraceError(f"{where}: an operand of another kernel; pass it in as an operand of this one")
        return value.node
    made = constant_from(value)
    if made is not None:
        return builder.keep(made)
    raise TraceError(f"{where}: {_refusals().value(value, name_of(value))}")


def _nodes(builder: Builder, op: Op, values: tuple[object, ...]) -> tuple[Node, ...]:
    return tuple(_node(builder, value, op.name) for value in values)


def _apply(builder: Builder, op: Op, values: tuple[object, ...]) -> Tracer:
    return Tracer(builder, builder.apply(op, _nodes(builder, op, values)))


def converted(x: Tracer, target: object, op: Op | None = None, casting: str = "unsafe") -> Tracer:
    """Return a traced value converted to a dtype by a conversion op, NumPy's by default."""
    return Tracer(x.builder, x.builder.convert(x.node, dtype(target), op, casting))


def _loop_asked_for(name: str, op: Op, others: list[Op], options: Mapping[str, Any]) -> DType | None:
    """Return the dtype that a call of a ufunc asks to compute in, None for the usual one; refuse what means nothing."""
    for key, value in options.items():
        # order= and subok= have no effect: a kernel allocates its results itself, as plain arrays.
        idle = value is None or key in ("order", "subok") or (key == "where" and value is True)
        if not (idle or key == "dtype" or (key == "casting" and value == "same_kind")):
            raise TraceError(f"{name}: {key}= has no meaning inside a kernel; {_refusals().keyword(key)}")
    if options.get("dtype") is None:
        return None
    target = in_numpy_code(options["dtype"])
    if target is BOOL and not others and _is_test(op):
        # For a test, dtype=bool names the dtype that its result has anyway; operands are not converted to it.
        return None
    loops, result = op.types((target,) * op.arity)
    if others or result is not target or any(loop is not target for loop in loops):
        raise TraceError(
            f"{name}: dtype={target.numpy} is not the dtype of all of its operands and its result; leave it out, and "
            "convert operands by .astype"
        )
    return target


def _is_test(op: Op) -> bool:
    """Whether an op of floats gives bools."""
    try:
        return op.types((F64,) * op.arity)[1] is BOOL
    except DTypeError:
        return False


def _numpy_function(function: Callable[..., Any]) -> Any:
    """Return what a function of NumPy is in a kernel, or None."""
    from .compositions import NUMPY_FUNCTIONS  # noqa: PLC0415 - it is made of what is here, and most kernels need none

    return NUMPY_FUNCTIONS.get(function) or _reduction(function)


def _reduction(key: object) -> Any:
    """Return what reduces as a function or ufunc of NumPy's, or a method of its arrays, does; None for any other."""
    from .reductions import BY_NUMPY  # noqa: PLC0415 - most kernels have none

    return BY_NUMPY.get(key)


def composed(name: str, builder: Builder, operands: Sequence[Node], numbers: Sequence[Any] = ()) -> Node | None:
    """Return the node of a composition of these operands; None if there is none of the name.

    Parameters
    ----------
    name : the function's.
    builder : of the expression that the node becomes part of.
    operands : what it is applied to.
    numbers : for each operand its value if it is a number, else None; those behind the function's operands are used.
    """
    from .compositions import COMPOSITIONS, WITH_NUMBERS  # noqa: PLC0415 - most kernels need none

    found = COMPOSITIONS.get(name) or WITH_NUMBERS.get(name)
    if found is None or len(operands) < found[0]:
        return None
    arity, function = found
    most = function.__code__.co_argcount
    if len(operands) > most:
        raise DTypeError(f"{name} takes {arity} operands and up to {most - arity} numbers, got {len(operands)}")
    values = [Tracer(builder, node) for node in operands[:arity]]
    result = function(*values, *numbers[arity:])
    assert isinstance(result, Tracer)
    return result.node


def _viewed(x: Tracer, view: View, like: Node | None = None) -> Tracer:
    return Tracer(x.builder, x.builder.remap(x.node, view, like))


def transpose(x: Tracer, axes: Any = None) -> Tracer:
    """Return a traced value with its dims in another order, reversed by default."""
    from .views import Transpose  # noqa: PLC0415 - most kernels have no views

    return _viewed(x, Transpose(None if axes is None else tuple(map(operator.index, axes))))


@noting
def broadcast_in_dim(x: Any, shape: Any, dims: Any = None) -> Tracer:
    """Return a traced value broadcast to a shape, or to that of a traced operand; its dim i becomes dim ``dims[i]``."""
    from .views import Broadcast, dims_of  # noqa: PLC0415 - most kernels have no views

    builder = next(value.builder for value in (x, shape) if isinstance(value, Tracer))
    value = Tracer(builder, _node(builder, x, "broadcast_in_dim"))
    view_dims = None if dims is None else tuple(map(operator.index, dims))
    if not isinstance(shape, Tracer):
        return _viewed(value, Broadcast(view_dims, dims_of(shape)))
    like = _node(builder, shape, "broadcast_in_dim")
    if not isinstance(like, Operand):
        raise TraceError("broadcast_in_dim takes the shape of an operand, not of a computed value; name the operand")
    return _viewed(value, Broadcast(view_dims, None), like)


def is_tracer(value: object) -> bool:
    """True if a value is a stand-in of a function that is being traced."""
    return isinstance(value, Tracer)


def trace(
    function: Callable[..., Any], names: tuple[str, ...], types: tuple[TensorType, ...] | None = None
) -> Expression:
    """Return the expression a function computes.

    Parameters
    ----------
    function : takes one array for each name and returns an array, or a tuple of arrays.
    names : the operands' names.
    types : their declared types; the function may ask for what these say.

    Raises
    ------
    TraceError
        If the function does something that an element-wise expression cannot hold; the message names it and the cure.

    Examples
    --------
    >>> print(trace(lambda a, b: a + b * 2, ("a", "b")))
    expr (a, b)
      t0 = multiply(b, 2)
      t1 = add(a, t0)
      return t1
    """
    if kind := next((kind for kind, test in _LATER.items() if test(function)), None):
        raise TraceError(f"the function is {kind}, which runs later; return the resulting array")
    builder = Builder(names)
    builder.types.update(zip(builder.operands, types or (), strict=False))
    builder.line = users_line
    try:
        returned = asking(function)(*(Tracer(builder, operand) for operand in builder.operands))
        if builder.refused:
            raise _hidden(builder.refused[0])
    except Exception as error:
        # Other libraries catch the error of a stand-in and raise one of their own, so look for the stand-in's.
        # After a test of a stand-in's kind the function is in the wrong branch, so the refused test is the error to
        # report.
        first = next((one for one in builder.refused if isinstance(one, AskedError)), None)
        refused = first or (error if isinstance(error, BcastgenError) else next(iter(builder.refused), None))
        if refused is None:
            raise
        place = last_line(refused.__traceback__)
        if place is None or refused.sentence != str(refused):
            raise refused from error.__cause__
        raise placed(refused, f"at {place[0]}:{place[1]}") from error.__cause__
    values = tuple(returned) if not is_tracer(returned) and isinstance(returned, (tuple, list)) else (returned,)
    if not values:
        raise TraceError("the function returns an empty tuple; return at least one array")
    if not is_tracer(returned) and isinstance(returned, (tuple, list)):
        _check_tuple(returned)
    strange = next((type(value) for value in values if not is_tracer(value) and isinstance(value, _CONTAINERS)), None)
    if strange in (list, tuple):
        raise TraceError(
            f"the function returns {with_article(strange.__name__)} among its results, and a call returns one tuple of "
            "arrays; write (a, *b) in the place of (a, b)"
        )
    if strange is not None:
        shown = "None" if strange is type(None) else with_article(strange.__name__)
        raise TraceError(f"the function returns {shown}; return the resulting array, or a tuple of arrays")
    return builder.finish(tuple(_node(builder, value, "return") for value in values))


def _check_tuple(returned: tuple[object, ...] | list[object]) -> None:
    """Refuse a container that is no plain tuple of several arrays: a call would return such a tuple, or one array."""
    kind = type(returned).__name__
    if len(returned) == 1:
        raise TraceError(
            f"the function returns {with_article(kind)} of one array, and a call would return the array; return it"
        )
    if type(returned) is not tuple:
        raise TraceError(
            f"the function returns {with_article(kind)}, and a call would return a tuple; return tuple(...) of it"
        )


_CONTAINERS = (list, tuple, dict, set, frozenset, str, bytes, type(None))
_LATER = {"a generator": isgeneratorfunction, "asynchronous": iscoroutinefunction}


def _hidden(error: BcastgenError) -> BcastgenError:
    """Return an error that the traced function caught, with advice: every call would do what its `except` does."""
    if isinstance(error, AskedError):
        return error
    error.args = (
        f"{error}; the function catches this error, and what it does instead would hold for every call: leave the try "
        "out, or decide before the call",
    )
    return error


@noting
def applied(op: Op, values: tuple[object, ...]) -> Tracer:
    """Apply an op to tracers and numbers: it becomes part of the expression that is being traced."""
    builder = next(value.builder for value in values if isinstance(value, Tracer))
    return _apply(builder, op, values)


@noting
def inline(expression: Expression, values: tuple[object, ...]) -> Tracer | tuple[Tracer, ...]:
    """Apply a kernel's expression to tracers: its nodes become part of the expression that is being traced."""
    builder = next(value.builder for value in values if isinstance(value, Tracer))
    results = builder.inline(expression, tuple(_node(builder, value, "call") for value in values))
    traced = tuple(Tracer(builder, node) for node in results)
    return traced[0] if len(traced) == 1 else traced
