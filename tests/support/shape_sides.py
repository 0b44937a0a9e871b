"""The product's answers for the shape model's kernels, side by side, in one form.

In: kernels and calls of `shape_kernels`.  Out: an answer of each side for each call: a tuple of arrays (values are
compared, too), a tuple of extents, or a text: "refused ...", or what went wrong. None: this side has nothing to say.

    sides = Sides(kernel)
    sides.called(call); sides.sized(call); sides.inferred(call)
    compiled_calls([kernels], [calls of each], directory)     # standalone C, under sanitizers
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
import threading
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

import bcastgen as bg
from bcastgen.core.c_flags import LIBRARIES
from bcastgen.kernel import background as background_module
from bcastgen.runtime.cache import store
from compile_flags import CONTRACT, LANGUAGES, QUICK
from shape_kernels import arrays, blanks
from shape_model_kernel import listed, text_of

HERE = Path(__file__).parent
REFUSED = "refused"
# Kernels whose views need ranks have no form of their own until they are called.
NEEDS_RANKS = "needs operands of known rank"


def product(kernel):
    """The bcastgen kernel of a model's."""
    options = {
        "dynamic": "strict" if kernel.strict else "numpy",
        "stretch": kernel.stretch,
        "rank_expansion": kernel.rank_expansion,
    }
    types = f"({', '.join(map(str, kernel.operands))})"
    if kernel.declared is None:
        body = listed(text_of(result) for result in kernel.results)
        return bg.from_text(f"{types} -> {body}", "kernel", **options)
    body = listed(text_of(result, quoted=True) for result in kernel.results)
    names = ", ".join(operand.name for operand in kernel.operands)
    function = eval(f"lambda {names}: {body}", {"bg": bg, "np": np})
    return bg.jit(function, signature=f"{types} -> {listed(map(str, kernel.declared))}", name="kernel", **options)


def outcome(call):
    """The answer of a function: a tuple, or what it raised."""
    try:
        return call()
    except bg.BroadcastError as error:
        return f"{REFUSED} {error}"
    except Exception as error:
        return f"raised {type(error).__name__}: {str(error)[:200]}"


def _arguments(call, operands):
    """The operands as a call has them: those with dims that do not stretch by `bg.strict`."""
    dims = {
        at: [dim for one, dim in call.strict if one == at and dim < len(own)] for at, own in enumerate(call.extents)
    }
    return [bg.strict(one, dims[at]) if dims[at] else one for at, one in enumerate(operands)]


def _as_arrays(results):
    """Results without dims are NumPy scalars in Python, and arrays here, as in C."""
    return tuple(map(np.asarray, results))


class Sides:
    """One kernel, asked in every way that Python has."""

    def __init__(self, kernel):
        self.kernel, self.many = kernel, len(kernel.results) > 1
        self.made = outcome(lambda: product(kernel))
        self.function = self.made if isinstance(self.made, str) else outcome(lambda: self.made.shape_function)

    def _tuple(self, results):
        return results if self.many else (results,)

    def called(self, call):
        if isinstance(self.made, str):
            return self.made
        given = {"extents": dict(call.given)} if call.given else {}
        return outcome(lambda: _as_arrays(self._tuple(self.made(*_arguments(call, arrays(call)), **given))))

    def sized(self, call):
        if isinstance(self.made, str):
            return self.made
        given = {"extents": dict(call.given)} if call.given else {}
        operands = _arguments(call, blanks(call)) if call.strict else call.extents
        return outcome(lambda: self._tuple(self.made.result_shape(*operands, **given)))

    def inferred(self, call):
        """Return the answers of the shape function, which has to be given every extent."""
        if len(call.given) < len(self.kernel.slots) or call.strict:
            return None
        if isinstance(self.function, str):
            return None if NEEDS_RANKS in self.function else self.function
        operands = (*call.extents, *((dict(call.given)[name],) for name in self.kernel.slots))
        ran = outcome(lambda: self._tuple(self.function.run(*operands)))
        checked = outcome(lambda: self.function.check(*operands))
        # Operands that are none of the program's, of another rank, are an error to both.
        refused = isinstance(ran, str) and ran.startswith(REFUSED) and (checked is False or checked == ran)
        if not refused and checked is not (not isinstance(ran, str)):
            return f"runs to {ran}, checks to {checked}"
        return ran


