"""Random calls of kernels as ufuncs: the same lines run with NumPy and with bcastgen, and must give the same or refuse.

In: a seed.  Out: a :class:`Script`: operands of every kind, and lines that call functions of a module `m`.

    t0 = m.add(a, o[::-1], out=o, where=a > 0)
    t1 = m.multiply(t0, np.float32(2.5), dtype='<f4', casting='same_kind')

Each line runs with ``m = numpy``, then with ``m = bcastgen``. Compared are results (class, dtype, shape, values, the
order of their memory, whether they are the out) and the elements of all operands; a line that is refused may have
written nothing. A line that NumPy refuses has to be refused, a line that it takes may be.

What operands there are: arrays of both byte orders, of many strides, without elements, read-only, overlapping, of
subclasses, masked, structured, of times and objects, NumPy's scalars, numbers, lists. No line means what the
documentation says differs: a mask has an out, and floats that do not fit an integer are not converted to one.

    python tests/support/border_calls.py --count 3000

The file is long because it makes operands of so many kinds, and compares all that a call may change.
"""

from __future__ import annotations

import argparse
import random
import sys
import warnings
from collections import Counter
from typing import Any

import numpy as np

import bcastgen as bg
from border_programs import kind_of

__all__ = ["Script", "check"]

DTYPES = ("bool", "int8", "uint8", "int32", "int64", "uint64", "float16", "float32", "float64", "complex64")
SHAPES = ((), (1,), (3,), (2, 1), (2, 3), (1, 3), (0,), (0, 3), (2, 0))
BINARY = (
    "add subtract multiply divide floor_divide remainder power maximum fmin less equal logical_and bitwise_xor "
    "left_shift copysign divmod"
).split()
UNARY = "negative absolute sqrt square floor isnan logical_not invert sign conjugate modf".split()
# Dtypes as users spell them, in every way that numpy.dtype takes.
SPELLED = (
    "'f4' '<f4' '>f4' '=f8' 'float32' 'double' 'd' 'i8' '>i4' 'l' '?' 'bool' 'u1' 'e' 'F' np.float32 np.int16 float "
    "int bool complex np.dtype('f4') np.dtype('>f8') np.dtype(np.uint8) np.float32(1).dtype np.floating None 'O' 'g' "
    "'U2' 'M8[s]' 'V4' 'nonsense' 3 np.dtype([('x','f4')]) np.dtypes.Float32DType np.dtypes.Float64DType() np.inexact "
    "np.number np.generic np.character 'f4,f4' ('f4',(2,)) 'int' 'p' 'longlong' 'c16' 'half'"
).split()
SCALARS = (
    "0 1 -1 2 3 200 300 -129 2**40 2**63 2**70 0.5 2.0 -1.5 1e300 float('nan') True False 2j np.True_ np.int8(3) "
    "np.int16(-4) np.int32(5) np.int64(6) np.uint8(7) np.uint16(8) np.uint32(9) np.uint64(10) np.float16(1.5) "
    "np.float32(2.5) np.float64(.25) np.complex64(1j) np.longdouble(1.5) np.intp(3) np.longlong(4) np.ubyte(5) "
    "np.array(2) np.array(1.5,'>f4') np.array(True) [1,2,3] (1.0,2.0,3.0) [[1],[2]] range(3) [] [True,False,True] "
    "None 'a' b'a' np.str_('a') np.datetime64('2020-01-01') np.timedelta64(3,'D') object() np.ma.masked slice(1)"
).split()
MASKS = (
    "True False a>0 [True,False,True] np.array(True) a b np.ones((2,1),bool) np.bool_(0) 1 None o>0 [[True],[False]]"
).split()
ROUNDED = ("power", "sqrt", "absolute", "divide")


class Tagged(np.ndarray):
    """A subclass that keeps a tag; its operators are NumPy's."""

    tag = "none"

    def __array_finalize__(self, other: Any) -> None:
        self.tag = getattr(other, "tag", "none")


