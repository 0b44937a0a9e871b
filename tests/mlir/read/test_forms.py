"""Custom forms: each says what the generic form says, in the spellings of LLVM 19, 22 and later."""

import pytest

import mlir_texts
import mlir_tools
from bcastgen.core.errors import ParseError
from bcastgen.mlir.read.parser import parse_module
from bcastgen.mlir.tosa.table import TOSA_OPS
from bcastgen.shape.dialect.ops import ROWS
from long_runs import many
from mlir_texts import outline

F, G, I32, B, C, S, Z = (
    "tensor<?x3xf32>",
    "tensor<1x3xf32>",
    "tensor<?x3xi32>",
    "tensor<?x3xi1>",
    "tensor<1x3xi1>",
    "!shape.shape",
    "!shape.size",
)
ONE, BYTE = "tensor<1xf32>", "tensor<1xi8>"
MODE = "nan_mode = #tosa.nan_mode<IGNORE>"
CLAMP_19 = "min_fp = -1.0 : f32, max_fp = 6.0 : f32, min_int = -1 : i64, max_int = 6 : i64"
CLAMP = "min_val = -1.0 : f32, max_val = 6.0 : f32"


def body(lines):
    """Return the outline of a function of these lines."""
    values = (
        f"%x: {F}, %y: {G}, %i: {I32}, %b: {B}, %c: {C}, %o: {ONE}, %h: {BYTE}, %s: {S}, %z: {Z}, %w: !shape.witness, "
        "%n: index, %p: i1, %e: tensor<?xindex>, %d: !tosa.shape<1>, %v: !shape.value_shape"
    )
    return outline(parse_module(f"func.func @f({values}) {{\n{lines}\nreturn }}", "m"))


def generic(name, operands, types, result, attributes=""):
    return f'"{name}"({operands}){f" <{{{attributes}}}>" if attributes else ""} : ({types}) -> {result}'


