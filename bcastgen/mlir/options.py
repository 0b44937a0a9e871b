"""Options of reading MLIR: how strict verification is.

In: switches.  Out: a frozen record for verification and import.

    ReadOptions(strict_types=True)  ->  tosa.add of i8 is refused, as the specification's tables have no such row
"""

from __future__ import annotations

from ..core.frozen import dataclass

__all__ = ["ReadOptions"]


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How MLIR is verified.

    Attributes
    ----------
    rank_expansion : operands of a TOSA op may have fewer dims than its result, as before TOSA 1.0.
    strict_types : an op accepts only the element types in its table of the specification, not all that have a meaning.
    """

    rank_expansion: bool = False
    strict_types: bool = False
