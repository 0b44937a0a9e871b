"""Background mode: NumPy answers with the same values until the binary is there; what it cannot answer waits."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import numpy as np
import pytest

import bcastgen as bg
from bcastgen.api.define_op import define_op
from bcastgen.api.functions import from_text, jit
from bcastgen.api.mlir_module import from_mlir
from bcastgen.core.errors import BroadcastError, CompileError, CompilerWarning, DomainError, DTypeError, RangeError
from bcastgen.kernel import uncompiled
from bcastgen.kernel.background import Job
from bcastgen.runtime.cache import store


@pytest.fixture
def held(monkeypatch, tmp_path):
    """Builds wait until the event is set; the cache is empty."""
    monkeypatch.setenv("BCASTGEN_CACHE_DIR", str(tmp_path))
    event, build = threading.Event(), store.build

    def later(*args):
        assert event.wait(60)
        return build(*args)

    monkeypatch.setattr(store, "build", later)
    yield event
    event.set()


def made_twice(function, **options):
    """The same kernel, compiled at its first call and in the background."""
    return jit(function, **options), jit(function, background=True, **options)


A = np.linspace(-3.0, 3.0, 12, dtype=np.float32).reshape(3, 4)
B = np.arange(1, 5, dtype=np.int16)


@pytest.mark.parametrize(
    ("function", "operands"),
    [
        (lambda a, b: a * b + 1, (A, B)),
        (lambda a, b: (a * b, a > b), (A.T, B[:, None])),
        (lambda a, b: (a.astype(np.uint8) + b) >> 3, (A, B)),
        (lambda a, b: np.where(a < 0, b, -b) // 3, (A, B.astype(np.int8))),
        (lambda a, b: a + b, (A[::-1, ::2], 2)),
        (lambda a, b: a + b, (2.5, True)),
        (lambda a, b: a & b, (np.array([0, 1, 2, 255], np.uint8).view(np.bool_), True)),
        (lambda a, b: (a, b.T + a), (A, B)),
        (lambda a, b: a[:, None] * b[None, :], (B, A[0])),
        (lambda a, b: a.T / b, (A, B[:, None])),
    ],
    ids=range(10),
)
def test_values_are_the_binarys(function, operands, held):
    plain, kernel = made_twice(function)
    answers = kernel(*operands)
    assert kernel.compilations == 0
    held.set()
    assert kernel.wait(60)
    assert kernel.compilations == 1
    for other in (plain(*operands), kernel(*operands)):
        one, other = (value if isinstance(value, tuple) else (value,) for value in (answers, other))
        assert len(one) == len(other)
        for x, y in zip(one, other, strict=True):
            np.testing.assert_array_equal(x, y, strict=True)
            assert type(x) is type(y)
    assert kernel.compilations == 1


def test_functions_are_within_their_bound(held):
    kernel = jit(lambda x: np.exp(x) * np.tanh(x), background=True)
    got = kernel(A)
    assert got.dtype == np.float32
    exact = np.exp(A.astype(np.float64)).astype(np.float32) * np.tanh(A.astype(np.float64)).astype(np.float32)
    np.testing.assert_array_equal(got, exact)


def test_who_answers_meanwhile_is_logged(held, caplog):
    kernel = jit(lambda a: a * 7, background=True, name="late")
    with caplog.at_level("INFO", "bcastgen"):
        kernel(A), kernel(A)
        held.set()
        kernel.wait()
    # Kernels of other tests may still be in the works.
    told = (record.getMessage() for record in caplog.records if record.name == "bcastgen")
    first, second = [message for message in told if " late " in message]
    assert first == "NumPy answers calls of late while it is compiled"
    assert second.startswith("compiled late (a: f32) in ")


def test_an_answer_is_no_view_of_an_operand(held):
    first, second = jit(lambda x: (x, x.T), background=True)(A)
    first[...] = 7
    second[...] = 8
    assert A[0, 0] == -3


def test_out_is_written_to(held):
    kernel = jit(lambda a, b: a - b, background=True)
    out, wide = np.empty((3, 4), np.float32), np.empty((3, 4))
    assert kernel(A, B, out=out) is out
    assert kernel(A, B, out=wide) is wide
    np.testing.assert_array_equal(out, A - B)
    np.testing.assert_array_equal(wide, A - B)
    # As if operands were read first.
    line = np.arange(6.0)
    kernel(line[:-1], line[1:], out=line[1:])
    np.testing.assert_array_equal(line, [0, -1, -1, -1, -1, -1])
    with pytest.raises(BroadcastError, match=r"result 'r' dim 1 has extent 5, expected 4 \(from 'a'\)"):
        kernel(A, B, out=np.empty((3, 5), np.float32))
    with pytest.raises(DTypeError, match="cannot be cast"):
        kernel(A, B, out=np.empty((3, 4), np.int8))


def error_of(call):
    with pytest.raises((bg.BcastgenError, TypeError, ValueError)) as caught:
        call()
    return type(caught.value), str(caught.value)


@pytest.mark.parametrize(
    ("text", "operands", "kind"),
    [
        ("a + b", (A, np.ones(3)), BroadcastError),
        ("a ** b", (B, -B), DomainError),
        ("(u8[?] a, u8[] b) -> a + b", (np.ones(3, np.uint8), 300), RangeError),
        ("(f32[3, ?] a, i16[n] b) -> a + b", (A[:1], B), BroadcastError),
        ("(f32[?, n] a, i16[n] b) -> a + b", (A[:, :1], B), BroadcastError),
        ("(f64[?, ?] a, i16[?] b) -> a + b", (A, B), DTypeError),
        ("a & b", (A, B), DTypeError),
    ],
)
def test_errors_are_the_binarys(text, operands, kind, held):
    plain, kernel = from_text(text), from_text(text)
    kernel.background = True
    held.set()
    one, other = error_of(lambda: kernel(*operands)), error_of(lambda: plain(*operands))
    assert one == other
    assert one[0] is kind


def test_what_a_signature_asks_is_asked(held):
    kernel = jit(lambda x, w: x * w, signature="(f32[?, 4] x, i16[4] w) -> f32[?, 4]", background=True)
    np.testing.assert_array_equal(kernel(A, B), A * B)
    assert kernel.compilations == 0
    threading.Timer(0.05, held.set).start()
    with pytest.raises(BroadcastError, match="operand 'w' dim 0 has extent 1, expected 4"):
        kernel(A, B[:1])
    assert kernel.compilations == 1


def test_after_a_failure_numpy_answers_until_the_environment_names_another_compiler(held, monkeypatch):
    monkeypatch.setattr(uncompiled, "_warned_of", set())
    build, failing = store.build, [True]

    def fail(*args):
        assert held.wait(60)
        if failing.pop():
            raise CompileError("the C compiler failed")
        return build(*args)

    monkeypatch.setattr(store, "build", fail)
    kernel = jit(lambda a, b: a * b - 1, background=True)
    np.testing.assert_array_equal(kernel(A, B), A * B - 1)
    held.set()
    assert kernel.wait(60)
    with pytest.warns(CompilerWarning, match="the C compiler failed"):
        np.testing.assert_array_equal(kernel(A, B), A * B - 1)
    np.testing.assert_array_equal(kernel(A, B), A * B - 1)
    failing.append(False)
    held.clear()
    monkeypatch.setenv("PATH", os.environ["PATH"] + os.pathsep)
    np.testing.assert_array_equal(kernel(A, B), A * B - 1)
    held.set()
    assert kernel.wait(60)
    np.testing.assert_array_equal(kernel(A, B), A * B - 1)
    assert kernel.compilations == 1


def test_many_threads_start_one_compilation(held):
    kernel = jit(lambda a, b: a * b - 2, background=True)
    begin, answers = threading.Barrier(6), []

    def call():
        begin.wait()
        for _ in range(20):
            answers.append(kernel(A, B))

    threads = [threading.Thread(target=call) for _ in range(6)]
    for thread in threads:
        thread.start()
    held.set()
    for thread in threads:
        thread.join()
    assert kernel.wait(60)
    assert kernel.compilations == 1
    for answer in answers:
        np.testing.assert_array_equal(answer, A * B - 2)


def test_a_kernel_on_disk_is_loaded_at_once(held):
    held.set()
    plain, kernel = made_twice(lambda a, b: a * b - 3)
    plain(A, B)
    kernel(A, B)
    assert kernel.compilations == 0
    assert kernel.wait(0)


def test_result_shapes_and_other_kernels(held):
    kernel = jit(lambda a, b: a * b - 4, background=True)
    outer = jit(lambda x: kernel(x, x) + 1, background=True)
    np.testing.assert_array_equal(outer(B), B * B - 3)
    held.set()
    assert kernel.result_shape((3, 1), (4,)) == (3, 4)


def test_what_numpy_cannot_answer_waits(held):
    """A reference of a user's may take scalars only."""
    held.set()
    halved = define_op("halved_here", "x", c="x / 2")
    kernel = jit(lambda x: halved(x) + 1, background=True)
    np.testing.assert_array_equal(kernel(A), A / 2 + 1)
    assert kernel.compilations == 1


