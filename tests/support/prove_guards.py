"""The solver's run: shows for random kernels that their guards are what their constraints ask, for all extents.

In: how many kernels, and a seed.  Out: figures: how many emissions were proved, for how many combinations of ranks, how
long that took, and each that was not, with its reason; exit status 1 if there is one.

    python tests/support/prove_guards.py --count 1000 --seed 7

Kernels are those of the tests: of known and of unknown rank, with names, facts, views, targets by name and several
results. Whatever the solver gives up on after its time is listed as unknown.
"""

from __future__ import annotations

import argparse
import random
import sys
import time

import bcastgen as bg
from shape_kernels import make_kernel
from shape_sides import product
from symbolic_proofs import TIMEOUT_MS, hold, is_guarded, ranks_of

RANKS = 3


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=200, help="kernels")
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args(arguments)
    chance, start = random.Random(asked.seed), time.perf_counter()
    proved = combinations = trusted = refused = 0
    failed = []
    while proved + trusted + len(failed) < asked.count:
        kernel = make_kernel(chance)
        try:
            program = product(kernel).declared_compilation.program
        except bg.BcastgenError:
            refused += 1  # By its types, or its views need ranks.
            continue
        if not is_guarded(program):
            trusted += 1
            continue
        try:
            for ranks in ranks_of(program, RANKS):
                hold(program, ranks)
                combinations += 1
            proved += 1
        except AssertionError as error:
            what = "unknown" if "gave up" in str(error) else "wrong"
            failed.append(f"{what}: {kernel}\n{error}")
    seconds = time.perf_counter() - start
    print(
        f"{proved} of {proved + len(failed)} emissions proved, for {combinations} combinations of ranks, in "
        f"{seconds:.0f} s; {len(failed)} not proved, at most {TIMEOUT_MS / 1000:g} s a question; {trusted} trusted, "
        f"{refused} refused by their types"
    )
    print("\n\n".join(failed))
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
