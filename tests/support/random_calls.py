"""Random typed calls of random kernels, asked of the model in plain Python and of everything that the package makes.

In: how many calls, and a seed.  Out: figures, and every class of differences, shrunk; exit status 1 if there is one.

    python tests/support/random_calls.py --count 100000 --seed 7
    python tests/support/random_calls.py --count 100000 --seed 7 --resume run.json   # goes on where it was stopped

The sides are the kernel that the JIT compiles, `result_shape`, the shape program (interpreted, and as C), standalone C
under the address and undefined-behaviour sanitizers, linalg compiled by LLVM (where it is installed), and the answers
that are given before the compiler is done. Each is compared with the model wherever it has an answer: extents, values,
or that the call is refused. What is printed of a difference is a case for `shape_model_cases.py`.
"""

from __future__ import annotations

import argparse
import json
import os
import pickle
import re
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np

import mlir_tools
import shape_agreement
from compile_flags import QUICK
from shape_differences import answers, by_class, difference, drawn, reported
from shape_kernels import arrays, expected
from shape_model import Refusal
from shape_sides import REFUSED, answered, compiled_calls, held, outcome, product

KERNELS, CALLS = 40, 60  # of a batch, which is one module of C
# What linalg refuses ends its process, so that few such calls are made.
REFUSALS = 3


# ---- sides of a batch ------------------------------------------------------------------------------------------------


def shape_programs(kernels, calls, directory):
    """Answers of the kernels' shape programs, compiled as C."""
    functions = [outcome(lambda kernel=kernel: product(kernel).shape_function) for kernel in kernels]
    there = [at for at, made in enumerate(functions) if not isinstance(made, str)]
    library = shape_agreement.Library([functions[at] for at in there], directory, shape_agreement.QUICK)
    found = [[None] * len(ours) for ours in calls]
    for number, at in enumerate(there):
        ranks = [re.match(r"tensor<(\d+)x", str(value.type)) for value in functions[at].operands]
        for which, call in enumerate(calls[at]):
            given = [*call.extents, *((dict(call.given).get(name),) for name in kernels[at].slots)]
            # A program of this type is not called with extents of another rank.
            fits = all(rank is None or int(rank[1]) == len(one) for rank, one in zip(ranks, given, strict=True))
            if not fits or call.strict or len(call.given) < len(kernels[at].slots):
                continue
            ran = library.call(number, given)
            found[at][which] = ran.results if ran.status == "OK" else f"{REFUSED} with {ran.status}"
    return found


def linalg(kernels, calls, directory):
    """Answers of the kernels' linalg, compiled by LLVM, if they have such a form, and for calls of their types."""
    found = [[None] * len(ours) for ours in calls]
    programs = {}
    for at, kernel in enumerate(kernels):
        text = None if kernel.slots else outcome(lambda kernel=kernel: product(kernel).to_mlir("linalg"))
        if text is not None and not text.startswith((REFUSED, "raised")):
            programs[at] = re.sub(r"func\.func @\w+", f"func.func @p{at}", text, count=1)
    if not programs:
        return found
    native = mlir_tools.Native.compile("\n".join(programs.values()), directory / "linalg")
    for at in programs:
        operands = kernels[at].operands
        kernel = product(kernels[at])
        results = [(np.float64, len(type_.dims)) for _, type_ in kernel.compilation.program.results]
        legal, refused = [], []
        for which, call in enumerate(calls[at]):
            if call.strict or not all(_is_of(one.type, own) for one, own in zip(operands, call.extents, strict=True)):
                continue
            is_refused = isinstance(expected(kernels[at], call, sizes_only=True), Refusal)
            (refused if is_refused else legal).append(which)
        work = [(f"p{at}", arrays(calls[at][which]), results) for which in legal]
        for which, answer in zip(legal, _apart(native, work), strict=True):
            found[at][which] = answer
        work = [(f"p{at}", arrays(calls[at][which]), results) for which in refused[:REFUSALS]]
        for which, printed in zip(refused, native.refusals(work) if work else (), strict=False):
            told = f"{REFUSED} by '{printed}'" if printed.endswith("does not hold") else f"returned: {printed}"
            found[at][which] = told.replace("'", "")
    return found


def _is_of(type_, extents):
    """Whether extents are of a type as far as MLIR has it: its rank, and the extents that it knows."""
    if len(type_.dims) != len(extents):
        return False
    known = [1 if dim.flag == "bcast" else dim.extent for dim in type_.dims]
    return all(one is None or one == extent for one, extent in zip(known, extents, strict=True))


