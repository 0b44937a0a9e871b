"""The public functions: from Python functions, text and ops to kernels.

In: a function, an expression, a signature, an op.  Out: a :class:`Kernel`.

    @bg.jit                              bg.from_text("a*b + exp(c)")
    def gelu(x): ...                     bg.add
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from inspect import Parameter
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, overload

import numpy as np

from ..core.errors import BcastgenError, ParseError, TraceError, placed
from ..core.forks import import_before_handlers, undivided
from ..core.options import check_name
from ..core.source_lines import with_short_tracebacks
from ..expr.kinds import asking
from ..expr.nodes import Expression, has_views
from ..expr.trace import trace
from ..kernel.kernel import Kernel
from ..pipeline.options import OPTIONS, Options, options_for
from ..runtime.settings import check_threads
from .parameters import Make, Parameters, check_names

if TYPE_CHECKING:
    from ..shape.inference.stretch_rules import Dynamic as DynamicMode
    from ..shape.types.tensor_type import Signature, TensorType

__all__ = ["OPERAND_NAMES", "check_names", "from_text", "jit", "kernel_of", "specialized"]

# The options that concern calls: threads, scalars, errors.
_Calls = tuple[int | None, bool, str]
OPERAND_NAMES = ("a", "b", "c", "d")

# What a function takes and gives, its kernel does.
Given = ParamSpec("Given")
Result = TypeVar("Result")


@overload
def jit(
    function: Callable[Given, Result],
    /,
    *,
    signature: str | Signature | Sequence[TensorType | str] | None = None,
    name: str | None = None,
    dynamic: DynamicMode = "numpy",
    rank_expansion: bool = True,
    stretch: bool = True,
    math: str = "accurate",
    threads: int | None = None,
    background: bool | None = None,
    static: str | tuple[str, ...] = (),
    scalars: bool = True,
    errors: str = "ignore",
) -> Kernel[Given, Result]: ...
@overload
def jit(
    function: None = None,
    /,
    *,
    signature: str | Signature | Sequence[TensorType | str] | None = None,
    name: str | None = None,
    dynamic: DynamicMode = "numpy",
    rank_expansion: bool = True,
    stretch: bool = True,
    math: str = "accurate",
    threads: int | None = None,
    background: bool | None = None,
    static: str | tuple[str, ...] = (),
    scalars: bool = True,
    errors: str = "ignore",
) -> Callable[[Callable[Given, Result]], Kernel[Given, Result]]: ...
@with_short_tracebacks
def jit(
    function: Callable[..., Any] | None = None,
    /,
    *,
    signature: str | Signature | Sequence[TensorType | str] | None = None,
    name: str | None = None,
    dynamic: DynamicMode = "numpy",
    rank_expansion: bool = True,
    stretch: bool = True,
    math: str = "accurate",
    threads: int | None = None,
    background: bool | None = None,
    static: str | tuple[str, ...] = (),
    scalars: bool = True,
    errors: str = "ignore",
) -> Any:
    """Compile an element-wise function of arrays; usable as a decorator.

    The function is run once, here, on stand-ins to learn its expression: operators, NumPy's element-wise functions,
    ``.astype``, ``bcastgen`` kernels and other jitted functions. Its source is not needed. Each tuple of operand dtypes
    is compiled at the first call with it; ranks, shapes and layouts never compile again.

    Everything else that the function reads is read once, in this run, and stays as it was: numbers of closures and
    globals, random numbers, the time. What a method reads from ``self`` is compared at each call. Refused are branches
    on values (write ``numpy.where``, or use :func:`bcastgen.vectorize`) and on the kind of an argument
    (``isinstance(x, numpy.ndarray)``, ``numpy.isscalar(x)``, ``type(x) is float``), in-place operators (``x += y``),
    arrays from outside, and operations that NumPy would compute otherwise. ``x is None`` is False: no call passes None
    for an operand. ``x.shape``, ``x.ndim``, ``x.dtype`` and ``x.size`` are what `signature` declares.

    Parameters
    ----------
    function : takes arrays by position or name and returns an array or a tuple of arrays.
    signature : declared types, as in ``"(f32[?, 4] x, f32[4] b) -> f32[?, 4]"``, or the operands' as a list; checked at
        each call. Dims may carry facts (:class:`bcastgen.Dim`): ``f32[n>=2, m%8]``.
    name : of the kernel; the function's by default.
    dynamic : how dims of unknown extent broadcast. ``"numpy"``: an extent that proves to be 1 stretches; ``"strict"``:
        it has the result's extent, and others may stretch to it; ``"trusted"``: the same, and nobody checks:
        a wrong shape is then undefined behaviour, except where the environment sets BCASTGEN_DEBUG.
    rank_expansion : whether operands may have fewer dims than the result; scalars always may.
    stretch : whether an extent of 1 meets any other. Dims declared as ``bcast`` always do.
    math : ``"accurate"``: functions keep the bound of the op's row, and ``+ - * / sqrt`` give NumPy's bits; ``"fast"``:
        functions may be off by 4 ULP, and a product that is added to may be rounded once with the sum.
    threads : how many threads a call may take; None: as :func:`bcastgen.get_num_threads` says. ``kernel.threads`` is
        the same and may be set. Small calls take one; results do not depend on it.
    background : whether NumPy answers calls while their binary is compiled in a thread; None: if the environment sets
        BCASTGEN_BACKGROUND. Arithmetic has the same bits; functions of f64 are NumPy's own then. Calls that a kernel
        refuses, and those of ops defined at run time, wait for the compiler, as ``kernel.wait()`` does.
    static : names of parameters that are Python values and no operands: they may decide branches and loops. Each
        combination of values is a kernel of its own; they need a hash. A parameter whose default is None is static
        where a call leaves it out.
    scalars : whether results without dims are NumPy scalars, as those of ufuncs are; they are arrays otherwise.
        ``kernel.scalars`` is the same and may be set, and ``out=...`` gives arrays in one call.
    errors : ``"ignore"``: floating-point errors are not looked at; ``"numpy"``: a call reports them as
        ``numpy.errstate`` says. ``kernel.errors`` is the same and may be set. docs/ufuncs.md: which ops are exact.

    Returns
    -------
    Kernel
        Called as ``kernel(x, b, out=None)``, and with the keywords of NumPy's ufuncs: `where`, `casting`, `order`,
        `dtype`, `signature`, `subok`. A function with static or keyword-only parameters, ``*args`` or ``self`` is
        called as it is written, and runs at the first call with each combination of static values.

    Raises
    ------
    TraceError
        If the function's parameters are not arrays by position, or its body does something no expression can hold.
    ParseError
        If the signature cannot be read.
    BcastgenError
        For an option that is not available.

    Examples
    --------
    >>> import numpy as np
    >>> @jit
    ... def axpy(alpha, x, y):
    ...     return alpha * x + y
    >>> axpy(2.0, np.arange(3.0), np.ones((2, 1)))
    array([[1., 3., 5.],
           [1., 3., 5.]])
    """
    options = options_for(dynamic=dynamic, rank_expansion=rank_expansion, stretch=stretch, math=math)
    calls = _checked_calls(threads, scalars, errors)
    if function is None:
        return with_short_tracebacks(
            lambda decorated: _jitted(decorated, signature, name, options, calls, background, static)
        )
    made: Kernel = _jitted(function, signature, name, options, calls, background, static)
    return made


def _jitted(
    function: Callable[..., Any],
    signature: str | Signature | Sequence[TensorType | str] | None,
    name: str | None,
    options: Options,
    calls: _Calls,
    background: bool | None,
    static: str | tuple[str, ...],
) -> Any:
    """Return the kernel of a function, or what makes one for each tuple of static parameters."""
    import_before_handlers()
    if name is not None:
        check_name(name)
    label = str(name or getattr(function, "__name__", "kernel"))
    label = label if label.isidentifier() else "kernel"
    parameters = None if isinstance(function, np.ufunc) else Parameters(function, static)

    def make(names: tuple[str, ...], defaults: tuple[object, ...], given: Mapping[str, object]) -> Kernel:
        runs = asking(function)

        def traced(*operands: Any) -> Any:
            assert parameters is not None
            args, keywords = parameters.arguments({**given, **dict(zip(names, operands, strict=True))})
            return runs(*args, **keywords)

        declared = None if signature is None else _named(signature, names)
        types = None if declared is None else tuple(type_ for _, type_ in declared.operands)
        is_plain = parameters is None or parameters.is_plain
        try:
            expression = trace(function if is_plain else traced, names, types)
        except BcastgenError as error:
            raise placed(error, f"in {label}({', '.join(names)})") from error.__cause__
        except TypeError as error:
            if "'Tracer' object is not callable" not in str(error):
                raise
            why = "an operand is called, but is no function; decorate with static= and the parameter's name"
            raise placed(TraceError(why), f"in {label}({', '.join(names)})") from None
        kernel = kernel_of(expression, label, defaults, declared, options)
        _called(kernel, *calls)
        if background is not None:
            kernel.background = background
        kernel.__doc__ = function.__doc__
        kernel.__module__ = getattr(function, "__module__", __name__)
        kernel.__qualname__ = getattr(function, "__qualname__", label)
        kernel.__wrapped__ = function
        return kernel

    if isinstance(function, np.ufunc):
        return make(OPERAND_NAMES[: function.nin], (), {})
    assert parameters is not None
    return specialized(function, label, parameters, make)


def kernel_of(
    expression: Expression,
    name: str,
    defaults: tuple[object, ...],
    signature: Signature | None,
    options: Options,
) -> Kernel:
    """Return the kernel of an expression; if no operand determines some result extent, calls have to give it."""
    kind: type[Kernel] = Kernel
    if has_views(expression.results):
        with undivided:
            from ..kernel.caller_extents import SizedKernel, with_slots  # noqa: PLC0415 - most kernels have no views

        expression, signature = with_slots(expression, signature)
        kind = SizedKernel if expression.free_extents else Kernel
        if expression.sizings:
            with undivided:
                from ..kernel.op_sized_kernel import OpSizedKernel  # noqa: PLC0415 - most kernels have no such ops

            kind = OpSizedKernel
    names = tuple(operand.name for operand in expression.operands)
    if expression.free_extents and defaults:
        raise BcastgenError(f"{name}(): operands with default values and extents of the caller's do not go together")
    return kind(expression, name, names, len(expression.results), defaults, signature, options)


def _named(text: str | Signature | Sequence[TensorType | str], names: tuple[str, ...]) -> Signature:
    """Give a signature the function's parameter names, which it may leave out but not contradict."""
    with undivided:
        from ..shape.types.tensor_type import Signature, parse_signature, parse_type  # noqa: PLC0415 - most kernels have no signature

    if not isinstance(text, (str, Signature, list, tuple)):
        raise ParseError(f"signature={text!r} is no signature; give text as '(f32[?] x) -> f32[?]', or a list of types")
    if not isinstance(text, (str, Signature)):
        text = Signature(tuple((None, parse_type(type_)) for type_ in text))
    signature = parse_signature(text)
    if signature.expression is not None:
        raise ParseError("a signature for a function ends in a type, not in an expression")
    if len(signature.operands) != len(names):
        raise ParseError(f"the signature has {len(signature.operands)} operands, the function {len(names)}")
    for (declared, _), name in zip(signature.operands, names, strict=True):
        if declared is not None and declared != name:
            raise ParseError(f"the signature names '{declared}' where the function has '{name}'")
    types = (type_ for _, type_ in signature.operands)
    return Signature(tuple(zip(names, types, strict=True)), signature.results, None)