# The first is the generic form; each of the others says the same.
SPELLINGS = [
    *(
        (generic(f"tosa.{op}", "%x", F, F), f"tosa.{op} %x : ({F}) -> {F}")
        for op in "abs ceil cos erf exp floor log reciprocal rsqrt sigmoid sin tanh negate".split()
    ),
    *(
        (generic(f"tosa.{op}", "%x, %y", f"{F}, {G}", F), f"tosa.{op} %x, %y : ({F}, {G}) -> {F}")
        for op in "add sub pow maximum minimum mul".split()
    ),
    *(
        (generic(f"tosa.{op}", "%i, %i", f"{I32}, {I32}", I32), f"tosa.{op} %i, %i : ({I32}, {I32}) -> {I32}")
        for op in """bitwise_and bitwise_or bitwise_xor intdiv int_div logical_left_shift
        logical_right_shift""".split()
    ),
    *(
        (generic(f"tosa.{op}", "%b, %c", f"{B}, {C}", B), f"tosa.{op} %b, %c : ({B}, {C}) -> {B}")
        for op in "logical_and logical_or logical_xor".split()
    ),
    *(
        (generic(f"tosa.{op}", "%x, %y", f"{F}, {G}", B), f"tosa.{op} %x, %y : ({F}, {G}) -> {B}")
        for op in "equal greater greater_equal".split()
    ),
    (generic("tosa.logical_not", "%b", B, B), f"tosa.logical_not %b : ({B}) -> {B}"),
    *((generic(f"tosa.{op}", "%i", I32, I32), f"tosa.{op} %i : ({I32}) -> {I32}") for op in ("bitwise_not", "clz")),
    (generic("tosa.cast", "%x", F, "tensor<?x3xi8>"), f"tosa.cast %x : ({F}) -> tensor<?x3xi8>"),
    (generic("tosa.select", "%b, %y, %x", f"{B}, {G}, {F}", F), f"tosa.select %b, %y, %x : ({B}, {G}, {F}) -> {F}"),
    (
        generic("tosa.clamp", "%x", F, F, f"{CLAMP}, {MODE}"),
        f"tosa.clamp %x {{{CLAMP}, nan_mode = IGNORE}} : ({F}) -> {F}",
        f"tosa.clamp %x {{{CLAMP}, {MODE}}} : ({F}) -> {F}",
        f"tosa.clamp %x min_val(-1.0 : f32) max_val(6.0 : f32) nan_mode<IGNORE> : ({F}) -> {F}",
        f"tosa.clamp %x min_val(-1.0 : f32) {{max_val = 6.0 : f32, nan_mode = IGNORE}} : ({F}) -> {F}",
    ),
    (
        generic(
            "tosa.clamp", "%x", F, F, "min_fp = -1.0 : f32, max_fp = 6.0 : f32, min_int = -1 : i64, max_int = 6 : i64"
        ),
        f"tosa.clamp %x {{{CLAMP_19}}} : ({F}) -> {F}",
    ),
    (
        generic("tosa.maximum", "%x, %y", f"{F}, {G}", F, MODE),
        f"tosa.maximum %x, %y {{nan_mode = IGNORE}} : ({F}, {G}) -> {F}",
        f"tosa.maximum %x, %y nan_mode<IGNORE> : ({F}, {G}) -> {F}",
    ),
    (
        generic("tosa.arithmetic_right_shift", "%i, %i", f"{I32}, {I32}", I32, "round = true"),
        f"tosa.arithmetic_right_shift %i, %i {{round = true}} : ({I32}, {I32}) -> {I32}",
        f"tosa.arithmetic_right_shift %i, %i round(true) : ({I32}, {I32}) -> {I32}",
    ),
    (
        generic("tosa.mul", "%x, %y", f"{F}, {G}", F, "shift = 0 : i8"),
        f"tosa.mul %x, %y {{shift = 0 : i8}} : ({F}, {G}) -> {F}",
    ),
    (
        generic("tosa.mul", "%x, %y, %h", f"{F}, {G}, {BYTE}", F),
        f"tosa.mul %x, %y, %h : ({F}, {G}, {BYTE}) -> {F}",
    ),
    (
        generic("tosa.negate", "%x, %o, %o", f"{F}, {ONE}, {ONE}", F),
        f"tosa.negate %x, %o, %o : ({F}, {ONE}, {ONE}) -> {F}",
    ),
    (
        generic("tosa.negate", "%x", F, F, "quantization_info = #tosa.unary_quant<input_zp = 3, output_zp = -5>"),
        f"tosa.negate %x {{quantization_info = #tosa.unary_quant<input_zp = 3, output_zp = -5>}} : ({F}) -> {F}",
    ),
    (
        generic("tosa.const", "", "", BYTE, "values = dense<0> : tensor<1xi8>"),
        f"tosa.const values(dense<0> : tensor<1xi8>) : () -> {BYTE}",
        f"tosa.const {{values = dense<[0]> : tensor<1xi8>}} : () -> {BYTE}",
    ),
    (
        generic("tosa.const_shape", "", "", "!tosa.shape<2>", "values = dense<[2, 3]> : tensor<2xindex>"),
        "tosa.const_shape {values = dense<[2, 3]> : tensor<2xindex>} : () -> !tosa.shape<2>",
        "tosa.const_shape values(dense<[2, 3]> : tensor<2xindex>) : () -> !tosa.shape<2>",
    ),
    (
        generic("tosa.reshape", "%y, %d", f"{G}, !tosa.shape<1>", "tensor<3xf32>"),
        f"tosa.reshape %y, %d : ({G}, !tosa.shape<1>) -> tensor<3xf32>",
    ),
    (
        generic("tosa.reshape", "%y", G, "tensor<3xf32>", "new_shape = array<i64: 3>"),
        f"tosa.reshape %y {{new_shape = array<i64: 3>}} : ({G}) -> tensor<3xf32>",
    ),
    (
        generic("tosa.transpose", "%y", G, "tensor<3x1xf32>", "perms = array<i32: 1, 0>"),
        f"tosa.transpose %y {{perms = array<i32: 1, 0>}} : ({G}) -> tensor<3x1xf32>",
    ),
    (
        generic("shape.meet", "%s, %s", f"{S}, {S}", S, 'error = "why"'),
        f'shape.meet %s, %s, error = "why" : {S}, {S} -> {S}',
        f'shape.meet %s, %s {{error = "why"}} : {S}, {S} -> {S}',
    ),
    (
        generic("shape.cstr_require", "%p", "i1", "!shape.witness", 'msg = "no: \\22x\\22"'),
        'shape.cstr_require %p, "no: \\22x\\22"',
    ),
    (
        generic("shape.const_shape", "", "", S, "shape = dense<[1, 2]> : tensor<2xindex>"),
        f"shape.const_shape [1, 2] : {S}",
    ),
    (
        generic("shape.const_shape", "", "", "tensor<2xindex>", "shape = dense<4> : tensor<2xindex>"),
        "shape.const_shape [4, 4] : tensor<2xindex>",
    ),
    (
        generic("shape.const_shape", "", "", S, "shape = dense<> : tensor<0xindex>"),
        f"shape.const_shape [] : {S}",
    ),
    (generic("shape.const_size", "", "", Z, "value = 3 : index"), "shape.const_size 3"),
    (generic("shape.const_witness", "", "", "!shape.witness", "passing = true"), "shape.const_witness true"),
    (
        generic("shape.any", "%s, %e", f"{S}, tensor<?xindex>", S),
        f"shape.any %s, %e : {S}, tensor<?xindex> -> {S}",
    ),
    (generic("shape.from_extents", "%n, %z", f"index, {Z}", S), f"shape.from_extents %n, %z : index, {Z}"),
    (generic("shape.index_to_size", "%n", "index", Z), "shape.index_to_size %n"),
    (
        generic("shape.assuming_all", "%w, %w", "!shape.witness, !shape.witness", "!shape.witness"),
        "shape.assuming_all %w, %w",
    ),
    (
        f'"shape.assuming"(%w) ({{ %r = "tosa.abs"(%x) : ({F}) -> {F} "shape.assuming_yield"(%r) : ({F}) -> () }}) '
        f": (!shape.witness) -> {F}",
        f"shape.assuming %w -> ({F}) {{ %r = tosa.abs %x : ({F}) -> {F} shape.assuming_yield %r : {F} }}",
    ),
    (
        '"shape.assuming"(%w) ({ "shape.assuming_yield"() : () -> () }) : (!shape.witness) -> ()',
        "shape.assuming %w { shape.assuming_yield }",
        "shape.assuming %w { }",
    ),
    (
        f'"shape.reduce"(%s, %z) ({{ ^bb0(%j: index, %k: {Z}, %l: {Z}): "shape.yield"(%l) : ({Z}) -> () }}) '
        f": ({S}, {Z}) -> {Z}",
        f"shape.reduce(%s, %z) : {S} -> {Z} {{ ^bb0(%j: index, %k: {Z}, %l: {Z}): shape.yield %l : {Z} }}",
    ),
    (
        generic("arith.cmpi", "%n, %n", "index, index", "i1", "predicate = 6 : i64"),
        "arith.cmpi ult, %n, %n : index",
    ),
    (
        generic("arith.cmpi", "%i, %i", f"{I32}, {I32}", B, "predicate = 2 : i64"),
        f"arith.cmpi slt, %i, %i : {I32}",
    ),
    (
        generic("shape.value_of", "%v", "!shape.value_shape", "tensor<?xindex>"),
        "shape.value_of %v : tensor<?xindex>",
    ),
    (generic("shape.with_shape", "%x, %s", f"{F}, {S}", "!shape.value_shape"), f"shape.with_shape %x, %s : {F}, {S}"),
    (generic("index.divs", "%n, %n", "index, index", "index"), "index.divs %n, %n"),
    (
        generic("index.cmp", "%n, %n", "index, index", "i1", "pred = #index<cmp_predicate ult>"),
        "index.cmp ult(%n, %n)",
    ),
    (generic("index.constant", "", "", "index", "value = -5 : index"), "index.constant -5"),
    (generic("index.bool.constant", "", "", "i1", "value = true"), "index.bool.constant true"),
    (generic("arith.select", "%p, %n, %n", "i1, index, index", "index"), "arith.select %p, %n, %n : index"),
    (generic("arith.select", "%b, %x, %x", f"{B}, {F}, {F}", F), f"arith.select %b, %x, %x : {B}, {F}"),
    (
        generic("arith.muli", "%n, %n", "index, index", "index", "overflowFlags = #arith.overflow<nsw, nuw>"),
        "arith.muli %n, %n overflow<nsw,nuw> : index",
    ),
    (
        generic("arith.subi", "%n, %n", "index, index", "index", "overflowFlags = #arith.overflow<none>"),
        "arith.subi %n, %n : index",
    ),
    (generic("arith.constant", "", "", "i1", "value = true"), "arith.constant true"),
    (generic("arith.constant", "", "", "index", "value = -5 : index"), "arith.constant -5 : index"),
    (generic("arith.constant", "", "", "i64", "value = 5 : i64"), "arith.constant 5"),
    (
        generic("arith.constant", "", "", "tensor<2xi8>", "value = dense<1> : tensor<2xi8>"),
        "arith.constant dense<1> : tensor<2xi8>",
    ),
    (generic("arith.index_cast", "%n", "index", "i32"), "arith.index_cast %n : index to i32"),
    (generic("tensor.cast", "%y", G, F), f"tensor.cast %y : {G} to {F}"),
    (generic("tensor.dim", "%x, %n", f"{F}, index", "index"), f"tensor.dim %x, %n : {F}"),
    (generic("tensor.rank", "%x", F, "index"), f"tensor.rank %x : {F}"),
    (generic("tensor.extract", "%x, %n, %n", f"{F}, index, index", "f32"), f"tensor.extract %x[%n, %n] : {F}"),
    (generic("tensor.from_elements", "", "", "tensor<0xindex>"), "tensor.from_elements : tensor<0xindex>"),
    (generic("shape.from_extents", "", "", S), "shape.from_extents :", "shape.from_extents"),
]


