"""Without a compiler, or with one that fails, calls are answered by NumPy: right, and with one warning."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import warnings

import numpy as np
import pytest

import bcastgen as bg
from bcastgen.kernel import uncompiled

PROGRAM = """
import warnings
import numpy as np
import bcastgen as bg

def outcome(call):
    try:
        return call()
    except Exception as error:
        return type(error).__name__, str(error)

x, n = np.arange(6.0).reshape(2, 3), np.arange(3)
axpb = bg.jit(lambda a, b: a * b + 1)
scale = bg.jit(lambda x, g: x * g, signature="(f32[?, 4] x, f32[4] g) -> f32[?, 4]")
fours = bg.jit(lambda a, b: a + b, signature="(f32[*] a, f32[*] b) -> f32[*, 4]")
rows, out = np.ones((1, 4), "f4"), np.empty((2, 3))
calls = [
    lambda: axpb(x, x[0]).tolist(),
    lambda: axpb(x, 2).tolist(),
    lambda: (axpb(x, x, out=out) is out, out.tolist()),
    lambda: axpb(x, np.ones(4)),
    lambda: scale(rows, rows[0]).tolist(),
    lambda: scale(rows, rows[0, :3]),
    lambda: fours(rows, rows[0]).tolist(),
    lambda: fours(np.ones((2, 3, 5), "f4"), rows[:, :1]),
    lambda: bg.power(n, -n),
    lambda: bg.power(n, n).tolist(),
    lambda: bg.add(np.uint8(1), 300),
    lambda: bg.evaluate("where(n > 1, n, -n)").tolist(),
    lambda: bg.evaluate("n + m", {"n": n, "m": np.ones((2, 1), "i4")}).dtype.name,
    lambda: axpb(bg.strict(x[:1]), x),
]
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    for call in calls:
        print(outcome(call))
