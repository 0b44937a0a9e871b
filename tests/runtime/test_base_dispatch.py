"""dispatch.c and fallback.py: one class, two implementations, every behaviour against NumPy.

The file is long because each test runs for both, from one set of kernels.
"""

from __future__ import annotations

import contextlib
import gc
import itertools
import sys
import threading
import tracemalloc
import weakref
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.lib.stride_tricks import as_strided

from bcastgen.core.dtypes import COMPUTED, DTYPES, F32, F64, WEAK_FLOAT, WEAK_INT, WEAK_UINT
from bcastgen.core.errors import BcastgenError, BroadcastError, CompileError, DomainError, DTypeError, RangeError
from bcastgen.runtime import base


def same(found: Any, wanted: Any) -> None:
    wanted = np.asarray(wanted)
    assert type(found) is np.ndarray or (wanted.shape == () and type(found) is wanted.dtype.type)
    assert (found.shape, found.dtype) == (wanted.shape, wanted.dtype)
    np.testing.assert_array_equal(found, wanted)


# ---- operands and dtypes ---------------------------------------------------------------------------------------------

# These kernels are sums in C, which has no operators for complex numbers.
NAMES = [row.numpy for row in COMPUTED if not row.is_complex]
F32_CODE, F64_CODE = COMPUTED.index(F32), COMPUTED.index(F64)


MIXED = [("int8", "float32"), ("uint8", "int64"), ("float16", "int32"), ("bfloat16", "float16"), ("bool", "bfloat16")]


@pytest.mark.parametrize("pair", [*zip(NAMES, NAMES, strict=True), *MIXED])
def test_a_call_gives_what_numpy_gives(kernels: Any, pair: tuple[str, str]) -> None:
    a, b = np.array([[0, 1, 1], [1, 0, 1]], pair[0]), np.array([1, 0, 1], pair[1])
    same(kernels.add(a, b), np.add(a, b))


@pytest.mark.parametrize(
    "value", [3, -3, 2**63, 2.5, True, np.float32(2.5), np.int8(-3), np.bool_(True), np.uint64(2**63)]
)
def test_scalars(kernels: Any, value: Any) -> None:
    a = np.array([1.0, 2.0, 3.0], np.float64)
    same(kernels.add(a, value), np.add(a, value))
    same(kernels.add(value, a), np.add(value, a))


def test_python_scalars_are_weak_and_numpy_scalars_typed(kernels: Any) -> None:
    add, small = kernels.add, np.array([1, 2], np.float32)
    assert add(small, 1).dtype == np.float32
    assert add(small, 1.5).dtype == np.float32
    assert add(small, np.float64(1.5)).dtype == np.float64
    assert add(np.array([True]), True).dtype == np.bool_
    assert [key[1] for key in add.keys] == [WEAK_INT.key, WEAK_FLOAT.key, F64_CODE, 0]
    same(add(np.array([2**63], np.uint64), 2**63 - 1), np.array([2**64 - 1], np.uint64))
    same(add(np.array([1], np.uint64), 2**63), np.array([2**63 + 1], np.uint64))
    assert add.keys[-1] == bytes((8, WEAK_UINT.key))


@pytest.mark.parametrize("half", [np.float16, ml_dtypes.bfloat16])
def test_scalars_of_16_bits(kernels: Any, half: Any) -> None:
    add, a = kernels.add, np.array([1, 2.5, -3], half)
    for scalar in (half(1.5), np.array(1.5, half), np.array([1.5], half)[0]):
        same(add(a, scalar), a + scalar)
        same(add(scalar, a), scalar + a)
        same(add(np.ones(2, np.float32), scalar), np.full(2, 2.5, np.float32))
    assert add(a, 1.5).dtype == half and add(a, 1).dtype == half
    assert add(a, np.float32(1.5)).dtype == np.float32
    out = np.empty(3, half)
    assert add(a, a, out=out) is out
    same(out, a + a)
    same(add(a, a[::-1], out=a), np.array([-2, 5, -2], half))
    swapped = np.array([1, 2.5, -3], np.float16).astype(">f2")
    same(add(swapped, half(1)), add(swapped.astype(np.float16), half(1)))


def test_bf16_results_where_no_operand_is_one(kernels: Any) -> None:
    narrowed = kernels.c("OUT(0, uint16_t) = 0x3fc0;", "bf16", operands=("a",))
    same(narrowed(np.zeros((2, 3))), np.full((2, 3), 1.5, ml_dtypes.bfloat16))


def test_scalars_alone(kernels: Any) -> None:
    for x, y in [(1, 2), (1, 2.5), (True, 2), (np.int8(1), 2)]:
        same(kernels.add(x, y), np.add(x, y))


def test_numpys_names_for_one_format_share_a_binary(kernels: Any) -> None:
    add = kernels.add
    for char in "lqp":
        same(add(np.array([1, 2], char), np.dtype(char).type(3)), np.array([4, 5]))
    for char in "LQP":
        same(add(np.array([1, 2], char), np.dtype(char).type(3)), np.array([4, 5], np.uint64))
    assert len(add.keys) == 2


def test_zero_dims_and_zero_sizes(kernels: Any) -> None:
    add = kernels.add
    same(add(np.array(1.5), np.array(2.5)), np.array(4.0))
    for x, y in [((0,), (1,)), ((0,), ()), ((3, 0), (1, 1)), ((0, 3), (3,)), ((2, 0, 3), (2, 1, 3))]:
        same(add(np.ones(x), np.ones(y)), np.add(np.ones(x), np.ones(y)))


