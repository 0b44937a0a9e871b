"""The whole road on text that nobody meant: an error of ours or a kernel, and C that compiles whatever names say.

The file is long because the texts, what is changed in them, and what may come of it are one generator.
"""

from __future__ import annotations

import os
import random
import re
import shutil
import subprocess

import numpy as np
import pytest

import bcastgen as bg
import mlir_tools
from bcastgen.api.mlir_module import is_shape_function, kernel_of, program_of, read_module, verify_module
from bcastgen.cli.main import main
from bcastgen.core.errors import BcastgenError
from bcastgen.emit.shape_program.program import render_shape
from bcastgen.emit.standalone import CForm, render_module
from bcastgen.mlir.options import ReadOptions
from bcastgen.mlir.read.parser import parse_module
from compile_flags import LANGUAGES, STRICT
from long_runs import many

TOSA = """\
#map = affine_map<(d0) -> (d0)>
module attributes {tosa.note = "a */ b"} {
  // A comment.
  func.func @main(%x: tensor<?x4xf32>, %b: tensor<1x4xf32>, %n: tensor<?x4xi32>) -> (tensor<?x4xf32>, tensor<?x4xi1>) {
    %0 = "tosa.const"() <{values = dense<[[1.0, 2.5, -3.0e-1, 0x7F800000]]> : tensor<1x4xf32>}> : () -> tensor<1x4xf32>
    %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
    %1 = tosa.add %x, %b : (tensor<?x4xf32>, tensor<1x4xf32>) -> tensor<?x4xf32>
    %2 = tosa.mul %1, %0, %shift : (tensor<?x4xf32>, tensor<1x4xf32>, tensor<1xi8>) -> tensor<?x4xf32>
    %3 = "tosa.clamp"(%2) <{max_val = 6.0 : f32, min_val = 0.0 : f32}> : (tensor<?x4xf32>) -> tensor<?x4xf32> loc("x")
    %4 = tosa.cast %n : (tensor<?x4xi32>) -> tensor<?x4xf32>
    %5 = tosa.maximum %3, %4 {nan_mode = IGNORE} : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
    %6 = tosa.greater %5, %x : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xi1>
    %7 = tosa.select %6, %5, %x : (tensor<?x4xi1>, tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
    return %7, %6 : tensor<?x4xf32>, tensor<?x4xi1>
  }
}
"""
TRAIT = """\
func.func @trait(%a: tensor<?x3xf32>, %b: tensor<*xi8>) -> tensor<2x3xf32> {
  %0 = "test.broadcastable"(%a, %b) {note = [1, 2]} : (tensor<?x3xf32>, tensor<*xi8>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
"""
SHAPE = """\
func.func @sized(%a: tensor<?x4xf32>, %s: !shape.shape, %i: index) -> (tensor<2xindex>, !shape.size) {
  %0 = shape.shape_of %a : tensor<?x4xf32> -> tensor<2xindex>
  %1 = shape.cstr_broadcastable %0, %s {error = "a \\22b\\22\\0A*/"} : tensor<2xindex>, !shape.shape
  %2 = shape.const_shape [1, 2] : tensor<2xindex>
  %3 = shape.assuming %1 -> (tensor<2xindex>) {
    %c = arith.cmpi slt, %i, %i : index
    %w = shape.cstr_require %c, "msg"
    shape.assuming_yield %2 : tensor<2xindex>
  }
  %4 = shape.const_size 1
  %5 = shape.reduce(%s, %4) : !shape.shape -> !shape.size {
  ^bb0(%k: index, %d: !shape.size, %p: !shape.size):
    %m = shape.mul %p, %d : !shape.size, !shape.size -> !shape.size
    shape.yield %m : !shape.size
  }
  return %3, %5 : tensor<2xindex>, !shape.size
}
"""
FACTS = """\
func.func @facts(%x: tensor<?x?xf32> {bcastgen.dims = ["n>=2", "m%8"], other.note = 1 : i8}, %y: tensor<?xf32>,
                 %s: tensor<1x?xf32> {bcastgen.dims = ["bcast", "m"]})
    -> (tensor<?x?xf32> {bcastgen.dims = ["n", "m!"]}) {
  %to = tosa.const_shape {values = dense<[-1, 1]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %0 = tosa.reshape %y, %to : (tensor<?xf32>, !tosa.shape<2>) -> tensor<?x1xf32>
  %1 = tosa.add %x, %0 : (tensor<?x?xf32>, tensor<?x1xf32>) -> tensor<?x8xf32>
  %2 = tensor.cast %1 : tensor<?x8xf32> to tensor<?x?xf32>
  %3 = tosa.sub %2, %s : (tensor<?x?xf32>, tensor<1x?xf32>) -> tensor<?x?xf32>
  return %3 : tensor<?x?xf32>
}
"""
CALLS = """\
func.func private @g(%a: tensor<?xf32>, %b: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %0 = tosa.add %a, %b : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %0, %a : tensor<?xf32>, tensor<?xf32>
}
func.func @f(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0:2 = call @g(%x, %x) : (tensor<?xf32>, tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>)
  %1:2 = "func.call"(%0#1, %0#0) <{callee = @g}> : (tensor<?xf32>, tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>)
  return %1#0 : tensor<?xf32>
}
"""
CORPUS = (TOSA, TRAIT, SHAPE, FACTS, CALLS)
PLACE = re.compile(r"m\.mlir:[1-9]\d*:[1-9]\d*: error: .")
PLAIN = ReadOptions()
TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*"|%[\w.#$-]+|[\w.$?]+|\s+|->|.')
NASTY = """%0 %x %0#1 @ "tosa.add" tosa.sub tosa.abs tosa.negate shape.add 0 1 -1 9223372036854775808 0x 1e999 1.0e NaN
dense<> dense<[]> dense<[[]]> dense<"0x00"> tensor<*xf32> tensor<0xf32> tensor<?xf8E4M3FN> tensor<4xi1> vector<4xf32> i4
i1 bf16 f16 index tensor<4294967296x4294967296x4294967296xf32> : -> , ( ) { } < > [ ] = ! # ? * "unterminated ^bb0 loc(
{-# \\ \x00 \u00fc \U0001f600 // return func.func module private attributes <{ }> ({ }) true unit #alias !alias
affine_map<(d0)->(d0)> bcastgen.dims {bcastgen.dims=["n"]} {bcastgen.dims=["*"]} {bcastgen.dims=["n>=2","m!"]}
{bcastgen.dims} {bcastgen.dims=[1:i8,"%"]} {bcastgen.x=1:i8} "n" "?%0" "m>=9999999999999999999" "k<=1" "bcast!" "*" "1"
""".split()


