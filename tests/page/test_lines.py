"""Lines of C and assembly are linked with the statements that they compute."""

from __future__ import annotations

import re

import pytest

import bcastgen as bg
from bcastgen.page.lines import Line, c_lines, inner_loops
from bcastgen.pipeline.explanation import own_c

TEXTS = [
    "(f32[?,?] a, f32[?,?] b, f32[4] c) -> a*2 + exp(b)*c",
    "(u8[?, 3] x, f32[3] m) -> (x.astype(int32)//8).astype(float32) - m",
    "(f32[?,?] a, f32[?] b) -> (exp(a), b*2)",
    "(f32[?,?] x) -> x - x.max(axis=-1, keepdims=True)",
]


def lines_of(text):
    compilation = bg.from_text(text).compilation
    name = compilation.source.name
    front, own = own_c(str(compilation.source), name)
    return compilation, c_lines(own, front, name, compilation.rewritten.program.nests)


@pytest.mark.parametrize("text", TEXTS)
def test_lines_are_those_of_the_c_with_their_numbers(text):
    compilation, lines = lines_of(text)
    source = str(compilation.source).splitlines()
    assert all(source[line.number - 1] == line.text for line in lines)
    assert lines[-1].number == len(source)


@pytest.mark.parametrize("text", TEXTS)
def test_every_statement_and_store_has_a_line(text):
    compilation, lines = lines_of(text)
    linked = {node for line in lines for node in line.nodes}
    for at, nest in enumerate(compilation.rewritten.program.nests):
        expected = {f"{at}-t{number}" for number in range(len(nest.body))}
        expected |= {f"{at}-{access.name}" for access in nest.results}
        assert expected <= linked


def test_a_statement_is_linked_with_its_own_nest_only():
    _, lines = lines_of("(f32[?,?] a, f32[?] b) -> (exp(a), b*2)")
    of_first = [line.text for line in lines if "0-t0" in line.nodes]
    assert of_first and all("exp" in text for text in of_first)
    assert all(" * 2" in line.text for line in lines if "1-t0" in line.nodes)


ASSEMBLY = """
kernel_rows_unit:
.LFB1:
	.loc 1 7 1
	movq	%rdi, %rax
.L2:
	.loc 1 4 9
	vmovups	(%rax), %zmm0
.LBB3:
	.loc 1 5 9
	vmovups	%zmm0, (%rdx)
	jne	.L2
.L3:
	.loc 1 5 9
	vmovss	%xmm0, (%rdx)
	jne	.L3
	ret
	.size	kernel_rows_unit, .-kernel_rows_unit
"""
C = (
    Line(1, "static void kernel_unit(const float *a, float *r, int64_t n)"),
    Line(4, "        const float a0 = a[i];", ("0-a",)),
    Line(5, "        r[i] = a0;", ("0-r",)),
)


def test_the_widest_loop_that_stores_is_shown_with_the_lines_of_its_instructions():
    (loop,) = inner_loops(ASSEMBLY, C, "kernel", 1)
    assert (loop.function, loop.vector_bytes) == ("kernel_unit", 64)
    assert [(line.number, line.nodes) for line in loop.lines] == [(4, ("0-a",)), (5, ("0-r",)), (5, ("0-r",))]
    assert [line.text for line in loop.lines] == ["vmovups (%rax), %zmm0", "vmovups %zmm0, (%rdx)", "jne .L2"]


def test_assembly_without_such_a_loop_has_none():
    assert inner_loops("", C, "kernel", 1) == ()
    assert inner_loops(re.sub(r"\tjne\t.*\n", "", ASSEMBLY), C, "kernel", 1) == ()
    assert inner_loops(ASSEMBLY.replace(".loc 1 5", ".loc 1 6"), C, "kernel", 1) == ()
