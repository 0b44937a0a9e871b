"""The public functions: jit as a decorator, evaluate, from_text, ops as kernels, and what the import costs."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import bcastgen as bg
from bcastgen.ops.table import OPS, known_ops


def test_jit_with_and_without_arguments():
    @bg.jit
    def plain(a):
        return a + 1

    @bg.jit(signature="(f64[?] a)", name="named")
    def decorated(a):
        return a + 1

    assert plain(np.zeros(2)).tolist() == decorated(np.zeros(2)).tolist() == [1, 1]
    assert (plain.__name__, decorated.__name__) == ("plain", "named")
    assert repr(plain) == "<kernel plain(a)>"
    assert "f64[?] a" in repr(decorated)


def test_jit_of_a_ufunc_and_of_a_lambda():
    assert bg.jit(np.hypot)(3.0, np.array([4.0])).tolist() == [5.0]
    assert bg.jit(lambda x: -x)(np.array([1.0])).tolist() == [-1.0]


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda **a: a, "no places and names"),
        (lambda: 1.0, "takes no operands"),
    ],
)
def test_parameters_are_operands(function, message):
    with pytest.raises(bg.TraceError, match=message):
        bg.jit(function)


@pytest.mark.parametrize("options", [{"dynamic": "loose"}, {"math": "loose"}, {"threads": 0}])
def test_options_that_are_not_available_are_refused(options):
    with pytest.raises(bg.BcastgenError, match=r"not available|is unknown|is no number"):
        bg.jit(lambda a: a, **options)


def test_evaluate_takes_names_from_the_caller():
    a, b = np.arange(3.0), np.ones((2, 1))
    np.testing.assert_array_max_ulp(bg.evaluate("a*b + exp(a)"), a * b + np.exp(a), maxulp=2)
    assert np.array_equal(bg.evaluate("a + c", {"a": a, "c": 2}), a + 2)
    assert np.array_equal(bg.evaluate("a * math_scale"), a * math_scale)
    out = np.empty((2, 3))
    assert bg.evaluate("a + b", out=out) is out


math_scale = 3.0


def test_evaluate_says_which_name_has_no_value():
    with pytest.raises(bg.ParseError, match="name 'nowhere' has no value"):
        bg.evaluate("nowhere + 1")


def test_evaluate_keeps_dtypes():
    u, f = np.uint64([2**63]), np.float32([1.5])
    assert bg.evaluate("u + 1").dtype == np.uint64
    assert bg.evaluate("f * 2.5").dtype == np.float32
    assert bg.evaluate("u + 1").tolist() == [2**63 + 1]
    assert (u.dtype, f.dtype) == (np.uint64, np.float32)


def test_from_text_with_a_signature():
    kernel = bg.from_text("(f32[?,?] a, f32[?] b) -> a + b*2", "axpb")
    assert kernel(np.ones((1, 2), np.float32), np.float32([1, 2])).tolist() == [[3, 5]]
    with pytest.raises(bg.ParseError, match="unknown name 'c'"):
        bg.from_text("(f32[?] a) -> a + c")
    with pytest.raises(bg.ParseError, match="computes nothing"):
        bg.from_text("(f32[?] a) -> f32[?]")
    with pytest.raises(bg.ParseError, match="no operands"):
        bg.from_text("1 + 2")


@pytest.mark.parametrize("name", [op.name for op in OPS.values() if not op.params])
def test_every_op_is_a_kernel_that_explains_itself(name):
    kernel = getattr(bg, name)
    assert kernel.__name__ == name
    assert kernel.__doc__ == OPS[name].doc
    assert name in dir(bg)
    assert kernel is getattr(bg, name)


def test_array_api_names():
    assert bg.asin is not bg.arcsin
    assert bg.atan2(1.0, 1.0) == math.pi / 4
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        bg.nothing  # noqa: B018
    with pytest.raises(AttributeError, match="cast"):
        bg.cast  # noqa: B018


def test_no_room_of_the_package_hides_a_public_name():
    rooms = {path.stem for path in Path(bg.__file__).parent.iterdir()}
    assert len(rooms) > 12
    own = [op.name for op in known_ops() if op.definition is None]  # other tests define ops, which users may, too
    assert not rooms & {*bg.__all__, *own}


IMPORTED = """
import numpy, sys
before = set(sys.modules)
import bcastgen as bg
print(*sorted(set(sys.modules) - before))
before = set(sys.modules)
bg.jit(lambda a, b: a * b + numpy.exp(a - b))(numpy.ones(3), numpy.ones((2, 1)))
print(*sorted(set(sys.modules) - before))
"""
# What a call of arrays needs nothing of, if its kernel is on disk: what compiles, other front ends, rare arguments.
NOT_NEEDED = (
    *("cffi", "jinja2", "argparse", "subprocess", "hashlib", "threading", "selectors", "shlex"),
    *("dataclasses", "_cffi_backend", "bcastgen.runtime._ffi"),
    *(f"bcastgen.{room}" for room in ("cli", "emit", "loops", "mlir", "numexpr", "shape", "expr.source")),
    *(f"bcastgen.runtime.{name}" for name in ("slow_path", "outs", "float_errors", "run_compiler", "lock")),
    *(f"bcastgen.runtime.cache.{name}" for name in ("store", "entries", "bound", "upkeep", "transfer")),
    *("bcastgen.expr.reductions", "bcastgen.expr.text", "bcastgen.ops.complex_forms", "bcastgen.kernel.ufunc_call"),
)
# As many modules of the package as are imported; one more costs every process that imports it.
MOST_MODULES = 50
# What the call imports: the rows of its ops, and what ufuncs are.
OF_OPS = {
    *("bcastgen.ops.rows", "bcastgen.ops.rows.arithmetic", "bcastgen.ops.rows.functions", "bcastgen.expr.ufuncs"),
}


def test_nothing_is_imported_before_it_is_needed(tmp_path):
    cache = os.environ | {"BCASTGEN_CACHE_DIR": str(tmp_path)}
    for _ in range(2):
        done = subprocess.run([sys.executable, "-c", IMPORTED], capture_output=True, text=True, check=True, env=cache)
    with_package, with_call = (line.split() for line in done.stdout.splitlines())
    assert not [
        name for name in (*with_package, *with_call) if f"{name}.".startswith(tuple(f"{x}." for x in NOT_NEEDED))
    ]
    assert len([name for name in with_package if name.startswith("bcastgen")]) <= MOST_MODULES
    assert {name for name in with_call if name.startswith("bcastgen")} == OF_OPS


def test_infer_and_verify():
    assert str(bg.infer_broadcast("f32[?, 4]", "tensor<1x4xf32>")) == "f32[?, 4]"
    assert [str(c) for c in bg.verify_broadcast(["f32[?]", "f32[?]"], "f32[4]")][-1].startswith("r.0")
    with pytest.raises(bg.BroadcastError):
        bg.verify_broadcast(["f32[?]", "f32[?]"], "f32[4]", mode="document")


def test_a_signature_may_be_a_list_of_types():
    """Through the API a dim may be trusted, which text may not ask for."""
    trusted = [bg.TensorType(None, (bg.Dim(name, trusted=True),)) for name in "nm"]
    kernel = bg.jit(lambda a, b: a + b, signature=trusted)
    assert (kernel(np.ones(3), np.ones(3)) == 2).all()
    fates = kernel.stages["constraints"]
    assert "b.0 = d0: trusted" in fates
