"""Imports the modules that first calls import in the caller's thread, for programs that have signal handlers.

In: nothing.  Out: these modules, completely imported; :func:`~..core.forks.import_before_handlers` imports this one.

    import bcastgen.kernel.first_calls

A signal handler may strike while a first call is importing; if the handler makes a first call, too, it would find a
module that is half imported. So where there are handlers, a thread of its own imports these modules before, in some ten
milliseconds; elsewhere each is imported when it is needed.
The stages that write C, which import the rest, run apart in any case.
"""

from __future__ import annotations

import importlib

from ..ops.table import FAMILIES

# What is imported inside functions on the way of a first call, from what a kernel is made of to the binary that is
# found or built; tests/kernel/test_first_calls.py lets a handler strike in each module that first calls import.
_MODULES = """
.expr.reductions .expr.compositions .expr.text .kernel.caller_extents .shape.types.tensor_type .core.operand_names
.expr.folding .expr.ufuncs .ops.complex_forms .api.op_kernels .api.specialized .api.reductions
.runtime.cache.store .kernel.uncompiled .kernel.added_loops atexit shlex shutil tempfile
""".split()

for _name in (*_MODULES, *(f".ops.{module}" for module, *_ in FAMILIES)):
    importlib.import_module(_name, __name__.partition(".")[0])