# Tokens that can stand for each other: values, shaped types' insides, ops, numbers, strings.
KINDS = [
    re.compile(text)
    for text in (r"%\w+", r"(?:[?*\d]+x)+\w+", r"(?:tosa|shape|arith)\.\w+", r"-?[\d.]+", r'"[^"]*"', r"f32|i\d+|index")
]
SIMILAR = """?x1xf32 1x1xf32 4xf32 *xf32 0x4xf32 2x?x4xf32 ?x4xf16 1x4xbf16 ?x4xi8 ?x4xi64 1x4xi1 ?x4xf64 1xi8 2xindex
?xindex tosa.sub tosa.pow tosa.equal tosa.abs tosa.exp tosa.clz tosa.negate tosa.reciprocal tosa.logical_not
tosa.intdiv tosa.arithmetic_right_shift tosa.bitwise_and shape.any shape.join shape.meet shape.rank shape.num_elements
shape.concat -128 127 255 65504.0 3.4e38 1e-320 0.0 -0.0 i8 i16 i64 f16 bf16 f64""".split()
OF_KIND = {
    kind: [token for token in [*TOKEN.findall("".join(CORPUS)), *SIMILAR] if kind.fullmatch(token)] for kind in KINDS
}


def road(text, options=PLAIN):
    """Take every function of a text as far as it goes; what comes out, a text each."""
    module = parse_module(text, "m.mlir")
    found = []
    for error in verify_module(module, options):
        assert PLACE.match(str(error)), error
    for function in module.functions:
        try:
            if is_shape_function(function, module):
                built = program_of(function, module)
                found.extend([str(built), str(built.fold()), *render_shape(built, "k").files.values()])
                continue
            kernel = kernel_of(function, module, options)
        except BcastgenError as error:
            assert PLACE.match(str(error)), error
            found.append(str(error))
            continue
        try:
            typed = kernel.compilation
            found.append(refusal(kernel))
            found.extend(render_module("k", [typed.standalone_part("k", CForm(0))], CForm(0)).files.values())
            found.extend(exported(kernel))
        except BcastgenError as error:
            found.append(str(error))
    return found


def exported(kernel):
    """The kernel in each form of MLIR, or why it has none."""
    for form, versions in (("shape", 0), ("tosa", 0), ("linalg", 0), ("linalg", 3)):
        try:
            yield kernel.to_mlir(form, versions)
        except BcastgenError as error:
            yield str(error)


