"""Functions that pick a kernel by the values of parameters that are no operands, one for each combination of values.

In: a call.  Out: the call of the kernel that was made for its static values.

    f(x, mode="a")  ->  the kernel of (x) for mode "a"         obj.scaled(x)  ->  that for the numbers read from obj

Functions with such parameters come here, those of ``*args``, and those with parameters that calls leave out by None.
The first call of each form binds its arguments as Python does; the form says where later ones have them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from inspect import Parameter
from types import FunctionType, MethodType
from typing import Any, NamedTuple

import numpy as np

from ..core.errors import ArgumentError, TraceError, with_article
from ..core.forks import undivided
from ..core.source_lines import with_short_tracebacks
from ..kernel.kernel import Kernel
from ..kernel.ufunc_keywords import KEYWORDS
from .parameters import Make, Parameters

__all__ = ["SpecializedKernel"]

# For how many numbers of arguments and lists of keywords a function keeps forms; other calls are bound anew each time.
_MOST_FORMS = 64
_PLAIN = (bool, int, float, str, type(None), np.generic)


class _Source(NamedTuple):
    """Where the value of a parameter is in a call: an argument's number, a keyword, or the default."""

    at: int | str | None
    default: Any = None

    def of(self, args: tuple[Any, ...], by_name: dict[str, Any]) -> Any:
        if isinstance(self.at, int):
            return args[self.at]
        return self.default if self.at is None else by_name[self.at]


class _CallForm(NamedTuple):
    """Where calls of one number of arguments, and of the same keywords in the same order, have what a kernel takes.

    Attributes
    ----------
    names, operands : the operands, and where they are.
    given : the values that pick a kernel, by parameter.
    optional : the arguments that may be None to leave an operand out, each with whether it is None in these calls.
    keywords : the keywords that go on to the kernel.
    """

    names: tuple[str, ...]
    operands: tuple[_Source, ...]
    given: tuple[tuple[str, _Source], ...]
    optional: tuple[tuple[_Source, bool], ...]
    keywords: tuple[str, ...]

    def serves(self, args: tuple[Any, ...], by_name: dict[str, Any]) -> bool:
        """Whether a call leaves out the operands that the calls of this form leave out."""
        return not self.optional or all((one.of(args, by_name) is None) == is_none for one, is_none in self.optional)

    def takes_all(self, args: tuple[Any, ...], by_name: dict[str, Any]) -> bool:
        """Whether the operands are all arguments, in order, and each keyword goes on to the kernel."""
        places = [source.at for source in self.operands]
        return not (self.given or self.optional) and places == [*range(len(args))] and {*by_name} == {*self.keywords}

    def of(self, args: tuple[Any, ...], by_name: dict[str, Any]) -> tuple[list[Any], dict[str, Any], dict[str, Any]]:
        """Return the operands, the values that pick a kernel, and the keywords of a call."""
        operands = [source.of(args, by_name) for source in self.operands]
        given = {name: source.of(args, by_name) for name, source in self.given}
        return operands, given, {name: by_name[name] for name in self.keywords}


