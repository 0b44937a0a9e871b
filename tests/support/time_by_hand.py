"""Times emitted C beside the same written by hand (`tests/cases/*.hand.c`), both with their checks.

In: nothing, or names of kernels.  Out: a table: nanoseconds a call of both, in turn, and by how much the emitted C is
faster (below 1: slower), at a thousand and at a million points.

    .venv/bin/python tests/support/time_by_hand.py axpb_plain bias_relu --flags=-O2

Emitted C is as users get it: with the loops that bcastgen chooses (no `--variants`). One program times both, so many
rounds in turn, and keeps the least of each: noise of a busy machine lengthens a round, never all of them.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from bcastgen.api.functions import from_text
from bcastgen.core.c_flags import LIBRARIES
from bcastgen.emit.standalone import CForm
from c_harness import emit_module
from compile_flags import LANGUAGES, NATIVE, RESULTS, USERS

CASES = Path(__file__).parents[1] / "cases"
POINTS = 1 << 10, 1 << 20


def layouts(name, n):
    """By label: the extents of dense operands, then the result, of about n points."""
    side = int(n**0.5)
    rows = {c: n // c for c in (3, 4, 8, 64)}
    match name:
        case "axpb_plain":
            return {
                "dense": ((side, side), (side, side), (side, side)),
                "(N/4, 4)": ((rows[4], 4), (rows[4], 4), (rows[4], 4)),
                "row": ((side, side), (1, side), (side, side)),
                "outer": ((side, 1), (1, side), (side, side)),
            }
        case "blend_plain":
            return {"dense": ((n,), (n,), (n,), (n,))}
        case "integer_power_plain":
            return {"dense": ((n,), (n,), (n,))}
        case "transposed_plain":
            return {"square": ((side, side), (side, side), (side, side))}
        case "extent_of_the_caller_plain":
            return {
                "(N/4, 4)": ((rows[4],), (4,), (rows[4], 4)),
                "(N/64, 64)": ((rows[64],), (64,), (rows[64], 64)),
            }
        case "softsign_3d_plain":
            return {"(N/64, 4, 16)": ((rows[64], 4, 16), (1, 4, 1), (rows[64], 4, 16))}
        case "bias_relu":
            return {
                "(N/3, 3)": ((rows[3], 3), (3,), (rows[3], 3)),
                "(N/64, 64)": ((rows[64], 64), (64,), (rows[64], 64)),
            }
        case "normalise":
            return {
                "(N/8, 8)": ((rows[8], 8), (rows[8], 1), (rows[8], 8)),
                "square": ((side, side), (side, 1), (side, side)),
            }
        case "unswitched_mask":
            return {"(N/64, 64)": ((rows[64], 1), (rows[64], 64), (rows[64], 64), (rows[64], 64))}
    return {"(N/3, 3)": ((rows[3], 3), (3,), (3,), (rows[3], 3))}


def program(name, kernel, arrays, points):
    """The C of a program that calls both for these arrays, and prints the least nanoseconds of each."""
    kinds = (*kernel.operands, *kernel.results)
    described, given, types = [], [], []
    for at, (extents, kind) in enumerate(zip(arrays, kinds, strict=True)):
        count = 1
        for extent in extents:
            count *= extent
        is_result = at >= len(kernel.operands)
        if at in kernel.extents:
            given.append(str(extents[0]))
            types.append("int64_t")
            continue
        listed = ", ".join(map(str, extents))
        described.append(
            f"    static const int64_t extents{at}[] = {{{listed}}};\n"
            f"    int64_t strides{at}[{len(extents)}];\n"
            f"    void *const data{at} = filled({count}, {kind.bytes}, {int(kind.kind == 'float')});\n"
            f"    const bcastgen_{'result' if is_result else 'array'} a{at} = "
            f"bcastgen_dense{'_result' * is_result}(data{at}, extents{at}, {len(extents)}, strides{at}, "
            f"{kind.bytes});\n"
        )
        given.append(f"&a{at}")
        types.append(f"const bcastgen_{'result' if is_result else 'array'} *")
    calls = max(1, 20_000 // points)
    return f"""#define _POSIX_C_SOURCE 199309L
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "{name}.h"

bcastgen_status by_hand({", ".join(types)}, bcastgen_diagnostic *);

static void *filled(size_t count, size_t bytes, int is_float)
{{
    void *const data = aligned_alloc(64, (count * bytes + 63) / 64 * 64);
    for (size_t i = 0; i < count; i++) {{
        if (is_float) ((float *)data)[i] = (float)(i % 97) / 7;
        else if (bytes == 4) ((int32_t *)data)[i] = (int32_t)(i % 13 + 1);
        else ((uint8_t *)data)[i] = (uint8_t)(i % 5);
    }}
    return data;
}}

static double now(void)
{{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}}

int main(void)
{{
{"".join(described)}    double least[2] = {{1e300, 1e300}};
    for (int round = 0; round < {400 if points < 10_000 else 60}; round++) {{
        for (int which = 0; which < 2; which++) {{
            const double before = now();
            for (int call = 0; call < {calls}; call++) {{
                if ((which ? by_hand : {name})({", ".join(given)}, NULL) != BCASTGEN_OK) return 1;
            }}
            const double took = (now() - before) / {calls};
            if (took < least[which]) least[which] = took;
        }}
    }}
    printf("%f %f\\n", least[0], least[1]);
    return 0;
}}
"""


def times(name, directory, compiler, flags):
    """For each layout and number of points: nanoseconds of the emitted C, and of that by hand."""
    source = (CASES / f"{name}.case").read_text().splitlines()[0].removeprefix("program ")
    (emitted,) = emit_module([from_text(source, name)], name, CForm())
    for file, text in emitted.files.items():
        (directory / file).write_text(text)
    both = [compiler, *LANGUAGES["c"], *flags, f"-I{directory}"]
    run(*both, "-c", directory / f"{name}.c", "-o", directory / "emitted.o")
    renamed = [f"-D{name}=by_hand", f"-D{name}_shape=by_hand_shape", f"-D{name}_message=by_hand_message"]
    run(*both, f"-I{CASES}", *renamed, "-c", CASES / f"{name}.hand.c", "-o", directory / "hand.o")
    for label in layouts(name, POINTS[0]):
        found = []
        for points in POINTS:
            (directory / "times.c").write_text(program(name, emitted, layouts(name, points)[label], points))
            objects = [directory / "emitted.o", directory / "hand.o"]
            run(*both, directory / "times.c", *objects, "-o", directory / "times", *LIBRARIES)
            found.append(tuple(map(float, run(directory / "times").split())))
        yield label, found


def run(*command):
    return subprocess.run(tuple(map(str, command)), capture_output=True, text=True, check=True).stdout


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="kernels of tests/cases; all that are written by hand by default")
    parser.add_argument("--compiler", default="gcc")
    parser.add_argument("--flags", help="other flags than those of the build files and this machine's instructions")
    options = parser.parse_args(arguments)
    names = options.names or sorted(path.name.removesuffix(".hand.c") for path in CASES.glob("*.hand.c"))
    flags = (*USERS, *NATIVE[:1]) if options.flags is None else (*options.flags.split(), *RESULTS)
    print(f"{options.compiler} {' '.join(flags)}\n{'':44}{'1k: emitted, by hand':>24}{'1M: emitted, by hand':>32}")
    for name in names:
        with tempfile.TemporaryDirectory() as directory:
            for label, found in times(name, Path(directory), options.compiler, flags):
                cells = "".join(f"{a:12.0f} {b:12.0f} {b / a:6.2f}" for a, b in found)
                print(f"{name:28} {label:14}{cells}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
