"""The table of ops: dtype rules are NumPy's, references and C templates exist for all they allow."""

from __future__ import annotations

import itertools
import re
import subprocess
import sys
from collections.abc import Callable

import numpy as np
import pytest

from bcastgen.core.dtypes import BF16, COMPUTED, F32, F64, I32, WEAK_FLOAT, WEAK_INT, DType, dtype
from bcastgen.core.errors import DTypeError
from bcastgen.core.frozen import replace
from bcastgen.emit.c_text.helpers import helper_text
from bcastgen.ops import table
from bcastgen.ops.table import OPS, find_op, known_ops

ROWS = list(OPS.values())
# NumPy's isnat takes times, the row their numbers.
UFUNCS = [row for row in ROWS if isinstance(getattr(np, row.name, None), np.ufunc) and row.name != "isnat"]
PYTHON_SCALARS = {WEAK_INT: int, WEAK_FLOAT: float}


def allowed(op):
    """Every tuple of operand dtypes a row accepts, with what it makes of them."""
    for kinds in itertools.product(COMPUTED, repeat=op.arity):
        try:
            yield kinds, *op.types(kinds)
        except DTypeError:
            continue


def test_the_issue_s_rows_are_all_there():
    wanted = """add subtract multiply divide floor_divide remainder power negative positive absolute sign sqrt square
        reciprocal exp exp2 expm1 log log2 log10 log1p sin cos tan tanh sinh cosh arcsin arccos arctan arctan2 hypot erf
        sigmoid rsqrt floor ceil trunc rint minimum maximum fmin fmax clip equal not_equal less less_equal greater
        greater_equal logical_and logical_or logical_xor logical_not bitwise_and bitwise_or bitwise_xor bitwise_invert
        left_shift right_shift isnan isinf isfinite signbit copysign where cast"""
    assert set(wanted.split()) <= set(OPS)


@pytest.mark.parametrize("op", UFUNCS, ids=lambda op: op.name)
def test_result_dtypes_are_numpys_for_every_mix_of_dtypes_and_python_scalars(op):
    ufunc = getattr(np, op.name)
    for kinds in itertools.product((*COMPUTED, WEAK_INT, WEAK_FLOAT), repeat=op.arity):
        if not any(isinstance(kind, DType) for kind in kinds):
            continue
        given = tuple(kind.np if isinstance(kind, DType) else PYTHON_SCALARS[kind] for kind in kinds)
        if BF16 in kinds:
            # ml_dtypes makes an f32 of a Python float beside a bf16; here it yields, as NEP 50 has it.
            given = tuple(BF16.np if kind is float else kind for kind in given)
        try:
            expected = ufunc.resolve_dtypes((*given, None))[-1].name
        except TypeError:
            expected = None
        try:
            got = op.types(kinds)[1].numpy
        except DTypeError as error:
            assert op.name in str(error)
            got = None
        assert got == expected, (op.name, *map(str, kinds))


@pytest.mark.parametrize("op", [row for row in ROWS if not row.params], ids=lambda op: op.name)
def test_c_templates_are_complete(op):
    count = 0
    for _, loops, result in allowed(op):
        template = op.c_for(loops, result)
        assert set(re.findall(r"{(\w+)}", template)) <= {str(at) for at in range(op.arity)}
        helpers = set(re.findall(r"\bbcg_\w+", template))
        defined = helper_text(template)
        assert all(f"{name}(" in defined for name in helpers), template
        count += 1
    assert count


def test_reference_of_every_row_evaluates():
    for op in ROWS:
        takes_floats = op.params or any(kinds == (F64,) * op.arity for kinds, *_ in allowed(op))
        values = [np.float64(0.75) if takes_floats else np.int8(3)] * op.arity
        parameters = [F32] if op.params else []
        assert np.asarray(op.evaluate(*values, *parameters)).shape == ()


def test_names_are_unique_and_aliases_find_their_row():
    names = [row.name for row in ROWS]
    assert len(names) == len(set(names))
    dunders = [row.dunder for row in ROWS if row.dunder]
    assert len(dunders) == len(set(dunders))
    assert find_op("asin") is OPS["arcsin"]
    assert find_op("nothing") is None


def test_cast_saturates_and_sends_nan_to_zero():
    evaluate = OPS["cast"].evaluate
    x = np.array([np.nan, np.inf, -np.inf, 300.7, -300.7, 1.9, -1.9])
    assert evaluate(x, dtype("i8")).tolist() == [0, 127, -128, 127, -128, 1, -1]
    assert evaluate(x, dtype("u8")).tolist() == [0, 255, 0, 255, 0, 1, 0]
    assert evaluate(np.array([300, -1]), dtype("u8")).tolist() == [44, 255]


@pytest.mark.parametrize("op", [op for op in OPS.values() if op.demand], ids=lambda op: op.name)
def test_a_demand_is_made_of_operands_that_the_op_has(op):
    for template in op.demand.values():
        assert {int(at) for at in re.findall(r"\{(\d+)\}", template)} <= set(range(op.arity)) != set()


def test_what_is_asked_of_elements_follows_the_template():
    left = replace(OPS["power"], demand={"signed": "{0} != {0} + {1} || {0} > 1"})
    assert OPS["power"].demanded_of((I32, I32)) == (1,) and left.demanded_of((I32, I32)) == (0, 1)
    assert OPS["power"].demanded_of((F32, F32)) == ()


@pytest.mark.parametrize("meanwhile", [lambda: find_op("add"), known_ops], ids=["a name", "all names"])
def test_names_that_are_looked_for_while_a_family_is_imported(
    meanwhile: Callable[[], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a signal's handler does that traces a function."""
    begun = []
    importing = table.import_module

    def interrupted(name: str, package: str) -> object:
        module = importing(name, package)
        if name not in begun:
            begun.append(name)
            meanwhile()
        return module

    monkeypatch.setattr(table, "_rows", table._Rows())
    monkeypatch.setattr(table, "import_module", interrupted)
    assert [find_op(row.name) for row in ROWS] == ROWS
    assert list(OPS.values()) == ROWS
    assert begun


# Runs in a process of its own: each module is imported once. A lock that a module takes while it is imported may be
# held by a thread which waits for that import.
BODIES = """
import _thread, pkgutil, sys

found = []

class Seen(_thread.RLock):
    def __enter__(self):
        frame = sys._getframe(1)
        while frame is not None and type(self).__name__ == "Undivided":
            name = frame.f_globals.get("__name__", "")
            if frame.f_code.co_name == "<module>" and name.startswith("bcastgen"):
                found.append(f"{name}:{frame.f_lineno}")
            frame = frame.f_back
        return super().__enter__()

_thread.RLock = Seen
import bcastgen
for module in pkgutil.walk_packages(bcastgen.__path__, "bcastgen."):
    apart = module.name.split(".")[1] in ("bench", "csrc", "templates", "integrations")
    if not apart and not module.name.endswith("__main__"):
        __import__(module.name)
print(*found, sep="\\n")
"""


def test_no_module_takes_the_lock_of_imports_while_it_is_imported() -> None:
    done = subprocess.run([sys.executable, "-c", BODIES], capture_output=True, text=True, check=False, timeout=300)
    assert (done.stdout.split(), done.stderr) == ([], "")
