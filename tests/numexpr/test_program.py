"""The instructions that NumExpr would run: registers, constants."""

import numpy as np
import pytest

import bcastgen.numexpr as ne
from bcastgen.numexpr.necompiler import TYPES

DOUBLE = [("x", np.double), ("y", np.double)]


def test_registers_are_written_to_again_when_nobody_needs_them():
    assert ne.disassemble(ne.NumExpr("sum(x**2+2, axis=1)", DOUBLE[:1])) == [
        [b"mul_ddd", b"t3", b"r1[x]", b"r1[x]"],
        [b"add_ddd", b"t3", b"t3", b"c2[2.0]"],
        [b"sum_ddn", b"r0", b"t3", 1],
    ]
    assert ne.disassemble(ne.NumExpr("x*x + 2", DOUBLE[:1]))[0] == [b"mul_ddd", b"r0", b"r1[x]", b"r1[x]"]


def test_four_operands_take_two_rows():
    found = ne.disassemble(ne.NumExpr("where(m, a, -1)", [("m", bool), ("a", float)]))
    assert found[0] == [b"where_fbff", b"r0", b"r1[m]", b"r2[a]", b"c3[-1.0]"]
    assert found[1] == [b"noop", None, None, None]


def test_constants_are_numbers_of_their_kinds_each_once():
    made = ne.NumExpr("(a + 1)*(a - 1) + 2.5", [("a", TYPES["int"])])
    assert made.constants == (2.5, 1) and made.constsig == b"di"
    assert type(made.constants[1]) is np.int32
    assert ne.NumExpr("a == b'x'", [("a", bytes)]).constants == (b"x",)
    assert ne.NumExpr("a * (1+2j)").constants == (1 + 2j,)


@pytest.mark.parametrize(
    "text",
    [
        *("x*y + (x - y)*3", "(x + 1)*(x + 1) - y*(x + 1)", "x", "3", "x < 2", "prod(x + y)", "-(x*x)*(y*y) + x*y"),
        *("where(x > y, x*x, y*y) + 2", "(x + y)**5", "x/3.0 + y//2"),
    ],
)
def test_rows_are_numexprs(text):
    """But for which free register is taken: NumExpr takes any of a set."""
    theirs = pytest.importorskip("numexpr", reason="numexpr is not installed (pip install -e .[suites])")
    signature = [(name, type_) for name, type_ in DOUBLE if name in text]
    wanted, got = (one.NumExpr(text, signature) for one in (theirs, ne))
    mine, others = ne.disassemble(got), theirs.disassemble(wanted)
    assert [row[0] for row in mine] == [row[0] for row in others]
    for row, other in zip(mine, others, strict=True):
        leaves = [[one for one in read[2:] if str(one)[2:3] in "rc" and one != b"r0"] for read in (row, other)]
        assert leaves[0] == leaves[1]
    for name in ("signature", "constsig", "tempsig", "fullsig", "constants", "input_names"):
        assert getattr(got, name) == getattr(wanted, name)
