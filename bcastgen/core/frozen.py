"""Frozen dataclasses with slots that cost little to define: `dataclass`, for ``frozen=True, slots=True`` only.

In: a class with annotated fields.  Out: what :func:`dataclasses.dataclass` makes of it, as far as its users can tell.

    @dataclass(frozen=True, slots=True)
    class Point: ...

The standard one compiles seven functions for each class, which for a hundred classes takes a third of a first call's
time. Here classes share all functions but ``__init__``, and that one is compiled when a class has some instances: to
compile it takes as long as to set the fields of dozens one by one, and most classes have few.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import MISSING, Field, FrozenInstanceError, field
from inspect import Signature, get_annotations, signature
from operator import attrgetter
from typing import TYPE_CHECKING, Any

__all__ = ["dataclass"]

if TYPE_CHECKING:
    # Type checkers know the standard one.
    from dataclasses import dataclass
else:

    def dataclass(*, frozen, slots, eq=True):
        """Return the decorator for classes that are frozen, have slots, and compare by value (`eq`) or by identity."""
        if not (frozen and slots):
            raise TypeError("not frozen, or without slots: use dataclasses.dataclass")
        return lambda cls: _made(cls, eq)


_FIELDS = "__dataclass_fields__"
# How many instances of a class are made before its __init__ is compiled.
_FEW = 32
# The mark by which `dataclasses` tells plain fields from pseudo-fields.
_PLAIN = dataclasses._FIELD  # type: ignore[attr-defined]


def _made(cls: type, by_value: bool) -> type:
    """Return a copy of a class with slots for its fields and with the methods that it does not define itself."""
    fields: dict[str, Field[Any]] = {}
    for base in reversed(cls.__mro__[1:]):
        fields.update(base.__dict__.get(_FIELDS, {}))
    inherited = set(fields)
    fields.update((name, _field(cls, name, kind)) for name, kind in get_annotations(cls).items())
    members = {name: value for name, value in cls.__dict__.items() if name not in fields}
    for name in ("__dict__", "__weakref__"):
        members.pop(name, None)
    if by_value and "__eq__" in members and members.get("__hash__") is None:
        # Python sets __hash__ to None in a class that defines __eq__.
        members.pop("__hash__", None)
    made_of = {"__init__": _first_init, **_SHARED, **(_by_value(fields) if by_value else {})}
    for name, value in made_of.items():
        members.setdefault(name, value)
    members["__slots__"] = tuple(name for name in fields if name not in inherited)
    members["__match_args__"] = tuple(name for name, field in fields.items() if field.init)
    members[_FIELDS] = fields
    made = type(cls)(cls.__name__, cls.__bases__, members)
    made.__qualname__ = cls.__qualname__
    return made


def _field(cls: type, name: str, kind: Any) -> Field[Any]:
    """Return the standard description of a field, which `dataclasses.replace` and the like read."""
    default = cls.__dict__.get(name, MISSING)
    made: Any = default if isinstance(default, Field) else field(default=default)
    made.name, made.type, made._field_type = name, kind, _PLAIN
    return made  # type: ignore[no-any-return]


# ---- functions that all classes share --------------------------------------------------------------------------------


def _first_init(self: Any, *given: Any, **by_name: Any) -> None:
    """Set the fields of one of a class's first instances; then compile the class's own __init__ for those to come."""
    kind: Any = type(self)
    made = _made_of.get(kind, 0) + 1
    _made_of[kind] = made
    if made <= _FEW and _set_fields(self, getattr(kind, _FIELDS), given, by_name):
        if hasattr(kind, "__post_init__"):
            self.__post_init__()
        return
    # Another thread may have done so meanwhile.
    for cls in (cls for cls in kind.__mro__ if cls.__dict__.get("__init__") is _first_init):
        cls.__init__ = _init_of(cls)
        break
    kind.__init__(self, *given, **by_name)


# How many instances the classes have whose __init__ is not compiled yet.
_made_of: dict[type, int] = {}


def _set_fields(self: Any, fields: dict[str, Field[Any]], given: tuple[Any, ...], by_name: dict[str, Any]) -> bool:
    """Set the fields of an instance; return False if the arguments are not its fields: the compiled one says why."""
    values = dict(zip(fields, given, strict=False))
    if len(given) > len(fields) or not (by_name.keys() <= fields.keys() - values.keys()):
        return False
    values.update(by_name)
    for name, one in fields.items():
        if name in values:
            value = values[name]
        elif one.default is not MISSING:
            value = one.default
        elif one.default_factory is not MISSING:
            value = one.default_factory()
        else:
            return False
        object.__setattr__(self, name, value)
    return True


def _init_of(cls: Any) -> Any:
    """Return an __init__ that sets the slots."""
    known: dict[str, Any] = {"_MISSING": MISSING}
    parameters, lines = [], []
    for name, one in getattr(cls, _FIELDS).items():
        known[f"_set_{name}"] = getattr(cls, name).__set__
        value = name
        if one.default is not MISSING:
            known[f"_default_{name}"] = one.default
            parameters.append(f"{name}=_default_{name}")
        elif one.default_factory is not MISSING:
            known[f"_make_{name}"] = one.default_factory
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
    init.__annotations__ = {name: one.type for name, one in getattr(cls, _FIELDS).items()} | {"return": None}
    return init


class _SignatureOfInit:
    """Gives `help` and the like the signature of a class whose __init__ is not compiled yet."""

    def __get__(self, _instance: Any, cls: type) -> Signature:
        found = signature(_init_of(cls))
        return found.replace(parameters=list(found.parameters.values())[1:])


def _repr(self: Any) -> str:
    shown = (f"{name}={getattr(self, name)!r}" for name, one in getattr(self, _FIELDS).items() if one.repr)
    return f"{type(self).__qualname__}({', '.join(shown)})"


def _refuse_set(self: Any, name: str, _value: Any) -> None:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_delete(self: Any, name: str) -> None:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _state(self: Any) -> list[Any]:
    return [getattr(self, name) for name in getattr(self, _FIELDS)]


def _set_state(self: Any, state: list[Any]) -> None:
    for name, value in zip(getattr(self, _FIELDS), state, strict=True):
        object.__setattr__(self, name, value)


_SHARED = {
    "__signature__": _SignatureOfInit(),
    "__repr__": _repr,
    "__setattr__": _refuse_set,
    "__delattr__": _refuse_delete,
    "__getstate__": _state,
    "__setstate__": _set_state,
}


def _by_value(fields: dict[str, Field[Any]]) -> dict[str, Any]:
    """Return the methods that compare and hash the values of fields."""
    names = [name for name, one in fields.items() if one.compare]
    values: Callable[[Any], Any] = attrgetter(*names) if len(names) > 1 else _few(names)

    def __eq__(self: Any, other: Any) -> Any:
        return values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented

    def __hash__(self: Any) -> int:
        return hash(values(self))

    return {"__eq__": __eq__, "__hash__": __hash__}


def _few(names: list[str]) -> Callable[[Any], Any]:
    # Compare tuples even for one field: in a tuple a NaN equals itself, as it does in classes of more fields.
    return lambda self: tuple([getattr(self, name) for name in names])
