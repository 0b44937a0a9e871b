"""The checks of standalone C are safe for every descriptor: an abstract interpreter (Frama-C's Eva) sees all of them.

In: kernels.  Out: the alarms that it raises, and whether the argument for each holds; exit status 1 if one does not.

    python tests/support/prove_checks.py          ->  axpb: 5 alarms of arithmetic, each proved; 0 others

Ranks, extents, strides, data and null pointers are any. Eva alone proves that every read and write of the checks is in
bounds, and initialised. It does not follow products and quotients, so that it leaves alarms of arithmetic; z3 proves
each of these from the lines of C that guard it, which have to be there. The loops behind the checks are cut off: which
elements they read is what `prove_guards.py` proves.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

import z3

from bcastgen.api.functions import from_text
from bcastgen.emit.standalone import CForm
from c_harness import emit_module

MOST = 2**63 - 1
KERNELS = {
    "axpb": "(f32[?,?] a, f32[?,?] b) -> a + b*2",
    "bias": "(f32[?,?] x, f32[?] b) -> x + b",
}
DRIVER = """
#include "{name}.c"
#include "__fc_builtin.h"

static bcastgen_result any(int64_t *extents, int64_t *strides)
{{
    bcastgen_result array;
    for (int dim = 0; dim < 2; dim++) {{
        extents[dim] = Frama_C_long_interval(INT64_MIN, INT64_MAX);
        strides[dim] = Frama_C_long_interval(INT64_MIN, INT64_MAX);
    }}
    array.rank = Frama_C_interval(INT32_MIN, INT32_MAX);
    array.extents = Frama_C_interval(0, 1) ? extents : NULL;
    array.byte_strides = Frama_C_interval(0, 1) ? strides : NULL;
    array.data = (void *)(uintptr_t)Frama_C_unsigned_long_interval(0, UINT64_MAX);
    return array;
}}