def test_constants_are_used(held):
    text = """
    func.func @shifted(%a: tensor<?x3xf32>) -> tensor<?x3xf32> {
      %0 = "tosa.const"() <{values = dense<[[1.0, 2.0, 3.0]]> : tensor<1x3xf32>}> : () -> tensor<1x3xf32>
      %1 = tosa.add %a, %0 : (tensor<?x3xf32>, tensor<1x3xf32>) -> tensor<?x3xf32>
      return %1 : tensor<?x3xf32>
    }
    """
    kernel = from_mlir(text)
    kernel.background = True
    threading.Timer(0.2, held.set).start()
    np.testing.assert_array_equal(kernel(A[:, :3]), A[:, :3] + np.float32([1, 2, 3]))


def test_it_can_be_switched(held, monkeypatch):
    monkeypatch.setenv("BCASTGEN_BACKGROUND", "1")
    kernel = jit(lambda a: a * 5)
    assert kernel.background
    np.testing.assert_array_equal(kernel(B), B * 5)
    assert not jit(lambda a: a, background=False).background
    monkeypatch.setenv("BCASTGEN_BACKGROUND", "0")
    assert not jit(lambda a: a).background
    held.set()
    kernel.background = False
    assert kernel.compilations == 1


def test_a_job_of_another_process_is_none(monkeypatch, held):
    kernel = jit(lambda a: a * 6, background=True)
    kernel(B)
    monkeypatch.setattr(Job, "process", property(lambda _: 0, lambda *_: None), raising=False)
    assert kernel.wait(0)