# ---- answers of NumPy, while there is no binary ----------------------------------------------------------------------


class Waits(Exception):
    """A call that waits for the compiler, where it would wait for ever."""


@contextmanager
def held():
    """Nothing is compiled: calls are answered in the background or raise :class:`Waits`."""
    event, main = threading.Event(), threading.get_ident()

    def build(*_args):
        if threading.get_ident() == main:
            raise Waits
        event.wait(60)
        raise bg.CompileError("nothing is compiled here")

    def wait(*_args):
        raise Waits

    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as cache:
        patch.setenv("BCASTGEN_CACHE_DIR", cache)
        patch.setattr(store, "build", build)
        patch.setattr(background_module.Job, "wait", wait)
        try:
            yield
        finally:
            event.set()


def answered(kernel, calls):
    """Return the results of calls before the compiler is done; None where a call waits, as a refused one does."""
    made = outcome(lambda: product(kernel))
    if isinstance(made, str):
        return [made] * len(calls)
    made.background = True
    many = len(kernel.results) > 1
    answers = []
    for call in calls:
        given = {"extents": dict(call.given)} if call.given else {}
        answer = outcome(lambda call=call, given=given: made(*_arguments(call, arrays(call)), **given))
        if isinstance(answer, str):
            answers.append(None if "Waits" in answer else answer)
        else:
            answers.append(_as_arrays(answer if many else (answer,)))
    return answers


# ---- standalone C ----------------------------------------------------------------------------------------------------

# It goes on after what it finds: every call has its verdict.
FLAGS = [*LANGUAGES["c"], QUICK, "-g1", CONTRACT, "-fsanitize=address,undefined", "-fsanitize-recover=address"]
OPTIONS = {
    "ASAN_OPTIONS": "halt_on_error=0:detect_leaks=0:suppress_equal_pcs=0:print_stats=0",
    "UBSAN_OPTIONS": "print_stacktrace=0",
}


def compiled_calls(kernels, calls, directory, **form):
    """Return the answers of standalone C, a list for each kernel; kernels without C have none."""
    made = [outcome(lambda kernel=kernel: product(kernel)) for kernel in kernels]
    texts = {f"k{at}": one for at, one in enumerate(made) if isinstance(one, str)}
    there = {f"k{at}": one for at, one in enumerate(made) if not isinstance(one, str)}
    if there and isinstance(outcome(lambda: bg.emit_c(there, directory, "m", **form)), str):
        # One of them has no C; which one?
        alone = {name: outcome(lambda one=one: one.emit_c(directory / "alone", "alone")) for name, one in there.items()}
        texts |= {name: text for name, text in alone.items() if isinstance(text, str)}
        there = {name: one for name, one in there.items() if name not in texts}
        if there:
            bg.emit_c(there, directory, "m", **form)
    answers = [[] for _ in kernels]
    for name, text in texts.items():
        at = int(name[1:])
        answers[at] = [None if NEEDS_RANKS in text else text] * len(calls[at])
    if there:
        program = _program(kernels, there, directory)
        numbered = [(at, call) for at in range(len(kernels)) if f"k{at}" in there for call in calls[at]]
        for (at, _), answer in zip(numbered, _run(program, kernels, list(there), numbered, directory), strict=True):
            answers[at].append(answer)
    return answers