def test_array_likes(kernels: Any) -> None:
    add = kernels.add
    same(add([1, 2, 3], (1.5, 2, 3)), np.add([1, 2, 3], (1.5, 2, 3)))
    same(add(range(3), memoryview(b"abc")), np.add(range(3), np.frombuffer(b"abc", np.uint8)))
    same(add(np.array([(1.0, 2.0)]).view(np.recarray), 1), np.array([[2.0, 3.0]]))
    with pytest.raises(DTypeError, match=r"operand 'a' is a matrix, which gives operators its own meaning \(__mul__\)"):
        add(np.array([[1.0, 2.0]]).view(np.matrix), 1)


def test_a_memmap_is_an_array(kernels: Any, tmp_path: Any) -> None:
    (tmp_path / "x").write_bytes(np.arange(4.0).tobytes())
    mapped = np.memmap(tmp_path / "x", np.float64, "r+")
    same(kernels.add(mapped, 1), np.arange(4.0) + 1)
    assert kernels.add(mapped, 1, out=mapped) is mapped
    np.testing.assert_array_equal(mapped, np.arange(4.0) + 1)


ADDRESS = "OUT(0, int64_t) = (int64_t)(intptr_t)operands[0].data;"


def layouts() -> dict[str, np.ndarray]:
    block = np.arange(24.0).reshape(4, 6)
    readonly = block.copy()
    readonly.flags.writeable = False
    return {
        "C": block,
        "F": np.asfortranarray(block),
        "strided": block[::2, 1::2],
        "reversed": block[::-1, ::-1],
        "transposed": block.T,
        "stretched": np.broadcast_to(block[0], (5, 6)),
        "stretched column": np.broadcast_to(block[:, :1], (4, 9)),
        "readonly": readonly,
        "empty": block[:0],
        "0-d": block[1, 1, ...],
    }


@pytest.mark.parametrize("name", layouts())
def test_no_layout_is_copied(kernels: Any, name: str) -> None:
    array = layouts()[name]
    seen = kernels.c(ADDRESS, "i64", operands=("a",))(array)
    assert seen.shape == array.shape
    assert (seen == array.__array_interface__["data"][0]).all()
    same(kernels.add(array, array), array + array)


def test_misaligned_and_swapped_operands_are_read_right(kernels: Any) -> None:
    raw = np.zeros(41, np.uint8)
    odd = raw[1:].view(np.float64)
    odd[:] = np.arange(5.0)
    assert not odd.flags.aligned
    same(kernels.add(odd, 1), np.arange(5.0) + 1)
    swapped = np.arange(6, dtype=np.dtype("i4").newbyteorder()).reshape(2, 3).T
    same(kernels.add(swapped, np.int32(1)), np.arange(6, dtype="i4").reshape(2, 3).T + 1)


def test_many_operands_and_results(kernels: Any) -> None:
    names = tuple(f"x{at}" for at in range(40))
    values = [np.arange(3.0) + at for at in range(40)]
    same(kernels(operands=names)(*values), sum(values))
    same(kernels(operands=names)(*values[:-1], x39=values[-1]), sum(values))
    body = " ".join(f"OUT({at}, double) = IN(0, double) + {at};" for at in range(9))
    many = kernels.c(body, *["f64"] * 9, operands=("a",), results=tuple("abcdefghi"))
    answers = many(np.ones(4))
    assert type(answers) is tuple
    for at, answer in enumerate(answers):
        same(answer, np.ones(4) + at)


def test_no_operand_at_all(kernels: Any) -> None:
    same(kernels.c("OUT(0, double) = 7;", "f64", operands=())(), np.array(7.0))


def test_results_of_different_shapes(kernels: Any) -> None:
    both = kernels.c(
        "OUT(0, double) = IN(0, double) + IN(1, double); OUT(1, float) = (float)IN(1, double);",
        "f64",
        "f32",
        results=("r", "s"),
        AFTER_SHAPE="results[1].rank = 1; results[1].extents[0] = operands[1].extents[0];",
    )
    a, b = np.asfortranarray(np.arange(12.0).reshape(4, 3)), np.arange(3.0)
    r, s = both(a, b)
    same(r, a + b)
    same(s, b.astype("f4"))
    out = np.zeros(3, "f4")
    r, s = both(a, b, out=(None, out))
    assert s is out
    same(s, b.astype("f4"))


# ---- arguments -------------------------------------------------------------------------------------------------------


def test_names_and_defaults(kernels: Any) -> None:
    f = kernels(operands=("a", "b", "c"), defaults=(10, np.array([100.0, 200.0])))
    assert (f.operands, f.results) == (("a", "b", "c"), ("r",))
    same(f(1.0), np.array([111.0, 211.0]))
    same(f(1.0, 2.0), np.array([103.0, 203.0]))
    same(f(1.0, c=3.0), np.array(14.0))
    same(f(c=3, b=2, a=1), np.array(6))
    out = np.zeros(2)
    assert f(c=np.ones(2), a=1.0, out=out) is out
    same(out, np.array([12.0, 12.0]))
    same(f(1.0, out=None), np.array([111.0, 211.0]))


def test_names_equal_but_not_identical(kernels: Any) -> None:
    name, out = "".join(["operand", "_b"]), "".join(["o", "ut"])
    f, target = kernels(operands=("a", "operand_b")), np.zeros(1)
    assert f(np.ones(1), **{name: np.ones(1), out: target}) is target
    same(target, np.array([2.0]))


