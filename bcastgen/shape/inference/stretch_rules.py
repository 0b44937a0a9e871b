"""The rules of a kernel: which forms of broadcasting its operands may use.

In: a kernel's switches and one dim.  Out: how that dim takes part.

    Rules()                          -> f32[?] may stretch, f32[1] does
    Rules(stretch=False)             -> neither does, f32[bcast] does
    Rules(dynamic="strict")          -> f32[?] does not stretch, f32[1] does
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from ...core.frozen import dataclass
from ...core.options import DYNAMIC
from ..types.dim import Dim

__all__ = ["Dynamic", "Rules", "StretchMode"]

Dynamic: TypeAlias = Literal["numpy", "strict", "trusted"]
# How a dim takes part: it may stretch; its extent is the domain's; or the caller vouches that its extent is.
StretchMode: TypeAlias = Literal["numpy", "strict", "trusted"]


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules of a kernel; the flags of a dim take precedence over them.

    Attributes
    ----------
    rank_expansion : operands of lower rank get further dims in front. Scalars, which have rank 0, always do.
    stretch : an extent of 1 stretches. The dims that rank expansion adds always stretch.
    dynamic : how dims of unknown extent take part: ``"numpy"`` (an extent of 1 stretches), ``"strict"`` (the extent is
        the result's) or ``"trusted"`` (as strict, and nothing is checked).
    debug : trusted dims are checked all the same.
    explicit : an explicit broadcast stretches an extent of 1, whatever `stretch` and `dynamic` say.

    Raises
    ------
    BcastgenError
        If `dynamic` is unknown.

    Examples
    --------
    >>> Rules(stretch=False).stretch_mode(Dim()), Rules(dynamic="strict").stretch_mode(Dim(1))
    ('strict', 'numpy')
    >>> Rules().stretch_mode(Dim("n", trusted=True))
    'trusted'
    """

    rank_expansion: bool = True
    stretch: bool = True
    dynamic: Dynamic = "numpy"
    debug: bool = False
    explicit: bool = True

    def __post_init__(self) -> None:
        DYNAMIC.check(self.dynamic)

    def stretch_mode(self, dim: Dim, explicit: bool = False) -> StretchMode:
        """Return how a dim takes part; `explicit` says that it is broadcast explicitly (see the attribute)."""
        if dim.broadcast or dim.stretches:
            return "numpy"
        if dim.broadcast is False:
            return "strict"
        if dim.trusted:
            return "strict" if self.debug else "trusted"
        if explicit and self.explicit:
            return "numpy"
        if dim.is_static or self.dynamic == "numpy":
            return "numpy" if self.stretch else "strict"
        return "strict" if self.debug else self.dynamic
