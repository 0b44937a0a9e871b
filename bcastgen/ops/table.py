"""The table of ops: one row for each semantics; front ends, type rules, C, tests and docs are derived from it.

In: a row's name or alias.  Out: its :class:`Op`, which knows its dtype rule, its C and its reference.

    OPS["add"].doc   -> "Sum; integers wrap, bool is a logical or."
    find_op("asin")  -> OPS["arcsin"]

The rows are in ``rows``, a family in each file, and those that only TOSA has in ``tosa_rows``. A family is imported
when a name is looked for that no family before it has: most kernels need one or two. To look for a name that is none,
or to list rows, imports them all. No module does either while it is imported itself: that takes a lock whose holder may
wait for this very import. To add an op, add a row to a family (CONTRIBUTING.md walks through one; another family has to
stand below); ``row`` says what a row holds and what a template may say, and ``dtype_rules`` has dtype rules. Ops that
users define at run time (``define_op``) are rows, too, kept apart from the table: ``OPS`` never changes,
:func:`find_op` finds both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from importlib import import_module

from ..core.errors import BcastgenError
from ..core.forks import undivided
from .row import Definition, Op

__all__ = [
    "CALLED_WITH_MORE",
    "DEFINED",
    "FAMILIES",
    "OPS",
    "SEVERAL",
    "cast_row",
    "find_op",
    "find_operator",
    "known_ops",
    "several",
]

# Modules, and the families of rows in each, in the order in which they are listed and names are looked for: those that
# more kernels need come first.
FAMILIES = (
    ("rows.arithmetic", "ARITHMETIC"),
    ("rows.functions", "FUNCTIONS"),
    ("rows.comparisons", "COMPARISONS", "FLOAT_CLASSES"),
    ("rows.selection", "ROUNDING", "EXTREMA", "SELECTION"),
    ("rows.conversions", "CONVERSIONS"),
    ("rows.bits", "BITS"),
    ("rows.complex_parts", "COMPLEX_PARTS"),
    ("rows.special", "SPECIAL"),
    ("rows.numbers", "NUMBERS"),
    ("tosa_rows", "TOSA_ROWS"),
)


class _Rows:
    """The rows of the families that have been imported."""

    def __init__(self) -> None:
        self.by_name: dict[str, Op] = {}
        self.by_any_name: dict[str, Op] = {}
        self.by_dunder: dict[str, Op] = {}
        self._imported: set[str] = set()

    def grow(self) -> bool:
        """Import one more family; return False if there is none."""
        with undivided:
            family = next((one for one in FAMILIES if one[0] not in self._imported), None)
            if family is None:
                return False
            # A handler of a signal may look for a name between any two of these lines, and add the same family.
            module, *names = family
            found = import_module(f".{module}", __package__)
            rows = [row for name in names for row in getattr(found, name)]
            self.by_any_name |= {name: row for row in rows for name in (row.name, *row.aliases)}
            self.by_dunder |= {row.dunder: row for row in rows if row.dunder is not None}
            self.by_name |= {row.name: row for row in rows}
            self._imported.add(module)
        return True

    def whole(self) -> tuple[Op, ...]:
        """Import all families, and return their rows."""
        while self.grow():
            pass
        return tuple(self.by_name.values())


_rows = _Rows()


def _found(rows: Mapping[str, Op], name: str) -> Op | None:
    """Return the row of a name in a dict of rows that grows."""
    while name not in rows and _rows.grow():
        pass
    # Looked for again: another thread may have added the last family since.
    return rows.get(name)


class _Table(Mapping[str, Op]):
    """The rows of the table by their names."""

    def __getitem__(self, name: str) -> Op:
        row = _found(_rows.by_any_name, name)
        if row is None or row.name != name:
            raise KeyError(name)
        return row

    def __iter__(self) -> Iterator[str]:
        return (row.name for row in _rows.whole())

    def __len__(self) -> int:
        return len(_rows.whole())


OPS: Mapping[str, Op] = _Table()
# Functions of several results, and the name of the row of each result; :func:`several` has the rows.
SEVERAL: dict[str, tuple[str, ...]] = {
    "divmod": ("floor_divide", "remainder"),
    "modf": ("modf_fraction", "modf_whole"),
    "frexp": ("frexp_mantissa", "frexp_exponent"),
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
    return (*_rows.whole(), *DEFINED.rows.values())


def find_op(name: str) -> Op | None:
    """Return the row a name or alias stands for, or None.

    Examples
    --------
    >>> find_op("asin").name
    'arcsin'
    """
    return DEFINED.rows.get(name) or _found(_rows.by_any_name, name)


def several(name: str) -> tuple[Op, ...]:
    """Return the row of each result of a function of several results; an empty tuple for any other name.

    Examples
    --------
    >>> [row.name for row in several("divmod")]
    ['floor_divide', 'remainder']
    """
    return tuple(OPS[row] for row in SEVERAL.get(name, ()))


def cast_row() -> Op:
    """Return the row of conversions to a dtype, where most callers need none.

    Examples
    --------
    >>> cast_row().name
    'cast'
    """
    return OPS["cast"]


def find_operator(dunder: str) -> Op:
    """Return the row of one of Python's operators.

    Examples
    --------
    >>> find_operator("add").name
    'add'
    """
    row = _found(_rows.by_dunder, dunder)
    assert row is not None
    return row
