"""Cheap dataclasses are the standard ones, as far as their users can tell."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import os
import pickle
import subprocess
import sys
from dataclasses import KW_ONLY
from types import SimpleNamespace

import pytest

from bcastgen.core import frozen


def defined(decorator, field=dataclasses.field):
    @decorator(frozen=True, slots=True)
    class Point:
        """A point."""

        x: int
        y: float = 0.5
        tags: list[str] = field(default_factory=list, compare=False)
        secret: str = field(default="-", repr=False)

        def __post_init__(self):
            if self.x < 0:
                raise ValueError("negative")

        @property
        def sum(self):
            return self.x + self.y

    @decorator(frozen=True, slots=True)
    class Named(Point):
        name: str = "n"

    @decorator(frozen=True, slots=True, eq=False)
    class Node:
        value: int

        def __repr__(self):
            return f"node {self.value}"

    @decorator(frozen=True, slots=True)
    class Alike:
        value: int

        def __eq__(self, other):
            return isinstance(other, Alike)

    @decorator(frozen=True, slots=True)
    class Nothing:
        pass

    @decorator(frozen=True, slots=True)
    class Flagged:
        value: int
        _: KW_ONLY
        least: int = 0
        flags: list[str] = field(default_factory=list, compare=False)
        most: int

    @decorator(frozen=True, slots=True)
    class Longer(Flagged):
        unit: str = "m"

    return SimpleNamespace(
        point=Point, named=Named, node=Node, alike=Alike, nothing=Nothing, flagged=Flagged, longer=Longer
    )


CHEAP = defined(frozen.dataclass, frozen.field)


def both(call):
    """What a call comes to with either kind of class."""
    found = []
    for kind in (defined(frozen.dataclass, frozen.field), defined(dataclasses.dataclass)):
        try:
            found.append(call(kind))
        except Exception as error:
            found.append((type(error), str(error).replace("defined.<locals>.", "")))
    return found


@pytest.mark.parametrize(
    "call",
    [
        lambda k: repr(k.point(1)),
        lambda k: repr(k.named(1, 2, ["a"], "b", "c")),
        lambda k: repr(k.node(1)),
        lambda k: repr(k.nothing()),
        lambda k: (k.point(1) == k.point(1, tags=["x"]), k.point(1) == k.point(2), k.point(1) == 1),
        lambda k: (k.point(1) == k.named(1), k.named(1) == k.named(1), k.nothing() == k.nothing()),
        lambda k: hash(k.point(1, 2.0)) == hash(k.point(1, 2.0, ["t"])),
        lambda k: [hash(kind(1)) == hash(kind(1)) != hash(kind(2)) for kind in (k.point, k.named, k.alike)],
        lambda k: hash(k.nothing()) == hash(k.nothing()),
        lambda k: (k.node(1) == k.node(1), len({k.node(1), k.node(1)})),
        lambda k: k.alike(1) == k.alike(2),
        lambda k: k.point(1).sum,
        lambda k: k.point(1).tags is k.point(1).tags,
        lambda k: k.point(-1),
        lambda k: k.point(),
        lambda k: k.point(1, 2, 3, 4, 5),
        lambda k: k.point(1, z=1),
        lambda k: setattr(k.point(1), "x", 2),
        lambda k: delattr(k.point(1), "x"),
        lambda k: (k.point.__slots__, k.point.__match_args__, k.named.__match_args__),
        lambda k: hasattr(k.point(1), "__dict__"),
        lambda k: repr(dataclasses.replace(k.named(1), x=5, name="m")),
        lambda k: dataclasses.asdict(k.named(1)),
        lambda k: [(one.name, one.type, one.init, one.repr, one.compare) for one in dataclasses.fields(k.named)],
        lambda k: repr(copy.deepcopy(k.named(1, tags=["a"]))),
        lambda k: (k.point.__doc__, k.point.__module__),
        lambda k: [p.kind for p in inspect.signature(k.named).parameters.values()],
        lambda k: list(inspect.signature(k.named).parameters),
        lambda k: dataclasses.is_dataclass(k.point),
        lambda k: (repr(k.flagged(1, most=2)), repr(k.flagged(most=2, flags=["f"], value=1))),
        lambda k: (k.flagged(1, most=2, flags=["f"]) == k.flagged(1, most=2), hash(k.flagged(1, most=2))),
        lambda k: k.flagged(1, 2),
        lambda k: k.flagged(1, 2, most=3),
        lambda k: k.flagged(1),
        lambda k: k.flagged(1, most=3, value=2),
        lambda k: (k.flagged.__match_args__, k.flagged.__slots__, k.longer.__match_args__),
        lambda k: (repr(k.longer(1, "cm", most=2)), repr(k.longer(1, most=2))),
        lambda k: str(inspect.signature(k.flagged)).partition("flags")[0],
        lambda k: sorted(inspect.signature(k.longer).parameters),
        lambda k: [(one.name, one.kw_only) for one in dataclasses.fields(k.flagged)],
        lambda k: repr(dataclasses.replace(k.flagged(1, most=2), least=1)),
        lambda k: repr(pickle.loads(pickle.dumps(dataclasses.astuple(k.longer(1, most=2))))),
    ],
)
@pytest.mark.parametrize("few", [0, 10**6])
def test_they_agree(call, few, monkeypatch):
    """The first instances are made field by field, the later ones by a function that is compiled."""
    monkeypatch.setattr(frozen, "_FEW", few)
    cheap, standard = both(call)
    assert cheap == standard


def test_a_copy_with_other_values():
    copied = frozen.replace(CHEAP.named(1, tags=["a"]), x=5, name="m")
    assert copied == dataclasses.replace(CHEAP.named(1, tags=["a"]), x=5, name="m")
    assert (copied.x, copied.tags, copied.name) == (5, ["a"], "m")
    with pytest.raises(TypeError, match="z"):
        frozen.replace(CHEAP.named(1), z=1)


def test_positions_match():
    match CHEAP.named(1, 2.0):
        case CHEAP.point(x, y, secret=text):
            assert (x, y, text) == (1, 2.0, "-")
        case _:
            pytest.fail("no match")


@frozen.dataclass(frozen=True, slots=True)
class Kept:
    value: int


def test_they_are_pickled():
    assert pickle.loads(pickle.dumps(Kept(3))) == Kept(3)


def test_what_is_not_frozen_is_refused():
    with pytest.raises(TypeError, match=r"use dataclasses\.dataclass"):
        frozen.dataclass(frozen=False, slots=True)


def test_the_package_defines_no_other_frozen_ones(tmp_path):
    """Each would cost a first call what ten cheap ones do, and the first one that of importing the standard module."""
    code = """
import sys
import bcastgen as bg, numpy as np
before = "dataclasses" in sys.modules
bg.jit(lambda a, b: a * b + 1)(np.ones(3), 2.0)
print(before or "dataclasses" not in sys.modules)
"""
    cold = os.environ | {"BCASTGEN_CACHE_DIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=cold)
    assert done.stdout.split() == ["True"]


def test_a_class_is_made_while_another_thread_is_about_to_import_dataclasses(monkeypatch):
    monkeypatch.setitem(sys.modules, "dataclasses", SimpleNamespace())

    @frozen.dataclass(frozen=True, slots=True)
    class Point:
        x: int
        y: int = 2

    assert (Point(1).x, Point(1).y) == (1, 2)


def test_unknown_names_are_refused_beside_a_base_that_takes_any():
    class Base:
        """Has a __dict__."""

    @frozen.dataclass(frozen=True, slots=True)
    class Point(Base):
        x: int
        y: int = 2

    with pytest.raises(TypeError, match="z"):
        Point(z=1)
    assert (Point(1).x, Point(1).y) == (1, 2)