class SpecializedKernel:
    """A function whose parameters are not all operands; see `static` of :func:`bcastgen.jit`.

    Called as the function itself, with ``out=`` and the keywords of ufuncs. A kernel's other attributes (``explain``,
    ``source``, ...) are those of the kernel that the latest call ran.
    """

    def __init__(self, function: Callable[..., Any], name: str, parameters: Parameters, make: Make) -> None:
        update_wrapper(self, function)
        self.__name__ = name
        self.__signature__ = parameters.signature
        self._parameters = parameters
        self._make = make
        self._kernels: dict[Any, Kernel] = {}
        self._by_object: dict[Any, list[tuple[dict[str, Any], Kernel]]] = {}
        self._forms: dict[tuple[int | str, ...], tuple[_CallForm, ...]] = {}
        # The kernels of calls whose arguments are its operands in order, so that nothing has to be taken apart.
        self._of_all_arguments: dict[tuple[int | str, ...], Kernel] = {}
        self._latest: Kernel | None = None

    @with_short_tracebacks
    def __call__(self, *args: Any, **by_name: Any) -> Any:
        """Call the kernel that was made for these values of the static parameters, with the keywords of ufuncs."""
        key: tuple[int | str, ...] = (len(args), *by_name)
        kernel = self._of_all_arguments.get(key)
        if kernel is not None:
            self._latest = kernel
            return kernel(*args, **by_name)
        for form in self._forms.get(key, ()):
            if form.serves(args, by_name):
                break
        else:
            form = self._form(key, args, by_name)
        operands, given, keywords = form.of(args, by_name)
        kernel = self._latest = self._kernel(form.names, given)
        if form.takes_all(args, by_name) and key in self._forms:
            self._of_all_arguments[key] = kernel
        return kernel(*operands, **keywords)

    def _form(self, key: tuple[int | str, ...], args: tuple[Any, ...], by_name: dict[str, Any]) -> _CallForm:
        """Return the form of a call, and keep it for calls with as many arguments and the same list of keywords."""
        own = self._parameters.signature.parameters
        keywords = tuple(name for name in (*KEYWORDS, "out") if name in by_name and name not in own)
        try:
            bound = self._parameters.signature.bind(*args, **{n: v for n, v in by_name.items() if n not in keywords})
        except TypeError as error:
            raise ArgumentError(f"{self.__name__}() {error}") from None
        bound.apply_defaults()
        operands: dict[str, _Source] = {}
        given: list[tuple[str, _Source]] = []
        optional: list[tuple[_Source, bool]] = []
        for at, parameter in enumerate(self._parameters.all):
            name = parameter.name
            if parameter.kind is Parameter.VAR_POSITIONAL:
                operands.update((f"{name}{number}", _Source(at + number)) for number in range(len(args) - at))
                continue
            is_place = parameter.kind is not Parameter.KEYWORD_ONLY and at < len(args)
            source = _Source(at if is_place else name if name in by_name else None, parameter.default)
            if parameter.default is None and source.at is not None and name not in self._parameters.static:
                optional.append((source, bound.arguments[name] is None))
            if self._is_given(parameter, bound.arguments[name]):
                given.append((name, source))
            else:
                operands[name] = source
        form = _CallForm(tuple(operands), tuple(operands.values()), tuple(given), tuple(optional), keywords)
        if key in self._forms or len(self._forms) < _MOST_FORMS:
            self._forms[key] = (*self._forms.get(key, ()), form)
        return form

    @property
    def _first(self) -> str:
        return self._parameters.all[0].name

    def _is_given(self, parameter: Parameter, value: object) -> bool:
        is_self = self._parameters.is_method and parameter is self._parameters.all[0]
        left_out = parameter.default is None and value is None
        return is_self or left_out or parameter.name in self._parameters.static

    def _kernel(self, names: tuple[str, ...], given: dict[str, Any]) -> Kernel:
        if not names:
            raise ArgumentError(
                f"{self.__name__}{self._parameters.signature}: a kernel takes at least one operand, and this call has "
                + (
                    f"none; pass what it reads from '{self._first}' as a parameter"
                    if self._parameters.is_method
                    else "none; give one a value other than None, or leave it out of static="
                )
            )
        own = dict(given)
        instance = own.pop(self._first) if self._parameters.is_method else None
        key = (names, tuple((name, self._mark(name, value)) for name, value in own.items()), type(instance))
        if instance is not None:
            return self._kernel_of_object(key, names, given, instance)
        if key not in self._kernels:
            made = self._make(names, (), given)
            with undivided:
                self._kernels.setdefault(key, made)
        return self._kernels[key]

    def _kernel_of_object(self, key: Any, names: tuple[str, ...], given: dict[str, Any], instance: Any) -> Kernel:
        """Return the kernel for what the method reads from its object; objects that agree in it share one."""
        known = self._by_object.setdefault(key, [])
        for read, kernel in known:
            if all(_marked(getattr(instance, name, _PLAIN)) == _marked(value) for name, value in read.items()):
                return kernel
        view = ObjectView(self.__name__, self._first, instance)
        kernel = self._make(names, (), {**given, self._first: view})
        known.append((view._read, kernel))
        return kernel

    def _mark(self, name: str, value: object) -> object:
        found = _marked(value)
        try:
            hash(found)
        except TypeError:
            raise TraceError(
                f"{self.__name__}(): the static parameter {name!r} is {with_article(type(value).__name__)}, "
                "which has no hash to find its kernel by; pass a tuple, a number or text"
            ) from None
        return found

    def _call_traced(self, operands: tuple[object, ...]) -> Any:
        return self(*operands)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        """Return the method of an object."""
        return self if instance is None or not self._parameters.is_method else MethodType(self, instance)

    def __getattr__(self, name: str) -> Any:
        latest = self.__dict__.get("_latest")
        if latest is None or name.startswith("__"):
            raise AttributeError(
                f"{self.__dict__.get('__name__')!r} has no {name!r} before its first call, which says for which values"
            )
        return getattr(latest, name)

    def __reduce__(self) -> str:
        """Pickle by reference, as functions are."""
        return str(self.__qualname__)

    def __repr__(self) -> str:
        return f"<kernels of {self.__name__}{self._parameters.signature}>"


class ObjectView:
    """A method's object while it is traced: gives the object's numbers and texts, and notes those that are read."""

    __slots__ = ("_first", "_instance", "_name", "_read")

    def __init__(self, name: str, first: str, instance: Any) -> None:
        object.__setattr__(self, "_name", name)
        object.__setattr__(self, "_first", first)
        object.__setattr__(self, "_instance", instance)
        object.__setattr__(self, "_read", {})

    def __getattr__(self, name: str) -> Any:
        instance, shown = self._instance, f"{self._first}.{name}"
        kinds = instance.__mro__ if isinstance(instance, type) else type(instance).__mro__
        known = next((vars(kind)[name] for kind in kinds if name in vars(kind)), None)
        if isinstance(known, property) and known.fget is not None:
            return known.fget(self)
        if isinstance(known, FunctionType):
            return MethodType(known, self)
        if isinstance(known, staticmethod):
            return known.__func__
        if isinstance(known, SpecializedKernel):
            raise TraceError(f"{self._name}(): {shown} is a kernel of another method; write a function that both call")
        value = getattr(instance, name)
        if isinstance(value, (Kernel, SpecializedKernel)) and name not in getattr(instance, "__dict__", ()):
            return value
        if not _is_plain(value):
            raise TraceError(
                f"{self._name}(): {shown} is {with_article(type(value).__name__)}; a method that is compiled reads "
                "numbers and texts from its object, so pass this as an operand"
            )
        self._read[name] = value
        return value

    def __setattr__(self, name: str, value: object) -> None:
        raise TraceError(
            f"{self._name}(): {self._first}.{name} is set; a method that is compiled changes nothing, so return it"
        )


def _is_plain(value: object) -> bool:
    return isinstance(value, _PLAIN) or (isinstance(value, tuple) and all(map(_is_plain, value)))


def _marked(value: object) -> object:
    """Return what tells values apart that are equal and not the same: 1, 1.0 and True; 0.0 and -0.0."""
    if isinstance(value, (float, np.floating)):
        return type(value), repr(value)
    if isinstance(value, tuple):
        return type(value), tuple(map(_marked, value))
    return type(value), value
