"""Frozen dataclasses with slots that cost little to define: `dataclass`, for ``frozen=True, slots=True`` only.

In: a class with annotated fields.  Out: what :func:`dataclasses.dataclass` makes of it, as far as its users can tell.

    @dataclass(frozen=True, slots=True)
    class Point: ...

The standard one compiles seven functions for each class, which for a hundred classes takes a third of a first call's
time. Here classes share all functions but ``__init__``, and that one is compiled when a class has some instances: to
compile it takes as long as to set the fields of dozens one by one, and most classes have few. The standard module is
imported when something asks for what only it has; a call of a kernel on disk does not, and the import would take as
long as that of ten of our modules.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from inspect import Signature, get_annotations, signature
from operator import attrgetter
from typing import TYPE_CHECKING, Any

__all__ = ["KW_ONLY", "dataclass", "field", "replace"]

if TYPE_CHECKING:
    # Type checkers know the standard ones.
    from dataclasses import KW_ONLY, dataclass, field, replace
else:
    # The type of a pseudo-field `_`: the fields after it are given by name.
    KW_ONLY = "KW_ONLY"

    def dataclass(*, frozen, slots, eq=True):
        """Return the decorator for classes that are frozen, have slots, and compare by value (`eq`) or by identity."""
        if not (frozen and slots):
            raise TypeError("not frozen, or without slots: use dataclasses.dataclass")
        return lambda cls: _frozen_class(cls, eq)

    def replace(instance, /, **changes):
        """Return a copy of an instance of such a class, with some fields changed; see `dataclasses.replace`."""
        return type(instance)(**{**dict(zip(instance._fields.kinds, _state(instance), strict=True)), **changes})

    def field(**said):
        """Return the description of a field: `default`, `default_factory`, `compare`, `repr` of `dataclasses.field`."""
        return _Described(**said)


# How many instances of a class are made before its __init__ is compiled.
_FEW = 32
# The argument of a field that a call leaves out, and whose default is made anew for each instance.
_MISSING = object()


class _Described:
    """The description of a field that :func:`field` gave."""

    __slots__ = ("compare", "default", "default_factory", "repr", "said")

    def __init__(
        self, *, default: Any = _MISSING, default_factory: Any = _MISSING, compare: bool = True, repr: bool = True
    ) -> None:
        self.default, self.default_factory, self.compare, self.repr = default, default_factory, compare, repr
        said = {"default": default, "default_factory": default_factory}
        self.said = {"compare": compare, "repr": repr, **{key: one for key, one in said.items() if one is not _MISSING}}


class _Fields:
    """The fields of a class, as its ``_fields``.

    Attributes
    ----------
    kinds : name -> type, in order; those of base classes come first.
    inherited : the names of those of base classes.
    defaults, factories : name -> the default, or what makes it.
    described : name -> the description that :func:`field` or :func:`dataclasses.field` gave.
    by_name : the names of those that are given by name only.
    positional : the names of the others.
    instances : how many instances the class has, as long as its __init__ is not compiled.
    """

    __slots__ = ("by_name", "defaults", "described", "factories", "inherited", "instances", "kinds", "positional")

    def __init__(self, cls: type) -> None:
        self.kinds: dict[str, Any] = {}
        self.defaults: dict[str, Any] = {}
        self.factories: dict[str, Callable[[], Any]] = {}
        self.described: dict[str, Any] = {}
        self.by_name: tuple[str, ...] = ()
        self.instances = 0
        for base in reversed(cls.__mro__[1:]):
            known = base.__dict__.get("_fields")
            if isinstance(known, _Fields):
                self.kinds.update(known.kinds)
                self.defaults.update(known.defaults)
                self.factories.update(known.factories)
                self.described.update(known.described)
                self.by_name += known.by_name
        self.inherited = frozenset(self.kinds)
        own = get_annotations(cls)
        if "_" in own:
            names = list(own)
            self.by_name += tuple(names[names.index("_") + 1 :])
            del own["_"]
        self.kinds.update(own)
        self.positional = tuple([name for name in self.kinds if name not in self.by_name])
        members = cls.__dict__
        for name in own:
            if name in members:
                self._add(name, members[name])

    def _add(self, name: str, default: Any) -> None:
        """Note what a class says of a field: its default, or the description that `field` made."""
        missing: Any = _MISSING
        if not isinstance(default, _Described):
            # A module that describes a field by the standard `field` has imported its module; elsewhere another thread
            # may be about to.
            standard = sys.modules.get("dataclasses")
            described = getattr(standard, "Field", None)
            if described is None or not isinstance(default, described):
                self.defaults[name] = default
                return
            missing = getattr(standard, "MISSING", None)
        self.described[name] = default
        if default.default is not missing:
            self.defaults[name] = default.default
        if default.default_factory is not missing:
            self.factories[name] = default.default_factory


class _Standard:
    """Gives `dataclasses.replace` and the like the standard descriptions of a class's fields."""

    def __get__(self, _instance: Any, cls: Any) -> dict[str, Any]:
        import dataclasses  # noqa: PLC0415 - most processes ask for no descriptions

        fields: _Fields = cls._fields
        made: dict[str, Any] = {}
        for name, kind in fields.kinds.items():
            default = fields.defaults.get(name, dataclasses.MISSING)
            one: Any = fields.described.get(name) or dataclasses.field(default=default)
            if isinstance(one, _Described):
                one = dataclasses.field(**one.said)
            # The mark tells plain fields from pseudo-fields.
            one.name, one.type, one._field_type = name, kind, dataclasses._FIELD  # type: ignore[attr-defined]
            one.kw_only = name in fields.by_name
            made[name] = one
        return made


