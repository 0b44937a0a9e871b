"""What typing has to know of how an op was written: noted when it is traced, kept in pickles, dropped by typing."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from bcastgen import from_text, jit, vectorize
from bcastgen.core.dtypes import F64
from bcastgen.expr.infer import infer
from bcastgen.expr.nodes import NO_NOTES, Apply, Notes, topological


def branches(a):
    return 1 if a > 0 else 2


WRITTEN = {
    "called": lambda a: np.add(a, a),
    "method": lambda a: a.conj(),
    "decimals": lambda a: np.round(a, 2),
    "makes_array": lambda a: np.clip(a, None, None),
    "casting": lambda a: a.astype(np.float32, casting="same_kind"),
    "deviation": lambda a: np.var(a, mean=a),
    "mask": lambda a: np.sum(a, where=a > 0),
}


def noted(expression):
    found = [node.notes for node in topological(expression.roots) if isinstance(node, Apply)]
    return [one.given for one in found if one is not NO_NOTES]


@pytest.mark.parametrize("name", WRITTEN)
def test_notes_are_made_shown_and_dropped(name):
    expression = jit(WRITTEN[name]).expression
    assert any(name in given for given in noted(expression))
    assert f"{name}=" in str(expression)
    assert noted(infer(expression, (F64,)).expression) == []


def test_branches_of_scalar_functions_are_noted():
    assert noted(vectorize(branches).expression) == [{"branches": True}]


def test_pickles_keep_them():
    kernel = pickle.loads(pickle.dumps(from_text("a + round(a, 2)")))
    assert noted(kernel.expression) == [{"decimals": 2}]
    assert kernel(np.float64(1.238)) == 1.238 + 1.24


def test_ops_that_are_written_in_two_ways_are_two_nodes():
    kernel = jit(lambda a: (a + a, np.add(a, a)))
    plain, called = kernel.expression.results
    assert plain is not called and (plain.notes, called.notes) == (NO_NOTES, Notes(called=True))


def test_what_is_not_noted_is_not_given():
    assert NO_NOTES.given == {} and Notes(casting="safe", meets=True).given == {"casting": "safe", "meets": True}
