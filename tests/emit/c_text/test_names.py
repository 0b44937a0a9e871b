"""Names from users: whatever they are called, the C compiles, and says in comments what the user said."""

from __future__ import annotations

import random
import re
import subprocess

import numpy as np
import pytest

import bcastgen as bg
from bcastgen.core.resources import folder
from bcastgen.emit.c_text.names import Namer, c_identifier, comment_text, kernel_identifiers

STANDARD_HEADERS = """
assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal stdalign stdarg stdatomic stdbool
stddef stdint stdio stdlib stdnoreturn string threads time uchar wchar wctype
""".split()

HOSTILE = (
    # keywords and what the language and its headers define
    *(
        "for",
        "int",
        "double",
        "bool",
        "true",
        "auto",
        "restrict",
        "inline",
        "class",
        "new",
        "template",
        "and",
        "asm",
        "main",
    ),
    *("int32_t", "uint8_t", "size_t", "uintptr_t", "NULL", "INT64_MAX", "INT64_C", "INFINITY", "NAN", "errno", "linux"),
    # functions that the C calls
    *(
        "floorf",
        "sqrt",
        "sqrtf",
        "expf",
        "fabsf",
        "signbit",
        "copysign",
        "index",
        "time",
        "gamma",
        "y0",
        "j1",
        "exp",
        "abs",
    ),
    # what generated C calls its own
    *("t0", "t1", "t0_1", "i0", "i1", "d0", "d1", "i", "n", "at", "step", "steps", "why", "status", "from", "extents"),
    *(
        "rank",
        "dim",
        "extent",
        "operands",
        "results",
        "result",
        "index_",
        "data",
        "byte_strides",
        "holds",
        "bcg_x",
        "BCG_OK",
    ),
    # what is derived from other operands
    *(
        "a",
        "a0",
        "a00",
        "a_d0",
        "a_d0_d1",
        "a_row",
        "a_at0",
        "a_step",
        "a_bits",
        "r",
        "r0",
        "r_d0",
        "r_is_a",
        "r_extents",
    ),
    *("b", "a_b", "b_a", "zero_a", "unit", "any", "a_2", "v_a", "v_for"),
    # what belongs to a kernel called k
    *("k", "K", "k_fail", "k_array", "K_OK", "k_shape", "k_status", "k_unit", "k_kernel"),
    # spellings
    *(
        "größe",
        "gro\u0308ße",
        "Größe",
        "π",
        "变量",
        "_",
        "__",
        "_x",
        "__x__",
        "x_",
        "x__y",
        "x" * 47,
        "x" * 48,
        "x" * 300,
    ),
)
WILD = (
    "",
    "1x",
    "a b",
    "*/",
    "/*",
    "a */ int x; /*",
    "??/",
    "a\\",
    "a\\\n",
    "\n#error\n",
    "//",
    '"',
    "'",
    "%s",
    "{{ a }}",
    "\0",
)
LIBRARY = ("math", "stdio", "stdlib", "string", "time", "ctype", "wchar", "wctype", "unistd", "signal", "setjmp")
IDENTIFIER = re.compile(r"[A-Za-z](?:_?[A-Za-z0-9])*")


def mixed(*xs):
    """Something that calls functions of the C library, directly and through helpers."""
    total = np.floor(xs[0]) + np.exp(xs[0])
    for x in xs[1:]:
        total = np.sqrt(total) + np.sign(x) * np.where(np.signbit(x), x, 2)
    return total


@pytest.mark.parametrize("name", HOSTILE + WILD)
def test_identifiers_are_plain(name):
    prefix, function = kernel_identifiers(name)
    for spelled in (c_identifier(name), prefix, function, Namer("kernel").take(name)):
        assert IDENTIFIER.fullmatch(spelled)
        assert not spelled.lower().startswith("bcg_")
        assert len(spelled) < 64


def test_names_that_are_fine_stay():
    for name in ("a", "x", "lhs", "bias", "weight_2", "gamma", "time", "exp"):
        assert Namer("kernel").take(name) == name
    for name in ("axpb", "gelu", "great_circle", "add", "where", "clip"):
        assert kernel_identifiers(name) == (name, name)


def test_a_namer_gives_each_name_once():
    namer = Namer("k")
    names = [namer.take(name) for name in ("a", "a", "größe", "gru00f6u00dfe", "x" * 60, "x" * 70)]
    assert len(set(names)) == len(names)
    inner = namer.within()
    assert inner.take("a") == "a_3"
    assert namer.take("a") == "a_3"


def test_what_a_kernel_s_c_speaks_of_is_taken():
    assert Namer("k", frozenset({"floorf"})).take("floorf") == "v_floorf"
    assert Namer("k").take("k_fail") == "v_k_fail"
    assert Namer("axpb").take("AXPB_OK") == "v_AXPB_OK"


