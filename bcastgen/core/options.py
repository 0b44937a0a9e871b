"""What an option is: its name, its default, what it may be, what it is for; said once, for Python and the command line.

In: nothing.  Out: rows, in tables of their own: of kernels in `pipeline.options`, of C in `emit.standalone.form`, of
readers of MLIR in `mlir.options`.

    Option("math", "accurate", "...", choices=("accurate", "fast")).check("slow")
        -> BcastgenError("math='slow' is not available; use 'accurate' or 'fast'")

The command line's flags, checks and their messages, and defaults are made from rows; signatures and docstrings, which
editors read, are held to them by `tests/core/test_options.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, fields, replace
from typing import Any

from .errors import BcastgenError
from .frozen import dataclass

__all__ = ["DYNAMIC", "VARIANTS", "Option", "option", "options_of"]


@dataclass(frozen=True, slots=True)
class Option:
    """One option.

    Attributes
    ----------
    name : in Python; on the command line with ``-`` for ``_``.
    default : what it is if nothing is said.
    doc : what it is for, as docstrings say it.
    choices : what it may be, if that can be listed.
    flag : what the command line says of its flag; "": the same as `doc`, None: there is none. A switch that is on by
        default has ``--no-NAME``, of which this is what is then the case.
    offered : those of `choices` that the command line has.
    metavar : what the command line calls the value of one that is no switch.
    least : the least that a number may be, and `least_is` what that means.
    parts : of a tuple of names: what each of them is for. Each is a flag.
    both : whether one that is on by default has ``--NAME``, too.
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
    both: bool = False

    def check(self, value: Any) -> None:
        """Raise unless the option may be this.

        Raises
        ------
        BcastgenError
            Naming the option, the value and what it may be.
        """
        if self.choices and value not in self.choices:
            *others, last = map(repr, self.choices)
            raise BcastgenError(f"{self.name}={value!r} is not available; use {', '.join(others)} or {last}")
        if self.least is not None and value is not None and (type(value) is not int or value < self.least):
            why = f" ({self.least} is {self.least_is})" if self.least_is else ""
            raise BcastgenError(f"{self.name} is {value!r}, expected {self.least} or more{why}")
        unknown = [name for name in value if name not in self.parts] if self.parts is not None else ()
        if unknown:
            raise BcastgenError(f"there is no {self.name} {unknown[0]!r}; there are {', '.join(self.parts or ())}")


def option(default: Any, doc: str, **more: Any) -> Any:
    """Return the field of a dataclass that is an option of the field's name; see :class:`Option`."""
    return field(default=default, metadata={"option": Option("", default, doc, **more)})


def options_of(kind: Any) -> tuple[Option, ...]:
    """Return the options that the fields of a dataclass are, in order."""
    return tuple(replace(one.metadata["option"], name=one.name) for one in fields(kind) if "option" in one.metadata)


# Of kernels, of their rules of broadcasting, and of MLIR's readers.
DYNAMIC = Option(
    "dynamic",
    "numpy",
    'how dims of unknown extent broadcast. ``"numpy"``: an extent that proves to be 1 stretches; '
    '``"strict"``: it has the result\'s extent, and others may stretch to it (seed 004); ``"trusted"``: the '
    "same, and nobody checks: a wrong shape is then undefined behaviour, except where the environment sets "
    "BCASTGEN_DEBUG.",
    ("numpy", "strict", "trusted"),
    "how unknown dims broadcast",
    # What is undefined behaviour if it is wrong is asked for in code.
    offered=("numpy", "strict"),
)
# Of kernels as well as of C that stands alone.
VARIANTS = Option(
    "variants",
    None,
    "number of specialised inner loops; 0 for the one plain nest, None for the usual number.",
    flag="specialised inner loops; 0 for the one plain nest",
    metavar="N",
    least=0,
    least_is="the one plain nest",
)
