"""Modules read from text: what stands around functions, their heads, faults, and texts that are no modules at all."""

import random
import re

import pytest

import mlir_texts
from bcastgen.core.errors import ParseError
from bcastgen.mlir.read.parser import parse_module
from long_runs import many

F = "func.func @f(%a: i1) -> i1 { return %a : i1 }"
GENERIC = """"func.func"() <{function_type = (i1) -> i1, sym_name = "f"}> ({
^bb0(%a: i1):
  "func.return"(%a) : (i1) -> ()
}) : () -> ()
"""


@pytest.mark.parametrize(
    "text",
    [
        F,
        GENERIC,
        f"module {{ {F} }}",
        f"module @name attributes {{x.y = 1 : i8}} {{ {F} }} loc(unknown)",
        f"builtin.module {{ {F} }}",
        f"module {{ module @inner {{ {GENERIC} }} }}",
        f'"builtin.module"() ({{ {F} }}) : () -> ()',
        f'"builtin.module"() <{{sym_name = "m"}}> ({{\n^bb0:\n {GENERIC} }}) : () -> ()',
        f"// a comment\r\n{F}\r\n// -----\r\n",
        f'{{-# dialect_resources: {{ builtin: {{ x: "0x00" }} }} #-}}\n{F}\n{{-# #-}}',
        f'"x.y"() : () -> ()\n{F}',
        "func.func @f(%a: i1 loc(#loc1)) -> i1 { return %a : i1 loc(#loc2) } loc(#loc)\n#loc = loc(unknown)",
        'func.func @"f"(%a: i1 {x.y = 1}) -> (i1 {x.z}) { ^bb0: return %a : i1 }',
        "func.func @f(%a: i1) -> i1 { func.return %a : i1 }",
    ],
)
def test_what_may_stand_around_a_function(text):
    (function,) = parse_module(text).functions
    assert (function.name, str(function.type), function.attributes) == ("f", "(i1) -> i1", {})
    assert [operation.name for operation in function.body.operations] == ["func.return"]
    assert function.body.operations[0].operands == function.body.arguments


def test_functions_in_their_order_and_declarations():
    text = f"""func.func private @g(tensor<4xf32> {{a.b = "x"}}, i1) -> (tensor<4xf32> {{a.b = 1 : i3}}, i1)
    attributes {{x.y = "z", no_inline}}
    func.func private @h(%a: i1, %b: i1)
    func.func public @k() -> () {{ return }}
    {F}"""
    g, h, k, f = parse_module(text).functions
    assert [function.name for function in (g, h, k, f)] == ["g", "h", "k", "f"]
    assert (str(g.type), g.body, g.attributes) == (
        "(tensor<4xf32>, i1) -> (tensor<4xf32>, i1)",
        None,
        {"sym_visibility": "private", "x.y": "z", "no_inline": True},
    )
    assert (str(h.type), h.body) == ("(i1, i1) -> ()", None)
    assert k.attributes == {"sym_visibility": "public"}
    assert (g.location.line, g.location.column) == (1, 1)
    assert (f.location.line, f.location.column) == (5, 5)


def test_a_generic_declaration():
    text = '"func.func"() <{function_type = (i1) -> i1, sym_name = "g", sym_visibility = "private"}> ({ }) : () -> ()'
    (function,) = parse_module(text).functions
    assert function.body is None
    assert function.attributes == {"sym_visibility": "private"}


def test_the_source_is_kept_for_messages():
    module = parse_module(F, "model.mlir")
    message = module.source.message(module.functions[0].body.operations[0].location, "no")
    assert message == f"model.mlir:1:30: error: no\n{F}\n{' ' * 29}^"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"{F}\n{F}", "2:1: error: redefinition of the function '@f'"),
        (f"module {{ {F} }} module {{ {F} }}", "1:67: error: redefinition of the function '@f'"),
        ("func.func @f() {}", "1:1: error: the body of a function is not empty; it ends in a return"),
        ("func.func @f(i1) { return }", "1:18: error: a function with a body has a name for each operand: (%a: i32)"),
        ("func.func @f(%a: i1, i1)", "1:22: error: expected an SSA value such as %0, found 'i1'"),
        ("func.func @f(i1, %a: i1)", "1:18: error: expected a type, found '%a'"),
        ("func.func f()", "1:11: error: expected a symbol name such as @main, found 'f'"),
        ("func.func @f(%a#0: i1) { return }", "1:14: error: an argument's name has no '#', found '%a#0'"),
        ("func.func @f(%a: i1, %a: i1) { return }", "1:22: error: redefinition of '%a'"),
        ("func.func @f(%a: i1) { ^bb0(%b: i1): return }", "1:38: error: the block has its arguments from the function"),
        ("func.func @f(%a: i1,) { return }", "1:21: error: expected an SSA value such as %0, found ')'"),
        ("func.func @f() attributes 3", "1:27: error: expected '{' behind 'attributes', found '3'"),
        ("func.func @f() { return", "1:24: error: expected an operation, found the end of the text"),
        ("module { ", "1:10: error: expected an operation, found the end of the text"),
        ("}", "1:1: error: expected an operation, found '}'"),
        ("foo", "1:1: error: 'foo' has a custom form that is not read here; print the module in generic form"),
        ("{-# a", "1:1: error: expected '#-}' for the '{-#' here"),
        (
            '"func.func"() ({ }) {function_type = () -> ()} : () -> ()',
            "1:1: error: 'func.func' has no attribute sym_name",
        ),
        ('"func.func"() ({ }) {sym_name = "f"} : () -> ()', "1:1: error: 'func.func' has no attribute function_type"),
        (
            '"func.func"() {sym_name = "f", function_type = () -> ()} : () -> ()',
            "1:1: error: 'func.func' has 0 regions, expected 1",
        ),
        (GENERIC.replace("(i1) -> i1,", "() -> i1,"), "1:1: error: the body of '@f' has other arguments than its"),
    ],
)
def test_faults(text, message):
    with pytest.raises(ParseError) as caught:
        parse_module(text, "m")
    assert str(caught.value).startswith(f"m:{message}")