@pytest.mark.parametrize("spellings", SPELLINGS, ids=lambda spellings: spellings[-1][:50])
def test_spellings_of_one_operation(spellings):
    first, *others = (
        f"%r0 = {text}" if not text.endswith("-> ()") and "{ }" not in text else text for text in spellings
    )
    if "%w { shape" in others[0]:
        others = [other.removeprefix("%r0 = ") for other in others]
    expected = body(first)
    for other in others:
        assert body(other) == expected, other


def test_every_op_of_tosa_has_a_spelling_here():
    said = {text.split()[0] for spellings in SPELLINGS for text in spellings[1:]}
    names = {f"tosa.{name}" for op in TOSA_OPS for name in (op.name, *op.aliases)}
    missing = sorted(names - said)
    assert not missing, f"add to SPELLINGS how they are spelled: {missing}"


def test_every_op_with_a_custom_form_is_among_the_lines_that_llvm_compares():
    said = {line.split()[0].split("(")[0].strip('"') for line in mlir_texts.OPS}
    names = {row.mlir or row.name for row in ROWS.values() if not row.terminator}
    # What no line can have: a result of its own of several, or one that only the project's own text has.
    assert names - said == {"shape.split_at"}


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("tosa.add %x, %y", 1, "expected ':' or an attribute such as round(true), found 'return'"),
        (f"tosa.add %x, %y : ({F}) -> {F}", 6, "'tosa.add' has 2 operands, and 1 type for them"),
        (f"tosa.add %x %y : ({F}) -> {F}", 18, "expected ':', found '%y'"),
        (f"tosa.abs %x : {F}", 20, "expected '(', found 'tensor<?x3xf32>'"),
        ("tosa.clamp %x min_val = 1", 20, "expected ':' or an attribute such as round(true), found 'min_val'"),
        ("tosa.clamp %x min_val(1 min", 30, "expected ')', found 'min'"),
        ("tosa.clamp %x min_val(1) min_val(1)", 31, "the attribute 'min_val' is there twice"),
        ("tosa.clamp %x min_val(1) {min_val = 1}", 31, "'tosa.clamp' has the attribute 'min_val' twice"),
        ("tosa.clamp %x min_val(IGNORE)", 28, "expected an attribute's value, found 'IGNORE'"),
        (f"shape.add %z, %z : {Z}, {Z}", 1, "expected '->', found 'return'"),
        (f"shape.add %z, %z : {Z} -> {Z}", 6, "'shape.add' has 2 operands, and 1 type for them"),
        ("shape.const_shape [1, x] : index", 28, "expected a number, found 'x'"),
        ("shape.const_shape [1, 2] : tensor<3xindex>", 24, "2 extents are no value of type tensor<3xindex>"),
        ("shape.const_size 1.5", 23, "a float is no value of type index, expected an integer"),
        ("shape.const_witness 1", 26, "expected 'true' or 'false', found '1'"),
        ("shape.cstr_require %p", 1, "expected ',', found 'return'"),
        ("shape.cstr_require %p, 3", 29, "expected a string, found '3'"),
        (f"shape.meet %s, %s, why = 3 : {S}", 25, "expected 'error', found 'why'"),
        ("shape.index_to_size %z", 26, "%z is of type !shape.size, but is used here as index"),
        ("shape.debug_print %s", 6, "'shape.debug_print' has a custom form that is not read here"),
        ("shape.join %s, %s", 6, "'shape.join' has a custom form that is not read here"),
        ("arith.cmpi lt, %n, %n : index", 17, "expected one of eq, ne, slt, sle, sgt, sge, ult, ule, ugt, uge, found"),
        ("index.cmp lt(%n, %n)", 16, "expected one of eq, ne, slt, sle, sgt, sge, ult, ule, ugt, uge, found 'lt'"),
        ("index.bool.constant 1", 26, "expected 'true' or 'false', found '1'"),
        (
            "index.casts %n : index to i32",
            6,
            "'index.casts' has a custom form that is not read here; nor is its generic",
        ),
        ("arith.select %p, %n, %n : i1, i1, index", 1, "expected at most two types, found 'return'"),
        ("arith.constant unit", 21, "expected a number or a dense literal"),
        ("arith.index_cast %n : index from i32", 34, "expected 'to', found 'from'"),
        ("arith.addi %n, %n overflow : index", 33, "expected '<' behind 'overflow', found ':'"),
        ("tensor.extract %n[%n] : index", 30, "type index is no tensor"),
        ("tensor.extract %e %n : tensor<?xindex>", 24, "expected '[', found '%n'"),
        (f"tensor.extract %x[%n, %p] : {F}", 28, "%p is of type i1, but is used here as index"),
        ("tensor.from_elements %n, %p : tensor<2xindex>", 31, "%p is of type i1, but is used here as index"),
        ("arith.addf %n, %n : f32", 6, "'arith.addf' has a custom form that is not read here"),
        ("func.call_indirect %n() : () -> ()", 6, "'func.call_indirect' has a custom form that is not read here"),
        ("call @f() : () -> ()", 1, "'func.call' has 0 results, and 1 name for them"),
    ],
)
def test_faults(text, column, message):
    with pytest.raises(ParseError) as caught:
        body(f"%r = {text}")
    line, at, found = str(caught.value).split("\n")[0].removeprefix("m:").split(":", maxsplit=2)
    assert found.strip().startswith(f"error: {message}")
    assert int(at) == (column if line == "2" else 1)


