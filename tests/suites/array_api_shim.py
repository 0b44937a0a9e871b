"""The namespace that the array API's test suite runs on: NumPy's, with bcastgen's kernels for element-wise functions.

In: the environment variable BCASTGEN_SUITES, "peer" for NumPy alone.  Out: names of the array API standard.

    ARRAY_API_TESTS_MODULE=array_api_shim python -m pytest array_api_tests/test_special_cases.py

Arrays are NumPy's, and so are their operators. A function that bcastgen does not have raises NotImplementedError.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np

import bcastgen as bg
from bcastgen.ops.table import find_op

# The standard's element-wise functions that are no ufuncs in NumPy.
OTHERS = ("clip", "where", "round", "real", "imag", "conj")


def _missing(name: str) -> Callable[..., Any]:
    def function(*_args: Any, **_options: Any) -> Any:
        raise NotImplementedError(f"bcastgen has no op {name}")

    function.__name__ = name
    return function


globals().update({name: getattr(np, name) for name in dir(np) if not name.startswith("_")})
__version__ = np.__version__
__array_namespace_info__ = np.__array_namespace_info__

if os.environ.get("BCASTGEN_SUITES") != "peer":
    for _name in dir(np):
        _function = getattr(np, _name)
        if (isinstance(_function, np.ufunc) and _function.signature is None) or _name in OTHERS:
            globals()[_name] = _missing(_name) if find_op(_name) is None else getattr(bg, _name)