PROGRAM = """
import os, sys, numpy as np, bcastgen as bg
kernel = bg.jit(lambda a, b: a * b + 1, background=True)
x = np.arange(4.0)
assert (kernel(x, x) == x * x + 1).all()
if {fork}:
    child = os.fork()
    if child == 0:
        assert (kernel(x, x) == x * x + 1).all() and kernel.wait(60)
        assert (kernel(x, x) == x * x + 1).all() and kernel.compilations <= 1
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
print("done")
"""


@pytest.mark.slow
@pytest.mark.parametrize("fork", [False, True])
def test_a_program_ends_and_forks_while_it_compiles(fork, tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(fork=fork)],
        env={**os.environ, "BCASTGEN_CACHE_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.stdout.strip(), done.stderr) == ("done", "")


@pytest.mark.parametrize("operands", [(np.arange(1, 4), 2), (np.arange(1, 4), -1)])
def test_a_finaliser_in_the_thread_that_compiles_does_not_wait_for_itself(operands, monkeypatch, tmp_path):
    """It calls the kernel that is being made: with what NumPy answers, and with what only the binary can tell."""
    seen, usual, done = [], store.build, threading.Event()

    def call():
        try:
            return kernel(*operands).tolist()
        except DomainError:
            return "refused"

    def build(*args):
        if threading.current_thread() is not threading.main_thread() and not seen:
            seen.append(None)
            seen[0] = call()
            done.set()
        return usual(*args)

    monkeypatch.setenv("BCASTGEN_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(store, "build", build)
    kernel = jit(lambda a, b: a**b + 1234567, background=True)
    wanted = "refused" if operands[1] < 0 else (operands[0] ** operands[1] + 1234567).tolist()
    assert call() == wanted
    assert done.wait(60) and kernel.wait(60)
    assert seen == [wanted] and call() == wanted