class Wrapped(np.ndarray):
    """A subclass that says how results come back, before others do."""

    __array_priority__ = 5.0

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        return np.ndarray.__array_wrap__(self, array, context, return_scalar)


class Taking(np.ndarray):
    """A subclass that takes over ufuncs."""

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        return f"{ufunc.__name__} {method}"


class Converting:
    """No array, but one where it is asked for one."""

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.array([1.0, 2.0, 3.0], dtype)


class Refusing:
    """What refuses to be an operand."""

    __array_ufunc__ = None


SPACE = {"np": np, "Converting": Converting, "Refusing": Refusing}


def _by_numpy(a: Any, b: Any, c: Any, **options: Any) -> Any:
    return np.add(np.multiply(a, b), c, **options)


# What lines call beside the module's functions: a kernel of two ops, which is called as a ufunc is.
OURS = {**SPACE, "m": bg, "kernel": bg.jit(lambda a, b, c: np.add(np.multiply(a, b), c))}
THEIRS = {**SPACE, "m": np, "kernel": _by_numpy}


def _array(chance: random.Random, shape: tuple[int, ...] | None = None) -> Any:
    kind = np.dtype(chance.choice(DTYPES))
    shape = chance.choice(SHAPES) if shape is None else shape
    numbers = [chance.choice([0, 1, 2, 3, 5, 7, 100]) for _ in range(24)]
    made = np.array(numbers).astype(kind)[: max(1, int(np.prod(shape)))].reshape(shape) if 0 not in shape else None
    made = np.zeros(shape, kind) if made is None else made
    if kind.kind in "if" and chance.random() < 0.5:
        made = np.asarray(-made)
    match chance.randrange(12):
        case 0:
            made = made.astype(kind.newbyteorder(">"))
        case 1:
            made = np.asfortranarray(made)
        case 2:
            made = made[::-1] if made.ndim else made
        case 3:
            made = np.repeat(made, 2, axis=-1)[..., ::2] if made.ndim else made
        case 4:
            made = np.broadcast_to(made, (2, *made.shape)) if made.ndim < 2 else made
    return made


def _beside(chance: random.Random, base: tuple[int, ...]) -> tuple[int, ...]:
    """Return a shape that broadcasts to another one, mostly."""
    if chance.random() < 0.1:
        return chance.choice(SHAPES)
    return tuple(1 if chance.random() < 0.15 else extent for extent in base[chance.randrange(len(base) + 1) :])


def _operand(chance: random.Random, base: tuple[int, ...]) -> Any:
    made = _array(chance, chance.choice([base, base, _beside(chance, base)]))
    match chance.randrange(40):
        case 0 | 1:
            return made.view(Tagged)
        case 2 | 3:
            return made.view(Wrapped)
        case 4:
            return made.view(Taking)
        case 5:
            return np.ma.array(made, mask=np.zeros(made.shape, bool))
        case 6:
            return np.matrix([[1.0, 2.0, 3.0]])
        case 7:
            return np.zeros(3, "f4,i2")
        case 8:
            return np.array(["2020-01-01", "NaT", "2021-05-05"], "M8[D]")
        case 9:
            return np.array([1, 2.5, 3], object)
        case 10:
            return np.array(["a", "b", "c"])
        case 11:
            return np.array([1, 2, 3], np.longdouble)
        case 12:
            return made.view(np.recarray) if made.dtype.names else made
        case 13:
            made = np.array(made)
            made.flags.writeable = False
        case 14 | 15:
            return made[()] if made.ndim == 0 else made
    return made


def _out(chance: random.Random, base: tuple[int, ...]) -> Any:
    made = np.array(_array(chance, chance.choice([base, base, base, (4, *base), (1, *base), _beside(chance, base)])))
    match chance.randrange(14):
        case 0:
            made.flags.writeable = False
        case 1:
            made = made.view(Tagged)
        case 2:
            made = np.ma.array(made)
        case 3:
            return chance.choice([made.tolist(), None, 3, np.float64(1)])
        case 4:
            made = np.lib.stride_tricks.as_strided(made, made.shape, (0,) * made.ndim) if made.size else made
        case 5:
            return made.view(Taking)
    return made