@with_short_tracebacks
def from_text(
    text: str,
    name: str = "kernel",
    variants: int | None = None,
    *,
    dynamic: DynamicMode = "numpy",
    rank_expansion: bool = True,
    stretch: bool = True,
    math: str = "accurate",
    threads: int | None = None,
    scalars: bool = True,
    errors: str = "ignore",
) -> Kernel:
    """Return the kernel of an expression, or of a signature that ends in one.

    Parameters
    ----------
    text : ``"a*b + c"``, or with types ``"(f32[?,?] a, f32[?,?] b) -> a + b*2"``.
    name : of the kernel, in messages and in C.
    variants : number of specialised inner loops; 0 for the one plain nest, None for as many as pay.
    dynamic, rank_expansion, stretch : how dims meet, as for :func:`jit`.
    math, threads, scalars, errors : as for :func:`jit`.

    Raises
    ------
    ParseError
        If the text cannot be read; names the column.

    Examples
    --------
    >>> from_text("(f32[?] a, f32[?] b) -> a + b*2")(np.float32([1, 2]), np.float32([3]))
    array([7., 8.], dtype=float32)
    """
    import_before_handlers()
    with undivided:
        from ..expr.text import parse  # noqa: PLC0415 - most kernels come from functions

    if not isinstance(text, str):
        raise ParseError(f"an expression is text, not {type(text).__name__}")
    check_name(name)
    calls = _checked_calls(threads, scalars, errors)
    options = options_for(variants=variants, dynamic=dynamic, rank_expansion=rank_expansion, stretch=stretch, math=math)
    if "->" not in text:
        expression = parse(text)
        names = tuple(operand.name for operand in expression.operands)
        check_names(names, ParseError)
        if not names:
            raise ParseError(f"{text!r} has no operands; name at least one array")
        return _called(_of_text(kernel_of(expression, name, (), None, options), text), *calls)
    with undivided:
        from ..core.operand_names import operand_names  # noqa: PLC0415 - most kernels have no signature
        from ..shape.types.tensor_type import Signature, parse_signature  # noqa: PLC0415 - most kernels have no signature

    signature = parse_signature(text)
    if signature.expression is None:
        raise ParseError("a signature alone computes nothing; end it in an expression: (f32[?] a) -> a + 1")
    names = operand_names([declared for declared, _ in signature.operands])
    check_names(names, ParseError)
    expression = parse(signature.expression, names, tuple(type_ for _, type_ in signature.operands))
    declared_types = Signature(
        tuple((label, type_) for label, (_, type_) in zip(names, signature.operands, strict=True)), None, None
    )
    return _called(_of_text(kernel_of(expression, name, (), declared_types, options), text), *calls)


