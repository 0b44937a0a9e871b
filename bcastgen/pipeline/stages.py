"""The stages of a kernel, one row each, and their texts by name; an unknown name is told with the known ones.

In: texts by name.  Out: a dict.

    Stages({"nest": "..."})["nset"]  ->  KeyError: no stage 'nset'; did you mean nest? the stages are nest
"""

from __future__ import annotations

from typing import NamedTuple, NoReturn

from ..core.near_names import did_you_mean

__all__ = ["DUMPED", "MEANINGS", "REWRITE", "STAGES", "Stages"]


class _Stage(NamedTuple):
    """A stage: its name, what `explain` says of it, whether all kernels have it, whether BCASTGEN_DUMP may name it."""

    name: str
    says: str
    always: bool = True
    dumped: bool = False


# The row of every stage that has none of its own: those are rewrites.
REWRITE = "rewrite"
_ROWS = (
    _Stage("constants", "arrays that are part of the kernel", always=False),
    _Stage("expression", "what was written"),
    _Stage("typed", "the dtype of every value, by NumPy's rules; conversions are casts", dumped=True),
    _Stage(
        "nest",
        "the loops, and the element of each operand that a point reads; d0|0 is 0 where the operand's extent is 1",
        dumped=True,
    ),
    _Stage("constraints", "what shapes have to fulfil; what is proved costs nothing at run time"),
    _Stage(
        "shape",
        "the program that computes the shapes of the results, and nothing else; %a is the shape of a",
        dumped=True,
    ),
    # BCASTGEN_DUMP's name for all of them; a kernel's stages have each that changed something under its own name.
    _Stage(
        REWRITE,
        "a rewrite: its reason, what it changes (values are numbered as above), and the nests after it, numbered anew",
        always=False,
        dumped=True,
    ),
    _Stage("other_rewrites", "those that found nothing to change", always=False),
    _Stage(
        "schedule",
        "the inner loops; along each, an array is unit (element by element) or zero (one element for all)",
        dumped=True,
    ),
    _Stage("c", "the kernel's own functions", dumped=True),
    _Stage(
        "standalone_schedule",
        "the loops of the C that `bcastgen emit` writes by default; any is any stride",
        always=False,
        dumped=True,
    ),
    _Stage(
        "ran",
        "the loops of all binaries, who asked for them, and what calls ran; patterns without a loop, too",
        always=False,
    ),
    _Stage(
        "measured",
        "what calls take beside the least that this machine could; the limit is the longer of the last rows",
        always=False,
    ),
)
# Those that every kernel has, those that BCASTGEN_DUMP may name, and what each is.
STAGES = tuple(row.name for row in _ROWS if row.always)
DUMPED = tuple(row.name for row in _ROWS if row.dumped)
MEANINGS = {row.name: row.says for row in _ROWS}


class Stages(dict[str, str]):
    """A dict whose KeyError says which keys there are."""

    def __missing__(self, name: object) -> NoReturn:
        meant = did_you_mean(str(name), self) or ";"
        raise KeyError(f"no stage {name!r}{meant} the stages are {', '.join(self)}")
