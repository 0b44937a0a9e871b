"""Spells the C of an op that a user defined in arith, where it is arithmetic, comparisons and choices.

In: the C of an op for some dtypes.  Out: lines as in :mod:`.rows`, or None for C that says more.

    ({T})({0} > 0 ? {0} : {1} * {0})  ->  %v0 = arith.cmpf ogt, {0}, #0 : {t}
                                          %v1 = arith.mulf {1}, {0} : {t}
                                          arith.select %v0, {0}, %v1 : {t}

All operands and the result have one dtype: f32, f64, or an integer of 32 or 64 bits, so that C converts nothing but
literals. Division is left out for integers, which C leaves undefined for 0.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from ...core.dtypes import DType

__all__ = ["user_lines"]

_TOKEN = re.compile(r"\s*(\{\d+\}|\d+\.?\d*(?:[eE][-+]?\d+)?[fF]?|[<>=!]=|[-+*/<>?:()])")
_COMPARED = {"<": "lt", "<=": "le", ">": "gt", ">=": "ge", "==": "eq", "!=": "ne"}
_NAMES = {"+": "arith.add", "-": "arith.sub", "*": "arith.mul", "/": "arith.div"}


class _Other(Exception):
    """The C says more than arith."""


def user_lines(c: str, operands: tuple[DType, ...], result: DType) -> str | None:
    """Return the lines that mean what C means; None if it is no arithmetic of one dtype.

    Examples
    --------
    >>> from bcastgen.core.dtypes import F32
    >>> user_lines("(float)({0} - {1})", (F32, F32), F32)
    'arith.subf {0}, {1} : {t}'
    """
    plain = result.is_float and not result.is_float16
    if set(operands) != {result} or not (plain or (result.is_integer and result.bits >= 32)):
        return None
    inside = re.fullmatch(r"\(\w+\)(\(.*\))", c, re.DOTALL)
    try:
        return _Lines(inside[1] if inside else c, result).text
    except _Other:
        return None


class _Lines:
    """Reads an expression of C, and writes its lines. A value is a kind, `value`, `literal` or `test`, and its text."""

    def __init__(self, c: str, dtype: DType) -> None:
        self._dtype = dtype
        self._letter = "f" if dtype.is_float else "i"
        self._lines: list[str] = []
        self._tokens: list[str] = []
        at = 0
        while at < len(c.rstrip()):
            token = _TOKEN.match(c, at)
            if token is None:
                raise _Other
            self._tokens.append(token[1])
            at = token.end()
        self._tokens.reverse()
        value = self._taken(self._choice())
        if self._tokens:
            raise _Other
        last = re.fullmatch(r"%\S+ = (.*)", self._lines[-1]) if self._lines else None
        self.text = "\n".join([*self._lines[:-1], last[1]]) if last is not None else value

    def _take(self, *wanted: str) -> str | None:
        return self._tokens.pop() if self._tokens and self._tokens[-1] in wanted else None

    def _line(self, text: str) -> str:
        self._lines.append(f"%v{len(self._lines)} = {text}")
        return f"%v{len(self._lines) - 1}"

    def _taken(self, value: tuple[str, str]) -> str:
        """Return a value that ops take: a literal becomes a constant, and a test is none."""
        if value[0] == "test":
            raise _Other
        return f"#{value[1]}" if value[0] == "literal" else value[1]

    def _choice(self) -> tuple[str, str]:
        condition = self._compared()
        if self._take("?") is None:
            return condition
        if condition[0] != "test":
            raise _Other
        first = self._taken(self._choice())
        if self._take(":") is None:
            raise _Other
        second = self._taken(self._choice())
        return "value", self._line(f"arith.select {condition[1]}, {first}, {second} : {{t}}")

    def _compared(self) -> tuple[str, str]:
        left = self._sum()
        sign = self._take(*_COMPARED)
        if sign is None:
            return left
        right = self._sum()
        if left[0] == right[0] == "literal":
            raise _Other
        word = _COMPARED[sign]
        if self._dtype.is_float:
            order = f"u{word}" if word == "ne" else f"o{word}"
        else:
            order = word if word in ("eq", "ne") else ("s" if self._dtype.kind == "signed" else "u") + word
        pair = f"{self._taken(left)}, {self._taken(right)}"
        return "test", self._line(f"arith.cmp{self._letter} {order}, {pair} : {{t}}")

    def _sum(self) -> tuple[str, str]:
        return self._chain(("+", "-"), self._product)

    def _product(self) -> tuple[str, str]:
        return self._chain(("*", "/") if self._dtype.is_float else ("*",), self._unary)

    def _chain(self, signs: tuple[str, ...], below: Callable[[], tuple[str, str]]) -> tuple[str, str]:
        made = below()
        while (sign := self._take(*signs)) is not None:
            right = below()
            if made[0] == right[0] == "literal":
                # C computes with literals in their own types.
                raise _Other
            pair = f"{self._taken(made)}, {self._taken(right)}"
            made = "value", self._line(f"{_NAMES[sign]}{self._letter} {pair} : {{t}}")
        return made

    def _unary(self) -> tuple[str, str]:
        if self._take("-") is None:
            return self._single()
        kind, text = self._unary()
        if kind == "literal":
            # Minus 0 as an integer is 0, and as a float it is not.
            if text.startswith("-") or not float(text) or self._dtype.kind == "unsigned":
                raise _Other
            return kind, f"-{text}"
        value = self._taken((kind, text))
        line = f"arith.negf {value} : {{t}}" if self._dtype.is_float else f"arith.subi #0, {value} : {{t}}"
        return "value", self._line(line)

    def _single(self) -> tuple[str, str]:
        if self._take("(") is not None:
            inner = self._choice()
            if self._take(")") is None:
                raise _Other
            return inner
        token = self._tokens.pop() if self._tokens else ""
        if re.fullmatch(r"\{\d\}", token):
            return "value", token
        return "literal", self._literal(token)

    def _literal(self, token: str) -> str:
        """Return a literal that C converts to the dtype without loss, and computes with in that dtype."""
        if re.fullmatch(r"0|[1-9]\d{0,6}", token):
            return token
        floating = re.fullmatch(r"(\d+\.\d*(?:[eE][-+]?\d+)?|\d+[eE][-+]?\d+)(f?)", token)
        if floating is None or self._dtype.name != ("f32" if floating[2] else "f64"):
            raise _Other
        return floating[1]
