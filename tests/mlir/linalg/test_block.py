"""Lines of MLIR: names, numbers and strings that mean in LLVM what they mean here."""

from __future__ import annotations

import re

import numpy as np
import pytest

import mlir_tools
from bcastgen.core.dtypes import COMPUTED, dtype
from bcastgen.mlir.linalg.block import TextBlock, dense, number, quoted
from bcastgen.mlir.linalg.types import signless


def test_a_value_is_made_once_and_a_name_given_once():
    block = TextBlock(2)
    assert block.op("a", "f") == block.op("b", "f") == "%a"
    assert block.op("a", "g") == "%a_1"
    assert [block.constant(1, "index"), block.constant(1, "i8"), block.constant(1.0, "f32")] == [
        "%c1",
        "%c1_i8",
        "%c1.0_f32",
    ]
    assert block.constant(1, "index") == "%c1"
    assert block.lines[:2] == ["  %a = f", "  %a_1 = g"]
    assert len(block.lines) == 5


def test_a_block_inside_sees_what_is_around_it_and_keeps_its_own():
    block = TextBlock(2)
    block.op("a", "f")
    inside = block.inside()
    assert inside.op("x", "f") == "%a"
    assert inside.op("a", "g") == "%a_1"
    assert block.op("y", "g") == "%y"
    assert inside.lines == ["    %a_1 = g"]


@pytest.mark.parametrize(("wanted", "name"), [("x", "%x"), ("été", "%_t_"), ("0", "%v0"), ("a b", "%a_b"), ("", "%v")])
def test_names_are_identifiers_of_mlir(wanted, name):
    assert TextBlock(0).name(wanted) == name


def bits(values):
    return np.atleast_1d(values).view(f"u{np.asarray(values).itemsize}").tolist()


@pytest.mark.slow
@mlir_tools.needs_mlir
@pytest.mark.parametrize("kind", [kind for kind in COMPUTED if not kind.is_complex], ids=str)
def test_numbers_are_bit_for_bit_what_llvm_reads(kind, samples):
    """LLVM's own text of a vector of them is their bytes. Complex numbers are two of them each."""
    values = samples(kind, 30)
    values = values.view(np.uint8) != 0 if kind.kind == "bool" else values
    if kind.is_float:
        values = np.where(values != values, np.asarray(np.nan, kind.np), values)
    element, texts = signless(kind), [number(value.item(), signless(kind)) for value in values]
    lines = [f"func.func @f{at}() -> {element} {{" for at in range(len(texts))]
    body = [f"%x = arith.constant {text if element == 'i1' else f'{text} : {element}'}" for text in texts]
    module = "\n".join(f"{line}\n{said}\nreturn %x : {element}\n}}" for line, said in zip(lines, body, strict=True))
    width = 1 if element == "i1" else kind.bits
    read = mlir_tools.checked_opt(module, "--convert-func-to-llvm", "--convert-arith-to-llvm")
    found = re.findall(r"llvm.mlir.constant\((\S+?)(?: : \w+)?\)", read)
    assert len(found) == len(values)
    for text, value in zip(found, values, strict=True):
        assert from_text(text, kind, width) == bits(value)[0], (text, value)


def from_text(text, kind, width):
    """The bits of a number that mlir-opt prints."""
    if text in ("true", "false"):
        return int(text == "true")
    if not kind.is_float:
        return int(text) % (1 << width)
    if text.startswith("0x"):
        return int(text, 16)
    return bits(np.asarray(float(text)).astype(kind.np))[0]


@pytest.mark.slow
@mlir_tools.needs_mlir
@pytest.mark.parametrize("count", [(), (0,), (3, 2), (2, 100)], ids=str)
@pytest.mark.parametrize("kind", COMPUTED, ids=str)
def test_constant_tensors_are_read(kind, count, samples):
    values = np.resize(samples(kind), count).astype(kind.np)
    shape = "".join(f"{extent}x" for extent in values.shape)
    text = f"%x = arith.constant {dense(values, signless(kind))} : tensor<{shape}{signless(kind)}>"
    mlir_tools.checked_opt(f"func.func @f() {{\n{text}\nreturn\n}}")


def test_many_elements_stand_as_their_bytes():
    assert dense(np.arange(65, dtype=np.int16), "i16").startswith('dense<"0x000001000200')
    assert dense(np.zeros(65, bool), "i1") == f"dense<[{', '.join(['false'] * 65)}]>"


@pytest.mark.parametrize(
    ("text", "shown"), [("a < b", '"a < b"'), ('"\\', r'"\22\5C"'), ("\n\t", r'"\0A\09"'), ("é", r'"\C3\A9"')]
)
def test_strings_are_escaped(text, shown):
    assert quoted(text) == shown


def test_bf16_has_no_decimals_for_what_is_no_number():
    assert [number(value, "bf16") for value in (0.5, float("inf"), float("-inf"))] == ["0.5", "0x7F80", "0xFF80"]
    assert number(float("nan"), dtype("bf16").mlir) == "0x7FC0"


@pytest.mark.parametrize(
    ("type_", "of_infinity", "of_nan"),
    [
        ("f16", "0x7C00", "0x7E00"),
        ("bf16", "0x7F80", "0x7FC0"),
        ("f32", "0x7F800000", "0x7FC00000"),
        ("f64", "0x7FF0000000000000", "0x7FF8000000000000"),
    ],
)
def test_what_is_no_number_is_written_in_all_digits_of_its_type(type_, of_infinity, of_nan):
    assert (number(np.inf, type_), number(np.nan, type_)) == (of_infinity, of_nan)