def test_arguments_that_do_not_bind(kernels: Any) -> None:
    def f(a: Any, b: Any, c: Any = 1, *, out: Any = None) -> None:
        """Python's own wording, but that this one is called g.f."""

    kernel = kernels(operands=("a", "b", "c"), defaults=(1,))
    f.__qualname__ = "f"
    x = np.zeros(4)
    calls: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
        ((), {}),
        ((1,), {}),
        ((1, 2, 3, 4), {}),
        ((1, 2, 3, 4), {"out": x}),
        ((1, 2), {"zzz": 3}),
        ((1, 2), {"a": 3}),
        ((), {"b": 1}),
        ((1,), {"a": 3, "zzz": 3}),
    ]
    for args, by_name in calls:
        with pytest.raises(TypeError) as wanted:
            f(*args, **by_name)
        with pytest.raises(TypeError) as found:
            kernel(*args, **by_name)
        assert str(found.value) == str(wanted.value)
    with pytest.raises(TypeError):
        kernel(1, 2, **{3: 4})  # type: ignore[misc]


def test_signatures_that_make_no_sense(kernels: Any) -> None:
    for arguments in (
        ("f", ("a", "a"), ("r",)),
        ("f", ("out",), ("r",)),
        ("f", ("a",), ()),
        ("f", ("a",), ("r",), (1, 2)),
    ):
        with pytest.raises(TypeError, match=r"^f\(\) "):
            kernels.base_class(*arguments)


# ---- what is refused -------------------------------------------------------------------------------------------------


class Overriding:
    def __array_ufunc__(self, *_args: Any, **_options: Any) -> str:
        return "mine"


class Opting:
    __array_ufunc__ = None


class Units(np.ndarray):
    def __array_ufunc__(self, *_args: Any, **_options: Any) -> str:  # type: ignore[override]
        return "mine"


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (
            np.clongdouble(1j),
            r"operand 'b' \(a clongdouble\): dtype 'complex256' is not supported \(no vectors have such floats\)",
        ),
        ("text", r"operand 'b' \(a str\): dtype '<U4' is not supported"),
        (None, "operand 'b' is None; give an array or a number"),
        (object(), r"operand 'b' \(a object\): dtype 'object'"),
        (
            np.zeros(2, ml_dtypes.int1),
            r"operand 'b' \(an array of shape \(2,\)\): dtype 'int1' is not supported; use one of .*f32, f64",
        ),
        (np.zeros(2, np.clongdouble), "dtype 'complex256'"),
        (np.zeros(2, "M8[s]"), "'b' .*dtype 'datetime64"),
        (ml_dtypes.uint1(1), r"\(a uint1\): dtype 'uint1'"),
        (np.longdouble(1), "dtype 'float128'|dtype 'longdouble'"),
        (np.zeros(2, object), "dtype 'object'"),
        ([1, [2, 3]], "operand 'b' is a list that is not an array: .*inhomogeneous"),
        (
            np.ma.masked_array([1.0, 2.0], [0, 1]),
            "operand 'b' is a masked array, and its mask would be lost; pass x.filled",
        ),
        (Overriding(), r"operand 'b' is a Overriding, which gives .*__array_ufunc__.*numpy.asarray"),
        (Opting(), "operand 'b' is a Opting"),
        (np.zeros(2).view(Units), "operand 'b' is a Units"),
    ],
)
def test_operands_without_a_dtype(kernels: Any, value: Any, message: str) -> None:
    with pytest.raises(DTypeError, match=message):
        kernels.add(np.ones(2), value)


def test_python_ints_out_of_range(kernels: Any) -> None:
    bytes_ = np.array([1, 2], np.uint8)
    with pytest.raises(
        RangeError, match=r"^Python integer 300 out of bounds for u8 \(operand 'b' takes 0 to 255\), in f"
    ):
        kernels.add(bytes_, 300)
    with pytest.raises(OverflowError, match=r"Python integer -1 out of bounds for u8 \(operand 'a'"):
        kernels.add(-1, bytes_)
    with pytest.raises(RangeError, match=rf"{2**63} out of bounds for i32"):
        kernels.add(np.zeros(1, np.int32), 2**63)
    for value in (2**64, -(2**63) - 1):
        with pytest.raises(RangeError, match=rf"{value} out of bounds \(operand 'b' takes {-(2**63)} to {2**64 - 1}\)"):
            kernels.add(np.zeros(1, np.float64), value)
    with pytest.raises(RangeError, match=r"Python integer of 40001 bits out of bounds"):
        kernels.add(np.zeros(1, np.float64), 1 << 40000)
    same(kernels.add(bytes_, 253), np.array([254, 255], np.uint8))
    same(kernels.add(np.zeros(1, np.int64), -(2**63)), np.array([-(2**63)]))


def test_int_and_float_subclasses_are_typed(kernels: Any) -> None:
    class Int(int):
        pass

    class Double(np.float64):
        pass

    small = np.array([1], np.int8)
    assert kernels.add(small, Int(1)).dtype == np.int64
    assert kernels.add(np.array([1], np.float32), Double(1)).dtype == np.float64


@pytest.mark.filterwarnings("ignore:.*shape.*:DeprecationWarning")
def test_a_type_that_hashes_and_compares_as_another(kernels: Any) -> None:
    a, asked = np.ones((3, 2)), list[bool]()

    class Posing(type):
        def __hash__(cls) -> int:
            return hash(np.float64)

        def __eq__(cls, other: object) -> bool:
            if asked[-1]:
                a.shape = (*a.shape, 1)
            return other is np.float64

    class Small(metaclass=Posing):
        def __float__(self) -> float:
            return 2.0

    for reshapes in (False, True):
        asked.append(reshapes)
        same(kernels.add(np.ones(3), Small()), np.full(3, 3.0))  # what NumPy takes it for
        assert (kernels.add(a, Small()) == 3).all()


