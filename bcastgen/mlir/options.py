"""Options of reading MLIR: how strict verification is.

In: switches.  Out: a frozen record for verification and import.

    ReadOptions(strict_types=True)  ->  tosa.add of i8 is refused, as the specification's tables have no such row
"""

from __future__ import annotations

from ..core.frozen import dataclass
from ..core.options import option

__all__ = ["ReadOptions"]


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How MLIR is verified; each field says what it is for."""

    rank_expansion: bool = option(
        False,
        "operands may have fewer dims than the result, as before TOSA 1.0.",
        flag="in MLIR: operands may have fewer dims",
    )
    strict_types: bool = option(
        False,
        "take only the element types of the specification's tables.",
        flag="in MLIR: element types of TOSA's tables only",
    )
