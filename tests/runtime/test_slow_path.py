"""bcastgen/runtime/slow_path.py: the parts of the slow path by themselves; whole calls are in test_base_dispatch.py."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import bcastgen as bg
from bcastgen.core.errors import DTypeError, RangeError
from bcastgen.runtime import outs
from bcastgen.runtime.slow_path import bind, clean_operand, raise_limit


def named(*operands: str, defaults: tuple[object, ...] = ()) -> Any:
    return SimpleNamespace(operands=operands, _constants=(), results=("r",), _name="f", _defaults=defaults)


def test_bind_orders_names_and_defaults() -> None:
    kernel = named("a", "b", "c", defaults=(8, 9))
    assert bind(kernel, (1,), {}) == (1, 8, 9)
    assert bind(kernel, (1, 2), {"c": 3, "out": None}) == (1, 2, 3)
    assert bind(kernel, (), {"c": 3, "a": 1}) == (1, 8, 3)


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_missing_operands_are_listed_as_python_lists_them(count: int) -> None:
    names = "abcd"[:count]
    scope: dict[str, Any] = {}
    exec(f"def f({', '.join(names)}): pass", scope)
    with pytest.raises(TypeError) as wanted:
        scope["f"]()
    with pytest.raises(TypeError) as found:
        bind(named(*names), (), {})
    assert str(found.value) == str(wanted.value)


@pytest.mark.parametrize("signature", ["a", "a, b", "a, b=1", "a=1", ""])
@pytest.mark.parametrize("given", [1, 2, 3])
def test_too_many_operands_are_counted_as_python_counts_them(signature: str, given: int) -> None:
    scope: dict[str, Any] = {}
    exec(f"def f({signature}{', ' if signature else ''}*, out=None): pass", scope)
    names = [part[0] for part in signature.split(", ") if part]
    kernel = named(*names, defaults=(1,) * signature.count("="))
    for by_name in ({}, {"out": None}):
        try:
            scope["f"](*range(given), **by_name)
        except TypeError as wanted:
            with pytest.raises(TypeError) as found:
                bind(kernel, tuple(range(given)), dict(by_name))
            assert str(found.value) == str(wanted)


def test_clean_operands_are_passed_through() -> None:
    clean: tuple[object, ...] = (1, 2.5, True, np.zeros(3), np.zeros((2, 3)).T, np.broadcast_to(np.zeros(1), (4, 4)))
    for value in clean:
        assert clean_operand("x", value) is value
    mapped = np.zeros(3).view(np.recarray)
    assert np.shares_memory(clean_operand("x", mapped), mapped)  # type: ignore[arg-type]


def test_what_is_copied_keeps_its_order_of_axes() -> None:
    swapped = np.arange(24, dtype=">i4").reshape(2, 3, 4).transpose(1, 2, 0)
    found: Any = clean_operand("x", swapped)
    assert found.dtype == np.dtype("=i4")
    assert found.dtype.isnative
    assert found.strides == swapped.strides
    np.testing.assert_array_equal(found, swapped)


def test_an_array_method_that_fails_keeps_its_error() -> None:
    class Broken:
        def __array__(self, *_args: object, **_options: object) -> Any:
            raise RuntimeError("no")

    with pytest.raises(RuntimeError, match=r"^no$"):
        clean_operand("x", Broken())
    with pytest.raises(DTypeError, match="operand 'x' is a list that is not an array"):
        clean_operand("x", [[1, 2], [3]])


def test_limits_that_are_no_dtypes() -> None:
    with pytest.raises(RangeError, match=r"7 out of bounds for the dtype it meets \(operand 'b' takes 1 to 5\)"):
        raise_limit(named("a", "b"), 1, 7, (1, 5))


def test_overlap_that_is_too_hard_to_decide_is_overlap(kernels: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def too_hard(*_args: object, **_options: object) -> bool:
        raise np.exceptions.TooHardError("stop")

    monkeypatch.setattr(np, "shares_memory", too_hard)
    copied: list[object] = []
    copyto = np.copyto
    monkeypatch.setattr(np, "copyto", lambda *args, **options: (copied.append(args), copyto(*args, **options)))
    a = np.arange(8.0)
    kernels.add(a[:-1], 1, out=a[1:])
    np.testing.assert_array_equal(a, [0, 1, 2, 3, 4, 5, 6, 7])
    assert len(copied) == 1


def test_overlap_is_decided_within_bounds() -> None:
    # Strides with many solutions to try: whatever the answer, it comes quickly and errs towards overlap.
    block = np.zeros(200_000, np.int8)
    x = np.lib.stride_tricks.as_strided(block, (41, 43, 47), (1063, 1151, 1217))
    y = np.lib.stride_tricks.as_strided(block[1:], (41, 43, 47), (1069, 1153, 1213))
    assert outs._overlap(x, y)
    assert not outs._overlap(block[::2], block[1::2])


class Exported:
    """An array of a library that has DLPack alone."""

    def __init__(self, array, fails=False):
        self.array, self.fails = array, fails

    def __dlpack__(self, **options):
        if self.fails:
            raise BufferError("on another device")
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


def test_arrays_that_have_dlpack_alone():
    array = np.arange(6.0).reshape(2, 3).T
    assert np.shares_memory(clean_operand("x", Exported(array)), array)
    with pytest.raises(DTypeError, match="operand 'x' is an Exported that is not an array: on another device"):
        clean_operand("x", Exported(array, True))


def test_buffers_are_read_in_place():
    import array

    numbers = array.array("d", [1.0, 2.0])
    for value in (numbers, memoryview(numbers)):
        assert np.shares_memory(clean_operand("x", value), np.frombuffer(numbers))


def test_a_class_that_claims_to_be_a_scalar_type_of_numpy_is_none() -> None:
    class Posing(type):
        def __hash__(cls) -> int:
            return hash(np.float64)

        def __eq__(cls, other: object) -> bool:
            return other is np.float64 or other is cls

    class Number(metaclass=Posing):
        pass

    with pytest.raises(DTypeError, match="operand 'a' is a Number that is not an array: float"):
        clean_operand("a", Number())


class Stops:
    """Its `__array__` raises what generators stop at."""

    dtype, shape = np.dtype("f8"), (2,)

    def __array__(self, *_: object, **__: object) -> Any:
        raise StopIteration


def test_an_exception_of_an_operand_is_its_own() -> None:
    kernels = (bg.jit(lambda a: a + 1, signature="(f64[?] a)"), bg.jit(lambda a: a + 1), bg.from_text("a + b"))
    for kernel in kernels:
        operands = (Stops(), *(1.0 for _ in kernel.operands[1:]))
        for given in ({}, {"where": np.array([True, False]), "out": np.zeros(2)}, {"casting": "same_kind"}):
            with pytest.raises(StopIteration):
                kernel(*operands, **given)


def test_an_out_that_is_read_only_is_refused_by_an_error_of_ours() -> None:
    out = np.zeros(2)
    out.flags.writeable = False
    own = np.lib.stride_tricks.as_strided(np.zeros(2), (3, 2), (0, 8), writeable=False)
    add = bg.from_text("a + b")
    for given in ({"out": out}, {"out": own}, {"out": own, "where": [True, False]}):
        with pytest.raises(bg.BcastgenError, match=r"output array is read-only \(result 'r'\); pass one that"):
            add(np.zeros(given["out"].shape), 1.0, **given)