def test_nothing_is_a_module_without_functions():
    assert parse_module("").functions == parse_module("\n// nothing\n").functions == parse_module("module {}").functions


# ---- texts that are no modules

_TOKEN = re.compile(r'\s+|[A-Za-z_][\w.$]*|[0-9.]+|"[^"]*"|.', re.DOTALL)
_CHARACTERS = '%#!@^"<>()[]{},:=-+?*x0123456789.eEab\\/\n\r\t \0é\ud800→$_'
_PIECES = """tensor< vector<4xf32> dense< loc( #a !t {-# #-} 0x 0x7F 1.5 -> :: // affine_map< array<i64: %0 %0#1 %0:2
^bb0 ^bb0( module func.func return attributes true i1 i0 *x ?x index unit @ @" 1e5 99999999999999999999999
overflow< shape.reduce( shape.assuming loc complex<f32> dense_resource<a> [[[[ ]]]] <<<< (((( {{{{ error =
1.0 "0x00" dense<"0x00">""".split()


def mutate(rng, text):
    for _ in range(rng.choice([1, 1, 1, 2, 3, 8])):
        at, tokens = rng.randrange(len(text) + 1), _TOKEN.findall(text) or [""]
        one, other = rng.randrange(len(tokens)), rng.randrange(len(tokens))
        match rng.randrange(7):
            case 0:
                text = text[:at] + text[at + rng.choice([1, 1, 2, 10, 100]) :]
            case 1:
                text = text[:at] + rng.choice(_CHARACTERS) + text[at:]
            case 2:
                start = rng.randrange(len(text) + 1)
                text = text[:at] + text[start : start + rng.randrange(40)] + text[at:]
            case 3:
                text = text[:at] + rng.choice(_PIECES) + text[at:]
            case 4:
                text = "".join(tokens[:one] + tokens[one + 1 :])
            case 5:
                text = "".join([*tokens[:one], rng.choice(_PIECES + tokens), *tokens[one:]])
            case _:
                tokens[one], tokens[other] = tokens[other], tokens[one]
                text = "".join(tokens)
    return text


def noise(rng):
    return "".join(rng.choice([*_PIECES, rng.choice(_CHARACTERS), " "]) for _ in range(rng.randrange(60)))


def survive(texts):
    """Read texts; nothing but a ParseError with a place may come of it. Returns how many are modules."""
    modules = 0
    for text in texts:
        try:
            parse_module(text, "m")
            modules += 1
        except ParseError as error:
            assert re.match(r"m:\d+:\d+: error: .", str(error)), text
    return modules


def mutants(seed, count):
    rng = random.Random(seed)
    corpus = [mlir_texts.random_module(at, functions=2, lines=8) for at in range(20)]
    corpus += [GENERIC, "#a = 1\n!t = i1\n{-# a #-}\nfunc.func @f(%a: !t) { return loc(#a) }", ""]
    for _ in range(count):
        yield mutate(rng, rng.choice(corpus)) if rng.random() < 0.9 else noise(rng)


def test_broken_texts_give_errors_with_a_place():
    assert 0 < survive(mutants(0, 400)) < 200


@pytest.mark.slow
def test_many_broken_texts_give_errors_with_a_place():
    count = many(1_500, 10_000)
    assert 0 < survive(mutants(1, count)) < count // 2


_MANY = 20_000
_IN_AN_ATTRIBUTE = "module attributes {{x.y = {}}} {{}}".format


@pytest.mark.parametrize(
    "text",
    [
        *(
            _IN_AN_ATTRIBUTE(piece * _MANY)
            for piece in ("[", "{a=", "dense<", "tensor<", "tuple<", "(", "#a<", "@a::", "-", "loc(")
        ),
        _IN_AN_ATTRIBUTE(f"#a.b<{'<' * _MANY}{'>' * _MANY}>"),
        _IN_AN_ATTRIBUTE(f"dense<{'[' * _MANY}1{']' * _MANY}> : tensor<1xi8>"),
        _IN_AN_ATTRIBUTE("1" * _MANY),
        _IN_AN_ATTRIBUTE("0x" + "f" * _MANY + " : f32"),
        _IN_AN_ATTRIBUTE("1" * _MANY + ".0e" + "9" * _MANY),
        _IN_AN_ATTRIBUTE(f"tensor<{'9' * _MANY}xi8>"),
        _IN_AN_ATTRIBUTE(f"tensor<{'1x' * _MANY}i8>"),
        _IN_AN_ATTRIBUTE(f"i{'9' * _MANY}"),
        _IN_AN_ATTRIBUTE(f"memref<4xf32,{' ' * _MANY}a>"),
        _IN_AN_ATTRIBUTE('"' + "\\22" * _MANY + '"'),
        _IN_AN_ATTRIBUTE("()->" * 99 + "()"),
        _IN_AN_ATTRIBUTE("dense<> : tensor<0x9223372036854775807x9223372036854775807xi8>"),
        *(
            piece * _MANY
            for piece in (
                '"a.b"() ({',
                "module {",
                "//\n",
                "//",
                " ",
                "{-#",
                "{-# #-}",
                "!",
                "%0,",
                "shape.assuming %0 {",
            )
        ),
        '%0:999999 = "a.b"() : () -> ()',
    ],
    ids=lambda text: text[:40],
)
def test_long_and_deep_texts_neither_hang_nor_end_the_process(text):
    survive([text])
