"""Modules as texts, and what they say as plain values that compare.

In: a random generator.  Out: a text that mlir-opt-22 takes.  In: a module.  Out: tuples without names and places.
"""

import math
import random

import numpy as np

from bcastgen.mlir.ir import Dense, DialectAttribute, FunctionType, Number, Type

PRELUDE = """func.func @{name}(%x: tensor<?x3xf32>, %y: tensor<1x3xf32>, %i: tensor<?x3xi32>, %j: tensor<1x3xi32>,
    %b: tensor<?x3xi1>, %c: tensor<1x3xi1>, %h: tensor<2xf16> {{tosa.tensor_name = "h"}}, %k: tensor<3x1xi8>,
    %s: !shape.shape, %t: !shape.shape, %z: !shape.size, %w: !shape.witness, %n: index, %p: i1, %e: tensor<?xindex>,
    %v: !shape.value_shape)
    -> (tensor<?x3xf32>, !shape.shape) attributes {{x.number = {number}}} {{
"""
# One line an op, in the custom form of LLVM 22.
F, G, I32, J, B, C = (f"tensor<{dims}x{element}>" for element in ("f32", "i32", "i1") for dims in ("?x3", "1x3"))
_TOSA = [
    *(
        f"tosa.{name} %x : ({F}) -> {F}"
        for name in "abs ceil cos erf exp floor log reciprocal rsqrt sigmoid sin tanh".split()
    ),
    f"tosa.bitwise_not %i : ({I32}) -> {I32}",
    f"tosa.cast %x : ({F}) -> tensor<?x3xi8>",
    f"tosa.clz %i : ({I32}) -> {I32}",
    f"tosa.clamp %x {{min_val = -1.0 : f32, max_val = 6.0 : f32, nan_mode = IGNORE}} : ({F}) -> {F}",
    "tosa.clamp %k {min_val = -1 : i8, max_val = 6 : i8} : (tensor<3x1xi8>) -> tensor<3x1xi8>",
    f"tosa.logical_not %b : ({B}) -> {B}",
    f"tosa.negate %x, %zero, %zero : ({F}, tensor<1xf32>, tensor<1xf32>) -> {F}",
    *(f"tosa.{name} %x, %y : ({F}, {G}) -> {F}" for name in "add sub pow".split()),
    *(
        f"tosa.{name} %x, %y {{nan_mode = {mode}}} : ({F}, {G}) -> {F}"
        for name, mode in (("maximum", "IGNORE"), ("minimum", "PROPAGATE"))
    ),
    f"tosa.maximum %x, %y : ({F}, {G}) -> {F}",
    *(
        f"tosa.{name} %i, %j : ({I32}, {J}) -> {I32}"
        for name in "bitwise_and bitwise_or bitwise_xor intdiv logical_left_shift logical_right_shift".split()
    ),
    *(f"tosa.{name} %b, %c : ({B}, {C}) -> {B}" for name in "logical_and logical_or logical_xor".split()),
    *(f"tosa.{name} %x, %y : ({F}, {G}) -> {B}" for name in "equal greater greater_equal".split()),
    *(f"tosa.arithmetic_right_shift %i, %j {{round = {flag}}} : ({I32}, {J}) -> {I32}" for flag in ("true", "false")),
    f"tosa.mul %x, %y, %shift : ({F}, {G}, tensor<1xi8>) -> {F}",
    f"tosa.select %b, %y, %x : ({B}, {G}, {F}) -> {F}",
    f"tosa.transpose %y {{perms = array<i32: 1, 0>}} : ({G}) -> tensor<3x1xf32>",
    f"tosa.reshape %y, %three : ({G}, !tosa.shape<1>) -> tensor<3xf32>",
    f'tosa.add %x, %y {{x.note = "a\\22b", x.unit}} : ({F}, {G}) -> {F}',
]
CONSTANTS = [
    '%zero = "tosa.const"() {values = dense<0.0> : tensor<1xf32>} : () -> tensor<1xf32>',
    '%shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>',
    "%three = tosa.const_shape {values = dense<3> : tensor<1xindex>} : () -> !tosa.shape<1>",
]
S, Z, W = "!shape.shape", "!shape.size", "!shape.witness"
_SHAPE = [
    *(f"shape.{name} %z, %n : {Z}, index -> {Z}" for name in "add mul div".split()),
    "shape.add %n, %n : index, index -> index",
    f"shape.any %s, %t, %s : {S}, {S}, {S} -> {S}",
    f"shape.broadcast %s, %t, %s : {S}, {S}, {S} -> {S}",
    f'shape.broadcast %s, %t {{error = "msg"}} : {S}, {S} -> {S}',
    "shape.broadcast %e, %e : tensor<?xindex>, tensor<?xindex> -> tensor<?xindex>",
    f"shape.concat %s, %t : {S}, {S} -> {S}",
    *(f"shape.{name} %s, %t : {S}, {S}" for name in "cstr_broadcastable cstr_eq is_broadcastable shape_eq".split()),
    'shape.cstr_require %p, "batch sizes \\C3\\A9 differ"',
    f"shape.dim %x, %n : {F}, index -> index",
    "shape.from_extent_tensor %e : tensor<?xindex>",
    f"shape.from_extents %n, %z : index, {Z}",
    f'"shape.from_extents"() : () -> {S}',
    f"shape.get_extent %s, %z : {S}, {Z} -> {Z}",
    "shape.get_extent %e, %n : tensor<?xindex>, index -> index",
    "shape.index_to_size %n",
    f"shape.size_to_index %z : {Z}",
    *(f"shape.{name} %z, %z : {Z}, {Z} -> {Z}" for name in "max min meet".split()),
    f'shape.meet %s, %t, error = "why" : {S}, {S} -> {S}',
    f"shape.num_elements %s : {S} -> {Z}",
    f"shape.rank %s : {S} -> {Z}",
    f"shape.shape_of %x : {F} -> tensor<2xindex>",
    f"shape.to_extent_tensor %s : {S} -> tensor<?xindex>",
    "shape.assuming_all %w, %w",
    f"shape.value_as_shape %e : tensor<?xindex> -> {S}",
    f"shape.value_as_shape %v : !shape.value_shape -> {S}",
    "shape.value_of %v : tensor<?xindex>",
    f"shape.value_of %v : {F}",
    f"shape.with_shape %x, %s : {F}, {S}",
    f"shape.with_shape %v, %s : !shape.value_shape, {S}",
    f'"shape.debug_print"(%s) : ({S}) -> {S}',
    f"shape.const_shape [1, 2] : {S}",
    "shape.const_shape [4, 4] : tensor<2xindex>",
    f"shape.const_shape [] : {S}",
    "shape.const_size 10",
    "shape.const_witness true",
    f"shape.reduce(%s, %z) : {S} -> {Z} {{\n^bb0(%index: index, %dim: {Z}, %acc: {Z}):\n"
    f"  %inner = shape.mul %acc, %dim : {Z}, {Z} -> {Z}\n  shape.yield %inner : {Z}\n}}",
    f"shape.assuming %w -> ({F}) {{\n  %inner = tosa.add %x, %x : ({F}, {F}) -> {F}\n"
    f"  shape.assuming_yield %inner : {F}\n}}",
]
_ARITH = [
    *(
        f"arith.{name} %n, %n : index"
        for name in """addi subi muli divsi floordivsi ceildivsi remsi divui ceildivui remui minsi maxsi minui maxui
        shli shrsi shrui andi ori xori""".split()
    ),
    "arith.andi %p, %p : i1",
    *(
        f"index.{name} %n, %n"
        for name in """add sub mul divs divu ceildivs ceildivu floordivs rems remu maxs maxu mins minu shl shrs shru
        and or xor""".split()
    ),
    "affine.apply affine_map<(d0)[s0] -> (d0 + (s0 * 2) ceildiv 3)>(%n)[%n]",
    "affine.min affine_map<(d0) -> (d0, 5)>(%n)",
    "affine.max affine_map<()[s0] -> (s0, -5)>()[%n]",
    "scf.if %p -> (index) {\n  %inner = arith.addi %n, %n : index\n  scf.yield %inner : index\n} else {\n"
    "  scf.yield %n : index\n}",
    *(f"index.cmp {name}(%n, %n)" for name in "eq ne slt sle sgt sge ult ule ugt uge".split()),
    "index.constant -5",
    "index.bool.constant true",
    "arith.addi %n, %n overflow<nsw, nuw> : index",
    *(f"arith.cmpi {name}, %n, %n : index" for name in "eq ne slt sle sgt sge ult ule ugt uge".split()),
    f"arith.cmpi slt, %i, %i : {I32}",
    "arith.select %p, %n, %n : index",
    "arith.select %p, %s, %t : !shape.shape",
    f"arith.select %b, %x, %x : {B}, {F}",
    "arith.constant true",
    "arith.constant -5 : index",
    "arith.constant 200 : i8",
    "arith.constant 1.5 : bf16",
    "arith.constant dense<[[1], [-1]]> : tensor<2x1xi8>",
    "arith.index_cast %n : index to i32",
    f"tensor.cast %y : {G} to {F}",
    f"tensor.dim %x, %n : {F}",
    f"tensor.rank %x : {F}",
    "tensor.extract %e[%n] : tensor<?xindex>",
    f"tensor.extract %x[%n, %n] : {F}",
    "tensor.from_elements %n, %n : tensor<2xindex>",
    "tensor.from_elements : tensor<0xindex>",
]
OPS = [*_TOSA, *_SHAPE, *_ARITH]
_DENSE = [
    "dense<[[1.0, -2.5e-3], [0x7F800000, 0xFFC00001]]> : tensor<2x2xf32>",
    "dense<[0x7C00, 1.0, -0.0]> : tensor<3xf16>",
    "dense<[0x7F80, 1.0, 3.3895313892515355e+38]> : tensor<3xbf16>",
    "dense<[0.1, 1.0e400, 4.9e-324]> : tensor<3xf64>",
    "dense<[255, -128, 127, 0x80]> : tensor<4xi8>",
    "dense<[true, false, 1, 0]> : tensor<4xi1>",
    'dense<"0x05"> : tensor<3xi1>',
    'dense<"0x0000803F000000C0"> : tensor<2xf32>',
    'dense<"0x803F00C0"> : tensor<2xbf16>',
    'dense<"0x0100000000000000"> : tensor<4xindex>',
    "dense<> : tensor<0x3xf32>",
    "dense<[]> : tensor<0xi8>",
    "dense<[[], []]> : tensor<2x0xi8>",
    "dense<3> : vector<4xi32>",
    "dense<18446744073709551615> : tensor<2xui64>",
    "dense<-9223372036854775808> : tensor<2xsi64>",
]
ATTRIBUTES = [
    *_DENSE,
    *"""1 | -1 : i8 | 255 : i8 | 0xFF : i16 | 1 : i1 | true | false | 1.5
    1.0e10 : f32 | 0x7FC00000 : f32 | 0x3C00 : f16
    18446744073709551615 | -1 : index | 3 : si8 | 255 : ui8 | "text" | "a\\22b\\n\\C3\\A9\\\\" | unit | @a::@b | @"x y"
    [1, 2 : i8, "x", [], [true]] | {a = 1, "b c" = {d}} | array<i64: 1, -2> | array<i8: 255> | array<i1: true, false>
    array<f32: 1.0, 2.5> | array<i64> | i32 | index | tensor<?x3xf32> | (i32, f32) -> (i1, i1) | () -> ()
    #tosa.nan_mode<IGNORE> | affine_map<(d0, d1) -> (d0, 0)> | tensor<*xf32> | vector<[4]x2xf32>
    memref<4xf32, 1 : i32>
    tuple<i32, tuple<>> | complex<f32> | none | tensor<4xcomplex<f32>> | tensor<4x!shape.size> | f8E4M3FN | loc("f":1:2)
    strided<[1, ?], offset: 2> | tensor<3xf8E5M2> | bf16 | si7 | ui64""".replace("\n", "|").split("|"),
]
ATTRIBUTES = [text.strip() for text in ATTRIBUTES]
# Text that only the generic form has, and the custom one lacks.
_DEFAULTS = {
    "nan_mode": DialectAttribute("tosa.nan_mode", "PROPAGATE"),
    "overflowFlags": DialectAttribute("arith.overflow", "none"),
}


