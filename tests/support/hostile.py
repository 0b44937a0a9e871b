"""Hostile texts for every public way in: injections that leave a mark where they are executed, and malformed input.

In: a way in, and a random generator.  Out: texts for it.

    for text in attempts("text", rng, 100): ...

An injection makes a file called MARK in the working directory, whether it reaches Python, a shell or the C compiler.
Text is also made by taking valid text apart and putting pieces of it, and of the injections, together again.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator

__all__ = ["KINDS", "MARK", "VALID", "attempts"]

MARK = "bcastgen-was-here"

_PYTHON = (
    f"__import__('os').system('touch {MARK}')",
    f"open('{MARK}', 'w')",
    f'exec(\'open("{MARK}", "w")\')',
    f"(lambda: open('{MARK}', 'w'))()",
    f"[open('{MARK}', 'w') for _ in (1,)]",
    f"a if open('{MARK}', 'w') else a",
    f"(b := open('{MARK}', 'w'))",
    f'f\'{{open("{MARK}", "w")}}\'',
    "().__class__.__base__.__subclasses__()",
    "a.__class__.__init__.__globals__",
    "a.tofile('" + MARK + "')",
    "np.save('" + MARK + "', a)",
    "numpy.memmap('" + MARK + "', mode='w+', shape=9)",
    "bg.define_op('x', 'a', c='1')",
    "a.astype(__builtins__)",
    "exp.__call__(a)",
    "getattr(a, 'tofile')('" + MARK + "')",
    "await a",
    "yield a",
    "*a",
    "a[open('" + MARK + "', 'w')]",
    "a[::__import__('os')]",
    "sum(a, axis=open('" + MARK + "', 'w'))",
)
_C = (
    f'*/ int x = system("touch {MARK}"); /*',
    f'"; system("touch {MARK}"); "',
    f'\\\n#include "{MARK}"\n',
    f'??/\n#define double system("touch {MARK}")',
    f'__attribute__((constructor)) void f(void) {{ system("touch {MARK}"); }}',
    f'%n%s%:include "{MARK}"',
    "a) ; return 0; } int main(void) {",
    "/*",
    "*/",
    "//\\",
)
_SHELL = (
    f"$(touch {MARK})",
    f"`touch {MARK}`",
    f"; touch {MARK} #",
    f"| touch {MARK}",
    f"-o {MARK}",
    f"@{MARK}",
    f"../{MARK}",
)
_ODD = (
    *("", " ", "\0", "\x1b[2J", "\ufeff", "\u202e", "\ud800", "\U0001f600", "é", "a\u0301", "\uff41", "∞", "²"),
    *("\r\n", "\t" * 500),
    *("9" * 5000, "1e999999999", "-" * 3000 + "1", "(" * 300 + ")" * 300, "(" * 100_000, "[" * 5000 + "]" * 5000),
    *("a" * 100_000, "2**2**2**2**9", "1 << 10**9", "0x" + "f" * 9000, "1_0", "1__0", "nan", "True", "None", "..."),
    *("9223372036854775808", "18446744073709551616", "-9223372036854775809", "1" + "0" * 400, ".".join("1" * 50)),
    *("out", "where", "dtype", "int", "double", "main", "errno", "I", "NULL", "self", "lambda", "__debug__", "BCG_OK"),
)  # fmt: skip
_INJECTIONS = (*_PYTHON, *_C, *_SHELL)

VALID: dict[str, tuple[str, ...]] = {
    "text": (
        "a*b + exp(c)",
        "where(a > 0, a, 0.1*a).astype(f32)",
        "(f32[n>=2, m%8] x, f32[n, bcast] scale) -> x * scale",
        "sum(a[:, None] * b, axis=-1, keepdims=True)",
        "(f64[?, 4] x, i8[*] k) -> broadcast_to(x, (3, ?, 4)) + k",
        "a[None, ::1, ...] + transpose(b, (1, 0))",
        "max(a, axis=(0, 1)) - mean(b), floor(c) // 3",
        "(u8[n+m] a, u8[n], u8[m]) -> a",
        "power(a, 3) % b | c << 2",
        "a[" + "None, " * 60 + ":]",
        "broadcast_to(a, (" + "2, " * 60 + "3))",
    ),
    "types": (
        "f32[?, 4]", "tensor<?x4xf32>", "f64[n>=2, m%8, k=3]", "i8[*]", "tensor<*xi1>", "bf16[n+m, 2*n-m, 7]",
        "u16[n<=9!, m~, bcast]", "f32[ceil(n/4), max(n, m)]", "memref<4xf32>", "f32[" + "n, " * 40 + "m]",
        "f32[" + "(" * 15 + "n" + ")" * 15 + "]", "f32[n*m*k, n*k, m*k]",
    ),
    "signature": (
        "(f32[n>=2, m%8] x, f32[n, bcast] scale) -> f32[n, m]",
        "(f64[?, 4] x, i8[*] k) -> (f64[3, ?], bool[])",
        "(a, f32[k+1, !] b = 3) -> f32[ceil(k/2)]",
        "(tensor<?x4xf32> x, memref<4xi8> y)",
    ),
    "mlir": (
        "func.func @f(%a: tensor<?xf32>) -> tensor<?xf32> { %0 = tosa.exp %a : (tensor<?xf32>) -> tensor<?xf32> "
        "return %0 : tensor<?xf32> }",
        'func.func @f(%out: tensor<4xi32>) -> tensor<4xi32> { %0 = "tosa.const"() <{values = dense<[1, 2, 3, 4]> : '
        "tensor<4xi32>}> : () -> tensor<4xi32> %1 = tosa.add %out, %0 : (tensor<4xi32>, tensor<4xi32>) -> "
        "tensor<4xi32> return %1 : tensor<4xi32> }",
        '#map = affine_map<(d0) -> (d0)>\nmodule { func.func private @f(%a: tensor<2xf16> {x.y = "z"}) -> '
        'tensor<2xf16> attributes {k = [1, "2", @s]} { return %a : tensor<2xf16> loc("here":1:2) } }',
        "func.func @f(%a: tensor<2x3xf32>, %b: tensor<1x3xf32>) -> tensor<2x3xf32> { %0 = shape.shape_of %a : "
        "tensor<2x3xf32> -> tensor<2xindex> %1 = tosa.mul %a, %b, %c : (tensor<2x3xf32>, tensor<1x3xf32>, "
        "tensor<1xi8>) -> tensor<2x3xf32> return %1 : tensor<2x3xf32> }",
    ),
    "dense": (
        "1", "[1, 2, 3, 4]", "[[1, 2], [3, 4]]", '"0x01000000020000000300000004000000"', "true", "-1", "0x7F800000",
        "[1.5, 2.5, -0.0, 1.0e5]", "(1, 2)", "[[[1]]]", "", '"0xZZ"', "[1, [2]]", "[" * 60 + "1" + "]" * 60, "1.0e999",
    ),
    "shape": (
        "func.func @s(%a: tensor<?xindex>) -> !shape.shape { %0 = shape.from_extent_tensor %a : tensor<?xindex> "
        "return %0 : !shape.shape }",
        "func.func @s(%a: !shape.shape, %b: !shape.shape) -> !shape.shape { %w = shape.cstr_broadcastable %a, %b : "
        "!shape.shape, !shape.shape %0 = shape.assuming %w -> (!shape.shape) { %1 = shape.broadcast %a, %b : "
        "!shape.shape, !shape.shape -> !shape.shape shape.assuming_yield %1 : !shape.shape } "
        "return %0 : !shape.shape }",
    ),
    "numexpr": (
        "2*a + 3*b", "where(a > b, a, b)", "sum(a*b, axis=0)", "(a == 'x') & (b >= 1.5j)", "sin(a)**2 + arctan2(a, b)",
        "a & ~b | (a << 2)", "contains(a, b'x')", "prod(a)", "complex(a, b).real", "ones_like(a)",
    ),
    "name": ("kernel", "a", "add_2", "a.b", "x-y", "é", "operator", "out"),
}  # fmt: skip
_PIECE = re.compile(r"\w+|\s+|.", re.DOTALL)

KINDS = tuple(VALID)


def attempts(kind: str, rng: random.Random, count: int) -> Iterator[str]:
    """Yield texts for one kind of reader: injections and odd texts as they are and within valid text, then mixtures."""
    valid = VALID[kind]
    hostile = (*_INJECTIONS, *_ODD)
    made = 0
    for at, text in enumerate(hostile):
        yield text
        base = valid[at % len(valid)]
        where = rng.randrange(len(base) + 1)
        yield base[:where] + text + base[where:]
        made += 2
    pieces = [piece for text in valid for piece in _PIECE.findall(text)]
    while made < count:
        found = _PIECE.findall(rng.choice(valid))
        for _ in range(rng.randint(1, 4)):
            at = rng.randrange(len(found) + 1)
            match rng.randrange(5):
                case 0:
                    found[at:at] = [rng.choice(pieces)]
                case 1:
                    found[at : at + 1] = []
                case 2:
                    found[at : at + 1] = [rng.choice(pieces)]
                case 3:
                    found[at:at] = found[at : at + rng.randint(1, 9)] * rng.choice((1, 1, 2, 300))
                case _:
                    found[at:at] = [rng.choice(hostile)[:300]]
        yield "".join(found)
        made += 1