def refusal(kernel):
    """What a call says whose operands have extents that few functions take."""
    shapes = tuple((2 + at,) * len(type_.dims) for at, (_, type_) in enumerate(kernel.signature.operands))
    error = kernel.provenance.located(bg.BroadcastError("why"), shapes)
    assert PLACE.match(str(error)), error
    return str(error)


def mutated(rng, text):
    """The text with some of its tokens gone, doubled, exchanged, or replaced."""
    tokens = TOKEN.findall(text)
    for _ in range(rng.choice([1, 1, 1, 2, 3, 8])):
        at, other = rng.randrange(len(tokens)), rng.randrange(len(tokens))
        if rng.random() < 0.6:
            _exchange(rng, tokens)
            continue
        match rng.randrange(7):
            case 0:
                del tokens[at : at + rng.choice([1, 1, 3])]
            case 1:
                tokens.insert(at, tokens[other])
            case 2:
                tokens[at], tokens[other] = tokens[other], tokens[at]
            case 3:
                tokens[at] = rng.choice(NASTY)
            case 4:
                tokens[at:at] = tokens[other : other + rng.randrange(40)]
            case 5:
                token = tokens[at]
                spot = rng.randrange(len(token) + 1)
                tokens[at] = token[:spot] + rng.choice(["", "0", "x", "?", '"', "\\", "\n", "é"]) + token[spot + 1 :]
            case 6:
                tokens[at] = rng.choice(TOKEN.findall(rng.choice(CORPUS)))
        if not tokens:
            break
    return "".join(tokens)


def _exchange(rng, tokens):
    """Put a token in the place of one of its kind: what comes out may well be valid."""
    kind = rng.choice(KINDS)
    places = [at for at, token in enumerate(tokens) if kind.fullmatch(token)]
    others = OF_KIND[kind]
    if not places:
        return
    at, found = rng.choice(places), rng.choice(others)
    # Mostly everywhere, as who edits a text would do it.
    if rng.random() < 0.6:
        old = tokens[at]
        tokens[:] = [found if token == old else token for token in tokens]
    else:
        tokens[at] = found


def survives(seed, count):
    """Take mutants down the road, and tell how many were no error at all."""
    rng = random.Random(seed)
    valid = 0
    for _ in range(count):
        text = mutated(rng, rng.choice(CORPUS))
        try:
            dynamic = rng.choice(["numpy", "strict", "trusted"])
            road(text, ReadOptions(rng.random() < 0.5, rng.random() < 0.2, dynamic))
            valid += 1
        except BcastgenError as error:
            assert PLACE.match(str(error)), error
        except Exception as error:
            raise AssertionError(f"{type(error).__name__} for\n{text}") from error
    return valid


@pytest.mark.parametrize("text", CORPUS, ids=["tosa", "trait", "shape", "facts", "calls"])
def test_the_corpus_is_valid(text):
    module = parse_module(text, "m.mlir")
    assert verify_module(module, ReadOptions()) == ()
    assert road(text)


def test_mutated_text_is_an_error_of_ours_or_a_kernel():
    assert 30 < survives(1, 400) < 390


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20, 25))
def test_thousands_of_mutated_texts(seed):
    count = many(1_000, 10_000)
    assert survives(seed, count) > count // 10


def test_random_characters():
    rng = random.Random(3)
    pieces = [*NASTY, *(chr(code) for code in range(1, 128)), *TOKEN.findall("".join(CORPUS))]
    for _ in range(1_000):
        text = "".join(rng.choices(pieces, k=rng.randrange(60)))
        try:
            road(text)
        except BcastgenError:
            continue


DEEP = {
    "regions": '"shape.assuming"(%w) ({' * 3_000,
    "assuming": "func.func @f(%w: !shape.witness) { " + "shape.assuming %w { " * 200 + "} " * 200 + "return }",
    "brackets": "func.func @f() { %0 = \"tosa.const\"() <{values = dense<" + "[" * 100_000 + "> } return }",
    "types": "func.func @f(%a: " + "tuple<" * 50_000 + ")",
    "attributes": "module attributes {a = " + "[" * 50_000 + "} {}",
    "modules": "module {" * 50_000,
    "digits": f"func.func @f(%a: tensor<{'9' * 100_000}xf32>) {{ return }}",
    "rank": f"func.func @f(%a: tensor<{'?x' * 5_000}f32>) -> tensor<{'?x' * 5_000}f32> "
    f"{{ return %a : tensor<{'?x' * 5_000}f32> }}",
    "extents": "func.func @f() -> tensor<4xi8> { "
    '%0 = "tosa.const"() <{values = dense<1> : tensor<99999999999x4xi8>}> : ()'
    " -> tensor<99999999999x4xi8> %1 = tosa.abs %0 : (tensor<99999999999x4xi8>) -> tensor<99999999999x4xi8> "
    "return %1 : tensor<99999999999x4xi8> }",
    "length": "func.func @f(%a: tensor<99999999999xindex>, %s: !shape.shape) { return }",
    "exponent": "func.func @f() -> tensor<1xf32> { "
    '%0 = "tosa.const"() <{values = dense<1.0e999999999> : tensor<1xf32>}> : () -> tensor<1xf32> '
    "return %0 : tensor<1xf32> }",
}  # fmt: skip


