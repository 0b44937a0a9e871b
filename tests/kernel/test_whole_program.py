"""The shape function of kernels with ops that have shape functions: it says what a call says, in every form."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest

import bcastgen as bg
import shape_agreement
from bcastgen import shape as s
from bcastgen.mlir.read.parser import parse_module
from bcastgen.mlir.shape.read_program import read_program
from bcastgen.shape.dialect.values import Shape
from compile_flags import QUICK


def sized(name, operands, shape, *maps, bound=None):
    c = " + ".join(one for one, map_ in zip(operands.split(", "), maps, strict=True) if "->" in map_)
    return bg.define_op(f"whole_{name}", operands, c=c, shape=shape, maps=list(maps), bound=bound, replace=True)


OUTER = sized("outer", "a, b", lambda a, b: s.concat(a, b), "(d0, d1) -> (d0)", "(d0, d1) -> (d1)")
MEET = sized("meet", "a, b", lambda a, b: s.broadcast(a, b), *["(d0, d1) -> (d0|0, d1|0)"] * 2)
ALIKE = sized("alike", "a, b", lambda a, b: s.assuming(s.cstr_eq(a, b, error="unlike"), lambda: a), *["(d) -> (d)"] * 2)
COLUMN = sized("column", "a, b", lambda a, b: a, "(d0, d1) -> (d0, d1)", "(d0, d1) -> (d0|0, 0)")
EACH = sized("each", "x, n", lambda x, n: s.concat(x, s.from_extents(n)), "(d0, d1) -> (d0)", "index")
ROWS = sized("rows", "x, t", lambda x, t: s.concat(t, x), "(d0, d1) -> (d1)", "tensor<1xindex>")
MOST = sized("most", "x, n", lambda x, n: s.concat(s.from_extents(n), x), "(d0, d1) -> (d1)", "index",
             bound=lambda x: s.concat(s.const_shape((2,)), x))  # fmt: skip
SHAPED = sized(
    "shaped", "x, v", lambda x, v: s.concat(s.value_as_shape(v), x), "(d0, d1) -> (d1)", "!shape.value_shape"
)
UNIT = sized("unit", "a", lambda a: s.meet(a, s.const_shape(())), "() -> ()")

VECTORS = [(extent,) for extent in (0, 1, 2, 3)]
MATRICES = list(itertools.product((0, 1, 2, 3), repeat=2))
NUMBERS = [0, 1, 2, 3]
LISTS = [(0,), (1,), (2,), (2, 3), ()]
KERNELS = {
    "outer": (OUTER, (VECTORS, VECTORS)),
    "meet": (MEET, (MATRICES, MATRICES)),
    "alike": (ALIKE, (VECTORS, VECTORS)),
    "column": (COLUMN, (MATRICES, MATRICES)),
    "each": (EACH, (VECTORS, NUMBERS)),
    "rows": (ROWS, (VECTORS, LISTS)),
    "most": (MOST, (VECTORS, NUMBERS)),
    "unit": (UNIT, ([(), (1,)],)),
    "around": (
        bg.jit(lambda a, b, c: OUTER(a + 1, b) * c, signature="(f64[?] a, f64[?] b, f64[?, 3] c)", name="around"),
        (VECTORS, VECTORS, [(1, 3), (2, 3), (3, 3), (0, 3)]),
    ),
    "twice": (bg.jit(lambda a, b: OUTER(a, b) + OUTER(b, a).T, name="twice"), (VECTORS, VECTORS)),
    "chain": (bg.jit(lambda a, b, n: MEET(OUTER(a, b), EACH(a, n)), name="chain"), (VECTORS, VECTORS, NUMBERS)),
    "several": (bg.jit(lambda a, b: (OUTER(a, b), a + 1), name="several"), (VECTORS, VECTORS)),
    "typed": (
        bg.jit(lambda a, b: OUTER(a, b) + b, signature="(f64[n>=2] a, f64[m] b) -> f64[n, m]", name="typed"),
        (VECTORS, VECTORS),
    ),
}
CALLS = {name: list(itertools.product(*choices)) for name, (_, choices) in KERNELS.items()}


def answer(call):
    """The extents of the results, or None for operands that are refused."""
    try:
        found = call()
    except bg.BroadcastError:
        return None
    found = [found] if isinstance(found, Shape) or not found or isinstance(found[0], int) else found
    return tuple(tuple(one.extents if isinstance(one, Shape) else one) for one in found)


def is_of_types(program, call):
    """Whether operands have the ranks that a program's types say."""
    try:
        program.evaluate(*call)
    except bg.BroadcastError:
        return False
    return True


