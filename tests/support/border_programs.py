"""Random programs at the border to NumPy: the same source runs with NumPy and traced, and must give the same or refuse.

In: a seed.  Out: a :class:`Program`: the text of a Python function, its operands, and what NumPy makes of it.

    def program(a, b):
        t0 = np.minimum(a, np.float32(2.5))
        t1 = t0.astype('i4')
        t1 += b
        return t1 > True

The steps are what NumPy's users write: functions and operators, dtypes as text, in-place operators, views, and scalars
of every kind. NumPy runs each step as it is made, so steps that it refuses are last ones. No step means what the
README says differs from NumPy: floats that do not fit an integer dtype are not converted to it, and no
integer 0 has a reciprocal.

    python tests/support/border_programs.py --count 5000 --compiled 100        # a long run; prints what differs

Refusals are counted by what they say, those first that most programs met where NumPy gives a value.
"""

from __future__ import annotations

import argparse
import math
import operator
import random
import re
import sys
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import bcastgen as bg
from bcastgen.core.dtypes import from_key
from bcastgen.expr.evaluate import evaluate
from bcastgen.expr.nodes import has_reductions
from bcastgen.loops.interpret import interpret
from bcastgen.runtime.slow_path import clean_operand
from border_forms import FORMS, STATEMENTS
from expression_programs import EITHER_ZERO

__all__ = ["Program", "check", "make"]

DTYPES = (
    "bool",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float16",
    "float32",
    "float64",
)
# As users spell dtypes, the ones that kernels refuse among them.
SPELLED = (
    "'i1' 'i2' 'i4' 'i8' 'u1' 'u2' 'u4' 'u8' 'f2' 'f4' 'f8' '?' 'b' 'B' 'h' 'H' 'i' 'I' 'l' 'L' 'q' 'Q' 'e' 'f' 'd' "
    "'<i4' '=f8' '>f4' 'b1' 'int' 'uint' 'float' 'bool' 'half' 'single' 'double' 'int8' 'uint16' 'float32' 'intp' "
    "int float bool np.int8 np.uint32 np.float16 np.float64 np.bool_ np.dtype('i2') 'c8' 'U3' 'M8[s]' 'g' 'O' object"
).split()
UNARY = (
    "np.negative np.positive np.absolute abs np.sign np.square np.reciprocal np.sqrt np.floor np.ceil np.trunc np.rint "
    "np.round np.around np.fix np.isnan np.isinf np.isfinite np.signbit np.logical_not np.invert np.bitwise_not - + ~"
).split()
BINARY = (
    "np.add np.subtract np.multiply np.divide np.true_divide np.floor_divide np.remainder np.mod np.power np.minimum "
    "np.maximum np.fmin np.fmax np.equal np.not_equal np.less np.less_equal np.greater np.greater_equal np.logical_and "
    "np.logical_or np.logical_xor np.bitwise_and np.bitwise_or np.bitwise_xor np.left_shift np.right_shift np.copysign"
).split()
OPERATORS = "+ - * / // % ** & | ^ << >> == != < <= > >=".split()
IN_PLACE = "+= -= *= /= //= %= **= &= |= ^= <<= >>=".split()
SCALARS = (
    *("0 1 2 3 -1 -2 7 100 127 128 200 255 256 -128 -129 40000 70000 2**31 2**40 -2**63 2**63 2**64-1 2**70".split()),
    *("0.0 1.0 0.5 2.0 -1.5 3.7 1e10 -1e-3 1e300 float('inf') True False np.True_ np.False_".split()),
    *("np.int8(3) np.int16(-4) np.int32(5) np.int64(6) np.uint8(7) np.uint16(8) np.uint32(9) np.uint64(10)".split()),
    *("np.float16(1.5) np.float32(2.5) np.float64(0.25) np.array(2) np.array(1.5) np.array(True)".split()),
    *("np.longlong(3) np.ulonglong(3) np.intc(2) np.uintc(3) np.half(2) np.double(2) np.str_(2)".split()),
    *("np.array(3,'u1') np.array(2,'f4') np.longdouble(1.5) np.complex64(1) 2j None 'x'".split()),
)
VIEWS = ("{0}.T", "{0}[None]", "{0}[..., None]", "{0}.copy()", "np.transpose({0})", "{0}[:]")
# These are exact to a unit in the last place only, NumPy's as well as ours.
ROUNDED = ("power", "**", "pow(", "var(", "std(")
MODULES = {"np": np, "math": math, "operator": operator}
MOST = 64