class Script:
    """Lines, and what `a`, `b`, `c`, `o` and `p` are before them."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        base = self.chance.choice(SHAPES)
        self.operands = {
            **{name: _operand(self.chance, base) for name in "abc"},
            **{name: _out(self.chance, base) for name in "op"},
        }
        self.lines = [self._line(at) for at in range(self.chance.randint(1, 4))]

    def __str__(self) -> str:
        given = "\n".join(
            f"{name} = {value!r}  # {type(value).__name__} {getattr(value, 'dtype', '')} "
            f"{getattr(value, 'strides', '')}"
            for name, value in self.operands.items()
        )
        return f"{given}\n" + "\n".join(self.lines)

    def _value(self, at: int) -> str:
        chance = self.chance
        if chance.random() < 0.2:
            return chance.choice(SCALARS)
        if chance.random() < 0.02:
            return chance.choice(["Converting()", "Refusing()"])
        name = chance.choice([*"abc", *"abc", "o", *(f"t{one}" for one in range(at))])
        return chance.choice([*[name] * 16, f"{name}[::-1]", f"{name}[1:]", f"{name}[..., None]", f"{name}.T"])

    def _line(self, at: int) -> str:
        chance = self.chance
        if chance.random() < 0.12:
            return self._chained(at)
        binary = chance.random() < 0.75
        function = chance.choice(BINARY if binary else UNARY)
        several = function in ("divmod", "modf")
        given = [self._value(at) for _ in range(1 + binary)]
        if chance.random() < 0.03:
            given = given[:-1] if chance.random() < 0.5 else [*given, "1", "o", "1"]
        # A mask without an out leaves elements unset in NumPy.
        out = None
        if chance.random() < 0.45:
            out = chance.choice(
                [
                    "o",
                    "o",
                    "p",
                    *(f"t{one}" for one in range(at)),
                    "o[::-1]",
                    "o[1:]",
                    "o.T",
                    "a",
                    "(o,)",
                    "...",
                    "o[..., 0]",
                    "[o]",
                ]
            )
            if several:
                out = chance.choice(["(o, p)", "(o, None)", "(None, p)", "o", "(o[::2], o[1::2])"])
            if chance.random() < 0.2 and not several and not out.startswith("("):
                given.append(out)
            else:
                given.append(f"out={out}")
        if out is not None and out != "..." and "None" not in out and chance.random() < 0.35:
            given.append(f"where={chance.choice(MASKS)}")
        if chance.random() < 0.2:
            given.append(f"dtype={chance.choice(SPELLED)}")
        if chance.random() < 0.2:
            rules = "'no' 'equiv' 'safe' 'same_kind' 'unsafe' 'wrong' None 'Safe'"
            given.append(f"casting={chance.choice(rules.split())}")
        if chance.random() < 0.15:
            given.append(f"order={chance.choice('CFAKX')!r}")
        if chance.random() < 0.1:
            given.append(f"subok={chance.choice(['True', 'False'])}")
        if chance.random() < 0.03:
            loops = [
                "'dd->d'",
                "'d->d'",
                "'ff->f'",
                "(float, float, float)",
                "'->d'",
                "(None, None, 'f4')",
                "'dd'",
                "'x'",
            ]
            given.append(f"signature={chance.choice(loops)}")
        return f"t{at} = m.{function}({', '.join(given)})"

    def _chained(self, at: int) -> str:
        """Return a line of several calls of which each reads what the one before wrote, or one of a kernel."""
        chance, (a, b, c) = self.chance, (self._value(at) for _ in range(3))
        options = chance.choice(
            ["", ", out=o", ", out=p[1:]", ", out=o, where=a>0", ", order='F'", ", subok=False", ", out=..."]
        )
        first, last = chance.choice(BINARY[:-1]), chance.choice(BINARY[:-1])
        form = chance.choice(
            [
                f"m.{last}(m.{first}({a}, {b}, out=o), {c}, out=o)",
                f"m.{last}(o[1:], m.{first}(o[:-1], {b}), out=o[1:])",
                f"m.{last}({a}, {b}, out=m.{first}({a}, {c}, out=p))",
                *[f"kernel({a}, {b}, {c}{options})"] * 3,
            ]
        )
        return f"t{at} = {form}"


def _copied(operands: dict[str, Any]) -> dict[str, Any]:
    """Return arrays of the same strides, memory and flags; arrays that share memory do not share it with each other."""
    made = {}
    for name, value in operands.items():
        if not isinstance(value, np.ndarray) or value.dtype.kind in "OUV":
            made[name] = value.copy() if isinstance(value, np.ndarray) else value
            continue
        plain = np.asarray(value)
        low, high = np.lib.array_utils.byte_bounds(plain)
        if not plain.size or 0 in plain.strides:
            copy = plain.copy()
            if 0 in plain.strides and plain.size:
                copy = np.lib.stride_tricks.as_strided(copy, plain.shape, plain.strides)
        else:
            memory = np.zeros(high - low, np.uint8)
            start = plain.__array_interface__["data"][0] - low
            copy = np.ndarray(plain.shape, plain.dtype, memory, start, plain.strides)
            copy[...] = plain
        if isinstance(value, np.ma.MaskedArray):
            made[name] = np.ma.array(copy, mask=np.ma.getmaskarray(value).copy())
            continue
        if not value.flags.writeable:
            copy.flags.writeable = False
        made[name] = copy.view(type(value))
    return made


def _run(line: str, space: dict[str, Any]) -> Exception | None:
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            exec(line, space)
        except Exception as error:
            return error
    return None


def _state(space: dict[str, Any]) -> dict[str, Any]:
    return {name: np.array(space[name], copy=True) for name in space if isinstance(space[name], np.ndarray)}


def _differs(got: Any, wanted: Any, rounded: bool) -> str | None:
    """Return how a value differs from NumPy's."""
    if type(wanted) is tuple:
        if type(got) is not tuple or len(got) != len(wanted):
            return f"{got!r} is no tuple of {len(wanted)}"
        return next((found for pair in zip(got, wanted, strict=True) if (found := _differs(*pair, rounded))), None)
    # NumPy has two classes for integers of 64 bits, whose dtypes are equal.
    if type(got) is not type(wanted) and not (isinstance(got, np.generic) and isinstance(wanted, np.generic)):
        return f"{got!r} is a {type(got).__name__}, not {wanted!r}, a {type(wanted).__name__}"
    if not isinstance(wanted, (np.ndarray, np.generic)):
        return None if got == wanted else f"{got!r}, not {wanted!r}"
    if got.dtype != wanted.dtype or got.shape != wanted.shape:
        return f"{got!r} of {got.dtype}{list(got.shape)}, not {wanted!r} of {wanted.dtype}{list(wanted.shape)}"
    if getattr(got, "tag", None) != getattr(wanted, "tag", None):
        return "another tag"
    a, b = np.asarray(got), np.asarray(wanted)
    if a.dtype.kind in "OUSVM":
        return None if a.tolist() == b.tolist() else f"{got!r}, not {wanted!r}"
    with np.errstate(all="ignore"):
        same = (a == b) | ((a != a) & (b != b))
        if rounded and a.dtype.kind in "fc":
            same |= np.isclose(a, b, rtol=4 * np.finfo(a.dtype).eps, atol=0)
            if a.dtype == np.complex64:
                # NumPy's powers are cpowf's, whose error grows with the exponent: 1j**100 has 3e-6 for its part of 0.
                same |= abs(a - b) <= 64 * np.finfo(a.dtype).eps * abs(b)
    if not np.all(same):
        return f"{got!r}, not {wanted!r}"
    if isinstance(got, np.ndarray) and min(a.shape, default=0) > 1 and a.strides != b.strides:
        return f"strides {a.strides}, not {b.strides}"
    return None


