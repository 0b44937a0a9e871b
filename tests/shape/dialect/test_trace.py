"""Building programs by tracing a Python function."""

from __future__ import annotations

import threading

import pytest

import bcastgen as bg
from bcastgen.core.errors import BroadcastError, TraceError
from bcastgen.shape.dialect.ops import ROWS
from bcastgen.shape.dialect.program import Block, Operation, Program, Value
from bcastgen.shape.dialect.values import Shape, Size

shape = bg.shape


def test_numbers_become_constants_of_the_type_beside_them():
    built = shape.program("p", lambda s: shape.add(shape.rank(s), 2), s="!shape.shape")
    assert [str(value.type) for value in built.body.operations[1].results] == ["!shape.size"]
    built = shape.program("p", lambda t: shape.add(shape.rank(t), 2), t="tensor<?xindex>")
    assert [str(value.type) for value in built.body.operations[1].results] == ["index"]
    built = shape.program("p", lambda s: shape.concat(s, (2, 3)), s="!shape.shape")
    assert str(built.body.operations[0].results[0].type) == "!shape.shape"
    built = shape.program("p", lambda t: shape.concat(t, (2, 3)), t="tensor<?xindex>")
    assert str(built.body.operations[0].results[0].type) == "tensor<2xindex>"


def test_results_may_be_none_one_or_several():
    assert shape.program("p", lambda s: None, s="!shape.shape").run((2,)) == ()
    assert shape.program("p", lambda s: s, s="!shape.shape").run((2,)) == Shape.of(2)
    both = shape.program("p", lambda s: shape.split_at(s, -1), s="!shape.shape")
    assert both.run((4, 5, 6)) == (Shape.of(4, 5), Shape.of(6))
    assert shape.program("p", lambda: (2, 3)).run() == Shape.of(2, 3)
    assert shape.program("p", lambda: 7).run() == Size(7)


def test_operations_know_the_line_they_come_from():
    built = shape.program("p", lambda s: shape.rank(s), s="!shape.shape")
    assert built.body.operations[0].location.startswith("test_trace.py:")
    other = shape.program("p", lambda s: shape.rank(s, location="elsewhere"), s="!shape.shape")
    assert other.body.operations[0].location == "elsewhere"
    assert built == other


def test_regions_are_functions():
    def ranked(s):
        return shape.reduce(s, 0, 1, lambda index, dim, count, product: (shape.add(count, 1), shape.mul(product, dim)))

    assert shape.program("p", ranked, s="!shape.shape").run((2, 3, 4)) == (Size(3), Size(24))


def test_regions_nest_and_see_what_is_around_them():
    def both(a, b):
        def inner():
            return shape.assuming(shape.cstr_eq(a, b), lambda: shape.concat(a, b))

        return shape.assuming(shape.cstr_broadcastable(a, b), inner)

    built = shape.program("p", both, a="!shape.shape", b="!shape.shape")
    assert built.run((2,), (2,)) == Shape.of(2, 2)
    with pytest.raises(BroadcastError, match="cstr_eq"):
        built.run((2,), (1,))


def test_an_op_outside_of_a_program_is_an_error():
    with pytest.raises(TraceError, match=r"shape\.add was called outside a program"):
        shape.add(1, 2)


def test_a_program_that_fails_to_trace_leaves_nothing_behind():
    with pytest.raises(TraceError, match=r"shape\.concat operand 'rhs' is None, which is no value"):
        shape.program("p", lambda s: shape.concat(s, None), s="!shape.shape")
    with pytest.raises(TraceError, match="outside a program"):
        shape.add(1, 2)


def test_threads_trace_apart():
    inside, done = threading.Event(), threading.Event()
    programs: list[Program] = []

    def slow(s):
        inside.set()
        assert done.wait(10)
        return shape.rank(s)

    thread = threading.Thread(target=lambda: programs.append(shape.program("slow", slow, s="!shape.shape")))
    thread.start()
    assert inside.wait(10)
    other = shape.program("other", lambda s: shape.num_elements(s), s="!shape.shape")
    done.set()
    thread.join(10)
    assert [operation.name for operation in programs[0].body.operations] == ["shape.rank"]
    assert [operation.name for operation in other.body.operations] == ["shape.num_elements"]


