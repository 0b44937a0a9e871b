"""dispatch.c and fallback.py: one class, two implementations, what calls take and refuse, against NumPy."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from base_calls import F64_CODE, Units, fingerprint, guards, same
from bcastgen.core.dtypes import COMPUTED, WEAK_FLOAT, WEAK_INT, WEAK_UINT
from bcastgen.core.errors import BcastgenError, BroadcastError, DomainError, DTypeError, RangeError

# ---- operands and dtypes ---------------------------------------------------------------------------------------------

# These kernels are sums in C, which has no operators for complex numbers.
NAMES = [row.numpy for row in COMPUTED if not row.is_complex]


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
    with pytest.raises(DTypeError, match=r"operand 'a' is a matrix .*, which gives operators .* \(__mul__\)"):
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
        GUARDS=guards(2, 2, nests=((0, 1), (1,))),
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


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (
            np.clongdouble(1j),
            r"operand 'b' \(a clongdouble\): dtype 'complex256' is not supported \(no vectors have such floats\)",
        ),
        ("text", r"operand 'b' \(a str\): dtype '<U4' is not supported"),
        (None, "operand 'b' is None; give an array or a number"),
        (object(), r"operand 'b' \(an object\): dtype 'object'"),
        (
            np.zeros(2, ml_dtypes.int1),
            r"operand 'b' \(an array of shape \(2,\)\): dtype 'int1' is not supported; use one of .*float32, float64",
        ),
        (np.zeros(2, np.clongdouble), "dtype 'complex256'"),
        (np.zeros(2, "M8[s]"), "'b' .*dtype 'datetime64"),
        (ml_dtypes.uint1(1), r"\(a uint1\): dtype 'uint1'"),
        (np.longdouble(1), "dtype 'float128'|dtype 'longdouble'"),
        (np.zeros(2, object), "dtype 'object'"),
        ([1, [2, 3]], "operand 'b' is a list that is not an array: .*inhomogeneous"),
        (
            np.ma.masked_array([1.0, 2.0], [0, 1]),
            r"operand 'b' is a masked array of shape \(2,\) .*, and its mask would be lost; pass x.filled",
        ),
        (Overriding(), r"operand 'b' is an Overriding, which gives .*__array_ufunc__.*numpy.asarray"),
        (Opting(), "operand 'b' is an Opting"),
        (np.zeros(2).view(Units), "operand 'b' is a Units"),
    ],
)
def test_operands_without_a_dtype(kernels: Any, value: Any, message: str) -> None:
    with pytest.raises(DTypeError, match=message):
        kernels.add(np.ones(2), value)


def test_python_ints_out_of_range(kernels: Any) -> None:
    bytes_ = np.array([1, 2], np.uint8)
    says = (
        r"^Python integer 300 out of bounds for uint8 \(operand 'b' takes 0 to 255\); pass numpy.uint16\(300\) .*, in f"
    )
    with pytest.raises(RangeError, match=says):
        kernels.add(bytes_, 300)
    with pytest.raises(OverflowError, match=r"Python integer -1 out of bounds for uint8 \(operand 'a'"):
        kernels.add(-1, bytes_)
    with pytest.raises(RangeError, match=rf"{2**63} out of bounds for int32"):
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
    asked.append(False)  # The class stays in caches by type, which ask it in later tests.


def test_broadcast_errors_name_everything(kernels: Any) -> None:
    with pytest.raises(BroadcastError) as caught:
        kernels.add(np.ones((4, 3)), np.ones((4, 2)))
    assert caught.value.sentence == "operand 'b' dim 1 has extent 2, expected 1 or 3 (from 'a')"
    error = caught.value
    assert (error.operand, error.dim, error.expected, error.actual, error.against) == ("b", 1, 3, 2, "a")


def test_statuses_become_exceptions(kernels: Any) -> None:
    ranked = kernels.c("OUT(0, double) = 0;", "f64", GUARDS=guards(2, 1, before="STEP_HAS_RANK, 0, 2, 1"))
    with pytest.raises(BroadcastError, match=r"^operand 'a' has rank 1, expected 2$"):
        ranked(np.ones(3), 1)
    power = kernels.c("if (IN(1, int64_t) < 0) return 10; OUT(0, int64_t) = 1;", "i64")
    with pytest.raises(DomainError, match="negative integer powers"):
        power(np.arange(3), np.arange(-1, 2))
    with pytest.raises(BcastgenError, match="unknown status 77"):
        kernels.c("return 77;", "f64")(1.0, 2.0)
    overflow = kernels.c("return 0;", "f64", GUARDS=guards(2, 1, after="STEP_OVERFLOW, 2, 16"))
    with pytest.raises(
        BroadcastError, match="result 'r' has elements of 16 bytes, and more than the 9223372036854775807"
    ):
        overflow(np.broadcast_to(1.0, (2**59,)), 2.0)


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