@pytest.mark.parametrize("name", DEEP)
def test_what_is_too_much_is_an_error(name):
    """Neither Python's stack nor memory ends it. (The exponent is infinity, and the extents take no memory.)"""
    try:
        found = road(DEEP[name])
    except BcastgenError as error:
        found = [str(error)]
    if name not in ("exponent", "extents"):
        assert len(found) == 1
        assert found[0].startswith("m.mlir:")
        assert len(found[0]) < 250_000


def test_a_file_that_is_no_text(tmp_path):
    path = tmp_path / "m.mlir"
    path.write_bytes(b"func.func \xff\xfe")
    with pytest.raises(BcastgenError, match="UTF-8"):
        read_module(path)


def test_functions_whose_names_are_one_in_c_do_not_overwrite_each_other(tmp_path, capsys):
    function = "func.func @{}(%a: tensor<2xf32>) -> tensor<2xf32> {{ return %a : tensor<2xf32> }}\n"
    path = tmp_path / "m.mlir"
    path.write_text("".join(map(function.format, ('"../a"', "a.b"))))
    assert main(["emit", str(path), "-o", str(tmp_path / "out")]) == 0
    assert sorted(file.name for file in (tmp_path / "out").iterdir()) == ["bcastgen.h", "m.c", "m.h"]
    header = (tmp_path / "out" / "m.h").read_text()
    assert "bcastgen_status m_v_a(" in header and "bcastgen_status m_a_b(" in header
    path.write_text("".join(map(function.format, ('"a b"', "a.b"))))
    assert main(["emit", str(path), "-o", str(tmp_path / "both"), "--name", "both"]) == 0
    header = (tmp_path / "both" / "both.h").read_text()
    assert "bcastgen_status both_a_b(" in header and "bcastgen_status both_v_a_b_2(" in header
    assert capsys.readouterr().err == ""


# ---- names reach C as names ------------------------------------------------------------------------------------------

FUNCTIONS = [
    "main",
    "int",
    "exp",
    "a b",
    "*/ int x; /*",
    "??/",
    'a"b',
    "a\\",
    "%s%n",
    "\n#error\n",
    "1x",
    "",
    "größe",
    "\0",
]
VALUES = [
    "for",
    "int",
    "a-b",
    "c$",
    "$",
    ".x",
    "-",
    "_",
    "__x",
    "0",
    "1",
    "expf",
    "k",
    "bcg_x",
    "why",
    "d0",
    "static.0",
    "x" * 300,
]
TEXTS = ["*/ #error /*", 'a "b" %s %n', "a\n#error\n", "??/\n", "\\", "größe", "{{ x }}", "\0", "//", "'", "%"]
# Trigraphs, since names may have them.
WARNINGS = [*STRICT, "-trigraphs", "-c"]


def quoted(text):
    """A string of MLIR with every byte that is not a letter or digit escaped."""
    return (
        '"'
        + "".join(c if c.isascii() and c.isalnum() else "".join(f"\\{b:02X}" for b in c.encode()) for c in text)
        + '"'
    )


