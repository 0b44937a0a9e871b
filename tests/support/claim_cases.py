"""Programs with claims on values that are not stored, and NumPy's verdict on their shapes.

In: nothing.  Out: :data:`CASES`, whose functions take `claim(value, type)` first, then the operands; they run on arrays
and on stand-ins alike.  `test_lower_claims.py` and `test_print_guards_claims.py` run all of them.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bcastgen.expr.nodes import Expression, TypeAssertion
from bcastgen.expr.trace import trace
from bcastgen.shape.types.tensor_type import TensorType, parse_type


@dataclass(frozen=True)
class Case:
    """Operand types, a function, and how shapes of operands are drawn: `ranks` where types leave them open."""

    name: str
    types: tuple[str, ...]
    function: Callable[..., Any]
    ranks: tuple[tuple[int, ...], ...] = ()
    extents: tuple[int, ...] = (0, 1, 2, 3)
    results: tuple[str, ...] | None = None
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def operand_types(self) -> tuple[TensorType, ...]:
        return tuple(map(parse_type, self.types))

    @property
    def expression(self) -> Expression:
        claims: list[TypeAssertion] = []

        def claim(value: Any, type_: str) -> Any:
            claims.append(TypeAssertion(value.node, f"%{len(claims)}", parse_type(type_)))
            return value

        made = trace(lambda *operands: self.function(claim, *operands), tuple("abc"[: len(self.types)]))
        return Expression(made.operands, made.results, (), tuple(claims))

    def shapes(self) -> Any:
        """Every combination of shapes, a few of other ranks among them."""
        ranks = self.ranks or tuple((len(type_.dims),) for type_ in self.operand_types)
        rows = [[shape for rank in own for shape in itertools.product(self.extents, repeat=rank)] for own in ranks]
        return itertools.product(*rows)

    def verdict(self, shapes: tuple[tuple[int, ...], ...]) -> tuple[tuple[int, ...], ...] | None:
        """The results' shapes, or None where something does not fit."""
        bound: dict[str, int] = {}
        fits = [_fits(type_, shape, bound) for type_, shape in zip(self.operand_types, shapes, strict=True)]

        def claim(value: Any, type_: str) -> Any:
            fits.append(_fits(parse_type(type_), np.shape(value), bound))
            return value

        try:
            made = self.function(claim, *(np.ones(shape, np.float32) for shape in shapes))
        except ValueError:
            return None
        made = made if isinstance(made, tuple) else (made,)
        declared = self.results or ("[*]",) * len(made)
        fits += (_fits(parse_type(type_), np.shape(r), bound) for type_, r in zip(declared, made, strict=True))
        return tuple(np.shape(r) for r in made) if all(fits) else None


def _fits(type_: TensorType, shape: tuple[int, ...], bound: dict[str, int]) -> bool:
    if len(shape) != len(type_.dims) if not type_.unranked else len(shape) < len(type_.dims):
        return False
    known = shape[len(shape) - len(type_.dims) :]
    for dim, extent in zip(type_.dims, known, strict=True):
        expected = dim.extent if dim.symbol is None else bound.setdefault(dim.symbol, extent)
        if expected not in (None, extent):
            return False
    return True


ONE, TWO, ANY = ("f32[?]",) * 3, ("f32[?,?]", "f32[?,?]"), ("f32[*]",) * 3

