"""Rebuilt bodies: what nothing uses any more goes, but for extents, which count all the same."""

from __future__ import annotations

import subprocess

import numpy as np
import pytest

from bcastgen import from_text
from bcastgen.core.c_flags import CHECKED
from bcastgen.core.dtypes import dtype
from bcastgen.expr.nodes import Constant
from bcastgen.loops.nest import Load, Nest, read_operands
from bcastgen.loops.rewrites import pipeline
from bcastgen.loops.rewrites.pipeline import Rewrite
from bcastgen.loops.rewrites.rebuilt import rebuilt
from bcastgen.loops.verify import verify
from compile_flags import LANGUAGES, STRICT

ZERO = Constant(0, dtype("i32"))


def nest_of(text: str) -> Nest:
    return from_text(text).compilation.program.nests[0]


def test_values_that_only_a_replaced_statement_used_are_dropped() -> None:
    nest = nest_of("(i32[?] a, i32[?] b) -> (a * b) * 0 + a")
    made = rebuilt(nest, {1: ZERO})
    assert [statement.op.name for statement in made.body] == ["add"]
    verify(made)


def test_an_operand_that_nothing_reads_any_more_is_a_shape() -> None:
    nest = nest_of("(i32[?] a, i32[?] b, i32[?] c) -> (a * b) * 0 + c")
    made = rebuilt(nest, {1: ZERO})
    assert [access.name for access in made.operands] == ["c"]
    assert [access.name for access in made.shapes] == ["a", "b"]
    assert made.body[0].operands == (ZERO, Load(0))
    assert read_operands(made) == {0}
    verify(made)


def nothing_of_itself(nest: Nest) -> tuple[Nest, tuple[str, ...]]:
    """x ^ x -> 0: a rewrite as a user may add it."""
    made = {
        at: Constant(0, one.dtype)
        for at, one in enumerate(nest.body)
        if one.op.name == "bitwise_xor" and one.operands[0] == one.operands[1]
    }
    return (rebuilt(nest, made) if made else nest), tuple(f"t{at} is 0" for at in made)


@pytest.mark.parametrize(
    ("text", "shapes", "expected"),
    [
        ("(i32[?] x) -> x ^ x", [(3,)], (3,)),
        ("(i32[?, 1] x, i32[?] y) -> (x ^ x) + y", [(3, 1), (2,)], (3, 2)),
        ("(i32[*] x, i32[*] y) -> (x ^ x) + y", [(3, 1), (4, 1, 2)], (4, 3, 2)),
        ("(i32[?, ?] x, i32[?] y) -> sum(x ^ x, axis=1) + y", [(3, 2), (3,)], (3,)),
    ],
)
def test_its_extents_count_and_its_c_has_no_warning(monkeypatch, tmp_path, text, shapes, expected) -> None:
    monkeypatch.setattr(pipeline, "REWRITES", (Rewrite("nothing", nothing_of_itself, "Drop."), *pipeline.REWRITES))
    monkeypatch.setenv("BCASTGEN_CACHE_DIR", str(tmp_path / "cache"))
    kernel = from_text(text)
    arrays = [np.arange(np.prod(shape), dtype=np.int32).reshape(shape) for shape in shapes]
    want = np.broadcast_to(arrays[-1] if len(arrays) > 1 else 0, expected)
    got = kernel(*arrays)
    assert got.shape == expected
    np.testing.assert_array_equal(got, want)
    kernel.emit_c(tmp_path, "standalone")
    (tmp_path / "jit.c").write_text(kernel.source)
    for name in ("standalone", "jit"):
        command = ["gcc", *LANGUAGES["c"], CHECKED, *STRICT, "-c", f"{name}.c", "-o", f"{name}.o"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
