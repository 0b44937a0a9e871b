"""A function keeps its code and its constants, whatever ``np`` means."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bcastgen.core.resources import bench_module

spelling = bench_module("spelling")
HALF = np.float32(0.5)


def plain(x):
    return np.sin(x.real) * HALF


def enclosing():
    two = np.float32(2)
    return lambda x: np.sqrt(x) * two


def test_names_are_those_taken_from_np():
    assert spelling.names(plain) == ("sin",)
    assert spelling.names(lambda a, b: np.where(a, np.exp(b), np.exp(a))) == ("where", "exp")
    assert spelling.names(lambda a: a.astype(int)) == ()


def test_np_is_another_namespace_and_constants_are_converted():
    assert spelling.rebound(plain, math)(0.0) == 0.0
    assert type(spelling.rebound(plain, math, float)(1.0)) is float
    assert spelling.rebound(enclosing(), math, float)(4.0) == 4.0


def test_each_has_a_code_object_of_its_own():
    first, second = spelling.rebound(plain, math), spelling.rebound(plain, math)
    assert first.__code__ is not second.__code__


def test_a_name_that_a_namespace_lacks_is_no_form():
    namespace = spelling.Namespace(math, extra=abs)
    assert namespace.extra(-1) == 1
    with pytest.raises(spelling.NoForm, match="math has no arctanh_of"):
        spelling.rebound(lambda x: np.arctanh_of(x), namespace)
