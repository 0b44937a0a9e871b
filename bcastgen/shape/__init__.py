"""What is statically known of shapes: dims, types, broadcasting, verification; and `bg.shape`, the shape dialect.

In: types.  Out: iteration domains, verdicts, and the constraints left to run time.

    infer_broadcast("f32[?, 1]", "f32[3]") -> f32[?, 3]
    bg.shape.program("outer", lambda a, b: bg.shape.concat(a, b), a="!shape.shape", b="!shape.shape") -> a Program

Nothing is imported here, so that code that needs `types` alone does not pay for the rest. The names that ``bg.shape``
has are the dialect's: its ops are rows of `dialect/ops.py`.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .dialect.program import Block, Operation, Program, Value
    from .dialect.trace import program
    from .dialect.types import Type, parse_type
    from .dialect.values import UNKNOWN, UNRANKED, ElementType, Shape, Size, ValueShape, Witness, instance_of

# The module of each name: the imports above, which only type checkers read, once more as data.
# tests/behaviour/test_public_names.py compares the two.
_HOMES = {
    "program": ("Block", "Operation", "Program", "Value"),
    "trace": ("program",),
    "types": ("Type", "parse_type"),
    "values": ("UNKNOWN", "UNRANKED", "ElementType", "Shape", "Size", "ValueShape", "Witness", "instance_of"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "UNKNOWN",
    "UNRANKED",
    "Block",
    "ElementType",
    "Operation",
    "Program",
    "Shape",
    "Size",
    "Type",
    "Value",
    "ValueShape",
    "Witness",
    "instance_of",
    "parse_type",
    "program",
]


def _op(name: str) -> Any:
    from .dialect.trace import op  # noqa: PLC0415 - a name costs when it is first used

    return op(name)


def __getattr__(name: str) -> Any:
    if name in _HOME_OF:
        value = getattr(importlib.import_module(f".dialect.{_HOME_OF[name]}", __name__), name)
    else:
        if name.startswith("_"):
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from ..core.errors import BroadcastError  # noqa: PLC0415 - a name costs when it is first used
        from .dialect.ops import find_row  # noqa: PLC0415 - a name costs when it is first used

        try:
            row = find_row(name)
        except BroadcastError as error:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}: {error}") from None
        value = _op(row.name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    from .dialect.ops import ROWS  # noqa: PLC0415 - a name costs when it is first used

    return sorted({*globals(), *__all__, *(row.python for row in ROWS.values() if not row.terminator)})