def test_broadcast_errors_name_everything(kernels: Any) -> None:
    with pytest.raises(BroadcastError) as caught:
        kernels.add(np.ones((4, 3)), np.ones((4, 2)))
    assert caught.value.sentence == "operand 'b' dim 1 has extent 2, expected 1 or 3 (from 'a')"
    error = caught.value
    assert (error.operand, error.dim, error.expected, error.actual, error.against) == ("b", 1, 3, 2, "a")


def test_statuses_become_exceptions(kernels: Any) -> None:
    ranked = kernels.c(
        "OUT(0, double) = 0;", "f64", ON_SHAPE="if (operands[0].rank != 2) FAIL(1, 0, -1, -1, 2, operands[0].rank);"
    )
    with pytest.raises(BroadcastError, match=r"^operand 'a' has rank 1, expected 2$"):
        ranked(np.ones(3), 1)
    power = kernels.c("if (IN(1, int64_t) < 0) return 10; OUT(0, int64_t) = 1;", "i64")
    with pytest.raises(DomainError, match="negative integer powers"):
        power(np.arange(3), np.arange(-1, 2))
    with pytest.raises(BcastgenError, match="unknown status 77"):
        kernels.c("return 77;", "f64")(1.0, 2.0)
    overflow = kernels.c("return 0;", "f64", ON_SHAPE="FAIL(8, N, -1, -1, 9, 8);")
    with pytest.raises(BroadcastError, match="result 'r' has elements of 8 bytes, and more than the 9 bytes"):
        overflow(1.0, 2.0)


def test_results_too_large_for_memory(kernels: Any) -> None:
    a = np.broadcast_to(np.float64(1), (2**31, 1, 2))
    b = np.broadcast_to(np.float64(1), (1, 2**32, 1))
    for x, y in [(a, b), (a.transpose(2, 1, 0), b.transpose(2, 1, 0))]:
        with pytest.raises(ValueError, match=r"too big|too large|Maximum allowed"):
            kernels.add(x, y)


def test_rank_64(kernels: Any) -> None:
    deep = np.arange(4.0).reshape((2, 2) + (1,) * 62)
    same(kernels.add(deep, deep), deep + deep)
    turned = deep.transpose()
    found, wanted = kernels.add(turned, turned), turned + turned
    same(found, wanted)
    assert fingerprint(found) == fingerprint(wanted)


# ---- K order ---------------------------------------------------------------------------------------------------------


def fingerprint(array: np.ndarray) -> tuple[Any, ...]:
    """The layout as far as it can be told: strides of dims with one element are anything."""
    told = tuple(s for s, extent in zip(array.strides, array.shape, strict=True) if extent > 1 and array.size)
    return array.shape, told, array.flags.c_contiguous, array.flags.f_contiguous, array.flags.owndata


def three_dims() -> list[np.ndarray]:
    shape = (3, 4, 5)
    found = []
    for order in itertools.permutations(range(3)):
        inverse = np.argsort(order)
        block = np.arange(60.0).reshape([shape[axis] for axis in order]).transpose(inverse)
        found += [block, block[::-1], block[:, ::-2], block[..., ::2]]
    found += [as_strided(np.arange(10.0), shape, (8, 8, 8)), as_strided(np.arange(20.0), shape, (8, 16, 8))]
    found += [np.broadcast_to(np.arange(5.0), shape), np.broadcast_to(np.arange(4.0)[:, None], shape)]
    found += [
        np.arange(12.0).reshape(3, 4, 1),
        np.arange(15.0).reshape(5, 3).T[:, None, :],
        np.array(2.0),
        np.arange(5.0),
    ]
    return found


def test_results_take_numpys_k_order(kernels: Any) -> None:
    add, checked = kernels.add, 0
    for x, y in itertools.product(three_dims(), repeat=2):
        try:
            wanted = np.add(x, y)
        except ValueError:
            continue
        assert fingerprint(add(x, y)) == fingerprint(wanted), (x.shape, x.strides, y.shape, y.strides)
        checked += 1
    assert checked > 300


@st.composite
def operand(draw: st.DrawFn, shape: tuple[int, ...]) -> np.ndarray:
    own = [draw(st.sampled_from([extent, extent, extent, 1])) for extent in shape]
    own = own[draw(st.integers(0, len(own))) :] if draw(st.booleans()) else own
    order = draw(st.permutations(range(len(own))))
    steps = [draw(st.sampled_from([1, 1, 2, -1])) for _ in own]
    block = np.zeros([own[axis] * abs(steps[axis]) for axis in order]).transpose(np.argsort(order))
    return block[tuple(slice(None, None, step) for step in steps)]


@st.composite
def operands(draw: st.DrawFn) -> tuple[np.ndarray, ...]:
    shape = tuple(draw(st.lists(st.integers(0, 4), max_size=5)))
    return tuple(draw(operand(shape)) for _ in range(3))


def test_k_order_of_random_layouts(kernels: Any) -> None:
    add = kernels(operands=("a", "b", "c"))

    @settings(max_examples=400, deadline=None, database=None)
    @given(operands())
    def check(values: tuple[np.ndarray, ...]) -> None:
        found = add(*values)
        made = np.nditer([*values, None], flags=["zerosize_ok"], order="K").operands[3]
        assert fingerprint(found) == fingerprint(made)

    check()


# ---- out= ------------------------------------------------------------------------------------------------------------