@dataclass
class Program:
    """A function as text, its operands, and what NumPy makes of it: a value or an error."""

    source: str
    operands: tuple[Any, ...]
    value: Any = None
    error: Exception | None = None

    @property
    def function(self) -> Callable[..., Any]:
        """The function that the text defines."""
        space: dict[str, Any] = dict(MODULES)
        exec(compile(self.source, "<program>", "exec"), space)
        return space["program"]

    def __str__(self) -> str:
        shown = ", ".join(f"{value!r}" for value in self.operands)
        return (
            f"{self.source}\nprogram({shown})\nNumPy: {self.value!r} {getattr(self.value, 'dtype', '')} {self.error!r}"
        )


def _array(chance: random.Random) -> Any:
    kind = np.dtype(chance.choice(DTYPES))
    shape = chance.choice([(), (1,), (3,), (2, 1), (2, 3)])
    if kind.kind == "b":
        values = [chance.random() < 0.5 for _ in range(6)]
    elif kind.kind == "f":
        values = [
            chance.choice([0.0, 1.0, -1.0, 0.5, -2.5, 3.5, 10.0, 100.25, chance.uniform(-9, 9)]) for _ in range(6)
        ]
    else:
        info = np.iinfo(kind)
        small = [max(info.min, number) for number in (-7, -1, 0, 1, 2, 3, 5, 9, 100)]
        values = [chance.choice([*small, *small, info.min, info.max]) for _ in range(6)]
    made = np.array(values).astype(kind).ravel()[: max(1, int(np.prod(shape)))].reshape(shape)
    # 0-d arrays, NumPy scalars and Python scalars as operands, too.
    if shape == ():
        return chance.choice([made, made[()], made.item()])
    return made