CASES = (
    Case("fewer uses", ONE, lambda claim, a, b, c: claim(a + b, "f32[3]") * c),
    Case("the result's uses", ("f32[?]",) * 2, lambda claim, a, b: claim(a + b, "f32[3]") * a),
    Case("a one", ONE, lambda claim, a, b, c: claim(a + b, "f32[1]") * c),
    Case("of nothing", ONE, lambda claim, a, b, c: claim(a + b, "f32[0]") * c),
    Case("an operand", ("f32[?]",) * 2, lambda claim, a, b: claim(a, "f32[2]") + b),
    Case("the only operand", ("f32[?,?]",), lambda claim, a: -claim(a, "f32[2,?]")),
    Case("one dim of two", TWO, lambda claim, a, b: claim(a + b, "f32[?,2]") - b, extents=(0, 1, 2)),
    Case("proved", ("f32[3]", "f32[?]", "f32[?]"), lambda claim, a, b, c: claim(a + b, "f32[3]") * c),
    Case("several", ONE, lambda claim, a, b, c: claim(claim(a + b, "f32[2]") * c, "f32[2]") - claim(c, "f32[1]")),
    Case("a symbol of an operand", ("f32[n]", "f32[?]", "f32[?]"), lambda claim, a, b, c: claim(b + c, "f32[n]") * a),
    Case(
        "a symbol of another nest", ("f32[?]", "f32[?]", "f32[n]"), lambda claim, a, b, c: (claim(a + b, "f32[n]"), -c)
    ),
    Case("a symbol of claims", ONE, lambda claim, a, b, c: claim(a + b, "f32[k]") * claim(b + c, "f32[k]")),
    Case(
        "a symbol of a claim and a result", ONE, lambda claim, a, b, c: claim(a + b, "f32[k]") * c, results=("f32[k]",)
    ),
    Case("a square", TWO, lambda claim, a, b: claim(a + b, "f32[k,k]") * b, extents=(0, 1, 2)),
    Case("a square beside", ("f32[?,?]", "f32[?]"), lambda claim, a, b: claim(-a, "f32[k,k]") * b),
    Case("several results", ONE, lambda claim, a, b, c: (claim(a + b, "f32[2]"), b * c, claim(a - b, "f32[k]") * b)),
    Case("scalars", ("f32[]", "f32[]", "f32[?]"), lambda claim, a, b, c: claim(a + b, "f32[]") * c),
    Case("under views", TWO, lambda claim, a, b: claim(a.T + b, "f32[2,?]").T * b, extents=(0, 1, 2)),
    Case("beside a view", TWO, lambda claim, a, b: claim(a + b, "f32[1,?]").T * b, extents=(0, 1, 2)),
    Case("any rank", ANY, lambda claim, a, b, c: claim(a + b, "f32[?,2]") * c, ((0, 1, 2),) * 3, (0, 1, 2)),
    Case("any rank, the result's uses", ANY[:2], lambda claim, a, b: claim(a + b, "f32[2]") * b, ((0, 1, 2),) * 2),
    Case("a last dim of any rank", ANY[:2], lambda claim, a, b: claim(a + b, "f32[*,2]") * b, ((0, 1, 2),) * 2),
    Case(
        "any rank and symbols",
        ANY[:2],
        lambda claim, a, b: claim(-a, "f32[*,k]") * claim(-b, "f32[k,?]"),
        ((0, 1, 2),) * 2,
    ),
    Case("any rank of a ranked value", ONE, lambda claim, a, b, c: claim(a + b, "f32[*,2]") * c),
    Case(
        "the last dims of two",
        ("f32[?]", "f32[?,?]"),
        lambda claim, a, b: claim(-a, "f32[*,k]") * claim(-b, "f32[*,k]"),
    ),
    Case(
        "a last dim of any rank and a result's",
        ANY[:2],
        lambda claim, a, b: claim(-a, "f32[*,k]") * b,
        ((0, 1, 2),) * 2,
        results=("f32[*,k]",),
    ),
    Case(
        "last dims of results",
        ANY[:2],
        lambda claim, a, b: (-a, a * b),
        ((0, 1, 2),) * 2,
        results=("f32[*,k]", "f32[*,k]"),
    ),
    # Nests that share a domain by its extents, though they read other operands.
    Case(
        "beside a result of its domain",
        ("f32[?]", "f32[1]", "f32[?]"),
        lambda claim, a, b, c: (-a, claim(a + b, "f32[2]") * c),
    ),
    Case(
        "two results of one domain",
        ("f32[?,2]", "f32[1,2]", "f32[?,2]"),
        lambda claim, a, b, c: (-a, a + b, claim(a - b, "f32[k,k]") + c),
        extents=(0, 1, 2),
    ),
    Case(
        "known extents of other operands",
        ("f32[2]", "f32[2]", "f32[?]"),
        lambda claim, a, b, c: (-a, -b, claim(a + c, "f32[2]")),
    ),
    Case("equal ranks", ONE, lambda claim, a, b, c: claim(a + b, "f32[3]") * c, options={"rank_expansion": False}),
)
