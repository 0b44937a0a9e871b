"""Random operations on types, what mlir-opt-22 and bcastgen say of them, and where the two differ.

In: a random number generator.  Out: a :class:`Case`; verdicts are True where it is accepted.

    case = broadcastable(random.Random(0))
    upstream([case])[0] == ours(case) unless a difference applies

DIFFERENCES is the one list: docs/mlir.md shows it as a table, with the same names and verdicts; a test compares them.
Each has a predicate that is exact: where it applies the verdicts are the two it says, and where none does they are one.

The file is long because each difference has its text, its verdicts and its predicate.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from dataclasses import dataclass

from bcastgen.api.mlir_module import verify_module
from bcastgen.core.dtypes import COMPUTED, DTYPES
from bcastgen.mlir.options import ReadOptions
from bcastgen.mlir.read.parser import parse_module

# The elements that ops of TOSA have a meaning for: floats, integers, truth values (b). Of those that take no operands
# beside the ones that broadcast, and no attributes; and tosa.mul.
KINDS = {
    **dict.fromkeys("ceil cos erf exp floor log reciprocal rsqrt sigmoid sin tanh pow".split(), "f"),
    **dict.fromkeys("abs add sub mul maximum minimum greater greater_equal".split(), "fi"),
    **dict.fromkeys("clz logical_left_shift logical_right_shift intdiv".split(), "i"),
    **dict.fromkeys("bitwise_not bitwise_and bitwise_or bitwise_xor".split(), "ib"),
    **dict.fromkeys("logical_not logical_and logical_or logical_xor".split(), "b"),
    **dict.fromkeys("equal select cast".split(), "fib"),
}
ARITIES = {
    1: "ceil cos erf exp floor log reciprocal rsqrt sigmoid sin tanh abs clz bitwise_not logical_not cast",
    3: "select",
    2: " ".join(KINDS),
}
COMPARISONS = ("equal", "greater", "greater_equal")
TYPE = re.compile(r"(tensor|vector)<((?:(?:\?|\*|\d+)x)*)(\w+)>")


@dataclass(frozen=True)
class Case:
    """One operation: its name, the types of its operands, its result's."""

    op: str
    operands: tuple[str, ...]
    result: str

    def function(self, number=0):
        """A function of the operation, on one line."""
        names = [f"%{chr(ord('a') + at)}" for at in range(len(self.operands))]
        arguments = ", ".join(f"{name}: {type_}" for name, type_ in zip(names, self.operands, strict=True))
        before, more, types = "", [], list(self.operands)
        if self.op == "tosa.mul":
            before = '%s = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8> '
            more, types = ["%s"], [*types, "tensor<1xi8>"]
        body = f'%r = "{self.op}"({", ".join(names + more)}) : ({", ".join(types)}) -> {self.result}'
        return f"func.func @f{number}({arguments}) -> {self.result} {{ {before}{body} return %r : {self.result} }}"

    def __str__(self):
        return f"{self.op} ({', '.join(self.operands)}) -> {self.result}"


# ---- verdicts --------------------------------------------------------------------------------------------------------