class _Maker:
    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.operands = tuple(_array(self.chance) for _ in range(self.chance.randint(1, 3)))
        self.space: dict[str, Any] = {**MODULES, **dict(zip("abc", self.operands, strict=False))}
        self.names = list("abc"[: len(self.operands)])
        self.lines: list[str] = []
        self.error: Exception | None = None

    def make(self) -> Program:
        for _ in range(self.chance.randint(1, 5)):
            line = self._step()
            if line is not None and self._is_numpys(line) and not self._run(line):
                break
        self.lines.append(f"return {self.names[-1]}")
        lines = [line for lines in self.lines for line in lines.split("\n")]
        source = f"def program({', '.join('abc'[: len(self.operands)])}):\n" + "".join(f"    {s}\n" for s in lines)
        value = None if self.error is not None else self.space[self.names[-1]]
        return Program(source, self.operands, value, self.error)

    def _run(self, line: str) -> bool:
        copied = {
            name: np.copy(value) if isinstance(value, np.ndarray) else value for name, value in self.space.items()
        }
        try:
            exec(line, copied)
        except Exception as error:
            copied, self.error = self.space, error
        self.lines.append(line)
        self.space = copied
        name = next(word.rstrip(",") for word in line.split() if re.match(r"(t\d+|[abc]),?$", word))
        # The last name is returned: a step that nothing uses is not computed, and NumPy's error of it not seen.
        self.names = [*(other for other in self.names if other != name), name]
        return self.error is None

    def _is_numpys(self, line: str) -> bool:
        """Whether NumPy computes the step: operators and methods of Python's own scalars mean something else."""
        text = line.partition("=")[2] if line.startswith("t") else line
        known = [self.space[name] for name in self.names if re.search(rf"\b{name}\b", text)]
        if re.search(r"\bt?\w+\.(clip|astype|copy)\(", text.replace("np.clip", "")):
            return isinstance(self.space[text.split(".")[0].strip()], (np.ndarray, np.generic))
        return any(isinstance(value, (np.ndarray, np.generic)) for value in known)

    def _value(self) -> str:
        return self.chance.choice(SCALARS) if self.chance.random() < 0.35 else self.chance.choice(self.names)

    def _step(self) -> str | None:
        chance, x = self.chance, self.chance.choice(self.names)
        new = f"t{len(self.lines)}"
        if chance.random() < 0.3:
            return self._form(new, x)
        match chance.randrange(12):
            case 0 | 1:
                form = chance.choice(UNARY)
                value = np.asarray(self.space[x])
                if form == "np.reciprocal" and value.dtype.kind != "f" and not value.all():
                    return None
                return f"{new} = {form}({x})"
            case 2 | 3 | 4:
                return f"{new} = {chance.choice(BINARY)}({', '.join(chance.sample([x, self._value()], 2))})"
            case 5 | 6 | 7:
                sides = chance.sample([x, self._value()], 2)
                return f"{new} = {sides[0]} {chance.choice(OPERATORS)} {sides[1]}"
            case 8:
                return self._conversion(new, x)
            case 9:
                call = chance.choice(["np.where({0}, {1}, {2})", "np.clip({0}, {1}, {2})", "{0}.clip({1}, {2})"])
                values = self._value(), self._value()
                if call.startswith("np.where") and any(value.startswith("2**6") for value in values):
                    # NumPy wraps such integers without a word: np.where(True, 0, 2**63) is an int64.
                    return None
                return f"{new} = {call.format(x, *values)}"
            case 10:
                if not isinstance(self.space[x], np.ndarray):
                    return None
                return f"{new} = {chance.choice(VIEWS).format(x)}"
        # Of an operand of its own, so that the caller's arrays stay as they are.
        return f"{x} {chance.choice(IN_PLACE)} {self._value()}" if chance.random() < 0.3 else None

    def _form(self, new: str, x: str) -> str | None:
        """Return a step of a form that is not an operator's; None for what is not promised to be NumPy's."""
        chance, spelled = self.chance, self.chance.choice(SPELLED)
        first, second = self._value(), self._value()
        values = {"new": new, "op": chance.choice(IN_PLACE)}
        if chance.random() < 0.3:
            return chance.choice(STATEMENTS).format(x, first, second, spelled, **values)
        text = chance.choice(FORMS).format(x, first, second, spelled)
        value = np.asarray(self.space[x])
        if value.dtype.kind == "O" or (text.startswith(x) and not isinstance(self.space[x], np.ndarray)):
            return None
        if "round(-1)" in text and value.dtype.kind in "iu":
            info = np.iinfo(value.dtype)
            if value.max() > info.max - 10 or value.min() < min(info.min + 10, 0) or abs(int(value.max())) > 2**50:
                return None
        if "isclose" in text and "'" in text:
            return None
        converts = (spelled in text and "astype" in text) or "like" in text or "piecewise" in text
        if converts and (value.dtype.kind in "fc" or "like" in text or "piecewise" in text):
            # Floats that an integer does not hold, and integers that wrap without a word.
            return None if any(word in text for word in ("like", "piecewise")) else self._conversion(new, x)
        if "where" in text and any(f"{word}," in f"{text}," for word in (first, second) if word.startswith("2**6")):
            return None
        return f"{new} = {text}"

    def _conversion(self, new: str, x: str) -> str | None:
        spelled = self.chance.choice(SPELLED)
        try:
            target = np.dtype(eval(spelled, {"np": np}))
        except TypeError:
            return None
        value = np.asarray(self.space[x])
        if not hasattr(self.space[x], "astype"):
            return None
        if value.dtype.kind in "fc" and target.kind in "iu":
            value, info = value.real, np.iinfo(target)
            fits = np.isfinite(value) & (value > float(info.min) - 1) & (value < float(info.max))
            if not fits.all():
                return None
        return f"{new} = {x}.astype({spelled})"


