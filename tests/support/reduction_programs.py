"""Random programs with reductions, and what they give exactly enough to tell a wrong tree from rounding.

In: a generator of random numbers.  Out: a function that NumPy and a kernel both run, its operands, and a bound.

    python -m tests.support.reduction_programs 20000      runs so many programs; exits with 1 at the first difference

NumPy computes floats in the widest type there is, from operands that are small integers or short fractions; ours may
differ by the roundings of its own type. Integers, indices and truths are compared bit by bit.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

import bcastgen as bg

Array = np.ndarray[Any, Any]

_FLOATS = ("float32", "float64", "float16")
_OTHERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool")
_COMPLEX = ("complex64", "complex128")
_NAMES = ("sum", "prod", "mean", "min", "max", "any", "all", "argmin", "argmax", "var", "std", "count_nonzero")
# What comes before and after a reduction: texts of x, y and what was reduced.
_BEFORE = ("x", "x", "x", "x + y", "x * y", "x - y", "np.where(x > y, x, y)")
_AFTER = ("r", "r", "r + 1", "x - r", "r * y", "r")
# Moved and reduced values, whose shapes are no operand's.
_SHAPED = (
    "x.T",
    "x[None]",
    "np.max(x, axis=0, keepdims=True)",
    "np.min(x, axis=-1, keepdims=True)",
    "np.max(x, axis=0)",
)
# Of integers: powers, which ask of each exponent that it is not negative.
_POWERS_BEFORE = ("x ** y", "y ** x", "x ** np.abs(y)")
_POWERS_AFTER = ("x ** r", "r ** y", "y ** np.abs(r)", "x ** y - r")
_MASKS = ("y", "y", "y.T", "v", "np.max(v, axis=0)")
_INTEGERS = ("sum", "prod", "min", "max", "count_nonzero")
# Programs of one dtype and rank share so many texts, so that most of the time is spent on running kernels.
_TEXTS = 8
_kernels: dict[str, Callable[..., Any]] = {}
_texts: dict[tuple[str, int], list[str]] = {}


class Program:
    """One program: its text, its operands, and how far results may be from NumPy's."""

    def __init__(self, random: np.random.Generator) -> None:
        names = _FLOATS + _OTHERS + (_COMPLEX if random.random() < 0.3 else ())
        self.dtype = np.dtype(str(random.choice(names)))
        rank = int(random.integers(1, 5))
        self.shape = tuple(int(n) for n in random.choice((1, 1, 2, 3, 5, 17, 33, 64, 300), size=rank, replace=True))
        while np.prod(self.shape) > 60_000:
            self.shape = tuple(max(1, n // 2) for n in self.shape)
        if random.random() < 0.05:
            at = int(random.integers(rank))
            self.shape = (*self.shape[:at], 0, *self.shape[at + 1 :])
        texts = _texts.setdefault((self.dtype.name, rank), [])
        if len(texts) < _TEXTS:
            texts.append(self._text(random, rank))
        self.text = texts[int(random.integers(len(texts)))]
        self.operands = (self._operand(random, self.shape), self._operand(random, self._smaller(random)))

    def _text(self, random: np.random.Generator, rank: int) -> str:
        allowed = [n for n in _NAMES if self.dtype.kind != "c" or n in ("sum", "prod", "mean", "any", "all", "var")]
        has_powers = self.dtype.kind in "iu" and random.random() < 0.3
        name = str(random.choice(_INTEGERS if has_powers else allowed))
        before = str(random.choice(_BEFORE + (_POWERS_BEFORE if has_powers else ())))
        is_shaped = not has_powers and rank > 1 and random.random() < 0.3
        if is_shaped:
            before = str(random.choice(_SHAPED[: 2 if self.dtype.kind == "c" else None]))
            rank += (before == "x[None]") - (before == "np.max(x, axis=0)")
        count = int(random.integers(1, rank + 1))
        dims = [int(d) - (rank if random.random() < 0.5 else 0) for d in random.permutation(rank)[:count]]
        axis: Any = None if random.random() < 0.25 else dims[0] if name.startswith("arg") or count == 1 else tuple(dims)
        if self.dtype.kind == "b" and before == "x - y":
            before = "x"
        if self.dtype.kind == "c" and "where" in before:
            before = "x * y"
        keepdims = random.random() < 0.5
        after = (
            str(random.choice(_AFTER + (_POWERS_AFTER if has_powers else ()))) if keepdims and not is_shaped else "r"
        )
        if self.dtype.kind == "b" and "-" in after:
            after = "r"
        options = [f"axis={axis}", f"keepdims={keepdims}"]
        if random.random() < 0.2 and name in ("sum", "prod", "min", "max") and self.dtype.kind not in "bc":
            options.append("initial=3")
        has_mask = name not in ("argmin", "argmax", "count_nonzero", "min", "max") or "initial=3" in options
        if has_mask and self.dtype.kind not in "bc" and random.random() < (0.5 if is_shaped else 0.2):
            options.append(f"where={random.choice(_MASKS)} > 1")
        if random.random() < 0.2 and name in ("var", "std"):
            options.append("ddof=1")
        return f"v = {before}; r = np.{name}(v, {', '.join(options)}); return {after}"

    def _smaller(self, random: np.random.Generator) -> tuple[int, ...]:
        shape = tuple(1 if random.random() < 0.3 else n for n in self.shape)
        return shape[int(random.integers(len(shape))) :]

    def _operand(self, random: np.random.Generator, shape: tuple[int, ...]) -> Array:
        """Return values in one of many layouts."""
        order = tuple(int(d) for d in random.permutation(len(shape)))
        stretched = [int(n * random.choice((1, 1, 2))) for n in (shape[d] for d in order)]
        if self.dtype.kind == "b":
            memory: Array = random.random(stretched) < 0.5
        elif self.dtype.kind in "iu":
            # Powers ask for exponents of 0 or more: often of each, sometimes of all but one.
            low = 0 if self.dtype.kind == "u" or random.random() < 0.6 else -9
            memory = random.integers(low, 10, stretched).astype(self.dtype)
            if self.dtype.kind == "i" and memory.size and random.random() < 0.2:
                memory.flat[int(random.integers(memory.size))] = -1
        else:
            memory = (random.integers(-64, 65, stretched) / 16).astype(self.dtype)
            if self.dtype.kind == "c":
                memory = memory + memory.dtype.type(1j) * random.integers(-3, 4, stretched)
            elif random.random() < 0.1 and memory.size:
                memory.flat[int(random.integers(memory.size))] = random.choice((np.nan, np.inf, -np.inf, -0.0))
        memory = memory.astype(self.dtype)
        cut = tuple(slice(None, None, n // shape[d] if shape[d] else 1) for n, d in zip(stretched, order, strict=True))
        array = memory[cut].transpose(np.argsort(order))
        flips = tuple(slice(None, None, -1 if random.random() < 0.2 else 1) for _ in shape)
        assert array.shape == shape
        return array[flips]

    def function(self, wide: bool = False, after: str = "") -> Callable[..., Any]:
        """Return the program as a function of x and y, or the one that divides sums of integers in the widest type.

        `after` is what is returned, in place of what the text says.
        """
        names: dict[str, Any] = {"np": np}
        text = self.text if not after else f"{self.text.rpartition(';')[0]}; return {after}"
        if wide and self.dtype.kind in "iub":
            text = re.sub(r"np\.(mean|var|std)\((.*?), axis=", r"np.\1(\2, dtype=np.longdouble, axis=", text)
        lines = "\n".join(f"    {line.strip()}" for line in text.split(";"))
        exec(f"def program(x, y):\n{lines}", names)
        function: Callable[..., Any] = names["program"]
        return function

    def kernel(self) -> Callable[..., Any]:
        """Return the program's kernel, which all programs of one text share."""
        if self.text not in _kernels:
            _kernels[self.text] = bg.jit(self.function())
        return _kernels[self.text]

    def difference(self) -> str:
        """Return what differs from NumPy; empty if nothing does."""
        with np.errstate(all="ignore"):
            try:
                expected = np.asarray(self.function()(*self.operands))
            except ValueError:
                expected = None
            try:
                found = np.asarray(self.kernel()(*self.operands))
            except (bg.BroadcastError, bg.DomainError) as error:
                return "" if expected is None else f"refused: {error}"
            if expected is None:
                return "accepted, but NumPy refuses it"
            if found.dtype != expected.dtype or found.shape != expected.shape:
                return f"{found.dtype}{found.shape}, expected {expected.dtype}{expected.shape}"
            sized = self.kernel().result_shape(*(x.shape for x in self.operands))
            if sized != expected.shape:
                return f"result_shape says {sized}, expected {expected.shape}"
            if expected.dtype.kind not in "fc":
                return "" if np.array_equal(found, expected) else f"{found}, expected {expected}"
            return self._floats(found)

    def _floats(self, found: Array) -> str:
        wide = [x.astype(np.clongdouble if x.dtype.kind == "c" else np.longdouble) for x in self.operands]
        keeps = [x if x.dtype.kind in "iub" else w for x, w in zip(self.operands, wide, strict=True)]
        exact = np.asarray(self.function(wide=True)(*keeps))
        if exact.dtype.kind not in "fc":
            return ""
        unit = float(np.finfo(found.dtype).eps)
        if "prod" in self.text and not self._is_small(wide, float(np.finfo(found.dtype).max)):
            return ""
        with np.errstate(all="ignore"):
            bound = 40 * unit * np.abs(exact) + self._bound(keeps, 40 * unit)
            far = np.abs(found.astype(exact.dtype) - exact) > bound
        same = (found == exact.astype(found.dtype)) | (np.isnan(found) & np.isnan(exact))
        return "" if not np.any(far & ~same) else f"{found}, expected {exact}"

    def _bound(self, operands: list[Array], unit: float) -> Any:
        """Return how far what is reduced may be from the exact value, times what it is multiplied by afterwards.

        `unit` is the relative error of a value. Integers are computed with in their own type here as there, so that
        those which wrap have their values of after that.
        """
        before, first, after = (part.strip() for part in self.text.split(";"))
        values = np.asarray(self._evaluate(before.removeprefix("v = "), operands))
        wide = np.clongdouble if values.dtype.kind == "c" else np.longdouble
        finite = np.abs(values[np.isfinite(values)].astype(wide))
        most = max(float(finite.max()) if finite.size else 0.0, 3.0)
        if "sum(" in first:
            bound: Any = unit * most * max(values.size, 1)
        elif "prod(" in first:
            bound = unit * max(values.size, 1) * np.abs(self.function(wide=True, after="r")(*operands))
        elif "var(" in first:
            # Of (v - mean)**2, where v and the mean have an error of a unit of the largest value each.
            bound = unit * most * np.sqrt(np.abs(self.function(wide=True, after="r")(*operands))) + (unit * most) ** 2
        else:
            bound = unit * most
        factor = self.operands[1]
        known = np.abs(factor[np.isfinite(factor)]) if "r * y" in after else np.ones(1)
        return bound * float(known.max() if known.size else 1)

    def _evaluate(self, text: str, operands: list[Array]) -> Any:
        return eval(text, {"np": np}, dict(zip("xy", operands, strict=True)))

    def _is_small(self, wide: list[Array], most: float) -> bool:
        """Whether no product of some of the elements overflows; the order of factors is not NumPy's."""
        with np.errstate(all="ignore"):
            logs = [np.log2(np.maximum(np.abs(x), 1)).sum() * self.operands[0].size / max(x.size, 1) for x in wide]
        return bool(2 * sum(logs) + 64 < np.log2(most))

    def __str__(self) -> str:
        x, y = self.operands
        return f"{self.text} of {x.dtype}{x.shape} {x.strides}, {y.dtype}{y.shape} {y.strides}"


def main(count: int, seed: int = 0) -> int:
    """Run programs; return 1 at the first that differs."""
    random = np.random.default_rng(seed)
    for number in range(count):
        program = Program(random)
        difference = program.difference()
        if difference:
            print(f"program {number} of seed {seed}: {program}: {difference}")
            return 1
    print(f"{count} programs agree with NumPy, {len(_kernels)} kernels")
    return 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 20_000, *map(int, sys.argv[2:3])))
