"""The golden cases of the shape dialect: tests/cases/shape_dialect.txt says what each line means."""

from __future__ import annotations

import pytest

from bcastgen.core.errors import BroadcastError
from bcastgen.shape.dialect.ops import ROWS, find_row
from bcastgen.shape.dialect.types import parse_type
from bcastgen.shape.dialect.values import show
from shape_lines import LINES, one_op, tokens


def is_known(value, type_):
    if parse_type(type_).kind == "tensor":
        return parse_type(type_).unknown().is_known
    if isinstance(value, tuple):
        return None not in value
    return value is not None and getattr(value, "is_known", True)


@pytest.mark.parametrize("line", LINES)
def test_case(line):
    built, operands, right = one_op(line)
    known = all(is_known(value, str(operand.type)) for operand, value in zip(built.operands, operands, strict=True))
    # Of a value_shape a case says the shape alone, which is all that the other ops ask for.
    known &= built.body.operations[-1].name != "shape.value_of"
    if right == "fails":
        assert built.check(*operands) is False
        with pytest.raises(BroadcastError, match=built.body.operations[-1].name.replace(".", r"\.")):
            built.run(*operands)
        return
    wanted, _ = tokens(right)
    results = built.evaluate(*operands)
    results = results if isinstance(results, tuple) and len(built.results) != 1 else (results,)
    types = [str(value.type) for value in built.results if value.type.kind != "extents"]
    assert types == [type_ for type_, _ in wanted if not type_.startswith("tensor")]
    assert [show(value) for value in results] == [show(value) for _, value in wanted]
    assert list(results) == [value for _, value in wanted]
    if known:
        ran = built.run(*operands)
        assert (ran if isinstance(ran, tuple) and len(built.results) != 1 else (ran,)) == results
    # Unknown operands leave the run open only where a result cannot be unknown.
    folded = built.fold()
    assert folded.evaluate(*operands) == built.evaluate(*operands)


@pytest.mark.parametrize("row", [row for row in ROWS.values() if row.example], ids=lambda row: row.python)
def test_the_example_of_a_row_holds(row):
    assert row.example.split()[0] == row.python
    test_case(row.example)


def test_every_op_is_in_a_case():
    without = {"shape.assuming", "shape.assuming_yield", "shape.reduce", "shape.yield", "scf.if", "scf.yield"}
    assert {find_row(line.split()[0]).name for line in LINES} == set(ROWS) - without


def test_every_op_of_the_text_has_a_row():
    text = """add any assuming_all assuming assuming_yield broadcast concat const_shape const_size cstr_broadcastable
        cstr_eq debug_print from_extent_tensor from_extents get_extent index_to_size join mul num_elements reduce
        shape_of size_to_index split_at to_extent_tensor yield"""
    assert len(text.split()) == 25
    since = (
        "const_witness cstr_require dim div is_broadcastable max min rank shape_eq value_as_shape value_of with_shape"
    )
    assert {row.python for row in ROWS.values() if row.name.startswith("shape.")} == {*text.split(), *since.split()}