def upstream(cases):
    """Return the verdict of mlir-opt-22 on each case."""
    text = "\n// -----\n".join(case.function(number) for number, case in enumerate(cases))
    command = ["mlir-opt-22", "--split-input-file", "-"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    refused = {int(line) for line in re.findall(r"^<stdin>:(\d+):\d+: error: ", done.stderr, re.MULTILINE)}
    # Case n is on line 2n + 1; an error elsewhere is one of this file.
    assert all(line % 2 for line in refused), done.stderr[:2000]
    assert done.returncode == bool(refused), done.stderr[:2000]
    return [2 * number + 1 not in refused for number in range(len(cases))]


def ours(case):
    """Return the verdict of bcastgen on a case."""
    return not verify_module(parse_module(case.function()), ReadOptions())


# ---- random cases ----------------------------------------------------------------------------------------------------


def tensor(dims, element="f32"):
    """The text of a type; dims of None are unranked."""
    return f"tensor<{'*x' if dims is None else ''.join(f'{dim}x' for dim in dims)}{element}>"


def _near(rng, extents, hides):
    """Extents with some of them replaced: hidden, made 1 (`hides`), or wrong."""
    draws = [rng.random() for _ in extents]
    return [
        "?" if draw < 0.25 else 1 if draw < 0.5 and hides else rng.randint(1, 4) if draw < 0.55 else extent
        for draw, extent in zip(draws, extents, strict=True)
    ]


def broadcastable(rng):
    """A "test.broadcastable" of extents >= 1: types that fit more or less, and some that have nothing in common."""
    element = rng.choice(["f32"] * 60 + ["i3", "index", "f80"])
    if rng.random() < 0.15:
        types = [tensor(_any_dims(rng), element) for _ in range(rng.randint(1, 4) + 1)]
        return Case("test.broadcastable", tuple(types[1:]), types[0])
    extents = [rng.choice([1, 2, 3, 5]) for _ in range(rng.randint(0, 4))]
    operands = []
    for _ in range(rng.choice([1, 2, 2, 2, 3, 4])):
        rank = rng.choice([len(extents), len(extents), rng.randint(0, len(extents))])
        dims = None if rng.random() < 0.08 else _near(rng, extents[len(extents) - rank :], True)
        operands.append(tensor(dims, element))
    result = _near(rng, extents, False)
    if rng.random() < 0.08:
        result = result[1:] if rng.random() < 0.4 else [rng.choice([1, 2, "?"]), *result]
    return Case("test.broadcastable", tuple(operands), tensor(None if rng.random() < 0.05 else result, element))


def tosa(rng):
    """An op of TOSA with extents >= 1 and ranks that are mostly equal; a tosa.add, mul or select half of the time."""
    name = rng.choice(["add", "mul", "select"]) if rng.random() < 0.5 else rng.choice(list(KINDS))
    count = next(count for count, names in ARITIES.items() if name in names.split())
    extents = [rng.choice([1, 2, 3, 5]) for _ in range(rng.randint(0, 4))]
    shapes = [None if rng.random() < 0.08 else _near(rng, extents, True) for _ in range(count)]
    shapes.append(None if rng.random() < 0.05 else _near(rng, extents, False))
    if count == 1 and rng.random() < 0.6:
        shapes[0] = shapes[1] and ["?" if rng.random() < 0.3 else extent for extent in shapes[1]]
    if rng.random() < 0.15:
        shapes[rng.randrange(count + 1)] = _any_dims(rng)
    types = [tensor(shape, one) for shape, one in zip(shapes, _elements(rng, name, count), strict=True)]
    return Case(f"tosa.{name}", tuple(types[:-1]), types[-1])


def _elements(rng, name, count):
    """Element types of operands and result: mostly what fits the op."""
    one = rng.choice(["f32", "f32", "i32", "i8", "i16", "i64", "f16", "bf16", "f64", "i1", "i4", "i3"])
    if rng.random() < 0.6:
        one = rng.choice(
            ["f32", "f16"] if KINDS[name] == "f" else ["i32", "i64", "i8"] if "i" in KINDS[name] else ["i1"]
        )
    elements = [one] * (count + 1)
    if name in COMPARISONS:
        elements[-1] = "i1"
    if name == "cast" or (name == "mul" and one[0] == "i" and rng.random() < 0.5):
        elements[-1] = rng.choice(["i8", "i16", "i32", "i64"])
    if name == "select":
        elements[0] = "i1"
    if rng.random() < 0.05:
        elements[rng.randrange(count + 1)] = rng.choice(["f32", "i32", "i8"])
    return elements


def _any_dims(rng):
    if rng.random() < 0.08:
        return None
    return [rng.choice([1, 1, 2, 3, "?", "?"]) for _ in range(rng.randint(0, 4))]


# ---- the trait, as LLVM 22 checks it ---------------------------------------------------------------------------------


def dims(type_):
    """The dims of a type's text, from the right, None for ?; None if it is unranked."""
    text = TYPE.fullmatch(type_)[2]
    if text == "*x":
        return None
    return [None if dim == "?" else int(dim) for dim in text.split("x")[:-1]][::-1]


def element(type_):
    """The element type of a type's text."""
    return TYPE.fullmatch(type_)[3]


def inferred(case):
    """Return the extents that ranked operands span, from the right; None if there are none, False if they clash."""
    ranked = [shape for shape in map(dims, case.operands) if shape is not None]
    if not ranked:
        return None
    spanned = []
    for at in range(max(map(len, ranked))):
        column = {shape[at] for shape in ranked if at < len(shape)} - {1}
        known = column - {None}
        if len(known) > 1:
            return False
        spanned.append(known.pop() if known else None if column else 1)
    return spanned


def misfits(case):
    """The extents that are inferred where the result, if it is ranked, has another known one."""
    spanned, result = inferred(case) or [], dims(case.result) or []
    return [
        one for one, declared in zip(spanned, result, strict=False) if None not in (one, declared) and one != declared
    ]


def ranks_fit(case, exact):
    """Whether the result has the rank of what is inferred, or, if not `exact`, a higher one."""
    spanned, result = inferred(case), dims(case.result)
    if spanned is None or result is None:
        return True
    return len(result) == len(spanned) or (len(result) > len(spanned) and not exact)


def is_unranked(case):
    return any(dims(type_) is None for type_ in case.operands)


def is_supported(case):
    # Values of storage types are compared, selected and cast, and nothing else.
    moved = case.op in ("test.broadcastable", "tosa.select", "tosa.cast")
    known = DTYPES if moved else COMPUTED
    return {element(type_) for type_ in (*case.operands, case.result)} <= {row.mlir for row in known}


def ranks_are_equal(case):
    return len({len(shape) for shape in map(dims, (*case.operands, case.result)) if shape is not None}) <= 1


def values(case):
    """The element types of the operands that are computed with: not of the condition of tosa.select."""
    return [element(type_) for type_ in case.operands[case.op == "tosa.select" :]]


def elements_fit(case):
    """Whether element types of a TOSA op are those that LLVM's verifier takes."""
    name, one, result = case.op.removeprefix("tosa."), values(case)[0], element(case.result)
    if len(set(values(case))) > 1 or (name == "select" and element(case.operands[0]) != "i1"):
        return False
    # Some ops look at what their operands are.
    wanted = {"intdiv": "i32 i64", "sin": FLOATS, "cos": FLOATS}.get(name, "i1" if KINDS[name] == "b" else one)
    if one not in wanted.split():
        return False
    if name == "mul" and one[0] == result[0] == "i":
        return int(result[1:]) >= int(one[1:])
    return name == "cast" or result == ("i1" if name in COMPARISONS else one)


def has_no_meaning(case):
    """Whether a TOSA op is one that its elements do not have."""
    one = values(case)[0]
    kind = "b" if one == "i1" else "i" if one[0] == "i" else "f"
    return case.op.startswith("tosa.") and kind not in KINDS[case.op.removeprefix("tosa.")]


def has_zero(case):
    return any(0 in (dims(type_) or ()) for type_ in (*case.operands, case.result))


def is_narrow_quotient(case):
    return case.op == "tosa.intdiv" and set(values(case)) | {element(case.result)} in ({"i8"}, {"i16"})


def is_odd_product(case):
    """Whether a product of integers has another type than theirs and i32 for smaller ones."""
    one, result = values(case)[0], element(case.result)
    return case.op == "tosa.mul" and one[0] == "i" and result != one and (result != "i32" or int(one[1:]) > 32)


def is_llvms(case, whatever=()):
    """Whether LLVM takes a case, or would if the result's extents (`whatever`) did not matter where these are inferred.

    It is meant for extents >= 1 and serves predicates only; where verdicts are compared, LLVM itself is asked.
    """
    if inferred(case) is False or not set(misfits(case)) <= set(whatever):
        return False
    if case.op == "test.broadcastable":
        return ranks_fit(case, exact=False)
    return elements_fit(case) and ranks_are_equal(case)


def excused(case):
    """Whether shapes of a TOSA op are those that we take: an operand of unknown rank may stretch a 1."""
    wrong = set(misfits(case)) - ({1} if is_unranked(case) else set())
    return inferred(case) is not False and ranks_are_equal(case) and not wrong


ANY = range(1, 10)
FLOATS = "f16 bf16 f32 f64"


def wrong_products(case):
    """The inferred extents that the result of a tosa.mul does not have and cannot have; LLVM does not look at them."""
    return set(misfits(case)) - ({1} if is_unranked(case) else set()) if case.op == "tosa.mul" else set()


# ---- differences -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Difference:
    """Where verdicts differ: the case as docs/mlir.md calls it, our verdict and LLVM's, when, and examples."""

    name: str
    ours: bool
    upstream: bool
    applies: Callable[[Case], bool]
    examples: tuple[Case, ...]


def _case(op, *types):
    return Case(op, tuple(f"tensor<{type_}>" for type_ in types[:-1]), f"tensor<{types[-1]}>")


DIFFERENCES = (
    Difference(
        '`"test.broadcastable"`: a result of higher rank than ranked operands span',
        False,
        True,
        lambda case: (
            case.op == "test.broadcastable"
            and is_supported(case)
            and is_llvms(case)
            and not is_unranked(case)
            and not ranks_fit(case, exact=True)
        ),
        (_case("test.broadcastable", "3xf32", "3xf32", "1x3xf32"), _case("test.broadcastable", "f32", "?x2xf32")),
    ),
    Difference(
        "an operand of unknown rank beside an extent of 1",
        True,
        False,
        lambda case: (
            case.op != "tosa.mul"
            and is_supported(case)
            and not has_no_meaning(case)
            and is_unranked(case)
            and set(misfits(case)) == {1}
            and is_llvms(case, [1])
        ),
        (
            _case("test.broadcastable", "*xf32", "1xf32", "3xf32"),
            _case("test.broadcastable", "2x1xf32", "*xf32", "2x5xf32"),
            _case("tosa.add", "2x1xf32", "*xf32", "2x5xf32"),
            _case("tosa.select", "*xi1", "1xf32", "1xf32", "3xf32"),
        ),
    ),
    Difference(
        "an element type that is not supported",
        False,
        True,
        lambda case: not is_supported(case) and is_llvms(case, ANY if case.op == "tosa.mul" else ()),
        (
            _case("test.broadcastable", "2xi3", "1xi3", "2xi3"),
            _case("tosa.add", "2xf80", "2xf80", "2xf80"),
            _case("tosa.mul", "2xi3", "2xi3", "3xi8"),
        ),
    ),
    Difference(
        "an element type without a meaning for the op: `tosa.add` of `i1`, `tosa.exp` of `i32`",
        False,
        True,
        lambda case: (
            is_supported(case) and has_no_meaning(case) and is_llvms(case, ANY if case.op == "tosa.mul" else ())
        ),
        (
            _case("tosa.add", "2xi1", "1xi1", "2xi1"),
            _case("tosa.mul", "2xi1", "1xi1", "2xi32"),
            _case("tosa.exp", "?xi32", "2xi32"),
        ),
    ),
    Difference(
        "`tosa.intdiv` of `i8` and `i16`",
        True,
        False,
        lambda case: is_narrow_quotient(case) and excused(case),
        (_case("tosa.intdiv", "2xi8", "1xi8", "2xi8"), _case("tosa.intdiv", "?xi16", "*xi16", "2xi16")),
    ),
    Difference(
        "`tosa.mul` of integers to another type than theirs or, for smaller ones, `i32`",
        False,
        True,
        lambda case: is_supported(case) and not has_no_meaning(case) and is_odd_product(case) and is_llvms(case, ANY),
        (_case("tosa.mul", "2xi8", "2xi8", "2xi16"), _case("tosa.mul", "2xi32", "1xi32", "2xi64")),
    ),
    Difference(
        "`tosa.mul`: a result of other extents than its operands span",
        False,
        True,
        lambda case: (
            is_supported(case)
            and not has_no_meaning(case)
            and not is_odd_product(case)
            and bool(wrong_products(case))
            and is_llvms(case, ANY)
        ),
        (_case("tosa.mul", "2xf32", "1xf32", "5xf32"), _case("tosa.mul", "?x3xf32", "*xf32", "?x1xf32")),
    ),
    Difference(
        '`"test.broadcastable"`: an extent of 0 beside `?`',
        False,
        True,
        # Random cases have none.
        lambda case: case.op == "test.broadcastable" and has_zero(case),
        (
            _case("test.broadcastable", "0xf32", "?xf32", "9xf32"),
            _case("test.broadcastable", "?xf32", "0xf32", "4xf32", "4xf32"),
        ),
    ),
    Difference(
        "an op of TOSA: an extent of 0",
        True,
        False,
        lambda case: case.op != "test.broadcastable" and has_zero(case),
        (_case("tosa.add", "0x2xf32", "1x2xf32", "0x2xf32"),),
    ),
)


def explained(case, own, other):
    """Whether verdicts are what the list says: of the one difference that applies, or the same if none does."""
    found = [difference for difference in DIFFERENCES if difference.applies(case)]
    if not found:
        return own == other
    return len(found) == 1 and (own, other) == (found[0].ours, found[0].upstream)