def test_out_is_written_and_returned(kernels: Any) -> None:
    add, a = kernels.add, np.arange(6.0).reshape(2, 3)
    for out in (np.zeros((2, 3)), np.zeros((3, 2)).T, np.zeros((4, 6))[::2, ::-2]):
        assert add(a, 1, out=out) is out
        np.testing.assert_array_equal(out, a + 1)
    wrapped = (np.zeros((2, 3)),)
    assert add(a, 1, out=wrapped) is wrapped[0]
    scalar = np.zeros(())
    assert add(1.0, 2.0, out=scalar) is scalar
    assert scalar == 3


def test_out_of_several_results(kernels: Any) -> None:
    both, a = kernels.both, np.arange(3.0)
    outs = (np.zeros(3), np.zeros(3))
    answer = both(a, 1.0, out=outs)
    assert answer[0] is outs[0]
    assert answer[1] is outs[1]
    same(outs[0], a + 1)
    same(outs[1], a - 1)
    total, difference = both(a, 1.0, out=(None, outs[1]))
    assert difference is outs[1]
    same(total, a + 1)


def test_outs_that_overlap_each_other_are_written_in_order(kernels: Any) -> None:
    a, block = np.arange(4.0), np.zeros(5)
    both = kernels.both
    both(a, 1.0, out=(block[:4], block[1:]))
    np.testing.assert_array_equal(block, [1, *(a - 1)])
    both(a, 1.0, out=(block[1:], block[:4]))
    np.testing.assert_array_equal(block, [*(a - 1), 4])
    one = np.zeros(4)
    both(a, 1.0, out=(one, one))
    np.testing.assert_array_equal(one, a - 1)


def test_results_in_place_of_both_operands(kernels: Any) -> None:
    a, b = np.arange(4.0), np.full(4, 2.0)
    kernels.both(a, b, out=(b, a))
    np.testing.assert_array_equal(b, np.arange(4.0) + 2)
    np.testing.assert_array_equal(a, np.arange(4.0) - 2)


def test_out_of_another_dtype(kernels: Any) -> None:
    a = np.arange(3.0)
    for kind in ("f4", "c16", "f2", ">f8", "O"):
        out = np.zeros(3, kind)
        assert kernels.add(a, 1, out=out) is out
        np.testing.assert_array_equal(out, np.add(a, 1, out=np.zeros(3, kind), casting="same_kind"))
    out = np.zeros(3, "i4")
    with pytest.raises(DTypeError, match=r"result 'r' has dtype f64 and cannot be cast to out's int32 .*'same_kind'"):
        kernels.add(a, 1, out=out)
    assert not out.any()


def test_misaligned_out(kernels: Any) -> None:
    out = np.zeros(25, np.uint8)[1:].view(np.float64)
    assert kernels.add(np.arange(3.0), 1, out=out) is out
    np.testing.assert_array_equal(out, [1, 2, 3])


def test_outs_that_cannot_be(kernels: Any) -> None:
    a = np.arange(3.0)
    readonly = np.zeros(3)
    readonly.flags.writeable = False
    with pytest.raises(ValueError, match=r"output array is read-only \(result 'r'\)"):
        kernels.add(a, 1, out=readonly)
    for out in ([0.0, 0.0, 0.0], 1.0, "r", np.float64(1)):
        with pytest.raises(TypeError, match=r"f\(\) takes out as an ndarray, not "):
            kernels.add(a, 1, out=out)
    with pytest.raises(TypeError, match="an ndarray, not a tuple of 2"):
        kernels.add(a, 1, out=(a, a))
    with pytest.raises(TypeError, match="a tuple of 2 ndarrays"):
        kernels.both(a, 1.0, out=np.zeros(3))
    with pytest.raises(TypeError, match="not a tuple of 1"):
        kernels.both(a, 1.0, out=(np.zeros(3),))
    with pytest.raises(TypeError, match=r"not list \(result 'difference'\)"):
        kernels.both(a, 1.0, out=(None, [1]))
    with pytest.raises(DTypeError, match="out of result 'r' is a masked array"):
        kernels.add(a, 1, out=np.ma.zeros(3))
    with pytest.raises(DTypeError, match="out of result 'r' is a Units"):
        kernels.add(a, 1, out=np.zeros(3).view(Units))


def test_outs_of_a_wrong_shape(kernels: Any) -> None:
    a, b = np.ones((1, 3)), np.ones((2, 1))
    with pytest.raises(BroadcastError) as caught:
        kernels.add(a, b, out=np.zeros((2, 4)))
    assert caught.value.sentence == "result 'r' dim 1 has extent 4, expected 3 (from 'a'); results do not broadcast"
    with pytest.raises(BroadcastError, match=r"result 'r' dim 0 has extent 1, expected 2 \(from 'b'\)"):
        kernels.add(a, b, out=np.zeros((1, 3)))
    with pytest.raises(BroadcastError, match="'r' has rank 3, expected 2"):
        kernels.add(a, b, out=np.zeros((1, 2, 3)))
    with pytest.raises(BroadcastError, match="'r' has rank 1, expected 0"):
        kernels.add(1.0, 2.0, out=np.zeros(1))
    first = np.zeros((2, 3))
    with pytest.raises(BroadcastError, match="result 'difference'"):
        kernels.both(a, b, out=(first, np.zeros((2, 2))))
    assert not first.any()


