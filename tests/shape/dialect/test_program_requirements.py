"""The requirements of seed 003 on shape functions, one test each, named after it; here these are programs."""

from __future__ import annotations

import numpy as np
import pytest

import bcastgen as bg
from bcastgen.core.dtypes import F32, F64, promote
from bcastgen.core.errors import BroadcastError, TraceError
from bcastgen.shape.dialect.ops import find_row
from bcastgen.shape.dialect.values import UNRANKED, ElementType, Shape, Size, ValueShape, Witness
from bcastgen.shape.types.tensor_type import TensorType

shape = bg.shape


def matmul_shape(a, b):
    """[n, k] x [k, m] -> [n, m], which is only defined where both k agree."""

    def body():
        rows, columns = shape.get_extent(a, 0), shape.get_extent(b, 1)
        return shape.from_extents(rows, columns)

    inner = shape.cstr_eq(
        shape.from_extents(shape.get_extent(a, 1)),
        shape.from_extents(shape.get_extent(b, 0)),
        error="matmul: the columns of the left matrix are not the rows of the right one",
    )
    return shape.assuming(inner, body)


MATMUL = shape.program("matmul", matmul_shape, a="!shape.shape", b="!shape.shape")


def test_expressiveness_shapes_that_are_not_known_statically():
    assert MATMUL.evaluate((16, None), (None, 4)) == Shape.of(16, 4)
    assert MATMUL.evaluate("[16, ?]", "[*]") == Shape.of(16, None)
    concat = shape.program("p", lambda a, b: shape.concat(a, b), a="!shape.shape", b="!shape.shape")
    assert concat.evaluate((2,), None) == UNRANKED


def test_errors_name_the_violated_constraint_in_the_authors_words():
    with pytest.raises(BroadcastError) as caught:
        MATMUL.run((2, 3), (4, 5))
    assert str(caught.value).startswith(
        "matmul: the columns of the left matrix are not the rows of the right one: "
        "shape.cstr_eq of %2 = [3], %5 = [4] does not hold"
    )


def test_errors_report_the_location_of_the_operation_that_failed():
    with pytest.raises(BroadcastError, match=r"\(at test_program_requirements\.py:\d+\)"):
        MATMUL.run((2, 3), (4, 5))


def test_checks_that_are_guaranteed_to_pass_are_eliminated():
    static = shape.program(
        "p", lambda x, y: matmul_shape(shape.shape_of(x), shape.shape_of(y)), x="f32[?, 3]", y="f32[3, ?]"
    )
    assert "cstr_eq" in str(static)
    assert "cstr_eq" not in str(static.fold())
    assert "assuming" not in str(static.fold())


def test_checks_that_are_not_decided_statically_run():
    dynamic = shape.program(
        "p", lambda x, y: matmul_shape(shape.shape_of(x), shape.shape_of(y)), x="f32[?, ?]", y="f32[3, ?]"
    )
    assert "cstr_eq" in str(dynamic.fold())
    assert dynamic.fold().run(np.zeros((2, 3)), np.zeros((3, 4))) == Shape.of(2, 4)
    with pytest.raises(BroadcastError, match="matmul"):
        dynamic.fold().run(np.zeros((2, 5)), np.zeros((3, 4)))


def test_only_errors_that_are_certain_are_reported_at_compile_time():
    assert MATMUL.check((2, 3), (4, 5)) is False
    assert MATMUL.check((2, None), (4, 5)) is None
    assert MATMUL.check((2, 4), (4, None)) is True


def test_validity_can_be_queried_without_reporting_an_error():
    valid = shape.program("valid", lambda a, b: shape.is_broadcastable(a, b), a="!shape.shape", b="!shape.shape")
    assert valid.run((2, 1), (3,)) is True
    assert valid.run((2,), (3,)) is False
    assert MATMUL.check((2, 3), (4, 5)) is False
    witness = shape.program("w", lambda a, b: shape.cstr_eq(a, b, error="x"), a="!shape.shape", b="!shape.shape")
    assert witness.run((2,), (3,)) == Witness(False, "x")


def test_shape_functions_are_usable_by_compiler_and_run_time():
    """One program, evaluated on what types say and run on what is there; nobody needs the whole lattice."""
    assert MATMUL.evaluate("f32[16, ?]", "f32[?, 4]") == Shape.of(16, 4)
    assert MATMUL.run((16, 3), (3, 4)) == Shape.of(16, 4)


def test_shape_functions_are_declarative():
    """A program is data: it prints, compares, and is taken apart."""
    again = shape.program("matmul", matmul_shape, a="!shape.shape", b="!shape.shape")
    assert again == MATMUL
    assert [operation.name for operation in MATMUL.body.walk() if find_row(operation.name).constraint] == [
        "shape.cstr_eq"
    ]


def test_shape_functions_are_expressible_at_run_time():
    for count in (2, 3):
        built = shape.program("tile", lambda a, count=count: shape.concat(a, (count,) * count), a="!shape.shape")
        assert built.run((7,)) == Shape((7,) + (count,) * count)


def test_only_local_information_is_required():
    """Operands say everything: a program takes nothing from the graph around, and so has no free values."""
    free = {value for operation in MATMUL.body.walk() for value in operation.operands}
    defined = {*MATMUL.operands, *(value for operation in MATMUL.body.walk() for value in operation.results)}
    assert free <= defined
    kept = []
    shape.program("p", lambda s: kept.append(shape.rank(s)), s="!shape.shape")
    with pytest.raises(TraceError, match="a value of another program"):
        shape.program("q", lambda: shape.add(kept[0], 1))


