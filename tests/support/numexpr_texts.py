"""Random texts of NumExpr's language, and what NumExpr and bcastgen make of each.

In: a number.  Out: a text over the variables of `VARIABLES`; whether both agree on it.

    text(7)  ->  "where(i > 2, f * 3, d)"
"""

from __future__ import annotations

import random
import warnings
from typing import Any

import numpy as np

_rng = np.random.default_rng(11)
_N = 37
VARIABLES: dict[str, Any] = {
    "b": _rng.random(_N) > 0.5,
    "v": _rng.random((3, 1)) > 0.5,
    "h": _rng.integers(-9, 9, _N).astype("i1"),
    "i": _rng.integers(-9, 9, _N).astype("i4"),
    "u": _rng.integers(0, 9, (3, 1)).astype("u4"),
    "l": _rng.integers(-9, 9, (3, 1)),
    "e": _rng.uniform(-3, 3, _N).astype("f2"),
    "f": _rng.uniform(-3, 3, _N).astype("f4"),
    "g": _rng.uniform(0.1, 3, (3, _N)).astype("f4"),
    "d": _rng.uniform(-3, 3, _N),
    "x": _rng.uniform(0.1, 3, (3, 1)),
    "z": _rng.uniform(0.1, 2, _N) + 1j * _rng.uniform(0.1, 2, _N),
    "n": 3,
    "q": 1.5,
    "s": np.array([b"foo", b"", b"bar", b"fo"] * 10)[:_N],
    "t": np.array([[b"foo"], [b"oo"], [b"zz"]]),
}
_OF_KIND = {
    "bool": "bv",
    "int": "hi",
    "long": "lun",
    "float": "efg",
    "double": "dxq",
    "complex": "z",
}
_FLOATS = ("float", "double")
_NUMBERS = {
    **{"int": ("2", "3", "-1", "7"), "long": ("2**40",), "bool": ("True",)},
    **{"float": ("2", "3"), "double": ("0.5", "2.0", "1.25"), "complex": ("2j", "(1+2j)")},
}
_ANY = "sin cos tan arctan sinh tanh arcsinh exp expm1 sqrt abs conj copy round sign".split()
_REAL = "floor ceil trunc log1p log2 isnan isfinite isinf signbit".split()
_TWO = "arctan2 fmod hypot copysign maximum minimum nextafter".split()


class _Writer:
    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def number(self, kind: str, depth: int, alone: bool = False) -> str:
        """Return a value of a kind; it has a variable, unless it may be of constants alone."""
        pick = self.random.random()
        if depth == 0 or pick < 0.15:
            if alone and self.random.random() < 0.3:
                return self.random.choice(_NUMBERS[kind])
            return self.random.choice(_OF_KIND[kind])
        if kind == "bool":
            return self.truth(depth)
        other = self.random.choice([kind, *self.below(kind)])
        left, right = self.number(kind, depth - 1), self.number(other, depth - 1, alone=True)
        if pick < 0.55:
            operators = "+ - * /".split() + ([] if kind == "complex" else "% //".split())
            if kind in ("int", "long"):
                operators += "& | ^ << >>".split()
            # NumExpr has no method for some of these with a number on the left, and none is there.
            return f"({left} {self.random.choice(operators)} {right})"
        if pick < 0.65:
            return f"({left})**{self.random.choice(('2', '3', '0.5', '0', '2.0', '-1.0', '-1'))}"
        if pick < 0.75:
            return f"where({self.truth(depth - 1)}, {left}, {right})"
        if pick < 0.8 and kind != "complex":
            return f"{self.random.choice(_TWO)}({left}, {right})"
        if pick < 0.85 and kind in ("complex", "double"):
            return f"complex({self.number('double', depth - 1)}, {self.number('double', depth - 1)})"
        if pick < 0.9:
            return f"-({left})" if pick < 0.88 else f"({left}).{self.random.choice(('real', 'imag'))}"
        return f"{self.random.choice(_ANY if kind == 'complex' else _ANY + _REAL)}({left})"

    def below(self, kind: str) -> list[str]:
        kinds = list(_OF_KIND)
        return kinds[1 : kinds.index(kind)]

    def truth(self, depth: int) -> str:
        pick = self.random.random()
        if depth <= 0:
            return self.random.choice(_OF_KIND["bool"])
        if pick < 0.1:
            comparison = self.random.choice(("==", "!=", "<", ">="))
            return self.random.choice((f"(s {comparison} t)", f"(s {comparison} b'foo')", "contains(s, t)"))
        if pick < 0.6:
            kind = self.random.choice(("int", "long", "float", "double"))
            comparison = self.random.choice(("==", "!=", "<", "<=", ">", ">="))
            return f"({self.number(kind, depth - 1)} {comparison} {self.number(kind, depth - 1)})"
        if pick < 0.9:
            return f"({self.truth(depth - 1)} {self.random.choice('&|^')} {self.truth(depth - 1)})"
        return f"~{self.random.choice(_OF_KIND['bool'])}"

    def whole(self) -> str:
        depth = self.random.choice((1, 2, 2, 3))
        made = self.number(self.random.choice(list(_OF_KIND)), depth)
        if self.random.random() < 0.15:
            axis = self.random.choice(("", ", axis=0", ", axis=1", ", axis=None"))
            return f"{self.random.choice(('sum', 'prod', 'min', 'max'))}({made}{axis})"
        return made


def text(seed: int) -> str:
    """Return a random text."""
    return _Writer(seed).whole()


def outcome(module: Any, expression: str, optimization: str) -> Any:
    """Return the array that a module computes, the type of its error, or None where NumExpr breaks."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return module.evaluate(expression, VARIABLES, {}, optimization=optimization)
        except (ValueError, TypeError, NotImplementedError, OverflowError, ZeroDivisionError, RuntimeError) as error:
            return type(error)
        except SystemError:
            # NumExpr cannot make the first value of a maximum of 32-bit integers.
            return None


def difference(wanted: Any, got: Any) -> str:
    """Return how two outcomes differ; nothing if they do not."""
    if wanted is None:
        return ""
    if isinstance(wanted, type) or isinstance(got, type):
        same = isinstance(wanted, type) and isinstance(got, type) and issubclass(got, wanted)
        return "" if same else f"{wanted}, and {got} here"
    if wanted.dtype != got.dtype or wanted.shape != got.shape:
        return f"{wanted.dtype} {wanted.shape}, and {got.dtype} {got.shape} here"
    if wanted.dtype.kind not in "fc":
        return "" if np.array_equal(wanted, got) else f"{wanted}, and {got} here"
    if wanted.dtype.kind == "c":
        # NumExpr's quotients and functions of complex numbers are NaN where their own steps overflow or divide by 0.
        wanted = np.where(np.isfinite(wanted), wanted, got)
    close = np.isclose(wanted, got, rtol=2e-5 if wanted.dtype.itemsize == 4 else 1e-9, atol=1e-6, equal_nan=True)
    return "" if close.all() else f"{wanted[~close][:3]}, and {got[~close][:3]} here"