@pytest.mark.parametrize("name", KERNELS)
def test_the_program_says_what_result_shape_says(name):
    kernel, _ = KERNELS[name]
    legal = 0
    for call in CALLS[name]:
        expected = answer(lambda call=call: kernel.result_shape(*call))
        assert answer(lambda call=call: kernel.shape_function.run(*call)) == expected, call
        if is_of_types(kernel.shape_function, call):
            assert kernel.shape_function.check(*call) is (expected is not None), call
        legal += expected is not None
    assert 0 < legal < len(CALLS[name]) or name in ("outer", "each", "twice", "several")


def test_calls_agree(monkeypatch):
    monkeypatch.setenv("BCASTGEN_CFLAGS", QUICK)
    chance = random.Random(3)
    for name, (kernel, choices) in KERNELS.items():
        for call in chance.sample(CALLS[name], min(8, len(CALLS[name]))):
            arrays = [
                np.array(one, int) if own in (NUMBERS, LISTS) else np.ones(one)
                for one, own in zip(call, choices, strict=True)
            ]
            try:
                results = kernel(*arrays)
            except bg.BroadcastError:
                results = None
            found = results if results is None or isinstance(results, tuple) else (results,)
            shapes = None if found is None else tuple(map(np.shape, found))
            assert shapes == answer(lambda kernel=kernel, call=call: kernel.shape_function.run(*call)), (name, call)


def test_it_is_what_is_printed_and_reads_back():
    for kernel, _ in KERNELS.values():
        program = kernel.shape_function
        assert str(program) == kernel.to_mlir("shape")
        module = parse_module(str(program))
        assert str(read_program(module.functions[0], module.source)) == str(program)
        assert not {operand.name for operand in program.operands} & set(getattr(kernel, "slots", ()))


def test_it_is_a_stage():
    kernel, _ = KERNELS["typed"]
    assert kernel.stages["shape"] == str(kernel.shape_function) and "shape.concat" in kernel.explain()


def test_as_c_it_says_the_same(tmp_path):
    names = [name for name in KERNELS if name not in ("each", "rows", "most", "chain")]
    library = shape_agreement.Library(
        [KERNELS[name][0].shape_function for name in names], tmp_path, shape_agreement.QUICK
    )
    for at, name in enumerate(names):
        kernel, _ = KERNELS[name]
        for call in CALLS[name]:
            if not is_of_types(kernel.shape_function, call):
                continue
            ran = library.call(at, call)
            found = tuple(map(tuple, ran.results)) if ran.status == "OK" else None
            assert found == answer(lambda call=call, kernel=kernel: kernel.result_shape(*call)), (name, call)


def test_values_of_an_array_decide():
    assert answer(lambda: SHAPED.shape_function.run((2,), np.array([3]))) == ((3, 2),)
    assert answer(lambda: SHAPED.shape_function.run((2,), np.array([-3]))) is None


def test_ranks_that_nothing_says_are_those_of_the_latest_call():
    kernel = bg.jit(lambda a, b, c: OUTER(a, b) + c, name="beside")
    with pytest.raises(bg.BroadcastError, match=r"operand 'c' has no known rank.*; declare it .* or call the kernel"):
        _ = kernel.shape_function
    kernel(np.ones(2), np.ones(3), np.ones((2, 1)))
    assert answer(lambda: kernel.shape_function.run((3,), (2,), (1, 2))) == ((3, 2),)


def test_the_program_of_an_op_of_integers_needs_no_dtypes():
    assert answer(lambda: bg.bitwise_and.shape_function.run((3,), (2, 1))) == ((2, 3),)


def test_extents_of_the_caller_are_operands_still():
    kernel = bg.jit(lambda a, b: OUTER(a, b) + bg.broadcast_to(b, ("k", 3)))
    assert [operand.name for operand in kernel.shape_function.operands] == ["a", "b", "k"]
    for k, legal in ((2, True), (1, True), (3, False)):
        assert (answer(lambda k=k: kernel.shape_function.run((2,), (3,), (k,))) is not None) == legal
        assert (answer(lambda k=k: kernel.result_shape((2,), (3,), extents={"k": k})) is not None) == legal