def test_invocable_before_an_op_exists():
    """Nothing but shapes goes in: no op of that name is known to the package."""
    assert "matmul" not in dir(bg)
    assert MATMUL.run((2, 3), (3, 4)) == Shape.of(2, 4)


def test_shape_functions_are_pure():
    before = str(MATMUL)
    results = {str(MATMUL.run((2, 3), (3, 4))) for _ in range(3)}
    MATMUL.evaluate(None, None)
    assert results == {"[2, 4]"}
    assert str(MATMUL) == before
    with pytest.raises(AttributeError):
        MATMUL.name = "other"


def test_a_type_that_is_known_only_when_the_program_runs(tmp_path):
    """read_from_file: the file is opened to ask for its shape, and its data is not read for that."""
    path = tmp_path / "data.npy"
    opened = []

    def header():
        opened.append(path)
        return ValueShape(None, Shape(np.load(path, mmap_mode="r").shape))

    read = shape.program("read_from_file", lambda file: shape.shape_of(file), file="!shape.value_shape")
    assert read.evaluate(header) == UNRANKED
    assert not opened
    np.save(path, np.zeros((3, 5)))
    assert read.run(header) == Shape.of(3, 5)
    np.save(path, np.zeros(7))
    assert read.run(header) == Shape.of(7)
    assert len(opened) == 2


def test_interoperable_with_operations_of_other_dialects():
    """Index arithmetic stands beside shape ops, in regions too: the shape of a strided slice."""

    def strided(s, step):
        first = shape.size_to_index(shape.get_extent(s, 0))
        return shape.from_extents(shape.floordivsi(shape.addi(first, shape.subi(step, 1)), step))

    built = shape.program("strided", strided, s="!shape.shape", step="index")
    assert built.run((7,), 2) == Shape.of(4)
    with pytest.raises(BroadcastError, match=r"arith\.floordivsi .*division by 0"):
        built.run((7,), 0)


def test_upper_bounds_can_be_represented():
    """tf.where: its result has at most as many rows as there are elements; the bound is a result beside the shape."""

    def where(mask):
        return shape.from_extents(shape.num_elements(mask), shape.rank(mask))

    built = shape.program("where_bound", where, mask="!shape.shape")
    assert built.run((2, 3)) == Shape.of(6, 2)
    assert built.evaluate((None, 3)) == Shape.of(None, 2)


def test_element_types_are_inferred_apart_from_the_shape_and_composed_with_it():
    element = shape.program(
        "element",
        lambda a, b: shape.join(a, b, error="both operands have one element type"),
        a="!shape.element_type",
        b="!shape.element_type",
    )
    extents = shape.program("extents", lambda a, b: shape.broadcast(a, b), a="!shape.shape", b="!shape.shape")
    inferred, result = element.evaluate("f32", None), extents.evaluate((None, 4), (4,))
    assert (inferred, result) == (ElementType(F32), Shape.of(None, 4))
    composed = TensorType(inferred.dtype, tuple(map(bg.Dim, result.extents)), result.unranked)
    assert str(composed) == "f32[?, 4]"
    assert element.evaluate("f32", "f64") == ElementType(error="both operands have one element type")
    # Or by NumPy's rule, with the shape function as it is.
    assert str(TensorType(promote(F32, F64), composed.dims)) == "f64[?, 4]"


def test_a_base_function_may_know_only_the_element_type():
    """Decoupling: what knows no shape leaves it unknown, and another function says it."""
    base = shape.program("base", lambda a, e: (shape.join(a, a), e), a="!shape.shape", e="!shape.element_type")
    known, element = base.evaluate(None, "f32")
    assert (known, element) == (UNRANKED, ElementType(F32))
    refined = shape.program("refine", lambda a, b: shape.join(a, b), a="!shape.shape", b="!shape.shape")
    assert refined.evaluate(known, (2, None)) == Shape.of(2, None)


def test_failures_become_run_time_failures_where_types_do_not_decide():
    guarded = shape.program(
        "p", lambda t: shape.assuming(shape.cstr_eq(shape.shape_of(t), (2,), error="pairs only"), lambda: 1), t="f32[?]"
    )
    assert guarded.check("f32[?]") is None
    assert guarded.run((2,)) == Size(1)
    with pytest.raises(BroadcastError, match="pairs only"):
        guarded.run((3,))


def test_the_test_driver_declared_result_types_match_inferred_ones():
    """Check 1 of TestReturnTypeDriver, on programs: what is declared is joined with what is inferred."""

    def checked(a, b, declared):
        inferred = shape.broadcast(a, b)
        return shape.join(inferred, declared, error="declared and inferred result differ")

    built = shape.program("p", checked, a="!shape.shape", b="!shape.shape", declared="!shape.shape")
    assert built.evaluate((2, 1), (3,), (2, None)) == Shape.of(2, 3)
    assert built.evaluate((2, 1), (3,), (2, 4)) == Shape(error="declared and inferred result differ")


def test_the_test_driver_ops_are_created_without_a_result_type():
    """Check 2: every combination of operands is inferred for, none declared."""
    operands = [(2, 3), (3,), (1, 1), (4,)]
    built = shape.program("p", lambda a, b: shape.broadcast(a, b), a="!shape.shape", b="!shape.shape")
    for a in operands:
        assert built.run(a, a) == Shape(a)
        for b in operands:
            try:
                wanted = Shape(np.broadcast_shapes(a, b))
            except ValueError:
                wanted = Shape(error="")
            assert built.run(a, b) == wanted