print([type(w.message).__name__ for w in told], axpb.background)
"""
WITHOUT_EXTENSION = 'import sys\nsys.modules["bcastgen._dispatch"] = None\n'


def printed(program, cache, **variables):
    environment = {**os.environ, "BCASTGEN_CACHE_DIR": str(cache), **variables}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment, check=True)
    *lines, told = done.stdout.splitlines()
    return lines, told


@pytest.mark.parametrize("path", ["extension", "cffi"])
@pytest.mark.parametrize("compiler", ["/nonexistent/cc", "/bin/false"])
def test_calls_end_as_with_a_compiler(path, compiler, tmp_path):
    program = PROGRAM if path == "extension" else WITHOUT_EXTENSION + PROGRAM
    wanted, silent = printed(PROGRAM, tmp_path / "with")
    found, told = printed(program, tmp_path / "without", BCASTGEN_CC=compiler)
    assert found == wanted
    assert silent == "[] False" and told == "['CompilerWarning'] False"


@pytest.fixture
def untold(monkeypatch, tmp_path):
    monkeypatch.setattr(uncompiled, "_warned_of", set())
    monkeypatch.setenv("BCASTGEN_CACHE_DIR", str(tmp_path / "kernels"))


def test_the_warning_has_the_compilers_words_and_stands_at_the_call(monkeypatch, untold, tmp_path):
    monkeypatch.setenv("BCASTGEN_CFLAGS", "-no-such-flag")
    with pytest.warns(
        bg.CompilerWarning, match=r"kernel 'bump' .*NumPy computes(.|\n)*-no-such-flag(.|\n)*unrec"
    ) as told:
        assert bg.jit(lambda a: a + 1, name="bump")(np.ones(2)).tolist() == [2, 2]
    assert not list(tmp_path.rglob("kernel.so"))
    assert [warning.filename for warning in told] == [__file__]


def test_the_warning_of_numexprs_module_stands_at_the_call_too(monkeypatch, untold):
    monkeypatch.setenv("BCASTGEN_CC", "/nonexistent/cc")
    with pytest.warns(bg.CompilerWarning) as told:
        assert bg.numexpr.evaluate("a * 2 + 1", {"a": np.ones(2)}).tolist() == [3, 3]
    assert [warning.filename for warning in told] == [__file__]


@pytest.mark.parametrize("reduces", [False, True])
def test_a_first_call_that_converts_its_operands_is_answered_too(reduces, monkeypatch, untold):
    monkeypatch.setenv("BCASTGEN_CC", "/nonexistent/cc")
    function, wanted = (lambda a, b: (a * b).sum(axis=0), 12) if reduces else (lambda a, b: a * b, [2, 4, 6])
    for given in ({}, {"out": np.zeros(() if reduces else 3)}, {"order": "F"}):
        kernel = bg.jit(function, name=f"first{len(given)}")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", bg.CompilerWarning)
            assert np.asarray(kernel([1, 2, 3], 2, **given)).tolist() == wanted
        assert kernel.compilations == 0


def test_a_later_call_is_compiled_where_the_environment_names_another_compiler(monkeypatch, untold):
    kernel = bg.jit(lambda a: a + 1)
    monkeypatch.setenv("BCASTGEN_CC", "/nonexistent/cc")
    with pytest.warns(bg.CompilerWarning, match="/nonexistent/cc"):
        assert kernel(np.ones(2)).tolist() == [2, 2]
    assert kernel(np.ones(2)).tolist() == [2, 2] and kernel.compilations == 0
    monkeypatch.delenv("BCASTGEN_CC")
    assert kernel(np.ones(2)).tolist() == [2, 2] and kernel.compilations == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert kernel(np.ones(3)).tolist() == [2, 2, 2] and kernel.compilations == 1


def test_background_kernels_are_answered_likewise(monkeypatch, untold):
    monkeypatch.setenv("BCASTGEN_CC", "/nonexistent/cc")
    kernel = bg.jit(lambda a: a + 1, background=True)
    with pytest.warns(bg.CompilerWarning):
        for _ in range(3):
            assert kernel(np.ones(2)).tolist() == [2, 2] and kernel.wait(60)
    assert kernel.background


def test_where_the_warning_is_an_error_it_is_raised(monkeypatch, untold):
    monkeypatch.setenv("BCASTGEN_CC", "/nonexistent/cc")
    with warnings.catch_warnings():
        warnings.simplefilter("error", bg.CompilerWarning)
        with pytest.raises(bg.CompilerWarning):
            bg.jit(lambda a: a + 1)(np.ones(2))


def test_flags_that_would_change_results_are_an_error(monkeypatch, untold):
    monkeypatch.setenv("BCASTGEN_CFLAGS", "-ffast-math")
    with pytest.raises(bg.CompileError, match="-ffast-math, which is refused"):
        bg.jit(lambda a: a + 1)(np.ones(2))


def test_what_numpy_cannot_compute_is_an_error(monkeypatch, untold):
    twice = bg.define_op("twice_uncompiled", "a", c="a + a")
    monkeypatch.setenv("BCASTGEN_CC", "/nonexistent/cc")
    with pytest.raises(bg.CompileError, match="/nonexistent/cc"):
        twice(np.ones(2))


def test_where_compiling_is_turned_off_numpy_computes_without_a_word(monkeypatch, untold, tmp_path):
    monkeypatch.setenv("BCASTGEN_DISABLE", "1")
    kernel = bg.jit(lambda a: np.exp(a) + 1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert kernel(np.zeros(2)).tolist() == [2, 2] and kernel.compilations == 0
    own = bg.define_op("thrice_off", "a", c="a + a + a")
    with pytest.raises(bg.CompileError, match=r"kernel .thrice_off. is not compiled, since BCASTGEN_DISABLE is set"):
        own(np.ones(2))
    assert not list(tmp_path.rglob("kernel.so"))
    monkeypatch.setenv("BCASTGEN_DISABLE", "0")
    assert kernel(np.zeros(2)).tolist() == [2, 2] and kernel.compilations == 1
    assert own(np.ones(2)).tolist() == [3, 3]


@pytest.mark.parametrize("name", "sum prod min max any all argmin argmax nansum nanmax nanvar ptp".split())
def test_values_without_dims_have_an_axis_without_a_compiler_too(name, monkeypatch):
    wanted = getattr(bg, name)(np.float64(2), axis=0)
    monkeypatch.setenv("BCASTGEN_DISABLE", "1")
    assert getattr(bg, name)(np.float64(2), axis=0) == wanted == getattr(bg, name)(np.float64(2), axis=-1)


def test_masks_of_what_asks_its_elements_need_no_compiler(monkeypatch):
    @bg.vectorize(max_iterations=3)
    def halved(x):
        while x > 1:
            x = x / 2
        return x

    x = np.array([[1, 2, 3], [4, 5, 6]])
    odd = x % 2 == 1
    both = bg.jit(lambda a, b: (a**b, a + b), name="both")
    asked = (
        lambda: bg.power(x, x, where=odd),
        lambda: bg.power(2, [-1, 3], where=[False, True]),
        lambda: bg.power(x, -x, where=x > 9),
        lambda: bg.evaluate("X**Y", {"X": x, "Y": x}, where=odd),
        lambda: bg.jit(lambda x: x ** x.max(axis=0) + 7)(x % 3, where=odd),
        lambda: halved(x * 1.0, where=x < 9, out=np.full(x.shape, -1.0)),
        lambda: np.stack(both(x, x, where=odd)),
    )
    wanted = [one() for one in asked]
    monkeypatch.setenv("BCASTGEN_DISABLE", "1")
    for one, right in zip(asked, wanted, strict=True):
        np.testing.assert_array_equal(one(), right)
    for refused in (lambda: bg.power(x, -x, where=odd), lambda: halved(x * 100.0, where=odd)):
        with pytest.raises(bg.DomainError):
            refused()


def test_what_is_compiled_and_found_is_logged(untold, caplog):
    with caplog.at_level("INFO", "bcastgen"):
        bg.jit(lambda a: a * 5 + 1, name="logged")(np.ones(2))
        bg.jit(lambda a: a * 5 + 1, name="logged")(np.ones(2))
    told = (record.getMessage() for record in caplog.records if record.name == "bcastgen")
    compiled, found = [message for message in told if " logged " in message]
    assert compiled.startswith("compiled logged (a: f64) in ") and found.startswith("found on disk logged (a: f64): ")
    assert compiled.rpartition(" ")[2] == found.rpartition(" ")[2]


def test_a_program_that_makes_no_calls_is_told_nothing(tmp_path):
    program = textwrap.dedent("""
        import bcastgen as bg
        print(bg.from_text("(f32[n] a, f32[n] b) -> a + b").result_shape((3,), (3,)))
        print("none")
    """)
    assert printed(program, tmp_path, BCASTGEN_CC="/bin/false", PYTHONWARNINGS="error") == (["(3,)"], "none")
