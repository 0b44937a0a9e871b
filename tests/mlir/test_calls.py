"""Calls within a module: the called function's ops in place of the call, as if they had been written there."""

import random
import re

import numpy as np
import pytest

import bcastgen as bg
from bcastgen.api.mlir_module import kernel_of
from bcastgen.cli.main import main
from bcastgen.mlir.calls import MAX_DEPTH, MAX_OPERATIONS, choose
from bcastgen.mlir.options import ReadOptions
from bcastgen.mlir.read.parser import parse_module
from mlir_tools import checked_opt, needs_mlir

F4 = "tensor<?xf32>"
OPS = ("add", "sub", "maximum", "pow")


class Program:
    """A random function of TOSA ops, as one function and with random runs of its ops in functions of their own."""

    def __init__(self, rng, name):
        self.rng, self.name, self.helpers = rng, name, []
        self.arguments = ("a", "b", "c")
        values = list(self.arguments)
        self.lines = []
        for at in range(rng.randint(4, 9)):
            self.lines.append((f"v{at}", rng.choice(OPS), (rng.choice(values), rng.choice(values))))
            values.append(f"v{at}")
        self.results = (values[-1], rng.choice(values))

    def flat(self):
        return self._function(self.name, self.lines, self.arguments, self.results)

    def split(self):
        """The text of the function and of those that it calls."""
        lines = self.lines
        for _ in range(self.rng.randint(1, 4)):
            lines = self._outlined(lines, self.results)
        whole = self._function(self.name, lines, self.arguments, self.results)
        return "".join(self.rng.sample([*self.helpers, whole], len(self.helpers) + 1))

    def _outlined(self, lines, results):
        """The lines with a run of them in a function, which may call other such functions."""
        start = self.rng.randrange(len(lines))
        run = lines[start : start + self.rng.randint(1, 5)]
        names = [name for line in run for name in self._made(line)]
        used_later = {name for line in lines[start + len(run) :] for name in line[2]} | set(results)
        inputs = tuple(dict.fromkeys(name for line in run for name in line[2] if name not in names))
        outputs = tuple(name for name in names if name in used_later)
        if not outputs:
            return lines
        helper = f"{self.name}_{len(self.helpers)}"
        self.helpers.append(self._function(helper, run, inputs, outputs, self.rng.choice(("private ", ""))))
        return [*lines[:start], (outputs, f"@{helper}", inputs), *lines[start + len(run) :]]

    @staticmethod
    def _made(line):
        return (line[0],) if isinstance(line[0], str) else line[0]

    def _function(self, name, lines, arguments, results, visibility=""):
        listed = ", ".join(f"%{argument}: {F4}" for argument in arguments)
        text = [f"func.func {visibility}@{name}({listed}) -> ({', '.join([F4] * len(results))}) {{"]
        for line in lines:
            made, op, operands = line
            given = ", ".join(f"%{operand}" for operand in operands)
            kinds = f"({', '.join([F4] * len(operands))}) -> ({', '.join([F4] * len(self._made(line)))})"
            made = ", ".join(f"%{each}" for each in self._made(line))
            text.append(f"  {made} = call {op}({given}) : {kinds}" if op[0] == "@" else
                        f"  {made} = tosa.{op} {given} : ({F4}, {F4}) -> {F4}")  # fmt: skip
        kinds = ", ".join([F4] * len(results))
        return "\n".join([*text, f"  return {', '.join(f'%{each}' for each in results)} : {kinds}", "}", ""])


def stages(module, name):
    kernel = kernel_of(choose(module, name), module, ReadOptions())
    return [kernel.stages[stage] for stage in ("expression", "nest", "constraints")]


PROGRAMS = [Program(random.Random(seed), f"p{seed}") for seed in range(24)]
SPLIT = {program.name: program.split() for program in PROGRAMS}


def test_ops_in_called_functions_are_as_written_in_place():
    calls = 0
    for program in PROGRAMS:
        calls += SPLIT[program.name].count(" call @")
        split, flat = (parse_module(text) for text in (SPLIT[program.name], program.flat()))
        assert stages(split, program.name) == stages(flat, program.name), SPLIT[program.name]
    assert calls > 36


