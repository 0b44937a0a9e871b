"""How much of the stack a module's functions take: an upper bound, by their local arrays along the deepest calls.

In: the final C of a module.  Out: bytes, for a function.

    static void unit(...) { float tile[256]; ... }    void f(...) { int64_t extents[2]; unit(...); }    ->   f: 1208

Compilers also put variables without a register, and saved registers, on the stack. The bound allows more bytes for
these than gcc takes, and than clang takes for the kernels of a test; clang takes more if many operands are 16-bit
floats.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import reduce

from ..c_text.references import NOT_CODE, reached

__all__ = ["stack_bytes", "stack_sentence"]

# Bytes allowed for variables and saved registers: for the function itself; for each function that it calls in any
# depth; and for each variable, beyond as many as registers hold, of the function that has most.
_OWN, _EACH, _VARIABLE, _IN_REGISTERS = 128, 40, 16, 16
_BYTES = {
    **dict.fromkeys(("char", "uint8_t", "int8_t", "bool"), 1),
    **dict.fromkeys(("uint16_t", "int16_t"), 2),
    **dict.fromkeys(("float", "int", "int32_t", "uint32_t"), 4),
    **dict.fromkeys(("double", "int64_t", "uint64_t", "size_t", "ptrdiff_t", "uintptr_t"), 8),
}
_MACRO = re.compile(r"^#define (\w+) (\d+)$", re.MULTILINE)
_STRUCT = re.compile(r"^typedef struct \{([^{}]*)\} (\w+);", re.MULTILINE)
_FUNCTION = re.compile(r"^(?:[A-Za-z]\w*[ *]+)+(\w+)\([^;{}]*\)\s*\{(?:([^\n]*)\}$|(.*?)^\})", re.MULTILINE | re.DOTALL)
_DECLARED = re.compile(
    r"^\s*(static )?(?:const )?(\w+) (\**(?:const )?\w+(?:\[[^;{}]*?\])*(?: = [^;]*)?(?:, [^;]*)?);", re.MULTILINE
)
_ARRAY = re.compile(r"(\**)(?:const )?\b\w+((?:\[[^\]]*\])*)(?: = (\{[^;]*\}|[^,;]*))?(?:, |$)")


def stack_bytes(texts: Iterable[str], twice: bool = False) -> dict[str, int]:
    """Return an upper bound of what each function takes, with the functions that it calls.

    `twice` is for modules of several instruction sets, where the function that picks a set calls its copy for that set.
    """
    text = NOT_CODE.sub("0", "\n".join(texts))
    macros = {name: int(value) for name, value in _MACRO.findall(text)}
    sizes = dict(_BYTES)
    for fields, name in _STRUCT.findall(text):
        declared = re.findall(r"(?:const )?(\w+) ([^;]+);", fields)
        sizes[name] = (sum(_size(kind, rest, sizes, macros, scalars=True) for kind, rest in declared) + 7) // 8 * 8
    bodies = {name: line + lines for name, line, lines in _FUNCTION.findall(text)}
    own = {
        name: sum(
            _size(kind, rest, sizes, macros, scalars=False)
            for static, kind, rest in _DECLARED.findall(body)
            if not static and (kind in sizes or "*" in rest)
        )
        for name, body in bodies.items()
    }
    called = {name: {one for one in re.findall(r"\b\w+(?=\()", body) if one in bodies} for name, body in bodies.items()}
    deepest: dict[str, int] = {}

    def depth(name: str) -> int:
        if name not in deepest:
            deepest[name] = own[name]
            deepest[name] += max(map(depth, called[name] - {name}), default=0)
        return deepest[name]

    variables = {name: max(0, len(_DECLARED.findall(body)) - _IN_REGISTERS) for name, body in bodies.items()}
    found = {}
    for name in bodies:
        inner = reached([name], called.__getitem__)
        most = _OWN + _VARIABLE * max(variables[one] for one in inner)
        found[name] = depth(name) + most + _EACH * (len(inner) - 1) + (own[name] + most if twice else 0)
    return found


def stack_sentence(most: int) -> str:
    """Return what the header says of a function's stack.

    Examples
    --------
    >>> stack_sentence(592)
    'Stack: at most 592 bytes with gcc at -O2 or -Os; clang, or wider vectors than 16 bytes, may take more.'
    """
    return f"Stack: at most {most} bytes with gcc at -O2 or -Os; clang, or wider vectors than 16 bytes, may take more."


def _size(kind: str, declared: str, sizes: dict[str, int], macros: dict[str, int], scalars: bool) -> int:
    """Return the bytes of what a declaration declares; of single numbers and pointers only if they are asked for."""
    total = 0
    for stars, dims, value in _ARRAY.findall(declared):
        is_struct = kind not in _BYTES and not stars
        if dims or is_struct or scalars:
            counts = [_count(one, value, macros) for one in re.findall(r"\[([^\]]*)\]", dims)]
            total += (8 if stars else sizes.get(kind, 8)) * reduce(lambda a, b: a * b, counts, 1)
    return total


def _count(text: str, value: str, macros: dict[str, int]) -> int:
    if not text:
        return value.count(",") + 1
    factors = (macros.get(one, int(one) if one.isdigit() else 1) for one in text.split(" * "))
    return reduce(lambda a, b: a * b, factors, 1)
