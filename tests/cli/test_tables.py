"""Tables of numbers are read from .csv text; what is none is told by line, column and cure."""

from __future__ import annotations

import numpy as np
import pytest

from bcastgen.cli.main import main
from bcastgen.cli.tables import read_table
from bcastgen.core.errors import ParseError

PEOPLE = "who,height,weight\nAnna,1.7,60\nBert,1.8,\n"


@pytest.mark.parametrize(
    ("text", "name", "told"),
    [
        ("height,weight\n1.7,60\n", "heigth", "has no column 'heigth'; it has 'height, weight'; did you mean height?"),
        (
            "# height,weight\n1.7,60\n",
            "heigth",
            "has no column 'heigth'; it has 'height, weight'; did you mean height?",
        ),
        (PEOPLE, "who", "column 'who' has 'Anna' in line 2; columns of numbers: 'height'"),
        (PEOPLE, "weight", "column 'weight' has no number in line 3, and kernels know no missing values; write one"),
        (PEOPLE, "", "column 'who' has 'Anna' in line 2"),
        ("who,what\na,b\n", "who", "no column has numbers only"),
        ("1,2\n3,\n", "a", "column 2 has no number in line 2"),
        ("Anna,1\n", "a", "column 1 has 'Anna' in line 1; leave the column out"),
        ("1,2\n\n3\n", "a", "(line 3 has 1 of 2 cells)"),
        ("height,weight\n1.7\n", "weight", "(line 2 has 1 of 2 cells)"),
        ("height;weight\n1.7;60\n", "height", "has semicolons between its cells; write commas, and points in numbers"),
        ("1,5;2,5\n", "a", "has semicolons between its cells"),
        ("height\tweight\n1.7\t60\n", "x", "has tabs between its cells"),
        ("height,weight\n", "height", "(it has no rows)"),
        ("", "height", "(it has no rows)"),
    ],
)
def test_what_is_no_column_of_numbers_is_told_with_a_cure(text, name, told):
    with pytest.raises(ParseError) as caught:
        read_table("t.csv", text, name)
    assert str(caught.value).startswith("t.csv") and told in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1,2\n3,4\n", [[1, 2], [3, 4]]),
        ("\nb,a\n1,2\n3,4\n", [2, 4]),
        ("# b,a\n1,2\n3,4\n", [2, 4]),
        ("# made by a tool\n1,2\n3,4\n", [[1, 2], [3, 4]]),
        ("Table 1\n1,2\n3,4\n", [[1, 2], [3, 4]]),
        ("height\n1\n2\n", [1, 2]),
        ("a,b; more\n1,2\n3,4\n", [1, 3]),
        ('"some; text",a\nx,1\ny,nan\n', [1, np.nan]),
    ],
)
def test_an_operand_is_its_column_or_all_numbers_below_at_most_one_heading(text, expected):
    np.testing.assert_array_equal(read_table("t.csv", text, "a"), expected)


def test_a_misspelt_operand_is_no_whole_table(tmp_path, capsys):
    file = tmp_path / "hw.csv"
    file.write_text("height,weight\n1.7,60\n1.8,80\n")
    assert main(["run", "heigth*2", "--in", f"heigth={file}"]) == 1
    said = capsys.readouterr()
    assert said.out == "" and said.err.endswith("did you mean height?\n")
    assert main(["run", "height*2", "--in", f"height={file}"]) == 0 and capsys.readouterr().out == "[3.4 3.6]\n"


def test_a_heading_that_two_columns_have_says_nothing():
    assert read_table("t.csv", "a,b,b\n1,2,3\n", "a") == 1
    with pytest.raises(ParseError, match=r"t\.csv has 2 columns 'b'; give each a heading of its own"):
        read_table("t.csv", "a,b,b\n1,2,3\n", "b")