def random_module(seed, functions=3, lines=12):
    """Return a module in custom forms that mlir-opt-22 takes."""
    rng = random.Random(seed)
    text = "".join(_function(rng, number, lines) for number in range(functions))
    return (
        f"module attributes {{x.attribute = {rng.choice(ATTRIBUTES)}}} {{\n{text}}}\n" if rng.random() < 0.5 else text
    )


def _function(rng, number, lines):
    body = [*CONSTANTS]
    for at in range(lines):
        line = rng.choice(OPS)
        line = line.replace("%inner", f"%inner{at}").replace("%acc", f"%acc{at}").replace("%dim", f"%dim{at}")
        line = line.replace("%index", f"%index{at}")
        body.append(f"%{rng.choice(['', 'v', 'a.b$-'])}{at} = {line}")
    body.append(
        f'%const = "tosa.const"() {{values = dense<{float(rng.randrange(9))}> : tensor<1xf32>, '
        f"x.extra = {rng.choice(ATTRIBUTES)}}} : () -> tensor<1xf32>"
    )
    return function(rng.choice([f"f{number}", f'"a b{number}"']), number, body)


def function(name, number, lines):
    """Return a function with operands of every type, and these lines."""
    body = "".join(f"  {line}\n" for line in lines)
    return f"{PRELUDE.format(name=name, number=number)}{body}  return %x, %s : {F}, {S}\n}}\n"