def compiled(paths, directory):
    """Compile what was emitted as C, and its header as C++; two files of one name cannot be there."""
    if shutil.which("gcc") is None:
        pytest.skip("gcc is missing")
    own = [path for path in paths if path.name != "bcastgen.h"]
    source, header = (path for suffix in (".c", ".h") for path in own if path.suffix == suffix)
    runs = [["gcc", *LANGUAGES["c"], *WARNINGS, str(source), "-o", str(directory / "x.o")]]
    if shutil.which("g++") is not None:
        runs.append(
            ["g++", *LANGUAGES["c++"], *WARNINGS, "-include", str(header), os.devnull, "-o", str(directory / "h.o")]
        )
    for run in runs:
        done = subprocess.run(run, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{done.stderr[:2000]}\n{source.read_text()[:6000]}"


def hostile_kernel(function, values, text):
    """A kernel of hostile names: of the function, of its operands, of a value that is claimed."""
    a, b, c = values
    return f"""\
module attributes {{my.note = {quoted(text)}}} {{
  func.func @{quoted(function)}(%{a}: tensor<?xf32> {{my.arg = {quoted(text)}}}, %{b}: tensor<?xf32>) -> tensor<?xf32> {{
    %{c} = tosa.add %{a}, %{b} {{my.note = {quoted(text)}}} : (tensor<?xf32>, tensor<?xf32>) -> tensor<5xf32> loc({quoted(text)})
    %r = tosa.abs %{c} : (tensor<5xf32>) -> tensor<?xf32>
    return %r : tensor<?xf32>
  }}
}}
"""  # fmt: skip  # noqa: E501


def hostile_program(function, values, text):
    """A shape program of hostile names and messages."""
    a, b, c = values
    return f"""\
func.func @{quoted(function)}(%{a}: !shape.shape, %{b}: tensor<?x4xf32>) -> !shape.shape {{
  %s = shape.shape_of %{b} : tensor<?x4xf32> -> tensor<2xindex>
  %w = shape.cstr_broadcastable %{a}, %s {{error = {quoted(text)}}} : !shape.shape, tensor<2xindex>
  %{c} = shape.assuming %w -> (!shape.shape) {{
    %m = shape.broadcast %{a}, %s {{error = {quoted(text)}}} : !shape.shape, tensor<2xindex> -> !shape.shape
    shape.assuming_yield %m : !shape.shape
  }}
  return %{c} : !shape.shape
}}
"""


def verify_hostile(function, values, text, directory):
    kernel = bg.from_mlir(hostile_kernel(function, values, text), name=f"{text}.mlir")
    compiled(kernel.emit_c(directory / "kernel"), directory)
    with pytest.raises(BcastgenError, match=rf"'{re.escape('%' + values[2])}' dim 0"):
        kernel(np.ones(1, np.float32), np.ones(1, np.float32))
    module = parse_module(hostile_program(function, values, text), f"{text}.mlir")
    compiled(bg.emit_shape(program_of(module.functions[0], module), directory / "shape"), directory)


@pytest.mark.parametrize(
    ("function", "values", "text"),
    [
        ("*/ int x; /*", ("for", "a-b", "c$"), "*/ #error /*"),
        ("\n#error\n", ("int", "int.", "0"), "a\n#error\n"),
        ("??/", ("-", "_", "static.0"), "??/\n"),
        ("%s%n", ("why", "k", "d0"), '%s "%n" \\'),
    ],
)
def test_hostile_names_compile(function, values, text, tmp_path):
    verify_hostile(function, values, text, tmp_path)


def hostile(seed, count):
    """Names of a function and of three values, and a text."""
    rng = random.Random(seed)
    return [(rng.choice(FUNCTIONS), rng.sample(VALUES, 3), rng.choice(TEXTS)) for _ in range(count)]


@pytest.mark.slow
def test_many_hostile_names_compile(tmp_path):
    for number, (function, values, text) in enumerate(hostile(4, many(20, 60))):
        verify_hostile(function, values, text, tmp_path / str(number))


@pytest.mark.slow
@mlir_tools.needs_mlir
def test_what_is_exported_of_hostile_names_is_mlir():
    for function, values, text in hostile(5, 25):
        kernel = bg.from_mlir(hostile_kernel(function, values, text), name=f"{text}.mlir")
        module = parse_module(hostile_program(function, values, text), f"{text}.mlir")
        built = program_of(module.functions[0], module)
        for out in (*(kernel.to_mlir(form) for form in ("shape", "tosa", "linalg")), str(built)):
            mlir_tools.checked_opt(out)


@pytest.mark.slow
def test_what_is_emitted_of_mutated_text_compiles(tmp_path):
    """Every kernel that mutants make and that is no kernel that there was before."""
    rng = random.Random(6)
    made = {}
    while len(made) < many(40, 120):
        try:
            module = parse_module(mutated(rng, rng.choice((TOSA, SHAPE))), "m.mlir")
            for function in module.functions:
                directory = tmp_path / str(len(made))
                if is_shape_function(function, module):
                    paths = bg.emit_shape(program_of(function, module), directory, "k")
                else:
                    paths = kernel_of(function, module, PLAIN).emit_c(directory, "k", 0)
                made.setdefault(paths[0].read_text(), paths)
        except BcastgenError:
            continue
    for paths in made.values():
        compiled(paths, tmp_path)
