"""Random programs of reductions, views and element-wise steps whose values are small sixteenths, so that each is exact.

In: a generator of random numbers.  Out: a function that NumPy and a kernel both run, its operands, and the values.

    t0 = np.sum(x, axis=1, keepdims=True)
    t1 = np.maximum(x - t0, y)
    t2 = t1.T.max(axis=0, where=t1.T > 3, initial=-7)
    return t2, t0

    python -m tests.support.exact_programs 2000      runs so many programs; exits with 1 at the first difference

NumPy runs each step as it is made: steps that it refuses, and those of large values, are left out, so that programs
mean something. Calls are compared bit by bit, with one thread and with two, with errors reported and not.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

import bcastgen as bg

Array = np.ndarray[Any, Any]

_DTYPES = ("int8", "int16", "int32", "int64", "uint8", "float32", "float64", "bool")
_EXTENTS = (1, 1, 2, 3, 5, 16, 33, 70)
_ELEMENTWISE = (
    *("{a} + {b}", "{a} - {b}", "{a} * {b}", "np.maximum({a}, {b})", "np.minimum({a}, {b})", "np.abs({a})", "-{a}"),
    *("np.where({m}, {a}, {b})", "{a} > {b}", "{a} == {b}", "{a} % 7", "{a} // 3", "np.clip({a}, -9, 9)", "{m} & {m2}"),
    *("~{m}", "{a}.astype('f8')", "{a}.astype('i4')", "{a} + 3", "{a} ** 2", "np.sign({a})", "{a} ** ({b} % 4)"),
)
_VIEWS = ("{a}.T", "{a}[None]", "{a}[..., None]", "{a}[:, None]", "np.moveaxis({a}, 0, -1)", "np.swapaxes({a}, 0, -1)")
_REDUCTIONS = (
    *("np.sum({a}, axis={x}, keepdims={k})", "np.max({a}, axis={x}, keepdims={k})", "{a}.min(axis={x}, keepdims={k})"),
    *("np.any({a}, axis={x}, keepdims={k})", "{a}.all(axis={x})", "np.count_nonzero({a}, axis={x}, keepdims={k})"),
    *("np.argmax({a}, axis={one}, keepdims={k})", "{a}.argmin(axis={one})", "np.prod(np.sign({a}), axis={x})"),
    *("np.sum({a}, axis={x}, where={m}, keepdims={k})", "np.max({a}, axis={x}, where={m}, initial=-5)"),
    *("np.any({m2}, axis={x}, where={m})", "np.sum({a}, axis={x}, dtype='f8')", "np.nansum({a}, axis={x})"),
    *("np.min({a}, axis={x}, initial=2, keepdims={k})", "np.sum({a}, where={m})", "np.ptp({a}, axis={one})"),
    *(
        "np.mean({a}, axis={x}, keepdims={k}, where={m})",
        "np.nanmean({a}, axis={x}, keepdims={k})",
        "{a}.mean(axis={x})",
    ),
    *("np.var({a}, axis={x}, keepdims={k}, where={m})", "np.max({a}, axis={x}, keepdims={k}, initial=-4).T"),
    *("np.nanmax({a}, axis={x}, keepdims={k}).T", "np.sum({a} * {a}.T, axis={x}, where={m}, keepdims={k})"),
)
# What kernels say of a program that NumPy takes: bools have two squares, of arrays and of scalars.
_REFUSED = re.compile(r"power\(bool, int\): NumPy gives")
_MOST = 1 << 20


class ExactProgram:
    """A program: its lines, its operands, and what NumPy gives."""

    def __init__(self, random: np.random.Generator) -> None:
        self.random = random
        rank = int(random.integers(1, 4))
        shape = tuple(int(n) for n in random.choice(_EXTENTS, size=rank))
        self.operands = (self._operand(shape), self._operand(self._smaller(shape)), self._mask(self._smaller(shape)))
        self.values: dict[str, Any] = dict(zip("xym", self.operands, strict=True))
        self.lines: list[str] = []
        for _ in range(40):
            if len(self.lines) >= random.integers(2, 8):
                break
            self._add()
        made = [name for name in self.values if name not in "xym"] or ["x"]
        self.returned = [made[-1], *(str(one) for one in random.choice(made, size=int(random.integers(0, 3))))]

    def _smaller(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        kept = tuple(1 if self.random.random() < 0.3 else n for n in shape)
        return kept[int(self.random.integers(len(kept))) :]

    def _operand(self, shape: tuple[int, ...]) -> Array:
        kind = np.dtype(str(self.random.choice(_DTYPES)))
        low = 0 if kind.kind in "ub" else -6
        return self._laid_out(self.random.integers(low, 2 if kind.kind == "b" else 7, shape).astype(kind))

    def _mask(self, shape: tuple[int, ...]) -> Array:
        return self._laid_out(self.random.random(shape) < 0.6)

    def _laid_out(self, array: Array) -> Array:
        """Return the values in another layout: dims in any order, gaps, reversed."""
        order = self.random.permutation(array.ndim)
        memory = np.ascontiguousarray(array.transpose(order)).repeat(2, axis=-1)[..., ::2]
        flipped = tuple(slice(None, None, -1 if self.random.random() < 0.2 else 1) for _ in array.shape)
        made = memory.transpose(np.argsort(order))
        return np.flip(made)[flipped][tuple(slice(None, None, -1) for _ in array.shape)][flipped]

    def _add(self) -> None:
        random, names = self.random, list(self.values)
        forms = (_ELEMENTWISE, _VIEWS, _REDUCTIONS)[int(random.choice(3, p=(0.45, 0.15, 0.4)))]
        # Later values more often: programs that are chains.
        weights = np.arange(1, len(names) + 1) ** 1.5
        a, b = random.choice(names, size=2, p=weights / weights.sum())
        masks = [name for name, value in self.values.items() if value.dtype == bool]
        m, m2 = random.choice(masks, size=2)
        rank = np.ndim(self.values[str(a)])
        one = int(random.integers(-rank, rank)) if rank else None
        several = (
            tuple(int(dim) for dim in random.permutation(rank)[: int(random.integers(1, rank + 1))]) if rank else None
        )
        x = (None, one, several)[int(random.integers(3))]
        text = str(random.choice(forms)).format(a=a, b=b, m=m, m2=m2, x=x, one=one, k=bool(random.random() < 0.6))
        try:
            with np.errstate(all="ignore"):
                value = eval(text, {"np": np}, self.values)
        except (ValueError, TypeError, IndexError, OverflowError):
            return
        if isinstance(value, int):
            # count_nonzero of all dims, before NumPy 2.4.
            value = np.intp(value)
        size, dtype = np.size(value), np.asarray(value).dtype
        if size > 200_000 or np.ndim(value) > 5 or (size and np.abs(np.asarray(value, "f8")).max() > _MOST):
            return
        # Sixteenths are exact, as integers are.
        if dtype == np.float16 or (dtype.kind == "f" and not np.all(np.rint(np.asarray(value) * 16) == value * 16)):
            return
        name = f"t{len(self.lines)}"
        self.values[name] = value
        self.lines.append(f"{name} = {text}")

    def function(self) -> Callable[..., Any]:
        """Return the program as a function of x, y and m."""
        space: dict[str, Any] = {"np": np}
        exec(str(self), space)
        function: Callable[..., Any] = space["program"]
        return function

    def expected(self) -> list[Array]:
        """Return the values that NumPy gave."""
        return [np.asarray(self.values[name]) for name in self.returned]

    def difference(self) -> str:
        """Return what differs from NumPy; empty if nothing does."""
        for options in ({"threads": 1}, {"threads": 2}, {"errors": "numpy"}):
            try:
                found = bg.jit(self.function(), **options)(*self.operands)
            except bg.BcastgenError as error:
                if _REFUSED.search(str(error)):
                    return ""
                return f"{options}: refused: {error}"
            given = found if isinstance(found, tuple) else (found,)
            for name, one, wanted in zip(self.returned, map(np.asarray, given), self.expected(), strict=True):
                if one.dtype != wanted.dtype or one.shape != wanted.shape:
                    return f"{options}: {name} is {one.dtype}{one.shape}, expected {wanted.dtype}{wanted.shape}"
                if not np.array_equal(one, wanted):
                    return f"{options}: {name} is {one}, expected {wanted}"
        return ""

    def __str__(self) -> str:
        lines = "".join(f"    {line}\n" for line in self.lines)
        return f"def program(x, y, m):\n{lines}    return {', '.join(self.returned)}\n"


def main(count: int, seed: int = 0) -> int:
    """Run programs; return 1 at the first that differs."""
    random = np.random.default_rng(seed)
    for number in range(count):
        program = ExactProgram(random)
        difference = program.difference()
        if difference:
            shown = "\n".join(
                f"{n}: {v.dtype}{v.shape} {v.strides}" for n, v in zip("xym", program.operands, strict=True)
            )
            print(f"program {number} of seed {seed}:\n{program}{shown}\n{difference}")
            return 1
    print(f"{count} programs give what NumPy gives")
    return 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 2000, *map(int, sys.argv[2:3])))