def outline(module):
    """Return what a module says: values as numbers in the order they are defined, dicts sorted, numbers as bits."""
    found = []
    for function in module.functions:
        numbers = {}
        body = None if function.body is None else _block(function.body, numbers)
        found.append((function.name, str(function.type), _attribute(function.attributes), body))
    return found


def _block(block, numbers):
    for value in block.arguments:
        numbers[value] = len(numbers)
    arguments = tuple(str(value.type) for value in block.arguments)
    return arguments, tuple(_operation(operation, numbers) for operation in block.operations)


def _operation(operation, numbers):
    regions = tuple(_block(region, numbers) for region in operation.regions)
    operands = tuple(numbers[value] for value in operation.operands)
    for value in operation.results:
        numbers[value] = len(numbers)
    results = tuple(str(value.type) for value in operation.results)
    said = {name: value for name, value in operation.attributes.items() if _DEFAULTS.get(name) != value}
    return operation.name, operands, results, _attribute(said), regions


def _attribute(value):
    match value:
        case dict():
            return tuple(sorted((name, _attribute(item)) for name, item in value.items()))
        case tuple():
            return ("tuple", *map(_attribute, value))
        case Number(number, type_):
            # LLVM prints the type that goes without saying.
            default = "f64" if isinstance(number, float) else "i64"
            return "number", _bits(number), default if type_ is None else type_.text
        case Dense(type_, values):
            return "dense", type_.text, values.dtype.name, np.shape(values), values.tobytes()
        case float():
            return _bits(value)
        case Type() | FunctionType():
            return "type", str(value)
    return value if isinstance(value, str | bool | int) else repr(value)


def _bits(number):
    return "nan" if isinstance(number, float) and math.isnan(number) else f"{number!r}"