int main(void)
{{
    int64_t extents[3][2], strides[3][2], sized[2];
    bcastgen_diagnostic why = {{0, 0, 0, 0, 0}}, *const told = Frama_C_interval(0, 1) ? &why : NULL;
    const bcastgen_result one = any(extents[0], strides[0]), other = any(extents[1], strides[1]);
    const bcastgen_result r = any(extents[2], strides[2]);
    const bcastgen_array x = bcastgen_operand(&one), y = bcastgen_operand(&other);
    if (Frama_C_interval(0, 1)) return (int){name}_shape(&x, &y, sized, told);
    return (int){name}(&x, &y, &r, told);
}}
"""
LOOPS = re.compile(r"\n    for \(int64_t i0 = 0;.*?\n    \}\n(?=    return BCASTGEN_OK;\n\})", re.DOTALL)
ALARM = re.compile(r"^\[eva:alarm\] (\S+):(\d+): Warning:(.*?)(?=^\[|\Z)", re.DOTALL | re.MULTILINE)

# ---- arguments -------------------------------------------------------------------------------------------------------


def _bytes_fit():
    """`bytes > PTRDIFF_MAX / extents[dim]` is false, and the extent is neither 0 nor negative."""
    size, extent, quotient = z3.Ints("size extent quotient")
    divided = [quotient * extent <= MOST, quotient * extent + extent > MOST]
    return [size >= 0, extent >= 1, *divided, size <= quotient], size * extent <= MOST


def _steps_are_some():
    """The extent is not 1, so that one less is not 0 in 64 bits."""
    extent = z3.BitVec("extent", 64)
    return [extent != 1], extent - 1 != 0


def _checked_arrays():
    """Two dims of an array that check_data has accepted: its steps took room from PTRDIFF_MAX less an element."""
    size, *numbers = z3.Ints("size n0 s0 n1 s1 q0 q1")
    n0, s0, n1, s1, q0, q1 = numbers
    room, left = MOST - size, MOST - size - n0 * s0
    given = [size >= 1, n0 >= 1, s0 >= 0, n1 >= 1, s1 >= 0]
    given += [q0 * n0 <= room, q0 * n0 + n0 > room, s0 <= q0, q1 * n1 <= left, q1 * n1 + n1 > left, s1 <= q1]
    return given, (size, n0, s0, n1, s1)


def _product_fits():
    given, (_, n0, s0, n1, s1) = _checked_arrays()
    return given, z3.And(n0 * s0 <= MOST, n1 * s1 <= MOST, n0 * s0 >= -MOST, n1 * s1 >= -MOST)


def _sum_fits():
    given, (size, n0, s0, n1, s1) = _checked_arrays()
    return given, size + n0 * s0 + n1 * s1 <= MOST


# The alarms that are left, as Eva says them: why each cannot come true, and the line of C which that leans on.
ACCEPTED = "if (status == BCASTGEN_OK) status = {name}_check_distinct("
PRODUCT = r"(int64_t)(*(result->extents + other) - 1) * (int64_t)step"
ARGUMENTS = (
    (
        f"signed overflow. assert bytes * *(extents + dim) ≤ {MOST};",
        _bytes_fit,
        "bytes = bytes < 0 || bytes > PTRDIFF_MAX / extents[dim] ? -1 : bytes * extents[dim];",
    ),
    ("division by zero. assert steps ≢ 0;", _steps_are_some, "if (extent == 1) continue;"),
    (f"signed overflow. assert {PRODUCT} ≤ {MOST};", _product_fits, ACCEPTED),
    (f"signed overflow. assert -{MOST + 1} ≤ {PRODUCT};", _product_fits, ACCEPTED),
    (f"signed overflow. assert reach + (int64_t)({PRODUCT}) ≤ {MOST};", _sum_fits, ACCEPTED),
)


def proved(argument):
    """Whether no numbers contradict an argument; None if the solver does not know."""
    given, so = argument()
    solver = z3.Solver()
    solver.set("timeout", 60_000)
    solver.add(*given, z3.Not(so))
    return {"unsat": True, "sat": False}.get(str(solver.check()))


# ---- alarms ----------------------------------------------------------------------------------------------------------


def checks(name):
    """The C of a kernel's checks, by file: its loops are cut off."""
    (kernel,) = emit_module([from_text(KERNELS[name], name)], name, CForm(0, single_file=True))
    text, cut = LOOPS.subn("\n", kernel.text)
    assert cut == 1, "the loops have another form"
    return kernel.files | {f"{name}.c": text}


def alarms(name, files, directory):
    """What Eva leaves open, each as one line."""
    for path, text in files.items():
        (Path(directory) / path).write_text(text)
    (Path(directory) / "driver.c").write_text(DRIVER.format(name=name))
    # Whether arrays are apart is a search, of which only the bounds matter: its numbers need not be told apart.
    levels = f"{name}_apart:0,{name}_next_stride:30"
    options = ["-eva-precision", "6", "-eva-slevel", "5000", "-eva-slevel-function", levels, "-machdep", "gcc_x86_64"]
    done = subprocess.run(
        ["frama-c", "-eva", *options, str(Path(directory) / "driver.c")],
        cwd=directory,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0 and "100% of the logical properties reached" in done.stdout, done.stdout + done.stderr
    return [" ".join(found[3].split()) for found in ALARM.finditer(done.stdout)]


def argued(name, text, alarm):
    """Whether an alarm has an argument, the C that it leans on is there, and the solver finds it right."""
    for said, argument, line in ARGUMENTS:
        if said == alarm:
            return line.format(name=name) in text and proved(argument) is True
    return False


def main():
    wrong = 0
    for name in KERNELS:
        files = checks(name)
        with tempfile.TemporaryDirectory() as directory:
            found = alarms(name, files, directory)
        open_ = [alarm for alarm in found if not argued(name, files[f"{name}.c"], alarm)]
        print(
            f"{name}: {len(found) - len(open_)} alarms of arithmetic, each proved; {len(open_)} others",
            *open_,
            sep="\n  ",
        )
        wrong += len(open_)
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
