"""The accuracy of complex functions: ``python -m bench.complex_accuracy`` writes the table of docs/complex.md.

In: the rows with a form for complex numbers, this machine's compiler.  Out: the page's table.

    | exp | 3 | 1.62, 1.22 | 1.62, 1.22 | 0.50, 0.50 |

The samples and the true values are those of complex_truth.py; tests/behaviour/test_complex.py holds every function to
its row's bound.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from itertools import product
from pathlib import Path

import numpy as np

import bcastgen
from bcastgen.core.dtypes import C64, C128
from bcastgen.core.progress import Progress
from bcastgen.ops.table import OPS

from .accuracy import _NO_FMA
from .complex_truth import COMPLEX_FUNCTIONS, complex_errors_of, complex_samples

__all__ = ["main", "measured_parts"]

PAGE = Path(__file__).resolve().parent.parent / "docs" / "complex.md"
_START, _END = "<!-- errors: python -m bench.complex_accuracy writes this table -->\n", "<!-- end -->"


def measured_parts(count: int) -> dict[str, list[str]]:
    """Return for each function its largest errors in c128 and c64, by part and by absolute value."""
    found: dict[str, list[str]] = {name: [] for name in COMPLEX_FUNCTIONS}
    samples = {kind: complex_samples(kind, count) for kind in (C128, C64)}
    with Progress("complex accuracy", len(samples) * len(found)) as progress:
        for kind, name in product(samples, found):
            progress.step(f"{name} {kind.name}")
            # Beyond that the product of the angle with log 2 is rounded.
            kept = samples[kind][abs(samples[kind].imag) < 2.0**26] if name == "exp2" else samples[kind]
            by_size, by_part = complex_errors_of(OPS[name], kind, kept, getattr(bcastgen, name)(kept))
            found[name].append(f"{np.max(by_part):.2f}, {np.max(by_size):.2f}")
    return found


def _without_fma(count: int) -> dict[str, list[str]]:
    command = [sys.executable, "-m", "bench.complex_accuracy", "--json", f"--count={count}"]
    environment = os.environ | {"BCASTGEN_CFLAGS": _NO_FMA}
    done = subprocess.run(command, env=environment, cwd=PAGE.parent.parent, check=True, capture_output=True, text=True)
    found: dict[str, list[str]] = json.loads(done.stdout)
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--count", type=int, default=1800, help="samples a function and dtype")
    parser.add_argument("--json", action="store_true", help="print the errors, and write nothing")
    options = parser.parse_args(arguments)
    found = measured_parts(options.count)
    if options.json:
        print(json.dumps(found))
        return 0
    others = _without_fma(options.count) if _NO_FMA else {}
    head = ("function", "bound", "c128, FMA", "c128, no FMA", "c64")
    lines = [f"| {' | '.join(cells)} |" for cells in (head, ("---",) * len(head))]
    for name, (wide, narrow) in found.items():
        form = OPS[name].complex
        bound = f"{form.ulp}{' by absolute value' if form.by_norm else ''}" if form is not None else ""
        lines.append(f"| {name} | {bound} | {wide} | {others.get(name, [''])[0]} | {narrow} |")
    text = PAGE.read_text(encoding="utf-8")
    start, end = text.index(_START) + len(_START), text.index(_END)
    PAGE.write_text(text[:start] + "\n".join(lines) + "\n" + text[end:], encoding="utf-8")
    print(f"wrote {PAGE.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
