"""Options of MLIR: how strict its verification is, how dims of unknown extent broadcast, how linalg is printed.

In: switches.  Out: a frozen record for verification and import.

    ReadOptions(strict_types=True)  ->  tosa.add of i8 is refused, as the specification's tables have no such row
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from ..core.frozen import dataclass
from ..core.options import DYNAMIC, Option, check_switch, option
from ..core.sizes import is_on

if TYPE_CHECKING:
    from ..shape.inference.stretch_rules import Dynamic

__all__ = ["VERSIONS", "ReadOptions"]

VERSIONS = Option(
    "versions",
    0,
    "how many versions of a loop nest linalg has at most, each with plain maps, for one choice of the dims that "
    "stretch; the form for any call follows them.",
    metavar="N",
    least=0,
    least_is="the form for any call alone",
)


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How MLIR is verified; the option of each field has its description."""

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
    dynamic: Dynamic = field(default=DYNAMIC.default, metadata={"option": DYNAMIC})

    def __post_init__(self) -> None:
        DYNAMIC.check(self.dynamic)
        check_switch("rank_expansion", self.rank_expansion)
        check_switch("strict_types", self.strict_types)

    @property
    def is_strict(self) -> bool:
        """Whether a dim of unknown extent never stretches: only a static 1 does."""
        return self.dynamic != "numpy"

    @property
    def trusts(self) -> bool:
        """Whether the types of intermediate values are trusted instead of checked."""
        return self.dynamic == "trusted" and not is_on("BCASTGEN_DEBUG")