def words_of_templates():
    """Every identifier that stands in a template as it stands in C, beside names of users."""
    for path in folder("templates").rglob("*.c.j2"):
        # These know arrays by number, or are functions of their own, without any array.
        if path.name in ("table.c.j2", "message.c.j2", "tree.c.j2") or path.parent.name == "project":
            continue
        text = re.sub(r"{#.*?#}|/\*.*?\*/", "", path.read_text(), flags=re.DOTALL)
        text = re.sub(r"{%.*?%}|{{.*?}}", "@", text, flags=re.DOTALL)
        text = re.sub(r'"[^"\n]*"|^#.*$', "", text, flags=re.MULTILINE)
        yield from re.findall(r"(?<![@\w.])[A-Za-z_]\w*(?![@\w])", text)


def test_every_word_of_the_templates_is_reserved():
    words = {word for word in words_of_templates() if not word.lower().startswith("bcg_")}
    assert {"extents", "for", "int64_t", "NULL"} <= words
    assert not {word for word in words if c_identifier(word) == word}


# ---- whole files -----------------------------------------------------------------------------------------------------


def kernel_of(emit, name, names, variants=None):
    types = [
        ("f32[?,?]", "f64[?]", "f32[]", "f32[*]")[at % 4] if len(names) > 2 else "f32[?,?]" for at in range(len(names))
    ]
    return emit(name, mixed, types, names, variants)


@pytest.mark.parametrize("language", ["c", "c++"])
def test_files_compile_whatever_operands_are_called(language, emit, compile_strictly, together, tmp_path):
    names, chance = HOSTILE + WILD, random.Random(0)
    groups = [names[at : at + 6] for at in range(0, len(names), 6)] + [chance.sample(names, 6) for _ in range(20)]
    kernels = [kernel_of(emit, f"k{at}", group, at % 3) for at, group in enumerate(groups)]
    kernels.append(kernel_of(emit, "k", ("a", "k", "K", "k_fail", "K_OK", "k_array")))
    compile_strictly(together(kernels), tmp_path, "gcc", language)


def test_no_kernel_is_called_like_a_function_of_the_library(emit):
    """gcc knows most of these without any header."""
    from bcastgen.ops.table import OPS

    for name in (*OPS, "printf", "memcpy", "strlen", "malloc", "fma", "remainder", "abs", "exit", "fputc", "isalpha"):
        prefix, function = kernel_identifiers(name)
        kernel = emit(name, "(f32[?] a) -> a + 1")
        assert prefix == kernel.name
        assert f"bcastgen_status {function}(" in kernel.text


# ---- comments --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text", [*WILD, *HOSTILE, "*/*/", "/*/", "**/", "??/??/", "\\\\\n", "a\\  \nb", "\u2028", "\x85"]
)
def test_a_comment_stays_one(text):
    safe = comment_text(text)
    assert safe.isascii()
    assert "*/" not in safe and "/*" not in safe and "??/" not in safe
    assert not re.search(r"\\[ \t]*(?:\n|\Z)", safe)


def test_plain_text_stays_as_it_is_in_comments():
    text = "nest (d0, d1)\n  a : tensor<?x?xf32>  (d0, d1) -> (d0|0, d1|0)\n  t0 = multiply(a, 2.0:f32) : f32"
    assert comment_text(text) == text


def test_the_banner_says_what_names_became(emit):
    kernel = emit("k", "(f32[?] größe, f32[?] x) -> größe + x")
    header = kernel.files["k.h"]
    assert "in C, gr\\u00f6\\u00dfe is gru00f6u00dfe" in header
    assert "in C, x" not in header


def test_no_name_is_a_macro_of_a_standard_header():
    """Users may include these first. The errors of <errno.h> that C does not have are too many to keep names from."""
    source = "".join(f"#include <{name}.h>\n" for name in STANDARD_HEADERS)
    command = ["gcc", "-std=c11", "-dM", "-E", "-x", "c", "-"]
    defined = subprocess.run(command, input=source, check=True, capture_output=True, text=True).stdout
    macros = set(re.findall(r"^#define ([A-Za-z]\w*) ", defined, re.MULTILINE))
    assert {"I", "complex", "EOF", "EDOM"} <= macros
    systems = {name for name in macros if re.fullmatch(r"E[A-Z0-9]+", name)} - {"EOF", "EDOM", "ERANGE", "EILSEQ"}
    assert sorted(name for name in macros - systems if c_identifier(name) == name) == []


def test_operands_may_have_the_names_of_what_is_prefetched_by():
    """The macro's own names, and those of the loop around it, are no operand's."""
    names = ("byte", "to", "from_", "count", "further")
    values = [np.linspace(-1, 1, 2000) * (at + 1) for at in range(len(names))]
    kernel = bg.from_text(f"({', '.join(f'f64[*] {name}' for name in names)}) -> exp({' + '.join(names)})")
    np.testing.assert_allclose(kernel(*values), np.exp(sum(values)), rtol=1e-15)
    assert "BCG_PREFETCH" in kernel.source
