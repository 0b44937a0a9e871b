"""Names for types and attributes: before and behind their uses, and those that stand for nothing."""

import pytest

from bcastgen.core.errors import ParseError
from bcastgen.mlir.read.parser import parse_module

FUNCTION = "func.func @f(%a: {}) attributes {{x.y = {}}} {{ return }}\n"


def test_names_stand_for_what_they_say_before_and_behind():
    definitions = "!t = tensor<4x!e>\n!e = f32\n#a = [#b, 1]\n  #b = affine_map<(d0) -> (d0)>\n#c-1 = #a\n"
    use = FUNCTION.format("!t", "#c-1")
    for text in (definitions + use, use + definitions):
        function = parse_module(text).functions[0]
        assert function.type.operands[0].tensor.rank == 1
        assert function.attributes["x.y"][0].name == "affine_map"


def test_a_name_and_its_meaning_are_one_type():
    module = parse_module("!t = tensor<4xf32>\nfunc.func @f(%a: !t) -> tensor<4xf32> { return %a : tensor<4xf32> }")
    assert module.functions[0].type.operands == module.functions[0].type.results


def test_names_of_locations_are_not_looked_up():
    parse_module(
        '#loc = loc("f":1:2)\nfunc.func @f(%a: i1 loc(#loc1)) { return loc(#nowhere) } loc(#loc)\n#loc1 = loc(#loc)\n'
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (FUNCTION.format("!t", "1"), "1:18: error: undefined alias '!t'"),
        (FUNCTION.format("i1", "#a"), "1:40: error: undefined alias '#a'"),
        ("#a = 1\n#a = 2", "2:1: error: redefinition of the alias '#a'"),
        ("#a = 1\n" + FUNCTION.format("i1", "#a") + "#a = 1", "3:1: error: redefinition of the alias '#a'"),
        ("#a = [#a]", "1:7: error: the alias '#a' stands for itself"),
        ("!a = tensor<4x!b>\n!b = tensor<4x!a>", "2:15: error: the alias '!a' stands for itself"),
        ("#a.b = 1", "1:1: error: the alias '#a.b' has a '.', which only a dialect's names have"),
        ("#a 1", "1:4: error: expected '=', found '1'"),
        ("#a = ", "1:6: error: expected an attribute's value, found the end of the text"),
        ("".join(f"#a{i} = #a{i + 1}\n" for i in range(5000)), "102:1: error: nested deeper than 100 levels"),
    ],
)
def test_what_stands_for_nothing(text, message):
    with pytest.raises(ParseError) as caught:
        parse_module(text, "m")
    assert str(caught.value).split("\n", maxsplit=1)[0] == f"m:{message}"


def test_a_chain_of_names_may_be_long_if_each_stands_before_its_use():
    text = "#a0 = 1\n" + "".join(f"#a{i + 1} = #a{i}\n" for i in range(5000)) + FUNCTION.format("i1", "#a5000")
    assert parse_module(text).functions[0].attributes["x.y"].value == 1