def make(seed: int) -> Program:
    """Return the program of a seed."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _Maker(seed).make()


def _interpreted(kernel: Any, operands: tuple[Any, ...]) -> Any:
    """Return what the interpreter of nests makes of a call, converted and refused as the call would be."""
    clean = tuple(clean_operand(name, value) for name, value in zip(kernel.operands, operands, strict=True))
    key = kernel._key_of(clean)
    compilation = kernel._compilation(tuple(map(from_key, key[: len(clean)])), tuple(key[len(clean) :]) or None)
    typed = compilation.typed
    for value, limit in zip(clean, typed.limits, strict=True):
        if limit is not None and not limit[0] <= value <= limit[1]:
            raise bg.RangeError(f"{value} is out of bounds")
    arrays = [np.asarray(value).astype(row.np) for value, row in zip(clean, typed.operand_dtypes, strict=True)]
    if has_reductions(typed.expression):
        # There the nests are not all that is computed.
        try:
            return evaluate(typed, tuple(arrays))[0]
        except ValueError as error:
            raise bg.BroadcastError(str(error)) from None
    (result,) = interpret(compilation.program, arrays)
    return result


def check(program: Program, compiled: bool = False) -> str | None:
    """Return how the traced program differs from NumPy's; None if it gives the same.

    Raises
    ------
    BcastgenError
        Where it is refused.
    """
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            kernel = bg.jit(program.function)
            operands = tuple(np.copy(v) if isinstance(v, np.ndarray) else v for v in program.operands)
            result = np.asarray(kernel(*operands) if compiled else _interpreted(kernel, operands))
        except bg.BcastgenError:
            raise
        except Exception as error:
            if type(error) is type(program.error):
                # The function's own: it compares a text with a number, say.
                return None
            return f"raises {error!r}, which is no error of ours"
    if isinstance(program.error, OverflowError) and result.dtype == np.bool_:
        # NumPy compares integers of any size with integers, but not with bools; kernels do that, too.
        return None
    if isinstance(program.error, TypeError) and "np.select" in program.source:
        # NumPy refuses Python ints beside arrays of fewer than 64 bits, by an error of its own inside.
        return None
    if program.error is not None:
        return f"gives {result!r}, where NumPy raises"
    wanted = np.asarray(program.value)
    if result.dtype != wanted.dtype or result.shape != wanted.shape:
        return f"gives {result!r} of {result.dtype}{list(result.shape)}, not {wanted.dtype}{list(wanted.shape)}"
    same = (result == wanted) | ((result != result) & (wanted != wanted))
    if wanted.dtype.kind == "f" and any(name in program.source for name in ROUNDED):
        # Their last bit is not NumPy's.
        eps = np.finfo(wanted.dtype).eps
        same |= np.isclose(result, wanted, rtol=2 * eps, atol=0)
        if "**" in program.source or "power" in program.source:
            # An exponent's last bit is as many bits of the power as it has binary digits before its point.
            with np.errstate(all="ignore"):
                same |= abs(result - wanted) <= 2 * eps * abs(wanted) * np.fmax(abs(np.log(abs(wanted))), 1)
    if wanted.dtype.kind == "f" and not any(name in program.source for name in EITHER_ZERO):
        same &= (np.signbit(result) == np.signbit(wanted)) | (result != 0)
    if not np.all(same):
        return f"gives {result!r}, not {wanted!r}"
    return None


# What a message says of the program at hand, and what stands for it where messages are counted.
_PARTICULARS = (
    (r", (at|in) .*$", ""),
    (r"\b(np\.|numpy\.)?(bool|u?int\d+|float\d+|complex\d+|[iufbc]+\d+)\b", "T"),
    (r"\((T|int|float|complex)(, (T|int|float|complex))*\)", "(...)"),
    (r"'[^']*'", "'...'"),
    (r"-?\d+(\.\d+)?(e[+-]?\d+)?j?", "N"),
    (r"\[[^]]*\]|\([^()]*N[^()]*\)", "[...]"),
)


def kind_of(error: BaseException) -> str:
    """Return what a refusal says of any program.

    Examples
    --------
    >>> kind_of(bg.RangeError("Python integer 300 out of bounds for uint8, at k.py:3 in k(a: u8)"))
    'RangeError: Python integer N out of bounds for T'
    """
    text = str(error).partition("\n")[0]
    for pattern, shown in _PARTICULARS:
        text = re.sub(pattern, shown, text)
    return f"{type(error).__name__}: {text}"


def main() -> int:
    """Check many programs; print those that differ, how many gave a value, and refusals by what they say."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("-v", action="store_true", help="print each program that is refused where NumPy gives a value")
    parser.add_argument("--compiled", type=int, default=0, help="how many of them are compiled as well")
    options = parser.parse_args()
    values = refused = differing = 0
    needless: Counter[str] = Counter()
    needed: Counter[str] = Counter()
    for at in range(options.count):
        program = make(options.seed + at)
        for compiled in (False, True)[: 1 + (at < options.compiled)]:
            try:
                found = check(program, compiled)
            except bg.BcastgenError as error:
                refused += 1
                (needless if program.error is None else needed)[kind_of(error)] += 1
                if program.error is None and options.v:
                    print(f"refused: {error}\n{program}\n")
                continue
            values += found is None
            if found is not None:
                differing += 1
                print(f"seed {options.seed + at} {'compiled' if compiled else 'interpreted'}: {found}\n{program}\n")
    for title, counts in (("NumPy gives a value", needless), ("NumPy refuses, too", needed)):
        print(f"refused, and {title}: {counts.total()}")
        for kind, count in counts.most_common():
            print(f"{count:6} {kind}")
    print(f"{values} the same, {refused} refused, {differing} differ")
    return int(differing > 0)


if __name__ == "__main__":
    sys.exit(main())