def _frozen_class(cls: type, by_value: bool) -> type:
    """Return a copy of a class with slots for its fields and with the methods that it does not define itself."""
    fields = _Fields(cls)
    members = {name: value for name, value in cls.__dict__.items() if name not in fields.kinds}
    for name in ("__dict__", "__weakref__", "_"):
        members.pop(name, None)
    if by_value and "__eq__" in members and members.get("__hash__") is None:
        # Python sets __hash__ to None in a class that defines __eq__.
        members.pop("__hash__", None)
    members = {**_SHARED, **(_by_value(fields) if by_value else {}), **members}
    members.setdefault("__match_args__", fields.positional)
    members["__slots__"] = tuple(name for name in fields.kinds if name not in fields.inherited)
    members["_fields"] = fields
    made = type(cls)(cls.__name__, cls.__bases__, members)
    made.__qualname__ = cls.__qualname__
    return made


# ---- functions that all classes share --------------------------------------------------------------------------------


def _first_init(self: Any, *given: Any, **by_name: Any) -> None:
    """Set the fields of one of a class's first instances; then compile the class's own __init__ for those to come."""
    kind: Any = type(self)
    fields: _Fields = kind._fields
    fields.instances += 1
    if fields.instances <= _FEW and _set_fields(self, fields, given, by_name):
        if hasattr(kind, "__post_init__"):
            self.__post_init__()
        return
    # Another thread may have done so meanwhile.
    for cls in (cls for cls in kind.__mro__ if cls.__dict__.get("__init__") is _first_init):
        cls.__init__ = _init_of(cls)
        break
    kind.__init__(self, *given, **by_name)


def _set_fields(self: Any, fields: _Fields, given: tuple[Any, ...], by_name: dict[str, Any]) -> bool:
    """Set the fields of an instance; return False if the arguments are not its fields: the compiled one says why."""
    if len(given) > len(fields.positional) or not by_name.keys() <= fields.kinds.keys():
        return False
    if by_name and not by_name.keys().isdisjoint(fields.positional[: len(given)]):
        return False
    values = {**fields.defaults, **dict(zip(fields.positional, given, strict=False)), **by_name}
    for name, make in fields.factories.items():
        if name not in values:
            values[name] = make()
    if len(values) < len(fields.kinds):
        return False
    set_field = object.__setattr__
    for name, value in values.items():
        set_field(self, name, value)
    return True


def _init_of(cls: Any) -> Any:
    """Return an __init__ that sets the slots."""
    fields: _Fields = cls._fields
    known: dict[str, Any] = {"_MISSING": _MISSING}
    parameters: list[str] = []
    lines: list[str] = []
    for name in (*fields.positional, *fields.by_name):
        if name in fields.by_name and "*" not in parameters:
            parameters.append("*")
        known[f"_set_{name}"] = getattr(cls, name).__set__
        value = name
        if name in fields.defaults:
            known[f"_default_{name}"] = fields.defaults[name]
            parameters.append(f"{name}=_default_{name}")
        elif name in fields.factories:
            known[f"_make_{name}"] = fields.factories[name]
            parameters.append(f"{name}=_MISSING")
            value = f"_make_{name}() if {name} is _MISSING else {name}"
        else:
            parameters.append(name)
        lines.append(f"    _set_{name}(self, {value})")
    if hasattr(cls, "__post_init__"):
        lines.append("    self.__post_init__()")
    exec("\n".join((f"def __init__({', '.join(('self', *parameters))}):", *lines, "    return None")), known)
    init = known["__init__"]
    init.__qualname__ = f"{cls.__qualname__}.__init__"
    init.__annotations__ = {**fields.kinds, "return": None}
    return init


class _SignatureOfInit:
    """Gives `help` and the like the signature of a class whose __init__ is not compiled yet."""

    def __get__(self, _instance: Any, cls: type) -> Signature:
        found = signature(_init_of(cls))
        return found.replace(parameters=list(found.parameters.values())[1:])


def _repr(self: Any) -> str:
    fields: _Fields = self._fields
    shown = (
        f"{name}={getattr(self, name)!r}"
        for name in fields.kinds
        if name not in fields.described or fields.described[name].repr
    )
    return f"{type(self).__qualname__}({', '.join(shown)})"


def _refuse_set(self: Any, name: str, _value: Any) -> None:
    from dataclasses import FrozenInstanceError  # noqa: PLC0415 - only an error needs it

    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_delete(self: Any, name: str) -> None:
    from dataclasses import FrozenInstanceError  # noqa: PLC0415 - only an error needs it

    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _state(self: Any) -> list[Any]:
    return [getattr(self, name) for name in self._fields.kinds]


def _set_state(self: Any, state: list[Any]) -> None:
    for name, value in zip(self._fields.kinds, state, strict=True):
        object.__setattr__(self, name, value)


_SHARED = {
    "__init__": _first_init,
    "__dataclass_fields__": _Standard(),
    "__signature__": _SignatureOfInit(),
    "__repr__": _repr,
    "__setattr__": _refuse_set,
    "__delattr__": _refuse_delete,
    "__getstate__": _state,
    "__setstate__": _set_state,
}


def _by_value(fields: _Fields) -> dict[str, Any]:
    """Return the methods that compare and hash the values of fields."""
    names = [name for name in fields.kinds if name not in fields.described or fields.described[name].compare]
    values: Callable[[Any], Any] = attrgetter(*names) if len(names) > 1 else _few(names)

    def __eq__(self: Any, other: Any) -> Any:
        return values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented

    def __hash__(self: Any) -> int:
        return hash(values(self))

    return {"__eq__": __eq__, "__hash__": __hash__}


def _few(names: list[str]) -> Callable[[Any], Any]:
    # Compare tuples even for one field: in a tuple a NaN equals itself, as it does in classes of more fields.
    return lambda self: tuple([getattr(self, name) for name in names])
