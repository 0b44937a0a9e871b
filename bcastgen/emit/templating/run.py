"""Runs the code that jinja made of the templates: as much of its runtime as they use, for importing jinja takes 20 ms.

In: `_templates.py`, written by `build` when the package was built; values.  Out: text.

    Compiled(folder("templates"), CODE, {"unused": ...}).render("kernel.c.j2", {"kernel": view}) -> "/* axpy, ..."

`Unusable` is raised for a feature of jinja that this module lacks, for a template that has changed since, and for an
unknown name: jinja itself then renders, or says what is wrong, and where.
"""

from __future__ import annotations

import marshal
from binascii import a2b_base64, crc32
from collections.abc import Callable, Iterable, Iterator, Mapping
from operator import attrgetter, getitem
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NoReturn
from zlib import decompress

__all__ = ["Compiled", "Unusable"]


class Unusable(Exception):
    """The compiled template cannot be used; jinja renders instead, or says why it cannot."""


class Compiled:
    """The compiled templates of a folder; their code takes this object for its jinja environment.

    Parameters
    ----------
    folder : of the templates.
    code : by name of the template its text's checksum, and its code, marshalled, packed and in base 64.
    known : the names that every template knows.
    """

    concat = "".join
    getattr, getitem = staticmethod(getattr), staticmethod(getitem)

    def __init__(self, folder: Path, code: Mapping[str, tuple[int, str]], known: Mapping[str, object]) -> None:
        self.known = {"namespace": _Namespace, "range": range, **known}
        self.filters, self.tests = _FILTERS, _TESTS
        self.undefined = _unknown
        self._folder, self._code = folder, code
        self._loaded: dict[str, _Template] = {}

    def render(self, name: str, values: Mapping[str, object]) -> str:
        """Return a template's text.

        Raises
        ------
        Unusable, AttributeError
            If jinja is to be asked.
        """
        return "".join(self.get_template(name).root(_Context({**self.known, **values})))

    def get_template(self, name: str, importer: str | None = None) -> _Template:
        """Return a template by its name; jinja's code also passes the name of the importing template."""
        if name not in self._loaded:
            self._loaded[name] = _Template(self, self._root(name))
        return self._loaded[name]

    def _root(self, name: str) -> Callable[..., Iterable[str]]:
        checksum, packed = self._code.get(name, (0, ""))
        if not packed or crc32((self._folder / name).read_bytes()) != checksum:
            raise Unusable(f"{name} is not compiled, or has changed since")
        found: dict[str, Any] = {**_NAMES, "environment": self}
        exec(marshal.loads(decompress(a2b_base64(packed))), found)
        root: Callable[..., Iterable[str]] = found["root"]
        return root


class _Template:
    """A template's code, and the namespace that others import of it."""

    def __init__(self, owner: Compiled, root: Callable[..., Iterable[str]]) -> None:
        self.root = root
        self._known = owner.known
        self._default: SimpleNamespace | None = None

    def _get_default_module(self, importer: object) -> SimpleNamespace:
        """Return what the template defines where it is imported without context."""
        if self._default is None:
            self._default = self._module(self._known)
        return self._default

    def make_module(self, values: Mapping[str, object], shared: bool, own: Mapping[str, object]) -> SimpleNamespace:
        """Return what the template defines where it is imported with the context of its importer."""
        return self._module({**values, **{name: value for name, value in own.items() if value is not _MISSING}})

    def _module(self, values: Mapping[str, object]) -> SimpleNamespace:
        context = _Context(values)
        for _ in self.root(context):
            pass
        return SimpleNamespace(**{name: context.vars[name] for name in context.exported_vars})