def compare(text):
    """Require that a text, LLVM's own printing of it, and the generic form say the same."""
    said = outline(parse_module(text))
    allow = "--allow-unregistered-dialect"
    for flags in (
        ["--mlir-print-op-generic"],
        [],
        ["--mlir-print-op-generic", "--mlir-print-debuginfo", "--mlir-print-elementsattrs-with-hex-if-larger=1"],
        ["--mlir-print-debuginfo", "--mlir-print-local-scope"],
    ):
        printed = mlir_tools.checked_opt(text, allow, *flags)
        assert outline(parse_module(printed)) == said, text


@pytest.mark.slow
@mlir_tools.needs_mlir
def test_every_line_reads_as_llvm_prints_it():
    lines = [
        f"%r{at} = "
        + line.replace("%inner", f"%inner{at}")
        .replace("%acc", f"%acc{at}")
        .replace("%dim", f"%dim{at}")
        .replace("%index", f"%index{at}")
        for at, line in enumerate(mlir_texts.OPS)
    ]
    constants = mlir_texts.CONSTANTS
    compare(mlir_texts.function("every", 0, [*constants, *lines]))


@pytest.mark.slow
@mlir_tools.needs_mlir
def test_every_attribute_reads_as_llvm_prints_it():
    compare(
        "".join(
            f"func.func private @f{at}() attributes {{x.y = {text}}}\n" for at, text in enumerate(mlir_texts.ATTRIBUTES)
        )
    )


@pytest.mark.slow
@mlir_tools.needs_mlir
@pytest.mark.parametrize("seed", range(many(3, 8)))
def test_random_modules_read_as_llvm_prints_them(seed):
    compare(mlir_texts.random_module(seed, functions=30, lines=25))
