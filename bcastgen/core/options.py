"""Options: the name, default, possible values and purpose of each, said once for Python and the command line.

In: nothing.  Out: the row type of the tables of options: for kernels in `pipeline.options`, for C in
`emit.standalone.form`, for readers of MLIR in `mlir.options`.

    Option("math", "accurate", "...", choices=("accurate", "fast")).check("slow")
        -> BcastgenError("math='slow' is not available; use 'accurate' or 'fast'")

The command line's flags, the checks with their messages, and defaults are made from rows. `tests/core/test_options.py`
checks that signatures and docstrings, which editors show, agree with the rows.

Arguments are of any kind that Python has. A comparison with an array is an array, a class has an `__index__` that it
cannot call, and a list has no hash; so :func:`whole` and those beside it ask for the kind of a value before its value.
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Mapping
from typing import Any

import numpy as np

from .errors import BcastgenError
from .frozen import dataclass, replace

__all__ = [
    "DYNAMIC",
    "VARIANTS",
    "Option",
    "check_name",
    "check_switch",
    "is_hashable",
    "is_switch",
    "names_of",
    "option",
    "options_of",
    "whole",
]


def whole(value: Any) -> int | None:
    """Return the int that a value stands for; None if it is no integer, as a bool is none.

    Examples
    --------
    >>> whole(np.int8(3)), whole(True), whole(2.0), whole(int)
    (3, None, None, None)
    """
    if isinstance(value, (bool, np.bool_)):
        return None
    try:
        return operator.index(value)
    except TypeError:
        return None


def is_switch(value: Any) -> bool:
    """Whether a value is True or False, as 1, 0 and NumPy's are.

    Examples
    --------
    >>> is_switch(np.True_), is_switch(0), is_switch("no"), is_switch(None)
    (True, True, False, False)
    """
    return isinstance(value, (bool, np.bool_)) or (type(value) is int and value in (0, 1))


def check_switch(name: str, value: Any) -> None:
    """Raise unless a value is True or False.

    Raises
    ------
    BcastgenError
        If it is neither.
    """
    if not is_switch(value):
        raise BcastgenError(f"{name}={value!r} is no switch; use True or False")


def is_hashable(value: Any) -> bool:
    """Whether a value has a hash: a tuple of lists has none.

    Examples
    --------
    >>> is_hashable((1, 2)), is_hashable(([],))
    (True, False)
    """
    try:
        hash(value)
    except TypeError:
        return False
    return True


def check_name(name: Any) -> None:
    """Raise unless a name is text.

    Raises
    ------
    BcastgenError
        If it is none.
    """
    if not isinstance(name, str):
        raise BcastgenError(f"name={name!r} is no name; give text")
    if not name.isascii() and any("\ud800" <= character <= "\udfff" for character in name):
        raise BcastgenError(f"name={name!r} has half a character, which no file can hold; give text")


def names_of(parameter: str, value: Any) -> tuple[str, ...]:
    """Return several names, or one, as a tuple.

    Raises
    ------
    BcastgenError
        If they are not text.

    Examples
    --------
    >>> names_of("static", "n"), names_of("static", ["n", "m"])
    (('n',), ('n', 'm'))
    """
    if isinstance(value, str):
        return (value,)
    names = tuple(value) if isinstance(value, (list, tuple, set, frozenset, dict)) else (None,)
    if not all(isinstance(name, str) for name in names):
        raise BcastgenError(f"{parameter}={value!r} are no names; give a tuple of texts")
    return names


@dataclass(frozen=True, slots=True)
class Option:
    """One option.

    Attributes
    ----------
    name : the name in Python; on the command line it has ``-`` for ``_``.
    default : the value if none is given.
    doc : its purpose, in the words of docstrings.
    choices : the possible values, if they can be listed.
    flag : the command line's help for its flag; "" for the text of `doc`, None if there is no flag. A switch that is on
        by default has the flag ``--no-NAME``, and this text says what holds with it.
    offered : the `choices` that the command line takes.
    metavar : the name of the value in the command line's help, for an option that is no switch.
    least : the least value of a number; `least_is` says what that value means.
    parts : for an option that is a tuple of names, the purpose of each name. Each has a flag of its own.
    several : whether it is a tuple of names that the command line takes with commas between them.
    """

    name: str
    default: Any
    doc: str
    choices: tuple[str, ...] = ()
    flag: str | None = ""
    offered: tuple[str, ...] = ()
    metavar: str | None = None
    least: int | None = None
    least_is: str = ""
    parts: Mapping[str, str] | None = None
    several: bool = False

    def check(self, value: Any) -> None:
        """Raise unless the option may be this.

        Raises
        ------
        BcastgenError
            If it may not; the message names the option, the value and the possible values.
        """
        if self.choices and not (isinstance(value, str) and value in self.choices):
            *others, last = map(repr, self.choices)
            raise BcastgenError(f"{self.name}={value!r} is not available; use {', '.join(others)} or {last}")
        if isinstance(self.default, bool):
            check_switch(self.name, value)
        is_counted = type(value) is int and self.least is not None and self.least <= value <= sys.maxsize
        if self.least is not None and value is not None and not is_counted:
            why = f" ({self.least} is {self.least_is})" if self.least_is else ""
            raise BcastgenError(f"{self.name} is {value!r}, expected {self.least} or more{why}")
        unknown = [name for name in value if name not in self.parts] if self.parts is not None else ()
        if unknown:
            raise BcastgenError(f"there is no {self.name} {unknown[0]!r}; there are {', '.join(self.parts or ())}")


def option(default: Any, doc: str, **more: Any) -> Any:
    """Return the field of a dataclass that is an option of the field's name; see :class:`Option`."""
    from dataclasses import field  # noqa: PLC0415 - kernels have their options in a table

    return field(default=default, metadata={"option": Option("", default, doc, **more)})


def options_of(kind: Any) -> tuple[Option, ...]:
    """Return the options that a dataclass has as fields, in order."""
    from dataclasses import fields  # noqa: PLC0415 - kernels have their options in a table

    return tuple(replace(one.metadata["option"], name=one.name) for one in fields(kind) if "option" in one.metadata)


# An option of kernels, of their rules of broadcasting, and of MLIR's readers.
DYNAMIC = Option(
    "dynamic",
    "numpy",
    'how dims of unknown extent broadcast. ``"numpy"``: an extent that proves to be 1 stretches; '
    '``"strict"``: it has the result\'s extent, and others may stretch to it; ``"trusted"``: the '
    "same, and nobody checks: a wrong shape is then undefined behaviour, except where the environment sets "
    "BCASTGEN_DEBUG.",
    ("numpy", "strict", "trusted"),
    "how unknown dims broadcast",
    # "trusted" is undefined behaviour if shapes are wrong, so only code can ask for it.
    offered=("numpy", "strict"),
)
# An option of kernels and of standalone C.
VARIANTS = Option(
    "variants",
    None,
    "number of specialised inner loops; 0 for the one plain nest, None for as many as pay.",
    flag="at most N specialised inner loops; 0 for one plain nest, the shortest C",
    metavar="N",
    least=0,
    least_is="the one plain nest",
)
