"""Constraints between an extent and one that is computed from others: the sums and products that types declare.

In: an operand and its dim, or a result and the domain dim it has to be, and an expression.  Out: statements as in
constraints.py.

    str(Computed("c", 0, "m + n", (("m", "b", 0), ("n", "a", 0)))) -> "c.0 = m + n"

`places` says for each name of the expression which operand's dim binds it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeAlias

from ..core.frozen import dataclass
from .range_constraints import Extents, extent_of
from .types.tensor_type import TensorType

__all__ = ["Computed", "NamePlaces", "ResultComputed", "computed_texts"]

# A name, and the operand and its dim whose extent it is.
NamePlaces: TypeAlias = tuple[tuple[str, str, int], ...]


def computed_texts(types: Iterable[TensorType | None]) -> tuple[str, ...]:
    """Return the texts of the computed extents in types, each once, in the order in which diagnostics number them.

    Examples
    --------
    >>> from bcastgen.shape.types.tensor_type import parse_type
    >>> computed_texts([parse_type("f32[n, m + n]"), None, parse_type("f32[n + m, 2*n]")])
    ('m + n', '2*n')
    """
    dims = (dim for type_ in types if type_ is not None for dim in type_.dims if dim.is_computed)
    return tuple(dict.fromkeys(str(dim.symbol) for dim in dims))


def _value(text: str, places: NamePlaces, extents: Mapping[str, Extents]) -> int | None:
    from .types.computed import value_of  # noqa: PLC0415 - few types have computed extents

    names = {name: extent_of(extents[operand], dim) for name, operand, dim in places}
    known = {name: extent for name, extent in names.items() if extent is not None}
    return value_of(text, known) if len(known) == len(names) else None


@dataclass(frozen=True, slots=True)
class Computed:
    """The operand's dim has the extent that its type computes from names."""

    operand: str
    dim: int
    text: str
    places: NamePlaces

    def holds(self, extents: Mapping[str, Extents], domain: Extents) -> bool:
        """Evaluate on actual extents."""
        actual = extent_of(extents[self.operand], self.dim)
        return actual is not None and actual == _value(self.text, self.places, extents)

    def __str__(self) -> str:
        return f"{self.operand}.{self.dim} = {self.text}"


@dataclass(frozen=True, slots=True)
class ResultComputed:
    """The domain dim has the extent that the result's type computes from names."""

    result: str
    dim: int
    domain_dim: int
    text: str
    places: NamePlaces

    def holds(self, extents: Mapping[str, Extents], domain: Extents) -> bool:
        """Evaluate on actual extents."""
        actual = extent_of(domain, self.domain_dim)
        return actual is not None and actual == _value(self.text, self.places, extents)

    def __str__(self) -> str:
        return f"{self.result}.{self.dim} = {self.text}"
