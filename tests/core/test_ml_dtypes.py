"""Messages where the package ml_dtypes is missing or too old."""

import sys
import types

import pytest

from bcastgen.core.dtypes import dtype
from bcastgen.core.errors import DTypeError


def test_a_missing_package_is_named_with_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "ml_dtypes", None)
    with pytest.raises(DTypeError, match=r"arrays of f8e5m2 need the package ml_dtypes.*pip install"):
        assert dtype("f8e5m2").np


def test_an_old_package_is_named_with_what_it_lacks(monkeypatch):
    monkeypatch.setitem(sys.modules, "ml_dtypes", types.ModuleType("ml_dtypes"))
    with pytest.raises(DTypeError, match=r"arrays of i2 need a package ml_dtypes that has int2: pip install --upgrade"):
        assert dtype("i2").np
