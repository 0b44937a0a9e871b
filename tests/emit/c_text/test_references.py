"""Names in C text: those that a compiler would see, and no others."""

from __future__ import annotations

import re

import pytest

from bcastgen.core.c_library import HEADERS
from bcastgen.emit.c_text.references import calls, names
from bcastgen.emit.standalone.message import returned
from bcastgen.emit.templating.render import _includes


@pytest.mark.parametrize(
    "text",
    ["/* bcg_fail(NULL) */", '"bcg_fail(NULL) \\" memcpy("', "0x1p3f + 10u - 2e5", "/* a\n * BCG_RANK */"],
)
def test_comments_strings_and_numbers_have_no_names(text):
    assert names(text) == frozenset() and calls(text) == ()


def test_calls_are_counted():
    assert calls("f(x) + g * f(h(y))") == ("f", "f", "h")
    assert names("f(x) + g") == {"f", "x", "g"}


def test_a_status_is_returned_only_where_code_speaks_of_it():
    assert returned('/* BCG_RANK */ "BCG_NEGATIVE"; return BCG_OVERLAP;') == returned("BCG_OVERLAP BCG_OK")


@pytest.mark.parametrize("header", HEADERS)
def test_each_name_of_a_header_includes_it(header):
    for name in HEADERS[header]:
        text = _includes((f"x = {name}(y);",), ())
        assert f"#include <{header}>" in text, name
        assert len(re.findall("#include", text)) == 1, name


@pytest.mark.parametrize(
    "body",
    [
        "static int own(int x) { return x; } own(1);",
        "__attribute__((vector_size(16))) int v;",
        "const int64_t floor = 2; x = floor;",
        "/* exp(x), NULL */",
    ],
)
def test_what_is_no_call_of_the_library_includes_nothing(body):
    assert "#include" not in _includes((body,))