def _of_text(kernel: Kernel, text: str) -> Kernel:
    options = kernel._options
    kernel._text = text
    # Those that decide the binary: the others are the call's, and the name is beside them.
    given = {name: getattr(options, name) for name in OPTIONS if name != "name" and hasattr(options, name)}
    kernel._recipe = _text_again, (text, options.name, given)
    return kernel


def _checked_calls(threads: int | None, scalars: bool, errors: str) -> _Calls:
    """Return the options that concern calls, each checked."""
    check_threads(threads)
    OPTIONS["errors"].check(errors)
    OPTIONS["scalars"].check(scalars)
    return threads, bool(scalars), errors


def _called(kernel: Kernel, threads: int | None, scalars: bool, errors: str) -> Kernel:
    """Return the kernel, to be called with these options."""
    kernel.threads, kernel.scalars, kernel.errors = threads, scalars, errors
    return kernel


def _text_again(text: str, name: str, options: dict[str, Any]) -> Kernel:
    """Return the kernel of a text that comes from a pickle."""
    return from_text(text, name, **options)


def specialized(function: Callable[..., Any], name: str, parameters: Parameters, make: Make) -> Any:
    """Return the kernel of a function, or what picks one by the values of parameters that are no operands."""
    if parameters.is_plain:
        names = tuple(parameter.name for parameter in parameters.all)
        defaults = tuple(p.default for p in parameters.all if p.default is not Parameter.empty)
        return make(names, defaults, {})
    with undivided:
        from .specialized import SpecializedKernel  # noqa: PLC0415 - most functions have operands only
    return SpecializedKernel(function, name, parameters, make)
