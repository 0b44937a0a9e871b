"""The table of ops: one row for each semantics; front ends, type rules, C, tests and docs are derived from it.

In: a row's name or alias.  Out: its :class:`Op`, which knows its dtype rule, its C and its reference.

    OPS["add"].doc   -> "Sum; integers wrap, bool is a logical or."
    find_op("asin")  -> OPS["arcsin"]

The rows are in ``rows``, a family in each file, and those that only TOSA has in ``tosa_rows``. To add an op, add a row
to a family (CONTRIBUTING.md walks through one); ``row`` says what a row holds and what a template may say, and
``dtype_rules`` has dtype rules. Ops that users define at run time (``define_op``) are rows, too, kept apart from the
table: ``OPS`` never changes, :func:`find_op` finds both.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ..core.errors import BcastgenError
from ..core.forks import undivided
from .row import Definition, Op
from .rows.arithmetic import ARITHMETIC
from .rows.bits import BITS
from .rows.comparisons import COMPARISONS, FLOAT_CLASSES
from .rows.complex_parts import COMPLEX_PARTS
from .rows.functions import FUNCTIONS
from .rows.numbers import NUMBERS
from .rows.selection import EXTREMA, ROUNDING, SELECTION
from .rows.special import SPECIAL
from .tosa_rows import TOSA_ROWS

__all__ = ["CALLED_WITH_MORE", "CAST", "DEFINED", "OPS", "SEVERAL", "find_op", "known_ops"]

# In the order in which they are listed.
_ROWS: tuple[Op, ...] = (
    *ARITHMETIC,
    *FUNCTIONS,
    *COMPLEX_PARTS,
    *SPECIAL,
    *ROUNDING,
    *EXTREMA,
    *COMPARISONS,
    *BITS,
    *FLOAT_CLASSES,
    *NUMBERS,
    *SELECTION,
    *TOSA_ROWS,
)

OPS: dict[str, Op] = {row.name: row for row in _ROWS}
# The row of the conversions that analyses, rewrites and front ends insert.
CAST = OPS["cast"]
# Functions of several results, and the row of each result.
SEVERAL: dict[str, tuple[Op, ...]] = {
    name: tuple(OPS[row] for row in rows)
    for name, *rows in (
        ("divmod", "floor_divide", "remainder"),
        ("modf", "modf_fraction", "modf_whole"),
        ("frexp", "frexp_mantissa", "frexp_exponent"),
    )
}
# The functions of `expr.compositions` whose calls give more than operands, or fewer.
CALLED_WITH_MORE: dict[str, str] = {
    "angle": "angle",
    "around": "rounded",
    "clip": "clipped",
    "isclose": "isclose",
    "nan_to_num": "nan_to_num",
    "round": "rounded",
}
_BY_ANY_NAME: dict[str, Op] = OPS | {alias: row for row in _ROWS for alias in row.aliases}


class _Defined:
    """The ops defined at run time. Readers see a whole mapping, old or new: it is replaced, never changed."""

    def __init__(self) -> None:
        self.rows: Mapping[str, Op] = {}
        self.replacements = 0
        # Makes an op of its name and its definition; set by the module that reads definitions.
        self.remake: Callable[[str, Definition], Op] | None = None

    def add(self, op: Op, replace: bool) -> Op:
        """Add a row, or return the one with the same definition.

        Raises
        ------
        BcastgenError
            If the name has another definition, and `replace` is false.
        """
        with undivided:
            known = self.rows.get(op.name)
            if known is not None and known.definition == op.definition:
                return known
            if known is not None and not replace:
                raise BcastgenError(
                    f"{op.name} is defined already, and otherwise; pass replace=True, or choose another name"
                )
            self.rows = {**self.rows, op.name: op}
            # Count after the row is stored: a thread that sees the new count then sees the new row.
            self.replacements += known is not None
            return op


DEFINED = _Defined()


def known_ops() -> tuple[Op, ...]:
    """Return every row: those of the table, then those defined at run time."""
    return (*_ROWS, *DEFINED.rows.values())


def find_op(name: str) -> Op | None:
    """Return the row a name or alias stands for, or None.

    Examples
    --------
    >>> find_op("asin").name
    'arcsin'
    """
    return _BY_ANY_NAME.get(name) or DEFINED.rows.get(name)
