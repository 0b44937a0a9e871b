"""Kernels with what the contract of standalone C says of each: dims, places in diagnostics, NumPy's function of it.

Nothing of the compiler is used: `contract_model.py` says from these what a call may answer.

    SUBJECTS["bias"].operands  ->  (("f4", "??"), ("f4", "?"))
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Nest:
    """Results of one domain: the operands they are computed from, and the results."""

    reads: tuple[int, ...]
    writes: tuple[int, ...]
    # Reductions: the dims that results have not, those that have to have elements, and whose place an overflow names.
    reduced: tuple[int, ...] = ()
    filled: tuple[int, ...] = ()
    overflows: int | None = None

    def shape(self, domain):
        """The extents of its results."""
        return tuple(extent for dim, extent in enumerate(domain) if dim not in self.reduced)


@dataclass(frozen=True)
class Subject:
    """A kernel: operands as (dtype, dims), with "*" for any rank; dtypes of results; NumPy's function of it.

    `same` are pairs (result, operand) that may be one array; `first` is a result's number in diagnostics, where
    reductions have numbers, too. `domain` says that elements are refused.
    """

    text: str
    operands: tuple[tuple[str, str], ...]
    results: tuple[str, ...]
    computed: Callable[..., tuple[np.ndarray, ...]]
    nests: tuple[Nest, ...] = ()
    same: frozenset[tuple[int, int]] = frozenset()
    first: int | None = None
    domain: Callable[..., bool] | None = None
    exact: bool = True

    @property
    def sizes(self):
        return [np.dtype(kind).itemsize for kind in (*(kind for kind, _ in self.operands), *self.results)]

    @property
    def alignments(self):
        """What the data of each array is a multiple of: complex numbers are aligned as their parts are."""
        kinds = (*(kind for kind, _ in self.operands), *self.results)
        return [np.dtype(kind).itemsize // (2 if np.dtype(kind).kind == "c" else 1) for kind in kinds]

    @property
    def loops(self):
        count = len(self.operands)
        return self.nests or (Nest(tuple(range(count)), tuple(range(len(self.results)))),)

    def place(self, at):
        """The number of an array in diagnostics."""
        count = len(self.operands)
        return at if at < count or self.first is None else at - count + self.first


F4, F8, I4, U1, B1 = "f4", "f8", "i4", "u1", "?"
SUBJECTS = {
    "axpb": Subject(
        "(f32[?,?] a, f32[?,?] b) -> a + b*2",
        ((F4, "??"), (F4, "??")),
        (F4,),
        lambda a, b: (a + b * 2,),
        same=frozenset({(0, 0), (0, 1)}),
    ),
    "waves": Subject(
        "(c64[?,?] x, c64[?] y, f32[?] s) -> x + y + s",
        (("c8", "??"), ("c8", "?"), (F4, "?")),
        ("c8",),
        lambda x, y, s: (x + y + s,),
        same=frozenset({(0, 0)}),
    ),
    "bias": Subject(
        "(f32[?,?] x, f32[?] b) -> x + b",
        ((F4, "??"), (F4, "?")),
        (F4,),
        lambda x, b: (x + b,),
        same=frozenset({(0, 0)}),
    ),
    "cube": Subject(
        "(f64[?,?,?] a, f64[?,?] b, f64[?] c) -> a*b + c",
        ((F8, "???"), (F8, "??"), (F8, "?")),
        (F8,),
        lambda a, b, c: (a * b + c,),
        same=frozenset({(0, 0)}),
    ),
    "wild": Subject(
        "(f32[*] a, f32[*] b) -> a + b*2",
        ((F4, "*"), (F4, "*")),
        (F4,),
        lambda a, b: (a + b * 2,),
        same=frozenset({(0, 0), (0, 1)}),
    ),
    "named": Subject(
        "(f32[n,m] a, f32[m] b, f32[n,1] c) -> a*b + c",
        ((F4, "nm"), (F4, "m"), (F4, "n1")),
        (F4,),
        lambda a, b, c: (a * b + c,),
        same=frozenset({(0, 0)}),
    ),
    "fixed": Subject(
        "(f32[?,3] a, f32[3] b) -> a - b",
        ((F4, "?3"), (F4, "3")),
        (F4,),
        lambda a, b: (a - b,),
        same=frozenset({(0, 0)}),
    ),
    "pair": Subject(
        "(f32[?,?] a, f32[?] b) -> (a + b, a < b)",
        ((F4, "??"), (F4, "?")),
        (F4, B1),
        lambda a, b: (a + b, a < b),
        same=frozenset({(0, 0)}),
    ),
    "nests": Subject(
        "(f32[?,?] a, f32[?] b) -> (a + b, b * 2)",
        ((F4, "??"), (F4, "?")),
        (F4, F4),
        lambda a, b: (a + b, b * 2),
        (Nest((0, 1), (0,)), Nest((1,), (1,))),
        frozenset({(0, 0), (1, 1)}),
    ),
    "sums": Subject(
        "(f32[?,?] a) -> sum(a, axis=1)",
        ((F4, "??"),),
        (F4,),
        lambda a: (a.sum(axis=1),),
        (Nest((0,), (0,), reduced=(1,), overflows=2),),
        first=3,
    ),
    "centred": Subject(
        "(f32[?,?] x) -> x - max(x, axis=1, keepdims=True)",
        ((F4, "??"),),
        (F4,),
        lambda x: (x - x.max(axis=1, keepdims=True),),
        (Nest((0,), (0,), filled=(1,), overflows=2),),
        frozenset({(0, 0)}),
        first=3,
    ),
    "staged": Subject(
        "(f32[?,?] x, f32[1,?] s) -> x * exp(s) + 1",
        ((F4, "??"), (F4, "1?")),
        (F4,),
        lambda x, s: (x * np.exp(s) + 1,),
        same=frozenset({(0, 0)}),
        exact=False,
    ),
    "power": Subject(
        "(i32[?] a, i32[?] b) -> a ** b",
        ((I4, "?"), (I4, "?")),
        (I4,),
        lambda a, b: (a**b,),
        same=frozenset({(0, 0), (0, 1)}),
        domain=lambda a, b: bool((b < 0).any()),
    ),
    "byte": Subject(
        "(u8[?,?] a, u8[?] b) -> a + b", ((U1, "??"), (U1, "?")), (U1,), lambda a, b: (a + b,), same=frozenset({(0, 0)})
    ),
    "scalar": Subject(
        "(f32[] a, f32[?] b) -> a * b", ((F4, ""), (F4, "?")), (F4,), lambda a, b: (a * b,), same=frozenset({(0, 1)})
    ),
}