def _program(kernels, there, directory):
    header = (directory / "m.h").read_text()
    rows, functions = [], []
    for name in there:
        kernel = kernels[int(name[1:])]
        stem = "m" if re.search(r"\bbcastgen_status m\(", header) else f"m_{name}"
        prototype = re.search(rf"\b{stem}_shape\(([^;]*)\);", header)[1]
        told = dict(re.findall(r"(\w+)_extents\[(\w+)\]", prototype))
        # Results of rank 0 have no extents.
        ranks = [int(told.get(one, "0")) if told.get(one, "0").isdigit() else -1 for one in there[name].results]
        functions.append(_wrappers(name, stem, prototype, len(kernel.operands), len(kernel.slots), ranks))
        sizes = len(kernel.operands), len(kernel.slots), len(ranks)
        listed = ", ".join(map(str, ranks))
        rows.append(f"    {{{', '.join(map(str, sizes))}, {{{listed}}}, {name}_shape_of, {name}_call_of}},\n")
    (directory / "shape_calls.inc").write_text(
        "enum { MOST_OPERANDS = 12, MOST_RESULTS = 8 };\n"
        + "".join(functions)
        + f"static const kernel kernels[] = {{\n{''.join(rows)}}};\n"
    )
    program = directory / "calls"
    command = ["gcc", *FLAGS, f"-I{directory}", HERE / "shape_calls.c", directory / "m.c", *LIBRARIES, "-o", program]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:4000]
    return program


def _wrappers(name, stem, prototype, operands, slots, ranks):
    given = [f"&a[{at}]" for at in range(operands)]
    given += [f"a[{operands + at}].extents[0]" for at in range(slots)]
    sized = []
    for at, rank in enumerate(ranks):
        sized += [f"&ranks[{at}]"] * (rank < 0) + [f"extents[{at}]"] * (rank != 0)
    assert prototype.count("int32_t *") == sum(rank < 0 for rank in ranks), prototype
    results = [f"&made[{at}]" for at in range(len(ranks))]
    return (
        f"static int {name}_shape_of(const bcastgen_array *a, int32_t *ranks, int64_t (*extents)[64])\n"
        f"{{ (void)a; (void)ranks; (void)extents; return (int){stem}_shape({', '.join([*given, *sized, 'NULL'])}); }}\n"
        f"static int {name}_call_of(const bcastgen_array *a, const bcastgen_result *made)\n"
        f"{{ (void)a; return (int){stem}({', '.join([*given, *results, 'NULL'])}); }}\n"
    )


def _run(program, kernels, names, numbered, directory):
    """The answers in order; after a crash the rest is run again."""
    place = {int(name[1:]): row for row, name in enumerate(names)}
    todo, answers = [], [None] * len(numbered)
    for index, (at, call) in enumerate(numbered):
        if len(call.given) == len(kernels[at].slots) and not call.strict:
            todo.append(index)
    while todo:
        numbers = []
        for index in todo:
            at, call = numbered[index]
            numbers.append(place[at])
            for extents in (*call.extents, *((dict(call.given)[name],) for name in kernels[at].slots)):
                numbers += [len(extents), *extents]
        (directory / "calls.bin").write_bytes(np.array(numbers, np.int64).tobytes())
        done = subprocess.run(
            [program, directory / "calls.bin"], capture_output=True, check=False, env={**os.environ, **OPTIONS}
        )
        told = list(_read(done.stdout, [len(kernels[numbered[index][0]].results) for index in todo]))
        for index, answer in zip(todo, told, strict=False):
            answers[index] = answer
        if len(told) < len(todo):
            tail = done.stderr.decode(errors="replace")
            summary = re.findall(r"SUMMARY: (.*)|ERROR: (.*)", tail)
            answers[todo[len(told)]] = f"crashed with {done.returncode}: {summary[-1:] or tail[-200:]}"
        elif b"runtime error" in done.stderr:
            raise AssertionError(done.stderr.decode()[:2000])
        todo = todo[len(told) + 1 :]
    return answers


def _read(output, results):
    numbers = np.frombuffer(output[: len(output) // 8 * 8], np.int64)
    at = 0
    for count in results:
        if at >= len(numbers):
            return
        sized, called, reports = numbers[at : at + 3]
        at += 3
        arrays_ = []
        for _ in range(count if sized == called == 0 else 0):
            rank = int(numbers[at])
            shape = tuple(map(int, numbers[at + 1 : at + 1 + rank]))
            at += 1 + rank
            size = int(np.prod(shape, dtype=np.int64))
            arrays_.append(numbers[at : at + size].view(np.float64).reshape(shape))
            at += size
        if reports:
            yield "read or wrote out of bounds"
        elif (sized == 0) != (called == 0):
            yield f"sized with status {sized}, called with status {called}"
        else:
            yield tuple(arrays_) if sized == 0 else f"{REFUSED} with status {sized}"
