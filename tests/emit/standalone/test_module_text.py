"""The text of emitted files: short, with nothing in it that is not used, decided or asked."""

from __future__ import annotations

import numpy as np
import pytest

from bcastgen.core.c_source import CSource
from bcastgen.core.errors import BcastgenError
from bcastgen.emit.standalone import write_sources

AXPB = "(f32[?,?] a, f32[?,?] b) -> a + b*2"


@pytest.fixture(scope="module")
def kernels(emit):
    return {
        "axpb": emit("axpb", AXPB),
        "plain": emit("plain", AXPB, variants=0),
        "bias": emit("bias", "(f32[?,4] x, f32[4] b) -> x + b"),
        "outer": emit("outer", "(f64[3,1] a, f64[1,4] b) -> a * b"),
        "narrow": emit("narrow", lambda a: a.astype("i2"), ["f32[?]"]),
        "wild": emit("wild", "(f32[*] a, f32[*] b) -> a + b*2"),
        "two": emit("two", lambda a, b: (a + b, a - b, a * 2), ["f32[?,?]", "f32[?,?]"]),
    }


def test_the_files_are_short(kernels):
    """`a + b*2` over two dynamic operands: what a careful hand-written version takes, and its checks."""
    assert kernels["plain"].text.count("\n") < 130
    assert kernels["axpb"].text.count("\n") < 190


def test_only_what_is_used_is_included(kernels, emit):
    def included(kernel):
        return {line.split()[1] for line in kernel.text.splitlines() if line.startswith("#include <")}

    # The header has <stddef.h> and <stdint.h>.
    assert included(kernels["axpb"]) == set()
    assert included(emit("e", "(f32[?] a) -> rint(a)")) == {"<math.h>"}
    assert included(emit("e", "(f16[?] a) -> -a")) == {"<string.h>"}
    assert included(emit("e", "(f32[?] a) -> floor(a)")) == {"<math.h>"}
    assert included(emit("e", lambda a: a + np.float32("nan"), ["f32[?]"])) == {"<math.h>"}
    assert included(emit("e", "(bool[?] a) -> a")) == {"<stdbool.h>"}


def test_what_types_decide_is_not_asked(kernels):
    outer, bias = kernels["outer"].text, kernels["bias"].text
    assert "outer_meet" not in outer
    assert "bcastgen_stride(a," not in outer
    # Each of the operands' four extents is compared once, and then told.
    assert sum(outer.count(f"{name}->extents[") for name in "ab") == 4 * 2
    # The one extent that is not known is nobody else's: it is taken over, and has nothing to meet.
    assert "_meet(" not in bias
    assert bias.count("extents[0] = x->extents[0];") == 1
    assert "_meet(b" not in bias
    assert "% 1 " not in kernels["narrow"].text


def test_every_name_has_the_prefix(kernels):
    for kernel in kernels.values():
        assert "bcg_" not in "".join(kernel.files.values()).lower()


def test_the_header_says_which_operands_a_result_may_replace(kernels):
    assert "r may be a or b itself; otherwise" in kernels["axpb"].files["axpb.h"]
    assert " itself" not in kernels["outer"].files["outer.h"]
    assert "r0 may be b itself, r1 may be b itself, r2 may be a itself;" in kernels["two"].files["two.h"]


def test_files_are_written_whole_or_not_at_all(tmp_path):
    source = CSource("k", {"k.c": "c", "k.h": "h"})
    assert [path.read_text() for path in write_sources(source, tmp_path / "new" / "folder")] == ["c", "h"]
    (tmp_path / "file").write_text("")
    with pytest.raises(BcastgenError, match="cannot write to"):
        write_sources(source, tmp_path / "file")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "new"]