@needs_mlir
def test_mlir_opt_inlines_to_the_same():
    whole = "".join(SPLIT.values())
    inlined = checked_opt(whole, "--inline")
    inlined = re.sub(r"%arg([012])\b", lambda at: "%" + "abc"[int(at[1])], inlined)
    theirs, ours = (parse_module(text) for text in (inlined, whole))
    for program in PROGRAMS:
        assert stages(theirs, program.name) == stages(ours, program.name)


HALVES = f"""\
func.func private @both(%a: {F4}, %b: {F4}) -> ({F4}, {F4}) {{
  %0 = tosa.add %a, %b : ({F4}, {F4}) -> {F4}
  %1 = tosa.sub %a, %b : ({F4}, {F4}) -> tensor<2xf32>
  %2 = tensor.cast %1 : tensor<2xf32> to {F4}
  return %0, %2 : {F4}, {F4}
}}
func.func private @once(%a: {F4}, %b: {F4}) -> ({F4}, {F4}) {{
  %0:2 = func.call @both(%a, %b) {{note}} : ({F4}, {F4}) -> ({F4}, {F4})
  return %0#0, %0#1 : {F4}, {F4}
}}
func.func @f(%x: {F4}, %y: {F4}, %z: {F4}) -> {F4} {{
  %0:2 = call @once(%x, %y) : ({F4}, {F4}) -> ({F4}, {F4})
  %1:2 = "func.call"(%0#0, %z) <{{callee = @both}}> : ({F4}, {F4}) -> ({F4}, {F4})
  %2 = tosa.add %1#0, %1#1 : ({F4}, {F4}) -> {F4}
  return %2 : {F4}
}}
"""
ONE, TWO, THREE = (np.arange(count, dtype=np.float32) for count in (1, 2, 3))


def test_a_call_s_error_names_the_op_and_the_calls_that_lead_to_it():
    kernel = bg.from_mlir(HALVES, name="m.mlir")
    np.testing.assert_array_equal(kernel(TWO, ONE, TWO), 2 * TWO)
    with pytest.raises(bg.BroadcastError) as first:
        kernel(TWO, THREE, TWO)
    assert str(first.value).startswith(
        "m.mlir:2:8: error: 'tosa.add' op operand 'y' dim 0 has extent 3, expected 1 or 2"
    )
    assert str(first.value).endswith("\nnote: called from m.mlir:8:10, called from m.mlir:12:10")
    with pytest.raises(bg.BroadcastError, match=r"m\.mlir:2:8: error: 'tosa\.add'(?s:.)*called from m\.mlir:13:10$"):
        kernel(TWO, TWO, THREE)


def test_claims_of_a_called_function_are_checked_at_every_call():
    kernel = bg.from_mlir(HALVES, name="m.mlir")
    for operands in ((THREE, THREE, THREE), (ONE, ONE, THREE), (ONE, ONE, ONE)):
        with pytest.raises(bg.BroadcastError):
            kernel(*operands)


def test_private_functions_that_are_called_are_none_of_a_module_s_own(tmp_path):
    (file := tmp_path / "m.mlir").write_text(HALVES)
    out = tmp_path / "out"
    assert main(["emit", str(file), "-o", str(out)]) == 0
    assert sorted(path.name for path in out.iterdir()) == ["bcastgen.h", "f.c", "f.h"]
    assert bg.from_mlir(HALVES, "once")(TWO, ONE)[1].shape == (2,)


SHAPES = """\
func.func private @same(%a: !shape.shape, %b: !shape.shape) -> !shape.shape {
  %w = shape.cstr_eq %a, %b : !shape.shape, !shape.shape
  %r = shape.assuming %w -> !shape.shape { shape.assuming_yield %a : !shape.shape }
  return %r : !shape.shape
}
func.func @sized(%a: !shape.shape, %b: !shape.shape, %c: !shape.shape) -> !shape.shape {
  %0 = call @same(%a, %b) : (!shape.shape, !shape.shape) -> !shape.shape
  %w = shape.cstr_broadcastable %0, %c : !shape.shape, !shape.shape
  %1 = shape.assuming %w -> !shape.shape {
    %2 = call @same(%0, %c) : (!shape.shape, !shape.shape) -> !shape.shape
    shape.assuming_yield %2 : !shape.shape
  }
  return %1 : !shape.shape
}
"""


