"""What a reader of MLIR may choose: how strict verification is.

In: switches.  Out: a frozen record that verification and import pass on.

    Options(strict_types=True)  ->  tosa.add of i8 is refused, as the specification's tables have no such row
"""

from __future__ import annotations

from ..core.frozen import dataclass
from ..core.options import option

__all__ = ["Options"]


@dataclass(frozen=True, slots=True)
class Options:
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
