"""Options: the name, default, possible values and purpose of each, said once for Python and the command line.

In: nothing.  Out: the row type of the tables of options: for kernels in `pipeline.options`, for C in
`emit.standalone.form`, for readers of MLIR in `mlir.options`.

    Option("math", "accurate", "...", choices=("accurate", "fast")).check("slow")
        -> BcastgenError("math='slow' is not available; use 'accurate' or 'fast'")

The command line's flags, the checks with their messages, and defaults are made from rows. `tests/core/test_options.py`
checks that signatures and docstrings, which editors show, agree with the rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .errors import BcastgenError
from .frozen import dataclass, replace

__all__ = ["DYNAMIC", "VARIANTS", "Option", "option", "options_of"]


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

    def check(self, value: Any) -> None:
        """Raise unless the option may be this.

        Raises
        ------
        BcastgenError
            If it may not; the message names the option, the value and the possible values.
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
    flag="specialised inner loops; 0 for the one plain nest",
    metavar="N",
    least=0,
    least_is="the one plain nest",
)