def test_shape_programs_call():
    program = bg.shape_from_mlir(SHAPES, name="s.mlir")
    assert str(program.run((2,), (2,), (2,))) == "[2]"
    with pytest.raises(bg.BroadcastError, match=r"s\.mlir:2:8, called from s\.mlir:10:10\)"):
        program.run((2,), (2,), (1,))
    again = bg.shape_from_mlir(str(program))
    assert str(again) == str(program)
    op = bg.define_op("three_alike", "a, b, c", c="a + b + c", shape=SHAPES, maps=["(d0) -> (d0)"] * 3)
    np.testing.assert_array_equal(op(TWO, TWO, TWO), 3 * TWO)
    with pytest.raises(bg.BroadcastError, match="2:8, called from"):
        op(TWO, THREE, TWO)


def called(body, types=f"({F4}) -> {F4}", head=f"func.func @g(%a: {F4}) -> {F4}"):
    function = f"{head} {{ {body} }}" if body else head
    return f"{function}\nfunc.func @f(%x: {F4}) -> {F4} {{\n  %0 = call @g(%x) : {types}\n  return %x : {F4}\n}}"


RETURN = f"return %a : {F4}"
AGAIN = f"%0 = call @f(%a) : ({F4}) -> {F4} {RETURN}"
ITSELF = f"%0 = call @g(%a) : ({F4}) -> {F4} {RETURN}"


@pytest.mark.parametrize(
    ("text", "place", "said"),
    [
        (called(RETURN).replace("@g(%x)", "@h(%x)"), "3:8", "names no function @h; there are @g, @f"),
        (
            called(RETURN).replace("@g(%x) : (tensor<?xf32>)", "@g() : ()"),
            "3:8",
            "has 0 operands, expected 1 as @g says",
        ),
        (called(RETURN, f"({F4}) -> tensor<4xf32>"), "3:8", f"result 0 is of type tensor<4xf32>, expected {F4} as @g"),
        (called(RETURN.replace(F4, "i1"), head="func.func @g(%a: i1) -> i1"), "3:8", f"operand 0 is of type {F4}, exp"),
        (called("", head=f"func.func private @g({F4}) -> {F4}"), "3:8", "names @g, which has no body"),
        (called(ITSELF), "1:", "has no end: @g calls @g"),
        (called(AGAIN), "1:", "has no end: @f calls @g calls @f"),
        (called("%0 = tosa.abs %a : (T) -> T".replace("T", F4)), "1:1", "'func.func' op @g does not end in a return"),
        (called(f"return %a, %a : {F4}, {F4}"), "1:", "'func.return' op returns other types than @g says"),
        (
            called(RETURN, head=f'func.func @g(%a: {F4} {{bcastgen.dims = ["n"]}}) -> {F4}'),
            "3:8",
            "names @g, whose types have bcastgen.dims, which a call does not check; have them in the caller's",
        ),
        (called(RETURN).replace("call @g(%x)", "func.call_indirect %g(%x)"), "3:8", "call a function by its name"),
    ],
)
def test_what_cannot_be_called(text, place, said):
    with pytest.raises(bg.ParseError) as error:
        bg.from_mlir(text, "f", name="m.mlir")
    assert str(error.value).startswith(f"m.mlir:{place}") and said in str(error.value), error.value


def chain(length, twice):
    body = "  %0 = {call}\n" + "  %1 = {again}\n" * twice + f"  return %{int(twice)} : {F4}\n}}}}\n"
    text = f"func.func @f0(%a: {F4}) -> {F4} {{\n  %0 = tosa.abs %a : ({F4}) -> {F4}\n  return %0 : {F4}\n}}\n"
    for at in range(1, length):
        call, again = (f"call @f{at - 1}({value}) : ({F4}) -> {F4}" for value in ("%a", "%0"))
        text += f"func.func @f{at}(%a: {F4}) -> {F4} {{\n" + body.format(call=call, again=again)
    return text


def test_long_and_wide_chains_of_calls_are_refused_in_time():
    long, wide = chain(500, False), chain(200, True)
    assert bg.from_mlir(long, f"f{MAX_DEPTH}")(-TWO).tolist() == [0, 1]
    with pytest.raises(bg.ParseError, match=f"has {MAX_DEPTH + 1} calls within calls .*, expected at most {MAX_DEPTH}"):
        bg.from_mlir(long, "f499")
    assert bg.from_mlir(wide, "f5")(-TWO).tolist() == [0, 1]
    with pytest.raises(bg.ParseError, match=f"operations with those .*, expected at most {MAX_OPERATIONS}"):
        bg.from_mlir(wide, "f199")
