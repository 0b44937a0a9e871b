"""Pythran: the function as NumPy text, compiled ahead of time to a module.

In: a case.  Out: the call of the compiled module's function.

    axpy_f32 -> #pythran export fresh(float32[:], float32[:], float32)
                def fresh(x0, x1, k0): return ((x0 * k0) + x1)
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from functools import cache
from importlib.machinery import ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import FunctionType
from typing import Any

from ..measure import Call, call
from ..spelling import COMPOSED, NoForm, rebound
from ..workloads import Array, Workload
from .numexpr_text import Text
from .peer import Case, Peer

__all__ = ["ROWS", "module_text"]

_FLAGS = ("-O3", "-march=native", "-DUSE_XSIMD", "-w")


def module_text(expression: str, used: tuple[str, ...], types: tuple[str, ...], variables: tuple[str, ...]) -> str:
    """Return the text of a module with one function, ``fresh``, of these types.

    Examples
    --------
    >>> print(module_text("exp(x0)", ("exp",), ("float32[:]",), ("x0",)).splitlines()[3])
        return exp(x0)
    """
    given = ", ".join(variables)
    imports = f"from numpy import {', '.join(used)}\n" if used else ""
    return f"{imports}#pythran export fresh({', '.join(types)})\ndef fresh({given}):\n    return {expression}\n"


def _type(operand: Array) -> str:
    rank = operand.ndim
    name: str = operand.dtype.name
    return name + (f"[{','.join(':' * rank)}]" if rank else "")


@cache
def _compiled(workload: Workload, types: tuple[str, ...], count: int) -> tuple[Any, tuple[Array, ...]]:
    scalars: list[Array] = []
    expression = rebound(workload.function, COMPOSED)(*(Text(f"x{i}", scalars) for i in range(count))).text
    used = tuple(dict.fromkeys(name for name in re.findall(r"([a-z]\w*)\(", expression) if name != "abs"))
    variables = (*(f"x{i}" for i in range(count)), *(f"k{i}" for i in range(len(scalars))))
    text = module_text(expression, used, (*types, *(scalar.dtype.name for scalar in scalars)), variables)
    return _built(f"pythran_{workload.name}", text).fresh, tuple(scalar[()] for scalar in scalars)


def _built(name: str, text: str) -> Any:
    """Compile and import a module, in a folder of its own: the compiler's build takes what stands where it runs."""
    directory = Path(tempfile.mkdtemp(prefix="bcastgen-bench-"))
    (directory / f"{name}.py").write_text(text, encoding="utf-8")
    binary = str(directory / f"{name}.so")
    command = [sys.executable, "-m", "pythran.run", *_FLAGS, f"{name}.py", "-o", binary]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(command, cwd=directory, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise NoForm(f"it does not compile: {done.stderr[-200:]}")
    spec = spec_from_file_location(name, binary, loader=ExtensionFileLoader(name, binary))
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _pythran(case: Case) -> Call | None:
    function = case.workload.function
    assert isinstance(function, FunctionType)
    # Its results are its own; its types have no 16-bit floats, and the text no conversions.
    if case.out is not None or "float16" in case.dtypes or "astype" in function.__code__.co_names:
        return None
    if not all(operand.flags.c_contiguous for operand in case.operands):
        raise NoForm("compiled for C order")
    fresh, scalars = _compiled(case.workload, tuple(map(_type, case.operands)), len(case.operands))
    return call(fresh, (*case.operands, *scalars))


ROWS = (Peer("pythran", "pythran", _pythran, heavy=True),)