def _apart(native, work):
    """Return the results of calls, made in a process of their own, which a wrong assertion would end."""
    with tempfile.TemporaryFile() as kept:
        child = os.fork()
        if child == 0:
            for one in work:
                pickle.dump(tuple(native.call(*one)), kept)
                kept.flush()
            os._exit(0)
        os.waitpid(child, 0)
        kept.seek(0)
        answers_ = []
        while len(answers_) < len(work):
            try:
                answers_.append(pickle.load(kept))
            except EOFError:
                answers_.append("ended its process")
                break
    # Calls after one that ended the process have not been made.
    return answers_ + [None] * (len(work) - len(answers_))


def early(kernels, calls):
    """Every call with the answer that is given before the compiler is done, or None; while nothing is compiled."""
    for kernel, ours in zip(kernels, calls, strict=True):
        for call, answer in zip(ours, answered(kernel, ours), strict=True):
            yield kernel, call, answer


# ---- a run -----------------------------------------------------------------------------------------------------------


def batch(seed, directory, has_linalg):
    """The figures of one batch, and its differences."""
    kernels, calls = drawn(seed, KERNELS, CALLS)
    compiled = compiled_calls(kernels, calls, directory, variants=seed % 2 * 4)
    sides = {"shape program in C": shape_programs(kernels, calls, directory)}
    if has_linalg:
        sides["linalg"] = linalg(kernels, calls, directory)
    figures, differences = Counter(), []
    for at, (kernel, ours) in enumerate(zip(kernels, calls, strict=True)):
        others = [(side, given[at]) for side, given in sides.items()]
        for call, said in zip(ours, answers(kernel, ours, compiled[at], others), strict=True):
            figures["calls"] += 1
            figures["legal"] += not isinstance(expected(kernel, call, sizes_only=True), Refusal)
            figures.update(side for side, answer in said.items() if answer is not None)
            one = difference(kernel, call, said)
            differences += [one] if one else []
    with held():
        for kernel, call, answer in early(kernels, calls):
            figures["background"] += answer is not None
            one = difference(kernel, call, {"background": answer})
            differences += [one] if one else []
    return figures, differences


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=100_000, help="calls, in batches of 2,400")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--resume", type=Path, help="a file that keeps the figures of finished batches")
    parser.add_argument("--patience", type=int, default=80, help="kernels tried to shrink one class")
    parser.add_argument("--examples", type=int, default=1, help="of each class")
    options = parser.parse_args()
    os.environ.setdefault("BCASTGEN_CFLAGS", QUICK)  # The speed of loops is not looked at.
    tools = mlir_tools.missing(mlir_tools.OPT, mlir_tools.RUNNER, mlir_tools.LINKER)
    if tools is not None:
        print(f"without linalg: {tools} is missing", file=sys.stderr)
    state = {"seed": options.seed, "batches": 0, "seconds": 0.0, "figures": {}, "classes": []}
    if options.resume is not None and options.resume.exists():
        state = json.loads(options.resume.read_text())
        assert state["seed"] == options.seed, f"{options.resume} is of seed {state['seed']}"
    while state["figures"].get("calls", 0) < options.count:
        began = time.monotonic()
        with tempfile.TemporaryDirectory() as directory:
            seed = options.seed * 1_000_003 + state["batches"]
            figures, differences = batch(seed, Path(directory), tools is None)
            for same in by_class(differences):
                state["classes"].append(reported(same, Path(directory), options.patience, options.examples))
        figures["differences"] = len(differences)
        state["figures"] = dict(Counter(state["figures"]) + figures)
        state["batches"] += 1
        state["seconds"] += time.monotonic() - began
        if options.resume is not None:
            options.resume.write_text(json.dumps(state))
        print(shown(state), file=sys.stderr, flush=True)
    print(shown(state), *state["classes"], sep="\n\n")
    return bool(state["classes"])


def shown(state):
    """The figures of a run, on one line."""
    figures = {"differences": 0, **state["figures"]}
    sides = ", ".join(f"{name} {count}" for name, count in figures.items() if name not in ("calls", "differences"))
    return f"{figures['calls']} calls in {state['seconds']:.0f} s, {figures['differences']} differences ({sides})"


if __name__ == "__main__":
    sys.exit(main())
