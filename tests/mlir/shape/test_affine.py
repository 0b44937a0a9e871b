"""Affine maps against Python's integers, as text and in programs."""

from __future__ import annotations

import random

import pytest

import bcastgen as bg
import mlir_tools
from bcastgen.core.errors import ParseError
from bcastgen.mlir.shape.affine import parse_map
from long_runs import many

MEANINGS = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "floordiv": lambda a, b: a // b,
    "ceildiv": lambda a, b: -(-a // b),
    "mod": lambda a, b: a % b,
}


def text_and_value(chance, values, depth=0):
    """A random expression, as text with all parentheses, and its value."""
    kind = chance.choice(("name", "number", "negated", *MEANINGS)) if depth < 4 else "name"
    if kind == "name":
        return chance.choice(list(values.items()))
    if kind == "number":
        number = chance.randint(0, 9)
        return str(number), number
    left, value = text_and_value(chance, values, depth + 1)
    if kind == "negated":
        return f"-({left})", -value
    if kind in ("floordiv", "ceildiv", "mod"):
        right = chance.randint(1, 7)
        return f"({left}) {kind} {right}", MEANINGS[kind](value, right)
    if kind == "*":
        right = chance.randint(-3, 3)
        return f"({left}) * {right}", value * right
    right, other = text_and_value(chance, values, depth + 1)
    return f"({left}) {kind} ({right})", MEANINGS[kind](value, other)


def made(line, name="f"):
    return f"func.func @{name}(%i: index, %n: index) -> index {{\n  %0 = {line}\n  return %0 : index\n}}"


def drawn(seed):
    chance = random.Random(seed)
    values = {"d0": chance.randint(-20, 20), "s0": chance.randint(-20, 20)}
    texts, wanted = zip(*(text_and_value(chance, values) for _ in range(3)), strict=True)
    lines = [f"affine.apply affine_map<(d0)[s0] -> ({texts[0]})>(%i)[%n]"]
    lines += [f"affine.{name} affine_map<(d0, s0) -> ({', '.join(texts)})>(%i, %n)" for name in ("min", "max")]
    return lines, values.values(), (wanted[0], min(wanted), max(wanted))


@pytest.mark.parametrize("seed", range(40))
def test_maps_compute_what_integers_do(seed):
    lines, operands, wanted = drawn(seed)
    for line, value in zip(lines, wanted, strict=True):
        program = bg.shape_from_mlir(made(line))
        assert program.run(*operands) == program.fold().run(*operands) == value, line
        assert bg.shape_from_mlir(str(program)) == program


@pytest.mark.slow
@mlir_tools.needs_mlir
def test_llvm_prints_the_same_maps():
    """It simplifies maps and gives them names; what it prints computes the same, in generic form too."""
    cases = [(line, operands, value) for seed in range(many(12, 40)) for line, operands, value in same_seed(seed)]
    text = "\n".join(made(line, f"f{at}") for at, (line, _, _) in enumerate(cases))
    for flags in ((), ("--mlir-print-op-generic",), ("--canonicalize",), ("--lower-affine",)):
        printed = mlir_tools.checked_opt(text, *flags)
        for at, (line, operands, value) in enumerate(cases):
            assert bg.shape_from_mlir(printed, f"f{at}").run(*operands) == value, (line, flags)


def same_seed(seed):
    lines, operands, wanted = drawn(seed)
    return [(line, operands, value) for line, value in zip(lines, wanted, strict=True)]


def test_products_bind_before_sums_and_from_the_left():
    assert parse_map("(d0)[s0] -> (d0 + s0 * 2 - 3)").results == (("-", ("+", "d0", ("*", "s0", 2)), 3),)
    assert parse_map("() -> (7 floordiv 2 mod 3)").results == (("mod", ("floordiv", 7, 2), 3),)
    assert parse_map("(d0) -> (d0 * -2, -3)").results == (("*", "d0", -2), -3)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(d0) -> (d1)", "has 'd1', expected a number, a dim or a symbol"),
        ("(d0) -> (d0 floordiv 0)", "floordiv by 0, expected 1 or more"),
        ("(d0) -> (d0 mod -2)", "mod by -2, expected 1 or more"),
        ("(d0, d0) -> (d0)", "twice"),
        ("(d0) -> (d0", r"has 'its end', expected '\)'"),
        ("(d0) -> (d0 / 2)", "has '/', which no map has"),
        ("(d0) -> (d0) d0", "has 'd0', expected ''"),
        ("(3) -> (1)", "has '3', expected a name"),
        (f"(d0) -> ({'(' * 60}d0{')' * 60})", "nests deeper than 50 levels"),
    ],
)
def test_what_is_no_map(text, message):
    with pytest.raises(ParseError, match=message):
        parse_map(text)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("affine.apply affine_map<(d0) -> (d0, 1)>(%i)", "1 operands for a map of 1 dims and symbols, and 2 results"),
        ("affine.apply affine_map<(d0) -> (d0)>(%i, %n)", "2 operands for a map of 1 dims and symbols"),
        ("affine.apply affine_map<(d0) -> (d0 mod 0)>(%i)", "mod by 0, expected 1 or more"),
        ('"affine.apply"(%i) {map = 3} : (index) -> index', "has no attribute map"),
        ("affine.load %i", "affine.apply is read|affine.* has a custom form that is not read"),
    ],
)
def test_uses_that_are_wrong_are_told_with_their_place(line, message):
    with pytest.raises(ParseError, match=rf"<mlir>:2:8: error: .*(?:{message})"):
        bg.shape_from_mlir(made(line))


def test_a_symbol_that_proves_to_be_0_ends_the_run():
    program = bg.shape_from_mlir(made("affine.apply affine_map<(d0)[s0] -> (d0 mod s0)>(%i)[%n]"))
    assert program.run(7, 4) == 3
    with pytest.raises(bg.BroadcastError, match="division by 0"):
        program.run(7, 0)