def views(square: np.ndarray) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """(operand, out) views of one array that overlap in some way."""
    flat, third = square.reshape(-1), len(square) // 3
    return {
        "same": (flat, flat),
        "shifted up": (flat[:-1], flat[1:]),
        "shifted down": (flat[1:], flat[:-1]),
        "reversed": (flat[::-1], flat),
        "reversed from above": (flat[8:2:-1], flat[:6]),
        "reversed from below": (flat[:6], flat[8:2:-1]),
        "interleaved": (flat[::2], flat[1::2]),
        "interleaved reversed": (flat[::-2], flat[::2]),
        "half": (flat[: len(flat) // 2], flat[::2]),
        "transposed": (square.T, square),
        "transposed same": (square.T, square.T),
        "rows": (square[0], square),
        "column": (square[:, :1], square),
        "element": (square[1, 1, ...], square),
        "reversed rows": (square[::-1], square),
        "disjoint blocks": (square[:third], square[third : 2 * third]),
        "disjoint columns": (square[:, :third], square[:, third : 2 * third]),
        "one of one": (square[:1, :1], square[:1, :1].reshape(1, 1)),
    }


def fresh() -> np.ndarray:
    return np.arange(1.0, 37.0).reshape(6, 6)


@pytest.mark.parametrize("name", views(fresh()))
def test_overlap_is_as_if_operands_were_read_first(kernels: Any, name: str) -> None:
    mine, theirs = fresh(), fresh()
    x, out = views(mine)[name]
    y, wanted = views(theirs)[name]
    other = np.arange(out.size, dtype=float).reshape(out.shape)
    for values, expected in [((x, other), (y, other)), ((other, x), (other, y)), ((x, x), (y, y))]:
        if np.broadcast_shapes(values[0].shape, values[1].shape) != out.shape:
            continue
        assert kernels.add(*values, out=out) is out
        np.add(*expected, out=wanted)
        np.testing.assert_array_equal(mine, theirs)


def test_overlap_of_two_dtypes(kernels: Any) -> None:
    mine = np.arange(6, dtype=np.int64)
    kernels.add(mine.view(np.int32)[::2], np.int64(1), out=mine)
    np.testing.assert_array_equal(mine, np.arange(6) + 1)


def test_out_that_overlaps_itself(kernels: Any) -> None:
    for extents, strides in [((3,), (0,)), ((3, 3), (8, 8)), ((2, 2), (24, 16))]:
        mine, theirs = np.zeros(9), np.zeros(9)
        a = np.arange(float(np.prod(extents))).reshape(extents)
        kernels.add(a, 1, out=as_strided(mine, extents, strides))
        np.copyto(as_strided(theirs, extents, strides), a + 1)
        np.testing.assert_array_equal(mine, theirs)


@pytest.mark.parametrize(
    ("name", "copies"),
    [
        ("same", False),
        ("interleaved", False),
        ("disjoint blocks", False),
        ("disjoint columns", False),
        ("transposed same", False),
        ("shifted up", True),
        ("transposed", True),
    ],
)
def test_memory_is_taken_only_where_overlap_needs_it(kernels: Any, name: str, copies: bool) -> None:
    big = np.zeros((600, 600))
    x, out = views(big)[name]
    add = kernels.add
    add(np.zeros(1), 1)
    assert takes_memory(lambda: add(x, 1, out=out), out.nbytes) is copies


def takes_memory(call: Callable[[], object], size: int) -> bool:
    tracemalloc.start()
    call()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak > size // 2


def test_memory_is_taken_where_a_kernel_could_not_know_what_it_reads(kernels: Any) -> None:
    big, other, square = np.zeros(100_000), np.zeros(100_000), np.zeros((300, 300))
    add, both = kernels.add, kernels.both
    same_place = big.view(np.int64)
    add(np.zeros(1, np.int64), 1.5), both(1.0, 2.0)
    for call in (
        lambda: add(same_place, 1.5, out=big),
        lambda: both(big, 1.0, out=(big, other)),
        lambda: add(square, 1, out=as_strided(big, (300, 300), (8, 8))),
    ):
        assert takes_memory(call, 300 * 300 * 8)


# ---- references, memory, threads -------------------------------------------------------------------------------------


def calls_that_end_in_every_way(kernels: Any) -> list[tuple[Any, tuple[Any, ...], dict[str, Any]]]:
    add, both, a = kernels.add, kernels.both, np.arange(40.0)
    power = kernels.c("return 10;", "f64", "f64", results=("r", "s"))
    long, wide = np.broadcast_to(np.float64(1), (2**31, 1, 2)).T, np.broadcast_to(np.float64(1), (2**32, 1))
    return [
        (add, (a, a), {}),
        (add, (a, 3), {}),
        (add, (np.float64(2), 3.5), {}),
        (add, (a,), {"b": a}),
        (add, (a, a), {"out": np.zeros(40)}),
        (add, (a[1:], a[1:]), {"out": a[:-1]}),
        (add, (a, a), {"out": np.zeros(40, "f4")}),
        (add, ([1.0], a), {}),
        (add, (a, a[:7]), {}),
        (add, (a, None), {}),
        (add, (a,), {}),
        (add, (a, 2**70), {}),
        (add, (np.ones(3, "u1"), 300), {}),
        (add, (a, a), {"out": np.zeros(39)}),
        (add, (long, wide), {}),
        (add, (np.zeros(100_000), 1.0), {}),
        (both, (a, a), {}),
        (both, (a, a), {"out": (None, np.zeros(39))}),
        (both, (a, a), {"out": (np.zeros(40), None)}),
        (power, (a, a), {}),
        (power, (a, a), {"out": (None, np.zeros(40))}),
    ]


def attempt(kernel: Any, args: tuple[Any, ...], by_name: dict[str, Any]) -> None:
    with contextlib.suppress(TypeError, ValueError, OverflowError, MemoryError):
        kernel(*args, **by_name)


@pytest.mark.parametrize("at", range(21))
def test_no_references_and_no_memory_leak(kernels: Any, at: int) -> None:
    cases = calls_that_end_in_every_way(kernels)
    assert len(cases) == 21
    kernel, args, by_name = cases[at]
    held = [*args, *by_name.values(), kernel, None, np.dtype("f8")]
    held += [item for value in by_name.values() if isinstance(value, tuple) for item in value]
    for _ in range(5):
        attempt(kernel, args, by_name)
    before = [sys.getrefcount(value) for value in held]
    levels = []
    tracemalloc.start()
    for _ in range(6):
        for _ in range(200):
            attempt(kernel, args, by_name)
        gc.collect()
        levels.append(tracemalloc.get_traced_memory()[0])
    tracemalloc.stop()
    counts = zip(held, before, strict=True)
    grown = [type(value) for value, count in counts if sys.getrefcount(value) - count > 500]
    assert grown == []
    # A leak grows by an object a call in every round; the interpreter's and NumPy's own tables grow in some.
    assert min(after - before for before, after in itertools.pairwise(levels)) < 6000, levels


def test_threads_compile_and_call_at_once(kernels: Any) -> None:
    add, a = kernels.add, np.arange(70_000.0).reshape(7, 10_000)
    wanted, wrong = a + 1, list[str]()
    start = threading.Barrier(4)

    def work() -> None:
        start.wait()
        for _ in range(10):
            if not np.array_equal(add(a, 1), wanted):
                wrong.append("value")
            if not np.array_equal(add(a.T, np.float32(1)), wanted.T):
                wrong.append("layout")

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert set(add.keys) == {bytes((F64_CODE, WEAK_INT.key)), bytes((F64_CODE, F32_CODE))}


@pytest.mark.filterwarnings("ignore:.*shape.*:DeprecationWarning")
def test_large_calls_release_the_interpreter(kernels: Any) -> None:
    body = "for (volatile int k = 0; k < 100; k++) {} OUT(0, double) = IN(0, double);"
    f = kernels.c(body, "f64", operands=("a",), COST="1000")
    f(np.zeros(1))
    a, seen, start = np.arange(150_000.0).reshape(300, 500), list[object](), threading.Event()

    def reshape() -> None:
        start.wait()
        for _ in range(1000):
            seen.append([np.empty((1, 1)) for _ in range(4)])  # which take the memory that a's shape had
            a.shape = (500, 300) if a.shape == (300, 500) else (300, 500)

    thread = threading.Thread(target=reshape)
    thread.start()
    interval = sys.getswitchinterval()
    sys.setswitchinterval(60)  # so that the other thread runs where this one lets it, only
    try:
        start.set()
        # On a busy machine one call may end before the other thread is woken; nothing else here lets it run.
        ran = 0
        for _ in range(50):
            found = f(a)
            ran = len(seen)
            if ran > 0:
                break
    finally:
        sys.setswitchinterval(interval)
        thread.join()
    assert ran > 0
    np.testing.assert_array_equal(found.reshape(-1), np.arange(150_000.0))


@pytest.mark.filterwarnings("ignore:.*shape.*:DeprecationWarning")
def test_a_compile_that_reshapes_an_operand(kernels: Any) -> None:
    a = np.arange(6.0)

    class Hostile(kernels.Kernel):  # type: ignore[misc, name-defined]
        def _compile(self, key: bytes) -> None:
            a.shape = (2, 3)
            super()._compile(key)

    plan = kernels.add.plan
    found = Hostile(plan, "f", ("a", "b"), ("r",))(a, 1)
    np.testing.assert_array_equal(found, np.arange(6.0).reshape(found.shape) + 1)


# ---- binaries --------------------------------------------------------------------------------------------------------


def test_one_binary_a_key_and_the_first_one_stays(kernels: Any) -> None:
    add = kernels.add
    for kind in ("f8", "f4", "i4", "f8", "f4", "i4"):
        add(np.ones(3, kind), np.ones(3, kind))
    assert len(add.keys) == 3
    add.plan = kernels.c("OUT(0, double) = 0;", "f64").plan
    add._compile(bytes((F64_CODE, F64_CODE)))
    same(add(np.ones(3), np.ones(3)), np.full(3, 2.0))


def test_a_compile_that_fails_or_adds_nothing(kernels: Any) -> None:
    class Failing(kernels.base_class):  # type: ignore[misc, name-defined]
        def _compile(self, key: bytes) -> None:
            if key[0] != F64_CODE:
                raise CompileError("no compiler")

    f = Failing("f", ("a",), ("r",))
    with pytest.raises(CompileError, match="no compiler"):
        f(np.ones(1, "f4"))
    with pytest.raises(CompileError, match="of kernel 'f' added no binary"):
        f(np.ones(1))
    with pytest.raises(AttributeError, match="_compile"):
        kernels.base_class("f", ("a",), ("r",))(1)


def test_binaries_that_are_not_the_keys(kernels: Any, compile_kernel: Any) -> None:
    from bcastgen.runtime.library import open_library

    good = open_library(compile_kernel(2, 1, "OUT(0, double) = 0;"))
    older = compile_kernel(2, 1, "OUT(0, double) = 0;", VERSION="77")
    three = open_library(compile_kernel(3, 1, "OUT(0, double) = 0;"))
    doubles, mixed, none = bytes((F64_CODE, F64_CODE)), bytes((F64_CODE, WEAK_INT.key)), (None, None)
    add = kernels.add
    rows = [
        ((doubles, three.address, doubles, bytes((F64_CODE,)), none, three), "3 operands"),
        ((doubles + bytes((F64_CODE,)), good.address, doubles, bytes((F64_CODE,)), none, good), "its key 3"),
        ((doubles, good.address, doubles, bytes((F64_CODE, F64_CODE)), none, good), "and 2, the kernel"),
        ((mixed, good.address, doubles, bytes((F64_CODE,)), none, good), "its key asks for"),
        ((doubles, good.address, bytes((F32_CODE, F64_CODE)), bytes((F64_CODE,)), none, good), "its key asks for"),
        ((doubles, good.address, doubles, bytes((len(DTYPES),)), none, good), "its key asks for"),
        ((doubles, good.address, doubles, bytes((F64_CODE,)), (None,), good), "1 limits"),
    ]
    for arguments, message in rows:
        with pytest.raises(CompileError, match=message):
            add._add_binary(*arguments)
    import cffi

    handle = cffi.FFI()
    handle.cdef("typedef struct { int abi_version; } head; extern head bcg_entry;")
    opened = handle.dlopen(str(older))
    address = int(handle.cast("uintptr_t", handle.addressof(opened, "bcg_entry")))
    with pytest.raises(CompileError, match="ABI version 77"):
        add._add_binary(doubles, address, doubles, bytes((F64_CODE,)), none, opened)


def test_a_binary_keeps_its_library_and_dies_with_the_kernel(kernels: Any, compile_kernel: Any) -> None:
    from bcastgen.runtime.library import open_library

    class Keepalive:
        pass

    library = open_library(compile_kernel(2, 1, "OUT(0, double) = 0;"))
    codes, kept = bytes((F64_CODE, F64_CODE)), Keepalive()
    add, watch = kernels.add, weakref.ref(kept)
    kept.kernel = add  # type: ignore[attr-defined]
    add._add_binary(codes, library.address, codes, bytes((F64_CODE,)), (None, None), kept)
    del kept
    gc.collect()
    assert watch() is not None
    del add
    gc.collect()
    assert watch() is None


# ---- the type --------------------------------------------------------------------------------------------------------


def test_subclasses_have_what_python_objects_have(kernels: Any) -> None:
    class Slotted(kernels.base_class):  # type: ignore[misc, name-defined]
        __slots__ = ("extra",)

    slotted = Slotted("f", ("a",), ("r",))
    slotted.extra = 1
    assert weakref.ref(slotted)() is slotted
    assert not hasattr(slotted, "__dict__")
    add = kernels.add
    add.anything = add
    watch = weakref.ref(add)
    for name in ("operands", "results"):
        with pytest.raises(AttributeError):
            setattr(add, name, ())
    del add
    gc.collect()
    assert watch() is None


def test_a_kernel_is_initialised_once_and_before_it_is_called(kernels: Any) -> None:
    class Forgetful(kernels.base_class):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            pass

    with pytest.raises(TypeError, match="Forgetful object was not initialised"):
        Forgetful()(1)
    with pytest.raises(TypeError, match="initialised once"):
        kernels.base_class.__init__(kernels.add, "g", ("a",), ("r",))


def test_a_kernel_on_a_class_is_not_a_method(kernels: Any) -> None:
    class Holder:
        f = kernels.add

    assert Holder().f(1, 2) == 3


def test_an_overridden_call_is_called(kernels: Any) -> None:
    class Loud(kernels.Kernel):  # type: ignore[misc, name-defined]
        def __call__(self, *args: Any, **by_name: Any) -> Any:
            return "loud", super().__call__(*args, **by_name)

    class Louder(Loud):
        pass

    for kind in (Loud, Louder):
        assert kind(kernels.add.plan, "f", ("a", "b"), ("r",))(1, 2) == ("loud", 3)


def test_init_subclass_is_cooperative(kernels: Any) -> None:
    class Mixin:
        def __init_subclass__(cls, tag: str = "", **options: Any) -> None:
            super().__init_subclass__(**options)
            cls.tag = tag  # type: ignore[attr-defined]

    class Tagged(kernels.base_class, Mixin, tag="here"):  # type: ignore[misc, name-defined]
        pass

    assert Tagged.tag == "here"
    with pytest.raises(TypeError):

        class _Wrong(kernels.base_class, tag="here"):  # type: ignore[misc, name-defined]
            pass


@pytest.mark.skipif(base.implementation != "extension", reason="the extension was not built here; it is optional")
def test_subclasses_are_called_by_vectorcall() -> None:
    vectorcall = 1 << 11

    class Plain(base.KernelBase):
        pass

    class Below(Plain):
        __slots__ = ()

    class Overriding(Plain):
        def __call__(self, *args: Any, **by_name: Any) -> Any:
            return None

    assert [bool(kind.__flags__ & vectorcall) for kind in (Plain, Below, Overriding)] == [True, True, False]


def test_what_a_call_inside_a_traced_function_does(kernels: Any) -> None:
    from bcastgen.core.errors import TraceError
    from bcastgen.expr.trace import trace

    class Inlining(kernels.base_class):  # type: ignore[misc, name-defined]
        def _call_traced(self, operands: tuple[Any, ...]) -> Any:
            return operands[0] * operands[1]

    f = Inlining("f", ("a", "b"), ("r",), (3,))
    assert "multiply(x, 3)" in str(trace(lambda x: f(x), ("x",)))
    with pytest.raises(TraceError, match="out= has no meaning"):
        trace(lambda x: f(x, out=np.zeros(3)), ("x",))
