"""What dispatch.c and fallback.py hold and for how long: references, memory, threads, binaries; and their type."""

from __future__ import annotations

import contextlib
import gc
import itertools
import sys
import threading
import tracemalloc
import weakref
from typing import Any

import numpy as np
import pytest

from base_calls import F32_CODE, F64_CODE, same
from bcastgen.core.dtypes import DTYPES, WEAK_INT
from bcastgen.core.errors import CompileError
from bcastgen.runtime import base

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
    for _ in range(4):
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
