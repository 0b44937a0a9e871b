"""Errors: one table of statuses, one sentence each, every exception a BcastgenError."""

from __future__ import annotations

import pickle
import re

import numpy as np
import pytest

from bcastgen.core import errors
from bcastgen.core.resources import csrc_file


def test_statuses_are_pinned_and_unique():
    text = csrc_file("bcg_status.def").read_text()
    every = re.findall(r"^BCG_(?:SHAPE_)?STATUS\((\w+),\s*(\d+)", text, re.MULTILINE)
    rows = re.findall(r"^BCG_STATUS\((\w+),\s*(\d+)", text, re.MULTILINE)
    assert sorted(int(value) for _, value in every) == list(range(len(every)))
    assert len({name for name, _ in every}) == len(every)
    assert [name for name, _ in rows][:6] == ["OK", "RANK", "NEGATIVE", "BROADCAST", "EXTENT", "RESULT"]
    assert errors.statuses() == {int(value): (name, errors.statuses()[int(value)][1]) for name, value in rows}


@pytest.mark.parametrize("value", [value for value in errors.statuses() if value])
def test_every_status_becomes_an_exception_that_names_its_facts(value):
    error = errors.from_status(value, ("left", "right", "r"), 1, 2, 0, 33, 44)
    name, sentence = errors.statuses()[value]
    assert isinstance(error, errors.DomainError if name in ("DOMAIN", "ENDLESS") else errors.BroadcastError)
    for placeholder, shown in {"operand": "right", "dim": "2", "expected": "33", "actual": "44"}.items():
        assert f"{{{placeholder}}}" not in sentence or shown in str(error)
    assert "{" not in str(error)


def test_the_sentence_of_a_mismatch():
    error = errors.broadcast_mismatch("b", 1, 2, 3, "a")
    assert str(error) == "operand 'b' dim 1 has extent 2, expected 1 or 3 (from 'a')"
    assert str(errors.result_rank_mismatch("r", 2, 1)) == "result 'r' has rank 2, expected 1; results do not broadcast"


def test_numpy_s_axis_error_is_pickled_with_its_numbers():
    error = errors.placed(errors.AxisError("sum: axis 2 is out of range", axis=2, ndim=1), "in f(x)")
    copy = pickle.loads(pickle.dumps(error))
    for each in (error, copy):
        assert isinstance(each, IndexError) and str(each) == "sum: axis 2 is out of range, in f(x)"
        assert (each.axis, each.ndim, each.dim, each.sentence) == (2, 1, 2, "sum: axis 2 is out of range")


def test_an_unknown_status_says_what_to_do():
    assert "cache clear" in str(errors.from_status(999, (), -1, -1, -1, 0, 0))


def test_every_exception_derives_from_the_base_and_from_one_of_pythons():
    pythons = {
        "ArgumentError": ValueError,
        "AxisError": np.exceptions.AxisError,
        "BroadcastError": ValueError,
        "DTypeError": TypeError,
        "RangeError": OverflowError,
        "DomainError": ValueError,
        "TraceError": TypeError,
        "ParseError": ValueError,
        "CompileError": RuntimeError,
        "DisabledError": errors.CompileError,
        "RefusedFlagsError": errors.CompileError,
        "CacheError": OSError,
    }
    made = {name for name in errors.__all__ if name.endswith("Error")} - {"BcastgenError"}
    assert made == set(pythons)
    for name, python in pythons.items():
        assert issubclass(getattr(errors, name), (errors.BcastgenError,))
        assert issubclass(getattr(errors, name), python)


@pytest.mark.parametrize(
    "kind", [*errors.BcastgenError.__subclasses__(), errors.AxisError], ids=lambda kind: kind.__name__
)
def test_messages_are_cut_in_their_middle(kind):
    error = errors.placed(kind("begin " + "x " * 10**6 + "end"), "in f()")
    longest = 41_000 if kind is errors.CompileError else 4_000
    assert len(str(error)) < longest and str(error).startswith("begin x") and str(error).endswith("x end, in f()")
    assert "characters are left out" in str(pickle.loads(pickle.dumps(error)))