class _Context:
    """The names that a template sees: those it was given and, on top, those it defines."""

    # C text is not escaped.
    eval_ctx = SimpleNamespace(autoescape=False, volatile=False)

    def __init__(self, given: Mapping[str, object]) -> None:
        self._given = given
        self.vars: dict[str, Any] = {}
        self.exported_vars: set[str] = set()

    def resolve_or_missing(self, name: str) -> Any:
        return self.vars[name] if name in self.vars else self._given.get(name, _MISSING)

    def get_all(self) -> dict[str, Any]:
        return {**self._given, **self.vars}

    @staticmethod
    def call(function: Callable[..., Any], *given: object, _loop_vars: object = None, **named: object) -> Any:
        return function(*given, **named)


class _Macro:
    """A macro: a function whose parameters may be left out or named."""

    def __init__(self, owner: object, function: Callable[..., str], name: str, names: tuple[str, ...], *more: bool):
        if any(more):
            raise Unusable(f"macro {name} takes what is not declared")
        self._function, self._name, self._names = function, name, names

    def __call__(self, *given: object, **named: object) -> str:
        rest = [named.pop(name, _MISSING) for name in self._names[len(given) :]]
        if named or len(given) > len(self._names):
            raise Unusable(f"macro {self._name} has no such parameters")
        return self._function(*given, *rest)


class _Loop:
    """The `loop` of a template's loop: it tells which iteration runs."""

    def __init__(self, items: Iterable[object], undefined: object) -> None:
        self._items = tuple(items)
        self.index0 = 0

    def __iter__(self) -> Iterator[tuple[object, _Loop]]:
        for at, item in enumerate(self._items):
            self.index0 = at
            yield item, self

    @property
    def first(self) -> bool:
        return self.index0 == 0

    @property
    def last(self) -> bool:
        return self.index0 == len(self._items) - 1


class _Namespace(SimpleNamespace):
    """Variables that a template sets from inside of a loop."""

    def __setitem__(self, name: str, value: object) -> None:
        setattr(self, name, value)


def _unknown(*given: object, **named: object) -> NoReturn:
    raise Unusable(f"{given} {named}")


def _nothing(*why: object) -> str:
    """The value of an `if` without `else`."""
    return ""


# jinja's code passes a context or an environment as the first argument of most filters; these do not need it.
def _join(_: object, items: Iterable[object], between: str = "", attribute: str | None = None) -> str:
    return between.join(map(str, items if attribute is None else _map(_, items, attribute)))


def _map(_: object, items: Iterable[object], attribute: str) -> Iterator[object]:
    return map(attrgetter(attribute), items)


def _select(_: object, items: Iterable[object], name: str, test: str = "true", *given: object) -> list[object]:
    holds, value = _TESTS[test], attrgetter(name)
    return [item for item in items if holds(value(item), *given)]


def _reject(_: object, items: Iterable[object], name: str, test: str = "true", *given: object) -> list[object]:
    kept = _select(_, items, name, test, *given)
    return [item for item in items if not any(item is one for one in kept)]


def _sum(_: object, items: Iterable[Any], attribute: str | None = None, start: Any = 0) -> Any:
    return sum(items if attribute is None else _map(_, items, attribute), start)


_MISSING = object()
_TESTS: dict[str, Callable[..., bool]] = {
    "none": lambda value: value is None,
    "equalto": lambda value, other: bool(value == other),
    "true": bool,
}
_FILTERS: dict[str, Callable[..., Any]] = {
    "join": _join,
    "length": len,
    "list": lambda _, items: list(items),
    "map": _map,
    "max": lambda _, items: max(items),
    "rejectattr": _reject,
    "selectattr": _select,
    "sum": _sum,
    "upper": lambda text: str(text).upper(),
}
# The names that the code would import from jinja2.runtime.
_NAMES: dict[str, object] = {
    "LoopContext": _Loop,
    "Macro": _Macro,
    "Namespace": _Namespace,
    "TemplateRuntimeError": Unusable,
    "Undefined": _nothing,
    "internalcode": lambda function: function,
    "missing": _MISSING,
    "str_join": lambda items: "".join(map(str, items)),
    **dict.fromkeys(("Markup", "TemplateNotFound", "TemplateReference", "escape", "identity", "markup_join"), _unknown),
}