def _left_out(old: Any, got: Any, wanted: Any) -> bool:
    """Whether results differ only where ours keeps what was there, and NumPy's has it converted.

    Of an out that overlaps an operand NumPy converts the elements that the mask leaves out as well: to the dtype of
    the loop's result, and back.
    """
    with np.errstate(all="ignore"):
        other = (got != wanted) & ((got == got) | (wanted == wanted))
        return bool(np.all(~other | (got == old) & (wanted == old.astype(bool))))


def check(script: Script) -> tuple[str | None, int, list[BaseException]]:
    """Return how a script differs from NumPy's run, how many lines gave the same, and what was refused needlessly."""
    theirs = {**THEIRS, **_copied(script.operands)}
    ours = {**OURS, **_copied(script.operands)}
    agreed, rounded = 0, False
    for line in script.lines:
        before = _state(ours)
        wanted, error = _run(line, theirs), _run(line, ours)
        if "kernel(" in line and isinstance(ours.get(line.split()[0]), str):
            # What takes ufuncs over is handed the kernel, where NumPy calls two ufuncs.
            return None, agreed, []
        rounded |= any(name in line for name in ROUNDED)
        if error is not None:
            # Of several calls in a line the first ones may have been made.
            for name, value in before.items() if line.count("m.") == 1 else ():
                if _differs(np.array(ours[name]), value, False):
                    return f"{line}: {error!r}, but {name} is {ours[name]!r}, and was {value!r}", agreed, []
            if wanted is None:
                if not isinstance(error, (bg.BcastgenError, TypeError, ValueError)):
                    return f"{line}: {error!r} is no error of ours", agreed, []
                return None, agreed, [error]
            return None, agreed, []
        truth = "m.logical_" in line or getattr(ours[line.split()[0]], "dtype", None) == np.bool_
        if isinstance(wanted, OverflowError) and truth:
            # NumPy compares integers of any size with integers, but not with bools; kernels do that, too.
            return None, agreed, []
        if wanted is not None:
            return f"{line}: gives {ours[line.split()[0]]!r}, where NumPy raises {wanted!r}", agreed, []
        if "where=" in line and any(f"out={name}" in line and theirs[name] is None for name in ("o", "p")):
            # Without an out nobody says what is where the mask leaves elements out.
            return None, agreed, []
        for name in (line.split()[0], *before):
            found = _differs(ours[name], theirs[name], rounded)
            if found and "where=" in line and "o[" in line and _left_out(before["o"], ours["o"], theirs["o"]):
                return None, agreed, []
            if found and "out=(None" in line and found.startswith("strides"):
                # NumPy orders a new result as the outs beside it, too; ours is ordered as the operands.
                return None, agreed, []
            if found:
                return f"{line}: {name} is {found}", agreed, []
        for name in ("o", "p", "a"):
            if name in ours and (ours[line.split()[0]] is ours[name]) != (theirs[line.split()[0]] is theirs[name]):
                return f"{line}: the result is {name} for one of both", agreed, []
        agreed += 1
    return None, agreed, []


def main() -> int:
    """Check many scripts; print those that differ, and refusals by what they say."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=3000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("-v", action="store_true", help="print each script that is refused where NumPy gives a value")
    options = parser.parse_args()
    lines = differing = 0
    refusals: Counter[str] = Counter()
    for seed in range(options.seed, options.seed + options.count):
        script = Script(seed)
        found, agreed, refused = check(script)
        lines += agreed
        for error in refused:
            refusals[kind_of(error)] += 1
            if options.v:
                print(f"seed {seed} refused: {error}\n{script}\n")
        if found is not None:
            differing += 1
            print(f"seed {seed}: {found}\n{script}\n")
    for kind, count in refusals.most_common():
        print(f"{count:6} {kind}")
    print(f"{lines} lines of {options.count} scripts the same, {refusals.total()} refused, {differing} differ")
    return int(differing > 0)


if __name__ == "__main__":
    sys.exit(main())