def test_a_value_of_another_program_is_an_error():
    kept = []
    shape.program("p", lambda s: kept.append(shape.rank(s)), s="!shape.shape")
    with pytest.raises(TraceError, match=r"shape\.add operand 'rhs' is '0', a value of another program"):
        shape.program("q", lambda n: shape.add(n, kept[0]), n="!shape.size")


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda s: shape.reduce(s, 1), "shape.reduce has no region; pass a Python function"),
        (lambda s: shape.rank(s, 2), r"shape.rank.* has 2 operands, expected 1: shape"),
        (lambda s: shape.add(s, 2), r"shape.add.*: operand 's' \(lhs\) has type !shape.shape, expected !shape.size or"),
        (lambda s: shape.broadcast(s, s, why="x"), "attribute 'why' is unknown; shape.broadcast has error"),
        (lambda s: shape.const_shape(), "attribute 'shape' is missing"),
        (
            lambda s: shape.rank(s, type="index"),
            "result '0' has type index, but operand 's' of type !shape.shape may be",
        ),
        (lambda s: shape.broadcast(), "shape.broadcast.* has 0 operands, expected 1 or more"),
        (lambda s: shape.concat(s), "shape.concat.* has 1 operands, expected 2: lhs, rhs"),
    ],
)
def test_what_does_not_fit_names_the_op_and_the_operand(function, message):
    with pytest.raises((BroadcastError, TraceError), match=message):
        shape.program("p", function, s="!shape.shape")


def test_the_face_has_every_op_and_loads_nothing_early():
    for row in ROWS.values():
        if not row.terminator:
            assert getattr(shape, row.python).__doc__ == row.doc
            assert row.python in dir(shape)
    assert shape.meet is shape.join
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        shape.nonsense  # noqa: B018


def test_names_of_modules_are_ops_and_the_modules_are_found():
    from bcastgen.shape.inference.broadcast import infer_broadcast
    from bcastgen.shape.types.dim import Dim

    assert str(infer_broadcast("f32[2]", "f32[1]")) == "f32[2]"
    assert str(Dim(2)) == "2"
    assert shape.broadcast.__doc__.startswith("Returns the shape that shapes broadcast to")
    assert shape.dim.__doc__.startswith("Returns one extent of a tensor")


@pytest.mark.parametrize("wrong", [3, None, ("!shape.shape",)])
def test_an_operand_has_a_type(wrong):
    with pytest.raises(BroadcastError, match=r"operand 'a' has the type .*, expected the text of one"):
        shape.program("p", lambda a: a, a=wrong)


def test_a_program_has_a_name_and_a_function():
    for name, function in (("p", "text"), (3, lambda a: a)):
        with pytest.raises(TraceError, match="give it a name, then the function that describes"):
            shape.program(name, function, a="!shape.shape")


def nested(depth, kind):
    """Regions in regions, this deep."""

    def write(a):
        witness = shape.cstr_eq(a, a)

        def inside(left, *_):
            if left == 0:
                return a if kind == "assuming" else 0
            if kind == "assuming":
                return shape.assuming(witness, lambda: inside(left - 1))
            return shape.reduce(a, 0, lambda index, dim, acc: shape.add(inside(left - 1), acc))

        return inside(depth)

    return shape.program("nested", write, a="!shape.shape")


@pytest.mark.parametrize("kind", ["assuming", "reduce"])
def test_regions_nest_as_deep_as_all_that_walks_them_can(kind):
    program = nested(100, kind)
    folded = program.fold().verify()
    one = (1,)
    assert str(program) and hash(program) == hash(nested(100, kind))
    assert program == nested(100, kind)
    assert program.run(one) == folded.run(one)
    assert program.evaluate(one) == program.run(one)
    assert program.check(one) is True
    for depth in (101, 200, 900, 5000):
        with pytest.raises(TraceError, match="nests regions deeper than 100 levels"):
            nested(depth, kind)


def test_programs_by_hand_have_the_same_limit():
    program = nested(100, "assuming")
    inner, outer = program.body.operations
    value = Value("more", outer.results[0].type)
    region = Block((), (outer, Operation("shape.assuming_yield", outer.results)))
    more = Operation("shape.assuming", outer.operands, (value,), (), (region,))
    with pytest.raises(BroadcastError, match="program 'nested' nests regions deeper than 100 levels"):
        Program("nested", Block(program.operands, (inner, more)), (value,)).verify()


def test_errors_of_a_kernels_own_shape_function_name_no_file_of_the_package():
    function = bg.from_text("(f32[n] a, f32[n] b) -> a + b").shape_function
    with pytest.raises(BroadcastError) as raised:
        function.run((2,), (3,))
    assert "b.0 = a.0 (n) does not hold" in str(raised.value)
    assert "(at " not in str(raised.value)
